//! What a change of the schema means for rows: which become accepted, which become refused.
//!
//! Tables and columns are matched by name. A constraint that came, went or
//! changed is turned into the rows about which it makes the versions disagree,
//! and an example is looked for and run under both. Where it is proven that
//! there is none, there is no difference, however much the text changed.

mod frame;

use isobath_sql::memory::{MemoryDatabase, Verdict};
use isobath_sql::row::Statement;
use isobath_sql::schema::{Constraint, Schema, Table};
use isobath_sql::{Dialect, Row};

use self::frame::Frame;
use super::case::TestCase;
use super::ground::{Answer, Ground, seeds};
use super::lead_up::Seeds;
use super::mutation::difference::{self, Constraints, Difference, Version};
use super::phrase;

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
    pub lead_up: Vec<Statement>,
    /// The INSERT whose outcome changes.
    pub act: Statement,
    /// What the version that refuses it says.
    pub refusal: String,
}

/// A test of the old suite that no longer passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flip {
    /// Index of the test.
    pub test: usize,
    /// What the new schema does instead, as a fragment.
    pub now: String,
}

/// Compares two versions of a schema under one engine.
pub fn diff(old: &Schema, new: &Schema, dialect: &'static dyn Dialect) -> Diff {
    let frame = Frame::new(old, new);
    let both = frame.both();
    // Rows that are good under both make the best ground; where there are none, the old ones must do.
    let seeds = [seeds(&both, dialect), seeds(old, dialect)];
    let mut comparison = Comparison {
        frame: &frame,
        dialect,
        seeds: &seeds,
        found: Diff {
            notes: frame.notes(),
            ..Diff::default()
        },
    };
    for table in 0..old.tables.len() {
        if frame.table(table).is_some() {
            comparison.compare(table);
        }
    }
    comparison.found
}

/// Which tests of a suite for the old schema end otherwise under the new one.
pub fn flips(
    old: &Schema,
    new: &Schema,
    dialect: &'static dyn Dialect,
    suite: &[TestCase],
) -> Vec<Flip> {
    let frame = Frame::new(old, new);
    let mut found = Vec::new();
    for (index, test) in suite.iter().enumerate() {
        let mut before = MemoryDatabase::new(old, dialect);
        let mut after = MemoryDatabase::new(new, dialect);
        for statement in test.statements() {
            let now = match frame.statement(statement) {
                None => Some("it names a table or column that is gone".to_owned()),
                Some(translated) => {
                    let verdicts = (before.run(statement), after.run(&translated));
                    match verdicts {
                        (Ok(before), Ok(after)) => flipped(&before, &after, new, dialect),
                        // What we cannot judge is not called a change.
                        _ => break,
                    }
                }
            };
            if let Some(now) = now {
                found.push(Flip { test: index, now });
                break;
            }
        }
    }
    found
}

fn flipped(
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

struct Comparison<'a> {
    frame: &'a Frame<'a>,
    dialect: &'static dyn Dialect,
    seeds: &'a [Seeds<'a>; 2],
    found: Diff,
}

impl Comparison<'_> {
    fn compare(&mut self, table: usize) {
        let frame = self.frame;
        let before: &Table = &frame.old.tables[table];
        let (removed, added) = frame.constraints(table);
        let name = &before.name;
        let constraints = Constraints {
            table,
            before,
            removed: &removed,
            added: &added,
        };
        for constraint in &added {
            let because = format!(
                "`{name}` now has {}",
                phrase::constraint(constraint, before, frame.old, self.dialect)
            );
            let difference = constraints.newly_refused(constraint, self.dialect);
            self.decide(table, because, &[difference], None);
        }
        for index in &removed {
            let constraint: &Constraint = &before.constraints[*index];
            let because = format!(
                "`{name}` no longer has {}",
                phrase::constraint(constraint, before, frame.old, self.dialect)
            );
            let difference = constraints.newly_accepted(*index, self.dialect);
            self.decide(table, because, &[difference], None);
        }
        for (column, data_type) in frame.changed_types(table) {
            let because = format!(
                "`{}` of `{name}` is {} and was {}",
                before.columns[column].name,
                phrase::data_type(&data_type, self.dialect),
                phrase::data_type(&before.columns[column].data_type, self.dialect)
            );
            let mut retyped = before.clone();
            retyped.columns[column].data_type = data_type;
            let differences = difference::of_type((before, &retyped), table, column, self.dialect);
            let schema = frame.old.with_table(table, retyped);
            self.decide(table, because, &differences, Some(&schema));
        }
        if let Some(because) = frame.unfilled_column(table) {
            self.try_good_row(table, because);
        }
    }

    /// Finds an example for each difference, or proves that there is none.
    fn decide(
        &mut self,
        table: usize,
        because: String,
        differences: &[Difference],
        retyped: Option<&Schema>,
    ) {
        let mut proofs = Vec::new();
        let mut examples = 0;
        for difference in differences {
            let schema = match (difference.stands_on, retyped) {
                (Version::After, Some(schema)) => schema,
                _ => self.frame.old,
            };
            for seeds in self.seeds {
                let ground = Ground::new(schema, self.dialect, seeds);
                match ground.find(table, &difference.predicate, difference.compares) {
                    Answer::Row { lead_up, row } => {
                        if self.example(table, &because, lead_up, row) {
                            examples += 1;
                            break;
                        }
                    }
                    Answer::Never { proof } if difference.exact => {
                        proofs.push(proof);
                        break;
                    }
                    Answer::Never { .. } | Answer::Unknown => {}
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
            let ground = Ground::new(self.frame.old, self.dialect, seeds);
            let Some(row) = ground.good_row(table) else {
                return false;
            };
            self.example(table, &because, ground.lead_up(table, false), row.clone())
        });
        if !example {
            self.found.undecided.push(because);
        }
    }

    /// Runs a row under both versions and notes it if they disagree.
    fn example(&mut self, table: usize, because: &str, lead_up: Vec<Statement>, row: Row) -> bool {
        let lead_up = self.needed(lead_up, &row);
        let act = Statement::Insert(row);
        let Some((before, after)) = self.verdicts(&lead_up, &act) else {
            return false;
        };
        let refusal = match (&before, &after) {
            (Verdict::Accepted, Verdict::Rejected(_)) => {
                phrase::refusal(&after, self.frame.new, self.dialect)
            }
            (Verdict::Rejected(_), Verdict::Accepted) => {
                phrase::refusal(&before, self.frame.old, self.dialect)
            }
            _ => return false,
        };
        self.found.changes.push(RowChange {
            table,
            because: because.to_owned(),
            becomes_accepted: after.is_accepted(),
            lead_up,
            act,
            refusal,
        });
        true
    }

    /// The lead-up without rows that make no difference to the two outcomes.
    fn needed(&self, mut lead_up: Vec<Statement>, row: &Row) -> Vec<Statement> {
        let act = Statement::Insert(row.clone());
        let Some(outcomes) = self.verdicts(&lead_up, &act) else {
            return lead_up;
        };
        for position in (0..lead_up.len()).rev() {
            let mut shorter = lead_up.clone();
            shorter.remove(position);
            if self.verdicts(&shorter, &act).as_ref() == Some(&outcomes) {
                lead_up = shorter;
            }
        }
        lead_up
    }

    /// What both versions say of a row, given rows that both accept.
    fn verdicts(&self, lead_up: &[Statement], act: &Statement) -> Option<(Verdict, Verdict)> {
        let mut before = MemoryDatabase::new(self.frame.old, self.dialect);
        let mut after = MemoryDatabase::new(self.frame.new, self.dialect);
        for statement in lead_up {
            let translated = self.frame.statement(statement)?;
            let accepted = before.run(statement).ok()?.is_accepted()
                && after.run(&translated).ok()?.is_accepted();
            if !accepted {
                return None;
            }
        }
        let translated = self.frame.statement(act)?;
        Some((before.run(act).ok()?, after.run(&translated).ok()?))
    }
}

#[cfg(test)]
mod tests;
