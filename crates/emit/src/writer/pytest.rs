//! pytest: one file with its fixtures, one function per test, as black would format it.

use std::fmt::Write;

use super::layout::Layout;
use super::name::{Names, of_test, slug};
use super::text::{self, SharedQuery, sentence};
use super::{File, WriteError, Writer};
use crate::suite::{Expectation, Step, StepRole, Suite, SuiteDialect, Test};

/// Black's line length.
const WIDTH: usize = 88;

/// Writes a pytest module.
#[derive(Debug)]
pub(crate) struct Pytest;

impl Writer for Pytest {
    fn name(&self) -> &'static str {
        "pytest"
    }

    fn write(&self, suite: &Suite) -> Result<Vec<File>, WriteError> {
        let mut out = String::with_capacity(1024 + 512 * suite.tests.len());
        out.push_str("\"\"\"");
        for (idx, line) in text::header(suite).iter().enumerate() {
            let line = if idx == 0 {
                sentence(line)
            } else {
                line.clone()
            };
            out.push_str(&in_docstring(&line));
            out.push('\n');
        }
        out.push_str(how_to_run(suite.dialect));
        out.push_str("\"\"\"\n\n");
        out.push_str(imports(suite.dialect));
        list(&mut out, "SESSION", &suite.session);
        list(&mut out, "SETUP", &suite.setup);
        if suite.dialect == SuiteDialect::Mysql {
            let _ = writeln!(out, "SCRATCH = {}", literal(&text::scratch(suite)));
        }
        if suite.dialect == SuiteDialect::Sqlite {
            let deferred = if text::defers_foreign_keys(suite) {
                "True"
            } else {
                "False"
            };
            let _ = writeln!(out, "DEFERRED_FOREIGN_KEYS = {deferred}");
        }
        out.push_str(database(suite.dialect));
        let mut names = Names::default();
        let mut constants = Names::default();
        for taken in ["SESSION", "SETUP", "SCRATCH", "DEFERRED_FOREIGN_KEYS"] {
            constants.unique(taken.into());
        }
        for (group, tests) in suite.by_group() {
            let _ = write!(out, "\n\n# {}\n", text::one_line(group));
            let shared = SharedQuery::of(suite, group, &mut constants);
            if let Some(shared) = &shared {
                let sql = literal(text::bare(shared.sql));
                let _ = writeln!(out, "{} = {sql}", shared.name);
            }
            for test in tests {
                function(&mut out, test, shared.as_ref(), &mut names);
            }
        }
        Ok(vec![File {
            path: format!("test_{}.py", slug(&suite.schema)),
            text: out,
        }])
    }
}

fn how_to_run(dialect: SuiteDialect) -> &'static str {
    match dialect {
        SuiteDialect::Sqlite => "Needs pytest and Python 3.11 or later.\n",
        SuiteDialect::Postgres => {
            "Needs pytest, psycopg, and ISOBATH_POSTGRES_URL naming a test database. Everything\n\
             happens in one transaction that is rolled back.\n"
        }
        SuiteDialect::Mysql => {
            "Needs pytest, pymysql, and ISOBATH_MARIADB_URL naming a test server. The tables are\n\
             created in a scratch database of their own.\n"
        }
    }
}

fn imports(dialect: SuiteDialect) -> &'static str {
    match dialect {
        SuiteDialect::Sqlite => "import sqlite3\n\nimport pytest\n\n",
        SuiteDialect::Postgres => "import os\n\nimport psycopg\nimport pytest\n\n",
        SuiteDialect::Mysql => {
            "import os\nfrom urllib.parse import unquote, urlsplit\n\nimport pymysql\nimport pytest\n\
             from pymysql.constants import CLIENT\n\n"
        }
    }
}

fn database(dialect: SuiteDialect) -> &'static str {
    match dialect {
        SuiteDialect::Sqlite => include_str!("pytest/sqlite.py"),
        SuiteDialect::Postgres => include_str!("pytest/postgres.py"),
        SuiteDialect::Mysql => include_str!("pytest/mysql.py"),
    }
}

fn list(out: &mut String, name: &str, statements: &[String]) {
    let items = statements
        .iter()
        .map(|sql| Layout::Atom(literal(text::bare(sql))));
    // One statement per line reads better than as many as fit.
    let width = if statements.len() > 1 { 0 } else { WIDTH };
    Layout::list(format!("{name} = ["), items, "]").render(out, 0, width, 0);
    out.push('\n');
}

fn function(out: &mut String, test: &Test, shared: Option<&SharedQuery<'_>>, names: &mut Names) {
    let name = names.unique(format!("test_{}", of_test(test)));
    let _ = write!(out, "\n\ndef {name}(database):\n");
    let title = in_docstring(&sentence(&test.name));
    if test.covers.is_empty() {
        let _ = writeln!(out, "    \"\"\"{title}\"\"\"");
    } else {
        let _ = write!(out, "    \"\"\"{title}\n\n");
        for covered in &test.covers {
            let _ = writeln!(out, "    Covers: {}", in_docstring(&sentence(covered)));
        }
        out.push_str("    \"\"\"\n");
    }
    let mut previous = None;
    for step in &test.steps {
        if previous == Some(StepRole::Setup) && step.role == StepRole::Act {
            out.push('\n');
        }
        previous = Some(step.role);
        self::step(out, step, shared);
    }
    if test.steps.is_empty() {
        out.push_str("    assert database\n");
    }
}

fn step(out: &mut String, step: &Step, shared: Option<&SharedQuery<'_>>) {
    let statements = || {
        step.sql
            .iter()
            .map(|sql| Layout::Atom(literal(text::bare(sql))))
    };
    let mut call = |method: &str, items: Vec<Layout>| {
        out.push_str("    ");
        Layout::list(format!("database.{method}("), items, ")").render(out, 4, WIDTH, 0);
        out.push('\n');
    };
    match &step.expect {
        Expectation::Accepted { rows } => {
            let mut items: Vec<Layout> = statements().collect();
            items.extend(rows.map(|n| Layout::Atom(format!("rows={n}"))));
            call("accepts", items);
        }
        Expectation::Rejected(rejection) => {
            let mut items: Vec<Layout> = statements().collect();
            if let Some(state) = &rejection.sqlstate {
                items.push(Layout::Atom(format!("sqlstate={}", literal(state))));
            }
            if let Some(code) = rejection.code {
                items.push(Layout::Atom(format!("code={code}")));
            }
            if let Some(constraint) = &rejection.constraint {
                items.push(Layout::Atom(format!("constraint={}", literal(constraint))));
            }
            if !rejection.message_contains.is_empty() {
                let parts = rejection.message_contains.iter();
                let parts = parts.map(|part| Layout::Atom(literal(part)));
                items.push(Layout::list("message=[", parts, "]"));
            }
            call("rejects", items);
        }
        Expectation::Rows { query, rows } => {
            if !step.sql.is_empty() {
                call("accepts", statements().collect());
            }
            let rows = rows.iter().map(|row| {
                let cells = row.iter().map(|cell| {
                    Layout::Atom(cell.as_deref().map_or_else(|| "None".into(), literal))
                });
                Layout::list("[", cells, "]")
            });
            let rows = Layout::list("[", rows, "]");
            call(
                "returns",
                vec![
                    Layout::Atom(SharedQuery::or_literal(shared, query, literal)),
                    rows,
                ],
            );
        }
    }
}

/// `text` as a Python string. Black prefers double quotes unless they cost more escapes.
pub(crate) fn literal(text: &str) -> String {
    let doubles = text.matches('"').count();
    let singles = text.matches('\'').count();
    let multiline = text.contains('\n')
        && !text.contains("\"\"\"")
        && !text.ends_with('"')
        && !text.lines().any(|line| line.ends_with([' ', '\t']));
    let quote = if doubles > singles && !multiline {
        '\''
    } else {
        '"'
    };
    let mut out = String::with_capacity(text.len() + 6);
    let fence = if multiline {
        "\"\"\"".into()
    } else {
        quote.to_string()
    };
    out.push_str(&fence);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' if multiline => out.push('\n'),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote && !multiline => {
                out.push('\\');
                out.push(c);
            }
            c if text::is_unprintable(c) => {
                let _ = match u32::from(c) {
                    code @ 0..=0xff => write!(out, "\\x{code:02x}"),
                    code @ 0..=0xffff => write!(out, "\\u{code:04x}"),
                    code => write!(out, "\\U{code:08x}"),
                };
            }
            c => out.push(c),
        }
    }
    out.push_str(&fence);
    out
}

pub(crate) fn in_docstring(text: &str) -> String {
    text.replace('\\', "\\\\").replace("\"\"\"", "\\\"\\\"\\\"")
}
