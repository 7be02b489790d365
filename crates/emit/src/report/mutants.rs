//! The table of mutants: operator, status, and the first test that kills each.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::model::{MutantResult, MutantView, Mutation};
use super::page::{self, plural};
use crate::suite::Test;

/// More rows than this are not shown until they are asked for.
const OPEN: usize = 60;
const HEADS: [&str; 5] = [
    "Status",
    "Table",
    "Change",
    "Operator",
    "Killed by, or why it is not counted",
];

/// All mutants as a table that can be filtered by words and by outcome; nothing when there are none.
pub(super) fn section(mutation: &Mutation, tests: &[Test]) -> Markup {
    // Names of tests are unique within a suite; should they not be, the first one is as good.
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (idx, test) in tests.iter().enumerate() {
        places.entry(&test.name).or_insert(idx);
    }
    let of = |status| {
        mutation
            .all
            .iter()
            .filter(move |mutant| mutant.status == status)
    };
    let rows = html! {
        @for mutant in MutantResult::ALL.into_iter().flat_map(of) { (row(mutant, &places)) }
    };
    let n = mutation.all.len();
    html! {
        @if n > 0 {
            details #mutants .note.sieve open[n <= OPEN] {
                summary { h2 { "Mutants" } " " span.count { (n) } }
                (tools(mutation))
                (page::table("Mutants", &HEADS, &rows))
            }
        }
    }
}

/// The text filter, the status filter and the row count.
fn tools(mutation: &Mutation) -> Markup {
    let n = mutation.all.len();
    let count = |status| {
        mutation
            .all
            .iter()
            .filter(|one| one.status == status)
            .count()
    };
    html! {
        div.tools role="search" aria-label="Mutants" {
            label for="mutant-words" { "Filter" }
            input #mutant-words type="search" autocomplete="off" spellcheck="false"
                placeholder="table, operator, words in a change or test";
            label for="mutant-status" { "Status" }
            select #mutant-status {
                option value="" { "all (" (n) ")" }
                @for status in MutantResult::ALL.into_iter().filter(|status| count(*status) > 0) {
                    option value=(status.as_str()) { (status.as_str()) " (" (count(status)) ")" }
                }
            }
            output for="mutant-words mutant-status" aria-live="polite" data-one="mutant" data-many="mutants" {
                (plural(n, "mutant"))
            }
        }
    }
}

fn row(mutant: &MutantView, places: &BTreeMap<&str, usize>) -> Markup {
    let status = mutant.status.as_str();
    html! {
        tr data-kind=(status) {
            td { span.verdict.(status) { (status) } }
            td { code { (mutant.table) } }
            th scope="row" { (mutant.description) }
            td { (mutant.operator) }
            td {
                @if let Some(name) = &mutant.killed_by {
                    @match places.get(name.as_str()) {
                        Some(idx) => a href={ "#test-" (idx) } { (name) },
                        None => (name),
                    }
                }
                @if let Some(why) = &mutant.why { (why) }
            }
        }
    }
}
