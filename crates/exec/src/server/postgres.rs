//! How a PostgreSQL server is set up.

use std::path::Path;

use super::child_process::{GRACE, LaunchPlan, ProcessEnvironment};
use super::program;
use super::running::Login;

/// Who it should run as.
pub(super) const ACCOUNTS: [&str; 1] = ["postgres"];

/// How to start it, or `None` where it is not installed.
pub(super) fn plan(directory: &Path, login: &Login) -> Option<LaunchPlan> {
    let programs = program::directory_with(&["initdb", "postgres"])?;
    let program = |name: &str| programs.join(name).display().to_string();
    let path = |name: &str| directory.join(name).display().to_string();
    let prepare = [
        program("initdb"),
        "--pgdata".to_owned(),
        path("data"),
        "--username".to_owned(),
        login.user.clone(),
        "--pwfile".to_owned(),
        path("password"),
        "--auth=scram-sha-256".to_owned(),
        "--encoding=UTF8".to_owned(),
        "--locale=C".to_owned(),
        "--no-sync".to_owned(),
    ];
    let mut serve = vec![program("postgres"), "-D".to_owned(), path("data")];
    // Nothing here has to survive a crash, so nothing waits for the disk.
    for setting in [
        format!("port={}", login.port),
        "listen_addresses=127.0.0.1".to_owned(),
        "unix_socket_directories=".to_owned(),
        "fsync=off".to_owned(),
        "synchronous_commit=off".to_owned(),
        "full_page_writes=off".to_owned(),
        "autovacuum=off".to_owned(),
        "shared_buffers=32MB".to_owned(),
        "max_connections=50".to_owned(),
        "max_wal_size=256MB".to_owned(),
        "min_wal_size=32MB".to_owned(),
        "wal_level=minimal".to_owned(),
        "max_wal_senders=0".to_owned(),
        "timezone=UTC".to_owned(),
        "lc_messages=C".to_owned(),
        "jit=off".to_owned(),
    ] {
        serve.extend(["-c".to_owned(), setting]);
    }
    Some(LaunchPlan {
        files: vec![("password", login.password.clone())],
        prepare: vec![prepare.to_vec()],
        serve,
        // Backends are processes of their own, which a killed server would leave behind.
        signal: "QUIT",
        grace: GRACE,
        surroundings: ProcessEnvironment::Own,
    })
}
