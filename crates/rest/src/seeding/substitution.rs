//! Takes inputs from existing rows: replaces the constant that a statement compares with a column
//! by a value of that column.
//!
//! The distance leads there, too, but slowly: a string of twenty letters takes many steps.

use isobath_genes::{Gene, NodeRef, Value as GeneValue, plain};
use isobath_search::Rng;
use isobath_sql::Value;
use isobath_sql::query::{ColumnComparison, ComparisonKind, Relations};

use super::seeder::MissedQuery;
use super::{RowSeeder, StatementTarget, json};
use crate::caller::ResponseResolver;
use crate::candidate::{Candidate, StepKind};
use crate::exchange::Exchange;
use crate::target::Target;

/// What one row has in place of constants of a statement: each constant, as a text, with the value.
pub(super) type RowSubstitution = Vec<(String, Value)>;

/// Rows of a table that are offered: those that agree with the statement most, the newer ones first.
const MAX_SUBSTITUTIONS: usize = 4;

/// That an input is taken from a row the first time; less and less often after that.
const TAKE_FROM_ROW: f64 = 0.5;
/// At least so often: other rows may be there, or other inputs.
const MIN_TAKE_FROM_ROW: f64 = 0.03;

/// What rows have in place of constants with which a query compares their columns.
pub(super) fn substitutions(
    compared: &[ColumnComparison],
    rows: &dyn Relations,
) -> Vec<RowSubstitution> {
    let may_be_equal = |compared: &&ColumnComparison| compared.how != ComparisonKind::Otherwise;
    let mut tables: Vec<usize> = compared
        .iter()
        .filter(may_be_equal)
        .map(|compared| compared.table)
        .collect();
    tables.sort_unstable();
    tables.dedup();
    let mut substitutions = Vec::new();
    for table in tables {
        let mentioned_in = || {
            let compared = compared.iter().filter(may_be_equal);
            compared.filter(|compared| compared.table == table)
        };
        let differing = |row: &Vec<Value>| -> RowSubstitution {
            let pairs = mentioned_in().filter_map(|compared| {
                let value = row.get(compared.column)?;
                let constant = compared.constant.to_string();
                let differs = !value.is_null() && value.to_string() != constant;
                differs.then(|| (constant, value.clone()))
            });
            pairs.collect()
        };
        let mut of_rows: Vec<RowSubstitution> =
            rows.rows(table).iter().rev().map(differing).collect();
        of_rows.retain(|substitution| !substitution.is_empty());
        of_rows.sort_by_key(Vec::len);
        of_rows.dedup();
        of_rows.truncate(MAX_SUBSTITUTIONS);
        substitutions.append(&mut of_rows);
    }
    substitutions
}

impl RowSeeder {
    /// A copy of a candidate in which the inputs of a call that found nothing are those of a row that is there; `None`
    /// when that is left alone.
    pub(crate) fn inputs_from_rows(
        &mut self,
        rng: &mut Rng,
        parent: &Candidate,
        aim: Option<&Target>,
    ) -> Option<Candidate> {
        if !self.config.distance {
            return None;
        }
        let misses = self.misses.get_mut(&parent.number)?;
        let is_open = |missed: &&MissedQuery| !missed.query.substitutions.is_empty();
        let mut open: Vec<&MissedQuery> = misses.statements.iter().filter(is_open).collect();
        let eagerness =
            (TAKE_FROM_ROW / f64::from(1 + misses.inputs_from_rows)).max(MIN_TAKE_FROM_ROW);
        if open.is_empty() || rng.f64() >= eagerness {
            return None;
        }
        misses.inputs_from_rows += 1;
        rng.shuffle(&mut open);
        let missed = match aim {
            Some(Target::Statement(shape, StatementTarget::Found)) => {
                let is_aimed = |missed: &&&MissedQuery| missed.query.shape == *shape;
                open.iter().find(is_aimed).or(open.first())
            }
            _ => open.first(),
        };
        let missed = missed?;
        let substitution = rng.choice(&missed.query.substitutions)?;
        let mut child = parent.clone();
        let gene = gene_of(&mut child, missed.step)?;
        let mut is_changed = false;
        for (constant, value) in substitution {
            let Some(value) = json(value) else { continue };
            for (pointer, _) in missed.inputs.iter().filter(|(_, text)| text == constant) {
                let mut copy = gene.clone();
                if copy.set_json(pointer, &value) && copy.check().is_ok() {
                    *gene = copy;
                    is_changed = true;
                }
            }
        }
        is_changed.then_some(child)
    }

    /// The constants of a statement of this shape that found nothing when a candidate ran.
    pub(super) fn constants(&self, candidate: &Candidate, shape: &str) -> Option<&[String]> {
        let mut statements = self.misses.get(&candidate.number)?.statements.iter();
        let missed = statements.find(|missed| *missed.query.shape == *shape)?;
        Some(&missed.query.constants)
    }
}

/// The input of a step, if it means to break no rule.
pub(super) fn gene_of(candidate: &mut Candidate, step: u32) -> Option<&mut Gene> {
    let step = candidate.steps.iter_mut().find(|other| other.id == step)?;
    match &mut step.kind {
        StepKind::Call {
            action,
            breach: None,
        } => Some(&mut action.gene),
        _ => None,
    }
}

/// The simple values that a step sent, with their places.
pub(super) fn inputs_of(
    candidate: &Candidate,
    exchange: &Exchange,
    all: &[Exchange],
) -> Vec<(String, String)> {
    let mut steps = candidate.steps.iter();
    let Some(input) = steps
        .find(|step| step.id == exchange.step)
        .and_then(|step| step.input())
    else {
        return Vec::new();
    };
    let resolver = ResponseResolver::new(all, exchange.trace.seeded.as_deref());
    let mut found = Vec::new();
    input.walk(|place: NodeRef<'_>| {
        if matches!(
            place.value,
            GeneValue::Absent
                | GeneValue::Null
                | GeneValue::Array(_)
                | GeneValue::Object(_)
                | GeneValue::Choice(_)
        ) {
            return;
        }
        if let Some(json) = place.json(&resolver)
            && !json.is_object()
            && !json.is_array()
        {
            found.push((place.pointer.to_owned(), plain(&json).into_owned()));
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(column: usize, constant: i64, how: ComparisonKind) -> ColumnComparison {
        ColumnComparison {
            table: 0,
            column,
            constant: Value::from(constant),
            how,
        }
    }

    #[test]
    fn rows_that_agree_most_are_offered_first_with_what_differs() {
        let row = |x: i64, y: i64| vec![Value::from(x), Value::from(y), Value::Null];
        let rows = vec![vec![row(1, 2), row(5, 7), row(3, 4), row(5, 6)]];
        let observed = [
            compared(0, 5, ComparisonKind::Equal),
            compared(1, 6, ComparisonKind::Within),
            // What cannot be met by being equal is no offer, and neither is NULL.
            compared(1, 9, ComparisonKind::Otherwise),
            compared(2, 1, ComparisonKind::Equal),
        ];
        let with_constant: Vec<String> = substitutions(&observed, &rows)
            .iter()
            .map(|substitution| {
                let pairs = substitution
                    .iter()
                    .map(|(constant, value)| format!("{constant}: {value}"));
                pairs.collect::<Vec<_>>().join(", ")
            })
            .collect();
        assert_eq!(with_constant, ["6: 7", "5: 3, 6: 4", "5: 1, 6: 2"]);
    }
}
