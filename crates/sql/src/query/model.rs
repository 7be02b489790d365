//! Queries with their names resolved.
//!
//! Every SELECT works on one flat row: first the row of the enclosing query,
//! then a range of slots per relation of its FROM, then one slot per aggregate
//! and window function. A correlated column is thus an ordinary column with a
//! small slot, and nothing in the evaluator has to know about scopes.

use crate::expr::{CompareOp, Expr};
use crate::types::DataType;

/// A query: a body, and what is done with its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// What yields the rows.
    pub body: QueryBody,
    /// ORDER BY, over the result's own columns or the row that made them.
    pub order_by: Vec<OrderKey>,
    /// LIMIT.
    pub limit: Option<Expr>,
    /// OFFSET.
    pub offset: Option<Expr>,
}

impl Query {
    /// The tables of the schema that it reads, subqueries included, in order and each once.
    pub fn tables(&self) -> Vec<usize> {
        let mut tables = Vec::new();
        self.gather(&mut tables);
        tables.sort_unstable();
        tables.dedup();
        tables
    }

    fn gather(&self, tables: &mut Vec<usize>) {
        match &self.body {
            QueryBody::Select(select) => {
                if let Some(from) = &select.from {
                    from.gather(tables);
                }
                for subquery in &select.subqueries {
                    subquery.query.gather(tables);
                }
            }
            QueryBody::Set { left, right, .. } => {
                left.gather(tables);
                right.gather(tables);
            }
            QueryBody::Values(_) => {}
        }
    }
}

/// What yields rows.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryBody {
    /// SELECT.
    Select(Box<Select>),
    /// UNION, INTERSECT, EXCEPT.
    Set {
        /// Which.
        op: SetOp,
        /// ALL keeps duplicates.
        all: bool,
        /// The number by which the right operand reads the rows of the round before, where it does.
        recursive: Option<usize>,
        /// Left operand.
        left: Box<Query>,
        /// Right operand.
        right: Box<Query>,
    },
    /// VALUES.
    Values(Vec<Vec<Expr>>),
}

/// Set operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SetOp {
    /// UNION.
    Union,
    /// INTERSECT.
    Intersect,
    /// EXCEPT.
    Except,
}

/// One key of ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderKey {
    /// What is ordered by.
    pub by: OrderBy,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST or LAST, where the query says so.
    pub nulls_first: Option<bool>,
}

/// What an ORDER BY key refers to.
#[derive(Clone, Debug, PartialEq)]
pub enum OrderBy {
    /// A column of the result, counted from zero.
    Output(usize),
    /// An expression over the row.
    Expr(Expr),
}

/// A SELECT.
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// How many slots belong to enclosing queries.
    pub base: usize,
    /// How many slots its row has in all, the enclosing ones included.
    pub width: usize,
    /// The first slot behind its relations: there stand what aggregates and windows compute.
    pub computed: usize,
    /// FROM; `None` for a SELECT without tables.
    pub from: Option<From>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// GROUP BY and aggregates; `None` when there are neither.
    pub grouping: Option<Grouping>,
    /// HAVING.
    pub having: Option<Expr>,
    /// Window functions, computed after HAVING.
    pub windows: Vec<Window>,
    /// The select list.
    pub items: Vec<OutputColumn>,
    /// DISTINCT.
    pub distinct: bool,
    /// DISTINCT ON.
    pub distinct_on: Vec<Expr>,
    /// Subqueries in its expressions, by the number that `Expr::Subquery` names.
    pub subqueries: Vec<Subquery>,
    /// The slots that anything but a plain column of the select list reads, in order.
    pub read_slots: Vec<usize>,
    /// The slots that only plain columns of the select list read, in order.
    pub shows: Vec<usize>,
}

/// One column of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputColumn {
    /// Its name.
    pub name: String,
    /// Its value.
    pub expr: Expr,
    /// Its type, as far as it is known.
    pub data_type: Option<DataType>,
}

/// The FROM clause as a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum From {
    /// A table of the schema.
    Table {
        /// Index of the table in the schema.
        table: usize,
        /// The name it goes by in the query.
        alias: String,
        /// The first of its slots.
        slot: usize,
        /// How many columns it has.
        columns: usize,
    },
    /// A derived table or a common table expression.
    Derived {
        /// The query behind it.
        query: Box<Query>,
        /// LATERAL: it sees the relations before it.
        lateral: bool,
        /// The number of the recursive query whose last rows stand here; `query` is its first operand then.
        working: Option<usize>,
        /// The name it goes by in the query.
        alias: String,
        /// The first of its slots.
        slot: usize,
        /// How many columns it has.
        columns: usize,
    },
    /// A join.
    Join {
        /// Its kind.
        kind: JoinKind,
        /// Left side.
        left: Box<From>,
        /// Right side.
        right: Box<From>,
        /// ON, USING and NATURAL included; `None` for a cross join.
        on: Option<Expr>,
    },
}

impl From {
    fn gather(&self, tables: &mut Vec<usize>) {
        match self {
            Self::Table { table, .. } => tables.push(*table),
            Self::Derived { query, .. } => query.gather(tables),
            Self::Join { left, right, .. } => {
                left.gather(tables);
                right.gather(tables);
            }
        }
    }
}

/// Kinds of joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// INNER and CROSS.
    Inner,
    /// LEFT OUTER.
    Left,
    /// RIGHT OUTER.
    Right,
    /// FULL OUTER.
    Full,
}

/// GROUP BY with the aggregates of the query.
#[derive(Clone, Debug, PartialEq)]
pub struct Grouping {
    /// GROUP BY; empty means one group of all rows, also of none.
    pub keys: Vec<Expr>,
    /// ROLLUP, CUBE and GROUPING SETS; `None` groups by all keys at once.
    pub sets: Option<GroupingSets>,
    /// The aggregates, each with the slot that its result stands in.
    pub aggregates: Vec<(usize, Aggregate)>,
}

/// Several groupings of the same rows.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupingSets {
    /// The keys of each, by their place.
    pub sets: Vec<Vec<usize>>,
    /// Where the key of a group stands, which is NULL where the group is not made by it.
    pub slots: Vec<usize>,
}

/// An aggregate function call.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// Which function.
    pub function: AggregateFunction,
    /// Its argument; `None` is `COUNT(*)`.
    pub argument: Option<Expr>,
    /// DISTINCT.
    pub distinct: bool,
    /// FILTER (WHERE …).
    pub filter: Option<Expr>,
    /// ORDER BY inside the call.
    pub order_by: Vec<OrderKey>,
}

/// Aggregate functions.
#[derive(Clone, Debug, PartialEq)]
pub enum AggregateFunction {
    /// COUNT.
    Count,
    /// SUM.
    Sum,
    /// AVG.
    Avg,
    /// MIN.
    Min,
    /// MAX.
    Max,
    /// GROUP_CONCAT or STRING_AGG, with its separator.
    Concat(String),
    /// SQLite's TOTAL.
    Total,
    /// BOOL_AND and EVERY.
    BoolAnd,
    /// BOOL_OR.
    BoolOr,
}

/// A window function call; its result stands in `slot`.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Which function.
    pub function: WindowFunction,
    /// PARTITION BY.
    pub partition_by: Vec<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderKey>,
    /// Which rows of the partition count; `None` is up to the current row and its peers.
    pub frame: Option<WindowFrame>,
    /// Where the result goes.
    pub slot: usize,
}

/// The rows around the current one that a window function sees.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowFrame {
    /// What its bounds count.
    pub units: FrameUnits,
    /// Where it begins.
    pub start: FrameBound,
    /// Where it ends.
    pub end: FrameBound,
}

/// What the bounds of a frame count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameUnits {
    /// Rows.
    Rows,
    /// Peers; only the current row and the ends of the partition are evaluated.
    Range,
    /// Groups of peers.
    Groups,
}

/// One end of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameBound {
    /// So many before; all without a number.
    Preceding(Option<usize>),
    /// The current row.
    CurrentRow,
    /// So many after; all without a number.
    Following(Option<usize>),
}

/// Window functions.
#[derive(Clone, Debug, PartialEq)]
pub enum WindowFunction {
    /// ROW_NUMBER.
    RowNumber,
    /// RANK.
    Rank,
    /// DENSE_RANK.
    DenseRank,
    /// LAG (negative offset) or LEAD.
    Shift {
        /// What is taken from the other row.
        expr: Expr,
        /// How many rows ahead.
        offset: i64,
        /// What stands in when there is no such row.
        otherwise: Option<Expr>,
    },
    /// FIRST_VALUE.
    FirstValue(Expr),
    /// LAST_VALUE.
    LastValue(Expr),
    /// NTH_VALUE, with the place counted from one.
    NthValue(Expr, usize),
    /// NTILE, with the number of buckets.
    Ntile(usize),
    /// PERCENT_RANK.
    PercentRank,
    /// CUME_DIST.
    CumeDist,
    /// An aggregate over the frame.
    Aggregate(Aggregate),
}

/// A subquery in an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Subquery {
    /// How it is used.
    pub usage: SubqueryUsage,
    /// The query.
    pub query: Query,
    /// Whether it reads the enclosing row; one that does not is evaluated once.
    pub correlated: bool,
}

/// How a subquery is used.
#[derive(Clone, Debug, PartialEq)]
pub enum SubqueryUsage {
    /// EXISTS.
    Exists,
    /// `(SELECT …)` as a value.
    Scalar,
    /// `x op ANY (SELECT …)`; IN is `= ANY`.
    Any {
        /// Left operand.
        left: Expr,
        /// The comparison.
        op: CompareOp,
    },
    /// `x op ALL (SELECT …)`; NOT IN is `<> ALL`.
    All {
        /// Left operand.
        left: Expr,
        /// The comparison.
        op: CompareOp,
    },
}
