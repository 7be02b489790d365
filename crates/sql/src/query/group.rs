//! GROUP BY and HAVING.

use crate::dialect::DialectName;
use crate::eval::{Part, Stop, squeezed};
use crate::expr::Expr;
use crate::value::Value;

use super::compare::Pair;
use super::evaluate::Run;
use super::join::Frame;
use super::model::Grouping;
use super::pool::{Costed, CostedRow, NOTHING, Parts, Pool, Rows};
use super::subquery::Answers;

/// How much it counts that another row is near to joining a group that HAVING refuses.
const ONE_MORE_ROW: f64 = 0.1;

/// How much it counts that two values are near to being one, where values are counted once.
const ONE_VALUE_LESS: f64 = 0.05;

/// Rows that GROUP BY does not tell apart.
struct Group<'r> {
    key: Vec<Value>,
    members: Vec<CostedRow<'r>>,
}

impl<'a> Run<'a> {
    /// One row per group: its first row with the aggregates filled in, and the price of HAVING.
    pub(super) fn group<'s>(
        &self,
        grouping: &'s Grouping,
        rows: Rows<'a>,
        frame: Frame<'s, 'a>,
        answers: &mut Answers<'s>,
        passed: u32,
    ) -> Result<Rows<'a>, Stop> {
        let mut grouped = Pool::default();
        match &grouping.sets {
            None => {
                let all: Vec<usize> = (0..grouping.keys.len()).collect();
                let members = (rows.there, &rows.near[..]);
                self.grouped_by(
                    grouping,
                    &all,
                    members,
                    frame,
                    answers,
                    passed,
                    &mut grouped,
                )?;
            }
            // MySQL makes no total of no rows.
            Some(_) if rows.there.is_empty() && self.dialect.name() == DialectName::MySql => {}
            Some(sets) => {
                for set in &sets.sets {
                    let members = (rows.there.clone(), &rows.near[..]);
                    self.grouped_by(grouping, set, members, frame, answers, passed, &mut grouped)?;
                }
            }
        }
        if grouped.there.is_empty() && !grouping.keys.is_empty() {
            // The nearest row would make a group, which HAVING has still to judge.
            let having = if frame.select.having.is_some() {
                2.0
            } else {
                0.0
            };
            for mut costed in rows.near {
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
        (there, near): (Vec<CostedRow<'a>>, &[CostedRow<'a>]),
        frame: Frame<'s, 'a>,
        answers: &mut Answers<'s>,
        passed: u32,
        grouped: &mut Rows<'a>,
    ) -> Result<(), Stop> {
        let select = frame.select;
        let keys: Vec<&'s Expr> = set.iter().map(|key| &grouping.keys[*key]).collect();
        let groups = self.groups(&keys, there, frame, answers)?;
        for (index, group) in groups.iter().enumerate() {
            let mut computed = vec![Value::Null; select.width - select.computed];
            for (slot, aggregate) in &grouping.aggregates {
                let members = group.members.iter().map(|member| &member.row[..]);
                computed[slot - select.computed] =
                    self.aggregate(aggregate, members, select, answers)?;
            }
            if let Some(sets) = &grouping.sets {
                for (key, value) in set.iter().zip(&group.key) {
                    computed[sets.slots[*key] - select.computed].clone_from(value);
                }
            }
            let mut row: Parts<'a> = match group.members.first() {
                Some(first) => first.row.clone(),
                None => frame.blank(),
            };
            row.push(Part::kept(select.computed, computed));
            let to_remove = if keys.is_empty() {
                // A group of all rows is there even when it is empty.
                NOTHING
            } else {
                group.members.iter().map(|member| member.to_remove).sum()
            };
            let mut costed = Costed {
                to_remove,
                ..Costed::there(row)
            };
            if let Some(having) = &select.having {
                let (mut price, to_false) = self.weigh(having, &costed.row, select, answers)?;
                if price > 0.0 {
                    // What a group lacks is often one more row, so the nearest one counts for a little.
                    let nearest = self.nearest(index, &groups, near, &keys, frame, answers);
                    price += ONE_MORE_ROW * squeezed(nearest);
                    price += ONE_VALUE_LESS * self.closest(group, grouping, frame, answers);
                }
                costed.to_remove = costed.to_remove.min(to_false);
                costed.pays(price, passed);
            }
            grouped.push(costed)?;
        }
        Ok(())
    }

    fn groups<'s>(
        &self,
        keys: &[&'s Expr],
        there: Vec<CostedRow<'a>>,
        frame: Frame<'s, 'a>,
        answers: &mut Answers<'s>,
    ) -> Result<Vec<Group<'a>>, Stop> {
        if keys.is_empty() {
            return Ok(vec![Group {
                key: Vec::new(),
                members: there,
            }]);
        }
        let pairs: Vec<Pair<'_>> = keys.iter().copied().map(Pair::same).collect();
        let mut groups: Vec<Group<'a>> = Vec::new();
        for costed in there {
            let key = self.key(keys, &costed.row, frame, answers)?;
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
        row: &[Part<'a>],
        frame: Frame<'s, 'a>,
        answers: &mut Answers<'s>,
    ) -> Result<Vec<Value>, Stop> {
        keys.iter()
            .copied()
            .map(|key| self.value(key, row, frame.select, answers))
            .collect()
    }

    /// How near another row is to joining a group: what keeps it out, and how far its key is from the group's.
    fn nearest<'s>(
        &self,
        index: usize,
        groups: &[Group<'a>],
        near: &[CostedRow<'a>],
        keys: &[&'s Expr],
        frame: Frame<'s, 'a>,
        answers: &mut Answers<'s>,
    ) -> f64 {
        let own = &groups[index].key;
        let apart = |key: &[Value]| -> f64 {
            let pairs = keys.iter().copied().map(Pair::same);
            pairs
                .zip(key.iter().zip(own))
                .map(|(pair, (a, b))| pair.apart(a, b, self))
                .sum()
        };
        let others = groups
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index)
            .map(|(_, group)| apart(&group.key))
            .fold(NOTHING, f64::min);
        near.iter()
            .filter_map(|costed| {
                let key = self.key(keys, &costed.row, frame, answers).ok()?;
                Some(costed.cost + apart(&key))
            })
            .fold(others, f64::min)
    }

    /// How far the two values of a group that are most alike are from being the same, where values count once.
    fn closest<'s>(
        &self,
        group: &Group<'a>,
        grouping: &'s Grouping,
        frame: Frame<'s, 'a>,
        answers: &mut Answers<'s>,
    ) -> f64 {
        let mut sum = 0.0;
        for (_, aggregate) in &grouping.aggregates {
            let Some(argument) = aggregate.argument.as_ref().filter(|_| aggregate.distinct) else {
                continue;
            };
            let pair = Pair::same(argument);
            let values: Vec<Value> = group
                .members
                .iter()
                .filter_map(|member| {
                    self.value(argument, &member.row, frame.select, answers)
                        .ok()
                })
                .take(16)
                .collect();
            let mut least = 1.0;
            for (index, a) in values.iter().enumerate() {
                for b in &values[index + 1..] {
                    least = f64::min(least, pair.apart(a, b, self));
                }
            }
            sum += least;
        }
        sum
    }
}
