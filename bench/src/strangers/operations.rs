//! Which operation of a document a recorded call belongs to.

use std::collections::BTreeSet;
use std::path::Path;

use isobath_rest::openapi::{self, NoLoader};
use regex::Regex;

use super::recorder::Call;
use super::setup::Stranger;
use super::{fetch, read_file};
use crate::verdict::BenchError;

/// The operations of a document, the most literal paths first.
pub(super) struct Operations {
    base_path: String,
    operations: Vec<Operation>,
}

struct Operation {
    method: String,
    path: String,
    pattern: Regex,
}

/// What was reached.
pub(super) struct Reach {
    pub(super) n_operations: usize,
    pub(super) called: usize,
    pub(super) succeeded: usize,
    /// Pairs of an operation and a status.
    pub(super) pairs: usize,
    /// Those with a status from 500 on.
    pub(super) server_errors: usize,
    /// The pairs, one per line.
    pub(super) listing: String,
}

impl Operations {
    /// Reads the document of a running service.
    pub(super) fn read(stranger: &Stranger, folder: &Path, port: u16) -> Result<Self, BenchError> {
        let place = stranger.document(folder, port);
        let text = if stranger.document.starts_with('/') {
            fetch(&place)?
        } else {
            read_file(place.clone().into())?
        };
        let api = openapi::read(&text, &place, &NoLoader)?;
        let mut base_path = stranger.base_path.clone();
        if base_path.is_empty()
            && let Some(server) = api.servers.first()
        {
            let path = server
                .url
                .split_once("://")
                .map_or(server.url.as_str(), |(_, rest)| {
                    rest.find('/').map_or("", |at| &rest[at..])
                });
            base_path = path.trim_end_matches('/').to_owned();
        }
        let is_excluded = |path: &str| stranger.exclude_paths.iter().any(|known| known == path);
        let allowed = api.operations.iter();
        let allowed = allowed.filter(|operation| !is_excluded(&operation.path));
        let operations = allowed.map(|operation| {
            Ok(Operation {
                method: operation.method.to_string(),
                path: operation.path.to_string(),
                pattern: Regex::new(&pattern(&operation.path))?,
            })
        });
        let mut operations = operations.collect::<Result<Vec<_>, regex::Error>>()?;
        operations.sort_by_key(|operation| operation.path.matches('{').count());
        Ok(Self {
            base_path,
            operations,
        })
    }

    /// The operation that a call is of. As OpenAPI says, a literal path goes before a templated one, also where it lacks
    /// the method.
    fn of(&self, call: &Call) -> Option<usize> {
        let path = call.path.strip_prefix(&self.base_path)?;
        let mut operations = self.operations.iter();
        // The names of parameters do not matter.
        let template = operations.find(|known| known.pattern.is_match(path))?;
        let template = template.pattern.as_str();
        let is_of =
            |known: &Operation| known.method == call.method && known.pattern.as_str() == template;
        self.operations.iter().position(is_of)
    }

    /// What the calls reached.
    pub(super) fn reach(&self, calls: &[Call]) -> Reach {
        let mut called = BTreeSet::new();
        let mut pairs = BTreeSet::new();
        for call in calls {
            if let Some(operation) = self.of(call) {
                called.insert(operation);
                pairs.extend(call.status.map(|status| (operation, status)));
            }
        }
        let with = |range: std::ops::Range<u16>| {
            let pairs = pairs
                .iter()
                .filter(move |(_, status)| range.contains(status));
            pairs
                .map(|(operation, _)| *operation)
                .collect::<BTreeSet<usize>>()
                .len()
        };
        Reach {
            n_operations: self.operations.len(),
            called: called.len(),
            succeeded: with(200..300),
            pairs: pairs.len(),
            server_errors: with(500..600),
            listing: self.listing(&pairs),
        }
    }
}

impl Operations {
    fn listing(&self, pairs: &BTreeSet<(usize, u16)>) -> String {
        let lines = pairs.iter().filter_map(|(operation, status)| {
            let operation = self.operations.get(*operation)?;
            Some(format!(
                "{} {} {status}\n",
                operation.method, operation.path
            ))
        });
        lines.collect()
    }
}

/// A path template as a regular expression.
fn pattern(path: &str) -> String {
    let mut pattern = String::from("^");
    let mut rest = path;
    while let Some((literal, tail)) = rest.split_once('{') {
        pattern.push_str(&regex::escape(literal));
        pattern.push_str("[^/]*");
        rest = tail.split_once('}').map_or("", |(_, tail)| tail);
    }
    pattern.push_str(&regex::escape(rest));
    pattern.push('$');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(method: &str, path: &str) -> Operation {
        Operation {
            method: method.to_owned(),
            path: path.to_owned(),
            pattern: Regex::new(&pattern(path)).unwrap(),
        }
    }

    #[test]
    fn calls_are_counted_for_the_operation_with_the_most_literal_path() {
        let operations = Operations {
            base_path: "/api".to_owned(),
            operations: vec![
                operation("GET", "/boats/new"),
                operation("GET", "/boats/{id}"),
                operation("DELETE", "/boats/{boatId}"),
            ],
        };
        let call = |method: &str, path: &str, status| Call {
            method: method.to_owned(),
            path: path.to_owned(),
            status,
        };
        let reach = operations.reach(&[
            call("GET", "/api/boats/new", Some(200)),
            call("GET", "/api/boats/7", Some(404)),
            call("GET", "/api/boats/7", Some(404)),
            call("DELETE", "/api/boats/7", Some(500)),
            call("PUT", "/api/boats/7", Some(405)),
            call("DELETE", "/api/boats/new", Some(405)),
            call("GET", "/elsewhere", Some(200)),
        ]);
        assert_eq!((reach.called, reach.succeeded, reach.pairs), (3, 1, 3));
        assert_eq!(reach.server_errors, 1);
        assert_eq!(
            reach.listing,
            "GET /boats/new 200\nGET /boats/{id} 404\nDELETE /boats/{boatId} 500\n"
        );
    }
}
