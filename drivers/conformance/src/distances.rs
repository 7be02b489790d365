//! Comparisons of plain values, with both distances.

use isobath_distance::date::DateParts;
use isobath_distance::pattern::PatternPiece;
use isobath_distance::{Relation, Truth, date, member, number, pattern, text};
use serde_json::{Value, json};

const NUMBERS: [f64; 9] = [
    0.0,
    1.0,
    -1.0,
    0.5,
    42.0,
    -7.25,
    255.0,
    2_147_483_648.0,
    1e15,
];
const TEXTS: [&str; 10] = [
    "",
    "a",
    "b",
    "A",
    "foo",
    "fop",
    "food",
    "open sesame",
    "_isobath_1_input",
    "häß→",
];

/// All cases, in a fixed order.
pub fn all() -> Vec<Value> {
    let mut cases = Vec::new();
    for relation in Relation::ALL {
        for a in NUMBERS {
            for b in NUMBERS {
                let truth = number::compare(relation, a, b);
                cases.push(case(
                    "number",
                    relation_name(relation),
                    json!(a),
                    json!(b),
                    truth,
                ));
            }
        }
        for a in TEXTS {
            for b in TEXTS {
                let truth = text::compare(relation, a, b);
                cases.push(case(
                    "text",
                    relation_name(relation),
                    json!(a),
                    json!(b),
                    truth,
                ));
            }
        }
        for a in moments() {
            for b in moments() {
                let truth = date::compare(relation, a, b);
                cases.push(case(
                    "date",
                    relation_name(relation),
                    parts(a),
                    parts(b),
                    truth,
                ));
            }
        }
    }
    for a in TEXTS {
        for b in TEXTS {
            let truth = text::compare_ignoring_case(Relation::Equal, a, b);
            cases.push(case(
                "text",
                "equal-ignoring-case",
                json!(a),
                json!(b),
                truth,
            ));
        }
        let truth = member::any(["foo", "bar", "b"].map(|b| text::compare(Relation::Equal, a, b)));
        cases.push(case(
            "text",
            "in",
            json!(a),
            json!(["foo", "bar", "b"]),
            truth,
        ));
        for like in ["%", "foo%", "%o", "f_o", "%sesame%"] {
            let truth = pattern::matches(a, &pieces(like));
            cases.push(case("text", "like", json!(a), json!(like), truth));
        }
    }
    cases
}

/// The name of a relation in the files.
pub fn relation_name(relation: Relation) -> &'static str {
    match relation {
        Relation::Equal => "equal",
        Relation::NotEqual => "not-equal",
        Relation::Less => "less",
        Relation::LessOrEqual => "less-or-equal",
        Relation::Greater => "greater",
        Relation::GreaterOrEqual => "greater-or-equal",
    }
}

/// The pieces of a pattern in which `%` stands for any characters and `_` for one.
pub fn pieces(like: &str) -> Vec<PatternPiece> {
    like.chars()
        .map(|c| match c {
            '%' => PatternPiece::Many,
            '_' => PatternPiece::One,
            c => PatternPiece::Char(c),
        })
        .collect()
}

fn case(kind: &str, relation: &str, left: Value, right: Value, truth: Truth) -> Value {
    json!({
        "kind": kind,
        "relation": relation,
        "left": left,
        "right": right,
        "to_true": truth.to_true(),
        "to_false": truth.to_false(),
    })
}

fn moments() -> [DateParts; 4] {
    let day = |year, month, day| DateParts {
        year,
        month,
        day,
        ..DateParts::default()
    };
    let mut evening = day(2024, 2, 29);
    evening.hour = 21;
    evening.minute = 30;
    evening.second = 15;
    [
        day(2024, 2, 29),
        day(2024, 3, 1),
        day(1999, 12, 31),
        evening,
    ]
}

/// A moment as the files have it.
fn parts(at: DateParts) -> Value {
    json!([
        at.year, at.month, at.day, at.hour, at.minute, at.second, at.nano
    ])
}
