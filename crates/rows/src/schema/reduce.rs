//! Reduces a suite without losing coverage or killed mutants.
//!
//! Four steps, each verified in memory: lead-up rows that a test does not need
//! go; identical tests become one; additional greedy keeps a test only while it
//! shows something new; and an accepted row that one test ends with becomes the
//! lead-up of another test of its table, in the spirit of STICCER, so that one
//! test shows what two did. Requirements covered and mutants killed before are
//! covered and killed afterwards.

use isobath_sql::memory::{MemoryDatabase, Verdict};
use isobath_sql::row::Statement;
use isobath_sql::{Dialect, Schema};

use super::case::{ExpectedOutcome, TestCase};
use super::mutation::{Mutant, MutantRunner};
use super::requirement::Requirement;

/// Intentions that one merged test may carry; more would be hard to read when it fails.
const MAX_INTENTIONS: usize = 3;

/// What a reduced suite must keep.
#[derive(Clone, Copy, Debug)]
pub struct ReductionCriteria<'a> {
    /// The schema under test.
    pub schema: &'a Schema,
    /// The engine's dialect.
    pub dialect: &'static dyn Dialect,
    /// The requirements that tests cover by index.
    pub requirements: &'a [Requirement],
    /// Mutants whose deaths count; none when the suite was not analysed.
    pub mutants: &'a [Mutant],
}

/// Reduces a suite.
pub fn reduce(kept: ReductionCriteria<'_>, suite: &[TestCase]) -> Vec<TestCase> {
    let trimmed = suite.iter().map(|test| kept.trimmed(test)).collect();
    let unique = without_twins(trimmed);
    let chosen = kept.greedy(kept.restored(suite, unique));
    kept.merged(chosen)
}

impl ReductionCriteria<'_> {
    /// The test without lead-up rows that it does not need, the latest tried first.
    fn trimmed(&self, test: &TestCase) -> TestCase {
        let mut best = test.clone();
        if !best.after.is_empty() {
            // What is asserted afterwards may be about any row.
            return best;
        }
        for position in (0..best.setup_rows.len()).rev() {
            let mut shorter = best.clone();
            shorter.setup_rows.remove(position);
            if self.passes(&shorter) && self.covers(&shorter, &best.covers) {
                best = shorter;
            }
        }
        best
    }

    /// Whether a test does what it says, under the original.
    fn passes(&self, test: &TestCase) -> bool {
        let Some(mut memory) = self.after_setup(&test.setup_rows) else {
            return false;
        };
        match (memory.run(&test.statement), &test.expected) {
            (Ok(Verdict::Accepted), ExpectedOutcome::Accepted) => true,
            (Ok(Verdict::Rejected(violations)), ExpectedOutcome::Rejected(violation)) => {
                violations == [violation.clone()]
            }
            _ => false,
        }
    }

    fn after_setup(&self, setup_rows: &[Statement]) -> Option<MemoryDatabase<'_>> {
        let mut memory = MemoryDatabase::new(self.schema, self.dialect);
        for statement in setup_rows {
            if !memory.run(statement).ok()?.is_accepted() {
                return None;
            }
        }
        Some(memory)
    }

    /// Whether a test's last row is what each of these requirements asks for.
    fn covers(&self, test: &TestCase, requirements: &[usize]) -> bool {
        requirements.is_empty()
            || self.after_setup(&test.setup_rows).is_some_and(|memory| {
                requirements
                    .iter()
                    .all(|index| self.is_covered(*index, test, &memory))
            })
    }

    fn is_covered(&self, requirement: usize, test: &TestCase, memory: &MemoryDatabase<'_>) -> bool {
        let (Some(requirement), Statement::Insert(row)) =
            (self.requirements.get(requirement), &test.statement)
        else {
            return false;
        };
        let accepted = test.expected == ExpectedOutcome::Accepted;
        if requirement.table != row.table
            || requirement
                .accepted
                .is_some_and(|wanted| wanted != accepted)
            || (requirement.needs_comparison && memory.rows(row.table).is_empty())
        {
            return false;
        }
        let Ok(Ok(values)) = memory.stored(row) else {
            return false;
        };
        requirement
            .predicate
            .holds(row.table, &values, memory, self.dialect)
            .unwrap_or(false)
    }

    /// Puts a test back as it was where shortening it let a mutant live.
    fn restored(&self, suite: &[TestCase], mut reduced: Vec<TestCase>) -> Vec<TestCase> {
        if self.mutants.is_empty() {
            return reduced;
        }
        let before = MutantRunner::new(self.schema, self.dialect, suite);
        let lost: Vec<usize> = {
            let after = MutantRunner::new(self.schema, self.dialect, &reduced);
            let first_killers = |mutant| {
                let killer = before.killers(mutant).first().copied();
                killer.filter(|_| after.killers(mutant).is_empty())
            };
            self.mutants.iter().filter_map(first_killers).collect()
        };
        for index in lost {
            if !reduced.contains(&suite[index]) {
                reduced.push(suite[index].clone());
            }
        }
        reduced
    }

    /// Additional greedy: always the test that shows most of what is not shown yet.
    fn greedy(&self, suite: Vec<TestCase>) -> Vec<TestCase> {
        let goals = self.goals(&suite);
        let n_goals = goals.iter().flatten().max().map_or(0, |goal| goal + 1);
        let mut shown = vec![false; n_goals];
        let mut chosen = Vec::new();
        let mut open: Vec<usize> = (0..suite.len()).collect();
        loop {
            let gain = |test: &usize| goals[*test].iter().filter(|goal| !shown[**goal]).count();
            // Ties go to the shorter test, then to the earlier one.
            let best = open
                .iter()
                .copied()
                .max_by_key(|test| {
                    let length = suite[*test].setup_rows.len();
                    (
                        gain(test),
                        std::cmp::Reverse(length),
                        std::cmp::Reverse(*test),
                    )
                })
                .filter(|test| gain(test) > 0);
            let Some(best) = best else { break };
            for goal in &goals[best] {
                shown[*goal] = true;
            }
            open.retain(|test| *test != best);
            chosen.push(best);
        }
        // A test that covers nothing was asked for by something other than a criterion: it stays.
        chosen.extend(open.into_iter().filter(|test| {
            suite[*test].covers.is_empty() && (self.mutants.is_empty() || goals[*test].is_empty())
        }));
        chosen.sort_unstable();
        let mut suite: Vec<Option<TestCase>> = suite.into_iter().map(Some).collect();
        chosen
            .into_iter()
            .filter_map(|index| {
                let mut test = suite[index].take()?;
                // What it shows now counts for it, whichever test was made for that.
                let credited = goals[index].iter().copied();
                test.covers = credited
                    .filter(|goal| *goal < self.requirements.len())
                    .collect();
                Some(test)
            })
            .collect()
    }

    /// What each test shows: requirements by index, then mutants.
    fn goals(&self, suite: &[TestCase]) -> Vec<Vec<usize>> {
        let mut wanted: Vec<usize> = suite.iter().flat_map(|test| test.covers.clone()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut goals: Vec<Vec<usize>> = suite
            .iter()
            .map(|test| {
                let memory = self.after_setup(&test.setup_rows);
                let credited = |index: &usize| {
                    test.covers.contains(index)
                        || memory
                            .as_ref()
                            .is_some_and(|memory| self.is_covered(*index, test, memory))
                };
                wanted.iter().copied().filter(credited).collect()
            })
            .collect();
        let runner = MutantRunner::new(self.schema, self.dialect, suite);
        for (index, mutant) in self.mutants.iter().enumerate() {
            for killer in runner.killers(mutant) {
                goals[killer].push(self.requirements.len() + index);
            }
        }
        goals
    }

    /// Tests joined two by two, where the joint test shows what both did.
    fn merged(&self, suite: Vec<TestCase>) -> Vec<TestCase> {
        let goals = self.goals(&suite);
        let mut merged: Vec<MergedTest> = Vec::new();
        for (test, goals) in suite.into_iter().zip(goals) {
            let joint = merged
                .iter()
                .enumerate()
                .filter(|(_, earlier)| earlier.intentions < MAX_INTENTIONS)
                .find_map(|(position, earlier)| {
                    Some((position, self.join(earlier, &test, &goals)?))
                });
            match joint {
                Some((position, joint)) => merged[position] = joint,
                None => merged.push(MergedTest {
                    test,
                    goals,
                    intentions: 1,
                }),
            }
        }
        merged.into_iter().map(|merged| merged.test).collect()
    }

    /// The second test after the first, when the first ends in an accepted row of the same table.
    fn join(&self, first: &MergedTest, second: &TestCase, goals: &[usize]) -> Option<MergedTest> {
        let end = &first.test;
        if end.table != second.table
            || end.expected != ExpectedOutcome::Accepted
            || !matches!(end.statement, Statement::Insert(_))
            || !end.after.is_empty()
            || !second.after.is_empty()
        {
            return None;
        }
        let mut setup_rows: Vec<Statement> = end.statements().cloned().collect();
        for statement in &second.setup_rows {
            if !setup_rows.contains(statement) {
                setup_rows.push(statement.clone());
            }
        }
        let mut covers = end.covers.clone();
        covers.extend(&second.covers);
        covers.sort_unstable();
        covers.dedup();
        let test = TestCase {
            table: second.table,
            name: format!("{}; then {}", end.name, second.name),
            covers,
            setup_rows,
            statement: second.statement.clone(),
            expected: second.expected.clone(),
            after: Vec::new(),
        };
        if !self.passes(&test) || !self.covers(&test, &second.covers) {
            return None;
        }
        // The accepted row in the middle is still asserted, so what it showed is still shown.
        let mut kept: Vec<usize> = first.goals.iter().chain(goals).copied().collect();
        kept.sort_unstable();
        kept.dedup();
        let runner = MutantRunner::new(self.schema, self.dialect, std::slice::from_ref(&test));
        let still_dead = |goal: &&usize| match goal.checked_sub(self.requirements.len()) {
            Some(mutant) => !runner.killers(&self.mutants[mutant]).is_empty(),
            None => true,
        };
        if kept.iter().filter(still_dead).count() != kept.len() {
            return None;
        }
        Some(MergedTest {
            test,
            goals: kept,
            intentions: first.intentions + 1,
        })
    }
}

struct MergedTest {
    test: TestCase,
    goals: Vec<usize>,
    intentions: usize,
}

/// Tests with the same statements and outcome become the first of them.
fn without_twins(suite: Vec<TestCase>) -> Vec<TestCase> {
    let mut unique: Vec<TestCase> = Vec::new();
    for test in suite {
        let twin = unique.iter_mut().find(|other| {
            other.statement == test.statement
                && other.setup_rows == test.setup_rows
                && other.expected == test.expected
                && other.after == test.after
        });
        match twin {
            Some(twin) => {
                twin.covers.extend(test.covers);
                twin.covers.sort_unstable();
                twin.covers.dedup();
            }
            None => unique.push(test),
        }
    }
    unique
}

#[cfg(test)]
mod tests;
