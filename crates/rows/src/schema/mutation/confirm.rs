//! Kills cross-checked on a real engine.
//!
//! Each mutant is created with only the tables that its killing test needs,
//! over one connection, and the test is run on it. What the engine accepts and
//! refuses must be what we said in memory.

use std::sync::Arc;

use isobath_exec::{Answer, Database, DatabaseError};
use isobath_sql::memory::Memory;
use isobath_sql::row::Statement;
use isobath_sql::schema::{ConstraintKind, Schema};
use isobath_sql::{Row, render};

use super::analysis::{Analysis, MutantStatus};
use super::mutant::Mutant;
use crate::schema::case::TestCase;

/// What the engine said of the kills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confirmed {
    /// Killed mutants on which engine and memory agree, statement by statement.
    pub agreed: usize,
    /// Those on which they do not.
    pub disagreements: Vec<Disagreement>,
    /// Killed mutants that were not tried: beyond the limit, or not runnable one statement at a time.
    pub skipped: usize,
}

/// A mutant that the engine judges otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
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
) -> Result<Confirmed, DatabaseError> {
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
    let mut confirmed = Confirmed::default();
    for (position, (index, test)) in killed.into_iter().enumerate() {
        let together = test
            .statements()
            .any(|statement| matches!(statement, Statement::InsertTogether(_)));
        if together || position % every != 0 {
            confirmed.skipped += 1;
            continue;
        }
        let part = Part::of(&analysis.mutants[index], test);
        match part.disagreement(database)? {
            Outcome::Agreed => confirmed.agreed += 1,
            Outcome::Unjudged => confirmed.skipped += 1,
            Outcome::Differs {
                sql,
                memory,
                engine,
            } => confirmed.disagreements.push(Disagreement {
                mutant: index,
                sql,
                memory,
                engine,
            }),
        }
    }
    database.clear()?;
    Ok(confirmed)
}

enum Outcome {
    Agreed,
    Unjudged,
    Differs {
        sql: String,
        memory: String,
        engine: String,
    },
}

/// The part of a mutant that one test needs.
struct Part {
    schema: Schema,
    statements: Vec<Statement>,
}

impl Part {
    fn of(mutant: &Mutant, test: &TestCase) -> Self {
        let mut needed = vec![mutant.table];
        needed.extend(test.statements().map(Statement::table));
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
        Self { schema, statements }
    }

    fn disagreement(&self, database: &mut dyn Database) -> Result<Outcome, DatabaseError> {
        let engine = database.dialect();
        database.clear()?;
        for sql in render::create_statements(&self.schema, engine) {
            if let Answer::Refused(refusal) = database.execute(&sql)? {
                return Ok(Outcome::Differs {
                    sql,
                    memory: "the mutant can be created".to_owned(),
                    engine: refusal.message,
                });
            }
        }
        let mut memory = Memory::new(&self.schema, engine.dialect());
        let case: Vec<String> = self
            .statements
            .iter()
            .flat_map(|statement| render::statement(&self.schema, statement, engine))
            .collect();
        let answers = database
            .isolated(std::slice::from_ref(&case))?
            .pop()
            .unwrap_or_default();
        for ((statement, sql), answer) in self.statements.iter().zip(case).zip(answers) {
            let Ok(verdict) = memory.run(statement) else {
                return Ok(Outcome::Unjudged);
            };
            if verdict.is_accepted() != answer.is_done() {
                let says = |accepted: bool| if accepted { "accepted" } else { "refused" };
                return Ok(Outcome::Differs {
                    sql,
                    memory: says(verdict.is_accepted()).to_owned(),
                    engine: match answer.refusal() {
                        Some(refusal) => refusal.message.clone(),
                        None => says(true).to_owned(),
                    },
                });
            }
        }
        Ok(Outcome::Agreed)
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
    use isobath_sql::DialectName;

    use super::super::sample::{insert, key, not_null, refers, schema, table};
    use super::super::{OperatorSet, Pipeline, analyse, mutants, strengthen};
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
        let analysis = analyse(&schema, dialect, made, Pipeline::Engine, &[]);
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
        let mut analysis = analyse(&schema, dialect, made, Pipeline::Engine, &[]);
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
