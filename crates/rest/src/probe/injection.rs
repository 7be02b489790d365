//! SQL injection. Only with --sql-injection.

use std::sync::LazyLock;
use std::time::Duration;

use isobath_genes::Value as GeneValue;
use regex::Regex;
use serde_json::json;

use crate::candidate::{Candidate, StepKind};
use crate::exchange::Exchange;
use crate::fault::FaultKind;

use super::{BaseCandidate, Prober};

/// Inputs tried per operation.
const INPUTS: usize = 8;

/// Complaints of databases about the syntax of a statement.
static COMPLAINTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)unterminated quoted string|unrecognized token|syntax error at or near|near "[^"]*": syntax error|you have an error in your sql syntax|SQLITE_ERROR|SQLSTATE\[?4[24]|sql syntax|quoted string not properly terminated"#,
    )
    .expect("a constant pattern")
});

/// Statements that make a database pause, for a number of seconds.
fn pauses(seconds: f64) -> [String; 4] {
    [
        format!("x' OR pg_sleep({seconds}) IS NOT NULL -- "),
        format!("x'; SELECT pg_sleep({seconds}) -- "),
        format!("x' OR SLEEP({seconds}) -- "),
        format!("x' AND (SELECT 1 FROM (SELECT SLEEP({seconds})) t) -- "),
    ]
}

impl Prober<'_> {
    pub(super) fn injection(&mut self, base: &BaseCandidate) {
        let mut inputs = Vec::new();
        if let Some(input) = base.last().input() {
            input.walk(|place| {
                if matches!(place.value, GeneValue::Text(_)) && inputs.len() < INPUTS {
                    inputs.push(place.pointer.to_owned());
                }
            });
        }
        for pointer in inputs {
            self.by_error(base, &pointer);
            self.by_time(base, &pointer);
        }
    }

    /// A quote breaks the statement, a doubled quote does not.
    fn by_error(&mut self, base: &BaseCandidate, pointer: &str) {
        if !self.checks(FaultKind::SqlInjectionByError) {
            return;
        }
        let (Some(single), Some(doubled)) = (
            with_text(base, pointer, "o'clock"),
            with_text(base, pointer, "o''clock"),
        ) else {
            return;
        };
        let Some(broken) = self.run_last::<1>(&single) else {
            return;
        };
        let Some(whole) = self.run_last::<1>(&doubled) else {
            return;
        };
        if complains(&broken[0])
            && !complains(&whole[0])
            && whole[0].status().is_some_and(|status| status < 500)
        {
            let name = self.api.operation(base.operation).name();
            let detail = format!("a quote in {pointer} of {name} breaks the SQL statement");
            self.find(
                FaultKind::SqlInjectionByError,
                base.operation,
                detail,
                single,
            );
        }
    }

    /// A pause in the input is felt in the response, a longer one longer, none not at all.
    fn by_time(&mut self, base: &BaseCandidate, pointer: &str) {
        if !self.checks(FaultKind::SqlInjectionByTime) {
            return;
        }
        let (short, long) = (0.4, 1.0);
        for (quick, slow) in pauses(short).iter().zip(pauses(long)) {
            let (Some(plain), Some(quick), Some(slow)) = (
                with_text(base, pointer, "x"),
                with_text(base, pointer, quick),
                with_text(base, pointer, &slow),
            ) else {
                return;
            };
            let mut took = |candidate: &Candidate| {
                self.run_last::<1>(candidate)
                    .map(|last| last[0].call.elapsed)
            };
            let (Some(none), Some(first), Some(second)) = (took(&plain), took(&quick), took(&slow))
            else {
                return;
            };
            let felt = |elapsed: Duration, pause: f64| {
                elapsed.as_secs_f64() >= pause && elapsed.as_secs_f64() < pause * 3.0
            };
            if none.as_secs_f64() < short / 2.0 && felt(first, short) && felt(second, long) {
                let name = self.api.operation(base.operation).name();
                let detail = format!("the database executes a sleep in {pointer} of {name}");
                self.find(FaultKind::SqlInjectionByTime, base.operation, detail, slow);
                return;
            }
        }
    }
}

/// The base with another text in its last call.
fn with_text(base: &BaseCandidate, pointer: &str, text: &str) -> Option<Candidate> {
    let mut candidate = base.candidate.clone();
    match candidate.steps.last_mut().map(|step| &mut step.kind) {
        Some(StepKind::Call { action, .. }) => action
            .gene
            .set_json(pointer, &json!(text))
            .then_some(candidate),
        _ => None,
    }
}

fn complains(exchange: &Exchange) -> bool {
    exchange
        .response()
        .is_some_and(|response| COMPLAINTS.is_match(&response.text().replace("\\\"", "\"")))
}
