//! Window functions.

use std::cmp::Ordering;
use std::ops::Range;

use crate::eval::{EvalError, RowPart};
use crate::value::Value;

use super::compare::ComparedExprs;
use super::evaluate::QueryEvaluator;
use super::model::{FrameBound, FrameUnits, OrderBy, Select, Window, WindowFrame, WindowFunction};
use super::row_pool::CostedRow;
use super::subquery::SubqueryResults;

/// What a frame is where the query does not say: up to the current row and its peers.
const UP_TO_HERE: WindowFrame = WindowFrame {
    units: FrameUnits::Range,
    start: FrameBound::Preceding(None),
    end: FrameBound::CurrentRow,
};

impl<'a> QueryEvaluator<'a> {
    /// Fills the slots of window functions.
    pub(super) fn windows<'s>(
        &self,
        select: &'s Select,
        rows: &mut [CostedRow<'a>],
        subquery_results: &mut SubqueryResults<'s>,
    ) -> Result<(), EvalError> {
        for window in &select.windows {
            for members in self.partitions(window, select, rows, subquery_results)? {
                self.fill(window, select, rows, members, subquery_results)?;
            }
        }
        Ok(())
    }

    /// The rows by PARTITION BY.
    fn partitions<'s>(
        &self,
        window: &'s Window,
        select: &'s Select,
        rows: &[CostedRow<'a>],
        subquery_results: &mut SubqueryResults<'s>,
    ) -> Result<Vec<Vec<usize>>, EvalError> {
        let pairs: Vec<ComparedExprs<'_>> = window
            .partition_by
            .iter()
            .map(ComparedExprs::same)
            .collect();
        let mut partitions: Vec<(Vec<Value>, Vec<usize>)> = Vec::new();
        for (index, costed) in rows.iter().enumerate() {
            let key: Vec<Value> = window
                .partition_by
                .iter()
                .map(|key| self.value(key, &costed.row, select, subquery_results))
                .collect::<Result<_, _>>()?;
            let mut found = None;
            for (number, (other, _)) in partitions.iter().enumerate() {
                if self.all_same(&pairs, &key, other)? {
                    found = Some(number);
                    break;
                }
            }
            match found {
                Some(number) => partitions[number].1.push(index),
                None => partitions.push((key, vec![index])),
            }
        }
        Ok(partitions.into_iter().map(|(_, members)| members).collect())
    }

    /// One partition: its rows in order, then the function row by row.
    fn fill<'s>(
        &self,
        window: &'s Window,
        select: &'s Select,
        rows: &mut [CostedRow<'a>],
        members: Vec<usize>,
        subquery_results: &mut SubqueryResults<'s>,
    ) -> Result<(), EvalError> {
        let (ordered, peers) = self.ordered(window, select, rows, members, subquery_results)?;
        let frame = window.frame.as_ref().unwrap_or(&UP_TO_HERE);
        let count = ordered.len();
        let mut results = Vec::with_capacity(count);
        for position in 0..count {
            let within = peers.frame(frame, position);
            let mut at = |place: Option<usize>, expr| match place {
                Some(place) => {
                    self.value(expr, &rows[ordered[place]].row, select, subquery_results)
                }
                None => Ok(Value::Null),
            };
            let first = peers.first[position];
            let result = match &window.function {
                WindowFunction::RowNumber => Value::Int(position as i128 + 1),
                WindowFunction::Rank => Value::Int(first as i128 + 1),
                WindowFunction::DenseRank => Value::Int(peers.group[position] as i128 + 1),
                WindowFunction::PercentRank if count == 1 => Value::Float(0.0),
                WindowFunction::PercentRank => Value::Float(first as f64 / (count - 1) as f64),
                WindowFunction::CumeDist => Value::Float(peers.end[position] as f64 / count as f64),
                WindowFunction::Ntile(buckets) => {
                    Value::Int(bucket(position, count, *buckets) as i128 + 1)
                }
                WindowFunction::Shift {
                    expr,
                    offset,
                    otherwise,
                } => {
                    let other = position as i64 + offset;
                    match usize::try_from(other).ok().filter(|at| *at < count) {
                        Some(other) => at(Some(other), expr)?,
                        None => match otherwise {
                            Some(otherwise) => at(Some(position), otherwise)?,
                            None => Value::Null,
                        },
                    }
                }
                WindowFunction::FirstValue(expr) => at(within.clone().next(), expr)?,
                WindowFunction::LastValue(expr) => at(within.clone().last(), expr)?,
                WindowFunction::NthValue(expr, nth) => {
                    at(within.clone().nth(nth.saturating_sub(1)), expr)?
                }
                WindowFunction::Aggregate(aggregate) => {
                    let members = ordered[within].iter().map(|index| &rows[*index].row[..]);
                    self.aggregate(aggregate, members, select, subquery_results)?
                }
            };
            results.push((ordered[position], result));
        }
        for (index, result) in results {
            let row = &mut rows[index].row;
            match row.last_mut() {
                Some(part) if part.start() == select.computed => part.set(window.slot, result),
                _ => {
                    let mut computed = vec![Value::Null; select.width - select.computed];
                    computed[window.slot - select.computed] = result;
                    row.push(RowPart::kept(select.computed, computed));
                }
            }
        }
        Ok(())
    }

    /// The rows of a partition in the window's order, and which of them it does not tell apart.
    fn ordered<'s>(
        &self,
        window: &'s Window,
        select: &'s Select,
        rows: &[CostedRow<'a>],
        members: Vec<usize>,
        subquery_results: &mut SubqueryResults<'s>,
    ) -> Result<(Vec<usize>, Peers), EvalError> {
        let pairs: Vec<ComparedExprs<'_>> = window
            .order_by
            .iter()
            .filter_map(|key| match &key.by {
                OrderBy::Expr(expr) => Some(ComparedExprs::same(expr)),
                OrderBy::Output(_) => None,
            })
            .collect();
        let mut ordered = Vec::with_capacity(members.len());
        for index in members {
            let keys = self.sort_keys(
                &window.order_by,
                &rows[index].row,
                &[],
                select,
                subquery_results,
            )?;
            ordered.push((index, keys));
        }
        let mut stop = None;
        ordered.sort_by(|(_, a), (_, b)| {
            self.by_keys(a, b, &window.order_by, &pairs)
                .unwrap_or_else(|error| {
                    stop = Some(error);
                    Ordering::Equal
                })
        });
        if let Some(stop) = stop {
            return Err(stop);
        }
        let mut starts = Vec::new();
        for (position, (_, keys)) in ordered.iter().enumerate() {
            let value_distance = match position.checked_sub(1) {
                None => true,
                Some(before) => {
                    self.by_keys(&ordered[before].1, keys, &window.order_by, &pairs)?
                        != Ordering::Equal
                }
            };
            if value_distance {
                starts.push(position);
            }
        }
        let peers = Peers::new(starts, ordered.len());
        Ok((ordered.into_iter().map(|(index, _)| index).collect(), peers))
    }
}

/// The rows of a partition that its order does not tell apart.
struct Peers {
    /// Where each group of peers starts.
    starts: Vec<usize>,
    /// The group of each row.
    group: Vec<usize>,
    /// The first peer of each row.
    first: Vec<usize>,
    /// The place behind the last peer of each row.
    end: Vec<usize>,
}

impl Peers {
    fn new(starts: Vec<usize>, count: usize) -> Self {
        let mut peers = Self {
            group: Vec::with_capacity(count),
            first: Vec::with_capacity(count),
            end: Vec::with_capacity(count),
            starts,
        };
        for (number, start) in peers.starts.iter().enumerate() {
            let end = peers.starts.get(number + 1).copied().unwrap_or(count);
            for _ in *start..end {
                peers.group.push(number);
                peers.first.push(*start);
                peers.end.push(end);
            }
        }
        peers
    }

    /// The places that a frame covers.
    fn frame(&self, frame: &WindowFrame, position: usize) -> Range<usize> {
        let count = self.group.len();
        let group = self.group[position];
        let start_of = |group: usize| self.starts.get(group).copied().unwrap_or(count);
        let start = match (frame.start, frame.units) {
            (FrameBound::Preceding(None), _) => 0,
            (FrameBound::Following(None), _) => count,
            (FrameBound::CurrentRow, FrameUnits::Rows) => position,
            (FrameBound::CurrentRow, _) => self.first[position],
            (FrameBound::Preceding(Some(by)), FrameUnits::Rows) => position.saturating_sub(by),
            (FrameBound::Following(Some(by)), FrameUnits::Rows) => position.saturating_add(by),
            (FrameBound::Preceding(Some(by)), _) => start_of(group.saturating_sub(by)),
            (FrameBound::Following(Some(by)), _) => start_of(group.saturating_add(by)),
        };
        let end = match (frame.end, frame.units) {
            (FrameBound::Preceding(None), _) => 0,
            (FrameBound::Following(None), _) => count,
            (FrameBound::CurrentRow, FrameUnits::Rows) => position + 1,
            (FrameBound::CurrentRow, _) => self.end[position],
            (FrameBound::Preceding(Some(by)), FrameUnits::Rows) => {
                (position + 1).saturating_sub(by)
            }
            (FrameBound::Following(Some(by)), FrameUnits::Rows) => position.saturating_add(by) + 1,
            (FrameBound::Preceding(Some(by)), _) => match group.checked_sub(by) {
                Some(group) => start_of(group + 1),
                None => 0,
            },
            (FrameBound::Following(Some(by)), _) => start_of(group.saturating_add(by) + 1),
        };
        let end = end.min(count);
        start.min(end)..end
    }
}

/// The bucket of NTILE: the first ones take what does not divide evenly.
fn bucket(position: usize, count: usize, buckets: usize) -> usize {
    let (size, larger) = (count / buckets, count % buckets);
    let boundary = larger * (size + 1);
    if position < boundary {
        position / (size + 1)
    } else {
        larger + (position - boundary) / size.max(1)
    }
}
