//! Attacks proofs with random rows on a real database.
//!
//! Tables, queries and CHECKs are generated. Whatever the query job proves infeasible must return no row, a mutant of
//! a query that it calls equivalent must return the same rows, and whatever the schema job calls equivalent or without
//! effect must accept and refuse the same rows. All follows from the seed.

mod condition;
mod equivalence;
mod expression;
mod mutants;
mod query;
mod tables;

use std::collections::BTreeMap;
use std::fmt;

use isobath_exec::{Database, DatabaseError, StatementOutcome};
use isobath_rows::query::candidate::Candidate;
use isobath_rows::query::construct::{Construction, SolverContext, construct};
use isobath_rows::query::target::QueryTarget;
use isobath_sql::coverage::{CoverageOptions, QueryCriterion, targets};
use isobath_sql::ddl::{Source, load};
use isobath_sql::query::distance;
use isobath_sql::{DialectName, Schema};

use self::tables::Table;

/// How much is tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// Sets of tables.
    pub(crate) rounds: u64,
    /// Queries over each.
    pub(crate) queries: usize,
    /// Sets of rows over each.
    pub(crate) databases: usize,
    /// Hears of a refuted claim at once.
    pub(crate) report: fn(&Refutation),
    /// Hears of the numbers so far after every round.
    pub(crate) progress: fn(u64, &Tally),
}

/// What is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ClaimKind {
    /// A coverage target returns no row, whatever rows there are.
    Infeasible,
    /// A mutant of a query returns the same rows as the original.
    EquivalentQuery,
    /// A mutant of a schema accepts the same rows as the original.
    Equivalent,
    /// A change of a schema changes nothing.
    ChangesNothing,
}

impl fmt::Display for ClaimKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Infeasible => "infeasible",
            Self::EquivalentQuery => "equivalent query",
            Self::Equivalent => "equivalent",
            Self::ChangesNothing => "changes nothing",
        })
    }
}

/// A claim that rows contradict.
#[derive(Clone, Debug)]
pub(crate) struct Refutation {
    pub(crate) kind: ClaimKind,
    pub(crate) engine: String,
    /// Statements that show it, the last of them being the one that matters.
    pub(crate) script: Vec<String>,
    /// The proof that was given.
    pub(crate) proof: String,
}

/// Counts of one kind of claim.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Questions put: targets, mutants, pairs of schemas.
    pub(crate) asked: u64,
    pub(crate) claims: u64,
    pub(crate) attacked: u64,
    pub(crate) refuted: u64,
    /// Neither an example nor a proof.
    pub(crate) undecided: u64,
}

/// What came of all attacks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) counts: BTreeMap<ClaimKind, Counts>,
    pub(crate) rows: u64,
    pub(crate) refutations: Vec<Refutation>,
    /// Changes of a CHECK for which there is neither an example nor a proof.
    pub(crate) undecided: Vec<String>,
    /// Queries that we do not read, by reason.
    pub(crate) unread: BTreeMap<String, u64>,
    /// Targets that the engine refuses.
    pub(crate) refused: BTreeMap<String, u64>,
}

impl Tally {
    pub(crate) fn count(&mut self, kind: ClaimKind) -> &mut Counts {
        self.counts.entry(kind).or_default()
    }

    fn refute(&mut self, plan: &Plan, refutation: Refutation) {
        self.count(refutation.kind).refuted += 1;
        (plan.report)(&refutation);
        self.refutations.push(refutation);
    }
}

/// A claim about what a query returns, whatever rows there are: nothing, or the same as another query.
struct Claim {
    sql: String,
    /// The query that returns the same.
    same_as: Option<String>,
    proof: String,
    attacked: bool,
    refuted: bool,
}

impl Claim {
    fn new(sql: String, same_as: Option<String>, proof: String) -> Self {
        Self {
            sql,
            same_as,
            proof,
            attacked: false,
            refuted: false,
        }
    }

    fn kind(&self) -> ClaimKind {
        match self.same_as {
            None => ClaimKind::Infeasible,
            Some(_) => ClaimKind::EquivalentQuery,
        }
    }
}

/// Generates queries over generated tables and attacks what is proven infeasible, and mutants that are called equivalent.
pub(crate) fn queries(
    plan: &Plan,
    database: &mut dyn Database,
    tally: &mut Tally,
) -> Result<(), DatabaseError> {
    let dialect = database.dialect();
    for round in 0..plan.rounds {
        let mut rng = rng(plan.seed, round);
        let tables = tables::tables(&mut rng, dialect);
        let ddl: Vec<String> = tables.iter().map(Table::create).collect();
        let Some(schema) = create(&ddl, database)? else {
            continue;
        };
        let mut claims: Vec<Claim> = Vec::new();
        for _ in 0..plan.queries {
            let sql = query::Writer::new(&mut rng, dialect, &tables).query();
            claims.extend(self::claims(&sql, &schema, dialect, tally));
            claims.extend(mutants::claims(&sql, &schema, dialect, tally));
        }
        for _ in 0..plan.databases {
            let inserts = tables::rows(&mut rng, &tables);
            attack(plan, &ddl, &inserts, &mut claims, database, tally)?;
            for table in tables.iter().rev() {
                database.execute_required(&format!("DELETE FROM {}", table.name))?;
            }
        }
        for claim in claims.iter().filter(|claim| claim.attacked) {
            tally.count(claim.kind()).attacked += 1;
        }
        (plan.progress)(round, tally);
    }
    Ok(())
}

/// Compares mutants and changed CHECKs with their originals where they are said to be the same.
pub(crate) fn schemas(
    plan: &Plan,
    database: &mut dyn Database,
    tally: &mut Tally,
) -> Result<(), DatabaseError> {
    equivalence::attack(plan, database, tally)
}

fn rng(seed: u64, round: u64) -> fastrand::Rng {
    fastrand::Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ round)
}

/// Creates tables in an empty database; `None` where the engine refuses them.
fn create(ddl: &[String], database: &mut dyn Database) -> Result<Option<Schema>, DatabaseError> {
    database.drop_all_objects()?;
    for sql in ddl {
        if let StatementOutcome::Refused(_) = database.execute(sql)? {
            return Ok(None);
        }
    }
    Ok(Some(schema_of(ddl, database.dialect())))
}

fn schema_of(ddl: &[String], dialect: DialectName) -> Schema {
    let source = Source {
        name: "tables.sql".to_owned(),
        text: format!("{};", ddl.join(";\n")),
    };
    load("tables", &[source], Some(dialect)).schema
}

/// What the query job claims of a query: the targets that it proves infeasible.
fn claims(sql: &str, schema: &Schema, dialect: DialectName, tally: &mut Tally) -> Vec<Claim> {
    let criterion = QueryCriterion::Extended;
    let mut all = vec![QueryTarget::read(sql, "", "", schema, dialect)];
    match targets(sql, schema, dialect, criterion, CoverageOptions::default()) {
        Ok(targets) => {
            all.extend(
                targets
                    .iter()
                    .map(|of| QueryTarget::of(of, schema, dialect)),
            );
        }
        Err(error) => {
            *tally.unread.entry(error.to_string()).or_default() += 1;
            return Vec::new();
        }
    }
    let context = SolverContext::new(schema, dialect.dialect());
    let counts = tally.count(ClaimKind::Infeasible);
    counts.asked += all.len() as u64;
    let mut claims = Vec::new();
    for target in all {
        let Ok(query) = &target.query else {
            continue;
        };
        let returns = |candidate: &Candidate| {
            let found = distance(query, candidate, &[], Some(context.now), context.dialect);
            matches!(found, Ok(0.0))
        };
        let built = construct(query, context, 0, &mut |candidate| returns(candidate));
        if let Construction::Infeasible { proof, .. } = built {
            counts.claims += 1;
            claims.push(Claim::new(target.sql, None, proof));
        }
    }
    claims
}

/// Inserts rows and runs every claim over them.
fn attack(
    plan: &Plan,
    ddl: &[String],
    inserts: &[String],
    claims: &mut [Claim],
    database: &mut dyn Database,
    tally: &mut Tally,
) -> Result<(), DatabaseError> {
    let mut accepted: Vec<&String> = Vec::new();
    for sql in inserts {
        if database.execute(sql)?.is_done() {
            accepted.push(sql);
        }
    }
    tally.rows += accepted.len() as u64;
    let mut results = mutants::Results::default();
    for claim in claims.iter_mut().filter(|claim| !claim.refuted) {
        let holds = match &claim.same_as {
            None => match database.query(&claim.sql)? {
                Ok(found) => found.rows.is_empty(),
                Err(refusal) => {
                    *tally.refused.entry(refusal.message).or_default() += 1;
                    continue;
                }
            },
            Some(original) => match results.are_the_same(original, &claim.sql, database)? {
                Some(same) => same,
                None => continue,
            },
        };
        claim.attacked = true;
        if !holds {
            claim.refuted = true;
            let rows = accepted.iter().map(|sql| (*sql).clone());
            let script = ddl.iter().cloned().chain(rows);
            let asked = claim.same_as.iter().chain([&claim.sql]).cloned();
            let refutation = Refutation {
                kind: claim.kind(),
                engine: database.dialect().to_string(),
                script: script.chain(asked).collect(),
                proof: claim.proof.clone(),
            };
            tally.refute(plan, refutation);
        }
    }
    Ok(())
}
