//! What a table demands, in a form in which equal demands are equal values.
//!
//! Two tables with the same normal form accept the same rows. How far forms
//! are brought together is a [`Form`]: the peer's two pipelines compare
//! structures only; ours also knows what the engine makes of them.

use std::sync::Arc;

use isobath_sql::schema::{Action, Constraint, ConstraintKind, Schema, Table};
use isobath_sql::{DataType, Dialect, DialectName, Expr};

use super::mutant::{Change, Mutant};

/// How much is rewritten before tables are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// NOT NULLs that the key implies and UNIQUEs identical to the key are dropped; nothing else.
    Plain,
    /// Keys become UNIQUE (and NOT NULL), only the narrowest of overlapping UNIQUEs stay,
    /// conjunctions are split and `CHECK (x IS NOT NULL)` becomes NOT NULL.
    Normalised,
    /// That, and what the engine ignores: sizes of types in SQLite, NOT NULL on its row ids.
    Engine,
}

/// One demand of a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Fact {
    NotNull(usize),
    Key(Vec<usize>),
    Unique {
        columns: Vec<usize>,
        nulls_distinct: bool,
    },
    ForeignKey {
        parent: usize,
        pairs: Vec<(usize, usize)>,
        match_full: bool,
        on_delete: u8,
        on_update: u8,
    },
    /// A CHECK or an index over expressions, as text.
    Expression(Arc<str>),
    /// A column that is not as it was.
    Column(usize, Arc<str>),
}

/// Computes normal forms of a schema's tables and of its mutants.
pub(super) struct Normaliser<'a> {
    schema: &'a Schema,
    dialect: &'static dyn Dialect,
    form: Form,
    /// The facts of each constraint of each table of the original.
    facts: Vec<Vec<Vec<Fact>>>,
}

impl<'a> Normaliser<'a> {
    pub(super) fn new(schema: &'a Schema, dialect: &'static dyn Dialect, form: Form) -> Self {
        let facts = schema
            .tables
            .iter()
            .map(|table| {
                table
                    .constraints
                    .iter()
                    .map(|constraint| facts(constraint, form))
                    .collect()
            })
            .collect();
        Self {
            schema,
            dialect,
            form,
            facts,
        }
    }

    /// The normal form of an original table.
    pub(super) fn original(&self, table: usize) -> Vec<Fact> {
        let facts = self.facts[table].iter().flatten().cloned().collect();
        self.settled(facts, &self.schema.tables[table], None)
    }

    /// The normal form of a mutant's changed table.
    pub(super) fn mutant(&self, mutant: &Mutant) -> Vec<Fact> {
        let table = mutant.mutated_table();
        let left_out = match mutant.change {
            Change::Constraint { original, .. } => original,
            Change::Column { .. } => None,
        };
        let mut all: Vec<Fact> = self.facts[mutant.table]
            .iter()
            .enumerate()
            .filter(|(index, _)| Some(*index) != left_out)
            .flat_map(|(_, facts)| facts.iter().cloned())
            .collect();
        let mut added = Vec::new();
        match mutant.change {
            Change::Constraint {
                mutated: Some(index),
                ..
            } => added = facts(&table.constraints[index], self.form),
            Change::Constraint { mutated: None, .. } => {}
            Change::Column { column } => added.extend(self.column_fact(mutant, column)),
        }
        all.extend(added.iter().cloned());
        self.settled(all, table, Some(&added))
    }

    fn column_fact(&self, mutant: &Mutant, column: usize) -> Option<Fact> {
        let original = &self.schema.tables[mutant.table];
        let changed = mutant.mutated_table();
        let (before, after) = (&original.columns[column], &changed.columns[column]);
        let same_to_engine = self.form == Form::Engine
            && self.dialect.name() == DialectName::Sqlite
            && !changed.strict
            && before.default == after.default
            && same_affinity(&before.data_type, &after.data_type)
            && self.dialect.rowid_alias(original) == self.dialect.rowid_alias(changed);
        (!same_to_engine).then(|| {
            let text = format!("{:?} {:?}", after.data_type, after.default);
            Fact::Column(column, text.into())
        })
    }

    fn settled(&self, mut facts: Vec<Fact>, table: &Table, added: Option<&[Fact]>) -> Vec<Fact> {
        let admits_null = match self.form {
            // The peer knows no row ids and no WITHOUT ROWID: in its SQLite every key admits NULL.
            Form::Plain | Form::Normalised => self.dialect.name() == DialectName::Sqlite,
            Form::Engine => self.dialect.key_admits_null(table),
        };
        match self.form {
            Form::Plain => self.drop_identical(&mut facts, admits_null, added),
            Form::Normalised | Form::Engine => {
                split_keys(&mut facts, admits_null);
                drop_wider(&mut facts);
            }
        }
        if self.form == Form::Engine
            && let Some(alias) = self.dialect.rowid_alias(table)
        {
            facts.retain(|fact| *fact != Fact::NotNull(alias));
        }
        facts.sort_unstable();
        facts.dedup();
        facts
    }

    /// The rewrites of the peer's default pipeline.
    fn drop_identical(&self, facts: &mut Vec<Fact>, admits_null: bool, added: Option<&[Fact]>) {
        let Some(key) = facts.iter().find_map(|fact| match fact {
            Fact::Key(columns) => Some(columns.clone()),
            _ => None,
        }) else {
            return;
        };
        if !admits_null {
            facts.retain(|fact| !matches!(fact, Fact::NotNull(column) if key.contains(column)));
        }
        let identical =
            |fact: &Fact| matches!(fact, Fact::Unique { columns, .. } if *columns == key);
        if !facts.iter().any(identical) {
            return;
        }
        let key = Fact::Key(key.clone());
        let added_key = added.is_some_and(|added| added.contains(&key));
        if added_key && self.dialect.name() == DialectName::Sqlite {
            facts.retain(|fact| *fact != key);
        } else {
            facts.retain(|fact| !identical(fact));
        }
    }
}

/// What one constraint demands.
fn facts(constraint: &Constraint, form: Form) -> Vec<Fact> {
    match &constraint.kind {
        ConstraintKind::PrimaryKey { columns } => vec![Fact::Key(sorted(columns))],
        ConstraintKind::NotNull { column } => vec![Fact::NotNull(*column)],
        ConstraintKind::Unique {
            columns,
            nulls_distinct,
        } => vec![Fact::Unique {
            columns: sorted(columns),
            nulls_distinct: *nulls_distinct,
        }],
        ConstraintKind::ForeignKey(key) => {
            let mut pairs: Vec<(usize, usize)> = key
                .columns
                .iter()
                .copied()
                .zip(key.parent_columns.iter().copied())
                .collect();
            pairs.sort_unstable();
            vec![Fact::ForeignKey {
                parent: key.parent,
                // MATCH FULL says nothing about a key of one column.
                match_full: key.match_full && pairs.len() > 1,
                pairs,
                on_delete: action(key.on_delete),
                on_update: action(key.on_update),
            }]
        }
        ConstraintKind::Check { expr } if form == Form::Plain => vec![text(expr)],
        ConstraintKind::Check { expr } => {
            let mut facts = Vec::new();
            split(expr, &mut facts);
            facts
        }
        ConstraintKind::UniqueIndex { .. } => {
            vec![Fact::Expression(format!("{:?}", constraint.kind).into())]
        }
    }
}

/// A conjunction is refused exactly when one of its parts is.
fn split(expr: &Expr, facts: &mut Vec<Fact>) {
    match expr {
        Expr::And(parts) => parts.iter().for_each(|part| split(part, facts)),
        Expr::IsNull {
            expr: inner,
            negated: true,
        } => match inner.as_ref() {
            Expr::Column(column) => facts.push(Fact::NotNull(column.slot)),
            _ => facts.push(text(expr)),
        },
        _ => facts.push(text(expr)),
    }
}

fn text(expr: &Expr) -> Fact {
    Fact::Expression(format!("{expr:?}").into())
}

fn sorted(columns: &[usize]) -> Vec<usize> {
    let mut columns = columns.to_vec();
    columns.sort_unstable();
    columns
}

fn action(action: Action) -> u8 {
    match action {
        Action::NoAction | Action::Restrict => 0,
        Action::Cascade => 1,
        Action::SetNull => 2,
        Action::SetDefault => 3,
    }
}

fn split_keys(facts: &mut Vec<Fact>, admits_null: bool) {
    let keys: Vec<Vec<usize>> = facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::Key(columns) => Some(columns.clone()),
            _ => None,
        })
        .collect();
    facts.retain(|fact| !matches!(fact, Fact::Key(_)));
    for columns in keys {
        if !admits_null {
            facts.extend(columns.iter().map(|column| Fact::NotNull(*column)));
        }
        facts.push(Fact::Unique {
            columns,
            nulls_distinct: true,
        });
    }
}

/// Drops UNIQUEs that a narrower one implies.
fn drop_wider(facts: &mut Vec<Fact>) {
    let uniques: Vec<(Vec<usize>, bool)> = facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::Unique {
                columns,
                nulls_distinct,
            } => Some((columns.clone(), *nulls_distinct)),
            _ => None,
        })
        .collect();
    facts.retain(|fact| {
        let Fact::Unique {
            columns,
            nulls_distinct,
        } = fact
        else {
            return true;
        };
        !uniques.iter().any(|(narrower, distinct)| {
            narrower.len() < columns.len()
                && narrower.iter().all(|column| columns.contains(column))
                && (*nulls_distinct || !distinct)
        })
    });
}

/// Whether SQLite treats two declared types alike.
fn same_affinity(a: &DataType, b: &DataType) -> bool {
    match (a, b) {
        (DataType::Integer { .. }, DataType::Integer { .. })
        | (DataType::Decimal { .. }, DataType::Decimal { .. })
        | (DataType::Float { .. }, DataType::Float { .. }) => true,
        (a, b) => a.is_text() && b.is_text(),
    }
}
