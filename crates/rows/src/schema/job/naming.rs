//! Names that say what a test is about.

use isobath_sql::memory::{Verdict, ViolationKind};
use isobath_sql::schema::ConstraintKind;
use isobath_sql::{Cell, Row, Schema, Value};
use rustc_hash::FxHashMap;

use crate::schema::case::ExpectedOutcome;
use crate::schema::phrase;
use crate::schema::requirement::Requirement;

/// Most columns of a CHECK whose values are put into a name.
const MAX_COLUMNS: usize = 3;
/// Longest value that is put into a name.
const LONGEST_VALUE: usize = 24;

/// Names given so far.
#[derive(Debug, Default)]
pub(crate) struct TestNames {
    given: FxHashMap<String, usize>,
}

impl TestNames {
    /// The name, or the name with a number when it is taken.
    pub(crate) fn unique(&mut self, name: String) -> String {
        let count = self.given.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 {
            return name;
        }
        let numbered = format!("{name} ({count})");
        self.unique(numbered)
    }
}

/// The name of a test of a requirement with the row that was found.
pub(super) fn name(
    schema: &Schema,
    requirement: &Requirement,
    row: &Row,
    expected: &ExpectedOutcome,
) -> String {
    let table = &schema.tables[requirement.table];
    if let (Some(constraint), ExpectedOutcome::Rejected(_)) = (requirement.violates, expected)
        && let ConstraintKind::Check { expr } = &table.constraints[constraint].kind
    {
        let columns = expr.columns();
        let values: Option<Vec<String>> = columns
            .iter()
            .map(|column| {
                let value = short(row, *column)?;
                Some(format!("{} = {value}", table.columns[*column].name))
            })
            .collect();
        if let Some(values) = values
            && !values.is_empty()
            && values.len() <= MAX_COLUMNS
        {
            let condition = phrase::condition(expr);
            return format!("{} rejects {} ({condition})", table.name, values.join(", "));
        }
    }
    let sentence = &requirement.description[0];
    // Criteria that do not control the outcome say "judges"; now the outcome is known.
    let verb = match expected {
        ExpectedOutcome::Accepted => "accepts",
        ExpectedOutcome::Rejected(_) => "rejects",
    };
    let judges = format!("{} judges ", table.name);
    match sentence.strip_prefix(&judges) {
        Some(rest) => format!("{} {verb} {rest}", table.name),
        None => sentence.clone(),
    }
}

/// A value for a name; `None` when it is too long or left to the database.
fn short(row: &Row, column: usize) -> Option<String> {
    let Cell::Value(value) = row.cells.get(column)? else {
        return None;
    };
    let text = match value {
        Value::Text(text) => format!("'{text}'"),
        value => value.to_string(),
    };
    let printable = text.chars().all(|c| !c.is_control());
    (printable && text.chars().count() <= LONGEST_VALUE).then_some(text)
}

/// The reason that a verdict gives, in a few words, for messages.
pub(super) fn reasons(schema: &Schema, verdict: &Verdict) -> String {
    let Verdict::Rejected(violations) = verdict else {
        return "it is accepted".to_owned();
    };
    let reasons: Vec<String> = violations
        .iter()
        .map(|violation| {
            let table = &schema.tables[violation.table];
            let column = |column: usize| table.columns[column].name.as_str();
            let of = violation
                .constraint
                .map(|constraint| phrase::columns(table, &table.constraints[constraint].columns()));
            let of = of.unwrap_or_default();
            match &violation.kind {
                ViolationKind::Null { column: at } => format!("NULL in {}", column(*at)),
                ViolationKind::Duplicate => format!("a duplicate in {of}"),
                ViolationKind::NoParent => format!("no parent for {of}"),
                ViolationKind::StillReferenced => format!("{} still refers to it", table.name),
                ViolationKind::CheckFalse => format!("a false CHECK on {of}"),
                ViolationKind::Raises(raised) => raised.to_string(),
                ViolationKind::Type { column: at, error } => format!("{}: {error}", column(*at)),
                ViolationKind::GivenGenerated { column: at } => {
                    format!("a value for {}", column(*at))
                }
            }
        })
        .collect();
    reasons.join(", ")
}
