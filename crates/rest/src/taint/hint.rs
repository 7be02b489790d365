//! Derives input hints from tracked inputs.

use std::sync::Arc;

use isobath_exec::driver::InputUse;
use isobath_genes::{DateTimeKind, Specialization};

use crate::action::is_segment;

/// What a text should be, given that `input`, which is the text, a part of it or around it, was used so.
///
/// `marker` is a fresh one, for what is still open.
pub(super) fn hint_for(
    text: &str,
    input: &str,
    role: InputUse,
    arguments: &[String],
    marker: &str,
) -> Option<Specialization> {
    let wanted = |values: Vec<String>| {
        let values: Vec<Arc<str>> = values
            .iter()
            .filter_map(|value| replaced(text, input, value))
            .filter(|value| **value != *text && value.len() <= LONGEST)
            .map(Arc::from)
            .collect();
        (!values.is_empty()).then_some(Specialization::OneOf(values))
    };
    let first = arguments.first()?;
    match role {
        InputUse::Equal => wanted(arguments.to_vec()),
        InputUse::EqualIgnoringCase => wanted(
            arguments
                .iter()
                .flat_map(|text| [text.clone(), text.to_lowercase(), text.to_uppercase()])
                .collect(),
        ),
        // What follows, precedes or surrounds is still open, and is still watched.
        InputUse::StartsWith if !input.starts_with(first.as_str()) => {
            wanted(vec![format!("{first}{marker}"), first.clone()])
        }
        InputUse::EndsWith if !input.ends_with(first.as_str()) => {
            wanted(vec![format!("{marker}{first}"), first.clone()])
        }
        InputUse::Contains if !input.contains(first.as_str()) => {
            wanted(vec![format!("{input}{first}{marker}"), first.clone()])
        }
        InputUse::Pattern if text == input => Some(Specialization::Pattern(first.as_str().into())),
        InputUse::Parsed => {
            let what = parsed(first, arguments.get(1).map(String::as_str))?;
            if text == input {
                Some(what)
            } else {
                // A part of a text has no gene of its own; a few values of it are better than none.
                wanted(examples(&what))
            }
        }
        _ => None,
    }
}

/// A hint adapted to a path segment.
pub(super) fn for_path(what: Specialization) -> Option<Specialization> {
    let Specialization::OneOf(mut texts) = what else {
        return Some(what);
    };
    texts.retain(|text| is_segment(text));
    (!texts.is_empty()).then_some(Specialization::OneOf(texts))
}

/// Maximum length of hinted strings.
const LONGEST: usize = 500;

/// Whether `part` is in `text`, and long enough that this is not a coincidence.
pub(super) fn is_part(text: &str, part: &str) -> bool {
    text == part || (part.len() >= 12 && text.contains(part))
}

/// What a text must be for `input` to become `value`.
fn replaced(text: &str, input: &str, value: &str) -> Option<String> {
    if text == input {
        return Some(value.to_owned());
    }
    if text.contains(input) {
        return Some(text.replacen(input, value, 1));
    }
    // The service put something around the text; what it put there must be in the value, too.
    let at = input.find(text)?;
    let (before, after) = (&input[..at], &input[at + text.len()..]);
    value
        .strip_prefix(before)?
        .strip_suffix(after)
        .map(str::to_owned)
}

fn parsed(type_: &str, format: Option<&str>) -> Option<Specialization> {
    let integer = |min: i64, max: i64| Some(Specialization::Integer { min, max });
    if let Some(format) = format {
        return strftime(format).map(|pattern| Specialization::Pattern(pattern.into()));
    }
    match type_ {
        "i8" => integer(i8::MIN.into(), i8::MAX.into()),
        "i16" => integer(i16::MIN.into(), i16::MAX.into()),
        "i32" => integer(i32::MIN.into(), i32::MAX.into()),
        "i64" | "isize" | "i128" => integer(i64::MIN, i64::MAX),
        "u8" => integer(0, u8::MAX.into()),
        "u16" => integer(0, u16::MAX.into()),
        "u32" => integer(0, u32::MAX.into()),
        "u64" | "usize" | "u128" => integer(0, i64::MAX),
        "f32" | "f64" | "decimal" | "Decimal" => Some(Specialization::Float),
        "bool" => Some(Specialization::Boolean),
        "char" => Some(Specialization::Pattern("^[ -~]$".into())),
        "date" => Some(Specialization::DateTime(DateTimeKind::Date)),
        "time" => Some(Specialization::DateTime(DateTimeKind::LocalTime)),
        "datetime" => Some(Specialization::DateTime(DateTimeKind::DateTime)),
        "uuid" => Some(Specialization::Uuid),
        "ip" => Some(Specialization::OneOf(
            ["127.0.0.1", "192.0.2.7", "::1"].map(Arc::from).to_vec(),
        )),
        "url" | "Url" | "Uri" => Some(Specialization::Uri),
        _ => None,
    }
}

/// The texts of a date format as a pattern; `None` for what is not digits and signs.
fn strftime(format: &str) -> Option<String> {
    let mut pattern = String::from("^");
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            if !c.is_ascii_alphanumeric() {
                pattern.push('\\');
            }
            pattern.push(c);
            continue;
        }
        let mut directive = chars.next()?;
        if matches!(directive, '-' | '_' | '0') {
            directive = chars.next()?;
        }
        pattern.push_str(match directive {
            'Y' => "(19|20)[0-9]{2}",
            'y' => "[0-9]{2}",
            'm' => "(0[1-9]|1[0-2])",
            'd' | 'e' => "(0[1-9]|1[0-9]|2[0-8])",
            'H' => "([01][0-9]|2[0-3])",
            'M' | 'S' => "[0-5][0-9]",
            'F' => "(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])",
            'T' => "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]",
            'Z' | 'z' => "\\+0000",
            '%' => "%",
            _ => return None,
        });
    }
    pattern.push('$');
    Some(pattern)
}

fn examples(what: &Specialization) -> Vec<String> {
    let texts: &[&str] = match what {
        Specialization::OneOf(texts) => return texts.iter().map(ToString::to_string).collect(),
        Specialization::Integer { min, .. } if *min >= 0 => &["0", "1", "7", "100"],
        Specialization::Integer { .. } => &["0", "1", "-1", "100"],
        Specialization::Float => &["0", "1.5", "-2"],
        Specialization::Boolean => &["true", "false"],
        Specialization::DateTime(DateTimeKind::Date) => &["2020-02-29", "2024-01-01"],
        Specialization::DateTime(_) => &["2020-02-29T12:30:59Z"],
        Specialization::Uuid => &["123e4567-e89b-12d3-a456-426614174000"],
        Specialization::Uri => &["http://localhost/"],
        Specialization::Pattern(_) => &[],
    };
    texts.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKER: &str = "_isobath_1_input";

    fn check(text: &str, input: &str, role: InputUse, arguments: &[&str], wanted: &[&str]) {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let wanted = wanted.iter().map(|text| Arc::from(*text)).collect();
        assert_eq!(
            hint_for(text, input, role, &arguments, "NEW"),
            Some(Specialization::OneOf(wanted))
        );
    }

    #[test]
    fn constants_are_wanted_in_place_of_what_was_compared() {
        check(MARKER, MARKER, InputUse::Equal, &["a", "b"], &["a", "b"]);
        // The service compares a part of the text.
        let text = format!("Token {MARKER}");
        check(&text, MARKER, InputUse::Equal, &["abc"], &["Token abc"]);
        // The service compares more than the text.
        let around = format!("user:{MARKER}");
        check(
            MARKER,
            &around,
            InputUse::Equal,
            &["user:root", "x"],
            &["root"],
        );
    }

    #[test]
    fn unsolved_inputs_keep_a_marker() {
        check(
            MARKER,
            MARKER,
            InputUse::StartsWith,
            &["ab"],
            &["abNEW", "ab"],
        );
        check(
            MARKER,
            MARKER,
            InputUse::EndsWith,
            &[".x"],
            &["NEW.x", ".x"],
        );
        let both = format!("{MARKER}:NEW");
        check(MARKER, MARKER, InputUse::Contains, &[":"], &[&both, ":"]);
    }

    #[test]
    fn a_path_has_no_room_for_nothing_and_for_dots() {
        let one_of = |texts: &[&str]| {
            Specialization::OneOf(texts.iter().map(|text| Arc::from(*text)).collect())
        };
        let left = for_path(one_of(&[".NEW", ".", "", ".."]));
        assert_eq!(left, Some(one_of(&[".NEW"])));
        assert_eq!(for_path(one_of(&["."])), None);
        assert_eq!(
            for_path(Specialization::Boolean),
            Some(Specialization::Boolean)
        );
    }

    #[test]
    fn parsers_want_what_they_read() {
        let of = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            hint_for(MARKER, MARKER, InputUse::Parsed, &arguments, "")
        };
        let byte = Specialization::Integer { min: 0, max: 255 };
        assert_eq!(of(&["u8"]), Some(byte));
        assert_eq!(
            of(&["date"]),
            Some(Specialization::DateTime(DateTimeKind::Date))
        );
        let Some(Specialization::Pattern(pattern)) = of(&["date", "%d.%m.%Y"]) else {
            panic!("a format is a pattern");
        };
        assert_eq!(
            &*pattern,
            r"^(0[1-9]|1[0-9]|2[0-8])\.(0[1-9]|1[0-2])\.(19|20)[0-9]{2}$"
        );
        assert_eq!(of(&["Mystery"]), None);
    }
}
