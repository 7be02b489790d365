//! The syntaxes that texts may have, and guessing which one it is.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

/// A syntax.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Syntax {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) extensions: &'static [&'static str],
    pub(crate) mime: &'static str,
    #[serde(skip)]
    interpreters: &'static [&'static str],
    #[serde(skip)]
    signs: &'static [&'static str],
}

macro_rules! syntaxes {
    ($($name:literal, $label:literal, [$($extension:literal),*], $mime:literal, [$($interpreter:literal),*], [$($sign:literal),*];)*) => {
        &[$(Syntax {
            name: $name,
            label: $label,
            extensions: &[$($extension),*],
            mime: $mime,
            interpreters: &[$($interpreter),*],
            signs: &[$($sign),*],
        }),*]
    };
}

/// All syntaxes, plain text first.
pub(crate) static SYNTAXES: &[Syntax] = syntaxes! {
    "text", "Plain text", ["txt", "log"], "text/plain", [], [];
    "rust", "Rust", ["rs"], "text/x-rust", [], [r"\bfn \w+", r"\blet (mut )?\w+", r"\bimpl\b", r"\w+::\w+"];
    "python", "Python", ["py", "pyi"], "text/x-python", ["python", "python3"], [r"(?m)^\s*def \w+\(", r"(?m)^import \w+", r"(?m)^\s*elif ", r"(?m):$"];
    "shell", "Shell script", ["sh", "bash"], "text/x-shellscript", ["sh", "bash", "zsh"], [r"\becho\b", r"\$\{?\w+", r"\bfi\b", r"(?m)^\s*done$"];
    "javascript", "JavaScript", ["js", "mjs"], "text/javascript", ["node"], [r"\bfunction\b", r"=>", r"\bconst \w+ =", r"==="];
    "json", "JSON", ["json"], "application/json", [], [];
    "html", "HTML", ["html", "htm"], "text/html", [], [r"(?i)<!doctype html", r"(?i)<html\b", r"(?i)</\w+>"];
    "sql", "SQL", ["sql"], "application/sql", [], [r"(?i)\bselect\b.+\bfrom\b", r"(?i)\binsert into\b", r"(?i)\bcreate table\b", r"(?i)\bwhere\b"];
    "markdown", "Markdown", ["md", "markdown"], "text/markdown", [], [r"(?m)^#{1,6} ", r"(?m)^\s*[-*] ", r"\[[^\]]+\]\([^)]+\)", r"(?m)^```"];
    "diff", "Differences", ["diff", "patch"], "text/x-diff", [], [r"(?m)^@@ -\d+", r"(?m)^\+\+\+ ", r"(?m)^--- "];
    "csv", "Table", ["csv"], "text/csv", [], [];
};

/// The signs of each syntax, compiled.
static SIGNS: LazyLock<Vec<Vec<Regex>>> = LazyLock::new(|| {
    SYNTAXES
        .iter()
        .map(|syntax| {
            let signs = syntax.signs.iter();
            signs
                .map(|sign| Regex::new(sign).expect("the signs are constants"))
                .collect()
        })
        .collect()
});

pub(crate) fn by_name(name: &str) -> Option<&'static Syntax> {
    SYNTAXES
        .iter()
        .find(|syntax| syntax.name.eq_ignore_ascii_case(name))
}

fn by_extension(file: &str) -> Option<&'static Syntax> {
    let (stem, extension) = file.rsplit_once('.')?;
    if stem.is_empty() {
        return None;
    }
    let extension = extension.to_ascii_lowercase();
    SYNTAXES
        .iter()
        .find(|syntax| syntax.extensions.contains(&extension.as_str()))
}

/// The syntax of the interpreter that the first line names.
fn by_first_line(text: &str) -> Option<&'static Syntax> {
    let line = text.lines().next()?.strip_prefix("#!")?;
    let mut words = line.split_whitespace();
    let program = words.next()?.rsplit('/').next()?;
    let program = if program == "env" {
        words.find(|word| !word.starts_with('-'))?
    } else {
        program
    };
    SYNTAXES
        .iter()
        .find(|syntax| syntax.interpreters.contains(&program))
}

/// Whether all lines have the same number of commas, and some.
fn is_table(text: &str) -> bool {
    let mut counts = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.matches(',').count());
    let Some(first) = counts.next().filter(|count| *count > 0) else {
        return false;
    };
    let mut more = 0;
    for count in counts {
        if count != first {
            return false;
        }
        more += 1;
    }
    more > 0
}

/// How a guess came about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Evidence {
    FileName,
    FirstLine,
    Parsed,
    Signs,
    Nothing,
}

/// A guess.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Guess {
    pub(crate) syntax: &'static str,
    pub(crate) evidence: Evidence,
    pub(crate) score: usize,
}

/// What to guess from.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sample {
    pub(crate) file_name: Option<String>,
    pub(crate) content: String,
}

impl Sample {
    /// The syntax that fits best.
    pub(crate) fn guess(&self) -> Guess {
        let sure = |syntax: &Syntax, evidence| Guess {
            syntax: syntax.name,
            evidence,
            score: 100,
        };
        if let Some(syntax) = self.file_name.as_deref().and_then(by_extension) {
            return sure(syntax, Evidence::FileName);
        }
        if let Some(syntax) = by_first_line(&self.content) {
            return sure(syntax, Evidence::FirstLine);
        }
        let trimmed = self.content.trim_start();
        if trimmed.starts_with(['{', '['])
            && serde_json::from_str::<serde::de::IgnoredAny>(&self.content).is_ok()
        {
            return Guess {
                syntax: "json",
                evidence: Evidence::Parsed,
                score: 90,
            };
        }
        let best = SYNTAXES
            .iter()
            .zip(SIGNS.iter())
            .map(|(syntax, signs)| {
                let seen = signs
                    .iter()
                    .filter(|sign| sign.is_match(&self.content))
                    .count();
                (seen, syntax)
            })
            .reduce(|best, next| if next.0 > best.0 { next } else { best });
        match best {
            Some((seen, syntax)) if seen >= 2 => Guess {
                syntax: syntax.name,
                evidence: Evidence::Signs,
                score: 20 * seen,
            },
            _ if is_table(&self.content) => Guess {
                syntax: "csv",
                evidence: Evidence::Signs,
                score: 40,
            },
            _ => Guess {
                syntax: "text",
                evidence: Evidence::Nothing,
                score: 0,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: Option<&str>, content: &str, expected: &str, evidence: Evidence) {
        let sample = Sample {
            file_name: file.map(str::to_owned),
            content: content.to_owned(),
        };
        let guess = sample.guess();
        assert_eq!(
            (guess.syntax, guess.evidence),
            (expected, evidence),
            "{content}"
        );
    }

    #[test]
    fn the_syntax_is_guessed_from_the_best_evidence() {
        check(Some("a.PY"), "fn main() {}", "python", Evidence::FileName);
        check(Some(".rs"), "x", "text", Evidence::Nothing);
        check(
            None,
            "#!/usr/bin/env -S bash\n",
            "shell",
            Evidence::FirstLine,
        );
        check(None, "#!/usr/bin/node", "javascript", Evidence::FirstLine);
        check(None, " {\"a\": [1]}", "json", Evidence::Parsed);
        check(None, "{a}", "text", Evidence::Nothing);
        check(None, "fn f() { let x = 1; }", "rust", Evidence::Signs);
        check(None, "a,b\n1,2\n3,4", "csv", Evidence::Signs);
        check(None, "a,b\n1,2,3", "text", Evidence::Nothing);
    }
}
