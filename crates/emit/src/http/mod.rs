//! Suites of HTTP tests: the neutral model, and a writer per test language.
//!
//! # Reading order
//!
//! [`suite`] first, with [`Request`] and [`Answer`]; then [`writer`].

mod answer;
mod check;
mod curl;
mod outside;
mod place;
mod plan;
mod request;
mod rows;
pub mod suite;
pub mod writer;

pub use answer::{Answer, Check, HeaderCheck, JsonType};
pub use check::SuiteError;
pub use curl::curl;
pub use outside::{Outside, TestAnswer, TestReply};
pub use place::{Key, Place};
pub use request::{Body, Content, Hole, Part, Piece, Request, Secret, Text};
pub use rows::{RowKey, RowState, TestRow};
pub use suite::{
    Auth, Capture, Database, FaultMark, Fresh, HttpStep, HttpSuite, HttpTest, Login, Outcome,
    Reset, Sending, Service, Source, Token, User,
};
pub use writer::{HttpWriter, LeftOut, WrittenSuite, WrittenTest};
