//! GROUP BY: its keys, and the sets that ROLLUP, CUBE and GROUPING SETS make of them.

use sqlparser::ast::{self, Expr as Ast, GroupByExpr, GroupByWithModifier};

use crate::expr::{ColumnRef, Expr};

use super::model::{GroupingSets, OrderBy, OrderKey, OutputColumn, Select};
use super::resolve::{ResolveError, Resolver, position, unsupported};
use super::scope::Scope;

/// Sets of keys, by their place.
pub(super) type KeySets = Vec<Vec<usize>>;

/// More sets than this are a mistake, or an attack.
const MAX_SETS: usize = 256;

impl Resolver<'_> {
    /// The keys of GROUP BY, and the sets of them where there are several.
    pub(super) fn group_keys(
        &self,
        select: &ast::Select,
        items: &[OutputColumn],
        scope: &Scope<'_>,
    ) -> Result<(Vec<Expr>, Option<KeySets>), ResolveError> {
        let GroupByExpr::Expressions(exprs, modifiers) = &select.group_by else {
            return Err(unsupported(select, "GROUP BY ALL is not supported"));
        };
        scope.aliases_visible.set(true);
        let computed = scope.computed();
        let mut keys: Vec<Expr> = Vec::new();
        let mut place = |key: &Ast| -> Result<usize, ResolveError> {
            let expr = match position(key) {
                Some(position) => position
                    .checked_sub(1)
                    .and_then(|index| items.get(index))
                    .map(|item| item.expr.clone())
                    .ok_or_else(|| unsupported(key, "no such column in the select list"))?,
                None => scope.expr(key)?,
            };
            Ok(match keys.iter().position(|known| *known == expr) {
                Some(known) => known,
                None => {
                    keys.push(expr);
                    keys.len() - 1
                }
            })
        };
        // Each element of GROUP BY offers some sets; all of them together offer every combination.
        let mut sets: KeySets = vec![Vec::new()];
        let mut several = false;
        for expr in exprs {
            let mut offered = |groups: &[Vec<Ast>]| -> Result<KeySets, ResolveError> {
                groups
                    .iter()
                    .map(|group| group.iter().map(&mut place).collect())
                    .collect()
            };
            let offers: KeySets = match expr {
                Ast::GroupingSets(groups) => offered(groups)?,
                Ast::Rollup(groups) => prefixes(&offered(groups)?),
                Ast::Cube(groups) => subsets(&offered(groups)?),
                Ast::Tuple(parts) => vec![
                    parts
                        .iter()
                        .map(&mut place)
                        .collect::<Result<Vec<_>, _>>()?,
                ],
                key => vec![vec![place(key)?]],
            };
            several |= offers.len() != 1;
            sets = sets
                .iter()
                .flat_map(|set| {
                    offers.iter().map(move |offer| {
                        let mut both = set.clone();
                        both.extend(offer);
                        both
                    })
                })
                .collect();
            if sets.len() > MAX_SETS {
                return Err(unsupported(select, "it groups in too many ways"));
            }
        }
        match modifiers.as_slice() {
            [] => {}
            [GroupByWithModifier::Rollup] => {
                let all: Vec<Vec<usize>> = (0..keys.len()).map(|key| vec![key]).collect();
                sets = prefixes(&all);
                several = true;
            }
            _ => {
                return Err(unsupported(
                    select,
                    "this kind of GROUP BY is not supported",
                ));
            }
        }
        scope.aliases_visible.set(false);
        if keys
            .iter()
            .flat_map(Expr::columns)
            .any(|slot| scope.is_computed(slot))
            || scope.computed() != computed
        {
            return Err(unsupported(select, "aggregates cannot be grouped by"));
        }
        Ok((keys, several.then_some(sets)))
    }
}

fn prefixes(groups: &[Vec<usize>]) -> KeySets {
    (0..=groups.len())
        .rev()
        .map(|count| groups[..count].concat())
        .collect()
}

fn subsets(groups: &[Vec<usize>]) -> KeySets {
    // More groups would be too many sets anyway.
    let count = groups.len().min(12);
    (0..1usize << count)
        .rev()
        .map(|chosen| {
            let groups = groups[..count].iter().enumerate();
            groups
                .filter(|(index, _)| chosen & (1 << index) != 0)
                .flat_map(|(_, group)| group.iter().copied())
                .collect()
        })
        .collect()
}

/// Gives every key a slot of its own, which is NULL in groups that are not made by it, and reads keys from there.
pub(super) fn split_grouping_sets(select: &mut Select, order_by: &mut [OrderKey], sets: KeySets) {
    let Some(grouping) = &mut select.grouping else {
        return;
    };
    let slots: Vec<usize> = (0..grouping.keys.len())
        .map(|key| select.width + key)
        .collect();
    select.width += slots.len();
    let replaced: Vec<(Expr, Expr)> = grouping
        .keys
        .iter()
        .zip(&slots)
        .map(|(key, slot)| {
            let column = match key {
                Expr::Column(column) => ColumnRef {
                    slot: *slot,
                    ..column.clone()
                },
                _ => ColumnRef {
                    slot: *slot,
                    name: String::new(),
                    data_type: crate::types::DataType::Other(String::new()),
                    collation: None,
                },
            };
            (key.clone(), Expr::Column(column))
        })
        .collect();
    grouping.sets = Some(GroupingSets { sets, slots });
    let replace = |expr: &mut Expr| {
        expr.walk_mut(&mut |part| {
            if let Some((_, column)) = replaced.iter().find(|(key, _)| key == part) {
                *part = column.clone();
            }
        });
    };
    select
        .items
        .iter_mut()
        .for_each(|item| replace(&mut item.expr));
    select.having.iter_mut().for_each(replace);
    for key in order_by {
        if let OrderBy::Expr(expr) = &mut key.by {
            replace(expr);
        }
    }
    for window in &mut select.windows {
        window.partition_by.iter_mut().for_each(replace);
        for key in &mut window.order_by {
            if let OrderBy::Expr(expr) = &mut key.by {
                replace(expr);
            }
        }
    }
}
