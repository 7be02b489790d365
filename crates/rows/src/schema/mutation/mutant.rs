//! Mutants: schemas with one small change.

use isobath_sql::schema::{Constraint, ConstraintKind, Schema, Table};
use isobath_sql::{Column, Dialect};

use super::operator::{Operator, OperatorSet};
use super::{check, column, foreign_key, key};

/// A schema that is wrong in one place.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// What kind of change it is.
    pub operator: Operator,
    /// The changed table.
    pub table: usize,
    /// The change, as a sentence without a full stop.
    pub description: String,
    /// What was changed in the table.
    pub change: MutantChange,
    /// The changed schema; all tables but one are shared with the original.
    pub schema: Schema,
}

/// What a mutant changed in its table.
///
/// Constraints keep their order: one that is removed moves the later ones up,
/// and one that is added comes last.
#[derive(Clone, Debug, PartialEq)]
pub enum MutantChange {
    /// A constraint is gone, is there in addition, or is another one.
    Constraint {
        /// Index of the original constraint that no longer holds.
        original: Option<usize>,
        /// Index, in the mutant, of the constraint that holds instead or in addition.
        mutated: Option<usize>,
    },
    /// A column is another one.
    Column {
        /// Its index.
        column: usize,
    },
}

impl Mutant {
    /// The table as the mutant has it.
    pub fn mutated_table(&self) -> &Table {
        &self.schema.tables[self.table]
    }

    /// The constraint that the mutant has instead, or in addition.
    pub fn mutated_constraint(&self) -> Option<&Constraint> {
        match self.change {
            MutantChange::Constraint {
                mutated: Some(index),
                ..
            } => self.mutated_table().constraints.get(index),
            _ => None,
        }
    }
}

/// All mutants of a schema, table by table, in the order of the operators.
pub fn mutants(schema: &Schema, dialect: &'static dyn Dialect, set: OperatorSet) -> Vec<Mutant> {
    let mut found = Vec::new();
    for table in 0..schema.tables.len() {
        for operator in set.operators() {
            let mut site = MutationSite {
                schema,
                dialect,
                index: table,
                table: &schema.tables[table],
                operator,
                found: &mut found,
            };
            site.apply();
        }
    }
    found
}

/// Where an operator is at work, and where its mutants go.
pub(super) struct MutationSite<'a> {
    pub(super) schema: &'a Schema,
    pub(super) dialect: &'static dyn Dialect,
    pub(super) index: usize,
    pub(super) table: &'a Table,
    operator: Operator,
    found: &'a mut Vec<Mutant>,
}

impl MutationSite<'_> {
    fn apply(&mut self) {
        match self.operator {
            Operator::CheckRemoval => check::remove(self),
            Operator::CheckInElementRemoval => check::remove_elements(self),
            Operator::CheckRelationalExchange => check::exchange_comparisons(self),
            Operator::CheckConstant => check::shift_constants(self),
            Operator::CheckBound => check::shift_bounds(self),
            Operator::CheckConnective => check::swap_connectives(self),
            Operator::CheckNegation => check::negate(self),
            Operator::ForeignKeyPairAdd => foreign_key::add_pairs(self),
            Operator::ForeignKeyPairRemove => foreign_key::remove_pairs(self),
            Operator::ForeignKeyPairExchange => foreign_key::exchange_pairs(self),
            Operator::ForeignKeyAction => foreign_key::change_actions(self),
            Operator::PrimaryKeyColumnAdd => key::add_to_primary_key(self),
            Operator::PrimaryKeyColumnRemove => key::remove_from_primary_key(self),
            Operator::PrimaryKeyColumnExchange => key::exchange_in_primary_key(self),
            Operator::NotNullAdd => key::add_not_null(self),
            Operator::NotNullRemove => key::remove_not_null(self),
            Operator::UniqueColumnAdd => key::add_to_unique(self),
            Operator::UniqueColumnRemove => key::remove_from_unique(self),
            Operator::UniqueColumnExchange => key::exchange_in_unique(self),
            Operator::IndexPredicateRemoval => key::remove_index_predicate(self),
            Operator::ColumnType => column::change_types(self),
            Operator::DefaultRemoval => column::remove_defaults(self),
        }
    }

    /// The name of a column, quoted for a sentence.
    pub(super) fn column(&self, column: usize) -> String {
        format!("`{}`", self.table.columns[column].name)
    }

    /// The names of columns, quoted for a sentence.
    pub(super) fn columns(&self, columns: &[usize]) -> String {
        names(self.table, columns)
    }

    /// The constraints of the table with their indices.
    pub(super) fn constraints(&self) -> Vec<(usize, Constraint)> {
        self.table.constraints.iter().cloned().enumerate().collect()
    }

    /// A mutant in which a constraint demands something else.
    pub(super) fn replace(&mut self, index: usize, kind: ConstraintKind, description: String) {
        let mut table = self.table.clone();
        table.constraints[index].kind = kind;
        let change = MutantChange::Constraint {
            original: Some(index),
            mutated: Some(index),
        };
        self.push(table, change, description);
    }

    /// A mutant in which a constraint is gone.
    pub(super) fn remove(&mut self, index: usize, description: String) {
        let mut table = self.table.clone();
        table.constraints.remove(index);
        let change = MutantChange::Constraint {
            original: Some(index),
            mutated: None,
        };
        self.push(table, change, description);
    }

    /// A mutant with one constraint more.
    pub(super) fn add(&mut self, kind: ConstraintKind, description: String) {
        let mut table = self.table.clone();
        table.constraints.push(Constraint::unnamed(kind));
        let change = MutantChange::Constraint {
            original: None,
            mutated: Some(table.constraints.len() - 1),
        };
        self.push(table, change, description);
    }

    /// A mutant in which a column is another one.
    pub(super) fn replace_column(&mut self, index: usize, column: Column, description: String) {
        let mut table = self.table.clone();
        table.columns[index] = column;
        self.push(table, MutantChange::Column { column: index }, description);
    }

    fn push(&mut self, table: Table, change: MutantChange, description: String) {
        self.found.push(Mutant {
            operator: self.operator,
            table: self.index,
            description,
            change,
            schema: self.schema.with_table(self.index, table),
        });
    }
}

/// The names of a table's columns, quoted and joined for a sentence.
pub(super) fn names(table: &Table, columns: &[usize]) -> String {
    let names: Vec<String> = columns
        .iter()
        .map(|column| format!("`{}`", table.columns[*column].name))
        .collect();
    names.join(", ")
}
