//! The targets and where they come from.

use std::fmt;

/// Which rules make the targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum QueryCriterion {
    /// SQL full predicate coverage exactly as SQLFpc produces it, to compare with published results.
    Fpc,
    /// The same idea with its gaps closed.
    #[default]
    Extended,
}

/// How targets are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CoverageOptions {
    /// Whether comparisons of ordered values also get targets on, just below and just above the
    /// boundary. [`QueryCriterion::Fpc`] always has them, for numbers.
    pub boundaries: bool,
}

impl Default for CoverageOptions {
    fn default() -> Self {
        Self { boundaries: true }
    }
}

/// The situation of a target in words, and what follows from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Description {
    /// The situation.
    pub situation: String,
    /// The rest of the sentence, if there is one.
    pub consequence: String,
}

impl Description {
    /// The same in a part of the query, which the prefix names.
    pub(super) fn within(self, prefix: &str) -> Self {
        Self {
            situation: format!("{prefix}{}", self.situation),
            ..self
        }
    }
}

impl From<String> for Description {
    fn from(situation: String) -> Self {
        Self {
            situation,
            consequence: String::new(),
        }
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.situation, self.consequence)
    }
}

/// One thing worth covering.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CoverageTarget {
    /// A SELECT that returns a row when the situation occurs, in the query's dialect.
    pub sql: String,
    /// The rule that made it.
    pub rule: CoverageRule,
    /// The part of the query that it exercises.
    pub clause: Clause,
    /// The enclosing queries' places through which the clause is reached, outermost first.
    pub nesting: Vec<Nesting>,
    /// What the rows must show, for people.
    pub description: Description,
    /// For each parameter of `sql`, in order of appearance, which of the query's parameters it is,
    /// from 0. Repeated names and numbers share an index; every bare `?` or `%s` has its own.
    pub parameters: Vec<usize>,
}

impl CoverageTarget {
    /// A short label: nesting, clause and rule, as in the published data (`WT`, `JLN`, `SWWB`).
    pub fn label(&self) -> String {
        let mut label = String::new();
        for nesting in &self.nesting {
            label.push_str(nesting.as_str());
        }
        label.push_str(self.rule.prefix(self.clause.kind));
        label.push_str(self.rule.as_str());
        label
    }
}

/// The part of a query that a target exercises.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Clause {
    /// Which clause.
    pub kind: ClauseKind,
    /// The condition, join, expression or operator, as SQL.
    pub text: String,
    /// Where it stands in the query, as far as the parser knows.
    pub span: Option<Span>,
}

/// A stretch of text, lines and columns counted from one, the end included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First line.
    pub line: u64,
    /// First column.
    pub column: u64,
    /// Last line.
    pub end_line: u64,
    /// Last column.
    pub end_column: u64,
}

/// Which clause of a SELECT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClauseKind {
    /// The select list.
    Select,
    /// FROM and its joins.
    Join,
    /// The condition of a join.
    On,
    /// WHERE.
    Where,
    /// GROUP BY.
    GroupBy,
    /// HAVING.
    Having,
    /// ORDER BY.
    OrderBy,
    /// LIMIT, OFFSET or FETCH.
    Limit,
    /// UNION, INTERSECT or EXCEPT.
    SetOperation,
}

impl ClauseKind {
    /// The keyword, as people know it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Select => "SELECT",
            Self::Join => "JOIN",
            Self::On => "ON",
            Self::Where => "WHERE",
            Self::GroupBy => "GROUP BY",
            Self::Having => "HAVING",
            Self::OrderBy => "ORDER BY",
            Self::Limit => "LIMIT",
            Self::SetOperation => "set operation",
        }
    }
}

impl fmt::Display for ClauseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Through which place of the enclosing query a nested clause is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Nesting {
    /// A subquery in the select list.
    Select,
    /// A subquery in WHERE.
    Where,
    /// A subquery in HAVING.
    Having,
    /// A subquery in a join's condition.
    On,
    /// A derived table.
    From,
    /// A common table expression.
    With,
    /// A branch of a set operation.
    Branch,
}

impl Nesting {
    /// As labels spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Select => "SS",
            Self::Where => "SW",
            Self::Having => "SH",
            Self::On => "SO",
            Self::From => "SF",
            Self::With => "SC",
            Self::Branch => "SU",
        }
    }
}

/// The rule that made a target. `docs/query-coverage.md` has an example of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoverageRule {
    /// A condition is true and decides.
    True,
    /// A condition is false and decides.
    False,
    /// A column of a condition is NULL.
    Null,
    /// A comparison on, just below or just above its boundary.
    Boundary,
    /// A list is met by one particular item.
    Item,
    /// The wildcards of a pattern match nothing, or something.
    Wildcard,
    /// All joins find a partner.
    Joined,
    /// A row of the left side without a partner.
    LeftAlone,
    /// The same because its own join column is NULL.
    LeftAloneNull,
    /// A row of the right side without a partner.
    RightAlone,
    /// The same because its own join column is NULL.
    RightAloneNull,
    /// A branch of CASE is taken, or the first argument of IFNULL is there.
    Chosen,
    /// ELSE is taken, or the last argument of IFNULL is used.
    Otherwise,
    /// A group of more than one row.
    GroupRepeats,
    /// More than one group.
    GroupsDiffer,
    /// A group whose key is NULL.
    GroupNull,
    /// An aggregate over several values, one of them repeated.
    AggregateRepeats,
    /// An aggregate over several values and a NULL.
    AggregateNull,
    /// An aggregate over nothing but NULL.
    AggregateOnlyNull,
    /// An aggregate over no row at all.
    AggregateNothing,
    /// DISTINCT removes a row.
    DistinctRemoves,
    /// DISTINCT keeps two rows.
    DistinctKeeps,
    /// A row comes from the left branch only.
    SetLeft,
    /// A row comes from the right branch only.
    SetRight,
    /// A row comes from both branches.
    SetBoth,
    /// A window's partition of more than one row.
    PartitionRepeats,
    /// More than one partition.
    PartitionsDiffer,
    /// Two rows of a partition with equal order.
    PeersTie,
    /// Two rows of a partition with different order.
    PeersDiffer,
    /// Two rows with different sort keys.
    OrderDiffers,
    /// Two rows with equal sort keys.
    OrderTies,
    /// More rows than the limit.
    LimitCuts,
    /// Fewer rows than the limit.
    LimitLeaves,
}

impl CoverageRule {
    /// As labels spell it, without the clause.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "T",
            Self::False => "F",
            Self::Null => "N",
            Self::Boundary => "B",
            Self::Item => "I",
            Self::Wildcard => "P",
            Self::Joined => "JI",
            Self::LeftAlone => "JL",
            Self::LeftAloneNull => "JLN",
            Self::RightAlone => "JR",
            Self::RightAloneNull => "JRN",
            Self::Chosen => "CT",
            Self::Otherwise => "CF",
            Self::GroupRepeats => "G1",
            Self::GroupsDiffer => "G2",
            Self::GroupNull => "G3",
            Self::AggregateRepeats => "A1",
            Self::AggregateNull => "A2",
            Self::AggregateOnlyNull => "A3",
            Self::AggregateNothing => "A4",
            Self::DistinctRemoves => "D1",
            Self::DistinctKeeps => "D2",
            Self::SetLeft => "U1",
            Self::SetRight => "U2",
            Self::SetBoth => "U3",
            Self::PartitionRepeats => "V1",
            Self::PartitionsDiffer => "V2",
            Self::PeersTie => "V3",
            Self::PeersDiffer => "V4",
            Self::OrderDiffers => "O1",
            Self::OrderTies => "O2",
            Self::LimitCuts => "L1",
            Self::LimitLeaves => "L2",
        }
    }

    /// Rules of conditions are told apart by the clause of the condition.
    fn prefix(self, clause: ClauseKind) -> &'static str {
        match self {
            Self::True
            | Self::False
            | Self::Null
            | Self::Boundary
            | Self::Item
            | Self::Wildcard => match clause {
                ClauseKind::Where => "W",
                ClauseKind::Having => "H",
                ClauseKind::On => "J",
                _ => "C",
            },
            _ => "",
        }
    }
}
