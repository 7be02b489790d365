//! Targets for joins: rows with a partner, and rows of either side without one.

use sqlparser::ast::{Expr, JoinConstraint};

use super::condition::{self, ConditionTree};
use super::error::TargetError;
use super::expr_parts::ColumnMention;
use super::generate::TargetDraft;
use super::mcdc::{self, RuleSelection};
use super::scope::{self, ResolvedColumn};
use super::select_block::{self, JoinPart, JoinTreatment, SelectBlock};
use super::target::{Clause, ClauseKind, CoverageRule};

type JoinColumn = (ColumnMention, ResolvedColumn);

/// The targets of all joins.
pub(super) fn drafts(
    block: &SelectBlock<'_>,
    how: RuleSelection,
) -> Result<Vec<TargetDraft>, TargetError> {
    let mut drafts = Vec::new();
    let conditional = block.parts.iter().any(JoinPart::has_condition);
    let unfiltered = block.filter.is_none() && block.having.is_none();
    if unfiltered && block.first.is_some() && (conditional || how.extended()) {
        drafts.push(joined(block, conditional));
    }
    for (index, part) in block.parts.iter().enumerate() {
        if part.has_condition() {
            alone(block, index, how, &mut drafts);
            if how.extended() {
                condition_drafts(block, index, how, &mut drafts)?;
            }
        }
    }
    Ok(drafts)
}

/// The query with every join INNER and no condition.
fn joined(block: &SelectBlock<'_>, conditional: bool) -> TargetDraft {
    let text: Vec<String> = block.inner().iter().map(ToString::to_string).collect();
    TargetDraft {
        query: select_block::query(block.rows(block.inner(), None)),
        rule: CoverageRule::Joined,
        clause: Clause {
            kind: ClauseKind::Join,
            text: text.join(", "),
            span: None,
        },
        nesting: Vec::new(),
        description: if conditional {
            "every join finds a partner".to_owned()
        } else {
            "there is a row to return".to_owned()
        }
        .into(),
    }
}

/// Rows without a partner: of what stands before the join, and of what it adds.
fn alone(block: &SelectBlock<'_>, index: usize, how: RuleSelection, drafts: &mut Vec<TargetDraft>) {
    let part = block.part(index);
    let local = part.columns.iter().filter(|(_, found)| found.id.depth == 0);
    let (right, left): (Vec<&JoinColumn>, Vec<&JoinColumn>) =
        local.partition(|(_, found)| part.relations.contains(&found.id.relation));
    let new = scope::part_names(part, &block.scope);
    if !left.is_empty() {
        let shape = JoinShape::left(block, index);
        let description = format!("a row joined with {new} has no partner there");
        let roles = JoinSides {
            none: &right,
            own: &left,
        };
        side(
            block,
            index,
            &shape,
            roles,
            [CoverageRule::LeftAlone, CoverageRule::LeftAloneNull],
            &description,
            how,
            drafts,
        );
    }
    if !right.is_empty() {
        let shape = JoinShape::right(block, index);
        let description = format!("a row of {new} has no partner");
        let roles = JoinSides {
            none: &left,
            own: &right,
        };
        side(
            block,
            index,
            &shape,
            roles,
            [CoverageRule::RightAlone, CoverageRule::RightAloneNull],
            &description,
            how,
            drafts,
        );
    }
}

/// The columns of a join's condition on the side that is missing and on the side that is there.
#[derive(Clone, Copy)]
struct JoinSides<'c> {
    none: &'c [&'c JoinColumn],
    own: &'c [&'c JoinColumn],
}

#[expect(
    clippy::too_many_arguments,
    reason = "one call shape for four sibling rules"
)]
fn side(
    block: &SelectBlock<'_>,
    index: usize,
    shape: &JoinShape,
    roles: JoinSides<'_>,
    [rule, null_rule]: [CoverageRule; 2],
    description: &str,
    how: RuleSelection,
    drafts: &mut Vec<TargetDraft>,
) {
    let draft = |rule: CoverageRule, nulls: &[&JoinColumn], description: String| TargetDraft {
        query: shape.query(block, roles, nulls),
        rule,
        clause: clause(block.part(index)),
        nesting: Vec::new(),
        description: description.into(),
    };
    drafts.push(draft(rule, &[], description.to_owned()));
    let nullable: Vec<&JoinColumn> = roles
        .own
        .iter()
        .copied()
        .filter(|(_, found)| found.nullable)
        .collect();
    // SQLFpc makes them all NULL at once, so that none of them is to blame alone.
    let sets: Vec<Vec<&JoinColumn>> = if how.extended() {
        nullable.into_iter().map(|column| vec![column]).collect()
    } else if nullable.is_empty() {
        Vec::new()
    } else {
        vec![nullable]
    };
    for nulls in sets {
        let names: Vec<String> = nulls
            .iter()
            .map(|(m, _)| format!("`{}`", m.expr()))
            .collect();
        let verb = if names.len() == 1 { "is" } else { "are" };
        let description = format!("{description} because {} {verb} NULL", names.join(" and "));
        drafts.push(draft(null_rule, &nulls, description));
    }
}

/// The joins' kinds in a target, and the relations that have no row then.
struct JoinShape {
    kinds: Vec<JoinTreatment>,
    nulled: Vec<bool>,
}

impl JoinShape {
    /// What stands before the join has no partner in it.
    fn left(block: &SelectBlock<'_>, index: usize) -> Self {
        let mut shape = Self::inner(block);
        shape.treat(index, JoinTreatment::Left);
        shape.null(block.part(index));
        shape.follow(block, index);
        shape
    }

    /// What the join adds has no partner before it.
    ///
    /// Joins on which its condition depends turn RIGHT with it, the other
    /// earlier ones LEFT.
    fn right(block: &SelectBlock<'_>, index: usize) -> Self {
        let mut shape = Self::inner(block);
        let start = block.part(index).relations.start;
        for nulled in shape.nulled.iter_mut().take(start) {
            *nulled = true;
        }
        for kind in shape.kinds.iter_mut().take(index) {
            *kind = JoinTreatment::Left;
        }
        let mut chain = vec![index];
        while let Some(at) = chain.pop() {
            shape.treat(at, JoinTreatment::Right);
            for (_, found) in &block.part(at).columns {
                let earlier = block.parts.iter().take(at).position(|part| {
                    found.id.depth == 0 && part.relations.contains(&found.id.relation)
                });
                let is_right = |at: &usize| shape.kinds.get(*at) == Some(&JoinTreatment::Right);
                chain.extend(earlier.filter(|at| !is_right(at)));
            }
        }
        shape.follow(block, index);
        shape
    }

    fn inner(block: &SelectBlock<'_>) -> Self {
        Self {
            kinds: vec![JoinTreatment::Inner; block.parts.len()],
            nulled: vec![false; block.scope.relations.len()],
        }
    }

    fn treatment(&self, index: usize) -> JoinTreatment {
        self.kinds
            .get(index)
            .cloned()
            .unwrap_or(JoinTreatment::Inner)
    }

    fn treat(&mut self, index: usize, treatment: JoinTreatment) {
        if let Some(kind) = self.kinds.get_mut(index) {
            *kind = treatment;
        }
    }

    fn null(&mut self, part: &JoinPart) {
        let nulled = self.nulled.get_mut(part.relations.clone());
        nulled.into_iter().for_each(|nulled| nulled.fill(true));
    }

    /// Later joins that depend on a missing row miss theirs too.
    fn follow(&mut self, block: &SelectBlock<'_>, index: usize) {
        for (later, part) in block.parts.iter().enumerate().skip(index + 1) {
            if part.columns.iter().any(|(_, found)| self.is_nulled(found)) {
                self.treat(later, JoinTreatment::Left);
                self.null(part);
            }
        }
    }

    fn is_nulled(&self, found: &ResolvedColumn) -> bool {
        found.id.depth == 0 && self.nulled.get(found.id.relation).copied().unwrap_or(false)
    }

    fn query(
        &self,
        block: &SelectBlock<'_>,
        roles: JoinSides<'_>,
        nulls: &[&JoinColumn],
    ) -> sqlparser::ast::Query {
        let is_null = |(mention, _): &JoinColumn| Expr::IsNull(Box::new(mention.expr()));
        let own = |column: &JoinColumn| {
            let null = nulls.iter().any(|(_, found)| found.id == column.1.id);
            let expr = Box::new(column.0.expr());
            if null {
                Expr::IsNull(expr)
            } else {
                Expr::IsNotNull(expr)
            }
        };
        let reduce = |node: &ConditionTree| {
            node.without(&|leaf| {
                leaf.columns.iter().any(|(mention, found)| {
                    let null = nulls.iter().any(|(_, of)| of.id == found.id);
                    !mention.guarded && (null || self.is_nulled(found))
                })
            })
        };
        let mut terms: Vec<Expr> = roles.none.iter().map(|column| is_null(column)).collect();
        terms.extend(roles.own.iter().map(|column| own(column)));
        terms.extend(
            block
                .filter
                .as_ref()
                .and_then(reduce)
                .map(|node| node.expr()),
        );
        let from = block.from(|index, _| self.treatment(index));
        let mut select = block.rows(from, condition::all(terms));
        select.having = block
            .having
            .as_ref()
            .and_then(reduce)
            .map(|node| node.expr());
        select_block::query(select)
    }
}

/// Every part of a join's condition decides whether a pair belongs together.
fn condition_drafts(
    block: &SelectBlock<'_>,
    index: usize,
    how: RuleSelection,
    drafts: &mut Vec<TargetDraft>,
) -> Result<(), TargetError> {
    let JoinConstraint::On(on) = &block.part(index).constraint else {
        return Ok(());
    };
    let node = ConditionTree::read(on, &block.scope)?;
    if node.leaves().len() < 2 {
        return Ok(());
    }
    for case in mcdc::cases(&node, &block.scope, how) {
        // A pair that meets the whole of an AND is an ordinary partner.
        if case.rule == CoverageRule::True && matches!(node, ConditionTree::All(_)) {
            continue;
        }
        let Some(terms) = condition::all(case.terms) else {
            continue;
        };
        let mut parts = block.parts.clone();
        if let Some(part) = parts.get_mut(index) {
            part.constraint = JoinConstraint::On(terms);
        }
        let null = case.null.as_ref().map(|found| &found.id);
        let filter = block
            .filter
            .as_ref()
            .and_then(|node| node.without(&|leaf| leaf.depends(|id| Some(id) == null)))
            .map(|node| node.expr());
        let from = block.chain(&parts, |_, _| JoinTreatment::Inner);
        drafts.push(TargetDraft {
            query: select_block::query(block.rows(from, filter)),
            rule: case.rule,
            clause: Clause {
                kind: ClauseKind::On,
                text: case.leaf.expr.to_string(),
                span: condition::span(&case.leaf.expr),
            },
            nesting: Vec::new(),
            description: case.description.within("in a pair of rows, "),
        });
    }
    Ok(())
}

fn clause(part: &JoinPart) -> Clause {
    let (text, span) = match &part.constraint {
        JoinConstraint::On(on) => (format!("{} ON {on}", part.factor), condition::span(on)),
        _ => (part.factor.to_string(), None),
    };
    Clause {
        kind: ClauseKind::Join,
        text,
        span,
    }
}
