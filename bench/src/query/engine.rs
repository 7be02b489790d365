//! What counts as covered, asked of MariaDB.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::print_stderr, reason = "and what the server refuses")]

use std::collections::BTreeMap;
use std::error::Error;

use isobath_exec::{Engine, ProvisionedDatabase, provision};
use isobath_rows::query::confirm::{self, EngineVerdict};
use isobath_rows::query::construct::SolverContext;
use isobath_rows::query::job::CoverageOutcome;
use isobath_rows::query::target::QueryTarget;
use isobath_sql::{DialectName, Schema};

use super::counts::Counts;
use super::data::Record;

/// A server with the tables of one system.
pub(super) struct Asking<'s> {
    server: ProvisionedDatabase,
    schema: &'s Schema,
    stored: Schema,
    /// What it said of rows and targets: with other seeds, most are the same again.
    known: BTreeMap<(Vec<String>, String), Option<String>>,
}

impl<'s> Asking<'s> {
    /// Starts a server and creates the tables.
    pub(super) fn of(setting: &SolverContext<'s>, name: &str) -> Result<Self, Box<dyn Error>> {
        let schema = setting.schema;
        let stored = confirm::fixture_schema(schema, setting.constraints);
        let mut server = provision(Engine::MariaDb)?;
        for (sql, why) in confirm::prepare(&stored, server.database())? {
            eprintln!("{name}: MariaDB refuses `{sql}`: {why}");
        }
        confirm::set_clock(server.database(), setting.now)?;
        Ok(Self {
            server,
            schema,
            stored,
            known: BTreeMap::new(),
        })
    }

    /// Asks about everything that an outcome counts as covered.
    pub(super) fn ask(
        &mut self,
        record: &Record,
        targets: &[QueryTarget],
        outcome: &CoverageOutcome,
        counts: &mut Counts,
    ) -> Result<(), Box<dyn Error>> {
        for fixture in &outcome.fixtures {
            let spelled = |target: &usize| {
                confirm::quote_identifiers(&targets[*target].sql, self.schema, DialectName::MySql)
            };
            let sql: Vec<String> = fixture.covers.iter().map(spelled).collect();
            let rows = confirm::inserts(fixture, &self.stored, DialectName::MySql);
            let key = |sql: &String| (rows.clone(), sql.clone());
            let new: Vec<String> = sql
                .iter()
                .filter(|sql| !self.known.contains_key(&key(sql)))
                .cloned()
                .collect();
            if !new.is_empty() {
                let database = self.server.database();
                let verdicts = confirm::confirm(fixture, &new, &self.stored, database)?;
                counts.asked_anew += new.len();
                for (sql, verdict) in new.iter().zip(verdicts) {
                    let disagreement = match verdict {
                        EngineVerdict::Agrees => None,
                        EngineVerdict::Disagrees { actual } => Some(actual),
                    };
                    self.known.insert(key(sql), disagreement);
                }
            }
            counts.asked += sql.len();
            for sql in &sql {
                match self.known.get(&key(sql)).and_then(Option::as_ref) {
                    None => counts.confirmed += 1,
                    Some(actual) => println!("disagrees: {} {sql}: {actual}", record.id),
                }
            }
        }
        Ok(())
    }
}
