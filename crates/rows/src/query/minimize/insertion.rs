//! Rows in insertion order, without the columns that the database fills in.

use isobath_sql::schema::Filled;
use isobath_sql::{Cell, Row, Value};

use crate::query::candidate::Candidate;
use crate::query::construct::{SolverContext, omitted};

/// The rows to insert, parents before children; what a column would store anyway is left out.
pub(in crate::query) fn rows(context: &SolverContext<'_>, candidate: &Candidate) -> Vec<Row> {
    let mut waiting: Vec<(usize, &Vec<Value>)> = Vec::new();
    for (table, rows) in &candidate.rows {
        waiting.extend(rows.iter().map(|row| (*table, row)));
    }
    let mut placed: Vec<(usize, &Vec<Value>)> = Vec::new();
    while !waiting.is_empty() {
        let before = waiting.len();
        let mut later = Vec::new();
        for (table, row) in waiting {
            let ready = context.schema.tables[table].foreign_keys().all(|key| {
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
            cells: cells(context, table, row),
        })
        .collect()
}

fn cells(context: &SolverContext<'_>, table: usize, row: &[Value]) -> Vec<Cell> {
    let columns = context.schema.tables[table].columns.iter();
    columns
        .zip(row)
        .enumerate()
        .map(|(index, (column, value))| match column.filled {
            Filled::CounterAlways | Filled::Generated(_) => Cell::Default,
            _ if omitted(context, table, index).as_ref() == Some(value) => Cell::Default,
            _ => Cell::Value(value.clone()),
        })
        .collect()
}
