//! Which table columns a target returns, and which it reads.

use isobath_sql::Expr;
use isobath_sql::query::Query;
use isobath_sql::query::model::{From, QueryBody, Select};

/// A query that returns more columns than this does not need a value in each of them.
const MAX_SHOWN: usize = 6;

/// A column of a table of the schema.
pub(super) type Column = (usize, usize);

/// The columns that a query returns as they are, when they are few.
pub(super) fn shown(query: &Query, found: &mut Vec<Column>) {
    if let QueryBody::Select(select) = &query.body
        && let Some(from) = &select.from
        && select.items.len() <= MAX_SHOWN
    {
        for item in &select.items {
            if let Expr::Column(used) = &item.expr {
                add(from, used.slot, found);
            }
        }
    }
}

/// The columns that conditions, groups, orders and calculations of a query look at.
pub(super) fn read(query: &Query, found: &mut Vec<Column>) {
    match &query.body {
        QueryBody::Select(select) => read_by_select(select, found),
        QueryBody::Set { left, right, .. } => {
            read(left, found);
            read(right, found);
        }
        QueryBody::Values(_) => {}
    }
}

fn read_by_select(select: &Select, found: &mut Vec<Column>) {
    if let Some(from) = &select.from {
        for slot in &select.read_slots {
            add(from, *slot, found);
        }
        // A DISTINCT looks at what it shows.
        for slot in select.shows.iter().filter(|_| select.distinct) {
            add(from, *slot, found);
        }
        read_by_from(from, found);
    }
    for subquery in &select.subqueries {
        everything(&subquery.query, found);
    }
}

fn read_by_from(from: &From, found: &mut Vec<Column>) {
    match from {
        From::Table { .. } => {}
        From::Derived { query, .. } => everything(query, found),
        From::Join { left, right, .. } => {
            read_by_from(left, found);
            read_by_from(right, found);
        }
    }
}

/// The columns that a query calculates with: in aggregates, and in arithmetic in what it returns.
pub(super) fn amounts(query: &Query, found: &mut Vec<Column>) {
    match &query.body {
        QueryBody::Select(select) => amounts_of_select(select, found),
        QueryBody::Set { left, right, .. } => {
            amounts(left, found);
            amounts(right, found);
        }
        QueryBody::Values(_) => {}
    }
}

fn amounts_of_select(select: &Select, found: &mut Vec<Column>) {
    let Some(from) = &select.from else {
        return;
    };
    let mut add_all = |expr: &Expr| {
        expr.walk(&mut |part| {
            if let Expr::Column(column) = part {
                add(from, column.slot, found);
            }
        });
    };
    let aggregates = select.grouping.iter().flat_map(|group| &group.aggregates);
    aggregates
        .filter_map(|(_, aggregate)| aggregate.argument.as_ref())
        .for_each(&mut add_all);
    for item in &select.items {
        item.expr.walk(&mut |part| {
            if matches!(part, Expr::Binary { .. }) {
                add_all(part);
            }
        });
    }
    let mut sources = vec![from];
    while let Some(source) = sources.pop() {
        match source {
            From::Table { .. } => {}
            From::Derived { query, .. } => amounts(query, found),
            From::Join { left, right, .. } => sources.extend([left.as_ref(), right.as_ref()]),
        }
    }
}

/// What an inner query shows, the outer one looks at.
fn everything(query: &Query, found: &mut Vec<Column>) {
    if let QueryBody::Select(select) = &query.body
        && let Some(from) = &select.from
    {
        for slot in &select.shows {
            add(from, *slot, found);
        }
    }
    read(query, found);
}

fn add(from: &From, slot: usize, found: &mut Vec<Column>) {
    if let Some(column) = column(from, slot)
        && !found.contains(&column)
    {
        found.push(column);
    }
}

/// The column of a table that stands in a slot.
fn column(from: &From, at: usize) -> Option<Column> {
    match from {
        From::Table {
            table,
            slot,
            columns,
            ..
        } => (*slot..slot + columns)
            .contains(&at)
            .then(|| (*table, at - slot)),
        From::Derived { .. } => None,
        From::Join { left, right, .. } => column(left, at).or_else(|| column(right, at)),
    }
}
