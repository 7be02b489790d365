//! The suite as JSON that [`Suite::from_json`] reads back.

use super::{File, WriteError, Writer, name};
use crate::suite::Suite;

/// Writes the neutral model itself.
#[derive(Debug)]
pub(crate) struct Json;

impl Writer for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn write(&self, suite: &Suite) -> Result<Vec<File>, WriteError> {
        let mut text = serde_json::to_string_pretty(suite)
            .expect("a suite has string keys and no value that JSON lacks");
        text.push('\n');
        Ok(vec![File {
            path: format!("{}.json", name::slug(&suite.schema)),
            text,
        }])
    }
}
