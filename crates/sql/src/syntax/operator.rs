//! Operators: logic, comparisons, arithmetic and patterns.

use sqlparser::ast::{self, BinaryOperator as Op, Expr as Ast, UnaryOperator};

use super::expr::{ExprConverter, call};
use crate::dialect::DialectName;
use crate::expr::{BinaryOp, CompareOp, Expr, PatternKind, UnaryOp};
use crate::value::Value;

impl ExprConverter<'_> {
    pub(super) fn unary(&mut self, ast: &Ast, op: UnaryOperator, expr: &Ast) -> Expr {
        let op = match op {
            UnaryOperator::Not | UnaryOperator::BangNot => return Expr::Not(self.boxed(expr)),
            UnaryOperator::Minus => UnaryOp::Minus,
            UnaryOperator::Plus => UnaryOp::Plus,
            UnaryOperator::BitwiseNot => UnaryOp::BitNot,
            UnaryOperator::PGSquareRoot => return call("sqrt", vec![self.expr(expr)]),
            UnaryOperator::PGCubeRoot => return call("cbrt", vec![self.expr(expr)]),
            UnaryOperator::PGAbs => return call("abs", vec![self.expr(expr)]),
            _ => return self.opaque(ast, "this operator is not supported"),
        };
        match (op, self.expr(expr)) {
            (UnaryOp::Minus, Expr::Literal(Value::Int(value))) if value != i128::MIN => {
                Expr::Literal(Value::Int(-value))
            }
            (UnaryOp::Minus, Expr::Literal(Value::Decimal(value))) => {
                Expr::Literal(Value::Decimal(-value))
            }
            (UnaryOp::Minus, Expr::Literal(Value::Float(value))) => {
                Expr::Literal(Value::Float(-value))
            }
            (op, expr) => Expr::Unary {
                op,
                expr: Box::new(expr),
            },
        }
    }

    pub(super) fn binary(&mut self, ast: &Ast, left: &Ast, op: &Op, right: &Ast) -> Expr {
        let mysql = self.dialect == DialectName::MySql;
        if let Some(junction) = junction(op, mysql) {
            return self.junction(ast, junction, mysql);
        }
        if let (Some(op), Ast::Tuple(_), Ast::Tuple(_)) = (compare_op(op), left, right) {
            return self.rows_compared(ast, op, left, right);
        }
        if let Some(op) = compare_op(op) {
            return Expr::Compare {
                op,
                left: self.boxed(left),
                right: self.boxed(right),
            };
        }
        let arithmetic = match op {
            Op::Plus => BinaryOp::Add,
            Op::Minus => BinaryOp::Subtract,
            Op::Multiply => BinaryOp::Multiply,
            Op::Divide => BinaryOp::Divide,
            Op::Modulo => BinaryOp::Modulo,
            Op::MyIntegerDivide => BinaryOp::IntegerDivide,
            Op::StringConcat => BinaryOp::Concat,
            Op::BitwiseAnd => BinaryOp::BitAnd,
            Op::BitwiseOr => BinaryOp::BitOr,
            Op::BitwiseXor | Op::PGBitwiseXor => BinaryOp::BitXor,
            Op::PGBitwiseShiftLeft => BinaryOp::ShiftLeft,
            Op::PGBitwiseShiftRight => BinaryOp::ShiftRight,
            Op::PGExp => return call("power", vec![self.expr(left), self.expr(right)]),
            Op::PGStartsWith => {
                return call("starts_with", vec![self.expr(left), self.expr(right)]);
            }
            Op::Spaceship => return self.is_distinct(left, right, true),
            Op::PGRegexMatch => return self.pattern(PatternKind::Regex, false, left, right),
            Op::PGRegexNotMatch => return self.pattern(PatternKind::Regex, true, left, right),
            Op::PGRegexIMatch => {
                return self.pattern(PatternKind::RegexInsensitive, false, left, right);
            }
            Op::PGRegexNotIMatch => {
                return self.pattern(PatternKind::RegexInsensitive, true, left, right);
            }
            Op::PGLikeMatch => return self.pattern(PatternKind::Like, false, left, right),
            Op::PGNotLikeMatch => return self.pattern(PatternKind::Like, true, left, right),
            Op::PGILikeMatch => return self.pattern(PatternKind::Ilike, false, left, right),
            Op::PGNotILikeMatch => return self.pattern(PatternKind::Ilike, true, left, right),
            Op::Glob => return self.pattern(PatternKind::Glob, false, left, right),
            Op::Regexp => return self.pattern(PatternKind::Regex, false, left, right),
            _ => return self.opaque(ast, "this operator is not supported"),
        };
        Expr::Binary {
            op: arithmetic,
            left: self.boxed(left),
            right: self.boxed(right),
        }
    }

    /// `a OR b OR c` as one OR of three, without recursion down the left spine.
    ///
    /// Parentheses start a node of their own even under the same operator: coverage criteria count
    /// clauses as they are written.
    fn junction(&mut self, ast: &Ast, kind: Connective, mysql: bool) -> Expr {
        let mut operands = Vec::new();
        let mut at = ast;
        while let Ast::BinaryOp { left, op, right } = at
            && junction(op, mysql) == Some(kind)
        {
            operands.push(right.as_ref());
            at = left;
        }
        operands.push(at);
        let parts = operands
            .into_iter()
            .rev()
            .map(|operand| self.expr(operand))
            .collect();
        match kind {
            Connective::And => Expr::And(parts),
            Connective::Or => Expr::Or(parts),
        }
    }

    pub(super) fn is_null(&mut self, expr: &Ast, negated: bool) -> Expr {
        Expr::IsNull {
            expr: self.boxed(expr),
            negated,
        }
    }

    pub(super) fn is_truth(&mut self, expr: &Ast, verdict: Option<bool>, negated: bool) -> Expr {
        Expr::IsTruth {
            expr: self.boxed(expr),
            verdict,
            negated,
        }
    }

    pub(super) fn is_distinct(&mut self, left: &Ast, right: &Ast, negated: bool) -> Expr {
        Expr::IsDistinct {
            left: self.boxed(left),
            right: self.boxed(right),
            negated,
        }
    }

    pub(super) fn pattern(
        &mut self,
        kind: PatternKind,
        negated: bool,
        expr: &Ast,
        pattern: &Ast,
    ) -> Expr {
        Expr::Like {
            expr: self.boxed(expr),
            pattern: self.boxed(pattern),
            escape: None,
            kind,
            negated,
        }
    }

    pub(super) fn like(
        &mut self,
        ast: &Ast,
        kind: PatternKind,
        negated: bool,
        expr: &Ast,
        pattern: &Ast,
        escape: &Option<Box<Ast>>,
    ) -> Expr {
        let escape = match escape.as_ref().map(|escape| self.expr(escape)) {
            None => None,
            Some(Expr::Literal(Value::Text(text))) if text.chars().count() == 1 => {
                text.chars().next()
            }
            Some(_) => return self.opaque(ast, "its ESCAPE is not one character"),
        };
        match self.pattern(kind, negated, expr, pattern) {
            Expr::Like {
                expr,
                pattern,
                kind,
                negated,
                ..
            } => Expr::Like {
                expr,
                pattern,
                escape,
                kind,
                negated,
            },
            other => other,
        }
    }

    /// `x op ANY (…)` and `x op ALL (…)` of `ARRAY[…]` (with `=`, that is how pg_dump writes `x IN (…)`), of the text of an
    /// array, and of a parameter, whose array has one element here.
    pub(super) fn beside_array(
        &mut self,
        ast: &Ast,
        (left, op, right): (&Ast, &Op, &Ast),
        all: bool,
    ) -> Expr {
        let mut at = right;
        let list: Option<Vec<Expr>> = loop {
            match at {
                Ast::Nested(inner) | Ast::Cast { expr: inner, .. } => at = inner,
                Ast::Array(array) => {
                    break Some(array.elem.iter().map(|item| self.expr(item)).collect());
                }
                Ast::Value(value) => {
                    break match &value.value {
                        ast::Value::Placeholder(_) => Some(vec![self.expr(at)]),
                        ast::Value::SingleQuotedString(text) => elements(text),
                        _ => None,
                    };
                }
                _ => break None,
            }
        };
        let Some(list) = list else {
            return self.opaque(ast, "ANY and ALL are evaluated for lists only");
        };
        let left = self.boxed(left);
        let negated = all && *op == Op::NotEq;
        if negated || !all && *op == Op::Eq {
            return Expr::InList {
                expr: left,
                list,
                negated,
            };
        }
        // Beside an array, CHAR is compared as text, for which blanks at the end count.
        let ends_blank =
            |item: &Expr| matches!(item, Expr::Literal(Value::Text(text)) if text.ends_with(' '));
        let is_read = !list.is_empty() && !list.iter().any(ends_blank);
        let Some(op) = compare_op(op).filter(|_| is_read) else {
            return self.opaque(ast, "ANY and ALL are evaluated for comparisons only");
        };
        let parts = list.into_iter().map(|right| Expr::Compare {
            op,
            left: left.clone(),
            right: Box::new(right),
        });
        match all {
            true => Expr::And(parts.collect()),
            false => Expr::Or(parts.collect()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Connective {
    And,
    Or,
}

/// The elements of an array written as text, such as `{1,"a b",NULL}`; `None` for arrays of arrays and what is no array.
fn elements(text: &str) -> Option<Vec<Expr>> {
    let inside = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let mut elements = Vec::new();
    let mut rest = inside.trim();
    while !rest.is_empty() {
        let (element, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_element(quoted)?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                let (word, after) = rest.split_at_checked(end)?;
                if word.is_empty() || word.contains(['{', '}', '"', '\\']) {
                    return None;
                }
                let word = word.trim();
                let value = match word.eq_ignore_ascii_case("null") {
                    true => Value::Null,
                    false => Value::text(word),
                };
                (value, after)
            }
        };
        elements.push(Expr::Literal(element));
        rest = after.trim_start();
        if let Some(next) = rest.strip_prefix(',') {
            rest = next.trim_start();
            if rest.is_empty() {
                return None;
            }
        } else if !rest.is_empty() {
            return None;
        }
    }
    Some(elements)
}

/// The element of an array behind its opening quote, and what follows the closing one.
fn quoted_element(text: &str) -> Option<(Value, &str)> {
    let mut element = String::new();
    let mut letters = text.char_indices();
    loop {
        match letters.next()? {
            (at, '"') => return Some((Value::Text(element), text.get(at + 1..)?)),
            (_, '\\') => element.push(letters.next()?.1),
            (_, letter) => element.push(letter),
        }
    }
}

/// MySQL reads `&&` and `||` as AND and OR.
fn junction(op: &Op, mysql: bool) -> Option<Connective> {
    match op {
        Op::And => Some(Connective::And),
        Op::Or => Some(Connective::Or),
        Op::PGOverlap if mysql => Some(Connective::And),
        Op::StringConcat if mysql => Some(Connective::Or),
        _ => None,
    }
}

pub(crate) fn compare_op(op: &Op) -> Option<CompareOp> {
    Some(match op {
        Op::Eq => CompareOp::Equal,
        Op::NotEq => CompareOp::NotEqual,
        Op::Lt => CompareOp::Less,
        Op::LtEq => CompareOp::LessOrEqual,
        Op::Gt => CompareOp::Greater,
        Op::GtEq => CompareOp::GreaterOrEqual,
        _ => return None,
    })
}
