//! Terminal output: results on standard output, everything else on standard error.

use std::io::{IsTerminal, Write};

use isobath_sql::ddl::Source;
use isobath_sql::limitation::{Limitation, Severity};

use crate::log;

/// Where a run speaks to people.
///
/// With `--json`, standard output belongs to the objects, so people are spoken
/// to on standard error. A closed pipe is not an error of ours.
#[derive(Debug)]
pub(crate) struct Terminal {
    quiet: bool,
    json: bool,
    color: bool,
}

/// What a line is about, which decides its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Plain.
    Plain,
    /// Good news.
    Good,
    /// Something to look at.
    Warning,
    /// Something that failed.
    Bad,
    /// Less important.
    Faint,
}

impl Terminal {
    /// A terminal as the flags and the environment want it.
    pub(crate) fn new(quiet: bool, json: bool) -> Self {
        let color = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
            && if json {
                std::io::stderr().is_terminal()
            } else {
                std::io::stdout().is_terminal()
            };
        Self { quiet, json, color }
    }

    /// The same terminal; in colors only if these are wanted.
    pub(crate) fn colored(mut self, wanted: bool) -> Self {
        self.color &= wanted;
        self
    }

    /// Whether there are colors.
    pub(crate) fn is_colored(&self) -> bool {
        self.color
    }

    /// A line of the result, for people.
    pub(crate) fn say(&self, tone: Tone, line: &str) {
        if self.quiet {
            log::line(line);
        } else {
            self.insist(tone, line);
        }
    }

    /// A line of the result that is printed even with --quiet.
    pub(crate) fn insist(&self, tone: Tone, line: &str) {
        log::line(line);
        let line = self.painted(tone, &log::redacted(line));
        if self.json {
            let _ = writeln!(std::io::stderr(), "{line}");
        } else {
            let _ = writeln!(std::io::stdout(), "{line}");
        }
    }

    /// An error; printed even with --quiet.
    pub(crate) fn complain(&self, line: &str) {
        log::line(line);
        let line = self.painted(Tone::Bad, &log::redacted(line));
        let _ = writeln!(std::io::stderr(), "{line}");
    }

    /// One JSON object on a line of its own.
    pub(crate) fn object(&self, json: &str) {
        let _ = writeln!(std::io::stdout(), "{}", log::redacted(json));
    }

    fn painted(&self, tone: Tone, line: &str) -> String {
        let code = match tone {
            Tone::Plain => return line.to_owned(),
            Tone::Good => "32",
            Tone::Warning => "33",
            Tone::Bad => "31",
            Tone::Faint => "2",
        };
        if self.color {
            format!("\u{1b}[{code}m{line}\u{1b}[0m")
        } else {
            line.to_owned()
        }
    }

    /// What of an input is not in the model: syntax errors with a caret, the rest in a line each.
    pub(crate) fn limitations(&self, limitations: &[Limitation], sources: &[Source]) {
        let count = |severity| {
            limitations
                .iter()
                .filter(|limitation| limitation.severity == severity)
                .count()
        };
        for limitation in limitations
            .iter()
            .filter(|limitation| limitation.severity == Severity::Syntax)
        {
            self.complain(&format!("error: {}", limitation.why));
            for line in caret(limitation, sources) {
                self.complain(&line);
            }
        }
        let unsupported = |limitation: &&Limitation| limitation.severity == Severity::Unsupported;
        for (limitation, more) in by_reason(limitations.iter().filter(unsupported)) {
            let Limitation {
                why,
                input,
                location: place,
                ..
            } = limitation;
            let line = format!("  not supported: {why}: {input} at {place}{more}");
            self.say(Tone::Warning, &line);
        }
        let ignored = count(Severity::Ignored);
        if ignored > 0 {
            self.say(
                Tone::Faint,
                &format!(
                    "  skipped {ignored} statements that do not affect constraints (see the report)"
                ),
            );
        }
    }

    /// What of a schema is other on the engine, one line for each reason.
    pub(crate) fn translations(&self, notes: &[Limitation]) {
        for (note, more) in by_reason(notes.iter()) {
            let Limitation {
                why,
                input,
                location: place,
                ..
            } = note;
            let line = format!("  translated, {place}: {input} ({why}){more}");
            self.say(Tone::Faint, &line);
        }
    }
}

/// The first limitation for each reason, and how many more there are, in words.
fn by_reason<'a>(
    limitations: impl Iterator<Item = &'a Limitation>,
) -> impl Iterator<Item = (&'a Limitation, String)> {
    let mut found: Vec<(&Limitation, usize)> = Vec::new();
    for limitation in limitations {
        match found
            .iter_mut()
            .find(|(first, _)| first.why == limitation.why)
        {
            Some((_, count)) => *count += 1,
            None => found.push((limitation, 0)),
        }
    }
    found.into_iter().map(|(first, more)| match more {
        0 => (first, String::new()),
        more => (first, format!(", and {more} more")),
    })
}

/// The place of a syntax error as compilers show it.
fn caret(limitation: &Limitation, sources: &[Source]) -> Vec<String> {
    let place = &limitation.location;
    let source = sources.iter().find(|source| source.name == place.source);
    let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    excerpt(
        &place.to_string(),
        source.map(|source| source.text.as_str()),
        number(place.line),
        number(place.column),
    )
}

/// A number of things: `1 test`, `2 tests`.
pub(crate) fn plural(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

/// A place in a text as compilers show it; line and column are counted from one.
pub(crate) fn excerpt(
    place: &str,
    text: Option<&str>,
    number: usize,
    column: usize,
) -> Vec<String> {
    let margin = " ".repeat(number.to_string().len());
    let mut lines = vec![format!("{margin}--> {place}")];
    let line = text.and_then(|text| text.lines().nth(number.checked_sub(1)?));
    if let Some(line) = line {
        // Tabs keep their width in the line with the caret; very long lines are shown around the place.
        let column = column.max(1) - 1;
        let start = column.saturating_sub(60);
        let shown: String = line.chars().skip(start).take(100).collect();
        let indent: String = line
            .chars()
            .skip(start)
            .take(column - start)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        lines.push(format!("{margin} |"));
        lines.push(format!("{number} | {shown}"));
        lines.push(format!("{margin} | {indent}^"));
    }
    lines
}

/// How far a run is, on standard error.
pub(crate) fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", log::redacted(line));
}

/// Prints an internal error with instructions for a bug report.
pub(crate) fn internal_error(what: &str) {
    log::line(&format!("internal error: {what}"));
    let _ = writeln!(
        std::io::stderr(),
        "internal error: {what}\nThis is a bug in isobath; please report it with your input and this message."
    );
}
