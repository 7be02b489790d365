//! Renders expressions, with parentheses where precedence may be unclear.

use super::ident::identifier;
use super::literal::literal;
use super::types::{cast_name, type_name};
use crate::dialect::DialectName;
use crate::expr::{BinaryOp, Expr, PatternKind, UnaryOp};
use crate::value::Value;

/// An expression as SQL.
///
/// What a dialect lacks is written in other words where there are any (`BETWEEN
/// SYMMETRIC`, `ILIKE`, `EXTRACT`); [`translate`](super::translate) takes out
/// what cannot be said at all.
pub fn expression(expr: &Expr, dialect: DialectName) -> String {
    ExprWriter {
        dialect,
        is_phrase: false,
    }
    .expr(expr)
}

/// An expression for people: standard SQL with names as they are spelled, which no database is to read.
pub fn phrase(expr: &Expr) -> String {
    ExprWriter {
        dialect: DialectName::Ansi,
        is_phrase: true,
    }
    .expr(expr)
}

struct ExprWriter {
    dialect: DialectName,
    /// Whether names stay as they are.
    is_phrase: bool,
}

/// How tightly an expression holds together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    Or,
    And,
    Not,
    Predicate,
    Operator,
    Atom,
}

fn binding(expr: &Expr) -> Precedence {
    match expr {
        Expr::Or(parts) if parts.len() > 1 => Precedence::Or,
        Expr::And(parts) if parts.len() > 1 => Precedence::And,
        Expr::And(_) | Expr::Or(_) => Precedence::Predicate,
        Expr::Not(_) => Precedence::Not,
        Expr::Compare { .. }
        | Expr::IsNull { .. }
        | Expr::IsTruth { .. }
        | Expr::IsDistinct { .. }
        | Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::Like { .. }
        | Expr::Opaque { .. } => Precedence::Predicate,
        Expr::Unary { .. } | Expr::Binary { .. } => Precedence::Operator,
        Expr::Literal(_)
        | Expr::Column(_)
        | Expr::Parameter(_)
        | Expr::Subquery(_)
        | Expr::Case { .. }
        | Expr::Cast { .. }
        | Expr::Function { .. } => Precedence::Atom,
    }
}

impl ExprWriter {
    /// In parentheses unless it binds tighter than this.
    fn inside(&self, expr: &Expr, than: Precedence) -> String {
        let text = self.expr(expr);
        if binding(expr) > than {
            text
        } else {
            format!("({text})")
        }
    }

    fn operand(&self, expr: &Expr) -> String {
        self.inside(expr, Precedence::Predicate)
    }

    fn list(&self, exprs: &[Expr]) -> String {
        let parts: Vec<String> = exprs.iter().map(|expr| self.expr(expr)).collect();
        parts.join(", ")
    }

    fn expr(&self, expr: &Expr) -> String {
        let not = |negated: bool| if negated { "NOT " } else { "" };
        match expr {
            Expr::Literal(value) => literal(value, self.dialect),
            Expr::Column(column) if self.is_phrase => column.name.clone(),
            Expr::Column(column) => identifier(&column.name, self.dialect),
            Expr::Parameter(index) => match self.dialect {
                DialectName::Postgres => format!("${}", index + 1),
                DialectName::Ansi | DialectName::MySql | DialectName::Sqlite => "?".to_owned(),
            },
            // Queries are printed from their own text; this is for messages only.
            Expr::Subquery(number) => format!("(subquery {})", number + 1),
            Expr::Unary { op, expr } => {
                let sign = match op {
                    UnaryOp::Minus => "-",
                    UnaryOp::Plus => "+",
                    UnaryOp::BitNot => "~",
                };
                let inner = self.inside(expr, Precedence::Operator);
                // `--` starts a comment.
                if inner.starts_with(['-', '+', '~']) {
                    format!("{sign}({inner})")
                } else {
                    format!("{sign}{inner}")
                }
            }
            Expr::Binary { op, left, right } => self.binary(*op, left, right),
            Expr::Compare { op, left, right } => format!(
                "{} {} {}",
                self.operand(left),
                op.symbol(),
                self.operand(right)
            ),
            Expr::And(parts) => self.junction(parts, " AND ", Precedence::And),
            Expr::Or(parts) => self.junction(parts, " OR ", Precedence::Or),
            Expr::Not(expr) => format!("NOT {}", self.inside(expr, Precedence::Predicate)),
            Expr::IsNull { expr, negated } => {
                format!("{} IS {}NULL", self.operand(expr), not(*negated))
            }
            Expr::IsTruth {
                expr,
                verdict,
                negated,
            } => {
                let verdict = match verdict {
                    Some(true) => "TRUE",
                    Some(false) => "FALSE",
                    None if self.dialect == DialectName::Sqlite => "NULL",
                    None => "UNKNOWN",
                };
                format!("{} IS {}{verdict}", self.operand(expr), not(*negated))
            }
            Expr::IsDistinct {
                left,
                right,
                negated,
            } => self.distinct(left, right, *negated),
            Expr::Between {
                expr,
                low,
                high,
                negated,
                symmetric,
            } => self.between(expr, low, high, *negated, *symmetric),
            Expr::InList {
                expr,
                list,
                negated,
            } => format!(
                "{} {}IN ({})",
                self.operand(expr),
                not(*negated),
                self.list(list)
            ),
            Expr::Like {
                expr,
                pattern,
                escape,
                kind,
                negated,
            } => self.like(expr, pattern, *escape, *kind, *negated),
            Expr::Case {
                operand,
                branches,
                otherwise,
            } => {
                let mut text = "CASE".to_owned();
                if let Some(operand) = operand {
                    text.push(' ');
                    text.push_str(&self.operand(operand));
                }
                for (when, then) in branches {
                    text.push_str(&format!(
                        " WHEN {} THEN {}",
                        self.expr(when),
                        self.expr(then)
                    ));
                }
                if let Some(otherwise) = otherwise {
                    text.push_str(&format!(" ELSE {}", self.expr(otherwise)));
                }
                text.push_str(" END");
                text
            }
            Expr::Cast { expr, data_type } => {
                let name = match self.dialect {
                    DialectName::MySql => cast_name(data_type),
                    _ => type_name(data_type, self.dialect),
                };
                format!("CAST({} AS {name})", self.expr(expr))
            }
            Expr::Function { name, args } => self.function(name, args),
            Expr::Opaque { sql, .. } => sql.clone(),
        }
    }

    fn junction(&self, parts: &[Expr], word: &str, than: Precedence) -> String {
        let parts: Vec<String> = parts.iter().map(|part| self.inside(part, than)).collect();
        parts.join(word)
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> String {
        let a = self.inside(left, Precedence::Operator);
        let b = self.inside(right, Precedence::Operator);
        let symbol = match (op, self.dialect) {
            (BinaryOp::Add, _) => "+",
            (BinaryOp::Subtract, _) => "-",
            (BinaryOp::Multiply, _) => "*",
            (BinaryOp::Divide, _) => "/",
            (BinaryOp::Modulo, _) => "%",
            (BinaryOp::IntegerDivide, DialectName::MySql) => "DIV",
            (BinaryOp::IntegerDivide, DialectName::Sqlite) => {
                return format!("CAST({a} / {b} AS INTEGER)");
            }
            (BinaryOp::IntegerDivide, _) => return format!("DIV({a}, {b})"),
            (BinaryOp::Concat, DialectName::MySql) => return format!("CONCAT({a}, {b})"),
            (BinaryOp::Concat, _) => "||",
            (BinaryOp::BitAnd, _) => "&",
            (BinaryOp::BitOr, _) => "|",
            (BinaryOp::BitXor, DialectName::Postgres) => "#",
            (BinaryOp::BitXor, DialectName::Sqlite) => {
                return format!("(({a} | {b}) - ({a} & {b}))");
            }
            (BinaryOp::BitXor, _) => "^",
            (BinaryOp::ShiftLeft, _) => "<<",
            (BinaryOp::ShiftRight, _) => ">>",
        };
        format!("{a} {symbol} {b}")
    }

    fn distinct(&self, left: &Expr, right: &Expr, negated: bool) -> String {
        let (a, b) = (self.operand(left), self.operand(right));
        match (self.dialect, negated) {
            (DialectName::MySql, true) => format!("{a} <=> {b}"),
            (DialectName::MySql, false) => format!("NOT ({a} <=> {b})"),
            (_, true) => format!("{a} IS NOT DISTINCT FROM {b}"),
            (_, false) => format!("{a} IS DISTINCT FROM {b}"),
        }
    }

    fn between(&self, x: &Expr, low: &Expr, high: &Expr, negated: bool, symmetric: bool) -> String {
        let [x, low, high] = [x, low, high].map(|expr| self.operand(expr));
        let not = if negated { "NOT " } else { "" };
        if !symmetric {
            return format!("{x} {not}BETWEEN {low} AND {high}");
        }
        if self.dialect == DialectName::Postgres || self.dialect == DialectName::Ansi {
            return format!("{x} {not}BETWEEN SYMMETRIC {low} AND {high}");
        }
        let word = if negated { "AND" } else { "OR" };
        format!("({x} {not}BETWEEN {low} AND {high} {word} {x} {not}BETWEEN {high} AND {low})")
    }

    fn like(
        &self,
        expr: &Expr,
        pattern: &Expr,
        escape: Option<char>,
        kind: PatternKind,
        negated: bool,
    ) -> String {
        let (x, p) = (self.operand(expr), self.operand(pattern));
        let not = if negated { "NOT " } else { "" };
        let postgres = self.dialect == DialectName::Postgres;
        let mut text = match kind {
            PatternKind::Like => format!("{x} {not}LIKE {p}"),
            PatternKind::Ilike if postgres => format!("{x} {not}ILIKE {p}"),
            PatternKind::Ilike => format!("LOWER({x}) {not}LIKE LOWER({p})"),
            PatternKind::Glob => format!("{x} {not}GLOB {p}"),
            PatternKind::SimilarTo => format!("{x} {not}SIMILAR TO {p}"),
            PatternKind::Regex if postgres => {
                format!("{x} {}~ {p}", if negated { "!" } else { "" })
            }
            PatternKind::Regex => format!("{x} {not}REGEXP {p}"),
            PatternKind::RegexInsensitive if postgres => {
                format!("{x} {}~* {p}", if negated { "!" } else { "" })
            }
            PatternKind::RegexInsensitive => format!("{x} {not}REGEXP CONCAT('(?i)', {p})"),
        };
        if let Some(escape) = escape {
            let escape = literal(&Value::Text(escape.to_string()), self.dialect);
            text.push_str(&format!(" ESCAPE {escape}"));
        }
        text
    }

    fn function(&self, name: &str, args: &[Expr]) -> String {
        let arg = |index: usize| {
            args.get(index)
                .map(|arg| self.operand(arg))
                .unwrap_or_default()
        };
        let sqlite = self.dialect == DialectName::Sqlite;
        let mysql = self.dialect == DialectName::MySql;
        match (name, args.len()) {
            (
                "current_timestamp" | "current_date" | "current_time" | "localtimestamp"
                | "localtime" | "current_user" | "session_user",
                0,
            ) => name.to_uppercase(),
            ("extract", 2) => match (&args[0], sqlite) {
                (Expr::Literal(Value::Text(field)), true) => {
                    let format = sqlite_field(field);
                    format!("CAST(STRFTIME('{format}', {}) AS INTEGER)", arg(1))
                }
                (Expr::Literal(Value::Text(field)), false) => {
                    format!("EXTRACT({} FROM {})", field.to_uppercase(), arg(1))
                }
                _ => format!("EXTRACT({})", self.list(args)),
            },
            ("position", 2) if sqlite => format!("INSTR({}, {})", arg(1), arg(0)),
            ("position", 2) => format!("POSITION({} IN {})", arg(0), arg(1)),
            ("overlay", 3) => {
                format!("OVERLAY({} PLACING {} FROM {})", arg(0), arg(1), arg(2))
            }
            ("overlay", 4) => format!(
                "OVERLAY({} PLACING {} FROM {} FOR {})",
                arg(0),
                arg(1),
                arg(2),
                arg(3)
            ),
            ("trim", 2) if sqlite => format!("TRIM({}, {})", arg(0), arg(1)),
            ("trim", 2) => format!("TRIM(BOTH {} FROM {})", arg(1), arg(0)),
            ("ltrim", 2) if mysql => format!("TRIM(LEADING {} FROM {})", arg(1), arg(0)),
            ("rtrim", 2) if mysql => format!("TRIM(TRAILING {} FROM {})", arg(1), arg(0)),
            ("left", 2) if sqlite => format!("SUBSTR({}, 1, {})", arg(0), arg(1)),
            ("timezone", 2) if !mysql && !sqlite => {
                format!("{} AT TIME ZONE {}", arg(1), arg(0))
            }
            ("if", 3) if !mysql => format!(
                "CASE WHEN {} THEN {} ELSE {} END",
                self.expr(&args[0]),
                self.expr(&args[1]),
                self.expr(&args[2])
            ),
            _ => format!("{}({})", self.function_name(name), self.list(args)),
        }
    }

    /// A function by the name that the dialect has for it.
    fn function_name(&self, name: &str) -> String {
        let known = match (self.dialect, name) {
            (DialectName::Sqlite, "char_length" | "character_length" | "len") => "LENGTH",
            (DialectName::Sqlite, "substring") => "SUBSTR",
            (DialectName::Sqlite, "greatest") => "MAX",
            (DialectName::Sqlite, "least") => "MIN",
            (DialectName::Sqlite, "ceiling") => "CEIL",
            (DialectName::Postgres, "ifnull" | "nvl") => "COALESCE",
            (DialectName::Postgres, "lcase") => "LOWER",
            (DialectName::Postgres, "ucase") => "UPPER",
            (DialectName::MySql, "btrim") => "TRIM",
            _ => return self.plain_name(name),
        };
        known.to_owned()
    }

    fn plain_name(&self, name: &str) -> String {
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if plain {
            name.to_uppercase()
        } else {
            identifier(name, self.dialect)
        }
    }
}

/// The parts of a time that SQLite can take out, as strftime writes them.
fn sqlite_field(field: &str) -> &'static str {
    match field {
        "month" => "%m",
        "day" => "%d",
        "hour" => "%H",
        "minute" => "%M",
        "second" => "%S",
        "dow" => "%w",
        "doy" => "%j",
        "epoch" => "%s",
        "week" => "%W",
        _ => "%Y",
    }
}
