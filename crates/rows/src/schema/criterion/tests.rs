use isobath_sql::dialect::{Postgres, Sqlite};
use isobath_sql::schema::Filled;
use isobath_sql::{ConstraintKind, DataType, Dialect, Expr, Schema, Table};

use super::predicates::{nullable_columns, strict_columns};
use super::*;
use crate::schema::predicate::{Predicate, RequiredTruth};
use crate::schema::samples::{
    TableBuilder, between, col, col_as, greater, is_null, schema, shop, table, within,
};

/// Raw, feasible and attempted requirements.
fn counts(schema: &Schema, dialect: &dyn Dialect, criterion: &str) -> (usize, usize, usize) {
    let criterion = criterion.parse().unwrap();
    let RequirementCounts {
        raw,
        feasible,
        attempted,
    } = requirements(schema, dialect, &criterion).counts;
    (raw, feasible, attempted)
}

fn sentences(table: Table, criterion: &str) -> String {
    let schema = schema(vec![table]);
    let list = requirements(&schema, &Postgres, &criterion.parse().unwrap());
    let lines: Vec<&str> = list
        .attempted
        .iter()
        .map(|requirement| requirement.description[0].as_str())
        .collect();
    lines.join("\n")
}

#[test]
fn each_criterion_asks_as_often_as_its_definition_says() {
    let shop = shop();
    let table: Vec<String> = CriterionName::ALL
        .iter()
        .map(|name| {
            let name = name.as_str();
            let lite = counts(&shop, &Sqlite, name);
            let pg = counts(&shop, &Postgres, name);
            format!("{name:10} {lite:?} {pg:?}")
        })
        .collect();
    insta::assert_snapshot!(table.join("\n"), @r"
    APC        (6, 6, 6) (6, 6, 6)
    ICC        (22, 22, 22) (22, 22, 22)
    AICC       (22, 22, 14) (22, 22, 14)
    CondAICC   (30, 29, 28) (30, 27, 24)
    ClauseAICC (32, 31, 30) (32, 29, 27)
    NCC        (18, 18, 18) (18, 18, 18)
    ANCC       (18, 18, 17) (18, 18, 14)
    UCC        (18, 18, 18) (18, 18, 18)
    AUCC       (18, 18, 18) (18, 18, 18)
    ");
}

#[test]
fn a_single_column_key_makes_three_clauses() {
    let keyed = table("orders", &["order_id", "address"])
        .key(&[0])
        .not_null(1);
    insta::assert_snapshot!(sentences(keyed, "ClauseAICC"), @r"
    orders accepts a row with another order_id
    orders rejects NULL in order_id
    orders rejects a second row with the same order_id
    orders rejects NULL in address
    ");
}

#[test]
fn a_composite_foreign_key_is_asked_column_by_column() {
    let child = table("t", &["a", "b"]).refers(&[0, 1], 0, &[1, 0]);
    insta::assert_snapshot!(sentences(child, "ClauseAICC"), @r"
    t accepts NULL in a
    t accepts NULL in b
    t accepts a and b of a row of t itself
    t rejects a of no row of t itself
    t rejects b of no row of t itself
    ");
}

#[test]
fn between_passes_inside_and_fails_on_either_side() {
    let checked = table("t", &["a"]).check(between(col(0, "a"), 1, 9, false));
    insta::assert_snapshot!(sentences(checked, "ClauseAICC"), @r"
    t accepts a row with a BETWEEN 1 AND 9 unknown
    t accepts a row with a between 1 and 9
    t rejects a row with a below 1
    t rejects a row with a above 9
    ");
}

#[test]
fn not_between_passes_outside() {
    let checked = table("t", &["a"]).check(between(col(0, "a"), 1, 9, true));
    insta::assert_snapshot!(sentences(checked, "ClauseAICC"), @r"
    t accepts a row with a NOT BETWEEN 1 AND 9 unknown
    t rejects a row with a between 1 and 9
    t accepts a row with a below 1
    t accepts a row with a above 9
    ");
}

#[test]
fn not_in_rejects_each_element() {
    let text = col_as(0, "a", DataType::Text);
    let checked =
        table("t", &["a"])
            .typed(0, DataType::Text)
            .check(within(text, &["x", "y"], true));
    insta::assert_snapshot!(sentences(checked, "ClauseAICC"), @r"
    t accepts a row with a NOT IN ('x', 'y') unknown
    t rejects a row with a = 'x'
    t rejects a row with a = 'y'
    t accepts a row with a outside its list
    ");
}

#[test]
fn is_not_null_at_the_top_has_no_unknown_case() {
    let checked = table("t", &["a"]).check(is_null(col(0, "a"), true));
    assert_eq!(
        counts(&schema(vec![checked]), &Postgres, "ClauseAICC"),
        (3, 2, 2)
    );
}

#[test]
fn the_negation_of_a_disjunction_is_split_like_a_conjunction() {
    let either = Expr::Or(vec![
        greater(col(0, "a"), Expr::int(0)),
        greater(col(1, "b"), Expr::int(0)),
    ]);
    let checked = table("t", &["a", "b"]).check(Expr::Not(Box::new(either)));
    assert_eq!(counts(&schema(vec![checked]), &Postgres, "ClauseAICC").0, 5);
}

#[test]
fn null_variants_under_not_null_are_dropped_but_counted() {
    let keyed = table("t", &["a"]).unique(&[0]).not_null(0);
    assert_eq!(
        counts(&schema(vec![keyed]), &Postgres, "ClauseAICC"),
        (5, 4, 4)
    );
}

#[test]
fn columns_that_only_the_database_fills_are_not_asked_about() {
    let mut filled = table("t", &["a", "b"]);
    filled.columns[1].filled = Filled::Generated(col(0, "a"));
    let schema = schema(vec![filled]);
    assert_eq!(counts(&schema, &Postgres, "NCC+ANCC+UCC+AUCC").0, 8);
}

#[test]
fn a_null_that_decides_nothing_is_no_way_to_pass() {
    let zero_or_greater = Expr::Or(vec![
        greater(col(0, "a"), Expr::int(0)),
        greater(col(0, "a"), col(1, "b")),
    ]);
    assert_eq!(strict_columns(&zero_or_greater), [0]);
    assert_eq!(nullable_columns(&zero_or_greater), [0, 1]);
    let filled_in = Expr::Function {
        name: "coalesce".to_owned(),
        args: vec![col(0, "a"), Expr::int(0)],
    };
    let checked = greater(filled_in, Expr::int(0));
    assert!(strict_columns(&checked).is_empty());
}

#[test]
fn a_check_is_satisfied_unless_it_is_false() {
    let rule = crate::schema::enforced::EnforcedConstraint {
        constraint: 0,
        kind: ConstraintKind::Check {
            expr: greater(col(0, "a"), Expr::int(0)),
        },
    };
    let Predicate::Or(parts) = predicates::satisfied(0, &rule) else {
        panic!("two ways to pass");
    };
    assert!(matches!(
        parts[0],
        Predicate::Expr {
            wanted: RequiredTruth::NotFalse,
            ..
        }
    ));
    assert_eq!(parts[1], Predicate::null(0));
}

#[test]
fn a_partial_unique_index_is_asked_inside_outside_and_twice() {
    let indexed = table("t", &["a", "b"]).with(ConstraintKind::UniqueIndex {
        keys: vec![col(0, "a")],
        predicate: Some(greater(col(1, "b"), Expr::int(0))),
        nulls_distinct: true,
    });
    insta::assert_snapshot!(sentences(indexed, "ClauseAICC"), @r"
    t accepts a row with another a
    t accepts any a without b > 0
    t rejects a second row with the same a
    ");
}
