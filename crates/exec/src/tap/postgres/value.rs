//! Bound parameters as SQL literals.

use std::sync::Arc;

use isobath_sql::render::literal;
use isobath_sql::{DialectName, Value};
use tokio_postgres::types::{Kind, Type};

use crate::database::postgres::decoded;
use crate::tap::reader::Reader;

/// The values of a message Bind.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    /// The types of the parameters as far as they are known; 0 is unknown.
    pub(super) types: Arc<[u32]>,
    /// The body of the message after the names: formats, then values.
    pub(super) bound: Arc<[u8]>,
}

impl Values {
    /// How much memory they hold.
    pub(crate) fn size(&self) -> usize {
        self.bound.len()
    }

    /// The values as literals; `None` for those that cannot be read.
    pub(crate) fn literals(&self) -> Vec<Option<String>> {
        let mut literals = Vec::new();
        // A body that was cut ends early; what there is, is there.
        let _ = self.read(&mut literals);
        literals
    }

    fn read(&self, literals: &mut Vec<Option<String>>) -> Option<()> {
        let mut reader = Reader(&self.bound);
        let n_formats = reader.count()?;
        let formats: Vec<bool> = (0..n_formats)
            .map(|_| reader.count().map(|format| format == 1))
            .collect::<Option<_>>()?;
        let n_values = reader.count()?;
        for index in 0..n_values {
            let length = reader.int()?;
            let is_binary = match formats.as_slice() {
                [] => false,
                [all] => *all,
                each => each.get(index).copied().unwrap_or(false),
            };
            let oid = self.types.get(index).copied().unwrap_or(0);
            let text = match usize::try_from(length) {
                Err(_) => Some("NULL".to_owned()),
                Ok(length) => {
                    let bytes = reader.take(length)?;
                    if is_binary {
                        binary(oid, bytes)
                    } else {
                        textual(oid, bytes)
                    }
                }
            };
            literals.push(text);
        }
        Some(())
    }
}

fn sql(value: &Value) -> String {
    literal(value, DialectName::Postgres)
}

/// A value in the binary form of its type.
fn binary(oid: u32, bytes: &[u8]) -> Option<String> {
    let Some(of) = Type::from_oid(oid) else {
        return unknown(bytes);
    };
    match of.kind() {
        Kind::Array(element) => array(element, bytes),
        _ => decoded(&of, bytes)
            .map(|value| sql(&value))
            .or_else(|| special(&of, bytes)),
    }
}

/// Values that are none of ours but can be written.
fn special(of: &Type, bytes: &[u8]) -> Option<String> {
    let micros = |bytes: &[u8]| bytes.try_into().ok().map(i64::from_be_bytes);
    let infinite = |sign: bool| if sign { "infinity" } else { "-infinity" };
    let text = match *of {
        Type::TIMESTAMP | Type::TIMESTAMPTZ => match micros(bytes)? {
            i64::MAX => infinite(true),
            i64::MIN => infinite(false),
            _ => return None,
        },
        Type::DATE => match i32::from_be_bytes(bytes.try_into().ok()?) {
            i32::MAX => infinite(true),
            i32::MIN => infinite(false),
            _ => return None,
        },
        Type::NUMERIC if bytes.get(4..6) == Some(&[0xc0, 0]) => "NaN",
        Type::INET | Type::CIDR => return internet(of, bytes),
        Type::XML => return unknown(bytes),
        _ => return None,
    };
    Some(format!("'{text}'::{}", of.name()))
}

/// Family, length of the prefix, whether it is a network, length, bytes.
fn internet(of: &Type, bytes: &[u8]) -> Option<String> {
    let ([_, length, ..], address) = bytes.split_first_chunk::<4>()?;
    let (whole, address): (u8, std::net::IpAddr) = match address.len() {
        4 => (32, <[u8; 4]>::try_from(address).ok()?.into()),
        16 => (128, <[u8; 16]>::try_from(address).ok()?.into()),
        _ => return None,
    };
    let prefix = if *length == whole && *of == Type::INET {
        String::new()
    } else {
        format!("/{length}")
    };
    Some(format!("'{address}{prefix}'::{}", of.name()))
}

/// Types that the database defines itself: labels of enumerations are texts also in binary.
fn unknown(bytes: &[u8]) -> Option<String> {
    let text = str::from_utf8(bytes).ok()?;
    let is_plain = |c: char| !c.is_control() || c.is_whitespace();
    text.chars()
        .all(is_plain)
        .then(|| sql(&Value::Text(text.to_owned())))
}

/// Dimensions, whether there are NULLs, type, length and lower bound of each dimension, elements.
fn array(element: &Type, bytes: &[u8]) -> Option<String> {
    let mut reader = Reader(bytes);
    let dimensions = reader.int()?;
    reader.take(8)?;
    if dimensions == 0 {
        return Some(format!("'{{}}'::{}[]", element.name()));
    }
    if dimensions != 1 {
        return None;
    }
    let count = usize::try_from(reader.int()?).ok()?;
    reader.take(4)?;
    let mut elements = Vec::new();
    for _ in 0..count {
        elements.push(match usize::try_from(reader.int()?) {
            Err(_) => "NULL".to_owned(),
            Ok(length) => binary(element.oid(), reader.take(length)?)?,
        });
    }
    Some(format!("ARRAY[{}]", elements.join(", ")))
}

/// A value in the text form of its type.
fn textual(oid: u32, bytes: &[u8]) -> Option<String> {
    let text = str::from_utf8(bytes).ok()?;
    let quoted = || sql(&Value::Text(text.to_owned()));
    let Some(of) = Type::from_oid(oid) else {
        return Some(quoted());
    };
    let number = text.trim();
    let is_number = || number.parse::<f64>().is_ok_and(f64::is_finite);
    Some(match of {
        Type::INT2 | Type::INT4 | Type::INT8 | Type::OID if number.parse::<i64>().is_ok() => {
            number.to_owned()
        }
        Type::NUMERIC | Type::FLOAT4 | Type::FLOAT8 if is_number() => number.to_owned(),
        Type::BOOL => match number.to_ascii_lowercase().as_str() {
            "t" | "true" | "1" | "on" | "y" | "yes" => "TRUE".to_owned(),
            "f" | "false" | "0" | "off" | "n" | "no" => "FALSE".to_owned(),
            _ => quoted(),
        },
        Type::DATE => format!("DATE {}", quoted()),
        Type::TIME => format!("TIME {}", quoted()),
        Type::TIMESTAMP => format!("TIMESTAMP {}", quoted()),
        Type::TIMESTAMPTZ => format!("TIMESTAMP WITH TIME ZONE {}", quoted()),
        Type::INTERVAL => format!("INTERVAL {}", quoted()),
        Type::BYTEA => format!("{}::bytea", quoted()),
        _ => match of.kind() {
            Kind::Array(element) => format!("{}::{}[]", quoted(), element.name()),
            _ => quoted(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(formats: &[u16], values: &[Option<&[u8]>]) -> Arc<[u8]> {
        let mut bytes = Vec::new();
        bytes.extend(u16::try_from(formats.len()).unwrap().to_be_bytes());
        formats
            .iter()
            .for_each(|format| bytes.extend(format.to_be_bytes()));
        bytes.extend(u16::try_from(values.len()).unwrap().to_be_bytes());
        for value in values {
            match value {
                Some(value) => {
                    bytes.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
                    bytes.extend(*value);
                }
                None => bytes.extend((-1_i32).to_be_bytes()),
            }
        }
        bytes.into()
    }

    #[test]
    fn values_of_either_form_become_literals() {
        let values = Values {
            types: [
                Type::INT4,
                Type::INT4,
                Type::TEXT,
                Type::DATE,
                Type::BOOL,
                Type::UNKNOWN,
            ]
            .map(|of| of.oid())
            .into(),
            bound: bound(
                &[1, 0, 1, 0, 1, 0],
                &[
                    Some(&7_i32.to_be_bytes()),
                    Some(b"-7"),
                    Some(b"it's"),
                    Some(b"2024-02-29"),
                    Some(&[1]),
                    None,
                ],
            ),
        };
        let literals: Vec<String> = values.literals().into_iter().flatten().collect();
        insta::assert_snapshot!(literals.join(" | "), @"7 | -7 | 'it''s' | DATE '2024-02-29' | TRUE | NULL");
    }

    #[test]
    fn labels_of_unknown_types_are_texts_and_other_bytes_are_not_guessed() {
        assert_eq!(binary(99_999, b"active").as_deref(), Some("'active'"));
        assert_eq!(binary(99_999, &[0, 0, 0, 1]), None);
        assert_eq!(binary(Type::POINT.oid(), &[0; 16]), None);
    }

    #[test]
    fn half_a_message_has_half_of_its_values() {
        let whole = bound(&[], &[Some(b"a"), Some(b"b")]);
        for length in 0..whole.len() {
            let values = Values {
                types: Arc::from([]),
                bound: whole[..length].into(),
            };
            assert!(values.literals().len() < 2);
        }
    }
}
