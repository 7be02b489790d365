//! A schema as a table of text, for tests that read like before and after.
#![allow(
    dead_code,
    missing_docs,
    reason = "each test file uses its own part of this"
)]

use std::fmt::Write as _;

use isobath_sql::ddl::{LoadedSchema, Source, load};
use isobath_sql::render::expression;
use isobath_sql::schema::{Action, ConstraintKind, Deferrable, Filled, Schema};
use isobath_sql::{Constraint, DialectName, Table};

pub(crate) fn load_as(dialect: DialectName, text: &str) -> LoadedSchema {
    let source = Source {
        name: "x.sql".to_owned(),
        text: text.to_owned(),
    };
    load("x", &[source], Some(dialect))
}

pub(crate) fn load_guessing(text: &str) -> LoadedSchema {
    let source = Source {
        name: "x.sql".to_owned(),
        text: text.to_owned(),
    };
    load("x", &[source], None)
}

/// Tables, columns and constraints, one per line.
pub(crate) fn describe(schema: &Schema) -> String {
    let mut out = String::new();
    for table in &schema.tables {
        let _ = write!(out, "{}", table.name);
        if table.strict {
            out.push_str(" strict");
        }
        if table.without_rowid {
            out.push_str(" without rowid");
        }
        out.push('\n');
        for column in &table.columns {
            let _ = write!(out, "  {} {:?}", column.name, column.data_type);
            match &column.filled {
                Filled::No => {}
                Filled::Generated(expr) => {
                    let _ = write!(out, " as {}", expression(expr, DialectName::Postgres));
                }
                other => {
                    let _ = write!(out, " {other:?}");
                }
            }
            if let Some(default) = &column.default {
                let _ = write!(
                    out,
                    " default {}",
                    expression(default, DialectName::Postgres)
                );
            }
            if let Some(collation) = &column.collation {
                let _ = write!(out, " collate {collation}");
            }
            out.push('\n');
        }
        for constraint in &table.constraints {
            let _ = writeln!(
                out,
                "  - {}",
                describe_constraint(schema, table, constraint)
            );
        }
    }
    out
}

pub(crate) fn describe_constraint(
    schema: &Schema,
    table: &Table,
    constraint: &Constraint,
) -> String {
    let list = |of: &Table, columns: &[usize]| {
        let names: Vec<&str> = columns
            .iter()
            .map(|&c| of.columns[c].name.as_str())
            .collect();
        names.join(", ")
    };
    let show = |expr| expression(expr, DialectName::Postgres);
    let mut text = match &constraint.kind {
        ConstraintKind::PrimaryKey { columns } => format!("primary key ({})", list(table, columns)),
        ConstraintKind::NotNull { column } => format!("not null {}", table.columns[*column].name),
        ConstraintKind::Unique {
            columns,
            nulls_distinct,
        } => {
            let nulls = if *nulls_distinct { "" } else { " nulls equal" };
            format!("unique ({}){nulls}", list(table, columns))
        }
        ConstraintKind::UniqueIndex {
            keys, predicate, ..
        } => {
            let keys: Vec<String> = keys.iter().map(show).collect();
            let predicate = predicate
                .as_ref()
                .map(|expr| format!(" where {}", show(expr)))
                .unwrap_or_default();
            format!("unique index ({}){predicate}", keys.join(", "))
        }
        ConstraintKind::ForeignKey(key) => {
            let parent = &schema.tables[key.parent];
            let mut text = format!(
                "({}) -> {} ({})",
                list(table, &key.columns),
                parent.name,
                list(parent, &key.parent_columns)
            );
            if key.match_full {
                text.push_str(" match full");
            }
            if key.on_delete != Action::NoAction {
                let _ = write!(text, " on delete {:?}", key.on_delete);
            }
            if key.on_update != Action::NoAction {
                let _ = write!(text, " on update {:?}", key.on_update);
            }
            text
        }
        ConstraintKind::Check { expr } => format!("check {}", show(expr)),
    };
    if constraint.deferrable != Deferrable::No {
        let _ = write!(text, " {:?}", constraint.deferrable);
    }
    if let Some(name) = &constraint.name {
        let _ = write!(text, " [{name}]");
    }
    text
}

/// Everything that is not in the model, one per line.
pub(crate) fn limitations(loaded: &LoadedSchema) -> String {
    loaded
        .limitations
        .iter()
        .map(|of| {
            format!(
                "{:?} {}: {} ({})\n",
                of.severity, of.location, of.why, of.input
            )
        })
        .collect()
}
