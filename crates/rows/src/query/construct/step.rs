//! Expands an obligation into further obligations, choices, or conditions over cells.

use std::rc::Rc;

use isobath_sql::expr::{BinaryOp, CompareOp};
use isobath_sql::query::model::{Query, SubqueryUsage};
use isobath_sql::{Dialect, DialectName, Expr, Value};

use super::global_constraints::{forbid_match, forbid_query, require_distinct_keys};
use super::join::joined;
use super::proof::{Cause, Proof};
use super::returns::{compare_item, is_null_with, items_of, returns, value_need};
use super::state::{
    Binding, ConditionOrigin, ConstructionState, Env, ForbiddenRow, Obligation, ReturnedRow,
    TruthRequirement, free, is_free,
};
use super::{cases, group, parent};

/// What a goal leads to.
pub(super) enum StepResult<'a> {
    Done,
    Never(Proof),
    Choice(Vec<Obligation<'a>>),
    /// What any way must meet, then ways that are not all there are.
    Needs(Vec<Obligation<'a>>, Vec<Obligation<'a>>),
}

/// Takes one step towards a goal.
pub(super) fn step<'a>(
    state: &mut ConstructionState<'a>,
    obligation: Obligation<'a>,
) -> StepResult<'a> {
    match obligation {
        Obligation::All(obligations) => {
            state.pending.extend(obligations.into_iter().rev());
            StepResult::Done
        }
        Obligation::Any(obligations) => StepResult::Choice(obligations),
        Obligation::Holds { expr, want, origin } => holds(state, expr, want, origin),
        Obligation::Returns { query, env, with } => returns(state, query, &env, with),
        Obligation::Joined {
            select,
            env,
            missing,
            with,
        } => {
            let env = joined(state, select, &env, missing, None);
            // Without groups, MySQL's HAVING is one more condition.
            for filter in select.filter.iter().chain(&select.having) {
                let expr = state.over_cells(filter, &env, select);
                state.pending.push(Obligation::Holds {
                    expr,
                    want: TruthRequirement::True,
                    origin: ConditionOrigin::Query,
                });
            }
            compare_item(state, select, &env, with);
            StepResult::Done
        }
        Obligation::Grouped {
            select,
            env,
            missing,
            plan,
            with,
        } => match group::expand(state, select, &env, missing, &plan) {
            Some(env) => {
                compare_item(state, select, &env, with);
                StepResult::Done
            }
            None => StepResult::Never(Proof::new(
                Cause::Group,
                "no group can have as many rows as the target requires",
            )),
        },
        Obligation::Scalar { expr, want, number } => scalar(state, expr, want, number),
        Obligation::ScalarValue { expr, want, number } => scalar_value(state, expr, want, number),
        Obligation::Avoids {
            select,
            env,
            with,
            known,
        } => {
            forbid_match(state, select, &env, with, known);
            StepResult::Done
        }
        Obligation::Unmatched {
            select,
            env,
            on,
            table,
            slot,
            columns,
            stricter,
            known,
        } => {
            state.guess |= stricter;
            let rows = state.rows_of(table).into_iter();
            for row in rows.filter(|row| *row >= known) {
                let mut bound = env.as_ref().clone();
                for column in 0..columns {
                    bound[slot + column] = Binding::Column { row, column };
                }
                let expr = state.over_cells(on, &Rc::new(bound), select);
                state.pending.push(Obligation::Holds {
                    expr,
                    want: TruthRequirement::NotTrue,
                    origin: ConditionOrigin::Query,
                });
            }
            StepResult::Done
        }
        Obligation::Apart { a, b } => require_distinct_keys(state, a, b),
        Obligation::Same { a, b } => {
            state.unite(a, b);
            StepResult::Done
        }
        Obligation::Differ { mut pairs } => {
            pairs.retain(|(a, b)| state.real(*a) != state.real(*b));
            match pairs.as_slice() {
                [] => StepResult::Never(Proof::new(
                    Cause::Key,
                    "the target requires two different rows with the same key",
                )),
                [pair] => {
                    state.several.push(*pair);
                    StepResult::Done
                }
                several if several.iter().any(|(a, b)| state.must_differ(*a, *b)) => {
                    StepResult::Done
                }
                several => StepResult::Choice(
                    several
                        .iter()
                        .map(|pair| Obligation::Differ { pairs: vec![*pair] })
                        .collect(),
                ),
            }
        }
        Obligation::Parent { row, key } => parent::parent(state, row, key),
        Obligation::Refers { row, key, parent } => parent::refers(state, row, key, parent),
    }
}

/// Takes a condition apart.
fn holds<'a>(
    state: &mut ConstructionState<'a>,
    expr: Expr,
    want: TruthRequirement,
    origin: ConditionOrigin,
) -> StepResult<'a> {
    let each = |parts: Vec<Expr>| -> Vec<Obligation<'a>> {
        parts
            .into_iter()
            .map(|expr| Obligation::Holds { expr, want, origin })
            .collect()
    };
    match expr {
        Expr::Not(inner) => holds(state, *inner, want.negated(), origin),
        Expr::And(parts) => match want {
            TruthRequirement::True | TruthRequirement::NotFalse => {
                step(state, Obligation::All(each(parts)))
            }
            TruthRequirement::False | TruthRequirement::NotTrue => StepResult::Choice(each(parts)),
        },
        Expr::Or(parts) => match want {
            TruthRequirement::True | TruthRequirement::NotFalse => StepResult::Choice(each(parts)),
            TruthRequirement::False | TruthRequirement::NotTrue => {
                step(state, Obligation::All(each(parts)))
            }
        },
        Expr::Subquery(number) => {
            let (subquery, env) = state.subqueries[number].clone();
            let positive = matches!(want, TruthRequirement::True | TruthRequirement::NotFalse);
            match &subquery.usage {
                SubqueryUsage::Exists if positive => returns(state, &subquery.query, &env, None),
                SubqueryUsage::Exists => {
                    forbid_query(state, &subquery.query, &env, None);
                    StepResult::Done
                }
                SubqueryUsage::Any { left, op } => {
                    let left = over_outer(state, left, &env);
                    quantified(state, &subquery.query, env, left, *op, want)
                }
                // x op ALL (q) is NOT (x negated-op ANY (q)).
                SubqueryUsage::All { left, op } => {
                    let left = over_outer(state, left, &env);
                    quantified(
                        state,
                        &subquery.query,
                        env,
                        left,
                        op.negated(),
                        want.negated(),
                    )
                }
                SubqueryUsage::Scalar => scalar(state, Expr::Subquery(number), want, number),
            }
        }
        Expr::IsTruth {
            expr,
            verdict,
            negated,
        } => {
            // It is never unknown itself.
            let is = matches!(want, TruthRequirement::True | TruthRequirement::NotFalse) != negated;
            let wanted = match (verdict, is) {
                (Some(true), true) => vec![TruthRequirement::True],
                (Some(true), false) => vec![TruthRequirement::NotTrue],
                (Some(false), true) => vec![TruthRequirement::False],
                (Some(false), false) => vec![TruthRequirement::NotFalse],
                (None, true) => vec![TruthRequirement::NotTrue, TruthRequirement::NotFalse],
                (None, false) => vec![TruthRequirement::True, TruthRequirement::False],
            };
            let holds = wanted.into_iter().map(|want| Obligation::Holds {
                expr: (*expr).clone(),
                want,
                origin,
            });
            let holds: Vec<Obligation<'a>> = holds.collect();
            match (verdict, is) {
                (None, false) => StepResult::Choice(holds),
                _ => step(state, Obligation::All(holds)),
            }
        }
        Expr::IsNull { expr, negated }
            if !is_free(&expr) && null_sources(&expr, state.context.dialect).is_some() =>
        {
            let sources = null_sources(&expr, state.context.dialect).unwrap_or_default();
            let parts = sources.into_iter().map(|source| Expr::IsNull {
                expr: Box::new(source.clone()),
                negated,
            });
            let parts = parts.collect();
            let expr = match negated {
                true => Expr::And(parts),
                false => Expr::Or(parts),
            };
            holds(state, expr, want, origin)
        }
        expr if is_free(&expr) => StepResult::Done,
        Expr::InList {
            expr,
            list,
            negated,
        } if has_parameters(&list) => {
            let equal = list.into_iter().map(|item| Expr::Compare {
                op: CompareOp::Equal,
                left: expr.clone(),
                right: Box::new(item),
            });
            let want = if negated { want.negated() } else { want };
            holds(state, Expr::Or(equal.collect()), want, origin)
        }
        Expr::Compare {
            op: op @ (CompareOp::Equal | CompareOp::NotEqual),
            left,
            right,
        } if is_verdict(&left) && is_verdict(&right) => {
            let want = match op {
                CompareOp::Equal => want,
                _ => want.negated(),
            };
            StepResult::Choice(same_verdict(*left, *right, want, origin))
        }
        expr => {
            let mut inside = None;
            expr.walk(&mut |part| {
                if let (None, Expr::Subquery(number)) = (inside, part) {
                    inside = Some(*number);
                }
            });
            match inside {
                Some(number)
                    if matches!(state.subqueries[number].0.usage, SubqueryUsage::Scalar) =>
                {
                    StepResult::Choice(vec![Obligation::Scalar { expr, want, number }])
                }
                Some(_) => {
                    // A verdict of a subquery in the middle of an expression is left to the search.
                    state.guess = true;
                    StepResult::Done
                }
                None => match cases::branches(&expr) {
                    Some(branches) => {
                        StepResult::Choice(cases::alternatives(branches, want, origin))
                    }
                    None => {
                        state.add_leaf(expr, want, origin);
                        StepResult::Done
                    }
                },
            }
        }
    }
}

/// Whether a list has parameters, and constants besides. SQLite converts columns in a list otherwise than beside `=`.
fn has_parameters(list: &[Expr]) -> bool {
    let is_parameter = |item: &Expr| matches!(item, Expr::Parameter(_));
    let is_known = |item: &Expr| is_parameter(item) || matches!(item, Expr::Literal(_));
    list.iter().any(is_parameter) && list.iter().all(is_known)
}

/// Whether an expression is true, false or NULL in every dialect, and no number besides.
fn is_verdict(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Not(_)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Compare { .. }
            | Expr::IsNull { .. }
            | Expr::IsTruth { .. }
            | Expr::IsDistinct { .. }
            | Expr::InList { .. }
            | Expr::Between { .. }
            | Expr::Like { .. }
    )
}

/// The ways in which `left = right` is as wanted, where both are conditions.
fn same_verdict<'a>(
    left: Expr,
    right: Expr,
    want: TruthRequirement,
    origin: ConditionOrigin,
) -> Vec<Obligation<'a>> {
    use TruthRequirement::{False, NotFalse, NotTrue, True};
    let holds = |expr: &Expr, want| Obligation::Holds {
        expr: expr.clone(),
        want,
        origin,
    };
    let both = |a, b| Obligation::All(vec![holds(&left, a), holds(&right, b)]);
    let unknown = |expr: &Expr| Obligation::All(vec![holds(expr, NotTrue), holds(expr, NotFalse)]);
    let mut ways = match want {
        True | NotFalse => vec![both(True, True), both(False, False)],
        False | NotTrue => vec![both(True, False), both(False, True)],
    };
    if matches!(want, NotFalse | NotTrue) {
        ways.extend([unknown(&left), unknown(&right)]);
    }
    ways
}

/// The parts of a calculated value of which one is NULL exactly where it is; `None` where it may be NULL for
/// another reason, such as a division by zero or an infinite date.
fn null_sources<'e>(expr: &'e Expr, dialect: &dyn Dialect) -> Option<Vec<&'e Expr>> {
    // SQLite calculates NULL of infinite numbers, MySQL of dates that are out of range.
    if !matches!(dialect.name(), DialectName::Postgres | DialectName::Ansi) {
        return None;
    }
    let is_year = |field: &Expr| matches!(field, Expr::Literal(Value::Text(field)) if field.eq_ignore_ascii_case("year"));
    let is_whole_number = |place: &Expr| matches!(place, Expr::Literal(Value::Int(_)));
    let is_plain = |of: &Expr| {
        matches!(of, Expr::Column(column)
            if column.data_type.is_numeric() || column.data_type.is_text())
    };
    let operands: Vec<&Expr> = match expr {
        Expr::Binary {
            op: BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply,
            left,
            right,
        } => vec![left, right],
        Expr::Unary { expr, .. } => vec![expr],
        // A null of JSON is NULL as a number.
        Expr::Cast { expr, .. } if is_plain(expr) => vec![expr],
        Expr::Function { name, args } => {
            match (name.as_str(), args.as_slice()) {
                ("extract", [field, of]) if is_year(field) => vec![of],
                // With a pattern in place of a number, a part may be missing.
                ("substring" | "substr", [of, places @ ..])
                    if places.iter().all(is_whole_number) =>
                {
                    vec![of]
                }
                ("upper" | "lower" | "length", [of]) => vec![of],
                _ => return None,
            }
        }
        _ => return None,
    };
    let mut sources = Vec::new();
    for operand in operands {
        match operand {
            Expr::Literal(value) if !value.is_null() => {}
            other => match null_sources(other, dialect) {
                Some(inner) => sources.extend(inner),
                None => sources.push(other),
            },
        }
    }
    (!sources.is_empty()).then_some(sources)
}

/// The left side of IN, which belongs to the enclosing SELECT: it cannot hold subqueries of its own here.
fn over_outer<'a>(state: &mut ConstructionState<'a>, left: &Expr, env: &Env) -> Expr {
    let mut left = left.clone();
    let mut nested = false;
    left.walk(&mut |part| nested |= matches!(part, Expr::Subquery(_)));
    if nested {
        state.guess = true;
        return Expr::Literal(Value::Null);
    }
    rebind(state, &mut left, env);
    left
}

pub(super) fn rebind(state: &mut ConstructionState<'_>, expr: &mut Expr, env: &Env) {
    if let Expr::Column(column) = expr {
        match env.get(column.slot) {
            Some(Binding::Column {
                row,
                column: column_index,
            }) => column.slot = state.cell(*row, *column_index),
            Some(Binding::Expr(bound)) => *expr = bound.clone(),
            None => *expr = free(),
        }
        return;
    }
    if let Expr::Opaque { .. } = expr {
        *expr = free();
    }
    for child in expr.children_mut() {
        rebind(state, child, env);
    }
}

fn quantified<'a>(
    state: &mut ConstructionState<'a>,
    query: &'a Query,
    env: Env,
    left: Expr,
    op: CompareOp,
    want: TruthRequirement,
) -> StepResult<'a> {
    match want {
        TruthRequirement::True => returns(state, query, &env, Some(ReturnedRow::First(op, left))),
        TruthRequirement::NotFalse => {
            state.guess = true;
            returns(state, query, &env, Some(ReturnedRow::First(op, left)))
        }
        TruthRequirement::False | TruthRequirement::NotTrue => {
            forbid_query(
                state,
                query,
                &env,
                Some(&ForbiddenRow::First(op, left, want)),
            );
            StepResult::Done
        }
    }
}

/// A condition over a scalar subquery: where it is true or false, the subquery has a value.
fn scalar<'a>(
    state: &mut ConstructionState<'a>,
    expr: Expr,
    want: TruthRequirement,
    number: usize,
) -> StepResult<'a> {
    let (subquery, env) = state.subqueries[number].clone();
    let is_subquery = |part: &Expr| matches!(part, Expr::Subquery(of) if *of == number);
    let has_verdict = matches!(want, TruthRequirement::True | TruthRequirement::False);
    if has_verdict
        && is_null_with(&expr, &is_subquery)
        && let Some(need) = value_need(&subquery.query, &env)
    {
        let value = Obligation::ScalarValue { expr, want, number };
        return StepResult::Needs(vec![need], vec![value]);
    }
    scalar_value(state, expr, want, number)
}

/// A scalar subquery yields a row; its item takes its place in the condition.
fn scalar_value<'a>(
    state: &mut ConstructionState<'a>,
    mut expr: Expr,
    want: TruthRequirement,
    number: usize,
) -> StepResult<'a> {
    let (subquery, env) = state.subqueries[number].clone();
    state.guess = true;
    let Some(item) = items_of(state, &subquery.query, &env).into_iter().next() else {
        return StepResult::Done;
    };
    expr.walk_mut(&mut |part| {
        if matches!(part, Expr::Subquery(of) if *of == number) {
            *part = item.clone();
        }
    });
    StepResult::Choice(vec![Obligation::Holds {
        expr,
        want,
        origin: ConditionOrigin::Query,
    }])
}
