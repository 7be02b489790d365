//! Generates tests for REST APIs: the REST job.
//!
//! This crate stands between an OpenAPI document and the search: [`openapi`] reads the document to
//! an [`Api`](openapi::Api), [`action`] turns its operations into actions made of genes, [`problem`]
//! samples, mutates and scores candidates, and [`job`] runs the search and returns tests.
//!
//! It does not know wire formats, flags or terminals, and opens no files or sockets itself: documents
//! are fetched by a [`Loader`](openapi::Loader), requests are sent and test runners started by `exec`.
//!
//! # Reading order
//!
//! [`openapi`] first ([`api`](openapi::api) is the model), then [`action`], [`candidate`],
//! [`problem`] and [`job`]. White-box feedback is in [`feedback`] and [`taint`], the database in
//! [`seeding`] and [`db_oracle`], mocks in [`external`], faults in [`oracle`] and [`probe`]. A run starts
//! with `first_pass`; `hints` learns from validation errors, [`disruption`] avoids operations that end sessions.
//! After it, [`report`] says what was found, and [`verify`] runs the printed suites.
//!
//! # Example
//!
//! ```
//! use fastrand::Rng;
//! use isobath_genes::{GeneConfig, Unresolved};
//! use isobath_rest::action::{Action, ReceivedResponse, ResponseChecker};
//! use isobath_rest::openapi::{self, NoLoader};
//!
//! let document = r#"
//! openapi: 3.0.0
//! info: {title: Pets, version: '1'}
//! paths:
//!   /pets/{id}:
//!     get:
//!       parameters:
//!         - {name: id, in: path, required: true, schema: {type: integer, minimum: 1, maximum: 9}}
//!       responses:
//!         '200':
//!           description: the pet
//!           content:
//!             application/json:
//!               schema: {type: object, required: [name], properties: {name: {type: string}}}
//! "#;
//! let api = openapi::read(document, "pets.yaml", &NoLoader).unwrap();
//! assert!(api.limitations.is_empty());
//!
//! let mut rng = Rng::with_seed(1);
//! let action = Action::sample(&api, 0, &mut rng, &GeneConfig::default()).unwrap();
//! let request = action.request(&api, &Unresolved);
//! assert!(request.path.starts_with("/pets/"));
//!
//! let checker = ResponseChecker::new(&api);
//! let answer = ReceivedResponse {
//!     status: 200,
//!     headers: &[("Content-Type", "application/json")],
//!     body: br#"{"name": 1}"#,
//!     json: None,
//! };
//! let violations = checker.check(&api, &api.operations[0], &answer);
//! assert_eq!(violations[0].pointer, "/name");
//! ```

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]
#![deny(clippy::indexing_slicing)]

pub mod openapi;
pub mod action;
pub mod candidate;
pub mod problem;
pub mod job;
pub mod feedback;
pub mod taint;
pub mod seeding;
pub mod db_oracle;
pub mod external;
pub mod oracle;
pub mod probe;
mod first_pass;
pub mod latency;
mod hints;
pub mod disruption;

pub mod auth;
pub mod caller;
mod compare;
pub mod exchange;
pub mod fault;
pub mod first_look;
pub mod journal;
mod known_faults;
mod login_guard;
mod negative;
mod per_operation;
mod pool;
pub mod redact;
pub mod replay;
pub mod report;
pub mod resource;
mod sample;
pub mod session;
pub mod suite;
pub mod supervisor;
pub mod target;
pub mod unique;
pub mod verify;

pub use per_operation::PerOperation;
