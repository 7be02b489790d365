//! Random conditions: comparisons, patterns, row values, subqueries, and what AND, OR and NOT make of them.

use isobath_sql::DialectName;

use super::query::{Column, INNER, Writer};
use super::tables::Kind;

impl Writer<'_> {
    /// A condition for a CHECK.
    pub(crate) fn check(&mut self, scope: &[Column]) -> String {
        self.condition(scope, 2, false)
    }

    /// Two CHECKs that may mean the same: one rewritten, or two of their own.
    pub(crate) fn similar_checks(&mut self, scope: &[Column]) -> (String, String) {
        let (a, b) = (self.condition(scope, 1, false), self.test(scope));
        match self.rng.usize(0..8) {
            0 => (format!("{a} AND {b}"), format!("{b} AND ({a})")),
            1 => (
                format!("NOT ({a} AND {b})"),
                format!("NOT ({a}) OR NOT ({b})"),
            ),
            2 => (
                format!("({a}) OR {b}"),
                format!("({a}) OR {b} OR ({a} AND {b})"),
            ),
            3 => (format!("({a}) AND {b}"), a),
            4 => (a.clone(), format!("({a}) OR {b}")),
            5 => {
                let (from, to) = (self.operator(), self.operator());
                let swapped = a.replacen(&format!(" {from} "), &format!(" {to} "), 1);
                (format!("{a} AND {b}"), format!("{swapped} AND {b}"))
            }
            _ => (a, self.condition(scope, 1, false)),
        }
    }

    /// A condition over columns; with subqueries where `nests`.
    pub(crate) fn condition(&mut self, scope: &[Column], depth: usize, nests: bool) -> String {
        if depth > 0 {
            match self.rng.usize(0..8) {
                0..=2 => {
                    let (a, b) = self.two(scope, depth, nests);
                    return format!("({a} AND {b})");
                }
                3 | 4 => {
                    let (a, b) = self.two(scope, depth, nests);
                    let or = if self.is(DialectName::MySql) && self.one_in(6) {
                        "XOR"
                    } else {
                        "OR"
                    };
                    return format!("({a} {or} {b})");
                }
                5 => {
                    let inner = self.condition(scope, depth - 1, nests);
                    return format!("NOT ({inner})");
                }
                _ => {}
            }
        }
        if nests && self.one_in(4) && !self.tables.is_empty() {
            return self.subquery(scope);
        }
        self.test(scope)
    }

    fn two(&mut self, scope: &[Column], depth: usize, nests: bool) -> (String, String) {
        let a = self.condition(scope, depth - 1, nests);
        let b = self.condition(scope, depth - 1, nests);
        (a, b)
    }

    pub(super) fn operator(&mut self) -> &'static str {
        self.pick(&["=", "=", "<>", "<", "<=", ">", ">="])
    }

    /// A constant of a type, as this dialect takes it.
    pub(super) fn any_constant(&mut self, kind: Kind) -> String {
        let text = self.pick(kind.constants());
        self.constant(kind, text)
    }

    fn any_column(&mut self, scope: &[Column]) -> Column {
        scope[self.rng.usize(..scope.len())].clone()
    }

    /// A condition that is not made of others.
    pub(super) fn test(&mut self, scope: &[Column]) -> String {
        let column = self.any_column(scope);
        let kind = column.kind;
        let name = &column.name;
        let not = if self.one_in(3) { "NOT " } else { "" };
        match self.rng.usize(0..20) {
            0..=3 => {
                let (op, value) = (self.operator(), self.any_constant(kind));
                format!("{name} {op} {value}")
            }
            4 | 5 => {
                let same: Vec<&Column> = scope
                    .iter()
                    .filter(|other| other.kind == kind && other.name != *name)
                    .collect();
                let op = self.operator();
                if same.is_empty() {
                    let value = self.any_constant(kind);
                    format!("{value} {op} {name}")
                } else {
                    let other = &same[self.rng.usize(..same.len())].name;
                    format!("{name} {op} {other}")
                }
            }
            6 | 7 => format!("{name} IS {not}NULL"),
            8 => {
                let mut list: Vec<String> = (0..self.rng.usize(1..4))
                    .map(|_| self.any_constant(kind))
                    .collect();
                if self.one_in(6) {
                    list.push("NULL".to_owned());
                }
                format!("{name} {not}IN ({})", list.join(", "))
            }
            9 => {
                let (low, high) = (self.any_constant(kind), self.any_constant(kind));
                let symmetric = if self.is(DialectName::Postgres) && self.one_in(4) {
                    "SYMMETRIC "
                } else {
                    ""
                };
                format!("{name} {not}BETWEEN {symmetric}{low} AND {high}")
            }
            10 | 16 if kind == Kind::Text => self.pattern(name, not),
            10 | 11 => {
                let (left, op) = (self.expr(kind, scope, 2), self.operator());
                let value = self.any_constant(kind);
                format!("{left} {op} {value}")
            }
            12 => {
                let (left, op) = (self.expr(kind, scope, 1), self.operator());
                let right = self.expr(kind, scope, 1);
                format!("{left} {op} {right}")
            }
            13 => {
                let (op, value) = (self.operator(), self.any_constant(kind));
                let mut verdicts = vec!["TRUE", "FALSE", "NOT TRUE", "NOT FALSE"];
                if !self.is(DialectName::Sqlite) {
                    verdicts.extend(["UNKNOWN", "NOT UNKNOWN"]);
                }
                let verdict = self.pick(&verdicts);
                format!("({name} {op} {value}) IS {verdict}")
            }
            14 => {
                let value = self.any_constant(kind);
                if self.is(DialectName::MySql) {
                    format!("{not}({name} <=> {value})")
                } else {
                    format!("{name} IS {not}DISTINCT FROM {value}")
                }
            }
            15 => self.row_values(scope),
            16 => {
                let other = self.expr(kind, scope, 1);
                let value = self.any_constant(kind);
                format!("{value} {not}IN ({name}, {other})")
            }
            17 if self.is(DialectName::Postgres) => {
                let (op, all) = (self.operator(), self.pick(&["ANY", "ALL"]));
                let (a, b) = (self.any_constant(kind), self.any_constant(kind));
                format!("{name} {op} {all} (ARRAY[{a}, {b}])")
            }
            17 | 18 if kind == Kind::Bool => format!("{not}{name}"),
            18 => {
                let (op, value) = (self.operator(), self.any_constant(kind));
                let (left, right) = (format!("({name} {op} {value})"), self.test(scope));
                let same = self.pick(&["=", "<>"]);
                format!("{left} {same} ({right})")
            }
            _ => {
                let (op, value) = (self.operator(), self.any_constant(kind));
                let inner = self.pick(&["IS NULL", "IS NOT NULL"]);
                format!("CASE WHEN {name} {inner} THEN {value} ELSE {name} END {op} {value}")
            }
        }
    }

    /// A pattern of this dialect.
    fn pattern(&mut self, name: &str, not: &str) -> String {
        let like = self.pick(&["'a%'", "'%b'", "'_'", "'%'", "'a'", "'%x%'", "'A_%'"]);
        match (self.dialect, self.rng.usize(0..6)) {
            (_, 0) => format!("{name} {not}LIKE 'a!%%' ESCAPE '!'"),
            (DialectName::Postgres, 1) => format!("{name} {not}ILIKE {like}"),
            (DialectName::Postgres, 2) => {
                let op = self.pick(&["~", "!~", "~*", "!~*"]);
                let pattern = self.pick(&["'^a'", "'b$'", "'^[ab]+$'", "'x'"]);
                format!("{name} {op} {pattern}")
            }
            (DialectName::Postgres, 3) => format!("{name} {not}SIMILAR TO '(a|b)%'"),
            (DialectName::Sqlite, 1 | 2) => {
                let pattern = self.pick(&["'a*'", "'?'", "'[ab]*'", "'A*'"]);
                format!("{name} {not}GLOB {pattern}")
            }
            (DialectName::MySql, 1 | 2) => {
                let pattern = self.pick(&["'^a'", "'b$'", "'^[ab]+$'", "'x'"]);
                format!("{name} {not}REGEXP {pattern}")
            }
            _ => format!("{name} {not}LIKE {like}"),
        }
    }

    /// Two columns at once beside two values.
    fn row_values(&mut self, scope: &[Column]) -> String {
        let (a, b) = (self.any_column(scope), self.any_column(scope));
        let (first, second) = (self.any_constant(a.kind), self.any_constant(b.kind));
        let row = format!("({}, {})", a.name, b.name);
        if self.one_in(2) {
            let (third, fourth) = (self.any_constant(a.kind), self.any_constant(b.kind));
            let not = if self.one_in(3) { "NOT " } else { "" };
            // SQLite takes a list of row values only from VALUES.
            let list = match self.dialect {
                DialectName::Sqlite => {
                    format!("VALUES ({first}, {second}), ({third}, {fourth})")
                }
                _ => format!("({first}, {second}), ({third}, {fourth})"),
            };
            return format!("{row} {not}IN ({list})");
        }
        let op = self.operator();
        format!("{row} {op} ({first}, {second})")
    }

    pub(super) fn subquery(&mut self, scope: &[Column]) -> String {
        let not = if self.one_in(3) { "NOT " } else { "" };
        let outer: Vec<Column> = if self.rng.usize(0..3) > 0 {
            scope.to_vec()
        } else {
            Vec::new()
        };
        let column = self.any_column(scope);
        match self.rng.usize(0..10) {
            0..=2 => {
                let inner = self.plain(INNER, &outer).sql;
                format!("{not}EXISTS ({inner})")
            }
            3 | 4 => {
                let inner = self.plain_of(&[column.kind], INNER, &outer).sql;
                format!("{} {not}IN ({inner})", column.name)
            }
            5 if !self.is(DialectName::Sqlite) => {
                let inner = self.plain_of(&[column.kind], INNER, &outer).sql;
                let (op, all) = (self.operator(), self.pick(&["ANY", "ALL"]));
                format!("{} {op} {all} ({inner})", column.name)
            }
            6 => {
                let other = self.any_column(scope);
                let inner = self.plain_of(&[column.kind, other.kind], INNER, &outer).sql;
                format!("({}, {}) {not}IN ({inner})", column.name, other.name)
            }
            7 => {
                let inner = self.plain_of(&[column.kind], INNER, &outer).sql;
                let op = self.operator();
                format!("{} {op} ({inner} LIMIT 1)", column.name)
            }
            _ => {
                let (from, inner) = self.from(INNER, &outer);
                let reach: Vec<Column> = inner.iter().chain(&outer).cloned().collect();
                let filter = self.filter(&reach, INNER);
                let aggregate = self.aggregate(&inner);
                let op = self.operator();
                let constant = self.any_constant(aggregate.kind);
                format!(
                    "(SELECT {} FROM {from}{filter}) {op} {constant}",
                    aggregate.name
                )
            }
        }
    }
}
