//! Typed, constrained values that sample, mutate, cross over, print and read back.
//!
//! This crate stands between whoever knows what an input may be (the OpenAPI reader, the schema
//! of a table) and whoever changes inputs in order to learn (the search). What a value may be is a
//! [`Model`], built once and shared; what it is, is a [`Value`]; a [`Gene`] is the two together.
//!
//! It does not know OpenAPI, SQL, HTTP or the search. It has no randomness but the generator it is
//! given, so the same seed makes the same values.
//!
//! # Reading order
//!
//! [`model`] first, then [`value`] and [`gene`]; [`sample`](Gene::sample), [`mutate`](Gene::mutate)
//! and [`cross`](Gene::cross) each have a module. [`pattern`] makes texts of regular expressions.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use fastrand::Rng;
//! use isobath_genes::{
//!     Domain, Field, Gene, IntegerDomain, ModelBuilder, ObjectDomain, Rule, Tuning, Unresolved,
//! };
//!
//! let mut builder = ModelBuilder::new();
//! let age = builder.add(Domain::Integer(IntegerDomain::new(Some(18), Some(99)).unwrap()));
//! let person = builder.add(Domain::Object(ObjectDomain {
//!     fields: [Field { name: "age".into(), node: age, required: true }].into(),
//!     extra: None,
//!     closed: false,
//!     min: 0,
//!     max: None,
//! }));
//! let model = Arc::new(builder.finish());
//!
//! let (mut rng, tuning) = (Rng::with_seed(42), Tuning::default());
//! let mut gene = Gene::sample(&model, person, &mut rng, &tuning);
//! let before = gene.to_json(&Unresolved);
//! gene.mutate(&mut rng, &tuning).expect("an age can change");
//! assert_ne!(gene.to_json(&Unresolved), before);
//! assert!(gene.check().is_ok());
//!
//! let too_young = gene.breaches().into_iter().find(|b| b.rule == Rule::Minimum).unwrap();
//! let broken = gene.breach(&too_young, &mut rng, &tuning).unwrap();
//! assert_eq!(broken.check().unwrap_err().pointer, "/age");
//! ```

pub mod binary;
pub mod breach;
mod cross;
mod format;
pub mod gene;
pub mod impact;
pub mod model;
pub mod moment;
mod mutate;
pub mod number;
pub mod pattern;
mod print;
mod read;
pub mod rule;
mod sample;
pub mod special;
mod store;
pub mod text;
pub mod tuning;
pub mod value;
pub mod walk;

pub use binary::BinaryDomain;
pub use breach::Breach;
pub use gene::Gene;
pub use impact::{Impacts, Site};
pub use model::{
    ArrayDomain, Domain, Example, Extra, Field, Model, ModelBuilder, Node, NodeId, ObjectDomain,
};
pub use moment::{Moment, MomentKind};
pub use mutate::Change;
pub use number::{FloatDomain, IntegerDomain};
pub use pattern::{Pattern, PatternDomain, PatternError};
pub use print::plain;
pub use read::same;
pub use rule::{Misfit, Rule, push_segment};
pub use special::{SpecialModel, Specialization, marker, marker_number};
pub use text::TextDomain;
pub use tuning::Tuning;
pub use value::{Bound, ObjectValue, Reference, Resolve, Unresolved, Value};
pub use walk::{Facet, Place};
