//! GROUP BY and HAVING.

use std::borrow::Cow;

use crate::eval::Stop;
use crate::value::Value;

use super::compare::Pair;
use super::evaluate::Run;
use super::join::Frame;
use super::model::Grouping;
use super::pool::{Costed, NOTHING, Pool, normalize};
use super::subquery::Answers;

/// How much it counts that another row is near to joining a group that HAVING refuses.
const ONE_MORE_ROW: f64 = 0.1;

/// Rows that GROUP BY does not tell apart.
struct Group<'r> {
    key: Vec<Value>,
    members: Vec<Costed<'r>>,
}

impl<'a> Run<'a> {
    /// One row per group: its first row with the aggregates filled in, and the price of HAVING.
    pub(super) fn group<'s>(
        &self,
        grouping: &'s Grouping,
        rows: Pool<'a>,
        frame: Frame<'s>,
        answers: &mut Answers<'s>,
    ) -> Result<Pool<'a>, Stop> {
        let select = frame.select;
        let pairs: Vec<Pair<'_>> = grouping.keys.iter().map(Pair::same).collect();
        let groups = self.groups(grouping, &pairs, rows.there, frame, answers)?;
        let mut grouped = Pool::default();
        for (index, group) in groups.iter().enumerate() {
            let mut row = match group.members.first() {
                Some(first) => {
                    let mut row = frame.blank();
                    frame.copy(select.base..first.row.len(), &first.row, &mut row);
                    row
                }
                None => frame.blank(),
            };
            for (slot, aggregate) in &grouping.aggregates {
                let members = group.members.iter().map(|member| &*member.row);
                row[*slot] = self.aggregate(aggregate, members, select, answers)?;
            }
            let (mut cost, mut to_false) = (0.0, f64::INFINITY);
            if let Some(having) = &select.having {
                (cost, to_false) = self.weigh(having, &row, select, answers)?;
            }
            if cost > 0.0 {
                // What a group lacks is often one more row, so the nearest one counts for a little.
                let nearest = self.nearest(index, &groups, &rows.near, grouping, frame, answers);
                cost += ONE_MORE_ROW * normalize(nearest);
            }
            let to_remove = if grouping.keys.is_empty() {
                // A group of all rows is there even when it is empty.
                NOTHING
            } else {
                group.members.iter().map(|member| member.to_remove).sum()
            };
            grouped.push(Costed {
                row: Cow::Owned(row),
                cost,
                to_remove: to_remove.min(to_false),
            })?;
        }
        if grouped.there.is_empty() && !grouping.keys.is_empty() {
            // The nearest row would make a group, which HAVING has still to judge.
            let having = if select.having.is_some() { 1.0 } else { 0.0 };
            for costed in rows.near {
                let mut row = frame.blank();
                frame.copy(select.base..costed.row.len(), &costed.row, &mut row);
                grouped.push(Costed {
                    row: Cow::Owned(row),
                    cost: costed.cost + having,
                    to_remove: costed.to_remove,
                })?;
            }
        }
        Ok(grouped)
    }

    fn groups<'s>(
        &self,
        grouping: &'s Grouping,
        pairs: &[Pair<'_>],
        there: Vec<Costed<'a>>,
        frame: Frame<'s>,
        answers: &mut Answers<'s>,
    ) -> Result<Vec<Group<'a>>, Stop> {
        if grouping.keys.is_empty() {
            return Ok(vec![Group {
                key: Vec::new(),
                members: there,
            }]);
        }
        let mut groups: Vec<Group<'a>> = Vec::new();
        for costed in there {
            let key = self.key(grouping, &costed.row, frame, answers)?;
            let mut found = None;
            for (index, group) in groups.iter().enumerate() {
                if self.all_same(pairs, &key, &group.key)? {
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
        grouping: &'s Grouping,
        row: &[Value],
        frame: Frame<'s>,
        answers: &mut Answers<'s>,
    ) -> Result<Vec<Value>, Stop> {
        grouping
            .keys
            .iter()
            .map(|key| self.value(key, row, frame.select, answers))
            .collect()
    }

    /// How near another row is to joining a group: what keeps it out, and how far its key is from the group's.
    fn nearest<'s>(
        &self,
        index: usize,
        groups: &[Group<'a>],
        near: &[Costed<'a>],
        grouping: &'s Grouping,
        frame: Frame<'s>,
        answers: &mut Answers<'s>,
    ) -> f64 {
        let own = &groups[index].key;
        let apart = |key: &[Value]| -> f64 {
            let pairs = grouping.keys.iter().map(Pair::same);
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
                let key = self.key(grouping, &costed.row, frame, answers).ok()?;
                Some(costed.cost + apart(&key))
            })
            .fold(others, f64::min)
    }
}
