//! Rows for targets that we cannot read, to be judged by an engine.

use isobath_sql::query::parse;
use isobath_sql::referenced_tables::referenced_tables;
use isobath_sql::render;

use super::candidate::Candidate;
use super::construct::{Construction, SolverContext, construct};
use super::target::QueryTarget;

/// How many sets of rows are tried.
const TRIALS: usize = 3;

/// Rows that a target may return of which nothing is known but its tables: one of each, where foreign keys join
/// them to each other.
pub(super) fn candidates(target: &QueryTarget, context: SolverContext<'_>) -> Vec<Candidate> {
    let (schema, dialect) = (context.schema, context.dialect.name());
    let tables = match referenced_tables(schema, &target.sql, dialect) {
        Some(tables) if !tables.names.is_empty() => tables.names,
        _ => return Vec::new(),
    };
    let from: Vec<String> = tables
        .iter()
        .map(|table| {
            let name = render::table_name(&schema.tables[*table], dialect);
            format!("{name} AS t{table}")
        })
        .collect();
    let mut joins = Vec::new();
    for child in &tables {
        for key in schema.tables[*child].foreign_keys() {
            if !tables.contains(&key.parent) || key.parent == *child {
                continue;
            }
            for (own, theirs) in key.columns.iter().zip(&key.parent_columns) {
                let column = |table: usize, column: usize| {
                    let name = &schema.tables[table].columns[column].name;
                    format!("t{table}.{}", render::identifier(name, dialect))
                };
                joins.push(format!(
                    "{} = {}",
                    column(*child, *own),
                    column(key.parent, *theirs)
                ));
            }
        }
    }
    let mut sql = format!("SELECT * FROM {}", from.join(", "));
    if !joins.is_empty() {
        sql.push_str(&format!(" WHERE {}", joins.join(" AND ")));
    }
    let Ok(query) = parse(&sql, schema, dialect) else {
        return Vec::new();
    };
    let built =
        (0..TRIALS).filter_map(
            |made| match construct(&query, context, made, &mut |_| true) {
                Construction::Candidate(candidate) => Some(candidate),
                Construction::Infeasible { .. } | Construction::Unknown => None,
            },
        );
    built.collect()
}
