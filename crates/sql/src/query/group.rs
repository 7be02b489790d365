//! GROUP BY and HAVING.

use crate::dialect::DialectName;
use crate::eval::{EvalError, RowPart, normalized};
use crate::expr::Expr;
use crate::value::Value;

use super::compare::ComparedExprs;
use super::evaluate::QueryEvaluator;
use super::join::SelectFrame;
use super::model::Grouping;
use super::row_pool::{Costed, CostedRow, NOTHING, RelationRows, RowParts, RowPool};
use super::subquery::SubqueryResults;

/// How much it counts that another row is near to joining a group that HAVING refuses.
const ONE_MORE_ROW: f64 = 0.1;

/// How much it counts that two values are near to being one, where values are counted once.
const ONE_VALUE_LESS: f64 = 0.05;

/// Rows that GROUP BY does not tell apart.
struct Group<'r> {
    key: Vec<Value>,
    members: Vec<CostedRow<'r>>,
}

impl<'a> QueryEvaluator<'a> {
    /// One row per group: its first row with the aggregates filled in, and the price of HAVING.
    pub(super) fn group<'s>(
        &self,
        grouping: &'s Grouping,
        rows: RelationRows<'a>,
        frame: SelectFrame<'s, 'a>,
        subquery_results: &mut SubqueryResults<'s>,
        passed: u32,
    ) -> Result<RelationRows<'a>, EvalError> {
        let mut grouped = RowPool::default();
        match &grouping.sets {
            None => {
                let all: Vec<usize> = (0..grouping.keys.len()).collect();
                let members = (rows.matching, &rows.near_misses[..]);
                self.grouped_by(
                    grouping,
                    &all,
                    members,
                    frame,
                    subquery_results,
                    passed,
                    &mut grouped,
                )?;
            }
            // MySQL makes no total of no rows.
            Some(_) if rows.matching.is_empty() && self.dialect.name() == DialectName::MySql => {}
            Some(sets) => {
                for set in &sets.sets {
                    let members = (rows.matching.clone(), &rows.near_misses[..]);
                    self.grouped_by(
                        grouping,
                        set,
                        members,
                        frame,
                        subquery_results,
                        passed,
                        &mut grouped,
                    )?;
                }
            }
        }
        if grouped.matching.is_empty() && !grouping.keys.is_empty() {
            // The nearest row would make a group, which HAVING has still to judge.
            let having = if frame.select.having.is_some() {
                2.0
            } else {
                0.0
            };
            for mut costed in rows.near_misses {
                costed.cost += having;
                grouped.push(costed)?;
            }
        }
        Ok(grouped)
    }

    /// The groups that some of the keys make.
    #[expect(
        clippy::too_many_arguments,
        reason = "one grouping of several, with all that they share"
    )]
    fn grouped_by<'s>(
        &self,
        grouping: &'s Grouping,
        set: &[usize],
        (matching, near_misses): (Vec<CostedRow<'a>>, &[CostedRow<'a>]),
        frame: SelectFrame<'s, 'a>,
        subquery_results: &mut SubqueryResults<'s>,
        passed: u32,
        grouped: &mut RelationRows<'a>,
    ) -> Result<(), EvalError> {
        let select = frame.select;
        let keys: Vec<&'s Expr> = set.iter().map(|key| &grouping.keys[*key]).collect();
        let groups = self.groups(&keys, matching, frame, subquery_results)?;
        for (index, group) in groups.iter().enumerate() {
            let mut computed = vec![Value::Null; select.width - select.computed];
            for (slot, aggregate) in &grouping.aggregates {
                let members = group.members.iter().map(|member| &member.row[..]);
                computed[slot - select.computed] =
                    self.aggregate(aggregate, members, select, subquery_results)?;
            }
            if let Some(sets) = &grouping.sets {
                for (key, value) in set.iter().zip(&group.key) {
                    computed[sets.slots[*key] - select.computed].clone_from(value);
                }
            }
            let mut row: RowParts<'a> = match group.members.first() {
                Some(first) => first.row.clone(),
                None => frame.blank(),
            };
            row.push(RowPart::kept(select.computed, computed));
            let to_remove = if keys.is_empty() {
                // A group of all rows is there even when it is empty.
                NOTHING
            } else {
                group.members.iter().map(|member| member.to_remove).sum()
            };
            let mut costed = Costed {
                to_remove,
                ..Costed::matching(row)
            };
            if let Some(having) = &select.having {
                let (mut price, to_false) =
                    self.condition_truth(having, &costed.row, select, subquery_results)?;
                if price > 0.0 {
                    // What a group lacks is often one more row, so the nearest one counts for a little.
                    let nearest =
                        self.nearest(index, &groups, near_misses, &keys, frame, subquery_results);
                    price += ONE_MORE_ROW * normalized(nearest);
                    price +=
                        ONE_VALUE_LESS * self.closest(group, grouping, frame, subquery_results);
                }
                costed.to_remove = costed.to_remove.min(to_false);
                costed.add_cost(price, passed);
            }
            grouped.push(costed)?;
        }
        Ok(())
    }

    fn groups<'s>(
        &self,
        keys: &[&'s Expr],
        matching: Vec<CostedRow<'a>>,
        frame: SelectFrame<'s, 'a>,
        subquery_results: &mut SubqueryResults<'s>,
    ) -> Result<Vec<Group<'a>>, EvalError> {
        if keys.is_empty() {
            return Ok(vec![Group {
                key: Vec::new(),
                members: matching,
            }]);
        }
        let pairs: Vec<ComparedExprs<'_>> = keys.iter().copied().map(ComparedExprs::same).collect();
        let mut groups: Vec<Group<'a>> = Vec::new();
        for costed in matching {
            let key = self.key(keys, &costed.row, frame, subquery_results)?;
            let mut found = None;
            for (index, group) in groups.iter().enumerate() {
                if self.all_same(&pairs, &key, &group.key)? {
                    found = Some(index);
                    break;
                }
            }
            match found {
                Some(index) => groups[index].members.push(costed),
                None => groups.push(Group {
                    key,
                    members: vec![costed],
                }),
            }
        }
        Ok(groups)
    }

    fn key<'s>(
        &self,
        keys: &[&'s Expr],
        row: &[RowPart<'a>],
        frame: SelectFrame<'s, 'a>,
        subquery_results: &mut SubqueryResults<'s>,
    ) -> Result<Vec<Value>, EvalError> {
        keys.iter()
            .copied()
            .map(|key| self.value(key, row, frame.select, subquery_results))
            .collect()
    }

    /// How near another row is to joining a group: what keeps it out, and how far its key is from the group's.
    fn nearest<'s>(
        &self,
        index: usize,
        groups: &[Group<'a>],
        near_misses: &[CostedRow<'a>],
        keys: &[&'s Expr],
        frame: SelectFrame<'s, 'a>,
        subquery_results: &mut SubqueryResults<'s>,
    ) -> f64 {
        let own = &groups[index].key;
        let value_distance = |key: &[Value]| -> f64 {
            let pairs = keys.iter().copied().map(ComparedExprs::same);
            pairs
                .zip(key.iter().zip(own))
                .map(|(pair, (a, b))| pair.value_distance(a, b, self))
                .sum()
        };
        let others = groups
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index)
            .map(|(_, group)| value_distance(&group.key))
            .fold(NOTHING, f64::min);
        near_misses
            .iter()
            .filter_map(|costed| {
                let key = self.key(keys, &costed.row, frame, subquery_results).ok()?;
                Some(costed.cost + value_distance(&key))
            })
            .fold(others, f64::min)
    }

    /// How far the two values of a group that are most alike are from being the same, where values count once.
    fn closest<'s>(
        &self,
        group: &Group<'a>,
        grouping: &'s Grouping,
        frame: SelectFrame<'s, 'a>,
        subquery_results: &mut SubqueryResults<'s>,
    ) -> f64 {
        let mut sum = 0.0;
        for (_, aggregate) in &grouping.aggregates {
            let Some(argument) = aggregate.argument.as_ref().filter(|_| aggregate.distinct) else {
                continue;
            };
            let pair = ComparedExprs::same(argument);
            let values: Vec<Value> = group
                .members
                .iter()
                .filter_map(|member| {
                    self.value(argument, &member.row, frame.select, subquery_results)
                        .ok()
                })
                .take(16)
                .collect();
            let mut least = 1.0;
            for (index, a) in values.iter().enumerate() {
                for b in &values[index + 1..] {
                    least = f64::min(least, pair.value_distance(a, b, self));
                }
            }
            sum += least;
        }
        sum
    }
}
