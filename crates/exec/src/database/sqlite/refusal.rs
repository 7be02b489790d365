//! SQLite's extended result codes and messages, as refusals.

use rusqlite::{Error, ffi};

use crate::database::{Refusal, RefusalKind};

/// What an error of a statement means.
pub(super) fn classify(error: &Error) -> Refusal {
    let (code, message) = match error {
        Error::SqliteFailure(failure, message) => (
            Some(failure.extended_code),
            message.clone().unwrap_or_else(|| failure.to_string()),
        ),
        Error::SqlInputError { error, msg, .. } => (Some(error.extended_code), msg.clone()),
        other => (None, other.to_string()),
    };
    let kind = kind(code.unwrap_or_default(), &message);
    let mut refusal = Refusal {
        kind,
        code: code.map(i64::from),
        message,
        ..Refusal::default()
    };
    name_culprit(&mut refusal);
    refusal
}

/// What a message means that came without its code; duplicates of a primary key look like any others.
pub(crate) fn from_message(message: &str) -> Refusal {
    let kind = match message.split_once(" constraint failed") {
        Some(("NOT NULL", _)) => RefusalKind::NotNull,
        Some(("UNIQUE", _)) => RefusalKind::Unique,
        Some(("FOREIGN KEY", _)) => RefusalKind::ForeignKey,
        Some(("CHECK", _)) => RefusalKind::Check,
        _ => kind(0, message),
    };
    let mut refusal = Refusal {
        kind,
        message: message.to_owned(),
        ..Refusal::default()
    };
    if kind != RefusalKind::Other {
        name_culprit(&mut refusal);
    }
    refusal
}

fn kind(code: i32, message: &str) -> RefusalKind {
    match code {
        ffi::SQLITE_CONSTRAINT_NOTNULL => RefusalKind::NotNull,
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => RefusalKind::PrimaryKey,
        ffi::SQLITE_CONSTRAINT_UNIQUE => RefusalKind::Unique,
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => RefusalKind::ForeignKey,
        // RESTRICT is carried out by a trigger inside SQLite.
        ffi::SQLITE_CONSTRAINT_TRIGGER if message == "FOREIGN KEY constraint failed" => {
            RefusalKind::ForeignKey
        }
        ffi::SQLITE_CONSTRAINT_CHECK => RefusalKind::Check,
        ffi::SQLITE_CONSTRAINT_DATATYPE | ffi::SQLITE_MISMATCH => RefusalKind::WrongType,
        ffi::SQLITE_TOOBIG => RefusalKind::TooLong,
        _ if message.contains("generated column") => RefusalKind::GeneratedColumn,
        _ if message.contains("integer overflow") => RefusalKind::OutOfRange,
        _ => RefusalKind::Other,
    }
}

/// Reads the constraint, the table and the columns from the message.
fn name_culprit(refusal: &mut Refusal) {
    let Some((what, culprit)) = refusal.message.split_once(" constraint failed: ") else {
        if let Some((_, column)) = refusal.message.rsplit_once(" column ")
            && let Some((table, column)) = column.split_once('.')
        {
            refusal.table = Some(table.to_owned());
            refusal.columns = vec![column.to_owned()];
        }
        return;
    };
    if what == "CHECK" {
        refusal.constraint = Some(culprit.to_owned());
    } else if let Some(index) = culprit
        .strip_prefix("index '")
        .and_then(|rest| rest.strip_suffix('\''))
    {
        refusal.constraint = Some(index.to_owned());
    } else {
        // "t.a, t.b", with nothing to tell a dot within a name from the one after the table.
        let first = culprit.split(", ").next();
        if let Some((table, _)) = first.and_then(|first| first.split_once('.')) {
            let prefix = format!("{table}.");
            refusal.columns = culprit
                .split(", ")
                .map(|part| part.strip_prefix(&prefix).unwrap_or(part).to_owned())
                .collect();
            refusal.table = Some(table.to_owned());
        }
    }
}
