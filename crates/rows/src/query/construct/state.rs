//! Solver state: planned rows, their cells, and the conditions on them.

use std::collections::BTreeMap;
use std::rc::Rc;

use isobath_sql::expr::{ColumnRef, CompareOp};
use isobath_sql::query::model::{Query, Select, Subquery};
use isobath_sql::{DataType, Expr};

use super::SolverContext;

/// The verdict that is wanted of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TruthRequirement {
    True,
    False,
    NotTrue,
    NotFalse,
}

impl TruthRequirement {
    /// What NOT asks of its operand.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::NotTrue => Self::NotFalse,
            Self::NotFalse => Self::NotTrue,
        }
    }

    /// Whether no verdict is both this and the other.
    pub(super) fn excludes(self, other: Self) -> bool {
        [Some(true), Some(false), None]
            .iter()
            .all(|verdict| !(self.met_by(*verdict) && other.met_by(*verdict)))
    }

    pub(super) fn met_by(self, verdict: Option<bool>) -> bool {
        match self {
            Self::True => verdict == Some(true),
            Self::False => verdict == Some(false),
            Self::NotTrue => verdict != Some(true),
            Self::NotFalse => verdict != Some(false),
        }
    }
}

/// What a slot of a query's row stands for.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    /// A column of a row.
    Column { row: usize, column: usize },
    /// Anything else, over cells: NULL for a missing side, an item of a derived table, an aggregate.
    Expr(Expr),
}

/// What the slots of a query's row stand for.
pub(super) type Env = Rc<Vec<Binding>>;

/// What stands for a value that is not modelled: conditions on it are left out, and prove nothing.
pub(super) fn free() -> Expr {
    Expr::Opaque {
        sql: String::new(),
        columns: Vec::new(),
    }
}

/// Whether a condition reads a value that is not spoken of.
pub(super) fn is_free(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| {
        found |= matches!(part, Expr::Opaque { sql, .. } if sql.is_empty());
    });
    found
}

/// What a returned row must be like.
#[derive(Clone, Debug)]
pub(super) enum ReturnedRow {
    /// Its first column compares so with a value.
    First(CompareOp, Expr),
    /// It is the same row.
    Row(Vec<Expr>),
}

/// What a returned row must not be like.
#[derive(Clone, Debug)]
pub(super) enum ForbiddenRow {
    /// Its first column compares with a value in another way than this.
    First(CompareOp, Expr, TruthRequirement),
    /// It is the same row.
    Row(Vec<Expr>),
}

/// Something to be achieved.
#[derive(Clone)]
pub(super) enum Obligation<'a> {
    /// A condition over cells.
    Holds {
        expr: Expr,
        want: TruthRequirement,
        origin: ConditionOrigin,
    },
    /// Any of these.
    Any(Vec<Obligation<'a>>),
    /// All of these.
    All(Vec<Obligation<'a>>),
    /// A query returns a row, whose first column compares so with a value.
    Returns {
        query: &'a Query,
        env: Env,
        with: Option<ReturnedRow>,
    },
    /// A SELECT without groups, its outer joins decided, returns a row.
    Joined {
        select: &'a Select,
        env: Env,
        missing: u64,
        with: Option<ReturnedRow>,
    },
    /// A SELECT with groups returns a row, in this manner.
    Grouped {
        select: &'a Select,
        env: Env,
        missing: u64,
        plan: super::plan::GroupPlan,
        with: Option<ReturnedRow>,
    },
    /// A scalar subquery stands in a condition: it yields a row, and the condition holds.
    Scalar {
        expr: Expr,
        want: TruthRequirement,
        number: usize,
    },
    /// The same, where what it needs to have a value is known to be possible.
    ScalarValue {
        expr: Expr,
        want: TruthRequirement,
        number: usize,
    },
    /// No rows that are there in the end make FROM and WHERE let a row through that compares so.
    Avoids {
        select: &'a Select,
        env: Env,
        /// What must not happen.
        with: Option<ForbiddenRow>,
        /// The rows before this one have been looked at.
        known: usize,
    },
    /// No row of the missing side that is there in the end meets this ON.
    Unmatched {
        select: &'a Select,
        env: Env,
        on: &'a Expr,
        /// Table and slots of the missing relation.
        table: usize,
        slot: usize,
        columns: usize,
        /// Whether the missing side is more than this relation, so that the condition is stricter than need be.
        stricter: bool,
        /// The rows before this one have been looked at.
        known: usize,
    },
    /// Rows of one table are one row, or differ in a key.
    Apart { a: usize, b: usize },
    /// Two rows are one.
    Same { a: usize, b: usize },
    /// The rows of at least one of these pairs are not one.
    Differ { pairs: Vec<(usize, usize)> },
    /// A row has what its foreign key of this number asks for.
    Parent { row: usize, key: usize },
    /// A foreign key refers to this row, or to a further one.
    Refers {
        row: usize,
        key: usize,
        parent: Option<usize>,
    },
}

/// A condition that is not taken apart any more.
#[derive(Clone, Debug)]
pub(super) struct AtomicCondition {
    pub(super) expr: Expr,
    pub(super) want: TruthRequirement,
    /// The cells that it reads.
    pub(super) cells: Vec<usize>,
    pub(super) origin: ConditionOrigin,
}

/// Who asks for a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConditionOrigin {
    Query,
    Key,
    Check,
    ForeignKey,
}

/// A row to be made.
#[derive(Clone, Debug)]
pub(super) struct RowPlan {
    pub(super) table: usize,
    /// Its cells that matter, by column.
    pub(super) cells: BTreeMap<usize, usize>,
    /// The row that it turned out to be.
    pub(super) is: Option<usize>,
}

/// What a cell is a cell of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellOwner {
    Column {
        table: usize,
        column: usize,
    },
    Parameter(usize),
    /// What ROW_NUMBER and similar functions count: a whole number from one on.
    Rank,
}

/// The type of [`CellOwner::Rank`].
pub(super) const RANK: DataType = DataType::Integer {
    bits: 64,
    unsigned: false,
};

/// Everything decided so far; cloned at a choice.
#[derive(Clone)]
pub(super) struct ConstructionState<'a> {
    pub(super) context: SolverContext<'a>,
    pub(super) rows: Vec<RowPlan>,
    pub(super) cells: Vec<CellOwner>,
    pub(super) parameters: BTreeMap<usize, usize>,
    pub(super) leaves: Vec<AtomicCondition>,
    /// Cells that are one cell because their rows are.
    pub(super) merged: Vec<(usize, usize)>,
    pub(super) subqueries: Vec<(&'a Subquery, Env)>,
    /// To be done, the next one last.
    pub(super) pending: Vec<Obligation<'a>>,
    /// Conditions on all rows, asked again when there are more.
    pub(super) later: Vec<Obligation<'a>>,
    /// Whether rows of one table have been told apart.
    pub(super) keys_done: bool,
    /// Foreign keys that have been looked at, by row.
    pub(super) parents_done: Vec<(usize, usize)>,
    /// Tables that the query reads.
    pub(super) read: Vec<usize>,
    /// Rows that must not be made one.
    pub(super) several: Vec<(usize, usize)>,
    /// Whether something was left out or asked for in excess, so that a conflict proves nothing.
    pub(super) guess: bool,
    /// How many candidates were built before.
    pub(super) made: usize,
    /// So many leaves and merged cells have no conflict that shows in a single class.
    pub(super) without_conflict: (usize, usize),
}

impl<'a> ConstructionState<'a> {
    pub(super) fn new(context: SolverContext<'a>, made: usize) -> Self {
        Self {
            context,
            made,
            rows: Vec::new(),
            cells: Vec::new(),
            parameters: BTreeMap::new(),
            leaves: Vec::new(),
            merged: Vec::new(),
            subqueries: Vec::new(),
            pending: Vec::new(),
            later: Vec::new(),
            keys_done: false,
            parents_done: Vec::new(),
            read: Vec::new(),
            several: Vec::new(),
            guess: false,
            without_conflict: (0, 0),
        }
    }

    pub(super) fn add_row(&mut self, table: usize) -> usize {
        self.rows.push(RowPlan {
            table,
            cells: BTreeMap::new(),
            is: None,
        });
        self.rows.len() - 1
    }

    /// The row that a row turned out to be.
    pub(super) fn real(&self, mut row: usize) -> usize {
        while let Some(other) = self.rows[row].is {
            row = other;
        }
        row
    }

    pub(super) fn cell(&mut self, row: usize, column: usize) -> usize {
        let row = self.real(row);
        if let Some(cell) = self.rows[row].cells.get(&column) {
            return *cell;
        }
        let table = self.rows[row].table;
        self.cells.push(CellOwner::Column { table, column });
        let cell = self.cells.len() - 1;
        self.rows[row].cells.insert(column, cell);
        cell
    }

    fn parameter(&mut self, number: usize) -> usize {
        if let Some(cell) = self.parameters.get(&number) {
            return *cell;
        }
        self.cells.push(CellOwner::Parameter(number));
        let cell = self.cells.len() - 1;
        self.parameters.insert(number, cell);
        cell
    }

    /// A number of which only its least value is known; it is asked for at once.
    pub(super) fn rank(&mut self) -> Expr {
        self.cells.push(CellOwner::Rank);
        let rank = Expr::Column(ColumnRef {
            slot: self.cells.len() - 1,
            name: "rank".to_owned(),
            data_type: RANK,
            collation: None,
        });
        self.pending.push(Obligation::Holds {
            expr: Expr::Compare {
                op: CompareOp::GreaterOrEqual,
                left: Box::new(rank.clone()),
                right: Box::new(Expr::int(1)),
            },
            want: TruthRequirement::True,
            origin: ConditionOrigin::Query,
        });
        rank
    }

    pub(super) fn column_expr(&mut self, row: usize, column: usize) -> Expr {
        let cell = self.cell(row, column);
        let table = self.rows[self.real(row)].table;
        let definition = &self.context.schema.tables[table].columns[column];
        Expr::Column(ColumnRef {
            slot: cell,
            name: definition.name.clone(),
            data_type: definition.data_type.clone(),
            collation: definition.collation.clone(),
        })
    }

    /// An expression of a SELECT, over cells.
    pub(super) fn over_cells(&mut self, expr: &Expr, env: &Env, select: &'a Select) -> Expr {
        let mut expr = expr.clone();
        self.rewrite(&mut expr, env, select);
        expr
    }

    fn rewrite(&mut self, expr: &mut Expr, env: &Env, select: &'a Select) {
        match expr {
            Expr::Column(column) => match env.get(column.slot) {
                Some(Binding::Column {
                    row,
                    column: column_index,
                }) => column.slot = self.cell(*row, *column_index),
                Some(Binding::Expr(bound)) => *expr = bound.clone(),
                None => *expr = free(),
            },
            Expr::Subquery(number) => {
                self.subqueries
                    .push((&select.subqueries[*number], Rc::clone(env)));
                *number = self.subqueries.len() - 1;
            }
            Expr::Parameter(number) => {
                self.parameter(*number);
            }
            // Its columns are those of the query's row, which means nothing among cells.
            Expr::Opaque { .. } => *expr = free(),
            _ => {
                for child in expr.children_mut() {
                    self.rewrite(child, env, select);
                }
            }
        }
    }

    /// Adds a condition that is not taken apart.
    pub(super) fn add_leaf(&mut self, expr: Expr, want: TruthRequirement, origin: ConditionOrigin) {
        let mut cells = expr.columns();
        expr.walk(&mut |part| {
            if let Expr::Parameter(number) = part
                && let Some(cell) = self.parameters.get(number)
                && !cells.contains(cell)
            {
                cells.push(*cell);
            }
        });
        self.leaves.push(AtomicCondition {
            expr,
            want,
            cells,
            origin,
        });
    }

    /// The rows of a table, each once.
    pub(super) fn rows_of(&self, table: usize) -> Vec<usize> {
        (0..self.rows.len())
            .filter(|row| self.rows[*row].table == table && self.rows[*row].is.is_none())
            .collect()
    }

    /// All rows, each once.
    pub(super) fn rows_of_all(&self) -> Vec<usize> {
        (0..self.rows.len())
            .filter(|row| self.rows[*row].is.is_none())
            .collect()
    }

    /// A condition on all rows that has not seen all of them yet.
    pub(super) fn next_later(&mut self) -> Option<Obligation<'a>> {
        let count = self.rows.len();
        for obligation in &mut self.later {
            let (Obligation::Avoids { known, .. } | Obligation::Unmatched { known, .. }) =
                obligation
            else {
                continue;
            };
            if *known < count || count == 0 && *known == 0 {
                let next = Some(obligation.clone());
                if let Obligation::Avoids { known, .. } | Obligation::Unmatched { known, .. } =
                    obligation
                {
                    *known = count.max(1);
                }
                return next;
            }
        }
        None
    }

    /// Whether two rows must not be made one.
    pub(super) fn must_differ(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.real(a), self.real(b));
        self.several.iter().any(|(c, d)| {
            let (c, d) = (self.real(*c), self.real(*d));
            (a, b) == (c, d) || (a, b) == (d, c)
        })
    }

    /// Makes row `b` the row `a`.
    pub(super) fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.real(a), self.real(b));
        if a == b {
            return;
        }
        let cells = std::mem::take(&mut self.rows[b].cells);
        for (column, cell) in cells {
            match self.rows[a].cells.get(&column) {
                Some(other) => self.merged.push((*other, cell)),
                None => {
                    self.rows[a].cells.insert(column, cell);
                }
            }
        }
        self.rows[b].is = Some(a);
    }
}
