//! String specialization: what taint analysis narrows a string to.
//!
//! White-box runs send marker texts. When the system under test compares one with a constant,
//! matches it with a pattern or parses it as a number, the gene that sent it is specialized, and is
//! from then on mutated as what it turned out to be.

use std::sync::Arc;

use fastrand::Rng;
use serde_json::Value as Json;

use crate::config::GeneConfig;
use crate::date_time::DateTimeKind;
use crate::model::{Domain, Model, ModelBuilder, NodeId};
use crate::number::{FloatDomain, IntegerDomain};
use crate::pattern::{Pattern, PatternDomain, PatternError};
use crate::sample::Sampler;
use crate::value::{Specialized, Value};

/// Something more particular than text.
#[derive(Clone, Debug, PartialEq)]
pub enum Specialization {
    /// One of these texts; a single one is a constant.
    OneOf(Vec<Arc<str>>),
    /// A text of this regular expression.
    Pattern(Arc<str>),
    /// The text of a whole number in these bounds.
    Integer {
        /// The least number.
        min: i64,
        /// The greatest number.
        max: i64,
    },
    /// The text of a floating-point number.
    Float,
    /// `true` or `false`.
    Boolean,
    /// The text of a date or time.
    DateTime(DateTimeKind),
    /// The text of a UUID.
    Uuid,
    /// The text of a URI.
    Uri,
}

impl Specialization {
    fn domain(&self) -> Result<Domain, PatternError> {
        let format = |name: &str| {
            PatternDomain::format(name, 0, None)
                .map(Domain::Pattern)
                .ok_or(PatternError::NoText)
        };
        Ok(match self {
            Self::OneOf(texts) => Domain::Enum(
                texts
                    .iter()
                    .map(|text| Arc::new(Json::String(text.to_string())))
                    .collect(),
            ),
            Self::Pattern(source) => {
                let pattern = Arc::new(Pattern::new(source)?);
                Domain::Pattern(PatternDomain::new(pattern, 0, None)?)
            }
            Self::Integer { min, max } => {
                let domain = IntegerDomain::new(Some((*min).into()), Some((*max).into()));
                Domain::Integer(domain.map_err(|_| PatternError::NoText)?)
            }
            Self::Float => {
                let domain = FloatDomain::new(None, None);
                Domain::Float(domain.map_err(|_| PatternError::NoText)?)
            }
            Self::Boolean => Domain::Boolean,
            Self::DateTime(kind) => Domain::DateTime(*kind),
            Self::Uuid => format("uuid")?,
            Self::Uri => format("uri")?,
        })
    }

    /// The model of the specialized text; make it once per finding and share it.
    ///
    /// # Errors
    /// When the pattern is outside what can be derived from, or nothing is left to choose from.
    pub fn model(&self) -> Result<SpecializationModel, PatternError> {
        if matches!(self, Self::OneOf(texts) if texts.is_empty()) {
            return Err(PatternError::NoText);
        }
        let mut builder = ModelBuilder::new();
        let root = builder.add(self.domain()?);
        Ok(SpecializationModel {
            model: Arc::new(builder.finish()),
            root,
        })
    }
}

/// A [`Specialization`], ready to be put into genes.
#[derive(Clone, Debug, PartialEq)]
pub struct SpecializationModel {
    model: Arc<Model>,
    root: NodeId,
}

impl SpecializationModel {
    /// A text as a node of another model describes it.
    #[must_use]
    pub fn of_node(model: Arc<Model>, root: NodeId) -> Self {
        Self { model, root }
    }

    pub(crate) fn sample(&self, rng: &mut Rng, config: &GeneConfig) -> Value {
        let value = Sampler::new(&self.model, config, rng).node(self.root, 0);
        Value::Specialized(Arc::new(Specialized {
            model: self.model.clone(),
            root: self.root,
            value,
        }))
    }
}

/// The marker text of a number, as drivers look for it. It is plain, and unlikely to be met by accident.
#[must_use]
pub fn taint_marker(n: u32) -> String {
    format!("_isobath_{n}_input")
}

/// The number of a marker text.
#[must_use]
pub fn taint_marker_number(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("_isobath_")?.strip_suffix("_input")?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('+');
    plain.then(|| digits.parse().ok()).flatten()
}
