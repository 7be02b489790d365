//! Faults that show in the rows of the database are found there, and a correct service is not accused.

mod support;

use std::collections::BTreeSet;

use isobath_rest::fault::FaultKind;
use isobath_rest::job::Outcome;
use isobath_rest::probe::Choice;
use isobath_suts::Running;
use isobath_suts::rows::{RowFault, library};

use support::{Plan, Prepared};

fn prepared(service: &Running, seed: u64, calls: u64) -> Prepared {
    let document = service.openapi.to_string();
    let path = service.database.as_ref().expect("a library has a database");
    let plan = Plan {
        url: &service.url,
        document: &document,
        users: &[],
        reset: None,
        calls,
        seed,
        probes: Choice::default(),
    };
    Prepared::new(&plan).with_rows(path)
}

fn kind(fault: RowFault) -> FaultKind {
    match fault {
        RowFault::LostCreation => FaultKind::SuccessWroteNothing,
        RowFault::RefusedAfterWrite | RowFault::HalfWritten => FaultKind::FailureWrote,
        RowFault::HiddenNotDeleted => FaultKind::DeleteLeftRow,
        RowFault::TakesThickBooks => FaultKind::DeleteTookOthers,
        RowFault::ReadMarks => FaultKind::GetWrote,
        RowFault::RenamesAll | RowFault::ForgetsNote => FaultKind::UpdateChangedOthers,
        RowFault::KeepsCapacity => FaultKind::LostUpdate,
        RowFault::LeavesBooks => FaultKind::OrphanRow,
        RowFault::RepeatsCreation => FaultKind::DuplicateOnRetry,
    }
}

/// The faults that show in rows, as text.
fn about_rows(outcome: &Outcome) -> Vec<String> {
    let faults = outcome.faults.iter().map(|(fault, _)| fault);
    faults
        .filter(|fault| fault.kind.is_about_rows())
        .map(|fault| format!("{:?} {}", fault.kind, fault.detail))
        .collect()
}

#[test]
fn each_fault_is_found_in_the_rows_and_nothing_else() {
    let mut wrong = Vec::new();
    for fault in RowFault::ALL {
        let outcome = prepared(&library(Some(fault)), 1, 2_000).run();
        let found: BTreeSet<FaultKind> = outcome
            .faults
            .iter()
            .map(|(fault, _)| fault.kind)
            .filter(|kind| kind.is_about_rows())
            .collect();
        if found != BTreeSet::from([kind(fault)]) {
            wrong.push(format!("{fault:?}: {:?}", about_rows(&outcome)));
        }
        let shown = outcome
            .faults
            .iter()
            .filter(|(fault, _)| fault.kind.is_about_rows());
        for (fault, test) in shown {
            assert!(test.is_some(), "no test shows {fault:?}");
        }
    }
    assert_eq!(wrong, [] as [String; 0]);
}

#[test]
fn a_correct_service_with_a_log_views_and_soft_deletes_is_not_accused() {
    for seed in 1..3 {
        let outcome = prepared(&library(None), seed, 2_000).run();
        assert_eq!(about_rows(&outcome), [] as [String; 0], "seed {seed}");
        assert!(outcome.covered > 50, "{}", outcome.covered);
    }
}

#[test]
fn kinds_about_rows_can_be_switched_off() {
    let service = library(Some(RowFault::ReadMarks));
    let mut prepared = prepared(&service, 1, 1_000);
    prepared.config.off.insert(FaultKind::GetWrote);
    let outcome = prepared.run();
    assert!(outcome.calls > 500, "{} {:?}", outcome.calls, outcome.lost);
    assert_eq!(about_rows(&outcome), [] as [String; 0]);
}

#[test]
fn a_finding_shows_the_difference_of_the_rows() {
    let outcome = prepared(&library(Some(RowFault::ForgetsNote)), 1, 2_000).run();
    let (fault, _) = outcome
        .faults
        .iter()
        .find(|(fault, _)| fault.kind == FaultKind::UpdateChangedOthers)
        .expect("the fault is found");
    assert_eq!(fault.cause, "PATCH /books/{id} changes books.note");
    let shown = &fault.evidence[0];
    assert!(shown.starts_with("books: row id = "), "{shown}");
    assert!(
        shown.contains("note ") && shown.contains("became NULL"),
        "{shown}"
    );
}
