//! Conditions as trees of n-ary AND and OR over atomic conditions.

use std::rc::Rc;

use sqlparser::ast::{BinaryOperator, Expr, Spanned, UnaryOperator};

use super::error::TargetError;
use super::expr_parts::{ColumnMention, ExprParts};
use super::scope::{ColumnId, ResolvedColumn, Scope};
use super::target::Span;

/// A condition.
///
/// Parentheses start a node of their own even under the same operator; around
/// a single leaf they mean nothing.
#[derive(Clone, Debug)]
pub(super) enum ConditionTree {
    All(Vec<ConditionTree>),
    Any(Vec<ConditionTree>),
    /// NOT over AND or OR.
    Not(Box<ConditionTree>),
    Leaf(Rc<ConditionLeaf>),
}

/// A condition without AND, OR and NOT at its top.
#[derive(Debug)]
pub(super) struct ConditionLeaf {
    /// Its position among the leaves of its tree.
    pub(super) id: usize,
    /// The condition, without parentheses around it.
    pub(super) expr: Expr,
    /// What it is made of.
    pub(super) parts: ExprParts,
    /// The columns that it mentions, in order, repetitions included.
    pub(super) columns: Vec<(ColumnMention, ResolvedColumn)>,
}

impl ConditionLeaf {
    /// Whether NULL in such a column reaches the condition.
    pub(super) fn depends(&self, matches: impl Fn(&ColumnId) -> bool) -> bool {
        self.columns
            .iter()
            .any(|(mention, found)| !mention.guarded && matches(&found.id))
    }

    /// The distinct columns that can make the condition NULL, in order of appearance.
    pub(super) fn open_columns(&self) -> Vec<&(ColumnMention, ResolvedColumn)> {
        let mut columns: Vec<&(ColumnMention, ResolvedColumn)> = Vec::new();
        for column in self.columns.iter().filter(|(mention, _)| !mention.guarded) {
            if columns.iter().all(|(_, found)| found.id != column.1.id) {
                columns.push(column);
            }
        }
        columns
    }
}

impl ConditionTree {
    /// Reads a condition.
    pub(super) fn read(expr: &Expr, scope: &Scope<'_>) -> Result<Self, TargetError> {
        ConditionReader { scope, next: 0 }.node(expr)
    }

    /// The condition as SQL again.
    pub(super) fn expr(&self) -> Expr {
        match self {
            Self::All(nodes) => chain(nodes, &BinaryOperator::And),
            Self::Any(nodes) => chain(nodes, &BinaryOperator::Or),
            Self::Not(node) => not(node.expr()),
            Self::Leaf(leaf) => leaf.expr.clone(),
        }
    }

    /// The opposite of the condition as SQL.
    pub(super) fn negation(&self) -> Expr {
        match self {
            Self::All(_) | Self::Any(_) => not(self.expr()),
            Self::Not(node) => node.expr(),
            Self::Leaf(leaf) => negate(&leaf.expr),
        }
    }

    /// What remains when some leaves are deleted.
    ///
    /// A node that loses all children disappears, one that keeps a single
    /// child becomes that child.
    pub(super) fn without(&self, delete: &impl Fn(&ConditionLeaf) -> bool) -> Option<Self> {
        match self {
            Self::Leaf(leaf) => (!delete(leaf)).then(|| self.clone()),
            Self::Not(node) => node.without(delete).map(|node| match node {
                Self::Leaf(leaf) => Self::Leaf(Rc::new(ConditionLeaf {
                    id: leaf.id,
                    expr: negate(&leaf.expr),
                    parts: leaf.parts.clone(),
                    columns: leaf.columns.clone(),
                })),
                other => Self::Not(Box::new(other)),
            }),
            Self::All(nodes) | Self::Any(nodes) => {
                let mut left: Vec<Self> = nodes
                    .iter()
                    .filter_map(|node| node.without(delete))
                    .collect();
                match (left.pop(), left.is_empty(), self) {
                    (None, ..) => None,
                    (Some(only), true, _) => Some(only),
                    (Some(last), false, Self::All(_)) => {
                        left.push(last);
                        Some(Self::All(left))
                    }
                    (Some(last), false, _) => {
                        left.push(last);
                        Some(Self::Any(left))
                    }
                }
            }
        }
    }

    /// The leaves, left to right.
    pub(super) fn leaves(&self) -> Vec<Rc<ConditionLeaf>> {
        let mut leaves = Vec::new();
        self.collect(&mut leaves);
        leaves
    }

    fn collect(&self, into: &mut Vec<Rc<ConditionLeaf>>) {
        match self {
            Self::Leaf(leaf) => into.push(Rc::clone(leaf)),
            Self::Not(node) => node.collect(into),
            Self::All(nodes) | Self::Any(nodes) => {
                for node in nodes {
                    node.collect(into);
                }
            }
        }
    }
}

struct ConditionReader<'a, 'p> {
    scope: &'a Scope<'p>,
    next: usize,
}

impl ConditionReader<'_, '_> {
    fn node(&mut self, expr: &Expr) -> Result<ConditionTree, TargetError> {
        match expr {
            Expr::BinaryOp {
                op: op @ (BinaryOperator::And | BinaryOperator::Or),
                ..
            } => {
                let mut operands = Vec::new();
                flatten(expr, op, &mut operands);
                let nodes: Result<Vec<ConditionTree>, TargetError> = operands
                    .into_iter()
                    .map(|operand| self.node(operand))
                    .collect();
                Ok(match op {
                    BinaryOperator::And => ConditionTree::All(nodes?),
                    _ => ConditionTree::Any(nodes?),
                })
            }
            Expr::Nested(inner) => self.node(inner),
            Expr::UnaryOp {
                op: UnaryOperator::Not,
                expr: inner,
            } => match strip(inner) {
                Expr::BinaryOp {
                    op: BinaryOperator::And | BinaryOperator::Or,
                    ..
                } => Ok(ConditionTree::Not(Box::new(self.node(inner)?))),
                // Two negations cancel each other before anything is read.
                Expr::UnaryOp {
                    op: UnaryOperator::Not,
                    expr: inner,
                } => self.node(inner),
                leaf => self.leaf(negate(leaf)),
            },
            leaf => self.leaf(leaf.clone()),
        }
    }

    fn leaf(&mut self, expr: Expr) -> Result<ConditionTree, TargetError> {
        let parts = ExprParts::of(&expr);
        let mut columns = Vec::new();
        for mention in &parts.mentions {
            if let Some(found) = self.scope.resolve(mention)? {
                columns.push((mention.clone(), found));
            }
        }
        let id = self.next;
        self.next += 1;
        Ok(ConditionTree::Leaf(Rc::new(ConditionLeaf {
            id,
            expr,
            parts,
            columns,
        })))
    }
}

/// The operands of a chain without parentheses.
fn flatten<'e>(expr: &'e Expr, op: &BinaryOperator, into: &mut Vec<&'e Expr>) {
    match expr {
        Expr::BinaryOp {
            left,
            op: of,
            right,
        } if of == op => {
            flatten(left, op, into);
            flatten(right, op, into);
        }
        other => into.push(other),
    }
}

/// An expression without the parentheses around it.
pub(super) fn strip(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => strip(inner),
        other => other,
    }
}

/// The opposite of a leaf: NOT moves into operators that have a negated form.
pub(super) fn negate(expr: &Expr) -> Expr {
    let mut opposite = strip(expr).clone();
    match &mut opposite {
        Expr::InList { negated, .. }
        | Expr::InSubquery { negated, .. }
        | Expr::Between { negated, .. }
        | Expr::Like { negated, .. }
        | Expr::ILike { negated, .. }
        | Expr::Exists { negated, .. } => *negated = !*negated,
        Expr::IsNull(inner) => return Expr::IsNotNull(inner.clone()),
        Expr::IsNotNull(inner) => return Expr::IsNull(inner.clone()),
        Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr,
        } => return strip(expr).clone(),
        _ => return not(opposite),
    }
    opposite
}

/// NOT (…).
pub(super) fn not(expr: Expr) -> Expr {
    Expr::UnaryOp {
        op: UnaryOperator::Not,
        expr: Box::new(Expr::Nested(Box::new(expr))),
    }
}

/// Terms joined by AND; `None` when there are none.
pub(super) fn all(terms: impl IntoIterator<Item = Expr>) -> Option<Expr> {
    terms
        .into_iter()
        .map(|term| operand(term, true))
        .reduce(|left, right| Expr::BinaryOp {
            left: Box::new(left),
            op: BinaryOperator::And,
            right: Box::new(right),
        })
}

fn chain(nodes: &[ConditionTree], op: &BinaryOperator) -> Expr {
    let mut operands = nodes.iter().map(|node| operand(node.expr(), false));
    let first = operands.next().unwrap_or_else(truth);
    operands.fold(first, |left, right| Expr::BinaryOp {
        left: Box::new(left),
        op: op.clone(),
        right: Box::new(right),
    })
}

/// An empty chain cannot be read, only be left by a mistake; it would mean no condition.
fn truth() -> Expr {
    Expr::value(sqlparser::ast::Value::Boolean(true))
}

/// Parentheses where an operand of AND or OR needs them; a chain of AND may stay open in another.
fn operand(expr: Expr, open: bool) -> Expr {
    match &expr {
        Expr::BinaryOp {
            op: BinaryOperator::And,
            ..
        } if open => expr,
        Expr::BinaryOp {
            op: BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Xor,
            ..
        } => Expr::Nested(Box::new(expr)),
        _ => expr,
    }
}

/// Where an expression stands, as far as the parser knows.
pub(super) fn span(expr: &impl Spanned) -> Option<Span> {
    let span = expr.span();
    (span.start.line > 0).then(|| Span {
        line: span.start.line,
        column: span.start.column,
        end_line: span.end.line,
        end_column: span.end.column.saturating_sub(1).max(1),
    })
}

/// An expression for a sentence: long ones lose their middle.
pub(super) fn brief(expr: &Expr) -> String {
    const MOST: usize = 80;
    let text = expr.to_string();
    let length = text.chars().count();
    if length <= MOST {
        return text;
    }
    let head: String = text.chars().take(MOST * 2 / 3).collect();
    let tail: String = text.chars().skip(length - MOST / 4).collect();
    format!("{head} … {tail}")
}
