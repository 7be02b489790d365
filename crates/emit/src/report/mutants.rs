//! The table of mutants: operator, status, and the first test that kills each.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::model::{MutantResult, MutantView, Mutation};
use super::page::escape;
use crate::suite::Test;

/// More rows than this are not shown until they are asked for.
const OPEN: usize = 60;

/// All mutants as a table that can be filtered by words and by what became of them; nothing when there are none.
pub(super) fn section(out: &mut String, mutation: &Mutation, tests: &[Test]) {
    if mutation.all.is_empty() {
        return;
    }
    let n = mutation.all.len();
    let open = if n <= OPEN { " open" } else { "" };
    let _ = write!(
        out,
        "<details class=\"note sieve\" id=\"mutants\"{open}>\n<summary><h2>Mutants</h2> \
         <span class=\"count\">{n}</span></summary>\n"
    );
    tools(out, mutation);
    out.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Mutants\"><table>\n\
         <thead><tr><th scope=\"col\">Status</th><th scope=\"col\">Table</th><th scope=\"col\">Change</th>\
         <th scope=\"col\">Operator</th><th scope=\"col\">Killed by, or why it is not counted</th></tr></thead>\n<tbody>\n",
    );
    // Names of tests are unique within a suite; should they not be, the first one is as good.
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (idx, test) in tests.iter().enumerate() {
        places.entry(&test.name).or_insert(idx);
    }
    for status in MutantResult::ALL {
        let mutants = mutation.all.iter().filter(|mutant| mutant.status == status);
        mutants.for_each(|mutant| row(out, mutant, &places));
    }
    out.push_str("</tbody></table></div>\n</details>\n");
}

/// The text filter, the status filter and the row count.
fn tools(out: &mut String, mutation: &Mutation) {
    let n = mutation.all.len();
    let _ = write!(
        out,
        "<div class=\"tools\" role=\"search\" aria-label=\"Mutants\">\n\
         <label for=\"mutant-words\">Filter</label>\n\
         <input id=\"mutant-words\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\" \
         placeholder=\"table, operator, words in a change or test\">\n\
         <label for=\"mutant-status\">Status</label>\n<select id=\"mutant-status\">\n<option value=\"\">all ({n})</option>\n"
    );
    for status in MutantResult::ALL {
        let count = mutation
            .all
            .iter()
            .filter(|one| one.status == status)
            .count();
        if count > 0 {
            let word = status.as_str();
            let _ = writeln!(out, "<option value=\"{word}\">{word} ({count})</option>");
        }
    }
    let noun = if n == 1 { "mutant" } else { "mutants" };
    let _ = write!(
        out,
        "</select>\n<output for=\"mutant-words mutant-status\" aria-live=\"polite\" data-one=\"mutant\" \
         data-many=\"mutants\">{n} {noun}</output>\n</div>\n"
    );
}

fn row(out: &mut String, mutant: &MutantView, places: &BTreeMap<&str, usize>) {
    let status = mutant.status.as_str();
    let _ = write!(
        out,
        "<tr data-kind=\"{status}\"><td><span class=\"verdict {status}\">{status}</span></td><td><code>{}</code></td>\
         <th scope=\"row\">{}</th><td>{}</td><td>",
        escape(&mutant.table),
        escape(&mutant.description),
        escape(&mutant.operator)
    );
    if let Some(name) = &mutant.killed_by {
        let text = escape(name);
        let _ = match places.get(name.as_str()) {
            Some(idx) => write!(out, "<a href=\"#test-{idx}\">{text}</a>"),
            None => write!(out, "{text}"),
        };
    }
    if let Some(why) = &mutant.why {
        out.push_str(&escape(why));
    }
    out.push_str("</td></tr>\n");
}
