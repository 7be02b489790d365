//! `first-rows.json`: what the test database held before the first candidate, while a run goes on.
//!
//! A run puts these rows back before each candidate and at its end, from copies that are lost when it is killed.
//! `isobath resume` has this file. It holds rows of the database, so nobody else may read it, and a run that comes to
//! its end takes it away.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use isobath_exec::database::Address;
use isobath_exec::test_database::TestDatabase;
use isobath_rest::journal::{restore_first, store_first};

use super::database::DatabaseArgs;
use super::run::SetupError;
use crate::terminal::{Terminal, Tone};

/// The name of the file.
pub(super) const NAME: &str = "first-rows.json";

/// Writes the first rows down. Those of a database in the memory of the service end with it.
pub(super) fn keep(folder: &Path, state: &TestDatabase) -> io::Result<()> {
    if state.is_in_service() {
        return Ok(());
    }
    let json = store_first(&state.snapshot());
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

/// Takes the file away: the rows are back.
pub(super) fn forget(folder: &Path) {
    // One that stays does no harm: only a run that did not come to its end is gone on with.
    let _ = std::fs::remove_file(folder.join(NAME));
}

/// Brings the database to the rows that a run which was killed had found, before anybody looks at it.
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
    let first = json.as_ref().and_then(restore_first).ok_or_else(|| {
        SetupError::usage(format!(
            "{} holds no rows; remove it to go on with the rows that the database has now",
            path.display()
        ))
    })?;
    let refused = |error: isobath_exec::DatabaseError| {
        SetupError::unreachable(format!(
            "--db: the first rows cannot be put back: {error}; remove {} to go on with the rows that are there now",
            path.display()
        ))
    };
    let mut state = TestDatabase::open(text, std::slice::from_ref(text)).map_err(refused)?;
    let (changed, unknown) = state.restore_snapshot(&first).map_err(refused)?;
    if !changed.is_empty() {
        let line = format!("the first rows are back in {}", changed.join(", "));
        terminal.say(Tone::Faint, &line);
    }
    if !unknown.is_empty() {
        let line = format!(
            "warning: the first rows of {} were not kept (too many, or another table now); what the run left there stays",
            unknown.join(", ")
        );
        terminal.insist(Tone::Warning, &line);
    }
    Ok(())
}
