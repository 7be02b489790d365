//! An in-memory database of the service, reached through the driver inside the service.
//!
//! The driver runs statements on a connection of its own and answers with texts; what they mean is said by the
//! columns ([`crate::test_database`] knows them). It also keeps the snapshot, because nobody else could.

use isobath_sql::{DialectName, Value};

use super::{Database, DatabaseError, Refusal, RefusalKind, ResultSet, StatementOutcome};
use crate::driver::{Driver, DriverError, SharedDriver};

/// A database in the memory of a service.
pub(crate) struct DriverDatabase {
    driver: SharedDriver,
    place: String,
    dialect: DialectName,
    definitions: Vec<String>,
}

impl DriverDatabase {
    /// Asks the driver what database it can reach.
    pub(crate) fn open(driver: SharedDriver) -> Result<Self, DatabaseError> {
        let mut driver_database = Self {
            driver,
            place: "the database inside the service".to_owned(),
            dialect: DialectName::Ansi,
            definitions: Vec::new(),
        };
        let told = driver_database.ask("its definitions", Driver::describe)?;
        let mut told = told
            .map_err(|refusal| DatabaseError::NoDatabase {
                place: driver_database.place.clone(),
                why: refusal.message,
            })?
            .into_iter();
        if let Some(system) = told.next() {
            driver_database.place = format!("{system} inside the service");
            driver_database.dialect = system.parse().unwrap_or(DialectName::Ansi);
        }
        driver_database.definitions = told.collect();
        Ok(driver_database)
    }

    /// Asks the driver; what it refuses is data.
    fn ask<T>(
        &self,
        what: &str,
        question: impl FnOnce(&mut Driver) -> Result<T, DriverError>,
    ) -> Result<Result<T, Refusal>, DatabaseError> {
        let mut current = self.driver.lock();
        current.reconnect();
        let lost = |why: &dyn ToString| DatabaseError::lost(&self.place, what, why.to_string());
        let Some(driver) = &mut current.driver else {
            return Err(lost(&"the connection to the service is closed"));
        };
        match question(driver) {
            Ok(answer) => Ok(Ok(answer)),
            Err(DriverError::Refused(why)) => Ok(Err(refusal(why))),
            Err(error) => Err(lost(&error)),
        }
    }
}

impl Database for DriverDatabase {
    fn dialect(&self) -> DialectName {
        self.dialect
    }

    fn display_address(&self) -> &str {
        &self.place
    }

    fn execute(&mut self, sql: &str) -> Result<StatementOutcome, DatabaseError> {
        let answer = self.ask(sql, |driver| driver.run_sql(sql))?;
        Ok(match answer {
            Ok(rows) => StatementOutcome::Done {
                rows: rows.len() as u64,
            },
            Err(refusal) => StatementOutcome::Refused(refusal),
        })
    }

    fn query(&mut self, sql: &str) -> Result<Result<ResultSet, Refusal>, DatabaseError> {
        let answer = self.ask(sql, |driver| driver.run_sql(sql))?;
        Ok(answer.map(|rows| {
            let cell = |cell: Option<String>| cell.map_or(Value::Null, Value::Text);
            let rows = rows.into_iter();
            ResultSet {
                columns: Vec::new(),
                rows: rows
                    .map(|row| row.into_iter().map(cell).collect())
                    .collect(),
            }
        }))
    }

    fn run_isolated(
        &mut self,
        cases: &[Vec<String>],
    ) -> Result<Vec<Vec<StatementOutcome>>, DatabaseError> {
        let mut all = Vec::with_capacity(cases.len());
        for case in cases {
            self.begin()?;
            let answers = case.iter().map(|sql| self.execute(sql));
            let answers = answers.collect::<Result<Vec<_>, _>>();
            self.rollback()?;
            all.push(answers?);
        }
        Ok(all)
    }

    /// A service needs its tables, so they stay.
    fn drop_all_objects(&mut self) -> Result<(), DatabaseError> {
        Err(DatabaseError::NotATestDatabase {
            place: self.place.clone(),
        })
    }

    fn foreign_key_switch(&self) -> Option<[&'static str; 2]> {
        match self.place.split(' ').next() {
            Some("h2") => Some([
                "SET REFERENTIAL_INTEGRITY FALSE",
                "SET REFERENTIAL_INTEGRITY TRUE",
            ]),
            Some("hsqldb") => Some([
                "SET DATABASE REFERENTIAL INTEGRITY FALSE",
                "SET DATABASE REFERENTIAL INTEGRITY TRUE",
            ]),
            _ => None,
        }
    }

    fn known_definitions(&self) -> Option<&[String]> {
        Some(&self.definitions)
    }

    fn snapshot_or_reset(&mut self) -> Result<bool, DatabaseError> {
        let done = self.ask("the snapshot", Driver::reset)?;
        done.map(|()| true)
            .map_err(|refusal| DatabaseError::refused(&self.place, "the snapshot", refusal))
    }

    fn write_count(&mut self) -> Result<Option<u64>, DatabaseError> {
        let writes = self.ask("what was written", Driver::write_count)?;
        Ok(writes.ok())
    }
}

/// What the driver said, whose last word is the standard's code where it has one.
fn refusal(why: String) -> Refusal {
    let sqlstate = why
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once(" (SQLSTATE "))
        .map(|(_, code)| code.to_owned());
    let kind = match sqlstate.as_deref() {
        Some("23502") => RefusalKind::NotNull,
        Some("23505") => RefusalKind::Unique,
        Some("23503" | "23506") => RefusalKind::ForeignKey,
        Some("23513" | "23514") => RefusalKind::Check,
        Some("22001") => RefusalKind::TooLong,
        Some("22003") => RefusalKind::OutOfRange,
        Some("22007" | "22018") => RefusalKind::WrongType,
        Some("22012") => RefusalKind::DivisionByZero,
        _ => RefusalKind::Other,
    };
    let message = match why.rsplit_once(" (SQLSTATE ") {
        Some((message, _)) if sqlstate.is_some() => message.to_owned(),
        _ => why,
    };
    Refusal {
        kind,
        sqlstate,
        message,
        ..Refusal::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_at_the_end_of_a_refusal_says_what_was_wrong() {
        let refused = refusal("Unique index violation (SQLSTATE 23505)".to_owned());
        assert_eq!(refused.kind, RefusalKind::Unique);
        assert_eq!(
            refused.to_string(),
            "Unique index violation (SQLSTATE 23505)"
        );
        let refused = refusal("who knows (or not)".to_owned());
        assert_eq!(refused.kind, RefusalKind::Other);
        assert_eq!(refused.to_string(), "who knows (or not)");
    }
}
