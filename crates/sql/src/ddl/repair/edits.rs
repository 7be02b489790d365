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
            out.push_str(&text[at..start]);
            if with.is_empty() || start != range.start {
                blank(&mut out, &text[start..range.end]);
            } else {
                out.push_str(with);
                let skip: usize = text[start..range.end]
                    .chars()
                    .take(with.len())
                    .map(char::len_utf8)
                    .sum();
                blank(&mut out, &text[start + skip..range.end]);
            }
            at = range.end;
        }
        out.push_str(&text[at..]);
        out
    }
}
