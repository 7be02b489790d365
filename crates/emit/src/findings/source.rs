//! Source files with line coverage.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::model::{FileView, MissedBranch};

/// A file with its lines marked. Signs besides colors, so that it can be read without them.
pub(super) fn source(file: &FileView) -> Markup {
    let Some(text) = &file.source else {
        return Markup::default();
    };
    let covered: BTreeSet<u32> = file.covered_lines.iter().copied().collect();
    let missed: BTreeSet<u32> = file.missed_lines.iter().copied().collect();
    let mut branches: BTreeMap<u32, Vec<&MissedBranch>> = BTreeMap::new();
    for branch in &file.missed_branches {
        branches.entry(branch.line).or_default().push(branch);
    }
    let mark = |number: u32| match (covered.contains(&number), missed.contains(&number)) {
        (true, _) if branches.contains_key(&number) => ("partly", "◐", Some("covered in part")),
        (true, _) => ("yes", "✓", Some("covered")),
        (false, true) => ("no", "✗", Some("not covered")),
        (false, false) => ("", " ", None),
    };
    html! {
        details.source {
            summary {
                code { (file.file) } " "
                span.count { (file.lines) " lines, " (file.branches) " branches" }
            }
            pre tabindex="0" role="region" aria-label=(file.file) {
                "\n"
                @for (number, line) in (1..).zip(text.lines()) {
                    @let (class, sign, title) = mark(number);
                    span class=(class) title=[title] {
                        i { (format!("{number:>5} {sign}")) } " " (line)
                    }
                    "\n"
                    // The branches of a line that was never reached would only repeat that.
                    @let near = branches.get(&number).into_iter().flatten().filter(|branch| branch.score > 0.0);
                    @for branch in near {
                        span.miss {
                            i { "      ↳" } " never: " (branch.what)
                            (format!(" (nearest {:.3})", branch.score))
                        }
                        "\n"
                    }
                }
            }
        }
    }
}
