//! Checks one row against the constraints and the existing rows.

use super::{MemoryDatabase, Violation, ViolationKind};
use crate::eval::{self, EvalError, Unsupported};
use crate::schema::{Column, ConstraintKind, ForeignKey};
use crate::types::DataType;
use crate::value::Value;

impl MemoryDatabase<'_> {
    /// All constraints but foreign keys; `except` is the position of the row itself when it is already there.
    pub(super) fn check_row(
        &self,
        table: usize,
        values: &[Value],
        except: Option<usize>,
        violations: &mut Vec<Violation>,
    ) -> Result<(), Unsupported> {
        let definition = &self.schema.tables[table];
        let alias = self.dialect.rowid_alias(definition);
        for (index, constraint) in definition.constraints.iter().enumerate() {
            let mut refuse = |kind| {
                violations.push(Violation {
                    table,
                    constraint: Some(index),
                    kind,
                })
            };
            match &constraint.kind {
                ConstraintKind::NotNull { column } => {
                    if values[*column].is_null() && alias != Some(*column) {
                        refuse(ViolationKind::Null { column: *column });
                    }
                }
                ConstraintKind::PrimaryKey { columns } => {
                    let missing = columns.iter().find(|column| values[**column].is_null());
                    match missing {
                        Some(_) if self.dialect.key_admits_null(definition) => {}
                        Some(column) => refuse(ViolationKind::Null { column: *column }),
                        None if self.has_duplicate(table, columns, values, except) => {
                            refuse(ViolationKind::Duplicate)
                        }
                        None => {}
                    }
                }
                ConstraintKind::Unique {
                    columns,
                    nulls_distinct,
                } => {
                    let exempt =
                        *nulls_distinct && columns.iter().any(|column| values[*column].is_null());
                    if !exempt && self.has_duplicate(table, columns, values, except) {
                        refuse(ViolationKind::Duplicate);
                    }
                }
                ConstraintKind::UniqueIndex {
                    keys,
                    predicate,
                    nulls_distinct,
                } => {
                    if self.has_index_duplicate(
                        table,
                        keys,
                        predicate.as_ref(),
                        *nulls_distinct,
                        values,
                        except,
                    )? {
                        refuse(ViolationKind::Duplicate);
                    }
                }
                ConstraintKind::Check { expr } => match eval::verdict(expr, values, self.dialect) {
                    Ok(Some(false)) => refuse(ViolationKind::CheckFalse),
                    Ok(_) => {}
                    Err(EvalError::Raised(raised)) => refuse(ViolationKind::Raises(raised)),
                    Err(EvalError::Unsupported(unsupported)) => return Err(unsupported),
                },
                ConstraintKind::ForeignKey(_) => {}
            }
        }
        Ok(())
    }

    /// The foreign keys of a row; the row itself counts as a parent.
    pub(super) fn check_parents(
        &self,
        table: usize,
        values: &[Value],
        violations: &mut Vec<Violation>,
    ) {
        for (index, constraint) in self.schema.tables[table].constraints.iter().enumerate() {
            let ConstraintKind::ForeignKey(key) = &constraint.kind else {
                continue;
            };
            if !self.has_parent(table, key, values) {
                violations.push(Violation {
                    table,
                    constraint: Some(index),
                    kind: ViolationKind::NoParent,
                });
            }
        }
    }

    pub(super) fn has_parent(&self, table: usize, key: &ForeignKey, values: &[Value]) -> bool {
        let nulls = key
            .columns
            .iter()
            .filter(|column| values[**column].is_null())
            .count();
        if nulls > 0 {
            return !key.match_full || nulls == key.columns.len();
        }
        let itself = (key.parent == table).then_some(values);
        self.rows[key.parent]
            .iter()
            .map(Vec::as_slice)
            .chain(itself)
            .any(|parent| self.refers(table, key, values, parent))
    }

    /// Whether a child row's key equals a parent row's; NULL on the parent side matches nothing.
    pub(super) fn refers(
        &self,
        table: usize,
        key: &ForeignKey,
        child: &[Value],
        parent: &[Value],
    ) -> bool {
        let referring = &self.schema.tables[table];
        let definition = &self.schema.tables[key.parent];
        key.columns
            .iter()
            .zip(&key.parent_columns)
            .all(|(own, other)| {
                !child[*own].is_null()
                    && !parent[*other].is_null()
                    && self.dialect.duplicates(
                        &child[*own],
                        &parent[*other],
                        compared_as(&referring.columns[*own], &definition.columns[*other]),
                    )
            })
    }

    /// Whether a row, as stored, repeats a row that is there under a unique constraint of its table;
    /// never for constraints of other kinds.
    ///
    /// # Errors
    ///
    /// When an index expression is outside what we evaluate.
    pub fn is_duplicate(
        &self,
        table: usize,
        constraint: usize,
        values: &[Value],
    ) -> Result<bool, Unsupported> {
        let kind = &self.schema.tables[table].constraints[constraint].kind;
        let has_null = |columns: &[usize]| columns.iter().any(|column| values[*column].is_null());
        match kind {
            ConstraintKind::PrimaryKey { columns } => {
                Ok(!has_null(columns) && self.has_duplicate(table, columns, values, None))
            }
            ConstraintKind::Unique {
                columns,
                nulls_distinct,
            } => Ok(!(*nulls_distinct && has_null(columns))
                && self.has_duplicate(table, columns, values, None)),
            ConstraintKind::UniqueIndex {
                keys,
                predicate,
                nulls_distinct,
            } => self.has_index_duplicate(
                table,
                keys,
                predicate.as_ref(),
                *nulls_distinct,
                values,
                None,
            ),
            ConstraintKind::NotNull { .. }
            | ConstraintKind::ForeignKey(_)
            | ConstraintKind::Check { .. } => Ok(false),
        }
    }

    fn has_duplicate(
        &self,
        table: usize,
        columns: &[usize],
        values: &[Value],
        except: Option<usize>,
    ) -> bool {
        let definition = &self.schema.tables[table];
        self.others(table, except).any(|row| {
            columns
                .iter()
                .all(|column| match (&values[*column], &row[*column]) {
                    (Value::Null, Value::Null) => true,
                    (Value::Null, _) | (_, Value::Null) => false,
                    (a, b) => self.dialect.duplicates(a, b, &definition.columns[*column]),
                })
        })
    }

    fn has_index_duplicate(
        &self,
        table: usize,
        keys: &[crate::Expr],
        predicate: Option<&crate::Expr>,
        nulls_distinct: bool,
        values: &[Value],
        except: Option<usize>,
    ) -> Result<bool, Unsupported> {
        let Some(own) = self.index_key(keys, predicate, values)? else {
            return Ok(false);
        };
        if nulls_distinct && own.iter().any(Value::is_null) {
            return Ok(false);
        }
        for row in self.others(table, except) {
            if self
                .index_key(keys, predicate, row)?
                .is_some_and(|other| eval::same_keys(&own, &other, keys, self.dialect))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The key of a row in an index over expressions; `None` when the index does not hold the row.
    fn index_key(
        &self,
        keys: &[crate::Expr],
        predicate: Option<&crate::Expr>,
        values: &[Value],
    ) -> Result<Option<Vec<Value>>, Unsupported> {
        // An error raised while an index is maintained refuses the row as well, but it is no
        // duplicate; such rows are outside what we promise to judge.
        let unsupported = |stop| match stop {
            EvalError::Unsupported(unsupported) => unsupported,
            EvalError::Raised(raised) => {
                Unsupported::new(format!("an index expression that raises: {raised}"))
            }
        };
        if let Some(predicate) = predicate {
            let truth = eval::truth(predicate, values, self.dialect).map_err(unsupported)?;
            if truth.verdict() != Some(true) {
                return Ok(None);
            }
        }
        keys.iter()
            .map(|key| eval::value(key, values, self.dialect).map_err(unsupported))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    fn others(&self, table: usize, except: Option<usize>) -> impl Iterator<Item = &[Value]> {
        self.rows[table]
            .iter()
            .enumerate()
            .filter(move |(index, _)| Some(*index) != except)
            .map(|(_, row)| row.as_slice())
    }
}

/// The column whose type decides how a referring value is compared: blanks do not count as soon as one side is CHAR.
pub fn compared_as<'a>(own: &'a Column, other: &'a Column) -> &'a Column {
    if matches!(own.data_type, DataType::Char { .. }) && other.data_type.is_text() {
        own
    } else {
        other
    }
}
