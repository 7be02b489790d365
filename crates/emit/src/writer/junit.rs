//! JUnit 5: one class per suite, a nested class per table, and the `pom.xml` that runs it.

use std::fmt::Write;

use super::name::{Names, of_test, pascal, slug};
use super::text::{self, SharedQuery};
use super::{File, WriteError, Writer};
use crate::suite::{Expectation, Step, StepRole, Suite, SuiteDialect, Test};

/// Google's Java line length.
const WIDTH: usize = 100;
/// A string constant of a class file holds fewer than 65,536 bytes; UTF-8 may take 4 each.
const LONGEST_CONSTANT: usize = 16_000;

/// Writes a JUnit 5 class over JDBC.
#[derive(Debug)]
pub(crate) struct Junit;

impl Writer for Junit {
    fn name(&self) -> &'static str {
        "junit"
    }

    fn write(&self, suite: &Suite) -> Result<Vec<File>, WriteError> {
        let class = format!("{}Test", pascal(&suite.schema));
        let mut out = String::with_capacity(4096 + 512 * suite.tests.len());
        for line in text::header(suite) {
            let _ = writeln!(out, "{}", comment(&line).trim_end());
        }
        out.push_str(how_to_run(suite.dialect));
        out.push('\n');
        out.push_str(&imports(suite.dialect));
        let _ = write!(
            out,
            "\n@DisplayName({})\n",
            literal(&text::one_line(&suite.title), 0)
        );
        let _ = writeln!(out, "class {class} {{");
        list(&mut out, "SESSION", &suite.session);
        list(&mut out, "SETUP", &suite.setup);
        if suite.dialect == SuiteDialect::Mysql {
            let _ = writeln!(
                out,
                "  private static final String SCRATCH = \"{}\";\n",
                text::scratch(suite)
            );
        }
        if suite.dialect == SuiteDialect::Sqlite {
            let _ = writeln!(
                out,
                "  private static final boolean DEFERRED_FOREIGN_KEYS = {};\n",
                text::defers_foreign_keys(suite)
            );
        }
        out.push_str(include_str!("junit/fixture.java"));
        // A nested class may not share the name of one around it or of one it uses.
        let mut classes = Names::default();
        for taken in TAKEN {
            classes.unique((*taken).into());
        }
        classes.unique(class.clone());
        let mut constants = Names::default();
        for taken in ["SESSION", "SETUP", "SCRATCH", "DEFERRED_FOREIGN_KEYS"] {
            constants.unique(taken.into());
        }
        for (group, tests) in suite.by_group() {
            let _ = write!(
                out,
                "\n  @Nested\n  @DisplayName({})\n  class {} {{\n",
                literal(&text::one_line(group), 2),
                classes.unique(pascal(group))
            );
            let mut methods = Names::default();
            let shared = SharedQuery::of(suite, group, &mut constants);
            if let Some(shared) = &shared {
                let sql = literal(text::bare(shared.sql), 8);
                let _ = write!(
                    out,
                    "    private static final String {} =\n        {sql};\n\n",
                    shared.name
                );
            }
            for (idx, test) in tests.iter().enumerate() {
                if idx > 0 {
                    out.push('\n');
                }
                method(&mut out, test, shared.as_ref(), &mut methods);
            }
            out.push_str("  }\n");
        }
        out.push('\n');
        out.push_str(&database(suite.dialect));
        out.push_str("}\n");
        Ok(vec![
            File {
                path: format!("src/test/java/{class}.java"),
                text: out,
            },
            File {
                path: "pom.xml".into(),
                text: pom(suite),
            },
        ])
    }
}

/// Class names that the file uses itself.
const TAKEN: &[&str] = &[
    "Database",
    "Rejected",
    "String",
    "Object",
    "List",
    "Test",
    "Nested",
    "DisplayName",
    "Integer",
    "ArrayList",
    "Arrays",
    "Connection",
    "Statement",
    "ResultSet",
    "DriverManager",
    "System",
    "BeforeAll",
    "AfterAll",
    "BeforeEach",
    "AfterEach",
    "PSQLException",
    "SQLException",
    "SQLiteException",
    "Optional",
];

/// Words that a name must not be: those of the language, and also methods of Object that a test may not hide with another return type.
pub(crate) const KEYWORDS: &str = "abstract assert boolean break byte case catch char class const continue default do double else enum \
    extends false final finally float for goto if implements import instanceof int interface long native \
    new null package private protected public return short static strictfp super switch synchronized \
    this throw throws transient true try void volatile while clone finalize notify wait";

fn how_to_run(dialect: SuiteDialect) -> &'static str {
    match dialect {
        SuiteDialect::Sqlite => {
            "// Run with: mvn test. The URL is -Disobath.url or ISOBATH_JDBC_URL, else in memory.\n"
        }
        SuiteDialect::Postgres => {
            "// Run with: mvn test -Disobath.url=jdbc:postgresql://… (or ISOBATH_JDBC_URL).\n\
             // Everything happens in one transaction that is rolled back.\n"
        }
        SuiteDialect::Mysql => {
            "// Run with: mvn test -Disobath.url=jdbc:mariadb://… (or ISOBATH_JDBC_URL).\n\
             // The tables are created in a scratch database of their own.\n"
        }
    }
}

fn imports(dialect: SuiteDialect) -> String {
    let mut imports = vec![
        "java.sql.Connection",
        "java.sql.DriverManager",
        "java.sql.ResultSet",
        "java.sql.SQLException",
        "java.sql.Statement",
        "java.util.ArrayList",
        "java.util.Arrays",
        "java.util.List",
        "org.junit.jupiter.api.AfterAll",
        "org.junit.jupiter.api.AfterEach",
        "org.junit.jupiter.api.BeforeAll",
        "org.junit.jupiter.api.BeforeEach",
        "org.junit.jupiter.api.DisplayName",
        "org.junit.jupiter.api.Nested",
        "org.junit.jupiter.api.Test",
    ];
    match dialect {
        SuiteDialect::Sqlite => imports.push("org.sqlite.SQLiteException"),
        SuiteDialect::Postgres => {
            imports.extend(["java.sql.Savepoint", "org.postgresql.util.PSQLException"]);
        }
        SuiteDialect::Mysql => {}
    }
    imports.sort_unstable();
    let mut out = String::from(
        "import static org.junit.jupiter.api.Assertions.assertEquals;\n\
         import static org.junit.jupiter.api.Assertions.assertThrows;\n\
         import static org.junit.jupiter.api.Assertions.assertTrue;\n\n",
    );
    for import in imports {
        let _ = writeln!(out, "import {import};");
    }
    out
}

/// The class `Database`: what all engines share, with the sections of the engine at the lines that name them.
fn database(dialect: SuiteDialect) -> String {
    let engine = match dialect {
        SuiteDialect::Sqlite => include_str!("junit/sqlite.java"),
        SuiteDialect::Postgres => include_str!("junit/postgres.java"),
        SuiteDialect::Mysql => include_str!("junit/mysql.java"),
    };
    let section = |name: &str| {
        let mut sections = engine
            .split("//// ")
            .filter_map(|text| text.split_once('\n'));
        sections
            .find(|(of, _)| *of == name)
            .map_or("", |(_, text)| text)
    };
    let exception = section("exception").trim_end();
    let mut out = String::new();
    for line in include_str!("junit/database.java").split_inclusive('\n') {
        match line.strip_prefix("//// ") {
            Some(name) => out.push_str(section(name.trim_end())),
            None => out.push_str(&line.replace("EXCEPTION", exception)),
        }
    }
    out
}

fn list(out: &mut String, name: &str, statements: &[String]) {
    let _ = write!(out, "  private static final String[] {name} = {{");
    for (idx, sql) in statements.iter().enumerate() {
        out.push_str(if idx == 0 { "\n    " } else { ",\n    " });
        out.push_str(&literal(text::bare(sql), 4));
    }
    out.push_str(if statements.is_empty() {
        "};\n\n"
    } else {
        "\n  };\n\n"
    });
}

fn method(out: &mut String, test: &Test, shared: Option<&SharedQuery<'_>>, names: &mut Names) {
    let mut name = of_test(test);
    if KEYWORDS.split(' ').any(|keyword| keyword == name) {
        name.insert_str(0, "test_");
    }
    let name = names.unique(name);
    for covered in &test.covers {
        let _ = writeln!(out, "    {}", comment(&format!("Covers: {covered}")));
    }
    let _ = write!(
        out,
        "    @Test\n    @DisplayName({})\n    void {name}() throws Exception {{\n",
        literal(&text::one_line(&test.name), 4)
    );
    let mut previous = None;
    for step in &test.steps {
        if previous == Some(StepRole::Setup) && step.role == StepRole::Act {
            out.push('\n');
        }
        previous = Some(step.role);
        self::step(out, step, shared);
    }
    out.push_str("    }\n");
}

fn step(out: &mut String, step: &Step, shared: Option<&SharedQuery<'_>>) {
    let statements: Vec<String> = step
        .sql
        .iter()
        .map(|sql| literal(text::bare(sql), 10))
        .collect();
    match &step.expect {
        Expectation::Accepted { rows: None } => chain(out, "accepts", &statements, &[]),
        Expectation::Accepted { rows: Some(n) } => {
            let mut arguments = vec![n.to_string()];
            arguments.extend(statements);
            chain(out, "affects", &arguments, &[]);
        }
        Expectation::Rejected(rejection) => {
            let mut links = Vec::new();
            if let Some(state) = &rejection.sqlstate {
                links.push(format!(".sqlState({})", literal(state, 10)));
            }
            if let Some(code) = rejection.code {
                links.push(format!(".code({code})"));
            }
            if let Some(constraint) = &rejection.constraint {
                links.push(format!(".constraint({})", literal(constraint, 10)));
            }
            for part in &rejection.message_contains {
                links.push(format!(".mentions({})", literal(part, 10)));
            }
            chain(out, "rejects", &statements, &links);
        }
        Expectation::Rows { query, rows } => {
            if !statements.is_empty() {
                chain(out, "accepts", &statements, &[]);
            }
            let mut arguments = vec![SharedQuery::or_literal(shared, query, |sql| {
                literal(sql, 10)
            })];
            arguments.extend(rows.iter().map(|row| {
                let cells: Vec<String> = row
                    .iter()
                    .map(|cell| {
                        cell.as_deref()
                            .map_or("null".into(), |cell| literal(cell, 14))
                    })
                    .collect();
                format!("new String[] {{{}}}", cells.join(", "))
            }));
            chain(out, "returns", &arguments, &[]);
        }
    }
}

/// `database.method(arguments).link.link;`, broken where it does not fit.
fn chain(out: &mut String, method: &str, arguments: &[String], links: &[String]) {
    let head = format!("      database.{method}(");
    let flat = format!("{head}{}){};", arguments.join(", "), links.concat());
    if flat.chars().count() <= WIDTH && !flat.contains('\n') {
        out.push_str(&flat);
        out.push('\n');
        return;
    }
    let call = format!("{head}{})", arguments.join(", "));
    if call.chars().count() <= WIDTH && !call.contains('\n') {
        out.push_str(&call);
    } else {
        out.push_str(&head);
        for (idx, argument) in arguments.iter().enumerate() {
            out.push_str(if idx == 0 {
                "\n          "
            } else {
                ",\n          "
            });
            out.push_str(argument);
        }
        out.push(')');
    }
    for link in links {
        out.push_str("\n          ");
        out.push_str(link);
    }
    out.push_str(";\n");
}

/// `text` as a Java string expression; lines are concatenated below each other.
pub(crate) fn literal(text: &str, indent: usize) -> String {
    if text.len() > LONGEST_CONSTANT {
        let chars: Vec<char> = text.chars().collect();
        let parts: Vec<String> = chars
            .chunks(LONGEST_CONSTANT)
            .map(|part| format!("\"{}\"", escaped(&part.iter().collect::<String>())))
            .collect();
        return format!("String.join(\"\", {})", parts.join(", "));
    }
    let lines: Vec<String> = text
        .split_inclusive('\n')
        .map(|line| format!("\"{}\"", escaped(line)))
        .collect();
    if lines.is_empty() {
        return "\"\"".into();
    }
    lines.join(&format!("\n{:1$}+ ", "", indent + 4))
}

pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Not \u: Java reads those before it sees the string, so \u000a would end the line.
            c if u32::from(c) < 0x80 && c.is_control() => {
                let _ = write!(out, "\\{:03o}", u32::from(c));
            }
            c if text::is_unprintable(c) => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out
}

/// A line comment. A lone `\u` would be read as a Unicode escape even here.
pub(crate) fn comment(text: &str) -> String {
    format!("// {}", text::one_line(text).replace('\\', "\\\\"))
}

fn pom(suite: &Suite) -> String {
    let [group, artifact, version] = match suite.dialect {
        SuiteDialect::Sqlite => ["org.xerial", "sqlite-jdbc", "3.47.1.0"],
        SuiteDialect::Postgres => ["org.postgresql", "postgresql", "42.7.4"],
        SuiteDialect::Mysql => ["org.mariadb.jdbc", "mariadb-java-client", "3.5.1"],
    };
    include_str!("junit/pom.xml")
        .replace("@artifact@", &slug(&suite.schema))
        .replace("@driver.group@", group)
        .replace("@driver.artifact@", artifact)
        .replace("@driver.version@", version)
}
