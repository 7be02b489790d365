//! Small tables, and what the generator makes of requirements on them.

mod brute;
mod build;
mod solved;

use isobath_sql::memory::{MemoryDatabase, Verdict};
use isobath_sql::{DataType, Dialect, DialectName, Expr, Row, Schema, Value};

use self::build::*;
use super::{Constructive, Decision, decide};
use crate::schema::generator::{GenerationTask, Generator, GeneratorResult};
use crate::schema::predicate::{MatchMode, Predicate, RequiredTruth, RowMatch};

fn dialect(name: DialectName) -> &'static dyn Dialect {
    name.dialect()
}

fn run(
    schema: &Schema,
    table: usize,
    existing: &MemoryDatabase<'_>,
    predicate: &Predicate,
    fresh: &[usize],
    dialect: &'static dyn Dialect,
) -> GeneratorResult {
    let task = GenerationTask {
        schema,
        dialect,
        table,
        predicate,
        existing,
        fresh,
        budget: 100_000,
    };
    Constructive.generate(&task, &mut fastrand::Rng::with_seed(7))
}

/// Answers on an empty PostgreSQL database of one table.
fn answers(schema: &Schema, predicate: &Predicate) -> Vec<Vec<Row>> {
    let postgres = dialect(DialectName::Postgres);
    let existing = MemoryDatabase::new(schema, postgres);
    match run(schema, 0, &existing, predicate, &[], postgres) {
        GeneratorResult::Rows(answers) => answers,
        other => panic!("expected rows, found {other:?}"),
    }
}

fn proof(schema: &Schema, predicate: &Predicate) -> String {
    let postgres = dialect(DialectName::Postgres);
    let existing = MemoryDatabase::new(schema, postgres);
    match run(schema, 0, &existing, predicate, &[], postgres) {
        GeneratorResult::Infeasible { proof } => proof,
        other => panic!("expected a proof, found {other:?}"),
    }
}

/// The values of one column over all answers.
fn column(answers: &[Vec<Row>], column: usize) -> Vec<String> {
    answers
        .iter()
        .map(|rows| {
            rows[rows.len() - 1]
                .value(column)
                .map_or("-".to_owned(), Value::to_string)
        })
        .collect()
}

fn products() -> Schema {
    let price = || int("price", 0);
    let discounted = || int("discounted_price", 1);
    schema([table(
        "products",
        [
            ("price", DataType::INT),
            ("discounted_price", DataType::INT),
        ],
        [
            check(gt(price(), Expr::int(0))),
            check(gt(discounted(), Expr::int(0))),
            check(gt(price(), discounted())),
        ],
    )])
}

#[test]
fn a_check_implied_by_two_others_cannot_be_violated_alone() {
    let schema = products();
    let predicate = violating(&schema, 0, 0);
    insta::assert_snapshot!(proof(&schema, &predicate), @"no row satisfies all of: `products.price > 0` is false; (`products.discounted_price > 0` is true or `products.discounted_price` is NULL); (`products.price > products.discounted_price` is true or `products.price` is NULL or `products.discounted_price` is NULL); `products.discounted_price` is not NULL");
}

#[test]
fn null_is_a_way_out_unless_it_is_forbidden() {
    let schema = products();
    // Without NOT NULL, a NULL discount makes the comparison unknown.
    let predicate = Predicate::and([
        holds_false(gt(int("price", 0), Expr::int(0))),
        satisfied_check(gt(int("discounted_price", 1), Expr::int(0))),
        satisfied_check(gt(int("price", 0), int("discounted_price", 1))),
    ]);
    let found = answers(&schema, &predicate);
    assert_eq!(column(&found, 1)[0], "NULL");
}

#[test]
fn a_violated_bound_is_tried_on_beside_and_far_from_it() {
    let schema = schema([table(
        "t",
        [("quantity", DataType::INT)],
        [check(gt(int("quantity", 0), Expr::int(0)))],
    )]);
    let found = answers(&schema, &violating(&schema, 0, 0));
    assert_eq!(column(&found, 0), ["0", "-1", "-100"]);
}

#[test]
fn an_accepted_bound_is_tried_on_and_inside_it() {
    let schema = schema([table(
        "t",
        [("temperature", DataType::INT)],
        [check(between(int("temperature", 0), 80, 150))],
    )]);
    let predicate = holds_true(between(int("temperature", 0), 80, 150));
    let found = answers(&schema, &predicate);
    assert_eq!(column(&found, 0), ["80", "150", "81", "115"]);
}

#[test]
fn null_where_a_check_says_not_null_is_impossible() {
    let schema = schema([table("t", [("book_id", DataType::INT)], [])]);
    let not_null = Expr::IsNull {
        expr: Box::new(int("book_id", 0)),
        negated: true,
    };
    let predicate = Predicate::and([
        Predicate::null(0),
        Predicate::Expr {
            expr: not_null,
            wanted: RequiredTruth::NotFalse,
        },
    ]);
    insta::assert_snapshot!(proof(&schema, &predicate), @"no row satisfies all of: `t.book_id` is NULL; `t.book_id IS NOT NULL` is not false");
}

fn differ(columns: &[usize]) -> Predicate {
    Predicate::Match(RowMatch {
        with: 0,
        equal: Vec::new(),
        differ: columns.iter().map(|column| (*column, *column)).collect(),
        mode: MatchMode::Any,
    })
}

fn equal(columns: &[usize]) -> Predicate {
    Predicate::Match(RowMatch {
        with: 0,
        equal: columns.iter().map(|column| (*column, *column)).collect(),
        differ: Vec::new(),
        mode: MatchMode::All,
    })
}

fn with_row<'s>(
    schema: &'s Schema,
    dialect: &'static dyn Dialect,
    values: Vec<Value>,
) -> MemoryDatabase<'s> {
    let mut memory = MemoryDatabase::new(schema, dialect);
    let verdict = memory.insert(&Row::of(0, values)).expect("supported");
    assert_eq!(verdict, Verdict::Accepted);
    memory
}

#[test]
fn a_key_inside_another_key_cannot_be_the_only_one_violated() {
    let schema = schema([table("t", [("a", DataType::INT), ("b", DataType::INT)], [])]);
    let postgres = dialect(DialectName::Postgres);
    let existing = with_row(&schema, postgres, vec![Value::from(1), Value::from(2)]);
    let predicate = Predicate::and([
        equal(&[0, 1]),
        differ(&[0]),
        Predicate::not_null(0),
        Predicate::not_null(1),
    ]);
    let GeneratorResult::Infeasible { proof } =
        run(&schema, 0, &existing, &predicate, &[], postgres)
    else {
        panic!("expected a proof");
    };
    insta::assert_snapshot!(proof, @"no row satisfies all of: `t.a`, `t.b` matches a row of `t`; `t.a` differs from every row of `t`; `t.a` is not NULL");
}

#[test]
fn what_only_the_rows_there_forbid_is_not_called_impossible() {
    let schema = schema([table(
        "t",
        [("a", DataType::INT)],
        [check(between(int("a", 0), 1, 3))],
    )]);
    let postgres = dialect(DialectName::Postgres);
    let existing = with_row(&schema, postgres, vec![Value::from(2)]);
    // Equal to the row there (2) and at least 3: other rows could do it.
    let three = ge(int("a", 0), Expr::int(3));
    let predicate = Predicate::and([equal(&[0]), Predicate::not_null(0), holds_true(three)]);
    let found = run(&schema, 0, &existing, &predicate, &[], postgres);
    assert!(matches!(found, GeneratorResult::GaveUp { .. }), "{found:?}");
    // But at least 4 is beyond every row.
    let four = ge(int("a", 0), Expr::int(4));
    let predicate = Predicate::and([equal(&[0]), Predicate::not_null(0), holds_true(four)]);
    let found = run(&schema, 0, &existing, &predicate, &[], postgres);
    assert!(
        matches!(found, GeneratorResult::Infeasible { .. }),
        "{found:?}"
    );
}

#[test]
fn a_column_that_a_check_pins_never_differs() {
    let schema = schema([table(
        "t",
        [("a", DataType::INT)],
        [check(eq(int("a", 0), Expr::int(1)))],
    )]);
    let postgres = dialect(DialectName::Postgres);
    let existing = with_row(&schema, postgres, vec![Value::from(1)]);
    let predicate = Predicate::and([
        differ(&[0]),
        Predicate::not_null(0),
        satisfied_check(eq(int("a", 0), Expr::int(1))),
    ]);
    let GeneratorResult::Infeasible { proof } =
        run(&schema, 0, &existing, &predicate, &[], postgres)
    else {
        panic!("expected a proof");
    };
    insta::assert_snapshot!(proof, @"no row satisfies all of: CHECK (a = 1) of `t`; `t.a` differs from every row of `t`; `t.a` is not NULL; (`t.a = 1` is true or `t.a` is NULL)");
}

#[test]
fn a_boolean_has_two_values_and_no_third() {
    let schema = schema([table("t", [("flag", DataType::Boolean)], [])]);
    let postgres = dialect(DialectName::Postgres);
    let predicate = Predicate::and([differ(&[0]), Predicate::not_null(0)]);
    let mut existing = with_row(&schema, postgres, vec![Value::Bool(true)]);
    let GeneratorResult::Rows(found) = run(&schema, 0, &existing, &predicate, &[], postgres) else {
        panic!("expected rows");
    };
    assert_eq!(column(&found, 0), ["false"]);
    existing
        .insert(&Row::of(0, [Value::Bool(false)]))
        .expect("supported");
    let found = run(&schema, 0, &existing, &predicate, &[], postgres);
    // Two rows could both be true.
    assert!(matches!(found, GeneratorResult::GaveUp { .. }), "{found:?}");
}

#[test]
fn free_cells_keep_their_distance_from_the_row_to_compare_with() {
    let schema = schema([table(
        "people",
        [
            ("id", DataType::INT),
            ("name", DataType::Varchar { length: Some(20) }),
            ("city", DataType::Varchar { length: Some(20) }),
            ("age", DataType::INT),
        ],
        [],
    )]);
    let postgres = dialect(DialectName::Postgres);
    let seed = vec![
        Value::from(5),
        Value::from("Ada Adams"),
        Value::from("Oslo"),
        Value::from(40),
    ];
    let existing = with_row(&schema, postgres, seed.clone());
    for random in 0..50 {
        let predicate = Predicate::and([equal(&[0]), Predicate::not_null(0)]);
        let task = GenerationTask {
            schema: &schema,
            dialect: postgres,
            table: 0,
            predicate: &predicate,
            existing: &existing,
            fresh: &[],
            budget: 100,
        };
        let mut rng = fastrand::Rng::with_seed(random);
        let GeneratorResult::Rows(found) = Constructive.generate(&task, &mut rng) else {
            panic!("expected rows");
        };
        let row = &found[0][0];
        assert_eq!(row.value(0), Some(&seed[0]));
        for (column, value) in seed.iter().enumerate().skip(1) {
            assert_ne!(row.value(column), Some(value));
            assert_ne!(row.value(column), Some(&Value::Null));
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_rows() {
    let schema = products();
    let predicate = accepted(&schema, 0);
    assert_eq!(answers(&schema, &predicate), answers(&schema, &predicate));
}

#[test]
fn a_key_that_is_a_foreign_key_takes_a_fresh_parent() {
    let parent = table("parent", [("id", DataType::INT)], [primary_key(&[0])]);
    let child = table(
        "child",
        [("id", DataType::INT), ("note", DataType::Text)],
        [primary_key(&[0]), foreign_key(&[0], 0, &[0])],
    );
    let schema = schema([parent, child]);
    let postgres = dialect(DialectName::Postgres);
    let mut existing = MemoryDatabase::new(&schema, postgres);
    existing
        .insert(&Row::of(0, [Value::from(1)]))
        .expect("supported");
    existing
        .insert(&Row::of(1, [Value::from(1), Value::from("x")]))
        .expect("supported");
    let differ = Predicate::Match(RowMatch {
        with: 1,
        equal: Vec::new(),
        differ: vec![(0, 0)],
        mode: MatchMode::Any,
    });
    let refers = Predicate::Match(RowMatch {
        with: 0,
        equal: vec![(0, 0)],
        differ: Vec::new(),
        mode: MatchMode::All,
    });
    let predicate = Predicate::and([differ, refers, Predicate::not_null(0)]);
    let found = run(&schema, 1, &existing, &predicate, &[0], postgres);
    let GeneratorResult::Rows(found) = found else {
        panic!("expected rows, found {found:?}");
    };
    assert_eq!(found[0].len(), 2);
    assert_eq!(found[0][0].value(0), found[0][1].value(0));
    // Without one, this state has no answer, but another might.
    let found = run(&schema, 1, &existing, &predicate, &[], postgres);
    assert!(matches!(found, GeneratorResult::GaveUp { .. }), "{found:?}");
}

#[test]
fn columns_too_short_for_a_length_are_refuted() {
    let schema = schema([table(
        "t",
        [("code", DataType::Varchar { length: Some(3) })],
        [],
    )]);
    let long = gt(call("length", [varchar("code", 0, 3)]), Expr::int(3));
    insta::assert_snapshot!(proof(&schema, &holds_true(long)), @"no row satisfies all of: `LENGTH(t.code) > 3` is true; `t.code` has type VARCHAR(3)");
}

#[test]
fn a_circle_of_strict_orders_is_refuted_at_once() {
    let columns = [
        ("a", DataType::INT),
        ("b", DataType::INT),
        ("c", DataType::INT),
    ];
    let schema = schema([table("t", columns, [])]);
    let (a, b, c) = (|| int("a", 0), || int("b", 1), || int("c", 2));
    let predicate = Predicate::and([
        holds_true(lt(a(), b())),
        holds_true(lt(b(), c())),
        holds_true(lt(c(), a())),
    ]);
    insta::assert_snapshot!(proof(&schema, &predicate), @"no row satisfies all of: `t.a < t.b` is true; `t.b < t.c` is true; `t.c < t.a` is true");
}

#[test]
fn sqlite_is_not_refuted_by_counting_values() {
    let schema = schema([table("t", [("a", DataType::INT)], [])]);
    let sqlite = dialect(DialectName::Sqlite);
    let existing = MemoryDatabase::new(&schema, sqlite);
    let open = Predicate::and([
        holds_true(gt(int("a", 0), Expr::int(1))),
        holds_true(lt(int("a", 0), Expr::int(2))),
    ]);
    let found = run(&schema, 0, &existing, &open, &[], sqlite);
    assert!(matches!(found, GeneratorResult::Rows(_)), "{found:?}");
    let postgres = proof(&schema, &open);
    assert!(
        postgres.contains("`t.a > 1` is true; `t.a < 2` is true"),
        "{postgres}"
    );
}

#[test]
fn every_known_type_has_a_value_that_its_column_keeps() {
    let types = [
        DataType::Boolean,
        DataType::Integer {
            bits: 8,
            unsigned: true,
        },
        DataType::Decimal {
            precision: Some(3),
            scale: Some(3),
        },
        DataType::Decimal {
            precision: Some(10),
            scale: Some(2),
        },
        DataType::Float { bits: 32 },
        DataType::Char { length: 1 },
        DataType::Varchar { length: Some(2) },
        DataType::Text,
        DataType::Bytes {
            length: Some(8),
            fixed: true,
        },
        DataType::Date,
        DataType::Time {
            precision: 0,
            zoned: false,
        },
        DataType::Timestamp {
            precision: 0,
            zoned: false,
        },
        DataType::Timestamp {
            precision: 6,
            zoned: true,
        },
        DataType::Uuid,
        DataType::Json { binary: true },
        DataType::Enum {
            name: None,
            labels: vec!["a".into(), "b".into()],
        },
    ];
    let columns: Vec<(String, DataType)> = types
        .into_iter()
        .enumerate()
        .map(|(index, of)| (format!("c{index}"), of))
        .collect();
    let schema = schema([table(
        "t",
        columns.iter().map(|(name, of)| (name.as_str(), of.clone())),
        [],
    )]);
    for name in DialectName::ALL {
        let dialect = dialect(name);
        let mut existing = MemoryDatabase::new(&schema, dialect);
        let predicate = Predicate::and((0..columns.len()).map(Predicate::not_null));
        for _ in 0..3 {
            let found = run(&schema, 0, &existing, &predicate, &[], dialect);
            let GeneratorResult::Rows(found) = found else {
                panic!("{name}: {found:?}");
            };
            assert_eq!(
                existing.insert(&found[0][0]),
                Ok(Verdict::Accepted),
                "{name}"
            );
        }
    }
}

#[test]
fn a_type_without_samples_is_named() {
    let odd = DataType::Other("hyperloglog".into());
    let schema = schema([table("t", [("sketch", odd)], [])]);
    let postgres = dialect(DialectName::Postgres);
    let existing = MemoryDatabase::new(&schema, postgres);
    let found = run(
        &schema,
        0,
        &existing,
        &Predicate::not_null(0),
        &[],
        postgres,
    );
    assert!(
        matches!(&found, GeneratorResult::Unsupported { what } if what.contains("hyperloglog")),
        "{found:?}"
    );
}

#[test]
fn values_that_do_not_fit_lie_just_past_the_limit() {
    let of = DataType::Varchar { length: Some(3) };
    let schema = schema([table("t", [("code", of.clone())], [])]);
    let predicate = Predicate::Fits {
        column: 0,
        data_type: of,
        fits: false,
    };
    assert_eq!(column(&answers(&schema, &predicate), 0)[0], "abcd");
}

#[test]
fn deciding_finds_what_tells_two_checks_apart() {
    let schema = schema([table("t", [("a", DataType::INT)], [])]);
    let postgres = dialect(DialectName::Postgres);
    let existing = MemoryDatabase::new(&schema, postgres);
    let decided = |predicate: &Predicate| {
        decide(&GenerationTask {
            schema: &schema,
            dialect: postgres,
            table: 0,
            predicate,
            existing: &existing,
            fresh: &[],
            budget: 1000,
        })
    };
    let apart = Predicate::and([
        holds_true(ge(int("a", 0), Expr::int(5))),
        holds_false(gt(int("a", 0), Expr::int(5))),
    ]);
    let Decision::Satisfiable(rows) = decided(&apart) else {
        panic!("expected rows");
    };
    assert_eq!(rows[0].value(0), Some(&Value::Int(5)));
    // For whole numbers, `a > 4` and `a >= 5` are the same.
    let same = Predicate::and([
        holds_true(ge(int("a", 0), Expr::int(5))),
        holds_false(gt(int("a", 0), Expr::int(4))),
    ]);
    assert!(matches!(decided(&same), Decision::Unsatisfiable { .. }));
}
