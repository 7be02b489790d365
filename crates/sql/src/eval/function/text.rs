//! Functions over text.

use crate::dialect::DialectName;
use crate::value::Value;

use super::super::collate::Collation;
use super::super::convert;
use super::super::error::{EvalError, RaisedError, raise, unsupported};
use super::super::static_type::StaticType;
use super::args::Args;

/// A call by name, `None` when this module has no such function in the dialect.
pub(super) fn call(name: &str, args: &Args<'_>) -> Result<Option<Value>, EvalError> {
    let dialect = args.eval.dialect;
    let (mysql, sqlite) = (
        dialect == DialectName::MySql,
        dialect == DialectName::Sqlite,
    );
    let typed = args.eval.typed();
    let count = args.values.len();
    if matches!(name, "concat" | "concat_ws") && !sqlite {
        return concat(name, args).map(Some);
    }
    if !known(name, count, dialect) {
        return Ok(None);
    }
    if sqlite && name == "replace" && !args.value(0).is_null() {
        // Nothing to look for leaves the text alone, whatever would replace it.
        if matches!(args.value(1), Value::Text(from) if from.is_empty()) {
            return Ok(Some(Value::Text(args.text(0)?.into_owned())));
        }
    }
    if mysql && name == "replace" && args.value(2).is_null() {
        return unsupported("replace by NULL");
    }
    if args.any_null() {
        // Wrong types are refused all the same.
        return Ok(Some(Value::Null));
    }
    let value = match name {
        "length" | "char_length" | "character_length" | "octet_length" => {
            if let Value::Bytes(bytes) = args.value(0) {
                return Ok(Some(Value::Int(bytes.len() as i128)));
            }
            if typed && args.kind(0) == StaticType::Char && name == "octet_length" {
                return unsupported("octet_length of CHAR");
            }
            let text = args.text(0)?;
            if sqlite && text.contains('\0') {
                return unsupported("the length of text with NUL");
            }
            let bytes = name == "octet_length" || (name == "length" && mysql);
            Value::Int(if bytes {
                text.len()
            } else {
                text.chars().count()
            } as i128)
        }
        "lower" | "lcase" => Value::Text(args.foldable(0)?.to_ascii_lowercase()),
        "upper" | "ucase" => Value::Text(args.foldable(0)?.to_ascii_uppercase()),
        "trim" | "btrim" | "ltrim" | "rtrim" => {
            let text = args.text(0)?;
            let set = if count == 2 {
                args.text(1)?.into_owned()
            } else {
                " ".to_owned()
            };
            let outer = |c: char| set.contains(c);
            let mut rest = &*text;
            if name != "rtrim" {
                rest = rest.trim_start_matches(outer);
            }
            if name != "ltrim" {
                rest = rest.trim_end_matches(outer);
            }
            Value::Text(rest.to_owned())
        }
        "substr" | "substring" | "mid" => {
            let text = args.text(0)?;
            let length = if count == 3 { Some(args.int(2)?) } else { None };
            Value::Text(substring(&text, args.int(1)?, length, dialect)?)
        }
        "left" | "right" => {
            let text = args.text(0)?;
            let n = args.int(1)?;
            let chars = text.chars().count() as i64;
            let keep = if n >= 0 {
                n.min(chars)
            } else if typed {
                (chars + n).max(0)
            } else {
                0
            };
            let (keep, chars) = (keep as usize, chars as usize);
            Value::Text(if name == "left" {
                text.chars().take(keep).collect()
            } else {
                text.chars().skip(chars - keep).collect()
            })
        }
        "replace" => {
            let (text, from, to) = (args.text(0)?, args.text(1)?, args.text(2)?);
            Value::Text(if from.is_empty() {
                text.into_owned()
            } else {
                text.replace(&*from, &to)
            })
        }
        "instr" | "strpos" => position(args, 0, 1)?,
        "position" | "locate" => position(args, 1, 0)?,
        "reverse" => Value::Text(args.text(0)?.chars().rev().collect()),
        "repeat" => {
            let n = usize::try_from(args.int(1)?).unwrap_or(0);
            let text = args.text(0)?;
            if text.len().saturating_mul(n) > 1 << 20 {
                return unsupported("a long repetition");
            }
            Value::Text(text.repeat(n))
        }
        "lpad" | "rpad" => pad(args, name == "lpad")?,
        "starts_with" => Value::Bool(args.text(0)?.starts_with(&*args.text(1)?)),
        _ => return Ok(None),
    };
    Ok(Some(value))
}

/// Which functions a dialect has, by number of arguments.
fn known(name: &str, count: usize, dialect: DialectName) -> bool {
    let typed = matches!(dialect, DialectName::Ansi | DialectName::Postgres);
    let mysql = dialect == DialectName::MySql;
    let sqlite = dialect == DialectName::Sqlite;
    match name {
        "length" | "lower" | "upper" => count == 1,
        "char_length" | "character_length" | "octet_length" | "reverse" => count == 1 && !sqlite,
        "lcase" | "ucase" => count == 1 && mysql,
        "trim" | "ltrim" | "rtrim" => count == 1 || (count == 2 && !mysql),
        "btrim" => typed && (count == 1 || count == 2),
        "substr" | "substring" => count == 2 || count == 3,
        "mid" => mysql && count == 3,
        "left" | "right" | "repeat" => count == 2 && !sqlite,
        "replace" => count == 3,
        "instr" => count == 2 && !typed,
        "strpos" | "starts_with" => count == 2 && typed,
        "position" => count == 2 && !sqlite,
        "locate" => count == 2 && mysql,
        "lpad" | "rpad" => !sqlite && (count == 3 || (count == 2 && typed)),
        _ => false,
    }
}

fn concat(name: &str, args: &Args<'_>) -> Result<Value, EvalError> {
    let dialect = args.eval.dialect;
    let text = |index: usize| -> Result<Option<String>, EvalError> {
        let value = args.value(index);
        if value.is_null() {
            return Ok(None);
        }
        match (value, args.kind(index)) {
            (Value::Text(text), StaticType::Char) if args.eval.typed() => {
                // Its output function keeps the padding.
                Ok(Some(text.clone()))
            }
            (Value::Bool(value), _) if args.eval.typed() => {
                Ok(Some(if *value { "t" } else { "f" }.to_owned()))
            }
            (other, _) => convert::shown(dialect, other, args.expr(index)).map(Some),
        }
    };
    let mut out = String::new();
    let (separator, first) = if name == "concat_ws" {
        match args.values.first() {
            Some(value) if value.is_null() => return Ok(Value::Null),
            Some(_) => {
                let separator = text(0)?.unwrap_or_default();
                // The separator is declared as text, which CHAR loses its padding on.
                match args.kind(0) {
                    StaticType::Char if args.eval.typed() => {
                        (separator.trim_end_matches(' ').to_owned(), 1)
                    }
                    _ => (separator, 1),
                }
            }
            None => return unsupported("concat_ws without arguments"),
        }
    } else {
        (String::new(), 0)
    };
    let mut any = false;
    for index in first..args.values.len() {
        match text(index)? {
            Some(part) => {
                if any {
                    out.push_str(&separator);
                }
                out.push_str(&part);
                any = true;
            }
            // PostgreSQL skips NULLs; so do both with a separator.
            None if args.eval.typed() || name == "concat_ws" => {}
            None => return Ok(Value::Null),
        }
    }
    Ok(Value::Text(out))
}

fn substring(
    text: &str,
    start: i64,
    length: Option<i64>,
    dialect: DialectName,
) -> Result<String, EvalError> {
    let chars = text.chars().count() as i64;
    let (from, to) = match dialect {
        DialectName::Ansi | DialectName::Postgres => {
            if length.is_some_and(|n| n < 0) {
                return raise(RaisedError::InvalidArgument);
            }
            let from = start - 1;
            (from, length.map_or(chars, |n| from.saturating_add(n)))
        }
        DialectName::MySql => {
            let from = match start {
                0 => return Ok(String::new()),
                n if n > 0 => n - 1,
                n if -n > chars => return Ok(String::new()),
                n => chars + n,
            };
            (from, length.map_or(chars, |n| from.saturating_add(n)))
        }
        DialectName::Sqlite => {
            let (mut from, mut n) = (start, length.unwrap_or(i64::from(i32::MAX)));
            let backwards = n < 0;
            n = n.saturating_abs();
            if from < 0 {
                from += chars;
                if from < 0 {
                    if !backwards {
                        n = (n + from).max(0);
                    } else {
                        n = 0;
                    }
                    from = 0;
                    if length.is_none() {
                        n = chars;
                    }
                }
            } else if from > 0 {
                from -= 1;
            } else if n > 0 && length.is_some() {
                n -= 1;
            }
            if backwards {
                from -= n;
                if from < 0 {
                    n += from;
                    from = 0;
                }
            }
            (from, from.saturating_add(n))
        }
    };
    let from = from.clamp(0, chars);
    let to = to.clamp(from, chars);
    Ok(text
        .chars()
        .skip(from as usize)
        .take((to - from) as usize)
        .collect())
}

/// Where one text stands in another, counted from one; zero where it does not.
fn position(args: &Args<'_>, of: usize, part: usize) -> Result<Value, EvalError> {
    let fold = match args.eval.dialect {
        DialectName::MySql => {
            let exprs: Vec<_> = args.exprs.iter().collect();
            match args.eval.collation_of(&exprs) {
                Collation::General | Collation::OtherInsensitive => true,
                Collation::Binary | Collation::BinaryPadded => false,
                _ => return unsupported("this collation"),
            }
        }
        _ => false,
    };
    let (text, part) = if fold {
        (
            args.foldable(of)?.to_ascii_lowercase(),
            args.foldable(part)?.to_ascii_lowercase(),
        )
    } else {
        (args.text(of)?.into_owned(), args.text(part)?.into_owned())
    };
    Ok(Value::Int(match text.split_once(&part) {
        Some((before, _)) => before.chars().count() as i128 + 1,
        None => 0,
    }))
}

fn pad(args: &Args<'_>, left: bool) -> Result<Value, EvalError> {
    let text = args.text(0)?;
    let wanted = args.int(1)?;
    let fill = if args.values.len() == 3 {
        args.text(2)?.into_owned()
    } else {
        " ".to_owned()
    };
    if wanted < 0 && !args.eval.typed() {
        return Ok(Value::Null);
    }
    let wanted = usize::try_from(wanted).unwrap_or(0);
    if wanted > 1 << 20 {
        return unsupported("a long padding");
    }
    let chars: Vec<char> = text.chars().collect();
    if chars.len() >= wanted {
        return Ok(Value::Text(chars.into_iter().take(wanted).collect()));
    }
    if fill.is_empty() {
        return if args.eval.typed() {
            Ok(Value::Text(text.into_owned()))
        } else {
            unsupported("padding with nothing")
        };
    }
    let padding: String = fill.chars().cycle().take(wanted - chars.len()).collect();
    Ok(Value::Text(if left {
        padding + &text
    } else {
        text.into_owned() + &padding
    }))
}
