//! `snapshot.json`: the initial rows of the test database, stored while a run is in progress.
//!
//! A run restores these rows before each candidate and at its end from memory, which is lost when
//! the process is killed; `isobath resume` reads them from this file. The file contains database
//! rows, so only its owner may read it, and it is removed when the run completes.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use isobath_exec::database::Address;
use isobath_exec::test_database::TestDatabase;
use isobath_rest::journal::{restore_snapshot, store_snapshot};

use super::database::DatabaseArgs;
use super::run::SetupError;
use crate::terminal::{Terminal, Tone};

/// The name of the file.
pub(super) const NAME: &str = "snapshot.json";

/// Stores the snapshot. In-memory databases of the service need none.
pub(super) fn keep(folder: &Path, state: &TestDatabase) -> io::Result<()> {
    if state.is_in_service() {
        return Ok(());
    }
    let json = store_snapshot(&state.snapshot());
    let path = folder.join(NAME);
    // Through a neighbour, so that the file is there whole or not at all.
    let unfinished = path.with_extension("part");
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(&unfinished)?
        .write_all(json.to_string().as_bytes())?;
    std::fs::rename(unfinished, path)
}

/// Removes the file after the rows are restored.
pub(super) fn forget(folder: &Path) {
    // One that stays does no harm: only a run that did not come to its end is gone on with.
    let _ = std::fs::remove_file(folder.join(NAME));
}

/// Restores the snapshot of a killed run.
pub(super) fn restore(
    folder: &Path,
    args: &DatabaseArgs,
    terminal: &Terminal,
) -> Result<(), SetupError> {
    let path = folder.join(NAME);
    let (Some(address), Some(text)) = (args.test_database()?, &args.db) else {
        return Ok(());
    };
    // A service that makes its database anew has no rows of before.
    let is_lost = matches!(&address, Address::SqliteFile(file) if !Path::new(file).exists());
    let stored = match std::fs::read_to_string(&path) {
        Ok(stored) if !is_lost => stored,
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(SetupError::usage(format!(
                "cannot read {}: {error}",
                path.display()
            )));
        }
        // It ended by itself, or before it had looked at the rows.
        _ => return Ok(()),
    };
    let json = serde_json::from_str(&stored).ok();
    let first = json.as_ref().and_then(restore_snapshot).ok_or_else(|| {
        SetupError::usage(format!(
            "{} contains no snapshot; remove it to resume with the current rows of the database",
            path.display()
        ))
    })?;
    let refused = |error: isobath_exec::DatabaseError| {
        SetupError::unreachable(format!(
            "--db: cannot restore the database snapshot: {error}; remove {} to resume with the current rows",
            path.display()
        ))
    };
    let mut state = TestDatabase::open(text, std::slice::from_ref(text)).map_err(refused)?;
    let (changed, unknown) = state.restore_snapshot(&first).map_err(refused)?;
    if !changed.is_empty() {
        let line = format!("restored the database snapshot: {}", changed.join(", "));
        terminal.say(Tone::Faint, &line);
    }
    if !unknown.is_empty() {
        let line = format!(
            "warning: no snapshot of {} (too many rows, or the table changed); its current rows stay",
            unknown.join(", ")
        );
        terminal.insist(Tone::Warning, &line);
    }
    Ok(())
}
