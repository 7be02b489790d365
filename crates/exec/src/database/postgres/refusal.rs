//! PostgreSQL's error fields, as refusals.

use tokio_postgres::error::DbError;

use crate::database::{Refusal, RefusalKind};

/// The fields of an error that tell what was wrong.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ErrorFields<'a> {
    pub(crate) code: &'a str,
    pub(crate) message: &'a str,
    pub(crate) detail: &'a str,
    pub(crate) table: Option<&'a str>,
    pub(crate) column: Option<&'a str>,
    pub(crate) constraint: Option<&'a str>,
}

/// What an error of a statement means.
pub(super) fn classify(error: &DbError) -> Refusal {
    refusal(&ErrorFields {
        code: error.code().code(),
        message: error.message(),
        detail: error.detail().unwrap_or_default(),
        table: error.table(),
        column: error.column(),
        constraint: error.constraint(),
    })
}

/// What the fields of an error mean.
pub(crate) fn refusal(told: &ErrorFields<'_>) -> Refusal {
    let kind = kind(told.code);
    let columns = match told.column {
        Some(column) => vec![column.to_owned()],
        None => key_columns(kind, told.detail),
    };
    Refusal {
        kind,
        sqlstate: Some(told.code.to_owned()),
        code: None,
        constraint: told.constraint.map(str::to_owned),
        table: told.table.map(str::to_owned),
        columns,
        message: told.message.to_owned(),
    }
}

/// The kind behind a SQLSTATE; duplicates of a primary key are told apart later, by name.
fn kind(sqlstate: &str) -> RefusalKind {
    match sqlstate {
        "23502" => RefusalKind::NotNull,
        "23505" => RefusalKind::Unique,
        "23503" | "23001" => RefusalKind::ForeignKey,
        "23514" => RefusalKind::Check,
        // string_data_right_truncation; string_data_length_mismatch of BIT(n).
        "22001" | "22026" => RefusalKind::TooLong,
        // Of numbers, of dates, of intervals.
        "22003" | "22008" | "22015" => RefusalKind::OutOfRange,
        // Malformed text of a type, of a date, of JSON and bytes; a mismatch seen without looking at the value.
        "22P02" | "22007" | "22P03" | "22021" | "42804" | "42846" => RefusalKind::WrongType,
        "428C9" => RefusalKind::GeneratedColumn,
        "22012" => RefusalKind::DivisionByZero,
        _ => RefusalKind::Other,
    }
}

/// The columns in `Key (a, b)=(1, 2) already exists.`
///
/// When a row referred to goes away, the key in the detail is that of the other
/// table, so it tells nothing about the one that refuses.
fn key_columns(kind: RefusalKind, detail: &str) -> Vec<String> {
    let speaks_of_own_table = match kind {
        RefusalKind::Unique => true,
        RefusalKind::ForeignKey => detail.contains("is not present in table"),
        _ => false,
    };
    if !speaks_of_own_table {
        return Vec::new();
    }
    let Some((columns, _)) = detail
        .strip_prefix("Key (")
        .and_then(|rest| rest.split_once(")=("))
    else {
        return Vec::new();
    };
    columns.split(", ").map(unquoted).collect()
}

fn unquoted(name: &str) -> String {
    match name
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        Some(inner) => inner.replace("\"\"", "\""),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_a_key_are_read_from_the_detail() {
        let of = |kind, detail| key_columns(kind, detail);
        assert_eq!(
            of(
                RefusalKind::Unique,
                "Key (a, \"b \"\"c\")=(1, 2) already exists."
            ),
            ["a", "b \"c"]
        );
        assert_eq!(
            of(
                RefusalKind::ForeignKey,
                "Key (a)=(5) is not present in table \"p\"."
            ),
            ["a"]
        );
        assert!(
            of(
                RefusalKind::ForeignKey,
                "Key (id)=(5) is still referenced from table \"c\"."
            )
            .is_empty()
        );
        assert!(of(RefusalKind::Check, "Failing row contains (1).").is_empty());
    }
}
