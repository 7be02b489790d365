//! How a test observes the effect of a statement.

use isobath_exec::{Database, DatabaseError, StatementOutcome};
use isobath_sql::{DialectName, Value, render};

use super::printer::Printer;
use crate::query::placeholders;

/// Looking at what a statement did.
pub(in crate::query) struct Observation {
    /// The statement, when it has to be run first.
    pub(super) run: Option<String>,
    /// The query whose rows are compared, all of them text.
    pub(super) query: String,
}

impl Printer<'_> {
    /// How a test looks at the result.
    pub(super) fn observe(&self, values: &[Value]) -> Observation {
        self.observe_in(self.ordered, values)
    }

    /// The same, where somebody else decided whether the order counts.
    pub(in crate::query) fn observe_in(&self, ordered: bool, values: &[Value]) -> Observation {
        let statement = placeholders::filled(&self.parts, values, self.dialect);
        let statement = statement.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
        let texts: Vec<String> = self
            .columns
            .iter()
            .map(|(name, _)| as_text(&render::identifier(name, self.dialect), self.dialect))
            .collect();
        let order: Vec<String> = (1..=texts.len()).map(|n| n.to_string()).collect();
        if let Some(table) = self.changes {
            let table = render::table_name(&self.schema.tables[table], self.dialect);
            return Observation {
                run: Some(statement.to_owned()),
                query: format!(
                    "SELECT {}\nFROM {table}\nORDER BY {}",
                    texts.join(", "),
                    order.join(", ")
                ),
            };
        }
        if texts.is_empty() {
            // Columns that we cannot name can still be counted.
            let count = as_text("COUNT(*)", self.dialect);
            return Observation {
                run: None,
                query: format!("SELECT {count} FROM (\n{statement}\n) AS result"),
            };
        }
        let names: Vec<String> = self
            .columns
            .iter()
            .map(|(name, _)| render::identifier(name, self.dialect))
            .collect();
        // MariaDB drops the order of a common table without LIMIT, and does not read WITH in
        // parentheses.
        let statement = if ordered && !self.limited && self.dialect == DialectName::MySql {
            let first = statement.get(..4).unwrap_or_default();
            if first.eq_ignore_ascii_case("with") {
                format!("{statement}\nLIMIT 1000000")
            } else {
                format!("(\n{statement}\n)\nLIMIT 1000000")
            }
        } else {
            statement.to_owned()
        };
        let order = if ordered {
            String::new()
        } else {
            format!("\nORDER BY {}", order.join(", "))
        };
        Observation {
            run: None,
            query: format!(
                "WITH result ({}) AS (\n{statement}\n)\nSELECT {}\nFROM result{order}",
                names.join(", "),
                texts.join(", ")
            ),
        }
    }
}

/// Rows of text, `None` being NULL.
pub type TextRows = Vec<Vec<Option<String>>>;

/// Brings rows in, looks at the result, and undoes it all; or says what was refused.
pub(in crate::query) fn observed_rows(
    inserts: &[String],
    observe: &Observation,
    database: &mut dyn Database,
) -> Result<Result<TextRows, String>, DatabaseError> {
    database.begin()?;
    for sql in inserts.iter().chain(&observe.run) {
        if let StatementOutcome::Refused(refusal) = database.execute(sql)? {
            database.rollback()?;
            return Ok(Err(format!(
                "the engine refuses `{sql}`: {}",
                refusal.message
            )));
        }
    }
    let answer = database.query(&observe.query)?;
    database.rollback()?;
    Ok(match answer {
        Ok(rows) => Ok(crate::schema::confirm::texts(&rows.rows)),
        Err(refusal) => Err(format!("the engine refuses the query: {}", refusal.message)),
    })
}

/// A column as text that sorts by its bytes wherever the test is run.
fn as_text(column: &str, dialect: DialectName) -> String {
    match dialect {
        DialectName::Postgres => format!("CAST({column} AS TEXT) COLLATE \"C\""),
        DialectName::MySql => format!("CONVERT({column} USING utf8mb4) COLLATE utf8mb4_bin"),
        DialectName::Sqlite | DialectName::Ansi => format!("CAST({column} AS TEXT)"),
    }
}
