//! Mutation analysis of a query: which mutants the fixtures kill, and fixtures for those that are alive.
//!
//! A fixture kills a mutant when the two queries return different rows over it, or when the mutant alone raises an error.
//! What our evaluator cannot judge is no kill. A mutant is equivalent when every query that decides about it is proven infeasible.

mod variation;

use std::collections::BTreeMap;

use isobath_sql::coverage::TargetError;
use isobath_sql::eval::EvalError;
use isobath_sql::mutation::{self, DifferenceQuery, MutationOperator, QueryMutant};
use isobath_sql::query::{Query, ResolveError};
use isobath_sql::{DialectName, Value};

use self::variation::FixtureVariation;
use super::algorithm::Config;
use super::candidate::Candidate;
use super::construct::SolverContext;
use super::fixture::{Fixture, result};
use super::job::{CoverageOutcome, TargetStatus, run};
use super::minimize::insertion_rows;
use super::search::operators::CandidateFactory;
use super::search::space::SearchSpace;
use super::target::QueryTarget;

/// The outcome of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryMutantStatus {
    /// The fixture of this number kills it.
    Killed {
        /// The number.
        fixture: usize,
    },
    /// It returns the same rows whatever is stored.
    Equivalent {
        /// Why.
        proof: String,
    },
    /// Nothing kills it.
    Alive,
    /// We cannot evaluate it.
    Unsupported {
        /// What we cannot evaluate.
        why: String,
    },
}

/// The mutants of a query and their outcome.
#[derive(Clone, Debug, Default)]
pub struct MutationAnalysis {
    /// The mutants.
    pub mutants: Vec<QueryMutant>,
    /// One per mutant.
    pub statuses: Vec<QueryMutantStatus>,
}

/// Numbers of mutants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MutantCounts {
    /// Killed by a fixture.
    pub killed: usize,
    /// Proven equivalent.
    pub equivalent: usize,
    /// Alive.
    pub alive: usize,
    /// Not evaluated.
    pub unsupported: usize,
}

impl MutationAnalysis {
    /// How many mutants there are of each status.
    pub fn counts(&self) -> MutantCounts {
        let mut counts = MutantCounts::default();
        for status in &self.statuses {
            *match status {
                QueryMutantStatus::Killed { .. } => &mut counts.killed,
                QueryMutantStatus::Equivalent { .. } => &mut counts.equivalent,
                QueryMutantStatus::Alive => &mut counts.alive,
                QueryMutantStatus::Unsupported { .. } => &mut counts.unsupported,
            } += 1;
        }
        counts
    }

    /// Whether a mutant is neither killed nor equivalent.
    fn is_alive(&self, index: usize) -> bool {
        matches!(
            self.statuses[index],
            QueryMutantStatus::Alive | QueryMutantStatus::Unsupported { .. }
        )
    }

    /// How many mutants the first fixtures kill.
    pub fn killed_by(&self, first: usize) -> usize {
        let killed = self.statuses.iter();
        killed
            .filter(|status| matches!(status, QueryMutantStatus::Killed { fixture } if *fixture < first))
            .count()
    }

    /// The mutants that are neither killed nor equivalent.
    pub fn survivors(&self) -> impl Iterator<Item = (&QueryMutant, &QueryMutantStatus)> {
        let all = self.mutants.iter().zip(&self.statuses);
        all.filter(|(_, status)| {
            matches!(
                status,
                QueryMutantStatus::Alive | QueryMutantStatus::Unsupported { .. }
            )
        })
    }
}

/// How many evaluations the search for rows that kill one mutant may take.
const BUDGET: u64 = 300;
/// How many evaluations all mutants of a query may take, each at least [`BUDGET`], because proofs take time, too; those
/// beyond stay alive.
const TOTAL_BUDGET: u64 = 10_000;

/// How many variations of fixtures are tried.
const MAX_VARIATIONS: usize = 600;
/// How many fixtures are varied.
const MAX_VARIED: usize = 12;

/// The mutants of a query, run over the fixtures of an outcome. Mutants that survive are proven equivalent where that
/// can be done; with `strengthen`, rows are searched for that kill the others, and added to the outcome together with
/// a target for each.
///
/// # Errors
///
/// When the text is not one statement of the dialect, or reads no rows.
pub fn analyze(
    sql: &str,
    syntax: DialectName,
    context: SolverContext<'_>,
    config: &Config,
    strengthen: bool,
    targets: &mut Vec<QueryTarget>,
    outcome: &mut CoverageOutcome,
) -> Result<MutationAnalysis, TargetError> {
    let (original, mutants) = mutation::mutants(sql, context.schema, syntax)?;
    let judge = KillJudge::new(&original, &mutants, syntax, context);
    let statuses = mutants.iter().map(|_| QueryMutantStatus::Alive);
    let mut analysis = MutationAnalysis {
        statuses: statuses.collect(),
        mutants,
    };
    for fixture in 0..outcome.fixtures.len() {
        judge.run(&mut analysis, fixture, &outcome.fixtures[fixture]);
    }
    let config = Config {
        budget: config.budget.min(BUDGET),
        ..*config
    };
    let mut strengthened = Strengthening {
        judge: &judge,
        syntax,
        original: &original,
        targets,
        outcome,
    };
    if strengthen {
        strengthened.vary(&mut analysis, &config);
    }
    let mut spent = 0;
    for number in 0..analysis.mutants.len() {
        if !analysis.is_alive(number) || spent > TOTAL_BUDGET || context.stop.is_set() {
            continue;
        }
        let mutant = &analysis.mutants[number];
        let says = format!("tells the query from its mutant: {}", mutant.description);
        let differences: Vec<QueryTarget> = mutant
            .differences
            .iter()
            .map(|of| {
                let (sql, parameters) = (&of.sql, of.parameters.clone());
                let rule = "mutant";
                QueryTarget::with_parameters(sql, rule, &says, parameters, context.schema, syntax)
            })
            .collect();
        let found = run(&differences, context, &config);
        spent += found.evaluations.max(BUDGET);
        if let Some(proof) = proof(mutant, &found.statuses) {
            analysis.statuses[number] = QueryMutantStatus::Equivalent { proof };
            continue;
        }
        if !strengthen {
            continue;
        }
        for mut fixture in found.fixtures {
            let covered = std::mem::take(&mut fixture.covers).into_iter();
            let covered = covered.map(|target| differences[target].clone()).collect();
            strengthened.add(&mut analysis, fixture, covered);
        }
    }
    if strengthen {
        strengthened.vary(&mut analysis, &config);
    }
    Ok(analysis)
}

/// Fixtures that are added because they kill mutants.
struct Strengthening<'s, 'a> {
    judge: &'s KillJudge<'a>,
    syntax: DialectName,
    original: &'s DifferenceQuery,
    targets: &'s mut Vec<QueryTarget>,
    outcome: &'s mut CoverageOutcome,
}

impl Strengthening<'_, '_> {
    /// Adds a fixture and its targets if it kills something.
    fn add(
        &mut self,
        analysis: &mut MutationAnalysis,
        mut fixture: Fixture,
        targets: Vec<QueryTarget>,
    ) {
        let added = self.outcome.fixtures.len();
        if !self.judge.run(analysis, added, &fixture) {
            return;
        }
        let first = self.targets.len();
        fixture.covers = (first..first + targets.len()).collect();
        for target in targets {
            self.targets.push(target);
            self.outcome.statuses.push(TargetStatus::Covered(added));
        }
        self.outcome.fixtures.push(fixture);
    }

    /// Varies the fixtures that are there, and adds what kills more.
    fn vary(&mut self, analysis: &mut MutationAnalysis, config: &Config) {
        let (judge, context) = (self.judge, self.judge.context);
        let Ok(query) = &judge.original else {
            return;
        };
        // First those over which the query returns something.
        let mut from: Vec<(usize, Candidate)> = Vec::new();
        for fixture in &self.outcome.fixtures {
            let rows = judge
                .expected(&fixture.candidate)
                .map_or(0, |rows| rows.len());
            from.push((rows, fixture.candidate.clone()));
        }
        from.sort_by_key(|(rows, _)| std::cmp::Reverse(*rows));
        from.truncate(MAX_VARIED);
        let mut most = from.first().map_or(0, |(rows, _)| *rows);
        let mut from: Vec<Candidate> = from.into_iter().map(|(_, candidate)| candidate).collect();
        let space = SearchSpace::new(query);
        let factory = CandidateFactory::new(context, &space, true, config.seed);
        let mut variation = FixtureVariation::new(factory);
        for _ in 0..MAX_VARIATIONS {
            let alive: Vec<usize> = (0..analysis.statuses.len())
                .filter(|index| analysis.is_alive(*index) && judge.mutants[*index].is_ok())
                .collect();
            if from.is_empty() || alive.is_empty() || context.stop.is_set() {
                return;
            }
            let Some(candidate) = variation.next(&from) else {
                continue;
            };
            let Some(expected) = judge.expected(&candidate) else {
                continue;
            };
            let kills = |index: usize, expected: &[Vec<Value>], candidate: &Candidate| {
                judge.verdict(index, Some(expected), candidate) == Ok(true)
            };
            let killed: Vec<usize> = alive
                .into_iter()
                .filter(|index| kills(*index, &expected, &candidate))
                .collect();
            let Some(first) = killed.first() else {
                // More rows in the result can differ in more ways.
                if expected.len() > most && from.len() < 2 * MAX_VARIED {
                    most = expected.len();
                    from.push(candidate);
                }
                continue;
            };
            let candidate = variation::reduced(&context, candidate, &|fewer| {
                let Some(expected) = judge.expected(fewer) else {
                    return false;
                };
                killed.iter().all(|index| kills(*index, &expected, fewer))
            });
            let target = self.target(&analysis.mutants[*first], &candidate);
            let fixture = Fixture {
                rows: insertion_rows(&context, &candidate),
                candidate: candidate.clone(),
                covers: Vec::new(),
                witnesses: vec![None],
            };
            self.add(analysis, fixture, vec![target]);
            from.push(candidate);
        }
    }

    /// What a fixture is for: the query returns a row over it, or the mutant does.
    fn target(&self, mutant: &QueryMutant, candidate: &Candidate) -> QueryTarget {
        let is_shown = |rows: Vec<Vec<Value>>| !rows.is_empty();
        let (sql, parameters) = match self.judge.expected(candidate).is_some_and(is_shown) {
            true => (&self.original.sql, &self.original.parameters),
            false => (&mutant.sql, &mutant.parameters),
        };
        let says = format!("tells the query from its mutant: {}", mutant.description);
        let (parameters, schema) = (parameters.clone(), self.judge.context.schema);
        QueryTarget::with_parameters(sql, "mutant", &says, parameters, schema, self.syntax)
    }
}

/// Why no row tells a mutant from the original, where that is proven.
fn proof(mutant: &QueryMutant, statuses: &[TargetStatus]) -> Option<String> {
    if !mutant.can_be_proven_equivalent() {
        return None;
    }
    let mut last = None;
    for (difference, status) in mutant.differences.iter().zip(statuses) {
        match status {
            TargetStatus::Infeasible { proof, .. } => last = Some(proof.clone()),
            TargetStatus::Covered(_) | TargetStatus::Uncovered { .. } if difference.is_decisive => {
                return None;
            }
            TargetStatus::Covered(_) | TargetStatus::Uncovered { .. } => {}
        }
    }
    last
}

/// Runs the original and its mutants over fixtures.
struct KillJudge<'a> {
    context: SolverContext<'a>,
    original: Result<Query, ResolveError>,
    mutants: Vec<Result<Query, ResolveError>>,
    /// Whether the order of the rows is what a mutant changes.
    ordered: Vec<bool>,
}

impl<'a> KillJudge<'a> {
    fn new(
        original: &DifferenceQuery,
        mutants: &[QueryMutant],
        syntax: DialectName,
        context: SolverContext<'a>,
    ) -> Self {
        let read = |sql: &str, parameters: &[usize]| {
            let parameters = parameters.to_vec();
            QueryTarget::with_parameters(sql, "", "", parameters, context.schema, syntax).query
        };
        let of_mutants = mutants
            .iter()
            .map(|mutant| read(&mutant.sql, &mutant.parameters));
        let ordered = mutants
            .iter()
            .map(|mutant| mutant.operator == MutationOperator::Order);
        Self {
            context,
            original: read(&original.sql, &original.parameters),
            mutants: of_mutants.collect(),
            ordered: ordered.collect(),
        }
    }

    /// Runs everything that is alive over a fixture; says whether it killed something.
    fn run(&self, analysis: &mut MutationAnalysis, number: usize, fixture: &Fixture) -> bool {
        let expected = self.expected(&fixture.candidate);
        let mut kills = false;
        for (index, status) in analysis.statuses.iter_mut().enumerate() {
            if !matches!(
                status,
                QueryMutantStatus::Alive | QueryMutantStatus::Unsupported { .. }
            ) {
                continue;
            }
            match self.verdict(index, expected.as_deref(), &fixture.candidate) {
                Ok(true) => {
                    *status = QueryMutantStatus::Killed { fixture: number };
                    kills = true;
                }
                Ok(false) => {}
                Err(why) => *status = QueryMutantStatus::Unsupported { why },
            }
        }
        kills
    }

    /// What the original returns over a candidate.
    fn expected(&self, candidate: &Candidate) -> Option<Vec<Vec<Value>>> {
        let query = self.original.as_ref().ok()?;
        result(query, candidate, self.context).ok()
    }

    /// Whether a mutant returns something else, or why we cannot say.
    fn verdict(
        &self,
        index: usize,
        expected: Option<&[Vec<Value>]>,
        candidate: &Candidate,
    ) -> Result<bool, String> {
        let query = match &self.mutants[index] {
            Ok(query) => query,
            Err(error) => return Err(error.to_string()),
        };
        let Some(expected) = expected else {
            return Ok(false);
        };
        match result(query, candidate, self.context) {
            Ok(actual) => Ok(differ(expected, &actual, self.ordered[index])),
            Err(EvalError::Raised(_)) => Ok(true),
            Err(EvalError::Unsupported(why)) => Err(why.to_string()),
        }
    }
}

/// Whether two results are different: their rows, and how often each is there; with `ordered`, also their order.
fn differ(a: &[Vec<Value>], b: &[Vec<Value>], ordered: bool) -> bool {
    let text = |rows: &[Vec<Value>]| -> Vec<Vec<String>> {
        let rows = rows.iter();
        rows.map(|row| row.iter().map(comparable).collect())
            .collect()
    };
    let (a, b) = (text(a), text(b));
    if ordered {
        return a != b;
    }
    let count = |rows: Vec<Vec<String>>| {
        let mut counts: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        for row in rows {
            *counts.entry(row).or_default() += 1;
        }
        counts
    };
    count(a) != count(b)
}

/// A value as text in which equal numbers are the same.
fn comparable(value: &Value) -> String {
    match value {
        Value::Int(number) => format!("number {number}"),
        Value::Decimal(number) => format!("number {}", number.normalize()),
        Value::Float(number) if *number == number.trunc() && number.abs() < 1e15 => {
            format!("number {number:.0}")
        }
        Value::Float(number) => format!("number {number}"),
        other => format!("{other:?}"),
    }
}
