//! Makes the mutants of a query, one change each.

use std::ops::ControlFlow;

use isobath_walk::{TreeMutator, walk_mut};
use sqlparser::ast::{
    BinaryOperator, Distinct, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, GroupByExpr, Ident, Join, JoinConstraint, JoinOperator, ObjectName,
    OrderByKind, OrderBySort, Query, Select, SetExpr, SetQuantifier, UnaryOperator, Value,
};

use super::difference;
use super::operator::MutationOperator;
use crate::coverage::expr_parts::contains_aggregate;
use crate::coverage::{self, TargetError};
use crate::dialect::DialectName;
use crate::schema::Schema;

/// A query with one small change.
#[derive(Clone, Debug)]
pub struct QueryMutant {
    /// What kind of change.
    pub operator: MutationOperator,
    /// What was changed into what.
    pub description: String,
    /// The changed query.
    pub sql: String,
    /// For each parameter of `sql`, which of the original's it is.
    pub parameters: Vec<usize>,
    /// Queries that return a row where the two may differ.
    pub differences: Vec<DifferenceQuery>,
}

/// A query that returns a row where a mutant may differ from the original.
#[derive(Clone, Debug)]
pub struct DifferenceQuery {
    /// Its text.
    pub sql: String,
    /// For each of its parameters, which of the original's it is.
    pub parameters: Vec<usize>,
    /// Whether it is one of those without which the two are the same.
    pub is_decisive: bool,
}

impl DifferenceQuery {
    pub(super) fn new(query: &Query, is_decisive: bool) -> Self {
        let (sql, parameters) = coverage::parameter::unmark(&query.to_string());
        Self {
            sql,
            parameters,
            is_decisive,
        }
    }
}

impl QueryMutant {
    /// Whether the two are the same when no decisive difference can return a row.
    pub fn can_be_proven_equivalent(&self) -> bool {
        self.differences.iter().any(|query| query.is_decisive)
    }
}

/// The most mutants of one query.
const MAX_MUTANTS: usize = 1_000;

/// The original as the mutants are printed, and its mutants.
///
/// # Errors
///
/// When the text is not one statement of the dialect, or reads no rows.
pub fn mutants(
    sql: &str,
    schema: &Schema,
    dialect: DialectName,
) -> Result<(DifferenceQuery, Vec<QueryMutant>), TargetError> {
    let original = coverage::parse::query(sql, dialect)?;
    let mut mutants: Vec<QueryMutant> = Vec::new();
    for wanted in 0.. {
        let mut mutant = original.clone();
        let mut mutator = Mutator {
            schema,
            wanted,
            seen: 0,
            made: None,
            depth: 0,
            is_set: false,
        };
        let _ = walk_mut(&mut mutant, &mut mutator);
        let Some((operator, description)) = mutator.made else {
            break;
        };
        let text = DifferenceQuery::new(&mutant, false);
        if mutant == original || mutants.iter().any(|known| known.sql == text.sql) {
            continue;
        }
        mutants.push(QueryMutant {
            operator,
            description: coverage::parameter::unmark(&description).0,
            sql: text.sql,
            parameters: text.parameters,
            differences: difference::queries(&original, &mutant, schema, dialect),
        });
        if mutants.len() >= MAX_MUTANTS {
            break;
        }
    }
    Ok((DifferenceQuery::new(&original, false), mutants))
}

/// Walks a query and makes the change of one number.
struct Mutator<'s> {
    schema: &'s Schema,
    wanted: usize,
    seen: usize,
    made: Option<(MutationOperator, String)>,
    /// How many queries are around.
    depth: usize,
    /// Whether the next query is a set to EXISTS or IN: how often a row is in it, and in which order, means nothing.
    is_set: bool,
}

impl Mutator<'_> {
    /// Whether the next change is the one to make.
    fn is_wanted(&mut self) -> bool {
        self.seen += 1;
        self.made.is_none() && self.seen - 1 == self.wanted
    }

    /// Replaces an expression, when it is its turn.
    fn replace(&mut self, expr: &mut Expr, by: Expr, operator: MutationOperator) -> bool {
        if !self.is_wanted() {
            return false;
        }
        self.made = Some((operator, format!("`{expr}` becomes `{by}`")));
        *expr = by;
        true
    }

    fn comparison(&mut self, expr: &mut Expr) -> bool {
        use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
        let Expr::BinaryOp { left, op, right } = &*expr else {
            return false;
        };
        if ![Eq, NotEq, Lt, LtEq, Gt, GtEq].contains(op) {
            return false;
        }
        let (left, op, right) = (left.clone(), op.clone(), right.clone());
        for other in [Eq, NotEq, Lt, LtEq, Gt, GtEq] {
            let by = binary(*left.clone(), other.clone(), *right.clone());
            if other != op && self.replace(expr, by, MutationOperator::Relational) {
                return true;
            }
        }
        for step in [1, -1] {
            let moved = |side: &Expr| moved(side, step);
            let by = match (moved(&left), moved(&right)) {
                (_, Some(right)) => binary(*left.clone(), op.clone(), right),
                (Some(left), None) => binary(left, op.clone(), *right.clone()),
                (None, None) => continue,
            };
            if self.replace(expr, by, MutationOperator::Boundary) {
                return true;
            }
        }
        if self.can_be_null(&left) {
            let is_null = Expr::IsNull(left.clone());
            let or = binary(expr.clone(), BinaryOperator::Or, is_null);
            return self.replace(expr, Expr::Nested(Box::new(or)), MutationOperator::Null);
        }
        false
    }

    /// Whether an expression is a column that some table lets be NULL.
    fn can_be_null(&self, expr: &Expr) -> bool {
        let name = match expr {
            Expr::Identifier(name) => name,
            Expr::CompoundIdentifier(names) => match names.last() {
                Some(name) => name,
                None => return false,
            },
            _ => return false,
        };
        self.schema.tables.iter().any(|table| {
            let mut columns = table.columns.iter().enumerate();
            let key = table.primary_key().unwrap_or_default();
            columns.any(|(number, column)| {
                column.name.eq_ignore_ascii_case(&name.value)
                    && !table.is_not_null(number)
                    && !key.contains(&number)
            })
        })
    }

    fn operators(&mut self, expr: &mut Expr) -> bool {
        use BinaryOperator::{And, Divide, Minus, Multiply, Or, Plus};
        let Expr::BinaryOp { left, op, right } = &*expr else {
            return false;
        };
        let (left, op, right) = (*left.clone(), op.clone(), *right.clone());
        let other = match op {
            And => Or,
            Or => And,
            Plus => Minus,
            Minus => Plus,
            Multiply => Divide,
            Divide => Multiply,
            _ => return false,
        };
        if matches!(op, And | Or) {
            // The mutant must mean what it says whatever stands around.
            let by = Expr::Nested(Box::new(binary(left.clone(), other, right.clone())));
            return self.replace(expr, by, MutationOperator::Logical)
                || self.replace(expr, left, MutationOperator::Logical)
                || self.replace(expr, right, MutationOperator::Logical);
        }
        let by = binary(left, other, right);
        self.replace(expr, by, MutationOperator::Arithmetic)
    }

    fn predicate(&mut self, expr: &mut Expr) -> bool {
        use MutationOperator::{Boundary, Negation, Null, Pattern};
        match expr.clone() {
            Expr::IsNull(of) => self.replace(expr, Expr::IsNotNull(of), Null),
            Expr::IsNotNull(of) => self.replace(expr, Expr::IsNull(of), Null),
            Expr::Exists { subquery, negated } => {
                let negated = !negated;
                self.replace(expr, Expr::Exists { subquery, negated }, Negation)
            }
            Expr::InList {
                expr: of,
                list,
                negated,
            } => {
                let without_first = list.split_first().filter(|(_, rest)| !rest.is_empty());
                let fewer = without_first.map(|(_, rest)| Expr::InList {
                    expr: of.clone(),
                    list: rest.to_vec(),
                    negated,
                });
                let by = Expr::InList {
                    expr: of,
                    list,
                    negated: !negated,
                };
                self.replace(expr, by, Negation)
                    || fewer.is_some_and(|fewer| self.replace(expr, fewer, Boundary))
            }
            Expr::InSubquery {
                expr: of,
                subquery,
                negated,
            } => {
                let by = Expr::InSubquery {
                    expr: of,
                    subquery,
                    negated: !negated,
                };
                self.replace(expr, by, Negation)
            }
            Expr::Between {
                expr: of,
                negated,
                low,
                high,
            } => {
                let range = |low: Expr, high: Expr, negated: bool| Expr::Between {
                    expr: of.clone(),
                    negated,
                    low: Box::new(low),
                    high: Box::new(high),
                };
                let flipped = range(*low.clone(), *high.clone(), !negated);
                if self.replace(expr, flipped, Negation) {
                    return true;
                }
                let both = |from: BinaryOperator, to: BinaryOperator| {
                    let from = binary(*of.clone(), from, *low.clone());
                    let to = binary(*of.clone(), to, *high.clone());
                    let inside = Expr::Nested(Box::new(binary(from, BinaryOperator::And, to)));
                    match negated {
                        false => inside,
                        true => Expr::UnaryOp {
                            op: UnaryOperator::Not,
                            expr: Box::new(inside),
                        },
                    }
                };
                self.replace(
                    expr,
                    both(BinaryOperator::Gt, BinaryOperator::LtEq),
                    Boundary,
                ) || self.replace(
                    expr,
                    both(BinaryOperator::GtEq, BinaryOperator::Lt),
                    Boundary,
                )
            }
            Expr::Like {
                negated,
                any,
                expr: of,
                pattern,
                escape_char,
            } => {
                let like = |pattern: Expr, negated: bool| Expr::Like {
                    negated,
                    any,
                    expr: of.clone(),
                    pattern: Box::new(pattern),
                    escape_char: escape_char.clone(),
                };
                if self.replace(expr, like(*pattern.clone(), !negated), Negation) {
                    return true;
                }
                let shorter = without_wildcards(&pattern).into_iter();
                let mut shorter = shorter.map(|pattern| like(pattern, negated));
                shorter.any(|by| self.replace(expr, by, Pattern))
            }
            Expr::Case {
                case_token,
                end_token,
                operand,
                mut conditions,
                else_result,
            } if conditions.len() > 1 || else_result.is_some() => {
                let otherwise = else_result.clone();
                let whole = |conditions, else_result| Expr::Case {
                    case_token: case_token.clone(),
                    end_token: end_token.clone(),
                    operand: operand.clone(),
                    conditions,
                    else_result,
                };
                let without_else = otherwise.map(|_| whole(conditions.clone(), None));
                let fewer = (conditions.len() > 1).then(|| {
                    conditions.pop();
                    whole(conditions, else_result)
                });
                let mut changes = without_else.into_iter().chain(fewer);
                changes.any(|by| self.replace(expr, by, MutationOperator::Case))
            }
            _ => false,
        }
    }

    fn call(&mut self, expr: &mut Expr) -> bool {
        let Expr::Function(call) = &*expr else {
            return false;
        };
        let name = call.name.to_string().to_ascii_uppercase();
        let FunctionArguments::List(list) = &call.args else {
            return false;
        };
        let first = match list.args.first() {
            Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(first))) => Some(first.clone()),
            _ => None,
        };
        if let ("COALESCE" | "IFNULL" | "NULLIF", Some(first)) = (name.as_str(), &first) {
            return self.replace(expr, first.clone(), MutationOperator::Null);
        }
        const AGGREGATES: [&str; 5] = ["SUM", "AVG", "MIN", "MAX", "COUNT"];
        if !AGGREGATES.contains(&name.as_str()) || first.is_none() || call.over.is_some() {
            return false;
        }
        let call = call.clone();
        let distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        for other in AGGREGATES.into_iter().filter(|other| *other != name) {
            // Texts and dates have no sum; whoever counts them finds a number in its place.
            if name != "SUM" && name != "AVG" && matches!(other, "SUM" | "AVG") {
                continue;
            }
            let by = Function {
                name: ObjectName::from(vec![Ident::new(other)]),
                ..call.clone()
            };
            if self.replace(expr, Expr::Function(by), MutationOperator::Aggregate) {
                return true;
            }
        }
        if matches!(name.as_str(), "SUM" | "AVG" | "COUNT") {
            let mut by = call;
            if let FunctionArguments::List(list) = &mut by.args {
                list.duplicate_treatment = (!distinct).then_some(DuplicateTreatment::Distinct);
            }
            return self.replace(expr, Expr::Function(by), MutationOperator::Aggregate);
        }
        false
    }

    fn note(&mut self, operator: MutationOperator, description: String) {
        self.made = Some((operator, description));
    }

    fn body(&mut self, body: &mut SetExpr, counts: bool) {
        match body {
            SetExpr::Select(select) => self.select(select, counts),
            SetExpr::SetOperation {
                op,
                set_quantifier,
                left,
                right,
            } => {
                if counts && self.is_wanted() {
                    let all = *set_quantifier == SetQuantifier::All;
                    *set_quantifier = if all {
                        SetQuantifier::None
                    } else {
                        SetQuantifier::All
                    };
                    let (from, to) = if all { (" ALL", "") } else { ("", " ALL") };
                    let said = format!("`{op}{from}` becomes `{op}{to}`");
                    self.note(MutationOperator::SetOperation, said);
                }
                self.body(left, counts);
                self.body(right, counts);
            }
            _ => {}
        }
    }

    fn select(&mut self, select: &mut Select, counts: bool) {
        let changes = match select.distinct {
            Some(Distinct::Distinct) => Some((None, "without DISTINCT")),
            // One row for each group, or one in all: DISTINCT rarely means anything.
            None if !is_grouped(select) => Some((Some(Distinct::Distinct), "with DISTINCT")),
            _ => None,
        };
        if let Some((distinct, said)) = changes
            && counts
            && self.is_wanted()
        {
            select.distinct = distinct;
            self.note(MutationOperator::Distinct, format!("SELECT {said}"));
        }
        for join in select.from.iter_mut().flat_map(|from| &mut from.joins) {
            self.join(join);
        }
    }

    fn join(&mut self, join: &mut Join) {
        use JoinOperator::{FullOuter, Inner, Join as Plain, Left, LeftOuter, Right, RightOuter};
        let (constraint, kind) = match &join.join_operator {
            Plain(of) | Inner(of) if *of != JoinConstraint::None => (of, 0),
            Left(of) | LeftOuter(of) => (of, 1),
            Right(of) | RightOuter(of) => (of, 2),
            FullOuter(of) => (of, 3),
            _ => return,
        };
        let constraint = constraint.clone();
        for (number, name) in ["INNER", "LEFT", "RIGHT"].into_iter().enumerate() {
            if number != kind && self.is_wanted() {
                let said = format!("join with `{}` becomes {name} JOIN", join.relation);
                join.join_operator = match number {
                    0 => Inner(constraint),
                    1 => Left(constraint),
                    _ => Right(constraint),
                };
                self.note(MutationOperator::Join, said);
                return;
            }
        }
    }
}

impl TreeMutator for Mutator<'_> {
    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let counts = !std::mem::take(&mut self.is_set);
        self.depth += 1;
        self.body(&mut query.body, counts);
        if let Some(order) = &mut query.order_by
            && (self.depth == 1 || query.limit_clause.is_some())
            && let OrderByKind::Expressions(keys) = &mut order.kind
        {
            for key in &mut *keys {
                if self.is_wanted() {
                    let sort = &mut key.options.sort;
                    let falls = matches!(sort, Some(OrderBySort::Desc));
                    *sort = (!falls).then_some(OrderBySort::Desc);
                    let said = format!("order becomes `{key}`");
                    self.note(MutationOperator::Order, said);
                }
            }
            if keys.len() > 1 && self.is_wanted() {
                let last = keys.pop();
                let said = last.map_or_else(String::new, |key| format!("order without `{key}`"));
                self.note(MutationOperator::Order, said);
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let made = self.made.is_none()
            && (self.comparison(expr)
                || self.operators(expr)
                || self.predicate(expr)
                || self.call(expr));
        if made {
            return ControlFlow::Break(());
        }
        self.is_set |= matches!(expr, Expr::Exists { .. } | Expr::InSubquery { .. });
        ControlFlow::Continue(())
    }
}

pub(super) fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp {
        left: Box::new(left),
        op,
        right: Box::new(right),
    }
}

/// Whether a SELECT makes one row of many.
pub(super) fn is_grouped(select: &Select) -> bool {
    let keys = !matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    let mut items = select.projection.iter().filter_map(difference::item);
    keys || select.having.is_some() || items.any(contains_aggregate)
}

/// A whole number, moved by a step.
fn moved(expr: &Expr, step: i64) -> Option<Expr> {
    let Expr::Value(value) = expr else {
        return None;
    };
    let Value::Number(digits, long) = &value.value else {
        return None;
    };
    let number = digits.parse::<i64>().ok()?.checked_add(step)?;
    let mut moved = value.clone();
    moved.value = Value::Number(number.to_string(), *long);
    Some(Expr::Value(moved))
}

/// A pattern without the wildcard at its beginning, and without that at its end.
fn without_wildcards(pattern: &Expr) -> Vec<Expr> {
    let Expr::Value(value) = pattern else {
        return Vec::new();
    };
    let Value::SingleQuotedString(text) = &value.value else {
        return Vec::new();
    };
    let shorter = [text.strip_prefix('%'), text.strip_suffix('%')];
    let shorter = shorter.into_iter().flatten().map(|text| {
        let mut value = value.clone();
        value.value = Value::SingleQuotedString(text.to_owned());
        Expr::Value(value)
    });
    shorter.collect()
}
