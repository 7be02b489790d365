//! Builds rows for a query that returned none.

use isobath_sql::memory::{Verdict, ViolationKind};
use isobath_sql::query::{Query, distance, parse};
use isobath_sql::{ConstraintKind, Value, render};

use super::ExistingRows;
use crate::query::candidate::Candidate;
use crate::query::construct::{Construction, checks_hold, construct, omitted};

/// How many numberings are tried: what is there may have the keys of one.
const NUMBERINGS: usize = 3;

/// Candidates that are judged beside the rows that are there, in all.
const MAX_JUDGED: usize = 60;

impl ExistingRows {
    /// Rows that make a query return a row, beside those that are there and `own` ones, parents first. Rows that are
    /// there already are not among them.
    ///
    /// `made` says how many times rows were built before: other numbers make other keys.
    pub fn build(
        &self,
        query: &Query,
        own: &[(usize, Vec<Value>)],
        made: usize,
    ) -> Option<Vec<(usize, Vec<Value>)>> {
        let tables = query.tables();
        let mut judged = 0;
        for numbering in 0..NUMBERINGS {
            let mut built = None;
            let made = made + numbering;
            let outcome = construct(query, self.solver_context(), made, &mut |candidate| {
                judged += 1;
                if judged > MAX_JUDGED {
                    return true;
                }
                let Some(rows) = self.placed(candidate, own) else {
                    return false;
                };
                let together = self.combined_with(&tables, own.iter().chain(&rows));
                let far = distance(query, &together, &[], Some(self.now), self.dialect_rules());
                let is_found = far.is_ok_and(|far| far == 0.0);
                if is_found {
                    built = Some(rows);
                }
                is_found
            });
            if let Some(rows) = built {
                return Some(self.with_defaults(query, own, rows));
            }
            if matches!(outcome, Construction::Infeasible { .. }) || judged > MAX_JUDGED {
                return None;
            }
        }
        None
    }

    /// The rows with the defaults of their columns wherever the query returns a row all the same: that is what rows
    /// are mostly like.
    fn with_defaults(
        &self,
        query: &Query,
        own: &[(usize, Vec<Value>)],
        mut rows: Vec<(usize, Vec<Value>)>,
    ) -> Vec<(usize, Vec<Value>)> {
        let (solver_context, tables) = (self.solver_context(), query.tables());
        for at in 0..rows.len() {
            let table = rows[at].0;
            for column in 0..rows[at].1.len() {
                if self.schema.tables[table].columns[column].default.is_none() {
                    continue;
                }
                let Some(default) = omitted(&solver_context, table, column) else {
                    continue;
                };
                if default.is_null() || default == rows[at].1[column] {
                    continue;
                }
                let old = std::mem::replace(&mut rows[at].1[column], default);
                let together = self.combined_with(&tables, own.iter().chain(&rows));
                let far = distance(query, &together, &[], Some(self.now), self.dialect_rules());
                if !far.is_ok_and(|far| far == 0.0)
                    || !checks_hold(&solver_context, table, &rows[at].1)
                {
                    rows[at].1[column] = old;
                }
            }
        }
        rows
    }

    /// A row of a table that its constraints accept, with those that its foreign keys need, parents first.
    pub fn any_row(
        &self,
        table: usize,
        own: &[(usize, Vec<Value>)],
        made: usize,
    ) -> Option<Vec<(usize, Vec<Value>)>> {
        let of = self.schema.tables.get(table)?;
        let name = render::table_name(of, self.dialect);
        let query = parse(&format!("SELECT * FROM {name}"), &self.schema, self.dialect).ok()?;
        let mut built = None;
        construct(&query, self.solver_context(), made, &mut |candidate| {
            built = self
                .placed(candidate, own)
                .filter(|rows| rows.iter().any(|(of, _)| *of == table));
            built.is_some()
        });
        built
    }

    /// The rows of a candidate that are not there yet, parents first; `None` when the database would refuse them.
    fn placed(
        &self,
        candidate: &Candidate,
        own: &[(usize, Vec<Value>)],
    ) -> Option<Vec<(usize, Vec<Value>)>> {
        let tables = self.with_parents(candidate.rows.keys().copied());
        let mut memory = self.memory(&tables);
        for (table, row) in own {
            memory.put_stored(*table, row.clone());
        }
        let mut waiting: Vec<(usize, Vec<Value>)> = Vec::new();
        for (table, rows) in &candidate.rows {
            waiting.extend(rows.iter().map(|row| (*table, row.clone())));
        }
        let mut placed: Vec<(usize, Vec<Value>)> = Vec::new();
        while !waiting.is_empty() {
            let before = waiting.len();
            let mut at = 0;
            while at < waiting.len() {
                let (table, row) = waiting[at].clone();
                match memory.insert_stored(table, row.clone()) {
                    Ok(Verdict::Accepted) => placed.push(waiting.remove(at)),
                    // The database decides about what we cannot.
                    Err(_) => {
                        memory.put_stored(table, row);
                        placed.push(waiting.remove(at));
                    }
                    Ok(Verdict::Rejected(violations)) => {
                        let is_about = |kind: ViolationKind| {
                            violations.iter().all(|violation| violation.kind == kind)
                        };
                        if is_about(ViolationKind::NoParent) {
                            at += 1;
                            continue;
                        }
                        // The row that is there takes its place, also for those that refer to it.
                        let key = violations
                            .iter()
                            .find_map(|violation| self.key_of(table, violation.constraint?));
                        let twin = key
                            .filter(|_| is_about(ViolationKind::Duplicate))
                            .and_then(|key| {
                                let same = |other: &&Vec<Value>| {
                                    key.iter().all(|column| other[*column] == row[*column])
                                };
                                memory.rows(table).iter().find(same).cloned()
                            })?;
                        waiting.remove(at);
                        self.refer_anew(&mut waiting, table, &row, &twin);
                    }
                }
            }
            if waiting.len() == before {
                return None;
            }
        }
        Some(placed)
    }

    /// Lets rows that refer to one row of a table refer to another.
    fn refer_anew(
        &self,
        rows: &mut [(usize, Vec<Value>)],
        parent: usize,
        from: &[Value],
        to: &[Value],
    ) {
        for (table, row) in rows {
            for key in self.schema.tables[*table].foreign_keys() {
                let pairs = || key.columns.iter().zip(&key.parent_columns);
                if key.parent == parent && pairs().all(|(own, of)| row[*own] == from[*of]) {
                    for (own, of) in pairs() {
                        row[*own] = to[*of].clone();
                    }
                }
            }
        }
    }

    /// The columns of a constraint, if it is a key that says which row is meant.
    fn key_of(&self, table: usize, constraint: usize) -> Option<&[usize]> {
        match &self.schema.tables[table].constraints.get(constraint)?.kind {
            ConstraintKind::PrimaryKey { columns } | ConstraintKind::Unique { columns, .. } => {
                Some(columns)
            }
            _ => None,
        }
    }
}
