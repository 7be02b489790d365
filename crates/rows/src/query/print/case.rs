//! One test case: its name, its steps, and the rows that it inserts.

use isobath_emit::query::GivenRows;
use isobath_emit::writer::name::snake_case;
use isobath_emit::{Expectation, Step, StepRole, Suite, Test};
use isobath_sql::schema::Filled;
use isobath_sql::{Cell, Row, Schema, Value, render};

use super::observe::{Observation, TextRows};
use super::printer::Printer;
use crate::query::confirm;
use crate::query::fixture::Fixture;
use crate::query::target::QueryTarget;

impl Printer<'_> {
    pub(super) fn test(
        &self,
        targets: &[&QueryTarget],
        fixture: &Fixture,
        observe: &Observation,
        rows: TextRows,
        suite: &Suite,
    ) -> Test {
        let mut steps: Vec<Step> = confirm::inserts(fixture, self.schema, self.dialect)
            .into_iter()
            .map(Step::setup)
            .collect();
        steps.push(Step {
            role: StepRole::Act,
            sql: observe.run.iter().cloned().collect(),
            expect: Expectation::Rows {
                query: observe.query.clone(),
                rows,
            },
        });
        let id = self.covered.id;
        let name = match targets {
            [] => id.to_owned(),
            [one] => format!("{id} when {}", short(one)),
            [one, more @ ..] => format!("{id} when {}, and {} more", short(one), more.len()),
        };
        let mut slug = slug(&format!(
            "{id} {}",
            targets.first().map_or("", |t| short(t))
        ));
        let taken = |slug: &str| suite.tests.iter().any(|test| test.id == slug);
        if taken(&slug) {
            let free = (2..).find(|n| !taken(&format!("{slug}_{n}")));
            slug = format!("{slug}_{}", free.unwrap_or_default());
        }
        Test {
            id: slug,
            name,
            group: id.to_owned(),
            covers: targets
                .iter()
                .map(|target| {
                    if target.says.is_empty() {
                        &target.sql
                    } else {
                        &target.says
                    }
                })
                .cloned()
                .collect(),
            steps,
        }
    }
}

/// The rows of a fixture, by table; columns that the database fills, and those that no row fills,
/// are left out.
pub(in crate::query) fn given(fixture: &Fixture, schema: &Schema) -> Vec<GivenRows> {
    some(fixture, schema, &|_| true)
}

/// The rows of a fixture that cover one of its targets; none when all of them may.
pub(in crate::query) fn witness(
    fixture: &Fixture,
    schema: &Schema,
    target: usize,
) -> Vec<GivenRows> {
    let at = fixture.covers.iter().position(|covered| *covered == target);
    match at.and_then(|at| fixture.witnesses.get(at)?.as_ref()) {
        Some(rows) if rows.len() < fixture.row_count() => {
            some(fixture, schema, &|row| rows.contains(&row))
        }
        _ => Vec::new(),
    }
}

/// Those rows of a fixture, by table and place, that are wanted.
fn some(
    fixture: &Fixture,
    schema: &Schema,
    wanted: &dyn Fn((usize, usize)) -> bool,
) -> Vec<GivenRows> {
    let tables = render::table_order(schema).into_iter();
    let filled = tables.filter_map(|table| Some((table, fixture.candidate.rows.get(&table)?)));
    filled
        .map(|(number, rows)| {
            let table = number;
            let given = fixture.rows.iter().filter(|row| row.table == table);
            let given: Vec<&Row> = given.collect();
            let table = &schema.tables[table];
            let kept: Vec<usize> = (0..table.columns.len())
                .filter(|column| {
                    let filled = &table.columns[*column].filled;
                    let left_out = |row: &&Row| row.cells.get(*column) == Some(&Cell::Default);
                    let idle =
                        rows.iter().all(|row| row[*column].is_null()) && given.iter().all(left_out);
                    !idle && !matches!(filled, Filled::CounterAlways | Filled::Generated(_))
                })
                .collect();
            let cells = |row: &Vec<Value>| kept.iter().map(|column| json(&row[*column])).collect();
            let rows = rows.iter().enumerate();
            let rows = rows.filter(|(row, _)| wanted((number, *row)));
            GivenRows {
                table: table.name.clone(),
                columns: kept
                    .iter()
                    .map(|at| table.columns[*at].name.clone())
                    .collect(),
                rows: rows.map(|(_, row)| cells(row)).collect(),
            }
        })
        .filter(|given: &GivenRows| !given.rows.is_empty())
        .collect()
}

/// A value as JSON: numbers where they are exact, text otherwise.
pub(in crate::query) fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => match i64::try_from(*value) {
            Ok(value) => value.into(),
            Err(_) => value.to_string().into(),
        },
        Value::Float(value) => (*value).into(),
        other => other.to_string().into(),
    }
}

/// A target's situation, or its rule.
fn short(target: &QueryTarget) -> &str {
    if target.situation.is_empty() {
        &target.rule
    } else {
        &target.situation
    }
}

/// `text` in snake case, cut at a word near 70 characters.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for word in snake_case(text).split('_') {
        if slug.len() + word.len() > 70 && !slug.is_empty() {
            break;
        }
        if !slug.is_empty() {
            slug.push('_');
        }
        slug.push_str(word);
    }
    slug
}
