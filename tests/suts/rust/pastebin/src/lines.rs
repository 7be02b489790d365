//! Parts of a text: `3`, `3-10`, `-5` (the first five), `20-` (from the twentieth).

use std::str::FromStr;

use crate::problem::{Problem, Result};

/// Lines from one to another, both counted from one and both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lines {
    from: usize,
    to: Option<usize>,
}

impl FromStr for Lines {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self> {
        let bad = |why| Problem::invalid("lines", why);
        let number = |text: &str| match text.trim().parse::<usize>() {
            Ok(0) => Err(bad("counts from one")),
            Ok(number) => Ok(number),
            Err(_) => Err(bad("is not like 3, 3-10, -5 or 20-")),
        };
        let lines = match text.split_once('-') {
            None => {
                let only = number(text)?;
                Self {
                    from: only,
                    to: Some(only),
                }
            }
            Some(("", "")) => return Err(bad("has no number")),
            Some(("", to)) => Self {
                from: 1,
                to: Some(number(to)?),
            },
            Some((from, "")) => Self {
                from: number(from)?,
                to: None,
            },
            Some((from, to)) => Self {
                from: number(from)?,
                to: Some(number(to)?),
            },
        };
        if lines.to.is_some_and(|to| to < lines.from) {
            return Err(bad("ends before it starts"));
        }
        Ok(lines)
    }
}

impl Lines {
    /// These lines of a text, with their ends.
    pub(crate) fn of(self, text: &str) -> String {
        let skipped = text.split_inclusive('\n').skip(self.from - 1);
        match self.to {
            Some(to) => skipped.take(to - self.from + 1).collect(),
            None => skipped.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_text_are_cut_out() {
        let text = "one\ntwo\nthree\nfour";
        for (lines, expected) in [
            ("2", "two\n"),
            ("2-3", "two\nthree\n"),
            ("-1", "one\n"),
            ("3-", "three\nfour"),
            ("9", ""),
        ] {
            let lines: Lines = lines.parse().expect("it is well formed");
            assert_eq!(lines.of(text), expected);
        }
    }

    #[test]
    fn senseless_parts_are_refused() {
        for lines in ["", "-", "0", "3-2", "a-b", "1-2-3"] {
            assert!(lines.parse::<Lines>().is_err(), "{lines}");
        }
    }
}
