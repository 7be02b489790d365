//! Statements as they are recorded while they pass; decoded on demand.

use std::sync::Arc;

use isobath_sql::{DialectName, statement_text as sql};

use super::statement::{RowEffect, Statement};
use super::{mysql, postgres};
use crate::database::Refusal;
use crate::statement::StatementFailure;

/// A statement as it passed. Its values are made readable only when somebody asks for it.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// Candidate and action, as [`stamp`] puts them together.
    pub(crate) stamp: u64,
    /// Whose words it is written in.
    pub(crate) dialect: DialectName,
    /// The text of the message.
    pub(crate) text: Arc<str>,
    /// Which of the statements in the text.
    pub(crate) part: Option<usize>,
    /// What was bound.
    pub(crate) values: Values,
    /// Rows that came back, of what returns rows.
    pub(crate) returned: Option<u64>,
    /// Rows that were changed, of what changes rows.
    pub(crate) affected: Option<u64>,
    /// Why it was refused.
    pub(crate) failure: Option<Refusal>,
}

/// Values as they were sent.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    /// There are none.
    None,
    /// In a message Bind.
    Postgres(postgres::Values),
    /// In a command to execute.
    MySql(mysql::Values),
}

/// A candidate and an action in one number.
pub(crate) fn stamp(candidate: u64, action: u16) -> u64 {
    candidate << 16 | u64::from(action)
}

/// The candidate of a stamp.
pub(crate) fn candidate(stamp: u64) -> u64 {
    stamp >> 16
}

/// A text that was sent; one that was cut ends in an ellipsis, and is no SQL.
pub(crate) fn text(bytes: &[u8], is_cut: bool) -> Arc<str> {
    let text = String::from_utf8_lossy(bytes);
    if is_cut {
        Arc::from(format!("{text}…"))
    } else {
        Arc::from(text)
    }
}

impl Recorded {
    /// A statement of which only its text is known.
    pub(crate) fn new(dialect: DialectName, text: Arc<str>, stamp: u64) -> Self {
        Self {
            stamp,
            dialect,
            text,
            part: None,
            values: Values::None,
            returned: None,
            affected: None,
            failure: None,
        }
    }

    /// How much memory it holds, roughly.
    pub(crate) fn size(&self) -> usize {
        let values = match &self.values {
            Values::None => 0,
            Values::Postgres(values) => values.size(),
            Values::MySql(values) => values.size(),
        };
        size_of::<Self>() + self.text.len() + values
    }

    /// The statement in words.
    pub(crate) fn read(&self) -> Statement {
        let sent = match self.part {
            Some(part) => {
                let parts = sql::split(&self.text, self.dialect);
                parts.get(part).map_or(&*self.text, |part| part)
            }
            None => &self.text,
        };
        let parameters = match &self.values {
            Values::None => Vec::new(),
            Values::Postgres(values) => values.literals(),
            Values::MySql(values) => values.literals(),
        };
        let value = |n: usize| {
            let literal = parameters.get(n)?.as_ref()?;
            // So that `a -$1` does not become a comment.
            Some(match literal.strip_prefix('-') {
                Some(_) => format!("({literal})"),
                None => literal.clone(),
            })
        };
        Statement {
            candidate: candidate(self.stamp),
            action: self.stamp as u16,
            dialect: self.dialect,
            text: sql::fill(sent, self.dialect, value).into_owned(),
            sent: sent.to_owned(),
            parameters,
            touched: match (self.returned, self.affected) {
                (Some(rows), _) => RowEffect::Returned(rows),
                (None, Some(rows)) => RowEffect::Changed(rows),
                (None, None) => RowEffect::Nothing,
            },
            failure: self.failure.clone().map(StatementFailure),
        }
    }
}

/// A failure that is the connection's and not the statement's.
pub(crate) fn unanswered(message: &str) -> Refusal {
    Refusal {
        sqlstate: Some("08006".to_owned()),
        message: message.to_owned(),
        ..Refusal::default()
    }
}
