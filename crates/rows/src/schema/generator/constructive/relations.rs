//! Relations between cells, and propagation along them.

use isobath_sql::Value;
use isobath_sql::expr::CompareOp;
use rust_decimal::Decimal;

use super::problem::Reasons;
use super::state::PropagationState;

/// `left <= right + offset`, or `<` when strict.
#[derive(Clone, Copy, Debug)]
pub(super) struct OrderConstraint {
    left: usize,
    right: usize,
    offset: Decimal,
    strict: bool,
    why: Reasons,
}

/// Two cells that are equal, or differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellPair {
    pub(super) left: usize,
    pub(super) right: usize,
    pub(super) why: Reasons,
}

/// Rounds of propagation after which creeping bounds are left alone.
const ROUNDS: usize = 400;

impl PropagationState<'_, '_> {
    pub(super) fn order(
        &mut self,
        left: usize,
        op: CompareOp,
        right: usize,
        offset: Decimal,
        why: Reasons,
    ) -> Result<(), Reasons> {
        let (below, above) = match op {
            CompareOp::Less | CompareOp::LessOrEqual => (true, false),
            CompareOp::Greater | CompareOp::GreaterOrEqual => (false, true),
            CompareOp::Equal => (true, true),
            CompareOp::NotEqual if offset.is_zero() => return self.separate(left, right, why),
            CompareOp::NotEqual => return Ok(()),
        };
        let strict = matches!(op, CompareOp::Less | CompareOp::Greater);
        if below {
            self.add_order(OrderConstraint {
                left,
                right,
                offset,
                strict,
                why,
            })?;
        }
        if above {
            self.add_order(OrderConstraint {
                left: right,
                right: left,
                offset: -offset,
                strict,
                why,
            })?;
        }
        self.queue.push(left);
        self.queue.push(right);
        Ok(())
    }

    fn add_order(&mut self, order: OrderConstraint) -> Result<(), Reasons> {
        self.orders.push(order);
        // Does a chain of orders lead from the right side back to the left one?
        let mut visited = vec![order.left];
        self.chain(
            order.left,
            order.right,
            order.offset,
            order.strict,
            order.why,
            &mut visited,
        )
    }

    /// Follows `at <= …` until it meets `start` again; a total below zero is a contradiction.
    fn chain(
        &self,
        start: usize,
        at: usize,
        total: Decimal,
        strict: bool,
        why: Reasons,
        visited: &mut Vec<usize>,
    ) -> Result<(), Reasons> {
        if at == start {
            let contradicts = total.is_sign_negative() && !total.is_zero();
            return if contradicts || (total.is_zero() && strict) {
                Err(why)
            } else {
                Ok(())
            };
        }
        if visited.contains(&at) || visited.len() > 12 {
            return Ok(());
        }
        visited.push(at);
        for next in self.orders.iter().filter(|order| order.left == at) {
            let Some(total) = total.checked_add(next.offset) else {
                continue;
            };
            let strict = strict || next.strict;
            self.chain(start, next.right, total, strict, why | next.why, visited)?;
        }
        visited.pop();
        Ok(())
    }

    pub(super) fn equate(
        &mut self,
        left: usize,
        right: usize,
        why: Reasons,
    ) -> Result<(), Reasons> {
        if left == right || self.is_automatic(left) || self.is_automatic(right) {
            return Ok(());
        }
        let lines = |cell: usize| self.problem.cells[cell].axis.map(|axis| axis.line);
        if lines(left).is_some() && lines(left) == lines(right) {
            self.order(left, CompareOp::Equal, right, Decimal::ZERO, why)?;
        }
        if let Some(pair) = self.unequal.iter().find(|pair| pair.joins(left, right)) {
            return Err(pair.why | why);
        }
        self.equal.push(CellPair { left, right, why });
        self.queue.push(left);
        self.queue.push(right);
        Ok(())
    }

    pub(super) fn separate(
        &mut self,
        left: usize,
        right: usize,
        why: Reasons,
    ) -> Result<(), Reasons> {
        if left == right {
            return Err(why);
        }
        if self.is_automatic(left) || self.is_automatic(right) {
            return Ok(());
        }
        if let Some(pair) = self.equal.iter().find(|pair| pair.joins(left, right)) {
            return Err(pair.why | why);
        }
        self.unequal.push(CellPair { left, right, why });
        self.queue.push(left);
        self.queue.push(right);
        Ok(())
    }

    /// Narrows until nothing changes.
    pub(super) fn propagate(&mut self) -> Result<(), Reasons> {
        for _ in 0..ROUNDS {
            let Some(cell) = self.queue.pop() else {
                return Ok(());
            };
            self.through_orders(cell)?;
            self.through_pairs(cell)?;
        }
        self.queue.clear();
        Ok(())
    }

    fn through_orders(&mut self, cell: usize) -> Result<(), Reasons> {
        for index in 0..self.orders.len() {
            let order = self.orders[index];
            if order.left == cell {
                // right >= left - offset
                if let Some(low) = self.domains[cell].low
                    && let Some(point) = low.point.checked_sub(order.offset)
                {
                    let open = low.open || order.strict;
                    self.raise(order.right, point, open, low.why | order.why)?;
                }
            }
            if order.right == cell {
                // left <= right + offset
                if let Some(high) = self.domains[cell].high
                    && let Some(point) = high.point.checked_add(order.offset)
                {
                    let open = high.open || order.strict;
                    self.lower(order.left, point, open, high.why | order.why)?;
                }
            }
        }
        Ok(())
    }

    fn through_pairs(&mut self, cell: usize) -> Result<(), Reasons> {
        for index in 0..self.equal.len() {
            let pair = self.equal[index];
            let Some(other) = pair.other(cell) else {
                continue;
            };
            if let Some(choice) = self.domains[cell].choice.clone() {
                let why = choice.why | pair.why;
                let stored = |value: &Value| self.problem.stored(other, value);
                let values: Vec<Value> = choice.values.iter().filter_map(stored).collect();
                self.choose(other, values, why)?;
            }
            for (value, why) in self.domains[cell].not.clone() {
                if !self.domains[other].not.iter().any(|(old, _)| *old == value) {
                    self.exclude(other, &value, why | pair.why)?;
                }
            }
            let (least, why) = self.domains[cell].shortest;
            if least > self.domains[other].shortest.0 {
                self.length(
                    other,
                    CompareOp::GreaterOrEqual,
                    least.into(),
                    why | pair.why,
                )?;
            }
            if let Some((most, why)) = self.domains[cell].longest {
                self.length(other, CompareOp::LessOrEqual, most.into(), why | pair.why)?;
            }
        }
        if let Some((value, why)) = self.known(cell) {
            for index in 0..self.unequal.len() {
                let pair = self.unequal[index];
                if let Some(other) = pair.other(cell)
                    && !self.domains[other].not.iter().any(|(old, _)| *old == value)
                {
                    self.exclude(other, &value, why | pair.why)?;
                }
            }
        }
        Ok(())
    }

    /// The only value that is left for a cell.
    fn known(&self, cell: usize) -> Option<(Value, Reasons)> {
        let domain = &self.domains[cell];
        if let Some((value, why)) = domain.single() {
            return Some((value.clone(), why));
        }
        let (low, high) = (domain.low?, domain.high?);
        if low.point != high.point {
            return None;
        }
        let plan = &self.problem.cells[cell];
        let value = plan.axis?.value(low.point, &plan.definition.data_type)?;
        let stored = self.problem.stored(cell, &value)?;
        Some((stored, low.why | high.why))
    }
}

impl CellPair {
    fn joins(&self, left: usize, right: usize) -> bool {
        (self.left == left && self.right == right) || (self.left == right && self.right == left)
    }

    pub(super) fn other(&self, cell: usize) -> Option<usize> {
        match cell {
            cell if cell == self.left => Some(self.right),
            cell if cell == self.right => Some(self.left),
            _ => None,
        }
    }
}
