//! Serves tools over the Model Context Protocol, with the official library.
//!
//! This crate stands between a client (a coding agent, an editor) and whoever implements [`Tools`]. It fences the
//! library and its runtime: a tool is an ordinary function that may block.
//!
//! It deliberately knows no job, no report and no file. It opens no socket; it speaks on standard input and output.
//!
//! # Reading order
//!
//! [`tool`] says what a tool is, [`server`] serves it.
//!
//! # Example
//!
//! ```
//! use isobath_mcp::{Arguments, Cancellation, Tool, Tools};
//!
//! struct Depths;
//!
//! impl Tools for Depths {
//!     fn list(&self) -> Vec<Tool> {
//!         let arguments = serde_json::json!({ "type": "object" });
//!         vec![Tool { name: "depth", description: "Depth of the harbor", arguments, is_read_only: true }]
//!     }
//!
//!     fn call(&self, name: &str, _: Arguments, _: &Cancellation) -> Result<String, String> {
//!         match name {
//!             "depth" => Ok("7 m".to_owned()),
//!             _ => Err(format!("unknown tool `{name}`")),
//!         }
//!     }
//! }
//!
//! // isobath_mcp::serve(Depths, "harbor", "1.0", "Asks for depths.") would now answer on standard input and output.
//! assert_eq!(Depths.call("depth", Arguments::new(), &Cancellation::default()), Ok("7 m".to_owned()));
//! ```

pub mod tool;

pub mod server;

pub use server::{ServeError, serve};
pub use tool::{Arguments, Cancellation, Tool, Tools};
