//! Window functions.

use crate::eval::{Part, Stop};
use crate::value::Value;

use super::compare::Pair;
use super::evaluate::Run;
use super::model::{OrderBy, Select, Window, WindowFunction};
use super::pool::Costed;
use super::subquery::Answers;

impl<'a> Run<'a> {
    /// Fills the slots of window functions.
    pub(super) fn windows<'s>(
        &self,
        select: &'s Select,
        rows: &mut [Costed<'a>],
        answers: &mut Answers<'s>,
    ) -> Result<(), Stop> {
        for window in &select.windows {
            self.window(window, select, rows, answers)?;
        }
        Ok(())
    }

    fn window<'s>(
        &self,
        window: &'s Window,
        select: &'s Select,
        rows: &mut [Costed<'a>],
        answers: &mut Answers<'s>,
    ) -> Result<(), Stop> {
        let partition_pairs: Vec<Pair<'_>> = window.partition_by.iter().map(Pair::same).collect();
        let mut partitions: Vec<(Vec<Value>, Vec<usize>)> = Vec::new();
        for (index, costed) in rows.iter().enumerate() {
            let key: Vec<Value> = window
                .partition_by
                .iter()
                .map(|key| self.value(key, &costed.row, select, answers))
                .collect::<Result<_, _>>()?;
            let mut found = None;
            for (number, (other, _)) in partitions.iter().enumerate() {
                if self.all_same(&partition_pairs, &key, other)? {
                    found = Some(number);
                    break;
                }
            }
            match found {
                Some(number) => partitions[number].1.push(index),
                None => partitions.push((key, vec![index])),
            }
        }
        for (_, members) in partitions {
            self.fill(window, select, rows, members, answers)?;
        }
        Ok(())
    }

    /// One partition: its rows in order, then the function row by row.
    fn fill<'s>(
        &self,
        window: &'s Window,
        select: &'s Select,
        rows: &mut [Costed<'a>],
        members: Vec<usize>,
        answers: &mut Answers<'s>,
    ) -> Result<(), Stop> {
        let order_pairs: Vec<Pair<'_>> = window
            .order_by
            .iter()
            .filter_map(|key| match &key.by {
                OrderBy::Expr(expr) => Some(Pair::same(expr)),
                OrderBy::Output(_) => None,
            })
            .collect();
        let mut ordered = Vec::with_capacity(members.len());
        for index in members {
            let keys = self.sort_keys(&window.order_by, &rows[index].row, &[], select, answers)?;
            ordered.push((index, keys));
        }
        let mut stop = None;
        ordered.sort_by(|(_, a), (_, b)| {
            self.by_keys(a, b, &window.order_by, &order_pairs)
                .unwrap_or_else(|error| {
                    stop = Some(error);
                    std::cmp::Ordering::Equal
                })
        });
        if let Some(stop) = stop {
            return Err(stop);
        }
        // Peers are rows that the window's ORDER BY does not tell apart.
        let mut first_peer = vec![0; ordered.len()];
        let mut rank_dense = vec![1; ordered.len()];
        for position in 1..ordered.len() {
            let same = self.by_keys(
                &ordered[position - 1].1,
                &ordered[position].1,
                &window.order_by,
                &order_pairs,
            )? == std::cmp::Ordering::Equal
                && !window.order_by.is_empty();
            first_peer[position] = if same {
                first_peer[position - 1]
            } else {
                position
            };
            rank_dense[position] = rank_dense[position - 1] + i128::from(!same);
        }
        let mut results = Vec::with_capacity(ordered.len());
        for position in 0..ordered.len() {
            let result = match &window.function {
                WindowFunction::RowNumber => Value::Int(position as i128 + 1),
                WindowFunction::Rank if window.order_by.is_empty() => Value::Int(1),
                WindowFunction::Rank => Value::Int(first_peer[position] as i128 + 1),
                WindowFunction::DenseRank if window.order_by.is_empty() => Value::Int(1),
                WindowFunction::DenseRank => Value::Int(rank_dense[position]),
                WindowFunction::Shift {
                    expr,
                    offset,
                    otherwise,
                } => {
                    let other = position as i64 + offset;
                    match usize::try_from(other)
                        .ok()
                        .and_then(|other| ordered.get(other))
                    {
                        Some((index, _)) => self.value(expr, &rows[*index].row, select, answers)?,
                        None => match otherwise {
                            Some(otherwise) => self.value(
                                otherwise,
                                &rows[ordered[position].0].row,
                                select,
                                answers,
                            )?,
                            None => Value::Null,
                        },
                    }
                }
                WindowFunction::FirstValue(expr) => {
                    self.value(expr, &rows[ordered[0].0].row, select, answers)?
                }
                WindowFunction::Aggregate(aggregate) => {
                    let end = if window.order_by.is_empty() {
                        ordered.len()
                    } else {
                        let peers = first_peer[position..]
                            .iter()
                            .take_while(|first| **first == first_peer[position]);
                        position + peers.count()
                    };
                    let members = ordered[..end]
                        .iter()
                        .map(|(index, _)| &rows[*index].row[..]);
                    self.aggregate(aggregate, members, select, answers)?
                }
            };
            results.push((ordered[position].0, result));
        }
        for (index, result) in results {
            let row = &mut rows[index].row;
            match row.last_mut() {
                Some(part) if part.start() == select.computed => part.set(window.slot, result),
                _ => {
                    let mut computed = vec![Value::Null; select.width - select.computed];
                    computed[window.slot - select.computed] = result;
                    row.push(Part::kept(select.computed, computed));
                }
            }
        }
        Ok(())
    }
}
