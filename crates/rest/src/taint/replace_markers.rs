//! Replaces taint markers by readable words.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use isobath_genes::taint_marker_number;
use regex::Regex;

use super::texts;
use crate::candidate::{Candidate, StepKind};

/// Words that mean nothing in particular; each marker of a candidate gets one of its own.
const WORDS: [&str; 16] = [
    "amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "harbor", "inlet", "juniper",
    "kelp", "lagoon", "maple", "north", "opal", "pine",
];

/// How long the words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordLength {
    /// As short as words are.
    Short,
    /// As long as the marker, and with its digits, where such things matter.
    Same,
}

/// The candidate with words in place of markers: all of them at once first, then each text alone.
/// Empty when it has none. Equal markers become equal words.
pub(crate) fn without_markers(candidate: &Candidate, length: WordLength) -> Vec<Candidate> {
    let sent = texts(candidate);
    let mut words = MarkerWords::new(sent.iter().map(|sent| sent.text.as_str()));
    let changes: Vec<_> = sent
        .into_iter()
        .filter_map(|sent| {
            let text = words.replace(&sent.text, length)?;
            Some((sent, text))
        })
        .collect();
    let apply = |candidate: &mut Candidate, (sent, text): &(super::SentText, String)| -> bool {
        if let Some(at) = sent.answer {
            let answer = candidate.mock_responses.get_mut(at);
            let body = answer.and_then(|answer| answer.body.as_mut());
            return body.is_some_and(|body| body.set_taint_marker(&sent.pointer, text));
        }
        let Some(step) = candidate.steps.get_mut(sent.step) else {
            return false;
        };
        let StepKind::Call { action, breach } = &mut step.kind else {
            return false;
        };
        match sent.extra {
            Some(number) => {
                let extra = action.undocumented.get_mut(number);
                extra.is_some_and(|extra| extra.gene.set_taint_marker(&sent.pointer, text))
            }
            // What breaks a rule on purpose must stay as it is.
            None if breach
                .as_ref()
                .is_some_and(|breach| *breach.pointer == *sent.pointer) =>
            {
                false
            }
            None => action.gene.set_taint_marker(&sent.pointer, text),
        }
    };
    let mut all = candidate.clone();
    let applied: Vec<_> = changes
        .iter()
        .filter(|change| apply(&mut all, change))
        .collect();
    let named = match length {
        WordLength::Short => drop_marker_names(&mut all),
        WordLength::Same => replace_marker_names(&mut all, &mut words),
    };
    if applied.is_empty() && !named {
        return Vec::new();
    }
    let mut without_markers = vec![all];
    if named && !applied.is_empty() {
        let mut less = candidate.clone();
        drop_marker_names(&mut less);
        without_markers.push(less);
    }
    if applied.len() > 1 || named {
        without_markers.extend(applied.into_iter().map(|change| {
            let mut one = candidate.clone();
            apply(&mut one, change);
            one
        }));
    }
    without_markers
}

/// Drops inputs that have a marker for a name; true when there were any.
fn drop_marker_names(candidate: &mut Candidate) -> bool {
    let mut dropped = false;
    for step in &mut candidate.steps {
        if let StepKind::Call { action, .. } = &mut step.kind {
            let before = action.undocumented.len();
            action
                .undocumented
                .retain(|extra| taint_marker_number(&extra.name).is_none());
            dropped |= action.undocumented.len() < before;
        }
    }
    dropped
}

/// Gives inputs that have a marker for a name a word for one; true when there were any.
fn replace_marker_names(candidate: &mut Candidate, words: &mut MarkerWords) -> bool {
    let mut renamed = false;
    for step in &mut candidate.steps {
        if let StepKind::Call { action, .. } = &mut step.kind {
            for extra in &mut action.undocumented {
                if let Some(name) = words.replace(&extra.name, WordLength::Short) {
                    extra.name = name.into();
                    renamed = true;
                }
            }
        }
    }
    renamed
}

/// Which marker became which word.
struct MarkerWords {
    words: BTreeMap<String, String>,
    /// Words that no text holds yet, so that different markers stay different.
    free: Vec<String>,
}

impl MarkerWords {
    fn new<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Self {
        let all = (0..4).flat_map(|round| {
            WORDS.iter().map(move |word| match round {
                0 => (*word).to_owned(),
                round => format!("{word}{}", round + 1),
            })
        });
        let is_free = |word: &String| !texts.clone().any(|text| text.contains(word.as_str()));
        let mut free: Vec<String> = all.filter(is_free).collect();
        free.reverse();
        Self {
            words: BTreeMap::new(),
            free,
        }
    }

    /// The word for a marker.
    fn word(&mut self, marker: &str, length: WordLength) -> String {
        let Self { words, free } = self;
        let word = words.entry(marker.to_owned());
        // Nobody has so many; one that has keeps the rest of its markers.
        let word = word.or_insert_with(|| free.pop().unwrap_or_else(|| marker.to_owned()));
        match length {
            WordLength::Short => word.clone(),
            WordLength::Same => {
                let digits = marker.chars().filter(char::is_ascii_digit);
                let mut long: String = word.chars().chain(digits).collect();
                while long.len() < marker.len() {
                    long.push('-');
                    long.push_str(word);
                }
                long
            }
        }
    }

    /// A text without markers; `None` when it has none.
    fn replace(&mut self, text: &str, length: WordLength) -> Option<String> {
        // Mutations may have changed a marker or cut it short; a service that wants a text backwards was given it so.
        static MARKER: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(
                r"_isobath_\d+_input|\w*_\d+_htabosi_|_?[is]{0,2}(?:isob|soba|obat)\w*_\d+_\w*|_?isobath\w*|_iso\w*",
            )
            .expect("a constant pattern")
        });
        if !MARKER.is_match(text) {
            return None;
        }
        let replaced = MARKER.replace_all(text, |found: &regex::Captures<'_>| {
            let backwards = |text: &str| text.chars().rev().collect::<String>();
            let mirrored = found[0].ends_with("_htabosi_");
            let marker = if mirrored {
                backwards(&found[0])
            } else {
                found[0].to_owned()
            };
            let word = self.word(&marker, length);
            if mirrored { backwards(&word) } else { word }
        });
        Some(replaced.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use isobath_genes::{Domain, Gene, GeneConfig, ModelBuilder, TextDomain};

    use super::*;

    #[test]
    fn equal_markers_become_equal_words() {
        let mut words = MarkerWords::new(["an amber light"].into_iter());
        let mut check = |text: &str, wanted: Option<&str>| {
            assert_eq!(words.replace(text, WordLength::Short).as_deref(), wanted);
        };
        check("_isobath_7_input", Some("birch"));
        check("Token _isobath_12_input!", Some("Token cedar!"));
        check("_isobath_7_input", Some("birch"));
        check("_isobath_7_inp", Some("dune"));
        check("tupni_7_htabosi_", Some("hcrib"));
        check("pni_7_htabosi_", Some("enud"));
        check("isobatWh_19_ineut", Some("ember"));
        check("a soba_1", None);
        check("an island", None);
        let long = words.replace("_isobath_7_input", WordLength::Same);
        assert_eq!(long.as_deref(), Some("birch7-birch-birch"));
    }

    #[test]
    fn a_word_that_does_not_fit_is_not_put_there() {
        let mut builder = ModelBuilder::new();
        let node = builder.add(Domain::Text(TextDomain::any()));
        let model = builder.finish().into();
        let mut rng = fastrand::Rng::with_seed(1);
        let mut gene = Gene::sample(&model, node, &mut rng, &GeneConfig::default());
        assert!(gene.set_taint_marker("", "a_isobath_1_input"));
        let mut candidate = Candidate::default();
        candidate.push(StepKind::call(0, gene), None);
        let without_markers = without_markers(&candidate, WordLength::Short);
        assert_eq!(without_markers.len(), 1, "one text needs no second try");
        assert_eq!(without_markers[0].texts(), ["aamber"]);
        assert!(super::without_markers(&without_markers[0], WordLength::Short).is_empty());
    }
}
