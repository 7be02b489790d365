//! UNION, INTERSECT and EXCEPT: rows of one branch only, and of both.

use sqlparser::ast::{
    Ident, SetExpr, SetOperator, SetQuantifier, TableAlias, TableFactor, TableWithJoins,
};

use super::generate::TargetDraft;
use super::parse;
use super::target::{Clause, ClauseKind, CoverageRule};

/// The targets of a set operation itself.
pub(super) fn drafts(left: &SetExpr, op: SetOperator, right: &SetExpr) -> Vec<TargetDraft> {
    let clause = Clause {
        kind: ClauseKind::SetOperation,
        text: op.to_string(),
        span: None,
    };
    let draft = |rule,
                 (first, op, second): (&SetExpr, SetOperator, &SetExpr),
                 description: &str| TargetDraft {
        query: parse::from_body(SetExpr::SetOperation {
            left: Box::new(operand(first)),
            op,
            set_quantifier: SetQuantifier::None,
            right: Box::new(operand(second)),
        }),
        rule,
        clause: clause.clone(),
        nesting: Vec::new(),
        description: format!(
            "a row comes from {description}",
            description = description.replace("{}", &clause.text)
        )
        .into(),
    };
    vec![
        draft(
            CoverageRule::SetLeft,
            (left, SetOperator::Except, right),
            "the left branch of {} only",
        ),
        draft(
            CoverageRule::SetRight,
            (right, SetOperator::Except, left),
            "the right branch of {} only",
        ),
        draft(
            CoverageRule::SetBoth,
            (left, SetOperator::Intersect, right),
            "both branches of {}",
        ),
    ]
}

/// A plain SELECT stays; anything else becomes a derived table, which every database accepts.
fn operand(body: &SetExpr) -> SetExpr {
    let query = match body {
        SetExpr::Select(_) => return body.clone(),
        SetExpr::Query(query) => (**query).clone(),
        other => parse::from_body(other.clone()),
    };
    let derived = TableFactor::Derived {
        lateral: false,
        subquery: Box::new(query),
        alias: Some(TableAlias {
            explicit: true,
            name: Ident::new("branch"),
            columns: Vec::new(),
            at: None,
        }),
        sample: None,
    };
    let from = TableWithJoins {
        relation: derived,
        joins: Vec::new(),
    };
    SetExpr::Select(Box::new(parse::select(
        vec![parse::wildcard()],
        vec![from],
        None,
    )))
}
