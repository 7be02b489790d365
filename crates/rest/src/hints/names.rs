//! What names tell about free texts: what other fields of that name are in the same document, or what the name says.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use isobath_genes::{Domain, Gene, GeneConfig, Model, NodeId, SpecializationModel, Value};
use isobath_search::Rng;

use super::constraint;
use crate::resource::plain_name;

/// The chance that a text is what its name says. Nothing in the document obliges it to be.
const USE: f64 = 0.6;
/// Endings of names that mean the same everywhere, with their formats.
const ENDINGS: [(&str, &str); 5] = [
    ("email", "email"),
    ("url", "uri"),
    ("uri", "uri"),
    ("uuid", "uuid"),
    ("guid", "uuid"),
];

/// What free texts of a document are by their names.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedTexts {
    /// By plain name, where fields of this name do not differ.
    documented: BTreeMap<String, SpecializationModel>,
    endings: Vec<(&'static str, SpecializationModel)>,
}

impl NamedTexts {
    pub(super) fn of(model: &Arc<Model>) -> Self {
        let mut nodes: BTreeMap<String, Option<NodeId>> = BTreeMap::new();
        for id in model.ids() {
            let Domain::Object(object) = &model.node(id).domain else {
                continue;
            };
            for field in &object.fields {
                let Some(node) = formatted_text(model, field.node) else {
                    continue;
                };
                match nodes.entry(plain_name(&field.name)) {
                    Entry::Vacant(entry) => {
                        entry.insert(Some(node));
                    }
                    Entry::Occupied(mut entry) => {
                        let known = entry.get().map(|known| &model.node(known).domain);
                        if known != Some(&model.node(node).domain) {
                            entry.insert(None);
                        }
                    }
                }
            }
        }
        let model_of = |node| SpecializationModel::of_node(Arc::clone(model), node);
        let documented = nodes
            .into_iter()
            .filter_map(|(name, node)| Some((name, model_of(node?))))
            .collect();
        let endings = ENDINGS
            .into_iter()
            .filter_map(|(ending, format)| {
                let text = constraint::format(format)?.specialization()?;
                Some((ending, text.model().ok()?))
            })
            .collect();
        Self {
            documented,
            endings,
        }
    }

    fn get(&self, name: &str) -> Option<&SpecializationModel> {
        let name = plain_name(name);
        if let Some(documented) = self.documented.get(&name) {
            return Some(documented);
        }
        let mut endings = self.endings.iter();
        let (_, model) = endings.find(|(ending, _)| name.ends_with(ending))?;
        Some(model)
    }

    /// Makes free texts what their names say, most of the time.
    pub(super) fn apply(&self, rng: &mut Rng, tuning: &GeneConfig, input: &mut Gene) {
        let mut named = Vec::new();
        input.walk(|place| {
            let is_free = matches!(place.model.node(place.node).domain, Domain::Text(_))
                && matches!(place.value, Value::Text(_));
            let name = place.pointer.rsplit('/').next().filter(|_| is_free);
            if let Some(model) = name.and_then(|name| self.get(name)) {
                named.push((place.pointer.to_owned(), model));
            }
        });
        for (pointer, model) in named {
            if rng.f64() < USE {
                input.specialize(&pointer, model, rng, tuning);
            }
        }
    }
}

/// The text of a format or pattern that a field is, or is when it is not null.
fn formatted_text(model: &Model, node: NodeId) -> Option<NodeId> {
    match &model.node(node).domain {
        Domain::Pattern(_) | Domain::DateTime(_) => Some(node),
        Domain::Choice(alternatives) => {
            let is_null = |node: &&NodeId| matches!(model.node(**node).domain, Domain::Null);
            let mut others = alternatives.iter().filter(|node| !is_null(node));
            let only = others.next().filter(|_| others.next().is_none())?;
            let is_formatted = matches!(
                model.node(*only).domain,
                Domain::Pattern(_) | Domain::DateTime(_)
            );
            is_formatted.then_some(*only)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openapi::{NoLoader, read};

    const DOCUMENT: &str = "
openapi: 3.1.0
paths:
  /x:
    post:
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [begin, ownerEmail, code, note]
              properties:
                begin: {type: string}
                ownerEmail: {type: string}
                code: {type: string}
                note: {type: string}
      responses: {'200': {description: ok}}
  /y:
    post:
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                begin: {anyOf: [{type: string, format: date}, {type: 'null'}]}
                code: {type: string, pattern: '^[a-c]{3}$'}
                other: {type: object, properties: {code: {type: string, pattern: '^[0-9]{3}$'}}}
      responses: {'200': {description: ok}}
";

    #[test]
    fn texts_are_mostly_what_their_names_say() {
        let api = read(DOCUMENT, "api.yaml", &NoLoader).expect("a document");
        let named = NamedTexts::of(&api.model);
        let (mut rng, tuning) = (Rng::with_seed(1), GeneConfig::default());
        let is_date = |text: &str| text.len() == 10 && text.as_bytes().get(4) == Some(&b'-');
        let (mut dates, mut emails, mut codes) = (0, 0, 0);
        for _ in 0..100 {
            let node = api.operations[0].input;
            let mut input = Gene::sample(&api.model, node, &mut rng, &tuning);
            named.apply(&mut rng, &tuning, &mut input);
            let json = input.to_json(&isobath_genes::Unresolved).expect("a value");
            let text = |name: &str| json["body"][name].as_str().unwrap_or_default().to_owned();
            dates += usize::from(is_date(&text("begin")));
            emails += usize::from(text("ownerEmail").contains("@example."));
            let code = text("code");
            codes += usize::from(code.len() == 3 && code.bytes().all(|c| c.is_ascii_digit()));
        }
        assert!((30..90).contains(&dates), "{dates} dates");
        assert!((30..90).contains(&emails), "{emails} e-mail addresses");
        assert!(
            codes < 10,
            "{codes} codes, though fields of this name differ"
        );
    }
}
