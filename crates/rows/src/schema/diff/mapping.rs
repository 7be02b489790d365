//! Maps the tables and columns of two schema versions by name.

use std::sync::Arc;

use isobath_sql::row::Statement;
use isobath_sql::schema::{Constraint, ConstraintKind, Filled, ForeignKey, Schema};
use isobath_sql::{Cell, DataType, Expr, Row};

/// Two schemas and which tables and columns of them are the same.
pub(super) struct SchemaMapping<'a> {
    pub(super) old: &'a Schema,
    pub(super) new: &'a Schema,
    /// For each old table, the new one.
    tables: Vec<Option<usize>>,
    /// For each old table and column, the new column.
    columns: Vec<Vec<Option<usize>>>,
}

impl<'a> SchemaMapping<'a> {
    pub(super) fn new(old: &'a Schema, new: &'a Schema) -> Self {
        let tables: Vec<Option<usize>> = old
            .tables
            .iter()
            .map(|table| new.table_index(&table.name))
            .collect();
        let columns = old
            .tables
            .iter()
            .zip(&tables)
            .map(|(table, matched)| {
                table
                    .columns
                    .iter()
                    .map(|column| new.tables[(*matched)?].column_index(&column.name))
                    .collect()
            })
            .collect();
        Self {
            old,
            new,
            tables,
            columns,
        }
    }

    /// The new table that an old one became.
    pub(super) fn table(&self, old: usize) -> Option<usize> {
        self.tables[old]
    }

    /// A statement for the old schema as the new one takes it; `None` when it names what is gone.
    pub(super) fn statement(&self, statement: &Statement) -> Option<Statement> {
        let columns = |table: usize| &self.columns[table];
        Some(match statement {
            Statement::Insert(row) => Statement::Insert(self.row(row)?),
            Statement::InsertTogether(rows) => Statement::InsertTogether(
                rows.iter()
                    .map(|row| self.row(row))
                    .collect::<Option<_>>()?,
            ),
            Statement::Update { table, set, only } => Statement::Update {
                table: self.tables[*table]?,
                set: set
                    .iter()
                    .map(|(column, cell)| Some((columns(*table)[*column]?, cell.clone())))
                    .collect::<Option<_>>()?,
                only: only
                    .iter()
                    .map(|(column, value)| Some((columns(*table)[*column]?, value.clone())))
                    .collect::<Option<_>>()?,
            },
            Statement::Delete { table, only } => Statement::Delete {
                table: self.tables[*table]?,
                only: only
                    .iter()
                    .map(|(column, value)| Some((columns(*table)[*column]?, value.clone())))
                    .collect::<Option<_>>()?,
            },
        })
    }

    /// A row with its columns in their new places; new columns are left out, and columns that are
    /// gone are not given.
    fn row(&self, row: &Row) -> Option<Row> {
        let table = self.tables[row.table]?;
        let mut cells = vec![Cell::Default; self.new.tables[table].columns.len()];
        for (column, cell) in row.cells.iter().enumerate() {
            if let Some(place) = self.columns[row.table][column] {
                cells[place] = cell.clone();
            }
        }
        Some(Row { table, cells })
    }

    /// Constraints of an old table that went (by index), and those that came, in old terms.
    ///
    /// New constraints over new columns cannot be said in old terms and are left to other checks.
    pub(super) fn constraints(&self, table: usize) -> (Vec<usize>, Vec<Constraint>) {
        let Some(matched) = self.tables[table] else {
            return (Vec::new(), Vec::new());
        };
        let translated: Vec<Constraint> = self.new.tables[matched]
            .constraints
            .iter()
            .filter_map(|constraint| self.translated(table, constraint))
            .collect();
        let before = &self.old.tables[table].constraints;
        let removed = before
            .iter()
            .enumerate()
            .filter(|(_, old)| !translated.iter().any(|new| says_same(&old.kind, &new.kind)))
            .map(|(index, _)| index)
            .collect();
        let added = translated
            .into_iter()
            .filter(|new| !before.iter().any(|old| says_same(&old.kind, &new.kind)))
            .collect();
        (removed, added)
    }

    /// Columns whose types differ, with the new type.
    pub(super) fn changed_types(&self, table: usize) -> Vec<(usize, DataType)> {
        let Some(matched) = self.tables[table] else {
            return Vec::new();
        };
        self.old.tables[table]
            .columns
            .iter()
            .enumerate()
            .filter_map(|(index, column)| {
                let new = &self.new.tables[matched].columns[self.columns[table][index]?];
                (new.data_type != column.data_type).then(|| (index, new.data_type.clone()))
            })
            .collect()
    }

    /// A new column that must have a value and gets none unless one is given.
    pub(super) fn unfilled_column(&self, table: usize) -> Option<String> {
        let new = &self.new.tables[self.tables[table]?];
        let added = |column: &usize| !self.columns[table].contains(&Some(*column));
        (0..new.columns.len())
            .filter(added)
            .find(|column| {
                let definition = &new.columns[*column];
                let required = new.is_not_null(*column)
                    || new.primary_key().is_some_and(|key| key.contains(column));
                required && definition.default.is_none() && definition.filled == Filled::No
            })
            .map(|column| {
                format!(
                    "`{}` now has `{}`, which must have a value and has no DEFAULT",
                    new.name, new.columns[column].name
                )
            })
    }

    /// The old schema with the new constraints added: its rows are good under both.
    pub(super) fn both(&self) -> Schema {
        let mut both = self.old.clone();
        for (index, table) in both.tables.iter_mut().enumerate() {
            let (_, added) = self.constraints(index);
            Arc::make_mut(table).constraints.extend(added);
        }
        both
    }

    /// What came, went or changed among tables and columns, one sentence each.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (index, table) in self.old.tables.iter().enumerate() {
            let Some(matched) = self.tables[index] else {
                notes.push(format!("table `{}` was removed", table.name));
                continue;
            };
            let new = &self.new.tables[matched];
            for (column, definition) in table.columns.iter().enumerate() {
                match self.columns[index][column] {
                    None => notes.push(format!(
                        "`{}` of `{}` was removed",
                        definition.name, table.name
                    )),
                    Some(place) if new.columns[place].default != definition.default => {
                        notes.push(format!(
                            "`{}` of `{}` has another DEFAULT",
                            definition.name, table.name
                        ));
                    }
                    Some(_) => {}
                }
            }
            for (column, definition) in new.columns.iter().enumerate() {
                if !self.columns[index].contains(&Some(column)) {
                    notes.push(format!("`{}` of `{}` is new", definition.name, new.name));
                }
            }
            notes.extend(self.action_notes(index));
        }
        for (index, table) in self.new.tables.iter().enumerate() {
            if !self.tables.contains(&Some(index)) {
                notes.push(format!("table `{}` is new", table.name));
            }
        }
        notes
    }

    fn action_notes(&self, table: usize) -> Vec<String> {
        let Some(matched) = self.tables[table] else {
            return Vec::new();
        };
        let keys: Vec<ForeignKey> = self.new.tables[matched]
            .constraints
            .iter()
            .filter_map(
                |constraint| match self.translated(table, constraint)?.kind {
                    ConstraintKind::ForeignKey(key) => Some(key),
                    _ => None,
                },
            )
            .collect();
        let before = &self.old.tables[table];
        before
            .foreign_keys()
            .filter(|old| {
                keys.iter().any(|new| {
                    same_reference(old, new)
                        && (old.on_delete != new.on_delete || old.on_update != new.on_update)
                })
            })
            .map(|key| {
                format!(
                    "the foreign key of `{}` to `{}` acts otherwise on DELETE or UPDATE",
                    before.name, self.old.tables[key.parent].name
                )
            })
            .collect()
    }

    /// A constraint of the new version in terms of the old one, if it can be said there.
    fn translated(&self, table: usize, constraint: &Constraint) -> Option<Constraint> {
        let back = |columns: &[usize]| self.back(table, columns);
        let kind = match &constraint.kind {
            ConstraintKind::PrimaryKey { columns } => ConstraintKind::PrimaryKey {
                columns: back(columns)?,
            },
            ConstraintKind::NotNull { column } => ConstraintKind::NotNull {
                column: back(&[*column])?.pop()?,
            },
            ConstraintKind::Unique {
                columns,
                nulls_distinct,
            } => ConstraintKind::Unique {
                columns: back(columns)?,
                nulls_distinct: *nulls_distinct,
            },
            ConstraintKind::UniqueIndex {
                keys,
                predicate,
                nulls_distinct,
            } => ConstraintKind::UniqueIndex {
                keys: keys
                    .iter()
                    .map(|key| self.expr(table, key))
                    .collect::<Option<_>>()?,
                predicate: match predicate {
                    Some(predicate) => Some(self.expr(table, predicate)?),
                    None => None,
                },
                nulls_distinct: *nulls_distinct,
            },
            ConstraintKind::ForeignKey(key) => {
                let parent = self
                    .tables
                    .iter()
                    .position(|new| *new == Some(key.parent))?;
                ConstraintKind::ForeignKey(ForeignKey {
                    columns: back(&key.columns)?,
                    parent,
                    parent_columns: self.back(parent, &key.parent_columns)?,
                    ..key.clone()
                })
            }
            ConstraintKind::Check { expr } => ConstraintKind::Check {
                expr: self.expr(table, expr)?,
            },
        };
        Some(Constraint {
            kind,
            ..constraint.clone()
        })
    }

    /// New columns of a table in their old places.
    fn back(&self, table: usize, columns: &[usize]) -> Option<Vec<usize>> {
        columns
            .iter()
            .map(|column| {
                self.columns[table]
                    .iter()
                    .position(|new| *new == Some(*column))
            })
            .collect()
    }

    fn expr(&self, table: usize, expr: &Expr) -> Option<Expr> {
        let mut expr = expr.clone();
        self.relocate(table, &mut expr)?;
        Some(expr)
    }

    fn relocate(&self, table: usize, expr: &mut Expr) -> Option<()> {
        match expr {
            Expr::Column(column) => {
                column.slot = self.back(table, &[column.slot])?.pop()?;
                // Written in the old column's name and type, so that the same text is the same value.
                let old = &self.old.tables[table].columns[column.slot];
                column.name.clone_from(&old.name);
                column.data_type = old.data_type.clone();
                column.collation.clone_from(&old.collation);
            }
            Expr::Opaque { columns, .. } => *columns = self.back(table, columns)?,
            _ => {}
        }
        for child in expr.children_mut() {
            self.relocate(table, child)?;
        }
        Some(())
    }
}

/// Whether two constraints demand the same of rows, by their structure.
fn says_same(a: &ConstraintKind, b: &ConstraintKind) -> bool {
    let same_set =
        |a: &[usize], b: &[usize]| a.len() == b.len() && a.iter().all(|column| b.contains(column));
    match (a, b) {
        (ConstraintKind::PrimaryKey { columns: a }, ConstraintKind::PrimaryKey { columns: b }) => {
            same_set(a, b)
        }
        (
            ConstraintKind::Unique {
                columns: a,
                nulls_distinct: na,
            },
            ConstraintKind::Unique {
                columns: b,
                nulls_distinct: nb,
            },
        ) => na == nb && same_set(a, b),
        (ConstraintKind::ForeignKey(a), ConstraintKind::ForeignKey(b)) => same_reference(a, b),
        (a, b) => a == b,
    }
}

fn same_reference(a: &ForeignKey, b: &ForeignKey) -> bool {
    let pairs = |key: &ForeignKey| {
        let mut pairs: Vec<(usize, usize)> = key
            .columns
            .iter()
            .copied()
            .zip(key.parent_columns.iter().copied())
            .collect();
        pairs.sort_unstable();
        pairs
    };
    a.parent == b.parent && a.match_full == b.match_full && pairs(a) == pairs(b)
}
