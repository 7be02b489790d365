//! Write access, granted only to databases that are declared as test databases.

use super::address::{Address, open};
use super::{Database, DatabaseError, mask_password};

/// Opens a connection for writing to a database that was named as a test database.
///
/// User and password play no part: it is the database that is named.
///
/// # Errors
///
/// [`DatabaseError::NotATestDatabase`] when it was not, and whatever connecting may meet.
pub fn connect_writable(
    address: &str,
    test_databases: &[String],
) -> Result<Box<dyn Database>, DatabaseError> {
    if is_allowed(address, test_databases)? {
        open(address)
    } else {
        Err(DatabaseError::NotATestDatabase {
            place: mask_password(address),
        })
    }
}

fn is_allowed(address: &str, test_databases: &[String]) -> Result<bool, DatabaseError> {
    let address = Address::parse(address)?;
    if address == Address::SqliteMemory {
        return Ok(true);
    }
    for named in test_databases {
        if Address::parse(named)?.is_same_database(&address) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str, test_databases: &[&str], expected: bool) {
        let named: Vec<String> = test_databases.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(
            is_allowed(address, &named).unwrap(),
            expected,
            "{address} in {test_databases:?}"
        );
    }

    #[test]
    fn only_named_databases_are_written_to() {
        check("postgres://me@h/shop", &[], false);
        check(
            "postgres://me@h/shop",
            &["postgres://me@h/shop_test"],
            false,
        );
        check(
            "postgres://me@h/shop",
            &["postgres://me@h/shop_test", "postgres://me@h/shop"],
            true,
        );
        check("postgres://me@h/shop", &["postgres://me@other/shop"], false);
        check(
            "postgres://me@h:5433/shop",
            &["postgres://me@h/shop"],
            false,
        );
        check("postgres://h/shop", &["mariadb://h/shop"], false);
        check("mariadb://h/shop", &["mariadb://h"], false);
    }

    #[test]
    fn other_spellings_of_the_same_database_are_the_same() {
        check(
            "postgresql://me:a@H:5432/shop",
            &["postgres://you:b@h/shop"],
            true,
        );
        check("mysql://h/shop", &["mariadb://h:3306/shop"], true);
    }

    #[test]
    fn a_file_is_the_same_by_any_path_to_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        std::fs::write(&path, "").unwrap();
        let direct = format!("sqlite:{}", path.display());
        let roundabout = format!("sqlite:{}/./a.db", directory.path().display());
        check(&direct, &[&roundabout], true);
        check(&direct, &["sqlite:a.db"], false);
        check("sqlite:new.db", &["sqlite:new.db"], true);
    }

    #[test]
    fn memory_belongs_to_nobody() {
        check("sqlite::memory:", &[], true);
    }

    #[test]
    fn a_wrong_address_among_the_named_ones_is_said() {
        assert!(is_allowed("sqlite:a.db", &["nonsense".to_owned()]).is_err());
    }
}
