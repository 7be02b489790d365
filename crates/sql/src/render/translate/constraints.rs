//! Translates constraints that the target engine lacks or expresses differently.

use super::Translation;
use crate::dialect::DialectName;
use crate::render::table::prefix_part;
use crate::schema::{Action, Constraint, ConstraintKind, Deferrable, Filled, ForeignKey};
use crate::types::DataType;

impl Translation {
    /// Takes out or changes what the engine does not host.
    pub(super) fn constraints(&mut self) {
        for table in 0..self.tables.len() {
            let constraints = self.tables[table].constraints.clone();
            let mut kept = Vec::with_capacity(constraints.len());
            for mut constraint in constraints {
                if self.host(table, &mut constraint) && !self.is_double(table, &constraint, &kept) {
                    kept.push(constraint);
                }
            }
            self.tables[table].constraints = kept;
        }
    }

    /// PostgreSQL makes one index of keys over the same columns, and knows it by one name.
    fn is_double(&mut self, table: usize, constraint: &Constraint, kept: &[Constraint]) -> bool {
        let ConstraintKind::Unique {
            columns,
            nulls_distinct: true,
        } = &constraint.kind
        else {
            return false;
        };
        let later_key = self.tables[table].primary_key() == Some(columns)
            && constraint.deferrable == Deferrable::No;
        let double = self.to == DialectName::Postgres
            && (later_key
                || kept.iter().any(|of| {
                    of.kind == constraint.kind && of.deferrable == constraint.deferrable
                }));
        if double {
            let label = self.tables[table].name.clone();
            self.change(
                &constraint.location,
                label,
                "PostgreSQL keeps one index for two keys over the same columns",
            );
        }
        double
    }

    fn host(&mut self, table: usize, constraint: &mut Constraint) -> bool {
        let place = constraint.location.clone();
        let label = self.tables[table].name.clone();
        let foreign = matches!(constraint.kind, ConstraintKind::ForeignKey(_));
        let defers = match self.to {
            DialectName::Postgres | DialectName::Ansi => true,
            DialectName::Sqlite => foreign,
            DialectName::MySql => false,
        };
        if !defers && constraint.deferrable != Deferrable::No {
            constraint.deferrable = Deferrable::No;
            let why = format!("{} checks it at once", self.engine());
            self.loss(&place, label.clone(), why);
        }
        match &mut constraint.kind {
            ConstraintKind::Unique { nulls_distinct, .. } => {
                if !*nulls_distinct && self.to != DialectName::Postgres {
                    *nulls_distinct = true;
                    let why = format!("NULLs differ from each other in {}", self.engine());
                    self.loss(&place, label, why);
                }
                true
            }
            ConstraintKind::UniqueIndex {
                keys,
                predicate,
                nulls_distinct,
            } => {
                if !*nulls_distinct && self.to != DialectName::Postgres {
                    *nulls_distinct = true;
                    let why = format!("NULLs differ from each other in {}", self.engine());
                    self.loss(&place, label.clone(), why);
                }
                let hosted = self.to != DialectName::MySql
                    || (predicate.is_none() && keys.iter().all(|key| prefix_part(key).is_some()));
                if !hosted {
                    self.loss(
                        &place,
                        label,
                        "MariaDB has no unique index over expressions or part of the rows, so it is dropped",
                    );
                }
                hosted
            }
            ConstraintKind::ForeignKey(key) => {
                let mut key = key.clone();
                let hosted = self.foreign_key(table, &mut key, constraint);
                constraint.kind = ConstraintKind::ForeignKey(key);
                hosted
            }
            ConstraintKind::PrimaryKey { .. }
            | ConstraintKind::NotNull { .. }
            | ConstraintKind::Check { .. } => true,
        }
    }

    fn foreign_key(&mut self, table: usize, key: &mut ForeignKey, of: &Constraint) -> bool {
        let place = of.location.clone();
        let label = format!(
            "{} -> {}",
            self.tables[table].name, self.tables[key.parent].name
        );
        if key.match_full && self.to != DialectName::Postgres {
            key.match_full = false;
            let why = format!("{} has no MATCH FULL, so one NULL is enough", self.engine());
            self.loss(&place, label.clone(), why);
        }
        if self.to == DialectName::MySql {
            self.mysql_actions(table, key, of, &label);
        }
        if !self.has_parent_key(key) {
            let why = format!(
                "{} wants a key over the columns referred to, so it is dropped",
                self.engine()
            );
            self.loss(&place, label, why);
            return false;
        }
        if self.to != DialectName::Sqlite && !self.types_agree(table, key) {
            let why = format!(
                "{} wants both ends to be of one type, so it is dropped",
                self.engine()
            );
            self.loss(&place, label, why);
            return false;
        }
        true
    }

    /// MariaDB has no SET DEFAULT, no SET NULL for columns that are never NULL, and changes none that a
    /// condition reads.
    fn mysql_actions(&mut self, table: usize, key: &mut ForeignKey, of: &Constraint, label: &str) {
        let never_null = {
            let of = &self.tables[table];
            key.columns.iter().any(|&slot| {
                of.is_not_null(slot) || of.primary_key().is_some_and(|key| key.contains(&slot))
            })
        };
        // What a condition or a generated column reads must not change behind its back.
        let read = key
            .columns
            .iter()
            .any(|&slot| self.in_condition(table, slot));
        let mut changed = false;
        for (action, cascades) in [(&mut key.on_delete, false), (&mut key.on_update, true)] {
            let impossible = match *action {
                Action::SetDefault => true,
                Action::SetNull => never_null || read,
                Action::Cascade => cascades && read,
                Action::NoAction | Action::Restrict => false,
            };
            if impossible {
                *action = Action::NoAction;
                changed = true;
            }
        }
        if changed {
            self.loss(
                &of.location,
                label.to_owned(),
                "MariaDB cannot set these columns, so it refuses instead",
            );
        }
    }

    /// Whether a CHECK or a generated column of the table reads a column.
    pub(super) fn in_condition(&self, table: usize, slot: usize) -> bool {
        let table = &self.tables[table];
        table.constraints.iter().any(|constraint| {
            matches!(constraint.kind, ConstraintKind::Check { .. })
                && constraint.columns().contains(&slot)
        }) || table.columns.iter().any(|column| {
            matches!(&column.filled, Filled::Generated(expr) if expr.columns().contains(&slot))
        })
    }

    /// Whether a key stands on the columns referred to: unique, or in MariaDB any that starts with them.
    fn has_parent_key(&self, key: &ForeignKey) -> bool {
        let mut wanted = key.parent_columns.clone();
        wanted.sort_unstable();
        self.tables[key.parent]
            .constraints
            .iter()
            .any(|constraint| {
                let (ConstraintKind::PrimaryKey { columns }
                | ConstraintKind::Unique { columns, .. }) = &constraint.kind
                else {
                    return false;
                };
                // MariaDB takes a key that starts with the columns, in their order.
                if self.to == DialectName::MySql {
                    return columns.starts_with(&key.parent_columns);
                }
                let mut columns = columns.clone();
                columns.sort_unstable();
                columns == wanted
            })
    }

    fn types_agree(&self, table: usize, key: &ForeignKey) -> bool {
        let class = |data_type: &DataType| match data_type {
            DataType::Char { .. } | DataType::Varchar { .. } | DataType::Text => "text".to_owned(),
            of if of.is_numeric() => "number".to_owned(),
            DataType::Bytes { .. } => "bytes".to_owned(),
            DataType::Timestamp { .. } => "timestamp".to_owned(),
            DataType::Time { .. } => "time".to_owned(),
            other => format!("{other:?}"),
        };
        key.columns
            .iter()
            .zip(&key.parent_columns)
            .all(|(&own, &other)| {
                let own = &self.tables[table].columns[own].data_type;
                let other = &self.tables[key.parent].columns[other].data_type;
                class(own) == class(other)
            })
    }
}
