use isobath_sql::expr::CompareOp;
use isobath_sql::memory::MemoryDatabase;
use isobath_sql::schema::{ConstraintKind, Table};
use isobath_sql::{DataType, DialectName, Expr, Schema};

use super::{Diff, diff, failing_tests};
use crate::schema::mutation::sample::{
    check, column, compare, insert, key, not_null, refers, schema, slot, table, test, unique,
};

const ENGINE: DialectName = DialectName::Postgres;

fn above(than: i64) -> ConstraintKind {
    check(compare(slot(1, "n"), CompareOp::Greater, Expr::int(than)))
}

fn item(constraints: Vec<ConstraintKind>) -> Table {
    table("item", &["id", "n"], constraints)
}

/// Compares, and runs every example under both versions.
fn compared(old: &Schema, new: &Schema) -> Diff {
    let found = diff(old, new, ENGINE.dialect());
    for change in &found.changes {
        let mut before = MemoryDatabase::new(old, ENGINE.dialect());
        let mut after = MemoryDatabase::new(new, ENGINE.dialect());
        for statement in &change.setup_rows {
            assert!(before.run(statement).unwrap().is_accepted());
            assert!(after.run(statement).unwrap().is_accepted());
        }
        assert_eq!(
            before.run(&change.statement).unwrap().is_accepted(),
            !change.becomes_accepted,
            "{}",
            change.because
        );
        assert_eq!(
            after.run(&change.statement).unwrap().is_accepted(),
            change.becomes_accepted,
            "{}",
            change.because
        );
    }
    found
}

/// One line per example, proof and open question.
fn summary(found: &Diff) -> String {
    let mut lines: Vec<String> = found
        .changes
        .iter()
        .map(|change| {
            let verb = if change.becomes_accepted {
                "accepted"
            } else {
                "rejected"
            };
            format!("{verb}: {}", change.because)
        })
        .collect();
    lines.extend(found.harmless.iter().map(|line| {
        let claim = line.split(", which").next().unwrap_or_default();
        format!("harmless: {claim}")
    }));
    lines.extend(
        found
            .undecided
            .iter()
            .map(|line| format!("undecided: {line}")),
    );
    lines.join("\n")
}

#[test]
fn a_stricter_check_refuses_rows_that_passed_before() {
    let old = schema(vec![item(vec![key(&[0]), above(0)])]);
    let new = schema(vec![item(vec![key(&[0]), above(5)])]);
    let found = compared(&old, &new);
    insta::assert_snapshot!(summary(&found), @r"
    rejected: `item` now has CHECK (n > 5)
    harmless: `item` no longer has CHECK (n > 0)
    ");
}

#[test]
fn a_dropped_constraint_lets_rows_in() {
    let old = schema(vec![item(vec![key(&[0]), unique(&[1]), not_null(1)])]);
    let new = schema(vec![item(vec![key(&[0])])]);
    insta::assert_snapshot!(summary(&compared(&old, &new)), @r"
    accepted: `item` no longer has UNIQUE (n)
    accepted: `item` no longer has NOT NULL on n
    ");
}

#[test]
fn another_way_to_say_the_same_is_no_difference() {
    let at_least = check(compare(
        slot(1, "n"),
        CompareOp::GreaterOrEqual,
        Expr::int(1),
    ));
    let old = schema(vec![item(vec![key(&[0]), above(0)])]);
    let new = schema(vec![item(vec![key(&[0]), at_least])]);
    let found = compared(&old, &new);
    assert!(found.changes.is_empty(), "{}", summary(&found));
    assert!(found.undecided.is_empty(), "{}", summary(&found));
    assert_eq!(found.harmless.len(), 2);
}

#[test]
fn a_longer_text_and_a_new_reference_have_examples() {
    let named = |length, constraints| {
        let mut named = table("item", &["id", "name"], constraints);
        named.columns[1] = column(
            "name",
            DataType::Varchar {
                length: Some(length),
            },
        );
        named
    };
    let sale = |constraints| table("sale", &["item"], constraints);
    let old = schema(vec![named(4, vec![key(&[0])]), sale(vec![])]);
    let new = schema(vec![
        named(6, vec![key(&[0])]),
        sale(vec![refers(&[0], 0, &[0])]),
    ]);
    insta::assert_snapshot!(summary(&compared(&old, &new)), @r"
    accepted: `name` of `item` is VARCHAR(6) and was VARCHAR(4)
    rejected: `sale` now has FOREIGN KEY (item) REFERENCES item (id)
    ");
}

#[test]
fn a_new_column_that_must_have_a_value_refuses_old_inserts() {
    let old = schema(vec![table("item", &["id"], vec![key(&[0])])]);
    let new = schema(vec![
        table("item", &["id", "n"], vec![key(&[0]), not_null(1)]),
        table("extra", &["a"], vec![]),
    ]);
    let found = diff(&old, &new, ENGINE.dialect());
    insta::assert_snapshot!(summary(&found), @"rejected: `item` now has `n`, which must have a value and has no DEFAULT");
    assert_eq!(
        found.notes,
        ["`n` of `item` is new", "table `extra` is new"]
    );
}

#[test]
fn tests_of_the_old_suite_flip_where_their_outcome_does() {
    let old = schema(vec![item(vec![key(&[0]), above(0)])]);
    let new = schema(vec![item(vec![key(&[0]), above(5)])]);
    let suite = [
        test(
            &old,
            ENGINE.dialect(),
            vec![],
            insert(0, &[Some(1), Some(3)]),
        ),
        test(
            &old,
            ENGINE.dialect(),
            vec![],
            insert(0, &[Some(1), Some(9)]),
        ),
        test(
            &old,
            ENGINE.dialect(),
            vec![],
            insert(0, &[Some(1), Some(0)]),
        ),
    ];
    let failing_tests = failing_tests(&old, &new, ENGINE.dialect(), &suite);
    insta::assert_debug_snapshot!(failing_tests, @r#"
    [
        FailingTest {
            test: 0,
            now: "refused by CHECK (n > 5) of item",
        },
    ]
    "#);
}
