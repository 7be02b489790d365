//! Targets of the REST job.

use std::fmt;
use std::sync::Arc;

use isobath_exec::driver::{Target as CodeTarget, TargetKind};
use isobath_genes::{Rule, ValueClass};
use isobath_search::TargetId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::fault::FaultKind;
use crate::openapi::Api;
use crate::seeding::StatementTarget;

/// A target of the REST job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// An operation returns this status.
    Status(usize, u16),
    /// An operation returns a status of this class (2xx, 4xx, …).
    Family(usize, u8),
    /// An operation, called by this user (`None` is anonymous), returns this status.
    Access(usize, Option<usize>, u16),
    /// A part of the input has this property, in a call that succeeds.
    Input(usize, Arc<str>, ValueClass),
    /// An input violates this constraint, and the call receives a response.
    Breach(usize, Arc<str>, Rule),
    /// A part of the response with this status has this shape.
    Shape(usize, u16, Arc<str>, JsonShape),
    /// A successful call uses a value of an earlier response.
    Chain(usize, usize, Arc<str>),
    /// A fault of this kind and cause is shown.
    Fault(FaultKind, Arc<str>),
    /// A target of the code, by its number there.
    Code(u32, Arc<CodeTarget>),
    /// A statement of this shape finds rows, or none.
    Statement(Arc<str>, StatementTarget),
    /// The rows that a statement of this shape finds, or does not, show what one of its coverage rules asks for.
    Rule(Arc<str>, Arc<str>),
    /// An operation reads an inserted row in which a column has a value mentioned in the schema.
    Row(usize, Arc<str>),
}

/// The shape of a response value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonShape {
    /// Null.
    Null,
    /// True.
    True,
    /// False.
    False,
    /// A number.
    Number,
    /// A text.
    Text,
    /// An object.
    Object,
    /// A list with nothing in it.
    EmptyList,
    /// A list with something in it.
    List,
}

impl JsonShape {
    /// The shape of a value.
    #[must_use]
    pub fn of(value: &serde_json::Value) -> Self {
        use serde_json::Value;
        match value {
            Value::Null => Self::Null,
            Value::Bool(true) => Self::True,
            Value::Bool(false) => Self::False,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::Text,
            Value::Object(_) => Self::Object,
            Value::Array(items) if items.is_empty() => Self::EmptyList,
            Value::Array(_) => Self::List,
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Null => "is null",
            Self::True => "is true",
            Self::False => "is false",
            Self::Number => "is a number",
            Self::Text => "is a string",
            Self::Object => "is an object",
            Self::EmptyList => "is an empty list",
            Self::List => "is a non-empty list",
        }
    }
}

impl Target {
    /// The operation it is about; faults may be about several.
    #[must_use]
    pub fn operation(&self) -> Option<usize> {
        match self {
            Self::Status(operation, _)
            | Self::Family(operation, _)
            | Self::Access(operation, ..)
            | Self::Input(operation, ..)
            | Self::Breach(operation, ..)
            | Self::Shape(operation, ..)
            | Self::Chain(_, operation, _)
            | Self::Row(operation, _) => Some(*operation),
            Self::Fault(..) | Self::Code(..) | Self::Statement(..) | Self::Rule(..) => None,
        }
    }

    /// Whether it one per status and behavior, or, with `all`, also one per kind of value.
    #[must_use]
    pub fn needs_test(&self, all: bool) -> bool {
        match self {
            Self::Status(..)
            | Self::Access(..)
            | Self::Chain(..)
            | Self::Statement(..)
            | Self::Rule(..)
            | Self::Row(..) => true,
            Self::Code(_, target) => target.kind != TargetKind::Fault,
            // An empty list is another behavior than one with items; what its items look like is not.
            Self::Shape(_, _, place, _) => all || place.is_empty(),
            Self::Input(_, _, class) => {
                all && !matches!(
                    class,
                    ValueClass::Negative | ValueClass::Positive | ValueClass::Filled
                )
            }
            // Faults get tests of their own.
            Self::Family(..) | Self::Breach(..) | Self::Fault(..) => false,
        }
    }

    /// A description of the target.
    #[must_use]
    pub fn describe(&self, api: &Api) -> String {
        TargetText(self, api).to_string()
    }

    fn write(&self, api: &Api, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |operation: &usize| api.operation(*operation).name();
        match self {
            Self::Status(operation, status) => write!(f, "{} returns {status}", name(operation)),
            Self::Family(operation, family) => write!(f, "{} returns {family}xx", name(operation)),
            Self::Access(operation, Some(user), status) => write!(
                f,
                "{} returns {status} to user {}",
                name(operation),
                user + 1
            ),
            Self::Access(operation, None, status) => write!(
                f,
                "{} returns {status} without authentication",
                name(operation)
            ),
            Self::Input(operation, place, facet) => write!(
                f,
                "{} succeeds with {place} {}",
                name(operation),
                facet_words(*facet)
            ),
            Self::Breach(operation, place, rule) => write!(
                f,
                "{} is called with {place} violating `{rule}`",
                name(operation)
            ),
            Self::Shape(operation, status, place, shape) => {
                let place = if place.is_empty() { "the body" } else { place };
                write!(
                    f,
                    "{} returns {status}, and {place} {}",
                    name(operation),
                    shape.words()
                )
            }
            Self::Chain(producer, consumer, place) => {
                write!(
                    f,
                    "{} succeeds with {place} taken from {}",
                    name(consumer),
                    name(producer)
                )
            }
            Self::Fault(kind, cause) => write!(f, "{}: {cause}", kind.title()),
            Self::Code(_, target) => {
                let CodeTarget {
                    file, line, text, ..
                } = &**target;
                write!(f, "{file}:{line}: `{text}` {}", outcome(target.kind))
            }
            Self::Row(operation, value) => {
                write!(f, "{} reads a row with {value}", name(operation))
            }
            Self::Rule(shape, label) => {
                write!(f, "`{shape}` covers its query coverage rule {label}")
            }
            Self::Statement(shape, StatementTarget::Found) => write!(f, "`{shape}` returns rows"),
            Self::Statement(shape, StatementTarget::NotFound) => {
                write!(f, "`{shape}` returns no rows")
            }
        }
    }
}

/// What a target of the code asks for.
pub(crate) fn outcome(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Statement => "is executed",
        TargetKind::True => "is true",
        TargetKind::False => "is false",
        TargetKind::Arm => "is taken",
        TargetKind::Proceed => "succeeds",
        TargetKind::Leave => "fails",
        TargetKind::Fault => "panics",
    }
}

/// A target with its API, for display.
struct TargetText<'a>(&'a Target, &'a Api);

impl fmt::Display for TargetText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(self.1, f)
    }
}

pub(crate) fn facet_words(facet: ValueClass) -> String {
    match facet {
        ValueClass::Absent => "omitted".into(),
        ValueClass::Present => "there".into(),
        ValueClass::Null => "null".into(),
        ValueClass::True => "true".into(),
        ValueClass::False => "false".into(),
        ValueClass::Member(index) => format!("at enum value {}", index + 1),
        ValueClass::Option(index) => format!("in alternative {}", index + 1),
        ValueClass::Minimum => "at its minimum".into(),
        ValueClass::Maximum => "at its maximum".into(),
        ValueClass::Negative => "negative".into(),
        ValueClass::Zero => "zero".into(),
        ValueClass::Positive => "positive".into(),
        ValueClass::Empty => "empty".into(),
        ValueClass::Filled => "not empty".into(),
    }
}

/// Ids of targets, in the order of their discovery.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    list: Vec<Target>,
    /// Ids of all but input and shape targets.
    ids: FxHashMap<Target, TargetId>,
    /// Ids of input targets, by operation and place: every call looks up dozens of them, by a
    /// place that is borrowed.
    inputs: FxHashMap<usize, Places<ValueClass>>,
    /// The same for shapes of responses, by operation and status.
    shapes: FxHashMap<(usize, u16), Places<JsonShape>>,
    /// The places of both, each once.
    places: FxHashSet<Arc<str>>,
}

/// For each place, its facets or shapes with the target ids.
type Places<T> = FxHashMap<Arc<str>, Vec<(T, TargetId)>>;

impl Targets {
    /// The id of a target; a new target gets the next id.
    pub fn id(&mut self, target: Target) -> TargetId {
        match &target {
            Target::Input(operation, place, facet) => return self.input(*operation, place, *facet),
            Target::Shape(operation, status, place, shape) => {
                return self.shape(*operation, *status, place, *shape);
            }
            _ => {}
        }
        if let Some(id) = self.ids.get(&target) {
            return *id;
        }
        let id = self.add(target.clone());
        self.ids.insert(target, id);
        id
    }

    fn add(&mut self, target: Target) -> TargetId {
        let id = TargetId::from_index(self.list.len());
        self.list.push(target);
        id
    }

    fn place(&mut self, place: &str) -> Arc<str> {
        if let Some(known) = self.places.get(place) {
            return Arc::clone(known);
        }
        let place: Arc<str> = place.into();
        self.places.insert(Arc::clone(&place));
        place
    }

    /// The id of an input target.
    pub fn input(&mut self, operation: usize, place: &str, facet: ValueClass) -> TargetId {
        let known = self.inputs.get(&operation);
        if let Some(id) = known.and_then(|at| id_of(at, place, facet)) {
            return id;
        }
        let place = self.place(place);
        let id = self.add(Target::Input(operation, Arc::clone(&place), facet));
        let places = self.inputs.entry(operation).or_default();
        places.entry(place).or_default().push((facet, id));
        id
    }

    /// The id of a response shape target.
    pub fn shape(
        &mut self,
        operation: usize,
        status: u16,
        place: &str,
        shape: JsonShape,
    ) -> TargetId {
        let key = (operation, status);
        let known = self.shapes.get(&key);
        if let Some(id) = known.and_then(|at| id_of(at, place, shape)) {
            return id;
        }
        let place = self.place(place);
        let id = self.add(Target::Shape(operation, status, Arc::clone(&place), shape));
        let places = self.shapes.entry(key).or_default();
        places.entry(place).or_default().push((shape, id));
        id
    }

    /// The target with this id.
    #[must_use]
    pub fn get(&self, id: TargetId) -> Option<&Target> {
        self.list.get(id.index())
    }

    /// The id of a known target.
    #[must_use]
    pub fn find(&self, target: &Target) -> Option<TargetId> {
        match target {
            Target::Input(operation, place, facet) => {
                id_of(self.inputs.get(operation)?, place, *facet)
            }
            Target::Shape(operation, status, place, shape) => {
                id_of(self.shapes.get(&(*operation, *status))?, place, *shape)
            }
            other => self.ids.get(other).copied(),
        }
    }

    /// All targets with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (TargetId, &Target)> {
        self.list
            .iter()
            .enumerate()
            .map(|(index, target)| (TargetId::from_index(index), target))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

fn id_of<T: PartialEq>(places: &Places<T>, place: &str, what: T) -> Option<TargetId> {
    let mut known = places.get(place)?.iter();
    known.find(|(other, _)| *other == what).map(|(_, id)| *id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_one_number_however_it_is_looked_up() {
        let mut targets = Targets::default();
        let input = targets.input(3, "/query/q", ValueClass::Empty);
        let shape = targets.shape(3, 200, "/name", JsonShape::Text);
        assert_ne!(input, shape);
        for _ in 0..2 {
            assert_eq!(targets.input(3, "/query/q", ValueClass::Empty), input);
            assert_eq!(targets.shape(3, 200, "/name", JsonShape::Text), shape);
        }
        let target = Target::Input(3, "/query/q".into(), ValueClass::Empty);
        assert_eq!(targets.find(&target), Some(input));
        assert_eq!(targets.id(target), input);
        assert_ne!(targets.input(4, "/query/q", ValueClass::Empty), input);
        assert_ne!(targets.shape(3, 404, "/name", JsonShape::Text), shape);
        assert_eq!(targets.len(), 4);
    }
}
