//! The predicate of a requirement over one new row and the existing rows.

use isobath_sql::eval::{self, EvalError};
use isobath_sql::memory::{MemoryDatabase, compared_as};
use isobath_sql::{DataType, Dialect, Expr, Value};

/// A condition on one new row of a table, in the light of the rows already there.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    /// All of these; none is true.
    And(Vec<Predicate>),
    /// One of these; none is false.
    Or(Vec<Predicate>),
    /// A column is NULL, or is not.
    Null {
        /// The column.
        column: usize,
        /// Whether it is to be NULL.
        is_null: bool,
    },
    /// An expression has a verdict.
    Expr {
        /// The expression.
        expr: Expr,
        /// The verdict.
        wanted: RequiredTruth,
    },
    /// The row agrees with, or differs from, rows of a table.
    Match(RowMatch),
    /// The row repeats, or does not repeat, the key of a row there under a unique constraint that pairs
    /// of columns cannot express: an index over expressions or part of the rows, or NULLs not distinct.
    Duplicate {
        /// The constraint (index in the table).
        constraint: usize,
        /// Whether it is to be a duplicate.
        duplicate: bool,
    },
    /// A value as given fits a type, or does not.
    Fits {
        /// The column.
        column: usize,
        /// The type.
        data_type: DataType,
        /// Whether it is to fit.
        fits: bool,
    },
}

/// The verdict wanted of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequiredTruth {
    /// True.
    True,
    /// False.
    False,
    /// Unknown.
    Unknown,
    /// True or unknown: what a CHECK accepts.
    NotFalse,
}

/// A comparison of the new row with the rows of a table.
///
/// Equality needs one witness among the rows; difference must hold against all
/// of them. With both, one row must agree in `equal` and differ in `differ`,
/// and no row may agree in all of them. NULL on either side of a pair
/// satisfies the pair, whichever is asked; requirements that care say so with
/// [`Predicate::Null`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowMatch {
    /// The table compared with.
    pub with: usize,
    /// Pairs (own column, other column) that are to be equal.
    pub equal: Vec<(usize, usize)>,
    /// Pairs that are to differ.
    pub differ: Vec<(usize, usize)>,
    /// Whether all pairs of a part must comply, or any.
    pub mode: MatchMode,
}

/// How the pairs of one part of a [`RowMatch`] are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchMode {
    /// All must comply.
    All,
    /// One is enough.
    Any,
}

impl Predicate {
    /// Conjunction, flattened: nested conjunctions are merged, duplicates dropped, a single part is itself.
    pub fn and(parts: impl IntoIterator<Item = Predicate>) -> Self {
        let inner = |part| match part {
            Self::And(inner) => inner,
            other => vec![other],
        };
        flat(parts.into_iter().flat_map(inner), Self::And)
    }

    /// Disjunction, flattened likewise.
    pub fn or(parts: impl IntoIterator<Item = Predicate>) -> Self {
        let inner = |part| match part {
            Self::Or(inner) => inner,
            other => vec![other],
        };
        flat(parts.into_iter().flat_map(inner), Self::Or)
    }

    /// `column IS NULL`.
    pub fn null(column: usize) -> Self {
        Self::Null {
            column,
            is_null: true,
        }
    }

    /// `column IS NOT NULL`.
    pub fn not_null(column: usize) -> Self {
        Self::Null {
            column,
            is_null: false,
        }
    }

    /// The same condition irrespective of the order of its parts.
    pub fn same_as(&self, other: &Self) -> bool {
        let same_set = |a: &[Predicate], b: &[Predicate]| {
            a.len() == b.len() && a.iter().all(|x| b.iter().any(|y| x.same_as(y)))
        };
        match (self, other) {
            (Self::And(a), Self::And(b)) | (Self::Or(a), Self::Or(b)) => same_set(a, b),
            (a, b) => a == b,
        }
    }

    /// Whether the condition holds for `row` as a new row of `table`.
    ///
    /// `row` holds values as the database stores them.
    ///
    /// # Errors
    ///
    /// When an expression in it cannot be evaluated.
    pub fn holds(
        &self,
        table: usize,
        row: &[Value],
        existing: &MemoryDatabase<'_>,
        dialect: &dyn Dialect,
    ) -> Result<bool, EvalError> {
        match self {
            Self::And(parts) => {
                for part in parts {
                    if !part.holds(table, row, existing, dialect)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Or(parts) => {
                for part in parts {
                    if part.holds(table, row, existing, dialect)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::Null { column, is_null } => Ok(row[*column].is_null() == *is_null),
            Self::Expr { expr, wanted } => {
                Ok(wanted.is(eval::truth(expr, row, dialect)?.verdict()))
            }
            Self::Match(wanted) => Ok(wanted.holds(table, row, existing, dialect)),
            Self::Duplicate {
                constraint,
                duplicate,
            } => Ok(existing.is_duplicate(table, *constraint, row)? == *duplicate),
            Self::Fits {
                column,
                data_type,
                fits,
            } => {
                let definition = &existing.schema().tables[table];
                let mut column_as = definition.columns[*column].clone();
                column_as.data_type = data_type.clone();
                let fit = row[*column].is_null()
                    || dialect
                        .store(&row[*column], &column_as, definition.strict)
                        .is_ok();
                Ok(fit == *fits)
            }
        }
    }
}

impl RequiredTruth {
    /// Whether a verdict is the one wanted.
    pub fn is(self, verdict: Option<bool>) -> bool {
        match self {
            Self::True => verdict == Some(true),
            Self::False => verdict == Some(false),
            Self::Unknown => verdict.is_none(),
            Self::NotFalse => verdict != Some(false),
        }
    }
}

impl RowMatch {
    fn holds(
        &self,
        table: usize,
        row: &[Value],
        existing: &MemoryDatabase<'_>,
        dialect: &dyn Dialect,
    ) -> bool {
        let own = (self.with == table && self.crosses()).then_some(row);
        let others = || {
            existing
                .rows(self.with)
                .iter()
                .map(Vec::as_slice)
                .chain(own)
        };
        if self.equal.is_empty() {
            return others().all(|other| self.differs(table, row, other, existing, dialect));
        }
        let mut witnessed = false;
        for other in others() {
            if self.agrees(table, row, other, existing, dialect) {
                if !self.differs(table, row, other, existing, dialect) {
                    return false;
                }
                witnessed = true;
            }
        }
        witnessed
    }

    /// Whether it relates different columns, as a foreign key to its own table does, so that the row
    /// may refer to itself; keys compare each column with itself.
    pub fn crosses(&self) -> bool {
        self.equal
            .iter()
            .chain(&self.differ)
            .any(|(own, theirs)| own != theirs)
    }

    fn agrees(
        &self,
        table: usize,
        row: &[Value],
        other: &[Value],
        existing: &MemoryDatabase<'_>,
        dialect: &dyn Dialect,
    ) -> bool {
        self.joined(&self.equal, |pair| {
            self.equals(pair, table, row, other, existing, dialect) != Some(false)
        })
    }

    fn differs(
        &self,
        table: usize,
        row: &[Value],
        other: &[Value],
        existing: &MemoryDatabase<'_>,
        dialect: &dyn Dialect,
    ) -> bool {
        self.joined(&self.differ, |pair| {
            self.equals(pair, table, row, other, existing, dialect) != Some(true)
        })
    }

    fn joined(&self, pairs: &[(usize, usize)], complies: impl Fn((usize, usize)) -> bool) -> bool {
        let mut verdicts = pairs.iter().map(|pair| complies(*pair));
        match self.mode {
            MatchMode::All => verdicts.all(|complies| complies),
            MatchMode::Any => pairs.is_empty() || verdicts.any(|complies| complies),
        }
    }

    /// Whether the two cells of a pair are the same; `None` when one of them is NULL.
    fn equals(
        &self,
        (own, theirs): (usize, usize),
        table: usize,
        row: &[Value],
        other: &[Value],
        existing: &MemoryDatabase<'_>,
        dialect: &dyn Dialect,
    ) -> Option<bool> {
        let (a, b) = (&row[own], &other[theirs]);
        let tables = &existing.schema().tables;
        let column = compared_as(
            &tables[table].columns[own],
            &tables[self.with].columns[theirs],
        );
        (!a.is_null() && !b.is_null()).then(|| dialect.duplicates(a, b, column))
    }
}

/// Each part once; a single one stands for itself.
fn flat(
    parts: impl Iterator<Item = Predicate>,
    join: impl FnOnce(Vec<Predicate>) -> Predicate,
) -> Predicate {
    let mut distinct: Vec<Predicate> = Vec::new();
    for part in parts {
        if !distinct.contains(&part) {
            distinct.push(part);
        }
    }
    if distinct.len() == 1 {
        distinct.remove(0)
    } else {
        join(distinct)
    }
}
