//! What changed between two texts, line by line.

use serde::Serialize;

/// Texts with more lines are not compared line by line.
const MOST_LINES: usize = 1_500;

/// The outcome of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Fate {
    Same,
    Removed,
    Added,
}

/// A line and its outcome.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Change {
    pub(crate) fate: Fate,
    pub(crate) line: String,
}

/// All changes, and how many there are.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Diff {
    pub(crate) added: usize,
    pub(crate) removed: usize,
    pub(crate) same: usize,
    pub(crate) changes: Vec<Change>,
}

/// The changes that lead from one text to the other, keeping as many lines as can be kept.
pub(crate) fn diff(old: &str, new: &str) -> Diff {
    let old: Vec<&str> = old.lines().collect();
    let new: Vec<&str> = new.lines().collect();
    let mut changes = Vec::with_capacity(old.len().max(new.len()));
    if old.len().max(new.len()) > MOST_LINES {
        push_all(&mut changes, Fate::Removed, &old);
        push_all(&mut changes, Fate::Added, &new);
    } else {
        let prefix = old
            .iter()
            .zip(&new)
            .take_while(|(left, right)| left == right)
            .count();
        push_all(&mut changes, Fate::Same, &old[..prefix]);
        middle(&old[prefix..], &new[prefix..], &mut changes);
    }
    let count = |fate| changes.iter().filter(|change| change.fate == fate).count();
    Diff {
        added: count(Fate::Added),
        removed: count(Fate::Removed),
        same: count(Fate::Same),
        changes,
    }
}

fn push_all(changes: &mut Vec<Change>, fate: Fate, lines: &[&str]) {
    changes.extend(lines.iter().map(|line| Change {
        fate,
        line: (*line).to_owned(),
    }));
}

/// By the table of longest common subsequences.
fn middle(old: &[&str], new: &[&str], changes: &mut Vec<Change>) {
    let width = new.len() + 1;
    let mut longest = vec![0u16; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * width + j] = if old[i] == new[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        let (fate, line) = if old[i] == new[j] {
            (Fate::Same, old[i])
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            (Fate::Removed, old[i])
        } else {
            (Fate::Added, new[j])
        };
        i += usize::from(fate != Fate::Added);
        j += usize::from(fate != Fate::Removed);
        push_all(changes, fate, &[line]);
    }
    push_all(changes, Fate::Removed, &old[i..]);
    push_all(changes, Fate::Added, &new[j..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stay_are_kept() {
        let diff = diff("a\nb\nc\nd", "a\nc\nx\nd");
        let text: Vec<String> = diff
            .changes
            .iter()
            .map(|change| {
                let sign = match change.fate {
                    Fate::Same => ' ',
                    Fate::Removed => '-',
                    Fate::Added => '+',
                };
                format!("{sign}{}", change.line)
            })
            .collect();
        assert_eq!(text, [" a", "-b", " c", "+x", " d"]);
        assert_eq!((diff.added, diff.removed, diff.same), (1, 1, 3));
    }

    #[test]
    fn long_texts_are_replaced_as_a_whole() {
        let long = "x\n".repeat(MOST_LINES + 1);
        let diff = diff(&long, "x");
        assert_eq!(
            (diff.removed, diff.added, diff.same),
            (MOST_LINES + 1, 1, 0)
        );
    }
}
