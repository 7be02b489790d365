//! `isobath explain`: explanations of fault codes, offline.

use clap::Args;
use isobath_rest::fault::FaultKind;

use crate::exit::Exit;
use crate::nearest::nearest;
use crate::terminal::{Terminal, Tone};

/// Explain a fault code: what it means, why it matters, and when it may be intended.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Fault code, such as server-error, or its Web Fuzzing Commons number [default: list all codes].
    code: Option<String>,
}

/// Explains a code, or lists all.
pub(crate) fn run(args: &ExplainArgs) -> Exit {
    let terminal = Terminal::new(false, false);
    let Some(code) = &args.code else {
        for kind in FaultKind::ALL {
            let line = format!("{:28} {}", kind.code(), kind.title());
            terminal.say(Tone::Plain, &line);
        }
        terminal.say(Tone::Faint, "run `isobath explain CODE` for details");
        return Exit::Clean;
    };
    match find(code) {
        Ok(kinds) => {
            for kind in kinds {
                explain(kind, &terminal);
            }
            Exit::Clean
        }
        Err(why) => {
            terminal.complain(&format!("error: {why}"));
            Exit::Usage
        }
    }
}

/// What a code means, as a text.
///
/// # Errors
///
/// When there is no such code.
pub(crate) fn text(code: &str) -> Result<String, String> {
    let kinds = find(code)?.into_iter();
    let texts = kinds.map(|kind| format!("{}\n{}\n", heading(kind), kind.explanation()));
    Ok(texts.collect())
}

/// The kinds of faults with this code or number.
fn find(code: &str) -> Result<Vec<FaultKind>, String> {
    let wanted = code.trim().to_ascii_lowercase();
    let number: Option<u16> = wanted.trim_start_matches("wfc-").parse().ok();
    let is_wanted =
        |kind: &FaultKind| kind.code() == wanted || (number.is_some() && kind.wfc() == number);
    let found: Vec<FaultKind> = FaultKind::ALL.into_iter().filter(is_wanted).collect();
    if found.is_empty() {
        let codes = FaultKind::ALL.iter().map(|kind| kind.code());
        let meant = match nearest(&wanted, codes) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "`isobath explain` lists all codes".to_owned(),
        };
        return Err(format!("unknown fault code `{code}`; {meant}"));
    }
    Ok(found)
}

fn heading(kind: FaultKind) -> String {
    let number = match kind.wfc() {
        Some(number) => format!(" (WFC {number})"),
        None => String::new(),
    };
    format!("{}{number}: {}", kind.code(), kind.title())
}

fn explain(kind: FaultKind, terminal: &Terminal) {
    terminal.say(Tone::Warning, &heading(kind));
    for line in wrapped(kind.explanation(), 100) {
        terminal.say(Tone::Plain, &line);
    }
    let code = kind.code();
    terminal.say(
        Tone::Faint,
        &format!(
            "--skip {code} does not look for it; --fail-on and a baseline say whether it fails a run (docs/ci.md)\n"
        ),
    );
}

/// A text in lines of at most so many characters, broken between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
