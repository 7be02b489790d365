//! Texts of a documented body, as the class says into which the service reads it.
//!
//! A document often says "string" where the code says more: the pattern of a date, a constraint of validation, the
//! constants of an enum.

use std::sync::Arc;

use isobath_genes::{
    Domain, GeneConfig, Model, NodeId, SpecializationModel, TextDomain, push_segment,
};
use isobath_search::Rng;

use super::apply::gene;
use super::{TaintTracker, texts};
use crate::action::{body_model, property};
use crate::candidate::Candidate;
use crate::openapi::Api;

/// That all texts of a fresh candidate are what the classes say.
const OBEY: f64 = 0.5;
/// That a mutation makes all texts of a candidate what the classes say.
const CORRECT: f64 = 0.1;

impl TaintTracker {
    /// Learns the texts of a documented body from the type that it is read into.
    pub(super) fn learn_body_type(&mut self, api: &Api, operation: usize, schema: &Arc<str>) {
        if !self.body_types.insert((operation, Arc::clone(schema))) {
            return;
        }
        let Some((model, node)) = body_model(schema) else {
            return;
        };
        if !is_body_of(api, operation, &model, node) {
            return;
        }
        let mut pointer = String::from("/body");
        visit_texts(&model, node, &mut pointer, &mut |pointer, node| {
            let type_ = SpecializationModel::of_node(Arc::clone(&model), node);
            self.text_types.insert((operation, pointer.into()), type_);
        });
    }

    /// Makes the texts of a fresh candidate what the classes say, now and then.
    pub(super) fn obey_types(
        &self,
        rng: &mut Rng,
        tuning: &GeneConfig,
        candidate: &mut Candidate,
    ) -> bool {
        !self.text_types.is_empty() && rng.f64() < OBEY && self.correct(rng, tuning, candidate)
    }

    /// The same for a candidate that is mutated.
    pub(super) fn correct_types(
        &self,
        rng: &mut Rng,
        tuning: &GeneConfig,
        candidate: &mut Candidate,
    ) -> bool {
        !self.text_types.is_empty() && rng.f64() < CORRECT && self.correct(rng, tuning, candidate)
    }

    fn correct(&self, rng: &mut Rng, tuning: &GeneConfig, candidate: &mut Candidate) -> bool {
        let mut is_changed = false;
        for sent in texts(candidate) {
            if let Some(type_) = self.text_types.get(&sent.key)
                && let Some(gene) = gene(candidate, &sent)
            {
                is_changed |= gene.specialize(&sent.pointer, type_, rng, tuning);
            }
        }
        is_changed
    }
}

/// Whether a type is that of the body: services read other things with the same library.
fn is_body_of(api: &Api, operation: usize, model: &Model, node: NodeId) -> bool {
    let Some(operation) = api.operations.get(operation) else {
        return false;
    };
    let Some(body) = property(&api.model, operation.input, "body") else {
        return false;
    };
    match (&model.node(node).domain, &api.model.node(body).domain) {
        (Domain::Object(read), Domain::Object(documented)) => {
            let is_read = |name: &str| read.fields.iter().any(|field| *field.name == *name);
            let names = documented.fields.iter();
            let n_read = names.filter(|field| is_read(&field.name)).count();
            n_read > 0 && 2 * n_read >= documented.fields.len()
        }
        (Domain::Array(_), Domain::Array(_)) => true,
        _ => false,
    }
}

/// Calls `add` for each text that not every text fits.
fn visit_texts(
    model: &Model,
    node: NodeId,
    pointer: &mut String,
    add: &mut dyn FnMut(&str, NodeId),
) {
    let length = pointer.len();
    match &model.node(node).domain {
        Domain::Object(domain) => {
            for field in &domain.fields {
                push_segment(pointer, &field.name);
                visit_texts(model, field.node, pointer, add);
                pointer.truncate(length);
            }
        }
        Domain::Array(domain) => {
            pointer.push_str("/*");
            visit_texts(model, domain.item, pointer, add);
            pointer.truncate(length);
        }
        Domain::Text(text) if *text == TextDomain::any() => {}
        Domain::Text(_) | Domain::Pattern(_) | Domain::DateTime(_) => add(pointer, node),
        Domain::Enum(values) if values.iter().all(|value| value.is_string()) => add(pointer, node),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::Action;
    use crate::candidate::StepKind;
    use crate::openapi::{NoLoader, read};
    use crate::taint::Techniques;

    const DOCUMENT: &str = "
openapi: 3.0.3
paths:
  /x:
    post:
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [day, lines, note]
              properties:
                day: {type: string, format: date}
                note: {type: string}
                lines:
                  type: array
                  minItems: 1
                  items: {type: object, required: [kind], properties: {kind: {type: string}}}
      responses: {'200': {description: ok}}
";

    const TYPE: &str = r#"{"type": "object", "properties": {
        "day": {"type": "string", "pattern": "^[0-2][1-8]\\.1[0-2]\\.2024$"},
        "note": {"type": "string"},
        "lines": {"type": "array", "items": {"type": "object", "properties": {
            "kind": {"type": "string", "enum": ["small", "large"]}}}}}}"#;

    #[test]
    fn texts_become_what_the_class_of_a_documented_body_says() {
        let api = read(DOCUMENT, "api.yaml", &NoLoader).expect("a document");
        let (mut rng, tuning) = (Rng::with_seed(1), GeneConfig::default());
        let mut tracker = TaintTracker::default();
        tracker.enable(Techniques::default());
        tracker.learn_body_type(
            &api,
            0,
            &r#"{"type": "object", "properties": {"day": {"enum": ["never"]}, "x": {}}}"#.into(),
        );
        tracker.learn_body_type(&api, 0, &TYPE.into());
        let action = Action::sample(&api, 0, &mut rng, &tuning).expect("an operation");
        let mut candidate = Candidate::default();
        let call = StepKind::Call {
            action,
            breach: None,
        };
        candidate.push(call, None);
        assert!(tracker.correct(&mut rng, &tuning, &mut candidate));
        let sent = texts(&candidate);
        let text = |key: &str| {
            let sent = sent.iter().find(|sent| &*sent.key.1 == key);
            sent.map(|sent| sent.text.clone()).unwrap_or_default()
        };
        let day = text("/body/day");
        assert!(day.ends_with(".2024") && day.len() == 10, "{day}");
        let kind = text("/body/lines/*/kind");
        assert!(kind == "small" || kind == "large", "{kind}");
    }
}
