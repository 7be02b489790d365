use serde_json::json;

use super::*;

#[test]
fn references_to_rows_name_their_column() {
    assert_eq!(column(&place(3)), Some(3));
    assert_eq!(column("body/id"), None);
    let row = vec![Some(Value::from(7)), None, Some(Value::text("x"))];
    let seeded = SeededRows {
        rows: Inserted::from([(4, row)]),
        refused: None,
    };
    assert_eq!(seeded.value(4, &place(0)), Some(json!(7)));
    assert_eq!(seeded.value(4, &place(1)), None);
    assert_eq!(seeded.value(4, &place(2)), Some(json!("x")));
    assert_eq!(seeded.value(5, &place(0)), None);
}

#[test]
fn values_are_what_an_input_would_say() {
    let at = jiff::civil::date(2024, 2, 29).at(12, 30, 0, 0);
    assert_eq!(
        json(&Value::DateTime(at)),
        Some(json!("2024-02-29T12:30:00"))
    );
    assert_eq!(
        json(&Value::Int(i128::from(u64::MAX))),
        Some(json!(u64::MAX))
    );
    assert_eq!(json(&Value::Int(i128::MAX)), None);
    assert_eq!(json(&Value::Null), None);
}
