//! Builds, mutates and repairs rows for the statements of candidates that returned nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use isobath_genes::Reference;
use isobath_rows::set::{self, ExistingRows, Inserted, LinkContext, NewCell, NewRow};
use isobath_search::{Rng, Score, TargetId};
use isobath_sql::Value;
use isobath_sql::query::Query;
use isobath_sql::render::literal;

use super::substitution::{gene_of, inputs_of};
use super::{ObservedQuery, SeededRows, SeedingConfig, StatementTarget, column, place, score};
use crate::candidate::Candidate;
use crate::exchange::Exchange;
use crate::target::{Target, Targets};

/// Candidates whose lacks are remembered.
const MAX_REMEMBERED: usize = 20_000;
/// Statements remembered of one candidate.
const MAX_MISSED_QUERIES: usize = 12;
/// Rows of one candidate.
const MAX_ROWS: usize = 16;
/// How many rows at most are added at a time where none can be built for the statement.
const MAX_ROWS_ADDED: usize = 3;

/// That the rows of a candidate are changed, and not its calls.
const VARY_ROWS: f64 = 0.4;
/// That rows are built for a coverage rule that is aimed at.
const SEED_FOR_RULE: f64 = 0.6;

/// Statements of candidates that returned no rows, and how rows are built for them.
#[derive(Debug)]
pub struct RowSeeder {
    ground: ExistingRows,
    pub(super) config: SeedingConfig,
    /// By the number of the candidate.
    pub(super) misses: BTreeMap<u64, MissedQueries>,
    number: u64,
    /// Whose calls met the targets of statements.
    operations: BTreeMap<TargetId, ReadingOperation>,
    /// The operations whose calls added rows, by table.
    row_producers: BTreeMap<usize, BTreeSet<usize>>,
    /// Constants of statements, as values to try.
    hints: Vec<Value>,
    /// Values mentioned in the schema, by description: column and value.
    mentioned: BTreeMap<Arc<str>, (usize, usize, Value)>,
    /// The same by table.
    by_table: BTreeMap<usize, Vec<(Arc<str>, usize, Value)>>,
}

/// An operation whose call met a target of a statement.
#[derive(Debug)]
pub(super) struct ReadingOperation {
    pub(super) operation: usize,
    /// The tables that the statement reads.
    pub(super) tables: Vec<usize>,
    /// The constants of the statement, as texts.
    pub(super) constants: Arc<[String]>,
}

/// Statements of a candidate that returned no rows.
#[derive(Debug, Default)]
pub(super) struct MissedQueries {
    pub(super) statements: Vec<MissedQuery>,
    seeded: Option<Arc<SeededRows>>,
    /// How often rows were added to it.
    n_seeded: u32,
    /// How often its inputs were taken from rows.
    pub(super) inputs_from_rows: u32,
}

/// A statement that returned no rows, or has uncovered coverage rules.
#[derive(Clone, Debug)]
pub(super) struct MissedQuery {
    /// The step that caused it.
    pub(super) step: u32,
    pub(super) query: ObservedQuery,
    /// What the step sent: places and texts.
    pub(super) inputs: Arc<[(String, String)]>,
}

/// Values of a table that are targets of each operation that reads it.
const MAX_MENTIONED: usize = 40;
/// Values that are tried in rows.
const MAX_HINTS: usize = 100;

impl RowSeeder {
    /// A supply of rows for tables.
    #[must_use]
    pub fn new(ground: ExistingRows, config: SeedingConfig) -> Self {
        Self {
            ground,
            config,
            misses: BTreeMap::new(),
            number: 0,
            operations: BTreeMap::new(),
            row_producers: BTreeMap::new(),
            hints: Vec::new(),
            mentioned: BTreeMap::new(),
            by_table: BTreeMap::new(),
        }
    }

    /// Values mentioned in the constraints of a table, by column.
    fn mentioned_in(&mut self, table: usize) -> &[(Arc<str>, usize, Value)] {
        let (ground, mentioned) = (&self.ground, &mut self.mentioned);
        self.by_table.entry(table).or_insert_with(|| {
            let Some(of) = ground.schema.tables.get(table) else {
                return Vec::new();
            };
            let mut all = Vec::new();
            for (column, definition) in of.columns.iter().enumerate() {
                for value in ground.constraint_values_of(table, column) {
                    let text = literal(&value, ground.dialect);
                    let description: Arc<str> =
                        format!("{}.{} = {text}", of.name, definition.name).into();
                    mentioned.insert(Arc::clone(&description), (table, column, value.clone()));
                    all.push((description, column, value));
                }
            }
            all.truncate(MAX_MENTIONED);
            all
        })
    }

    /// Adds the scores of what the rows that a call read are like.
    fn score_rows(
        &mut self,
        candidate: &Candidate,
        exchange: &Exchange,
        targets: &mut Targets,
        scores: &mut Vec<Score>,
    ) {
        let (Some(operation), Some(seeded)) = (exchange.operation, &exchange.trace.seeded) else {
            return;
        };
        let found = exchange
            .trace
            .queries
            .iter()
            .filter(|observed| observed.found);
        let mut tables: Vec<usize> = found
            .filter_map(|observed| observed.target_rows.as_ref())
            .flat_map(|target_rows| target_rows.query.tables())
            .collect();
        tables.sort_unstable();
        tables.dedup();
        for table in tables {
            let rows: Vec<_> = candidate
                .rows
                .iter()
                .filter(|row| row.table == table)
                .filter_map(|row| seeded.rows.get(&row.id))
                .collect();
            if rows.is_empty() {
                continue;
            }
            for (description, column, value) in self.mentioned_in(table) {
                let has = |row: &&Vec<Option<Value>>| {
                    row.get(*column).and_then(Option::as_ref) == Some(value)
                };
                let target = targets.id(Target::Row(operation, Arc::clone(description)));
                // Another row is all it takes.
                let score = if rows.iter().any(has) { 1.0 } else { 0.5 };
                scores.push(Score::new(target, score));
            }
        }
    }

    /// A copy in which a row has the target value.
    fn with_target_row(
        &self,
        parent: &Candidate,
        description: &str,
        rng: &mut Rng,
    ) -> Option<Candidate> {
        let (table, column, value) = self.mentioned.get(description)?;
        let rows = parent.rows.iter().enumerate();
        let fitting: Vec<usize> = rows
            .filter(|(_, row)| row.table == *table)
            .map(|(at, _)| at)
            .collect();
        let at = *fitting.get(rng.usize(..fitting.len().max(1)))?;
        let mut child = parent.clone();
        *child.rows.get_mut(at)?.cells.get_mut(*column)? = NewCell::Value(value.clone());
        Some(child)
    }

    /// What rows are put on.
    #[must_use]
    pub fn ground(&self) -> &ExistingRows {
        &self.ground
    }

    /// Whether SQL distances guide the search.
    pub(crate) fn is_guided(&self) -> bool {
        self.config.distance && !self.operations.is_empty()
    }

    /// The operation whose call met a target of a statement.
    pub(crate) fn operation(&self, target: TargetId) -> Option<usize> {
        self.operations.get(&target).map(|reader| reader.operation)
    }

    /// The operation that reached a statement target, and the operations that insert into the tables it reads.
    pub(super) fn row_producers(
        &self,
        target: TargetId,
    ) -> Option<(&ReadingOperation, Vec<usize>)> {
        let reader = self
            .operations
            .get(&target)
            .filter(|_| self.config.distance)?;
        let tables = reader.tables.iter();
        let row_producers = tables.filter_map(|table| self.row_producers.get(table));
        let row_producers: BTreeSet<usize> = row_producers.flatten().copied().collect();
        let row_producers = row_producers.into_iter();
        let row_producers = row_producers.filter(|maker| *maker != reader.operation);
        Some((reader, row_producers.collect()))
    }

    /// Adds the scores of the statements of a call.
    pub(crate) fn score(
        &mut self,
        candidate: &Candidate,
        exchange: &Exchange,
        targets: &mut Targets,
        scores: &mut Vec<Score>,
        from: usize,
    ) {
        if self.config.rows {
            self.score_rows(candidate, exchange, targets, scores);
        }
        if !self.config.distance {
            return;
        }
        let operations = &mut self.operations;
        score::score(exchange, targets, scores, from, &mut |target, observed| {
            let Some(operation) = exchange.operation else {
                return;
            };
            operations.entry(target).or_insert_with(|| {
                let target_rows = observed.target_rows.as_ref();
                ReadingOperation {
                    operation,
                    tables: target_rows
                        .map_or_else(Vec::new, |target_rows| target_rows.query.tables()),
                    constants: Arc::clone(&observed.constants),
                }
            });
        });
    }

    /// Records the statements of a candidate that returned no rows.
    pub(crate) fn note(&mut self, candidate: &Candidate, exchanges: &[Exchange]) {
        for exchange in exchanges.iter().filter(|exchange| exchange.succeeded()) {
            let (Some(operation), Some(effect)) = (exchange.operation, &exchange.trace.effect)
            else {
                continue;
            };
            for change in &effect.changes {
                if change.before.is_none() {
                    self.row_producers
                        .entry(change.table)
                        .or_default()
                        .insert(operation);
                }
            }
        }
        if !self.config.rows && !self.config.distance {
            return;
        }
        let mut misses = MissedQueries::default();
        for exchange in exchanges {
            if let Some(seeded) = &exchange.trace.seeded {
                misses.seeded = Some(Arc::clone(seeded));
            }
            let mut inputs = None;
            for observed in &exchange.trace.queries {
                self.hint(observed);
                let is_known = |missed: &MissedQuery| missed.query.text == observed.text;
                let lacks_rows = !observed.found
                    || observed
                        .rules
                        .iter()
                        .any(|rule_distance| rule_distance.distance > 0.0);
                if lacks_rows
                    && observed.target_rows.is_some()
                    && misses.statements.len() < MAX_MISSED_QUERIES
                    && !misses.statements.iter().any(is_known)
                {
                    let inputs = inputs
                        .get_or_insert_with(|| inputs_of(candidate, exchange, exchanges).into());
                    misses.statements.push(MissedQuery {
                        step: exchange.step,
                        query: observed.clone(),
                        inputs: Arc::clone(inputs),
                    });
                }
            }
        }
        if misses.statements.is_empty() && misses.seeded.is_none() {
            return;
        }
        if self.misses.len() >= MAX_REMEMBERED {
            self.misses.pop_first();
        }
        self.misses.insert(candidate.number, misses);
    }

    fn hint(&mut self, observed: &ObservedQuery) {
        for constant in observed.constants.iter() {
            let value = match constant.parse::<i64>() {
                Ok(number) => Value::from(number),
                Err(_) => Value::text(constant.as_str()),
            };
            if self.hints.len() < MAX_HINTS && !self.hints.contains(&value) {
                self.hints.push(value);
            }
        }
    }

    /// Registers a candidate and repairs its rows.
    pub(crate) fn register(&mut self, candidate: &mut Candidate, rng: &mut Rng) {
        self.number += 1;
        candidate.number = self.number;
        if candidate.rows.is_empty() {
            return;
        }
        if candidate.rows.len() > MAX_ROWS {
            candidate.rows.truncate(MAX_ROWS);
        }
        let next = candidate.next_id();
        self.ground.repair(&mut candidate.rows, next, rng);
    }

    /// A copy of a candidate with added or mutated rows; `None` if its rows stay unchanged.
    pub(crate) fn mutate_rows(
        &mut self,
        rng: &mut Rng,
        parent: &Candidate,
        aim: Option<&Target>,
    ) -> Option<Candidate> {
        if !self.config.rows {
            return None;
        }
        let aimed = match aim {
            Some(Target::Row(_, description)) if rng.f64() < 0.7 => {
                if let Some(child) = self.with_target_row(parent, description, rng) {
                    return Some(child);
                }
                None
            }
            Some(Target::Statement(shape, StatementTarget::Found)) => Some(&**shape),
            Some(Target::Rule(shape, label)) if rng.f64() < SEED_FOR_RULE => {
                if let Some(child) = self.rows_for_rule(rng, parent, shape, label) {
                    return Some(child);
                }
                None
            }
            _ => None,
        };
        if let Some(misses) = self.misses.get_mut(&parent.number)
            && misses.statements.iter().any(|missed| !missed.query.found)
            && parent.rows.len() < MAX_ROWS
        {
            // The same rows again teach nothing; what is still lacking may be left so.
            let eagerness = 0.6 / f64::from(1 + misses.n_seeded);
            if rng.f64() < eagerness.max(0.03) {
                misses.n_seeded += 1;
                let misses = self.misses.get(&parent.number)?;
                let missed = misses.statements.iter();
                let mut order: Vec<&MissedQuery> =
                    missed.filter(|missed| !missed.query.found).collect();
                rng.shuffle(&mut order);
                order.sort_by_key(|missed| aimed != Some(&*missed.query.shape));
                let mut child = parent.clone();
                let none = SeededRows::default();
                let seeded = misses.seeded.as_deref().unwrap_or(&none);
                let mut brought = false;
                for missed in order {
                    let Some(target_rows) = &missed.query.target_rows else {
                        continue;
                    };
                    brought |= self.add_rows(rng, &mut child, missed, &target_rows.query, seeded);
                    // One at a time mostly, sometimes all that is lacking.
                    if brought && rng.bool() {
                        break;
                    }
                }
                if brought {
                    return Some(child);
                }
            }
        }
        if !parent.rows.is_empty() && rng.f64() < VARY_ROWS {
            let mut child = parent.clone();
            if rng.f64() < 0.1 {
                let id = rng.choice(&child.rows)?.id;
                child.rows = set::without(&child.rows, id)?;
                return Some(child);
            }
            // What an input follows would only be another name for the same.
            let inputs = child.steps.iter().filter_map(|step| step.input());
            let followed: Vec<(u32, usize)> = inputs
                .flat_map(|input| input.references())
                .filter_map(|(_, reference)| Some((reference.source, column(&reference.place)?)))
                .collect();
            let keep = |row: u32, column: usize| followed.contains(&(row, column));
            return self
                .ground
                .mutate(&mut child.rows, &self.hints, &keep, rng)
                .then_some(child);
        }
        None
    }

    /// A copy with rows for a coverage rule of one of its statements.
    fn rows_for_rule(
        &self,
        rng: &mut Rng,
        parent: &Candidate,
        shape: &str,
        label: &str,
    ) -> Option<Candidate> {
        let misses = self.misses.get(&parent.number)?;
        let of_shape = misses.statements.iter();
        let (missed, rule_distance) = of_shape
            .filter(|missed| *missed.query.shape == *shape)
            .flat_map(|missed| {
                missed
                    .query
                    .rules
                    .iter()
                    .map(move |rule_distance| (missed, rule_distance))
            })
            .find(|(_, rule_distance)| {
                rule_distance.distance > 0.0 && *rule_distance.rule.label == *label
            })?;
        let mut child = parent.clone();
        let none = SeededRows::default();
        let seeded = misses.seeded.as_deref().unwrap_or(&none);
        self.add_rows(rng, &mut child, missed, &rule_distance.rule.query, seeded)
            .then_some(child)
    }

    /// Adds rows that a statement, or one of its coverage rules, should find; false when there are none to add.
    fn add_rows(
        &self,
        rng: &mut Rng,
        candidate: &mut Candidate,
        missed: &MissedQuery,
        query: &Query,
        seeded: &SeededRows,
    ) -> bool {
        let own = stored(&candidate.rows, &seeded.rows);
        let made = rng.usize(..20);
        let built = self.ground.build(query, &own, made).or_else(|| {
            // As the paper does: any rows of a table that was read, and what the search makes of them.
            let tables = query.tables();
            let table = *tables.get(rng.usize(..tables.len().max(1)))?;
            let mut built = Vec::new();
            for _ in 0..rng.usize(1..=MAX_ROWS_ADDED) {
                let mut there = own.clone();
                there.extend(built.iter().cloned());
                built.extend(self.ground.any_row(table, &there, rng.usize(..200))?);
            }
            Some(built)
        });
        let Some(built) = built
            .filter(|built| !built.is_empty() && candidate.rows.len() + built.len() <= MAX_ROWS)
        else {
            return false;
        };
        let inputs = &missed.inputs;
        let ties = LinkContext {
            rows: &candidate.rows,
            inserted: &seeded.rows,
            constants: &missed.query.constants,
            is_input: &|text| inputs.iter().any(|(_, input)| input == text),
        };
        let (rows, tied) = self.ground.link(&built, &ties, candidate.next_id());
        let first = candidate.rows.len();
        candidate.rows.extend(rows);
        // What the statement does not ask for may matter to the code that reads it.
        if rng.bool() {
            let is_tied = |row: u32, column: usize| {
                let mut tied = tied.iter();
                tied.any(|tied| tied.row == row && tied.column == column)
            };
            let new = candidate.rows.get_mut(first..).unwrap_or_default();
            self.ground.mutate(new, &self.hints, &is_tied, rng);
        }
        for tied in tied {
            let reference = Reference {
                source: tied.row,
                place: place(tied.column).into(),
            };
            for (pointer, _) in inputs.iter().filter(|(_, text)| *text == tied.constant) {
                if let Some(gene) = gene_of(candidate, missed.step) {
                    gene.bind(pointer, reference.clone());
                }
            }
        }
        true
    }
}

/// What the rows of a candidate became, where they still say what they said then.
fn stored(rows: &[NewRow], inserted: &Inserted) -> Vec<(usize, Vec<Value>)> {
    rows.iter()
        .filter_map(|row| {
            let values = inserted.get(&row.id)?.iter().cloned();
            Some((row.table, values.collect::<Option<Vec<_>>>()?))
        })
        .collect()
}
