//! Mutants of queries that are called equivalent.

use std::collections::BTreeMap;

use isobath_exec::{Database, DatabaseError};
use isobath_rows::query::algorithm::Config;
use isobath_rows::query::construct::SolverContext;
use isobath_rows::query::job::CoverageOutcome;
use isobath_rows::query::mutation::{QueryMutantStatus, analyze};
use isobath_sql::mutation::mutants;
use isobath_sql::{DialectName, Schema, Value};

use super::{Claim, ClaimKind, Tally};

/// Which mutants of a query the query job calls equivalent.
pub(super) fn claims(
    sql: &str,
    schema: &Schema,
    dialect: DialectName,
    tally: &mut Tally,
) -> Vec<Claim> {
    let Ok((original, _)) = mutants(sql, schema, dialect) else {
        return Vec::new();
    };
    // Proofs are built; what only a search could find is no claim.
    let config = Config {
        budget: 1,
        ..Config::default()
    };
    let context = SolverContext::new(schema, dialect.dialect());
    let (mut targets, mut outcome) = (Vec::new(), CoverageOutcome::default());
    let analysis = analyze(
        sql,
        dialect,
        context,
        &config,
        false,
        &mut targets,
        &mut outcome,
    );
    let Ok(analysis) = analysis else {
        return Vec::new();
    };
    let counts = tally.count(ClaimKind::EquivalentQuery);
    counts.asked += analysis.mutants.len() as u64;
    let mut claims = Vec::new();
    for (mutant, status) in analysis.mutants.into_iter().zip(analysis.statuses) {
        if let QueryMutantStatus::Equivalent { proof } = status {
            counts.claims += 1;
            let proof = format!("{}: {proof}", mutant.description);
            claims.push(Claim::new(mutant.sql, Some(original.sql.clone()), proof));
        }
    }
    claims
}

/// The rows of a result, and how often each is there; an error is `None`.
type Counted = Option<BTreeMap<Vec<String>, usize>>;

/// What queries return over one set of rows, each asked once.
#[derive(Default)]
pub(super) struct Results(BTreeMap<String, Counted>);

impl Results {
    /// Whether a mutant returns what the original returns; `None` where the original is an error.
    pub(super) fn are_the_same(
        &mut self,
        original: &str,
        mutant: &str,
        database: &mut dyn Database,
    ) -> Result<Option<bool>, DatabaseError> {
        if !self.0.contains_key(original) {
            let counted = counted(original, database)?;
            self.0.insert(original.to_owned(), counted);
        }
        let Some(expected) = self.0.get(original).and_then(Option::as_ref) else {
            return Ok(None);
        };
        Ok(Some(counted(mutant, database)?.as_ref() == Some(expected)))
    }
}

fn counted(sql: &str, database: &mut dyn Database) -> Result<Counted, DatabaseError> {
    let Ok(found) = database.query(sql)? else {
        return Ok(None);
    };
    let mut counts = BTreeMap::new();
    for row in found.rows {
        *counts.entry(row.iter().map(shown).collect()).or_default() += 1;
    }
    Ok(Some(counts))
}

/// A value as text; sums of floats depend on the order of the rows in their last digits.
fn shown(value: &Value) -> String {
    match value {
        Value::Float(number) => format!("{number:.9e}"),
        other => format!("{other:?}"),
    }
}
