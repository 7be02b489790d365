//! Confirms targets on a real database: only a target that returns a row there counts as covered.

use isobath_exec::{Database, DatabaseError, StatementOutcome};
use isobath_sql::lex::{Lexer, LexerRules, TokenKind};
use isobath_sql::row::Statement;
use isobath_sql::schema::{ConstraintKind, Filled};
use isobath_sql::{DialectName, Row, Schema, render};
use jiff::civil::DateTime;

use super::candidate::Candidate;
use super::construct::SolverContext;
use super::fixture::Fixture;
use super::minimize::insertion_rows;
use super::parameter;
use super::target::QueryTarget;

/// What an engine said of a target.
#[derive(Clone, Debug, PartialEq)]
pub enum EngineVerdict {
    /// It returns a row.
    Agrees,
    /// It does not, or refuses.
    Disagrees {
        /// What happened instead.
        actual: String,
    },
}

/// The schema as fixtures need it: without keys, foreign keys and CHECKs where they do not count.
pub fn fixture_schema(schema: &Schema, constraints: bool) -> Schema {
    let mut schema = schema.clone();
    if !constraints {
        for table in &mut schema.tables {
            let table = std::sync::Arc::make_mut(table);
            let key: Vec<usize> = table
                .primary_key()
                .map(<[usize]>::to_vec)
                .unwrap_or_default();
            table
                .constraints
                .retain(|constraint| matches!(constraint.kind, ConstraintKind::NotNull { .. }));
            for column in key {
                if !table.is_not_null(column) {
                    let kind = ConstraintKind::NotNull { column };
                    table
                        .constraints
                        .push(isobath_sql::Constraint::unnamed(kind));
                }
            }
            // A counter needs a key.
            for column in &mut table.columns {
                if matches!(column.filled, Filled::Counter) {
                    column.filled = Filled::No;
                }
            }
        }
    }
    schema
}

/// Creates the tables; returns what the engine refused, with its message.
///
/// # Errors
///
/// When the connection is lost.
pub fn prepare(
    schema: &Schema,
    database: &mut dyn Database,
) -> Result<Vec<(String, String)>, DatabaseError> {
    let mut refused = Vec::new();
    for sql in render::create_statements(schema, database.dialect()) {
        if let StatementOutcome::Refused(refusal) = database.execute(&sql)? {
            refused.push((sql, refusal.message));
        }
    }
    Ok(refused)
}

/// The tables of a schema that the engine does not have.
///
/// # Errors
///
/// When the connection is lost.
pub fn missing_tables(
    schema: &Schema,
    database: &mut dyn Database,
) -> Result<Vec<usize>, DatabaseError> {
    let mut missing = Vec::new();
    for (table, of) in schema.tables.iter().enumerate() {
        let name = render::table_name(of, database.dialect());
        let sql = format!("SELECT 1 FROM {name} WHERE 1 = 0");
        if database.query(&sql)?.is_err() {
            missing.push(table);
        }
    }
    Ok(missing)
}

/// Stops the clock of a connection, as far as the engine lets us: what NOW answers is then as in memory.
///
/// # Errors
///
/// When the connection is lost.
pub fn set_clock(database: &mut dyn Database, now: DateTime) -> Result<(), DatabaseError> {
    if database.dialect() == DialectName::MySql
        && let Ok(zoned) = now.to_zoned(jiff::tz::TimeZone::UTC)
    {
        let second = zoned.timestamp().as_second();
        database.execute_required(&format!("SET time_zone = '+00:00', timestamp = {second}"))?;
    }
    Ok(())
}

/// The INSERTs of a fixture, parents before children; rows that refer to each other in a circle go in
/// together, the last of all.
pub fn inserts(fixture: &Fixture, schema: &Schema, dialect: DialectName) -> Vec<String> {
    let (alone, together) = fixture.rows.split_at(rows_before_cycles(fixture, schema));
    let alone = alone.iter().map(|row| render::insert(schema, row, dialect));
    let together = match together {
        [] => Vec::new(),
        rows => {
            let statement = Statement::InsertTogether(rows.to_vec());
            let mut texts = render::statement(schema, &statement, dialect);
            // Whoever inserts is in a transaction already.
            texts.retain(|sql| !matches!(sql.as_str(), "BEGIN" | "START TRANSACTION" | "COMMIT"));
            texts
        }
    };
    alone.chain(together).collect()
}

/// How many rows come before the first that refers to a later one.
fn rows_before_cycles(fixture: &Fixture, schema: &Schema) -> usize {
    let value = |row: &Row, column: usize| row.value(column).cloned();
    let refers = |row: &Row, parent: &Row| {
        let keys = schema.tables.get(row.table).into_iter();
        let mut keys = keys.flat_map(|table| table.foreign_keys());
        keys.any(|key| {
            let mut pairs = key.columns.iter().zip(&key.parent_columns);
            key.parent == parent.table
                && pairs.all(|(own, theirs)| {
                    value(row, *own)
                        .is_some_and(|own| !own.is_null() && value(parent, *theirs) == Some(own))
                })
        })
    };
    let rows = &fixture.rows;
    (0..rows.len())
        .find(|at| {
            rows[at + 1..]
                .iter()
                .any(|parent| refers(&rows[*at], parent))
        })
        .unwrap_or(rows.len())
}

/// Asks the engine about targets over one fixture; all is undone afterwards.
///
/// # Errors
///
/// When the connection is lost.
pub fn confirm(
    fixture: &Fixture,
    targets: &[String],
    schema: &Schema,
    database: &mut dyn Database,
) -> Result<Vec<EngineVerdict>, DatabaseError> {
    let inserts = inserts(fixture, schema, database.dialect());
    let mut refused = load_fixture(&inserts, database)?;
    let mut verdicts = Vec::new();
    for sql in targets {
        let disagrees = |actual: String| EngineVerdict::Disagrees { actual };
        verdicts.push(match &refused {
            Some(why) => disagrees(format!("the engine refuses a row: {why}")),
            None => match database.query(sql)? {
                Ok(rows) if rows.rows.is_empty() => disagrees("it returns no row".to_owned()),
                Ok(_) => EngineVerdict::Agrees,
                Err(refusal) => {
                    // A refused statement ends the usefulness of a transaction.
                    database.rollback()?;
                    refused = load_fixture(&inserts, database)?;
                    disagrees(format!("the engine refuses it: {}", refusal.message))
                }
            },
        });
    }
    database.rollback()?;
    Ok(verdicts)
}

/// Whether an engine returns a row for a target over a candidate; all is undone afterwards.
///
/// # Errors
///
/// When the connection is lost.
pub fn returns_row(
    sql: &str,
    target: &QueryTarget,
    candidate: &Candidate,
    context: SolverContext<'_>,
    schema: &Schema,
    database: &mut dyn Database,
) -> Result<bool, DatabaseError> {
    let fixture = Fixture {
        rows: insertion_rows(&context, candidate),
        candidate: candidate.clone(),
        ..Fixture::default()
    };
    let dialect = database.dialect();
    let sql = parameter::bound(sql, &target.parameters, &candidate.parameters, dialect);
    let verdicts = confirm(&fixture, &[sql], schema, database)?;
    Ok(verdicts == [EngineVerdict::Agrees])
}

/// Begins a transaction with rows in it; returns what the engine said about one that it refused.
pub(super) fn load_fixture(
    inserts: &[String],
    database: &mut dyn Database,
) -> Result<Option<String>, DatabaseError> {
    database.begin()?;
    for sql in inserts {
        if let StatementOutcome::Refused(refusal) = database.execute(sql)? {
            return Ok(Some(format!("{sql}: {}", refusal.message)));
        }
    }
    Ok(None)
}

/// A target with ANSI quotes as another dialect reads it, tables spelled as the schema spells them.
pub fn quote_identifiers(sql: &str, schema: &Schema, dialect: DialectName) -> String {
    let mut spelled = String::with_capacity(sql.len());
    let mut copied = 0;
    for token in Lexer::new(sql, LexerRules::of(Some(DialectName::Ansi))) {
        let quoted = token
            .text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let (TokenKind::Quoted, Some(quoted)) = (token.kind, quoted) else {
            continue;
        };
        let mut name = quoted.replace("\"\"", "\"");
        if let Some(table) = schema.table_index(&name) {
            name.clone_from(&schema.tables[table].name);
        }
        spelled.push_str(&sql[copied..token.start.offset]);
        spelled.push_str(&render::identifier(&name, dialect));
        copied = token.end();
    }
    spelled.push_str(&sql[copied..]);
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_names_follow_the_dialect() {
        let schema = Schema::default();
        let sql = r#"SELECT "A b" FROM t WHERE b = 'it''s "x"'"#;
        assert_eq!(
            quote_identifiers(sql, &schema, DialectName::MySql),
            r#"SELECT `A b` FROM t WHERE b = 'it''s "x"'"#
        );
    }
}
