//! Values for cells: classes of equal cells, values to try, and a short search over what couples them.
//!
//! `trial_values` lists the values to try, `invert` finds some by calculating backwards, `regions` and `linear` say when they are all that matter, `difference_bounds`
//! finds circles of comparisons, `explain` puts a conflict into words.

mod difference_bounds;
mod explain;
mod invert;
mod linear;
mod regions;
mod text_regions;
mod trial_values;

use std::cell::Cell;

use isobath_sql::dialect::StoreError;
use isobath_sql::eval::{self, Env, EvalError};
use isobath_sql::expr::{ColumnRef, CompareOp};
use isobath_sql::{Column, DataType, Expr, Value};
use rust_decimal::prelude::ToPrimitive;

use super::fill::is_not_null;
use super::proof::Proof;
use super::state::{AtomicCondition, CellOwner, ConstructionState, RANK, TruthRequirement};
use super::values::{add, neighbors};

/// How many conditions over several classes are evaluated before giving up.
const MAX_CHECKS: u32 = 4_000;
/// How many values of a class are kept.
const MAX_OPTIONS: usize = 96;

/// The outcome of the cells.
pub(super) enum SolveResult {
    /// A value per cell.
    Values(Vec<Value>),
    /// No values exist, and why.
    Conflict(Proof),
    /// No values were found.
    Nothing,
}

/// A conflict that is there already, whatever else is decided.
///
/// What was looked at before, and is the same, has none.
pub(super) fn conflict(state: &mut ConstructionState<'_>) -> Option<Proof> {
    let known = (state.leaves.len(), state.merged.len());
    if state.without_conflict == known {
        return None;
    }
    let since = if state.without_conflict.1 == known.1 {
        state.without_conflict.0
    } else {
        0
    };
    state.without_conflict = known;
    match CellSolver::new(state).narrow(since) {
        Err(SolveResult::Conflict(why)) => Some(why),
        _ => None,
    }
}

/// Values that meet all leaves.
pub(super) fn solve(state: &ConstructionState<'_>) -> SolveResult {
    let mut picker = CellSolver::new(state);
    match picker.narrow(0) {
        Ok(()) => picker.assign(),
        Err(picked) => picked,
    }
}

/// A set of cells with one value, and what it can be.
#[derive(Default)]
struct CellClass {
    members: Vec<usize>,
    not_null: bool,
    /// Leaves over this class alone, and leaves over others too.
    own: Vec<usize>,
    coupled: Vec<usize>,
    /// Values that pass its own leaves: one per member.
    options: Vec<Vec<Value>>,
    /// Whether no other value could behave differently.
    exact: bool,
    /// Whether the values to try have a text of every region that the constants divide texts into by their order.
    orders_texts: Cell<bool>,
}

struct CellSolver<'p, 'a> {
    state: &'p ConstructionState<'a>,
    class_of: Vec<usize>,
    classes: Vec<CellClass>,
    /// Classes that leaves connect have one part, and its size.
    part_of: Vec<usize>,
    part_sizes: Vec<usize>,
    values: Vec<Value>,
    parameters: Vec<Value>,
    assigned: Vec<bool>,
    checks: u32,
}

impl<'p, 'a> CellSolver<'p, 'a> {
    fn new(state: &'p ConstructionState<'a>) -> Self {
        let mut parent: Vec<usize> = (0..state.cells.len()).collect();
        for (a, b) in &state.merged {
            union(&mut parent, *a, *b);
        }
        let mut not_null = vec![false; state.cells.len()];
        for leaf in &state.leaves {
            let Some((a, b)) = equality(state, leaf) else {
                continue;
            };
            not_null[a] = true;
            not_null[b] = true;
            if alike(state, a, b) {
                union(&mut parent, a, b);
            }
        }
        let mut class_of = vec![usize::MAX; state.cells.len()];
        let mut classes: Vec<CellClass> = Vec::new();
        for cell in 0..state.cells.len() {
            let root = find(&mut parent, cell);
            if class_of[root] == usize::MAX {
                class_of[root] = classes.len();
                classes.push(CellClass::default());
            }
            class_of[cell] = class_of[root];
            let class = &mut classes[class_of[cell]];
            class.members.push(cell);
            class.not_null |= not_null[cell];
            match state.cells[cell] {
                CellOwner::Column { table, column } => {
                    let table = &state.context.schema.tables[table];
                    class.not_null |= is_not_null(&state.context, table, column);
                }
                CellOwner::Rank => class.not_null = true,
                CellOwner::Parameter(_) => {}
            }
        }
        for (index, leaf) in state.leaves.iter().enumerate() {
            let mut over: Vec<usize> = leaf.cells.iter().map(|cell| class_of[*cell]).collect();
            over.sort_unstable();
            over.dedup();
            match over.as_slice() {
                [] => {}
                [only] => classes[*only].own.push(index),
                several => {
                    for class in several {
                        classes[*class].coupled.push(index);
                    }
                }
            }
        }
        let mut part_of: Vec<usize> = (0..classes.len()).collect();
        for leaf in &state.leaves {
            let mut over = leaf.cells.iter().map(|cell| class_of[*cell]);
            if let Some(first) = over.next() {
                over.for_each(|other| union(&mut part_of, first, other));
            }
        }
        let part_of: Vec<usize> = (0..classes.len())
            .map(|index| find(&mut part_of, index))
            .collect();
        let size = |index: &usize| part_of.iter().filter(|part| *part == index).count();
        let part_sizes = part_of.iter().map(size).collect();
        let parameters = state.parameters.keys().max().map_or(0, |most| most + 1);
        Self {
            state,
            class_of,
            classes,
            part_of,
            part_sizes,
            values: vec![Value::Null; state.cells.len()],
            parameters: vec![Value::Null; parameters],
            assigned: vec![false; state.cells.len()],
            checks: 0,
        }
    }

    /// A leaf that another one contradicts word for word, whatever its value.
    fn contradictory_leaf(&self) -> Option<&'p AtomicCondition> {
        let leaves = self.state.leaves.as_slice();
        leaves.iter().enumerate().find_map(|(index, leaf)| {
            let contradicts = |other: &AtomicCondition| {
                leaf.want.excludes(other.want)
                    && leaf.expr == other.expr
                    && is_deterministic(&leaf.expr)
            };
            leaves[..index].iter().any(contradicts).then_some(leaf)
        })
    }

    /// Asks every class's own leaves of every value to try, where leaves from this one on are among them.
    fn narrow(&mut self, since: usize) -> Result<(), SolveResult> {
        for leaf in self
            .state
            .leaves
            .iter()
            .filter(|leaf| leaf.cells.is_empty())
        {
            if self.is_satisfied(leaf) == Some(false) {
                return Err(SolveResult::Conflict(self.never(leaf)));
            }
        }
        if let Some(leaf) = self.contradictory_leaf() {
            return Err(SolveResult::Conflict(self.never(leaf)));
        }
        if let Some(circle) = self.contradictory_cycle() {
            return Err(SolveResult::Conflict(self.explain_part(&circle)));
        }
        let mut found_none = false;
        for index in 0..self.classes.len() {
            if since > 0 && self.classes[index].own.iter().all(|leaf| *leaf < since) {
                continue;
            }
            let (mut trial_values, mut exact) = self.trial_values(index);
            self.calculated(index, &mut trial_values);
            let mut options: Vec<Vec<Value>> = Vec::new();
            for value in &trial_values {
                let Some(stored) = self.stored(index, value) else {
                    continue;
                };
                self.assign_class(index, &stored);
                let leaves = self.state.leaves.as_slice();
                let own = std::mem::take(&mut self.classes[index].own);
                let passes = own.iter().all(|leaf| {
                    let met = self.is_satisfied(&leaves[*leaf]);
                    exact &= met.is_some();
                    met != Some(false)
                });
                self.classes[index].own = own;
                if passes && !options.contains(&stored) {
                    if options.len() == MAX_OPTIONS {
                        exact = false;
                        break;
                    }
                    options.push(stored);
                }
            }
            if options.is_empty() {
                if exact {
                    return Err(SolveResult::Conflict(self.explain(index)));
                }
                match self.local_search(index, &trial_values) {
                    Some(stored) => options.push(stored),
                    // Another class may be in conflict, which is more.
                    None => {
                        found_none = true;
                        continue;
                    }
                }
            }
            self.classes[index].options = options;
            self.classes[index].exact = exact;
        }
        if found_none {
            return Err(SolveResult::Nothing);
        }
        Ok(())
    }

    /// Depth-first search over the classes that leaves couple, one connected part after the other; all
    /// others take their first value.
    fn assign(&mut self) -> SolveResult {
        for index in 0..self.classes.len() {
            if self.classes[index].coupled.is_empty() {
                let stored = self.classes[index].options[0].clone();
                self.assign_class(index, &stored);
                self.mark(index, true);
            }
        }
        for mut part in self.parts() {
            part.sort_by_key(|index| self.classes[*index].options.len());
            self.checks = 0;
            if self.backtrack(&part) {
                continue;
            }
            let complete = self.checks <= MAX_CHECKS
                && part.iter().all(|index| self.classes[*index].exact)
                && part
                    .iter()
                    .flat_map(|index| &self.classes[*index].coupled)
                    .all(|leaf| self.is_decided(*leaf));
            return if complete {
                SolveResult::Conflict(self.explain_part(&part))
            } else {
                SolveResult::Nothing
            };
        }
        SolveResult::Values(std::mem::take(&mut self.values))
    }

    /// The classes that leaves couple, as connected parts.
    fn parts(&self) -> Vec<Vec<usize>> {
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); self.classes.len()];
        for index in 0..self.classes.len() {
            if !self.classes[index].coupled.is_empty() {
                parts[self.part_of[index]].push(index);
            }
        }
        parts.retain(|part| !part.is_empty());
        parts
    }

    fn backtrack(&mut self, order: &[usize]) -> bool {
        let Some((&index, rest)) = order.split_first() else {
            return true;
        };
        let mut options = self.derived(index);
        for option in self.classes[index].options.clone() {
            if !options.contains(&option) {
                options.push(option);
            }
        }
        for stored in options {
            self.assign_class(index, &stored);
            self.mark(index, true);
            if self.coupled_satisfied(index) && self.backtrack(rest) {
                return true;
            }
            if self.checks > MAX_CHECKS {
                break;
            }
        }
        self.mark(index, false);
        false
    }

    fn coupled_satisfied(&mut self, index: usize) -> bool {
        let coupled = std::mem::take(&mut self.classes[index].coupled);
        let leaves = self.state.leaves.as_slice();
        let met = coupled.iter().all(|leaf| {
            let leaf = &leaves[*leaf];
            if !leaf.cells.iter().all(|cell| self.assigned[*cell]) {
                return true;
            }
            self.checks += 1;
            self.is_satisfied(leaf) != Some(false)
        });
        self.classes[index].coupled = coupled;
        met
    }

    /// Values that comparisons with what is assigned already suggest, as far as they pass the class's own leaves.
    fn derived(&mut self, index: usize) -> Vec<Vec<Value>> {
        let mut trial_values = Vec::new();
        let leaves = self.state.leaves.as_slice();
        for number in self.classes[index].coupled.clone() {
            let Expr::Compare { left, right, .. } = &leaves[number].expr else {
                continue;
            };
            for (side, other) in [(left, right), (right, left)] {
                let known = |expr: &Expr, but: Option<usize>| {
                    let cells = self.cells_of(expr);
                    let mut cells = cells.iter();
                    cells.all(|cell| self.assigned[*cell] || Some(self.class_of[*cell]) == but)
                };
                let here = self
                    .cells_of(side)
                    .iter()
                    .any(|cell| self.class_of[*cell] == index);
                if !here || !known(other, None) || !known(side, Some(index)) {
                    continue;
                }
                let Ok(value) = eval::value_in(other, self.env(), self.state.context.dialect)
                else {
                    continue;
                };
                self.invert_towards(side, index, &value, &mut trial_values);
            }
        }
        let mut options = Vec::new();
        for value in trial_values {
            let Some(stored) = self.stored(index, &value) else {
                continue;
            };
            self.assign_class(index, &stored);
            if self.own_satisfied(index) {
                options.push(stored);
            }
        }
        options
    }

    /// Values with which an expression comes to a value or to one of its neighbours.
    fn invert_towards(
        &mut self,
        side: &Expr,
        index: usize,
        value: &Value,
        trial_values: &mut Vec<Value>,
    ) {
        if value.is_null() {
            return;
        }
        let mut wanted = vec![value.clone()];
        wanted.extend(neighbors(value, None));
        for value in wanted {
            if let Some(back) = self.inverted(side, index, &value) {
                add(trial_values, back);
            }
            add(trial_values, value);
        }
    }

    fn own_satisfied(&self, index: usize) -> bool {
        self.classes[index]
            .own
            .iter()
            .all(|leaf| self.is_satisfied(&self.state.leaves[*leaf]) != Some(false))
    }

    fn cells_of(&self, expr: &Expr) -> Vec<usize> {
        let mut cells = expr.columns();
        expr.walk(&mut |part| {
            if let Expr::Parameter(number) = part {
                cells.extend(self.state.parameters.get(number));
            }
        });
        cells
    }

    /// Whether a leaf is as wanted on the values at hand; `None` when we cannot tell.
    fn is_satisfied(&self, leaf: &AtomicCondition) -> Option<bool> {
        match eval::truth_in(&leaf.expr, self.env(), self.state.context.dialect) {
            Ok(truth) => Some(leaf.want.met_by(truth.verdict())),
            Err(EvalError::Raised(_)) => Some(false),
            Err(EvalError::Unsupported(_)) => None,
        }
    }

    fn env(&self) -> Env<'_> {
        let mut env = Env::queried(&self.values, &self.parameters);
        env.now = Some(self.state.context.now);
        env
    }

    fn assign_class(&mut self, index: usize, stored: &[Value]) {
        for (member, value) in self.classes[index].members.iter().zip(stored) {
            self.values[*member] = value.clone();
            if let CellOwner::Parameter(number) = self.state.cells[*member] {
                self.parameters[number] = value.clone();
            }
        }
    }

    fn mark(&mut self, index: usize, assigned: bool) {
        for member in &self.classes[index].members {
            self.assigned[*member] = assigned;
        }
    }

    /// A value as each member stores it.
    fn stored(&self, index: usize, value: &Value) -> Option<Vec<Value>> {
        let context = &self.state.context;
        self.classes[index]
            .members
            .iter()
            .map(|member| match self.state.cells[*member] {
                _ if value.is_null() => Some(Value::Null),
                CellOwner::Parameter(_) => Some(bindable(value)),
                CellOwner::Rank => match bindable(value) {
                    whole @ Value::Int(_) => Some(whole),
                    _ => None,
                },
                CellOwner::Column { table, column } => {
                    let definition = &context.schema.tables[table];
                    match context.dialect.store_in(value, definition, column) {
                        Ok(stored) => Some(stored),
                        Err(StoreError::TooLong { .. }) if !context.constraints => {
                            Some(value.clone())
                        }
                        Err(_) => None,
                    }
                }
            })
            .collect()
    }

    /// The columns whose cells a class holds.
    fn columns(&self, index: usize) -> impl Iterator<Item = &'a Column> + '_ {
        self.classes[index]
            .members
            .iter()
            .filter_map(|member| match self.state.cells[*member] {
                CellOwner::Column { table, column } => {
                    Some(&self.state.context.schema.tables[table].columns[column])
                }
                CellOwner::Parameter(_) | CellOwner::Rank => None,
            })
    }

    fn data_type(&self, index: usize) -> Option<&'a DataType> {
        let of_column = self.columns(index).next().map(|column| &column.data_type);
        let counts = |member: &usize| matches!(self.state.cells[*member], CellOwner::Rank);
        let counts = self.classes[index].members.iter().any(counts);
        of_column.or(counts.then_some(&RANK))
    }

    /// The type of a class of parameters: that of the first column that one is compared with.
    fn compared_type(&self, index: usize) -> Option<&DataType> {
        let leaves = self.classes[index].coupled.iter();
        leaves
            .flat_map(|leaf| compared_columns(&self.state.leaves[*leaf].expr))
            .find(|column| self.class_of[column.slot] != index)
            .map(|column| &column.data_type)
    }
}

/// Whether an expression has the same value wherever it stands.
fn is_deterministic(expr: &Expr) -> bool {
    let mut known = true;
    expr.walk(&mut |part| {
        known &= match part {
            Expr::Function { name, .. } => !matches!(
                name.as_str(),
                "rand"
                    | "random"
                    | "uuid"
                    | "gen_random_uuid"
                    | "nextval"
                    | "clock_timestamp"
                    | "sysdate"
            ),
            Expr::Opaque { .. } | Expr::Subquery(_) => false,
            _ => true,
        };
    });
    known
}

/// A value as a parameter takes it: beside whole numbers, some engines take only whole numbers.
fn bindable(value: &Value) -> Value {
    match value {
        Value::Decimal(number) if number.fract().is_zero() => {
            number.to_i128().map_or_else(|| value.clone(), Value::Int)
        }
        other => other.clone(),
    }
}

/// The columns that an expression compares with something, in order.
fn compared_columns(expr: &Expr) -> Vec<&ColumnRef> {
    let operands: Vec<&Expr> = match expr {
        Expr::Compare { .. }
        | Expr::IsDistinct { .. }
        | Expr::InList { .. }
        | Expr::Between { .. }
        | Expr::Like { .. } => expr.children(),
        _ => Vec::new(),
    };
    let mut columns: Vec<&ColumnRef> = Vec::new();
    for operand in operands {
        // A function's value may be of another type than its arguments, sums are not.
        let mut operand = operand;
        while let Expr::Binary { left, .. } = operand {
            operand = left;
        }
        if let Expr::Column(column) = operand {
            columns.push(column);
        }
    }
    columns
}

/// The cells of `a = b` where it must be true.
pub(super) fn equality(
    state: &ConstructionState<'_>,
    leaf: &AtomicCondition,
) -> Option<(usize, usize)> {
    let (
        TruthRequirement::True,
        Expr::Compare {
            op: CompareOp::Equal,
            left,
            right,
        },
    ) = (leaf.want, &leaf.expr)
    else {
        return None;
    };
    let cell = |expr: &Expr| match expr {
        Expr::Column(column) => Some(column.slot),
        Expr::Parameter(number) => state.parameters.get(number).copied(),
        _ => None,
    };
    Some((cell(left)?, cell(right)?))
}

/// Whether equal cells can simply hold the same value.
fn alike(state: &ConstructionState<'_>, a: usize, b: usize) -> bool {
    let data_type = |cell: usize| match state.cells[cell] {
        CellOwner::Column { table, column } => {
            Some(&state.context.schema.tables[table].columns[column].data_type)
        }
        CellOwner::Parameter(_) => None,
        CellOwner::Rank => Some(&RANK),
    };
    match (data_type(a), data_type(b)) {
        (Some(a), Some(b)) => {
            (a.is_text() && b.is_text())
                || (a.is_numeric() && b.is_numeric())
                || std::mem::discriminant(a) == std::mem::discriminant(b)
        }
        _ => true,
    }
}

pub(super) fn find(parent: &mut [usize], of: usize) -> usize {
    let mut root = of;
    while parent[root] != root {
        root = parent[root];
    }
    parent[of] = root;
    root
}

pub(super) fn union(parent: &mut [usize], a: usize, b: usize) {
    let (a, b) = (find(parent, a), find(parent, b));
    // The smaller one stays the root, so that classes come in the order of their cells.
    parent[a.max(b)] = a.min(b);
}
