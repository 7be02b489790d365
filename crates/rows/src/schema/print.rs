//! Prints test cases as a neutral suite in the dialect of one engine.

use isobath_emit::writer::name::underscored;
use isobath_emit::{Expectation, Step, StepRole, Suite, SuiteDialect, Test};
use isobath_sql::render;
use isobath_sql::row::Statement;
use isobath_sql::{DataType, DialectName, Schema, Value};
use rust_decimal::Decimal;

use super::case::{ExpectedOutcome, ExpectedRows, ObservedColumn, TestCase};
use super::expectation;
use super::requirement::Requirement;

/// The suite of a schema on an engine; the caller adds what it knows about the run.
pub fn suite(
    schema: &Schema,
    dialect: DialectName,
    requirements: &[Requirement],
    tests: &[TestCase],
) -> Suite {
    let mut suite = Suite::new(schema.name.as_str(), suite_dialect(dialect));
    if dialect == DialectName::Sqlite {
        suite.session.push("PRAGMA foreign_keys = ON".to_owned());
    }
    suite.setup = render::create_statements(schema, dialect);
    let mut ids = std::collections::BTreeMap::new();
    suite.tests = tests
        .iter()
        .map(|case| test(case, schema, dialect, requirements, &mut ids))
        .collect();
    suite
}

/// The dialect that a suite's statements are written in.
pub fn suite_dialect(dialect: DialectName) -> SuiteDialect {
    match dialect {
        DialectName::Sqlite => SuiteDialect::Sqlite,
        // Standard SQL is printed as PostgreSQL reads it, which keeps closest to the standard.
        DialectName::Postgres | DialectName::Ansi => SuiteDialect::Postgres,
        DialectName::MySql => SuiteDialect::Mysql,
    }
}

fn test(
    case: &TestCase,
    schema: &Schema,
    dialect: DialectName,
    requirements: &[Requirement],
    ids: &mut std::collections::BTreeMap<String, usize>,
) -> Test {
    let mut steps: Vec<Step> = case
        .setup_rows
        .iter()
        .map(|statement| step(statement, schema, dialect))
        .collect();
    let expect = match &case.expected {
        ExpectedOutcome::Accepted => Expectation::accepted(),
        ExpectedOutcome::Rejected(violation) => {
            Expectation::Rejected(expectation::rejection(violation, schema, dialect))
        }
    };
    steps.push(Step {
        role: StepRole::Act,
        sql: sql(&case.statement, schema, dialect),
        expect,
    });
    steps.extend(case.after.iter().map(|after| Step {
        role: StepRole::Act,
        sql: Vec::new(),
        expect: rows_after(after, schema, dialect),
    }));
    let covers = case
        .covers
        .iter()
        .flat_map(|index| requirements[*index].description.iter().cloned())
        .collect();
    Test {
        id: unique(underscored(&case.name), ids),
        name: case.name.clone(),
        group: schema.tables[case.table].name.clone(),
        covers,
        steps,
    }
}

/// A statement that must be accepted.
pub(super) fn step(statement: &Statement, schema: &Schema, dialect: DialectName) -> Step {
    Step {
        role: StepRole::Setup,
        sql: sql(statement, schema, dialect),
        expect: Expectation::accepted(),
    }
}

/// The texts of a step; rows that go in together are one step of several texts.
fn sql(statement: &Statement, schema: &Schema, dialect: DialectName) -> Vec<String> {
    match statement {
        Statement::InsertTogether(rows) => rows
            .iter()
            .map(|row| render::insert(schema, row, dialect))
            .collect(),
        other => render::statement(schema, other, dialect),
    }
}

/// A query of the rows afterwards, every column as text so that all test languages read the same.
pub(super) fn rows_after(
    after: &ExpectedRows,
    schema: &Schema,
    dialect: DialectName,
) -> Expectation {
    let table = &schema.tables[after.table];
    let text_type = if dialect == DialectName::MySql {
        "CHAR"
    } else {
        "TEXT"
    };
    let columns: Vec<String> = after
        .columns
        .iter()
        .map(|seen| {
            let name = |column: usize| render::identifier(&table.columns[column].name, dialect);
            match *seen {
                ObservedColumn::Value(column) => format!("CAST({} AS {text_type})", name(column)),
                ObservedColumn::Presence(column) => {
                    let present = ObservedColumn::PRESENT;
                    format!(
                        "CASE WHEN {} IS NOT NULL THEN '{present}' END",
                        name(column)
                    )
                }
            }
        })
        .collect();
    let order: Vec<String> = (1..=columns.len())
        .map(|position| position.to_string())
        .collect();
    let mut rows: Vec<Vec<Option<String>>> = after
        .rows
        .iter()
        .map(|row| {
            let cells = row.iter().zip(&after.columns);
            cells
                .map(|(value, seen)| match *seen {
                    ObservedColumn::Value(column) => {
                        text(value, &table.columns[column].data_type, dialect)
                    }
                    ObservedColumn::Presence(_) => {
                        (!value.is_null()).then(|| ObservedColumn::PRESENT.to_owned())
                    }
                })
                .collect()
        })
        .collect();
    // NULL comes last in PostgreSQL and first in the others.
    let nulls_last = dialect == DialectName::Postgres;
    rows.sort_by_key(|row| -> Vec<_> {
        row.iter()
            .map(|cell| (cell.is_none() == nulls_last, cell.clone()))
            .collect()
    });
    Expectation::Rows {
        query: format!(
            "SELECT {} FROM {} ORDER BY {}",
            columns.join(", "),
            render::table_name(table, dialect),
            order.join(", ")
        ),
        rows,
    }
}

/// What CAST to text makes of a stored value.
pub(crate) fn text(value: &Value, data_type: &DataType, dialect: DialectName) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(value) if dialect == DialectName::Postgres => value.to_string(),
        Value::Bool(value) => u8::from(*value).to_string(),
        Value::Text(text) if matches!(data_type, DataType::Char { .. }) => {
            text.trim_end_matches(' ').to_owned()
        }
        Value::Float(value) if dialect == DialectName::Sqlite && value.fract() == 0.0 => {
            format!("{value:.1}")
        }
        Value::Decimal(value) => match data_type {
            DataType::Decimal {
                precision: Some(_),
                scale,
            } if dialect != DialectName::Sqlite => digits(*value, scale.unwrap_or(0)),
            _ => value.to_string(),
        },
        // MariaDB prints as many digits as the type has, not as the value needs.
        Value::DateTime(value) if dialect == DialectName::MySql => match data_type {
            DataType::Timestamp { precision, .. } => {
                let places = usize::from(*precision);
                format!("{} {:.places$}", value.date(), value.time())
            }
            _ => format!("{} {}", value.date(), value.time()),
        },
        Value::Time(value) if dialect == DialectName::MySql => match data_type {
            DataType::Time { precision, .. } => {
                let places = usize::from(*precision);
                format!("{value:.places$}")
            }
            _ => value.to_string(),
        },
        other => other.to_string(),
    })
}

/// A number with as many digits after the point as its type has.
fn digits(value: Decimal, scale: u32) -> String {
    let mut text = value.to_string();
    if scale > value.scale() {
        if value.scale() == 0 {
            text.push('.');
        }
        text.push_str(&"0".repeat((scale - value.scale()) as usize));
    }
    text
}

fn unique(slug: String, ids: &mut std::collections::BTreeMap<String, usize>) -> String {
    let count = ids.entry(slug.clone()).or_insert(0);
    *count += 1;
    if *count == 1 {
        slug
    } else {
        format!("{slug}_{count}")
    }
}
