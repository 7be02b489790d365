//! How requirements name columns and conditions.

use isobath_sql::dialect::Ansi;
use isobath_sql::{Expr, Table};

use crate::schema::phrase;

/// Longest condition that is quoted in full.
const LONGEST: usize = 60;

/// Column names, joined as in a sentence.
pub(crate) fn columns(table: &Table, columns: &[usize]) -> String {
    let names: Vec<&str> = columns
        .iter()
        .map(|column| table.columns[*column].name.as_str())
        .collect();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        [one] => (*one).to_owned(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

/// A condition as SQL, shortened.
pub(crate) fn condition(expr: &Expr) -> String {
    let text = phrase::expr(expr, &Ansi);
    if text.chars().count() <= LONGEST {
        return text;
    }
    let head: String = text.chars().take(LONGEST - 1).collect();
    format!("{head}…")
}

/// Several conditions, joined.
pub(super) fn conditions(parts: &[Expr], joint: &str) -> String {
    let parts: Vec<String> = parts.iter().map(condition).collect();
    parts.join(joint)
}
