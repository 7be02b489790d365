//! How a MariaDB server is set up.

use std::path::Path;

use super::child_process::{GRACE, LaunchPlan, ProcessEnvironment};
use super::program;
use super::running::Login;

/// Who it should run as.
pub(super) const ACCOUNTS: [&str; 2] = ["mysql", "mariadb"];

/// How to start it, or `None` where it is not installed.
pub(super) fn plan(directory: &Path, login: &Login) -> Option<LaunchPlan> {
    let server = program::find(&["mariadbd", "mysqld"])?;
    let installer = program::find(&["mariadb-install-db", "mysql_install_db"])?;
    let Login {
        user,
        password,
        port,
    } = login;
    let path = |name: &str| directory.join(name).display().to_string();
    // Nothing here has to survive a crash, so nothing waits for the disk.
    let settings = [
        format!("--datadir={}", path("data")),
        format!("--tmpdir={}", directory.display()),
        "--innodb-buffer-pool-size=32M".to_owned(),
        "--innodb-log-file-size=16M".to_owned(),
        "--innodb-flush-log-at-trx-commit=0".to_owned(),
        "--innodb-flush-method=nosync".to_owned(),
        "--innodb-doublewrite=0".to_owned(),
        // A file less to create for each table.
        "--loose-innodb-file-per-table=0".to_owned(),
        "--loose-sync-frm=0".to_owned(),
    ];
    let mut prepare = vec![
        installer.display().to_string(),
        "--no-defaults".to_owned(),
        "--auth-root-authentication-method=normal".to_owned(),
        "--skip-test-db".to_owned(),
        "--skip-name-resolve".to_owned(),
    ];
    prepare.extend(settings.iter().cloned());
    let mut serve = vec![server.display().to_string(), "--no-defaults".to_owned()];
    serve.extend(settings);
    serve.extend([
        format!("--port={port}"),
        "--skip-networking=0".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--socket={}", path("socket")),
        format!("--pid-file={}", path("data/server.pid")),
        format!("--init-file={}", path("users.sql")),
        "--skip-name-resolve".to_owned(),
        "--skip-log-bin".to_owned(),
        "--performance-schema=OFF".to_owned(),
        "--character-set-server=utf8mb4".to_owned(),
        "--collation-server=utf8mb4_general_ci".to_owned(),
        "--default-time-zone=+00:00".to_owned(),
        "--max-connections=50".to_owned(),
    ]);
    let users = format!(
        "CREATE USER '{user}'@'127.0.0.1' IDENTIFIED BY '{password}';\n\
         GRANT ALL PRIVILEGES ON *.* TO '{user}'@'127.0.0.1' WITH GRANT OPTION;\n"
    );
    Some(LaunchPlan {
        files: vec![("users.sql", users)],
        prepare: vec![prepare],
        serve,
        // One process without children, whose data nobody will miss.
        signal: "KILL",
        grace: GRACE,
        surroundings: ProcessEnvironment::Own,
    })
}
