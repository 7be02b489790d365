//! Shortens long strings in tests where their content does not matter.

use isobath_genes::{Domain, Value as GeneValue};
use serde_json::Value;

use super::finish::Finish;
use super::readable::ObservedRequirement;
use super::shares::has_time;
use crate::candidate::{Candidate, StepKind};

/// Texts of more characters are shortened.
const LONG: usize = 24;
/// The length that is tried first.
const SHORT: usize = 8;
/// The texts of one test that are tried one by one, when not all can be short at once.
const TRIES: usize = 4;

/// A text in the input of a step.
struct LongText {
    step: usize,
    pointer: String,
    text: String,
}

impl Finish<'_> {
    /// The candidate with shortened strings, as far as it still fulfills its purpose.
    pub(super) fn shrink(
        &mut self,
        candidate: Candidate,
        observed: &ObservedRequirement<'_>,
        end: f64,
    ) -> Candidate {
        let texts = long_texts(&candidate);
        let mut best = candidate;
        let mut hold = |shorter: &Candidate| {
            has_time(self.config, self.calls, end) && self.still_holds(shorter, observed)
        };
        if texts.len() > 1
            && let Some(shorter) = shortened(&best, &texts, SHORT)
            && hold(&shorter)
        {
            return shorter;
        }
        for text in texts.iter().take(TRIES) {
            let length = text.text.chars().count();
            for most in [SHORT, length / 4, length / 2] {
                if let Some(shorter) = shortened(&best, std::slice::from_ref(text), most)
                    && hold(&shorter)
                {
                    best = shorter;
                    break;
                }
            }
        }
        best
    }
}

/// The texts that are free in all but their length, and long. What breaks a rule on purpose is as it has to be.
fn long_texts(candidate: &Candidate) -> Vec<LongText> {
    let mut texts = Vec::new();
    for (step, what) in candidate.steps.iter().map(|step| &step.kind).enumerate() {
        let StepKind::Call { action, breach } = what else {
            continue;
        };
        action.gene.walk(|place| {
            let is_broken = breach
                .as_ref()
                .is_some_and(|breach| breach.pointer == place.pointer);
            let is_free = matches!(place.model.node(place.node).domain, Domain::Text(_))
                && matches!(place.value, GeneValue::Text(_) | GeneValue::Literal(_));
            if is_free
                && !is_broken
                && let Some(text) = place.text()
                && text.chars().count() > LONG
            {
                texts.push(LongText {
                    step,
                    pointer: place.pointer.to_owned(),
                    text,
                });
            }
        });
    }
    texts
}

/// The candidate with these texts cut; `None` where the document wants them longer.
fn shortened(candidate: &Candidate, texts: &[LongText], most: usize) -> Option<Candidate> {
    let mut shorter = candidate.clone();
    for text in texts {
        let StepKind::Call { action, .. } = &mut shorter.steps.get_mut(text.step)?.kind else {
            return None;
        };
        let was_right = action.gene.check().is_ok();
        let cut: String = text.text.chars().take(most).collect();
        let is_set = action.gene.set_json(&text.pointer, &Value::String(cut));
        if !is_set || was_right && action.gene.check().is_err() {
            return None;
        }
    }
    Some(shorter)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use isobath_genes::{Gene, Rule, RuleViolation};
    use serde_json::json;

    use super::*;
    use crate::openapi::{NoLoader, read};

    fn candidate(min_length: usize, breach: Option<RuleViolation>) -> Candidate {
        let document = format!(
            "openapi: 3.0.3\ninfo: {{title: T, version: '1'}}\npaths:\n  /x:\n    post:\n      requestBody: {{required: true, content: {{application/json: {{schema: {{type: object, properties: {{a: {{type: string, minLength: {min_length}}}, b: {{type: string}}}}}}}}}}}}\n      responses: {{'200': {{description: ok}}}}\n"
        );
        let api = read(&document, "x.yaml", &NoLoader).expect("a good document");
        let input = json!({"body": {"a": "a".repeat(60), "b": "short"}});
        let model = Arc::clone(&api.model);
        let gene = Gene::read(&model, api.operations[0].input, &input).expect("it fits");
        let mut candidate = Candidate::default();
        candidate.push(StepKind::call(0, gene), None);
        if let StepKind::Call { breach: broken, .. } = &mut candidate.steps[0].kind {
            *broken = breach;
        }
        candidate
    }

    #[test]
    fn only_long_texts_are_cut_and_only_as_far_as_the_document_lets_them() {
        let body = |candidate: &Candidate| {
            let input = candidate.steps[0].input().expect("a call");
            let json = input.to_json(&isobath_genes::Unresolved).expect("there");
            json["body"].clone()
        };
        let free = candidate(0, None);
        let texts = long_texts(&free);
        assert_eq!(texts.len(), 1);
        let shorter = shortened(&free, &texts, SHORT).expect("it may be short");
        assert_eq!(body(&shorter), json!({"a": "aaaaaaaa", "b": "short"}));
        let bounded = candidate(20, None);
        assert!(shortened(&bounded, &long_texts(&bounded), SHORT).is_none());
        assert!(shortened(&bounded, &long_texts(&bounded), 30).is_some());
    }

    #[test]
    fn what_is_too_long_on_purpose_stays_so() {
        let breach = RuleViolation {
            pointer: "/body/a".into(),
            rule: Rule::MaxLength,
        };
        assert!(long_texts(&candidate(0, Some(breach))).is_empty());
    }
}
