//! Targets for conditional expressions: IFNULL, COALESCE, CASE, IF, NULLIF, FILTER.

use sqlparser::ast::{BinaryOperator, Expr, Function};

use super::condition::{self, ConditionLeaf, ConditionTree, brief};
use super::error::TargetError;
use super::expr_parts::{self, ConditionalExpr, ExprParts};
use super::generate::TargetDraft;
use super::mcdc::{self, RuleSelection};
use super::scope::ColumnId;
use super::select_block::{self, SelectBlock};
use super::target::{Clause, ClauseKind, CoverageRule, Description};
use super::value_class;

/// The targets of all choices, first those of the select list.
pub(super) fn drafts(
    block: &SelectBlock<'_>,
    how: RuleSelection,
) -> Result<Vec<TargetDraft>, TargetError> {
    let mut drafts = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    let filter_leaves = block
        .filter
        .as_ref()
        .map(ConditionTree::leaves)
        .unwrap_or_default();
    let filter_parts = || filter_leaves.iter().map(|leaf| &leaf.parts);
    let places = || {
        let listed = block.listed.iter().map(|parts| (ClauseKind::Select, parts));
        listed.chain(filter_parts().map(|parts| (ClauseKind::Where, parts)))
    };
    for (kind, parts) in places() {
        for choice in &parts.guards {
            if choice.aggregates || choice.aggregated && !how.extended() {
                continue;
            }
            if let Expr::Function(function) = &choice.expr {
                guard(block, kind, choice, function, how, &mut seen, &mut drafts)?;
            }
        }
    }
    if how.extended() {
        for (kind, parts) in places() {
            for case in parts.cases.iter().filter(|case| !case.aggregates) {
                let text = case.expr.to_string();
                if !seen.contains(&text) {
                    seen.push(text);
                    branches(
                        block,
                        kind,
                        &case.expr,
                        &conditions(&case.expr),
                        how,
                        &mut drafts,
                    )?;
                }
            }
            for aggregate in &parts.aggregates {
                if let Some(filter) = &aggregate.filter {
                    let filter = std::slice::from_ref(filter);
                    branches(block, kind, &aggregate.call, filter, how, &mut drafts)?;
                }
            }
        }
    }
    Ok(drafts)
}

/// The first argument that is not NULL wins: one target per argument.
fn guard(
    block: &SelectBlock<'_>,
    kind: ClauseKind,
    choice: &ConditionalExpr,
    function: &Function,
    how: RuleSelection,
    seen: &mut Vec<String>,
    drafts: &mut Vec<TargetDraft>,
) -> Result<(), TargetError> {
    let arguments: Vec<&Expr> = expr_parts::arguments(function)
        .into_iter()
        .flatten()
        .collect();
    let Some((_, tested)) = arguments
        .split_last()
        .filter(|(_, tested)| !tested.is_empty())
    else {
        return Ok(());
    };
    let text = tested
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ");
    if seen.contains(&text) {
        return Ok(());
    }
    seen.push(text);
    let mut nulls: Vec<Expr> = Vec::new();
    for (index, argument) in tested.iter().enumerate() {
        let mut terms = nulls.clone();
        terms.push(Expr::IsNotNull(Box::new((*argument).clone())));
        let description = Description {
            situation: format!("`{argument}` is not NULL"),
            consequence: format!(", so `{}` is that value", brief(&choice.expr)),
        };
        let until = tested.get(..=index).unwrap_or_default();
        let draft = argument_draft(block, kind, choice, until, terms, true, how)?;
        drafts.extend(draft.map(|draft| TargetDraft {
            description,
            ..draft
        }));
        nulls.push(Expr::IsNull(Box::new((*argument).clone())));
    }
    let names: Vec<String> = tested.iter().map(|of| format!("`{of}`")).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    let whole = brief(&choice.expr);
    let description = Description {
        situation: format!("{} {verb} NULL", names.join(" and ")),
        consequence: format!(", so `{whole}` falls back on its last argument"),
    };
    let draft = argument_draft(block, kind, choice, tested, nulls, false, how)?;
    drafts.extend(draft.map(|draft| TargetDraft {
        description,
        ..draft
    }));
    Ok(())
}

/// A target about some arguments of a guard; `last_given` when the last of them is not NULL.
fn argument_draft(
    block: &SelectBlock<'_>,
    kind: ClauseKind,
    choice: &ConditionalExpr,
    tested: &[&Expr],
    terms: Vec<Expr>,
    last_given: bool,
    how: RuleSelection,
) -> Result<Option<TargetDraft>, TargetError> {
    let mut nulls: Vec<ColumnId> = Vec::new();
    let mut given: Vec<ColumnId> = Vec::new();
    let mut outer = false;
    for (index, argument) in tested.iter().enumerate() {
        let is_null = !(last_given && index + 1 == tested.len());
        let mut may_be_null = value_class::as_mention(argument).is_none();
        for mention in &ExprParts::of(argument).mentions {
            if let Some(found) = block.scope.resolve(mention)? {
                may_be_null |= found.nullable || found.outer;
                outer |= is_null && found.outer;
                if is_null {
                    nulls.push(found.id)
                } else {
                    given.push(found.id)
                }
            }
        }
        if how.extended() && is_null && !may_be_null {
            return Ok(None);
        }
    }
    let filter = block.filter.as_ref().and_then(|node| {
        node.without(&|leaf| {
            leaf.columns.iter().any(|(mention, found)| {
                nulls.contains(&found.id) || mention.guarded && given.contains(&found.id)
            })
        })
    });
    let terms = terms.into_iter().chain(filter.map(|node| node.expr()));
    let from = if outer && how.extended() {
        block.original()
    } else {
        block.inner()
    };
    Ok(Some(TargetDraft {
        query: select_block::query(block.rows(from, condition::all(terms))),
        rule: if last_given {
            CoverageRule::Chosen
        } else {
            CoverageRule::Otherwise
        },
        clause: clause(kind, &choice.expr),
        nesting: Vec::new(),
        description: Description::default(),
    }))
}

/// The conditions of CASE and similar expressions, in the order in which they are tried.
fn conditions(expr: &Expr) -> Vec<Expr> {
    match expr {
        Expr::Case {
            operand,
            conditions,
            ..
        } => conditions
            .iter()
            .map(|when| match operand {
                Some(operand) => equal(operand, &when.condition),
                None => when.condition.clone(),
            })
            .collect(),
        Expr::Function(function) => {
            let arguments: Vec<&Expr> = expr_parts::arguments(function)
                .into_iter()
                .flatten()
                .collect();
            let name = expr_parts::function_name(&function.name);
            match (name.as_str(), arguments.as_slice()) {
                ("if" | "iif", [condition, ..]) => vec![(*condition).clone()],
                ("nullif", [value, other]) => vec![equal(value, other)],
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// One target per branch, in which the earlier ones are not taken, and one for ELSE.
fn branches(
    block: &SelectBlock<'_>,
    kind: ClauseKind,
    whole: &Expr,
    conditions: &[Expr],
    how: RuleSelection,
    drafts: &mut Vec<TargetDraft>,
) -> Result<(), TargetError> {
    let text = whole.to_string();
    let short = brief(whole);
    let mut push = |rule: CoverageRule,
                    terms: Vec<Expr>,
                    refused: &[ConditionTree],
                    null: Option<&ColumnId>,
                    description: Description| {
        let reached = |leaf: &ConditionLeaf| leaf.depends(|id| Some(id) == null);
        let refused = refused.iter().filter_map(|node| node.without(&reached));
        let refused = refused.map(|node| node.negation());
        let filter = block.filter.as_ref().and_then(|node| {
            node.without(&|leaf| {
                let cases = leaf
                    .parts
                    .cases
                    .iter()
                    .any(|case| case.expr.to_string() == text);
                cases || reached(leaf)
            })
        });
        let terms = terms
            .into_iter()
            .chain(refused)
            .chain(filter.map(|node| node.expr()));
        drafts.push(TargetDraft {
            query: select_block::query(block.rows(block.original(), condition::all(terms))),
            rule,
            clause: clause(kind, whole),
            nesting: Vec::new(),
            description,
        });
    };
    let mut refused: Vec<ConditionTree> = Vec::new();
    for condition in conditions {
        let node = ConditionTree::read(condition, &block.scope)?;
        let single = matches!(node, ConditionTree::Leaf(_));
        for case in mcdc::cases(&node, &block.scope, how) {
            // A single condition that is false leads to the next branch, which has its own target.
            if single && case.rule == CoverageRule::False {
                continue;
            }
            let (rule, description) = if single && case.rule == CoverageRule::True {
                (
                    CoverageRule::Chosen,
                    format!("`{}` chooses its branch of `{short}`", brief(condition)).into(),
                )
            } else {
                (
                    case.rule,
                    case.description.within(&format!("in `{short}`, ")),
                )
            };
            let null = case.null.as_ref().map(|found| &found.id);
            push(rule, case.terms, &refused, null, description);
        }
        refused.push(node);
    }
    if !refused.is_empty() {
        let description = format!("no condition of `{short}` holds, so it takes the rest");
        push(
            CoverageRule::Otherwise,
            Vec::new(),
            &refused,
            None,
            description.into(),
        );
    }
    Ok(())
}

fn equal(left: &Expr, right: &Expr) -> Expr {
    Expr::BinaryOp {
        left: Box::new(left.clone()),
        op: BinaryOperator::Eq,
        right: Box::new(right.clone()),
    }
}

fn clause(kind: ClauseKind, expr: &Expr) -> Clause {
    Clause {
        kind,
        text: expr.to_string(),
        span: condition::span(expr),
    }
}
