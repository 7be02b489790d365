//! Parts shared by all HTML pages: head, footer, escaping.

use std::fmt::Write;

/// Opens a page up to its body.
pub(crate) fn open(title: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>{} · Isobath</title>\n<style>\n{}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to content</a>\n",
        escape(title),
        include_str!("page.css")
    )
}

/// Closes a page after its main part.
pub(crate) fn close(out: &mut String, version: &str) {
    let _ = write!(
        out,
        "</main>\n<footer>Isobath {}</footer>\n<script>\n{}</script>\n</body>\n</html>\n",
        escape(version),
        include_str!("page.js")
    );
}

/// One fact of the header, unless there is nothing to say.
pub(crate) fn fact(out: &mut String, name: &str, value: &str) {
    if !value.is_empty() {
        let value = escape(value);
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
}

/// A number with its name.
pub(crate) fn tile(out: &mut String, value: usize, one: &str, many: &str, more: &str) {
    let name = if value == 1 { one } else { many };
    let _ = writeln!(
        out,
        "<div class=\"tile\"><b>{value}</b><span>{name}</span><small>{}</small></div>",
        escape(more)
    );
}

/// The filter and the buttons above what can be opened; `n` things of a name are shown.
pub(crate) fn toolbar(out: &mut String, n: usize, noun: (&str, &str), hint: &str) {
    let shown = if n == 1 { noun.0 } else { noun.1 };
    let _ = write!(
        out,
        "<div class=\"toolbar\" role=\"search\">\n\
         <label for=\"filter\">Filter</label>\n\
         <input id=\"filter\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\" \
         placeholder=\"{hint}\">\n\
         <button type=\"button\" id=\"expand\">Expand all</button>\n\
         <button type=\"button\" id=\"collapse\">Collapse all</button>\n\
         <output id=\"shown\" for=\"filter\" aria-live=\"polite\" data-one=\"{}\" data-many=\"{}\">{n} {shown}</output>\n</div>\n\
         <noscript><p>The filter and the copy buttons need scripts; the page reads without.</p>\
         </noscript>\n",
        noun.0, noun.1
    );
}

/// A part of a whole, as a bar.
pub(crate) fn meter(out: &mut String, name: &str, part: usize, whole: usize, more: &str) {
    let complete = part >= whole;
    // Rounded down, so that 100 % means all of them.
    let percent = if complete { 100 } else { part * 100 / whole };
    let class = if complete {
        "tile wide"
    } else {
        "tile wide short"
    };
    let _ = writeln!(
        out,
        "<div class=\"{class}\"><b>{percent}&nbsp;%</b><span>{name}: {part} of {whole}</span>\
         <div class=\"bar\" aria-hidden=\"true\"><i style=\"width:{percent}%\"></i></div>\
         <small>{}</small></div>",
        escape(more)
    );
}

/// A code block with a copy button; `code` is escaped already.
pub(crate) fn snippet(out: &mut String, code: &str, what: &str) {
    let _ = writeln!(
        out,
        "<div class=\"snippet\"><pre tabindex=\"0\"><code>{code}</code></pre>\
         <button type=\"button\" class=\"copy\" aria-label=\"Copy {what}\">Copy</button></div>"
    );
}

/// Text as HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Not allowed in HTML, or able to reorder what is shown.
            c if c != '\n' && c != '\t' && crate::writer::text::is_unprintable(c) => {
                let _ = write!(out, "\u{27e8}U+{:04X}\u{27e9}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}
