//! Texts that differ in every run: names that a service accepts only once.
//!
//! A service that cannot be reset keeps what it was given. A test that creates something under a fixed name would
//! pass once and then meet its own leftovers. The places of such names are learned after the search
//! (`crate::job`); from then on every run of a candidate fills them with a text that no other run has used.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use isobath_genes::NodeRef;
use isobath_search::Rng;
use serde_json::Value;

use crate::candidate::{Candidate, StepKind};

/// Digits that make a text unique, and fewer where it must be short.
const DIGITS: [usize; 3] = [8, 6, 4];
/// Characters of the text that are kept before them.
const KEPT: usize = 24;
/// Equal texts that are shorter than this need not mean the same thing.
const TELLING: usize = 3;

/// A text of a candidate, as it was sent in one run: a fixed beginning and end around hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueText {
    /// The text of the candidate that it stands for.
    pub plain: String,
    /// What was sent.
    pub sent: String,
    /// The property that it was learned for.
    pub name: String,
    /// How it begins.
    pub prefix: String,
    /// How it ends.
    pub suffix: String,
    /// How many digits stand between.
    pub digits: usize,
}

/// The places whose texts must be unique, and how often they were filled.
#[derive(Debug, Default)]
pub(crate) struct UniqueTexts {
    places: BTreeMap<usize, BTreeSet<String>>,
    /// The operations that were looked at.
    begun: BTreeSet<usize>,
    seed: u64,
    runs: u64,
}

impl UniqueTexts {
    /// No places yet; texts of other seeds differ.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    /// Whether an operation is looked at for the first time.
    pub(crate) fn begin(&mut self, operation: usize) -> bool {
        self.begun.insert(operation)
    }

    /// Whether places of an operation are known.
    pub(crate) fn knows(&self, operation: usize) -> bool {
        self.places.contains_key(&operation)
    }

    /// Replaces what is known of an operation.
    pub(crate) fn set(&mut self, operation: usize, places: BTreeSet<String>) {
        if places.is_empty() {
            self.places.remove(&operation);
        } else {
            self.places.insert(operation, places);
        }
    }

    /// The candidate with texts of its own for this run; `None` when it has no such places.
    pub(crate) fn refresh(
        &mut self,
        candidate: &Candidate,
    ) -> Option<(Candidate, Arc<[UniqueText]>)> {
        let mut texts: Vec<UniqueText> = Vec::new();
        for step in &candidate.steps {
            let StepKind::Call { action, breach } = &step.kind else {
                continue;
            };
            let Some(places) = self.places.get(&action.operation) else {
                continue;
            };
            action.gene.walk(|place| {
                // What breaks a rule on purpose continues to do so.
                let breach = breach.as_ref();
                let is_broken = breach.is_some_and(|breach| place.pointer == &*breach.pointer);
                if !places.contains(place.pointer) || is_broken {
                    return;
                }
                if let Some(plain) = place.text()
                    && !texts.iter().any(|text| text.plain == plain)
                {
                    let number = (self.runs << 8) + texts.len() as u64;
                    texts.extend(unique(place, plain, self.seed, number));
                }
            });
        }
        if texts.is_empty() {
            return None;
        }
        self.runs += 1;
        let mut fresh = candidate.clone();
        for step in &mut fresh.steps {
            let StepKind::Call { action, .. } = &mut step.kind else {
                continue;
            };
            let places = self.places.get(&action.operation);
            let mut changes = Vec::new();
            action.gene.walk(|place| {
                let is_learned = places.is_some_and(|places| places.contains(place.pointer));
                if let Some(plain) = place.text()
                    && let Some(text) = texts.iter().find(|text| text.plain == plain)
                    && (is_learned || plain.chars().count() >= TELLING)
                {
                    changes.push((place.pointer.to_owned(), text.sent.clone()));
                }
            });
            for (pointer, sent) in changes {
                action.gene.set_json(&pointer, &Value::String(sent));
            }
        }
        Some((fresh, texts.into()))
    }
}

/// The candidate with other names for what these steps create, and for all that has the same names.
pub(crate) fn with_new_names(
    candidate: &Candidate,
    creators: &[(u32, usize)],
    seed: u64,
) -> Option<Candidate> {
    let mut texts = UniqueTexts::new(seed);
    for (step, operation) in creators {
        let places = possible_places(candidate, *step).into_iter();
        texts.set(*operation, places.filter(|place| is_name(place)).collect());
    }
    texts.refresh(candidate).map(|(fresh, _)| fresh)
}

/// The places of a gene at which a text may be made unique: those of names and keys first.
pub(crate) fn possible_places(candidate: &Candidate, step: u32) -> Vec<String> {
    let steps = candidate.steps.iter();
    let mut places = Vec::new();
    for input in steps
        .filter(|one| one.id == step)
        .filter_map(|one| one.input())
    {
        input.walk(|place| {
            let is_sent = place.pointer.starts_with("/body") || place.pointer.starts_with("/path/");
            if let Some(plain) = place.text()
                && is_sent
                && unique(place, plain, 0, 0).is_some()
            {
                places.push(place.pointer.to_owned());
            }
        });
    }
    places.sort_by_key(|place| (!is_name(place), place.matches('/').count()));
    places.dedup();
    places
}

/// Whether a place sounds like one that tells things apart.
fn is_name(place: &str) -> bool {
    const WORDS: [&str; 10] = [
        "name", "id", "key", "slug", "title", "mail", "code", "login", "handle", "token",
    ];
    let last = place
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    WORDS.iter().any(|word| last.contains(word))
}

/// A text for this place that begins like `plain` and that no other number gives; `None` where none fits.
fn unique(place: NodeRef<'_>, plain: String, seed: u64, number: u64) -> Option<UniqueText> {
    let (start, end) = match plain.split_once('@') {
        Some((start, host)) if host.contains('.') => (start, format!("@{host}")),
        _ => (plain.as_str(), String::new()),
    };
    // What would have to be encoded in a path is left out.
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
    let start: String = start.chars().filter(is_plain).take(KEPT).collect();
    let name = place.pointer.rsplit('/').next().unwrap_or_default();
    let random = Rng::with_seed(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).u64(..);
    for (prefix, digits) in DIGITS
        .iter()
        .flat_map(|digits| [(start.as_str(), *digits), ("", *digits)])
    {
        let sent = format!("{prefix}{}{end}", &format!("{random:016x}")[..digits]);
        let json = Value::String(sent.clone());
        if place.model.read(place.node, &json).is_ok() {
            return Some(UniqueText {
                name: name.to_owned(),
                prefix: prefix.to_owned(),
                suffix: end,
                plain,
                sent,
                digits,
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use isobath_genes::Gene;
    use serde_json::json;

    use super::*;
    use crate::openapi::{NoLoader, read};

    #[test]
    fn what_is_created_and_all_that_names_it_get_the_same_new_name() {
        let text = json!({ "type": "string" });
        let document = json!({ "openapi": "3.0.0", "paths": {
            "/boats": { "post": {
                "requestBody": { "required": true, "content": { "application/json": { "schema": {
                    "type": "object", "properties": { "name": text, "color": text } } } } },
                "responses": {} } },
            "/boats/{name}": { "get": {
                "parameters": [{ "name": "name", "in": "path", "required": true, "schema": text }],
                "responses": {} } } } });
        let api = read(&document.to_string(), "api.json", &NoLoader).expect("a document");
        let inputs = [
            json!({ "body": { "name": "Gull", "color": "white" } }),
            json!({ "path": { "name": "Gull" } }),
        ];
        let mut candidate = Candidate::default();
        for (operation, input) in inputs.iter().enumerate() {
            let node = api.operations[operation].input;
            let input = Gene::read(&api.model, node, input).expect("a valid input");
            candidate.push(StepKind::call(operation, input), None);
        }
        let renamed = with_new_names(&candidate, &[(0, 0)], 1).expect("it has a name");
        let mut texts = Vec::new();
        for input in renamed.steps.iter().filter_map(|step| step.input()) {
            input.walk(|place| texts.extend(place.text()));
        }
        texts.sort();
        let [name, in_path, color] = texts.as_slice() else {
            panic!("{texts:?}");
        };
        assert_eq!((name, color.as_str()), (in_path, "white"));
        assert!(name.starts_with("Gull") && name != "Gull", "{name}");
        let steps = |candidate: &Candidate| -> Vec<u32> {
            candidate.steps.iter().map(|step| step.id).collect()
        };
        assert_eq!(steps(&renamed), steps(&candidate));
    }
}
