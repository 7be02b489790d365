//! `docs/protocol.md` says what the code does: its tables are made from the types.
//!
//! With `ISOBATH_REGENERATE=1` the page is written instead of compared.

use std::fmt::Write as _;
use std::path::Path;

use isobath_protocol::message::{Command, Event, InputLocation, InputUse, VERSION};
use isobath_protocol::{Target, TargetKind};

#[test]
fn the_page_says_what_the_code_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol.md");
    let page = std::fs::read_to_string(&path).expect("docs/protocol.md");
    let mut wanted = page.clone();
    for (name, table) in [
        (
            "version",
            format!("This page describes version **{VERSION}**.\n"),
        ),
        ("events", choice(Event::shape())),
        ("commands", choice(Command::shape())),
        ("target", fields(&Target::shape())),
        ("kinds", names(TargetKind::SHAPE)),
        ("roles", names(InputUse::SHAPE)),
        ("places", names(InputLocation::SHAPE)),
    ] {
        let start = format!("<!-- {name} -->\n");
        let end = format!("<!-- end of {name} -->");
        let (before, rest) = wanted.split_once(&start).expect(&start);
        let (_, after) = rest.split_once(&end).expect(&end);
        wanted = format!("{before}{start}{table}{end}{after}");
    }
    if std::env::var_os("ISOBATH_REGENERATE").is_some() {
        std::fs::write(&path, wanted).expect("the page can be written");
    } else {
        assert!(
            page == wanted,
            "docs/protocol.md is out of date; run this test with ISOBATH_REGENERATE=1"
        );
    }
}

type Fields = Vec<(&'static str, String, &'static str)>;

fn choice(shape: Vec<(u8, &str, &str, Fields)>) -> String {
    let mut text = String::new();
    for (tag, name, doc, of) in shape {
        writeln!(text, "\n### {tag}: {name}\n\n{}", doc.trim()).expect("a string");
        if !of.is_empty() {
            text.push('\n');
            text.push_str(&fields(&of));
        }
    }
    text.push('\n');
    text
}

fn fields(of: &Fields) -> String {
    let mut text = String::from("| Field | Type | |\n|---|---|---|\n");
    for (name, kind, doc) in of {
        writeln!(text, "| `{name}` | {kind} | {} |", doc.trim()).expect("a string");
    }
    text
}

fn names(shape: &[(u8, &str, &str)]) -> String {
    let mut text = String::from("| Byte | Name | |\n|---|---|---|\n");
    for (tag, name, doc) in shape {
        writeln!(text, "| {tag} | {name} | {} |", doc.trim()).expect("a string");
    }
    text
}
