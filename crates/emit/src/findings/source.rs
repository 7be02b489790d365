//! Source files with line coverage.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::model::{FileView, MissedBranch};
use crate::report::page::escape;

/// A file with its lines marked. Signs besides colors, so that it can be read without them.
pub(super) fn source(out: &mut String, file: &FileView) {
    let Some(text) = &file.source else { return };
    let covered: BTreeSet<u32> = file.covered_lines.iter().copied().collect();
    let missed: BTreeSet<u32> = file.missed_lines.iter().copied().collect();
    let mut branches: BTreeMap<u32, Vec<&MissedBranch>> = BTreeMap::new();
    for branch in &file.missed_branches {
        branches.entry(branch.line).or_default().push(branch);
    }
    let _ = writeln!(
        out,
        "<details class=\"source\"><summary><code>{}</code> <span class=\"count\">{} lines, {} branches</span></summary>\n\
         <pre tabindex=\"0\" role=\"region\" aria-label=\"{}\">",
        escape(&file.file),
        file.lines,
        file.branches,
        escape(&file.file),
    );
    for (number, line) in (1..).zip(text.lines()) {
        let not_taken = branches.get(&number);
        let (class, sign, description) = match (covered.contains(&number), missed.contains(&number))
        {
            (true, _) if not_taken.is_some() => ("partly", "◐", "covered in part"),
            (true, _) => ("yes", "✓", "covered"),
            (false, true) => ("no", "✗", "not covered"),
            (false, false) => ("", " ", ""),
        };
        let title = match description {
            "" => String::new(),
            description => format!(" title=\"{description}\""),
        };
        let _ = writeln!(
            out,
            "<span class=\"{class}\"{title}><i>{number:>5} {sign}</i> {}</span>",
            escape(line)
        );
        // What was never come to needs no list of what did not happen there.
        for branch in not_taken
            .into_iter()
            .flatten()
            .filter(|branch| branch.score > 0.0)
        {
            let _ = writeln!(
                out,
                "<span class=\"miss\"><i>      ↳</i> never: {} (nearest {:.3})</span>",
                escape(&branch.what),
                branch.score
            );
        }
    }
    out.push_str("</pre></details>\n");
}
