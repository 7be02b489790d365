//! How requirements name columns and conditions.

use isobath_sql::expr::{BinaryOp, PatternKind, UnaryOp};
use isobath_sql::{Expr, Table, Value};

/// Longest condition that is quoted in full.
const LONGEST: usize = 60;

/// Column names, joined as in a sentence.
pub(crate) fn columns(table: &Table, columns: &[usize]) -> String {
    let names: Vec<&str> = columns
        .iter()
        .map(|column| table.columns[*column].name.as_str())
        .collect();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        [one] => (*one).to_owned(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

/// A condition as SQL, shortened.
pub(crate) fn condition(expr: &Expr) -> String {
    let text = plain(expr);
    if text.chars().count() <= LONGEST {
        return text;
    }
    let head: String = text.chars().take(LONGEST - 1).collect();
    format!("{head}…")
}

/// Several conditions, joined.
pub(super) fn conditions(parts: &[Expr], joint: &str) -> String {
    let parts: Vec<String> = parts.iter().map(condition).collect();
    parts.join(joint)
}

/// The usual forms of a CHECK as SQL; what is rare is named by what it does.
fn plain(expr: &Expr) -> String {
    let list = |parts: &[Expr], joint: &str| {
        let parts: Vec<String> = parts.iter().map(inner).collect();
        parts.join(joint)
    };
    let not = |negated: &bool| if *negated { "NOT " } else { "" };
    match expr {
        Expr::Literal(Value::Text(text)) => format!("'{text}'"),
        Expr::Literal(value) => value.to_string(),
        Expr::Column(column) => column.name.clone(),
        Expr::Parameter(index) => format!("${}", index + 1),
        Expr::Unary { op, expr } => {
            let op = match op {
                UnaryOp::Minus => "-",
                UnaryOp::Plus => "+",
                UnaryOp::BitNot => "~",
            };
            format!("{op}{}", inner(expr))
        }
        Expr::Binary { op, left, right } => {
            format!("{} {} {}", inner(left), symbol(*op), inner(right))
        }
        Expr::Compare { op, left, right } => {
            format!("{} {} {}", inner(left), op.symbol(), inner(right))
        }
        Expr::And(parts) => list(parts, " AND "),
        Expr::Or(parts) => list(parts, " OR "),
        Expr::Not(expr) => format!("NOT {}", inner(expr)),
        Expr::IsNull { expr, negated } => format!("{} IS {}NULL", inner(expr), not(negated)),
        Expr::IsTruth {
            expr,
            verdict,
            negated,
        } => {
            let verdict = match verdict {
                Some(true) => "TRUE",
                Some(false) => "FALSE",
                None => "UNKNOWN",
            };
            format!("{} IS {}{verdict}", inner(expr), not(negated))
        }
        Expr::IsDistinct {
            left,
            right,
            negated,
        } => format!(
            "{} IS {}DISTINCT FROM {}",
            inner(left),
            not(negated),
            inner(right)
        ),
        Expr::Between {
            expr,
            low,
            high,
            negated,
            ..
        } => format!(
            "{} {}BETWEEN {} AND {}",
            inner(expr),
            not(negated),
            inner(low),
            inner(high)
        ),
        Expr::InList {
            expr,
            list: elements,
            negated,
        } => format!(
            "{} {}IN ({})",
            inner(expr),
            not(negated),
            list(elements, ", ")
        ),
        Expr::Like {
            expr,
            pattern,
            kind,
            negated,
            ..
        } => {
            let kind = match kind {
                PatternKind::Like => "LIKE",
                PatternKind::Ilike => "ILIKE",
                PatternKind::Glob => "GLOB",
                PatternKind::SimilarTo => "SIMILAR TO",
                PatternKind::Regex | PatternKind::RegexInsensitive => "MATCHES",
            };
            format!("{} {}{kind} {}", inner(expr), not(negated), inner(pattern))
        }
        Expr::Case { .. } => "CASE …".to_owned(),
        Expr::Cast { expr, .. } => inner(expr),
        Expr::Function { name, args } => format!("{name}({})", list(args, ", ")),
        Expr::Opaque { sql, .. } => sql.clone(),
    }
}

fn inner(expr: &Expr) -> String {
    match expr {
        Expr::And(_) | Expr::Or(_) | Expr::Binary { .. } => format!("({})", plain(expr)),
        expr => plain(expr),
    }
}

fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::IntegerDivide => "DIV",
        BinaryOp::Modulo => "%",
        BinaryOp::Concat => "||",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
    }
}
