//! Random conditions.

use isobath_sql::expr::{CompareOp, Expr, PatternKind};
use isobath_sql::{DialectName, Value};

use super::generate::{Generator, Term, join};
use super::lexicon::{Sort, literal};

impl Generator<'_> {
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

    pub(crate) fn logic(&mut self, depth: u8) -> Term {
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

    pub(crate) fn distinct(&mut self, left: Term, sort: Sort, depth: u8) -> Term {
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

    pub(crate) fn between(&mut self, x: Term, sort: Sort, depth: u8) -> Term {
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

    pub(crate) fn list(&mut self, x: Term, sort: Sort, depth: u8) -> Term {
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

    pub(crate) fn like(&mut self, depth: u8) -> Term {
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
