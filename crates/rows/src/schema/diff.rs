//! What a change of the schema means for rows: which become accepted, which become refused.
//!
//! Tables and columns are matched by name. A constraint that came, went or
//! changed is turned into the rows about which it makes the versions disagree,
//! and an example is looked for and run under both. Where it is proven that
//! there is none, there is no difference, however much the text changed.

mod mapping;

use isobath_sql::memory::{MemoryDatabase, Verdict};
use isobath_sql::row::Statement;
use isobath_sql::schema::{Constraint, Schema, Table};
use isobath_sql::{Dialect, Row};

use self::mapping::SchemaMapping;
use super::case::TestCase;
use super::mutation::difference::{self, TableVersions, Version, VersionDifference};
use super::phrase;
use super::row_finder::{RowFinder, RowSearchResult, seeds};
use super::setup_rows::SeedRows;

/// The meaning of a change from one schema to another.
#[derive(Clone, Debug, Default)]
pub struct Diff {
    /// Tables and columns that came, went or changed, one sentence each.
    pub notes: Vec<String>,
    /// Examples of rows that are judged otherwise.
    pub changes: Vec<RowChange>,
    /// Textual changes that are proven to change nothing, with the proof.
    pub harmless: Vec<String>,
    /// Changes for which neither an example nor a proof was found.
    pub undecided: Vec<String>,
}

/// A row that the two versions judge differently. Statements are in terms of the old schema.
#[derive(Clone, Debug)]
pub struct RowChange {
    /// The table's index in the old schema.
    pub table: usize,
    /// What changed, as a sentence.
    pub because: String,
    /// Whether the new schema accepts the row.
    pub becomes_accepted: bool,
    /// Rows that must be there first; both versions accept them.
    pub setup_rows: Vec<Statement>,
    /// The INSERT whose outcome changes.
    pub statement: Statement,
    /// What the version that refuses it says.
    pub refusal: String,
}

/// A test of the old suite that no longer passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingTest {
    /// Index of the test.
    pub test: usize,
    /// What the new schema does instead, as a fragment.
    pub now: String,
}

/// Compares two versions of a schema under one engine.
pub fn diff(old: &Schema, new: &Schema, dialect: &'static dyn Dialect) -> Diff {
    let mapping = SchemaMapping::new(old, new);
    let both = mapping.both();
    // Rows that are good under both make the best ground; where there are none, the old ones must do.
    let seeds = [seeds(&both, dialect), seeds(old, dialect)];
    let mut comparison = DiffBuilder {
        mapping: &mapping,
        dialect,
        seeds: &seeds,
        found: Diff {
            notes: mapping.notes(),
            ..Diff::default()
        },
    };
    for table in 0..old.tables.len() {
        if mapping.table(table).is_some() {
            comparison.compare(table);
        }
    }
    comparison.found
}

/// Which tests of a suite for the old schema end otherwise under the new one.
pub fn failing_tests(
    old: &Schema,
    new: &Schema,
    dialect: &'static dyn Dialect,
    suite: &[TestCase],
) -> Vec<FailingTest> {
    let mapping = SchemaMapping::new(old, new);
    let mut found = Vec::new();
    for (index, test) in suite.iter().enumerate() {
        let mut before = MemoryDatabase::new(old, dialect);
        let mut after = MemoryDatabase::new(new, dialect);
        for statement in test.statements() {
            let now = match mapping.statement(statement) {
                None => Some("it names a table or column that was removed".to_owned()),
                Some(translated) => {
                    let verdicts = (before.run(statement), after.run(&translated));
                    match verdicts {
                        (Ok(before), Ok(after)) => failing_test(&before, &after, new, dialect),
                        // What we cannot judge is not called a change.
                        _ => break,
                    }
                }
            };
            if let Some(now) = now {
                found.push(FailingTest { test: index, now });
                break;
            }
        }
    }
    found
}

fn failing_test(
    before: &Verdict,
    after: &Verdict,
    schema: &Schema,
    dialect: &dyn Dialect,
) -> Option<String> {
    match (before, after) {
        (Verdict::Accepted, Verdict::Rejected(_)) => Some(phrase::refusal(after, schema, dialect)),
        (Verdict::Rejected(_), Verdict::Accepted) => Some("it is accepted".to_owned()),
        (Verdict::Accepted, Verdict::Accepted) | (Verdict::Rejected(_), Verdict::Rejected(_)) => {
            None
        }
    }
}

struct DiffBuilder<'a> {
    mapping: &'a SchemaMapping<'a>,
    dialect: &'static dyn Dialect,
    seeds: &'a [SeedRows<'a>; 2],
    found: Diff,
}

impl DiffBuilder<'_> {
    fn compare(&mut self, table: usize) {
        let mapping = self.mapping;
        let before: &Table = &mapping.old.tables[table];
        let (removed, added) = mapping.constraints(table);
        let name = &before.name;
        let constraints = TableVersions {
            table,
            before,
            removed: &removed,
            added: &added,
        };
        for constraint in &added {
            let because = format!(
                "`{name}` now has {}",
                phrase::constraint(constraint, before, mapping.old, self.dialect)
            );
            let difference = constraints.newly_refused(constraint, self.dialect);
            self.decide(table, because, &[difference], None);
        }
        for index in &removed {
            let constraint: &Constraint = &before.constraints[*index];
            let because = format!(
                "`{name}` no longer has {}",
                phrase::constraint(constraint, before, mapping.old, self.dialect)
            );
            let difference = constraints.newly_accepted(*index, self.dialect);
            self.decide(table, because, &[difference], None);
        }
        for (column, data_type) in mapping.changed_types(table) {
            let because = format!(
                "`{}` of `{name}` is {} and was {}",
                before.columns[column].name,
                phrase::data_type(&data_type, self.dialect),
                phrase::data_type(&before.columns[column].data_type, self.dialect)
            );
            let mut retyped = before.clone();
            retyped.columns[column].data_type = data_type;
            let differences = difference::of_type((before, &retyped), table, column, self.dialect);
            let schema = mapping.old.with_table(table, retyped);
            self.decide(table, because, &differences, Some(&schema));
        }
        if let Some(because) = mapping.unfilled_column(table) {
            self.try_good_row(table, because);
        }
    }

    /// Finds an example for each difference, or proves that there is none.
    fn decide(
        &mut self,
        table: usize,
        because: String,
        differences: &[VersionDifference],
        retyped: Option<&Schema>,
    ) {
        let mut proofs = Vec::new();
        let mut examples = 0;
        for difference in differences {
            let schema = match (difference.stands_on, retyped) {
                (Version::After, Some(schema)) => schema,
                _ => self.mapping.old,
            };
            for seeds in self.seeds {
                let row_finder = RowFinder::new(schema, self.dialect, seeds);
                match row_finder.find(table, &difference.predicate, difference.compares) {
                    RowSearchResult::Row { setup_rows, row } => {
                        if self.example(table, &because, setup_rows, row) {
                            examples += 1;
                            break;
                        }
                    }
                    RowSearchResult::Never { proof } if difference.exact => {
                        proofs.push(proof);
                        break;
                    }
                    RowSearchResult::Never { .. } | RowSearchResult::Unknown => {}
                }
            }
        }
        if examples > 0 {
            return;
        }
        if !differences.is_empty() && proofs.len() == differences.len() {
            self.found.harmless.push(format!(
                "{because}, which changes nothing: {}",
                proofs.join("; ")
            ));
        } else {
            self.found.undecided.push(because);
        }
    }

    /// A row that was good and may not be any more.
    fn try_good_row(&mut self, table: usize, because: String) {
        let example = self.seeds.iter().any(|seeds| {
            let row_finder = RowFinder::new(self.mapping.old, self.dialect, seeds);
            let Some(row) = row_finder.good_row(table) else {
                return false;
            };
            self.example(
                table,
                &because,
                row_finder.setup_rows(table, false),
                row.clone(),
            )
        });
        if !example {
            self.found.undecided.push(because);
        }
    }

    /// Runs a row under both versions and notes it if they disagree.
    fn example(
        &mut self,
        table: usize,
        because: &str,
        setup_rows: Vec<Statement>,
        row: Row,
    ) -> bool {
        let setup_rows = self.needed(setup_rows, &row);
        let statement = Statement::Insert(row);
        let Some((before, after)) = self.verdicts(&setup_rows, &statement) else {
            return false;
        };
        let refusal = match (&before, &after) {
            (Verdict::Accepted, Verdict::Rejected(_)) => {
                phrase::refusal(&after, self.mapping.new, self.dialect)
            }
            (Verdict::Rejected(_), Verdict::Accepted) => {
                phrase::refusal(&before, self.mapping.old, self.dialect)
            }
            _ => return false,
        };
        self.found.changes.push(RowChange {
            table,
            because: because.to_owned(),
            becomes_accepted: after.is_accepted(),
            setup_rows,
            statement,
            refusal,
        });
        true
    }

    /// The lead-up without rows that make no difference to the two outcomes.
    fn needed(&self, mut setup_rows: Vec<Statement>, row: &Row) -> Vec<Statement> {
        let statement = Statement::Insert(row.clone());
        let Some(outcomes) = self.verdicts(&setup_rows, &statement) else {
            return setup_rows;
        };
        for position in (0..setup_rows.len()).rev() {
            let mut shorter = setup_rows.clone();
            shorter.remove(position);
            if self.verdicts(&shorter, &statement).as_ref() == Some(&outcomes) {
                setup_rows = shorter;
            }
        }
        setup_rows
    }

    /// What both versions say of a row, given rows that both accept.
    fn verdicts(
        &self,
        setup_rows: &[Statement],
        statement: &Statement,
    ) -> Option<(Verdict, Verdict)> {
        let mut before = MemoryDatabase::new(self.mapping.old, self.dialect);
        let mut after = MemoryDatabase::new(self.mapping.new, self.dialect);
        for statement in setup_rows {
            let translated = self.mapping.statement(statement)?;
            let accepted = before.run(statement).ok()?.is_accepted()
                && after.run(&translated).ok()?.is_accepted();
            if !accepted {
                return None;
            }
        }
        let translated = self.mapping.statement(statement)?;
        Some((before.run(statement).ok()?, after.run(&translated).ok()?))
    }
}

#[cfg(test)]
mod tests;
