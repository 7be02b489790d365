//! The constraint problem: cells, and the constraints over them.

use std::borrow::Cow;

use isobath_sql::expr::CompareOp;
use isobath_sql::schema::{Column, Filled, Table};
use isobath_sql::{DataType, Dialect, Expr, Value};
use rust_decimal::Decimal;

use super::axis::Axis;
use crate::schema::predicate::{Predicate, RequiredTruth};

/// A set of reasons, one bit each; conflicts are unions of what narrowed the domains involved.
pub(super) type Reasons = u128;

/// Something that holds of the given rows only; other rows could change it.
pub(super) const SEED: Reasons = 1 << 127;
/// Something that we do not know to be necessary; a conflict with it proves nothing.
pub(super) const GUESS: Reasons = 1 << 126;
/// Bits of decisions by depth.
pub(super) const FIRST_DECISION: u32 = 96;
/// Bits of sources; the last one is shared by all that find no place.
pub(super) const LAST_SOURCE: u32 = 95;

/// Rows to be filled, and what is asked of them.
pub(super) struct CellProblem<'a> {
    pub(super) dialect: &'static dyn Dialect,
    pub(super) rows: Vec<RowPlan<'a>>,
    pub(super) cells: Vec<CellPlan<'a>>,
    /// Index of the row under test.
    pub(super) subject: usize,
    pub(super) constraints: Vec<(CellConstraint<'a>, Reasons)>,
    pub(super) sources: Vec<ReasonOrigin<'a>>,
    /// Cells (of the row under test) whose boundaries deserve tests of their own.
    pub(super) focus: Vec<usize>,
}

/// A row to be filled.
pub(super) struct RowPlan<'a> {
    pub(super) table: usize,
    pub(super) definition: &'a Table,
    /// Its first cell.
    pub(super) first: usize,
}

/// A cell to be filled.
pub(super) struct CellPlan<'a> {
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) definition: &'a Column,
    pub(super) strict: bool,
    pub(super) axis: Option<Axis>,
    /// All values that the type has, as stored, when they are few.
    pub(super) all: Option<Vec<Value>>,
    /// The bit that stands for its type.
    pub(super) type_why: Reasons,
    /// Its type is only advice.
    pub(super) flexible: bool,
    /// Only the database fills it, so that it cannot be chosen.
    pub(super) automatic: bool,
    /// NULL becomes a number, so that it is never NULL.
    pub(super) counts: bool,
}

/// Where a goal comes from, for proofs.
#[derive(Clone, Copy)]
pub(super) enum ReasonOrigin<'a> {
    /// A part of the predicate.
    Part(&'a Predicate),
    /// The type of a cell.
    Type(usize),
    /// A constraint of a table that every row there obeys.
    Constraint { table: usize, constraint: usize },
}

/// A condition over cells.
pub(super) enum CellConstraint<'a> {
    All(Vec<CellConstraint<'a>>),
    Any(Vec<CellConstraint<'a>>),
    Null {
        cell: usize,
        is_null: bool,
    },
    Same(usize, CellTerm<'a>),
    Differ(usize, CellTerm<'a>),
    Test(ExprConstraint<'a>),
    Misfit {
        cell: usize,
        data_type: &'a DataType,
    },
}

/// The other side of a comparison of cells.
#[derive(Clone, Copy)]
pub(super) enum CellTerm<'a> {
    Cell(usize),
    /// A value of a row already there; never NULL.
    There(&'a Value),
}

/// An expression with a verdict, and what it means for domains.
pub(super) struct ExprConstraint<'a> {
    pub(super) row: usize,
    /// What to evaluate; absent where the form only helps another test.
    pub(super) expr: Option<Cow<'a, Expr>>,
    pub(super) wanted: RequiredTruth,
    pub(super) cells: Vec<usize>,
    pub(super) form: DomainConstraint,
}

/// What a test means for domains.
#[derive(Clone, Debug)]
pub(super) enum DomainConstraint {
    /// The cell compares so with a point of its axis.
    Bound {
        cell: usize,
        op: CompareOp,
        point: Decimal,
    },
    /// `left op right + offset`.
    Order {
        left: usize,
        op: CompareOp,
        right: usize,
        offset: Decimal,
    },
    /// Equal to one of these; `exact` when nothing else is equal to them.
    OneOf {
        cell: usize,
        values: Vec<Value>,
        exact: bool,
    },
    /// Equal to none of these.
    NoneOf {
        cell: usize,
        values: Vec<Value>,
    },
    /// Two cells without an axis are equal, or are not.
    Equal {
        left: usize,
        right: usize,
    },
    Unequal {
        left: usize,
        right: usize,
    },
    /// Number of characters.
    Length {
        cell: usize,
        op: CompareOp,
        count: i64,
    },
    /// The text begins like this.
    Prefix {
        cell: usize,
        text: String,
    },
    /// The text matches the pattern of the test's LIKE.
    Pattern,
    /// Known only by evaluation.
    Opaque,
}

impl<'a> CellConstraint<'a> {
    pub(super) const TRUE: Self = Self::All(Vec::new());
    pub(super) const FALSE: Self = Self::Any(Vec::new());

    pub(super) fn is_true(&self) -> bool {
        matches!(self, Self::All(parts) if parts.is_empty())
    }

    pub(super) fn is_false(&self) -> bool {
        matches!(self, Self::Any(parts) if parts.is_empty())
    }

    pub(super) fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept: Vec<Self> = Vec::new();
        for part in parts {
            match part {
                part if part.is_false() => return Self::FALSE,
                Self::All(inner) => kept.extend(inner),
                part => kept.push(part),
            }
        }
        match kept.pop() {
            Some(only) if kept.is_empty() => only,
            Some(last) => {
                kept.push(last);
                Self::All(kept)
            }
            None => Self::TRUE,
        }
    }

    pub(super) fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept: Vec<Self> = Vec::new();
        for part in parts {
            match part {
                part if part.is_true() => return Self::TRUE,
                Self::Any(inner) => kept.extend(inner),
                part => kept.push(part),
            }
        }
        match kept.pop() {
            Some(only) if kept.is_empty() => only,
            Some(last) => {
                kept.push(last);
                Self::Any(kept)
            }
            None => Self::FALSE,
        }
    }

    /// How many tests it holds, `None` where it also asks for NULL or compares rows.
    pub(super) fn tests(&self) -> Option<u32> {
        match self {
            Self::Test(_) => Some(1),
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::tests).sum(),
            Self::Null { is_null: false, .. } => Some(0),
            Self::Null { is_null: true, .. }
            | Self::Same(..)
            | Self::Differ(..)
            | Self::Misfit { .. } => None,
        }
    }

    /// Which alternatives to try first: values rather than NULL, known rather than opaque.
    pub(super) fn cost(&self) -> u32 {
        match self {
            Self::Null { is_null: true, .. } => 50,
            Self::Null { is_null: false, .. } => 0,
            Self::Same(..) | Self::Differ(..) => 1,
            Self::Test(test) => match test.form {
                DomainConstraint::Opaque => 8,
                _ => 2,
            },
            Self::Misfit { .. } => 4,
            Self::All(parts) => parts.iter().map(Self::cost).sum(),
            Self::Any(parts) => parts.iter().map(Self::cost).min().unwrap_or(0),
        }
    }
}

impl<'a> CellProblem<'a> {
    pub(super) fn empty(dialect: &'static dyn Dialect) -> Self {
        Self {
            dialect,
            rows: Vec::new(),
            cells: Vec::new(),
            subject: 0,
            constraints: Vec::new(),
            sources: Vec::new(),
            focus: Vec::new(),
        }
    }

    /// The bit of a new source.
    pub(super) fn source(&mut self, source: ReasonOrigin<'a>) -> Reasons {
        self.sources.push(source);
        let index = u32::try_from(self.sources.len() - 1).unwrap_or(LAST_SOURCE);
        1 << index.min(LAST_SOURCE)
    }

    /// Adds a row of a table and returns its index.
    pub(super) fn add_row(&mut self, table: usize, definition: &'a Table) -> usize {
        let row = self.rows.len();
        let first = self.cells.len();
        let alias = self.dialect.rowid_alias(definition);
        let flexible = self.dialect.holds_any_type(definition);
        for (column, of) in definition.columns.iter().enumerate() {
            let is_alias = alias == Some(column);
            let counter = matches!(of.filled, Filled::Counter | Filled::CounterAlways);
            let flexible = flexible && !is_alias;
            let axis = Axis::of(of, flexible);
            let all = few_values(of, self.dialect, definition.strict);
            self.cells.push(CellPlan {
                row,
                column,
                definition: of,
                strict: definition.strict,
                axis,
                all,
                type_why: 0,
                flexible,
                automatic: matches!(of.filled, Filled::CounterAlways | Filled::Generated(_)),
                counts: is_alias || (counter && self.dialect.counts_on_null()),
            });
        }
        self.rows.push(RowPlan {
            table,
            definition,
            first,
        });
        row
    }

    /// Gives the types of all cells their bits; after the sources that read better in a proof.
    pub(super) fn name_types(&mut self) {
        for cell in 0..self.cells.len() {
            let plan = &self.cells[cell];
            let limited = plan.axis.is_some_and(|axis| axis.limited);
            let short = plan.definition.data_type.max_chars().is_some() && !plan.flexible;
            if plan.all.is_some() || limited || short || plan.counts {
                let why = self.source(ReasonOrigin::Type(cell));
                self.cells[cell].type_why = why;
            }
        }
    }

    pub(super) fn cell(&self, row: usize, column: usize) -> usize {
        self.rows[row].first + column
    }

    /// What a column stores for a value, `None` when it refuses it.
    pub(super) fn stored(&self, cell: usize, value: &Value) -> Option<Value> {
        let plan = &self.cells[cell];
        self.dialect.store(value, plan.definition, plan.strict).ok()
    }

    /// Whether two stored values are the same to a key over the cell's column.
    pub(super) fn same(&self, cell: usize, a: &Value, b: &Value) -> bool {
        self.dialect.duplicates(a, b, self.cells[cell].definition)
    }
}

/// The values of a type that has few, as stored, unless the column admits others as well.
fn few_values(column: &Column, dialect: &dyn Dialect, strict: bool) -> Option<Vec<Value>> {
    let (values, foreign) = match &column.data_type {
        DataType::Boolean => (vec![Value::Bool(true), Value::Bool(false)], Value::Int(2)),
        DataType::Enum { labels, .. } => (
            labels
                .iter()
                .map(|label| Value::text(label.as_str()))
                .collect(),
            Value::text("no such label, certainly"),
        ),
        _ => return None,
    };
    if dialect.store(&foreign, column, strict).is_ok() {
        return None;
    }
    let store = |value: &Value| dialect.store(value, column, strict).ok();
    values.iter().map(store).collect()
}
