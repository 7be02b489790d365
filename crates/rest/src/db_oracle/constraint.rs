//! Identifies the constraint that rejected a statement, from the driver or from the response.

use std::sync::LazyLock;

use isobath_exec::driver::Event;
use isobath_exec::statement::StatementFailure;
use isobath_exec::{Refusal, RefusalKind};
use isobath_sql::{ConstraintKind, Schema};
use regex::Regex;

use crate::exchange::Exchange;

/// The constraint that refused a statement of a call, as the last of its statements that failed tells, else the response itself.
pub(crate) fn violated(exchange: &Exchange) -> Option<Refusal> {
    let describe = exchange
        .trace
        .events
        .iter()
        .rev()
        .find_map(|event| match event {
            Event::Statement {
                failure: Some(failure),
                ..
            } => Some(StatementFailure::read(failure).0).filter(is_constraint),
            _ => None,
        });
    describe.or_else(|| {
        let body = &exchange.response()?.body;
        in_text(&String::from_utf8_lossy(body.get(..READ).unwrap_or(body)))
    })
}

/// The longest part of a response that is searched.
const READ: usize = 16 * 1024;

fn is_constraint(refusal: &Refusal) -> bool {
    matches!(
        refusal.kind,
        RefusalKind::NotNull
            | RefusalKind::PrimaryKey
            | RefusalKind::Unique
            | RefusalKind::ForeignKey
            | RefusalKind::Check
    )
}

/// A violation as databases word it, in the midst of other text; the first pattern that fits.
fn in_text(text: &str) -> Option<Refusal> {
    use RefusalKind::{Check, ForeignKey, NotNull, Unique};
    static WORDINGS: LazyLock<Vec<(RefusalKind, Regex)>> = LazyLock::new(|| {
        let quote = r#"[\\"'`]*"#;
        let name = |group: &str| format!(r"{quote}(?P<{group}>\w[\w$]*){quote}");
        let pattern = |text: String| Regex::new(&text).expect("a constant pattern");
        vec![
            (
                NotNull,
                pattern(r"NOT NULL constraint failed: (?P<table>\w+)\.(?P<columns>\w+)".into()),
            ),
            (
                Unique,
                pattern(
                    r"UNIQUE constraint failed: (?P<table>\w+)\.(?P<columns>[\w., ]*\w)".into(),
                ),
            ),
            (
                Check,
                pattern(r"CHECK constraint failed: (?P<constraint>\w+)".into()),
            ),
            (ForeignKey, pattern("FOREIGN KEY constraint failed".into())),
            (
                NotNull,
                pattern(format!(
                    "null value in column {} of relation {} violates",
                    name("columns"),
                    name("table")
                )),
            ),
            (
                Unique,
                pattern(format!("violates unique constraint {}", name("constraint"))),
            ),
            (
                ForeignKey,
                pattern(format!(
                    "on table {} violates foreign key constraint {}",
                    name("table"),
                    name("constraint")
                )),
            ),
            (
                Check,
                pattern(format!(
                    "relation {} violates check constraint {}",
                    name("table"),
                    name("constraint")
                )),
            ),
            (
                NotNull,
                pattern(format!("Column {} cannot be null", name("columns"))),
            ),
            (
                Unique,
                pattern(format!(
                    "Duplicate entry .{{0,200}}? for key {}",
                    name("constraint")
                )),
            ),
            (
                ForeignKey,
                pattern(format!(
                    "a foreign key constraint fails .{{0,200}}?CONSTRAINT {}",
                    name("constraint")
                )),
            ),
            (
                Check,
                pattern(format!("CONSTRAINT {} failed for", name("constraint"))),
            ),
        ]
    });
    WORDINGS.iter().find_map(|(kind, wording)| {
        let found = wording.captures(text)?;
        let group = |name| found.name(name).map(|part| part.as_str().to_owned());
        let columns = group("columns").unwrap_or_default();
        let columns = columns
            .split(',')
            .map(str::trim)
            .filter(|column| !column.is_empty());
        Some(Refusal {
            kind: *kind,
            constraint: group("constraint"),
            table: group("table"),
            columns: columns
                .map(|column| column.rsplit('.').next().unwrap_or(column).to_owned())
                .collect(),
            message: found[0].to_owned(),
            ..Refusal::default()
        })
    })
}

/// What names the constraint, whichever operation meets it.
pub(crate) fn label(refusal: &Refusal) -> String {
    let mut label = refusal.kind.to_string();
    if let Some(constraint) = &refusal.constraint {
        label.push_str(&format!(" {constraint}"));
    }
    match (&refusal.table, refusal.columns.as_slice()) {
        (Some(table), []) => label.push_str(&format!(" of {table}")),
        (Some(table), columns) => label.push_str(&format!(" of {table} ({})", columns.join(", "))),
        (None, []) => {}
        (None, columns) => label.push_str(&format!(" ({})", columns.join(", "))),
    }
    label
}

/// The schema constraint that a refusal names, if unambiguous.
pub(super) fn resolve(schema: &Schema, refusal: &Refusal) -> Option<(usize, usize)> {
    let mut fitting = Vec::new();
    for (index, table) in schema.tables.iter().enumerate() {
        let is_named = |name: &String| {
            table
                .name
                .eq_ignore_ascii_case(name.rsplit('.').next().unwrap_or(name))
        };
        if refusal.table.as_ref().is_some_and(|name| !is_named(name)) {
            continue;
        }
        for (number, constraint) in table.constraints.iter().enumerate() {
            let is_kind = match constraint.kind {
                ConstraintKind::NotNull { .. } => refusal.kind == RefusalKind::NotNull,
                ConstraintKind::PrimaryKey { .. } => {
                    matches!(refusal.kind, RefusalKind::PrimaryKey | RefusalKind::Unique)
                }
                ConstraintKind::Unique { .. } | ConstraintKind::UniqueIndex { .. } => {
                    refusal.kind == RefusalKind::Unique
                }
                ConstraintKind::ForeignKey(_) => refusal.kind == RefusalKind::ForeignKey,
                ConstraintKind::Check { .. } => refusal.kind == RefusalKind::Check,
            };
            let columns = constraint.columns();
            let own: Vec<&str> = columns
                .iter()
                .map(|&column| table.column(column).name.as_str())
                .collect();
            let by_columns = !refusal.columns.is_empty()
                && own.len() == refusal.columns.len()
                && refusal
                    .columns
                    .iter()
                    .all(|column| own.iter().any(|own| own.eq_ignore_ascii_case(column)));
            // MySQL calls a primary key PRIMARY and an unnamed key by its first column.
            let by_name = match (&refusal.constraint, &constraint.name) {
                (Some(describe), Some(name)) => describe.eq_ignore_ascii_case(name),
                (Some(describe), None) => match constraint.kind {
                    ConstraintKind::PrimaryKey { .. } => {
                        describe == "PRIMARY" || *describe == format!("{}_pkey", table.name)
                    }
                    _ => own
                        .first()
                        .is_some_and(|first| describe.eq_ignore_ascii_case(first)),
                },
                (None, _) => false,
            };
            let is_silent = refusal.columns.is_empty() && refusal.constraint.is_none();
            if is_kind && (by_columns || by_name || is_silent) {
                fitting.push((index, number));
            }
        }
    }
    match fitting.as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violations_are_recognized_as_databases_word_them() {
        let describe: Vec<String> = [
            r#"{"error":"UNIQUE constraint failed: berths.pier, berths.number"}"#,
            "NOT NULL constraint failed: boats.name",
            "CHECK constraint failed: some_pages",
            r#"duplicate key value violates unique constraint \"users_email_key\""#,
            r#"null value in column "name" of relation "boats" violates not-null constraint"#,
            r#"insert or update on table "item" violates foreign key constraint "made""#,
            r#"new row for relation "books" violates check constraint "some_pages""#,
            "(1062, \"Duplicate entry 'a-b' for key 'name'\")",
            "Column 'name' cannot be null",
            "Cannot add or update a child row: a foreign key constraint fails (`shop`.`item`, CONSTRAINT `made` FOREIGN KEY",
            "CONSTRAINT `some_pages` failed for `shop`.`books`",
        ]
        .iter()
        .map(|text| in_text(text).map(|refusal| label(&refusal)).unwrap_or_default())
        .collect();
        insta::assert_snapshot!(describe.join("\n"), @"
        UNIQUE of berths (pier, number)
        NOT NULL of boats (name)
        CHECK some_pages
        UNIQUE users_email_key
        NOT NULL of boats (name)
        FOREIGN KEY made of item
        CHECK some_pages of books
        UNIQUE name
        NOT NULL (name)
        FOREIGN KEY made
        CHECK some_pages
        ");
        assert_eq!(in_text("the unique offer"), None);
    }
}
