//! Random expressions, as the model and as SQL, side by side.

use fastrand::Rng;
use isobath_sql::expr::{BinaryOp, Expr, UnaryOp};
use isobath_sql::{DataType, DialectName, Value};

use super::lexicon::{Known, Sort, column_use, literal, value};

/// An expression, its SQL, and the constructs in it.
pub(crate) struct Term {
    pub(crate) expr: Expr,
    pub(crate) sql: String,
    pub(crate) tags: Vec<&'static str>,
}

pub(crate) struct Generator<'a> {
    pub(crate) rng: Rng,
    pub(crate) dialect: DialectName,
    pub(crate) columns: &'a [Known],
}

pub(crate) fn join(tags: &[&[&'static str]], own: &'static str) -> Vec<&'static str> {
    let mut all: Vec<_> = tags.iter().flat_map(|tags| tags.iter().copied()).collect();
    all.push(own);
    all
}

impl Generator<'_> {
    pub(crate) fn typed(&self) -> bool {
        self.dialect == DialectName::Postgres
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.usize(..from.len())]
    }

    /// A sort that this database has values of.
    pub(crate) fn sort(&mut self) -> Sort {
        loop {
            let sort = self.pick(&Sort::ALL);
            let absent =
                self.dialect == DialectName::Sqlite && matches!(sort, Sort::Stamp | Sort::Time);
            if !absent {
                return sort;
            }
        }
    }

    /// A sort to meet another: the same, or in lax databases sometimes any.
    pub(crate) fn partner(&mut self, sort: Sort) -> Sort {
        match sort {
            Sort::Int | Sort::Decimal | Sort::Float if self.rng.u8(..3) == 0 => {
                self.pick(&[Sort::Int, Sort::Decimal, Sort::Float])
            }
            Sort::Date if self.rng.u8(..4) == 0 && self.dialect != DialectName::Sqlite => {
                Sort::Stamp
            }
            // MariaDB's mixtures are mostly unsupported, so they come more rarely.
            _ if self.dialect == DialectName::Sqlite && self.rng.u8(..6) == 0 => self.sort(),
            _ if self.dialect == DialectName::MySql && self.rng.u8(..16) == 0 => self.sort(),
            sort => sort,
        }
    }

    pub(crate) fn literal(&mut self, sort: Sort) -> Term {
        // An untyped literal takes the type of its surroundings.
        if self.rng.u8(..12) == 0 {
            return Term {
                expr: Expr::Literal(Value::Null),
                sql: "NULL".to_owned(),
                tags: vec!["NULL"],
            };
        }
        let sort = match sort {
            Sort::Float => Sort::Decimal,
            sort => sort,
        };
        let mut held = value(&mut self.rng, sort, self.dialect);
        if self.rng.u8(..4) == 0
            || self.dialect == DialectName::Sqlite
                && matches!(sort, Sort::Date | Sort::Stamp | Sort::Time)
        {
            let text = match &held {
                Value::DateTime(at) => format!("{} {}", at.date(), at.time()),
                other => other.to_string(),
            };
            if !(self.typed() && sort == Sort::Stamp) {
                held = Value::Text(text);
            }
        }
        Term {
            sql: literal(&held, self.dialect),
            expr: Expr::Literal(held),
            tags: vec!["literal"],
        }
    }

    pub(crate) fn column(&mut self, sort: Sort) -> Term {
        let fitting: Vec<usize> = (0..self.columns.len())
            .filter(|&slot| self.columns[slot].sort == sort)
            .collect();
        if fitting.is_empty() {
            return self.literal(sort);
        }
        let slot = self.pick(&fitting);
        Term {
            expr: column_use(&self.columns[slot], slot),
            sql: self.columns[slot].column.name.clone(),
            tags: vec!["column"],
        }
    }

    /// A value of a sort.
    pub(crate) fn scalar(&mut self, sort: Sort, depth: u8) -> Term {
        if depth == 0 || self.rng.u8(..3) == 0 {
            return if self.rng.u8(..3) == 0 {
                self.literal(sort)
            } else {
                self.column(sort)
            };
        }
        match self.rng.u8(..10) {
            0 => self.case(sort, depth - 1),
            1 => self.coalesce(sort, depth - 1),
            2 => {
                let other = self.scalar(sort, depth - 1);
                let term = self.column(sort);
                self.function("nullif", vec![term, other])
            }
            3 if matches!(sort, Sort::Int | Sort::Decimal | Sort::Text | Sort::Date) => {
                self.cast(sort, depth - 1)
            }
            4 if self.dialect != DialectName::Sqlite && sort != Sort::Bool => {
                let (a, b) = (self.column(sort), self.column(sort));
                let name = self.pick(&["greatest", "least"]);
                self.function(name, vec![a, b])
            }
            _ => match sort {
                Sort::Int | Sort::Decimal | Sort::Float => {
                    if self.rng.u8(..3) == 0 {
                        self.number_function(sort, depth - 1)
                    } else {
                        self.arithmetic(sort, depth - 1)
                    }
                }
                Sort::Text => self.text_function(depth - 1),
                Sort::Bool => self.condition(depth - 1),
                Sort::Date | Sort::Stamp if self.dialect != DialectName::Sqlite => {
                    self.date_function(sort)
                }
                Sort::Date | Sort::Stamp | Sort::Time => self.column(sort),
            },
        }
    }

    pub(crate) fn case(&mut self, sort: Sort, depth: u8) -> Term {
        let when = self.condition(depth);
        let then = self.scalar(sort, depth);
        let otherwise = self.scalar(sort, depth);
        Term {
            sql: format!(
                "(CASE WHEN {} THEN {} ELSE {} END)",
                when.sql, then.sql, otherwise.sql
            ),
            tags: join(&[&when.tags, &then.tags, &otherwise.tags], "CASE"),
            expr: Expr::Case {
                operand: None,
                branches: vec![(when.expr, then.expr)],
                otherwise: Some(Box::new(otherwise.expr)),
            },
        }
    }

    pub(crate) fn coalesce(&mut self, sort: Sort, depth: u8) -> Term {
        let other = match self.dialect {
            // The lax databases take alternatives of any types.
            DialectName::MySql if self.rng.u8(..3) == 0 => self.sort(),
            _ => self.partner(sort),
        };
        let args = vec![self.column(sort), self.scalar(other, depth)];
        let name = match self.dialect {
            DialectName::Postgres => "coalesce",
            _ => self.pick(&["coalesce", "ifnull"]),
        };
        self.function(name, args)
    }

    pub(crate) fn cast(&mut self, sort: Sort, depth: u8) -> Term {
        let from = match sort {
            Sort::Text => self.pick(&[Sort::Int, Sort::Decimal, Sort::Text, Sort::Date]),
            Sort::Date => Sort::Text,
            _ => self.pick(&[Sort::Int, Sort::Decimal, Sort::Text, Sort::Float]),
        };
        let inner = self.scalar(from, depth);
        let (data_type, name) = match (sort, self.dialect) {
            (Sort::Int, DialectName::MySql) => (
                DataType::Integer {
                    bits: 64,
                    unsigned: false,
                },
                "SIGNED",
            ),
            (Sort::Int, _) => (DataType::INT, "INTEGER"),
            (Sort::Decimal, _) => (
                DataType::Decimal {
                    precision: Some(12),
                    scale: Some(1),
                },
                "DECIMAL(12,1)",
            ),
            (Sort::Date, _) => (DataType::Date, "DATE"),
            (_, DialectName::MySql) => (DataType::Varchar { length: None }, "CHAR"),
            _ => (DataType::Text, "TEXT"),
        };
        Term {
            sql: format!("CAST({} AS {name})", inner.sql),
            tags: join(&[&inner.tags], "CAST"),
            expr: Expr::Cast {
                expr: Box::new(inner.expr),
                data_type,
            },
        }
    }

    pub(crate) fn arithmetic(&mut self, sort: Sort, depth: u8) -> Term {
        let left = self.scalar(sort, depth);
        let untyped = matches!(left.expr, Expr::Literal(Value::Null | Value::Text(_)));
        if self.rng.u8(..8) == 0 && !(self.typed() && untyped) {
            return Term {
                sql: format!("(- {})", left.sql),
                tags: join(&[&left.tags], "-x"),
                expr: Expr::Unary {
                    op: UnaryOp::Minus,
                    expr: Box::new(left.expr),
                },
            };
        }
        let partner = self.partner(sort);
        let right = self.scalar(partner, depth);
        let mut ops = vec![
            (BinaryOp::Add, "+", "+"),
            (BinaryOp::Subtract, "-", "-"),
            (BinaryOp::Multiply, "*", "*"),
            (BinaryOp::Divide, "/", "/"),
        ];
        if sort == Sort::Int && (partner == Sort::Int || self.dialect == DialectName::Sqlite) {
            ops.push((BinaryOp::Modulo, "%", "%"));
            ops.push((BinaryOp::BitAnd, "&", "bits"));
            ops.push((BinaryOp::BitOr, "|", "bits"));
            if self.dialect == DialectName::MySql {
                ops.push((BinaryOp::IntegerDivide, "DIV", "DIV"));
            }
        }
        let (op, symbol, tag) = self.pick(&ops);
        Term {
            sql: format!("({} {symbol} {})", left.sql, right.sql),
            tags: join(&[&left.tags, &right.tags], tag),
            expr: Expr::Binary {
                op,
                left: Box::new(left.expr),
                right: Box::new(right.expr),
            },
        }
    }
}
