//! Faults in database rows are found, and a correct service has none.

mod support;

use isobath_exec::engine::Engine;
use isobath_rest::fault::FaultKind;
use isobath_rest::job::RunResult;
use isobath_rest::probe::ProbeConfig;
use isobath_suts::rows::{RowFault, library_at, library_tables};

use support::{Place, Plan, Prepared};

/// Runs the job on a library with a database of its own.
fn run(engine: Engine, fault: Option<RowFault>, seed: u64, calls: u64) -> Option<RunResult> {
    run_without(engine, fault, seed, calls, None)
}

/// The same, with a kind of fault that is not looked for.
fn run_without(
    engine: Engine,
    fault: Option<RowFault>,
    seed: u64,
    calls: u64,
    disabled: Option<FaultKind>,
) -> Option<RunResult> {
    let place = Place::new(engine, "rows of a library")?;
    let tables = library_tables(&place.at);
    let place = place.with(&tables);
    let service = library_at(&place.at, fault);
    let document = service.openapi.to_string();
    let plan = Plan {
        url: &service.url,
        document: &document,
        users: &[],
        reset: None,
        calls,
        seed,
        probes: ProbeConfig::default(),
    };
    let mut prepared = Prepared::new(&plan).with_rows(&place.address);
    prepared.config.disabled.extend(disabled);
    Some(prepared.run())
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
fn about_rows(outcome: &RunResult) -> Vec<String> {
    let faults = outcome.faults.iter().map(|(fault, _)| fault);
    faults
        .filter(|fault| fault.kind.is_about_rows())
        .map(|fault| format!("{:?} {}", fault.kind, fault.detail))
        .collect()
}

/// Calls of the first run, which finds most faults, and of those for the others; the last has another seed.
const CALLS: [u64; 3] = [1_000, 5_000, 5_000];

/// Each fault is found in the rows, with a test that shows it, and nothing else is.
fn each_fault_is_found_on(engine: Engine, seed: u64) {
    let mut wrong = Vec::new();
    for fault in RowFault::ALL {
        let expected = kind(fault);
        let mut is_found = false;
        for (attempt, calls) in (0..).zip(CALLS) {
            let seed = seed + 10 * (attempt / 2);
            let Some(outcome) = run(engine, Some(fault), seed, calls) else {
                return;
            };
            let found = outcome.faults.iter();
            for (found, test) in found.filter(|(found, _)| found.kind.is_about_rows()) {
                assert!(test.is_some(), "no test shows {found:?}");
                is_found |= found.kind == expected;
                if found.kind != expected {
                    wrong.push(format!("{fault:?}: {:?}", about_rows(&outcome)));
                }
            }
            if is_found {
                break;
            }
        }
        if !is_found {
            wrong.push(format!("{fault:?} is not found"));
        }
    }
    assert_eq!(wrong, [] as [String; 0], "{engine}");
}

#[test]
fn each_fault_is_found_in_the_rows_and_nothing_else_on_sqlite() {
    each_fault_is_found_on(Engine::Sqlite, 1);
}

#[test]
fn each_fault_is_found_in_the_rows_and_nothing_else_on_postgresql() {
    each_fault_is_found_on(Engine::Postgres, 2);
}

#[test]
fn each_fault_is_found_in_the_rows_and_nothing_else_on_mariadb() {
    each_fault_is_found_on(Engine::MariaDb, 3);
}

#[test]
fn a_correct_service_with_a_log_views_and_soft_deletes_is_not_accused() {
    for (engine, seeds) in [
        (Engine::Sqlite, 1..3),
        (Engine::Postgres, 3..4),
        (Engine::MariaDb, 4..5),
    ] {
        for seed in seeds {
            let Some(outcome) = run(engine, None, seed, 2_000) else {
                break;
            };
            let accused = about_rows(&outcome);
            assert_eq!(accused, [] as [String; 0], "{engine}, seed {seed}");
            assert!(outcome.covered > 50, "{engine}: {}", outcome.covered);
        }
    }
}

#[test]
fn kinds_about_rows_can_be_switched_off() {
    let off = Some(FaultKind::GetWrote);
    let outcome = run_without(Engine::Sqlite, Some(RowFault::ReadMarks), 1, 1_000, off);
    let outcome = outcome.expect("SQLite is built in");
    assert!(outcome.calls > 500, "{} {:?}", outcome.calls, outcome.lost);
    assert_eq!(about_rows(&outcome), [] as [String; 0]);
}

#[test]
fn a_finding_shows_the_difference_of_the_rows() {
    let outcome = run(Engine::Sqlite, Some(RowFault::ForgetsNote), 1, 2_000);
    let outcome = outcome.expect("SQLite is built in");
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
