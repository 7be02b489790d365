//! What a run looks like on terminals: wide, narrow, dumb, without colors, and on none.
//!
//! Terminals are made by `script` of util-linux; where that is missing, these tests say so and are left out.

#![expect(clippy::print_stderr, reason = "what is left out should be seen")]

use std::path::Path;
use std::process::{Command, Output};

use marina::Faults;

const ESCAPE: char = '\u{1b}';

fn has_script() -> bool {
    let told = Command::new("script").arg("--version").output();
    let works = told.is_ok_and(|told| String::from_utf8_lossy(&told.stdout).contains("util-linux"));
    if !works {
        eprintln!("left out: `script` of util-linux is not here");
    }
    works
}

fn words(url: &str, more: &str) -> String {
    let binary = env!("CARGO_BIN_EXE_isobath");
    format!("'{binary}' rest {url}/openapi.yaml --budget 2s --no-run --out out {more}")
}

/// What a run shows on a terminal; `first` is done there before, in a shell.
fn on_terminal(folder: &Path, first: &str, more: &str, variables: &[(&str, &str)]) -> String {
    let marina = marina::start(Faults::none()).expect("a free port");
    let run = words(&marina.url(), more);
    let output = Command::new("script")
        .args(["-qec", &format!("{first}; {run}"), "/dev/null"])
        .current_dir(folder)
        .env("TERM", "xterm-256color")
        .env_remove("NO_COLOR")
        .envs(variables.iter().copied())
        .output()
        .expect("script runs");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Whether a text has colors; bold and dim are none.
fn is_colored(text: &str) -> bool {
    [
        "\u{1b}[31m",
        "\u{1b}[32m",
        "\u{1b}[33m",
        "\u{1b}[36m",
        "\u{1b}[2m",
    ]
    .iter()
    .any(|code| text.contains(code))
}

/// How many characters each picture of the live view has; its three lines fill the width of the terminal, and the view
/// goes up by two lines before the next.
fn pictures(text: &str) -> Vec<usize> {
    let escapes = regex::Regex::new("\u{1b}\\[[0-9;?]*[A-Za-z]|\r").expect("a constant pattern");
    text.split("\u{1b}[2A")
        .map(|picture| escapes.replace_all(picture, "").into_owned())
        .filter(|picture| picture.contains("latest: ") && !picture.contains('\n'))
        .map(|picture| picture.chars().count())
        .collect()
}

#[test]
fn a_wide_terminal_shows_stage_targets_latest_find_and_time_left() {
    if !has_script() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let shown = on_terminal(folder.path(), "stty cols 120 rows 30", "", &[]);
    assert!(is_colored(&shown), "{shown:?}");
    for part in ["explore", "0:01 left", " targets, ", "/s, ", "latest: "] {
        assert!(shown.contains(part), "{part}: {shown:?}");
    }
}

#[test]
fn a_narrow_terminal_gets_lines_that_fit_also_after_it_shrank() {
    if !has_script() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let shown = on_terminal(folder.path(), "stty cols 40 rows 8", "", &[]);
    let sizes = pictures(&shown);
    assert!(
        sizes.len() > 3 && sizes.iter().all(|size| *size <= 3 * 40),
        "{sizes:?}"
    );
    let shrinking = "stty cols 110 rows 30; (sleep 1; stty cols 50 </dev/tty) & true";
    let sizes = pictures(&on_terminal(folder.path(), shrinking, "", &[]));
    assert!(sizes.iter().any(|size| *size > 3 * 50), "{sizes:?}");
    assert!(
        sizes.last().is_some_and(|size| *size <= 3 * 50),
        "{sizes:?}"
    );
}

#[test]
fn colours_are_left_out_when_they_are_not_wanted() {
    if !has_script() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for (more, variables) in [("--no-color", &[][..]), ("", &[("NO_COLOR", "1")])] {
        let shown = on_terminal(folder.path(), "stty cols 100", more, variables);
        assert!(!is_colored(&shown), "{more} {variables:?}: {shown:?}");
        assert!(shown.contains(" left"), "the view is there: {shown:?}");
    }
}

#[test]
fn a_dumb_terminal_gets_plain_text() {
    if !has_script() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let shown = on_terminal(folder.path(), "true", "", &[("TERM", "dumb")]);
    assert!(!shown.contains(ESCAPE), "{shown:?}");
    assert!(shown.contains("seed 1"), "{shown:?}");
}

#[test]
fn without_a_terminal_lines_are_plain_and_quiet_is_quiet() {
    let folder = tempfile::tempdir().expect("a folder");
    let marina = marina::start(Faults::none()).expect("a free port");
    let run = |more: &str| {
        let output = Command::new("sh")
            .args(["-c", &words(&marina.url(), more)])
            .current_dir(folder.path())
            .output()
            .expect("a shell runs");
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        said(&output)
    };
    let loud = run("");
    assert!(!loud.contains(ESCAPE) && loud.contains("seed 1"), "{loud}");
    let quiet = run("--quiet");
    assert!(!quiet.contains("targets"), "{quiet}");
}
