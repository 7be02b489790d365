//! Runs every fuzz target for a moment. `ISOBATH_FUZZ_RUNS=100` multiplies the runs, `ISOBATH_FUZZ_SEED=7` sets the
//! random seed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use isobath_fuzz::{Mutator, TARGETS, Target, corpus};

fn number(variable: &str, otherwise: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(otherwise, |text| text.parse().expect("a number"))
}

/// Feeds a target with its corpus and with mutations of it.
fn check(name: &str) {
    let target: &Target = TARGETS
        .iter()
        .find(|target| target.name == name)
        .expect("one of the targets");
    let mut corpus = (target.corpus)();
    assert!(!corpus.is_empty(), "{name} has no good inputs");
    let folder = corpus::folder(name);
    assert!(!folder.is_empty(), "{name} has no folder in fuzz/corpus");
    corpus.extend(folder);
    let seed = number("ISOBATH_FUZZ_SEED", 1);
    let runs = u64::from(target.runs) * number("ISOBATH_FUZZ_RUNS", 1);
    let mut mutator = Mutator::new(seed);
    let spoiled = (0..runs).map(|_| mutator.spoiled(&corpus));
    for (run, input) in corpus.iter().cloned().chain(spoiled).enumerate() {
        let fed = catch_unwind(AssertUnwindSafe(|| (target.feed)(&input)));
        if fed.is_err() {
            panic!(
                "{name} panics on input {run} of seed {seed}:\n{}",
                input.escape_ascii()
            );
        }
    }
}

macro_rules! survives {
    ($($target:ident)*) => {
        $(#[test]
        fn $target() {
            check(stringify!($target));
        })*

        #[test]
        fn all_targets_are_run() {
            let names = [$(stringify!($target)),*];
            assert_eq!(TARGETS.map(|target| target.name), names);
        }
    };
}

survives! { answer auth chance ddl evaluated journal messages openapi pattern query report statement suite tap }
