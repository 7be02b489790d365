//! A table under test: its constraints, the predicates that satisfy them, and the columns in
//! question.

use isobath_sql::schema::{ConstraintKind, Filled};
use isobath_sql::{Dialect, Schema, Table};

use super::predicates::satisfied;
use crate::schema::enforced::{EnforcedConstraint, rules};
use crate::schema::predicate::Predicate;
use crate::schema::requirement::Requirement;

/// One table, its rules and their satisfied-predicates.
pub(super) struct TableUnderTest<'s> {
    /// Index of the table.
    pub(super) index: usize,
    /// The table.
    pub(super) table: &'s Table,
    schema: &'s Schema,
    /// Its rules in the order used everywhere.
    pub(super) rules: Vec<EnforcedConstraint>,
    satisfied: Vec<Predicate>,
    /// The SQLite row id, where NULL is replaced by a number.
    alias: Option<usize>,
    counts_on_null: bool,
    /// For each column, whether NULL is replaced by the time of day.
    stamped: Vec<bool>,
}

impl<'s> TableUnderTest<'s> {
    pub(super) fn new(schema: &'s Schema, index: usize, dialect: &dyn Dialect) -> Self {
        let table = &schema.tables[index];
        let rules = rules(table, dialect);
        let satisfied = rules.iter().map(|rule| satisfied(index, rule)).collect();
        Self {
            index,
            table,
            schema,
            rules,
            satisfied,
            alias: dialect.rowid_alias(table),
            counts_on_null: dialect.counts_on_null(),
            stamped: (0..table.columns.len())
                .map(|column| dialect.null_is_now(table, column))
                .collect(),
        }
    }

    /// The name of a table of the same schema.
    pub(super) fn table_name(&self, index: usize) -> &'s str {
        &self.schema.tables[index].name
    }

    /// All rules hold.
    ///
    /// Where the only rule is a key of one column, this stays apart from "the
    /// key differs from that of the row there", which asks the same of a row
    /// but with something to compare it with; the peer counts both.
    pub(super) fn all_hold(&self) -> Predicate {
        match (self.rules.as_slice(), self.satisfied.as_slice()) {
            ([rule], [only]) if matches!(&rule.kind, ConstraintKind::PrimaryKey { columns } if columns.len() == 1) => {
                Predicate::And(vec![only.clone()])
            }
            (_, satisfied) => Predicate::and(satisfied.iter().cloned()),
        }
    }

    /// All rules hold but those at the positions left out, and `own` holds in the place of the first of them.
    pub(super) fn others_hold(&self, left_out: &[usize], own: Predicate) -> Predicate {
        let mut own = Some(own);
        let mut parts = Vec::with_capacity(self.rules.len() + 1);
        for (position, satisfied) in self.satisfied.iter().enumerate() {
            if left_out.contains(&position) {
                parts.extend(own.take());
            } else {
                parts.push(satisfied.clone());
            }
        }
        parts.extend(own);
        Predicate::and(parts)
    }

    /// Whether an INSERT can give a column a value; otherwise only the database fills it.
    pub(super) fn is_askable(&self, column: usize) -> bool {
        !matches!(
            self.table.columns[column].filled,
            Filled::Generated(_) | Filled::CounterAlways
        )
    }

    /// Whether an INSERT can put NULL into a column, constraints aside.
    pub(super) fn admits_null(&self, column: usize) -> bool {
        let counts = matches!(self.table.columns[column].filled, Filled::Counter);
        self.is_askable(column)
            && self.alias != Some(column)
            && !(counts && self.counts_on_null)
            && !self.stamped[column]
    }

    /// Whether a rule compares the row with other rows of its table.
    pub(super) fn compares(rule: &EnforcedConstraint) -> bool {
        matches!(
            rule.kind,
            ConstraintKind::PrimaryKey { .. }
                | ConstraintKind::Unique { .. }
                | ConstraintKind::UniqueIndex { .. }
        )
    }

    /// A requirement on a row of this table; `description` completes "table accepts …" or "table rejects …".
    pub(super) fn requirement(
        &self,
        predicate: Predicate,
        outcome: RowVerdict,
        description: &str,
    ) -> Requirement {
        let name = &self.table.name;
        let (accepted, violates, verb) = match outcome {
            RowVerdict::Accepted => (Some(true), None, "accepts"),
            RowVerdict::Rejected(rule) => {
                (Some(false), Some(self.rules[rule].constraint), "rejects")
            }
            RowVerdict::RejectedSomehow => (Some(false), None, "rejects"),
            RowVerdict::Open => (None, None, "judges"),
        };
        Requirement {
            table: self.index,
            predicate,
            description: vec![format!("{name} {verb} {description}")],
            accepted,
            needs_comparison: false,
            violates,
        }
    }
}

/// What a requirement says about the row's fate.
#[derive(Clone, Copy)]
pub(super) enum RowVerdict {
    /// All rules hold.
    Accepted,
    /// Exactly the rule at this position fails.
    Rejected(usize),
    /// At least one rule fails.
    RejectedSomehow,
    /// The criterion leaves the other rules alone.
    Open,
}
