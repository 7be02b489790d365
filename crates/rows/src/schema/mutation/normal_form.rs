//! Normal forms of table constraints: equivalent tables have equal normal forms.
//!
//! Two tables with the same normal form accept the same rows. How far forms
//! are brought together is a [`NormalForm`]: the peer's two pipelines compare
//! structures only; ours also knows what the engine makes of them.

use std::sync::Arc;

use isobath_sql::schema::{Action, Constraint, ConstraintKind, Schema, Table};
use isobath_sql::{DataType, Dialect, DialectName, Expr};

use super::mutant::{Mutant, MutantChange};

/// How much is rewritten before tables are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NormalForm {
    /// NOT NULLs that the key implies and UNIQUEs identical to the key are dropped; nothing else.
    Plain,
    /// Keys become UNIQUE (and NOT NULL), only the narrowest of overlapping UNIQUEs stay,
    /// conjunctions are split and `CHECK (x IS NOT NULL)` becomes NOT NULL.
    Normalized,
    /// That, and what the engine ignores: sizes of types in SQLite, NOT NULL on its row ids.
    Engine,
}

/// One demand of a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum NormalConstraint {
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
pub(super) struct Normalizer<'a> {
    schema: &'a Schema,
    dialect: &'static dyn Dialect,
    form: NormalForm,
    /// The facts of each constraint of each table of the original.
    facts: Vec<Vec<Vec<NormalConstraint>>>,
}

impl<'a> Normalizer<'a> {
    pub(super) fn new(schema: &'a Schema, dialect: &'static dyn Dialect, form: NormalForm) -> Self {
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
    pub(super) fn original(&self, table: usize) -> Vec<NormalConstraint> {
        let facts = self.facts[table].iter().flatten().cloned().collect();
        self.settled(facts, &self.schema.tables[table], None)
    }

    /// The normal form of a mutant's changed table.
    pub(super) fn mutant(&self, mutant: &Mutant) -> Vec<NormalConstraint> {
        let table = mutant.mutated_table();
        let left_out = match mutant.change {
            MutantChange::Constraint { original, .. } => original,
            MutantChange::Column { .. } => None,
        };
        let mut all: Vec<NormalConstraint> = self.facts[mutant.table]
            .iter()
            .enumerate()
            .filter(|(index, _)| Some(*index) != left_out)
            .flat_map(|(_, facts)| facts.iter().cloned())
            .collect();
        let mut added = Vec::new();
        match mutant.change {
            MutantChange::Constraint {
                mutated: Some(index),
                ..
            } => added = facts(&table.constraints[index], self.form),
            MutantChange::Constraint { mutated: None, .. } => {}
            MutantChange::Column { column } => added.extend(self.column_fact(mutant, column)),
        }
        all.extend(added.iter().cloned());
        self.settled(all, table, Some(&added))
    }

    fn column_fact(&self, mutant: &Mutant, column: usize) -> Option<NormalConstraint> {
        let original = &self.schema.tables[mutant.table];
        let changed = mutant.mutated_table();
        let (before, after) = (&original.columns[column], &changed.columns[column]);
        let same_to_engine = self.form == NormalForm::Engine
            && self.dialect.name() == DialectName::Sqlite
            && !changed.strict
            && before.default == after.default
            && same_affinity(&before.data_type, &after.data_type)
            && self.dialect.rowid_alias(original) == self.dialect.rowid_alias(changed);
        (!same_to_engine).then(|| {
            let text = format!("{:?} {:?}", after.data_type, after.default);
            NormalConstraint::Column(column, text.into())
        })
    }

    fn settled(
        &self,
        mut facts: Vec<NormalConstraint>,
        table: &Table,
        added: Option<&[NormalConstraint]>,
    ) -> Vec<NormalConstraint> {
        let admits_null = match self.form {
            // The peer knows no row ids and no WITHOUT ROWID: in its SQLite every key admits NULL.
            NormalForm::Plain | NormalForm::Normalized => {
                self.dialect.name() == DialectName::Sqlite
            }
            NormalForm::Engine => self.dialect.key_admits_null(table),
        };
        match self.form {
            NormalForm::Plain => self.drop_identical(&mut facts, admits_null, added),
            NormalForm::Normalized | NormalForm::Engine => {
                split_keys(&mut facts, admits_null);
                drop_wider(&mut facts);
            }
        }
        if self.form == NormalForm::Engine
            && let Some(alias) = self.dialect.rowid_alias(table)
        {
            facts.retain(|fact| *fact != NormalConstraint::NotNull(alias));
        }
        facts.sort_unstable();
        facts.dedup();
        facts
    }

    /// The rewrites of the peer's default pipeline.
    fn drop_identical(
        &self,
        facts: &mut Vec<NormalConstraint>,
        admits_null: bool,
        added: Option<&[NormalConstraint]>,
    ) {
        let Some(key) = facts.iter().find_map(|fact| match fact {
            NormalConstraint::Key(columns) => Some(columns.clone()),
            _ => None,
        }) else {
            return;
        };
        if !admits_null {
            facts.retain(
                |fact| !matches!(fact, NormalConstraint::NotNull(column) if key.contains(column)),
            );
        }
        let identical = |fact: &NormalConstraint| matches!(fact, NormalConstraint::Unique { columns, .. } if *columns == key);
        if !facts.iter().any(identical) {
            return;
        }
        let key = NormalConstraint::Key(key.clone());
        let added_key = added.is_some_and(|added| added.contains(&key));
        if added_key && self.dialect.name() == DialectName::Sqlite {
            facts.retain(|fact| *fact != key);
        } else {
            facts.retain(|fact| !identical(fact));
        }
    }
}

/// What one constraint demands.
fn facts(constraint: &Constraint, form: NormalForm) -> Vec<NormalConstraint> {
    match &constraint.kind {
        ConstraintKind::PrimaryKey { columns } => vec![NormalConstraint::Key(sorted(columns))],
        ConstraintKind::NotNull { column } => vec![NormalConstraint::NotNull(*column)],
        ConstraintKind::Unique {
            columns,
            nulls_distinct,
        } => vec![NormalConstraint::Unique {
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
            vec![NormalConstraint::ForeignKey {
                parent: key.parent,
                // MATCH FULL says nothing about a key of one column.
                match_full: key.match_full && pairs.len() > 1,
                pairs,
                on_delete: action(key.on_delete),
                on_update: action(key.on_update),
            }]
        }
        ConstraintKind::Check { expr } if form == NormalForm::Plain => vec![text(expr)],
        ConstraintKind::Check { expr } => {
            let mut facts = Vec::new();
            split(expr, &mut facts);
            facts
        }
        ConstraintKind::UniqueIndex { .. } => {
            vec![NormalConstraint::Expression(
                format!("{:?}", constraint.kind).into(),
            )]
        }
    }
}

/// A conjunction is refused exactly when one of its parts is.
fn split(expr: &Expr, facts: &mut Vec<NormalConstraint>) {
    match expr {
        Expr::And(parts) => parts.iter().for_each(|part| split(part, facts)),
        Expr::IsNull {
            expr: inner,
            negated: true,
        } => match inner.as_ref() {
            Expr::Column(column) => facts.push(NormalConstraint::NotNull(column.slot)),
            _ => facts.push(text(expr)),
        },
        _ => facts.push(text(expr)),
    }
}

fn text(expr: &Expr) -> NormalConstraint {
    NormalConstraint::Expression(format!("{expr:?}").into())
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

fn split_keys(facts: &mut Vec<NormalConstraint>, admits_null: bool) {
    let keys: Vec<Vec<usize>> = facts
        .iter()
        .filter_map(|fact| match fact {
            NormalConstraint::Key(columns) => Some(columns.clone()),
            _ => None,
        })
        .collect();
    facts.retain(|fact| !matches!(fact, NormalConstraint::Key(_)));
    for columns in keys {
        if !admits_null {
            facts.extend(
                columns
                    .iter()
                    .map(|column| NormalConstraint::NotNull(*column)),
            );
        }
        facts.push(NormalConstraint::Unique {
            columns,
            nulls_distinct: true,
        });
    }
}

/// Drops UNIQUEs that a narrower one implies.
fn drop_wider(facts: &mut Vec<NormalConstraint>) {
    let uniques: Vec<(Vec<usize>, bool)> = facts
        .iter()
        .filter_map(|fact| match fact {
            NormalConstraint::Unique {
                columns,
                nulls_distinct,
            } => Some((columns.clone(), *nulls_distinct)),
            _ => None,
        })
        .collect();
    facts.retain(|fact| {
        let NormalConstraint::Unique {
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
