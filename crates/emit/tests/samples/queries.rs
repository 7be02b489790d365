//! A small suite about queries, with results that are hard on every test language.

use isobath_emit::query::{CaseTarget, GivenRows, Query, QueryCase, QueryPart};
use isobath_emit::{Expectation, Step, StepRole, Suite, SuiteDialect, Test};
use serde_json::json;

use super::NASTY;

/// Two queries, one of them with a parameter, and a statement that changes rows.
pub(crate) fn shop(dialect: SuiteDialect) -> Suite {
    let mut suite = Suite::new("shop", dialect);
    suite.title = "Queries of shop".into();
    suite.seed = 7;
    suite.criterion = "extended".into();
    suite.version = "0.0.0".into();
    suite.setup = vec![
        "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(200), since DATE)".into(),
        "CREATE TABLE payments (id INT PRIMARY KEY, person INT REFERENCES people (id), \
         amount DECIMAL(10, 2))"
            .into(),
    ];
    if dialect == SuiteDialect::Sqlite {
        suite.session.push("PRAGMA foreign_keys = ON".into());
    }
    paid(&mut suite);
    named(&mut suite);
    forgive(&mut suite);
    suite
}

const ADA: &str = "INSERT INTO people (id, name, since) VALUES (1, 'Ada', '2024-02-29')";
const BOB: &str = "INSERT INTO people (id, name, since) VALUES (2, 'Bob', NULL)";
const PAID: &str = "INSERT INTO payments (id, person, amount) VALUES (1, 1, 10.50)";

/// A query whose tests share one statement: decimals, a date, NULLs, two rows.
fn paid(suite: &mut Suite) {
    let sql =
        "SELECT p.name, p.since, m.amount\nFROM people p LEFT JOIN payments m ON m.person = p.id";
    let columns = ["name", "since", "amount"];
    let texts = columns.map(|column| text(column, suite.dialect)).join(", ");
    let assertion = format!(
        "WITH result (name, since, amount) AS (\n{sql}\n)\nSELECT {texts}\nFROM result\nORDER BY 1, 2, 3"
    );
    let amount = if suite.dialect == SuiteDialect::Sqlite {
        "10.5"
    } else {
        "10.50"
    };
    let rows = vec![
        cells(&[Some("Ada"), Some("2024-02-29"), Some(amount)]),
        cells(&[Some("Bob"), None, None]),
    ];
    let both = returns(&[ADA, BOB, PAID], &[], &assertion, rows);
    let none = returns(&[], &[], &assertion, Vec::new());
    suite.queries.push(Query {
        id: "PaidByPerson".into(),
        location: "shop.sql:1".into(),
        parts: vec![
            QueryPart::Text("SELECT p.name, p.since, m.amount\nFROM ".into()),
            table("people"),
            QueryPart::Text(" p LEFT JOIN ".into()),
            table("payments"),
            QueryPart::Text(" m ON m.person = p.id".into()),
        ],
        parameters: Vec::new(),
        assertion: Some(assertion),
        cases: vec![
            QueryCase {
                test: "paid_by_person_both".into(),
                given: vec![
                    given(
                        "people",
                        &["id", "name", "since"],
                        json!([[1, "Ada", "2024-02-29"], [2, "Bob", null]]),
                    ),
                    given(
                        "payments",
                        &["id", "person", "amount"],
                        json!([[1, 1, "10.50"]]),
                    ),
                ],
                parameters: Vec::new(),
                targets: vec![target("a row joined with m has no partner there")],
                columns: columns.map(str::to_owned).into(),
                ordered: false,
            },
            QueryCase {
                test: "paid_by_person_none".into(),
                given: Vec::new(),
                parameters: Vec::new(),
                targets: vec![target("there is no row at all")],
                columns: columns.map(str::to_owned).into(),
                ordered: false,
            },
        ],
        uncovered: Vec::new(),
    });
    push(suite, "paid_by_person_both", "PaidByPerson", both);
    push(suite, "paid_by_person_none", "PaidByPerson", none);
}

/// A query with a parameter whose value is special in every language.
fn named(suite: &mut Suite) {
    let value = literal(NASTY, suite.dialect);
    let column = text("id", suite.dialect);
    let query = format!(
        "WITH result (id) AS (\nSELECT id FROM people WHERE name = {value}\n)\nSELECT {column}\nFROM result\nORDER BY 1"
    );
    let insert = format!("INSERT INTO people (id, name) VALUES (1, {value})");
    let steps = returns(&[&insert, BOB], &[], &query, vec![cells(&[Some("1")])]);
    suite.queries.push(Query {
        id: "a person's name".into(),
        location: "shop.sql:4".into(),
        parts: vec![
            QueryPart::Text("SELECT id FROM ".into()),
            table("people"),
            QueryPart::Text(" WHERE name = ".into()),
            QueryPart::Parameter {
                index: 0,
                written: ":name".into(),
            },
        ],
        parameters: vec![":name".into()],
        assertion: None,
        cases: vec![QueryCase {
            test: "a_person_by_name".into(),
            given: vec![given(
                "people",
                &["id", "name"],
                json!([[1, NASTY], [2, "Bob"]]),
            )],
            parameters: vec![json!(NASTY)],
            targets: vec![target("`name = :name` is true")],
            columns: vec!["id".into()],
            ordered: false,
        }],
        uncovered: Vec::new(),
    });
    push(suite, "a_person_by_name", "a person's name", steps);
}

/// A statement that changes rows: the table is looked at afterwards.
fn forgive(suite: &mut Suite) {
    let sql = "UPDATE payments SET amount = NULL WHERE person = 1";
    let columns = ["id", "person", "amount"];
    let texts = columns.map(|column| text(column, suite.dialect)).join(", ");
    let query = format!("SELECT {texts}\nFROM payments\nORDER BY 1, 2, 3");
    let steps = returns(
        &[ADA, PAID],
        &[sql],
        &query,
        vec![cells(&[Some("1"), Some("1"), None])],
    );
    suite.queries.push(Query {
        id: "Forgive".into(),
        location: "shop.sql:5".into(),
        parts: vec![
            QueryPart::Text("UPDATE ".into()),
            table("payments"),
            QueryPart::Text(" SET amount = NULL WHERE person = 1".into()),
        ],
        parameters: Vec::new(),
        assertion: None,
        cases: vec![QueryCase {
            test: "forgive_one".into(),
            given: Vec::new(),
            parameters: Vec::new(),
            targets: vec![target("`person = 1` is true")],
            columns: columns.map(str::to_owned).into(),
            ordered: false,
        }],
        uncovered: Vec::new(),
    });
    push(suite, "forgive_one", "Forgive", steps);
}

/// The suite in which every test expects something else than what happens.
pub(crate) fn all_wrong(dialect: SuiteDialect) -> (usize, Suite) {
    let mut suite = shop(dialect);
    for test in &mut suite.tests {
        spoil(test);
    }
    (suite.tests.len(), suite)
}

/// The suite with one wrong test at a time.
pub(crate) fn wrong(dialect: SuiteDialect) -> Vec<(String, Suite)> {
    let n_tests = shop(dialect).tests.len();
    let spoilt = |index: usize| {
        let mut suite = shop(dialect);
        spoil(&mut suite.tests[index]);
        (suite.tests[index].name.clone(), suite)
    };
    (0..n_tests).map(spoilt).collect()
}

/// Another value where there is a row, a row where there is none.
fn spoil(test: &mut Test) {
    for step in &mut test.steps {
        if let Expectation::Rows { rows, .. } = &mut step.expect {
            match rows.last_mut().and_then(|row| row.last_mut()) {
                Some(cell @ None) => *cell = Some("0".into()),
                Some(cell) => *cell = None,
                None => rows.push(cells(&[Some("x"), None, None])),
            }
        }
    }
}

fn text(column: &str, dialect: SuiteDialect) -> String {
    match dialect {
        SuiteDialect::Sqlite => format!("CAST({column} AS TEXT)"),
        SuiteDialect::Postgres => format!("CAST({column} AS TEXT) COLLATE \"C\""),
        SuiteDialect::Mysql => format!("CONVERT({column} USING utf8mb4) COLLATE utf8mb4_bin"),
    }
}

fn literal(text: &str, dialect: SuiteDialect) -> String {
    let text = match dialect {
        SuiteDialect::Mysql => text.replace('\\', "\\\\"),
        SuiteDialect::Sqlite | SuiteDialect::Postgres => text.to_owned(),
    };
    format!("'{}'", text.replace('\'', "''"))
}

fn returns(
    inserts: &[&str],
    run: &[&str],
    query: &str,
    rows: Vec<Vec<Option<String>>>,
) -> Vec<Step> {
    let mut steps: Vec<Step> = inserts.iter().map(|sql| Step::setup(*sql)).collect();
    steps.push(Step {
        role: StepRole::Act,
        sql: run.iter().map(|sql| (*sql).to_owned()).collect(),
        expect: Expectation::Rows {
            query: query.into(),
            rows,
        },
    });
    steps
}

fn push(suite: &mut Suite, id: &str, group: &str, steps: Vec<Step>) {
    suite.tests.push(Test {
        id: id.into(),
        name: format!("{group} when {}", id.replace('_', " ")),
        group: group.into(),
        covers: vec!["`it` is so".into()],
        steps,
    });
}

fn cells(cells: &[Option<&str>]) -> Vec<Option<String>> {
    cells.iter().map(|cell| cell.map(str::to_owned)).collect()
}

fn table(name: &str) -> QueryPart {
    QueryPart::Table {
        name: name.into(),
        written: name.into(),
    }
}

fn given(table: &str, columns: &[&str], rows: serde_json::Value) -> GivenRows {
    GivenRows {
        table: table.into(),
        columns: columns.iter().map(|column| (*column).to_owned()).collect(),
        rows: serde_json::from_value(rows).unwrap(),
    }
}

fn target(description: &str) -> CaseTarget {
    CaseTarget {
        sql: "SELECT 1".into(),
        rule: "WT".into(),
        description: description.into(),
    }
}
