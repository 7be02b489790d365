//! What conditions mean, by hand-picked examples; the agreement tests have the many.

use isobath_sql::eval::{EvalError, RaisedError, truth};
use isobath_sql::expr::{BinaryOp, ColumnRef, CompareOp, Expr, PatternKind};
use isobath_sql::{DataType, DialectName, Value};

fn column(slot: usize, data_type: DataType) -> Expr {
    Expr::Column(ColumnRef {
        slot,
        name: format!("c{slot}"),
        data_type,
        collation: None,
    })
}

fn compare(op: CompareOp, left: Expr, right: Expr) -> Expr {
    Expr::Compare {
        op,
        left: Box::new(left),
        right: Box::new(right),
    }
}

fn text(value: &str) -> Expr {
    Expr::Literal(Value::text(value))
}

fn verdict(expr: &Expr, row: &[Value], dialect: DialectName) -> Option<bool> {
    truth(expr, row, dialect.dialect())
        .expect("the examples are evaluated")
        .verdict()
}

const VARCHAR: DataType = DataType::Varchar { length: Some(20) };

#[test]
fn a_comparison_with_null_is_unknown_everywhere() {
    let expr = compare(CompareOp::Less, column(0, DataType::INT), Expr::int(5));
    for dialect in DialectName::ALL {
        assert_eq!(verdict(&expr, &[Value::Null], dialect), None);
        assert_eq!(verdict(&expr, &[Value::Int(4)], dialect), Some(true));
    }
}

#[test]
fn distance_of_an_equality_is_the_difference() {
    let expr = compare(CompareOp::Equal, column(0, DataType::INT), Expr::int(7));
    let found = truth(&expr, &[Value::Int(4)], DialectName::Postgres.dialect()).unwrap();
    assert_eq!(found.to_true(), 3.0);
}

#[test]
fn case_counts_except_in_mariadb() {
    let expr = compare(CompareOp::Equal, column(0, VARCHAR), text("Yes"));
    let row = [Value::text("yes")];
    assert_eq!(verdict(&expr, &row, DialectName::Postgres), Some(false));
    assert_eq!(verdict(&expr, &row, DialectName::Sqlite), Some(false));
    assert_eq!(verdict(&expr, &row, DialectName::MySql), Some(true));
}

#[test]
fn a_literal_beside_a_date_is_a_date() {
    let day = Value::Date(jiff::civil::date(2020, 3, 1));
    let expr = compare(
        CompareOp::Greater,
        column(0, DataType::Date),
        text("2020-2-29"),
    );
    assert_eq!(verdict(&expr, &[day], DialectName::Postgres), Some(true));
    let wrong = compare(CompareOp::Greater, column(0, DataType::Date), text("soon"));
    assert_eq!(
        truth(&wrong, &[Value::Null], DialectName::Postgres.dialect()),
        Err(EvalError::Raised(RaisedError::InvalidText))
    );
}

#[test]
fn numbers_and_text_meet_by_affinity_in_sqlite() {
    let number = compare(CompareOp::Equal, column(0, DataType::INT), text("5"));
    assert_eq!(
        verdict(&number, &[Value::Int(5)], DialectName::Sqlite),
        Some(true)
    );
    // Without affinity on either side, a number is less than any text.
    let bare = compare(CompareOp::Less, Expr::int(5), text("4"));
    assert_eq!(verdict(&bare, &[], DialectName::Sqlite), Some(true));
}

#[test]
fn division_by_zero_is_an_error_or_null() {
    let expr = compare(
        CompareOp::Greater,
        Expr::Binary {
            op: BinaryOp::Divide,
            left: Box::new(Expr::int(1)),
            right: Box::new(column(0, DataType::INT)),
        },
        Expr::int(0),
    );
    let row = [Value::Int(0)];
    for dialect in [DialectName::Postgres, DialectName::MySql] {
        assert_eq!(
            truth(&expr, &row, dialect.dialect()),
            Err(EvalError::Raised(RaisedError::DivisionByZero))
        );
    }
    assert_eq!(verdict(&expr, &row, DialectName::Sqlite), None);
}

#[test]
fn an_error_behind_a_false_conjunct_never_happens() {
    let guard = compare(CompareOp::NotEqual, column(0, DataType::INT), Expr::int(0));
    let divides = compare(
        CompareOp::Greater,
        Expr::Binary {
            op: BinaryOp::Divide,
            left: Box::new(Expr::int(1)),
            right: Box::new(column(0, DataType::INT)),
        },
        Expr::int(0),
    );
    let expr = Expr::And(vec![guard, divides]);
    assert_eq!(
        verdict(&expr, &[Value::Int(0)], DialectName::Postgres),
        Some(false)
    );
}

#[test]
fn like_measures_the_edits_to_the_pattern() {
    let expr = Expr::Like {
        expr: Box::new(column(0, VARCHAR)),
        pattern: Box::new(text("a_c%")),
        escape: None,
        kind: PatternKind::Like,
        negated: false,
    };
    assert_eq!(
        verdict(&expr, &[Value::text("abcd")], DialectName::Postgres),
        Some(true)
    );
    let miss = truth(&expr, &[Value::text("ab")], DialectName::Postgres.dialect()).unwrap();
    assert_eq!(miss.to_true(), 1.0);
}
