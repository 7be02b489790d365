//! Text edits that never change the number of a line.
//!
//! A node is rendered from its source text with the rendered text of its
//! children in place. Marks in the text (private-use characters, which no
//! source may hold) remember where a site starts and ends and where a number
//! of a target stands; [`finish`] takes them out when the numbers are known.

use std::ops::Range;

/// A part of the source and what stands there instead.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

const OPEN: char = '\u{E000}';
const END: char = '\u{E001}';
const CLOSE: char = '\u{E002}';
const TARGET: char = '\u{E003}';
const COLUMN: char = '\u{E004}';

/// Whether a source holds one of the marks.
pub(crate) fn has_marks(source: &str) -> bool {
    source.contains([OPEN, END, CLOSE, TARGET, COLUMN])
}

/// Text of a site, so that an error inside it can be traced back.
pub(crate) fn site(number: usize, text: &str) -> String {
    format!("{OPEN}{number}{END}{text}{CLOSE}{number}{END}")
}

/// The number of a target, counted from the first of the file.
pub(crate) fn target(number: u32) -> String {
    format!("{TARGET}{number}{END}")
}

/// The column at which the compiler sees a target.
pub(crate) fn column(number: u32) -> String {
    format!("{COLUMN}{number}{END}")
}

/// The line breaks of a part that is left out.
pub(crate) fn breaks(source: &str, range: Range<usize>) -> String {
    let part = source.get(range).unwrap_or_default();
    "\n".repeat(part.matches('\n').count())
}

/// The source text of a range with the edits inside it applied.
pub(crate) fn render(source: &str, range: Range<usize>, edits: &[Edit]) -> String {
    let mut inside: Vec<&Edit> = edits
        .iter()
        .filter(|edit| {
            edit.range.start >= range.start
                && edit.range.end <= range.end
                // An insertion at the very end belongs to what follows.
                && (edit.range.start < range.end || range.is_empty())
        })
        .collect();
    inside.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut text = String::new();
    let mut at = range.start;
    for edit in inside {
        // Overlaps cannot happen, since a parent takes the edits of its children.
        text.push_str(source.get(at..edit.range.start).unwrap_or_default());
        text.push_str(&edit.text);
        at = edit.range.end.max(at);
    }
    text.push_str(source.get(at..range.end).unwrap_or_default());
    text
}

/// Text without marks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finished {
    pub(crate) text: String,
    /// Where each site ended up, in bytes.
    pub(crate) sites: Vec<(usize, Range<usize>)>,
    /// Column of targets, counted from one in characters.
    pub(crate) columns: Vec<(u32, u32)>,
}

/// Takes the marks out; the first target of the file gets the number `base`.
pub(crate) fn finish(marked: &str, base: u32) -> Finished {
    let mut finished = Finished::default();
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut chars = marked.chars();
    let mut column = 1;
    while let Some(c) = chars.next() {
        if !matches!(c, OPEN | CLOSE | TARGET | COLUMN) {
            finished.text.push(c);
            column = if c == '\n' { 1 } else { column + 1 };
            continue;
        }
        let digits: String = chars.by_ref().take_while(|c| *c != END).collect();
        let number: usize = digits.parse().unwrap_or_default();
        let at = finished.text.len();
        match c {
            OPEN => open.push((number, at)),
            CLOSE => {
                if let Some((number, start)) = open.pop() {
                    finished.sites.push((number, start..at));
                }
            }
            TARGET => {
                let text = (number as u32).saturating_add(base).to_string();
                column += text.len() as u32;
                finished.text.push_str(&text);
            }
            _ => finished.columns.push((number as u32, column)),
        }
    }
    finished
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_go_and_leave_their_places() {
        let marked = format!("a\n{}b", site(4, &format!("f({})", target(2))));
        let finished = finish(&format!("{marked}{}c", column(9)), 10);
        assert_eq!(finished.text, "a\nf(12)bc");
        assert_eq!(finished.sites, [(4, 2..7)]);
        assert_eq!(finished.columns, [(9, 7)]);
    }

    #[test]
    fn an_insertion_comes_before_what_starts_there() {
        let edits = [
            Edit {
                range: 2..3,
                text: "X".into(),
            },
            Edit {
                range: 2..2,
                text: "+".into(),
            },
        ];
        assert_eq!(render("abcd", 0..4, &edits), "ab+Xd");
        assert_eq!(render("abcd", 0..2, &edits), "ab");
    }
}
