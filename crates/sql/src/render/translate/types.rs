//! Translates types that the target engine lacks, and generated columns.

use super::Translation;
use crate::dialect::DialectName;
use crate::expr::{ColumnRef, Expr};
use crate::render::types::type_name;
use crate::schema::{Column, Constraint, ConstraintKind, Filled};
use crate::types::DataType;
use crate::value::Value;

/// What a type becomes, and what that costs.
struct MappedType {
    data_type: DataType,
    loss: Option<&'static str>,
}

fn same(data_type: &DataType) -> MappedType {
    MappedType {
        data_type: data_type.clone(),
        loss: None,
    }
}

fn into(data_type: DataType, loss: Option<&'static str>) -> MappedType {
    MappedType { data_type, loss }
}

impl Translation {
    /// Gives every column a type that the engine has.
    pub(super) fn types(&mut self) {
        for table in 0..self.tables.len() {
            for slot in 0..self.tables[table].columns.len() {
                self.column_type(table, slot);
            }
            if self.to != DialectName::Sqlite {
                self.tables[table].strict = false;
                self.tables[table].without_rowid = false;
            }
        }
        if self.to == DialectName::MySql && self.from != DialectName::MySql {
            self.align_foreign_keys();
        }
    }

    fn column_type(&mut self, table: usize, slot: usize) {
        let is_key = self.is_key(table, slot);
        let column = &self.tables[table].columns[slot];
        let unknown_here = self.from == DialectName::Postgres && self.to == DialectName::Postgres;
        let mapped = match self.to {
            _ if self.from == self.to && !unknown_here => return,
            DialectName::Postgres => to_postgres(
                &column.data_type,
                self.from,
                &self.tables[table].name,
                &column.name,
            ),
            DialectName::MySql => to_mysql(&column.data_type, is_key),
            DialectName::Sqlite => to_sqlite(&column.data_type),
            DialectName::Ansi => return,
        };
        if mapped.data_type == column.data_type && unknown_here {
            return;
        }
        let labels = match &column.data_type {
            DataType::Enum { labels, .. } if self.to == DialectName::Sqlite => Some(labels.clone()),
            _ => None,
        };
        let (place, label) = (
            self.tables[table].location.clone(),
            self.column_label(table, slot),
        );
        if let Some(loss) = mapped.loss {
            let spelled = type_name(&mapped.data_type, self.to);
            self.loss(
                &place,
                label.clone(),
                format!("{loss}, so it is {spelled} in {}", self.engine()),
            );
        }
        let (from, engine) = (self.from, self.engine());
        let column = &mut self.tables[table].columns[slot];
        column.declared = type_name(&mapped.data_type, self.to);
        column.data_type = mapped.data_type;
        if from != self.to
            && let Some(collation) = column.collation.take()
        {
            self.loss(
                &place,
                label,
                format!("collation {collation} is unknown to {engine}"),
            );
        }
        if let Some(labels) = labels {
            self.enum_check(table, slot, labels);
        }
    }

    /// An enumeration as a CHECK, for engines that have none.
    fn enum_check(&mut self, table: usize, slot: usize, labels: Vec<String>) {
        let table = &mut self.tables[table];
        let column = &table.columns[slot];
        let expr = Expr::InList {
            expr: Box::new(Expr::Column(use_of(column, slot))),
            list: labels
                .into_iter()
                .map(|label| Expr::Literal(Value::Text(label)))
                .collect(),
            negated: false,
        };
        let mut check = Constraint::unnamed(ConstraintKind::Check { expr });
        check.location = table.location.clone();
        table.constraints.push(check);
    }

    /// Whether a column is part of a key, which MariaDB allows for short types only.
    fn is_key(&self, table: usize, slot: usize) -> bool {
        let own = self.tables[table].constraints.iter().any(|constraint| {
            !matches!(
                constraint.kind,
                ConstraintKind::Check { .. } | ConstraintKind::NotNull { .. }
            ) && constraint.columns().contains(&slot)
        });
        own || self.tables.iter().any(|child| {
            child
                .foreign_keys()
                .any(|key| key.parent == table && key.parent_columns.contains(&slot))
        })
    }

    /// MariaDB wants both ends of a foreign key to be of one numeric type: the parent's.
    fn align_foreign_keys(&mut self) {
        // Chains of keys settle one link per round.
        for _ in 0..self.tables.len().min(50) {
            let mut changes = Vec::new();
            for (child, table) in self.tables.iter().enumerate() {
                for key in table.foreign_keys() {
                    for (&own, &other) in key.columns.iter().zip(&key.parent_columns) {
                        let wanted = &self.tables[key.parent].columns[other].data_type;
                        let have = &table.columns[own].data_type;
                        if wanted != have && wanted.is_numeric() && have.is_numeric() {
                            changes.push((child, own, wanted.clone()));
                        }
                    }
                }
            }
            if changes.is_empty() {
                return;
            }
            for (table, slot, data_type) in changes {
                let (place, label) = (
                    self.tables[table].location.clone(),
                    self.column_label(table, slot),
                );
                let spelled = type_name(&data_type, self.to);
                self.loss(
                    &place,
                    label,
                    format!(
                        "MariaDB wants the type of the column it refers to, so it is {spelled}"
                    ),
                );
                let column = &mut self.tables[table].columns[slot];
                column.data_type = data_type;
                column.declared = spelled;
            }
        }
    }

    /// Counters that an engine cannot have where they are.
    pub(super) fn counters(&mut self) {
        if self.from == self.to {
            return;
        }
        for table in 0..self.tables.len() {
            let mut counted = false;
            for slot in 0..self.tables[table].columns.len() {
                let column = &self.tables[table].columns[slot];
                if !matches!(column.filled, Filled::Counter | Filled::CounterAlways) {
                    continue;
                }
                let whole = matches!(column.data_type, DataType::Integer { .. });
                let alone = self.tables[table].primary_key() == Some(&[slot][..])
                    && !self.tables[table].without_rowid;
                let possible = match self.to {
                    DialectName::Sqlite => whole && alone,
                    DialectName::MySql => whole && !counted && !self.in_condition(table, slot),
                    DialectName::Postgres | DialectName::Ansi => true,
                };
                counted = true;
                let (place, label) = (
                    self.tables[table].location.clone(),
                    self.column_label(table, slot),
                );
                if !possible {
                    self.tables[table].columns[slot].filled = Filled::No;
                    let why = format!(
                        "{} cannot count in this column, so it is not filled",
                        self.engine()
                    );
                    self.loss(&place, label, why);
                    continue;
                }
                let always = self.tables[table].columns[slot].filled == Filled::CounterAlways;
                if always && self.to != DialectName::Postgres {
                    self.tables[table].columns[slot].filled = Filled::Counter;
                    let why = format!("{} lets a number be given for a counter", self.engine());
                    self.loss(&place, label.clone(), why);
                }
                let column = &mut self.tables[table].columns[slot];
                match self.to {
                    DialectName::Sqlite => column.declared = "INTEGER".to_owned(),
                    DialectName::Postgres if !whole => {
                        column.data_type = DataType::Integer {
                            bits: 64,
                            unsigned: false,
                        };
                        column.declared = "BIGINT".to_owned();
                    }
                    _ => {}
                }
            }
        }
    }
}

/// A use of a column in an expression.
pub(super) fn use_of(column: &Column, slot: usize) -> ColumnRef {
    ColumnRef {
        slot,
        name: column.name.clone(),
        data_type: column.data_type.clone(),
        collation: column.collation.clone(),
    }
}

/// Types that PostgreSQL has without any extension.
const POSTGRES: &[&str] = &[
    "bit",
    "bit varying",
    "box",
    "cidr",
    "circle",
    "daterange",
    "datemultirange",
    "inet",
    "int4range",
    "int8range",
    "jsonpath",
    "line",
    "lseg",
    "macaddr",
    "macaddr8",
    "money",
    "name",
    "numrange",
    "oid",
    "path",
    "pg_lsn",
    "point",
    "polygon",
    "regclass",
    "tsquery",
    "tsrange",
    "tstzrange",
    "tsvector",
    "varbit",
    "xml",
];

fn to_postgres(data_type: &DataType, from: DialectName, table: &str, column: &str) -> MappedType {
    let integer = |bits| DataType::Integer {
        bits,
        unsigned: false,
    };
    match data_type {
        DataType::Other(name) => {
            let base = name.split(['(', '[']).next().unwrap_or("").trim();
            let array = name.ends_with("[]");
            if from == DialectName::Postgres && (array || POSTGRES.contains(&base)) {
                same(data_type)
            } else {
                into(
                    DataType::Text,
                    Some("the type is unknown without an extension"),
                )
            }
        }
        _ if from == DialectName::Postgres => same(data_type),
        // SQLite keeps 0 and 1 there, and lets conditions compare it with them.
        DataType::Boolean if from == DialectName::Sqlite => into(integer(16), None),
        DataType::Integer {
            bits: 8,
            unsigned: false,
        } => into(integer(16), Some("there is no such small integer")),
        DataType::Integer {
            bits: 24,
            unsigned: false,
        } => into(integer(32), Some("there is no integer of 24 bits")),
        DataType::Integer {
            bits,
            unsigned: true,
        } => match bits {
            8 => into(integer(16), Some("there are no unsigned integers")),
            16 | 24 => into(integer(32), Some("there are no unsigned integers")),
            32 => into(integer(64), Some("there are no unsigned integers")),
            _ => into(
                DataType::Decimal {
                    precision: Some(20),
                    scale: Some(0),
                },
                Some("there are no unsigned integers"),
            ),
        },
        DataType::Year => into(integer(16), Some("there is no YEAR")),
        DataType::Bytes {
            length: Some(_), ..
        } => into(
            DataType::Bytes {
                length: None,
                fixed: false,
            },
            Some("there is no limit on bytes"),
        ),
        DataType::Time { precision, zoned } if *precision > 6 => into(
            DataType::Time {
                precision: 6,
                zoned: *zoned,
            },
            Some("there are six fractional digits"),
        ),
        DataType::Timestamp { precision, zoned } if *precision > 6 => into(
            DataType::Timestamp {
                precision: 6,
                zoned: *zoned,
            },
            Some("there are six fractional digits"),
        ),
        DataType::Char { length: 0 } => {
            into(DataType::Char { length: 1 }, Some("CHAR(0) is not allowed"))
        }
        DataType::Varchar { length: Some(0) } => into(
            DataType::Varchar { length: Some(1) },
            Some("VARCHAR(0) is not allowed"),
        ),
        DataType::Enum { name: None, labels } => into(
            DataType::Enum {
                name: Some(format!("{table}_{column}")),
                labels: labels.clone(),
            },
            None,
        ),
        _ => same(data_type),
    }
}

/// The longest text that may stand in a key: 3072 bytes at four bytes each.
const KEY_CHARS: u32 = 255;

fn to_mysql(data_type: &DataType, is_key: bool) -> MappedType {
    let text = |loss| {
        if is_key {
            into(
                DataType::Varchar {
                    length: Some(KEY_CHARS),
                },
                Some(loss),
            )
        } else {
            into(DataType::Text, Some(loss))
        }
    };
    match data_type {
        DataType::Boolean => into(
            DataType::Integer {
                bits: 8,
                unsigned: false,
            },
            Some("there is no type of truth values"),
        ),
        DataType::Decimal {
            precision: None, ..
        } => into(
            DataType::Decimal {
                precision: Some(38),
                scale: Some(10),
            },
            Some("decimals have a precision"),
        ),
        DataType::Decimal {
            precision: Some(precision),
            scale,
        } if *precision > 65 || scale.unwrap_or(0) > 38 => into(
            DataType::Decimal {
                precision: Some(65),
                scale: Some(scale.unwrap_or(0).min(30)),
            },
            Some("decimals have at most 65 digits"),
        ),
        DataType::Char { length } if *length > 255 => into(
            DataType::Varchar {
                length: Some(*length),
            },
            Some("CHAR has at most 255 characters"),
        ),
        DataType::Varchar { length: Some(n) } if is_key && *n > 768 => into(
            DataType::Varchar {
                length: Some(KEY_CHARS),
            },
            Some("keys have at most 3072 bytes"),
        ),
        DataType::Varchar { length: Some(n) } if *n > 16_000 => {
            into(DataType::Text, Some("it is too long"))
        }
        DataType::Varchar { length: None } | DataType::Text if is_key => {
            text("keys cannot hold text of any length")
        }
        DataType::Varchar { length: None } => into(DataType::Text, None),
        DataType::Bytes { length: None, .. } if is_key => into(
            DataType::Bytes {
                length: Some(KEY_CHARS),
                fixed: false,
            },
            Some("keys cannot hold bytes of any length"),
        ),
        DataType::Time { precision, zoned } if *precision > 6 || *zoned => into(
            DataType::Time {
                precision: (*precision).min(6),
                zoned: false,
            },
            Some("times have no zone and six fractional digits"),
        ),
        DataType::Timestamp {
            precision,
            zoned: true,
        } => into(
            DataType::Timestamp {
                precision: (*precision).min(6),
                zoned: true,
            },
            Some("instants end in 2038"),
        ),
        DataType::Timestamp {
            precision,
            zoned: false,
        } if *precision > 6 => into(
            DataType::Timestamp {
                precision: 6,
                zoned: false,
            },
            Some("there are six fractional digits"),
        ),
        DataType::Interval => text("there are no columns of intervals"),
        DataType::Uuid => into(
            DataType::Char { length: 36 },
            Some("any text may stand for a UUID"),
        ),
        DataType::Json { .. } if is_key => text("keys cannot hold text of any length"),
        DataType::Json { .. } => into(DataType::Json { binary: false }, None),
        DataType::Enum { labels, .. } => into(
            DataType::Enum {
                name: None,
                labels: labels.clone(),
            },
            None,
        ),
        DataType::Other(_) => text("the type is unknown"),
        DataType::Integer { .. }
        | DataType::Decimal { .. }
        | DataType::Float { .. }
        | DataType::Char { .. }
        | DataType::Varchar { .. }
        | DataType::Text
        | DataType::Bytes { .. }
        | DataType::Date
        | DataType::Time { .. }
        | DataType::Timestamp { .. }
        | DataType::Year => same(data_type),
    }
}

fn to_sqlite(data_type: &DataType) -> MappedType {
    match data_type {
        DataType::Integer {
            bits,
            unsigned: true,
        } => into(
            DataType::Integer {
                bits: *bits,
                unsigned: false,
            },
            Some("there are no unsigned integers"),
        ),
        DataType::Float { .. } => into(DataType::Float { bits: 64 }, None),
        DataType::Bytes { .. } => into(
            DataType::Bytes {
                length: None,
                fixed: false,
            },
            None,
        ),
        DataType::Year => into(
            DataType::Integer {
                bits: 16,
                unsigned: false,
            },
            Some("there is no YEAR"),
        ),
        // Digits cannot stand inside a name of several words, and mean nothing there.
        DataType::Time { zoned: true, .. } => into(
            DataType::Time {
                precision: 0,
                zoned: true,
            },
            None,
        ),
        DataType::Timestamp { zoned: true, .. } => into(
            DataType::Timestamp {
                precision: 6,
                zoned: true,
            },
            None,
        ),
        DataType::Interval => into(DataType::Text, Some("there are no intervals")),
        DataType::Uuid => into(DataType::Text, Some("any text may stand for a UUID")),
        DataType::Json { .. } => into(DataType::Text, Some("any text may stand for JSON")),
        // A CHECK takes its place.
        DataType::Enum { .. } => into(DataType::Text, None),
        DataType::Other(name) if name.is_empty() => same(data_type),
        DataType::Other(_) => into(DataType::Text, Some("the type is unknown")),
        DataType::Boolean
        | DataType::Integer { .. }
        | DataType::Decimal { .. }
        | DataType::Char { .. }
        | DataType::Varchar { .. }
        | DataType::Text
        | DataType::Date
        | DataType::Time { .. }
        | DataType::Timestamp { .. } => same(data_type),
    }
}
