//! On random small tables, what is found holds and what is refuted does not exist.

use isobath_sql::expr::CompareOp;
use isobath_sql::memory::MemoryDatabase;
use isobath_sql::{DataType, DialectName, Expr, Value};
use proptest::prelude::*;

use super::build::*;
use super::run;
use crate::schema::generator::GeneratorResult;
use crate::schema::predicate::{MatchMode, Predicate, RequiredTruth, RowMatch};

const COLUMNS: usize = 3;

fn cell(slot: usize) -> Expr {
    int(["a", "b", "c"][slot], slot)
}

/// Comparisons, BETWEEN, IN and IS NULL over three small integers, joined by AND, OR and NOT.
fn condition() -> impl Strategy<Value = Expr> {
    let op = (0..6usize).prop_map(|index| CompareOp::ALL[index]);
    let operand = prop_oneof![
        (0..COLUMNS).prop_map(cell),
        (-2i64..5).prop_map(Expr::int),
        (0..COLUMNS, -2i64..3).prop_map(|(slot, by)| plus(cell(slot), Expr::int(by))),
    ];
    let leaf = prop_oneof![
        4 => (op, (0..COLUMNS).prop_map(cell), operand)
            .prop_map(|(op, left, right)| compare(op, left, right)),
        1 => (0..COLUMNS, -2i64..3, -1i64..5)
            .prop_map(|(slot, low, high)| between(cell(slot), low, high)),
        1 => (0..COLUMNS, proptest::collection::vec(-1i64..4, 1..4), any::<bool>()).prop_map(
            |(slot, list, negated)| Expr::InList {
                expr: Box::new(cell(slot)),
                list: list.into_iter().map(Expr::int).collect(),
                negated,
            }
        ),
        1 => (0..COLUMNS, any::<bool>()).prop_map(|(slot, negated)| Expr::IsNull {
            expr: Box::new(cell(slot)),
            negated,
        }),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 2..4).prop_map(Expr::And),
            proptest::collection::vec(inner.clone(), 2..4).prop_map(Expr::Or),
            inner.prop_map(|expr| Expr::Not(Box::new(expr))),
        ]
    })
}

fn wanted() -> impl Strategy<Value = RequiredTruth> {
    prop_oneof![
        Just(RequiredTruth::True),
        Just(RequiredTruth::False),
        Just(RequiredTruth::Unknown),
        Just(RequiredTruth::NotFalse),
    ]
}

fn part() -> impl Strategy<Value = Predicate> {
    prop_oneof![
        4 => (condition(), wanted()).prop_map(|(expr, wanted)| Predicate::Expr { expr, wanted }),
        1 => (0..COLUMNS, any::<bool>())
            .prop_map(|(column, is_null)| Predicate::Null { column, is_null }),
        1 => (any::<[bool; 3]>(), any::<[bool; 3]>(), any::<bool>()).prop_map(
            |(equal, differ, all)| {
                let pairs = |of: [bool; 3]| {
                    (0..COLUMNS).filter(|slot| of[*slot]).map(|slot| (slot, slot)).collect()
                };
                Predicate::Match(RowMatch {
                    with: 0,
                    equal: pairs(equal),
                    differ: pairs(differ),
                    mode: if all { MatchMode::All } else { MatchMode::Any },
                })
            }
        ),
    ]
}

fn all_rows() -> Vec<Vec<Value>> {
    let values: Vec<Value> = (-7..=9i64).map(Value::from).chain([Value::Null]).collect();
    let mut rows = Vec::new();
    for a in &values {
        for b in &values {
            for c in &values {
                rows.push(vec![a.clone(), b.clone(), c.clone()]);
            }
        }
    }
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn found_rows_hold_and_refuted_ones_do_not_exist(
        parts in proptest::collection::vec(part(), 1..5),
        alternatives in proptest::collection::vec(part(), 0..3),
        seed in proptest::array::uniform3(-1i64..4),
        sqlite in any::<bool>(),
    ) {
        let name = if sqlite { DialectName::Sqlite } else { DialectName::Postgres };
        let dialect = name.dialect();
        let columns = [("a", DataType::INT), ("b", DataType::INT), ("c", DataType::INT)];
        let schema = schema([table("t", columns, [])]);
        let mut existing = MemoryDatabase::new(&schema, dialect);
        existing
            .insert(&isobath_sql::Row::of(0, seed.map(Value::from)))
            .expect("supported");
        let mut parts = parts;
        if !alternatives.is_empty() {
            parts.push(Predicate::or(alternatives));
        }
        let predicate = Predicate::and(parts);
        match run(&schema, 0, &existing, &predicate, &[], dialect) {
            GeneratorResult::Rows(answers) => {
                for rows in answers {
                    let stored = existing.stored(&rows[0]).expect("supported").expect("fits");
                    let holds = predicate.holds(0, &stored, &existing, dialect);
                    prop_assert_eq!(holds, Ok(true));
                }
            }
            GeneratorResult::Infeasible { proof } => {
                for row in all_rows() {
                    let holds = predicate.holds(0, &row, &existing, dialect);
                    prop_assert_ne!(holds, Ok(true), "{} yet {:?}", proof, row);
                }
            }
            GeneratorResult::GaveUp { .. } => {}
            GeneratorResult::Unsupported { what } => prop_assert!(false, "unsupported {}", what),
        }
    }
}
