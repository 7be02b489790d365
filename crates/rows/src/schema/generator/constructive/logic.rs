//! From expressions with a verdict to goals, by SQL's three-valued logic.
//!
//! AND, OR, NOT, BETWEEN, CASE and the IS tests are taken apart; what remains
//! are tests that are unknown exactly when a column in them is NULL, or opaque
//! ones, whose verdict only evaluation tells.

use std::borrow::Cow;

use isobath_sql::eval;
use isobath_sql::expr::CompareOp;
use isobath_sql::{Expr, Value};

use super::domain_constraint;
use super::problem::{CellConstraint, CellProblem, DomainConstraint, ExprConstraint};
use crate::schema::predicate::RequiredTruth;

/// A verdict, or that it is not one.
#[derive(Clone, Copy, PartialEq)]
enum TruthSet {
    True,
    False,
    Unknown,
    NotFalse,
    NotTrue,
}

/// The goal that `expr` has the verdict on a row.
pub(super) fn constraint<'a>(
    problem: &CellProblem<'a>,
    row: usize,
    expr: &'a Expr,
    wanted: RequiredTruth,
) -> CellConstraint<'a> {
    let want = match wanted {
        RequiredTruth::True => TruthSet::True,
        RequiredTruth::False => TruthSet::False,
        RequiredTruth::Unknown => TruthSet::Unknown,
        RequiredTruth::NotFalse => TruthSet::NotFalse,
    };
    LogicLowering { problem, row }.constraint(Cow::Borrowed(expr), want)
}

struct LogicLowering<'p, 'a> {
    problem: &'p CellProblem<'a>,
    row: usize,
}

impl TruthSet {
    /// The verdict that the operand of NOT must have.
    fn inverted(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Unknown => Self::Unknown,
            Self::NotFalse => Self::NotTrue,
            Self::NotTrue => Self::NotFalse,
        }
    }

    fn admits(self, verdict: Option<bool>) -> bool {
        match self {
            Self::True => verdict == Some(true),
            Self::False => verdict == Some(false),
            Self::Unknown => verdict.is_none(),
            Self::NotFalse => verdict != Some(false),
            Self::NotTrue => verdict != Some(true),
        }
    }

    fn constant<'a>(self, verdict: Option<bool>) -> CellConstraint<'a> {
        if self.admits(verdict) {
            CellConstraint::TRUE
        } else {
            CellConstraint::FALSE
        }
    }
}

impl<'a> LogicLowering<'_, 'a> {
    fn constraint(&self, expr: Cow<'a, Expr>, want: TruthSet) -> CellConstraint<'a> {
        match expr {
            Cow::Borrowed(expr) => self.borrowed(expr, want),
            Cow::Owned(expr) => self.test(Cow::Owned(expr), want),
        }
    }

    fn borrowed(&self, whole: &'a Expr, want: TruthSet) -> CellConstraint<'a> {
        match whole {
            Expr::And(parts) => self.conjunction(parts, want, false),
            // p OR q is NOT (NOT p AND NOT q), in three values too.
            Expr::Or(parts) => self.conjunction(parts, want.inverted(), true),
            Expr::Not(inner) => self.borrowed(inner, want.inverted()),
            Expr::Between {
                expr,
                low,
                high,
                negated,
                symmetric,
            } => {
                let want = if *negated { want.inverted() } else { want };
                let inside = |low: &'a Expr, high: &'a Expr, want| {
                    let above = compare(CompareOp::GreaterOrEqual, expr, low);
                    let below = compare(CompareOp::LessOrEqual, expr, high);
                    self.both(above, below, want)
                };
                if *symmetric {
                    let either = |want: TruthSet| {
                        let first = inside(low, high, want);
                        let second = inside(high, low, want);
                        (first, second)
                    };
                    match want {
                        TruthSet::True | TruthSet::NotFalse => {
                            let (first, second) = either(want);
                            CellConstraint::any([first, second])
                        }
                        TruthSet::False | TruthSet::NotTrue => {
                            let (first, second) = either(want);
                            CellConstraint::all([first, second])
                        }
                        TruthSet::Unknown => self.test(Cow::Borrowed(whole), want),
                    }
                } else {
                    inside(low, high, want)
                }
            }
            Expr::IsNull {
                expr: inner,
                negated,
            } => match (
                want,
                self.null(
                    inner,
                    *negated == (want == TruthSet::False || want == TruthSet::NotTrue),
                ),
            ) {
                (TruthSet::Unknown, _) => CellConstraint::FALSE,
                (_, Some(constraint)) => constraint,
                (_, None) => self.test(Cow::Borrowed(whole), want),
            },
            Expr::IsTruth {
                expr: inner,
                verdict,
                negated,
            } => {
                let holds = match want {
                    TruthSet::Unknown => return CellConstraint::FALSE,
                    TruthSet::True | TruthSet::NotFalse => !negated,
                    TruthSet::False | TruthSet::NotTrue => *negated,
                };
                match (verdict, holds) {
                    (Some(true), true) => self.borrowed(inner, TruthSet::True),
                    (Some(true), false) => self.borrowed(inner, TruthSet::NotTrue),
                    (Some(false), true) => self.borrowed(inner, TruthSet::False),
                    (Some(false), false) => self.borrowed(inner, TruthSet::NotFalse),
                    (None, true) => self.borrowed(inner, TruthSet::Unknown),
                    (None, false) => CellConstraint::any([
                        self.borrowed(inner, TruthSet::True),
                        self.borrowed(inner, TruthSet::False),
                    ]),
                }
            }
            Expr::Compare {
                op: op @ (CompareOp::Equal | CompareOp::NotEqual),
                left,
                right,
            } if is_condition(left) && is_condition(right) => {
                let differ = *op == CompareOp::NotEqual;
                self.same_verdict(left, right, if differ { want.inverted() } else { want })
            }
            Expr::IsDistinct {
                left,
                right,
                negated,
            } => self.distinct(whole, left, right, *negated, want),
            Expr::Case {
                operand,
                branches,
                otherwise,
            } => self.case(operand.as_deref(), branches, otherwise.as_deref(), want),
            Expr::Literal(Value::Null) => want.constant(None),
            Expr::Literal(Value::Bool(value)) => want.constant(Some(*value)),
            other => self.test(Cow::Borrowed(other), want),
        }
    }

    /// A conjunction, of negations when `inverted`.
    fn conjunction(&self, parts: &'a [Expr], want: TruthSet, inverted: bool) -> CellConstraint<'a> {
        let each = |want: TruthSet| {
            let want = if inverted { want.inverted() } else { want };
            let constraints = parts.iter().map(|part| self.borrowed(part, want));
            constraints.collect::<Vec<_>>()
        };
        match want {
            TruthSet::True | TruthSet::NotFalse => CellConstraint::all(each(want)),
            TruthSet::False | TruthSet::NotTrue => CellConstraint::any(each(want)),
            TruthSet::Unknown => CellConstraint::all([
                CellConstraint::all(each(TruthSet::NotFalse)),
                CellConstraint::any(each(TruthSet::Unknown)),
            ]),
        }
    }

    /// That two conditions have the same verdict, which is unknown as soon as one of theirs is.
    fn same_verdict(&self, left: &'a Expr, right: &'a Expr, want: TruthSet) -> CellConstraint<'a> {
        let pair = |first, second| {
            CellConstraint::all([self.borrowed(left, first), self.borrowed(right, second)])
        };
        let same = || {
            [
                pair(TruthSet::True, TruthSet::True),
                pair(TruthSet::False, TruthSet::False),
            ]
        };
        let different = || {
            [
                pair(TruthSet::True, TruthSet::False),
                pair(TruthSet::False, TruthSet::True),
            ]
        };
        let unknown = || {
            [
                self.borrowed(left, TruthSet::Unknown),
                self.borrowed(right, TruthSet::Unknown),
            ]
        };
        match want {
            TruthSet::True => CellConstraint::any(same()),
            TruthSet::False => CellConstraint::any(different()),
            TruthSet::Unknown => CellConstraint::any(unknown()),
            TruthSet::NotFalse => CellConstraint::any(same().into_iter().chain(unknown())),
            TruthSet::NotTrue => CellConstraint::any(different().into_iter().chain(unknown())),
        }
    }

    fn both(&self, first: Expr, second: Expr, want: TruthSet) -> CellConstraint<'a> {
        let each = |want| {
            [
                self.test(Cow::Owned(first.clone()), want),
                self.test(Cow::Owned(second.clone()), want),
            ]
        };
        match want {
            TruthSet::True | TruthSet::NotFalse => CellConstraint::all(each(want)),
            TruthSet::False | TruthSet::NotTrue => CellConstraint::any(each(want)),
            TruthSet::Unknown => CellConstraint::all([
                CellConstraint::all(each(TruthSet::NotFalse)),
                CellConstraint::any(each(TruthSet::Unknown)),
            ]),
        }
    }

    fn distinct(
        &self,
        whole: &'a Expr,
        left: &'a Expr,
        right: &'a Expr,
        negated: bool,
        want: TruthSet,
    ) -> CellConstraint<'a> {
        let differ = match want {
            TruthSet::Unknown => return CellConstraint::FALSE,
            TruthSet::True | TruthSet::NotFalse => !negated,
            TruthSet::False | TruthSet::NotTrue => negated,
        };
        let nulls = || {
            Some((
                self.null(left, true)?,
                self.null(left, false)?,
                self.null(right, true)?,
                self.null(right, false)?,
            ))
        };
        let Some((left_null, left_value, right_null, right_value)) = nulls() else {
            return self.test(Cow::Borrowed(whole), want);
        };
        let compared = compare(CompareOp::Equal, left, right);
        if differ {
            CellConstraint::any([
                self.test(Cow::Owned(compared), TruthSet::False),
                CellConstraint::all([left_null, right_value]),
                CellConstraint::all([left_value, right_null]),
            ])
        } else {
            CellConstraint::any([
                self.test(Cow::Owned(compared), TruthSet::True),
                CellConstraint::all([left_null, right_null]),
            ])
        }
    }

    fn case(
        &self,
        operand: Option<&'a Expr>,
        branches: &'a [(Expr, Expr)],
        otherwise: Option<&'a Expr>,
        want: TruthSet,
    ) -> CellConstraint<'a> {
        let condition = |when: &'a Expr, want| match operand {
            Some(operand) => self.test(Cow::Owned(compare(CompareOp::Equal, operand, when)), want),
            None => self.borrowed(when, want),
        };
        let mut ways = Vec::new();
        for (index, (when, then)) in branches.iter().enumerate() {
            let mut way: Vec<CellConstraint<'a>> = branches[..index]
                .iter()
                .map(|(earlier, _)| condition(earlier, TruthSet::NotTrue))
                .collect();
            way.push(condition(when, TruthSet::True));
            way.push(self.borrowed(then, want));
            ways.push(CellConstraint::all(way));
        }
        let mut way: Vec<CellConstraint<'a>> = branches
            .iter()
            .map(|(when, _)| condition(when, TruthSet::NotTrue))
            .collect();
        way.push(match otherwise {
            Some(otherwise) => self.borrowed(otherwise, want),
            None => want.constant(None),
        });
        ways.push(CellConstraint::all(way));
        CellConstraint::any(ways)
    }

    /// The goal that an expression is (or is not) NULL, when columns alone decide that.
    fn null(&self, expr: &Expr, is_null: bool) -> Option<CellConstraint<'a>> {
        if let Expr::Literal(value) = expr {
            let holds = value.is_null() == is_null;
            return Some(if holds {
                CellConstraint::TRUE
            } else {
                CellConstraint::FALSE
            });
        }
        let columns = expr.columns();
        if columns.is_empty() || !domain_constraint::is_strict(expr) {
            return None;
        }
        let constraints = columns.into_iter().map(|column| CellConstraint::Null {
            cell: self.problem.cell(self.row, column),
            is_null,
        });
        let constraints: Vec<_> = constraints.collect();
        Some(if is_null {
            CellConstraint::any(constraints)
        } else {
            CellConstraint::all(constraints)
        })
    }

    /// A test that is not taken apart further.
    fn test(&self, expr: Cow<'a, Expr>, want: TruthSet) -> CellConstraint<'a> {
        let columns = expr.columns();
        if columns.is_empty()
            && let Ok(truth) = eval::truth(&expr, &[], self.problem.dialect)
        {
            return want.constant(truth.verdict());
        }
        let cells: Vec<usize> = columns
            .iter()
            .map(|column| self.problem.cell(self.row, *column))
            .collect();
        if !domain_constraint::is_strict(&expr) {
            return match want {
                TruthSet::True => {
                    self.leaf(expr, RequiredTruth::True, cells, DomainConstraint::Opaque)
                }
                TruthSet::False => {
                    self.leaf(expr, RequiredTruth::False, cells, DomainConstraint::Opaque)
                }
                TruthSet::Unknown => self.leaf(
                    expr,
                    RequiredTruth::Unknown,
                    cells,
                    DomainConstraint::Opaque,
                ),
                TruthSet::NotFalse => self.leaf(
                    expr,
                    RequiredTruth::NotFalse,
                    cells,
                    DomainConstraint::Opaque,
                ),
                TruthSet::NotTrue => CellConstraint::any([
                    self.leaf(
                        expr.clone(),
                        RequiredTruth::False,
                        cells.clone(),
                        DomainConstraint::Opaque,
                    ),
                    self.leaf(
                        expr,
                        RequiredTruth::Unknown,
                        cells,
                        DomainConstraint::Opaque,
                    ),
                ]),
            };
        }
        let nulls = |is_null| {
            cells
                .iter()
                .map(move |cell| CellConstraint::Null {
                    cell: *cell,
                    is_null,
                })
                .collect::<Vec<_>>()
        };
        let decided = |wanted: RequiredTruth| {
            let forms = domain_constraint::forms(
                self.problem,
                self.row,
                &expr,
                wanted == RequiredTruth::True,
            );
            let mut constraints = nulls(false);
            for helper in forms.helpers {
                constraints.push(helper);
            }
            constraints.push(self.leaf(expr.clone(), wanted, cells.clone(), forms.main));
            CellConstraint::all(constraints)
        };
        match want {
            TruthSet::True => decided(RequiredTruth::True),
            TruthSet::False => decided(RequiredTruth::False),
            TruthSet::Unknown => CellConstraint::any(nulls(true)),
            TruthSet::NotFalse => CellConstraint::any(
                std::iter::once(decided(RequiredTruth::True)).chain(nulls(true)),
            ),
            TruthSet::NotTrue => CellConstraint::any(
                std::iter::once(decided(RequiredTruth::False)).chain(nulls(true)),
            ),
        }
    }

    fn leaf(
        &self,
        expr: Cow<'a, Expr>,
        wanted: RequiredTruth,
        cells: Vec<usize>,
        form: DomainConstraint,
    ) -> CellConstraint<'a> {
        CellConstraint::Test(ExprConstraint {
            row: self.row,
            expr: Some(expr),
            wanted,
            cells,
            form,
        })
    }
}

/// Whether an expression is a condition by its shape, on every engine.
fn is_condition(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::And(_)
            | Expr::Or(_)
            | Expr::Not(_)
            | Expr::Compare { .. }
            | Expr::Between { .. }
            | Expr::InList { .. }
            | Expr::Like { .. }
            | Expr::IsNull { .. }
            | Expr::IsTruth { .. }
            | Expr::IsDistinct { .. }
    )
}

fn compare(op: CompareOp, left: &Expr, right: &Expr) -> Expr {
    Expr::Compare {
        op,
        left: Box::new(left.clone()),
        right: Box::new(right.clone()),
    }
}
