//! The runtime files of a test language: what stands around the tests, with no more than they need.
//!
//! In a fragment, `@NAME@` stands for a value, and lines after `@@flag other` up to the next `@@` are kept when one of the
//! flags is set.

use std::collections::BTreeSet;

use super::language::{Chapter, Language, printed};
use crate::http::suite::{AGENT_PORT, HttpSuite, PORT};
use crate::http::{lower, plan};
use crate::suite::SuiteDialect;

/// A runtime file, and when it is part of a suite.
pub(crate) type Fragment = (When, &'static str);

/// When a fragment is part of a suite.
pub(crate) enum When {
    Always,
    /// With this flag.
    If(&'static str),
    /// Without this flag.
    Unless(&'static str),
    /// When the tests, or what logs users in, use this name.
    Used(&'static str),
}

/// What stands before and after the tests of a chapter.
pub(super) fn around(
    language: &dyn Language,
    chapter: &Chapter<'_>,
    tests: &str,
) -> (String, String) {
    let notation = language.notation();
    let flags = flags(chapter.suite, !chapter.users.is_empty(), notation.flags);
    let mut values = language.values(chapter);
    values.extend(self::values(language, chapter));
    let code: String = values.iter().map(|(_, text)| text.as_str()).collect();
    let code = code + tests;
    let filled = |fragments: &[Fragment]| {
        let mut out = String::new();
        for (when, fragment) in fragments {
            let is_part = match when {
                When::Always => true,
                When::If(flag) => flags.contains(*flag),
                When::Unless(flag) => !flags.contains(*flag),
                When::Used(name) => is_used(name, &code),
            };
            if is_part {
                fill(&mut out, fragment, &flags, &values);
            }
        }
        out
    };
    let after = language.finish(filled(notation.after));
    let before = filled(notation.before);
    let all = [before.as_str(), tests, &after].concat();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let code: Vec<&str> = all.lines().filter(is_code).collect();
    let imports = pruned(notation.imports, &code.join("\n"));
    (before.replacen("@IMPORTS@\n", &imports, 1), after)
}

/// What a suite has, as fragments ask for it, the flags of the language, and both: `users_ts`.
fn flags(suite: &HttpSuite, has_users: bool, of_language: &[&str]) -> BTreeSet<String> {
    let service = &suite.service;
    let database = suite.database.as_ref();
    let of =
        |dialect| database.is_some_and(|one| one.dialect == dialect && one.agent_url.is_none());
    let mut tests = suite.tests.iter();
    let has_external = !suite.external_services.is_empty();
    let has_setup = database.is_some_and(|one| !one.setup.is_empty());
    let is_reset = service.reset.is_some() || has_setup || has_external;
    let flags = [
        ("users", has_users),
        ("nobody", !has_users),
        ("reset", is_reset),
        ("unchanged", !is_reset),
        ("prepared", is_reset || has_users),
        ("started", service.start.is_some()),
        ("running", service.start.is_none()),
        ("free_ports", suite.chooses_ports()),
        ("fixed_ports", !suite.chooses_ports()),
        ("free_url", suite.free_url().is_some()),
        ("free_agent", suite.free_agent_port().is_some()),
        ("external", has_external),
        ("alone", !has_external),
        ("database", database.is_some()),
        (
            "inside",
            database.is_some_and(|one| one.agent_url.is_some()),
        ),
        ("sqlite", of(SuiteDialect::Sqlite)),
        ("postgres", of(SuiteDialect::Postgres)),
        ("mysql", of(SuiteDialect::Mysql)),
        ("state", tests.any(|test| !test.expected_rows.is_empty())),
    ];
    let flags = flags.into_iter().filter(|(_, holds)| *holds);
    let mut all: BTreeSet<String> = of_language.iter().map(ToString::to_string).collect();
    for (flag, _) in flags {
        all.insert(flag.to_owned());
        all.extend(of_language.iter().map(|own| format!("{flag}_{own}")));
    }
    all
}

/// The values that all languages write alike.
fn values(language: &dyn Language, chapter: &Chapter<'_>) -> Vec<(&'static str, String)> {
    let notation = language.notation();
    let suite = chapter.suite;
    let literal = notation.literal;
    let (header, environment) = notation.header;
    let comment = |prefix: &str, line: &str| {
        let line = (notation.in_header)(line);
        // A list item has its own indentation.
        let line = if prefix.ends_with("- ") {
            line.trim_start()
        } else {
            &line
        };
        format!("{}\n", format!("{prefix}{line}").trim_end())
    };
    let lines = plan::header(suite, chapter.file.faults);
    let lines = lines.iter().map(|line| comment(header, line));
    let variables = plan::environment(suite);
    let variables = variables.iter().map(|line| comment(environment, line));
    let service = &suite.service;
    let start = service.start_on_free_ports.as_ref();
    let start = start.or(service.start.as_ref());
    let database = suite.database.as_ref();
    let at = |url: &str, free: Option<(&str, &str)>, variable| match free {
        Some((before, after)) => language.joined(before, variable, after),
        None => literal(url),
    };
    let agent_url = database.and_then(|one| one.agent_url.as_deref());
    let users = chapter.users.iter().map(|user| {
        let log_in = lower::log_in(user, notation);
        let statements = printed(language, notation.indents.1, &log_in.statements);
        language.log_in(user, &log_in, &statements)
    });
    let secrets = chapter.secrets.iter();
    let reset = lower::reset(suite);
    vec![
        ("RESET", printed(language, notation.indents.2, &reset)),
        ("USERS", users.collect()),
        (
            "SECRETS",
            secrets.map(|secret| language.secret(secret)).collect(),
        ),
        ("BASE_URL", at(&service.base_url, suite.free_url(), "PORT")),
        (
            "AGENT_URL",
            at(
                agent_url.unwrap_or_default(),
                suite.free_agent_port(),
                "AGENT_PORT",
            ),
        ),
        ("HEADER", lines.collect()),
        ("ENVIRONMENT", variables.collect()),
        ("BASE_URL_VARIABLE", literal(&service.base_url_variable)),
        ("TIMEOUT", service.timeout_millis.to_string()),
        ("START", start.map_or(String::new(), |start| literal(start))),
        ("PORT_PLACEHOLDER", literal(PORT)),
        ("AGENT_PORT_PLACEHOLDER", literal(AGENT_PORT)),
        (
            "VARIABLE",
            database.map_or(String::new(), |one| literal(&one.variable)),
        ),
    ]
}

/// Appends a fragment: the lines whose flags are set, with values in place of their names.
///
/// A line that is nothing but the name of a value becomes the lines of that value, or none.
fn fill(
    out: &mut String,
    fragment: &str,
    flags: &BTreeSet<String>,
    values: &[(&'static str, String)],
) {
    let value = |name: &str| values.iter().find(|(known, _)| *known == name);
    let mut is_kept = true;
    for line in fragment.lines() {
        if let Some(wanted) = line.trim().strip_prefix("@@") {
            is_kept = wanted == "end" || wanted.split(' ').any(|flag| flags.contains(flag));
            continue;
        }
        if !is_kept {
            continue;
        }
        let whole = line.trim().strip_prefix('@');
        let whole = whole.and_then(|line| line.strip_suffix('@'));
        if let Some((_, text)) = whole.and_then(value) {
            out.push_str(text);
            continue;
        }
        let mut parts = line.split('@').peekable();
        out.push_str(parts.next().unwrap_or_default());
        while let Some(part) = parts.next() {
            match value(part) {
                Some((_, text)) if parts.peek().is_some() => {
                    out.push_str(text);
                    out.push_str(parts.next().unwrap_or_default());
                }
                _ => {
                    out.push('@');
                    out.push_str(part);
                }
            }
        }
        out.push('\n');
    }
}

/// The imports of which `code` uses something.
fn pruned(imports: &str, code: &str) -> String {
    let mut out = String::new();
    let used = |names: &str| {
        let names = names.split(", ");
        let names = names.filter(|name| is_used(name.rsplit(' ').next().unwrap_or(name), code));
        names.collect::<Vec<_>>().join(", ")
    };
    for line in imports.lines() {
        let lists = [("{ ", " }"), (" import ", "")];
        let list = lists.iter().find_map(|(open, close)| {
            let (before, rest) = line.split_once(open)?;
            let (names, after) = match close.is_empty() {
                true => (rest, ""),
                false => rest.rsplit_once(close)?,
            };
            Some((format!("{before}{open}"), names, format!("{close}{after}")))
        });
        let kept = match list {
            Some((before, names, after)) => match used(names) {
                none if none.is_empty() => continue,
                names => format!("{before}{names}{after}"),
            },
            None => {
                let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let name = match line.split_once(" from ") {
                    Some((name, _)) => name,
                    None => line.trim_end_matches(|c: char| !word(c)),
                };
                let name = name.rsplit(|c: char| !word(c)).next().unwrap_or(name);
                let is_import = !name.is_empty() && !line.ends_with('(');
                if is_import && !is_used(name, code) {
                    continue;
                }
                line.to_owned()
            }
        };
        out.push_str(&kept);
        out.push('\n');
    }
    out
}

/// Whether code uses a name: as a word, and where it begins with a small letter, with a call or a member after it.
fn is_used(name: &str, code: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    code.match_indices(name).any(|(at, _)| {
        let (before, from) = code.split_at(at);
        let mut after = from.chars().skip(name.chars().count());
        let begins = !before.ends_with(|c: char| is_word(c) || c == '.');
        let next = after.next().unwrap_or(' ');
        let ends = if name.starts_with(|c: char| c.is_ascii_lowercase()) {
            next == '(' || (next == '.' && after.next().is_some_and(is_word))
        } else {
            !is_word(next)
        };
        begins && ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_used_is_imported() {
        let imports = "import json\nimport os\nfrom a import b, c\nimport { d, e as f } from \"m\";\nimport static x.Y.z;\n";
        let code = "os.environ, answer.json(), c(), f(1) and z";
        assert_eq!(
            pruned(imports, code),
            "import os\nfrom a import c\nimport { e as f } from \"m\";\n"
        );
    }

    #[test]
    fn a_value_is_not_filled_in_twice() {
        let mut out = String::new();
        let values = [("A", "@B@".to_owned()), ("B", "b\n".to_owned())];
        let flags = BTreeSet::from(["on".to_owned()]);
        let fragment = "x = @A@;\n@@off\ngone\n@@on off\nmail@example.org\n@@end\n  @B@\n";
        fill(&mut out, fragment, &flags, &values);
        assert_eq!(out, "x = @B@;\nmail@example.org\nb\n");
    }
}
