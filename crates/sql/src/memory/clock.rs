//! DEFAULTs that read the clock.
//!
//! What time it is when a test runs is not known, so memory lives at one fixed
//! moment. That is sound where nothing looks at the value: whether the row is
//! accepted cannot depend on it then.

use jiff::civil::{DateTime, datetime};

use super::MemoryDatabase;
use crate::dialect::{Dialect, DialectName};
use crate::eval::{self, Env, Unsupported, is_clock};
use crate::expr::Expr;
use crate::schema::{ConstraintKind, Filled};
use crate::value::Value;

/// The moment at which memory lives: one that no value of a test is likely to name.
const NOW: DateTime = datetime(2037, 11, 23, 4, 5, 6, 0);

/// Whether an expression has another value whenever it is evaluated, because it reads the clock.
pub fn reads_clock(expr: &Expr) -> bool {
    let mut reads = false;
    expr.walk(&mut |part| {
        reads |= match part {
            Expr::Function { name, args } => is_clock(name) || takes_now(name, args),
            _ => false,
        };
    });
    reads
}

/// SQLite's `datetime('now')` and similar functions.
fn takes_now(name: &str, args: &[Expr]) -> bool {
    matches!(
        name,
        "date" | "time" | "datetime" | "julianday" | "unixepoch" | "strftime"
    ) && args.iter().any(is_now)
}

fn is_now(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(Value::Text(text)) if text.eq_ignore_ascii_case("now"))
}

impl MemoryDatabase<'_> {
    /// A value that a DEFAULT which reads the clock may have; `None` where its value matters.
    pub(super) fn clock_default(&self, table: usize, column: usize, expr: &Expr) -> Option<Value> {
        if !reads_clock(expr) || self.is_looked_at(table, column) {
            return None;
        }
        let env = Env {
            now: Some(NOW),
            ..Env::written(&[])
        };
        eval::value_in(&at_now(expr, self.dialect), env, self.dialect).ok()
    }

    /// The time of day for a column, where it does not matter which.
    pub(super) fn now(&self, table: usize, column: usize) -> Result<Value, Unsupported> {
        if self.is_looked_at(table, column) {
            return Err(Unsupported::new(
                "a constraint on a column that defaults to the current time",
            ));
        }
        Ok(Value::DateTime(NOW))
    }

    /// Whether anything but NOT NULL asks for the value of a column.
    fn is_looked_at(&self, table: usize, column: usize) -> bool {
        let definition = &self.schema.tables[table];
        let constrained = definition.constraints.iter().any(|constraint| {
            !matches!(constraint.kind, ConstraintKind::NotNull { .. })
                && constraint.columns().contains(&column)
        });
        let computed_from = definition.columns.iter().any(
            |other| matches!(&other.filled, Filled::Generated(expr) if expr.columns().contains(&column)),
        );
        let referred_to = self
            .schema
            .tables
            .iter()
            .flat_map(|other| other.foreign_keys())
            .any(|key| key.parent == table && key.parent_columns.contains(&column));
        constrained || computed_from || referred_to
    }
}

/// The expression in words that the evaluator has a clock for.
fn at_now(expr: &Expr, dialect: &dyn Dialect) -> Expr {
    let mut expr = expr.clone();
    expr.walk_mut(&mut |part| {
        let Expr::Function { name, args } = part else {
            return;
        };
        if takes_now(name, args) {
            for arg in args.iter_mut().filter(|arg| is_now(arg)) {
                *arg = Expr::Literal(Value::Text(format!("{} {}", NOW.date(), NOW.time())));
            }
        } else if matches!(
            name.as_str(),
            "now"
                | "statement_timestamp"
                | "clock_timestamp"
                | "transaction_timestamp"
                | "getdate"
                | "sysdate"
        ) {
            let plain = match dialect.name() {
                DialectName::Sqlite => "current_timestamp",
                DialectName::Ansi | DialectName::Postgres | DialectName::MySql => "now",
            };
            *name = plain.to_owned();
            args.clear();
        }
    });
    expr
}
