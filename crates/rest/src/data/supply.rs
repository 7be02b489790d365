//! Rows for candidates: built for what their statements lacked, changed, and kept acceptable.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use isobath_genes::Reference;
use isobath_rows::set::{self, ExistingRows, Inserted, LinkContext, NewCell, NewRow};
use isobath_search::{Rng, Score, TargetId};
use isobath_sql::Value;
use isobath_sql::query::Query;
use isobath_sql::render::literal;

use super::take::{gene_of, inputs_of};
use super::{Asked, Choice, Planted, StatementGoal, column, place, score};
use crate::candidate::Candidate;
use crate::exchange::Exchange;
use crate::goal::{Goal, Goals};

/// Candidates whose lacks are remembered.
const MOST_REMEMBERED: usize = 20_000;
/// Statements remembered of one candidate.
const MOST_LACKS: usize = 12;
/// Rows of one candidate.
const MOST_ROWS: usize = 16;
/// How many rows at most are added at a time where none can be built for the statement.
const AT_A_TIME: usize = 3;

/// That the rows of a candidate are changed, and not its calls.
const VARIED: f64 = 0.4;
/// That rows are built for a coverage rule that is aimed at.
const RULED: f64 = 0.6;

/// What candidates lacked, and how rows are made for them.
#[derive(Debug)]
pub struct Supply {
    ground: ExistingRows,
    pub(super) choice: Choice,
    /// By the number of the candidate.
    pub(super) lacks: BTreeMap<u64, Lacks>,
    born: u64,
    /// Whose calls met the targets of statements.
    operations: BTreeMap<TargetId, Reader>,
    /// The operations whose calls added rows, by table.
    makers: BTreeMap<usize, BTreeSet<usize>>,
    /// Constants of statements, as values to try.
    hints: Vec<Value>,
    /// What the tables speak of, by how it is said: a column and a value.
    spoken_of: BTreeMap<Arc<str>, (usize, usize, Value)>,
    /// The same by table.
    by_table: BTreeMap<usize, Vec<(Arc<str>, usize, Value)>>,
}

/// An operation whose call met a target of a statement.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) operation: usize,
    /// The tables that the statement reads.
    pub(super) tables: Vec<usize>,
    /// The constants of the statement, as texts.
    pub(super) constants: Arc<[String]>,
}

/// What a candidate lacked.
#[derive(Debug, Default)]
pub(super) struct Lacks {
    pub(super) statements: Vec<Lack>,
    planted: Option<Arc<Planted>>,
    /// How often rows were added to it.
    helped: u32,
    /// How often its inputs were taken from rows.
    pub(super) taken: u32,
}

/// A statement that found nothing, or has coverage rules that are not met.
#[derive(Clone, Debug)]
pub(super) struct Lack {
    /// The step that caused it.
    pub(super) step: u32,
    pub(super) asked: Asked,
    /// What the step sent: places and texts.
    pub(super) inputs: Arc<[(String, String)]>,
}

/// Values of a table that are targets of each operation that reads it.
const MOST_SPOKEN_OF: usize = 40;
/// Values that are tried in rows.
const MOST_HINTS: usize = 100;

impl Supply {
    /// A supply of rows for tables.
    #[must_use]
    pub fn new(ground: ExistingRows, choice: Choice) -> Self {
        Self {
            ground,
            choice,
            lacks: BTreeMap::new(),
            born: 0,
            operations: BTreeMap::new(),
            makers: BTreeMap::new(),
            hints: Vec::new(),
            spoken_of: BTreeMap::new(),
            by_table: BTreeMap::new(),
        }
    }

    /// What a table speaks of: columns with values that they may have.
    fn of_table(&mut self, table: usize) -> &[(Arc<str>, usize, Value)] {
        let (ground, spoken_of) = (&self.ground, &mut self.spoken_of);
        self.by_table.entry(table).or_insert_with(|| {
            let Some(of) = ground.schema.tables.get(table) else {
                return Vec::new();
            };
            let mut all = Vec::new();
            for (column, definition) in of.columns.iter().enumerate() {
                for value in ground.constraint_values_of(table, column) {
                    let text = literal(&value, ground.dialect);
                    let says: Arc<str> = format!("{}.{} = {text}", of.name, definition.name).into();
                    spoken_of.insert(Arc::clone(&says), (table, column, value.clone()));
                    all.push((says, column, value));
                }
            }
            all.truncate(MOST_SPOKEN_OF);
            all
        })
    }

    /// Adds the scores of what the rows that a call read are like.
    fn score_rows(
        &mut self,
        candidate: &Candidate,
        exchange: &Exchange,
        goals: &mut Goals,
        scores: &mut Vec<Score>,
    ) {
        let (Some(operation), Some(planted)) = (exchange.operation, &exchange.inside.planted)
        else {
            return;
        };
        let found = exchange.inside.asked.iter().filter(|asked| asked.found);
        let mut tables: Vec<usize> = found
            .filter_map(|asked| asked.sought.as_ref())
            .flat_map(|sought| sought.query.tables())
            .collect();
        tables.sort_unstable();
        tables.dedup();
        for table in tables {
            let rows: Vec<_> = candidate
                .rows
                .iter()
                .filter(|row| row.table == table)
                .filter_map(|row| planted.rows.get(&row.id))
                .collect();
            if rows.is_empty() {
                continue;
            }
            for (says, column, value) in self.of_table(table) {
                let has = |row: &&Vec<Option<Value>>| row[*column].as_ref() == Some(value);
                let goal = goals.id(Goal::Row(operation, Arc::clone(says)));
                // Another row is all it takes.
                let score = if rows.iter().any(has) { 1.0 } else { 0.5 };
                scores.push(Score::new(goal, score));
            }
        }
    }

    /// A copy in which a row is as the aim says.
    fn aimed_row(&self, parent: &Candidate, says: &str, rng: &mut Rng) -> Option<Candidate> {
        let (table, column, value) = self.spoken_of.get(says)?;
        let rows = parent.rows.iter().enumerate();
        let fitting: Vec<usize> = rows
            .filter(|(_, row)| row.table == *table)
            .map(|(at, _)| at)
            .collect();
        let at = *fitting.get(rng.usize(..fitting.len().max(1)))?;
        let mut child = parent.clone();
        child.rows[at].cells[*column] = NewCell::Value(value.clone());
        Some(child)
    }

    /// What rows are put on.
    #[must_use]
    pub fn ground(&self) -> &ExistingRows {
        &self.ground
    }

    /// Whether distances of statements lead the search.
    pub(crate) fn is_led(&self) -> bool {
        self.choice.distance && !self.operations.is_empty()
    }

    /// The operation whose call met a target of a statement.
    pub(crate) fn operation(&self, target: TargetId) -> Option<usize> {
        self.operations.get(&target).map(|reader| reader.operation)
    }

    /// Who met a target of a statement, and the operations that add rows to the tables which that one reads.
    pub(super) fn makers(&self, target: TargetId) -> Option<(&Reader, Vec<usize>)> {
        let reader = self
            .operations
            .get(&target)
            .filter(|_| self.choice.distance)?;
        let tables = reader.tables.iter();
        let makers = tables.filter_map(|table| self.makers.get(table));
        let makers: BTreeSet<usize> = makers.flatten().copied().collect();
        let makers = makers.into_iter();
        let makers = makers.filter(|maker| *maker != reader.operation);
        Some((reader, makers.collect()))
    }

    /// Adds the scores of the statements of a call.
    pub(crate) fn score(
        &mut self,
        candidate: &Candidate,
        exchange: &Exchange,
        goals: &mut Goals,
        scores: &mut Vec<Score>,
        from: usize,
    ) {
        if self.choice.rows {
            self.score_rows(candidate, exchange, goals, scores);
        }
        if !self.choice.distance {
            return;
        }
        let operations = &mut self.operations;
        score::score(exchange, goals, scores, from, &mut |target, asked| {
            let Some(operation) = exchange.operation else {
                return;
            };
            operations.entry(target).or_insert_with(|| {
                let sought = asked.sought.as_ref();
                Reader {
                    operation,
                    tables: sought.map_or_else(Vec::new, |sought| sought.query.tables()),
                    constants: Arc::clone(&asked.constants),
                }
            });
        });
    }

    /// Takes note of what a candidate lacked.
    pub(crate) fn note(&mut self, candidate: &Candidate, exchanges: &[Exchange]) {
        for exchange in exchanges.iter().filter(|exchange| exchange.succeeded()) {
            let (Some(operation), Some(effect)) = (exchange.operation, &exchange.inside.effect)
            else {
                continue;
            };
            for change in &effect.changes {
                if change.before.is_none() {
                    self.makers
                        .entry(change.table)
                        .or_default()
                        .insert(operation);
                }
            }
        }
        if !self.choice.rows && !self.choice.distance {
            return;
        }
        let mut lacks = Lacks::default();
        for exchange in exchanges {
            if let Some(planted) = &exchange.inside.planted {
                lacks.planted = Some(Arc::clone(planted));
            }
            let mut inputs = None;
            for asked in &exchange.inside.asked {
                self.hint(asked);
                let is_known = |lack: &Lack| lack.asked.text == asked.text;
                let lacks_rows = !asked.found || asked.rules.iter().any(|met| met.distance > 0.0);
                if lacks_rows
                    && asked.sought.is_some()
                    && lacks.statements.len() < MOST_LACKS
                    && !lacks.statements.iter().any(is_known)
                {
                    let inputs = inputs
                        .get_or_insert_with(|| inputs_of(candidate, exchange, exchanges).into());
                    lacks.statements.push(Lack {
                        step: exchange.step,
                        asked: asked.clone(),
                        inputs: Arc::clone(inputs),
                    });
                }
            }
        }
        if lacks.statements.is_empty() && lacks.planted.is_none() {
            return;
        }
        if self.lacks.len() >= MOST_REMEMBERED {
            self.lacks.pop_first();
        }
        self.lacks.insert(candidate.born, lacks);
    }

    fn hint(&mut self, asked: &Asked) {
        for constant in asked.constants.iter() {
            let value = match constant.parse::<i64>() {
                Ok(number) => Value::from(number),
                Err(_) => Value::text(constant.as_str()),
            };
            if self.hints.len() < MOST_HINTS && !self.hints.contains(&value) {
                self.hints.push(value);
            }
        }
    }

    /// Gives a candidate a number of its own, and makes its rows acceptable.
    pub(crate) fn register(&mut self, candidate: &mut Candidate, rng: &mut Rng) {
        self.born += 1;
        candidate.born = self.born;
        if candidate.rows.is_empty() {
            return;
        }
        if candidate.rows.len() > MOST_ROWS {
            candidate.rows.truncate(MOST_ROWS);
        }
        let next = candidate.next_id();
        self.ground.repair(&mut candidate.rows, next, rng);
    }

    /// A changed copy of a candidate by its rows: more for what it lacks, or others; `None` when that is left alone.
    pub(crate) fn help(
        &mut self,
        rng: &mut Rng,
        parent: &Candidate,
        aim: Option<&Goal>,
    ) -> Option<Candidate> {
        if !self.choice.rows {
            return None;
        }
        let aimed = match aim {
            Some(Goal::Row(_, says)) if rng.f64() < 0.7 => {
                if let Some(child) = self.aimed_row(parent, says, rng) {
                    return Some(child);
                }
                None
            }
            Some(Goal::Statement(shape, StatementGoal::Found)) => Some(&**shape),
            Some(Goal::Rule(shape, label)) if rng.f64() < RULED => {
                if let Some(child) = self.ruled(rng, parent, shape, label) {
                    return Some(child);
                }
                None
            }
            _ => None,
        };
        if let Some(lacks) = self.lacks.get_mut(&parent.born)
            && lacks.statements.iter().any(|lack| !lack.asked.found)
            && parent.rows.len() < MOST_ROWS
        {
            // The same rows again teach nothing; what is still lacking may be left so.
            let eagerness = 0.6 / f64::from(1 + lacks.helped);
            if rng.f64() < eagerness.max(0.03) {
                lacks.helped += 1;
                let mut order: Vec<usize> = (0..lacks.statements.len())
                    .filter(|&at| !lacks.statements[at].asked.found)
                    .collect();
                rng.shuffle(&mut order);
                let is_aimed = |at: &usize| aimed == Some(&*lacks.statements[*at].asked.shape);
                order.sort_by_key(|at| !is_aimed(at));
                let mut child = parent.clone();
                let lacks = &self.lacks[&parent.born];
                let none = Planted::default();
                let planted = lacks.planted.as_deref().unwrap_or(&none);
                let mut brought = false;
                for at in order {
                    let lack = &lacks.statements[at];
                    let Some(sought) = &lack.asked.sought else {
                        continue;
                    };
                    brought |= self.bring(rng, &mut child, lack, &sought.query, planted);
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
        if !parent.rows.is_empty() && rng.f64() < VARIED {
            let mut child = parent.clone();
            if rng.f64() < 0.1 {
                let id = child.rows[rng.usize(..child.rows.len())].id;
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
    fn ruled(
        &self,
        rng: &mut Rng,
        parent: &Candidate,
        shape: &str,
        label: &str,
    ) -> Option<Candidate> {
        let lacks = self.lacks.get(&parent.born)?;
        let of_shape = lacks.statements.iter();
        let (lack, met) = of_shape
            .filter(|lack| *lack.asked.shape == *shape)
            .flat_map(|lack| lack.asked.rules.iter().map(move |met| (lack, met)))
            .find(|(_, met)| met.distance > 0.0 && *met.rule.label == *label)?;
        let mut child = parent.clone();
        let none = Planted::default();
        let planted = lacks.planted.as_deref().unwrap_or(&none);
        self.bring(rng, &mut child, lack, &met.rule.query, planted)
            .then_some(child)
    }

    /// Adds rows that a statement, or one of its coverage rules, should find; false when there are none to add.
    fn bring(
        &self,
        rng: &mut Rng,
        candidate: &mut Candidate,
        lack: &Lack,
        query: &Query,
        planted: &Planted,
    ) -> bool {
        let own = stored(&candidate.rows, &planted.rows);
        let made = rng.usize(..20);
        let built = self.ground.build(query, &own, made).or_else(|| {
            // As the paper does: any rows of a table that was read, and what the search makes of them.
            let tables = query.tables();
            let table = *tables.get(rng.usize(..tables.len().max(1)))?;
            let mut built = Vec::new();
            for _ in 0..rng.usize(1..=AT_A_TIME) {
                let mut there = own.clone();
                there.extend(built.iter().cloned());
                built.extend(self.ground.any_row(table, &there, rng.usize(..200))?);
            }
            Some(built)
        });
        let Some(built) = built
            .filter(|built| !built.is_empty() && candidate.rows.len() + built.len() <= MOST_ROWS)
        else {
            return false;
        };
        let inputs = &lack.inputs;
        let ties = LinkContext {
            rows: &candidate.rows,
            inserted: &planted.rows,
            constants: &lack.asked.constants,
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
            let new = &mut candidate.rows[first..];
            self.ground.mutate(new, &self.hints, &is_tied, rng);
        }
        for tied in tied {
            let reference = Reference {
                source: tied.row,
                place: place(tied.column).into(),
            };
            for (pointer, _) in inputs.iter().filter(|(_, text)| *text == tied.constant) {
                if let Some(gene) = gene_of(candidate, lack.step) {
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
