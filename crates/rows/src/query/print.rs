//! Covered queries as a neutral suite: given these rows and these parameters, the query returns
//! these rows.
//!
//! Every test language reads the same thing, because the result is turned into text by the
//! database itself: the query stands, as it is, inside a common table expression whose columns are
//! cast and, unless the query's own order decides, sorted. A statement that changes data is run,
//! and the table is looked at afterwards.

use isobath_emit::query::{Case, Given, Part, Query, TargetText};
use isobath_emit::{Expect, Role, Step, Suite, Test};
use isobath_exec::{Answer, Database, DatabaseError};
use isobath_sql::eval::Stop;
use isobath_sql::query::model::Body;
use isobath_sql::query::{self as engine, evaluate_at};
use isobath_sql::schema::Filled;
use isobath_sql::{DataType, DialectName, Schema, Value, render};

use super::candidate::Candidate;
use super::confirm;
use super::construct;
use super::cut;
use super::fixture::Fixture;
use super::job::{Fate, Outcome};
use super::target::Target;
use crate::schema::print::{suite_dialect, text};

/// A query that was covered.
#[derive(Clone, Copy, Debug)]
pub struct Covered<'a> {
    /// Its name.
    pub id: &'a str,
    /// Its text.
    pub sql: &'a str,
    /// Where it stands: `queries.sql:12`.
    pub place: &'a str,
    /// Its targets.
    pub targets: &'a [Target],
    /// What became of them.
    pub outcome: &'a Outcome,
}

/// How tests are printed.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The tables, as they are created.
    pub schema: &'a Schema,
    /// The dialect of the queries.
    pub written: DialectName,
    /// The dialect of the engine that the suite is for.
    pub dialect: DialectName,
}

/// What could not be printed, or is not as we thought.
#[derive(Clone, Debug, PartialEq)]
pub enum Remark {
    /// There is no test for a fixture.
    NoTest {
        /// Why.
        why: String,
    },
    /// The result depends on when or how often the query is run.
    Unsteady {
        /// On what, as the query writes it.
        on: String,
    },
    /// The engine returns another number of rows than our evaluator.
    Disagrees {
        /// The statement.
        sql: String,
        /// How many rows we say.
        ours: usize,
        /// How many rows the engine returns.
        engine: usize,
    },
}

/// What printing a query gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Printed {
    /// What is to be said about it.
    pub remarks: Vec<Remark>,
    /// For each fixture, the case that it became.
    pub cases: Vec<Option<usize>>,
}

/// A suite without tests, for the tables of a schema.
pub fn empty(name: &str, setting: Setting<'_>) -> Suite {
    let dialect = spoken(setting.dialect);
    let mut suite = Suite::new(name, suite_dialect(dialect));
    suite.title = format!("Queries of {name}");
    if dialect == DialectName::Sqlite {
        suite.session.push("PRAGMA foreign_keys = ON".to_owned());
    }
    suite.setup = render::create_statements(setting.schema, dialect);
    suite
}

/// Adds the tests of a query. With a database, its answers are what is expected; without one, our
/// own evaluator's.
///
/// # Errors
///
/// When the connection is lost.
pub fn add(
    suite: &mut Suite,
    covered: &Covered<'_>,
    setting: Setting<'_>,
    mut database: Option<&mut dyn Database>,
) -> Result<Printed, DatabaseError> {
    let mut printed = Printed {
        remarks: Vec::new(),
        cases: vec![None; covered.outcome.fixtures.len()],
    };
    let remarks = &mut printed.remarks;
    let sql = dedented(covered.sql);
    let Some(printer) = Printer::new(&sql, covered, setting) else {
        remarks.push(Remark::NoTest {
            why: "the statement cannot be taken apart".to_owned(),
        });
        return Ok(printed);
    };
    if let Some(on) = unsteady(&sql) {
        match printer.clock() {
            Some(clock) if suite.session.contains(&clock) => {}
            Some(clock) => suite.session.push(clock),
            None => remarks.push(Remark::Unsteady { on }),
        }
    }
    let mut query = Query {
        id: covered.id.to_owned(),
        place: covered.place.to_owned(),
        parts: printer.parts.clone(),
        parameters: cut::names(&printer.parts),
        assertion: None,
        cases: Vec::new(),
        uncovered: Vec::new(),
    };
    let values = printer.parameters(query.parameters.len());
    let mut assertions: Vec<String> = Vec::new();
    for (number, fixture) in covered.outcome.fixtures.iter().enumerate() {
        let covers =
            |index: &&usize| matches!(covered.outcome.fates.get(**index), Some(Fate::Covered(_)));
        let targets: Vec<&Target> = fixture
            .covers
            .iter()
            .filter(covers)
            .filter_map(|index| covered.targets.get(*index))
            .collect();
        if targets.is_empty() {
            continue;
        }
        let look = printer.look(&values[number]);
        let ours = printer.ours(fixture, &values[number]);
        let rows = match &mut database {
            Some(database) => {
                let theirs = printer.theirs(fixture, &look, *database)?;
                if let (Ok(theirs), Ok(ours)) = (&theirs, &ours)
                    && theirs.len() != ours.len()
                {
                    remarks.push(Remark::Disagrees {
                        sql: look.run.clone().unwrap_or_else(|| look.query.clone()),
                        ours: ours.len(),
                        engine: theirs.len(),
                    });
                }
                theirs
            }
            None => ours,
        };
        let rows = match rows {
            Ok(rows) => rows,
            Err(why) => {
                remarks.push(Remark::NoTest { why });
                continue;
            }
        };
        let test = printer.test(&targets, fixture, &look, rows, suite);
        printed.cases[number] = Some(query.cases.len());
        query.cases.push(Case {
            test: test.id.clone(),
            given: printer.given(fixture),
            parameters: values[number].iter().map(json).collect(),
            targets: targets.iter().map(|target| stored(target)).collect(),
            columns: printer
                .columns
                .iter()
                .map(|(name, _)| name.clone())
                .collect(),
            ordered: printer.ordered,
        });
        assertions.push(look.query);
        suite.tests.push(test);
    }
    assertions.dedup();
    if let ([one], true) = (assertions.as_slice(), query.cases.len() > 1) {
        query.assertion = Some(one.clone());
    }
    query.uncovered = uncovered(covered);
    suite.queries.push(query);
    Ok(printed)
}

fn stored(target: &Target) -> TargetText {
    TargetText {
        sql: target.sql.clone(),
        rule: target.rule.clone(),
        says: target.says.clone(),
    }
}

/// The targets that no fixture covers.
fn uncovered(covered: &Covered<'_>) -> Vec<TargetText> {
    let targets = covered.outcome.fates.iter().zip(covered.targets);
    targets
        .filter(|(fate, _)| !matches!(fate, Fate::Covered(_)))
        .map(|(_, target)| stored(target))
        .collect()
}

/// Looking at what a statement did.
pub(super) struct Look {
    /// The statement, when it has to be run first.
    pub(super) run: Option<String>,
    /// The query whose rows are compared, all of them text.
    pub(super) query: String,
}

/// What stays the same for all tests of a query.
pub(super) struct Printer<'a> {
    covered: &'a Covered<'a>,
    schema: &'a Schema,
    dialect: DialectName,
    parts: Vec<Part>,
    /// The query as our evaluator reads it, when it reads it.
    query: Option<engine::Query>,
    /// The table that the statement changes.
    changes: Option<usize>,
    /// The columns that are compared, with their types where we know them.
    columns: Vec<(String, Option<DataType>)>,
    /// Whether the order of the rows counts.
    ordered: bool,
    limited: bool,
}

impl<'a> Printer<'a> {
    pub(super) fn new(sql: &str, covered: &'a Covered<'a>, setting: Setting<'a>) -> Option<Self> {
        let dialect = spoken(setting.dialect);
        let (parts, outline) = cut::cut(sql, setting.written)?;
        let query = Target::read(sql, "", "", setting.schema, setting.written)
            .query
            .ok();
        let changes = match &outline.changes {
            Some(name) => Some(setting.schema.table_index(name)?),
            None => None,
        };
        let columns = match (changes, &query) {
            (Some(table), _) => setting.schema.tables[table]
                .columns
                .iter()
                .map(|column| (column.name.clone(), Some(column.data_type.clone())))
                .collect(),
            (None, Some(query)) => output(query),
            (None, None) => Vec::new(),
        };
        let mut printer = Self {
            covered,
            schema: setting.schema,
            dialect,
            parts,
            query,
            changes,
            columns: unique(columns),
            ordered: false,
            limited: outline.limited,
        };
        printer.ordered = outline.ordered && printer.order_is_total();
        Some(printer)
    }

    /// The values of the query's parameters, per fixture. One that does not matter takes a value
    /// that another fixture has for it, so that it is rarely NULL.
    fn parameters(&self, n_parameters: usize) -> Vec<Vec<Value>> {
        let fixtures = &self.covered.outcome.fixtures;
        let value = |fixture: &Fixture, index: usize| {
            let value = fixture.parameters().get(index);
            value.filter(|value| !value.is_null()).cloned()
        };
        let matters = |fixture: &Fixture, index: usize| {
            let targets = fixture.covers.iter();
            let mut targets = targets.filter_map(|target| self.covered.targets.get(*target));
            targets.any(|target| target.parameters.contains(&index))
        };
        let usual: Vec<Value> = (0..n_parameters)
            .map(|index| {
                let mut values = fixtures.iter().filter_map(|fixture| value(fixture, index));
                values.next().unwrap_or(Value::Null)
            })
            .collect();
        fixtures
            .iter()
            .map(|fixture| {
                let of = |index: usize| match value(fixture, index) {
                    Some(value) => value,
                    None if matters(fixture, index) => Value::Null,
                    None => usual[index].clone(),
                };
                (0..n_parameters).map(of).collect()
            })
            .collect()
    }

    /// Whether ORDER BY leaves no choice on any fixture: rows that come in the other way round
    /// must not change the result.
    fn order_is_total(&self) -> bool {
        let Some(query) = &self.query else {
            return false;
        };
        let values = self.parameters(cut::names(&self.parts).len());
        let outcome = self.covered.outcome;
        outcome
            .fixtures
            .iter()
            .zip(&values)
            .all(|(fixture, values)| {
                let mut turned = fixture.candidate.clone();
                for rows in turned.rows.values_mut() {
                    rows.reverse();
                }
                let one = self.result(query, &fixture.candidate, values);
                let other = self.result(query, &turned, values);
                matches!((one, other), (Ok(one), Ok(other)) if one == other)
            })
    }

    fn result(
        &self,
        query: &engine::Query,
        rows: &Candidate,
        values: &[Value],
    ) -> Result<Vec<Vec<Value>>, Stop> {
        let rules = self.dialect.dialect();
        let now = construct::Setting::new(self.schema, rules).now;
        evaluate_at(query, rows, values, Some(now), rules).map(|found| found.rows)
    }

    /// What stops an engine's clock, where that can be done.
    fn clock(&self) -> Option<String> {
        clock(self.schema, self.dialect)
    }

    /// The parameters as written.
    pub(super) fn parameter_names(&self) -> Vec<String> {
        cut::names(&self.parts)
    }

    /// The names of the columns that are compared.
    pub(super) fn column_names(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }

    /// How a test looks at the result.
    fn look(&self, values: &[Value]) -> Look {
        self.look_in(self.ordered, values)
    }

    /// The same, where somebody else decided whether the order counts.
    pub(super) fn look_in(&self, ordered: bool, values: &[Value]) -> Look {
        let statement = cut::filled(&self.parts, values, self.dialect);
        let statement = statement.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
        let texts: Vec<String> = self
            .columns
            .iter()
            .map(|(name, _)| as_text(&render::identifier(name, self.dialect), self.dialect))
            .collect();
        let order: Vec<String> = (1..=texts.len()).map(|n| n.to_string()).collect();
        if let Some(table) = self.changes {
            let table = render::table_name(&self.schema.tables[table], self.dialect);
            return Look {
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
            return Look {
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
        Look {
            run: None,
            query: format!(
                "WITH result ({}) AS (\n{statement}\n)\nSELECT {}\nFROM result{order}",
                names.join(", "),
                texts.join(", ")
            ),
        }
    }

    /// What the engine says, or why it says nothing.
    fn theirs(
        &self,
        fixture: &Fixture,
        look: &Look,
        database: &mut dyn Database,
    ) -> Result<Result<Cells, String>, DatabaseError> {
        let inserts = confirm::inserts(fixture, self.schema, self.dialect);
        answered(&inserts, look, database)
    }

    /// What our evaluator says, or why it says nothing.
    fn ours(&self, fixture: &Fixture, values: &[Value]) -> Result<Cells, String> {
        if self.changes.is_some() {
            return Err("what a statement changes is only known on an engine; add --engine".into());
        }
        let Some(query) = &self.query else {
            return Err("our evaluator does not read the query; add --engine".into());
        };
        let found = self
            .result(query, &fixture.candidate, values)
            .map_err(|stop| format!("our evaluator stops ({stop}); add --engine"))?;
        let mut rows: Cells = found
            .iter()
            .map(|row| {
                let cells = row.iter().zip(&self.columns);
                cells
                    .map(|(value, (_, data_type))| {
                        let data_type = data_type.as_ref().unwrap_or(&DataType::Text);
                        text(value, data_type, self.dialect)
                    })
                    .collect()
            })
            .collect();
        if !self.ordered {
            // NULL comes last in PostgreSQL and first in the others.
            let nulls_last = self.dialect == DialectName::Postgres;
            rows.sort_by_key(|row| -> Vec<_> {
                let cells = row.iter();
                cells
                    .map(|cell| (cell.is_none() == nulls_last, cell.clone()))
                    .collect()
            });
        }
        Ok(rows)
    }

    fn test(
        &self,
        targets: &[&Target],
        fixture: &Fixture,
        look: &Look,
        rows: Cells,
        suite: &Suite,
    ) -> Test {
        let mut steps: Vec<Step> = confirm::inserts(fixture, self.schema, self.dialect)
            .into_iter()
            .map(Step::lead_up)
            .collect();
        steps.push(Step {
            role: Role::Act,
            sql: look.run.iter().cloned().collect(),
            expect: Expect::Rows {
                query: look.query.clone(),
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

    /// The rows of a fixture, by table; columns that the database fills are left out.
    fn given(&self, fixture: &Fixture) -> Vec<Given> {
        given(fixture, self.schema)
    }
}

/// The rows of a fixture, by table; columns that the database fills are left out.
pub(super) fn given(fixture: &Fixture, schema: &Schema) -> Vec<Given> {
    let tables = render::table_order(schema).into_iter();
    let filled = tables.filter_map(|table| Some((table, fixture.candidate.rows.get(&table)?)));
    filled
        .map(|(table, rows)| {
            let table = &schema.tables[table];
            let kept: Vec<usize> = (0..table.columns.len())
                .filter(|column| {
                    let filled = &table.columns[*column].filled;
                    !matches!(filled, Filled::CounterAlways | Filled::Generated(_))
                })
                .collect();
            let cells = |row: &Vec<Value>| kept.iter().map(|column| json(&row[*column])).collect();
            Given {
                table: table.name.clone(),
                columns: kept
                    .iter()
                    .map(|at| table.columns[*at].name.clone())
                    .collect(),
                rows: rows.iter().map(cells).collect(),
            }
        })
        .collect()
}

/// Rows of text, `None` being NULL.
pub type Cells = Vec<Vec<Option<String>>>;

/// Brings rows in, looks at the result, and undoes it all; or says what was refused.
pub(super) fn answered(
    inserts: &[String],
    look: &Look,
    database: &mut dyn Database,
) -> Result<Result<Cells, String>, DatabaseError> {
    database.begin()?;
    for sql in inserts.iter().chain(&look.run) {
        if let Answer::Refused(refusal) = database.execute(sql)? {
            database.rollback()?;
            return Ok(Err(format!(
                "the engine refuses `{sql}`: {}",
                refusal.message
            )));
        }
    }
    let answer = database.query(&look.query)?;
    database.rollback()?;
    Ok(match answer {
        Ok(rows) => Ok(crate::schema::confirm::texts(&rows.rows)),
        Err(refusal) => Err(format!("the engine refuses the query: {}", refusal.message)),
    })
}

/// Standard SQL is printed as PostgreSQL reads it.
fn spoken(dialect: DialectName) -> DialectName {
    match dialect {
        DialectName::Ansi => DialectName::Postgres,
        other => other,
    }
}

/// A column as text that sorts by its bytes wherever the test is run.
fn as_text(column: &str, dialect: DialectName) -> String {
    match dialect {
        DialectName::Postgres => format!("CAST({column} AS TEXT) COLLATE \"C\""),
        DialectName::MySql => format!("CONVERT({column} USING utf8mb4) COLLATE utf8mb4_bin"),
        DialectName::Sqlite | DialectName::Ansi => format!("CAST({column} AS TEXT)"),
    }
}

/// The columns of a query's result.
fn output(query: &engine::Query) -> Vec<(String, Option<DataType>)> {
    match &query.body {
        Body::Select(select) => {
            let items = select.items.iter();
            items
                .map(|item| (item.name.clone(), item.data_type.clone()))
                .collect()
        }
        Body::Set { left, .. } => output(left),
        Body::Values(rows) => {
            let width = rows.first().map_or(0, Vec::len);
            (1..=width).map(|n| (format!("column{n}"), None)).collect()
        }
    }
}

/// Names that are plain and different from each other.
fn unique(columns: Vec<(String, Option<DataType>)>) -> Vec<(String, Option<DataType>)> {
    let mut taken: Vec<String> = Vec::new();
    let columns = columns.into_iter().enumerate();
    columns
        .map(|(index, (name, data_type))| {
            let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ' ');
            let mut name = if plain {
                name
            } else {
                format!("column_{}", index + 1)
            };
            if taken.contains(&name.to_lowercase()) {
                name = format!("{name}_{}", index + 1);
            }
            taken.push(name.to_lowercase());
            (name, data_type)
        })
        .collect()
}

/// A value as JSON: numbers where they are exact, text otherwise.
pub(super) fn json(value: &Value) -> serde_json::Value {
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

/// A target's sentence without what follows from it.
fn short(target: &Target) -> &str {
    let says = &target.says;
    let end = [", and the outcome turns on it", ", so `"]
        .iter()
        .filter_map(|tail| says.find(tail))
        .min()
        .unwrap_or(says.len());
    if says.is_empty() {
        &target.rule
    } else {
        &says[..end]
    }
}

/// Words joined by underscores, cut at a word near 70 characters; CamelCase is words.
fn slug(text: &str) -> String {
    let mut apart = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            apart.push(' ');
        }
        apart.push(c);
        before = c;
    }
    let mut slug = String::new();
    for word in apart.split(|c: char| !c.is_ascii_alphanumeric()) {
        if word.is_empty() {
            continue;
        }
        if slug.len() + word.len() > 70 && !slug.is_empty() {
            break;
        }
        if !slug.is_empty() {
            slug.push('_');
        }
        slug.push_str(&word.to_ascii_lowercase());
    }
    slug
}

/// The statement that makes an engine's clock stand at the time that rows are built for; only
/// MariaDB has one.
pub fn clock(schema: &Schema, dialect: DialectName) -> Option<String> {
    let now = construct::Setting::new(schema, dialect.dialect()).now;
    (dialect == DialectName::MySql).then(|| {
        let (date, time) = (now.date(), now.time());
        format!("SET timestamp = UNIX_TIMESTAMP('{date} {time}')")
    })
}

/// What in a statement gives another value whenever it is run.
pub fn unsteady(sql: &str) -> Option<String> {
    const WORDS: &[&str] = &[
        "NOW",
        "CURRENT_DATE",
        "CURRENT_TIME",
        "CURRENT_TIMESTAMP",
        "LOCALTIME",
        "LOCALTIMESTAMP",
        "CURDATE",
        "CURTIME",
        "SYSDATE",
        "UTC_DATE",
        "UTC_TIMESTAMP",
        "UNIX_TIMESTAMP",
        "RAND",
        "RANDOM",
        "RANDOMBLOB",
        "UUID",
        "GEN_RANDOM_UUID",
    ];
    // What stands between single quotes is text.
    let outside = sql.split('\'').step_by(2);
    let words = outside.flat_map(|text| text.split(|c: char| !(c.is_alphanumeric() || c == '_')));
    let mut words = words.filter(|word| WORDS.iter().any(|of| of.eq_ignore_ascii_case(word)));
    words.next().map(str::to_owned)
}

/// A statement without the blanks that put its first line where it stands in its file.
fn dedented(sql: &str) -> String {
    sql.trim_start().trim_end().to_owned()
}
