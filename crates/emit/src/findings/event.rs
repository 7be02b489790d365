//! Events of a run, one JSON object per line (NDJSON).

use serde::{Deserialize, Serialize};

use super::model::{FaultView, Progress, RestLimitation};

/// Something that happened during a run. NDJSON: one event per line, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// The run begins.
    Started {
        /// The service's title.
        title: String,
        /// The base URL.
        url: String,
        /// The number of operations.
        operations: u64,
        /// The seed.
        seed: u64,
        /// The algorithm.
        algorithm: String,
    },
    /// A run that was stopped continues.
    Resumed {
        /// Calls that it had made.
        calls: u64,
        /// Seconds that it had taken.
        seconds: f64,
        /// Candidates of it that are run again.
        candidates: u64,
    },
    /// The run is now busy with something else.
    Stage {
        /// `resume`, `explore`, `focus`, `probe`, `minimize`, `verify` or `check`.
        stage: String,
    },
    /// Something of the document is not supported.
    Limitation(RestLimitation),
    /// A target was covered for the first time.
    Covered {
        /// Calls so far.
        calls: u64,
        /// The target as a sentence.
        target: String,
    },
    /// A root cause was met for the first time.
    Fault {
        /// Calls so far.
        calls: u64,
        /// The fault.
        fault: Box<FaultView>,
    },
    /// Where the run is.
    Progress(Progress),
    /// The service died.
    Service {
        /// Calls so far.
        calls: u64,
        /// Whether it was brought back.
        up: bool,
        /// How it ended.
        message: String,
    },
    /// The suite of a language was written and run.
    SuiteWritten {
        /// The language.
        language: String,
        /// Tests that passed.
        passed: u64,
        /// Tests that failed and were taken out.
        failed: u64,
    },
    /// The run is over.
    Ended {
        /// Calls made.
        calls: u64,
        /// Seconds taken.
        seconds: f64,
        /// Targets covered.
        covered: u64,
        /// Root causes found.
        faults: u64,
        /// Why it ended before its budget, if it did.
        early: Option<String>,
    },
}

impl RunEvent {
    /// The event as one line, with its newline.
    pub fn to_line(&self) -> String {
        let mut line = serde_json::to_string(self)
            .expect("an event has string keys and no value that JSON lacks");
        line.push('\n');
        line
    }
}
