//! The schema that an engine will hold when it is given a schema from elsewhere.
//!
//! Types become the nearest that the engine has, and constraints that it cannot
//! host go; every change that may alter which rows are accepted is noted.

mod constraints;
mod exprs;
mod types;

use std::sync::Arc;

use crate::dialect::DialectName;
use crate::limitation::{Limitation, Severity, SourceLocation};
use crate::render::names::default_names;
use crate::schema::{ConstraintKind, Schema, Table};

/// A schema as an engine will hold it.
#[derive(Clone, Debug)]
pub struct TranslatedSchema {
    /// The schema; tables and columns are those of the source, in its order.
    pub schema: Schema,
    /// What was lost or changed, each with the location in the source.
    pub notes: Vec<Limitation>,
}

/// Turns a schema written in one dialect into what an engine of another will hold.
///
/// Into [`DialectName::Ansi`] nothing is changed but that tables lose their
/// namespaces, as they do everywhere: a test has a database of its own.
pub fn translate(schema: &Schema, from: DialectName, to: DialectName) -> TranslatedSchema {
    let mut work = Translation {
        from,
        to,
        tables: schema
            .tables
            .iter()
            .map(|table| Table::clone(table))
            .collect(),
        notes: Vec::new(),
    };
    work.drop_namespaces();
    if to != DialectName::Ansi {
        work.types();
        work.counters();
        if from != to {
            work.expressions();
        }
        work.constraints();
        work.unique_names();
    }
    for table in &mut work.tables {
        table.refresh();
    }
    TranslatedSchema {
        schema: Schema {
            name: schema.name.clone(),
            tables: work.tables.into_iter().map(Arc::new).collect(),
        },
        notes: work.notes,
    }
}

/// A translation under way.
struct Translation {
    from: DialectName,
    to: DialectName,
    tables: Vec<Table>,
    notes: Vec<Limitation>,
}

impl Translation {
    /// Notes a change that may alter which rows are accepted.
    fn loss(&mut self, location: &SourceLocation, input: String, why: impl Into<String>) {
        self.note(Severity::Unsupported, location, input, why.into());
    }

    /// Notes a change that alters no verdict.
    fn change(&mut self, location: &SourceLocation, input: String, why: impl Into<String>) {
        self.note(Severity::Ignored, location, input, why.into());
    }

    fn note(&mut self, severity: Severity, location: &SourceLocation, input: String, why: String) {
        self.notes.push(Limitation {
            severity,
            location: location.clone(),
            input,
            why,
        });
    }

    fn engine(&self) -> &'static str {
        match self.to {
            DialectName::Ansi => "standard SQL",
            DialectName::Postgres => "PostgreSQL",
            DialectName::MySql => "MariaDB",
            DialectName::Sqlite => "SQLite",
        }
    }

    /// `table.column`, as notes name it.
    fn column_label(&self, table: usize, column: usize) -> String {
        let of = &self.tables[table];
        format!("{}.{}", of.name, of.columns[column].name)
    }

    /// One database per test: tables of other schemas move in, under another name if theirs is taken.
    fn drop_namespaces(&mut self) {
        let mut seen: Vec<String> = Vec::with_capacity(self.tables.len());
        let mut taken = rustc_hash::FxHashSet::default();
        let exact = self.to == DialectName::Postgres;
        let key = |name: &str| {
            if exact {
                name.to_owned()
            } else {
                name.to_lowercase()
            }
        };
        for index in 0..self.tables.len() {
            let table = &mut self.tables[index];
            let namespace = table.namespace.take();
            if taken.insert(key(&table.name)) {
                continue;
            }
            let old = table.name.clone();
            let base = match &namespace {
                Some(namespace) => format!("{namespace}_{old}"),
                None => old.clone(),
            };
            let name = std::iter::once(base.clone())
                .chain((2usize..).map(|digit| format!("{base}_{digit}")))
                .find(|name| !taken.contains(&key(name)))
                .unwrap_or(base);
            taken.insert(key(&name));
            table.name.clone_from(&name);
            seen.push(name.clone());
            let location = table.location.clone();
            self.change(
                &location,
                old,
                format!("there is another table of the name, so it is `{name}` here"),
            );
        }
    }

    /// Names that an engine keeps unique over all tables, not only within one.
    fn unique_names(&mut self) {
        let mut taken = rustc_hash::FxHashSet::default();
        if self.to != DialectName::MySql {
            taken.extend(self.tables.iter().map(|table| table.name.clone()));
        }
        for index in 0..self.tables.len() {
            for constraint in 0..self.tables[index].constraints.len() {
                let shared = match self.tables[index].constraints[constraint].kind {
                    ConstraintKind::PrimaryKey { .. } | ConstraintKind::Unique { .. } => {
                        self.to == DialectName::Postgres
                    }
                    ConstraintKind::UniqueIndex { .. } => self.to != DialectName::MySql,
                    ConstraintKind::ForeignKey(_) => self.to == DialectName::MySql,
                    ConstraintKind::NotNull { .. } | ConstraintKind::Check { .. } => false,
                };
                if !shared {
                    continue;
                }
                let names = default_names(&self.tables[index], self.to);
                let Some(name) = names[constraint].clone() else {
                    continue;
                };
                if taken.insert(name.clone()) {
                    continue;
                }
                let Some(free) = (2usize..)
                    .map(|digit| format!("{name}_{digit}"))
                    .find(|free| !taken.contains(free) && !names.contains(&Some(free.clone())))
                else {
                    continue;
                };
                taken.insert(free.clone());
                let location = self.tables[index].constraints[constraint].location.clone();
                self.change(
                    &location,
                    name,
                    format!(
                        "the name is taken in {}, so it is `{free}` here",
                        self.engine()
                    ),
                );
                self.tables[index].constraints[constraint].name = Some(free);
            }
        }
    }
}
