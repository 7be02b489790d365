//! Joins: rows with a partner, and rows of either side without one.

use sqlparser::ast::{Expr, JoinConstraint};

use super::block::{self, Block, Kind, Part};
use super::condition::{self, Node};
use super::error::TargetError;
use super::generate::Draft;
use super::mcdc::{self, How};
use super::mention::Mention;
use super::scope::{self, Found};
use super::target::{Clause, ClauseKind, Rule};

type Column = (Mention, Found);

/// The targets of all joins.
pub(super) fn drafts(block: &Block<'_>, how: How) -> Result<Vec<Draft>, TargetError> {
    let mut drafts = Vec::new();
    let conditional = block.parts.iter().any(Part::has_condition);
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
fn joined(block: &Block<'_>, conditional: bool) -> Draft {
    let text: Vec<String> = block.inner().iter().map(ToString::to_string).collect();
    Draft {
        query: block::query(block.rows(block.inner(), None)),
        rule: Rule::Joined,
        clause: Clause {
            kind: ClauseKind::Join,
            text: text.join(", "),
            span: None,
        },
        nesting: Vec::new(),
        says: if conditional {
            "every join finds a partner".to_owned()
        } else {
            "there is a row to return".to_owned()
        },
    }
}

/// Rows without a partner: of what stands before the join, and of what it adds.
fn alone(block: &Block<'_>, index: usize, how: How, drafts: &mut Vec<Draft>) {
    let part = &block.parts[index];
    let local = part.columns.iter().filter(|(_, found)| found.id.depth == 0);
    let (right, left): (Vec<&Column>, Vec<&Column>) =
        local.partition(|(_, found)| part.relations.contains(&found.id.relation));
    let new = scope::part_names(part, &block.scope);
    if !left.is_empty() {
        let shape = Shape::left(block, index);
        let says = format!("a row joined with {new} has no partner there");
        let roles = Roles {
            none: &right,
            own: &left,
        };
        side(
            block,
            index,
            &shape,
            roles,
            [Rule::LeftAlone, Rule::LeftAloneNull],
            &says,
            how,
            drafts,
        );
    }
    if !right.is_empty() {
        let shape = Shape::right(block, index);
        let says = format!("a row of {new} has no partner");
        let roles = Roles {
            none: &left,
            own: &right,
        };
        side(
            block,
            index,
            &shape,
            roles,
            [Rule::RightAlone, Rule::RightAloneNull],
            &says,
            how,
            drafts,
        );
    }
}

/// The columns of a join's condition on the side that is missing and on the side that is there.
#[derive(Clone, Copy)]
struct Roles<'c> {
    none: &'c [&'c Column],
    own: &'c [&'c Column],
}

#[expect(
    clippy::too_many_arguments,
    reason = "one call shape for four sibling rules"
)]
fn side(
    block: &Block<'_>,
    index: usize,
    shape: &Shape,
    roles: Roles<'_>,
    [rule, null_rule]: [Rule; 2],
    says: &str,
    how: How,
    drafts: &mut Vec<Draft>,
) {
    let draft = |rule: Rule, nulls: &[&Column], says: String| Draft {
        query: shape.query(block, roles, nulls),
        rule,
        clause: clause(&block.parts[index]),
        nesting: Vec::new(),
        says,
    };
    drafts.push(draft(rule, &[], says.to_owned()));
    let nullable: Vec<&Column> = roles
        .own
        .iter()
        .copied()
        .filter(|(_, found)| found.nullable)
        .collect();
    // SQLFpc makes them all NULL at once, so that none of them is to blame alone.
    let sets: Vec<Vec<&Column>> = if how.extended() {
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
        let says = format!("{says} because {} {verb} NULL", names.join(" and "));
        drafts.push(draft(null_rule, &nulls, says));
    }
}

/// The joins' kinds in a target, and the relations that have no row then.
struct Shape {
    kinds: Vec<Kind>,
    nulled: Vec<bool>,
}

impl Shape {
    /// What stands before the join has no partner in it.
    fn left(block: &Block<'_>, index: usize) -> Self {
        let mut shape = Self::inner(block);
        shape.kinds[index] = Kind::Left;
        shape.null(&block.parts[index]);
        shape.follow(block, index);
        shape
    }

    /// What the join adds has no partner before it.
    ///
    /// Joins on which its condition depends turn RIGHT with it, the other
    /// earlier ones LEFT.
    fn right(block: &Block<'_>, index: usize) -> Self {
        let mut shape = Self::inner(block);
        let start = block.parts[index].relations.start;
        for nulled in shape.nulled.iter_mut().take(start) {
            *nulled = true;
        }
        for kind in shape.kinds.iter_mut().take(index) {
            *kind = Kind::Left;
        }
        let mut chain = vec![index];
        while let Some(at) = chain.pop() {
            shape.kinds[at] = Kind::Right;
            for (_, found) in &block.parts[at].columns {
                let earlier = block.parts[..at].iter().position(|part| {
                    found.id.depth == 0 && part.relations.contains(&found.id.relation)
                });
                if let Some(earlier) = earlier.filter(|&at| shape.kinds[at] != Kind::Right) {
                    chain.push(earlier);
                }
            }
        }
        shape.follow(block, index);
        shape
    }

    fn inner(block: &Block<'_>) -> Self {
        Self {
            kinds: vec![Kind::Inner; block.parts.len()],
            nulled: vec![false; block.scope.relations.len()],
        }
    }

    fn null(&mut self, part: &Part) {
        for nulled in &mut self.nulled[part.relations.clone()] {
            *nulled = true;
        }
    }

    /// Later joins that depend on a missing row miss theirs too.
    fn follow(&mut self, block: &Block<'_>, index: usize) {
        for later in index + 1..block.parts.len() {
            let part = &block.parts[later];
            if part.columns.iter().any(|(_, found)| self.is_nulled(found)) {
                self.kinds[later] = Kind::Left;
                self.null(part);
            }
        }
    }

    fn is_nulled(&self, found: &Found) -> bool {
        found.id.depth == 0 && self.nulled.get(found.id.relation).copied().unwrap_or(false)
    }

    fn query(
        &self,
        block: &Block<'_>,
        roles: Roles<'_>,
        nulls: &[&Column],
    ) -> sqlparser::ast::Query {
        let is_null = |(mention, _): &Column| Expr::IsNull(Box::new(mention.expr()));
        let own = |column: &Column| {
            let null = nulls.iter().any(|(_, found)| found.id == column.1.id);
            let expr = Box::new(column.0.expr());
            if null {
                Expr::IsNull(expr)
            } else {
                Expr::IsNotNull(expr)
            }
        };
        let reduce = |node: &Node| {
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
        let from = block.from(|index, _| self.kinds[index].clone());
        let mut select = block.rows(from, condition::all(terms));
        select.having = block
            .having
            .as_ref()
            .and_then(reduce)
            .map(|node| node.expr());
        block::query(select)
    }
}

/// Every part of a join's condition decides whether a pair belongs together.
fn condition_drafts(
    block: &Block<'_>,
    index: usize,
    how: How,
    drafts: &mut Vec<Draft>,
) -> Result<(), TargetError> {
    let JoinConstraint::On(on) = &block.parts[index].constraint else {
        return Ok(());
    };
    let node = Node::read(on, &block.scope)?;
    if node.leaves().len() < 2 {
        return Ok(());
    }
    for case in mcdc::cases(&node, &block.scope, how) {
        // A pair that meets the whole of an AND is an ordinary partner.
        if case.rule == Rule::True && matches!(node, Node::All(_)) {
            continue;
        }
        let Some(terms) = condition::all(case.terms) else {
            continue;
        };
        let mut parts = block.parts.clone();
        parts[index].constraint = JoinConstraint::On(terms);
        let null = case.null.as_ref().map(|found| &found.id);
        let filter = block
            .filter
            .as_ref()
            .and_then(|node| node.without(&|leaf| leaf.depends(|id| Some(id) == null)))
            .map(|node| node.expr());
        let from = block.chain(&parts, |_, _| Kind::Inner);
        drafts.push(Draft {
            query: block::query(block.rows(from, filter)),
            rule: case.rule,
            clause: Clause {
                kind: ClauseKind::On,
                text: case.leaf.expr.to_string(),
                span: condition::span(&case.leaf.expr),
            },
            nesting: Vec::new(),
            says: format!("in a pair of rows, {}", case.says),
        });
    }
    Ok(())
}

fn clause(part: &Part) -> Clause {
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
