//! Names and descriptions of tests.

use std::collections::BTreeMap;

use isobath_genes::{Rule, RuleViolation, ValueClass};

use crate::openapi::Api;
use crate::target::{JsonShape, Target, facet_words};

/// Lines about what a test covers; more would not be read.
const MAX_LINES: usize = 6;
/// Parts of one line.
const MAX_PARTS: usize = 5;

/// What a test is about: its last call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject {
    pub(super) operation: Option<usize>,
    pub(super) user: Option<usize>,
    pub(super) status: Option<u16>,
}

/// Descriptions for one status of one operation.
#[derive(Default)]
struct StatusLine<'a> {
    users: Vec<&'a str>,
    shapes: Vec<String>,
}

/// Returns the input value at a place of an operation, if short enough for a name.
pub(super) type ValueAt<'a> = &'a dyn Fn(usize, &str) -> Option<String>;

/// What a test covers besides its name, one line per operation and status.
pub(super) fn covers(
    targets: &[Target],
    api: &Api,
    users: &[&str],
    subject: Subject,
    value: ValueAt<'_>,
) -> Vec<String> {
    let name = |operation: usize| api.operation(operation).name();
    let mut heads: BTreeMap<(usize, u16), StatusLine<'_>> = BTreeMap::new();
    let mut inputs: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut others: Vec<String> = Vec::new();
    for target in targets {
        match target {
            Target::Status(operation, status) => {
                heads.entry((*operation, *status)).or_default();
            }
            Target::Access(operation, user, status) => {
                let who = match user {
                    Some(user) => users.get(*user).copied().unwrap_or("another user"),
                    None => "nobody",
                };
                let head = heads.entry((*operation, *status)).or_default();
                let named = subject.operation == Some(*operation)
                    && subject.status == Some(*status)
                    && subject.user == *user;
                if !named && !users.is_empty() {
                    head.users.push(who);
                }
            }
            Target::Shape(operation, status, place, shape) => {
                let head = heads.entry((*operation, *status)).or_default();
                // That a text is a text is seen in the test.
                if !matches!(
                    shape,
                    JsonShape::Text | JsonShape::Number | JsonShape::Object
                ) {
                    let place = if place.is_empty() { "the body" } else { place };
                    head.shapes.push(format!("{place} {}", shape.words()));
                }
            }
            Target::Input(operation, place, facet) => inputs
                .entry(*operation)
                .or_default()
                .push(input(*operation, place, *facet, value)),
            Target::Chain(producer, consumer, place) => inputs
                .entry(*consumer)
                .or_default()
                .push(format!("{} taken from {}", plain(place), name(*producer))),
            target => others.push(target.describe(api)),
        }
    }
    let mut lines = Vec::new();
    for ((operation, status), StatusLine { users, shapes }) in heads {
        let is_subject = subject.operation == Some(operation) && subject.status == Some(status);
        if is_subject && users.is_empty() && shapes.is_empty() {
            continue;
        }
        let mut line = format!("{} returns {status}", name(operation));
        if !users.is_empty() {
            line.push_str(&format!(" to {}", users.join(" and ")));
        }
        if !shapes.is_empty() {
            line.push_str(&format!(", {}", some(&shapes)));
        }
        lines.push(line);
    }
    for (operation, parts) in inputs {
        lines.push(format!(
            "{} succeeds with {}",
            name(operation),
            some(&parts)
        ));
    }
    lines.extend(others);
    let n_more = lines.len().saturating_sub(MAX_LINES);
    lines.truncate(MAX_LINES);
    if n_more > 0 {
        lines.push(format!("{n_more} more"));
    }
    lines
}

/// A facet of an input, by its value if that is clearer.
fn input(operation: usize, place: &str, facet: ValueClass, value: ValueAt<'_>) -> String {
    let by_value = matches!(
        facet,
        ValueClass::Member(_) | ValueClass::Minimum | ValueClass::Maximum | ValueClass::Zero
    );
    match value(operation, place).filter(|_| by_value) {
        Some(value) => format!("{} {value}", plain(place)),
        None => format!("{} {}", plain(place), facet_words(facet)),
    }
}

fn some(parts: &[String]) -> String {
    let mut text = parts.get(..MAX_PARTS).unwrap_or(parts).join(", ");
    if parts.len() > MAX_PARTS {
        text.push_str(&format!(" and {} more", parts.len() - MAX_PARTS));
    }
    text
}

/// A place in an input as its author calls it.
pub(super) fn plain(pointer: &str) -> String {
    let pointer = pointer.trim_start_matches('/');
    let place = ["path/", "query/", "header/", "cookie/"]
        .iter()
        .find_map(|group| pointer.strip_prefix(group))
        .unwrap_or(pointer);
    place
        .replace("~1", "/")
        .replace("~0", "~")
        .replace('/', ".")
}

/// What is wrong with an input: `body.length is below its minimum`.
pub(super) fn wrong(breach: &RuleViolation) -> String {
    let what = match breach.rule {
        Rule::Type => "has the wrong type",
        Rule::NotNull => "is null",
        Rule::Required => "is missing",
        Rule::Minimum => "is below its minimum",
        Rule::Maximum => "is above its maximum",
        Rule::MultipleOf => "is not a multiple of its step",
        Rule::MinLength => "is too short",
        Rule::MaxLength => "is too long",
        Rule::Pattern => "does not match its pattern",
        Rule::Format => "does not match its format",
        Rule::Enum => "is not in its enum",
        Rule::MinItems => "has too few items",
        Rule::MaxItems => "has too many items",
        Rule::UniqueItems => "has duplicate items",
        Rule::MinProperties => "has too few properties",
        Rule::MaxProperties => "has too many properties",
        Rule::AdditionalProperties => "has an unknown property",
        Rule::Choice => "matches none of its alternatives",
        Rule::Syntax => "is malformed",
        Rule::ContentType => "has an undocumented content type",
    };
    format!("{} {what}", plain(&breach.pointer))
}

/// What distinguishes a test from others with the same name: its input targets.
pub(super) fn difference(
    targets: &[Target],
    operation: Option<usize>,
    value: ValueAt<'_>,
) -> Option<String> {
    targets.iter().find_map(|target| match target {
        Target::Input(own, place, facet) if Some(*own) == operation => {
            Some(format!("with {}", input(*own, place, *facet, value)))
        }
        Target::Shape(own, _, place, shape)
            if Some(*own) == operation
                && !matches!(
                    shape,
                    JsonShape::Text | JsonShape::Number | JsonShape::Object
                ) =>
        {
            let place = if place.is_empty() { "the body" } else { place };
            Some(format!("and {place} {}", shape.words()))
        }
        _ => None,
    })
}
