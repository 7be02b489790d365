//! The script for the sqlite3 shell, as a TAP producer.
//!
//! SQL cannot catch an error in SQLite, but the shell can log it to a file and read that file
//! back, message and extended code included. The results go to a second file, since a rollback
//! would undo a table. The shell's exit status counts every error, also the expected ones, so the
//! script ends by an `.exit` that depends on the results.

use std::fmt::Write;

use super::super::text::{bare, defers_foreign_keys, expectation, one_line, sql_literal};
use super::{heading, statement};
use crate::suite::{Expectation, Rejection, RejectionKind, Step, Suite, Test};

/// Appends the script.
pub(super) fn script(out: &mut String, suite: &Suite) {
    out.push_str(include_str!("sqlite.sql"));
    out.push_str("\n.log isobath-log.txt\n");
    for sql in suite.session.iter().chain(&suite.setup) {
        statement(out, sql);
    }
    let n_checks: usize = suite.tests.iter().map(|test| test.steps.len()).sum();
    out.push_str(".log off\n.output isobath-results.txt\n");
    let _ = writeln!(out, "SELECT '1..{}';", n_checks + 1);
    let mut checks = Checks {
        done: 0,
        deferred: defers_foreign_keys(suite),
    };
    checks.check(out, "the schema is created", QUIET);
    for (group, tests) in suite.by_group() {
        heading(out, group);
        for test in tests {
            checks.test(out, test);
        }
    }
    let end = include_str!("sqlite_end.sql");
    out.push_str(&end.replace("@checks@", &checks.done.to_string()));
}

/// What the shell logged, as text.
const LOG: &str = "CAST(readfile('isobath-log.txt') AS TEXT)";

/// Nothing was logged but warnings (28 and 284).
const QUIET: &str = "(length(readfile('isobath-log.txt')) = 0\n  \
    OR (CAST(readfile('isobath-log.txt') AS TEXT) GLOB '(28*'\n  \
    AND instr(CAST(readfile('isobath-log.txt') AS TEXT), ' abort') = 0))";

struct Checks {
    /// How many were written.
    done: usize,
    /// Whether a violated foreign key may go unnoticed until it is asked for.
    deferred: bool,
}

impl Checks {
    fn test(&mut self, out: &mut String, test: &Test) {
        let _ = write!(out, "\n-- {}\n", one_line(&test.name));
        for covered in &test.covers {
            let _ = writeln!(out, "-- Covers: {}", one_line(covered));
        }
        out.push_str("BEGIN;\n");
        for step in &test.steps {
            self.step(out, test, step);
        }
        out.push_str("ROLLBACK;\n");
    }

    fn step(&mut self, out: &mut String, test: &Test, step: &Step) {
        let by_foreign_key = matches!(
            &step.expect,
            Expectation::Rejected(rejection) if rejection.kind == RejectionKind::ForeignKey
        );
        // The shell does not log a foreign key that fails at the end of a statement. Deferred,
        // the statement goes through and the violation can be asked for.
        let deferred = by_foreign_key || step.is_deferred();
        if deferred {
            out.push_str("PRAGMA defer_foreign_keys = ON;\n");
        }
        out.push_str(".log isobath-log.txt\n");
        for sql in &step.sql {
            statement(out, sql);
        }
        out.push_str(".log off\n");
        let quiet = if self.deferred {
            format!("{QUIET}\n  AND NOT EXISTS (SELECT * FROM pragma_foreign_key_check)")
        } else {
            QUIET.into()
        };
        let condition = match &step.expect {
            Expectation::Accepted { rows: None } => quiet,
            Expectation::Accepted { rows: Some(n) } => format!("changes() = {n}\n  AND {quiet}"),
            Expectation::Rejected(rejection) => rejected(rejection),
            Expectation::Rows { query, rows } => {
                format!("{quiet}\n  AND {}", returns(bare(query), rows))
            }
        };
        let name = format!("{} ({})", one_line(&test.name), expectation(&step.expect));
        self.check(out, &name, &condition);
        if deferred {
            out.push_str("PRAGMA defer_foreign_keys = OFF;\n");
        }
    }

    fn check(&mut self, out: &mut String, name: &str, condition: &str) {
        self.done += 1;
        // `#` would start a directive in TAP.
        let name = sql_literal(&format!(" {} - {}", self.done, name.replace('#', "\\#")));
        let _ = writeln!(
            out,
            "SELECT CASE WHEN {condition}\n  THEN 'ok' ELSE 'not ok' END || {name};"
        );
    }
}

fn rejected(rejection: &Rejection) -> String {
    let mut all = vec![format!("length({LOG}) > 0")];
    if let Some(code) = rejection.code {
        all.push(format!("{LOG} LIKE '({code}) %'"));
    }
    for part in rejection.message_parts() {
        all.push(format!("instr({LOG}, {}) > 0", sql_literal(part)));
    }
    let logged = all.join("\n  AND ");
    if rejection.kind == RejectionKind::ForeignKey {
        format!("EXISTS (SELECT * FROM pragma_foreign_key_check)\n  OR ({logged})")
    } else {
        logged
    }
}

fn returns(query: &str, rows: &[Vec<Option<String>>]) -> String {
    let n_columns = rows.first().map_or(0, Vec::len);
    if n_columns == 0 {
        return format!(
            "(SELECT count(*) FROM (\n    {query}\n  )) = {}",
            rows.len()
        );
    }
    let columns: Vec<String> = (1..=n_columns).map(|n| format!("c{n}")).collect();
    let columns = columns.join(", ");
    let expected = serde_json::to_string(rows).expect("rows are strings and nulls");
    format!(
        "(WITH actual({columns}) AS (\n    {query}\n  )\n  \
         SELECT json_group_array(json_array({columns})) FROM actual) = {}",
        sql_literal(&expected)
    )
}
