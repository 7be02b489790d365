//! Random function calls.

use isobath_sql::expr::{BinaryOp, Expr};
use isobath_sql::{DialectName, Value};

use super::generate::{Generator, Term, join};
use super::lexicon::{Sort, literal};

impl Generator<'_> {
    pub(crate) fn function(&mut self, name: &'static str, args: Vec<Term>) -> Term {
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

    pub(crate) fn small(&mut self) -> Term {
        let int = self.rng.i64(-3..6);
        Term {
            expr: Expr::int(int),
            sql: literal(&Value::Int(int.into()), self.dialect),
            tags: Vec::new(),
        }
    }

    pub(crate) fn plain(&mut self, text: &'static str) -> Term {
        Term {
            sql: format!("'{text}'"),
            expr: Expr::Literal(Value::text(text)),
            tags: Vec::new(),
        }
    }

    pub(crate) fn text_function(&mut self, depth: u8) -> Term {
        let text = self.scalar(Sort::Text, depth);
        let common = [
            "lower", "upper", "trim", "ltrim", "rtrim", "substr", "replace", "||",
        ];
        let own: &[&str] = match self.dialect {
            DialectName::Sqlite => &["strftime", "date", "datetime"],
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
                "insert",
                "substring_index",
                "date_format",
                "dayname",
                "monthname",
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
                "initcap",
                "split_part",
                "translate",
                "overlay",
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
                let format = self.plain(format);
                let at = self.column(Sort::Date);
                self.function(name, vec![format, at])
            }
            "date" | "datetime" => {
                let at = self.column(Sort::Date);
                let modifier = self.pick(&[
                    "+1 day",
                    "-3 months",
                    "start of month",
                    "+1 year",
                    "12 hours",
                    "start of year",
                ]);
                let modifier = self.plain(modifier);
                self.function(name, vec![at, modifier])
            }
            "insert" => {
                let (place, length) = (self.small(), self.small());
                let new = self.literal(Sort::Text);
                self.function(name, vec![text, place, length, new])
            }
            "substring_index" | "split_part" => {
                let mark = self.pick(&["a", "b", "", " ", "ab"]);
                let (mark, n) = (self.plain(mark), self.small());
                self.function(name, vec![text, mark, n])
            }
            "translate" => {
                let (from, to) = (self.plain("ab5"), self.plain("x"));
                self.function(name, vec![text, from, to])
            }
            "overlay" => {
                let (new, place) = (self.plain("xy"), self.small());
                let mut term = self.function(name, vec![text, new, place]);
                // The call has words between its arguments.
                term.sql = term.sql.replacen(", 'xy', ", " PLACING 'xy' FROM ", 1);
                term
            }
            "date_format" => {
                let sort = self.pick(&[Sort::Date, Sort::Stamp]);
                let at = self.column(sort);
                let format = self.pick(&["%Y-%m", "%d.%c.%y", "%H:%i:%s", "%W %M %e", "%j %p %l"]);
                let format = self.plain(format);
                self.function(name, vec![at, format])
            }
            "dayname" | "monthname" => {
                let at = self.column(Sort::Date);
                self.function(name, vec![at])
            }
            name => self.function(name, vec![text]),
        }
    }

    pub(crate) fn number_function(&mut self, sort: Sort, depth: u8) -> Term {
        if sort == Sort::Int {
            match self.rng.u8(..4) {
                0 | 1 => {
                    let text = self.scalar(Sort::Text, depth);
                    let names: &[&str] = match self.dialect {
                        DialectName::Sqlite => &["length", "instr", "unicode"],
                        DialectName::MySql => &[
                            "length",
                            "char_length",
                            "instr",
                            "locate",
                            "ascii",
                            "bit_length",
                        ],
                        _ => &["length", "char_length", "strpos", "ascii", "bit_length"],
                    };
                    let name = self.pick(names);
                    if matches!(name, "instr" | "locate" | "strpos") {
                        let part = self.literal(Sort::Text);
                        return self.function(name, vec![text, part]);
                    }
                    return self.function(name, vec![text]);
                }
                3 if self.dialect == DialectName::MySql && self.rng.bool() => {
                    let sort = self.pick(&[Sort::Date, Sort::Stamp]);
                    let (from, to) = (self.column(sort), self.column(Sort::Date));
                    let unit = self.pick(&["day", "month", "year", "hour", "week", "quarter"]);
                    let mut term = self.function("timestampdiff", vec![from, to]);
                    term.sql = term.sql.replacen('(', &format!("({unit}, "), 1);
                    if let Expr::Function { args, .. } = &mut term.expr {
                        args.insert(0, Expr::Literal(Value::text(unit)));
                    }
                    return term;
                }
                2 if self.dialect == DialectName::MySql => {
                    let at = self.column(Sort::Date);
                    let name = self.pick(&[
                        "year",
                        "month",
                        "day",
                        "quarter",
                        "dayofyear",
                        "weekday",
                        "to_days",
                        "weekofyear",
                    ]);
                    return self.function(name, vec![at]);
                }
                2 if self.typed() => {
                    let sort = self.pick(&[Sort::Date, Sort::Stamp]);
                    let at = self.column(sort);
                    let field = self.pick(&[
                        "year", "month", "day", "quarter", "dow", "doy", "week", "isoyear",
                    ]);
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

    pub(crate) fn date_function(&mut self, sort: Sort) -> Term {
        let at = self.column(sort);
        match (self.dialect, sort) {
            (DialectName::MySql, Sort::Date) => self.function("last_day", vec![at]),
            (DialectName::Postgres, Sort::Stamp) => {
                let unit = self.pick(&["hour", "day", "week", "month", "quarter", "year"]);
                let unit = self.plain(unit);
                self.function("date_trunc", vec![unit, at])
            }
            _ => at,
        }
    }
}
