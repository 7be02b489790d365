//! Oracles over single responses.
//!
//! Faults that need several calls are found by [`crate::probe`].

mod trace;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use isobath_exec::http::{CallFailure, Request};
use isobath_genes::{Rule, RuleViolation};
use regex::Regex;
use serde_json::Value;

pub use trace::stack_trace;

use crate::action::{ReceivedResponse, ResponseChecker, Violation, ViolationKind};
use crate::db_oracle::{label, violated};
use crate::exchange::{Exchange, texts_in};
use crate::fault::{COERCION, Fault, FaultKind, normalize};
use crate::feedback::Panic;
use crate::openapi::{Api, Version};
use crate::problem::stable_pointer;
use crate::redact;
use crate::seeding;

/// Oracles over single responses.
#[derive(Debug)]
pub struct Oracle {
    checker: ResponseChecker,
    disabled: BTreeSet<FaultKind>,
}

/// Longest part of a body that is searched for traces and messages.
const READ: usize = 64 * 1024;

impl Oracle {
    /// A judge that looks for all kinds but those that are off.
    #[must_use]
    pub fn new(api: &Api, disabled: BTreeSet<FaultKind>) -> Self {
        Self {
            checker: ResponseChecker::new(api),
            disabled,
        }
    }

    /// Whether a kind is looked for.
    #[must_use]
    pub fn checks(&self, kind: FaultKind) -> bool {
        !self.disabled.contains(&kind)
    }

    /// The faults that an exchange shows, given the rule that its input breaks on purpose.
    ///
    /// What the response repeats of the user's secrets is not in them.
    #[must_use]
    pub fn judge(
        &self,
        api: &Api,
        exchange: &Exchange,
        breach: Option<&RuleViolation>,
    ) -> Vec<Fault> {
        let mut faults = self.look(api, exchange, breach);
        faults.iter_mut().for_each(|fault| fault.redact(exchange));
        faults
    }

    fn look(&self, api: &Api, exchange: &Exchange, breach: Option<&RuleViolation>) -> Vec<Fault> {
        let Some(index) = exchange.operation else {
            return Vec::new();
        };
        let operation = api.operation(index);
        let name = operation.name();
        let mut faults = Vec::new();
        let panic = exchange.trace.panics().next();
        let panics = panic.iter().map(ToString::to_string);
        let said = (!exchange.service_output.is_empty())
            .then(|| redact::output_evidence(&exchange.service_output));
        let statements = exchange.trace.statements();
        let statements = statements.map(|statement| redact::redact_likely_secrets(&statement));
        let evidence: Vec<String> = panics.chain(statements).chain(said).collect();
        let mut add = |kind: FaultKind, cause: String, detail: String| {
            if self.checks(kind) {
                faults.push(Fault {
                    others: Default::default(),
                    kind,
                    cause,
                    operation: name.clone(),
                    detail,
                    evidence: evidence.clone(),
                    calls: Vec::new(),
                });
            }
        };
        if let Some(exit_reason) = &exchange.fatal {
            add(
                FaultKind::ServiceDied,
                panic.map_or_else(|| crash_cause(&name, exit_reason), |panic| panic.cause()),
                format!("{name} crashed the service: {exit_reason}"),
            );
        }
        match exchange.failure() {
            // The end of the service says it already.
            Some(CallFailure::Dropped) if exchange.fatal.is_some() => {}
            Some(CallFailure::Dropped) => {
                add(
                    FaultKind::ConnectionDropped,
                    panic.map_or_else(|| name.clone(), |panic| panic.cause()),
                    format!(
                        "{name} closed the connection without a response{}",
                        panic_reason(panic)
                    ),
                );
            }
            Some(CallFailure::Garbage(what)) => {
                add(
                    FaultKind::ConnectionDropped,
                    format!("{name} garbage"),
                    format!("{name} sent an invalid HTTP response: {what}"),
                );
            }
            Some(CallFailure::TimedOut) => add(
                FaultKind::TimedOut,
                name.clone(),
                format!("{name} timed out"),
            ),
            _ => {}
        }
        let Some(response) = exchange.response() else {
            return faults;
        };
        let text = String::from_utf8_lossy(response.body.get(..READ).unwrap_or(&response.body));
        let trace = stack_trace(&text);
        if let Some(site) = &trace {
            let cause = if site.is_empty() {
                name.clone()
            } else {
                normalize(&exchange.redacted(site.clone()))
            };
            add(
                FaultKind::StackTrace,
                cause,
                format!("{name} returned {} with a stack trace", response.status),
            );
        }
        // A service that defends itself against many calls is not to blame for it.
        let too_many = response.status == 429
            || response.status == 503 && response.header("retry-after").is_some();
        if too_many {
            return faults;
        }
        if response.status >= 500 {
            let constraint = violated(exchange).map(|refusal| label(&refusal));
            let is_null_body = breach
                .is_some_and(|breach| breach.rule == Rule::NotNull && breach.pointer == "/body");
            let cause = match (panic, &constraint) {
                (Some(panic), Some(constraint)) => format!("{} ({constraint})", panic.cause()),
                (Some(panic), None) => panic.cause(),
                (None, Some(constraint)) => constraint.clone(),
                // A check in front of all operations would refuse it.
                (None, None) if is_null_body => "null in place of the body".to_owned(),
                (None, None) => {
                    server_error_cause(&name, response.status, trace.as_deref(), exchange, &text)
                }
            };
            let violates = constraint.map_or_else(String::new, |constraint| {
                format!(" for a violation of {constraint}")
            });
            add(
                FaultKind::ServerError,
                cause,
                format!(
                    "{name} returned {}{violates}{}",
                    response.status,
                    panic_reason(panic)
                ),
            );
            // The body of a crash is rarely documented; one finding is enough.
            return faults;
        }
        // That a body has to be well formed and of a documented content type goes without saying, and so does the refusal.
        let is_unsaid =
            breach.is_some_and(is_about_request) && (400..500).contains(&response.status);
        if operation.response(response.status).is_none() && !operation.responses.is_empty() {
            if is_unsaid {
                return faults;
            }
            let detail = format!(
                "{name} returned {}, which is not documented",
                response.status
            );
            add(
                FaultKind::UndocumentedStatus,
                undocumented_cause(&name, response.status),
                detail,
            );
        } else {
            let headers: Vec<(&str, &str)> = response
                .headers
                .iter()
                .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
                .collect();
            let answer = ReceivedResponse {
                status: response.status,
                headers: &headers,
                body: &response.body,
                json: exchange.body.as_ref(),
            };
            // The same rule broken in several parts of one object, or in every item of a list, has one cause.
            let mut causes: Vec<(String, Violation, Vec<String>)> = Vec::new();
            let violations = self.checker.check(api, operation, &answer).into_iter();
            for violation in violations.filter(|violation| !is_seeded(exchange, violation)) {
                let cause = mismatch_cause(&name, response.status, &violation);
                let place = violation.place.clone();
                match causes.iter_mut().find(|(known, ..)| *known == cause) {
                    Some((_, _, places)) if places.contains(&place) => {}
                    Some((_, _, places)) => places.push(place),
                    None => causes.push((cause, violation, vec![place])),
                }
            }
            for (cause, violation, places) in causes {
                let mut detail =
                    format!("{name} returned {}: {}", response.status, violation.message);
                if places.first().is_some_and(|place| !place.is_empty())
                    && matches!(violation.kind, ViolationKind::Schema(_))
                {
                    detail.push_str(&format!(" at {}", shortened(&places)));
                }
                add(FaultKind::ResponseMismatch, cause, detail);
            }
        }
        // What is asked of OPTIONS is the same for every input; what is accepted for later may be refused later.
        let is_judged =
            !matches!(&*operation.method, "OPTIONS" | "TRACE") && response.status != 202;
        if let Some(breach) = breach
            && exchange.succeeded()
            && is_judged
            && is_stated(api, breach)
        {
            let what = describe(breach);
            // A framework that converts one type to another does so everywhere.
            let cause = match breach.rule {
                Rule::Type if breach.pointer != "/body" => COERCION.to_owned(),
                Rule::NotNull if breach.pointer.starts_with("/body") => {
                    "null is accepted in bodies".to_owned()
                }
                _ => format!("{name} {what}"),
            };
            add(
                FaultKind::InvalidInputAccepted,
                cause,
                format!("{name} returned {} although {what}", response.status),
            );
        }
        faults
    }
}

/// Whether a response breaks its schema by the value of a row that the test inserted: no operation of the service
/// may ever store such a value.
fn is_seeded(exchange: &Exchange, violation: &Violation) -> bool {
    let (Some(seeded), ViolationKind::Schema(_)) = (&exchange.trace.seeded, &violation.kind) else {
        return false;
    };
    let body = exchange.body.as_ref();
    let Some(shown) = body.and_then(|body| body.pointer(&violation.pointer)) else {
        return false;
    };
    let mut cells = seeded.rows.values().flatten().flatten();
    cells.any(|cell| match seeding::json(cell) {
        Some(stored) => {
            stored == *shown || (stored.is_number() && stored.as_f64() == shown.as_f64())
        }
        None => shown.is_null(),
    })
}

/// Whether the document can state the rule: Swagger 2.0 has no word for null, so that it says nothing against it.
fn is_stated(api: &Api, breach: &RuleViolation) -> bool {
    // Many services do not look at the content type, and some not at the body: that harms nobody.
    !(is_about_request(breach) || api.version == Version::V2_0 && breach.rule == Rule::NotNull)
}

/// Whether the request as a whole is broken, rather than a value in it.
fn is_about_request(breach: &RuleViolation) -> bool {
    matches!(breach.rule, Rule::Syntax | Rule::ContentType)
}

/// The identity of an undocumented status. What frameworks answer for all operations alike has one cause.
fn undocumented_cause(name: &str, status: u16) -> String {
    match status {
        400 | 401 | 403 | 404 | 405 | 406 | 409 | 413 | 415 | 422 => format!("status {status}"),
        _ => format!("{name} {status}"),
    }
}

/// The first few of several places.
fn shortened(places: &[String]) -> String {
    const SHOWN: usize = 4;
    let shown = places.get(..SHOWN).unwrap_or(places).join(", ");
    match places.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The identity of a mismatch: properties of the same object that break the same rule belong to one schema, whichever
/// operations return it.
fn mismatch_cause(name: &str, status: u16, violation: &Violation) -> String {
    let place = &violation.place;
    let mut names = place
        .rsplit('/')
        .filter(|name| !name.is_empty() && *name != "*");
    if let (ViolationKind::Schema(keyword), Some(component)) =
        (&violation.kind, &violation.component)
    {
        return format!("{keyword} in {component}");
    }
    match (&violation.kind, names.next()) {
        (ViolationKind::Schema(keyword), Some(property)) => match names.next() {
            Some(parent) => format!("{keyword} in {parent}"),
            // The property of a list of objects is the name of the objects.
            None if place.ends_with('*') => format!("{keyword} in {property}"),
            // Errors of one status have one form in most services.
            None if status >= 400 => format!("{keyword} in {property} of {status} responses"),
            None => format!("{name} {status} {keyword}"),
        },
        // The message has the value, which differs from item to item and from call to call.
        (ViolationKind::Schema(keyword), None) if place.is_empty() => {
            format!("{name} {status} {keyword} of the body")
        }
        (ViolationKind::Schema(keyword), None) => format!("{name} {status} {keyword} in items"),
        (ViolationKind::InvalidHeader | ViolationKind::MissingHeader, _) => {
            format!("{:?} {place}", violation.kind)
        }
        (kind, _) if status >= 400 => format!("{kind:?} of {status} responses"),
        (kind, _) => format!("{name} {status} {kind:?} {place}"),
    }
}

/// Panic location and message.
fn panic_reason(panic: Option<Panic<'_>>) -> String {
    panic.map_or_else(String::new, |panic| {
        let message = panic.message.lines().next().unwrap_or_default();
        format!(": {} ({message})", panic.cause())
    })
}

/// The cause of a crash: the code location in the last output, else the operation.
pub(crate) fn crash_cause(name: &str, exit_reason: &str) -> String {
    static SITE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[\w./\\-]+\.[A-Za-z]{1,5}:\d+|File .[^\n]+, line \d+")
            .expect("a constant pattern")
    });
    if let Some(site) = stack_trace(exit_reason).filter(|site| !site.is_empty()) {
        return normalize(&site);
    }
    match SITE.find(exit_reason) {
        Some(site) => site.as_str().to_owned(),
        None => name.to_owned(),
    }
}

/// The identity of a server error: the site of its trace, else its operation and message.
fn server_error_cause(
    name: &str,
    status: u16,
    trace: Option<&str>,
    exchange: &Exchange,
    text: &str,
) -> String {
    // Secrets go before numbers, which they may hold.
    if let Some(site) = trace.filter(|site| !site.is_empty()) {
        return normalize(&exchange.redacted(site.to_owned()));
    }
    let message = exchange
        .body
        .as_ref()
        .and_then(|body| {
            ["message", "detail", "error", "title", "msg"]
                .iter()
                .find_map(|key| body.get(key)?.as_str().map(str::to_owned))
        })
        .unwrap_or_else(|| text.chars().take(400).collect());
    let failure = exchange.trace.failed_statement();
    let output = failure.unwrap_or(&exchange.service_output);
    let is_blamed = |input: &&RefusedInput| {
        (input.is_in)(&exchange.request)
            && (input.may_be_blamed(&message) || input.is_blamed(output))
    };
    if let Some(input) = REFUSED_INPUTS.iter().find(is_blamed) {
        return input.cause.to_owned();
    }
    // Many services say of all failed statements the same.
    let failure = failure.map_or_else(String::new, |failure| {
        format!(" ({})", normalize(&exchange.redacted(failure.to_owned())))
    });
    let message = without_inputs(&message, &exchange.request);
    let message = without_last_input(&message, exchange.sent.as_ref());
    let message = normalize(&exchange.redacted(message));
    let cause = format!("{name} {status} {message}");
    format!("{}{failure}", cause.trim_end())
}

/// What databases refuse in every input: one check in front of all operations would, too, so it is one cause.
struct RefusedInput {
    cause: &'static str,
    is_in: fn(&Request) -> bool,
    /// How messages name it.
    words: &'static [&'static str],
}

const REFUSED_INPUTS: [RefusedInput; 2] = [
    RefusedInput {
        cause: "a NUL character in the input",
        is_in: has_nul,
        words: &[
            "nul character",
            "null character",
            "nul byte",
            "null byte",
            "0x00",
            "\\u0000",
            "byte sequence for encoding",
        ],
    },
    RefusedInput {
        cause: "an integer of more than 64 bits in the input",
        is_in: has_huge_integer,
        words: &["too large", "too big", "out of range", "overflow", "exceed"],
    },
];

impl RefusedInput {
    /// Whether a message blames it, or says nothing at all.
    fn may_be_blamed(&self, message: &str) -> bool {
        let bare = message.trim().to_ascii_lowercase();
        let is_bare = bare.is_empty()
            || matches!(
                bare.as_str(),
                "internal server error" | "server error" | "an unexpected error occurred"
            );
        is_bare || self.is_blamed(message)
    }

    /// Whether a text names it as what is wrong.
    fn is_blamed(&self, text: &str) -> bool {
        let text = text.to_ascii_lowercase();
        self.words.iter().any(|word| text.contains(word))
    }
}

/// Whether a request carries a NUL.
fn has_nul(request: &Request) -> bool {
    let is_escaped = |body: &[u8]| body.windows(6).any(|part| part == br"\u0000");
    request.url.contains("%00")
        || request.body.contains(&0)
        || is_escaped(&request.body)
        || request.body.windows(3).any(|part| part == b"%00")
}

/// Whether a request carries an integer that is greater than those of databases.
fn has_huge_integer(request: &Request) -> bool {
    let is_huge = |digits: &[u8]| {
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        digits.len() >= 19 && digits.parse::<i64>().is_err()
    };
    let texts = [request.url.as_bytes(), &request.body];
    let mut numbers = texts
        .into_iter()
        .flat_map(|text| text.split(|byte| !byte.is_ascii_digit()));
    numbers.any(is_huge)
}

/// A message without the words that it has from the request, such as the host of a URL that was sent. Plain words stay:
/// they are more often names of fields.
fn without_inputs(message: &str, request: &Request) -> String {
    let url = percent_encoding::percent_decode_str(&request.url).decode_utf8_lossy();
    let body = String::from_utf8_lossy(&request.body);
    let is_input = |word: &str| {
        let is_plain = word.chars().all(|c| c.is_alphabetic() || c == '_');
        word.len() >= 4 && !is_plain && (url.contains(word) || body.contains(word))
    };
    let words = message.split_inclusive(char::is_whitespace).map(|word| {
        let bare = word.trim_matches(|c: char| c.is_whitespace() || "'\"`.,:;()[]<>".contains(c));
        match is_input(bare) {
            true => word.replace(bare, "…"),
            false => word.to_owned(),
        }
    });
    words.collect()
}

/// A message without the input that it ends with, as "unknown type: X" and "no constant a.b.Color.X" do: of any length,
/// also none.
fn without_last_input(message: &str, sent: Option<&Value>) -> String {
    let is_end = |c: char| c.is_whitespace() || "'\"`.,;)]>".contains(c);
    let texts = sent.map(|sent| texts_in(sent, 0)).unwrap_or_default();
    for bare in [message, message.trim_end_matches(is_end)] {
        let before = texts.iter().filter_map(|text| bare.strip_suffix(text));
        let before = before.filter(|before| before.ends_with(|c: char| !c.is_alphanumeric()));
        if let Some(before) = before.min_by_key(|before| before.len()) {
            let end = message.strip_prefix(bare).unwrap_or_default();
            return format!("{before}…{end}");
        }
    }
    let last = message.split_whitespace().last().unwrap_or_default();
    let is_qualified = last.trim_end_matches('.').contains('.') && last.ends_with('.');
    match message.trim_end().ends_with(':') {
        true => format!("{} …", message.trim_end()),
        false if is_qualified => format!("{}…", message.trim_end()),
        false => message.to_owned(),
    }
}

/// What is wrong with an input, in words.
fn describe(breach: &RuleViolation) -> String {
    let place = stable_pointer(&breach.pointer);
    let place = place.trim_start_matches('/').replace('/', ".");
    format!("{place} breaks `{}`", breach.rule)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use isobath_exec::driver::Event;
    use isobath_exec::http::{Call, CallOutcome};

    use super::*;

    #[test]
    fn server_errors_for_a_nul_have_one_cause() {
        let nul = Request::get("http://localhost/boats/a%00b");
        let json = Request::get("http://localhost/boats").body(r#"{"name": "a\u0000b"}"#);
        assert!(has_nul(&nul) && has_nul(&json));
        assert!(!has_nul(&Request::get("http://localhost/boats/100%25")));
        let [nul, _] = REFUSED_INPUTS;
        assert!(nul.may_be_blamed("Internal Server Error"));
        assert!(nul.may_be_blamed("select 1 - invalid byte sequence for encoding \"UTF8\": 0x00"));
        assert!(!nul.may_be_blamed("division by zero"));
    }

    #[test]
    fn server_errors_for_a_huge_integer_have_one_cause() {
        let huge = || Request::get("http://localhost/boats/100000000000000000000");
        let largest = Request::get("http://localhost/boats/9223372036854775807");
        assert!(has_huge_integer(&huge()) && !has_huge_integer(&largest));
        let cause = "an integer of more than 64 bits in the input";
        assert_eq!(cause_of(huge(), "22003: bigint out of range"), cause);
        assert_ne!(cause_of(huge(), "42P01: no such table"), cause);
    }

    #[test]
    fn messages_that_differ_by_what_was_sent_are_one() {
        let message = |host: &str| {
            let request = Request::get("http://localhost/hooks")
                .body(format!(r#"{{"url": "http://{host}/x", "name": "hook"}}"#));
            without_inputs(&format!("Can't resolve host {host}, hook."), &request)
        };
        assert_eq!(message("a.example"), "Can't resolve host …, hook.");
        assert_eq!(message("a.example"), message("b#c.org"));
    }

    #[test]
    fn messages_that_end_with_what_was_sent_are_one() {
        let check = |message: &str, input: &str, expected: &str| {
            let sent = serde_json::json!({ "body": { "kind": input, "name": "boat" } });
            assert_eq!(without_last_input(message, Some(&sent)), expected);
        };
        for input in ["W", "AWRO", "a b", "nul\0byte", ""] {
            check(&format!("unknown type: {input}"), input, "unknown type: …");
            let message = format!("no constant a.b.Color.{input}");
            check(&message, input, "no constant a.b.Color.…");
        }
        check("unknown type 'W'.", "W", "unknown type '…'.");
        check("there is no BigBoat", "Boat", "there is no BigBoat");
        check("it failed.", "", "it failed.");
    }

    /// The cause of a response that hides why a statement failed.
    fn cause_of(request: Request, failure: &str) -> String {
        let call = Call {
            outcome: CallOutcome::Failed(CallFailure::Dropped),
            elapsed: Duration::ZERO,
            repeated: false,
            waited: Duration::ZERO,
            hops: Vec::new(),
        };
        let mut exchange = Exchange::new(0, Some(0), None, request, call);
        exchange.trace.events.push(Event::Statement {
            action: 0,
            text: "SELECT 1".to_owned(),
            database: "postgresql".to_owned(),
            rows: 0,
            failure: Some(failure.to_owned()),
        });
        server_error_cause("GET /boats", 500, None, &exchange, "a database error")
    }

    #[test]
    fn a_message_that_hides_why_a_statement_failed_is_told_apart_by_the_failure() {
        let request = || Request::get("http://localhost/boats?offset=-1");
        let offset = cause_of(request(), "2201X: OFFSET must not be negative");
        assert_eq!(
            offset,
            "GET /boats 500 a database error (#X: OFFSET must not be negative)"
        );
        assert_ne!(offset, cause_of(request(), "22003: out of range"));
        let nul = Request::get("http://localhost/boats/a%00b");
        let cause = "a NUL character in the input";
        assert_eq!(cause_of(nul, "22021: invalid byte sequence: 0x00"), cause);
        // A connection that was busy is no cause.
        assert_eq!(
            cause_of(request(), "08006: no answer yet"),
            "GET /boats 500 a database error"
        );
    }
}
