//! Random queries: all constructs that we read, small and full of contradictions.

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
const INNER: usize = usize::MAX;

/// A SELECT and the columns of its result, without a table's name before them.
struct Selected {
    sql: String,
    columns: Vec<Column>,
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

    /// A whole query.
    pub(crate) fn query(&mut self) -> String {
        let mut with = Vec::new();
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
            format!("WITH {} {}", with.join(", "), body.sql)
        };
        if self.one_in(6) {
            sql.push_str(" ORDER BY 1");
            if self.one_in(2) {
                let limit = self.rng.usize(1..4);
                sql.push_str(&format!(" LIMIT {limit}"));
                if self.one_in(3) {
                    sql.push_str(" OFFSET 1");
                }
            }
        }
        self.common.clear();
        sql
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.rng.usize(0..count) == 0
    }

    fn pick<'p>(&mut self, of: &[&'p str]) -> &'p str {
        of[self.rng.usize(..of.len())]
    }

    fn alias(&mut self, letter: &str) -> String {
        self.aliases += 1;
        format!("{letter}{}", self.aliases)
    }

    fn is(&self, dialect: DialectName) -> bool {
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
        match self.rng.usize(0..8) {
            0..=3 => Kind::Int,
            4 | 5 => Kind::Text,
            6 => Kind::Decimal,
            _ => Kind::Date,
        }
    }

    /// SELECT of expressions of these types.
    fn plain_of(&mut self, kinds: &[Kind], depth: usize, outer: &[Column]) -> Selected {
        let (from, scope) = self.from(depth, outer);
        let reach: Vec<Column> = scope.iter().chain(outer).cloned().collect();
        let mut items = Vec::new();
        let mut columns = Vec::new();
        for kind in kinds {
            let name = self.alias("c");
            let expr = self.expr(*kind, &scope, 1);
            items.push(format!("{expr} AS {name}"));
            columns.push(Column { name, kind: *kind });
        }
        let filter = self.filter(&reach, depth);
        Selected {
            sql: format!("SELECT {} FROM {from}{filter}", items.join(", ")),
            columns,
        }
    }

    fn plain(&mut self, depth: usize, outer: &[Column]) -> Selected {
        let kinds: Vec<Kind> = (0..self.rng.usize(1..4)).map(|_| self.kind()).collect();
        let mut selected = self.plain_of(&kinds, depth, outer);
        if self.one_in(8) {
            selected.sql = selected.sql.replacen("SELECT ", "SELECT DISTINCT ", 1);
        }
        selected
    }

    fn filter(&mut self, scope: &[Column], depth: usize) -> String {
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

    /// An aggregate, as a column whose name is the call.
    fn aggregate(&mut self, scope: &[Column]) -> Column {
        let argument = scope[self.rng.usize(..scope.len())].clone();
        let numeric = matches!(argument.kind, Kind::Int | Kind::Decimal);
        let distinct = if self.one_in(4) { "DISTINCT " } else { "" };
        let (call, kind) = match self.rng.usize(0..8) {
            0 | 1 => ("COUNT(*)".to_owned(), Kind::Int),
            2 => (format!("COUNT({distinct}{})", argument.name), Kind::Int),
            3 | 4 => (format!("MIN({})", argument.name), argument.kind),
            5 | 6 if !numeric => (format!("MAX({})", argument.name), argument.kind),
            5 => (format!("SUM({distinct}{})", argument.name), argument.kind),
            6 => (format!("AVG({})", argument.name), Kind::Decimal),
            _ => (format!("MAX({})", argument.name), argument.kind),
        };
        let filtered = !self.is(DialectName::MySql) && self.one_in(10);
        let name = if filtered {
            let condition = self.condition(scope, 0, false);
            format!("{call} FILTER (WHERE {condition})")
        } else {
            call
        };
        Column { name, kind }
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

    fn window(&mut self, scope: &[Column]) -> (String, Kind) {
        let column = scope[self.rng.usize(..scope.len())].clone();
        let by = scope[self.rng.usize(..scope.len())].name.clone();
        let order = scope[self.rng.usize(..scope.len())].name.clone();
        let partition = if self.one_in(2) {
            format!("PARTITION BY {by} ")
        } else {
            String::new()
        };
        let direction = if self.one_in(3) { " DESC" } else { "" };
        let over = format!("OVER ({partition}ORDER BY {order}{direction})");
        let name = &column.name;
        let (call, kind) = match self.rng.usize(0..10) {
            0 | 1 => ("ROW_NUMBER()".to_owned(), Kind::Int),
            2 => ("RANK()".to_owned(), Kind::Int),
            3 => ("DENSE_RANK()".to_owned(), Kind::Int),
            4 => (format!("LAG({name})"), column.kind),
            5 => (format!("LEAD({name})"), column.kind),
            6 => (format!("FIRST_VALUE({name})"), column.kind),
            7 => ("NTILE(2)".to_owned(), Kind::Int),
            8 => ("COUNT(*)".to_owned(), Kind::Int),
            _ => (format!("MAX({name})"), column.kind),
        };
        (format!("{call} {over}"), kind)
    }

    /// FROM, and the columns that it brings.
    fn from(&mut self, depth: usize, outer: &[Column]) -> (String, Vec<Column>) {
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
                sql = format!("{sql} CROSS JOIN {right}");
                scope.extend(columns);
                continue;
            }
            let on = self.on(&scope, &columns, full);
            sql = format!("{sql} {kind} {right} ON {on}");
            scope.extend(columns);
        }
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
            return (
                format!("({}) {alias}", inner.sql),
                qualified(&alias, &inner.columns),
            );
        }
        let table = &self.tables[self.rng.usize(..self.tables.len())];
        let alias = self.alias("r");
        let columns: Vec<Column> = table
            .columns
            .iter()
            .map(|column| Column {
                name: format!("{alias}.{}", column.name),
                kind: column.kind,
            })
            .collect();
        (format!("{} {alias}", table.name), columns)
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
                    return format!("({a} OR {b})");
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

    fn operator(&mut self) -> &'static str {
        self.pick(&["=", "=", "<>", "<", "<=", ">", ">="])
    }

    /// A condition that is not made of others.
    fn test(&mut self, scope: &[Column]) -> String {
        let column = scope[self.rng.usize(..scope.len())].clone();
        let kind = column.kind;
        let name = &column.name;
        let constant = |writer: &mut Self| {
            let of = kind.constants();
            let text = of[writer.rng.usize(..of.len())];
            writer.constant(kind, text)
        };
        let not = if self.one_in(3) { "NOT " } else { "" };
        match self.rng.usize(0..16) {
            0..=3 => {
                let (op, value) = (self.operator(), constant(self));
                format!("{name} {op} {value}")
            }
            4 | 5 => {
                let same: Vec<&Column> = scope
                    .iter()
                    .filter(|other| other.kind == kind && other.name != *name)
                    .collect();
                let op = self.operator();
                if same.is_empty() {
                    let value = constant(self);
                    format!("{value} {op} {name}")
                } else {
                    let other = &same[self.rng.usize(..same.len())].name;
                    format!("{name} {op} {other}")
                }
            }
            6 | 7 => format!("{name} IS {not}NULL"),
            8 => {
                let mut list: Vec<String> =
                    (0..self.rng.usize(1..4)).map(|_| constant(self)).collect();
                if self.one_in(6) {
                    list.push("NULL".to_owned());
                }
                format!("{name} {not}IN ({})", list.join(", "))
            }
            9 => {
                let (low, high) = (constant(self), constant(self));
                format!("{name} {not}BETWEEN {low} AND {high}")
            }
            10 if kind == Kind::Text => {
                let pattern = self.pick(&["'a%'", "'%b'", "'_'", "'%'", "'a'", "'%x%'"]);
                format!("{name} {not}LIKE {pattern}")
            }
            10 | 11 => {
                let (left, op) = (self.expr(kind, scope, 2), self.operator());
                let value = constant(self);
                format!("{left} {op} {value}")
            }
            12 => {
                let (left, op) = (self.expr(kind, scope, 1), self.operator());
                let right = self.expr(kind, scope, 1);
                format!("{left} {op} {right}")
            }
            13 => {
                let (op, value) = (self.operator(), constant(self));
                let verdict = self.pick(&["TRUE", "FALSE", "NOT TRUE", "NOT FALSE"]);
                format!("({name} {op} {value}) IS {verdict}")
            }
            14 if !self.is(DialectName::MySql) => {
                let value = constant(self);
                format!("{name} IS {not}DISTINCT FROM {value}")
            }
            _ => {
                let (op, value) = (self.operator(), constant(self));
                let inner = self.pick(&["IS NULL", "IS NOT NULL"]);
                format!("CASE WHEN {name} {inner} THEN {value} ELSE {name} END {op} {value}")
            }
        }
    }

    /// A constant as this dialect takes it.
    fn constant(&self, kind: Kind, text: &str) -> String {
        match (kind, self.dialect) {
            (Kind::Date, DialectName::Postgres) => format!("DATE {text}"),
            _ => text.to_owned(),
        }
    }

    /// An expression of a type.
    fn expr(&mut self, kind: Kind, scope: &[Column], depth: usize) -> String {
        let fitting: Vec<&Column> = scope.iter().filter(|column| column.kind == kind).collect();
        let of = kind.constants();
        let constant = of[self.rng.usize(..of.len())];
        let constant = self.constant(kind, constant);
        if fitting.is_empty() {
            return match (kind, self.dialect) {
                (Kind::Text, DialectName::Postgres) => format!("CAST({constant} AS VARCHAR(8))"),
                _ => constant,
            };
        }
        let name = fitting[self.rng.usize(..fitting.len())].name.clone();
        if depth == 0 || self.one_in(2) {
            return name;
        }
        match (kind, self.rng.usize(0..6)) {
            (Kind::Int, 0) => format!("{name} + {constant}"),
            (Kind::Int, 1) => format!("{name} * 2 - {constant}"),
            (Kind::Int, 2) => format!("ABS({name})"),
            (Kind::Int, 3) => format!("{name} % 2"),
            (Kind::Decimal, 0) => format!("{name} + {constant}"),
            (Kind::Decimal, 1) => format!("-{name}"),
            (Kind::Text, 0) => format!("UPPER({name})"),
            (Kind::Text, 1) => format!("SUBSTR({name}, 1, 1)"),
            (Kind::Text, 2) => format!("TRIM({name})"),
            (Kind::Date, 0..=2) => name,
            (_, 4) => format!("NULLIF({name}, {constant})"),
            (_, 5) => {
                let (test, other) = (self.test(scope), self.expr(kind, scope, depth - 1));
                format!("CASE WHEN {test} THEN {name} ELSE {other} END")
            }
            _ => format!("COALESCE({name}, {constant})"),
        }
    }

    fn subquery(&mut self, scope: &[Column]) -> String {
        let not = if self.one_in(3) { "NOT " } else { "" };
        let outer: Vec<Column> = if self.rng.usize(0..3) > 0 {
            scope.to_vec()
        } else {
            Vec::new()
        };
        let column = scope[self.rng.usize(..scope.len())].clone();
        match self.rng.usize(0..8) {
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
            _ => {
                let (from, inner) = self.from(INNER, &outer);
                let reach: Vec<Column> = inner.iter().chain(&outer).cloned().collect();
                let filter = self.filter(&reach, INNER);
                let aggregate = self.aggregate(&inner);
                let op = self.operator();
                let of = aggregate.kind.constants();
                let constant = of[self.rng.usize(..of.len())];
                let constant = self.constant(aggregate.kind, constant);
                format!(
                    "(SELECT {} FROM {from}{filter}) {op} {constant}",
                    aggregate.name
                )
            }
        }
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
