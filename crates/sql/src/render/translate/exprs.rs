//! Translates expressions and literals that the target engine lacks or writes differently.

use super::Translation;
use crate::dialect::DialectName;
use crate::eval::is_clock;
use crate::expr::{Expr, PatternKind};
use crate::render::expression;
use crate::render::literal;
use crate::schema::{ConstraintKind, Filled};
use crate::types::DataType;
use crate::value::Value;

/// Functions that all engines have, under their own or another name.
const COMMON: &[&str] = &[
    "abs",
    "ceil",
    "ceiling",
    "char_length",
    "character_length",
    "coalesce",
    "concat",
    "exp",
    "extract",
    "floor",
    "greatest",
    "least",
    "left",
    "length",
    "ln",
    "lower",
    "ltrim",
    "mod",
    "nullif",
    "position",
    "power",
    "replace",
    "round",
    "rtrim",
    "sign",
    "sqrt",
    "substr",
    "substring",
    "trim",
    "upper",
    "octet_length",
];

/// Functions of one engine.
fn own(engine: DialectName) -> &'static [&'static str] {
    match engine {
        DialectName::Postgres => &[
            "ascii",
            "btrim",
            "cbrt",
            "chr",
            "concat_ws",
            "date_part",
            "date_trunc",
            "if",
            "ifnull",
            "initcap",
            "lcase",
            "log",
            "lpad",
            "md5",
            "nvl",
            "overlay",
            "repeat",
            "reverse",
            "right",
            "rpad",
            "starts_with",
            "strpos",
            "timezone",
            "trunc",
            "ucase",
            "current_user",
            "session_user",
            "localtime",
        ],
        DialectName::MySql => &[
            "ascii",
            "concat_ws",
            "date",
            "day",
            "dayofmonth",
            "dayofweek",
            "dayofyear",
            "hour",
            "if",
            "ifnull",
            "instr",
            "isnull",
            "lcase",
            "locate",
            "log",
            "lpad",
            "md5",
            "minute",
            "month",
            "pow",
            "quarter",
            "repeat",
            "reverse",
            "right",
            "rpad",
            "second",
            "ucase",
            "year",
            "current_user",
            "localtime",
        ],
        DialectName::Sqlite => &[
            "date",
            "datetime",
            "glob",
            "hex",
            "if",
            "ifnull",
            "iif",
            "instr",
            "julianday",
            "log",
            "max",
            "min",
            "pow",
            "printf",
            "strftime",
            "time",
            "typeof",
            "unicode",
        ],
        DialectName::Ansi => &[],
    }
}

impl Translation {
    /// Puts expressions into words of the engine, and takes out what it has no words for.
    pub(super) fn expressions(&mut self) {
        for table in 0..self.tables.len() {
            let to = self.to;
            self.tables[table].refresh();
            self.tables[table]
                .for_each_expr(&mut |expr| expr.walk_mut(&mut |part| adapt(part, to)));
            self.defaults(table);
            self.generated(table);
            self.checks(table);
        }
    }

    fn defaults(&mut self, table: usize) {
        for slot in 0..self.tables[table].columns.len() {
            let column = &self.tables[table].columns[slot];
            let Some(default) = &column.default else {
                continue;
            };
            let zero_date = self.to == DialectName::Postgres
                && matches!(
                    column.data_type,
                    DataType::Date | DataType::Timestamp { .. }
                )
                && matches!(default, Expr::Literal(Value::Text(text)) if text.starts_with("0000"));
            let why = if zero_date {
                Some("there is no year zero".to_owned())
            } else {
                self.refuses(default, true)
            };
            if let Some(why) = why {
                let (place, label) = (
                    self.tables[table].location.clone(),
                    self.column_label(table, slot),
                );
                let text = expression(default, self.from);
                self.tables[table].columns[slot].default = None;
                self.loss(
                    &place,
                    label,
                    format!("its default {text} is dropped: {why}"),
                );
            }
        }
    }

    fn generated(&mut self, table: usize) {
        for slot in 0..self.tables[table].columns.len() {
            let Filled::Generated(expr) = &self.tables[table].columns[slot].filled else {
                continue;
            };
            if let Some(why) = self.refuses(expr, false) {
                let (place, label) = (
                    self.tables[table].location.clone(),
                    self.column_label(table, slot),
                );
                self.tables[table].columns[slot].filled = Filled::No;
                self.loss(&place, label, format!("it is not generated: {why}"));
            }
        }
    }

    fn checks(&mut self, table: usize) {
        let constraints = std::mem::take(&mut self.tables[table].constraints);
        let mut kept = Vec::with_capacity(constraints.len());
        for constraint in constraints {
            let why = match &constraint.kind {
                ConstraintKind::Check { expr } => self.refuses(expr, false),
                ConstraintKind::UniqueIndex {
                    keys, predicate, ..
                } => keys
                    .iter()
                    .chain(predicate)
                    .find_map(|expr| self.refuses(expr, false)),
                _ => None,
            };
            match why {
                None => kept.push(constraint),
                Some(why) => {
                    let input = match &constraint.kind {
                        ConstraintKind::Check { expr } => {
                            format!("CHECK ({})", expression(expr, self.from))
                        }
                        _ => "a unique index".to_owned(),
                    };
                    self.loss(&constraint.location, input, format!("it is dropped: {why}"));
                }
            }
        }
        self.tables[table].constraints = kept;
    }

    /// Why the engine does not take an expression, if it does not.
    fn refuses(&self, expr: &Expr, default: bool) -> Option<String> {
        let mut why = None;
        expr.walk(&mut |part| {
            if why.is_none() {
                why = self.refuses_part(part, default);
            }
        });
        why
    }

    fn refuses_part(&self, part: &Expr, default: bool) -> Option<String> {
        let engine = self.engine();
        match part {
            Expr::Opaque { sql, .. } => Some(format!("{engine} may not understand {sql}")),
            Expr::Function { name, .. } if is_clock(name) => {
                let fixed = self.to != DialectName::Postgres && !default;
                fixed.then(|| format!("{engine} takes no clock in a condition"))
            }
            Expr::Function { name, .. } => {
                let known =
                    COMMON.contains(&name.as_str()) || own(self.to).contains(&name.as_str());
                (!known).then(|| format!("{engine} has no function {name}"))
            }
            Expr::Like { kind, .. } => {
                let possible = match kind {
                    PatternKind::Like | PatternKind::Ilike => true,
                    PatternKind::Glob => self.to == DialectName::Sqlite,
                    PatternKind::SimilarTo => self.to == DialectName::Postgres,
                    PatternKind::Regex | PatternKind::RegexInsensitive => {
                        self.to != DialectName::Sqlite
                    }
                };
                (!possible).then(|| format!("{engine} has no patterns of this kind"))
            }
            Expr::Compare { left, right, .. } => self.mismatch(left, &[right.as_ref()]),
            Expr::Between {
                expr, low, high, ..
            } => self.mismatch(expr, &[low.as_ref(), high.as_ref()]),
            Expr::InList { expr, list, .. } => {
                self.mismatch(expr, &list.iter().collect::<Vec<_>>())
            }
            _ => None,
        }
    }

    /// PostgreSQL compares no text with numbers.
    fn mismatch(&self, left: &Expr, others: &[&Expr]) -> Option<String> {
        if self.to != DialectName::Postgres {
            return None;
        }
        let class = |expr: &Expr| match expr {
            Expr::Column(column) if column.data_type.is_text() => Some("text"),
            Expr::Column(column) if column.data_type.is_numeric() => Some("numbers"),
            Expr::Column(column) if column.data_type == DataType::Boolean => Some("truth values"),
            Expr::Literal(Value::Int(_) | Value::Decimal(_) | Value::Float(_)) => Some("numbers"),
            Expr::Literal(Value::Bool(_)) => Some("truth values"),
            _ => None,
        };
        let first = class(left)?;
        let other = others
            .iter()
            .find_map(|other| class(other).filter(|&of| of != first))?;
        Some(format!("PostgreSQL does not compare {first} with {other}"))
    }
}

/// One node in words of the engine.
fn adapt(part: &mut Expr, to: DialectName) {
    if to == DialectName::Sqlite {
        match part {
            Expr::Literal(Value::Bool(value)) => {
                *part = Expr::Literal(Value::Int(i128::from(*value)));
            }
            Expr::Literal(
                value @ (Value::Date(_)
                | Value::Time(_)
                | Value::DateTime(_)
                | Value::Instant(_)
                | Value::Interval(_)
                | Value::Uuid(_)),
            ) => {
                let quoted = literal(value, to);
                *value = Value::Text(quoted.trim_matches('\'').to_owned());
            }
            Expr::Literal(Value::Json(text)) => *part = Expr::Literal(Value::Text(text.clone())),
            Expr::Function { name, args } if is_clock(name) => {
                let plain = match name.as_str() {
                    "current_date" | "curdate" => "current_date",
                    "current_time" | "curtime" | "localtime" => "current_time",
                    _ => "current_timestamp",
                };
                *name = plain.to_owned();
                args.clear();
            }
            _ => {}
        }
    } else if let Expr::Function { name, args } = part
        && is_clock(name)
    {
        let plain = match (name.as_str(), to) {
            ("curdate", DialectName::Postgres) => "current_date",
            ("curtime", DialectName::Postgres) => "current_time",
            ("getdate" | "sysdate", _) => "current_timestamp",
            (
                "statement_timestamp" | "clock_timestamp" | "transaction_timestamp",
                DialectName::MySql,
            ) => "current_timestamp",
            ("now", DialectName::MySql) => "current_timestamp",
            _ => return,
        };
        *name = plain.to_owned();
        args.clear();
    }
}
