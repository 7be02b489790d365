//! The kinds of faults, and what makes two faults the same.

use std::sync::LazyLock;

use regex::Regex;

use crate::exchange::Exchange;

/// A kind of misbehavior that an oracle can find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// A status of 500 or above.
    ServerError,
    /// The service ended, and had to be started again.
    ServiceDied,
    /// The connection was closed in place of an answer.
    ConnectionDropped,
    /// No answer came in time.
    TimedOut,
    /// The response does not fit its documented schema or content type.
    ResponseMismatch,
    /// The status is not among the documented ones.
    UndocumentedStatus,
    /// A request that breaks the documented rules was accepted.
    InvalidInputAccepted,
    /// What was deleted is still there.
    DeleteWithoutEffect,
    /// An update that was refused has changed the resource.
    FailedUpdateChangedState,
    /// The same PUT twice leaves another state than once.
    PutNotIdempotent,
    /// The Location of a created resource leads nowhere.
    LocationLeadsNowhere,
    /// A GET changed what the next GET sees.
    GetChangesState,
    /// A protected resource can be read without authentication.
    AnonymousRead,
    /// A protected operation that writes works without authentication.
    AnonymousWrite,
    /// A user reaches a resource that is somebody else's.
    OtherUsersResource,
    /// Refusals tell which resources of others exist.
    ExistenceLeak,
    /// A response shows a stack trace.
    StackTrace,
    /// An input reaches the SQL text: a quote breaks the statement.
    SqlInjectionByError,
    /// An input reaches the SQL text: a pause in it is felt.
    SqlInjectionByTime,
    /// A success that promises a change wrote no row.
    SuccessWroteNothing,
    /// A call that failed wrote rows.
    FailureWrote,
    /// A DELETE left its row as it was.
    DeleteLeftRow,
    /// A DELETE took rows that do not belong to its resource.
    DeleteTookOthers,
    /// A GET changed rows.
    GetWrote,
    /// A PUT or PATCH changed columns that were not sent, or other rows.
    UpdateChangedOthers,
    /// A PUT or PATCH dropped a value that it was sent.
    LostUpdate,
    /// A row refers to nothing.
    OrphanRow,
    /// The same request with the same idempotency key made another row.
    DuplicateOnRetry,
}

/// What the manual says about one kind: a row of [`FaultKind::ALL`].
struct Entry {
    code: &'static str,
    wfc: Option<u16>,
    title: &'static str,
    explanation: &'static str,
}

impl FaultKind {
    /// All kinds, in the order in which reports list them.
    pub const ALL: [Self; 28] = [
        Self::ServerError,
        Self::ServiceDied,
        Self::ConnectionDropped,
        Self::TimedOut,
        Self::StackTrace,
        Self::SqlInjectionByError,
        Self::SqlInjectionByTime,
        Self::AnonymousWrite,
        Self::AnonymousRead,
        Self::OtherUsersResource,
        Self::ExistenceLeak,
        Self::DeleteWithoutEffect,
        Self::FailedUpdateChangedState,
        Self::PutNotIdempotent,
        Self::GetChangesState,
        Self::LocationLeadsNowhere,
        Self::SuccessWroteNothing,
        Self::FailureWrote,
        Self::DeleteLeftRow,
        Self::DeleteTookOthers,
        Self::GetWrote,
        Self::UpdateChangedOthers,
        Self::LostUpdate,
        Self::OrphanRow,
        Self::DuplicateOnRetry,
        Self::InvalidInputAccepted,
        Self::UndocumentedStatus,
        Self::ResponseMismatch,
    ];

    /// The stable code, as used in reports, baselines and flags.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.entry().code
    }

    /// The code of the Web Fuzzing Commons, where it has one.
    #[must_use]
    pub fn wfc(self) -> Option<u16> {
        self.entry().wfc
    }

    /// A few words for headings.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.entry().title
    }

    /// What it means, why it matters, when it may be intended.
    #[must_use]
    pub fn explanation(self) -> &'static str {
        self.entry().explanation
    }

    /// Whether it shows in the rows of the database only.
    #[must_use]
    pub fn is_about_rows(self) -> bool {
        matches!(
            self,
            Self::SuccessWroteNothing
                | Self::FailureWrote
                | Self::DeleteLeftRow
                | Self::DeleteTookOthers
                | Self::GetWrote
                | Self::UpdateChangedOthers
                | Self::LostUpdate
                | Self::OrphanRow
                | Self::DuplicateOnRetry
        )
    }

    /// The kind that shows the same from outside, if there is one.
    #[must_use]
    pub fn seen_from_outside(self) -> Option<Self> {
        match self {
            Self::FailureWrote => Some(Self::FailedUpdateChangedState),
            Self::DeleteLeftRow => Some(Self::DeleteWithoutEffect),
            Self::GetWrote => Some(Self::GetChangesState),
            Self::SuccessWroteNothing => Some(Self::LocationLeadsNowhere),
            _ => None,
        }
    }

    /// The kind with this code.
    #[must_use]
    pub fn by_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    fn entry(self) -> Entry {
        let entry = |code, wfc, title, explanation| Entry {
            code,
            wfc,
            title,
            explanation,
        };
        match self {
            Self::ServerError => entry(
                "server-error",
                Some(100),
                "server error",
                "The service answered with a status of 500 or above. It met a situation that nobody thought of; whatever the client sent, \
                 the answer should be a result or a refusal (4xx). Faults of one operation are told apart by the message or the site that \
                 the response names.",
            ),
            Self::ServiceDied => entry(
                "service-died",
                None,
                "the service died",
                "After this call nobody listened any more: the process ended. One request takes the service away from all who use it. \
                 With --start it is started again and the run goes on; faults are told apart by the site that the last words of the \
                 process name.",
            ),
            Self::ConnectionDropped => entry(
                "connection-dropped",
                None,
                "connection dropped",
                "The service closed the connection in place of answering. Mostly a thread or task died: a panic, a crash, memory running out.",
            ),
            Self::TimedOut => entry(
                "timed-out",
                Some(909),
                "no answer in time",
                "No answer came within the time for one call (--timeout). A deadlock, an endless loop, or a query over too much data.",
            ),
            Self::ResponseMismatch => entry(
                "response-mismatch",
                Some(101),
                "response does not fit its schema",
                "The body or content type of a response is not what the document promises for this status. Clients generated from the \
                 document will fail on it. Either the service or the document is wrong.",
            ),
            Self::UndocumentedStatus => entry(
                "undocumented-status",
                Some(101),
                "undocumented status",
                "The status is not listed for this operation, and there is no `default` response. Clients cannot know what it means.",
            ),
            Self::InvalidInputAccepted => entry(
                "invalid-input-accepted",
                Some(102),
                "invalid input accepted",
                "A request that breaks exactly one documented rule (a bound, a length, a pattern, a required part) was answered with \
                 success. The check is missing, or the document is stricter than the service means to be.",
            ),
            Self::DeleteWithoutEffect => entry(
                "delete-without-effect",
                Some(103),
                "delete has no effect",
                "DELETE answered with success, and the same user can still GET the resource. A 202 (accepted for later) is not judged.",
            ),
            Self::FailedUpdateChangedState => entry(
                "failed-update-changed-state",
                Some(901),
                "refused update changed the resource",
                "PUT or PATCH was refused with a 4xx, but a GET shows that something was changed all the same: a part was written before \
                 the check, without a transaction. Parts that change by themselves are left out of the comparison.",
            ),
            Self::PutNotIdempotent => entry(
                "put-not-idempotent",
                Some(905),
                "PUT is not idempotent",
                "The same PUT, sent twice, leaves another state than sent once. Clients and proxies repeat PUT when an answer is lost. \
                 Time stamps and version numbers are left out of the comparison.",
            ),
            Self::LocationLeadsNowhere => entry(
                "location-leads-nowhere",
                Some(907),
                "Location leads nowhere",
                "A 201 names the new resource in its Location header, and a GET of it by the same user is answered with 404 or 410.",
            ),
            Self::GetChangesState => entry(
                "get-changes-state",
                None,
                "GET is not safe",
                "The same GET, sent twice in a row, finds the resource the first time and not the second. GET must not change what it shows.",
            ),
            Self::AnonymousRead => entry(
                "anonymous-read",
                Some(207),
                "protected resource open to anonymous",
                "The document asks for authentication, and a call without it was answered with success.",
            ),
            Self::AnonymousWrite => entry(
                "anonymous-write",
                Some(208),
                "anonymous write",
                "The document asks for authentication, and a call that writes was answered with success without it.",
            ),
            Self::OtherUsersResource => entry(
                "other-users-resource",
                Some(206),
                "other user's resource",
                "A user reaches what another user created, while other operations, or the user's own list, treat the same resource as not \
                 theirs. Resources that are public to all are not accused.",
            ),
            Self::ExistenceLeak => entry(
                "existence-leak",
                Some(204),
                "existence leaks",
                "For a resource of somebody else the answer is 403, for one that does not exist it is 404: the difference tells which exist.",
            ),
            Self::StackTrace => entry(
                "stack-trace",
                Some(209),
                "leaked stack trace",
                "A response shows a stack trace: file names, versions and structure that help an attacker and no client.",
            ),
            Self::SqlInjectionByError => entry(
                "sql-injection-error",
                Some(200),
                "SQL injection, by error",
                "An input with a quote in it makes the database complain about its syntax, and the same input with the quote doubled does not: \
                 the input is pasted into the SQL text.",
            ),
            Self::SqlInjectionByTime => entry(
                "sql-injection-time",
                Some(200),
                "SQL injection, by time",
                "An input that asks the database to pause makes the answer late by just that pause, again and again.",
            ),
            Self::SuccessWroteNothing => entry(
                "success-wrote-nothing",
                None,
                "success without a row",
                "A 201, or a PUT or PATCH with other values than are stored, was answered with success, and no row of the database changed: \
                 what the client was told did not happen. Needs --db. An answer that speaks of a row that was there before is not judged, nor is a 202.",
            ),
            Self::FailureWrote => entry(
                "failure-wrote",
                Some(901),
                "failed call wrote",
                "A call was answered with 4xx or 5xx, and rows that its successes write were written all the same: a transaction is missing, \
                 or ends too early. Needs --db. Logs, sessions, counts of attempts, and rows that the refusal itself tells of are left out.",
            ),
            Self::DeleteLeftRow => entry(
                "delete-left-row",
                Some(103),
                "delete left its row",
                "DELETE was answered with 200 or 204, and the row that its path names is in the database as it was before. A row that is marked \
                 as deleted, or a note of the deletion in another table, counts as deleted. Needs --db.",
            ),
            Self::DeleteTookOthers => entry(
                "delete-took-others",
                None,
                "delete took other rows",
                "DELETE took the row that its path names, and others that neither are it nor refer to it. Rows that refer to what is deleted, \
                 by foreign key or by name, may go with it. Needs --db.",
            ),
            Self::GetWrote => entry(
                "get-wrote",
                None,
                "GET wrote",
                "A GET changed columns that clients set, took away a row that it showed, or makes a new row each time. Logs, sessions, \
                 caches, time stamps and counts, and tables that calls of all kinds write to are left out. Needs --db.",
            ),
            Self::UpdateChangedOthers => entry(
                "update-changed-others",
                None,
                "update changed more than was sent",
                "PUT or PATCH changed other rows to what was sent for one, or columns that clients set and that this request did not name. \
                 What a PUT may leave out, and columns that the service computes, are not judged. Needs --db.",
            ),
            Self::LostUpdate => entry(
                "lost-update",
                None,
                "update lost a value",
                "PUT or PATCH was answered with success, and a column that this operation changes otherwise is neither what was sent nor \
                 changed at all. Needs --db.",
            ),
            Self::OrphanRow => entry(
                "orphan-row",
                None,
                "row refers to nothing",
                "After the call a row refers to a row of another table that is not there. No foreign key guards the reference, but its name \
                 says what it refers to, and all rows before led somewhere. Needs --db.",
            ),
            Self::DuplicateOnRetry => entry(
                "duplicate-on-retry",
                None,
                "retry made a second row",
                "The same request with the same idempotency key was answered with success twice, and made a row each time. Clients send it again \
                 when an answer is lost. Needs --db.",
            ),
        }
    }
}

/// A fault that was seen.
///
/// Invariant: two faults with the same kind and cause are the same finding,
/// whichever operation showed it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// What kind it is.
    pub kind: FaultKind,
    /// The root cause, as far as it can be told from outside.
    pub cause: String,
    /// The operation that showed it.
    pub operation: String,
    /// What was seen, in a sentence.
    pub detail: String,
    /// What else was seen: the panic with its stack, the last words of the service.
    pub evidence: Vec<String>,
}

impl Fault {
    /// What tells findings apart.
    #[must_use]
    pub fn identity(&self) -> (FaultKind, &str) {
        (self.kind, &self.cause)
    }

    /// Takes out what only the user of a call may know.
    pub(crate) fn redact(&mut self, exchange: &Exchange) {
        if exchange.credentials.is_none() {
            return;
        }
        let texts = [&mut self.cause, &mut self.detail];
        for text in texts.into_iter().chain(&mut self.evidence) {
            *text = exchange.redacted(std::mem::take(text));
        }
    }

    /// What the finding is called in baselines: the same in every run that meets the same cause.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        fingerprint(self.kind.code(), &self.cause)
    }
}

/// What a finding of a kind and a cause is called in baselines.
#[must_use]
pub fn fingerprint(code: &str, cause: &str) -> String {
    // FNV-1a: short, without a key, and never to change.
    let hash = cause.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{code}-{hash:016x}")
}

/// A message without what differs from one call to the next: numbers, names in quotes, ids, times.
#[must_use]
pub fn normalize(message: &str) -> String {
    static VARYING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|'[^'\n]{0,200}'|"[^"\n]{0,200}"|`[^`\n]{0,200}`|0x[0-9a-fA-F]+|-?\d+(?:[.:,-]\d+)*(?:[TZ+][\d:.Z]*)?"#,
        )
        .expect("a constant pattern")
    });
    let mut flat: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
    for quote in ['\'', '"', '`'] {
        flat = without_stray_quotes(flat, quote);
    }
    let text = VARYING.replace_all(&flat, |found: &regex::Captures<'_>| {
        match found[0].chars().next() {
            Some(quote @ ('\'' | '"' | '`')) => format!("{quote}…{quote}"),
            _ => "#".to_owned(),
        }
    });
    text.chars().take(160).collect()
}

/// A message in which an odd number of quotes, one of which came with an input (`LIKE '%'x%'`), is one
/// quotation from the first to the last: nobody knows which of them belong together.
fn without_stray_quotes(message: String, quote: char) -> String {
    let count = message.matches(quote).count();
    match (message.find(quote), message.rfind(quote)) {
        (Some(first), Some(last)) if count > 1 && count % 2 == 1 => {
            format!("{}{quote}…{}", &message[..first], &message[last..])
        }
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_lead_back_to_their_kind() {
        for kind in FaultKind::ALL {
            assert_eq!(FaultKind::by_code(kind.code()), Some(kind));
            assert!(kind.explanation().len() > 60, "{kind:?} is not explained");
        }
        assert_eq!(FaultKind::by_code("no-such-code"), None);
    }

    #[test]
    fn fingerprints_never_change() {
        let fault = |kind, cause: &str| Fault {
            kind,
            cause: cause.into(),
            operation: "GET /boats".into(),
            detail: String::new(),
            evidence: Vec::new(),
        };
        let cause = "panicked at src/boats.rs:12";
        let print = fault(FaultKind::ServerError, cause).fingerprint();
        assert_eq!(print, "server-error-d0862483174b4cbd");
        assert_ne!(fault(FaultKind::StackTrace, cause).fingerprint(), print);
        assert_ne!(fault(FaultKind::ServerError, "").fingerprint(), print);
    }

    #[test]
    fn what_varies_between_calls_does_not_make_a_cause_of_its_own() {
        let same = |a: &str, b: &str| assert_eq!(normalize(a), normalize(b));
        same("no row 17 in table 'boats'", "no row 4 in table 'berths'");
        same(
            "id 123e4567-e89b-12d3-a456-426614174000 is gone",
            "id 00000000-0000-0000-0000-000000000000 is gone",
        );
        same(
            "late at 2026-07-14T10:00:00Z",
            "late at 2025-01-01T00:00:00Z",
        );
        same("a  b\n c", "a b c");
        same(
            "syntax error in SELECT id FROM notices WHERE title LIKE '%'clock%' ORDER BY id",
            "syntax error in SELECT id FROM notices WHERE title LIKE '%'ti%' ORDER BY id",
        );
        assert_ne!(
            normalize("division by zero"),
            normalize("index out of range")
        );
    }
}
