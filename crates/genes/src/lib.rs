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
//! and [`crossover`](Gene::crossover) each have a module. [`pattern`] makes texts of regular expressions.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use fastrand::Rng;
//! use isobath_genes::{
//!     Domain, Field, Gene, IntegerDomain, ModelBuilder, ObjectDomain, Rule, GeneConfig, Unresolved,
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
//! let (mut rng, config) = (Rng::with_seed(42), GeneConfig::default());
//! let mut gene = Gene::sample(&model, person, &mut rng, &config);
//! let before = gene.to_json(&Unresolved);
//! gene.mutate(&mut rng, &config).expect("an age can change");
//! assert_ne!(gene.to_json(&Unresolved), before);
//! assert!(gene.check().is_ok());
//!
//! let too_young = gene.violations().into_iter().find(|b| b.rule == Rule::Minimum).unwrap();
//! let broken = gene.violate(&too_young, &mut rng, &config).unwrap();
//! assert_eq!(broken.check().unwrap_err().pointer, "/age");
//! ```

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]
#![deny(clippy::indexing_slicing)]

pub mod model;
pub mod value;
pub mod gene;
mod sample;
mod mutate;
mod crossover;
pub mod pattern;

pub mod binary;
pub mod config;
pub mod date_time;
mod format;
pub mod impact;
pub mod number;
mod print;
mod read;
pub mod rule;
pub mod specialization;
mod shift;
mod store;
pub mod text;
pub mod violation;
pub mod walk;

pub use binary::BinaryDomain;
pub use config::GeneConfig;
pub use date_time::{DateTime, DateTimeKind};
pub use gene::Gene;
pub use impact::{GeneSite, Impacts};
pub use model::{
    AdditionalProperties, ArrayDomain, Domain, Example, Field, Model, ModelBuilder, Node, NodeId,
    ObjectDomain,
};
pub use mutate::Mutation;
pub use number::{FloatDomain, IntegerDomain};
pub use pattern::{Pattern, PatternDomain, PatternError};
pub use print::plain;
pub use read::{Distinct, same};
pub use rule::{Mismatch, Rule, push_segment};
pub use specialization::{Specialization, SpecializationModel, taint_marker, taint_marker_number};
pub use text::TextDomain;
pub use value::{BoundValue, ObjectValue, Reference, Resolver, Unresolved, Value};
pub use violation::RuleViolation;
pub use walk::{NodeRef, ValueClass};
