//! Statements that the service runs on SQLite, seen through SQLite's own hooks.
//!
//! SQLite is not linked by us. If the service has it, its functions are found
//! through weak symbols, and every connection that is opened gets a trace. A
//! service that sets a trace of its own on a connection takes ours away there.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use isobath_protocol::Event;

use crate::{link, queue};

/// A statement that has started and not been told.
struct Running {
    action: u16,
    text: String,
    rows: u64,
}

/// By the address of the prepared statement.
static RUNNING: Mutex<BTreeMap<usize, Running>> = Mutex::new(BTreeMap::new());

/// Watches connections that are opened from now on, if there is SQLite.
pub(crate) fn watch() {
    hooks::install();
}

/// Tells statements that have not finished: whoever reads only the first row never finishes.
pub(crate) fn settle() {
    for (_, running) in std::mem::take(&mut *running()) {
        tell(running);
    }
}

/// A statement starts.
fn started(statement: usize, text: String) {
    // A text that is a comment is a statement of a trigger.
    let Some(map) = link::map().filter(|_| !text.starts_with("--")) else {
        return;
    };
    let action = map.action();
    let before = running().insert(
        statement,
        Running {
            action,
            text,
            rows: 0,
        },
    );
    before.into_iter().for_each(tell);
}

/// A statement returned a row.
fn row(statement: usize) {
    if let Some(running) = running().get_mut(&statement) {
        running.rows += 1;
    }
}

/// A statement has finished; `changed` tells how many rows the connection changed last.
fn finished(statement: usize, changed: impl FnOnce() -> Option<u64>) {
    let Some(mut running) = running().remove(&statement) else {
        return;
    };
    // Other statements leave the number of an earlier one standing, and so does one of whose rows only some are read.
    if running.rows == 0
        && may_change(&running.text)
        && let Some(changed) = changed()
    {
        running.rows = changed;
    }
    tell(running);
}

/// Whether a statement is one of those that count the rows that they change.
fn may_change(text: &str) -> bool {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_alphabetic());
    let first = &text[..end.unwrap_or(text.len())];
    ["INSERT", "UPDATE", "DELETE", "REPLACE", "WITH"]
        .iter()
        .any(|word| first.eq_ignore_ascii_case(word))
}

fn tell(running: Running) {
    queue::push(&Event::Statement {
        action: running.action,
        database: "sqlite".into(),
        text: running.text,
        rows: running.rows,
        failure: None,
    });
}

fn running() -> MutexGuard<'static, BTreeMap<usize, Running>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#[expect(
    unsafe_code,
    reason = "SQLite is a C library, found at link time or not at all"
)]
mod hooks {
    use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

    // The addresses of functions of SQLite, each zero when the program has none.
    std::arch::global_asm!(
        ".weak sqlite3_auto_extension",
        ".weak sqlite3_trace_v2",
        ".weak sqlite3_expanded_sql",
        ".weak sqlite3_free",
        ".weak sqlite3_db_handle",
        ".weak sqlite3_stmt_readonly",
        ".weak sqlite3_changes64",
        ".weak sqlite3_changes",
        ".pushsection .data.rel.ro.isobath_sqlite,\"aw\",%progbits",
        ".balign 8",
        ".hidden isobath_sqlite",
        ".globl isobath_sqlite",
        "isobath_sqlite:",
        ".quad sqlite3_auto_extension",
        ".quad sqlite3_trace_v2",
        ".quad sqlite3_expanded_sql",
        ".quad sqlite3_free",
        ".quad sqlite3_db_handle",
        ".quad sqlite3_stmt_readonly",
        ".quad sqlite3_changes64",
        ".quad sqlite3_changes",
        ".popsection",
    );

    type Extension = extern "C" fn(*mut c_void, *mut *mut c_char, *const c_void) -> c_int;
    type Trace = extern "C" fn(c_uint, *mut c_void, *mut c_void, *mut c_void) -> c_int;

    /// As SQLite declares them.
    #[repr(C)]
    struct Functions {
        auto_extension: Option<unsafe extern "C" fn(Extension) -> c_int>,
        trace: Option<unsafe extern "C" fn(*mut c_void, c_uint, Trace, *mut c_void) -> c_int>,
        expanded: Option<unsafe extern "C" fn(*mut c_void) -> *mut c_char>,
        free: Option<unsafe extern "C" fn(*mut c_void)>,
        connection: Option<unsafe extern "C" fn(*mut c_void) -> *mut c_void>,
        is_readonly: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
        /// Since 3.37.
        changes64: Option<unsafe extern "C" fn(*mut c_void) -> i64>,
        changes: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    }

    // SAFETY: the assembly above defines it, with the layout of nullable pointers.
    unsafe extern "C" {
        #[link_name = "isobath_sqlite"]
        safe static FUNCTIONS: Functions;
    }

    const STATEMENT: c_uint = 1;
    const PROFILE: c_uint = 2;
    const ROW: c_uint = 4;

    pub(super) fn install() {
        if let Some(auto_extension) = FUNCTIONS.auto_extension {
            // SAFETY: the function is SQLite's, and `opened` has the type that it calls.
            unsafe { auto_extension(opened) };
        }
    }

    /// SQLite calls this for each new connection.
    extern "C" fn opened(db: *mut c_void, _: *mut *mut c_char, _: *const c_void) -> c_int {
        if let Some(trace) = FUNCTIONS.trace {
            // SAFETY: `db` is the connection that SQLite has just made.
            unsafe { trace(db, STATEMENT | PROFILE | ROW, traced, std::ptr::null_mut()) };
        }
        0
    }

    /// SQLite calls this for what a statement does.
    extern "C" fn traced(
        what: c_uint,
        _: *mut c_void,
        statement: *mut c_void,
        detail: *mut c_void,
    ) -> c_int {
        let name = statement.addr();
        match what {
            STATEMENT => {
                // SAFETY: for this event SQLite hands over the text, with a zero at its end.
                let raw = unsafe { CStr::from_ptr(detail.cast()) };
                // Statements of triggers come as comments; the statement has another text.
                let text = if raw.to_bytes().starts_with(b"--") {
                    None
                } else {
                    expanded(statement)
                };
                let text = text.unwrap_or_else(|| raw.to_string_lossy().into_owned());
                super::started(name, text);
            }
            ROW => super::row(name),
            PROFILE => super::finished(name, || changed(statement)),
            _ => {}
        }
        0
    }

    /// How many rows the statement that has just finished changed; `None` when it only reads.
    fn changed(statement: *mut c_void) -> Option<u64> {
        let (connection, is_readonly) = (FUNCTIONS.connection?, FUNCTIONS.is_readonly?);
        // SAFETY: `statement` is the prepared statement that SQLite is tracing.
        if unsafe { is_readonly(statement) } != 0 {
            return None;
        }
        // SAFETY: as before; the connection outlives its statements.
        let db = unsafe { connection(statement) };
        let changes = match (FUNCTIONS.changes64, FUNCTIONS.changes) {
            // SAFETY: `db` is a connection, and asking for a number changes nothing of it.
            (Some(changes), _) => unsafe { changes(db) },
            // SAFETY: as before.
            (None, Some(changes)) => unsafe { changes(db) }.into(),
            (None, None) => return None,
        };
        u64::try_from(changes).ok()
    }

    /// The text of a statement with its values filled in.
    fn expanded(statement: *mut c_void) -> Option<String> {
        let (expand, free) = (FUNCTIONS.expanded?, FUNCTIONS.free?);
        // SAFETY: `statement` is the prepared statement that SQLite is tracing.
        let text = unsafe { expand(statement) };
        if text.is_null() {
            return None;
        }
        // SAFETY: SQLite made the text, with a zero at its end, and leaves it to us.
        let copy = unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned();
        // SAFETY: it is not used any more.
        unsafe { free(text.cast()) };
        Some(copy)
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod hooks {
    /// Weak symbols are written differently elsewhere; nothing is seen there.
    pub(super) fn install() {
        let _ = (super::started, super::row);
        let _ = |statement| super::finished(statement, || None);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::net::UnixStream;

    use isobath_protocol::channel;

    use super::*;

    /// The statements that are told of what is done with a new database, with their rows.
    fn told(work: impl FnOnce(&rusqlite::Connection)) -> Vec<(String, u64)> {
        let _turn = crate::tests::map();
        let (near, mut far) = UnixStream::pair().expect("two ends");
        queue::open(near);
        watch();
        let connection = rusqlite::Connection::open_in_memory().expect("a database");
        work(&connection);
        settle();
        queue::answer(&Event::Synced { token: 1 });
        let mut told = Vec::new();
        loop {
            match channel::receive(&mut far).expect("an event") {
                Event::Statement { text, rows, .. } => told.push((text, rows)),
                Event::Synced { .. } => break,
                _ => {}
            }
        }
        queue::close();
        told
    }

    #[test]
    fn statements_tell_the_rows_that_they_return_or_change() {
        let told = told(|db| {
            db.execute_batch(
                "CREATE TABLE t (x INT); INSERT INTO t VALUES (1), (2), (3);
                 UPDATE t SET x = x + 1 WHERE x > 1; UPDATE t SET x = 0 WHERE x = 77;
                 CREATE TABLE u (y INT); DELETE FROM t WHERE x = 4; DELETE FROM t WHERE x = 4;
                 WITH a AS (SELECT 9 AS n) UPDATE t SET x = (SELECT n FROM a)",
            )
            .expect("sound statements");
            let rows = db.query_row("WITH a AS (SELECT 1) SELECT * FROM a WHERE 0", [], |_| {
                Ok(())
            });
            assert!(rows.is_err(), "there is none");
            let made: i64 = db
                .query_row("INSERT INTO t VALUES (5) RETURNING x", [], |row| row.get(0))
                .expect("a row");
            assert_eq!(made, 5);
            let n: i64 = db
                .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
                .expect("a number");
            assert_eq!(n, 3);
        });
        let rows: Vec<u64> = told.iter().map(|(_, rows)| *rows).collect();
        // CREATE, INSERT, UPDATE of two and of none, CREATE, DELETE of one and of none, WITH … UPDATE, WITH … SELECT of none,
        // INSERT that returns, SELECT.
        assert_eq!(rows, [0, 3, 2, 0, 0, 1, 0, 2, 0, 1, 1], "{told:#?}");
    }
}
