//! Parts of a schema as they stand in sentences for people.

use isobath_sql::expr::{BinaryOp, PatternKind, UnaryOp};
use isobath_sql::{DataType, Dialect, Expr, Value};

/// An expression in the notation of SQL, for reading rather than for running.
pub fn expr(expr: &Expr, dialect: &dyn Dialect) -> String {
    let _ = dialect;
    spelled(expr)
}

fn spelled(expr: &Expr) -> String {
    let not = |negated: bool| if negated { "NOT " } else { "" };
    match expr {
        Expr::Literal(value) => literal(value),
        Expr::Column(column) => column.name.clone(),
        Expr::Parameter(index) => format!("${}", index + 1),
        Expr::Unary { op, expr } => {
            let sign = match op {
                UnaryOp::Minus => "-",
                UnaryOp::Plus => "+",
                UnaryOp::BitNot => "~",
            };
            format!("{sign}{}", inner(expr))
        }
        Expr::Binary { op, left, right } => {
            format!("{} {} {}", inner(left), binary(*op), inner(right))
        }
        Expr::Compare { op, left, right } => {
            format!("{} {} {}", inner(left), op.symbol(), inner(right))
        }
        Expr::And(parts) => joined(parts, " AND "),
        Expr::Or(parts) => joined(parts, " OR "),
        Expr::Not(expr) => format!("NOT {}", inner(expr)),
        Expr::IsNull { expr, negated } => format!("{} IS {}NULL", inner(expr), not(*negated)),
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
            format!("{} IS {}{verdict}", inner(expr), not(*negated))
        }
        Expr::IsDistinct {
            left,
            right,
            negated,
        } => format!(
            "{} IS {}DISTINCT FROM {}",
            inner(left),
            not(*negated),
            inner(right)
        ),
        Expr::Between {
            expr,
            low,
            high,
            negated,
            symmetric,
        } => format!(
            "{} {}BETWEEN {}{} AND {}",
            inner(expr),
            not(*negated),
            if *symmetric { "SYMMETRIC " } else { "" },
            inner(low),
            inner(high)
        ),
        Expr::InList {
            expr,
            list,
            negated,
        } => {
            let list: Vec<String> = list.iter().map(spelled).collect();
            format!("{} {}IN ({})", inner(expr), not(*negated), list.join(", "))
        }
        Expr::Like {
            expr,
            pattern,
            kind,
            negated,
            ..
        } => {
            let word = match kind {
                PatternKind::Like => "LIKE",
                PatternKind::Ilike => "ILIKE",
                PatternKind::Glob => "GLOB",
                PatternKind::SimilarTo => "SIMILAR TO",
                PatternKind::Regex => "~",
                PatternKind::RegexInsensitive => "~*",
            };
            format!("{} {}{word} {}", inner(expr), not(*negated), inner(pattern))
        }
        Expr::Case {
            operand,
            branches,
            otherwise,
        } => {
            let mut text = String::from("CASE");
            if let Some(operand) = operand {
                text.push_str(&format!(" {}", spelled(operand)));
            }
            for (when, then) in branches {
                text.push_str(&format!(" WHEN {} THEN {}", spelled(when), spelled(then)));
            }
            if let Some(otherwise) = otherwise {
                text.push_str(&format!(" ELSE {}", spelled(otherwise)));
            }
            text + " END"
        }
        Expr::Cast { expr, data_type } => {
            format!("CAST({} AS {})", spelled(expr), self::data_type(data_type))
        }
        Expr::Function { name, args } => {
            let args: Vec<String> = args.iter().map(spelled).collect();
            format!("{name}({})", args.join(", "))
        }
        Expr::Opaque { sql, .. } => sql.clone(),
    }
}

fn inner(expr: &Expr) -> String {
    match expr {
        Expr::Literal(_)
        | Expr::Column(_)
        | Expr::Parameter(_)
        | Expr::Function { .. }
        | Expr::Cast { .. } => spelled(expr),
        _ => format!("({})", spelled(expr)),
    }
}

fn joined(parts: &[Expr], connective: &str) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Expr::And(_) | Expr::Or(_) => inner(part),
            _ => spelled(part),
        })
        .collect();
    parts.join(connective)
}

/// A value as SQL writes it, near enough for people.
pub fn literal(value: &Value) -> String {
    match value {
        Value::Null | Value::Int(_) | Value::Decimal(_) | Value::Float(_) => value.to_string(),
        Value::Bool(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
        _ => format!("'{}'", value.to_string().replace('\'', "''")),
    }
}

fn binary(op: BinaryOp) -> &'static str {
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

/// A type with its size, in the words of standard SQL.
pub fn data_type(data_type: &DataType) -> String {
    match data_type {
        DataType::Boolean => "BOOLEAN".to_owned(),
        DataType::Integer { bits, unsigned } => {
            let name = match bits {
                8 => "TINYINT",
                16 => "SMALLINT",
                24 => "MEDIUMINT",
                32 => "INTEGER",
                _ => "BIGINT",
            };
            format!("{name}{}", if *unsigned { " UNSIGNED" } else { "" })
        }
        DataType::Decimal { precision, scale } => match (precision, scale) {
            (Some(precision), Some(scale)) => format!("NUMERIC({precision}, {scale})"),
            (Some(precision), None) => format!("NUMERIC({precision})"),
            (None, _) => "NUMERIC".to_owned(),
        },
        DataType::Float { bits: 32 } => "REAL".to_owned(),
        DataType::Float { .. } => "DOUBLE PRECISION".to_owned(),
        DataType::Char { length } => format!("CHAR({length})"),
        DataType::Varchar { length } => match length {
            Some(length) => format!("VARCHAR({length})"),
            None => "VARCHAR".to_owned(),
        },
        DataType::Text => "TEXT".to_owned(),
        DataType::Bytes { length, .. } => match length {
            Some(length) => format!("VARBINARY({length})"),
            None => "BLOB".to_owned(),
        },
        DataType::Date => "DATE".to_owned(),
        DataType::Time { .. } => "TIME".to_owned(),
        DataType::Timestamp { zoned: false, .. } => "TIMESTAMP".to_owned(),
        DataType::Timestamp { zoned: true, .. } => "TIMESTAMP WITH TIME ZONE".to_owned(),
        DataType::Year => "YEAR".to_owned(),
        DataType::Interval => "INTERVAL".to_owned(),
        DataType::Uuid => "UUID".to_owned(),
        DataType::Json { binary: false } => "JSON".to_owned(),
        DataType::Json { binary: true } => "JSONB".to_owned(),
        DataType::Enum { name, labels } => match name {
            Some(name) => name.clone(),
            None => format!("ENUM of {} labels", labels.len()),
        },
        DataType::Other(name) => name.clone(),
    }
}
