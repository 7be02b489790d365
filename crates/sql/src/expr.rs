//! Expressions with their names resolved: what CHECKs, defaults and queries are made of.

use crate::types::DataType;
use crate::value::Value;

/// An expression over a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A constant.
    Literal(Value),
    /// A column of the row at hand.
    Column(ColumnRef),
    /// A parameter of a statement, counted from zero.
    Parameter(usize),
    /// A subquery, by its number in the SELECT that the expression belongs to.
    Subquery(usize),
    /// `-x` or `+x` or `~x`.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its operand.
        expr: Box<Expr>,
    },
    /// Arithmetic, concatenation and bit operations.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `= <> < <= > >=`.
    Compare {
        /// The operator.
        op: CompareOp,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// Conjunction of two or more.
    And(Vec<Expr>),
    /// Disjunction of two or more.
    Or(Vec<Expr>),
    /// Negation.
    Not(Box<Expr>),
    /// `IS [NOT] NULL`.
    IsNull {
        /// What is tested.
        expr: Box<Expr>,
        /// `IS NOT NULL`.
        negated: bool,
    },
    /// `IS [NOT] TRUE / FALSE / UNKNOWN`.
    IsTruth {
        /// What is tested.
        expr: Box<Expr>,
        /// The verdict asked for; `None` is UNKNOWN.
        verdict: Option<bool>,
        /// `IS NOT …`.
        negated: bool,
    },
    /// `IS [NOT] DISTINCT FROM`, MySQL's `<=>`, SQLite's `IS`.
    IsDistinct {
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
        /// `IS NOT DISTINCT FROM`.
        negated: bool,
    },
    /// `[NOT] BETWEEN [SYMMETRIC]`.
    Between {
        /// What is tested.
        expr: Box<Expr>,
        /// Lower bound.
        low: Box<Expr>,
        /// Upper bound.
        high: Box<Expr>,
        /// `NOT BETWEEN`.
        negated: bool,
        /// Bounds in either order.
        symmetric: bool,
    },
    /// `[NOT] IN (…)`.
    InList {
        /// What is tested.
        expr: Box<Expr>,
        /// The list.
        list: Vec<Expr>,
        /// `NOT IN`.
        negated: bool,
    },
    /// `[NOT] LIKE` and similar operators.
    Like {
        /// What is tested.
        expr: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// ESCAPE.
        escape: Option<char>,
        /// Which language the pattern is in.
        kind: PatternKind,
        /// `NOT LIKE`.
        negated: bool,
    },
    /// CASE, with or without an operand.
    Case {
        /// `CASE operand WHEN …`.
        operand: Option<Box<Expr>>,
        /// Condition (or value) and result.
        branches: Vec<(Expr, Expr)>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
    },
    /// CAST or `::`.
    Cast {
        /// What is converted.
        expr: Box<Expr>,
        /// The target type.
        data_type: DataType,
    },
    /// A function call, by lower-case name (COALESCE and NULLIF included).
    Function {
        /// Lower-case name; synonyms are kept as written.
        name: String,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// Something that we parsed but do not evaluate, verbatim.
    Opaque {
        /// The source text.
        sql: String,
        /// The columns that it mentions, so that it is never taken to be constant.
        columns: Vec<usize>,
    },
}

/// A column as it is used in an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnRef {
    /// Position in the row that the expression is evaluated on.
    pub slot: usize,
    /// Its name, for printing.
    pub name: String,
    /// Its declared type, which decides coercions.
    pub data_type: DataType,
    /// Its declared collation.
    pub collation: Option<String>,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `~`
    BitNot,
}

/// Operators that make a value of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// MySQL's DIV
    IntegerDivide,
    /// `%`, MOD
    Modulo,
    /// `||` as concatenation
    Concat,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^` (MySQL) or `#` (PostgreSQL)
    BitXor,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
}

/// Operators that compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CompareOp {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl CompareOp {
    /// All six.
    pub const ALL: [Self; 6] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessOrEqual,
        Self::Greater,
        Self::GreaterOrEqual,
    ];

    /// The operator that holds exactly when this one fails.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }

    /// The operator that says the same with its operands swapped.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::Equal => Self::Equal,
            Self::NotEqual => Self::NotEqual,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }

    /// As SQL writes it.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

/// Pattern languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PatternKind {
    /// LIKE, by the dialect's collation.
    Like,
    /// ILIKE.
    Ilike,
    /// SQLite's GLOB.
    Glob,
    /// `SIMILAR TO`.
    SimilarTo,
    /// `~`, REGEXP, RLIKE.
    Regex,
    /// `~*`.
    RegexInsensitive,
}

impl Expr {
    /// An integer constant, for code and tests.
    pub fn int(value: i64) -> Self {
        Self::Literal(Value::Int(value.into()))
    }

    /// Calls `visit` on this expression and everything inside it, outermost first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        self.each_child(&mut |child| child.walk(visit));
    }

    /// Calls `visit` on this expression and everything inside it, outermost first, to change them.
    pub fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        visit(self);
        for child in self.children_mut() {
            child.walk_mut(visit);
        }
    }

    /// The expressions directly inside this one, in reading order.
    pub fn children(&self) -> Vec<&Expr> {
        let mut children = Vec::new();
        self.each_child(&mut |child| children.push(child));
        children
    }

    /// Calls `visit` on the expressions directly inside this one, in reading order.
    pub fn each_child<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match self {
            Self::Literal(_)
            | Self::Column(_)
            | Self::Parameter(_)
            | Self::Subquery(_)
            | Self::Opaque { .. } => {}
            Self::Unary { expr, .. }
            | Self::Not(expr)
            | Self::IsNull { expr, .. }
            | Self::IsTruth { expr, .. }
            | Self::Cast { expr, .. } => visit(expr),
            Self::Binary { left, right, .. }
            | Self::Compare { left, right, .. }
            | Self::IsDistinct { left, right, .. } => {
                visit(left);
                visit(right);
            }
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(visit),
            Self::Between {
                expr, low, high, ..
            } => {
                visit(expr);
                visit(low);
                visit(high);
            }
            Self::InList { expr, list, .. } => {
                visit(expr);
                list.iter().for_each(visit);
            }
            Self::Like { expr, pattern, .. } => {
                visit(expr);
                visit(pattern);
            }
            Self::Case {
                operand,
                branches,
                otherwise,
            } => {
                operand.iter().for_each(|operand| visit(operand));
                for (when, then) in branches {
                    visit(when);
                    visit(then);
                }
                otherwise.iter().for_each(|otherwise| visit(otherwise));
            }
            Self::Function { args, .. } => args.iter().for_each(visit),
        }
    }

    /// The expressions directly inside this one, in the order of [`Expr::children`], to change them.
    pub fn children_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Self::Literal(_)
            | Self::Column(_)
            | Self::Parameter(_)
            | Self::Subquery(_)
            | Self::Opaque { .. } => Vec::new(),
            Self::Unary { expr, .. }
            | Self::Not(expr)
            | Self::IsNull { expr, .. }
            | Self::IsTruth { expr, .. }
            | Self::Cast { expr, .. } => vec![expr],
            Self::Binary { left, right, .. }
            | Self::Compare { left, right, .. }
            | Self::IsDistinct { left, right, .. } => vec![left, right],
            Self::And(parts) | Self::Or(parts) => parts.iter_mut().collect(),
            Self::Between {
                expr, low, high, ..
            } => vec![expr, low, high],
            Self::InList { expr, list, .. } => std::iter::once(expr.as_mut()).chain(list).collect(),
            Self::Like { expr, pattern, .. } => vec![expr, pattern],
            Self::Case {
                operand,
                branches,
                otherwise,
            } => operand
                .as_deref_mut()
                .into_iter()
                .chain(branches.iter_mut().flat_map(|(when, then)| [when, then]))
                .chain(otherwise.as_deref_mut())
                .collect(),
            Self::Function { args, .. } => args.iter_mut().collect(),
        }
    }

    /// The slots it reads, each once, in order of mention.
    pub fn columns(&self) -> Vec<usize> {
        let mut columns = Vec::new();
        let mut add = |slot: usize| {
            if !columns.contains(&slot) {
                columns.push(slot);
            }
        };
        self.walk(&mut |expr| match expr {
            Self::Column(column) => add(column.slot),
            Self::Opaque { columns, .. } => columns.iter().copied().for_each(&mut add),
            _ => {}
        });
        columns
    }
}
