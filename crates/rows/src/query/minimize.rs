//! From what was found to what is handed over: the fewest fixtures with the fewest rows.

use isobath_sql::schema::Filled;
use isobath_sql::{Cell, Row, Value};

use super::archive::Archive;
use super::candidate::Candidate;
use super::construct::{Setting, omitted};
use super::fixture::Fixture;
use super::job::{Fate, Outcome};

/// The outcome of a search.
pub(super) fn fixtures(archive: Archive<'_>) -> Outcome {
    let mut outcome = Outcome {
        evaluations: archive.evaluations,
        ..Outcome::default()
    };
    for (index, fate) in archive.fates.iter().enumerate() {
        let fate = fate.clone().unwrap_or_else(|| Fate::Uncovered {
            why: archive.unable[index].clone().unwrap_or_default(),
        });
        outcome.fates.push(fate);
    }
    for (number, candidate) in archive.found.into_iter().enumerate() {
        let covers = (0..outcome.fates.len())
            .filter(|target| outcome.fates[*target] == Fate::Covered(number))
            .collect();
        outcome.fixtures.push(Fixture {
            rows: rows(&archive.setting, &candidate),
            candidate,
            covers,
        });
    }
    outcome
}

/// The rows to insert, parents before children; what a column would store anyway is left out.
fn rows(setting: &Setting<'_>, candidate: &Candidate) -> Vec<Row> {
    let mut waiting: Vec<(usize, &Vec<Value>)> = Vec::new();
    for (table, rows) in &candidate.rows {
        waiting.extend(rows.iter().map(|row| (*table, row)));
    }
    let mut placed: Vec<(usize, &Vec<Value>)> = Vec::new();
    while !waiting.is_empty() {
        let before = waiting.len();
        let mut later = Vec::new();
        for (table, row) in waiting {
            let ready = setting.schema.tables[table].foreign_keys().all(|key| {
                let wanted = || key.columns.iter().map(|column| &row[*column]);
                let refers = |(of, other): &(usize, &Vec<Value>)| {
                    let there = key.parent_columns.iter().map(|column| &other[*column]);
                    *of == key.parent && there.eq(wanted())
                };
                wanted().any(Value::is_null) || placed.iter().any(refers) || refers(&(table, row))
            });
            if ready {
                placed.push((table, row));
            } else {
                later.push((table, row));
            }
        }
        if later.len() == before {
            // References in a circle, or to nothing.
            placed.append(&mut later);
        }
        waiting = later;
    }
    placed
        .into_iter()
        .map(|(table, row)| Row {
            table,
            cells: cells(setting, table, row),
        })
        .collect()
}

fn cells(setting: &Setting<'_>, table: usize, row: &[Value]) -> Vec<Cell> {
    let columns = setting.schema.tables[table].columns.iter();
    columns
        .zip(row)
        .enumerate()
        .map(|(index, (column, value))| match column.filled {
            Filled::CounterAlways | Filled::Generated(_) => Cell::Default,
            _ if omitted(setting, table, index).as_ref() == Some(value) => Cell::Default,
            _ => Cell::Value(value.clone()),
        })
        .collect()
}
