//! Queries at random, as text: every construct that the evaluator knows, over three small tables.

use fastrand::Rng;
use isobath_sql::DialectName;

/// A query with what is needed to compare its rows.
pub(crate) struct Query {
    pub(crate) sql: String,
    /// Whether ORDER BY settles the place of every row.
    pub(crate) ordered: bool,
    /// The constructs in it.
    pub(crate) tags: Vec<&'static str>,
}

/// The tables, alike so that any column can meet any other.
pub(crate) const TABLES: [&str; 3] = ["p", "q", "u"];
/// Their columns.
pub(crate) const COLUMNS: &str =
    "id INTEGER, a INTEGER, b INTEGER, s VARCHAR(10), d DATE, n DECIMAL(8,2)";

pub(crate) const INTS: [&str; 3] = ["id", "a", "b"];

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Int,
    Text,
    Date,
    Decimal,
}

/// A relation of FROM, with the columns that may be asked of it.
#[derive(Clone)]
pub(crate) struct Named {
    pub(crate) alias: String,
    pub(crate) columns: Vec<(String, Sort)>,
}

pub(crate) struct Writer {
    pub(crate) rng: Rng,
    pub(crate) dialect: DialectName,
    pub(crate) aliases: usize,
    pub(crate) tags: Vec<&'static str>,
}

impl Writer {
    /// A query.
    pub(crate) fn query(&mut self) -> Query {
        self.tags.clear();
        self.aliases = 0;
        let (sql, ordered) = match self.rng.u8(..19) {
            0..=3 => self.plain(2),
            4 | 5 => self.grouped(),
            6 => self.totals(),
            7 => self.set(),
            8 => self.derived(),
            9 => self.common(),
            10 => self.window(),
            11 => self.frames(),
            12 => self.recursive(),
            13 => self.lateral(),
            14 => self.grouping_sets(),
            15 => self.first_of_each(),
            16 => self.rows_of_values(),
            17 => self.merged(),
            _ => self.plain(3),
        };
        let mut tags = std::mem::take(&mut self.tags);
        tags.sort_unstable();
        tags.dedup();
        Query { sql, ordered, tags }
    }

    pub(crate) fn tag(&mut self, tag: &'static str) {
        self.tags.push(tag);
    }

    pub(crate) fn pick<'p, T>(&mut self, options: &'p [T]) -> &'p T {
        &options[self.rng.usize(..options.len())]
    }

    pub(crate) fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("t{}", self.aliases)
    }

    pub(crate) fn table(&mut self) -> (String, Named) {
        let (table, alias) = (*self.pick(&TABLES), self.alias());
        let columns = [
            ("id", Sort::Int),
            ("a", Sort::Int),
            ("b", Sort::Int),
            ("s", Sort::Text),
            ("d", Sort::Date),
            ("n", Sort::Decimal),
        ];
        let named = Named {
            alias: alias.clone(),
            columns: columns.map(|(name, sort)| (name.to_owned(), sort)).to_vec(),
        };
        (format!("{table} {alias}"), named)
    }

    /// FROM with up to three relations, and the relations.
    pub(crate) fn from(&mut self, most: usize) -> (String, Vec<Named>) {
        let (mut sql, named) = self.table();
        let mut scope = vec![named];
        for _ in 1..self.rng.usize(1..=most) {
            let (table, named) = self.table();
            let left = scope.clone();
            scope.push(named);
            let kinds: &[&str] = match self.dialect {
                DialectName::MySql => &["JOIN", "LEFT JOIN", "RIGHT JOIN", ",", "CROSS JOIN"],
                _ => &[
                    "JOIN",
                    "LEFT JOIN",
                    "RIGHT JOIN",
                    "FULL JOIN",
                    ",",
                    "CROSS JOIN",
                ],
            };
            match *self.pick(kinds) {
                "," if !sql.contains("JOIN") => {
                    self.tag("comma join");
                    sql = format!("{sql}, {table}");
                }
                "," | "CROSS JOIN" => {
                    self.tag("cross join");
                    sql = format!("{sql} CROSS JOIN {table}");
                }
                "FULL JOIN" => {
                    self.tag("full join");
                    // PostgreSQL joins fully only by equalities.
                    let (x, y) = (
                        self.int_column(&left),
                        self.int_column(&scope[scope.len() - 1..]),
                    );
                    // A comma binds less than JOIN, so the left side may not be in sight.
                    if sql.contains(", ") {
                        sql = format!("{sql} CROSS JOIN {table}");
                    } else {
                        sql = format!("{sql} FULL JOIN {table} ON {x} = {y}");
                    }
                }
                kind => {
                    self.tag(match kind {
                        "LEFT JOIN" => "left join",
                        "RIGHT JOIN" => "right join",
                        _ => "inner join",
                    });
                    if sql.contains(", ") {
                        sql = format!("{sql} CROSS JOIN {table}");
                        continue;
                    }
                    let on = if self.rng.bool() {
                        let right = &scope[scope.len() - 1..];
                        format!("{} = {}", self.int_column(&left), self.int_column(right))
                    } else {
                        self.condition(&scope.clone(), 1)
                    };
                    sql = format!("{sql} {kind} {table} ON {on}");
                }
            }
        }
        (sql, scope)
    }

    pub(crate) fn column(&mut self, scope: &[Named], sort: Sort) -> Option<String> {
        let all: Vec<String> = scope
            .iter()
            .flat_map(|named| {
                let of_sort = named
                    .columns
                    .iter()
                    .filter(move |(_, other)| *other == sort);
                of_sort.map(move |(name, _)| format!("{}.{name}", named.alias))
            })
            .collect();
        (!all.is_empty()).then(|| self.pick(&all).clone())
    }

    pub(crate) fn int_column(&mut self, scope: &[Named]) -> String {
        self.column(scope, Sort::Int)
            .unwrap_or_else(|| "1".to_owned())
    }

    pub(crate) fn int(&mut self, scope: &[Named], depth: usize) -> String {
        match self.rng.u8(..if depth == 0 { 6 } else { 12 }) {
            0..=3 => self.int_column(scope),
            4 | 5 => self.rng.i8(-1..5).to_string(),
            6 => format!(
                "({} + {})",
                self.int(scope, depth - 1),
                self.int(scope, depth - 1)
            ),
            7 => format!(
                "({} - {})",
                self.int(scope, depth - 1),
                self.int_column(scope)
            ),
            8 => {
                self.tag("coalesce");
                let name = if self.dialect == DialectName::Postgres || self.rng.bool() {
                    "COALESCE"
                } else {
                    "IFNULL"
                };
                format!(
                    "{name}({}, {})",
                    self.int_column(scope),
                    self.int(scope, depth - 1)
                )
            }
            9 => {
                self.tag("case");
                format!(
                    "CASE WHEN {} THEN {} ELSE {} END",
                    self.condition(scope, depth - 1),
                    self.int(scope, depth - 1),
                    self.int_column(scope)
                )
            }
            10 => {
                self.tag("scalar subquery");
                let (from, inner) = self.from(1);
                let mut all = scope.to_vec();
                all.extend(inner.clone());
                let function = *self.pick(&["MAX", "MIN", "COUNT", "SUM"]);
                let argument = self.int_column(&inner);
                let condition = self.condition(&all, depth - 1);
                format!("(SELECT {function}({argument}) FROM {from} WHERE {condition})")
            }
            _ => format!("ABS({})", self.int_column(scope)),
        }
    }

    pub(crate) fn word(&mut self) -> String {
        format!("'{}'", self.pick(&["", "a", "A", "b", "ab", "abc", "B"]))
    }

    /// A value of a sort, from the scope or a constant.
    pub(crate) fn value(&mut self, scope: &[Named], sort: Sort) -> String {
        match sort {
            Sort::Int => self.int(scope, 1),
            Sort::Text => {
                let column = self.column(scope, Sort::Text);
                match (column, self.rng.u8(..4)) {
                    (Some(column), 0) => {
                        let word = self.word();
                        format!("COALESCE({column}, {word})")
                    }
                    (Some(column), 1 | 2) => column,
                    _ => self.word(),
                }
            }
            Sort::Date => {
                let literal = format!("'2020-01-0{}'", self.rng.u8(1..5));
                match (self.column(scope, Sort::Date), self.rng.bool()) {
                    (Some(column), true) => column,
                    _ if self.dialect == DialectName::Sqlite => literal,
                    _ => format!("DATE {literal}"),
                }
            }
            Sort::Decimal => match (self.column(scope, Sort::Decimal), self.rng.bool()) {
                (Some(column), true) => column,
                _ => format!("{}.5", self.rng.u8(..4)),
            },
        }
    }

    pub(crate) fn condition(&mut self, scope: &[Named], depth: usize) -> String {
        let all = if depth == 0 { 8 } else { 19 };
        match self.rng.u8(..all) {
            0..=2 => {
                let op = *self.pick(&["=", "<>", "<", "<=", ">", ">="]);
                format!("{} {op} {}", self.int_column(scope), self.int(scope, depth))
            }
            3 => {
                let sort = *self.pick(&[Sort::Text, Sort::Date, Sort::Decimal]);
                let op = *self.pick(&["=", "<>", "<", ">="]);
                match self.column(scope, sort) {
                    Some(column) => format!("{column} {op} {}", self.value(scope, sort)),
                    None => format!("{} {op} 1", self.int_column(scope)),
                }
            }
            4 => {
                let sort = *self.pick(&[Sort::Int, Sort::Text]);
                let not = *self.pick(&["", "NOT "]);
                let column = self.column(scope, sort).unwrap_or_else(|| "1".to_owned());
                format!("{column} IS {not}NULL")
            }
            5 => {
                let not = *self.pick(&["", "NOT "]);
                let last = *self.pick(&["3", "NULL", "0"]);
                format!("{} {not}IN (1, 2, {last})", self.int_column(scope))
            }
            6 => format!(
                "{} BETWEEN 0 AND {}",
                self.int_column(scope),
                self.int(scope, 0)
            ),
            7 => match self.column(scope, Sort::Text) {
                Some(column) => {
                    let pattern = *self.pick(&["a%", "%b", "_", "%b%"]);
                    format!("{column} LIKE '{pattern}'")
                }
                None => "1 = 1".to_owned(),
            },
            8..=10 => format!(
                "({} AND {})",
                self.condition(scope, depth - 1),
                self.condition(scope, depth - 1)
            ),
            11 | 12 => format!(
                "({} OR {})",
                self.condition(scope, depth - 1),
                self.condition(scope, depth - 1)
            ),
            13 => format!("NOT ({})", self.condition(scope, depth - 1)),
            14 | 15 => {
                let not = *self.pick(&["", "NOT "]);
                self.tag("exists");
                let (from, inner) = self.from(2);
                let mut all = scope.to_vec();
                all.extend(inner);
                format!(
                    "{not}EXISTS (SELECT 1 FROM {from} WHERE {})",
                    self.condition(&all, depth - 1)
                )
            }
            16 | 17 => {
                let not = *self.pick(&["", "NOT "]);
                self.tag("in subquery");
                let (from, inner) = self.from(2);
                let mut all = scope.to_vec();
                all.extend(inner.clone());
                let filter = if self.rng.bool() {
                    format!(" WHERE {}", self.condition(&all, depth - 1))
                } else {
                    String::new()
                };
                let sort = *self.pick(&[Sort::Int, Sort::Int, Sort::Text]);
                let left = self.column(scope, sort).unwrap_or_else(|| "1".to_owned());
                let item = if left == "1" {
                    self.int_column(&inner)
                } else {
                    self.column(&inner, sort).unwrap_or_else(|| "1".to_owned())
                };
                format!("{left} {not}IN (SELECT {item} FROM {from}{filter})")
            }
            _ if self.dialect == DialectName::Sqlite => {
                let (x, y) = (self.int_column(scope), self.int_column(scope));
                format!("{x} = {y}")
            }
            _ => {
                self.tag("quantified");
                let (from, inner) = self.from(1);
                let (op, all) = (
                    *self.pick(&["=", "<", ">=", "<>"]),
                    *self.pick(&["ALL", "ANY"]),
                );
                let item = self.int_column(&inner);
                let mut both = scope.to_vec();
                both.extend(inner);
                let filter = self.condition(&both, depth - 1);
                format!(
                    "{} {op} {all} (SELECT {item} FROM {from} WHERE {filter})",
                    self.int_column(scope)
                )
            }
        }
    }

    /// `ORDER BY` every column of the result, and perhaps LIMIT.
    pub(crate) fn order(&mut self, width: usize) -> (String, bool) {
        if self.rng.bool() {
            return (String::new(), false);
        }
        self.tag("order by");
        let keys: Vec<String> = (1..=width)
            .map(|position| format!("{position}{}", self.pick(&["", " DESC", " ASC"])))
            .collect();
        let mut sql = format!(" ORDER BY {}", keys.join(", "));
        if self.rng.bool() {
            self.tag("limit");
            sql = format!("{sql} LIMIT {}", self.rng.u8(..5));
            if self.rng.bool() {
                sql = format!("{sql} OFFSET {}", self.rng.u8(..4));
            }
        }
        (sql, true)
    }

    pub(crate) fn items(&mut self, scope: &[Named], sorts: &[Sort]) -> String {
        let items: Vec<String> = sorts
            .iter()
            .enumerate()
            .map(|(index, sort)| format!("{} AS c{index}", self.value(scope, *sort)))
            .collect();
        items.join(", ")
    }

    pub(crate) fn sorts(&mut self) -> Vec<Sort> {
        (0..self.rng.usize(1..4))
            .map(|_| *self.pick(&[Sort::Int, Sort::Int, Sort::Text, Sort::Date, Sort::Decimal]))
            .collect()
    }

    pub(crate) fn select(&mut self, sorts: &[Sort], relations: usize) -> String {
        let (from, scope) = self.from(relations);
        let distinct = if self.rng.u8(..3) == 0 {
            self.tag("distinct");
            "DISTINCT "
        } else {
            ""
        };
        let items = self.items(&scope, sorts);
        if self.rng.u8(..5) == 0 {
            return format!("SELECT {distinct}{items} FROM {from}");
        }
        let condition = self.condition(&scope, 2);
        format!("SELECT {distinct}{items} FROM {from} WHERE {condition}")
    }

    pub(crate) fn plain(&mut self, relations: usize) -> (String, bool) {
        let sorts = self.sorts();
        let select = self.select(&sorts, relations);
        let (order, ordered) = self.order(sorts.len());
        (format!("{select}{order}"), ordered)
    }

    pub(crate) fn aggregate(&mut self, scope: &[Named]) -> String {
        self.tag("aggregate");
        let column = self.int_column(scope);
        match self.rng.u8(..9) {
            0 => "COUNT(*)".to_owned(),
            1 => format!("COUNT({column})"),
            2 => format!("COUNT(DISTINCT {column})"),
            3 => format!("SUM({column})"),
            4 => format!("AVG({column})"),
            5 => format!("MIN({column})"),
            6 => format!("SUM(DISTINCT {column})"),
            7 => match self.column(scope, Sort::Decimal) {
                Some(decimal) => format!("SUM({decimal})"),
                None => format!("MAX({column})"),
            },
            _ => match self.column(scope, Sort::Text) {
                Some(text) => format!("MAX({text})"),
                None => format!("MAX({column})"),
            },
        }
    }

    pub(crate) fn having(&mut self, scope: &[Named]) -> String {
        let column = self.int_column(scope);
        let function = *self.pick(&["COUNT", "SUM", "MAX", "MIN"]);
        let op = *self.pick(&["=", ">", "<", ">="]);
        match self.rng.u8(..4) {
            0 => String::new(),
            1 => format!(" HAVING COUNT(*) {op} {}", self.rng.u8(..4)),
            2 => format!(" HAVING COUNT({column}) > COUNT(DISTINCT {column})"),
            _ => format!(" HAVING {function}({column}) {op} {}", self.rng.u8(..5)),
        }
    }

    pub(crate) fn grouped(&mut self) -> (String, bool) {
        self.tag("group by");
        let (from, scope) = self.from(2);
        let keys: Vec<String> = (0..self.rng.usize(1..3))
            .map(|_| {
                let sort = *self.pick(&[Sort::Int, Sort::Int, Sort::Text, Sort::Date]);
                self.column(&scope, sort).unwrap_or_default()
            })
            .collect();
        let mut items = keys.clone();
        items.extend((0..2).map(|_| self.aggregate(&scope)));
        let filter = if self.rng.bool() {
            format!(" WHERE {}", self.condition(&scope, 1))
        } else {
            String::new()
        };
        let having = self.having(&scope);
        let (order, ordered) = self.order(items.len());
        let sql = format!(
            "SELECT {} FROM {from}{filter} GROUP BY {}{having}{order}",
            items.join(", "),
            keys.join(", ")
        );
        (sql, ordered)
    }

    pub(crate) fn totals(&mut self) -> (String, bool) {
        self.tag("total");
        let (from, scope) = self.from(2);
        let items: Vec<String> = (0..3).map(|_| self.aggregate(&scope)).collect();
        let condition = self.condition(&scope, 2);
        let having = self.having(&scope);
        let sql = format!(
            "SELECT {} FROM {from} WHERE {condition}{having}",
            items.join(", ")
        );
        (sql, false)
    }

    pub(crate) fn set(&mut self) -> (String, bool) {
        self.tag("set operation");
        let sorts = self.sorts();
        let ops: &[&str] = match self.dialect {
            DialectName::Sqlite => &["UNION", "UNION ALL", "INTERSECT", "EXCEPT"],
            _ => &[
                "UNION",
                "UNION ALL",
                "INTERSECT",
                "EXCEPT",
                "INTERSECT ALL",
                "EXCEPT ALL",
            ],
        };
        let op = *self.pick(ops);
        let (left, right) = (self.select(&sorts, 1), self.select(&sorts, 1));
        let (order, ordered) = self.order(sorts.len());
        (format!("{left} {op} {right}{order}"), ordered)
    }
}
