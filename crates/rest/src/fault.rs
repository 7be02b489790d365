//! Fault kinds, and when two faults are the same.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::exchange::Exchange;

/// A kind of misbehavior that an oracle can find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// A status of 500 or above.
    ServerError,
    /// The process of the service exited.
    ServiceDied,
    /// The connection was closed without a response.
    ConnectionDropped,
    /// No response arrived within the timeout.
    TimedOut,
    /// The response does not match its documented schema or content type.
    ResponseMismatch,
    /// The status is not among the documented ones.
    UndocumentedStatus,
    /// A request that violates a documented constraint was accepted.
    InvalidInputAccepted,
    /// A deleted resource still exists.
    DeleteWithoutEffect,
    /// A rejected update changed the resource.
    FailedUpdateChangedState,
    /// Repeating a PUT leads to a different state.
    PutNotIdempotent,
    /// The Location of a created resource points to a missing resource.
    LocationLeadsNowhere,
    /// A GET changed what the next GET sees.
    GetChangesState,
    /// A protected resource can be read without authentication.
    AnonymousRead,
    /// A protected operation that writes works without authentication.
    AnonymousWrite,
    /// A user can access another user's resource.
    OtherUsersResource,
    /// Error statuses reveal which of other users' resources exist.
    ExistenceLeak,
    /// A response shows a stack trace.
    StackTrace,
    /// Error-based SQL injection: a quote in an input breaks the statement.
    SqlInjectionByError,
    /// Time-based SQL injection: a sleep in an input delays the response.
    SqlInjectionByTime,
    /// A successful write changed no row.
    SuccessWroteNothing,
    /// A failed request wrote rows.
    FailureWrote,
    /// A DELETE left its row unchanged.
    DeleteLeftRow,
    /// A DELETE removed unrelated rows.
    DeleteTookOthers,
    /// A GET changed rows.
    GetWrote,
    /// A PUT or PATCH changed columns that were not sent, or other rows.
    UpdateChangedOthers,
    /// A PUT or PATCH did not store a sent value.
    LostUpdate,
    /// A row refers to a missing row.
    OrphanRow,
    /// A retry with the same idempotency key inserted another row.
    DuplicateOnRetry,
}

/// Code, title and explanation of one fault kind.
struct FaultInfo {
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
        self.info().code
    }

    /// The code of the Web Fuzzing Commons, where it has one.
    #[must_use]
    pub fn wfc(self) -> Option<u16> {
        self.info().wfc
    }

    /// A few words for headings.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.info().title
    }

    /// What it means, why it matters, when it may be intended.
    #[must_use]
    pub fn explanation(self) -> &'static str {
        self.info().explanation
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

    /// The black-box fault kind with the same cause, if any.
    #[must_use]
    pub fn black_box_kind(self) -> Option<Self> {
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

    fn info(self) -> FaultInfo {
        let entry = |code, wfc, title, explanation| FaultInfo {
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
                "The service responded with a status of 500 or above: it did not handle the situation. Whatever the client sends, the \
                 response should be a result or an error of the 4xx range. Faults of one operation are distinguished by the message or \
                 code location in the response.",
            ),
            Self::ServiceDied => entry(
                "service-died",
                None,
                "service crash",
                "The process of the service exited after this call, or stopped accepting connections. A single request makes the \
                 service unavailable to all users. With --start, Isobath restarts it and continues; crashes are distinguished by the \
                 code location in the last output of the process.",
            ),
            Self::ConnectionDropped => entry(
                "connection-dropped",
                None,
                "connection dropped",
                "The service closed the connection without a response. Typical causes are a panic or an uncaught error in the handling \
                 thread, or exhausted memory.",
            ),
            Self::TimedOut => entry(
                "timed-out",
                Some(909),
                "timeout",
                "No response arrived within the timeout of one call (--timeout). Typical causes are a deadlock, an endless loop, or a \
                 query over too much data.",
            ),
            Self::ResponseMismatch => entry(
                "response-mismatch",
                Some(101),
                "response does not match its schema",
                "The body or content type of a response does not match the OpenAPI document for this status. Clients generated from the \
                 document will fail on it. Either the service or the document is wrong.",
            ),
            Self::UndocumentedStatus => entry(
                "undocumented-status",
                Some(101),
                "undocumented status",
                "The OpenAPI document does not list this status for the operation and has no `default` response. Clients cannot know \
                 what it means.",
            ),
            Self::InvalidInputAccepted => entry(
                "invalid-input-accepted",
                Some(102),
                "invalid input accepted",
                "A request that violates exactly one documented constraint (a bound, a length, a pattern, a required value) was \
                 accepted. The validation is missing, or the document is stricter than intended.",
            ),
            Self::DeleteWithoutEffect => entry(
                "delete-without-effect",
                Some(103),
                "delete has no effect",
                "DELETE succeeded, but the same user can still GET the resource. A 202 (accepted for later) is not checked.",
            ),
            Self::FailedUpdateChangedState => entry(
                "failed-update-changed-state",
                Some(901),
                "rejected update changed the resource",
                "PUT or PATCH was rejected with 4xx, but a GET shows that the resource changed: part of it was written before the \
                 validation, without a transaction. Values that change on their own are excluded from the comparison.",
            ),
            Self::PutNotIdempotent => entry(
                "put-not-idempotent",
                Some(905),
                "PUT is not idempotent",
                "Sending the same PUT twice leads to a different state than sending it once. Clients and proxies repeat PUT when a \
                 response is lost. Timestamps and version numbers are excluded from the comparison.",
            ),
            Self::LocationLeadsNowhere => entry(
                "location-leads-nowhere",
                Some(907),
                "Location header points to a missing resource",
                "A 201 response names the new resource in its Location header, but a GET of it by the same user returns 404 or 410.",
            ),
            Self::GetChangesState => entry(
                "get-changes-state",
                None,
                "GET is not safe",
                "The same GET, sent twice in a row, finds the resource the first time but not the second. GET must not change state.",
            ),
            Self::AnonymousRead => entry(
                "anonymous-read",
                Some(207),
                "anonymous read access",
                "The OpenAPI document requires authentication, but a request without it succeeded.",
            ),
            Self::AnonymousWrite => entry(
                "anonymous-write",
                Some(208),
                "anonymous write access",
                "The OpenAPI document requires authentication, but a request without it that changes data succeeded.",
            ),
            Self::OtherUsersResource => entry(
                "other-users-resource",
                Some(206),
                "access to another user's resource",
                "A user can access a resource that another user created, while other operations or the list of the user's own resources \
                 treat it as not theirs (broken access control). Resources that are public to all users are not reported.",
            ),
            Self::ExistenceLeak => entry(
                "existence-leak",
                Some(204),
                "existence leak",
                "The response is 403 for a resource of another user and 404 for a resource that does not exist. The difference reveals \
                 which resources exist.",
            ),
            Self::StackTrace => entry(
                "stack-trace",
                Some(209),
                "leaked stack trace",
                "A response contains a stack trace. File names, versions and code structure help an attacker and are of no use to \
                 clients.",
            ),
            Self::SqlInjectionByError => entry(
                "sql-injection-error",
                Some(200),
                "SQL injection (error-based)",
                "An input with a quote causes a SQL syntax error, and the same input with the quote doubled does not: the input is \
                 concatenated into the SQL statement.",
            ),
            Self::SqlInjectionByTime => entry(
                "sql-injection-time",
                Some(200),
                "SQL injection (time-based)",
                "An input that makes the database sleep delays the response by that time, repeatedly.",
            ),
            Self::SuccessWroteNothing => entry(
                "success-wrote-nothing",
                None,
                "success without a database change",
                "A 201 response, or a successful PUT or PATCH with values that differ from the stored ones, but no row of the database \
                 changed: the reported change did not happen. Requires --db. Responses about rows that already existed, and 202 \
                 responses, are not checked.",
            ),
            Self::FailureWrote => entry(
                "failure-wrote",
                Some(901),
                "failed request changed the database",
                "A request failed with 4xx or 5xx, but rows were written that only a successful request should write: a transaction is \
                 missing or commits too early. Requires --db. Logs, sessions, attempt counters, and rows that the response refers to \
                 are excluded.",
            ),
            Self::DeleteLeftRow => entry(
                "delete-left-row",
                Some(103),
                "deleted row remains",
                "DELETE returned 200 or 204, but the row of the resource is unchanged in the database. A row marked as deleted, or a \
                 record of the deletion in another table, counts as deleted. Requires --db.",
            ),
            Self::DeleteTookOthers => entry(
                "delete-took-others",
                None,
                "delete removed unrelated rows",
                "DELETE removed the row of the resource and also rows that do not refer to it. Rows that refer to the deleted row, by \
                 foreign key or by column name, may be removed with it. Requires --db.",
            ),
            Self::GetWrote => entry(
                "get-wrote",
                None,
                "GET changed the database",
                "A GET changed columns that clients set, removed a row that it returned, or inserts a row on every call. Logs, \
                 sessions, caches, timestamps, counters, and tables that all kinds of requests write to are excluded. Requires --db.",
            ),
            Self::UpdateChangedOthers => entry(
                "update-changed-others",
                None,
                "update changed more than was sent",
                "PUT or PATCH also changed other rows, or columns that clients set and that this request did not contain. Properties \
                 that a PUT may omit, and columns that the service computes, are not checked. Requires --db.",
            ),
            Self::LostUpdate => entry(
                "lost-update",
                None,
                "lost update",
                "PUT or PATCH succeeded, but a column that this operation usually changes has neither the sent value nor any new value. \
                 Requires --db.",
            ),
            Self::OrphanRow => entry(
                "orphan-row",
                None,
                "orphaned row",
                "After the request a row refers to a row of another table that does not exist. No foreign key protects the reference, \
                 but its column name identifies the referenced table, and all earlier rows had a match. Requires --db.",
            ),
            Self::DuplicateOnRetry => entry(
                "duplicate-on-retry",
                None,
                "retry created a duplicate row",
                "The same request with the same idempotency key succeeded twice and inserted a row each time. Clients repeat a request \
                 when a response is lost. Requires --db.",
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
    /// The root cause, as far as known.
    pub cause: String,
    /// The operation that showed it first.
    pub operation: String,
    /// Other operations that showed it.
    pub others: BTreeSet<String>,
    /// What was seen, in a sentence.
    pub detail: String,
    /// What else was seen: the panic with its stack, the last words of the service.
    pub evidence: Vec<String>,
    /// The calls that showed it, with their responses, redacted and shortened.
    pub calls: Vec<String>,
}

impl Fault {
    /// What tells findings apart.
    #[must_use]
    pub fn identity(&self) -> (FaultKind, &str) {
        (self.kind, &self.cause)
    }

    /// Whether it is more likely meant than wrong: a health check that anybody may read although a rule for all
    /// operations says otherwise, or a framework that converts types.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        match self.kind {
            FaultKind::AnonymousRead => is_health_check(&self.operation) && self.others.is_empty(),
            FaultKind::InvalidInputAccepted => self.cause == COERCION,
            _ => false,
        }
    }

    /// Takes note of another operation that showed it.
    pub(crate) fn add_operation(&mut self, operation: &str) {
        if operation != self.operation && !self.others.contains(operation) {
            self.others.insert(operation.to_owned());
        }
    }

    /// Tells it as a test shows it, which may be by another operation than the one that showed it first.
    pub(crate) fn retell(&mut self, shown: Self) {
        if shown.operation != self.operation {
            let first = std::mem::replace(&mut self.operation, shown.operation);
            self.others.remove(&self.operation);
            self.others.insert(first);
            self.detail = shown.detail;
            self.evidence = shown.evidence;
        }
    }

    /// Takes note of the calls that showed it, the last of these at the end.
    pub(crate) fn note_calls(&mut self, exchanges: &[Exchange]) {
        let first = exchanges.len().saturating_sub(MAX_CALLS);
        let calls = exchanges.iter().skip(first);
        self.calls = calls.map(Exchange::summary).collect();
    }

    /// Takes out what only the user of a call may know.
    pub(crate) fn redact(&mut self, exchange: &Exchange) {
        if exchange.credentials.is_none() {
            return;
        }
        let texts = [&mut self.cause, &mut self.detail];
        let evidence = self.evidence.iter_mut().chain(&mut self.calls);
        for text in texts.into_iter().chain(evidence) {
            *text = exchange.redacted(std::mem::take(text));
        }
    }

    /// What the finding is called in baselines: the same in every run that meets the same cause.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        fingerprint(self.kind.code(), &self.cause)
    }
}

/// So many calls are told with a finding: the last ones.
const MAX_CALLS: usize = 8;

/// The cause of all findings that a value of another type was accepted in a body.
pub(crate) const COERCION: &str = "values of another type are converted";

/// Whether an operation tells whether the service is up, which probes must be able to ask.
#[must_use]
pub(crate) fn is_health_check(operation: &str) -> bool {
    const NAMES: [&str; 11] = [
        "health",
        "healthz",
        "healthcheck",
        "health-check",
        "ready",
        "readyz",
        "readiness",
        "live",
        "livez",
        "liveness",
        "ping",
    ];
    let path = operation.strip_prefix("GET ").unwrap_or_default();
    let mut names = path.trim_end_matches('/').rsplit('/');
    names
        .next()
        .is_some_and(|name| NAMES.contains(&name.to_ascii_lowercase().as_str()))
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
            r#"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|'(?:[^'\n]|''){0,200}'|"(?:[^"\n]|""){0,200}"|`[^`\n]{0,200}`|0x[0-9a-fA-F]+|-?\d+(?:[.:,-]\d+)*(?:[TZ+][\d:.Z]*)?"#,
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
    // How long a list is depends on the input, as that of the columns of an INSERT.
    static LISTS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?:\$?#|"…"|'…'|`…`|DEFAULT|\?)(?:, ?(?:\$?#|"…"|'…'|`…`|DEFAULT|\?))+"#)
            .expect("a constant pattern")
    });
    let text = LISTS.replace_all(&text, "…");
    // Nor does the text of a statement, which may continue to the end or to a hyphen.
    static STATEMENTS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(select|insert into|update|delete from)\b .{0,2000}?( - |$|; | \[#)")
            .expect("a constant pattern")
    });
    let text = STATEMENTS.replace_all(&text, "$1 …$2");
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
            others: Default::default(),
            kind,
            cause: cause.into(),
            operation: "GET /boats".into(),
            detail: String::new(),
            evidence: Vec::new(),
            calls: Vec::new(),
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
            r#"insert into "context" ("name", "sort") values ($1, $2) - value "9" is out of range"#,
            r#"insert into "context" ("name", "kind", "sort") values (DEFAULT, $1, $2) - value "7" is out of range"#,
        );
        same(
            "syntax error in SELECT id FROM notices WHERE title LIKE '%'clock%' ORDER BY id",
            "syntax error in SELECT id FROM notices WHERE title LIKE '%'ti%' ORDER BY id",
        );
        same(
            r#"Invalid value "-9" for parameter "limit"; SQL statement: SELECT a.* FROM artifacts a ORDER BY a.name asc LIMIT ? [90008]"#,
            r#"Invalid value "-1" for parameter "limit"; SQL statement: SELECT a.* FROM artifacts a ORDER BY a.id desc LIMIT ? [90008]"#,
        );
        assert_ne!(
            normalize("select a from b - no such column"),
            normalize("select a from b - out of memory")
        );
        // A quote in a quotation is doubled.
        same(
            r#"violation: "FK: BOATS(NAME) ('""Sea""', '""Gull""')"; statement"#,
            r#"violation: "FK: BOATS(NAME) ('Sea', '""Gull""')"; statement"#,
        );
        assert_ne!(
            normalize("division by zero"),
            normalize("index out of range")
        );
    }
}
