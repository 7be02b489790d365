//! Seed rows: one per table, with every rule kept and a value in every column where possible.

use isobath_sql::memory::MemoryDatabase;
use isobath_sql::row::Statement;
use isobath_sql::schema::{ConstraintKind, Filled, ForeignKey};
use isobath_sql::{Cell, Dialect, Row, Schema, Value};

use super::order::InsertOrder;
use crate::schema::criterion::predicates::satisfied;
use crate::schema::enforced::{EnforcedConstraint, rules};
use crate::schema::generator::{GenerationTask, Generator, GeneratorResult};
use crate::schema::job::rng_for;
use crate::schema::predicate::{Predicate, RequiredTruth};

/// How often rows of a circle are drawn anew before giving up.
const CIRCLE_DRAWS: usize = 20;
/// Evaluations spent on trying to fill one column that may have to stay NULL.
const FILL_BUDGET: u64 = 2_000;

/// The seed rows of a schema.
#[derive(Clone, Debug)]
pub struct SeedRows<'s> {
    schema: &'s Schema,
    dialect: &'static dyn Dialect,
    order: InsertOrder,
    /// The row of each table, or why there is none.
    rows: Vec<Result<Row, SeedError>>,
}

/// Why a table has no seed row.
#[derive(Clone, Debug, PartialEq)]
pub enum SeedError {
    /// No row can satisfy its rules, with the proof.
    Infeasible(String),
    /// Search did not find one, or something is not understood.
    NotFound(String),
    /// A table that it refers to has none.
    Parent(usize),
}

/// All rules hold, and every column has a value; foreign keys for which `broken` says so are left empty.
pub fn seed_predicate(
    schema: &Schema,
    table: usize,
    dialect: &dyn Dialect,
    broken: impl Fn(&ForeignKey) -> bool,
) -> Predicate {
    predicate(schema, table, dialect, &broken, &|_| true, true)
}

/// As `seed_predicate`, with values asked for only in the columns chosen.
fn predicate(
    schema: &Schema,
    table: usize,
    dialect: &dyn Dialect,
    broken: &dyn Fn(&ForeignKey) -> bool,
    filled: &dyn Fn(usize) -> bool,
    indexed: bool,
) -> Predicate {
    let definition = &schema.tables[table];
    let rules = rules(definition, dialect);
    let must_have = |column: usize| {
        rules.iter().any(|rule| match &rule.kind {
            ConstraintKind::NotNull { column: of } => *of == column,
            ConstraintKind::PrimaryKey { columns } => columns.contains(&column),
            _ => false,
        })
    };
    let mut empty = Vec::new();
    let mut parts = Vec::new();
    for rule in &rules {
        match &rule.kind {
            ConstraintKind::ForeignKey(key) if broken(key) => {
                empty.extend(key.columns.iter().copied().filter(|c| !must_have(*c)));
            }
            ConstraintKind::UniqueIndex {
                predicate: Some(inside),
                ..
            } if indexed => {
                // A row outside a partial index could not be duplicated later.
                parts.push(Predicate::Expr {
                    expr: inside.clone(),
                    wanted: RequiredTruth::True,
                });
                parts.push(satisfied(table, rule));
            }
            _ => parts.push(satisfied(table, rule)),
        }
    }
    parts.extend(empty.iter().map(|column| Predicate::null(*column)));
    for (column, of) in definition.columns.iter().enumerate() {
        let askable = !matches!(of.filled, Filled::Generated(_) | Filled::CounterAlways);
        if askable && filled(column) && !empty.contains(&column) {
            parts.push(Predicate::not_null(column));
        }
    }
    Predicate::and(parts)
}

impl<'s> SeedRows<'s> {
    /// Makes a seed row for every table that can have one.
    pub fn make(
        schema: &'s Schema,
        dialect: &'static dyn Dialect,
        generator: &mut dyn Generator,
        seed: u64,
        budget: u64,
    ) -> Self {
        let mut seeds = Self {
            schema,
            dialect,
            order: InsertOrder::new(schema, dialect),
            rows: vec![Err(SeedError::NotFound("not reached".to_owned())); schema.tables.len()],
        };
        for group in seeds.order.groups.clone() {
            match group.as_slice() {
                [table] => seeds.rows[*table] = seeds.single(*table, generator, seed, budget),
                tables => seeds.circle(tables, generator, seed, budget),
            }
        }
        seeds
    }

    /// The seed row of a table.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn row(&self, table: usize) -> Result<&Row, &SeedError> {
        self.rows[table].as_ref()
    }

    /// Why a table has no seed row, as a sentence, following missing parents to the cause.
    pub fn why_not(&self, table: usize) -> Option<String> {
        let mut at = table;
        // Parents come earlier, so this ends; the bound guards against a circle all the same.
        for _ in 0..=self.rows.len() {
            let name = &self.schema.tables[at].name;
            match &self.rows[at] {
                Ok(_) => return None,
                Err(SeedError::Parent(parent)) => at = *parent,
                Err(SeedError::Infeasible(why) | SeedError::NotFound(why)) => {
                    return Some(format!("there is no first row for {name}: {why}"));
                }
            }
        }
        None
    }

    /// The tables whose seed rows must be there for rows of a table: those it refers to, directly or not.
    ///
    /// In insertion order. The table itself is among them only when the row of another one needs it.
    pub fn ancestors(&self, table: usize) -> Vec<usize> {
        let parents = self.schema.tables[table].foreign_keys();
        self.closed(
            parents
                .map(|key| key.parent)
                .filter(|parent| *parent != table),
        )
    }

    /// The given tables and those that their seed rows refer to, in insertion order.
    pub fn closed(&self, tables: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut needed: Vec<usize> = Vec::new();
        let mut open: Vec<usize> = tables.into_iter().collect();
        while let Some(table) = open.pop() {
            if needed.contains(&table) {
                continue;
            }
            needed.push(table);
            open.extend(&self.order.groups[self.order.group_of[table]]);
            if let Ok(row) = &self.rows[table] {
                open.extend(self.referred(row));
            } else {
                open.extend(
                    self.schema.tables[table]
                        .foreign_keys()
                        .map(|key| key.parent),
                );
            }
        }
        needed.sort_by_key(|table| (self.order.group_of[*table], *table));
        needed
    }

    /// The tables that a row refers to with values in all columns of the foreign key, itself left out.
    pub fn referred(&self, row: &Row) -> Vec<usize> {
        self.schema.tables[row.table]
            .foreign_keys()
            .filter(|key| key.parent != row.table)
            .filter(|key| {
                key.columns
                    .iter()
                    .all(|column| row.value(*column).is_none_or(|value| !value.is_null()))
            })
            .map(|key| key.parent)
            .collect()
    }

    /// The statements that insert the seed rows of tables, which must be closed and in order.
    ///
    /// Tables without a seed row are left out; callers ask [`SeedRows::why_not`] first.
    pub fn statements(&self, tables: &[usize]) -> Vec<Statement> {
        let mut statements = Vec::new();
        let mut done: Vec<usize> = Vec::new();
        for table in tables {
            let group = self.order.group_of[*table];
            if done.contains(&group) {
                continue;
            }
            done.push(group);
            let members = &self.order.groups[group];
            let mut rows: Vec<Row> = members
                .iter()
                .filter_map(|member| self.rows[*member].clone().ok())
                .collect();
            match rows.len() {
                0 => {}
                1 => statements.push(Statement::Insert(rows.remove(0))),
                _ => statements.push(Statement::InsertTogether(rows)),
            }
        }
        statements
    }

    /// A database that holds the seed rows of the tables.
    pub fn memory(&self, tables: &[usize]) -> MemoryDatabase<'s> {
        let mut memory = MemoryDatabase::new(self.schema, self.dialect);
        for statement in self.statements(tables) {
            // Each row was accepted when it was made, in the same surroundings.
            let _ = memory.run(&statement);
        }
        memory
    }

    fn missing_parent(&self, table: usize) -> Option<usize> {
        self.schema.tables[table]
            .foreign_keys()
            .filter(|key| key.parent != table && !self.order.is_broken(table, key))
            .map(|key| key.parent)
            .find(|parent| {
                self.order.group_of[*parent] < self.order.group_of[table]
                    && self.rows[*parent].is_err()
            })
    }

    fn single(
        &self,
        table: usize,
        generator: &mut dyn Generator,
        seed: u64,
        budget: u64,
    ) -> Result<Row, SeedError> {
        // A reference that may be NULL does not need a parent that has no row.
        let absent = self.missing_parent(table);
        let order = &self.order;
        let broken = |key: &ForeignKey| order.is_broken(table, key);
        let parents = self.schema.tables[table].foreign_keys();
        let parents: Vec<usize> = parents
            .filter(|key| key.parent != table && !broken(key))
            .map(|key| key.parent)
            .collect();
        if let Some(parent) = absent {
            return Err(SeedError::Parent(parent));
        }
        let existing = self.memory(&self.closed(parents));
        let mut rng = rng_for(seed, table, usize::MAX);
        let mut ask = |filled: &dyn Fn(usize) -> bool, indexed: bool, budget: u64| {
            let wanted = predicate(self.schema, table, self.dialect, &broken, filled, indexed);
            self.generate(table, &wanted, &existing, generator, &mut rng, budget)
        };
        let full = ask(&|_| true, true, budget);
        if full.is_ok() {
            return full;
        }
        // Some column can only be NULL: fill as many as go together.
        let mut row = ask(&|_| false, false, budget)?;
        for column in 0..row.cells.len() {
            let empty = matches!(row.cells[column], Cell::Value(Value::Null));
            if empty {
                let kept = row.clone();
                let filled =
                    |at: usize| at == column || !matches!(kept.cells[at], Cell::Value(Value::Null));
                if let Ok(fuller) = ask(&filled, false, budget.min(FILL_BUDGET)) {
                    row = fuller;
                }
            }
        }
        Ok(row)
    }

    /// Asks the generator for a row, and the database whether it takes it.
    fn generate(
        &self,
        table: usize,
        wanted: &Predicate,
        existing: &MemoryDatabase<'_>,
        generator: &mut dyn Generator,
        rng: &mut fastrand::Rng,
        budget: u64,
    ) -> Result<Row, SeedError> {
        let row = self.propose(table, wanted, existing, generator, rng, budget)?;
        match existing.clone().insert(&row) {
            Ok(verdict) if verdict.is_accepted() => Ok(row),
            Ok(_) => Err(SeedError::NotFound("the row found is refused".to_owned())),
            Err(unsupported) => Err(SeedError::NotFound(unsupported.to_string())),
        }
    }

    fn propose(
        &self,
        table: usize,
        wanted: &Predicate,
        existing: &MemoryDatabase<'_>,
        generator: &mut dyn Generator,
        rng: &mut fastrand::Rng,
        budget: u64,
    ) -> Result<Row, SeedError> {
        let task = GenerationTask {
            schema: self.schema,
            dialect: self.dialect,
            table,
            predicate: wanted,
            existing,
            fresh: &[],
            budget,
        };
        match generator.generate(&task, rng) {
            GeneratorResult::Rows(mut answers) if !answers.is_empty() => answers
                .swap_remove(0)
                .pop()
                .ok_or_else(|| SeedError::NotFound("no row came back".to_owned())),
            GeneratorResult::Rows(_) => Err(SeedError::NotFound("no row came back".to_owned())),
            GeneratorResult::Infeasible { proof } => Err(SeedError::Infeasible(proof)),
            GeneratorResult::GaveUp { evaluations } => Err(SeedError::NotFound(format!(
                "none was found in {evaluations} evaluations"
            ))),
            GeneratorResult::Unsupported { what } => {
                Err(SeedError::NotFound(format!("cannot evaluate {what}")))
            }
        }
    }

    /// Rows that refer to each other: each is made without the references inside the circle, which are then copied in.
    fn circle(&mut self, tables: &[usize], generator: &mut dyn Generator, seed: u64, budget: u64) {
        let parent = tables.iter().find_map(|table| self.missing_parent(*table));
        let outcome = match parent {
            Some(parent) => Err(SeedError::Parent(parent)),
            None => self.draw_circle(tables, generator, seed, budget),
        };
        match outcome {
            Ok(rows) => {
                for row in rows {
                    let table = row.table;
                    self.rows[table] = Ok(row);
                }
            }
            Err(why) => {
                for table in tables {
                    self.rows[*table] = Err(why.clone());
                }
            }
        }
    }

    fn draw_circle(
        &self,
        tables: &[usize],
        generator: &mut dyn Generator,
        seed: u64,
        budget: u64,
    ) -> Result<Vec<Row>, SeedError> {
        let outside: Vec<usize> = tables
            .iter()
            .flat_map(|table| self.schema.tables[*table].foreign_keys())
            .map(|key| key.parent)
            .filter(|parent| !tables.contains(parent))
            .filter(|parent| self.order.group_of[*parent] < self.order.group_of[tables[0]])
            .collect();
        let existing = self.memory(&self.closed(outside));
        let mut rng = rng_for(seed, tables[0], usize::MAX);
        for _ in 0..CIRCLE_DRAWS {
            let mut rows = Vec::new();
            for table in tables {
                let wanted = self.without_circle(*table, tables);
                rows.push(self.propose(*table, &wanted, &existing, generator, &mut rng, budget)?);
            }
            // A copied column may itself be referred to, so copying is repeated until it is stable.
            for _ in 0..tables.len() {
                self.copy_references(&mut rows);
            }
            let together = Statement::InsertTogether(rows.clone());
            match existing.clone().run(&together) {
                Ok(verdict) if verdict.is_accepted() => return Ok(rows),
                Ok(_) => {}
                Err(unsupported) => return Err(SeedError::NotFound(unsupported.to_string())),
            }
        }
        Err(SeedError::NotFound(
            "no rows were found for tables that refer to each other in a circle".to_owned(),
        ))
    }

    /// The seed predicate without the foreign keys into the circle, but with values in their columns.
    fn without_circle(&self, table: usize, circle: &[usize]) -> Predicate {
        let definition = &self.schema.tables[table];
        let inside = |rule: &EnforcedConstraint| matches!(&rule.kind, ConstraintKind::ForeignKey(key) if circle.contains(&key.parent) && key.parent != table);
        let later = |rule: &EnforcedConstraint| matches!(&rule.kind, ConstraintKind::ForeignKey(key) if self.order.is_broken(table, key));
        let rules = rules(definition, self.dialect);
        let empty: Vec<usize> = rules
            .iter()
            .filter(|rule| later(rule))
            .flat_map(|rule| definition.constraints[rule.constraint].columns())
            .collect();
        let kept = rules.iter().filter(|rule| !inside(rule));
        let columns = definition.columns.iter().enumerate();
        let values = columns
            .filter(|(column, of)| {
                !matches!(of.filled, Filled::Generated(_) | Filled::CounterAlways)
                    && !empty.contains(column)
            })
            .map(|(column, _)| Predicate::not_null(column));
        Predicate::and(kept.map(|rule| satisfied(table, rule)).chain(values))
    }

    fn copy_references(&self, rows: &mut [Row]) {
        for at in 0..rows.len() {
            let table = rows[at].table;
            for key in self.schema.tables[table].foreign_keys() {
                let Some(parent) = rows.iter().position(|row| row.table == key.parent) else {
                    continue;
                };
                if parent == at {
                    continue;
                }
                for (own, other) in key.columns.iter().zip(&key.parent_columns) {
                    let value = rows[parent].cells[*other].clone();
                    rows[at].cells[*own] = value;
                }
            }
        }
    }
}
