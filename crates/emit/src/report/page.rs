//! Parts shared by all HTML pages. The template engine escapes whatever comes from outside.

use std::fmt::Write;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::writer::text::is_unprintable;

/// Lists and groups with more entries than this are not shown until they are asked for.
const MANY: usize = 12;
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// What every page has around its main part.
pub(crate) struct Page<'a> {
    /// The kind of report.
    pub(crate) kicker: &'static str,
    pub(crate) title: &'a str,
    /// Name and value; those without a value are left out.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// The command that made the report.
    pub(crate) command: Option<&'a str>,
    pub(crate) version: &'a str,
    /// Style and script besides those that all pages have.
    pub(crate) style: &'static str,
    pub(crate) script: &'static str,
}

impl Page<'_> {
    /// The page as one self-contained file.
    pub(crate) fn render(&self, main: &Markup) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    title { (self.title) " · Isobath" }
                    style { (PreEscaped(include_str!("page.css"))) (PreEscaped(self.style)) }
                }
                body {
                    a.skip href="#main" { "Skip to content" }
                    header {
                        p.kicker { (self.kicker) }
                        h1 { (self.title) }
                        (facts(&self.facts))
                        @if let Some(command) = self.command { (snippet(command, "the command")) }
                    }
                    main #main { (main) }
                    footer { "Isobath " (self.version) }
                    script { (PreEscaped(include_str!("page.js"))) (PreEscaped(self.script)) }
                }
            }
        };
        visible(&page.into_string())
    }
}

/// Shows characters that HTML does not allow or that reorder what is shown.
fn visible(page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    for c in page.chars() {
        if c != '\n' && c != '\t' && is_unprintable(c) {
            let _ = write!(out, "\u{27e8}U+{:04X}\u{27e9}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// A dialect, with what it was recognized by.
pub(crate) fn dialect(name: &str, evidence: &str) -> String {
    match evidence {
        "" => name.to_owned(),
        evidence => format!("{name} ({evidence})"),
    }
}

/// Names with their values; those without a value are left out.
pub(crate) fn facts<N: AsRef<str>, V: AsRef<str>>(facts: &[(N, V)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in facts.iter().filter(|(_, value)| !value.as_ref().is_empty()) {
                div { dt { (name.as_ref()) } dd { (value.as_ref()) } }
            }
        }
    }
}

/// The tiles at the top.
pub(crate) fn summary(tiles: &Markup, more: &Markup) -> Markup {
    html! {
        section aria-labelledby="summary" {
            h2 #summary { "Summary" }
            div.tiles { (tiles) }
            (more)
        }
    }
}

/// A number with its name.
pub(crate) fn tile(value: usize, one: &str, many: &str, more: &str) -> Markup {
    html! {
        div.tile {
            b { (value) }
            span { @if value == 1 { (one) } @else { (many) } }
            small { (more) }
        }
    }
}

/// A part of a whole, as a bar.
pub(crate) fn meter(name: &str, part: usize, whole: usize, more: &str) -> Markup {
    let complete = part >= whole;
    // Rounded down, so that 100 % means all of them.
    let percent = if complete { 100 } else { part * 100 / whole };
    html! {
        div.tile.wide.short[!complete] {
            b { (percent) "\u{a0}%" }
            span { (name) ": " (part) " of " (whole) }
            div.bar aria-hidden="true" { i style={ "width:" (percent) "%" } {} }
            small { (more) }
        }
    }
}

/// The filter and the buttons above what can be opened; `n` things of a name are shown.
pub(crate) fn toolbar(n: usize, (one, many): (&str, &str), hint: &str) -> Markup {
    html! {
        div.toolbar role="search" {
            label for="filter" { "Filter" }
            input #filter type="search" autocomplete="off" spellcheck="false" placeholder=(hint);
            button #expand type="button" { "Expand all" }
            button #collapse type="button" { "Collapse all" }
            output #shown for="filter" aria-live="polite" data-one=(one) data-many=(many) {
                (n) " " @if n == 1 { (one) } @else { (many) }
            }
        }
        noscript { p { "The filter and the copy buttons need scripts; the page reads without." } }
    }
}

/// A code block with a copy button.
pub(crate) fn snippet(code: &str, what: &str) -> Markup {
    marked_snippet(&html! { (code) }, what)
}

/// A code block, parts of which are marked, with a copy button.
pub(crate) fn marked_snippet(code: &Markup, what: &str) -> Markup {
    html! {
        div.snippet {
            pre tabindex="0" { code { (code) } }
            button.copy type="button" aria-label={ "Copy " (what) } { "Copy" }
        }
    }
}

/// A section that can be closed, with what its heading says besides its title.
pub(crate) fn note(id: &str, title: &str, count: &str, open: bool, content: &Markup) -> Markup {
    html! {
        details.note id=(id) open[open] {
            summary { h2 { (title) } " " span.count { (count) } }
            (content)
        }
    }
}

/// A list that asks for attention, when it has something to say; a long one is closed.
pub(crate) fn list_note(id: &str, title: &str, items: &[Markup], open: bool) -> Markup {
    if items.is_empty() {
        return Markup::default();
    }
    let list = html! { ul { @for item in items { li { (item) } } } };
    let open = open && items.len() <= MANY;
    note(id, title, &items.len().to_string(), open, &list)
}

/// What the input has that is not supported.
pub(crate) fn limitation(what: &str, count: usize, location: &str, quote: &str) -> Markup {
    html! {
        strong { (what) }
        @if count > 1 { " (" (count) " times)" }
        @if !location.is_empty() { " at " code { (location) } }
        @if !quote.is_empty() { pre { code { (quote) } } }
    }
}

/// A table that scrolls by itself.
pub(crate) fn table(label: &str, heads: &[&str], rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table {
                thead { tr { @for head in heads { th scope="col" { (head) } } } }
                tbody { (rows) }
            }
        }
    }
}

/// A table of plain cells that the filter of the page looks into.
pub(crate) fn plain_table<const N: usize>(
    label: &str,
    heads: &[&str; N],
    rows: &[[String; N]],
) -> Markup {
    let rows = html! {
        @for row in rows { tr data-row { @for cell in row { td { (cell) } } } }
    };
    table(label, heads, &rows)
}

/// A number of things: `1 test`, `2 tests`.
pub(crate) fn plural(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

/// Whether a number of groups is few enough to be shown open.
pub(crate) fn is_short(n: usize) -> bool {
    n <= MANY
}

/// A sentence with its `code` as code.
pub(crate) fn sentence(text: &str) -> Markup {
    html! {
        @for (idx, piece) in text.split('`').enumerate() {
            @if idx % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_cannot_be_shown_are_spelled_out() {
        assert_eq!(visible("a\u{0}\tb\u{202e}\n"), "a⟨U+0000⟩\tb⟨U+202E⟩\n");
    }

    #[test]
    fn what_stands_in_backquotes_is_code() {
        assert_eq!(
            sentence("see `a<b`").into_string(),
            "see <code>a&lt;b</code>"
        );
    }
}
