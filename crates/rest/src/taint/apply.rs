//! Applies input hints to sampled and mutated candidates.

use std::borrow::Cow;
use std::sync::Arc;

use isobath_genes::{Gene, GeneConfig, Specialization, taint_marker_number};
use isobath_search::Rng;

use super::{InputHint, SentText, TaintTracker, texts};
use crate::action::{UndocumentedInput, UndocumentedKind};
use crate::candidate::{Candidate, Step, StepKind};

/// That a place of a fresh candidate gets what it is known to want.
const APPLY_HINT: f64 = 0.7;
/// That an input that the document does not name is in a fresh candidate.
const ADD_UNDOCUMENTED: f64 = 0.5;
/// So often a marker is the name of a query parameter of an operation.
const MAX_NAME_MARKERS: u32 = 6;

impl TaintTracker {
    /// Adds markers and hinted values to a sampled candidate.
    pub(crate) fn apply_hints(
        &mut self,
        rng: &mut Rng,
        tuning: &GeneConfig,
        candidate: &mut Candidate,
    ) {
        if !self.enabled {
            return;
        }
        self.add_undocumented(rng, tuning, candidate);
        if !self.techniques.tracking {
            return;
        }
        let obeys = self.obey_types(rng, tuning, candidate);
        for sent in texts(candidate) {
            if obeys && self.text_types.contains_key(&sent.key) {
                continue;
            }
            let Some(gene) = gene(candidate, &sent) else {
                continue;
            };
            let hints = self.hints.get(&sent.key).map_or(&[][..], Vec::as_slice);
            if !hints.is_empty()
                && rng.f64() < APPLY_HINT
                && let Some(hint) = rng.choice(hints)
            {
                gene.specialize(&sent.pointer, &hint.model, rng, tuning);
            } else if rng.f64() < self.marker_rate {
                let marker = self.taint_marker();
                gene.set_taint_marker(&sent.pointer, &marker);
            }
        }
        for pair in self.compared_pairs_in(candidate) {
            if rng.bool() {
                equate(candidate, &pair);
            }
        }
    }

    /// Changes a candidate by what was learned, for the target of the code that is aimed at, if
    /// there is one; false when it is left to chance.
    pub(crate) fn mutate_toward(
        &mut self,
        rng: &mut Rng,
        tuning: &GeneConfig,
        candidate: &mut Candidate,
        aimed: Option<u32>,
    ) -> bool {
        if !self.enabled {
            return false;
        }
        if rng.f64() < 0.1 && self.toggle_undocumented(rng, tuning, candidate) {
            return true;
        }
        if !self.techniques.tracking {
            return false;
        }
        if self.correct_types(rng, tuning, candidate) {
            return true;
        }
        let sent = texts(candidate);
        if let Some(aimed) = aimed
            && rng.f64() < 0.6
        {
            let fitting: Vec<(&SentText, &InputHint)> = self
                .known(&sent)
                .filter(|(_, hint)| hint.is_about(aimed))
                .collect();
            if let Some((sent, hint)) = rng.choice(&fitting) {
                return apply_hint(candidate, sent, hint, rng, tuning);
            }
        }
        let compared_pairs = self.compared_pairs_in(candidate);
        if let Some(pair) = rng.choice(&compared_pairs)
            && rng.f64() < 0.3
        {
            return equate(candidate, pair);
        }
        let (marked, other): (Vec<_>, Vec<_>) = self
            .known(&sent)
            .partition(|(sent, _)| sent.text.contains("_isobath_"));
        for (hints, chance) in [(marked, 0.5), (other, 0.2)] {
            if let Some((sent, hint)) = rng.choice(&hints)
                && rng.f64() < chance
            {
                return apply_hint(candidate, sent, hint, rng, tuning);
            }
        }
        if let Some(sent) = rng.choice(&sent)
            && rng.f64() < self.marker_rate * 0.5
        {
            let marker = self.taint_marker();
            return gene(candidate, sent)
                .is_some_and(|gene| gene.set_taint_marker(&sent.pointer, &marker));
        }
        false
    }

    fn known<'a>(
        &'a self,
        sent: &'a [SentText],
    ) -> impl Iterator<Item = (&'a SentText, &'a InputHint)> {
        sent.iter().flat_map(|sent| {
            let hints = self.hints.get(&sent.key).into_iter().flatten();
            hints.map(move |hint| (sent, hint))
        })
    }

    /// The texts of a candidate that should be equal.
    fn compared_pairs_in(&self, candidate: &Candidate) -> Vec<(SentText, SentText)> {
        if self.compared_pairs.is_empty() {
            return Vec::new();
        }
        let sent = texts(candidate);
        let find = |key: &super::InputKey| sent.iter().find(|sent| sent.key == *key).cloned();
        let compared_pairs = self.compared_pairs.iter();
        compared_pairs
            .filter_map(|(a, b)| Some((find(a)?, find(b)?)))
            .filter(|(a, b)| a.text != b.text)
            .collect()
    }

    fn add_undocumented(&mut self, rng: &mut Rng, tuning: &GeneConfig, candidate: &mut Candidate) {
        for step in &mut candidate.steps {
            let StepKind::Call {
                action,
                breach: None,
            } = &mut step.kind
            else {
                continue;
            };
            for (kind, name) in self
                .undocumented
                .get(&action.operation)
                .into_iter()
                .flatten()
            {
                let is_there = action
                    .undocumented
                    .iter()
                    .any(|extra| extra.is(*kind, name));
                if !is_there && rng.f64() < ADD_UNDOCUMENTED {
                    let extra = UndocumentedInput::sample(*kind, Arc::clone(name), rng, tuning);
                    action.undocumented.push(extra);
                }
            }
            // A name that is a marker shows which names the service knows.
            let times = self.named.entry(action.operation).or_default();
            if self.techniques.tracking
                && self.techniques.expansion
                && *times < MAX_NAME_MARKERS
                && rng.f64() < ADD_UNDOCUMENTED
            {
                *times += 1;
                let name = isobath_genes::taint_marker(9_000 + *times);
                let extra =
                    UndocumentedInput::sample(UndocumentedKind::Query, name.into(), rng, tuning);
                action.undocumented.push(extra);
            }
        }
    }

    /// Adds or removes an input that the document does not name.
    fn toggle_undocumented(
        &self,
        rng: &mut Rng,
        tuning: &GeneConfig,
        candidate: &mut Candidate,
    ) -> bool {
        let steps: Vec<&mut Step> = candidate
            .steps
            .iter_mut()
            .filter(|step| {
                let operation = step.operation();
                operation.is_some_and(|operation| self.undocumented.contains_key(&operation))
            })
            .collect();
        let Some(step) = rng.choice(steps) else {
            return false;
        };
        let StepKind::Call {
            action,
            breach: None,
        } = &mut step.kind
        else {
            return false;
        };
        let Some((kind, name)) = self
            .undocumented
            .get(&action.operation)
            .and_then(|undocumented| rng.choice(undocumented))
        else {
            return false;
        };
        match action
            .undocumented
            .iter()
            .position(|extra| extra.is(*kind, name))
        {
            Some(at) => {
                action.undocumented.remove(at);
            }
            None => {
                let extra = UndocumentedInput::sample(*kind, Arc::clone(name), rng, tuning);
                action.undocumented.push(extra);
            }
        }
        true
    }
}

impl InputHint {
    /// Whether it was learned where this target is. The outcomes of a condition, and the arms of a
    /// `match`, are numbered one after the other.
    fn is_about(&self, target: u32) -> bool {
        let outcomes = match &self.what {
            Specialization::OneOf(texts) => texts.len().max(2),
            _ => 2,
        };
        let outcomes = u32::try_from(outcomes).unwrap_or(u32::MAX);
        self.targets
            .iter()
            .any(|&first| first <= target && target - first < outcomes)
    }
}

/// The candidate without the inputs whose names are markers, where it has some: these have told all they can after
/// one call, and whatever is changed in them later is a call for nothing.
pub(crate) fn without_named_markers(candidate: &Candidate) -> Cow<'_, Candidate> {
    let is_marker = |extra: &UndocumentedInput| taint_marker_number(&extra.name).is_some();
    let has = |step: &Step| match &step.kind {
        StepKind::Call { action, .. } => action.undocumented.iter().any(is_marker),
        StepKind::Follow(_) => false,
    };
    if !candidate.steps.iter().any(has) {
        return Cow::Borrowed(candidate);
    }
    let mut candidate = candidate.clone();
    for step in &mut candidate.steps {
        if let StepKind::Call { action, .. } = &mut step.kind {
            action.undocumented.retain(|extra| !is_marker(extra));
        }
    }
    Cow::Owned(candidate)
}

/// The gene of a text; `None` where an input breaks a rule on purpose, which must stay as it is.
pub(super) fn gene<'a>(candidate: &'a mut Candidate, sent: &SentText) -> Option<&'a mut Gene> {
    if let Some(at) = sent.answer {
        return candidate.mock_responses.get_mut(at)?.body.as_mut();
    }
    match &mut candidate.steps.get_mut(sent.step)?.kind {
        StepKind::Call {
            action,
            breach: None,
        } => match sent.extra {
            Some(number) => action
                .undocumented
                .get_mut(number)
                .map(|extra| &mut extra.gene),
            None => Some(&mut action.gene),
        },
        _ => None,
    }
}

fn apply_hint(
    candidate: &mut Candidate,
    sent: &SentText,
    hint: &InputHint,
    rng: &mut Rng,
    tuning: &GeneConfig,
) -> bool {
    gene(candidate, sent)
        .is_some_and(|gene| gene.specialize(&sent.pointer, &hint.model, rng, tuning))
}

/// Makes two texts equal.
fn equate(candidate: &mut Candidate, (from, to): &(SentText, SentText)) -> bool {
    gene(candidate, to).is_some_and(|gene| gene.set_json(&to.pointer, &from.text.as_str().into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::Action;
    use crate::openapi::{NoLoader, read};

    #[test]
    fn names_that_are_markers_are_not_passed_on_to_changed_candidates() {
        let document = "openapi: 3.0.3\npaths:\n  /x:\n    get:\n      responses: {'200': {description: ok}}\n";
        let api = read(document, "api.yaml", &NoLoader).expect("a document");
        let (mut rng, tuning) = (Rng::with_seed(1), GeneConfig::default());
        let mut action = Action::sample(&api, 0, &mut rng, &tuning).expect("an operation");
        for name in ["page", &isobath_genes::taint_marker(9_001)] {
            let extra =
                UndocumentedInput::sample(UndocumentedKind::Query, name.into(), &mut rng, &tuning);
            action.undocumented.push(extra);
        }
        let mut candidate = Candidate::default();
        let call = |action| StepKind::Call {
            action,
            breach: None,
        };
        candidate.push(call(action), None);
        let left = without_named_markers(&candidate);
        let StepKind::Call { action, .. } = &left.steps[0].kind else {
            panic!("it is a call");
        };
        let record_parameter_names: Vec<&str> = action
            .undocumented
            .iter()
            .map(|extra| &*extra.name)
            .collect();
        assert_eq!(record_parameter_names, ["page"]);
        assert!(matches!(without_named_markers(&left), Cow::Borrowed(_)));
    }
}
