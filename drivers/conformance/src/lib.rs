//! What every driver must reproduce, in files that any language can read.
//!
//! Stands between the `distance` and `protocol` crates, which say what is right,
//! and the drivers in other languages, which must do the same. `distances.json`
//! holds comparisons with their distances, `messages.json` each message with its
//! bytes; a test makes both from the code and compares. `scenarios` holds what a
//! driver observes, written by hand, and what must then stand in the map.
//!
//! This crate does not know any driver: each has a test that reads the files.
//!
//! # Reading order
//!
//! [`distances`], [`messages`], [`scenario`].
//!
//! # Example
//!
//! ```
//! let cases = isobath_conformance::distances::all();
//! assert!(cases.iter().any(|case| case["kind"] == "text"));
//! ```

pub mod distances;
pub mod messages;
pub mod scenario;

use std::path::{Path, PathBuf};

/// The folder with the files.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}
