//! Formats the failure of a statement in one line, and parses it.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use crate::database::{Refusal, RefusalKind, sqlite};

/// Why a statement of a service failed, as events tell it.
///
/// Written as `SQLSTATE: message (KIND: constraint "name", table "name", column "name")`, of which
/// everything but the message is left out where it is not known:
///
/// ```
/// use isobath_exec::statement::StatementFailure;
///
/// let text = "23505: duplicate key (UNIQUE: constraint \"users_email_key\", table \"users\", column \"email\")";
/// let failure = StatementFailure::read(text);
/// assert_eq!(failure.0.constraint.as_deref(), Some("users_email_key"));
/// assert_eq!(failure.to_string(), text);
///
/// // What SQLite says needs no more than its words.
/// let failure = StatementFailure::read("NOT NULL constraint failed: users.email");
/// assert_eq!(failure.0.columns, ["email"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementFailure(pub Refusal);

impl StatementFailure {
    /// Reads a line; whatever it is, it has at least a message.
    #[must_use]
    pub fn read(line: &str) -> Self {
        let (sqlstate, rest) = match line.split_once(": ") {
            Some((state, rest)) if is_sqlstate(state) => (Some(state.to_owned()), rest),
            _ => (None, line),
        };
        let culprits = rest.rmatch_indices(" (");
        let culprit = culprits
            .filter_map(|(at, _)| {
                let (message, inner) = rest.split_at_checked(at)?;
                let inner = inner.strip_prefix(" (")?.strip_suffix(')')?;
                let mut refusal = culprit(inner)?;
                message.clone_into(&mut refusal.message);
                Some(refusal)
            })
            .next();
        let mut refusal = match culprit {
            Some(refusal) => refusal,
            None if sqlstate.is_none() => sqlite::from_message(rest),
            None => Refusal {
                message: rest.to_owned(),
                ..Refusal::default()
            },
        };
        refusal.sqlstate = sqlstate;
        Self(refusal)
    }
}

impl FromStr for StatementFailure {
    type Err = Infallible;

    fn from_str(line: &str) -> Result<Self, Infallible> {
        Ok(Self::read(line))
    }
}

impl fmt::Display for StatementFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal {
            kind,
            sqlstate,
            constraint,
            table,
            columns,
            message,
            code: _,
        } = &self.0;
        if let Some(sqlstate) = sqlstate {
            write!(f, "{sqlstate}: ")?;
        }
        // A line is a line, whatever a server says.
        f.write_str(&message.replace(['\r', '\n'], " "))?;
        // SQLite's words say it all.
        if *kind == RefusalKind::Other || sqlstate.is_none() {
            return Ok(());
        }
        write!(f, " ({kind}")?;
        let names = constraint.iter().map(|name| ("constraint", name));
        let names = names.chain(table.iter().map(|name| ("table", name)));
        let names = names.chain(columns.iter().map(|name| ("column", name)));
        for (number, (what, name)) in names.enumerate() {
            let before = if number == 0 { ": " } else { ", " };
            write!(f, "{before}{what} \"{}\"", name.replace('"', "\"\""))?;
        }
        f.write_str(")")
    }
}

fn is_sqlstate(text: &str) -> bool {
    text.len() == 5
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

/// Reads `KIND: constraint "name", table "name", column "name"`.
fn culprit(text: &str) -> Option<Refusal> {
    let (name, mut rest) = match text.split_once(": ") {
        Some((kind, rest)) => (kind, rest),
        None => (text, ""),
    };
    let mut refusal = Refusal {
        kind: RefusalKind::by_name(name)?,
        ..Refusal::default()
    };
    while !rest.is_empty() {
        let (what, after) = rest.split_once(" \"")?;
        let (name, after) = quoted(after)?;
        match what {
            "constraint" => refusal.constraint = Some(name),
            "table" => refusal.table = Some(name),
            "column" => refusal.columns.push(name),
            _ => return None,
        }
        rest = match after {
            "" => "",
            more => more.strip_prefix(", ")?,
        };
    }
    Some(refusal)
}

/// A name up to its closing quote, doubled ones within, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once('"')?;
        name.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return Some((name, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_read_as_they_are_written() {
        for kind in RefusalKind::ALL {
            let full = StatementFailure(Refusal {
                kind,
                sqlstate: Some("23505".to_owned()),
                code: None,
                constraint: Some("a \"b\" (c)".to_owned()),
                table: Some("t, \"u".to_owned()),
                columns: vec!["x".to_owned(), "y".to_owned()],
                message: "Cannot add (see `a`)".to_owned(),
            });
            let bare = StatementFailure(Refusal {
                kind,
                sqlstate: Some("HY000".to_owned()),
                message: "it failed: (UNIQUE)!".to_owned(),
                ..Refusal::default()
            });
            for failure in [full, bare] {
                let read = StatementFailure::read(&failure.to_string());
                if kind == RefusalKind::Other {
                    assert_eq!(read.0.message, failure.0.message);
                } else {
                    assert_eq!(read, failure);
                }
            }
        }
    }

    #[test]
    fn any_line_is_a_message() {
        for line in [
            "",
            "ERROR: it failed",
            "disk I/O error",
            "12345: ",
            " ()",
            "a (UNIQUE: x)",
        ] {
            let failure = StatementFailure::read(line);
            assert_eq!(failure.to_string(), line);
        }
    }
}
