use isobath_sql::dialect::{MySql, Postgres, Sqlite};
use isobath_sql::schema::{Action, Filled, ForeignKey};
use isobath_sql::{ConstraintKind, DataType, Dialect, Expr, Schema, Table, Value};

use crate::schema::case::{ExpectedOutcome, TestCase};
use crate::schema::job::{Config, generate, verify};
use crate::schema::samples::{TableBuilder, col, greater, schema, shop, table};

fn suite(schema: &Schema, dialect: &'static dyn Dialect) -> Vec<TestCase> {
    let config = Config {
        extras: true,
        ..Config::default()
    };
    let cases = generate(schema, dialect, &config).tests;
    for case in &cases {
        assert_eq!(verify(schema, dialect, case), Ok(()), "{}", case.name);
    }
    cases
}

fn find<'c>(cases: &'c [TestCase], name: &str) -> &'c TestCase {
    let names: Vec<&str> = cases
        .iter()
        .filter(|case| case.covers.is_empty())
        .map(|case| case.name.as_str())
        .collect();
    cases
        .iter()
        .find(|case| case.name == name)
        .unwrap_or_else(|| panic!("{name} is none of {names:#?}"))
}

fn has(cases: &[TestCase], part: &str) -> bool {
    cases.iter().any(|case| case.name.contains(part))
}

fn family(on_delete: Action, on_update: Action) -> Schema {
    let parent: Table = table("parent", &["id"]).key(&[0]);
    let child = table("child", &["id", "parent_id"])
        .key(&[0])
        .with(ConstraintKind::ForeignKey(ForeignKey {
            columns: vec![1],
            parent: 0,
            parent_columns: vec![0],
            match_full: false,
            on_delete,
            on_update,
        }));
    schema(vec![parent, child])
}

#[test]
fn lengths_are_tested_where_they_are_enforced() {
    let named = schema(vec![
        table("t", &["name"]).typed(0, DataType::Varchar { length: Some(5) }),
    ]);
    let cases = suite(&named, &Postgres);
    assert_eq!(
        find(&cases, "t accepts 5 characters in name").expected,
        ExpectedOutcome::Accepted
    );
    let refused = find(&cases, "t rejects 6 characters in name");
    assert!(matches!(refused.expected, ExpectedOutcome::Rejected(_)));
    assert!(!has(&suite(&named, &Sqlite), "characters in name"));
}

#[test]
fn numbers_past_the_range_are_refused() {
    let numbers = schema(vec![table("t", &["n"])]);
    for dialect in [&Postgres as &dyn Dialect, &MySql] {
        let cases = suite(&numbers, dialect);
        find(&cases, "t accepts 2147483647 in n");
        find(&cases, "t rejects 2147483648 in n");
    }
}

#[test]
fn a_column_left_out_gets_its_default() {
    let mut filled = table("t", &["id", "stock"]).key(&[0]);
    filled.columns[1].default = Some(Expr::int(7));
    let cases = suite(&schema(vec![filled]), &Postgres);
    let case = find(&cases, "t fills stock with its default");
    assert_eq!(case.after[0].rows, [[Value::Int(7)]]);
}

#[test]
fn a_generated_column_is_computed_and_takes_no_value() {
    let mut computed = table("t", &["a", "b"]);
    computed.columns[1].filled = Filled::Generated(col(0, "a"));
    let cases = suite(&schema(vec![computed]), &Postgres);
    find(&cases, "t computes b");
    find(&cases, "t rejects a value for b");
}

#[test]
fn a_referred_row_stays_when_the_key_restricts() {
    let cases = suite(&family(Action::NoAction, Action::Restrict), &Postgres);
    find(
        &cases,
        "parent rejects deleting a row that child.parent_id refers to",
    );
    find(
        &cases,
        "parent rejects changing a row that child.parent_id refers to",
    );
}

#[test]
fn a_cascade_takes_rows_along() {
    let cases = suite(&family(Action::Cascade, Action::Cascade), &Postgres);
    let gone = find(
        &cases,
        "deleting a row of parent takes child along by parent_id",
    );
    assert!(gone.after[0].rows.is_empty());
    let moved = find(
        &cases,
        "changing a row of parent takes child along by parent_id",
    );
    assert_eq!(moved.after[0].rows.len(), 1);
}

#[test]
fn a_reference_may_become_null() {
    let cases = suite(&family(Action::SetNull, Action::SetNull), &Postgres);
    let freed = find(
        &cases,
        "deleting a row of parent sets child.parent_id to NULL",
    );
    assert_eq!(freed.after[0].rows, [[Value::Null]]);
}

#[test]
fn updates_break_and_keep_each_kind_of_constraint() {
    let cases = suite(&shop(), &Postgres);
    find(&cases, "products rejects an update of name to NULL");
    find(
        &cases,
        "orders rejects an update to the same order_id as another row",
    );
    find(&cases, "items accepts an update of quantity");
    find(
        &cases,
        "items rejects an update of quantity that breaks quantity > 0",
    );
    find(
        &cases,
        "items rejects an update of order_id that breaks its reference to orders",
    );
}

#[test]
fn a_row_that_nothing_refers_to_may_go() {
    let lonely = table("t", &["a"])
        .key(&[0])
        .check(greater(col(0, "a"), Expr::int(0)));
    let cases = suite(&schema(vec![lonely]), &Sqlite);
    let case = find(&cases, "t lets go of a row that nothing refers to");
    assert!(case.after[0].rows.is_empty());
}
