//! MariaDB's and MySQL's error numbers and messages, as refusals.

use mysql_async::ServerError;

use crate::database::{Refusal, RefusalKind};

/// What an error of a statement means.
pub(super) fn classify(error: &ServerError) -> Refusal {
    refusal(error.code, &error.state, &error.message)
}

/// What a number, a SQLSTATE and a message mean.
pub(crate) fn refusal(code: u16, state: &str, message: &str) -> Refusal {
    let mut refusal = Refusal {
        kind: kind(code),
        sqlstate: Some(state.to_owned()),
        code: Some(code.into()),
        message: message.to_owned(),
        ..Refusal::default()
    };
    name_culprit(&mut refusal);
    if refusal.kind == RefusalKind::Unique && refusal.constraint.as_deref() == Some("PRIMARY") {
        refusal.kind = RefusalKind::PrimaryKey;
    }
    refusal
}

fn kind(code: u16) -> RefusalKind {
    match code {
        // NULL given; nothing given and no default; NULL by another way.
        1048 | 1364 | 1263 => RefusalKind::NotNull,
        1062 | 1586 | 1022 | 1169 => RefusalKind::Unique,
        1216 | 1217 | 1451 | 1452 | 1761 | 1762 => RefusalKind::ForeignKey,
        // MariaDB; MySQL.
        4025 | 3819 => RefusalKind::Check,
        1406 => RefusalKind::TooLong,
        // For a column; of an expression; of a date computed.
        1264 | 1690 | 1441 => RefusalKind::OutOfRange,
        // Not a number; not a label; not a date; not a geometry; types that do not go together; not JSON.
        1366 | 1265 | 1292 | 1367 | 1416 | 4078 | 3140 => RefusalKind::WrongType,
        // MariaDB; MySQL.
        1906 | 3105 => RefusalKind::GeneratedColumn,
        1365 => RefusalKind::DivisionByZero,
        _ => RefusalKind::Other,
    }
}

/// Reads the constraint, the table and the columns from the message.
fn name_culprit(refusal: &mut Refusal) {
    let message = refusal.message.clone();
    match refusal.kind {
        RefusalKind::Unique => {
            // "Duplicate entry '1' for key 'name'", where the entry may hold anything, quotes too.
            if let Some((_, key)) = message.rsplit_once(" for key '") {
                let key = key.strip_suffix('\'').unwrap_or(key);
                // MySQL writes 'table.key'.
                let (table, key) = match key.split_once('.') {
                    Some((table, key)) => (Some(table.to_owned()), key),
                    None => (None, key),
                };
                refusal.constraint = Some(key.to_owned());
                refusal.table = table;
            }
        }
        RefusalKind::ForeignKey => {
            // "… fails (`db`.`child`, CONSTRAINT `name` FOREIGN KEY (`a`, `b`) REFERENCES `parent` (…) …)"
            if let Some((_, rest)) = message.split_once(" fails (") {
                let (of, _) = rest.split_once(',').unwrap_or((rest, ""));
                refusal.table = names(of).pop();
            }
            if let Some((_, rest)) = message.split_once(", CONSTRAINT ") {
                refusal.constraint = names(rest).into_iter().next();
            }
            if let Some((_, rest)) = message.split_once(" FOREIGN KEY (")
                && let Some((columns, _)) = rest.split_once(") REFERENCES")
            {
                refusal.columns = names(columns);
            }
        }
        RefusalKind::Check => {
            // "CONSTRAINT `name` failed for `db`.`t`", "Check constraint 'name' is violated."
            if let Some((name, of)) = message.split_once(" failed for ") {
                refusal.constraint = names(name).pop();
                refusal.table = names(of).pop();
            } else {
                refusal.constraint = between(&message, "Check constraint '", "' is violated");
            }
        }
        RefusalKind::GeneratedColumn => {
            refusal.columns = between(&message, "generated column '", "'")
                .into_iter()
                .collect();
            refusal.table = between(&message, " in table '", "'");
        }
        RefusalKind::NotNull
        | RefusalKind::PrimaryKey
        | RefusalKind::TooLong
        | RefusalKind::OutOfRange
        | RefusalKind::WrongType
        | RefusalKind::DivisionByZero
        | RefusalKind::Other => {
            // "… for column 'a' at row 1", "… for column `db`.`t`.`a` at row 1",
            // "Column 'a' cannot be null", "Field 'a' doesn't have a default value".
            if let Some((_, rest)) = message.rsplit_once("for column `") {
                let mut path = names(&format!("`{rest}"));
                refusal.columns = path.pop().into_iter().collect();
                refusal.table = path.pop();
            } else if let Some(column) = between(&message, "for column '", "' at row")
                .or_else(|| between(&message, "Column '", "' cannot be null"))
                .or_else(|| between(&message, "Field '", "' doesn't have"))
            {
                refusal.columns = vec![column];
            }
        }
    }
}

/// The names in backquotes, up to the first unfinished one.
fn names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some((_, opened)) = rest.split_once('`') {
        let Some((name, after)) = opened.split_once('`') else {
            break;
        };
        names.push(name.to_owned());
        rest = after;
    }
    names
}

fn between(text: &str, before: &str, after: &str) -> Option<String> {
    let (_, rest) = text.split_once(before)?;
    let (inner, _) = rest.split_once(after)?;
    Some(inner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// kind | constraint | table | columns
    fn told(code: u16, message: &str) -> String {
        let refusal = classify(&ServerError {
            code,
            message: message.to_owned(),
            state: "23000".to_owned(),
        });
        format!(
            "{} | {} | {} | {}",
            refusal.kind,
            refusal.constraint.as_deref().unwrap_or("-"),
            refusal.table.as_deref().unwrap_or("-"),
            refusal.columns.join(","),
        )
    }

    #[test]
    fn duplicates_name_their_key_whatever_the_entry_holds() {
        assert_eq!(
            told(1062, "Duplicate entry '1' for key 'PRIMARY'"),
            "PRIMARY KEY | PRIMARY | - | "
        );
        assert_eq!(
            told(1062, "Duplicate entry 'a for key 'x'' for key 'u'"),
            "UNIQUE | u | - | "
        );
        assert_eq!(
            told(1062, "Duplicate entry '1' for key 't.PRIMARY'"),
            "PRIMARY KEY | PRIMARY | t | "
        );
    }

    #[test]
    fn foreign_keys_name_constraint_table_and_columns() {
        assert_eq!(
            told(
                1452,
                "Cannot add or update a child row: a foreign key constraint fails (`d`.`c`, CONSTRAINT `fk` FOREIGN KEY (`a`, `b`) REFERENCES `p` (`x`, `y`))"
            ),
            "FOREIGN KEY | fk | c | a,b"
        );
    }

    #[test]
    fn checks_are_read_from_both_servers() {
        assert_eq!(
            told(4025, "CONSTRAINT `c` failed for `d`.`t`"),
            "CHECK | c | t | "
        );
        assert_eq!(
            told(3819, "Check constraint 'c' is violated."),
            "CHECK | c | - | "
        );
    }

    #[test]
    fn columns_are_read_from_both_spellings() {
        assert_eq!(
            told(1048, "Column 'a' cannot be null"),
            "NOT NULL | - | - | a"
        );
        assert_eq!(
            told(1364, "Field 'a' doesn't have a default value"),
            "NOT NULL | - | - | a"
        );
        assert_eq!(
            told(1406, "Data too long for column 'a' at row 1"),
            "too long | - | - | a"
        );
        assert_eq!(
            told(
                1366,
                "Incorrect integer value: 'x' for column `d`.`t`.`a` at row 1"
            ),
            "wrong type | - | t | a"
        );
    }
}
