use isobath_sql::dialect::Postgres;
use isobath_sql::memory::MemoryDatabase;
use isobath_sql::{DataType, Expr, Schema, Value};

use super::*;
use crate::cells::values::{ValuePool, numeric};
use crate::schema::predicate::RequiredTruth;
use crate::schema::samples::{TableBuilder, between, col, col_as, compare, schema, shop, table};

/// What a generator finds for a predicate on a row of the first table.
fn find(
    schema: &Schema,
    name: GeneratorName,
    predicate: &Predicate,
    budget: u64,
) -> GeneratorResult {
    let existing = MemoryDatabase::new(schema, &Postgres);
    let task = GenerationTask {
        schema,
        dialect: &Postgres,
        table: 0,
        predicate,
        existing: &existing,
        fresh: &[],
        budget,
    };
    let mut rng = fastrand::Rng::with_seed(7);
    name.generator(schema).generate(&task, &mut rng)
}

fn is_true(expr: Expr) -> Predicate {
    Predicate::Expr {
        expr,
        wanted: RequiredTruth::True,
    }
}

fn only_value(found: GeneratorResult) -> Value {
    let GeneratorResult::Rows(answers) = found else {
        panic!("{found:?}");
    };
    answers[0][0].value(0).unwrap().clone()
}

#[test]
fn the_avm_walks_to_a_far_number_in_doubled_steps() {
    let schema = schema(vec![table("t", &["a"])]);
    let wanted = is_true(between(col(0, "a"), 1_000_000, 1_000_000, false));
    let found = find(&schema, GeneratorName::AvmD, &wanted, 500);
    assert_eq!(only_value(found), Value::Int(1_000_000));
}

#[test]
fn the_avm_spells_a_word_character_by_character() {
    let schema = schema(vec![table("t", &["a"]).typed(0, DataType::Text)]);
    let equal = compare(
        col_as(0, "a", DataType::Text),
        isobath_sql::expr::CompareOp::Equal,
        Expr::Literal(Value::text("Oslo")),
    );
    let found = find(&schema, GeneratorName::AvmD, &is_true(equal), 5_000);
    assert_eq!(only_value(found), Value::text("Oslo"));
}

#[test]
fn domino_with_avm_reaches_what_random_draws_do_not() {
    let schema = schema(vec![table("t", &["a"])]);
    let wanted = is_true(between(col(0, "a"), 54_321, 54_321, false));
    assert!(matches!(
        find(&schema, GeneratorName::Domino, &wanted, 1_000),
        GeneratorResult::GaveUp { evaluations: 1_000 }
    ));
    let found = find(&schema, GeneratorName::DominoAvm, &wanted, 1_000);
    assert_eq!(only_value(found), Value::Int(54_321));
}

#[test]
fn random_search_gives_up_when_the_budget_is_spent() {
    let schema = schema(vec![table("t", &["a"])]);
    let never = Predicate::And(vec![Predicate::null(0), Predicate::not_null(0)]);
    assert!(matches!(
        find(&schema, GeneratorName::Random, &never, 50),
        GeneratorResult::GaveUp { evaluations: 50 }
    ));
}

#[test]
fn something_that_cannot_be_evaluated_is_said_at_once() {
    let schema = schema(vec![table("t", &["a"])]);
    let opaque = is_true(Expr::Opaque {
        sql: "a @@ b".to_owned(),
        columns: vec![0],
    });
    for name in [
        GeneratorName::Random,
        GeneratorName::AvmR,
        GeneratorName::Domino,
    ] {
        assert!(
            matches!(
                find(&schema, name, &opaque, 50),
                GeneratorResult::Unsupported { .. }
            ),
            "{name}"
        );
    }
}

#[test]
fn constants_are_mined_from_all_checks_of_the_schema() {
    let checked = table("t", &["a"]).check(between(col(0, "a"), 77, 5000, false));
    let profile = ValuePool::mine(&schema(vec![checked]));
    let mut rng = fastrand::Rng::with_seed(0);
    let drawn: Vec<Value> = (0..200)
        .map(|_| profile.draw_value(&DataType::INT, &mut rng))
        .collect();
    assert!(drawn.contains(&Value::Int(5000)));
    assert!(drawn.contains(&Value::Int(77)));
}

#[test]
fn numbers_are_clamped_to_their_type() {
    let tiny = DataType::Integer {
        bits: 8,
        unsigned: true,
    };
    assert_eq!(numeric(&tiny, 1000.into()), Value::Int(255));
    assert_eq!(numeric(&tiny, (-3).into()), Value::Int(0));
    let money = DataType::Decimal {
        precision: Some(4),
        scale: Some(2),
    };
    assert_eq!(numeric(&money, 1000.into()), Value::Decimal(99.into()));
}

#[test]
fn names_are_read_back() {
    for name in GeneratorName::ALL {
        assert_eq!(name.to_string().parse(), Ok(name));
        assert_eq!(name.generator(&shop()).name(), name.as_str());
    }
    let error = "genetic".parse::<GeneratorName>().unwrap_err();
    insta::assert_snapshot!(error, @"unknown generator `genetic` (expected one of: default, domino, domino-avm, avm-r, avm-d, random)");
}
