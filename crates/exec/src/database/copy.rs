//! Copies of a test database, one for each further instance of a service.
//!
//! SQLite: a copy of the file. PostgreSQL: `CREATE DATABASE … TEMPLATE`. MariaDB and MySQL: a schema of its own with the tables and
//! rows; one with views, triggers or routines is not copied, because their texts may name the schema that they are in.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use isobath_sql::{DialectName, Value};
use tempfile::TempDir;
use url::Url;

use super::address::{Address, open};
use super::write_access::connect_writable;
use super::{Database, DatabaseError, StatementOutcome};

/// The most characters of a name that are kept in the name of its copy; servers allow 63.
const KEPT: usize = 30;
/// SQLSTATEs: others are connected to the template; the login may not create databases.
const IN_USE: &str = "55006";
const NO_PRIVILEGE: &str = "42501";

/// A copy of a test database. Dropping it removes the copy.
#[derive(Debug)]
pub struct DatabaseCopy {
    address: Address,
    /// The original, with its password; nobody can drop a database to which he is connected.
    original: String,
    /// The name of a copy on a server.
    name: Option<String>,
    /// The folder of a copied file, with its name there.
    file: Option<(TempDir, PathBuf)>,
    is_removed: AtomicBool,
}

impl DatabaseCopy {
    /// Copies a database that was named as a test database; `number` tells the copies of one run apart.
    ///
    /// Nobody else may be connected to a PostgreSQL database meanwhile, so this comes before the service is started.
    ///
    /// # Errors
    ///
    /// When it is no test database, cannot be copied, or whatever connecting may meet.
    pub fn create(
        original: &str,
        test_databases: &[String],
        number: usize,
    ) -> Result<Self, DatabaseError> {
        let copy = |address, name, file| Self {
            address,
            original: original.to_owned(),
            name,
            file,
            is_removed: AtomicBool::new(false),
        };
        match Address::parse(original)? {
            Address::SqliteMemory => Err(DatabaseError::NotCopied {
                place: original.to_owned(),
                why: "a database in memory belongs to one connection".to_owned(),
            }),
            address @ Address::SqliteFile(_) => {
                let (folder, path) = copy_file(original, &address, test_databases)?;
                let file = Some((folder, path.clone()));
                Ok(copy(Address::SqliteFile(path), None, file))
            }
            Address::Postgres(url) => {
                let mut database = connect_writable(original, test_databases)?;
                let name = copy_postgres(database.as_mut(), number)?;
                let address = Address::Postgres(renamed(&url, &name));
                Ok(copy(address, Some(name), None))
            }
            Address::MariaDb(url) => {
                let mut database = connect_writable(original, test_databases)?;
                let name = copy_mariadb(database.as_mut(), number)?;
                let address = Address::MariaDb(renamed(&url, &name));
                Ok(copy(address, Some(name), None))
            }
        }
    }

    /// The address of the copy.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Removes the copy now; does nothing the second time.
    ///
    /// # Errors
    ///
    /// When the server is unreachable or refuses.
    pub fn remove(&self) -> Result<(), DatabaseError> {
        if self.is_removed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        if let Some((folder, _)) = &self.file {
            // What a service has still open is gone when it ends.
            let _ = std::fs::remove_dir_all(folder.path());
        }
        match &self.name {
            Some(name) => remove(open(&self.original)?.as_mut(), name),
            None => Ok(()),
        }
    }
}

impl Drop for DatabaseCopy {
    fn drop(&mut self) {
        // Who wants to know whether it is gone calls `remove`.
        let _ = self.remove();
    }
}

/// The address of another database on the same server.
fn renamed(url: &Url, name: &str) -> Url {
    let mut url = url.clone();
    url.set_path(name);
    url
}

/// A name that no database has yet: of what is copied, of this process and of this moment.
fn name_of_copy(original: &str, number: usize) -> String {
    let kept: String = original.chars().take(KEPT).collect();
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let time = time.map_or(0, |time| time.as_millis() % 0x1_0000_0000);
    let kept = kept.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    format!("{kept}_isobath_{:x}_{time:x}_{number}", std::process::id()).to_lowercase()
}

/// Copies the file of a database while nobody can write to it; one that a service makes when it starts is not there yet.
fn copy_file(
    original: &str,
    address: &Address,
    test_databases: &[String],
) -> Result<(TempDir, PathBuf), DatabaseError> {
    let Address::SqliteFile(path) = address else {
        return Err(not_copied(original, "it is no file"));
    };
    let failed = |error: std::io::Error| not_copied(original, error.to_string());
    let folder = tempfile::Builder::new().prefix("isobath-").tempdir();
    let folder = folder.map_err(failed)?;
    let copy = folder
        .path()
        .join(path.file_name().unwrap_or("copy.db".as_ref()));
    if path.exists() {
        let mut database = connect_writable(original, test_databases)?;
        database.execute_required("BEGIN IMMEDIATE")?;
        std::fs::copy(path, &copy).map_err(failed)?;
        // What is not yet in the file itself.
        let log = beside(path, "-wal");
        if log.exists() {
            std::fs::copy(log, beside(&copy, "-wal")).map_err(failed)?;
        }
        database.execute_required("ROLLBACK")?;
    }
    Ok((folder, copy))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn not_copied(place: &str, why: impl Into<String>) -> DatabaseError {
    DatabaseError::NotCopied {
        place: super::mask_password(place),
        why: why.into(),
    }
}

/// The one text that a query returns.
fn text(database: &mut dyn Database, sql: &str) -> Result<String, DatabaseError> {
    let rows = database.query_required(sql)?.rows;
    match rows.first().and_then(|row| row.first()) {
        Some(Value::Text(text)) => Ok(text.clone()),
        _ => Err(not_copied(
            database.display_address(),
            "its address names no database",
        )),
    }
}

/// A name in quotes, whatever it is.
fn quoted(name: &str, dialect: DialectName) -> String {
    let quote = match dialect {
        DialectName::MySql => '`',
        _ => '"',
    };
    let doubled = name.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}

fn copy_postgres(database: &mut dyn Database, number: usize) -> Result<String, DatabaseError> {
    let original = text(database, "SELECT current_database()::text")?;
    let name = name_of_copy(&original, number);
    let quote = |name: &str| quoted(name, DialectName::Postgres);
    let create = format!(
        "CREATE DATABASE {} TEMPLATE {}",
        quote(&name),
        quote(&original)
    );
    if let StatementOutcome::Refused(refusal) = database.execute(&create)? {
        let place = database.display_address();
        return Err(match refusal.sqlstate.as_deref() {
            Some(IN_USE) => not_copied(
                place,
                "others are connected to it; end their connections (of services, pools and consoles), then run again",
            ),
            Some(NO_PRIVILEGE) => not_copied(
                place,
                "the login may not create databases; grant it CREATEDB",
            ),
            _ => DatabaseError::refused(place, &create, refusal),
        });
    }
    // Settings belong to a database and are not in its template.
    let settings = database.query_required(
        "SELECT split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1) \
         FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase, unnest(s.setconfig) setting \
         WHERE d.datname = current_database() AND s.setrole = 0",
    )?;
    for (setting, value) in settings.texts(0).zip(settings.texts(1)) {
        // Lists of names are stored as they are written; everything else is a text.
        let value = match setting {
            "search_path" | "temp_tablespaces" => value.to_owned(),
            _ => format!("'{}'", value.replace('\'', "''")),
        };
        let sql = format!("ALTER DATABASE {} SET {setting} TO {value}", quote(&name));
        if let Err(error) = database.execute_required(&sql) {
            let _ = remove(database, &name);
            return Err(error);
        }
    }
    Ok(name)
}

/// What of a schema is more than tables: names and kinds.
const MORE_THAN_TABLES: [&str; 4] = [
    "SELECT TABLE_NAME, LOWER(TABLE_TYPE) FROM information_schema.TABLES \
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE <> 'BASE TABLE'",
    "SELECT TRIGGER_NAME, 'trigger' FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()",
    "SELECT ROUTINE_NAME, LOWER(ROUTINE_TYPE) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()",
    "SELECT EVENT_NAME, 'event' FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE()",
];

fn copy_mariadb(database: &mut dyn Database, number: usize) -> Result<String, DatabaseError> {
    let original = text(database, "SELECT DATABASE()")?;
    let mut others = Vec::new();
    for sql in MORE_THAN_TABLES {
        let found = database.query_required(sql)?;
        let names = found.texts(0).zip(found.texts(1));
        others.extend(names.map(|(name, kind)| format!("{kind} `{name}`")));
    }
    if !others.is_empty() {
        others.truncate(5);
        let why = format!(
            "only tables can be copied, and it has {}; use a schema without them, or --instances 1",
            others.join(", ")
        );
        return Err(not_copied(database.display_address(), why));
    }
    let name = name_of_copy(&original, number);
    let created = fill_mariadb(database, &original, &name);
    // The connection is one to the original again, however that ended.
    let back = database.execute_required(&format!("USE {}", quoted(&original, DialectName::MySql)));
    match created.and(back) {
        Ok(()) => Ok(name),
        Err(error) => {
            let _ = remove(database, &name);
            Err(error)
        }
    }
}

fn fill_mariadb(
    database: &mut dyn Database,
    original: &str,
    name: &str,
) -> Result<(), DatabaseError> {
    let quote = |name: &str| quoted(name, DialectName::MySql);
    let (from, to) = (quote(original), quote(name));
    let defaults = database.query_required(
        "SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA \
         WHERE SCHEMA_NAME = DATABASE()",
    )?;
    let mut create = format!("CREATE DATABASE {to}");
    if let (Some(set), Some(collation)) = (defaults.texts(0).next(), defaults.texts(1).next()) {
        create.push_str(&format!(" CHARACTER SET {set} COLLATE {collation}"));
    }
    database.execute_required(&create)?;
    let tables = database.query_required(
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME",
    )?;
    let mut statements = vec![
        "SET FOREIGN_KEY_CHECKS = 0".to_owned(),
        // Rows come as they are: a zero stays one, and so does a date that is none.
        "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'".to_owned(),
        format!("USE {to}"),
    ];
    let mut rows = Vec::new();
    for table in tables.texts(0) {
        let shown =
            database.query_required(&format!("SHOW CREATE TABLE {from}.{}", quote(table)))?;
        statements.extend(shown.texts(1).map(str::to_owned));
        let columns = database.query_required(&format!(
            "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{}' \
             AND COALESCE(GENERATION_EXPRESSION, '') = '' ORDER BY ORDINAL_POSITION",
            table.replace('\\', "\\\\").replace('\'', "''")
        ))?;
        let columns: Vec<String> = columns.texts(0).map(quote).collect();
        let (table, columns) = (quote(table), columns.join(", "));
        rows.push(format!(
            "INSERT INTO {to}.{table} ({columns}) SELECT {columns} FROM {from}.{table}"
        ));
    }
    statements.append(&mut rows);
    for statement in statements {
        database.execute_required(&statement)?;
    }
    Ok(())
}

/// Drops a copy, with the connections that are left to it.
fn remove(database: &mut dyn Database, name: &str) -> Result<(), DatabaseError> {
    let dialect = database.dialect();
    let sql = format!("DROP DATABASE IF EXISTS {}", quoted(name, dialect));
    if dialect == DialectName::Postgres {
        // Servers before PostgreSQL 13 do not know it.
        let forced = database.execute(&format!("{sql} WITH (FORCE)"))?;
        if matches!(forced, StatementOutcome::Done { .. }) {
            return Ok(());
        }
    }
    database.execute_required(&sql)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_a_file_is_apart_and_goes_with_the_value() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.db");
        let original = format!("sqlite:{}", path.display());
        let named = [original.clone()];
        let mut shop = connect_writable(&original, &named).unwrap();
        for sql in [
            "PRAGMA journal_mode = WAL",
            "CREATE TABLE t (a INTEGER)",
            "INSERT INTO t VALUES (1)",
        ] {
            shop.execute(sql).unwrap();
        }
        let copy = DatabaseCopy::create(&original, &named, 2).unwrap();
        shop.execute_required("INSERT INTO t VALUES (2)").unwrap();
        let address = copy.address().with_password();
        let mut copied = open(&address).unwrap();
        let count = "SELECT COUNT(*) FROM t";
        assert_eq!(
            copied.query_required(count).unwrap().rows[0],
            [Value::Int(1)]
        );
        assert_eq!(shop.query_required(count).unwrap().rows[0], [Value::Int(2)]);
        let Address::SqliteFile(file) = copy.address().clone() else {
            panic!("a file");
        };
        assert!(file.exists() && file != path);
        drop(copy);
        assert!(!file.exists() && path.exists());
    }

    #[test]
    fn a_file_that_is_not_there_yet_has_a_place_for_its_copy() {
        let folder = tempfile::tempdir().unwrap();
        let original = format!("sqlite:{}", folder.path().join("new.db").display());
        let copy = DatabaseCopy::create(&original, std::slice::from_ref(&original), 2).unwrap();
        let place = copy.address().with_password();
        assert!(place.ends_with("/new.db") && place != original);
        let Address::SqliteFile(file) = copy.address() else {
            panic!("a file");
        };
        assert!(!file.exists() && file.parent().is_some_and(Path::is_dir));
    }

    #[test]
    fn names_of_copies_are_plain_and_short_enough() {
        let name = name_of_copy(&"Shop-Ö test ".repeat(10), 12);
        assert!(
            name.starts_with("shop___test_shop___test_shop___isobath_"),
            "{name}"
        );
        assert!(name.len() < 63 && name.ends_with("_12"), "{name}");
        let plain = |c: char| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit();
        assert!(name.chars().all(plain), "{name}");
    }

    #[test]
    fn what_is_no_test_database_is_not_copied() {
        let error = DatabaseCopy::create("postgres://me:pw@localhost:1/shop", &[], 2).unwrap_err();
        assert!(matches!(error, DatabaseError::NotATestDatabase { .. }));
        assert!(DatabaseCopy::create("sqlite::memory:", &[], 2).is_err());
    }
}
