//! The documents of an API, and references between them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;
use url::Url;

use isobath_genes::push_segment;
use rustc_hash::FxHashSet;

use super::limitation::{LimitationKind, Limitations, SourceLocation};
use super::source;

/// Fetches the documents that a document refers to; the caller does the I/O.
pub trait Loader {
    /// The text at an absolute location: a URL, or a file path if the first document was one.
    ///
    /// # Errors
    /// Returns why the document cannot be loaded.
    fn load(&self, location: &str) -> Result<String, String>;
}

/// Loads nothing: documents have to stand alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLoader;

impl Loader for NoLoader {
    fn load(&self, _: &str) -> Result<String, String> {
        Err("external documents are not loaded".into())
    }
}

/// A place in one of the documents; the key by which things are known.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DocumentPlace {
    pub(crate) document: u32,
    pub(crate) pointer: Arc<str>,
}

impl DocumentPlace {
    pub(crate) fn child(&self, segment: &str) -> Self {
        let mut pointer = String::with_capacity(self.pointer.len() + segment.len() + 1);
        pointer.push_str(&self.pointer);
        push_segment(&mut pointer, segment);
        Self {
            document: self.document,
            pointer: pointer.into(),
        }
    }

    pub(crate) fn item(&self, index: usize) -> Self {
        self.child(&index.to_string())
    }
}

struct Document<'a> {
    location: Arc<str>,
    /// What the document calls itself by `$self`: references in it lead on from there.
    own: Option<Arc<str>>,
    text: Cow<'a, str>,
    json: Arc<Json>,
}

/// How many references in a row are followed before it is called a circle.
const MAX_HOPS: usize = 64;
/// How many documents are followed.
const MAX_DOCUMENTS: usize = 512;
/// How much text is loaded in all.
const MAX_BYTES: usize = 128 << 20;
/// Lines are found by reading the text again; enough of them is enough.
const MAX_LOCATED: usize = 200;

/// All documents read so far, and the limitations met in them.
pub(crate) struct Documents<'a> {
    documents: Vec<Document<'a>>,
    by_location: BTreeMap<Arc<str>, Option<u32>>,
    loader: &'a dyn Loader,
    n_bytes: usize,
    n_located: usize,
    /// What has been noted, so that a part that is read twice is not counted twice.
    noted: FxHashSet<(LimitationKind, DocumentPlace, String)>,
    /// Whether only answers are being read: values are not made for them, so limits of making
    /// values do not matter.
    pub(crate) is_quiet: bool,
    pub(crate) limitations: Limitations,
}

impl<'a> Documents<'a> {
    pub(crate) fn new(location: &str, text: &'a str, json: Json, loader: &'a dyn Loader) -> Self {
        let mut first = Self {
            by_location: BTreeMap::new(),
            n_bytes: 0,
            documents: Vec::new(),
            loader,
            n_located: 0,
            noted: FxHashSet::default(),
            is_quiet: false,
            limitations: Limitations::default(),
        };
        first.add(location.into(), text.into(), json);
        first
    }

    /// Takes a document in, under the location it came from and under the name it gives itself.
    fn add(&mut self, location: Arc<str>, text: Cow<'a, str>, json: Json) -> Option<u32> {
        let id = u32::try_from(self.documents.len()).ok()?;
        let own: Option<Arc<str>> = json
            .get("$self")
            .and_then(Json::as_str)
            .map(|own| join(&location, own.split('#').next().unwrap_or_default()).into());
        if let Some(own) = &own {
            self.by_location.entry(own.clone()).or_insert(Some(id));
        }
        self.by_location.insert(location.clone(), Some(id));
        self.n_bytes += text.len();
        self.documents.push(Document {
            location,
            own,
            text,
            json: Arc::new(json),
        });
        Some(id)
    }

    pub(crate) fn root(&self) -> DocumentPlace {
        DocumentPlace {
            document: 0,
            pointer: "".into(),
        }
    }

    /// The value at a place, as it is written there.
    pub(crate) fn get(&self, place: &DocumentPlace) -> Option<&Json> {
        let document = self.documents.get(place.document as usize)?;
        document.json.pointer(&place.pointer)
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "places are made with the number of a document that was added, and none is removed"
    )]
    fn at(&self, place: &DocumentPlace) -> &Document<'a> {
        &self.documents[place.document as usize]
    }

    /// The whole document of a place, to read from while limitations are noted.
    pub(crate) fn document(&self, place: &DocumentPlace) -> Arc<Json> {
        self.at(place).json.clone()
    }

    /// The place as it is shown to people.
    pub(crate) fn show(&mut self, place: &DocumentPlace) -> SourceLocation {
        self.n_located += 1;
        let document = self.at(place);
        let line_column = (self.n_located <= MAX_LOCATED)
            .then(|| source::locate(&document.text, &place.pointer))
            .flatten();
        SourceLocation {
            location: document.location.clone(),
            pointer: place.pointer.clone(),
            line_column,
        }
    }

    /// The place as it is shown to people, without the line, which takes a reading of the text.
    pub(crate) fn show_briefly(&self, place: &DocumentPlace) -> SourceLocation {
        SourceLocation {
            location: self.at(place).location.clone(),
            pointer: place.pointer.clone(),
            line_column: None,
        }
    }

    pub(crate) fn limit(
        &mut self,
        kind: LimitationKind,
        place: &DocumentPlace,
        detail: impl Into<String>,
    ) {
        let about_values = matches!(
            kind,
            LimitationKind::SchemaKeyword
                | LimitationKind::Format
                | LimitationKind::Pattern
                | LimitationKind::Contradiction
        );
        if self.is_quiet && about_values {
            return;
        }
        let detail = detail.into();
        if self.noted.insert((kind, place.clone(), detail.clone())) {
            let shown = self.show(place);
            self.limitations.add(kind, detail, shown);
        }
    }

    /// Follows `$ref` from a place until there is content; `None` after noting why there is none.
    pub(crate) fn follow(&mut self, place: &DocumentPlace) -> Option<DocumentPlace> {
        let mut at = place.clone();
        for _ in 0..MAX_HOPS {
            let Some(json) = self.get(&at) else {
                self.limit(
                    LimitationKind::UnresolvedReference,
                    place,
                    format!("nothing found at `{}`", at.pointer),
                );
                return None;
            };
            let Some(reference) = json.get("$ref").and_then(Json::as_str) else {
                return Some(at);
            };
            let reference = reference.to_owned();
            at = self.target(&at, &reference)?;
        }
        self.limit(LimitationKind::ReferenceCycle, place, "circular references");
        None
    }

    /// Where a reference at `from` leads; loads the document if it is another one.
    pub(crate) fn target(
        &mut self,
        from: &DocumentPlace,
        reference: &str,
    ) -> Option<DocumentPlace> {
        let (location, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let document = if location.is_empty() {
            from.document
        } else {
            self.load(from, location)?
        };
        let pointer = percent_encoding::percent_decode_str(fragment).decode_utf8_lossy();
        let place = DocumentPlace {
            document,
            pointer: pointer.as_ref().into(),
        };
        if self.get(&place).is_none() {
            self.limit(
                LimitationKind::UnresolvedReference,
                from,
                format!("unresolved reference `{reference}`"),
            );
            return None;
        }
        Some(place)
    }

    fn load(&mut self, from: &DocumentPlace, reference: &str) -> Option<u32> {
        let document = self.at(from);
        let here: Arc<str> = join(&document.location, reference).into();
        // A document that has a name is often a copy: what is not at its name may lie beside the copy.
        let named: Option<Arc<str>> = document.own.as_ref().map(|own| join(own, reference).into());
        let places: Vec<Arc<str>> = named.into_iter().chain([here]).collect();
        let mut reasons = Vec::new();
        for location in places {
            match self.by_location.get(&location) {
                Some(Some(known)) => return Some(*known),
                Some(None) => continue,
                None => {}
            }
            match self.fetch(&location) {
                Ok((text, json)) => return self.add(location, text.into(), json),
                Err(reason) => {
                    // Remembered: a document that is missing is asked for once.
                    self.by_location.insert(location, None);
                    reasons.push(reason);
                }
            }
        }
        if let Some(reason) = reasons.pop() {
            self.limit(
                LimitationKind::UnresolvedReference,
                from,
                format!("`{reference}`: {reason}"),
            );
        }
        None
    }

    fn fetch(&self, location: &str) -> Result<(String, Json), String> {
        if self.documents.len() >= MAX_DOCUMENTS || self.n_bytes >= MAX_BYTES {
            return Err("too many documents".to_owned());
        }
        let text = self.loader.load(location)?;
        let json = source::parse(&text)
            .map_err(|error| format!("line {}: {}", error.line, error.message))?;
        Ok((text, json))
    }
}

/// The absolute location of a reference found in the document at `base`.
pub(crate) fn join(base: &str, reference: &str) -> String {
    let is_url = |text: &str| {
        text.split_once("://").is_some_and(|(scheme, _)| {
            scheme.len() > 1 && scheme.chars().all(char::is_alphanumeric)
        })
    };
    if is_url(reference) {
        return reference.to_owned();
    }
    if is_url(base) {
        return Url::parse(base)
            .and_then(|base| base.join(reference))
            .map_or_else(|_| reference.to_owned(), Into::into);
    }
    if reference.starts_with('/') {
        return reference.to_owned();
    }
    let decoded = percent_encoding::percent_decode_str(reference).decode_utf8_lossy();
    let mut parts: Vec<&str> = base.split('/').collect();
    parts.pop();
    for part in decoded.split('/') {
        match part {
            "." | "" => {}
            ".." if parts
                .last()
                .is_some_and(|last| *last != ".." && !last.is_empty()) =>
            {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_joined_like_links() {
        let cases = [
            (
                "api/openapi.yaml",
                "schemas/pet.yaml",
                "api/schemas/pet.yaml",
            ),
            ("/a/b/openapi.yaml", "../c/x.json", "/a/c/x.json"),
            ("openapi.yaml", "./x.json", "x.json"),
            ("openapi.yaml", "../x.json", "../x.json"),
            ("http://h/a/o.json", "b/x.json", "http://h/a/b/x.json"),
            ("o.json", "https://h/x.json", "https://h/x.json"),
            ("a/o.json", "/x.json", "/x.json"),
        ];
        for (base, reference, expected) in cases {
            assert_eq!(join(base, reference), expected, "{reference} in {base}");
        }
    }
}
