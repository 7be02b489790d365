//! The mutable half of a gene: one value per node of its model.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::date_time::DateTime;
use crate::model::{Model, NodeId};

/// A value under evolution; what it may be is said by the [`Node`](crate::Node) it belongs to.
///
/// Containers are shared until they are changed, so that a clone costs a counter, and a mutation
/// copies only the path from the root to the place it changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An optional property that is left out.
    Absent,
    /// Null, of a nullable node or of the null type.
    Null,
    /// A truth value.
    Boolean(bool),
    /// A whole number, or the digits of a decimal.
    Integer(i128),
    /// A floating-point number, always finite.
    Float(f64),
    /// Free text, or text of a pattern.
    Text(Arc<str>),
    /// A date or time.
    DateTime(DateTime),
    /// Bytes.
    Binary(Arc<[u8]>),
    /// The index of an enumerated value.
    Member(u32),
    /// The items of an array.
    Array(Arc<Vec<Value>>),
    /// The properties of an object.
    Object(Arc<ObjectValue>),
    /// The index of an alternative, and its value.
    Choice(Arc<(u32, Value)>),
    /// A value taken as it is: an example, a learned value, or a deliberately invalid one.
    Literal(Arc<Json>),
    /// A value taken from an earlier response when the gene is printed.
    Bound(Arc<BoundValue>),
    /// A text that run-time knowledge has narrowed to something more particular.
    Specialized(Arc<Specialized>),
}

/// The properties of an object: the declared ones in their order, then additional ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectValue {
    /// One value per declared property; [`Value::Absent`] if it is left out.
    pub fields: Vec<Value>,
    /// Names and values of additional properties.
    pub extra: Vec<(Arc<str>, Value)>,
}

impl ObjectValue {
    pub(crate) fn n_present(&self) -> usize {
        self.extra.len() + self.fields.iter().filter(|v| **v != Value::Absent).count()
    }
}

/// Names a value in what an earlier action brought back.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference {
    /// The action, by a number that its owner gives it.
    pub source: u32,
    /// Where in its response; the owner's words, such as `body/id` or `header/location`.
    pub place: Arc<str>,
}

/// A value by reference, and what to use while the reference has no target.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundValue {
    /// What is referred to.
    pub reference: Reference,
    /// The value before it was bound.
    pub fallback: Value,
}

/// A text narrowed at run time, with the model of what it was narrowed to.
#[derive(Clone, Debug)]
pub struct Specialized {
    pub(crate) model: Arc<Model>,
    pub(crate) root: NodeId,
    pub(crate) value: Value,
}

impl PartialEq for Specialized {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.model, &other.model)
            && self.root == other.root
            && self.value == other.value
    }
}

/// Looks up what references name, while a gene is printed.
pub trait Resolver {
    /// The value, if the answer is there and has such a place.
    fn resolve(&self, reference: &Reference) -> Option<Json>;
}

/// No earlier answers: every bound value prints its fallback.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unresolved;

impl Resolver for Unresolved {
    fn resolve(&self, _: &Reference) -> Option<Json> {
        None
    }
}
