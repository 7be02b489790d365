//! Confirms killed mutants on a real engine.
//!
//! Each mutant is created with only the tables that its killing test needs,
//! over one connection, and the test is run on it. What the engine accepts and
//! refuses, and the rows that it then holds where the test looks, must be what
//! we said in memory.

use std::sync::Arc;

use isobath_emit::Expectation;
use isobath_exec::{Database, DatabaseError, StatementOutcome};
use isobath_sql::memory::MemoryDatabase;
use isobath_sql::row::Statement;
use isobath_sql::schema::{ConstraintKind, Schema};
use isobath_sql::{DialectName, Row, render};

use super::analysis::{Analysis, MutantStatus};
use super::mutant::Mutant;
use crate::schema::case::{ExpectedRows, TestCase};
use crate::schema::confirm::{as_one, judge_at_once, table, texts};
use crate::schema::print;

/// What the engine said of the kills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KillConfirmation {
    /// Killed mutants on which engine and memory agree, statement by statement.
    pub agreed: usize,
    /// Those on which they do not.
    pub disagreements: Vec<KillDisagreement>,
    /// Killed mutants that were not tried: beyond the limit, or outside what memory can judge.
    pub skipped: usize,
}

/// A mutant that the engine judges otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KillDisagreement {
    /// Index of the mutant.
    pub mutant: usize,
    /// The statement on which they differ.
    pub sql: String,
    /// What memory says, as a fragment.
    pub memory: String,
    /// What the engine says, as a fragment.
    pub engine: String,
}

/// Runs the killing tests of at most `most` mutants, spread over all of them, on a database that may be emptied.
///
/// # Errors
///
/// When the connection is lost.
pub fn confirm(
    analysis: &Analysis,
    suite: &[TestCase],
    database: &mut dyn Database,
    most: usize,
) -> Result<KillConfirmation, DatabaseError> {
    let killed: Vec<(usize, &TestCase)> = analysis
        .statuses
        .iter()
        .enumerate()
        .filter_map(|(index, status)| match status {
            MutantStatus::Killed { test } => Some((index, suite.get(*test)?)),
            _ => None,
        })
        .collect();
    let every = killed.len().div_ceil(most.max(1)).max(1);
    let mut confirmed = KillConfirmation::default();
    for (position, (index, test)) in killed.into_iter().enumerate() {
        if position % every != 0 {
            confirmed.skipped += 1;
            continue;
        }
        let part = MutantFragment::of(&analysis.mutants[index], test);
        match part.disagreement(database)? {
            ReplayOutcome::Agreed => confirmed.agreed += 1,
            ReplayOutcome::Unjudged => confirmed.skipped += 1,
            ReplayOutcome::Differs {
                sql,
                memory,
                engine,
            } => confirmed.disagreements.push(KillDisagreement {
                mutant: index,
                sql,
                memory,
                engine,
            }),
        }
    }
    database.drop_all_objects()?;
    Ok(confirmed)
}

enum ReplayOutcome {
    Agreed,
    Unjudged,
    Differs {
        sql: String,
        memory: String,
        engine: String,
    },
}

/// The part of a mutant that one test needs.
struct MutantFragment {
    schema: Schema,
    statements: Vec<Statement>,
    after: Vec<ExpectedRows>,
}

impl MutantFragment {
    fn of(mutant: &Mutant, test: &TestCase) -> Self {
        let mut needed = vec![mutant.table];
        for statement in test.statements() {
            match statement {
                Statement::InsertTogether(rows) => needed.extend(rows.iter().map(|row| row.table)),
                statement => needed.push(statement.table()),
            }
        }
        needed.extend(test.after.iter().map(|after| after.table));
        let mut at = 0;
        while at < needed.len() {
            let parents = mutant.schema.tables[needed[at]].foreign_keys();
            needed.extend(parents.map(|key| key.parent));
            let mut seen = Vec::new();
            needed.retain(|table| {
                let first = !seen.contains(table);
                seen.push(*table);
                first
            });
            at += 1;
        }
        needed.sort_unstable();
        let place = |table: usize| needed.binary_search(&table).unwrap_or(0);
        let mut schema = Schema {
            name: mutant.schema.name.clone(),
            tables: needed
                .iter()
                .map(|table| mutant.schema.tables[*table].clone())
                .collect(),
        };
        for table in &mut schema.tables {
            for constraint in &mut Arc::make_mut(table).constraints {
                if let ConstraintKind::ForeignKey(key) = &mut constraint.kind {
                    key.parent = place(key.parent);
                }
            }
        }
        let statements = test
            .statements()
            .map(|statement| moved(statement, &place))
            .collect();
        let after = test.after.iter().map(|after| ExpectedRows {
            table: place(after.table),
            ..after.clone()
        });
        Self {
            schema,
            statements,
            after: after.collect(),
        }
    }

    fn disagreement(&self, database: &mut dyn Database) -> Result<ReplayOutcome, DatabaseError> {
        let engine = database.dialect();
        database.drop_all_objects()?;
        for sql in render::create_statements(&self.schema, engine) {
            if let StatementOutcome::Refused(refusal) = database.execute(&sql)? {
                return Ok(ReplayOutcome::Differs {
                    sql,
                    memory: "the mutant can be created".to_owned(),
                    engine: refusal.message,
                });
            }
        }
        let mut memory = MemoryDatabase::new(&self.schema, engine.dialect()).as_engine_runs();
        database.begin()?;
        judge_at_once(engine, database)?;
        let outcome = self.replay(&mut memory, engine, database);
        database.rollback()?;
        outcome
    }

    /// Runs statement by statement in memory and on the engine, then compares rows.
    fn replay(
        &self,
        memory: &mut MemoryDatabase<'_>,
        engine: DialectName,
        database: &mut dyn Database,
    ) -> Result<ReplayOutcome, DatabaseError> {
        let description = |accepted: bool| if accepted { "accepted" } else { "refused" };
        for statement in &self.statements {
            let Ok(verdict) = memory.run(statement) else {
                return Ok(ReplayOutcome::Unjudged);
            };
            let step = print::step(statement, &self.schema, engine);
            let sql = as_one(&step, print::suite_dialect(engine));
            let answer = database.execute(&sql)?;
            // SQLite looks at deferred keys, and at rows that came in together, when the transaction
            // ends, which it never does; written tests ask, and so do we.
            if engine == DialectName::Sqlite && answer.is_done() {
                let orphans = database.query("SELECT * FROM pragma_foreign_key_check")?;
                let refused = orphans.is_ok_and(|orphans| !orphans.rows.is_empty());
                if refused == verdict.is_accepted() {
                    return Ok(ReplayOutcome::Differs {
                        sql,
                        memory: description(verdict.is_accepted()).to_owned(),
                        engine: description(!refused).to_owned(),
                    });
                }
                if refused {
                    return Ok(ReplayOutcome::Agreed);
                }
                continue;
            }
            if verdict.is_accepted() != answer.is_done() {
                return Ok(ReplayOutcome::Differs {
                    sql,
                    memory: description(verdict.is_accepted()).to_owned(),
                    engine: match answer.refusal() {
                        Some(refusal) => refusal.message.clone(),
                        None => description(true).to_owned(),
                    },
                });
            }
            // PostgreSQL takes nothing more in a transaction in which something was refused, and
            // what a test refuses is its last statement or what shows the mutant.
            if !verdict.is_accepted() {
                return Ok(ReplayOutcome::Agreed);
            }
        }
        for after in &self.after {
            let mut after = after.clone();
            after.rows = after.read(memory);
            let Expectation::Rows { query, rows } = print::rows_after(&after, &self.schema, engine)
            else {
                continue;
            };
            let found = match database.query(&query)? {
                Ok(found) => texts(&found.rows),
                Err(refusal) => vec![vec![Some(refusal.message)]],
            };
            if found != rows {
                return Ok(ReplayOutcome::Differs {
                    sql: query,
                    memory: table(&rows),
                    engine: table(&found),
                });
            }
        }
        Ok(ReplayOutcome::Agreed)
    }
}

/// A statement with its tables in other places.
fn moved(statement: &Statement, place: &dyn Fn(usize) -> usize) -> Statement {
    let row = |row: &Row| Row {
        table: place(row.table),
        cells: row.cells.clone(),
    };
    match statement {
        Statement::Insert(inserted) => Statement::Insert(row(inserted)),
        Statement::InsertTogether(rows) => {
            Statement::InsertTogether(rows.iter().map(row).collect())
        }
        Statement::Update { table, set, only } => Statement::Update {
            table: place(*table),
            set: set.clone(),
            only: only.clone(),
        },
        Statement::Delete { table, only } => Statement::Delete {
            table: place(*table),
            only: only.clone(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{insert, key, not_null, refers, schema, table};
    use super::super::{FilterPipeline, OperatorSet, analyze, mutants, strengthen};
    use super::*;

    fn shop() -> Schema {
        schema(vec![
            table("item", &["id", "code"], vec![key(&[0]), not_null(1)]),
            table(
                "sale",
                &["id", "item"],
                vec![key(&[0]), refers(&[1], 0, &[0])],
            ),
        ])
    }

    #[test]
    fn sqlite_agrees_with_the_kills_in_memory() {
        let (schema, dialect) = (shop(), DialectName::Sqlite.dialect());
        let made = mutants(&schema, dialect, OperatorSet::All);
        let analysis = analyze(&schema, dialect, made, FilterPipeline::Engine, &[]);
        let strong = strengthen(&schema, dialect, &[], analysis);
        let mut database = isobath_exec::connect("sqlite::memory:").unwrap();
        let confirmed = confirm(
            &strong.analysis,
            &strong.tests,
            database.as_mut(),
            usize::MAX,
        )
        .unwrap();
        assert_eq!(confirmed.disagreements, []);
        assert_eq!(confirmed.agreed, strong.analysis.killed());
        let some = confirm(&strong.analysis, &strong.tests, database.as_mut(), 5).unwrap();
        assert!((1..=5).contains(&some.agreed), "{}", some.agreed);
    }

    #[test]
    fn a_kill_that_the_engine_does_not_see_is_reported() {
        let (schema, dialect) = (shop(), DialectName::Sqlite.dialect());
        let made = mutants(&schema, dialect, OperatorSet::All);
        let mut analysis = analyze(&schema, dialect, made, FilterPipeline::Engine, &[]);
        let index = analysis.survivors().map(|(index, _)| index).next().unwrap();
        analysis.statuses[index] = MutantStatus::Killed { test: 0 };
        let test =
            super::super::sample::test(&schema, dialect, vec![], insert(0, &[Some(1), Some(1)]));
        // A name that SQLite keeps for itself, so that it refuses the mutant's definition.
        let broken = Arc::make_mut(&mut analysis.mutants[index].schema.tables[0]);
        broken.name = "sqlite_item".to_owned();
        let mut database = isobath_exec::connect("sqlite::memory:").unwrap();
        let confirmed = confirm(&analysis, &[test], database.as_mut(), usize::MAX).unwrap();
        assert_eq!(confirmed.disagreements.len(), 1);
        assert_eq!(
            confirmed.disagreements[0].memory,
            "the mutant can be created"
        );
    }
}
