//! Conditions that decide alone: masking MC/DC with NULLs.
//!
//! For every leaf of a condition there are cases in which that leaf alone
//! decides: in every AND around it the other operands are true, in every OR
//! they are false. In a case with a NULL the leaves that the NULL would reach
//! are left out of these requirements.

use std::collections::BTreeSet;
use std::rc::Rc;

use sqlparser::ast::{Expr, Value};

use super::boundary::{self, BoundaryPoint};
use super::condition::{self, ConditionLeaf, ConditionTree, brief};
use super::expr_parts::ColumnMention;
use super::scope::{ColumnId, ResolvedColumn, Scope};
use super::target::{CoverageRule, Description, QueryCriterion};

/// Longer lists are met by their first and last item only.
const MAX_ITEMS: usize = 8;

/// Which rules apply.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleSelection {
    pub(super) criterion: QueryCriterion,
    pub(super) boundaries: bool,
}

impl RuleSelection {
    /// Whether the extended rules apply.
    pub(super) fn extended(self) -> bool {
        self.criterion == QueryCriterion::Extended
    }
}

/// One situation of a condition.
#[derive(Debug)]
pub(super) struct McdcCase {
    pub(super) rule: CoverageRule,
    /// What must hold, to be joined by AND.
    pub(super) terms: Vec<Expr>,
    /// The column that is NULL.
    pub(super) null: Option<ResolvedColumn>,
    pub(super) leaf: Rc<ConditionLeaf>,
    pub(super) description: Description,
}

/// The cases of a condition, leaf by leaf.
pub(super) fn cases(node: &ConditionTree, scope: &Scope<'_>, how: RuleSelection) -> Vec<McdcCase> {
    let mut maker = CaseBuilder {
        scope,
        how,
        alone: matches!(node, ConditionTree::Leaf(_)),
        seen: BTreeSet::new(),
        seen_points: BTreeSet::new(),
        cases: Vec::new(),
    };
    maker.visit(node, &[], false);
    maker.cases
}

/// A sibling and the truth it must have.
type SiblingTruth<'n> = (&'n ConditionTree, bool);

struct CaseBuilder<'a, 'p> {
    scope: &'a Scope<'p>,
    how: RuleSelection,
    /// Whether the leaf is the whole condition.
    alone: bool,
    seen: BTreeSet<BTreeSet<String>>,
    seen_points: BTreeSet<Vec<String>>,
    cases: Vec<McdcCase>,
}

impl CaseBuilder<'_, '_> {
    fn visit(&mut self, node: &ConditionTree, context: &[SiblingTruth<'_>], in_all: bool) {
        let (nodes, truth) = match node {
            ConditionTree::All(nodes) => (nodes, true),
            ConditionTree::Any(nodes) => (nodes, false),
            // Which way a NOT turns the outcome does not change who decides it.
            ConditionTree::Not(node) => return self.visit(node, context, in_all),
            ConditionTree::Leaf(leaf) => return self.leaf(leaf, context, in_all),
        };
        for (index, child) in nodes.iter().enumerate() {
            let siblings = nodes
                .iter()
                .enumerate()
                .filter(|&(other, _)| other != index);
            let mut around: Vec<SiblingTruth<'_>> =
                siblings.map(|(_, node)| (node, truth)).collect();
            around.extend_from_slice(context);
            self.visit(child, &around, truth);
        }
    }

    fn leaf(&mut self, leaf: &Rc<ConditionLeaf>, context: &[SiblingTruth<'_>], in_all: bool) {
        let extended = self.how.extended();
        match &leaf.expr {
            Expr::IsNull(inner) | Expr::IsNotNull(inner) => {
                if let Some((_, column)) = tested_column(inner, leaf) {
                    return self.null_test(leaf, column, context, in_all);
                }
            }
            _ => {}
        }
        let points = if self.how.boundaries || !extended {
            boundary::numeric(&leaf.expr, self.scope, extended)
        } else {
            None
        };
        if extended || points.is_none() {
            let opposite = condition::negate(&leaf.expr);
            let mut sides = [
                (CoverageRule::True, leaf.expr.clone(), "true"),
                (CoverageRule::False, opposite, "false"),
            ];
            if !in_all {
                sides.reverse();
            }
            for (rule, expr, word) in sides {
                let description = self.decisive(format!("`{}` is {word}", brief(&leaf.expr)));
                self.push(leaf, rule, expr, context, None, description);
            }
        }
        self.points(leaf, points, context);
        if extended {
            if self.how.boundaries {
                self.points(leaf, boundary::temporal(&leaf.expr, self.scope), context);
                self.points(leaf, boundary::between(&leaf.expr, self.scope), context);
            }
            self.items(leaf, context);
            self.wildcards(leaf, context);
        }
        for (mention, found) in leaf.open_columns() {
            // `SUM(x) > 1` is not made NULL by asking the group for a column that it does not have.
            if found.nullable && !(extended && mention.aggregated) {
                self.null(leaf, mention, found, context);
            }
        }
    }

    /// The situation of a leaf that decides alone.
    fn decisive(&self, situation: String) -> Description {
        let consequence = if self.alone {
            ""
        } else {
            ", and the outcome turns on it"
        };
        Description {
            situation,
            consequence: consequence.to_owned(),
        }
    }

    fn points(
        &mut self,
        leaf: &Rc<ConditionLeaf>,
        points: Option<Vec<BoundaryPoint>>,
        context: &[SiblingTruth<'_>],
    ) {
        for point in points.into_iter().flatten() {
            self.push(
                leaf,
                CoverageRule::Boundary,
                point.expr,
                context,
                None,
                point.description,
            );
        }
    }

    /// NULL in a column that makes the leaf NULL.
    fn null(
        &mut self,
        leaf: &Rc<ConditionLeaf>,
        mention: &ColumnMention,
        found: &ResolvedColumn,
        context: &[SiblingTruth<'_>],
    ) {
        let column = mention.expr();
        let whole = brief(&leaf.expr);
        let description = Description {
            situation: format!("`{column}` is NULL"),
            consequence: format!(", so `{whole}` is neither true nor false"),
        };
        let test = Expr::IsNull(Box::new(column));
        self.push(
            leaf,
            CoverageRule::Null,
            test,
            context,
            Some(found),
            description,
        );
    }

    /// A leaf that asks for NULL itself.
    fn null_test(
        &mut self,
        leaf: &Rc<ConditionLeaf>,
        column: &ResolvedColumn,
        context: &[SiblingTruth<'_>],
        in_all: bool,
    ) {
        let may_be_null = column.nullable || self.how.extended() && column.outer;
        let mut sides = [
            (CoverageRule::True, leaf.expr.clone(), "true"),
            (CoverageRule::False, condition::negate(&leaf.expr), "false"),
        ];
        if !in_all {
            sides.reverse();
        }
        for (rule, expr, word) in sides {
            let null = matches!(expr, Expr::IsNull(_));
            if null && !may_be_null {
                continue;
            }
            let description = self.decisive(format!("`{}` is {word}", brief(&leaf.expr)));
            self.push(
                leaf,
                rule,
                expr,
                context,
                null.then_some(column),
                description,
            );
        }
    }

    /// Each item of a list, one by one.
    fn items(&mut self, leaf: &Rc<ConditionLeaf>, context: &[SiblingTruth<'_>]) {
        let Expr::InList { expr, list, .. } = &leaf.expr else {
            return;
        };
        if list.len() < 2 {
            return;
        }
        let ends = [list.first(), list.last()];
        let items: Vec<&Expr> = if list.len() > MAX_ITEMS {
            ends.into_iter().flatten().collect()
        } else {
            list.iter().collect()
        };
        for item in items {
            if matches!(condition::strip(item), Expr::Value(value) if value.value == Value::Null) {
                continue;
            }
            let equality = Expr::BinaryOp {
                left: expr.clone(),
                op: sqlparser::ast::BinaryOperator::Eq,
                right: Box::new(item.clone()),
            };
            let description = format!("`{expr}` is the item `{item}` of `{}`", brief(&leaf.expr));
            self.push(
                leaf,
                CoverageRule::Item,
                equality,
                context,
                None,
                description,
            );
        }
    }

    /// The wildcards `%` of a pattern match nothing, or at least one character each.
    fn wildcards(&mut self, leaf: &Rc<ConditionLeaf>, context: &[SiblingTruth<'_>]) {
        let (Expr::Like {
            pattern,
            escape_char: None,
            any: false,
            ..
        }
        | Expr::ILike {
            pattern,
            escape_char: None,
            any: false,
            ..
        }) = &leaf.expr
        else {
            return;
        };
        let Expr::Value(literal) = condition::strip(pattern) else {
            return;
        };
        let (Value::SingleQuotedString(text) | Value::DoubleQuotedString(text)) = &literal.value
        else {
            return;
        };
        if !text.contains('%') || text.contains('\\') || text.trim_matches('%').is_empty() {
            return;
        }
        let mut longer = String::new();
        for ch in text.chars() {
            match ch {
                '%' if longer.ends_with('%') => {}
                '%' => longer.push_str("_%"),
                _ => longer.push(ch),
            }
        }
        for (text, word) in [(text.replace('%', ""), "nothing"), (longer, "something")] {
            let mut variant = leaf.expr.clone();
            let (Expr::Like {
                pattern, negated, ..
            }
            | Expr::ILike {
                pattern, negated, ..
            }) = &mut variant
            else {
                return;
            };
            *negated = false;
            **pattern = Expr::value(Value::SingleQuotedString(text));
            let description = format!("the wildcards of `{}` match {word}", brief(&leaf.expr));
            self.push(
                leaf,
                CoverageRule::Wildcard,
                variant,
                context,
                None,
                description,
            );
        }
    }

    /// Adds a case unless it is there already.
    fn push(
        &mut self,
        leaf: &Rc<ConditionLeaf>,
        rule: CoverageRule,
        variant: Expr,
        context: &[SiblingTruth<'_>],
        null: Option<&ResolvedColumn>,
        description: impl Into<Description>,
    ) {
        let mut terms = vec![variant.clone()];
        terms.extend(context.iter().filter_map(|&(node, truth)| {
            let reduced = match null {
                Some(column) => node.without(&|leaf| leaf.depends(|id| *id == column.id)),
                None => Some(node.clone()),
            };
            reduced.map(|node| required(&node, truth))
        }));
        let keys: Vec<String> = terms.iter().map(key).collect();
        let strict_point = rule == CoverageRule::Boundary && !self.how.extended();
        let new = if strict_point {
            self.seen_points.insert(keys)
        } else {
            // Null tests that require each other are one situation, however it is reduced.
            let whole: BTreeSet<String> = std::iter::once(key(&variant))
                .chain(
                    context
                        .iter()
                        .map(|&(node, truth)| key(&required(node, truth))),
                )
                .collect();
            let test = rule != CoverageRule::Null && null.is_some();
            let repeated = test && !self.seen.insert(whole.clone());
            let keys: BTreeSet<String> = keys.into_iter().collect();
            !repeated && (self.seen.insert(keys.clone()) || test && keys == whole)
        };
        if new {
            self.cases.push(McdcCase {
                rule,
                terms,
                null: null.cloned(),
                leaf: Rc::clone(leaf),
                description: description.into(),
            });
        }
    }
}

fn required(node: &ConditionTree, truth: bool) -> Expr {
    if truth { node.expr() } else { node.negation() }
}

/// The text of a term with its negation in front, however it is written.
fn key(expr: &Expr) -> String {
    let negated = match expr {
        Expr::InList { negated, .. }
        | Expr::InSubquery { negated, .. }
        | Expr::Between { negated, .. }
        | Expr::Like { negated, .. }
        | Expr::ILike { negated, .. }
        | Expr::Exists { negated, .. } => *negated,
        Expr::IsNotNull(_)
        | Expr::UnaryOp {
            op: sqlparser::ast::UnaryOperator::Not,
            ..
        } => true,
        _ => false,
    };
    if negated {
        format!("!{}", condition::strip(&condition::negate(expr)))
    } else {
        condition::strip(expr).to_string()
    }
}

/// The column of `column IS [NOT] NULL`.
fn tested_column<'l>(
    tested: &Expr,
    leaf: &'l ConditionLeaf,
) -> Option<(&'l ColumnMention, &'l ResolvedColumn)> {
    let plain = super::value_class::as_mention(tested).is_some();
    match leaf.columns.as_slice() {
        [(mention, found)] if plain => Some((mention, found)),
        _ => None,
    }
}

/// Whether a column is one of these.
pub(super) fn mentions(columns: &[(ColumnMention, ResolvedColumn)], id: &ColumnId) -> bool {
    columns.iter().any(|(_, found)| found.id == *id)
}
