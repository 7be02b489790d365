//! Conditions of every shape that are made true, and made false, in every dialect.

use isobath_sql::expr::CompareOp;
use isobath_sql::memory::MemoryDatabase;
use isobath_sql::{DataType, DialectName, Expr};

use super::build::*;
use super::{dialect, run};
use crate::schema::generator::GeneratorResult;
use crate::schema::predicate::{Predicate, RequiredTruth};

/// Every dialect finds a row on which the CHECK is true, and one on which it is false.
fn solves(columns: &[(&str, DataType)], expr: Expr) {
    for name in DialectName::ALL {
        let dialect = dialect(name);
        let schema = schema([table("t", columns.iter().cloned(), [check(expr.clone())])]);
        let existing = MemoryDatabase::new(&schema, dialect);
        for wanted in [RequiredTruth::True, RequiredTruth::False] {
            let predicate = Predicate::Expr {
                expr: expr.clone(),
                wanted,
            };
            let found = run(&schema, 0, &existing, &predicate, &[], dialect);
            assert!(
                matches!(found, GeneratorResult::Rows(_)),
                "{name} {wanted:?}: {found:?}"
            );
        }
    }
}

#[test]
fn functions_of_text_are_solved() {
    let name = || text("name", 0);
    let columns = [("name", DataType::Varchar { length: Some(40) })];
    solves(
        &columns,
        Expr::And(vec![
            eq(call("length", [name()]), Expr::int(12)),
            eq(
                call("substr", [name(), Expr::int(1), Expr::int(5)]),
                lit("abcde"),
            ),
        ]),
    );
    solves(
        &columns,
        Expr::And(vec![
            eq(call("lower", [name()]), name()),
            like(name(), "%@%.%"),
        ]),
    );
    solves(&columns, eq(call("upper", [name()]), lit("QUITE LONG")));
    solves(&columns, lt(name(), lit("B")));
    solves(
        &columns,
        gt(call("length", [call("trim", [name()])]), Expr::int(3)),
    );
}

#[test]
fn patterns_and_orders_of_text_are_solved() {
    let name = || text("name", 0);
    let columns = [("name", DataType::Varchar { length: Some(40) })];
    solves(&columns, like(name(), "%@%.%"));
    solves(
        &columns,
        Expr::And(vec![like(name(), "a_c%"), like(name(), "%z")]),
    );
    solves(&columns, lt(name(), lit("B")));
}

#[test]
fn arithmetic_is_solved() {
    let columns = [("quantity", DataType::INT), ("price", DataType::INT)];
    let (quantity, price) = (|| int("quantity", 0), || int("price", 1));
    solves(&columns, le(times(quantity(), price()), Expr::int(1000)));
    solves(&columns, eq(modulo(quantity(), 7), Expr::int(3)));
    solves(&columns, eq(plus(quantity(), price()), Expr::int(4711)));
    solves(&columns, gt(quantity(), plus(price(), Expr::int(7))));
    solves(&columns, le(call("abs", [quantity()]), Expr::int(5)));
    let between_five_and_nine = Expr::And(vec![
        gt(times(quantity(), Expr::int(2)), Expr::int(10)),
        lt(times(quantity(), Expr::int(2)), Expr::int(14)),
    ]);
    solves(&columns, between_five_and_nine);
}

#[test]
fn case_and_alternatives_are_solved() {
    let columns = [
        ("kind", DataType::Varchar { length: Some(9) }),
        ("size", DataType::INT),
    ];
    let expr = Expr::Case {
        operand: None,
        branches: vec![(
            eq(text("kind", 0), lit("small")),
            lt(int("size", 1), Expr::int(10)),
        )],
        otherwise: Some(Box::new(gt(int("size", 1), Expr::int(500)))),
    };
    solves(&columns, expr);
}

#[test]
fn conditions_that_are_compared_with_each_other_are_solved() {
    let columns = [
        ("state", DataType::Varchar { length: Some(9) }),
        ("closed_at", DataType::INT),
    ];
    let closed = || eq(text("state", 0), lit("closed"));
    let dated = || Expr::IsNull {
        expr: Box::new(int("closed_at", 1)),
        negated: true,
    };
    for op in [CompareOp::Equal, CompareOp::NotEqual] {
        solves(&columns, compare(op, closed(), dated()));
    }
}
