//! How far a text is from being parsed as a type.

use isobath_distance::date::DateParts;
use isobath_distance::pattern::{self, PatternPiece};

/// The distance of a text that could not be parsed as the type of this name, if its
/// form is known.
pub(crate) fn distance(text: &str, type_name: &str) -> Option<f64> {
    let form = form(type_name)?;
    let near = match form {
        "integer" => number(text, false),
        "float" => number(text, true),
        "bool" => {
            pattern::distance(text, &like("true")).min(pattern::distance(text, &like("false")))
        }
        "char" => text.chars().count().abs_diff(1) as f64,
        "ip" => pattern::distance(text, &like("#.#.#.#")),
        "uuid" => pattern::distance(text, &like("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")),
        "date" => pattern::distance(text, &like("####-##-##")),
        "time" => pattern::distance(text, &like("##:##:##")),
        _ => pattern::distance(text, &like("####-##-##T##:##:##Z")),
    };
    // The right form can still be out of range.
    Some(if near > 0.0 { near } else { out_of_range(text) })
}

/// What a type is called in the protocol, if it is one that texts are parsed as.
pub(crate) fn form(type_name: &str) -> Option<&'static str> {
    let last = type_name.split('<').next()?;
    let last = last.rsplit("::").next()?;
    Some(match last {
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32" | "u64" | "u128"
        | "usize" => "integer",
        _ if last.starts_with("NonZero") => "integer",
        "f32" | "f64" | "Decimal" | "BigDecimal" => "float",
        "bool" => "bool",
        "char" => "char",
        "IpAddr" | "Ipv4Addr" => "ip",
        "Uuid" => "uuid",
        "NaiveDate" | "Date" => "date",
        "NaiveTime" | "Time" => "time",
        "DateTime" | "NaiveDateTime" | "Timestamp" | "Zoned" | "OffsetDateTime"
        | "PrimitiveDateTime" => "datetime",
        _ => return None,
    })
}

/// The pieces of a form: `#` is a digit, `x` a hexadecimal one.
fn like(form: &str) -> Vec<PatternPiece> {
    let set = |ranges: &[(char, char)]| PatternPiece::Set {
        ranges: ranges.to_vec(),
        negated: false,
    };
    form.chars()
        .map(|c| match c {
            '#' => set(&[('0', '9')]),
            'x' => set(&[('0', '9'), ('a', 'f'), ('A', 'F')]),
            c => PatternPiece::Char(c),
        })
        .collect()
}

/// Each character that may not stand where it does counts by its distance to a digit (seed 002).
fn number(text: &str, point: bool) -> f64 {
    if text.is_empty() {
        return 1.0;
    }
    let single = text.chars().count() == 1;
    let mut points = usize::from(!point);
    let digit = like("#");
    text.chars()
        .enumerate()
        .map(|(at, c)| match c {
            '-' | '+' if at == 0 && !single => 0.0,
            '.' if points == 0 => {
                points = 1;
                0.0
            }
            c => pattern::distance(c.encode_utf8(&mut [0; 4]), &digit),
        })
        .sum()
}

/// A well-formed text that is refused is nearer the shorter it is.
fn out_of_range(text: &str) -> f64 {
    0.5 * text.len() as f64 / (text.len() as f64 + 1.0)
}

/// The moment that a text in ISO form names; what follows the seconds is left out.
pub(crate) fn moment(text: &str) -> Option<DateParts> {
    let mut parts = DateParts::default();
    let (date, time) = match text.find(['T', ' ']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None if text.contains('-') => (text, None),
        None => ("", Some(text)),
    };
    if !date.is_empty() {
        let mut fields = date.splitn(3, '-');
        parts.year = fields.next()?.parse().ok()?;
        parts.month = fields.next()?.parse().ok()?;
        parts.day = fields.next()?.parse().ok()?;
    }
    if let Some(time) = time {
        let mut fields = time.splitn(3, ':');
        parts.hour = fields.next()?.parse().ok()?;
        parts.minute = fields.next()?.get(..2)?.parse().ok()?;
        let second = fields.next().and_then(|second| second.get(..2));
        parts.second = second.and_then(|second| second.parse().ok()).unwrap_or(0);
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_text_has_the_smaller_distance() {
        let at = |text| distance(text, "i32").expect("a known form");
        assert!(at("12x") < at("1xx") && at("1xx") < at("xxx"));
        assert!(at("99999999999") > 0.0 && at("99999999999") < at("12:"));
        let at = |text| distance(text, "chrono::naive::date::NaiveDate").expect("a known form");
        assert!(at("2024-01-0x") < at("2024-01") && at("2024-01") < at("hello"));
        assert!(distance("x", "my::Own").is_none());
    }

    #[test]
    fn moments_are_read_from_what_date_types_display() {
        let at = moment("2024-02-29 21:30:15.25 UTC").expect("a moment");
        assert_eq!((at.year, at.month, at.day), (2024, 2, 29));
        assert_eq!((at.hour, at.minute, at.second), (21, 30, 15));
        assert_eq!(moment("21:30").map(|at| at.hour), Some(21));
        assert_eq!(moment("yesterday"), None);
    }
}
