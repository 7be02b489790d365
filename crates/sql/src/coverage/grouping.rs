//! GROUP BY, aggregate functions and DISTINCT.

use sqlparser::ast::{
    BinaryOperator, Distinct, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, GroupByExpr, Ident, ObjectName, Select, SelectItem,
    TableAlias, TableFactor, TableWithJoins, Value,
};

use super::condition::{self, ConditionTree};
use super::error::TargetError;
use super::expr_parts::ExprParts;
use super::generate::TargetDraft;
use super::mcdc::RuleSelection;
use super::parse;
use super::select_block::{self, SelectBlock};
use super::target::{Clause, ClauseKind, CoverageRule};
use super::value_class;

/// The targets of GROUP BY.
pub(super) fn groups(
    block: &SelectBlock<'_>,
    how: RuleSelection,
) -> Result<Vec<TargetDraft>, TargetError> {
    let mut drafts = Vec::new();
    if block.keys.is_empty() {
        return Ok(drafts);
    }
    let plain = |key: &Expr| {
        !matches!(
            key,
            Expr::Rollup(_) | Expr::Cube(_) | Expr::GroupingSets(_) | Expr::Tuple(_)
        )
    };
    let list = texts(&block.keys);
    let mut select = block.with(block.original(), block.filter());
    select.having = having(block, vec![greater(count(None, false), one())]);
    let description = format!("a group by {list} has more than one row");
    drafts.push(draft(
        select,
        CoverageRule::GroupRepeats,
        clause(ClauseKind::GroupBy, &block.keys),
        description,
    ));
    for (index, key) in block.keys.iter().enumerate().filter(|(_, key)| plain(key)) {
        let mut rest = block.keys.clone();
        rest.remove(index);
        let mut select = block.with(block.original(), block.filter());
        select.projection = if rest.is_empty() {
            vec![SelectItem::UnnamedExpr(count(None, false))]
        } else {
            rest.iter().cloned().map(SelectItem::UnnamedExpr).collect()
        };
        select.group_by = GroupByExpr::Expressions(rest, Vec::new());
        select.having = having(block, vec![greater(count(Some(key), true), one())]);
        let description = format!("there is more than one group by `{key}`");
        let clause = clause(ClauseKind::GroupBy, std::slice::from_ref(key));
        drafts.push(draft(
            select,
            CoverageRule::GroupsDiffer,
            clause,
            description,
        ));
        if how.extended() {
            drafts.extend(null_group(block, key)?);
        }
    }
    Ok(drafts)
}

/// A group whose key is NULL.
fn null_group(block: &SelectBlock<'_>, key: &Expr) -> Result<Option<TargetDraft>, TargetError> {
    let Some(mention) = value_class::as_mention(key) else {
        return Ok(None);
    };
    let Some(found) = block.scope.resolve(&mention)? else {
        return Ok(None);
    };
    if !found.nullable && !found.outer {
        return Ok(None);
    }
    let filter = block
        .filter
        .as_ref()
        .and_then(|node| node.without(&|leaf| leaf.depends(|id| *id == found.id)))
        .map(|node| node.expr());
    let terms = std::iter::once(Expr::IsNull(Box::new(key.clone()))).chain(filter);
    let select = block.with(block.original(), condition::all(terms));
    let clause = clause(ClauseKind::GroupBy, std::slice::from_ref(key));
    let description = format!("`{key}` is NULL in a group of its own");
    Ok(Some(draft(
        select,
        CoverageRule::GroupNull,
        clause,
        description,
    )))
}

/// The targets of aggregate functions, first those of the select list.
pub(super) fn aggregates(
    block: &SelectBlock<'_>,
    how: RuleSelection,
) -> Result<Vec<TargetDraft>, TargetError> {
    let mut drafts = Vec::new();
    let mut seen: Vec<Expr> = Vec::new();
    let leaves = block
        .having
        .as_ref()
        .map(ConditionTree::leaves)
        .unwrap_or_default();
    let listed = block.listed.iter().map(|parts| (ClauseKind::Select, parts));
    let places = listed.chain(leaves.iter().map(|leaf| (ClauseKind::Having, &leaf.parts)));
    for (kind, aggregate) in
        places.flat_map(|(kind, parts)| parts.aggregates.iter().map(move |of| (kind, of)))
    {
        let known = ["count", "sum", "avg", "min", "max"];
        let name = match &aggregate.call {
            Expr::Function(function) => super::expr_parts::function_name(&function.name),
            _ => continue,
        };
        let Some(argument) = &aggregate.argument else {
            continue;
        };
        if !how.extended() && !known.contains(&name.as_str()) || seen.contains(argument) {
            continue;
        }
        let constant = ExprParts::of(argument).mentions.is_empty();
        if how.extended() && constant {
            continue;
        }
        seen.push(argument.clone());
        let clause = clause(kind, std::slice::from_ref(&aggregate.call));
        let with = |terms: Vec<Expr>| Select {
            having: having(block, terms),
            ..block.with(block.original(), block.filter())
        };
        let several = greater(count(Some(argument), true), one());
        let repeated = greater(count(Some(argument), false), count(Some(argument), true));
        drafts.push(draft(
            with(vec![repeated, several.clone()]),
            CoverageRule::AggregateRepeats,
            clause.clone(),
            format!(
                "`{}` sees different values of `{argument}` and one of them twice",
                aggregate.call
            ),
        ));
        let nullable = match value_class::as_mention(argument) {
            Some(mention) => block
                .scope
                .resolve(&mention)?
                .is_some_and(|found| found.nullable || how.extended() && found.outer),
            None => false,
        };
        if nullable {
            let missing = greater(count(None, false), count(Some(argument), false));
            drafts.push(draft(
                with(vec![missing, several]),
                CoverageRule::AggregateNull,
                clause.clone(),
                format!(
                    "`{}` sees different values of `{argument}` and a NULL",
                    aggregate.call
                ),
            ));
            if how.extended() {
                let none = equal(count(Some(argument), false), zero());
                let some = greater(count(None, false), zero());
                let having = condition::all([none, some]);
                let select = Select {
                    having,
                    ..block.with(block.original(), block.filter())
                };
                let description = format!("`{}` sees nothing but NULL", aggregate.call);
                drafts.push(draft(
                    select,
                    CoverageRule::AggregateOnlyNull,
                    clause,
                    description,
                ));
            }
        }
    }
    if how.extended() && block.is_bare_aggregate() {
        let mut select = block.with(block.original(), block.filter());
        select.having = Some(equal(count(None, false), zero()));
        let first = block
            .listed
            .iter()
            .flat_map(|parts| &parts.aggregates)
            .next();
        let call: Vec<Expr> = first.map(|of| of.call.clone()).into_iter().collect();
        let description = "no row meets the condition, so the aggregates see nothing".to_owned();
        drafts.push(draft(
            select,
            CoverageRule::AggregateNothing,
            clause(ClauseKind::Select, &call),
            description,
        ));
    }
    Ok(drafts)
}

/// The targets of DISTINCT: it removes a row, and it keeps two.
pub(super) fn distinct(block: &SelectBlock<'_>) -> Vec<TargetDraft> {
    let mut drafts = Vec::new();
    if !matches!(block.select.distinct, Some(Distinct::Distinct)) || block.is_bare_aggregate() {
        return drafts;
    }
    let items: Vec<Expr> = block.items().cloned().collect();
    let clause = Clause {
        kind: ClauseKind::Select,
        text: "DISTINCT".to_owned(),
        span: None,
    };
    let constant = items
        .iter()
        .all(|item| ExprParts::of(item).mentions.is_empty());
    let whole = items.len() == block.select.projection.len() && !constant;
    if whole && !block.groups() && !block.aggregates() {
        let mut select = block.with(block.original(), block.filter());
        select.distinct = None;
        select.group_by = GroupByExpr::Expressions(items, Vec::new());
        select.having = Some(greater(count(None, false), one()));
        let description = "two rows are the same to DISTINCT".to_owned();
        drafts.push(draft(
            select,
            CoverageRule::DistinctRemoves,
            clause.clone(),
            description,
        ));
    }
    let inner = block.with(block.original(), block.filter());
    let select = counted(inner, "distinct_rows", greater(count(None, false), one()));
    let description = "DISTINCT leaves more than one row".to_owned();
    drafts.push(draft(
        select,
        CoverageRule::DistinctKeeps,
        clause,
        description,
    ));
    drafts
}

/// A query that counts the rows of another and returns a row when the count is right.
pub(super) fn counted(inner: Select, name: &str, having: Expr) -> Select {
    let derived = TableFactor::Derived {
        lateral: false,
        subquery: Box::new(select_block::query(unnamed_twice(inner))),
        alias: Some(TableAlias {
            explicit: true,
            name: Ident::new(name),
            columns: Vec::new(),
            at: None,
        }),
        sample: None,
    };
    let from = TableWithJoins {
        relation: derived,
        joins: Vec::new(),
    };
    let item = SelectItem::UnnamedExpr(count(None, false));
    let mut select = parse::select(vec![item], vec![from], None);
    select.having = Some(having);
    select
}

/// A derived table must not have two columns of one name (MySQL), so all get their own.
fn unnamed_twice(mut select: Select) -> Select {
    let plain = |item: &SelectItem| {
        matches!(
            item,
            SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. }
        )
    };
    if !select.projection.iter().all(plain) {
        return select;
    }
    let items = std::mem::take(&mut select.projection);
    select.projection = items
        .into_iter()
        .enumerate()
        .map(|(index, item)| match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                let alias = Ident::new(format!("c{}", index + 1));
                SelectItem::ExprWithAlias { expr, alias }
            }
            other => other,
        })
        .collect();
    select
}

fn draft(select: Select, rule: CoverageRule, clause: Clause, description: String) -> TargetDraft {
    TargetDraft {
        query: select_block::query(select),
        rule,
        clause,
        nesting: Vec::new(),
        description: description.into(),
    }
}

/// New conditions of HAVING before the old ones.
fn having(block: &SelectBlock<'_>, mut terms: Vec<Expr>) -> Option<Expr> {
    terms.extend(block.having.as_ref().map(ConditionTree::expr));
    condition::all(terms)
}

fn clause(kind: ClauseKind, exprs: &[Expr]) -> Clause {
    let text: Vec<String> = exprs.iter().map(ToString::to_string).collect();
    Clause {
        kind,
        text: text.join(", "),
        span: exprs.first().and_then(condition::span),
    }
}

fn texts(exprs: &[Expr]) -> String {
    let quoted: Vec<String> = exprs.iter().map(|expr| format!("`{expr}`")).collect();
    quoted.join(", ")
}

/// `COUNT([DISTINCT] argument)`, or `COUNT(*)`.
pub(super) fn count(argument: Option<&Expr>, distinct: bool) -> Expr {
    let argument = match argument {
        Some(expr) => FunctionArgExpr::Expr(expr.clone()),
        None => FunctionArgExpr::Wildcard,
    };
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new("COUNT")]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: distinct.then_some(DuplicateTreatment::Distinct),
            args: vec![FunctionArg::Unnamed(argument)],
            clauses: Vec::new(),
        }),
        within_group: Vec::new(),
        filter: None,
        null_treatment: None,
        over: None,
    })
}

/// `left > right`.
pub(super) fn greater(left: Expr, right: Expr) -> Expr {
    compare(left, BinaryOperator::Gt, right)
}

fn equal(left: Expr, right: Expr) -> Expr {
    compare(left, BinaryOperator::Eq, right)
}

pub(super) fn compare(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp {
        left: Box::new(left),
        op,
        right: Box::new(right),
    }
}

/// A whole number.
pub(super) fn number(number: u64) -> Expr {
    Expr::value(Value::Number(number.to_string(), false))
}

pub(super) fn one() -> Expr {
    number(1)
}

fn zero() -> Expr {
    number(0)
}
