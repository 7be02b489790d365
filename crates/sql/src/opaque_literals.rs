//! Literals that are certainly values of types that we carry as text without understanding them.
//!
//! A database takes them as they are, and no two of a type are equal, so rows with such columns can
//! be built and judged although we read no other literal of the type. Mostly a flat table.

#![deny(clippy::indexing_slicing)]

/// Type names with literals that differ from each other.
const SAMPLES: &[(&str, &[&str])] = &[
    ("bit", &["1", "0"]),
    ("box", &["(1,1),(0,0)", "(3,3),(2,2)", "(5,5),(4,4)"]),
    ("bpchar", &["acorn", "birch", "cedar"]),
    ("char", &["a", "b", "c"]),
    ("cidr", &["10.0.1.0/24", "10.0.2.0/24", "10.0.3.0/24"]),
    ("circle", &["<(0,0),1>", "<(1,1),2>", "<(2,2),3>"]),
    ("citext", &["acorn", "birch", "cedar", "daisy"]),
    (
        "daterange",
        &["[2020-01-01,2020-02-01)", "[2021-01-01,2021-02-01)"],
    ),
    ("hstore", &["\"a\"=>\"1\"", "\"b\"=>\"2\"", "\"c\"=>\"3\""]),
    ("inet", &["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]),
    ("int4range", &["[1,5)", "[6,9)", "[10,20)"]),
    ("int8range", &["[1,5)", "[6,9)", "[10,20)"]),
    ("line", &["{1,2,3}", "{2,3,4}", "{3,4,5}"]),
    ("lseg", &["[(0,0),(1,1)]", "[(1,1),(2,2)]"]),
    (
        "macaddr",
        &[
            "08:00:2b:01:02:03",
            "08:00:2b:01:02:04",
            "08:00:2b:01:02:05",
        ],
    ),
    ("money", &["12.50", "19.99", "7.25"]),
    ("name", &["acorn", "birch", "cedar", "daisy"]),
    ("numrange", &["[1,5)", "[6,9)", "[10,20)"]),
    ("oid", &["1001", "1002", "1003"]),
    ("path", &["((0,0),(1,1))", "((1,1),(2,2))"]),
    ("point", &["(1,2)", "(3,4)", "(5,6)", "(7,8)"]),
    ("polygon", &["((0,0),(1,0),(0,1))", "((0,0),(2,0),(0,2))"]),
    ("tsquery", &["'acorn'", "'birch'", "'cedar'"]),
    (
        "tsrange",
        &["[2020-01-01,2020-02-01)", "[2021-01-01,2021-02-01)"],
    ),
    (
        "tstzrange",
        &["[2020-01-01,2020-02-01)", "[2021-01-01,2021-02-01)"],
    ),
    ("tsvector", &["'acorn'", "'birch'", "'cedar'", "'daisy'"]),
    ("varbit", &["101", "110", "111"]),
    ("xml", &["<a/>", "<b/>", "<c/>"]),
];

/// Elements of arrays of text.
const WORDS: &[&str] = &[
    "acorn", "birch", "cedar", "daisy", "ember", "fern", "hazel", "iris",
];

/// The `index`-th literal of a type, by its lower-case name; `None` for types of which we know none.
pub fn literal(name: &str, index: u32) -> Option<String> {
    let at = usize::try_from(index).ok()?;
    if let Some(element) = name.strip_suffix("[]") {
        return Some(if is_number(element) {
            format!("{{{},{}}}", index + 1, index + 2)
        } else if is_text(element) {
            format!("{{{},{}}}", WORDS.get(at % WORDS.len())?, index + 1)
        } else {
            format!(
                "{{\"{}\"}}",
                literal(element, index).filter(|text| !text.contains('"'))?
            )
        });
    }
    let (base, width) = parts(name);
    match (base, width) {
        ("bit", width) => {
            let width = width.unwrap_or(1).min(20);
            Some(format!("{:0width$b}", at % (1 << width)))
        }
        _ => {
            let (_, samples) = SAMPLES.iter().find(|(known, _)| *known == base)?;
            let sample = samples.get(at.checked_rem(samples.len())?)?;
            Some((*sample).to_owned())
        }
    }
}

/// Whether a text is one of the literals that [`literal`] gives for a type.
pub fn is_literal(name: &str, text: &str) -> bool {
    if let Some(element) = name.strip_suffix("[]") {
        let Some(inner) = text
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'))
        else {
            return false;
        };
        let plain =
            |item: &str| !item.is_empty() && item.bytes().all(|b| b.is_ascii_alphanumeric());
        let short = |item: &str| item.len() <= 4 && item.bytes().all(|b| b.is_ascii_digit());
        return if is_number(element) {
            inner.split(',').all(|item| plain(item) && short(item))
        } else if is_text(element) {
            inner.split(',').all(plain) && !inner.eq_ignore_ascii_case("null")
        } else {
            let quoted = inner
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'));
            quoted.is_some_and(|inner| is_literal(element, inner))
        };
    }
    let (base, width) = parts(name);
    if base == "bit" {
        let width = width.unwrap_or(1).min(20);
        return text.len() == width && text.bytes().all(|b| matches!(b, b'0' | b'1'));
    }
    let mut known = SAMPLES.iter().filter(|(known, _)| *known == base);
    known.any(|(_, samples)| samples.contains(&text))
}

fn is_number(element: &str) -> bool {
    let (base, _) = parts(element);
    matches!(
        base,
        "int"
            | "integer"
            | "int2"
            | "int4"
            | "int8"
            | "smallint"
            | "bigint"
            | "numeric"
            | "decimal"
            | "real"
            | "float4"
            | "float8"
            | "double"
    )
}

fn is_text(element: &str) -> bool {
    let (base, width) = parts(element);
    matches!(base, "text" | "varchar" | "character") && width.is_none_or(|width| width >= 8)
}

/// A type's name without its width, and the width.
fn parts(name: &str) -> (&str, Option<usize>) {
    let base = name.split(['(', ' ']).next().unwrap_or(name);
    let width = name
        .split_once('(')
        .and_then(|(_, rest)| rest.split(')').next()?.trim().parse().ok());
    (base, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_literal_is_recognized_and_nothing_else_is() {
        let names = SAMPLES.iter().map(|(name, _)| *name);
        for name in names.chain(["text[]", "integer[]", "inet[]", "bit(4)", "varchar(20)[]"]) {
            for index in 0..40 {
                let text = literal(name, index).expect("a known type");
                assert!(is_literal(name, &text), "{name}: {text}");
            }
            assert!(!is_literal(name, "what; is this"), "{name}");
        }
        assert_eq!(literal("hyperloglog", 0), None);
    }
}
