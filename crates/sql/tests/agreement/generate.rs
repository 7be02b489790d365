//! Random expressions, as the model and as SQL, side by side.

use fastrand::Rng;
use isobath_sql::expr::{BinaryOp, CompareOp, Expr, PatternKind, UnaryOp};
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

fn join(tags: &[&[&'static str]], own: &'static str) -> Vec<&'static str> {
    let mut all: Vec<_> = tags.iter().flat_map(|tags| tags.iter().copied()).collect();
    all.push(own);
    all
}

impl Generator<'_> {
    fn typed(&self) -> bool {
        self.dialect == DialectName::Postgres
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
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
    fn partner(&mut self, sort: Sort) -> Sort {
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

    fn literal(&mut self, sort: Sort) -> Term {
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

    fn column(&mut self, sort: Sort) -> Term {
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
                Sort::Date | Sort::Stamp | Sort::Time => self.column(sort),
            },
        }
    }

    fn case(&mut self, sort: Sort, depth: u8) -> Term {
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

    fn coalesce(&mut self, sort: Sort, depth: u8) -> Term {
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

    fn cast(&mut self, sort: Sort, depth: u8) -> Term {
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

    fn arithmetic(&mut self, sort: Sort, depth: u8) -> Term {
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

    fn function(&mut self, name: &'static str, args: Vec<Term>) -> Term {
        let sql: Vec<&str> = args.iter().map(|arg| arg.sql.as_str()).collect();
        let tags: Vec<&[&'static str]> = args.iter().map(|arg| arg.tags.as_slice()).collect();
        Term {
            sql: format!("{name}({})", sql.join(", ")),
            tags: join(&tags, name),
            expr: Expr::Function {
                name: name.to_owned(),
                args: args.into_iter().map(|arg| arg.expr).collect(),
            },
        }
    }

    fn small(&mut self) -> Term {
        let int = self.rng.i64(-3..6);
        Term {
            expr: Expr::int(int),
            sql: literal(&Value::Int(int.into()), self.dialect),
            tags: Vec::new(),
        }
    }

    fn text_function(&mut self, depth: u8) -> Term {
        let text = self.scalar(Sort::Text, depth);
        let common = [
            "lower", "upper", "trim", "ltrim", "rtrim", "substr", "replace", "||",
        ];
        let own: &[&str] = match self.dialect {
            DialectName::Sqlite => &["strftime"],
            DialectName::MySql => &[
                "left",
                "right",
                "reverse",
                "lpad",
                "rpad",
                "repeat",
                "concat",
                "concat_ws",
                "substring",
                "mid",
            ],
            _ => &[
                "left",
                "right",
                "reverse",
                "lpad",
                "rpad",
                "repeat",
                "concat",
                "concat_ws",
                "substring",
                "btrim",
            ],
        };
        let names: Vec<&'static str> = common.iter().chain(own).copied().collect();
        let name = self.pick(&names);
        match name {
            "||" => {
                let other = self.scalar(Sort::Text, depth);
                let sql = match self.dialect {
                    DialectName::MySql => format!("concat({}, {})", text.sql, other.sql),
                    _ => format!("({} || {})", text.sql, other.sql),
                };
                Term {
                    sql,
                    tags: join(&[&text.tags, &other.tags], "||"),
                    expr: Expr::Binary {
                        op: BinaryOp::Concat,
                        left: Box::new(text.expr),
                        right: Box::new(other.expr),
                    },
                }
            }
            "substr" | "substring" | "mid" => {
                let mut args = vec![text, self.small()];
                if self.rng.bool() || name == "mid" {
                    args.push(self.small());
                }
                self.function(name, args)
            }
            "left" | "right" | "repeat" => {
                let n = self.small();
                self.function(name, vec![text, n])
            }
            "lpad" | "rpad" => {
                let n = self.small();
                let fill = self.literal(Sort::Text);
                self.function(name, vec![text, n, fill])
            }
            "replace" => {
                let (from, to) = (self.literal(Sort::Text), self.literal(Sort::Text));
                self.function(name, vec![text, from, to])
            }
            "concat" | "concat_ws" => {
                let more = self.scalar(Sort::Text, depth);
                let sort = self.pick(&[Sort::Int, Sort::Text, Sort::Decimal]);
                let any = self.column(sort);
                self.function(name, vec![text, more, any])
            }
            "strftime" => {
                let format = self.pick(&["%Y", "%m-%d", "%j", "%H:%M", "%w"]);
                let format = Term {
                    expr: Expr::Literal(Value::text(format)),
                    sql: format!("'{format}'"),
                    tags: Vec::new(),
                };
                let at = self.column(Sort::Date);
                self.function(name, vec![format, at])
            }
            name => self.function(name, vec![text]),
        }
    }

    fn number_function(&mut self, sort: Sort, depth: u8) -> Term {
        if sort == Sort::Int {
            match self.rng.u8(..4) {
                0 | 1 => {
                    let text = self.scalar(Sort::Text, depth);
                    let names: &[&str] = match self.dialect {
                        DialectName::Sqlite => &["length", "instr"],
                        DialectName::MySql => &["length", "char_length", "instr", "locate"],
                        _ => &["length", "char_length", "strpos"],
                    };
                    let name = self.pick(names);
                    if matches!(name, "instr" | "locate" | "strpos") {
                        let part = self.literal(Sort::Text);
                        return self.function(name, vec![text, part]);
                    }
                    return self.function(name, vec![text]);
                }
                2 if self.dialect == DialectName::MySql => {
                    let at = self.column(Sort::Date);
                    let name =
                        self.pick(&["year", "month", "day", "quarter", "dayofyear", "weekday"]);
                    return self.function(name, vec![at]);
                }
                2 if self.typed() => {
                    let sort = self.pick(&[Sort::Date, Sort::Stamp]);
                    let at = self.column(sort);
                    let field = self.pick(&["year", "month", "day", "quarter", "dow", "doy"]);
                    return Term {
                        sql: format!("EXTRACT({field} FROM {})", at.sql),
                        tags: join(&[&at.tags], "extract"),
                        expr: Expr::Function {
                            name: "extract".to_owned(),
                            args: vec![Expr::Literal(Value::text(field)), at.expr],
                        },
                    };
                }
                _ => {}
            }
        }
        let x = self.scalar(sort, depth);
        let names: &[&str] = match self.dialect {
            DialectName::Sqlite => &["abs", "round", "sign"],
            _ => &["abs", "round", "sign", "floor", "ceil"],
        };
        let name = self.pick(names);
        self.function(name, vec![x])
    }

    /// A condition.
    pub(crate) fn condition(&mut self, depth: u8) -> Term {
        if depth > 0 {
            match self.rng.u8(..10) {
                0 | 1 => return self.logic(depth - 1),
                2 => {
                    let inner = self.condition(depth - 1);
                    return Term {
                        sql: format!("(NOT {})", inner.sql),
                        tags: join(&[&inner.tags], "NOT"),
                        expr: Expr::Not(Box::new(inner.expr)),
                    };
                }
                3 => {
                    let inner = self.condition(depth - 1);
                    let negated = self.rng.bool();
                    let verdict = self.pick(&[Some(true), Some(false), None]);
                    let (word, verdict) = match (verdict, self.dialect) {
                        (None, DialectName::Sqlite) => ("TRUE", Some(true)),
                        (None, _) => ("UNKNOWN", None),
                        (Some(true), _) => ("TRUE", Some(true)),
                        (Some(false), _) => ("FALSE", Some(false)),
                    };
                    let not = if negated { "NOT " } else { "" };
                    return Term {
                        sql: format!("({} IS {not}{word})", inner.sql),
                        tags: join(&[&inner.tags], "IS TRUE"),
                        expr: Expr::IsTruth {
                            expr: Box::new(inner.expr),
                            verdict,
                            negated,
                        },
                    };
                }
                _ => {}
            }
        }
        let depth = depth.saturating_sub(1);
        let sort = self.sort();
        let left = self.scalar(sort, depth);
        match self.rng.u8(..12) {
            0 => {
                let negated = self.rng.bool();
                let not = if negated { "NOT " } else { "" };
                Term {
                    sql: format!("({} IS {not}NULL)", left.sql),
                    tags: join(&[&left.tags], "IS NULL"),
                    expr: Expr::IsNull {
                        expr: Box::new(left.expr),
                        negated,
                    },
                }
            }
            1 => self.distinct(left, sort, depth),
            2 | 3 => self.between(left, sort, depth),
            4 | 5 => self.list(left, sort, depth),
            6 | 7 => self.like(depth),
            8 if sort == Sort::Bool || !self.typed() && matches!(sort, Sort::Int | Sort::Text) => {
                left
            }
            _ => {
                let sort = self.partner(sort);
                let right = self.scalar(sort, depth);
                let op = self.pick(&CompareOp::ALL);
                Term {
                    sql: format!("({} {} {})", left.sql, op.symbol(), right.sql),
                    tags: join(&[&left.tags, &right.tags], "compare"),
                    expr: Expr::Compare {
                        op,
                        left: Box::new(left.expr),
                        right: Box::new(right.expr),
                    },
                }
            }
        }
    }

    fn logic(&mut self, depth: u8) -> Term {
        let parts: Vec<Term> = (0..self.rng.u8(2..4))
            .map(|_| self.condition(depth))
            .collect();
        let and = self.rng.bool();
        let sql: Vec<&str> = parts.iter().map(|part| part.sql.as_str()).collect();
        let tags: Vec<&[&'static str]> = parts.iter().map(|part| part.tags.as_slice()).collect();
        let (word, tag) = if and {
            (" AND ", "AND")
        } else {
            (" OR ", "OR")
        };
        let (sql, tags) = (format!("({})", sql.join(word)), join(&tags, tag));
        let parts = parts.into_iter().map(|part| part.expr).collect();
        Term {
            sql,
            tags,
            expr: if and {
                Expr::And(parts)
            } else {
                Expr::Or(parts)
            },
        }
    }

    fn distinct(&mut self, left: Term, sort: Sort, depth: u8) -> Term {
        let sort = self.partner(sort);
        let right = self.scalar(sort, depth);
        let negated = self.rng.bool();
        // SQLite takes `IS TRUE` for a test of truth, so TRUE is disguised.
        let right_sql = match &right.expr {
            Expr::Literal(Value::Bool(_)) if self.dialect == DialectName::Sqlite => {
                format!("(+{})", right.sql)
            }
            _ => right.sql.clone(),
        };
        let left_sql = &left.sql;
        let sql = match (self.dialect, negated) {
            (DialectName::MySql, true) => format!("({left_sql} <=> {right_sql})"),
            (DialectName::MySql, false) => format!("(NOT ({left_sql} <=> {right_sql}))"),
            (DialectName::Sqlite, true) => format!("({left_sql} IS {right_sql})"),
            (DialectName::Sqlite, false) => format!("({left_sql} IS NOT {right_sql})"),
            (_, true) => format!("({left_sql} IS NOT DISTINCT FROM {right_sql})"),
            (_, false) => format!("({left_sql} IS DISTINCT FROM {right_sql})"),
        };
        Term {
            sql,
            tags: join(&[&left.tags, &right.tags], "IS DISTINCT"),
            expr: Expr::IsDistinct {
                left: Box::new(left.expr),
                right: Box::new(right.expr),
                negated,
            },
        }
    }

    fn between(&mut self, x: Term, sort: Sort, depth: u8) -> Term {
        let (low_sort, high_sort) = match self.dialect {
            DialectName::MySql if self.rng.u8(..4) == 0 => (self.sort(), self.sort()),
            _ => (self.partner(sort), self.partner(sort)),
        };
        let low = self.scalar(low_sort, depth);
        let high = self.scalar(high_sort, depth);
        let negated = self.rng.bool();
        let symmetric = self.typed() && self.rng.u8(..4) == 0;
        Term {
            sql: format!(
                "({} {}BETWEEN {}{} AND {})",
                x.sql,
                if negated { "NOT " } else { "" },
                if symmetric { "SYMMETRIC " } else { "" },
                low.sql,
                high.sql
            ),
            tags: join(&[&x.tags, &low.tags, &high.tags], "BETWEEN"),
            expr: Expr::Between {
                expr: Box::new(x.expr),
                low: Box::new(low.expr),
                high: Box::new(high.expr),
                negated,
                symmetric,
            },
        }
    }

    fn list(&mut self, x: Term, sort: Sort, depth: u8) -> Term {
        let list: Vec<Term> = (0..self.rng.u8(1..4))
            .map(|_| {
                let sort = self.partner(sort);
                if self.rng.u8(..4) == 0 {
                    self.scalar(sort, depth)
                } else {
                    self.literal(sort)
                }
            })
            .collect();
        let negated = self.rng.bool();
        let sql: Vec<&str> = list.iter().map(|part| part.sql.as_str()).collect();
        let mut tags: Vec<&[&'static str]> = list.iter().map(|part| part.tags.as_slice()).collect();
        tags.push(&x.tags);
        Term {
            sql: format!(
                "({} {}IN ({}))",
                x.sql,
                if negated { "NOT " } else { "" },
                sql.join(", ")
            ),
            tags: join(&tags, "IN"),
            expr: Expr::InList {
                expr: Box::new(x.expr),
                list: list.into_iter().map(|part| part.expr).collect(),
                negated,
            },
        }
    }

    fn like(&mut self, depth: u8) -> Term {
        let x = self.scalar(Sort::Text, depth);
        let kinds: &[(PatternKind, &str, &'static str)] = match self.dialect {
            DialectName::Sqlite => &[
                (PatternKind::Like, "LIKE", "LIKE"),
                (PatternKind::Like, "LIKE", "LIKE"),
                (PatternKind::Glob, "GLOB", "GLOB"),
            ],
            DialectName::MySql => &[
                (PatternKind::Like, "LIKE", "LIKE"),
                (PatternKind::Like, "LIKE", "LIKE"),
                (PatternKind::Regex, "REGEXP", "regex"),
            ],
            _ => &[
                (PatternKind::Like, "LIKE", "LIKE"),
                (PatternKind::Ilike, "ILIKE", "ILIKE"),
                (PatternKind::SimilarTo, "SIMILAR TO", "SIMILAR TO"),
                (PatternKind::Regex, "~", "regex"),
                (PatternKind::RegexInsensitive, "~*", "regex"),
            ],
        };
        let (kind, word, tag) = self.pick(kinds);
        let patterns: &[&str] = match kind {
            PatternKind::Like | PatternKind::Ilike => &[
                "%", "a%", "A_", "%b%", "ab", "_", "", "a#%", "%  ", "a_b", "__%", "%5%", "a%c",
            ],
            PatternKind::Glob => &[
                "*", "a*", "A?", "*b*", "[ab]*", "[^a]", "[a-c]b*", "?", "", "*[0-9]",
            ],
            PatternKind::SimilarTo => {
                &["%", "a%", "(a|b)%", "[a-c]+", "_b", "[0-9]*", "a{2,3}", ""]
            }
            PatternKind::Regex | PatternKind::RegexInsensitive => &[
                "^a",
                "b$",
                "[a-c]+",
                "^[0-9]+$",
                "a.c",
                "^(a|b)",
                "x?5",
                "a{2,3}",
                "^$",
                "[[:alpha:]]",
                "^[^a]",
                "\\d",
            ],
        };
        let pattern = self.pick(patterns);
        let negated =
            self.rng.bool() && !matches!(kind, PatternKind::Regex | PatternKind::RegexInsensitive);
        let escape = (pattern.contains('#') && matches!(kind, PatternKind::Like)).then_some('#');
        Term {
            sql: format!(
                "({} {}{word} {}{})",
                x.sql,
                if negated { "NOT " } else { "" },
                literal(&Value::text(pattern), self.dialect),
                if escape.is_some() { " ESCAPE '#'" } else { "" },
            ),
            tags: join(&[&x.tags], tag),
            expr: Expr::Like {
                expr: Box::new(x.expr),
                pattern: Box::new(Expr::Literal(Value::text(pattern))),
                escape,
                kind,
                negated,
            },
        }
    }
}
