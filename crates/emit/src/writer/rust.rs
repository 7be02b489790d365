//! Rust: `tests/<schema>.rs` over rusqlite (SQLite) or sqlx (PostgreSQL, MariaDB), as rustfmt
//! would format it, and the `Cargo.toml` that runs it.

use std::fmt::Write;

use super::name::{Names, of_test, slug};
use super::text::{self, SharedQuery, sentence};
use super::{File, WriteError, Writer};
use crate::suite::{Expectation, Step, StepRole, Suite, SuiteDialect, Test};

/// Rustfmt keeps a call's arguments, and a chain, on one line up to this length.
const SHORT: usize = 60;
/// Rustfmt's line length.
const WIDTH: usize = 100;
const INDENT: &str = "        ";

/// Writes a Rust integration test.
#[derive(Debug)]
pub(crate) struct Rust;

impl Writer for Rust {
    fn name(&self) -> &'static str {
        "rust"
    }

    fn write(&self, suite: &Suite) -> Result<Vec<File>, WriteError> {
        let name = file_name(suite);
        let mut out = String::with_capacity(4096 + 512 * suite.tests.len());
        for line in text::header(suite) {
            let _ = writeln!(out, "{}", format!("//! {line}").trim_end());
        }
        out.push_str(how_to_run(suite.dialect));
        let mut modules = Names::default();
        modules.unique("database".into());
        for (group, tests) in suite.by_group() {
            let module = modules.unique(identifier(group, "table_"));
            let _ = write!(out, "\nmod {module} {{\n    use super::database::open;\n");
            let mut functions = Names::default();
            functions.unique("open".into());
            let shared = SharedQuery::of(suite, group, &mut Names::default());
            if let Some(shared) = &shared {
                let sql = literal(text::bare(shared.sql));
                let _ = write!(
                    out,
                    "\n    #[rustfmt::skip]\n    const {}: &str = {sql};\n",
                    shared.name
                );
            }
            for test in tests {
                function(&mut out, test, shared.as_ref(), &mut functions);
            }
            out.push_str("}\n");
        }
        if suite.tests.is_empty() {
            out.push_str("\n#[test]\nfn the_schema_can_be_created() {\n    database::open();\n}\n");
        }
        out.push('\n');
        out.push_str("mod database {\n");
        list(&mut out, "SESSION", &suite.session);
        list(&mut out, "SETUP", &suite.setup);
        if suite.dialect == SuiteDialect::Sqlite {
            let _ = writeln!(
                out,
                "    const DEFERRED_FOREIGN_KEYS: bool = {};",
                text::defers_foreign_keys(suite)
            );
        }
        if suite.dialect == SuiteDialect::Mysql {
            let _ = writeln!(
                out,
                "    const SCRATCH: &str = \"{}\";",
                text::scratch(suite)
            );
        }
        out.push('\n');
        indented(&mut out, database(suite.dialect));
        out.push_str("}\n");
        Ok(vec![
            File {
                path: format!("tests/{name}.rs"),
                text: out,
            },
            File {
                path: "Cargo.toml".into(),
                text: manifest(&name, suite),
            },
            File {
                path: "src/lib.rs".into(),
                text: "//! Only a place to stand for the tests.\n".into(),
            },
        ])
    }
}

/// Words that a name must not be: those of the language, and also what a package may not be called.
pub(crate) const KEYWORDS: &str = "abstract as async await become box break const continue crate do dyn else enum extern false final fn \
    for gen if impl in let loop macro match mod move mut override priv pub ref return self static struct \
    super trait true try type typeof union unsafe unsized use virtual where while yield test core std \
    alloc proc_macro";

pub(super) fn identifier(text: &str, prefix: &str) -> String {
    keyword_free(slug(text), prefix)
}

pub(super) fn keyword_free(mut name: String, prefix: &str) -> String {
    if KEYWORDS.split(' ').any(|keyword| keyword == name) {
        name.insert_str(0, prefix);
    }
    name
}

fn file_name(suite: &Suite) -> String {
    identifier(&suite.schema, "schema_")
}

fn how_to_run(dialect: SuiteDialect) -> &'static str {
    match dialect {
        SuiteDialect::Sqlite => "//! Run with: cargo test\n",
        SuiteDialect::Postgres => {
            "//! Run with: ISOBATH_POSTGRES_URL=postgres://… cargo test\n\
             //! Everything happens in one transaction that is rolled back.\n"
        }
        SuiteDialect::Mysql => {
            "//! Run with: ISOBATH_MARIADB_URL=mysql://… cargo test\n\
             //! The tables are created in a scratch database of their own.\n"
        }
    }
}

fn database(dialect: SuiteDialect) -> &'static str {
    match dialect {
        SuiteDialect::Sqlite => include_str!("rust/sqlite.rs.txt"),
        SuiteDialect::Postgres => include_str!("rust/postgres.rs.txt"),
        SuiteDialect::Mysql => include_str!("rust/mysql.rs.txt"),
    }
}

fn manifest(name: &str, suite: &Suite) -> String {
    let of = if suite.queries.is_empty() {
        "constraints"
    } else {
        "queries"
    };
    let dependencies = match suite.dialect {
        SuiteDialect::Sqlite => "rusqlite = { version = \"0.41\", features = [\"bundled\"] }\n",
        SuiteDialect::Postgres => {
            "sqlx = { version = \"0.8\", default-features = false, features = [\"postgres\", \
             \"runtime-tokio\"] }\ntokio = { version = \"1\", features = [\"rt\"] }\n"
        }
        SuiteDialect::Mysql => {
            "sqlx = { version = \"0.8\", default-features = false, features = [\"mysql\", \
             \"runtime-tokio\"] }\ntokio = { version = \"1\", features = [\"rt\"] }\n"
        }
    };
    format!(
        "[package]\nname = \"{name}_{of}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         publish = false\n\n# A package of its own, wherever it is put.\n[workspace]\n\n\
         [dev-dependencies]\n{dependencies}"
    )
}

fn indented(out: &mut String, code: &str) {
    for line in code.lines() {
        if !line.is_empty() {
            out.push_str("    ");
            out.push_str(line);
        }
        out.push('\n');
    }
}

fn list(out: &mut String, name: &str, statements: &[String]) {
    let items: Vec<String> = statements
        .iter()
        .map(|sql| literal(text::bare(sql)))
        .collect();
    let flat = format!("    const {name}: &[&str] = &[{}];", items.join(", "));
    let one_line = items.len() <= 1 && flat.chars().count() <= WIDTH && !flat.contains('\n');
    if one_line {
        out.push_str(&flat);
        out.push('\n');
        return;
    }
    let _ = writeln!(out, "    #[rustfmt::skip]\n    const {name}: &[&str] = &[");
    for item in items {
        let _ = writeln!(out, "        {item},");
    }
    out.push_str("    ];\n");
}

fn function(out: &mut String, test: &Test, shared: Option<&SharedQuery<'_>>, names: &mut Names) {
    let name = names.unique(keyword_free(of_test(test), "test_"));
    let mut body = String::new();
    let mut standard = true;
    let mut previous = None;
    for step in &test.steps {
        if previous == Some(StepRole::Setup) && step.role == StepRole::Act {
            body.push('\n');
        }
        previous = Some(step.role);
        standard &= self::step(&mut body, step, shared);
    }
    let _ = write!(out, "\n    /// {}\n", sentence(&test.name));
    if !test.covers.is_empty() {
        out.push_str("    ///\n");
        for covered in &test.covers {
            let _ = writeln!(out, "    /// Covers: {}", sentence(covered));
        }
    }
    out.push_str("    #[test]\n");
    if !standard {
        out.push_str("    #[rustfmt::skip]\n");
    }
    let _ = writeln!(out, "    fn {name}() {{");
    out.push_str(if test.steps.is_empty() {
        "        open();\n"
    } else {
        "        let mut db = open();\n"
    });
    out.push_str(&body);
    out.push_str("    }\n");
}

/// Writes a step, and says whether rustfmt would write it the same.
fn step(out: &mut String, step: &Step, shared: Option<&SharedQuery<'_>>) -> bool {
    let literals: Vec<String> = step
        .sql
        .iter()
        .map(|sql| literal(text::bare(sql)))
        .collect();
    match &step.expect {
        Expectation::Accepted { rows: None } => chain(out, "accepts", &literals, &[]),
        Expectation::Accepted { rows: Some(n) } => {
            chain(out, "accepts", &literals, &[format!(".rows({n})")])
        }
        Expectation::Rejected(rejection) => {
            let mut links = Vec::new();
            if let Some(state) = &rejection.sqlstate {
                links.push(format!(".sqlstate({})", literal(state)));
            }
            if let Some(code) = rejection.code {
                links.push(format!(".code({code})"));
            }
            if let Some(constraint) = &rejection.constraint {
                links.push(format!(".constraint({})", literal(constraint)));
            }
            for part in &rejection.message_contains {
                links.push(format!(".mentions({})", literal(part)));
            }
            chain(out, "rejects", &literals, &links)
        }
        Expectation::Rows { query, rows } => {
            let accepted = literals.is_empty() || chain(out, "accepts", &literals, &[]);
            let mut links: Vec<String> = rows
                .iter()
                .map(|row| {
                    let cells: Vec<String> = row
                        .iter()
                        .map(|cell| match cell {
                            Some(cell) => format!("Some({})", literal(cell)),
                            None => "None".into(),
                        })
                        .collect();
                    format!(".row(&[{}])", cells.join(", "))
                })
                .collect();
            links.push(".end()".into());
            let query = SharedQuery::or_literal(shared, query, literal);
            chain(out, "returns", &[query], &links) && accepted
        }
    }
}

/// `db.method(arguments).link.link;`, broken where rustfmt breaks it. Says whether it is sure of
/// that. Several arguments are one array.
fn chain(out: &mut String, method: &str, arguments: &[String], links: &[String]) -> bool {
    let list = arguments.join(", ");
    let call = match arguments {
        [one] => format!("db.{method}({one})"),
        _ => format!("db.{method}([{list}])"),
    };
    let flat = format!("{call}{}", links.concat());
    if flat.contains('\n') {
        let _ = writeln!(out, "{INDENT}{flat};");
        return false;
    }
    let length = |text: &str| text.chars().count();
    let links_fit = links.iter().all(|link| length(link) <= SHORT);
    if arguments.len() > 1 && length(&list) > SHORT {
        let _ = writeln!(out, "{INDENT}db.{method}([");
        for argument in arguments {
            let _ = writeln!(out, "{INDENT}    {argument},");
        }
        let _ = write!(out, "{INDENT}])");
        for link in links {
            let _ = write!(out, "\n{INDENT}{link}");
        }
        out.push_str(";\n");
        let fit = |argument: &String| INDENT.len() + 5 + length(argument) <= WIDTH;
        return links_fit && arguments.iter().all(fit);
    }
    let call_fits = INDENT.len() + length(&call) < WIDTH;
    if links.is_empty() || length(&flat) <= SHORT {
        let _ = writeln!(out, "{INDENT}{flat};");
        return call_fits;
    }
    let _ = write!(out, "{INDENT}{call}");
    for link in links {
        let _ = write!(out, "\n{INDENT}    {link}");
    }
    out.push_str(";\n");
    links_fit && call_fits
}

/// `text` as a Rust string: raw where that saves escapes.
pub(crate) fn literal(text: &str) -> String {
    let strange = |c: char| c != '\n' && text::is_unprintable(c);
    let raw = text.contains(['"', '\\']) && !text.contains(strange);
    if raw {
        let mut fence = String::new();
        while text.contains(&format!("\"{fence}")) {
            fence.push('#');
        }
        return format!("r{fence}\"{text}\"{fence}");
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if strange(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
