//! The domain of one cell: the values that propagation has left.

use std::rc::Rc;

use isobath_sql::Value;
use rust_decimal::Decimal;

use super::axis::Axis;
use super::problem::{CellPlan, GUESS, Reasons};

/// One end of an interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) point: Decimal,
    pub(super) open: bool,
    pub(super) why: Reasons,
}

/// A finite choice of stored values.
#[derive(Clone, Debug)]
pub(super) struct FiniteDomain {
    pub(super) values: Rc<Vec<Value>>,
    pub(super) why: Reasons,
}

/// What is left for one cell. Everything but `null` speaks of the case that it is not NULL.
#[derive(Clone, Debug)]
pub(super) struct Domain {
    /// Whether it is NULL, once that is decided.
    pub(super) null: Option<bool>,
    pub(super) null_why: Reasons,
    pub(super) low: Option<Bound>,
    pub(super) high: Option<Bound>,
    pub(super) choice: Option<FiniteDomain>,
    /// Values that it must not have.
    pub(super) not: Vec<(Value, Reasons)>,
    /// Least and greatest number of characters.
    pub(super) shortest: (u32, Reasons),
    pub(super) longest: Option<(u32, Reasons)>,
}

impl Domain {
    pub(super) fn of(plan: &CellPlan<'_>) -> Self {
        let axis_why = |axis: &Axis| if axis.limited { plan.type_why } else { GUESS };
        let bound = |point: Option<Decimal>| {
            let axis = plan.axis.as_ref()?;
            Some(Bound {
                point: point?,
                open: false,
                why: axis_why(axis),
            })
        };
        Self {
            null: plan.counts.then_some(false),
            null_why: if plan.counts { plan.type_why } else { 0 },
            low: bound(plan.axis.and_then(|axis| axis.least)),
            high: bound(plan.axis.and_then(|axis| axis.greatest)),
            choice: plan.all.as_ref().map(|all| FiniteDomain {
                values: Rc::new(all.clone()),
                why: plan.type_why,
            }),
            not: Vec::new(),
            shortest: (0, 0),
            longest: plan
                .definition
                .data_type
                .max_chars()
                .map(|most| (most, if plan.flexible { GUESS } else { plan.type_why })),
        }
    }

    /// The only value that is left, with the reasons.
    pub(super) fn single(&self) -> Option<(&Value, Reasons)> {
        match &self.choice {
            Some(choice) if choice.values.len() == 1 => Some((&choice.values[0], choice.why)),
            _ => None,
        }
    }

    /// Whether a point lies between the bounds.
    pub(super) fn admits(&self, point: Decimal) -> bool {
        let low = self
            .low
            .is_none_or(|low| point > low.point || (!low.open && point == low.point));
        let high = self
            .high
            .is_none_or(|high| point < high.point || (!high.open && point == high.point));
        low && high
    }
}
