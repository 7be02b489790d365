//! Text functions that only some databases have.

use crate::dialect::DialectName;
use crate::value::Value;

use super::super::error::{EvalError, RaisedError, raise, unsupported};
use super::args::Args;

/// A call by name, `None` when this module has no such function in the dialect.
pub(super) fn call(name: &str, args: &Args<'_>) -> Result<Option<Value>, EvalError> {
    let known = match args.eval.dialect {
        DialectName::MySql => matches!(
            (name, args.values.len()),
            ("ascii" | "space" | "bit_length", 1) | ("substring_index", 3) | ("insert", 4)
        ),
        DialectName::Sqlite => (name, args.values.len()) == ("unicode", 1),
        DialectName::Ansi | DialectName::Postgres => matches!(
            (name, args.values.len()),
            ("ascii" | "chr" | "initcap" | "bit_length", 1)
                | ("split_part" | "translate", 3)
                | ("overlay", 3 | 4)
        ),
    };
    if !known {
        return Ok(None);
    }
    if args.any_null() {
        return Ok(Some(Value::Null));
    }
    let text = |text: String| Ok(Some(Value::Text(text)));
    match name {
        "ascii" if args.eval.dialect == DialectName::MySql => {
            let first = args.text(0)?.bytes().next().unwrap_or(0);
            Ok(Some(Value::Int(first.into())))
        }
        "ascii" => Ok(Some(Value::Int(
            args.text(0)?.chars().next().map_or(0, |c| c as i128),
        ))),
        "unicode" => Ok(Some(match args.text(0)?.chars().next() {
            Some(first) => Value::Int(first as i128),
            None => Value::Null,
        })),
        "bit_length" => Ok(Some(Value::Int(args.text(0)?.len() as i128 * 8))),
        "chr" => match u32::try_from(args.int(0)?).ok().and_then(char::from_u32) {
            Some('\0') | None => raise(RaisedError::InvalidArgument),
            Some(character) => text(character.to_string()),
        },
        "space" => match usize::try_from(args.int(0)?) {
            Ok(count) if count > 1 << 16 => unsupported("many blanks"),
            Ok(count) => text(" ".repeat(count)),
            Err(_) => text(String::new()),
        },
        "initcap" => {
            let given = args.foldable(0)?;
            let mut inside = false;
            let capitals = given.chars().map(|c| {
                let letter = if inside {
                    c.to_ascii_lowercase()
                } else {
                    c.to_ascii_uppercase()
                };
                inside = c.is_ascii_alphanumeric();
                letter
            });
            text(capitals.collect())
        }
        "translate" => {
            let (from, to) = (args.text(1)?, args.text(2)?);
            let to: Vec<char> = to.chars().collect();
            let moved = |c: char| match from.chars().position(|other| other == c) {
                Some(at) => to.get(at).copied(),
                None => Some(c),
            };
            text(args.text(0)?.chars().filter_map(moved).collect())
        }
        "split_part" => split_part(args).map(Some),
        "substring_index" => {
            let (given, mark) = (args.text(0)?, args.text(1)?);
            text(substring_index(&given, &mark, args.int(2)?))
        }
        "insert" => {
            let (given, new) = (args.text(0)?, args.text(3)?);
            let chars = given.chars().count() as i64;
            let (place, length) = (args.int(1)?, args.int(2)?);
            if place < 1 || place > chars {
                return text(given.into_owned());
            }
            let end = match length {
                length if length < 0 || place + length > chars => chars,
                length => place + length - 1,
            };
            text(spliced(&given, place as usize - 1, end as usize, &new))
        }
        "overlay" => {
            let (given, new) = (args.text(0)?, args.text(1)?);
            let place = args.int(2)?;
            let length = match args.values.len() {
                4 => args.int(3)?,
                _ => new.chars().count() as i64,
            };
            if place < 1 {
                return raise(RaisedError::InvalidArgument);
            }
            let chars = given.chars().count();
            let start = usize::try_from(place - 1).map_or(chars, |start| start.min(chars));
            let end = usize::try_from(place - 1 + length).unwrap_or(0).min(chars);
            let head: String = given.chars().take(start).collect();
            let tail: String = given.chars().skip(end).collect();
            text(head + &new + &tail)
        }
        _ => Ok(None),
    }
}

/// The text with the characters of a range replaced.
fn spliced(text: &str, start: usize, end: usize, new: &str) -> String {
    let head = text.chars().take(start);
    let tail = text.chars().skip(end.max(start));
    head.chain(new.chars()).chain(tail).collect()
}

fn split_part(args: &Args<'_>) -> Result<Value, EvalError> {
    let (text, mark) = (args.text(0)?, args.text(1)?);
    let number = args.int(2)?;
    let parts: Vec<&str> = if mark.is_empty() {
        vec![&*text]
    } else {
        text.split(&*mark).collect()
    };
    let place = match number {
        0 => return raise(RaisedError::InvalidArgument),
        number if number > 0 => number - 1,
        number => parts.len() as i64 + number,
    };
    let part = usize::try_from(place).ok().and_then(|at| parts.get(at));
    Ok(Value::text(part.copied().unwrap_or("")))
}

/// What stands before the `count`th mark, or after it counted from the end.
fn substring_index(text: &str, mark: &str, count: i64) -> String {
    if mark.is_empty() || count == 0 {
        return String::new();
    }
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    let found = if count > 0 {
        text.match_indices(mark)
            .nth(wanted - 1)
            .and_then(|(at, _)| text.get(..at))
    } else {
        text.rmatch_indices(mark)
            .nth(wanted - 1)
            .and_then(|(at, _)| text.get(at + mark.len()..))
    };
    found.unwrap_or(text).to_owned()
}
