//! Unit tests of the database oracle, without a service.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use isobath_exec::driver::Event;
use isobath_exec::http::{BodyCompleteness, Call, CallOutcome, Method, Request, Response};
use isobath_exec::test_database::TestDatabase;
use isobath_sql::ddl::{Source, load};
use isobath_sql::{DialectName, Schema, Value};

use super::matrix::attempts;
use super::{ConstraintMatrix, ConstraintTally, drift};
use crate::exchange::Exchange;
use crate::fault::FaultKind;
use crate::openapi::{self, Api, NoLoader};
use crate::oracle::Oracle;
use crate::seeding::SeededRows;

const TABLES: &str = "
    CREATE TABLE makers (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE);
    CREATE TABLE boats (
        id INT PRIMARY KEY, maker_id INT NOT NULL REFERENCES makers (id), name VARCHAR(10) NOT NULL, kind VARCHAR(9) DEFAULT 'sail'
          CHECK (kind IN ('sail', 'motor')), length INT NOT NULL CONSTRAINT some_length CHECK (length > 0), built DATE, weight INT);
    INSERT INTO makers VALUES (1, 'it');
";

const DOCUMENT: &str = "
openapi: 3.0.0
info: {title: Boats, version: '1'}
paths:
  /boats:
    post:
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [makerId, name]
              properties:
                makerId: {type: integer, format: int32}
                name: {type: string, maxLength: 255}
                kind: {type: string, enum: [sail, motor, rowing]}
                length: {type: integer, format: int32, minimum: 0, maximum: 900, nullable: true}
                built: {type: string}
                weight: {type: integer, format: int64}
      responses: {'201': {description: made}}
";

fn api() -> Api {
    openapi::read(DOCUMENT, "boats.yaml", &NoLoader).expect("a good document")
}

fn schema(dialect: DialectName) -> Schema {
    let source = Source {
        name: "boats.sql".to_owned(),
        text: TABLES.to_owned(),
    };
    load("boats", &[source], Some(dialect)).schema
}

#[test]
fn drift_is_what_the_document_allows_and_the_column_refuses() {
    let describe = |dialect| {
        let drift = drift(&api(), &schema(dialect), dialect);
        let lines = drift.iter().map(|drift| {
            let (property, document) = (&drift.property, &drift.document);
            format!("{property}: {document} | {}", drift.database)
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(describe(DialectName::Postgres), @"
    name: maxLength 255 | varchar(10)
    kind: allows rowing | CHECK (kind IN ('sail', 'motor'))
    length: may be null | NOT NULL
    length: allows 0 | CHECK (length > 0)
    built: any string | date
    weight: any 64-bit integer | int
    ");
    // SQLite takes any date and any integer.
    insta::assert_snapshot!(describe(DialectName::Sqlite), @"
    name: maxLength 255 | varchar(10)
    kind: allows rowing | CHECK (kind IN ('sail', 'motor'))
    length: may be null | NOT NULL
    length: allows 0 | CHECK (length > 0)
    ");
}

/// A call of the only operation, with a status and a body.
fn exchange(status: u16, body: &str) -> Exchange {
    let call = Call {
        outcome: CallOutcome::Answered(Response {
            status,
            headers: Default::default(),
            body: body.to_owned().into(),
            completeness: BodyCompleteness::Complete,
        }),
        elapsed: Duration::ZERO,
        repeated: false,
        waited: Duration::ZERO,
        hops: Vec::new(),
    };
    let request = Request::new(Method::POST, "http://localhost/boats");
    Exchange::new(0, Some(0), None, request, call)
}

fn failed(failure: &str) -> Event {
    Event::Statement {
        action: 0,
        database: "postgresql".into(),
        text: "INSERT INTO makers VALUES (1)".into(),
        rows: 0,
        failure: Some(failure.into()),
    }
}

#[test]
fn a_server_error_is_named_by_the_constraint_that_a_statement_ran_into() {
    let api = api();
    let oracle = Oracle::new(&api, BTreeSet::new());
    let cause = |exchange: &Exchange| {
        let faults = oracle.judge(&api, exchange, None);
        let fault = faults
            .iter()
            .find(|fault| fault.kind == FaultKind::ServerError);
        fault.expect("a 500 is a fault").cause.clone()
    };
    let mut seen = exchange(500, "{}");
    seen.trace.events = vec![
        failed("NOT NULL constraint failed: makers.name"),
        failed("23505: duplicate key (UNIQUE: constraint \"makers_name_key\", table \"makers\")"),
    ];
    assert_eq!(cause(&seen), "UNIQUE makers_name_key of makers");
    let describe = exchange(500, r#"{"error": "UNIQUE constraint failed: makers.name"}"#);
    assert_eq!(cause(&describe), "UNIQUE of makers (name)");
    let unclear = exchange(500, r#"{"error": "oops"}"#);
    assert_eq!(cause(&unclear), "POST /boats 500 oops");
}

#[test]
fn the_matrix_counts_answers_by_constraint_and_operation() {
    let schema = Arc::new(schema(DialectName::Postgres));
    let mut matrix = ConstraintMatrix::new(schema);
    for status in [409, 500, 500] {
        let mut seen = exchange(status, "{}");
        let failure = "23505: duplicate key (UNIQUE: constraint \"makers_name_key\", table \"makers\", column \"name\")";
        seen.trace.events = vec![failed(failure)];
        matrix.learn(&seen);
    }
    let rows = matrix.rows(DialectName::Postgres);
    let met: Vec<_> = rows.iter().filter(|row| !row.by.is_empty()).collect();
    assert_eq!(met.len(), 1, "{met:?}");
    assert_eq!(
        (met[0].table.as_str(), met[0].constraint.as_str()),
        ("makers", "UNIQUE (name)")
    );
    let tally = ConstraintTally {
        refused: 1,
        failed: 2,
        accepted: 0,
    };
    assert_eq!(met[0].by.get(&0), Some(&tally));
    assert!(
        rows.len() > 6,
        "constraints that nobody ran into are listed, too"
    );
}

#[test]
fn an_input_shows_which_constraint_it_would_violate() {
    let folder = tempfile::tempdir().expect("a folder");
    let address = format!("sqlite:{}", folder.path().join("boats.db").display());
    let named = std::slice::from_ref(&address);
    let mut database = isobath_exec::connect_writable(&address, named).expect("a test database");
    database.execute_required(TABLES).expect("tables");
    let state = TestDatabase::open(&address, named).expect("a test database");
    let schema = state.schema();
    let boats = schema.table_index("boats").expect("a table");
    let makers = schema.table_index("makers").expect("a table");
    let describe = |table: usize, sent: &str| {
        let sent = serde_json::from_str(sent).expect("an object");
        let met = attempts(schema, state.dialect(), state.image(), table, &sent, None);
        let words = met.iter().map(|(table, number)| {
            let constraint = &schema.tables[*table].constraints[*number];
            format!("{:?}", constraint.kind)
                .split([' ', '('])
                .next()
                .unwrap_or_default()
                .to_owned()
        });
        words.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        describe(boats, r#"{"makerId": 1, "name": "a", "length": 3}"#),
        ""
    );
    assert_eq!(
        describe(boats, r#"{"makerId": 7, "name": "a"}"#),
        "ForeignKey"
    );
    assert_eq!(describe(boats, r#"{"name": null}"#), "NotNull");
    assert_eq!(describe(boats, r#"{"length": 0}"#), "Check");
    assert_eq!(describe(boats, r#"{"kind": "rowing"}"#), "Check");
    assert_eq!(describe(makers, r#"{"name": "it"}"#), "Unique");
    assert_eq!(
        describe(makers, r#"{"name": "It"}"#),
        "",
        "not the same letters"
    );
}

#[test]
fn values_of_inserted_rows_are_not_held_against_the_service() {
    let document = "
openapi: 3.0.0
paths:
  /boats:
    post:
      responses:
        '200':
          description: ok
          content:
            application/json:
              schema:
                properties: {length: {type: number, minimum: 1}, name: {type: string}, weight: {type: integer, minimum: 1}}
";
    let api = openapi::read(document, "boats.yaml", &NoLoader).expect("a good document");
    let oracle = Oracle::new(&api, BTreeSet::new());
    let places = |exchange: &Exchange| {
        let faults = oracle.judge(&api, exchange, None).into_iter();
        faults.map(|fault| fault.detail).collect::<Vec<_>>()
    };
    let mut exchange = exchange(200, r#"{"length": 0.0, "name": null, "weight": -7}"#);
    exchange.body = serde_json::from_str(r#"{"length": 0.0, "name": null, "weight": -7}"#).ok();
    assert_eq!(places(&exchange).len(), 2, "{:?}", places(&exchange));
    let row = vec![Some(Value::from(0)), Some(Value::Null), None];
    exchange.trace.seeded = Some(Arc::new(SeededRows {
        rows: [(1, row)].into(),
        refused: None,
    }));
    let left = places(&exchange);
    assert!(
        matches!(&*left, [detail] if detail.contains("-7")),
        "{left:?}"
    );
}
