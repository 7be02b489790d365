//! Rust over sqlx's own test support: `#[sqlx::test]` gives each test a database of its own, with
//! the schema as a migration and the rows as a fixture file.

use std::fmt::Write;

use super::name::{Names, slug};
use super::rust::{identifier, keyword_free, literal};
use super::text::{self, SharedQuery, bare, sentence};
use super::{File, WriteError, Writer, fixtures, name, only_queries};
use crate::suite::{Expectation, Step, StepRole, Suite, SuiteDialect, Test};

/// Writes a Rust integration test with fixtures.
#[derive(Debug)]
pub(crate) struct Sqlx;

impl Writer for Sqlx {
    fn name(&self) -> &'static str {
        "sqlx"
    }

    fn write(&self, suite: &Suite) -> Result<Vec<File>, WriteError> {
        only_queries("sqlx", suite)?;
        let name = identifier(&suite.schema, "schema_");
        let mut out = String::with_capacity(4096 + 512 * suite.tests.len());
        for line in text::header(suite) {
            let _ = writeln!(out, "{}", format!("//! {line}").trim_end());
        }
        let _ = write!(
            out,
            "//! Run with: {}cargo test\n{}",
            match suite.dialect {
                SuiteDialect::Sqlite => "DATABASE_URL=sqlite::memory: ",
                SuiteDialect::Postgres => "DATABASE_URL=postgres://… ",
                SuiteDialect::Mysql => "DATABASE_URL=mysql://… ",
            },
            include_str!("sqlx/support.rs.txt").replace(
                "@Database@",
                match suite.dialect {
                    SuiteDialect::Sqlite => "Sqlite",
                    SuiteDialect::Postgres => "Postgres",
                    SuiteDialect::Mysql => "MySql",
                }
            )
        );
        let session: Vec<String> = suite.session.iter().map(|sql| literal(bare(sql))).collect();
        let _ = write!(
            out,
            "\n/// What every connection is told first.\n#[rustfmt::skip]\nconst SESSION: &[&str] = &[{}];\n",
            session.join(", ")
        );
        let mut files = Vec::new();
        let mut functions = Names::default();
        for taken in ["open", "run", "returns"] {
            functions.unique(taken.into());
        }
        let mut constants = Names::default();
        constants.unique("SESSION".into());
        for (group, tests) in suite.by_group() {
            let shared = SharedQuery::of(suite, group, &mut constants);
            if let Some(shared) = &shared {
                let sql = literal(bare(shared.sql));
                let _ = write!(
                    out,
                    "\n#[rustfmt::skip]\nconst {}: &str = {sql};\n",
                    shared.name
                );
            }
            for test in tests {
                let name = functions.unique(keyword_free(name::of_test(test), "test_"));
                let rows = fixtures::rows(test);
                function(&mut out, test, &name, !rows.is_empty(), shared.as_ref());
                // MySQL refuses a fixture without a statement.
                if !rows.is_empty() {
                    files.push(File {
                        path: format!("tests/fixtures/{name}.sql"),
                        text: rows,
                    });
                }
            }
        }
        files.insert(
            0,
            File {
                path: format!("tests/{name}.rs"),
                text: out,
            },
        );
        let setup = suite.setup.iter();
        files.push(File {
            path: "migrations/1_schema.sql".into(),
            text: setup.map(|sql| format!("{};\n", bare(sql))).collect(),
        });
        files.push(File {
            path: "Cargo.toml".into(),
            text: manifest(&slug(&name), suite.dialect),
        });
        files.push(File {
            path: "src/lib.rs".into(),
            text: "//! Only a place to stand for the tests.\n".into(),
        });
        Ok(files)
    }
}

fn manifest(name: &str, dialect: SuiteDialect) -> String {
    let driver = dialect.name();
    format!(
        "[package]\nname = \"{name}_queries\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         publish = false\n\n# A package of its own, wherever it is put.\n[workspace]\n\n\
         [dev-dependencies]\nsqlx = {{ version = \"0.8\", default-features = false, features = \
         [\"{driver}\", \"runtime-tokio\", \"migrate\", \"macros\"] }}\n\
         tokio = {{ version = \"1\", features = [\"rt\"] }}\n"
    )
}

fn function(
    out: &mut String,
    test: &Test,
    name: &str,
    has_rows: bool,
    shared: Option<&SharedQuery<'_>>,
) {
    let _ = write!(out, "\n/// {}\n", sentence(&test.name));
    if !test.covers.is_empty() {
        out.push_str("///\n");
        for covered in &test.covers {
            let _ = writeln!(out, "/// Covers: {}", sentence(covered));
        }
    }
    let fixtures = if has_rows {
        format!("(fixtures(\"{name}\"))")
    } else {
        String::new()
    };
    let _ = write!(
        out,
        "#[rustfmt::skip]\n#[sqlx::test{fixtures}]\nasync fn {name}(pool: Pool<Engine>) {{\n    \
         let mut db = open(&pool).await;\n"
    );
    for step in test.steps.iter().filter(|step| step.role == StepRole::Act) {
        self::step(out, step, shared);
    }
    out.push_str("}\n");
}

fn step(out: &mut String, step: &Step, shared: Option<&SharedQuery<'_>>) {
    for sql in &step.sql {
        let sql = literal(bare(sql));
        let _ = writeln!(out, "    run(&mut db, {sql}).await;");
    }
    if let Expectation::Rows { query, rows } = &step.expect {
        let query = SharedQuery::or_literal(shared, query, literal);
        let _ = write!(out, "    returns(&mut db, {query}, &[");
        for row in rows {
            let cells: Vec<String> = row
                .iter()
                .map(|cell| match cell {
                    Some(cell) => format!("Some({})", literal(cell)),
                    None => "None".into(),
                })
                .collect();
            let _ = write!(out, "\n        &[{}],", cells.join(", "));
        }
        out.push_str(if rows.is_empty() {
            "]).await;\n"
        } else {
            "\n    ]).await;\n"
        });
    }
}
