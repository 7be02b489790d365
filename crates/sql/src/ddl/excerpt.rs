//! The source line of a location, for an error message with a caret.

use crate::limitation::SourceLocation;

/// The line that a place is on and the column in it, both as a reader sees them.
///
/// Tabs become single spaces, so that a caret can be put under the column; the
/// line is empty when the text has no such line.
pub fn excerpt(text: &str, location: &SourceLocation) -> (String, usize) {
    let index = usize::try_from(location.line.saturating_sub(1)).unwrap_or(usize::MAX);
    let line = text.lines().nth(index).unwrap_or("").replace('\t', " ");
    let longest = line.chars().count() + 1;
    let column = usize::try_from(location.column)
        .unwrap_or(longest)
        .clamp(1, longest);
    (line, column)
}
