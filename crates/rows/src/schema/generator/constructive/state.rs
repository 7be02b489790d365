//! Domains under propagation.
//!
//! Every narrowing names its reasons. When nothing is left for a cell, the
//! union of the reasons of all that narrowed it is a set of facts that cannot
//! hold together; it becomes the proof, and it tells the search which of its
//! decisions were involved at all.
//!
//! What is propagated, to a fixpoint: bounds through `a op b + k` (bounds
//! consistency; a cycle of such comparisons that asks a cell to be less than
//! itself is found at once, because bounds alone would creep towards it
//! forever), equality of cells (bounds, choices, NULL), inequality with a cell
//! that has one value left, and bounds against finite choices in both
//! directions. Expressions over one cell with a finite choice are evaluated on
//! each value. The rest is left to evaluation.

use std::rc::Rc;

use isobath_sql::expr::CompareOp;
use isobath_sql::{Value, eval};
use rust_decimal::Decimal;

use super::domain::{Bound, Domain, FiniteDomain};
use super::problem::{
    CellConstraint, CellProblem, CellTerm, DomainConstraint, ExprConstraint, GUESS, Reasons,
};
use super::relations::{CellPair, OrderConstraint};

/// How much was known at some moment.
#[derive(Clone, Copy)]
pub(super) struct TrailMark {
    trail: usize,
    orders: usize,
    equal: usize,
    unequal: usize,
    tests: usize,
    type_violations: usize,
}

/// Everything known about the cells.
pub(super) struct PropagationState<'p, 'a> {
    pub(super) problem: &'p CellProblem<'a>,
    pub(super) domains: Vec<Domain>,
    trail: Vec<(usize, Domain)>,
    pub(super) orders: Vec<OrderConstraint>,
    pub(super) equal: Vec<CellPair>,
    pub(super) unequal: Vec<CellPair>,
    /// Tests decided on.
    pub(super) tests: Vec<&'p ExprConstraint<'a>>,
    /// Cells that are to hold what their type refuses.
    pub(super) type_violations: Vec<usize>,
    pub(super) queue: Vec<usize>,
}

impl<'p, 'a> PropagationState<'p, 'a> {
    pub(super) fn new(problem: &'p CellProblem<'a>) -> Self {
        Self {
            problem,
            domains: problem.cells.iter().map(Domain::of).collect(),
            trail: Vec::new(),
            orders: Vec::new(),
            equal: Vec::new(),
            unequal: Vec::new(),
            tests: Vec::new(),
            type_violations: Vec::new(),
            queue: Vec::new(),
        }
    }

    pub(super) fn mark(&self) -> TrailMark {
        TrailMark {
            trail: self.trail.len(),
            orders: self.orders.len(),
            equal: self.equal.len(),
            unequal: self.unequal.len(),
            tests: self.tests.len(),
            type_violations: self.type_violations.len(),
        }
    }

    pub(super) fn undo(&mut self, mark: TrailMark) {
        while self.trail.len() > mark.trail {
            if let Some((cell, domain)) = self.trail.pop() {
                self.domains[cell] = domain;
            }
        }
        self.orders.truncate(mark.orders);
        self.equal.truncate(mark.equal);
        self.unequal.truncate(mark.unequal);
        self.tests.truncate(mark.tests);
        self.type_violations.truncate(mark.type_violations);
        self.queue.clear();
    }

    /// Takes a leaf for granted. `Err` is a set of reasons that cannot hold together.
    pub(super) fn assert(
        &mut self,
        leaf: &'p CellConstraint<'a>,
        why: Reasons,
    ) -> Result<(), Reasons> {
        match leaf {
            CellConstraint::Null { cell, is_null } => self.set_null(*cell, *is_null, why),
            CellConstraint::Same(cell, CellTerm::There(value)) => {
                self.set_null(*cell, false, why)?;
                self.equal_to_value(*cell, value, why)
            }
            CellConstraint::Same(cell, CellTerm::Cell(other)) => {
                self.set_null(*cell, false, why)?;
                self.set_null(*other, false, why)?;
                self.equate(*cell, *other, why)
            }
            CellConstraint::Differ(cell, CellTerm::There(value)) => {
                self.set_null(*cell, false, why)?;
                self.exclude(*cell, value, why)
            }
            CellConstraint::Differ(cell, CellTerm::Cell(other)) => {
                self.set_null(*cell, false, why)?;
                self.set_null(*other, false, why)?;
                self.separate(*cell, *other, why)
            }
            CellConstraint::Test(test) => self.test(test, why),
            CellConstraint::Misfit { cell, .. } => {
                self.set_null(*cell, false, why)?;
                self.type_violations.push(*cell);
                Ok(())
            }
            CellConstraint::All(_) | CellConstraint::Any(_) => Ok(()),
        }
    }

    fn domain(&mut self, cell: usize) -> &mut Domain {
        self.trail.push((cell, self.domains[cell].clone()));
        self.queue.push(cell);
        &mut self.domains[cell]
    }

    pub(super) fn set_null(
        &mut self,
        cell: usize,
        is_null: bool,
        why: Reasons,
    ) -> Result<(), Reasons> {
        if self.problem.cells[cell].automatic {
            return Ok(());
        }
        match self.domains[cell].null {
            Some(known) if known == is_null => Ok(()),
            Some(_) => Err(why | self.domains[cell].null_why),
            None => {
                let domain = self.domain(cell);
                domain.null = Some(is_null);
                domain.null_why = why;
                Ok(())
            }
        }
    }

    fn test(&mut self, test: &'p ExprConstraint<'a>, why: Reasons) -> Result<(), Reasons> {
        self.tests.push(test);
        if test
            .cells
            .iter()
            .any(|cell| self.problem.cells[*cell].automatic)
        {
            return Ok(());
        }
        if let [cell] = test.cells[..]
            && self.domains[cell].choice.is_some()
            && test.expr.is_some()
        {
            return self.filter_by(cell, test, why);
        }
        match &test.form {
            DomainConstraint::Bound { cell, op, point } => self.bound(*cell, *op, *point, why),
            DomainConstraint::Order {
                left,
                op,
                right,
                offset,
            } => self.order(*left, *op, *right, *offset, why),
            DomainConstraint::OneOf {
                cell,
                values,
                exact,
            } => {
                let why = if *exact { why } else { why | GUESS };
                self.choose(*cell, values.clone(), why)
            }
            DomainConstraint::NoneOf { cell, values } => {
                for value in values {
                    self.exclude(*cell, value, why)?;
                }
                Ok(())
            }
            DomainConstraint::Equal { left, right } => self.equate(*left, *right, why | GUESS),
            DomainConstraint::Unequal { left, right } => self.separate(*left, *right, why),
            DomainConstraint::Length { cell, op, count } => self.length(*cell, *op, *count, why),
            DomainConstraint::Prefix { cell, text } => {
                let count = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
                self.length(*cell, CompareOp::GreaterOrEqual, count, why | GUESS)
            }
            DomainConstraint::Pattern | DomainConstraint::Opaque => Ok(()),
        }
    }

    /// Keeps the choices on which a test has its verdict.
    fn filter_by(
        &mut self,
        cell: usize,
        test: &'p ExprConstraint<'a>,
        why: Reasons,
    ) -> Result<(), Reasons> {
        let (Some(expr), Some(choice)) = (&test.expr, self.domains[cell].choice.clone()) else {
            return Ok(());
        };
        let plan = &self.problem.cells[cell];
        let width = self.problem.rows[test.row].definition.columns.len();
        let mut row = vec![Value::Null; width];
        let mut kept = Vec::with_capacity(choice.values.len());
        let mut certain = true;
        for value in choice.values.iter() {
            row[plan.column] = value.clone();
            match eval::truth(expr, &row, self.problem.dialect) {
                Ok(truth) if test.wanted.is(truth.verdict()) => kept.push(value.clone()),
                Ok(_) => {}
                Err(_) => certain = false,
            }
        }
        // What a cell may be chosen from speaks of values; NULL may do as well.
        if kept.is_empty() && self.domains[cell].null != Some(false) {
            row[plan.column] = Value::Null;
            let by_null = eval::truth(expr, &row, self.problem.dialect)
                .map_or(true, |truth| test.wanted.is(truth.verdict()));
            if by_null {
                return self.set_null(cell, true, why | choice.why);
            }
        }
        // Text chosen by a comparison stands for all text that compares equal, and only
        // comparisons cannot tell them apart.
        let faithful = !plan.definition.data_type.is_text()
            || matches!(
                test.form,
                DomainConstraint::OneOf { .. } | DomainConstraint::NoneOf { .. }
            );
        let why = if certain && faithful {
            why
        } else {
            why | GUESS
        };
        self.keep(cell, kept, why)
    }

    pub(super) fn choose(
        &mut self,
        cell: usize,
        values: Vec<Value>,
        why: Reasons,
    ) -> Result<(), Reasons> {
        let plan = &self.problem.cells[cell];
        if plan.automatic {
            return Ok(());
        }
        let kept: Vec<Value> = match &self.domains[cell].choice {
            Some(choice) => choice
                .values
                .iter()
                .filter(|old| values.iter().any(|new| self.problem.same(cell, old, new)))
                .cloned()
                .collect(),
            None => values,
        };
        self.keep(cell, kept, why)
    }

    /// Makes `kept` the choices of a cell, minus those that its bounds and exclusions refuse.
    fn keep(&mut self, cell: usize, mut kept: Vec<Value>, mut why: Reasons) -> Result<(), Reasons> {
        let problem = self.problem;
        let domain = &self.domains[cell];
        if let Some(choice) = &domain.choice {
            if choice.values.len() == kept.len() {
                return Ok(());
            }
            why |= choice.why;
        }
        for (excluded, reason) in &domain.not {
            let before = kept.len();
            kept.retain(|value| !problem.same(cell, value, excluded));
            if kept.len() < before {
                why |= reason;
            }
        }
        if let Some(axis) = problem.cells[cell].axis {
            let before = kept.len();
            kept.retain(|value| axis.point(value).is_none_or(|point| domain.admits(point)));
            if kept.len() < before {
                why |= domain.low.map_or(0, |low| low.why) | domain.high.map_or(0, |high| high.why);
            }
        }
        if kept.is_empty() {
            return Err(why | domain.null_why);
        }
        let points: Option<Vec<Decimal>> = problem.cells[cell]
            .axis
            .and_then(|axis| kept.iter().map(|value| axis.point(value)).collect());
        let domain = self.domain(cell);
        domain.choice = Some(FiniteDomain {
            values: Rc::new(kept),
            why,
        });
        if let Some(points) = points {
            let low = points.iter().min().copied();
            let high = points.iter().max().copied();
            if let (Some(low), Some(high)) = (low, high) {
                let closed = |point| Bound {
                    point,
                    open: false,
                    why,
                };
                if domain.low.is_none_or(|old| low > old.point || old.open) {
                    domain.low = Some(closed(low));
                }
                if domain.high.is_none_or(|old| high < old.point || old.open) {
                    domain.high = Some(closed(high));
                }
            }
        }
        Ok(())
    }

    /// Gives a cell one value.
    pub(super) fn assign(
        &mut self,
        cell: usize,
        value: &Value,
        why: Reasons,
    ) -> Result<(), Reasons> {
        self.equal_to_value(cell, value, why)
    }

    fn equal_to_value(&mut self, cell: usize, value: &Value, why: Reasons) -> Result<(), Reasons> {
        let plan = &self.problem.cells[cell];
        if plan.automatic {
            return Ok(());
        }
        // A value of another column may look different when stored in this one.
        let Some(stored) = self.problem.stored(cell, value) else {
            return Err(why | plan.type_why | if plan.type_why == 0 { GUESS } else { 0 });
        };
        if let Some(axis) = plan.axis
            && let Some(point) = axis.point(&stored)
        {
            self.bound(cell, CompareOp::Equal, point, why)?;
        }
        self.choose(cell, vec![stored], why)
    }

    pub(super) fn exclude(
        &mut self,
        cell: usize,
        value: &Value,
        why: Reasons,
    ) -> Result<(), Reasons> {
        let problem = self.problem;
        if problem.cells[cell].automatic {
            return Ok(());
        }
        if let Some(choice) = self.domains[cell].choice.clone() {
            let kept: Vec<Value> = choice
                .values
                .iter()
                .filter(|old| !problem.same(cell, old, value))
                .cloned()
                .collect();
            return self.keep(cell, kept, why);
        }
        self.domain(cell).not.push((value.clone(), why));
        self.shave(cell)
    }

    /// Moves bounds past values that are excluded.
    fn shave(&mut self, cell: usize) -> Result<(), Reasons> {
        let Some(axis) = self.problem.cells[cell].axis else {
            return Ok(());
        };
        loop {
            let domain = &self.domains[cell];
            let excluded = |bound: Option<Bound>| {
                let bound = bound.filter(|bound| !bound.open)?;
                let (_, why) = domain
                    .not
                    .iter()
                    .find(|(value, _)| axis.point(value) == Some(bound.point))?;
                Some((bound.point, bound.why | why))
            };
            if let Some((point, why)) = excluded(domain.low) {
                self.raise(cell, point, true, why)?;
            } else if let Some((point, why)) = excluded(domain.high) {
                self.lower(cell, point, true, why)?;
            } else {
                return Ok(());
            }
        }
    }

    fn bound(
        &mut self,
        cell: usize,
        op: CompareOp,
        point: Decimal,
        why: Reasons,
    ) -> Result<(), Reasons> {
        match op {
            CompareOp::Equal => {
                self.raise(cell, point, false, why)?;
                self.lower(cell, point, false, why)
            }
            CompareOp::NotEqual => {
                let plan = &self.problem.cells[cell];
                let value = plan
                    .axis
                    .and_then(|axis| axis.value(point, &plan.definition.data_type));
                let stored = value.and_then(|value| self.problem.stored(cell, &value));
                match stored {
                    Some(value) => self.exclude(cell, &value, why),
                    None => Ok(()),
                }
            }
            CompareOp::Less => self.lower(cell, point, true, why),
            CompareOp::LessOrEqual => self.lower(cell, point, false, why),
            CompareOp::Greater => self.raise(cell, point, true, why),
            CompareOp::GreaterOrEqual => self.raise(cell, point, false, why),
        }
    }

    pub(super) fn raise(
        &mut self,
        cell: usize,
        point: Decimal,
        open: bool,
        why: Reasons,
    ) -> Result<(), Reasons> {
        let Some((point, open)) = self.snapped(cell, point, open, true) else {
            return Ok(());
        };
        let tighter = self.domains[cell]
            .low
            .is_none_or(|old| point > old.point || (point == old.point && open && !old.open));
        if !tighter {
            return Ok(());
        }
        self.domain(cell).low = Some(Bound { point, open, why });
        self.settle(cell)
    }

    pub(super) fn lower(
        &mut self,
        cell: usize,
        point: Decimal,
        open: bool,
        why: Reasons,
    ) -> Result<(), Reasons> {
        let Some((point, open)) = self.snapped(cell, point, open, false) else {
            return Ok(());
        };
        let tighter = self.domains[cell]
            .high
            .is_none_or(|old| point < old.point || (point == old.point && open && !old.open));
        if !tighter {
            return Ok(());
        }
        self.domain(cell).high = Some(Bound { point, open, why });
        self.settle(cell)
    }

    /// A bound moved to the nearest value that exists, where values do not lie dense.
    fn snapped(
        &self,
        cell: usize,
        point: Decimal,
        open: bool,
        up: bool,
    ) -> Option<(Decimal, bool)> {
        let plan = &self.problem.cells[cell];
        let axis = plan.axis?;
        if plan.automatic {
            return None;
        }
        if axis.dense {
            return Some((point, open));
        }
        let point = if up {
            axis.at_or_above(point, open)?
        } else {
            axis.at_or_below(point, open)?
        };
        Some((point, false))
    }

    /// Checks bounds against each other and against the choices.
    fn settle(&mut self, cell: usize) -> Result<(), Reasons> {
        let domain = &self.domains[cell];
        if let (Some(low), Some(high)) = (domain.low, domain.high)
            && (low.point > high.point || (low.point == high.point && (low.open || high.open)))
        {
            return Err(low.why | high.why | domain.null_why);
        }
        if let Some(choice) = domain.choice.clone() {
            let axis = self.problem.cells[cell].axis;
            let inside = |value: &&Value| {
                axis.and_then(|axis| axis.point(value))
                    .is_none_or(|point| domain.admits(point))
            };
            let kept: Vec<Value> = choice.values.iter().filter(inside).cloned().collect();
            let why = domain.low.map_or(0, |low| low.why) | domain.high.map_or(0, |high| high.why);
            return self.keep(cell, kept, why);
        }
        self.shave(cell)
    }

    pub(super) fn is_automatic(&self, cell: usize) -> bool {
        self.problem.cells[cell].automatic
    }

    pub(super) fn length(
        &mut self,
        cell: usize,
        op: CompareOp,
        count: i64,
        why: Reasons,
    ) -> Result<(), Reasons> {
        if self.is_automatic(cell) {
            return Ok(());
        }
        let clamp = |count: i64| u32::try_from(count.clamp(0, i64::from(u32::MAX))).unwrap_or(0);
        let (least, most) = match op {
            CompareOp::Equal => (Some(count), Some(count)),
            CompareOp::Less => (None, Some(count.saturating_sub(1))),
            CompareOp::LessOrEqual => (None, Some(count)),
            CompareOp::Greater => (Some(count.saturating_add(1)), None),
            CompareOp::GreaterOrEqual => (Some(count), None),
            CompareOp::NotEqual => return Ok(()),
        };
        if let Some(most) = most {
            if most < 0 {
                return Err(why);
            }
            if self.domains[cell]
                .longest
                .is_none_or(|(old, _)| clamp(most) < old)
            {
                self.domain(cell).longest = Some((clamp(most), why));
            }
        }
        if let Some(least) = least
            && clamp(least) > self.domains[cell].shortest.0
        {
            self.domain(cell).shortest = (clamp(least), why);
        }
        let domain = &self.domains[cell];
        match domain.longest {
            Some((most, reason)) if most < domain.shortest.0 => {
                Err(reason | domain.shortest.1 | domain.null_why)
            }
            _ => Ok(()),
        }
    }
}
