//! `candidates.ndjson`: every candidate that covered a new target, one per line, for `isobath
//! resume`.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use isobath_rest::caller::Service;
use isobath_rest::job::{Event, Stage};
use isobath_rest::journal::store;
use isobath_sql::Schema;

use super::interrupted::appended;
use crate::log;

/// The name of the file.
pub(super) const NAME: &str = "candidates.ndjson";

/// The file of candidates.
pub(super) struct Journal {
    file: File,
    service: Arc<Service>,
    schema: Option<Arc<Schema>>,
    /// What an earlier run covered is in the file already.
    is_repeating: bool,
}

impl Journal {
    /// Opens the file; what an earlier run left in it stays.
    pub(super) fn open(folder: &Path, service: &Arc<Service>) -> io::Result<Self> {
        Ok(Self {
            file: appended(&folder.join(NAME))?,
            service: Arc::clone(service),
            schema: service.with_database(|data| Arc::clone(data.schema())),
            is_repeating: false,
        })
    }

    /// Writes down a candidate that is worth a line. The run does not depend on whether the disk has room for it.
    pub(super) fn on(&mut self, event: &Event<'_>) {
        match event {
            Event::Stage(stage) => self.is_repeating = *stage == Stage::Resume,
            Event::Kept { candidate } if !self.is_repeating => {
                let json = store(&self.service.api, self.schema.as_deref(), candidate);
                let line = format!("{json}\n");
                let _ = self.file.write_all(log::redacted(&line).as_bytes());
            }
            _ => {}
        }
    }
}
