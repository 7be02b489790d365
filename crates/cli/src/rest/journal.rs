//! `candidates.ndjson`: every candidate that covered a new target, one per line, for `isobath
//! resume`.

use std::io;
use std::path::Path;
use std::sync::Arc;

use isobath_rest::caller::Service;
use isobath_rest::job::{Event, Stage};
use isobath_rest::journal::store;
use isobath_sql::Schema;

use super::islands;
use super::lines::LineFile;

/// The name of the file.
pub(super) const NAME: &str = "candidates.ndjson";
const LOSS: &str = "what is found from now on is lost if the run is killed";

/// The file of candidates.
pub(super) struct Journal {
    file: LineFile,
    service: Arc<Service>,
    schema: Option<Arc<Schema>>,
    /// What an earlier run covered is in the file already.
    is_repeating: bool,
    /// Whether other runs read it, and want to know what each candidate covered.
    is_shared: bool,
}

impl Journal {
    /// Opens the file; what an earlier run left in it stays.
    pub(super) fn open(folder: &Path, service: &Arc<Service>, is_shared: bool) -> io::Result<Self> {
        Ok(Self {
            file: LineFile::open(folder.join(NAME), LOSS)?,
            service: Arc::clone(service),
            schema: service.with_database(|data| Arc::clone(data.schema())),
            is_repeating: false,
            is_shared,
        })
    }

    /// Writes down a candidate that is worth a line. The run does not depend on whether the disk has room for it.
    pub(super) fn on(&mut self, event: &Event<'_>) {
        match event {
            Event::Stage(stage) => self.is_repeating = *stage == Stage::Resume,
            Event::Kept { candidate, targets } if !self.is_repeating => {
                let mut json = store(&self.service.api, self.schema.as_deref(), candidate);
                if self.is_shared {
                    json[islands::COVERS] =
                        targets.iter().map(|target| islands::key(target)).collect();
                }
                self.file.write(&format!("{json}\n"));
            }
            _ => {}
        }
    }

    /// The warning about the first candidate that could not be written; once.
    pub(super) fn warning(&mut self) -> Option<String> {
        self.file.warning()
    }
}
