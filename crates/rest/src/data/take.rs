//! Inputs that follow rows which are there: what a statement compared with an input, a row has in its column.
//!
//! A distance leads there, too, step by step; but the rows are known, and a text of twenty letters
//! is a long way.

use isobath_genes::{Gene, NodeRef, Value as GeneValue, plain};
use isobath_search::Rng;
use isobath_sql::Value;
use isobath_sql::query::{Compared, Comparison, Relations};

use super::{StatementGoal, Supply, json};
use crate::caller::Answers;
use crate::candidate::{Candidate, What};
use crate::exchange::Exchange;
use crate::goal::Goal;

/// What one row has in place of constants of a statement: each constant, as a text, with the value.
pub(super) type Offer = Vec<(String, Value)>;

/// Rows of a table that are offered: those that agree with the statement most, the newer ones first.
const MOST_OFFERED: usize = 4;

/// That an input is taken from a row the first time; less and less often after that.
const TAKEN: f64 = 0.5;
/// At least so often: other rows may be there, or other inputs.
const STILL_TAKEN: f64 = 0.03;

/// What rows have in place of constants with which a query compares their columns.
pub(super) fn offers(compared: &[Compared], rows: &dyn Relations) -> Vec<Offer> {
    let may_be_equal = |compared: &&Compared| compared.how != Comparison::Otherwise;
    let mut tables: Vec<usize> = compared
        .iter()
        .filter(may_be_equal)
        .map(|compared| compared.table)
        .collect();
    tables.sort_unstable();
    tables.dedup();
    let mut offers = Vec::new();
    for table in tables {
        let of_table = || {
            let compared = compared.iter().filter(may_be_equal);
            compared.filter(|compared| compared.table == table)
        };
        let differing = |row: &Vec<Value>| -> Offer {
            let pairs = of_table().filter_map(|compared| {
                let value = row.get(compared.column)?;
                let constant = compared.constant.to_string();
                let differs = !value.is_null() && value.to_string() != constant;
                differs.then(|| (constant, value.clone()))
            });
            pairs.collect()
        };
        let mut of_rows: Vec<Offer> = rows.rows(table).iter().rev().map(differing).collect();
        of_rows.retain(|offer| !offer.is_empty());
        of_rows.sort_by_key(Vec::len);
        of_rows.dedup();
        of_rows.truncate(MOST_OFFERED);
        offers.append(&mut of_rows);
    }
    offers
}

impl Supply {
    /// A copy of a candidate in which the inputs of a call that found nothing are those of a row that is there; `None`
    /// when that is left alone.
    pub(crate) fn taken(
        &mut self,
        rng: &mut Rng,
        parent: &Candidate,
        aim: Option<&Goal>,
    ) -> Option<Candidate> {
        if !self.choice.distance {
            return None;
        }
        let lacks = self.lacks.get_mut(&parent.born)?;
        let mut open: Vec<usize> = (0..lacks.statements.len())
            .filter(|&at| !lacks.statements[at].asked.offers.is_empty())
            .collect();
        let eagerness = (TAKEN / f64::from(1 + lacks.taken)).max(STILL_TAKEN);
        if open.is_empty() || rng.f64() >= eagerness {
            return None;
        }
        lacks.taken += 1;
        rng.shuffle(&mut open);
        let lack = match aim {
            Some(Goal::Statement(shape, StatementGoal::Found)) => {
                let is_aimed = |at: &&usize| lacks.statements[**at].asked.shape == *shape;
                open.iter().find(is_aimed).or(open.first())
            }
            _ => open.first(),
        };
        let lack = &lacks.statements[*lack?];
        let offers = &lack.asked.offers;
        let offer = &offers[rng.usize(..offers.len())];
        let mut child = parent.clone();
        let gene = gene_of(&mut child, lack.step)?;
        let mut is_changed = false;
        for (constant, value) in offer {
            let Some(value) = json(value) else { continue };
            for (pointer, _) in lack.inputs.iter().filter(|(_, text)| text == constant) {
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
        let mut statements = self.lacks.get(&candidate.born)?.statements.iter();
        let lack = statements.find(|lack| *lack.asked.shape == *shape)?;
        Some(&lack.asked.constants)
    }
}

/// The input of a step, if it means to break no rule.
pub(super) fn gene_of(candidate: &mut Candidate, step: u32) -> Option<&mut Gene> {
    let step = candidate.steps.iter_mut().find(|other| other.id == step)?;
    match &mut step.what {
        What::Call {
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
    let answers = Answers::new(all, exchange.inside.planted.as_deref());
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
        if let Some(json) = place.json(&answers)
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

    fn compared(column: usize, constant: i64, how: Comparison) -> Compared {
        Compared {
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
        let asked = [
            compared(0, 5, Comparison::Equal),
            compared(1, 6, Comparison::Within),
            // What cannot be met by being equal is no offer, and neither is NULL.
            compared(1, 9, Comparison::Otherwise),
            compared(2, 1, Comparison::Equal),
        ];
        let told: Vec<String> = offers(&asked, &rows)
            .iter()
            .map(|offer| {
                let pairs = offer
                    .iter()
                    .map(|(constant, value)| format!("{constant}: {value}"));
                pairs.collect::<Vec<_>>().join(", ")
            })
            .collect();
        assert_eq!(told, ["6: 7", "5: 3, 6: 4", "5: 1, 6: 2"]);
    }
}
