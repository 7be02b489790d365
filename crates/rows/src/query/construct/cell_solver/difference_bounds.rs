//! Circles of comparisons: `a < b`, `b <= c`, `c = a - 1` cannot all be true, whatever the values.
//!
//! Each comparison bounds the difference of two values. When bounds around a circle add up to less
//! than nothing, or to nothing where one of them is strict, no values meet them.

use isobath_sql::expr::{BinaryOp, CompareOp};
use isobath_sql::{DataType, Expr, Value};
use rust_decimal::Decimal;

use super::super::state::{AtomicCondition, TruthRequirement};
use super::CellSolver;
use super::regions::number;

/// The values among which comparisons are an order, and sums are exact where they are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OrderedKind {
    Number,
    Float,
    Date,
    Time,
    Moment,
    Instant,
}

/// A class plus a constant; without a class, the constant alone.
struct DifferenceTerm {
    class: Option<usize>,
    plus: Decimal,
    /// `None` where only the other side knows.
    kind: Option<OrderedKind>,
    /// Whether it is a whole number.
    whole: bool,
}

/// `from - to <= at_most`, or less.
struct DifferenceBound {
    from: usize,
    to: usize,
    at_most: (Decimal, i32),
}

impl CellSolver<'_, '_> {
    /// Classes whose comparisons with each other contradict themselves.
    pub(super) fn contradictory_cycle(&self) -> Option<Vec<usize>> {
        let coupled = |class: &super::CellClass| {
            class.coupled.iter().any(|leaf| {
                matches!(&self.state.leaves[*leaf].expr, Expr::Compare { op, .. }
                    if !matches!(op, CompareOp::Equal | CompareOp::NotEqual))
            })
        };
        if !self.classes.iter().any(coupled) {
            return None;
        }
        let mut kinds: Vec<Option<OrderedKind>> = vec![None; self.classes.len() + 1];
        let mut bounds = Vec::new();
        let not_null = self.never_null();
        for leaf in &self.state.leaves {
            self.bounds(leaf, &not_null, &mut kinds, &mut bounds);
        }
        negative_cycle(&bounds, kinds.len()).map(|mut circle| {
            // Constants have a place of their own behind the classes.
            circle.retain(|node| *node < self.classes.len());
            circle.sort_unstable();
            circle
        })
    }

    /// The classes that cannot be NULL where all leaves are met.
    fn never_null(&self) -> Vec<bool> {
        let mut never: Vec<bool> = self.classes.iter().map(|class| class.not_null).collect();
        for leaf in &self.state.leaves {
            let definite = matches!(leaf.want, TruthRequirement::True | TruthRequirement::False);
            if let (true, Expr::Compare { left, right, .. }) = (definite, &leaf.expr) {
                for side in [left, right] {
                    if let Some(DifferenceTerm {
                        class: Some(class), ..
                    }) = self.term(side)
                    {
                        never[class] = true;
                    }
                }
            }
        }
        never
    }

    fn bounds(
        &self,
        leaf: &AtomicCondition,
        not_null: &[bool],
        kinds: &mut [Option<OrderedKind>],
        bounds: &mut Vec<DifferenceBound>,
    ) {
        let Expr::Compare { op, left, right } = &leaf.expr else {
            return;
        };
        let (Some(left), Some(right)) = (self.term(left), self.term(right)) else {
            return;
        };
        let known = |term: &DifferenceTerm| term.class.is_none_or(|class| not_null[class]);
        if !(known(&left) && known(&right)) {
            return;
        }
        let op = match leaf.want {
            TruthRequirement::True | TruthRequirement::NotFalse => *op,
            TruthRequirement::False | TruthRequirement::NotTrue => op.negated(),
        };
        let constants = self.classes.len();
        let (from, to) = (
            left.class.unwrap_or(constants),
            right.class.unwrap_or(constants),
        );
        let kind = match (left.kind, right.kind) {
            (Some(a), Some(b)) if a != b => return,
            (Some(kind), _) | (_, Some(kind)) => kind,
            (None, None) => return,
        };
        let exact = kind == OrderedKind::Number;
        let plain = |term: &DifferenceTerm| term.class.is_some() && term.plus.is_zero();
        if !(exact || plain(&left) && plain(&right)) {
            return;
        }
        for node in [from, to] {
            if node < constants && *kinds[node].get_or_insert(kind) != kind {
                return;
            }
        }
        let Some(apart) = right.plus.checked_sub(left.plus) else {
            return;
        };
        let whole = left.whole && right.whole && exact;
        let less = |apart: Decimal, strict: bool| match (strict, whole) {
            (true, true) => apart.checked_sub(Decimal::ONE).map(|apart| (apart, 0)),
            (true, false) => Some((apart, -1)),
            (false, _) => Some((apart, 0)),
        };
        let mut add = |from, to, at_most: Option<(Decimal, i32)>| {
            if let Some(at_most) = at_most {
                bounds.push(DifferenceBound { from, to, at_most });
            }
        };
        match op {
            CompareOp::Less => add(from, to, less(apart, true)),
            CompareOp::LessOrEqual => add(from, to, less(apart, false)),
            CompareOp::Greater => add(to, from, less(-apart, true)),
            CompareOp::GreaterOrEqual => add(to, from, less(-apart, false)),
            CompareOp::Equal => {
                add(from, to, less(apart, false));
                add(to, from, less(-apart, false));
            }
            CompareOp::NotEqual => {}
        }
    }

    /// A column or parameter, plus or minus constants.
    fn term(&self, expr: &Expr) -> Option<DifferenceTerm> {
        match expr {
            Expr::Column(column) => {
                let (kind, whole) = match &column.data_type {
                    DataType::Integer { .. } => (OrderedKind::Number, true),
                    DataType::Decimal { .. } => (OrderedKind::Number, false),
                    DataType::Float { .. } => (OrderedKind::Float, false),
                    DataType::Date => (OrderedKind::Date, false),
                    DataType::Time { .. } => (OrderedKind::Time, false),
                    DataType::Timestamp { zoned: false, .. } => (OrderedKind::Moment, false),
                    DataType::Timestamp { zoned: true, .. } => (OrderedKind::Instant, false),
                    _ => return None,
                };
                Some(DifferenceTerm {
                    class: Some(self.class_of[column.slot]),
                    plus: Decimal::ZERO,
                    kind: Some(kind),
                    whole,
                })
            }
            Expr::Parameter(parameter) => {
                let cell = *self.state.parameters.get(parameter)?;
                Some(DifferenceTerm {
                    class: Some(self.class_of[cell]),
                    plus: Decimal::ZERO,
                    kind: None,
                    whole: false,
                })
            }
            Expr::Binary {
                op: op @ (BinaryOp::Add | BinaryOp::Subtract),
                left,
                right,
            } => {
                let (left, right) = (self.term(left)?, self.term(right)?);
                // Only numbers are added to here.
                if [&left, &right]
                    .iter()
                    .any(|term| term.kind.is_some_and(|kind| kind != OrderedKind::Number))
                {
                    return None;
                }
                let (class, plus) = match (op, left.class, right.class) {
                    (BinaryOp::Add, class, None) | (BinaryOp::Add, None, class) => {
                        (class, left.plus.checked_add(right.plus)?)
                    }
                    (BinaryOp::Subtract, class, None) => {
                        (class, left.plus.checked_sub(right.plus)?)
                    }
                    _ => return None,
                };
                Some(DifferenceTerm {
                    class,
                    plus,
                    kind: Some(OrderedKind::Number),
                    whole: left.whole && right.whole,
                })
            }
            other => {
                let value = self.folded(other)?;
                let (Value::Int(_) | Value::Decimal(_)) = value else {
                    return None;
                };
                let plus = number(&value)?;
                Some(DifferenceTerm {
                    class: None,
                    plus,
                    kind: Some(OrderedKind::Number),
                    whole: plus.fract().is_zero(),
                })
            }
        }
    }
}

/// The nodes of a circle of bounds that no values meet (Bellman and Ford).
fn negative_cycle(bounds: &[DifferenceBound], nodes: usize) -> Option<Vec<usize>> {
    let mut least = vec![(Decimal::ZERO, 0); nodes];
    let mut before: Vec<Option<usize>> = vec![None; nodes];
    let mut last = None;
    for _ in 0..=nodes {
        last = None;
        for (number, bound) in bounds.iter().enumerate() {
            let (sum, strict) = least[bound.to];
            let reached = (sum.checked_add(bound.at_most.0)?, strict + bound.at_most.1);
            if reached < least[bound.from] {
                least[bound.from] = reached;
                before[bound.from] = Some(number);
                last = Some(bound.from);
            }
        }
        last?;
    }
    // Whatever still changes hangs on a circle; as many steps back as there are nodes lead into it.
    let mut node = last?;
    for _ in 0..nodes {
        node = bounds[before[node]?].to;
    }
    let mut circle = vec![node];
    let mut next = bounds[before[node]?].to;
    while next != node {
        circle.push(next);
        next = bounds[before[next]?].to;
    }
    Some(circle)
}
