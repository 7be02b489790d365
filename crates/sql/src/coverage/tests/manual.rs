//! The manual's examples are what the generator makes.

use super::{QueryCriterion, try_targets};
use crate::dialect::DialectName::Postgres;

#[test]
fn every_example_of_the_manual_is_true() {
    let manual = include_str!("../../../../../docs/query-coverage.md");
    let mut checked = 0;
    for (word, criterion) in [
        ("fpc", QueryCriterion::Fpc),
        ("extended", QueryCriterion::Extended),
    ] {
        for example in manual.split(&format!("```{word}\n")).skip(1) {
            let example = example
                .split("\n```")
                .next()
                .expect("split has a first part");
            let (query, expected) = example.split_once('\n').expect("a query and its targets");
            let targets = try_targets(Postgres, query, criterion, true).expect("a good query");
            let lines = targets
                .iter()
                .map(|target| format!("{} {}", target.label(), target.sql));
            assert_eq!(lines.collect::<Vec<_>>().join("\n"), expected, "{query}");
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} examples found");
}
