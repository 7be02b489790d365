//! Suites of HTTP tests: the neutral model, and a writer per test language.
//!
//! # Reading order
//!
//! [`suite`] first, with [`Request`] and [`ExpectedResponse`]; then [`writer`].

mod check;
mod curl;
mod external;
mod json_path;
mod plan;
mod request;
mod response;
mod rows;
pub mod suite;
pub mod writer;

pub use check::SuiteError;
pub use curl::curl;
pub use external::{ExternalService, MockedReply, MockedResponse};
pub use json_path::{JsonKey, JsonPath};
pub use request::{
    Body, MultipartPart, PartContent, Placeholder, Request, Secret, Text, TextPiece,
};
pub use response::{BodyCheck, ExpectedResponse, HeaderCheck, JsonType};
pub use rows::{ExpectedRow, RowKey, TestRow};
pub use suite::{
    Auth, Capture, ExpectedOutcome, FaultMark, HttpStep, HttpSuite, HttpTest, Login, ResetHook,
    ServiceUnderTest, SuiteDatabase, Token, TokenPlacement, UniqueValue, User, ValueSource,
};
pub use writer::{HttpWriter, UnsupportedTest, WrittenSuite, WrittenTest};
