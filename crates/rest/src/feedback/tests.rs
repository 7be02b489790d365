//! Tests of feedback.

use std::time::Duration;

use isobath_exec::driver::{Event, ReachedTarget, Target as CodeTarget, TargetKind};
use isobath_exec::http::{Call, CallFailure, CallOutcome, Request};
use isobath_search::Score;

use super::{CandidateTrace, CodeTargets, CombinedFeedback, Feedback};
use crate::exchange::Exchange;
use crate::target::Targets;

fn target(id: u32, kind: TargetKind, line: u32) -> CodeTarget {
    CodeTarget {
        id,
        kind,
        unit: "shop".into(),
        file: "src/main.rs".into(),
        line,
        column: 5,
        compiled_column: 5,
        function: "main".into(),
        text: "n > 9".into(),
    }
}

fn exchanges() -> Vec<Exchange> {
    let call = || Call {
        outcome: CallOutcome::Failed(CallFailure::Dropped),
        elapsed: Duration::ZERO,
        repeated: false,
        waited: Duration::ZERO,
        hops: Vec::new(),
    };
    let request = || Request::get("http://localhost/");
    (0..2)
        .map(|step| Exchange::new(step, Some(step as usize), None, request(), call()))
        .collect()
}

#[test]
fn each_call_gets_what_it_did_and_strays_are_dropped() {
    let reached = |target, score, action| ReachedTarget {
        target,
        score,
        action,
    };
    let panic = Event::Panicked {
        action: 1,
        target: None,
        file: "src/main.rs".into(),
        line: 7,
        column: 9,
        message: "oops".into(),
        backtrace: String::new(),
    };
    let seen = CandidateTrace {
        reached: vec![reached(3, 0.5, 0), reached(4, 1.0, 1), reached(5, 1.0, 9)],
        events: vec![panic, Event::Synced { token: 1 }],
    };
    let mut exchanges = exchanges();
    seen.attach_to(&mut exchanges);
    assert_eq!(exchanges[0].trace.reached, [(3, 0.5)]);
    assert_eq!(exchanges[1].trace.reached, [(4, 1.0)]);
    let panics: Vec<String> = exchanges[1].trace.panics().map(|p| p.cause()).collect();
    assert_eq!(panics, ["panicked at src/main.rs:7"]);
}

#[test]
fn targets_of_the_code_are_scored_counted_and_remember_who_came_nearest() {
    let mut code = CodeTargets::new(
        &[
            target(2, TargetKind::True, 4),
            target(3, TargetKind::False, 4),
            target(4, TargetKind::Statement, 5),
            target(5, TargetKind::Statement, 5),
        ],
        &[],
    );
    let mut exchanges = exchanges();
    exchanges[0].trace.reached = vec![(2, 0.25), (4, 1.0)];
    exchanges[1].trace.reached = vec![(2, 1.0), (99, 1.0)];
    let (mut targets, mut scores) = (Targets::default(), Vec::new());
    for exchange in &exchanges {
        code.score(exchange, &mut targets, &mut scores);
    }
    let values: Vec<f64> = scores.iter().map(Score::value).collect();
    assert_eq!(values, [0.25, 1.0, 1.0]);
    assert_eq!(targets.len(), 2);
    assert_eq!((code.operation(2), code.operation(3)), (Some(1), None));
    let coverage = code.coverage();
    assert_eq!((coverage.lines.covered, coverage.lines.total), (1, 1));
    assert_eq!((coverage.branches.covered, coverage.branches.total), (1, 2));
}

#[test]
fn one_statement_of_each_shape_that_looks_for_rows_is_kept_unless_it_failed() {
    let statement = |text: &str, failure: Option<&str>| Event::Statement {
        action: 0,
        database: "sqlite".into(),
        text: text.into(),
        rows: 0,
        failure: failure.map(str::to_owned),
    };
    let mut exchanges = exchanges();
    exchanges[0].trace.events = vec![
        statement(
            "SELECT id FROM `boats` WHERE name = 'it''s' AND berth = 7",
            None,
        ),
        statement(
            "SELECT id FROM `boats` WHERE name = '' AND berth = 12",
            None,
        ),
        statement(
            "SELECT id FROM `berths` WHERE name = '' AND berth = 12",
            None,
        ),
        statement("SELECT FROM", Some("syntax error")),
        statement("INSERT INTO boats (name) VALUES ('Petrel')", None),
        statement("begin", None),
        statement("SELECT count(*) FROM sqlite_schema", None),
    ];
    let mut code = CodeTargets::new(&[], &[]);
    code.score(&exchanges[0], &mut Targets::default(), &mut Vec::new());
    assert_eq!(
        code.statements().collect::<Vec<_>>(),
        [
            "SELECT id FROM `berths` WHERE name = '' AND berth = 12",
            "SELECT id FROM `boats` WHERE name = 'it''s' AND berth = 7",
        ]
    );
}

/// Tells one event per candidate, for the call that was named last.
#[derive(Debug, Default)]
struct Echo {
    targets: Vec<CodeTarget>,
    word: &'static str,
    database: &'static str,
    call: u16,
}

impl Feedback for Echo {
    fn targets(&self) -> &[CodeTarget] {
        &self.targets
    }

    fn begin(&mut self, _: Vec<String>) {
        self.call = 0;
    }

    fn call(&mut self, number: u16) {
        self.call = number;
    }

    fn end(&mut self) -> CandidateTrace {
        CandidateTrace {
            events: vec![Event::Statement {
                action: self.call,
                database: self.database.into(),
                text: self.word.into(),
                rows: 0,
                failure: None,
            }],
            ..CandidateTrace::default()
        }
    }

    fn warnings(&mut self) -> Vec<String> {
        vec![self.word.to_owned()]
    }
}

#[test]
fn several_tell_together_and_one_has_the_targets() {
    // A statement of the same database was seen by both.
    for (database, told_by_both) in [("sqlite", true), ("postgresql", false)] {
        let driver = Echo {
            targets: vec![target(1, TargetKind::Statement, 3)],
            word: "driver",
            database,
            ..Echo::default()
        };
        let tap = Echo {
            word: "tap",
            database: "postgres",
            ..Echo::default()
        };
        let mut both = CombinedFeedback::new(Box::new(driver), vec![Box::new(tap)]);
        assert_eq!(both.targets().len(), 1);
        both.begin(Vec::new());
        both.call(1);
        let mut exchanges = exchanges();
        both.end().attach_to(&mut exchanges);
        let told: Vec<String> = exchanges[1].trace.statements().collect();
        let expected = ["driver (0 rows)", "tap (0 rows)"];
        assert_eq!(told, expected[usize::from(!told_by_both)..]);
        assert_eq!(both.warnings(), ["driver", "tap"]);
    }
}

#[test]
fn a_tap_that_nothing_passed_is_not_missed_where_the_driver_saw_the_statements() {
    for (database, expected) in [("postgres", &["driver"][..]), ("", &["driver", "tap"])] {
        let driver = Echo {
            word: "driver",
            database,
            ..Echo::default()
        };
        let tap = Echo {
            word: "tap",
            ..Echo::default()
        };
        let mut both = CombinedFeedback::new(Box::new(driver), vec![Box::new(tap)]);
        both.begin(Vec::new());
        both.end();
        assert_eq!(both.warnings(), expected);
    }
}
