//! Matches names of the OpenAPI document with names of the database schema.

use std::collections::BTreeSet;
use std::sync::Arc;

use isobath_exec::http::Request;
use isobath_genes::{Domain, Model, NodeId};
use isobath_sql::Schema;

use crate::compare;
use crate::openapi::{Api, Operation};

/// A property of a body, as the document declares it.
#[derive(Clone, Debug)]
pub(crate) struct BodyField {
    pub(crate) name: Arc<str>,
    pub(crate) node: NodeId,
    pub(crate) required: bool,
}

/// A name without what differs between spellings: `boatId`, `boat_id` and `BOAT-ID` are one.
pub(crate) fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// A plain name in the singular, as far as English is regular.
pub(crate) fn singular(name: &str) -> String {
    let name = plain(name);
    for (ending, instead) in [
        ("ies", "y"),
        ("sses", "ss"),
        ("xes", "x"),
        ("ches", "ch"),
        ("shes", "sh"),
    ] {
        if let Some(stem) = name.strip_suffix(ending).filter(|stem| !stem.is_empty()) {
            return format!("{stem}{instead}");
        }
    }
    match name.strip_suffix('s') {
        Some(stem) if !stem.is_empty() && !stem.ends_with('s') => stem.to_owned(),
        _ => name,
    }
}

/// All that a plain name may be in the singular.
pub(crate) fn stems(name: &str) -> Vec<String> {
    let mut stems = vec![singular(name)];
    if let Some(stem) = plain(name).strip_suffix("ves") {
        stems.extend([format!("{stem}f"), format!("{stem}fe")]);
    }
    stems
}

/// The table that holds what a segment of a path names: one of that name, or the only one that ends with it.
fn table_named(schema: &Schema, segment: &str) -> Option<usize> {
    let wanted = stems(segment);
    if wanted.first().is_none_or(|name| name.len() < 2) {
        return None;
    }
    let names: Vec<Vec<String>> = schema
        .tables
        .iter()
        .map(|table| stems(&table.name))
        .collect();
    let is_it = |names: &Vec<String>| names.iter().any(|name| wanted.contains(name));
    if let Some(exact) = names.iter().position(is_it) {
        return Some(exact);
    }
    let ends = |names: &Vec<String>| {
        names
            .iter()
            .any(|name| wanted.iter().any(|wanted| name.ends_with(wanted)))
    };
    let mut ending = names.iter().enumerate().filter(|(_, names)| ends(names));
    match (ending.next(), ending.next()) {
        (Some((table, _)), None) => Some(table),
        _ => None,
    }
}

/// The table that an operation is about: that of the last segment of its path that is no parameter, where nothing but
/// one parameter follows.
pub(crate) fn table_of(schema: &Schema, operation: &Operation) -> Option<usize> {
    let segments: Vec<&str> = operation
        .path
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    let collection = match segments.as_slice() {
        [.., collection, last] if is_parameter(last) => collection,
        [.., last] => last,
        [] => return None,
    };
    if is_parameter(collection) {
        return None;
    }
    table_named(schema, collection)
}

/// Whether an operation is about a link between two things, which is a row of neither of their tables: that of
/// `/boats/{id}/tags/{tag}` is in the table that refers to both `boats` and `tags`.
pub(crate) fn is_about_link(schema: &Schema, operation: &Operation) -> bool {
    let segments: Vec<&str> = operation
        .path
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    let [.., owner, owner_key, linked, key] = segments.as_slice() else {
        return false;
    };
    if !is_parameter(owner_key) || !is_parameter(key) || is_parameter(owner) {
        return false;
    }
    let refers = |from: usize, to: usize| {
        schema
            .table(from)
            .foreign_keys()
            .any(|key| key.parent == to)
    };
    match (table_named(schema, owner), table_named(schema, linked)) {
        (Some(owner), Some(linked)) if owner != linked && !refers(linked, owner) => {
            let mut tables = 0..schema.tables.len();
            tables.any(|link| refers(link, owner) && refers(link, linked))
        }
        _ => false,
    }
}

fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{') && segment.ends_with('}')
}

/// Whether the path of an operation ends with a parameter, and so names one thing.
pub(crate) fn names_one(operation: &Operation) -> bool {
    operation
        .path
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .is_some_and(is_parameter)
}

/// The values of the path's parameters in a request, in order.
pub(crate) fn path_values(operation: &Operation, base: &str, request: &Request) -> Vec<String> {
    let path = request.url.strip_prefix(base).unwrap_or(&request.url);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let template = operation.path.trim_matches('/').split('/');
    let sent = path.trim_matches('/').split('/');
    template
        .zip(sent)
        .filter(|(part, _)| is_parameter(part))
        .map(|(_, value)| {
            percent_encoding::percent_decode_str(value)
                .decode_utf8_lossy()
                .into_owned()
        })
        .collect()
}

/// The properties of the JSON body of an operation, in all alternatives.
pub(crate) fn body_fields(api: &Api, operation: &Operation) -> Vec<BodyField> {
    let mut fields = Vec::new();
    if let Some(body) = crate::action::declared(&api.model, operation.input, "body") {
        collect(&api.model, body, 8, &mut fields);
    }
    fields
}

fn collect(model: &Model, node: NodeId, depth: u8, fields: &mut Vec<BodyField>) {
    match &model.node(node).domain {
        Domain::Object(object) => {
            for field in &object.fields {
                if !fields
                    .iter()
                    .any(|known: &BodyField| known.name == field.name)
                {
                    fields.push(BodyField {
                        name: Arc::clone(&field.name),
                        node: field.node,
                        required: field.required,
                    });
                }
            }
        }
        Domain::Choice(options) if depth > 0 => {
            for &option in options {
                collect(model, option, depth - 1, fields);
            }
        }
        _ => {}
    }
}

/// The column of a table that matches a property of the document.
pub(crate) fn column_of(schema: &Schema, table: usize, property: &str) -> Option<usize> {
    let wanted = plain(property);
    let columns = &schema.tables.get(table)?.columns;
    columns
        .iter()
        .position(|column| plain(&column.name) == wanted)
}

/// The words of a name: `lastSeen_at` is last, seen, at.
fn words(name: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.insert(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words.insert(word);
    words
        .into_iter()
        .map(|word| singular(&word))
        .filter(|word| !word.is_empty())
        .collect()
}

/// Whether the name of a table suggests bookkeeping: logs, sessions, caches.
pub(crate) fn is_log(table: &str) -> bool {
    const WORDS: [&str; 34] = [
        "log",
        "audit",
        "auditing",
        "history",
        "trail",
        "session",
        "token",
        "cache",
        "queue",
        "job",
        "outbox",
        "inbox",
        "visit",
        "stat",
        "statistic",
        "metric",
        "counter",
        "migration",
        "idempotency",
        "lock",
        "limit",
        "attempt",
        "login",
        "activity",
        "view",
        "hit",
        "trace",
        "access",
        "request",
        "nonce",
        "usage",
        "telemetry",
        "analytic",
        "journal",
    ];
    words(table)
        .iter()
        .any(|word| WORDS.contains(&word.as_str()))
}

/// Whether the name of a column suggests bookkeeping: times, versions, counts.
pub(crate) fn is_bookkeeping(column: &str) -> bool {
    const WORDS: [&str; 26] = [
        "last",
        "seen",
        "access",
        "accessed",
        "view",
        "viewed",
        "hit",
        "count",
        "counter",
        "attempt",
        "login",
        "read",
        "expire",
        "expires",
        "expiry",
        "token",
        "failed",
        "failure",
        "retry",
        "used",
        "use",
        "usage",
        "visit",
        "popularity",
        "score",
        "checked",
    ];
    compare::is_bookkeeping(column)
        || words(column)
            .iter()
            .any(|word| WORDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_in_every_spelling_and_number() {
        assert_eq!(plain("boat_id"), plain("boatId"));
        for (name, one) in [
            ("Boats", "boat"),
            ("berths", "berth"),
            ("categories", "category"),
            ("boxes", "box"),
            ("address", "address"),
            ("addresses", "address"),
            ("shelves", "shelve"),
        ] {
            assert_eq!(singular(name), one);
        }
    }

    #[test]
    fn a_plural_in_ves_may_come_from_f() {
        assert_eq!(stems("shelves"), ["shelve", "shelf", "shelfe"]);
        assert_eq!(stems("boats"), ["boat"]);
    }

    #[test]
    fn a_path_below_another_thing_may_name_a_link_between_the_two() {
        let source = isobath_sql::ddl::Source {
            name: "boats.sql".to_owned(),
            text: "CREATE TABLE boats (id INT PRIMARY KEY);
                   CREATE TABLE tags (id INT PRIMARY KEY);
                   CREATE TABLE sails (id INT PRIMARY KEY, boat_id INT REFERENCES boats (id));
                   CREATE TABLE boat_tags (boat_id INT REFERENCES boats (id), tag_id INT REFERENCES tags (id));"
                .to_owned(),
        };
        let dialect = Some(isobath_sql::DialectName::Postgres);
        let schema = isobath_sql::ddl::load("boats", &[source], dialect).schema;
        let paths = [
            "/boats/{id}/tags/{tag}",
            "/boats/{id}/sails/{sail}",
            "/tags/{tag}",
        ];
        let operations: String = paths
            .iter()
            .map(|path| {
                format!("  {path}:\n    delete: {{responses: {{'204': {{description: gone}}}}}}\n")
            })
            .collect();
        let document =
            format!("openapi: 3.0.0\ninfo: {{title: t, version: '1'}}\npaths:\n{operations}");
        let api = crate::openapi::read(&document, "api.yaml", &crate::openapi::NoLoader)
            .expect("a good document");
        let links: Vec<bool> = api
            .operations
            .iter()
            .map(|operation| is_about_link(&schema, operation))
            .collect();
        assert_eq!(links, [true, false, false]);
    }

    #[test]
    fn logs_and_counts_are_told_by_their_words() {
        assert!(
            ["audit_log", "UserSessions", "rate_limits", "page_views"]
                .iter()
                .all(|name| is_log(name))
        );
        assert!(
            !["catalog", "blogs", "boats", "jobless"]
                .iter()
                .any(|name| is_log(name))
        );
        assert!(
            ["last_seen", "viewCount", "updated_at"]
                .iter()
                .all(|name| is_bookkeeping(name))
        );
        assert!(
            !["country", "discount", "name", "status"]
                .iter()
                .any(|name| is_bookkeeping(name))
        );
    }
}
