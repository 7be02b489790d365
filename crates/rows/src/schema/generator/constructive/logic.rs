//! From expressions with a verdict to goals, by SQL's three-valued logic.
//!
//! AND, OR, NOT, BETWEEN, CASE and the IS tests are taken apart; what remains
//! are tests that are unknown exactly when a column in them is NULL, or opaque
//! ones, whose verdict only evaluation tells.

use std::borrow::Cow;

use isobath_sql::eval;
use isobath_sql::expr::CompareOp;
use isobath_sql::{Expr, Value};

use super::form;
use super::problem::{Form, Goal, Problem, Test};
use crate::schema::predicate::Wanted;

/// A verdict, or that it is not one.
#[derive(Clone, Copy, PartialEq)]
enum Want {
    True,
    False,
    Unknown,
    NotFalse,
    NotTrue,
}

/// The goal that `expr` has the verdict on a row.
pub(super) fn goal<'a>(
    problem: &Problem<'a>,
    row: usize,
    expr: &'a Expr,
    wanted: Wanted,
) -> Goal<'a> {
    let want = match wanted {
        Wanted::True => Want::True,
        Wanted::False => Want::False,
        Wanted::Unknown => Want::Unknown,
        Wanted::NotFalse => Want::NotFalse,
    };
    Logic { problem, row }.goal(Cow::Borrowed(expr), want)
}

struct Logic<'p, 'a> {
    problem: &'p Problem<'a>,
    row: usize,
}

impl Want {
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

    fn constant<'a>(self, verdict: Option<bool>) -> Goal<'a> {
        if self.admits(verdict) {
            Goal::TRUE
        } else {
            Goal::FALSE
        }
    }
}

impl<'a> Logic<'_, 'a> {
    fn goal(&self, expr: Cow<'a, Expr>, want: Want) -> Goal<'a> {
        match expr {
            Cow::Borrowed(expr) => self.borrowed(expr, want),
            Cow::Owned(expr) => self.test(Cow::Owned(expr), want),
        }
    }

    fn borrowed(&self, whole: &'a Expr, want: Want) -> Goal<'a> {
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
                    let either = |want: Want| {
                        let first = inside(low, high, want);
                        let second = inside(high, low, want);
                        (first, second)
                    };
                    match want {
                        Want::True | Want::NotFalse => {
                            let (first, second) = either(want);
                            Goal::any([first, second])
                        }
                        Want::False | Want::NotTrue => {
                            let (first, second) = either(want);
                            Goal::all([first, second])
                        }
                        Want::Unknown => self.test(Cow::Borrowed(whole), want),
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
                    *negated == (want == Want::False || want == Want::NotTrue),
                ),
            ) {
                (Want::Unknown, _) => Goal::FALSE,
                (_, Some(goal)) => goal,
                (_, None) => self.test(Cow::Borrowed(whole), want),
            },
            Expr::IsTruth {
                expr: inner,
                verdict,
                negated,
            } => {
                let holds = match want {
                    Want::Unknown => return Goal::FALSE,
                    Want::True | Want::NotFalse => !negated,
                    Want::False | Want::NotTrue => *negated,
                };
                match (verdict, holds) {
                    (Some(true), true) => self.borrowed(inner, Want::True),
                    (Some(true), false) => self.borrowed(inner, Want::NotTrue),
                    (Some(false), true) => self.borrowed(inner, Want::False),
                    (Some(false), false) => self.borrowed(inner, Want::NotFalse),
                    (None, true) => self.borrowed(inner, Want::Unknown),
                    (None, false) => Goal::any([
                        self.borrowed(inner, Want::True),
                        self.borrowed(inner, Want::False),
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
    fn conjunction(&self, parts: &'a [Expr], want: Want, inverted: bool) -> Goal<'a> {
        let each = |want: Want| {
            let want = if inverted { want.inverted() } else { want };
            let goals = parts.iter().map(|part| self.borrowed(part, want));
            goals.collect::<Vec<_>>()
        };
        match want {
            Want::True | Want::NotFalse => Goal::all(each(want)),
            Want::False | Want::NotTrue => Goal::any(each(want)),
            Want::Unknown => Goal::all([
                Goal::all(each(Want::NotFalse)),
                Goal::any(each(Want::Unknown)),
            ]),
        }
    }

    /// That two conditions have the same verdict, which is unknown as soon as one of theirs is.
    fn same_verdict(&self, left: &'a Expr, right: &'a Expr, want: Want) -> Goal<'a> {
        let pair =
            |first, second| Goal::all([self.borrowed(left, first), self.borrowed(right, second)]);
        let same = || [pair(Want::True, Want::True), pair(Want::False, Want::False)];
        let different = || [pair(Want::True, Want::False), pair(Want::False, Want::True)];
        let unknown = || {
            [
                self.borrowed(left, Want::Unknown),
                self.borrowed(right, Want::Unknown),
            ]
        };
        match want {
            Want::True => Goal::any(same()),
            Want::False => Goal::any(different()),
            Want::Unknown => Goal::any(unknown()),
            Want::NotFalse => Goal::any(same().into_iter().chain(unknown())),
            Want::NotTrue => Goal::any(different().into_iter().chain(unknown())),
        }
    }

    fn both(&self, first: Expr, second: Expr, want: Want) -> Goal<'a> {
        let each = |want| {
            [
                self.test(Cow::Owned(first.clone()), want),
                self.test(Cow::Owned(second.clone()), want),
            ]
        };
        match want {
            Want::True | Want::NotFalse => Goal::all(each(want)),
            Want::False | Want::NotTrue => Goal::any(each(want)),
            Want::Unknown => Goal::all([
                Goal::all(each(Want::NotFalse)),
                Goal::any(each(Want::Unknown)),
            ]),
        }
    }

    fn distinct(
        &self,
        whole: &'a Expr,
        left: &'a Expr,
        right: &'a Expr,
        negated: bool,
        want: Want,
    ) -> Goal<'a> {
        let differ = match want {
            Want::Unknown => return Goal::FALSE,
            Want::True | Want::NotFalse => !negated,
            Want::False | Want::NotTrue => negated,
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
            Goal::any([
                self.test(Cow::Owned(compared), Want::False),
                Goal::all([left_null, right_value]),
                Goal::all([left_value, right_null]),
            ])
        } else {
            Goal::any([
                self.test(Cow::Owned(compared), Want::True),
                Goal::all([left_null, right_null]),
            ])
        }
    }

    fn case(
        &self,
        operand: Option<&'a Expr>,
        branches: &'a [(Expr, Expr)],
        otherwise: Option<&'a Expr>,
        want: Want,
    ) -> Goal<'a> {
        let condition = |when: &'a Expr, want| match operand {
            Some(operand) => self.test(Cow::Owned(compare(CompareOp::Equal, operand, when)), want),
            None => self.borrowed(when, want),
        };
        let mut ways = Vec::new();
        for (index, (when, then)) in branches.iter().enumerate() {
            let mut way: Vec<Goal<'a>> = branches[..index]
                .iter()
                .map(|(earlier, _)| condition(earlier, Want::NotTrue))
                .collect();
            way.push(condition(when, Want::True));
            way.push(self.borrowed(then, want));
            ways.push(Goal::all(way));
        }
        let mut way: Vec<Goal<'a>> = branches
            .iter()
            .map(|(when, _)| condition(when, Want::NotTrue))
            .collect();
        way.push(match otherwise {
            Some(otherwise) => self.borrowed(otherwise, want),
            None => want.constant(None),
        });
        ways.push(Goal::all(way));
        Goal::any(ways)
    }

    /// The goal that an expression is (or is not) NULL, when columns alone decide that.
    fn null(&self, expr: &Expr, is_null: bool) -> Option<Goal<'a>> {
        if let Expr::Literal(value) = expr {
            let holds = value.is_null() == is_null;
            return Some(if holds { Goal::TRUE } else { Goal::FALSE });
        }
        let columns = expr.columns();
        if columns.is_empty() || !form::is_strict(expr) {
            return None;
        }
        let goals = columns.into_iter().map(|column| Goal::Null {
            cell: self.problem.cell(self.row, column),
            is_null,
        });
        let goals: Vec<_> = goals.collect();
        Some(if is_null {
            Goal::any(goals)
        } else {
            Goal::all(goals)
        })
    }

    /// A test that is not taken apart further.
    fn test(&self, expr: Cow<'a, Expr>, want: Want) -> Goal<'a> {
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
        if !form::is_strict(&expr) {
            return match want {
                Want::True => self.leaf(expr, Wanted::True, cells, Form::Opaque),
                Want::False => self.leaf(expr, Wanted::False, cells, Form::Opaque),
                Want::Unknown => self.leaf(expr, Wanted::Unknown, cells, Form::Opaque),
                Want::NotFalse => self.leaf(expr, Wanted::NotFalse, cells, Form::Opaque),
                Want::NotTrue => Goal::any([
                    self.leaf(expr.clone(), Wanted::False, cells.clone(), Form::Opaque),
                    self.leaf(expr, Wanted::Unknown, cells, Form::Opaque),
                ]),
            };
        }
        let nulls = |is_null| {
            cells
                .iter()
                .map(move |cell| Goal::Null {
                    cell: *cell,
                    is_null,
                })
                .collect::<Vec<_>>()
        };
        let decided = |wanted: Wanted| {
            let forms = form::forms(self.problem, self.row, &expr, wanted == Wanted::True);
            let mut goals = nulls(false);
            for helper in forms.helpers {
                goals.push(helper);
            }
            goals.push(self.leaf(expr.clone(), wanted, cells.clone(), forms.main));
            Goal::all(goals)
        };
        match want {
            Want::True => decided(Wanted::True),
            Want::False => decided(Wanted::False),
            Want::Unknown => Goal::any(nulls(true)),
            Want::NotFalse => Goal::any(std::iter::once(decided(Wanted::True)).chain(nulls(true))),
            Want::NotTrue => Goal::any(std::iter::once(decided(Wanted::False)).chain(nulls(true))),
        }
    }

    fn leaf(&self, expr: Cow<'a, Expr>, wanted: Wanted, cells: Vec<usize>, form: Form) -> Goal<'a> {
        Goal::Test(Test {
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
