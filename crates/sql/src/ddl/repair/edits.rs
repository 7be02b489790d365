//! Edits to a text that leave every other character in its place.

use std::ops::Range;

use crate::ddl::split::blank;

/// Edits to a text that keep its layout.
#[derive(Debug, Default)]
pub(super) struct Edits(Vec<(Range<usize>, &'static str)>);

impl Edits {
    pub(super) fn blank(&mut self, range: Range<usize>) {
        self.0.push((range, ""));
    }

    /// Puts other words in place of a range that has at least as many characters.
    pub(super) fn replace(&mut self, range: Range<usize>, with: &'static str) {
        self.0.push((range, with));
    }

    pub(super) fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for (range, with) in self.0 {
            if range.end <= at {
                continue;
            }
            let start = range.start.max(at);
            out.push_str(text.get(at..start).unwrap_or_default());
            let edited = text.get(start..range.end).unwrap_or_default();
            if with.is_empty() || start != range.start {
                blank(&mut out, edited);
            } else {
                out.push_str(with);
                let mut rest = edited.chars();
                rest.by_ref().take(with.len()).for_each(drop);
                blank(&mut out, rest.as_str());
            }
            at = range.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }
}
