//! Mutation analysis of a query: which mutants the fixtures kill, and fixtures for those that are alive.
//!
//! A fixture kills a mutant when the two queries return different rows over it. What our evaluator cannot judge is
//! no kill. A mutant is equivalent when every query that decides about it is proven infeasible.

use std::collections::BTreeMap;

use isobath_sql::coverage::TargetError;
use isobath_sql::mutation::{self, DifferenceQuery, MutationOperator, QueryMutant};
use isobath_sql::query::{Query, ResolveError};
use isobath_sql::{DialectName, Value};

use super::algorithm::Config;
use super::construct::SolverContext;
use super::fixture::Fixture;
use super::job::{CoverageOutcome, TargetStatus, run};
use super::target::QueryTarget;

/// What became of a mutant.
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

/// The mutants of a query and what became of them.
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
    let mut spent = 0;
    for number in 0..analysis.mutants.len() {
        if analysis.statuses[number] != QueryMutantStatus::Alive || spent > TOTAL_BUDGET {
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
            let added = outcome.fixtures.len();
            if !judge.run(&mut analysis, added, &fixture) {
                continue;
            }
            let first = targets.len();
            let covered = std::mem::take(&mut fixture.covers);
            fixture.covers = (first..first + covered.len()).collect();
            for target in covered {
                targets.push(differences[target].clone());
                outcome.statuses.push(TargetStatus::Covered(added));
            }
            outcome.fixtures.push(fixture);
        }
    }
    Ok(analysis)
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
        let expected = match &self.original {
            Ok(query) => fixture.result(query, self.context).ok(),
            Err(_) => None,
        };
        let mut kills = false;
        for (index, status) in analysis.statuses.iter_mut().enumerate() {
            if !matches!(
                status,
                QueryMutantStatus::Alive | QueryMutantStatus::Unsupported { .. }
            ) {
                continue;
            }
            let actual = match &self.mutants[index] {
                Ok(query) => fixture
                    .result(query, self.context)
                    .map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            match (&expected, actual) {
                (Some(expected), Ok(actual)) => {
                    if differ(expected, &actual, self.ordered[index]) {
                        *status = QueryMutantStatus::Killed { fixture: number };
                        kills = true;
                    }
                }
                (Some(_), Err(why)) => *status = QueryMutantStatus::Unsupported { why },
                (None, _) => {}
            }
        }
        kills
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
