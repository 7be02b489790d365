//! Sends many small cases in few messages.
//!
//! A server answers a message of many statements as fast as one of a single
//! statement, but stops at the first refusal. So all cases become one stream of
//! statements, sent in large pieces; after a refusal the rest is sent again from
//! the statement behind it. A suite then costs about one message per refusal
//! instead of several per statement.

use super::{DatabaseError, Refusal, StatementOutcome};

/// The most statements in one message.
const LARGEST: usize = 256;
/// The most statements in the message after a refusal. The server reads a message to its
/// end before it runs the first statement, so where refusals are many, less is more.
const SMALLEST: usize = 16;
/// The longest message in bytes, but for single statements that are longer.
const LENGTH: usize = 1 << 16;

/// What a server did with a message of several statements.
pub(super) struct BatchResult {
    /// The rows of each statement that ran.
    pub(super) done: Vec<u64>,
    /// Why the next one did not.
    pub(super) refusal: Option<Refusal>,
}

/// A connection that takes several statements in one message.
pub(super) trait BatchConnection {
    /// Sends a message and collects the answers up to the first refusal.
    fn send(&mut self, text: &str) -> Result<BatchResult, DatabaseError>;
}

/// The statements around the cases, which are never refused.
pub(super) struct CaseFrame {
    /// Before a case; undoes what is left of the one before.
    pub(super) open: &'static [&'static str],
    /// After the last case.
    pub(super) close: &'static [&'static str],
    /// Whether a refused statement takes the whole transaction with it, so that a savepoint is needed.
    pub(super) fragile: bool,
}

const SAVE: &str = "SAVEPOINT step";
const RESTORE: &str = "ROLLBACK TO SAVEPOINT step";
const RELEASE: &str = "RELEASE SAVEPOINT step";

#[derive(Clone, Copy)]
struct Item<'a> {
    sql: &'a str,
    role: ItemRole,
}

impl Item<'_> {
    fn case(&self) -> Option<usize> {
        match self.role {
            ItemRole::Step { case, .. } => Some(case),
            ItemRole::Open | ItemRole::Between => None,
        }
    }

    fn is_alone(&self) -> bool {
        matches!(self.role, ItemRole::Step { alone: true, .. })
    }
}

#[derive(Clone, Copy, PartialEq)]
enum ItemRole {
    /// The first of ours before a case, or the end.
    Open,
    /// Another one of ours.
    Between,
    /// A statement of a case.
    Step {
        case: usize,
        /// Whether a savepoint stands before it.
        saved: bool,
        /// Whether its text may hold several statements, so that it goes alone.
        alone: bool,
    },
}

/// Runs the cases and answers every statement.
pub(super) fn run(
    wire: &mut dyn BatchConnection,
    frame: &CaseFrame,
    cases: &[Vec<String>],
) -> Result<Vec<Vec<StatementOutcome>>, DatabaseError> {
    let items = items(frame, cases);
    let mut answers: Vec<Vec<StatementOutcome>> = cases
        .iter()
        .map(|case| Vec::with_capacity(case.len()))
        .collect();
    let mut next = 0;
    let mut restore = false;
    let mut single = 0;
    let mut size = LARGEST;
    while let Some((first, others)) = items.get(next..).and_then(<[_]>::split_first) {
        let end = if single > next {
            next + 1
        } else {
            next + piece(first, others, size)
        };
        let message = || items.iter().take(end).skip(next);
        let mut text = String::new();
        if restore {
            text.push_str(RESTORE);
            text.push_str(";\n");
        }
        for item in message() {
            text.push_str(item.sql);
            text.push_str("\n;\n");
        }
        let sent = wire.send(&text)?;
        size = match sent.refusal {
            Some(_) => SMALLEST,
            None => LARGEST.min(size * 2),
        };
        let lead = usize::from(restore);
        restore = false;
        if frame.fragile && sent.refusal.is_some() && sent.done.is_empty() && end > next + 1 {
            // The message as a whole was refused, because one statement of it is not even SQL,
            // and the transaction is spoiled. So the case starts again, one by one.
            single = end;
            let mut until_here = items.iter().take(next + 1);
            next = until_here
                .rposition(|item| item.role == ItemRole::Open)
                .unwrap_or(0);
            if let Some(case) = items.iter().take(end).skip(next).find_map(Item::case) {
                of(&mut answers, case).clear();
            }
            continue;
        }
        let alone = first.is_alone();
        let done = if alone {
            let rows = sent.done.last().copied().unwrap_or_default();
            if sent.refusal.is_none() {
                vec![rows]
            } else {
                Vec::new()
            }
        } else {
            sent.done.into_iter().skip(lead).collect()
        };
        for (item, rows) in message().zip(&done) {
            if let ItemRole::Step { case, .. } = item.role {
                of(&mut answers, case).push(StatementOutcome::Done { rows: *rows });
            }
        }
        next += done.len();
        match (sent.refusal, items.get(next).map(|item| item.role)) {
            (Some(refusal), Some(ItemRole::Step { case, saved, .. })) => {
                of(&mut answers, case).push(StatementOutcome::Refused(refusal));
                restore = saved;
                next += 1;
            }
            (Some(refusal), _) => return Err(DatabaseError::refused("the server", &text, refusal)),
            (None, _) => next = end,
        }
    }
    Ok(answers)
}

/// The answers to the statements of a case.
#[expect(
    clippy::indexing_slicing,
    reason = "cases are numbered by their place, and each has its answers"
)]
fn of(answers: &mut [Vec<StatementOutcome>], case: usize) -> &mut Vec<StatementOutcome> {
    &mut answers[case]
}

fn items<'a>(frame: &CaseFrame, cases: &'a [Vec<String>]) -> Vec<Item<'a>> {
    let ours = |sql: &'static str| Item {
        sql,
        role: ItemRole::Between,
    };
    let frame_of = |statements: &'static [&'static str]| {
        let roles = std::iter::once(ItemRole::Open).chain(std::iter::repeat(ItemRole::Between));
        statements
            .iter()
            .zip(roles)
            .map(|(&sql, role)| Item { sql, role })
    };
    let mut items = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        items.extend(frame_of(frame.open));
        for (position, sql) in case.iter().enumerate() {
            let sql = sql
                .trim()
                .trim_end_matches(|c: char| c == ';' || c.is_whitespace());
            let alone = sql.contains(';') || sql.is_empty();
            let last = position + 1 == case.len();
            let saved = alone || (frame.fragile && !last);
            let role = ItemRole::Step {
                case: index,
                saved,
                alone,
            };
            if saved {
                items.extend([ours(SAVE), Item { sql, role }, ours(RELEASE)]);
            } else {
                items.push(Item { sql, role });
            }
        }
    }
    items.extend(frame_of(frame.close));
    items
}

/// How many items make one message: the first, and others as long as they fit.
fn piece(first: &Item<'_>, others: &[Item<'_>], size: usize) -> usize {
    if first.is_alone() {
        return 1;
    }
    let mut length = first.sql.len();
    let fitting = others.iter().take(size - 1).take_while(|item| {
        length += item.sql.len();
        length <= LENGTH && !item.is_alone()
    });
    1 + fitting.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that refuses what says so, stops there, and keeps a record.
    #[derive(Default)]
    struct Fake {
        seen: Vec<String>,
    }

    impl BatchConnection for Fake {
        fn send(&mut self, text: &str) -> Result<BatchResult, DatabaseError> {
            let mut done = Vec::new();
            let statements: Vec<&str> = text
                .split(';')
                .map(str::trim)
                .filter(|sql| !sql.is_empty())
                .collect();
            if statements.iter().any(|sql| sql.contains("nonsense")) {
                self.seen.push("(nonsense)".to_owned());
                return Ok(BatchResult {
                    done,
                    refusal: Some(Refusal::default()),
                });
            }
            for sql in statements {
                self.seen.push(sql.to_owned());
                if sql.contains("bad") {
                    return Ok(BatchResult {
                        done,
                        refusal: Some(Refusal::default()),
                    });
                }
                done.push(1);
            }
            Ok(BatchResult {
                done,
                refusal: None,
            })
        }
    }

    fn check(fragile: bool, cases: &[&[&str]], answers: &[&str], seen: &str) {
        let frame = CaseFrame {
            open: &["ROLLBACK", "BEGIN"],
            close: &["ROLLBACK"],
            fragile,
        };
        let cases: Vec<Vec<String>> = cases
            .iter()
            .map(|case| case.iter().map(|&sql| sql.to_owned()).collect())
            .collect();
        let mut fake = Fake::default();
        let told: Vec<String> = run(&mut fake, &frame, &cases)
            .unwrap()
            .iter()
            .map(|case| {
                case.iter()
                    .map(|answer| if answer.is_done() { '+' } else { '-' })
                    .collect()
            })
            .collect();
        assert_eq!(told, answers);
        assert_eq!(fake.seen.join(" / "), seen);
    }

    #[test]
    fn a_sturdy_transaction_goes_on_behind_the_refusal() {
        check(
            false,
            &[&["a", "bad", "b"], &["c"]],
            &["+-+", "+"],
            "ROLLBACK / BEGIN / a / bad / b / ROLLBACK / BEGIN / c / ROLLBACK",
        );
    }

    #[test]
    fn a_fragile_transaction_goes_back_to_the_savepoint_first() {
        check(
            true,
            &[&["bad", "b"]],
            &["-+"],
            "ROLLBACK / BEGIN / SAVEPOINT step / bad / ROLLBACK TO SAVEPOINT step / \
             RELEASE SAVEPOINT step / b / ROLLBACK",
        );
    }

    #[test]
    fn a_message_that_is_not_even_sql_is_taken_apart() {
        check(
            true,
            &[&["a"], &["nonsense"]],
            &["+", "-"],
            "(nonsense) / ROLLBACK / BEGIN / a / ROLLBACK / BEGIN / (nonsense) / ROLLBACK",
        );
    }

    #[test]
    fn no_case_is_no_work_but_leaves_no_transaction_open() {
        check(true, &[], &[], "ROLLBACK");
        check(true, &[&[]], &[""], "ROLLBACK / BEGIN / ROLLBACK");
    }
}
