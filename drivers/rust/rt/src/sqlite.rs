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

/// A statement has finished.
fn finished(statement: usize) {
    let running = running().remove(&statement);
    running.into_iter().for_each(tell);
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

    // The addresses of four functions of SQLite, each zero when the program has none.
    std::arch::global_asm!(
        ".weak sqlite3_auto_extension",
        ".weak sqlite3_trace_v2",
        ".weak sqlite3_expanded_sql",
        ".weak sqlite3_free",
        ".pushsection .data.rel.ro.isobath_sqlite,\"aw\",%progbits",
        ".balign 8",
        ".hidden isobath_sqlite",
        ".globl isobath_sqlite",
        "isobath_sqlite:",
        ".quad sqlite3_auto_extension",
        ".quad sqlite3_trace_v2",
        ".quad sqlite3_expanded_sql",
        ".quad sqlite3_free",
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
    }

    // SAFETY: the assembly above defines it, with the layout of four nullable pointers.
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
            PROFILE => super::finished(name),
            _ => {}
        }
        0
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
        let _ = (super::started, super::row, super::finished);
    }
}
