//! Suites of HTTP tests: the neutral model, and a writer per test language.
//!
//! # Reading order
//!
//! [`suite`] first, with [`Request`] and [`ExpectedResponse`]; then [`writer`].

pub mod suite;
mod request;
mod response;
pub mod writer;

mod check;
mod curl;
mod external;
mod json_path;
mod lower;
mod plan;
mod rows;
mod setup_secrets;
mod statement;

pub use check::SuiteError;
pub use curl::curl;
pub use external::{ExternalService, MockedReply, MockedResponse};
pub use json_path::{JsonKey, JsonPath};
pub use request::{
    Body, MultipartPart, PartContent, Placeholder, Request, Secret, Text, TextPiece,
};
pub use response::{BodyCheck, ExpectedResponse, HeaderCheck, JsonType};
pub use rows::{ExpectedRow, RowKey, TestRow};
pub use setup_secrets::is_secret_value;
pub use suite::{
    Auth, Capture, ExpectedOutcome, FaultMark, HttpStep, HttpSuite, HttpTest, Login, ResetHook,
    ServiceUnderTest, SuiteDatabase, Token, TokenPlacement, UniqueValue, User, ValueSource,
};
pub use writer::{HttpWriter, UnsupportedTest, WrittenSuite, WrittenTest};
