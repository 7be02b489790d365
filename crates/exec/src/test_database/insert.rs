//! Inserts the rows of a candidate.

use isobath_sql::render::{identifier, insert};
use isobath_sql::row::Cell;
use isobath_sql::{DialectName, Row, Table, Value};

use super::{Tables, TestDatabase};
use crate::database::{Database, DatabaseError, Refusal};

/// A cell that takes the value that another row got, for keys that the database makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The row whose cell it is.
    pub row: usize,
    /// The column of the cell.
    pub column: usize,
    /// The row that is referred to, which stands before.
    pub of_row: usize,
    /// The column whose value is taken.
    pub of_column: usize,
}

/// A row that the database refused; none of the rows is there then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {row} was rejected: {refusal}")]
pub struct Unfit {
    /// Which of the rows.
    pub row: usize,
    /// Why.
    pub refusal: Refusal,
}

impl TestDatabase {
    /// Inserts rows in the given order, all or none, and returns each as it is stored, defaults and keys included.
    ///
    /// What is inserted counts as there for the next [`detect_changes`](Self::detect_changes); whoever inserts into a table resets
    /// it afterwards.
    ///
    /// # Errors
    ///
    /// When the connection is lost. A row that is refused is data.
    pub fn insert(
        &mut self,
        rows: &[Row],
        references: &[Reference],
    ) -> Result<Result<Vec<Vec<Value>>, Unfit>, DatabaseError> {
        if rows.is_empty() {
            return Ok(Ok(Vec::new()));
        }
        // Whatever others wrote meanwhile must not be taken for ours.
        self.detect_changes(&Tables::new())?;
        self.database.execute_required(match self.dialect() {
            // Not refused later because the service writes meanwhile.
            DialectName::Sqlite => "BEGIN IMMEDIATE",
            _ => "BEGIN",
        })?;
        let mut stored: Vec<Vec<Value>> = Vec::with_capacity(rows.len());
        for (at, row) in rows.iter().enumerate() {
            let mut row = row.clone();
            for reference in references.iter().filter(|reference| reference.row == at) {
                let value = stored
                    .get(reference.of_row)
                    .and_then(|of| of.get(reference.of_column));
                if let (Some(value), Some(cell)) = (value, row.cells.get_mut(reference.column)) {
                    *cell = Cell::Value(value.clone());
                }
            }
            match self.insert_one(&row)? {
                Ok(row) => stored.push(row),
                Err(refusal) => {
                    self.database.rollback()?;
                    return Ok(Err(Unfit { row: at, refusal }));
                }
            }
        }
        if let Err(error) = self.database.execute_required("COMMIT") {
            // A deferred constraint speaks up here; it concerns the rows together, so the last one is named.
            let _ = self.database.rollback();
            return match error {
                DatabaseError::Refused { refusal, .. } => Ok(Err(Unfit {
                    row: rows.len() - 1,
                    refusal: *refusal,
                })),
                other => Err(other),
            };
        }
        let tables: Tables = rows.iter().map(|row| row.table).collect();
        let after = self.read(&tables)?;
        self.image.take_over(after);
        self.change_stamp = super::ChangeStamp::read(self.database.as_mut())?;
        Ok(Ok(stored))
    }

    /// Inserts one row and reads it back.
    fn insert_one(&mut self, row: &Row) -> Result<Result<Vec<Value>, Refusal>, DatabaseError> {
        let dialect = self.database.dialect();
        let sql = insert(&self.schema, row, dialect);
        let Some(table) = self.schema.tables.get(row.table) else {
            return Ok(Ok(Vec::new()));
        };
        if dialect == DialectName::MySql && !returns(self.database.as_mut())? {
            return read_back(self.database.as_mut(), table, row, &sql);
        }
        let sql = format!("{sql} RETURNING {}", columns(table, dialect));
        let is_text = self.database.known_definitions().is_some();
        let answer = self.database.query(&sql)?;
        Ok(answer.map(|answer| {
            let mut rows = answer.rows;
            if is_text {
                rows = super::from_text::rows(rows, table, dialect);
            }
            let stored = rows.into_iter().next().unwrap_or_default();
            // A database that returns less than was asked for stored what it was given.
            if stored.len() == table.columns.len() {
                stored
            } else {
                given(table, row)
            }
        }))
    }
}

/// The values that a row was given, one per column; NULL where the database chooses.
fn given(table: &Table, row: &Row) -> Vec<Value> {
    let columns = 0..table.columns.len();
    columns
        .map(|column| row.value(column).cloned().unwrap_or(Value::Null))
        .collect()
}

fn columns(table: &Table, dialect: DialectName) -> String {
    let names = table.columns.iter();
    names
        .map(|column| identifier(&column.name, dialect))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Whether INSERT can return rows; MariaDB can, MySQL cannot.
fn returns(database: &mut dyn Database) -> Result<bool, DatabaseError> {
    let version = database.query_required("SELECT VERSION()")?;
    Ok(version.texts(0).any(|version| version.contains("MariaDB")))
}

/// For MySQL: the row by its key, of which at most one column was made by the server.
fn read_back(
    database: &mut dyn Database,
    table: &Table,
    row: &Row,
    sql: &str,
) -> Result<Result<Vec<Value>, Refusal>, DatabaseError> {
    if let crate::StatementOutcome::Refused(refusal) = database.execute(sql)? {
        return Ok(Err(refusal));
    }
    let values = given(table, row);
    let Some(key) = table.primary_key() else {
        return Ok(Ok(values));
    };
    let dialect = DialectName::MySql;
    let conditions: Vec<String> = key
        .iter()
        .map(|&column| {
            let value = match values.get(column) {
                None | Some(Value::Null) => "LAST_INSERT_ID()".to_owned(),
                Some(value) => isobath_sql::render::literal(value, dialect),
            };
            let name = identifier(&table.column(column).name, dialect);
            format!("{name} = {value}")
        })
        .collect();
    let found = database.query_required(&format!(
        "SELECT {} FROM {} WHERE {}",
        columns(table, dialect),
        isobath_sql::render::table_name(table, dialect),
        conditions.join(" AND ")
    ))?;
    Ok(Ok(found.rows.into_iter().next().unwrap_or_default()))
}
