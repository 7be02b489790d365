//! SQLite: keys that admit NULL, row ids, affinity.

use super::{Dialect, DialectName, StoreError};
use crate::eval::collate::Collation;
use crate::eval::number::Number;
use crate::eval::{self, StorageClass};
use crate::schema::{Column, Filled, Table};
use crate::types::DataType;
use crate::value::Value;

/// SQLite: keys that admit NULL, row ids, affinity.
#[derive(Clone, Copy, Debug)]
pub struct Sqlite;

/// What a column would like its values to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Affinity {
    /// Numbers, whole ones as integers.
    Integer,
    /// Floating-point numbers.
    Real,
    /// Numbers.
    Numeric,
    /// Text.
    Text,
    /// Whatever comes; also the affinity of expressions that have none.
    Blob,
}

impl Affinity {
    /// The affinity of a column type.
    pub fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Integer { .. } | DataType::Interval => Self::Integer,
            DataType::Float { .. } => Self::Real,
            DataType::Char { .. }
            | DataType::Varchar { .. }
            | DataType::Text
            | DataType::Enum { .. } => Self::Text,
            DataType::Bytes { .. } => Self::Blob,
            DataType::Other(name) => Self::of_declared(name),
            DataType::Boolean
            | DataType::Decimal { .. }
            | DataType::Date
            | DataType::Time { .. }
            | DataType::Timestamp { .. }
            | DataType::Year
            | DataType::Uuid
            | DataType::Json { .. } => Self::Numeric,
        }
    }

    /// The affinity of a type as SQLite reads its name.
    pub fn of_declared(declared: &str) -> Self {
        let name = declared.to_ascii_uppercase();
        let has = |part: &str| name.contains(part);
        if has("INT") {
            Self::Integer
        } else if has("CHAR") || has("CLOB") || has("TEXT") {
            Self::Text
        } else if has("BLOB") || name.trim().is_empty() {
            Self::Blob
        } else if has("REAL") || has("FLOA") || has("DOUB") {
            Self::Real
        } else {
            Self::Numeric
        }
    }

    /// Whether it turns text into numbers.
    pub fn is_numeric(self) -> bool {
        matches!(self, Self::Integer | Self::Real | Self::Numeric)
    }
}

impl Dialect for Sqlite {
    fn name(&self) -> DialectName {
        DialectName::Sqlite
    }

    fn holds_any_type(&self, table: &Table) -> bool {
        !table.strict
    }

    fn takes_first_of_many(&self) -> bool {
        true
    }

    fn key_admits_null(&self, table: &Table) -> bool {
        // A row id is never NULL: NULL there means a fresh number.
        !table.without_rowid && self.rowid_alias(table).is_none()
    }

    fn rowid_alias(&self, table: &Table) -> Option<usize> {
        let &[column] = table.primary_key()? else {
            return None;
        };
        let definition = table.columns.get(column)?;
        // Only row ids count by themselves, so a counter is one whatever type it had elsewhere.
        let counts = matches!(definition.filled, Filled::Counter | Filled::CounterAlways);
        let is_id = counts || definition.declared.trim().eq_ignore_ascii_case("integer");
        (!table.without_rowid && is_id).then_some(column)
    }

    fn store(&self, value: &Value, column: &Column, strict: bool) -> Result<Value, StoreError> {
        sqlite_assign(value, &column.data_type, strict)
    }

    fn store_in(&self, value: &Value, table: &Table, column: usize) -> Result<Value, StoreError> {
        let stored = self.store(value, table.column(column), table.strict)?;
        match stored {
            Value::Null | Value::Int(_) => Ok(stored),
            _ if self.rowid_alias(table) == Some(column) => Err(StoreError::WrongType),
            _ => Ok(stored),
        }
    }

    fn duplicates(&self, a: &Value, b: &Value, column: &Column) -> bool {
        match (StorageClass::of(a), StorageClass::of(b)) {
            (Some(StorageClass::Number(a)), Some(StorageClass::Number(b))) => {
                a.order_exactly(b).is_eq()
            }
            (Some(StorageClass::Text(a)), Some(StorageClass::Text(b))) => {
                Collation::of(column.collation.as_deref(), DialectName::Sqlite)
                    .order(&a, &b, true)
                    .is_some_and(std::cmp::Ordering::is_eq)
            }
            (Some(StorageClass::Blob(a)), Some(StorageClass::Blob(b))) => a == b,
            _ => false,
        }
    }
}

/// Converts a value for a column type: affinity, and in a STRICT table the type itself.
pub(crate) fn sqlite_assign(
    value: &Value,
    data_type: &DataType,
    strict: bool,
) -> Result<Value, StoreError> {
    let Some(storage) = StorageClass::of(value) else {
        return Ok(Value::Null);
    };
    let mut affinity = Affinity::of(data_type);
    let any = matches!(data_type, DataType::Other(name) if name.eq_ignore_ascii_case("any"));
    if strict && any {
        affinity = Affinity::Blob;
    }
    let stored = match affinity {
        Affinity::Text => storage
            .text()
            .ok_or_else(|| StoreError::Unknown(data_type.clone()))?
            .into_value(),
        Affinity::Blob => storage.into_value(),
        Affinity::Integer | Affinity::Numeric => match storage.numeric() {
            StorageClass::Number(Number::Float(value)) => whole(value),
            other => other.into_value(),
        },
        Affinity::Real => match storage.numeric() {
            StorageClass::Number(number) => Value::Float(number.to_f64()),
            other => other.into_value(),
        },
    };
    let right = !strict
        || any
        || matches!(
            (affinity, &stored),
            (Affinity::Integer, Value::Int(_))
                | (Affinity::Real, Value::Float(_))
                | (Affinity::Text, Value::Text(_))
                | (Affinity::Blob, Value::Bytes(_))
        );
    if right {
        Ok(stored)
    } else {
        Err(StoreError::WrongType)
    }
}

/// A float that is a whole number becomes an integer.
fn whole(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < eval::WHOLE_FLOATS {
        Value::Int(value as i128)
    } else {
        Value::Float(value)
    }
}
