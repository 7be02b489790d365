//! Generates tests that kill the mutants a suite leaves alive.
//!
//! For each survivor we look for a row that the original accepts and the
//! mutant refuses, or the reverse; for changed actions and defaults, for a
//! statement that leaves other rows behind. Whatever is found is run under
//! both before it becomes a test. When it is proven that there is no such row,
//! the mutant is equivalent, with that proof.

use isobath_sql::memory::{MemoryDatabase, Verdict};
use isobath_sql::row::Statement;
use isobath_sql::schema::{Action, ConstraintKind, ForeignKey, Schema, Table};
use isobath_sql::{Cell, Dialect, Expr, Row, Value};
use rustc_hash::FxHashSet;

use super::analysis::{Analysis, MutantStatus};
use super::difference::{self, TableVersions, Version, VersionDifference};
use super::mutant::{Mutant, MutantChange};
use super::runner::MutantRunner;
use crate::schema::case::{ExpectedOutcome, ExpectedRows, TestCase};
use crate::schema::phrase;
use crate::schema::predicate::{MatchMode, Predicate, RequiredTruth, RowMatch};
use crate::schema::row_finder::{RowFinder, RowSearchResult, all_hold, seeds};
use crate::schema::setup_rows::SeedRows;

/// What strengthening gave.
#[derive(Clone, Debug)]
pub struct Strengthened {
    /// Tests to append to the suite.
    pub tests: Vec<TestCase>,
    /// The analysis of the suite with them; survivors are those about which nothing was found.
    pub analysis: Analysis,
}

/// Finds a test, or a proof that there is none, for each survivor of an analysis of `suite`.
pub fn strengthen(
    schema: &Schema,
    dialect: &'static dyn Dialect,
    suite: &[TestCase],
    mut analysis: Analysis,
) -> Strengthened {
    let seeds = seeds(schema, dialect);
    let finder = KillerSearch {
        schema,
        dialect,
        seeds: &seeds,
        row_finder: RowFinder::new(schema, dialect, &seeds),
    };
    let mut tests: Vec<TestCase> = Vec::new();
    let mut runner = MutantRunner::new(schema, dialect, &[]);
    let mut names: FxHashSet<String> = suite.iter().map(|test| test.name.clone()).collect();
    let survivors: Vec<usize> = analysis.survivors().map(|(index, _)| index).collect();
    for index in survivors {
        let mutant = &analysis.mutants[index];
        if let MutantStatus::Killed { test } = runner.status(mutant) {
            analysis.statuses[index] = MutantStatus::Killed {
                test: suite.len() + test,
            };
            continue;
        }
        match finder.kill(mutant) {
            KillResult::By(mut test) => {
                make_unique(&mut test.name, &mut names);
                analysis.statuses[index] = MutantStatus::Killed {
                    test: suite.len() + tests.len(),
                };
                runner.push((*test).clone());
                tests.push(*test);
            }
            KillResult::Never(proof) => {
                analysis.statuses[index] = MutantStatus::Equivalent { proof };
            }
            KillResult::Unknown => {}
        }
    }
    Strengthened { tests, analysis }
}

fn make_unique(name: &mut String, taken: &mut FxHashSet<String>) {
    let wanted = name.clone();
    let mut number = 2;
    while !taken.insert(name.clone()) {
        *name = format!("{wanted} ({number})");
        number += 1;
    }
}

/// A column of a table, in an expression.
fn used(table: &Table, column: usize) -> Expr {
    let definition = &table.columns[column];
    Expr::Column(isobath_sql::expr::ColumnRef {
        slot: column,
        name: definition.name.clone(),
        data_type: definition.data_type.clone(),
        collation: definition.collation.clone(),
    })
}

/// Whether a mutant can be noticed.
enum KillResult {
    By(Box<TestCase>),
    Never(String),
    Unknown,
}

struct KillerSearch<'a> {
    schema: &'a Schema,
    dialect: &'static dyn Dialect,
    seeds: &'a SeedRows<'a>,
    row_finder: RowFinder<'a, 'a>,
}

impl KillerSearch<'_> {
    fn kill(&self, mutant: &Mutant) -> KillResult {
        let original = &self.schema.tables[mutant.table];
        match mutant.change {
            MutantChange::Column { column } => {
                let (before, after) = (
                    &original.columns[column],
                    &mutant.mutated_table().columns[column],
                );
                if before.default == after.default {
                    self.by_type(mutant, column)
                } else {
                    self.by_default(mutant, column)
                }
            }
            MutantChange::Constraint {
                original: before, ..
            } => {
                let key = |kind: &ConstraintKind| match kind {
                    ConstraintKind::ForeignKey(key) => Some(key.clone()),
                    _ => None,
                };
                let mutated = mutant.mutated_constraint();
                let before_key = before.and_then(|index| key(&original.constraints[index].kind));
                let after_key = mutated.and_then(|constraint| key(&constraint.kind));
                if let (Some(before), Some(after)) = (before_key, after_key)
                    && before.columns == after.columns
                    && before.parent_columns == after.parent_columns
                {
                    let deletes = before.on_delete != after.on_delete;
                    return match self.same_effect(mutant.table, &before, &after) {
                        Some(proof) => KillResult::Never(proof),
                        None => self.by_action(mutant, &before, deletes),
                    };
                }
                if let Some(test) = self.by_stamp(mutant, before) {
                    return KillResult::By(Box::new(test));
                }
                let removed: Vec<usize> = before.into_iter().collect();
                let added: Vec<_> = mutated.into_iter().cloned().collect();
                let constraints = TableVersions {
                    table: mutant.table,
                    before: original,
                    removed: &removed,
                    added: &added,
                };
                self.by_row(mutant, &constraints.differences(self.dialect), &[])
            }
        }
    }

    /// NULL in a column where one of the two would take the time instead.
    fn by_stamp(&self, mutant: &Mutant, before: Option<usize>) -> Option<TestCase> {
        let original = &self.schema.tables[mutant.table];
        let constraint = mutant
            .mutated_constraint()
            .or_else(|| before.map(|index| &original.constraints[index]))?;
        let ConstraintKind::NotNull { column } = constraint.kind else {
            return None;
        };
        let stamps = |table| self.dialect.null_is_now(table, column);
        if stamps(original) == stamps(mutant.mutated_table()) {
            return None;
        }
        // Rows that the table needs may include one of its own, so the good one may be there already.
        let any = all_hold(original, mutant.table, self.dialect);
        let RowSearchResult::Row {
            setup_rows,
            mut row,
        } = self.row_finder.find(mutant.table, &any, false)
        else {
            return None;
        };
        row.cells[column] = Cell::Value(Value::Null);
        self.case(mutant, setup_rows, Statement::Insert(row), &[column])
    }

    /// A row about which the two disagree.
    fn by_row(
        &self,
        mutant: &Mutant,
        differences: &[VersionDifference],
        after: &[usize],
    ) -> KillResult {
        let mut proofs = Vec::new();
        for difference in differences {
            let answer =
                match difference.stands_on {
                    Version::Before => self.row_finder.find(
                        mutant.table,
                        &difference.predicate,
                        difference.compares,
                    ),
                    Version::After => RowFinder::new(&mutant.schema, self.dialect, self.seeds)
                        .find(mutant.table, &difference.predicate, difference.compares),
                };
            match answer {
                RowSearchResult::Row { setup_rows, row } => {
                    let statement = Statement::Insert(row);
                    if let Some(test) = self.case(mutant, setup_rows, statement, after) {
                        return KillResult::By(Box::new(test));
                    }
                }
                RowSearchResult::Never { proof } if difference.exact => proofs.push(proof),
                RowSearchResult::Never { .. } | RowSearchResult::Unknown => {}
            }
        }
        if !differences.is_empty() && proofs.len() == differences.len() {
            proofs.dedup();
            KillResult::Never(proofs.join("; "))
        } else {
            KillResult::Unknown
        }
    }

    fn by_type(&self, mutant: &Mutant, column: usize) -> KillResult {
        let (before, after) = (&self.schema.tables[mutant.table], mutant.mutated_table());
        let types = [before, after].map(|table| &table.columns[column].data_type);
        // A good row with a value at the limit usually does; where it does not, we must search.
        if let Some(good) = self.row_finder.good_row(mutant.table) {
            let listed = difference::listed_values(before, column);
            let near = listed
                .iter()
                .chain(good.value(column))
                .map(Some)
                .chain([None]);
            let mut values: Vec<Value> = Vec::new();
            for value in near.flat_map(|near| difference::telling_values(types, near)) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            for value in values {
                let mut row = good.clone();
                let mut setup_rows = self.row_finder.setup_rows(mutant.table, false);
                self.give(mutant.table, column, &value, &mut setup_rows);
                row.cells[column] = Cell::Value(value);
                let statement = Statement::Insert(row);
                if let Some(test) = self.case(mutant, setup_rows, statement, &[column]) {
                    return KillResult::By(Box::new(test));
                }
            }
        }
        // A row id that is none any more no longer fills itself.
        if let Some(good) = self.row_finder.good_row(mutant.table) {
            let mut row = good.clone();
            row.cells[column] = Cell::Default;
            if let Some(test) = self.beside_good_rows(mutant, row, column) {
                return KillResult::By(Box::new(test));
            }
        }
        let differences = difference::of_type((before, after), mutant.table, column, self.dialect);
        match self.by_row(mutant, &differences, &[]) {
            KillResult::Unknown => {
                match difference::same_values(
                    self.schema,
                    mutant.table,
                    column,
                    types[1],
                    self.dialect,
                ) {
                    Some(proof) => KillResult::Never(proof),
                    None => KillResult::Unknown,
                }
            }
            noticed => noticed,
        }
    }

    /// Gives the rows that a column refers to the value that it is to have.
    fn give(&self, table: usize, column: usize, value: &Value, setup_rows: &mut [Statement]) {
        for key in self.schema.tables[table].foreign_keys() {
            let Some(position) = key.columns.iter().position(|own| *own == column) else {
                continue;
            };
            let referred = key.parent_columns[position];
            let mut changed = false;
            for statement in setup_rows.iter_mut() {
                if let Statement::Insert(row) = statement
                    && row.table == key.parent
                    && row.cells[referred] != Cell::Value(value.clone())
                {
                    row.cells[referred] = Cell::Value(value.clone());
                    changed = true;
                }
            }
            // Where nothing changes any more, a circle of references is closed.
            if changed {
                self.give(key.parent, referred, value, setup_rows);
            }
        }
    }

    fn by_default(&self, mutant: &Mutant, column: usize) -> KillResult {
        let definition = &self.schema.tables[mutant.table];
        if matches!(&definition.columns[column].default, Some(Expr::Literal(value)) if value.is_null())
        {
            return KillResult::Never("a column without DEFAULT is NULL by default".to_owned());
        }
        let implicit = self
            .dialect
            .implicit_default(mutant.mutated_table(), column);
        if let (Some(Expr::Literal(value)), Some(implicit)) =
            (&definition.columns[column].default, &implicit)
            && value == implicit
        {
            return KillResult::Never(
                "the first label is the default of an ENUM that may not be NULL anyway".to_owned(),
            );
        }
        let Some(good) = self.row_finder.good_row(mutant.table) else {
            return KillResult::Unknown;
        };
        let mut row = good.clone();
        row.cells[column] = Cell::Default;
        if let Some(test) = self.beside_good_rows(mutant, row.clone(), column) {
            return KillResult::By(Box::new(test));
        }
        // The default does not go with the good row: look for one that it goes with.
        let memory = MemoryDatabase::new(self.schema, self.dialect);
        let Ok(Ok(values)) = memory.stored(&row) else {
            return KillResult::Unknown;
        };
        let is_default = Predicate::Expr {
            expr: Expr::Compare {
                op: isobath_sql::expr::CompareOp::Equal,
                left: Box::new(used(definition, column)),
                right: Box::new(Expr::Literal(values[column].clone())),
            },
            wanted: RequiredTruth::True,
        };
        let good = all_hold(definition, mutant.table, self.dialect);
        let predicate = Predicate::and([good, is_default]);
        match self.row_finder.find(mutant.table, &predicate, false) {
            RowSearchResult::Row {
                setup_rows,
                mut row,
            } => {
                row.cells[column] = Cell::Default;
                let statement = Statement::Insert(row);
                match self.case(mutant, setup_rows, statement, &[column]) {
                    Some(test) => KillResult::By(Box::new(test)),
                    None => KillResult::Unknown,
                }
            }
            RowSearchResult::Never { .. } | RowSearchResult::Unknown => KillResult::Unknown,
        }
    }

    fn beside_good_rows(&self, mutant: &Mutant, row: Row, column: usize) -> Option<TestCase> {
        let setup_rows = self.row_finder.setup_rows(mutant.table, false);
        self.case(mutant, setup_rows, Statement::Insert(row), &[column])
    }

    /// Why two actions do the same, if they do: what becomes NULL may not be allowed to.
    fn same_effect(&self, table: usize, before: &ForeignKey, after: &ForeignKey) -> Option<String> {
        let definition = &self.schema.tables[table];
        let key_columns = match definition.primary_key() {
            Some(columns) if !self.dialect.key_admits_null(definition) => columns,
            _ => &[],
        };
        let never_null = before
            .columns
            .iter()
            .find(|column| definition.is_not_null(**column) || key_columns.contains(column));
        let no_defaults = before
            .columns
            .iter()
            .all(|column| definition.columns[*column].default.is_none());
        let effect = |action: Action| match action {
            Action::NoAction | Action::Restrict => Action::NoAction,
            Action::SetNull if never_null.is_some() => Action::NoAction,
            Action::SetDefault if no_defaults && never_null.is_some() => Action::NoAction,
            Action::SetDefault if no_defaults => Action::SetNull,
            action => action,
        };
        let same = effect(before.on_delete) == effect(after.on_delete)
            && effect(before.on_update) == effect(after.on_update);
        same.then(|| match never_null {
            Some(column) => format!(
                "`{}` may not become NULL, so the statement is refused either way",
                definition.columns[*column].name
            ),
            None => "without a DEFAULT the columns become NULL either way".to_owned(),
        })
    }

    /// A DELETE or UPDATE of a row that another refers to.
    fn by_action(&self, mutant: &Mutant, key: &ForeignKey, deletes: bool) -> KillResult {
        let definition = &self.schema.tables[mutant.table];
        let refers = Predicate::Match(RowMatch {
            with: key.parent,
            equal: key
                .columns
                .iter()
                .copied()
                .zip(key.parent_columns.iter().copied())
                .collect(),
            differ: Vec::new(),
            mode: MatchMode::All,
        });
        let predicate = Predicate::and(
            [all_hold(definition, mutant.table, self.dialect), refers]
                .into_iter()
                .chain(
                    key.columns
                        .iter()
                        .map(|column| Predicate::not_null(*column)),
                ),
        );
        let own_parent = key.parent == mutant.table;
        let RowSearchResult::Row { setup_rows, row } =
            self.row_finder.find(mutant.table, &predicate, own_parent)
        else {
            return KillResult::Unknown;
        };
        let mut memory = MemoryDatabase::new(self.schema, self.dialect);
        let statements = setup_rows;
        let statement = Statement::Insert(row.clone());
        for statement in statements.iter().chain([&statement]) {
            let accepted = memory.run(statement).is_ok_and(|v| v.is_accepted());
            if !accepted {
                return KillResult::Unknown;
            }
        }
        let Some(child) = memory.rows(mutant.table).last() else {
            return KillResult::Unknown;
        };
        let referred: Vec<Value> = key.columns.iter().map(|c| child[*c].clone()).collect();
        let mut attempts = vec![(statements.clone(), row.clone(), referred)];
        // Other good rows may refer to the same parent and keep it: then it takes one of its own.
        if let Some((mut setup_rows, parent)) = self.another_parent(statements, key, None) {
            let cells = key.parent_columns.iter().map(|c| parent.value(*c).cloned());
            if let Some(values) = cells.collect::<Option<Vec<Value>>>() {
                let mut child = row;
                for (own, value) in key.columns.iter().zip(&values) {
                    child.cells[*own] = Cell::Value(value.clone());
                }
                setup_rows.push(Statement::Insert(parent));
                attempts.push((setup_rows, child, values));
            }
        }
        for (mut setup_rows, child, referred) in attempts {
            setup_rows.push(Statement::Insert(child));
            let set = if deletes {
                None
            } else {
                let existing = self.row_finder.setup_rows(key.parent, true);
                match self.another_parent(existing, key, referred.first()) {
                    Some((_, parent)) => Some(parent),
                    None => continue,
                }
            };
            let table = key.parent;
            let only = key.parent_columns.iter().copied().zip(referred).collect();
            let statement = match set {
                None => Statement::Delete { table, only },
                Some(other) => Statement::Update {
                    table,
                    set: key
                        .parent_columns
                        .iter()
                        .map(|column| (*column, other.cells[*column].clone()))
                        .collect(),
                    only,
                },
            };
            if let Some(test) = self.case(mutant, setup_rows, statement, &key.columns) {
                return KillResult::By(Box::new(test));
            }
        }
        KillResult::Unknown
    }

    /// A row that a key may refer to beside those there, other than `but` in its first referred column.
    fn another_parent(
        &self,
        existing: Vec<Statement>,
        key: &ForeignKey,
        but: Option<&Value>,
    ) -> Option<(Vec<Statement>, Row)> {
        let parent = &self.schema.tables[key.parent];
        let first = *key.parent_columns.first()?;
        let differs = Predicate::Match(RowMatch {
            with: key.parent,
            equal: Vec::new(),
            differ: vec![(first, first)],
            mode: MatchMode::All,
        });
        let other = but.map(|value| Predicate::Expr {
            expr: Expr::Compare {
                op: isobath_sql::expr::CompareOp::NotEqual,
                left: Box::new(used(parent, first)),
                right: Box::new(Expr::Literal(value.clone())),
            },
            wanted: RequiredTruth::True,
        });
        let predicate = Predicate::and(
            [all_hold(parent, key.parent, self.dialect), differs]
                .into_iter()
                .chain(other)
                .chain(key.parent_columns.iter().map(|c| Predicate::not_null(*c))),
        );
        match self
            .row_finder
            .find_beside(existing, key.parent, &predicate)
        {
            RowSearchResult::Row { setup_rows, row } => Some((setup_rows, row)),
            RowSearchResult::Never { .. } | RowSearchResult::Unknown => None,
        }
    }

    /// The statements as a test, if they tell the mutant from the original.
    ///
    /// `after` names columns of the mutant's table to assert afterwards.
    fn case(
        &self,
        mutant: &Mutant,
        setup_rows: Vec<Statement>,
        statement: Statement,
        after: &[usize],
    ) -> Option<TestCase> {
        let mut test = self.outcome(mutant, setup_rows, statement, after)?;
        if !self.kills(&test, mutant) {
            return None;
        }
        // Rows that are not needed go, the latest first because others may refer to the earlier.
        for position in (0..test.setup_rows.len()).rev() {
            let mut setup_rows = test.setup_rows.clone();
            setup_rows.remove(position);
            let shorter = self.outcome(mutant, setup_rows, test.statement.clone(), after);
            if let Some(shorter) = shorter
                && shorter.expected == test.expected
                && self.kills(&shorter, mutant)
            {
                test = shorter;
            }
        }
        test.name = self.name(&test, mutant);
        Some(test)
    }

    /// The statements as a test that expects what the original does.
    fn outcome(
        &self,
        mutant: &Mutant,
        setup_rows: Vec<Statement>,
        statement: Statement,
        after: &[usize],
    ) -> Option<TestCase> {
        let mut memory = MemoryDatabase::new(self.schema, self.dialect);
        for statement in &setup_rows {
            if !memory.run(statement).ok()?.is_accepted() {
                return None;
            }
        }
        let expected = match memory.run(&statement).ok()? {
            Verdict::Accepted => ExpectedOutcome::Accepted,
            // Two reasons to refuse would leave open which one the test is about.
            Verdict::Rejected(mut violations) if violations.len() == 1 => {
                ExpectedOutcome::Rejected(violations.pop()?)
            }
            Verdict::Rejected(_) => return None,
        };
        let asserted = if expected == ExpectedOutcome::Accepted && !after.is_empty() {
            vec![ExpectedRows::now(mutant.table, after, &memory)]
        } else {
            Vec::new()
        };
        Some(TestCase {
            table: statement.table(),
            name: String::new(),
            covers: Vec::new(),
            setup_rows,
            statement,
            expected,
            after: asserted,
        })
    }

    fn kills(&self, test: &TestCase, mutant: &Mutant) -> bool {
        let runner = MutantRunner::new(self.schema, self.dialect, std::slice::from_ref(test));
        matches!(runner.status(mutant), MutantStatus::Killed { .. })
    }

    /// "products rejects price = 0, so it would be noticed if …".
    fn name(&self, test: &TestCase, mutant: &Mutant) -> String {
        let table = &self.schema.tables[test.statement.table()];
        let columns = match mutant.change {
            MutantChange::Column { column } => vec![column],
            MutantChange::Constraint { original, .. } => original
                .map(|index| &self.schema.tables[mutant.table].constraints[index])
                .into_iter()
                .chain(mutant.mutated_constraint())
                .flat_map(|constraint| constraint.columns())
                .collect(),
        };
        let what = match &test.statement {
            Statement::Insert(row) => {
                let mut shown: Vec<String> = Vec::new();
                for column in columns {
                    let name = &table.columns[column].name;
                    let cell = match row.value(column) {
                        Some(Value::Null) => format!("{name} NULL"),
                        Some(value) => format!("{name} = {}", phrase::short(value)),
                        None => format!("{name} left out"),
                    };
                    if !shown.contains(&cell) {
                        shown.push(cell);
                    }
                }
                shown.join(", ")
            }
            Statement::InsertTogether(_) => "rows that refer to each other".to_owned(),
            Statement::Update { .. } => "an update of a row that others refer to".to_owned(),
            Statement::Delete { .. } => "deleting a row that others refer to".to_owned(),
        };
        let verb = match test.expected {
            ExpectedOutcome::Accepted => "accepts",
            ExpectedOutcome::Rejected(_) => "rejects",
        };
        format!(
            "{} {verb} {what}, so it would be noticed if {}",
            table.name, mutant.description
        )
    }
}

#[cfg(test)]
mod tests;
