//! Random queries: all constructs that we read, small and full of contradictions. Conditions and expressions
//! have files of their own.

use isobath_sql::DialectName;

use super::tables::{Kind, Table};

/// A column that a query can name, as it names it.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// Writes random SQL of one dialect over given tables.
pub(crate) struct Writer<'w> {
    pub(crate) rng: &'w mut fastrand::Rng,
    pub(crate) dialect: DialectName,
    pub(crate) tables: &'w [Table],
    /// Common table expressions in scope.
    common: Vec<(String, Vec<Column>)>,
    aliases: usize,
}

/// In place of a depth: a subquery, with none of its own.
pub(super) const INNER: usize = usize::MAX;

/// A SELECT and the columns of its result, without a table's name before them.
pub(super) struct Selected {
    pub(super) sql: String,
    pub(super) columns: Vec<Column>,
}

impl<'w> Writer<'w> {
    pub(crate) fn new(
        rng: &'w mut fastrand::Rng,
        dialect: DialectName,
        tables: &'w [Table],
    ) -> Self {
        Self {
            rng,
            dialect,
            tables,
            common: Vec::new(),
            aliases: 0,
        }
    }

    /// A whole query.
    pub(crate) fn query(&mut self) -> String {
        if self.one_in(20) {
            return self.change();
        }
        let mut with = Vec::new();
        let recursive = self.one_in(24);
        if recursive {
            let (name, column) = (self.alias("w"), self.alias("c"));
            let most = self.rng.usize(1..5);
            with.push(format!(
                "{name} ({column}) AS (SELECT 1 UNION ALL SELECT {column} + 1 FROM {name} WHERE {column} < {most})"
            ));
            let kind = Kind::Int;
            self.common
                .push((name, vec![Column { name: column, kind }]));
        }
        for _ in 0..self.one_in(8).into() {
            let name = self.alias("w");
            let inner = self.body(0, &[]);
            with.push(format!("{name} AS ({})", inner.sql));
            self.common.push((name, inner.columns));
        }
        // Small queries are what contradicts itself soonest, and what is proven at once.
        let depth = usize::from(self.one_in(4));
        let body = self.body(depth, &[]);
        let mut sql = if with.is_empty() {
            body.sql
        } else {
            let recursive = if recursive { "RECURSIVE " } else { "" };
            format!("WITH {recursive}{} {}", with.join(", "), body.sql)
        };
        if self.one_in(6) {
            let order = self.pick(&[" ORDER BY 1", " ORDER BY 1 DESC"]);
            sql.push_str(order);
            if self.one_in(2) {
                let limit = self.rng.usize(0..4);
                sql.push_str(&format!(" LIMIT {limit}"));
                if self.one_in(3) {
                    sql.push_str(" OFFSET 1");
                }
            }
        }
        self.common.clear();
        sql
    }

    /// A statement that changes rows.
    fn change(&mut self) -> String {
        let table = &self.tables[self.rng.usize(..self.tables.len())];
        let scope = own_columns(table, "");
        let condition = self.condition(&scope, 1, true);
        if self.one_in(2) {
            return format!("DELETE FROM {} WHERE {condition}", table.name);
        }
        let column = scope[self.rng.usize(..scope.len())].clone();
        let value = self.expr(column.kind, &scope, 1);
        format!(
            "UPDATE {} SET {} = {value} WHERE {condition}",
            table.name, column.name
        )
    }

    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.rng.usize(0..count) == 0
    }

    pub(super) fn pick<'p>(&mut self, of: &[&'p str]) -> &'p str {
        of[self.rng.usize(..of.len())]
    }

    pub(super) fn alias(&mut self, letter: &str) -> String {
        self.aliases += 1;
        format!("{letter}{}", self.aliases)
    }

    pub(super) fn is(&self, dialect: DialectName) -> bool {
        self.dialect == dialect
    }

    /// A SELECT, or a set operation of two.
    fn body(&mut self, depth: usize, outer: &[Column]) -> Selected {
        if self.one_in(10) {
            let kinds: Vec<Kind> = (0..self.rng.usize(1..3)).map(|_| self.kind()).collect();
            let left = self.plain_of(&kinds, 0, outer);
            let right = self.plain_of(&kinds, 0, outer);
            let op = match self.dialect {
                DialectName::Sqlite => self.pick(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]),
                _ => self.pick(&[
                    "UNION",
                    "UNION ALL",
                    "INTERSECT",
                    "EXCEPT",
                    "INTERSECT ALL",
                    "EXCEPT ALL",
                ]),
            };
            return Selected {
                sql: format!("{} {op} {}", left.sql, right.sql),
                columns: left.columns,
            };
        }
        match self.rng.usize(0..10) {
            0..=2 => self.grouped(depth, outer),
            3 | 4 => self.windowed(outer),
            _ => self.plain(depth, outer),
        }
    }

    fn kind(&mut self) -> Kind {
        Kind::any(self.rng)
    }

    /// SELECT of expressions of these types.
    pub(super) fn plain_of(&mut self, kinds: &[Kind], depth: usize, outer: &[Column]) -> Selected {
        let (from, scope) = self.from(depth, outer);
        let reach: Vec<Column> = scope.iter().chain(outer).cloned().collect();
        let mut items = Vec::new();
        let mut columns = Vec::new();
        for kind in kinds {
            let name = self.alias("c");
            let expr = if outer_most(depth) && self.one_in(16) {
                let inner = self.plain_of(&[*kind], INNER, &scope).sql;
                format!("({inner} LIMIT 1)")
            } else {
                self.expr(*kind, &scope, 1)
            };
            items.push(format!("{expr} AS {name}"));
            columns.push(Column { name, kind: *kind });
        }
        let filter = self.filter(&reach, depth);
        Selected {
            sql: format!("SELECT {} FROM {from}{filter}", items.join(", ")),
            columns,
        }
    }

    pub(super) fn plain(&mut self, depth: usize, outer: &[Column]) -> Selected {
        let kinds: Vec<Kind> = (0..self.rng.usize(1..4)).map(|_| self.kind()).collect();
        let mut selected = self.plain_of(&kinds, depth, outer);
        if self.one_in(8) {
            let first = &selected.columns[0].name;
            if self.is(DialectName::Postgres) && self.one_in(3) && outer_most(depth) {
                let inner = format!("({}) {}", selected.sql, self.alias("d"));
                selected.sql = format!("SELECT DISTINCT ON ({first}) * FROM {inner}");
            } else {
                selected.sql = selected.sql.replacen("SELECT ", "SELECT DISTINCT ", 1);
            }
        }
        selected
    }

    pub(super) fn filter(&mut self, scope: &[Column], depth: usize) -> String {
        if self.one_in(6) {
            return String::new();
        }
        let parts = 1 + usize::from(self.one_in(4));
        let nests = outer_most(depth) && self.one_in(2);
        format!(" WHERE {}", self.condition(scope, parts, nests))
    }

    fn grouped(&mut self, depth: usize, outer: &[Column]) -> Selected {
        let (from, scope) = self.from(depth, outer);
        let reach: Vec<Column> = scope.iter().chain(outer).cloned().collect();
        let filter = self.filter(&reach, depth);
        let mut keys: Vec<Column> = Vec::new();
        for _ in 0..self.rng.usize(0..3) {
            let key = scope[self.rng.usize(..scope.len())].clone();
            if keys.iter().all(|known| known.name != key.name) {
                keys.push(key);
            }
        }
        let mut items = Vec::new();
        let mut columns = Vec::new();
        let mut having = Vec::new();
        for key in &keys {
            let name = self.alias("c");
            items.push(format!("{} AS {name}", key.name));
            columns.push(Column {
                name,
                kind: key.kind,
            });
            having.push(key.clone());
        }
        for _ in 0..self.rng.usize(1..4) {
            let aggregate = self.aggregate(&scope);
            let name = self.alias("c");
            items.push(format!("{} AS {name}", aggregate.name));
            columns.push(Column {
                name,
                kind: aggregate.kind,
            });
            having.push(aggregate);
        }
        let extra = self.aggregate(&scope);
        having.push(extra);
        let names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
        let mut sql = format!("SELECT {} FROM {from}{filter}", items.join(", "));
        if !names.is_empty() {
            let list = names.join(", ");
            let by = match (self.dialect, self.rng.usize(0..8)) {
                (DialectName::Postgres, 0) => format!("ROLLUP ({list})"),
                (DialectName::Postgres, 1) => format!("CUBE ({list})"),
                (DialectName::Postgres, 2) => format!("GROUPING SETS (({list}), ())"),
                (DialectName::Postgres, 3) => {
                    let sets: Vec<String> = names.iter().map(|name| format!("({name})")).collect();
                    format!("GROUPING SETS ({})", sets.join(", "))
                }
                (DialectName::MySql, 0) => format!("{list} WITH ROLLUP"),
                _ => list,
            };
            sql.push_str(&format!(" GROUP BY {by}"));
        }
        if self.rng.usize(0..4) > 0 {
            let condition = self.condition(&having, 1, false);
            sql.push_str(&format!(" HAVING {condition}"));
        }
        Selected { sql, columns }
    }

    /// A derived table with window functions, and a SELECT over it.
    fn windowed(&mut self, outer: &[Column]) -> Selected {
        let (from, scope) = self.from(0, outer);
        let filter = if self.one_in(2) {
            self.filter(&scope, 0)
        } else {
            String::new()
        };
        let mut items = Vec::new();
        let mut columns = Vec::new();
        for _ in 0..self.rng.usize(1..3) {
            let column = scope[self.rng.usize(..scope.len())].clone();
            let name = self.alias("c");
            items.push(format!("{} AS {name}", column.name));
            columns.push(Column {
                name,
                kind: column.kind,
            });
        }
        for _ in 0..self.rng.usize(1..3) {
            let (call, kind) = self.window(&scope);
            let name = self.alias("c");
            items.push(format!("{call} AS {name}"));
            columns.push(Column { name, kind });
        }
        let inner = format!("SELECT {} FROM {from}{filter}", items.join(", "));
        let alias = self.alias("d");
        let qualified: Vec<Column> = columns
            .iter()
            .map(|column| Column {
                name: format!("{alias}.{}", column.name),
                kind: column.kind,
            })
            .collect();
        let condition = self.condition(&qualified, 1, false);
        let items: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        Selected {
            sql: format!(
                "SELECT {} FROM ({inner}) {alias} WHERE {condition}",
                items.join(", ")
            ),
            columns,
        }
    }

    /// FROM, and the columns that it brings.
    pub(super) fn from(&mut self, depth: usize, outer: &[Column]) -> (String, Vec<Column>) {
        let (mut sql, mut scope) = self.relation(depth);
        let joins = match self.rng.usize(0..8) {
            0..=3 => 0,
            4..=6 => 1,
            _ => 1 + usize::from(depth > 0 && depth != INNER),
        };
        for _ in 0..joins {
            if self.is(DialectName::Postgres) && self.one_in(8) {
                let reach: Vec<Column> = scope.iter().chain(outer).cloned().collect();
                let inner = self.plain(INNER, &reach);
                let alias = self.alias("l");
                let (join, on) = if self.one_in(2) {
                    ("LEFT JOIN", " ON true")
                } else {
                    ("CROSS JOIN", "")
                };
                sql = format!("{sql} {join} LATERAL ({}) {alias}{on}", inner.sql);
                scope.extend(qualified(&alias, &inner.columns));
                continue;
            }
            if self.one_in(8) && joins == 1 {
                return self.shared_names();
            }
            let (right, columns) = if self.one_in(4) {
                self.nested(depth)
            } else {
                self.relation(depth)
            };
            let full = !self.is(DialectName::MySql) && self.one_in(8);
            let kind = if full {
                "FULL JOIN"
            } else {
                self.pick(&[
                    "JOIN",
                    "JOIN",
                    "LEFT JOIN",
                    "LEFT JOIN",
                    "RIGHT JOIN",
                    "CROSS JOIN",
                ])
            };
            if kind == "CROSS JOIN" {
                let cross = self.pick(&[" CROSS JOIN", ","]);
                sql = format!("{sql}{cross} {right}");
                scope.extend(columns);
                continue;
            }
            let on = self.on(&scope, &columns, full);
            sql = format!("{sql} {kind} {right} ON {on}");
            scope.extend(columns);
        }
        (sql, scope)
    }

    /// A join by columns of the same name.
    fn shared_names(&mut self) -> (String, Vec<Column>) {
        let key = self.alias("k");
        let mut sides = Vec::new();
        let mut scope = Vec::new();
        for _ in 0..2 {
            let table = &self.tables[self.rng.usize(..self.tables.len())];
            let (alias, own) = (self.alias("d"), self.alias("c"));
            let other = table.columns.last().unwrap_or(&table.columns[0]);
            sides.push(format!(
                "(SELECT {} AS {key}, {} AS {own} FROM {}) {alias}",
                table.columns[0].name, other.name, table.name
            ));
            scope.push(Column {
                name: format!("{alias}.{own}"),
                kind: other.kind,
            });
        }
        // The key itself is named without a table, once for both sides.
        scope.push(Column {
            name: key.clone(),
            kind: Kind::Int,
        });
        let kind = self.pick(&["JOIN", "LEFT JOIN", "RIGHT JOIN"]);
        let sql = if self.one_in(2) {
            format!("{} NATURAL {kind} {}", sides[0], sides[1])
        } else {
            format!("{} {kind} {} USING ({key})", sides[0], sides[1])
        };
        (sql, scope)
    }

    /// A join in parentheses.
    fn nested(&mut self, depth: usize) -> (String, Vec<Column>) {
        let (left, mut scope) = self.relation(depth);
        let (right, columns) = self.relation(depth);
        let kind = self.pick(&["JOIN", "LEFT JOIN", "RIGHT JOIN"]);
        let on = self.on(&scope, &columns, false);
        scope.extend(columns);
        (format!("({left} {kind} {right} ON {on})"), scope)
    }

    fn on(&mut self, left: &[Column], right: &[Column], full: bool) -> String {
        let mut pairs = Vec::new();
        for a in left {
            for b in right.iter().filter(|b| b.kind == a.kind) {
                pairs.push((a.name.clone(), b.name.clone()));
            }
        }
        let equal = if pairs.is_empty() {
            None
        } else {
            let (a, b) = &pairs[self.rng.usize(..pairs.len())];
            Some(format!("{a} = {b}"))
        };
        match equal {
            Some(equal) if full || self.rng.usize(0..3) > 0 => equal,
            None if full => "true".to_owned(),
            equal => {
                let both: Vec<Column> = left.iter().chain(right).cloned().collect();
                let condition = self.condition(&both, 1, false);
                match equal {
                    Some(equal) if self.one_in(2) => format!("{equal} AND {condition}"),
                    _ => condition,
                }
            }
        }
    }

    /// Rows that the query itself brings.
    fn listed(&mut self) -> (String, Vec<Column>) {
        let (alias, column) = (self.alias("v"), self.alias("c"));
        let kind = self.kind();
        let (a, b) = (self.any_constant(kind), self.any_constant(kind));
        let sql = if self.is(DialectName::Postgres) {
            format!("(VALUES ({a}), ({b})) {alias} ({column})")
        } else {
            format!("(SELECT {a} AS {column} UNION ALL SELECT {b}) {alias}")
        };
        let name = format!("{alias}.{column}");
        (sql, vec![Column { name, kind }])
    }

    fn relation(&mut self, depth: usize) -> (String, Vec<Column>) {
        if !self.common.is_empty() && self.one_in(2) {
            let (name, columns) = self.common[self.rng.usize(..self.common.len())].clone();
            let alias = self.alias("r");
            return (format!("{name} {alias}"), qualified(&alias, &columns));
        }
        if depth > 0 && depth != INNER && self.one_in(3) {
            // A derived table sees nothing of the row around it.
            let inner = self.body(depth - 1, &[]);
            let alias = self.alias("d");
            let limit = if self.one_in(6) { " LIMIT 1" } else { "" };
            return (
                format!("({}{limit}) {alias}", inner.sql),
                qualified(&alias, &inner.columns),
            );
        }
        if self.one_in(20) {
            return self.listed();
        }
        let table = &self.tables[self.rng.usize(..self.tables.len())];
        let alias = self.alias("r");
        let columns = own_columns(table, &format!("{alias}."));
        (format!("{} {alias}", table.name), columns)
    }
}

/// Whether a SELECT of this depth may have subqueries in its conditions.
fn outer_most(depth: usize) -> bool {
    depth != INNER
}

fn qualified(alias: &str, columns: &[Column]) -> Vec<Column> {
    columns
        .iter()
        .map(|column| Column {
            name: format!("{alias}.{}", column.name),
            kind: column.kind,
        })
        .collect()
}

fn own_columns(table: &Table, before: &str) -> Vec<Column> {
    let columns = table.columns.iter();
    columns
        .map(|column| Column {
            name: format!("{before}{}", column.name),
            kind: column.kind,
        })
        .collect()
}
