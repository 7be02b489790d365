//! From a query to its targets, clause by clause.

use std::collections::BTreeSet;

use isobath_walk::relations;
use sqlparser::ast::{Expr, OrderByKind, Query, Select, SetExpr, With};

use super::condition::{self, ConditionTree};
use super::error::TargetError;
use super::expr_parts::{self, ExprParts};
use super::mcdc::{self, McdcCase, RuleSelection};
use super::parameter;
use super::scope::{CoverageContext, Ctes, Scope};
use super::select_block::{self, SelectBlock};
use super::target::{
    Clause, ClauseKind, CoverageOptions, CoverageRule, CoverageTarget, Description, Nesting,
    QueryCriterion,
};
use super::{conditional, grouping, joins, order, parse, setop, subquery};
use crate::dialect::DialectName;
use crate::schema::Schema;

/// The targets of one statement, in the order of SQLFpc: WHERE, HAVING, joins, choices, GROUP BY,
/// subqueries, aggregates, then what only the extended criterion knows.
///
/// UPDATE, DELETE and INSERT … SELECT are covered by the query with which they read.
///
/// # Errors
///
/// When the text is not one statement of the dialect, reads no rows, or names what the schema does
/// not have.
pub fn targets(
    query: &str,
    schema: &Schema,
    dialect: DialectName,
    criterion: QueryCriterion,
    options: CoverageOptions,
) -> Result<Vec<CoverageTarget>, TargetError> {
    let query = parse::query(query, dialect)?;
    let world = CoverageContext {
        schema,
        dialect: dialect.dialect(),
    };
    let how = RuleSelection {
        criterion,
        boundaries: options.boundaries,
    };
    let drafts = of_query(world, how, &query, &Ctes::default(), None)?;
    let mut seen = BTreeSet::new();
    let mut targets = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let target = draft.finish();
        if criterion == QueryCriterion::Fpc || seen.insert(target.sql.clone()) {
            targets.push(target);
        }
    }
    Ok(targets)
}

/// A target before it is printed.
#[derive(Debug)]
pub(super) struct TargetDraft {
    pub(super) query: Query,
    pub(super) rule: CoverageRule,
    pub(super) clause: Clause,
    pub(super) nesting: Vec<Nesting>,
    pub(super) description: Description,
}

impl TargetDraft {
    fn finish(self) -> CoverageTarget {
        let (sql, parameters) = parameter::unmark(&self.query.to_string());
        CoverageTarget {
            sql,
            rule: self.rule,
            clause: Clause {
                text: parameter::unmark(&self.clause.text).0,
                ..self.clause
            },
            nesting: self.nesting,
            description: Description {
                situation: parameter::unmark(&self.description.situation).0,
                consequence: parameter::unmark(&self.description.consequence).0,
            },
            parameters,
        }
    }
}

/// The targets of a query, its CTEs first.
pub(super) fn of_query(
    world: CoverageContext<'_>,
    how: RuleSelection,
    query: &Query,
    ctes: &Ctes,
    around: Option<&Scope<'_>>,
) -> Result<Vec<TargetDraft>, TargetError> {
    let mut drafts = Vec::new();
    let mut known = ctes.clone();
    if let Some(with) = &query.with {
        for cte in &with.cte_tables {
            // A CTE that refers to itself is in its own reach.
            if with.recursive {
                known.add(world, cte, true, around)?;
            }
            for mut draft in of_query(world, how, &cte.query, &known, around)? {
                draft.nesting.insert(0, Nesting::With);
                drafts.push(draft);
            }
            if !with.recursive {
                known.add(world, cte, false, around)?;
            }
        }
    }
    drafts.extend(of_body(
        world,
        how,
        &query.body,
        Some(query),
        &known,
        around,
    )?);
    if let Some(with) = &query.with {
        for draft in &mut drafts {
            attach(with, &mut draft.query);
        }
    }
    Ok(drafts)
}

fn of_body(
    world: CoverageContext<'_>,
    how: RuleSelection,
    body: &SetExpr,
    whole: Option<&Query>,
    ctes: &Ctes,
    around: Option<&Scope<'_>>,
) -> Result<Vec<TargetDraft>, TargetError> {
    match body {
        SetExpr::Select(select) => of_select(world, how, select, whole, ctes, around),
        SetExpr::Query(query) => of_query(world, how, query, ctes, around),
        SetExpr::SetOperation {
            left, op, right, ..
        } => {
            let mut drafts = of_body(world, how, left, None, ctes, around)?;
            drafts.extend(of_body(world, how, right, None, ctes, around)?);
            for draft in &mut drafts {
                draft.nesting.insert(0, Nesting::Branch);
            }
            if how.extended() {
                drafts.extend(setop::drafts(left, *op, right));
            }
            Ok(drafts)
        }
        SetExpr::Values(_) | SetExpr::Table(_) => Ok(Vec::new()),
        // A target that carried it along would change data.
        SetExpr::Insert(statement)
        | SetExpr::Update(statement)
        | SetExpr::Delete(statement)
        | SetExpr::Merge(statement) => {
            let text = statement.to_string();
            let word = text.split_whitespace().next().unwrap_or_default();
            Err(TargetError::ReadsNothing {
                statement: format!("{word} inside a query"),
            })
        }
    }
}

fn of_select(
    world: CoverageContext<'_>,
    how: RuleSelection,
    select: &Select,
    whole: Option<&Query>,
    ctes: &Ctes,
    around: Option<&Scope<'_>>,
) -> Result<Vec<TargetDraft>, TargetError> {
    let block = SelectBlock::new(world, select, ctes, around)?;
    check_order(&block, whole)?;
    let mut drafts = Vec::new();
    drafts.extend(filter(&block, how));
    drafts.extend(having(&block, how));
    drafts.extend(joins::drafts(&block, how)?);
    drafts.extend(conditional::drafts(&block, how)?);
    drafts.extend(grouping::groups(&block, how)?);
    drafts.extend(subquery::drafts(world, how, &block, ctes)?);
    drafts.extend(subquery::derived(world, how, &block, ctes)?);
    drafts.extend(grouping::aggregates(&block, how)?);
    if how.extended() {
        drafts.extend(grouping::distinct(&block));
        drafts.extend(order::windows(&block));
        if let Some(whole) = whole {
            drafts.extend(order::tail(&block, whole));
        }
    }
    Ok(drafts)
}

/// The targets of WHERE.
fn filter(block: &SelectBlock<'_>, how: RuleSelection) -> Vec<TargetDraft> {
    let Some(node) = &block.filter else {
        return Vec::new();
    };
    let draft = |case: McdcCase| {
        // With INNER joins a join column is never NULL, so the joins stay as they are.
        let keep = case.null.as_ref().is_some_and(|found| {
            let joins = block
                .parts
                .iter()
                .any(|part| mcdc::mentions(&part.columns, &found.id));
            joins || how.extended() && found.outer
        });
        let from = if keep {
            block.original()
        } else {
            block.inner()
        };
        let select = block.rows(from, condition::all(case.terms));
        TargetDraft {
            query: select_block::query(select),
            rule: case.rule,
            clause: clause(ClauseKind::Where, &case.leaf),
            nesting: Vec::new(),
            description: case.description,
        }
    };
    mcdc::cases(node, &block.scope, how)
        .into_iter()
        .map(draft)
        .collect()
}

/// The targets of HAVING.
fn having(block: &SelectBlock<'_>, how: RuleSelection) -> Vec<TargetDraft> {
    let Some(node) = &block.having else {
        return Vec::new();
    };
    let draft = |case: McdcCase| {
        let mut select = block.rows(
            block.inner(),
            block.filter.as_ref().map(ConditionTree::expr),
        );
        select.having = condition::all(case.terms);
        TargetDraft {
            query: select_block::query(select),
            rule: case.rule,
            clause: clause(ClauseKind::Having, &case.leaf),
            nesting: Vec::new(),
            description: case.description.within("for a group, "),
        }
    };
    mcdc::cases(node, &block.scope, how)
        .into_iter()
        .filter(|case| !how.extended() || !is_impossible_count(case, block.groups()))
        .map(draft)
        .collect()
}

/// No count is negative, and no group is empty.
fn is_impossible_count(case: &McdcCase, groups: bool) -> bool {
    let (CoverageRule::Boundary, Some(Expr::BinaryOp { left, right, .. })) =
        (case.rule, case.terms.first())
    else {
        return false;
    };
    let Expr::Function(function) = &**left else {
        return false;
    };
    expr_parts::function_name(&function.name) == "count"
        && match &**right {
            Expr::UnaryOp { .. } => true,
            Expr::Value(value) => {
                let all_rows = expr_parts::arguments(function).iter().all(Option::is_none);
                groups && all_rows && value.to_string() == "0"
            }
            _ => false,
        }
}

fn clause(kind: ClauseKind, leaf: &condition::ConditionLeaf) -> Clause {
    Clause {
        kind,
        text: leaf.expr.to_string(),
        span: condition::span(&leaf.expr),
    }
}

/// ORDER BY has few targets, but unknown names in it are errors all the same.
fn check_order(block: &SelectBlock<'_>, whole: Option<&Query>) -> Result<(), TargetError> {
    let order = whole.and_then(|query| query.order_by.as_ref());
    if let Some(OrderByKind::Expressions(keys)) = order.map(|order| &order.kind) {
        for key in keys {
            for mention in &ExprParts::of(&key.expr).mentions {
                block.scope.resolve(mention)?;
            }
        }
    }
    Ok(())
}

/// Gives a target the CTEs that it refers to, directly or through others.
fn attach(with: &With, query: &mut Query) {
    let mut used = names(query);
    let mut kept = Vec::new();
    for cte in with.cte_tables.iter().rev() {
        if used.contains(&cte.alias.name.value.to_ascii_lowercase()) {
            used.extend(names(&cte.query));
            kept.push(cte.clone());
        }
    }
    if kept.is_empty() {
        return;
    }
    kept.reverse();
    match &mut query.with {
        Some(own) => {
            own.recursive |= with.recursive;
            kept.append(&mut own.cte_tables);
            own.cte_tables = kept;
        }
        None => {
            query.with = Some(With {
                cte_tables: kept,
                ..with.clone()
            });
        }
    }
}

/// The names of all relations in a query, in lower case.
fn names(query: &Query) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    relations(query, &mut |name| {
        let last = name.0.last().and_then(|part| part.as_ident());
        names.extend(last.map(|ident| ident.value.to_ascii_lowercase()));
    });
    names
}
