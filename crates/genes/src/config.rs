//! Probabilities and limits of sampling and mutation.

use std::sync::Arc;

/// How values are drawn and changed. Probabilities are in `0.0..=1.0`.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneConfig {
    /// That an optional property is present in a fresh sample.
    pub optional: f64,
    /// That a nullable value is null in a fresh sample.
    pub null: f64,
    /// That a value with fitting examples is taken from them.
    pub example: f64,
    /// That an example is used although it breaks its own schema; documents lie in both ways.
    pub loose_example: f64,
    /// That a number or length sits on one of its bounds.
    pub boundary: f64,
    /// That an integer is drawn evenly from its whole range: small ones are likelier otherwise.
    pub spread: f64,
    /// That a mutation draws anew instead of taking a small step.
    pub large_step: f64,
    /// That a date or time is deliberately impossible, such as second -1 or month 13.
    pub invalid_time: f64,
    /// Depth below which optional parts, items and recursion are left out.
    pub max_depth: u32,
    /// Number of values after which a sample adds nothing that is not required.
    pub max_nodes: u32,
    /// Usual number of items of an array; bounds of the schema go before it.
    pub max_items: u32,
    /// Usual number of characters of a text; bounds of the schema go before it.
    pub max_text: u32,
    /// Use the example of this name wherever there is one, so that examples stay consistent.
    pub named_example: Option<Arc<str>>,
}

impl Default for GeneConfig {
    fn default() -> Self {
        Self {
            optional: 0.5,
            null: 0.1,
            example: 0.2,
            loose_example: 0.0,
            boundary: 0.1,
            spread: 0.0,
            large_step: 0.2,
            invalid_time: 0.0,
            max_depth: 6,
            max_nodes: 200,
            max_items: 3,
            max_text: 12,
            named_example: None,
        }
    }
}

impl GeneConfig {
    /// The defaults, plus inputs outside the rules: impossible dates and examples that break
    /// their schema.
    #[must_use]
    pub fn robust() -> Self {
        Self {
            loose_example: 0.05,
            invalid_time: 0.05,
            ..Self::default()
        }
    }
}
