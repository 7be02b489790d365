//! Larger shapes of queries: derived and common tables, windows, recursion, and the rest.

use isobath_sql::DialectName;

use super::query_text::{INTS, Named, Sort, Writer};

impl Writer {
    fn derived_scope(alias: &str, sorts: &[Sort]) -> Named {
        Named {
            alias: alias.to_owned(),
            columns: sorts
                .iter()
                .enumerate()
                .map(|(index, sort)| (format!("c{index}"), *sort))
                .collect(),
        }
    }

    pub(crate) fn derived(&mut self) -> (String, bool) {
        self.tag("derived table");
        let sorts = self.sorts();
        let inner = if self.rng.bool() {
            self.select(&sorts, 2)
        } else {
            format!(
                "{} UNION {}",
                self.select(&sorts, 1),
                self.select(&sorts, 1)
            )
        };
        let alias = self.alias();
        let (table, named) = self.table();
        let scope = vec![Self::derived_scope(&alias, &sorts), named];
        let kind = *self.pick(&["JOIN", "LEFT JOIN"]);
        let on = self.condition(&scope, 0);
        let outer_sorts = self.sorts();
        let items = self.items(&scope, &outer_sorts);
        let condition = self.condition(&scope, 1);
        let sql = format!(
            "SELECT {items} FROM ({inner}) {alias} {kind} {table} ON {on} WHERE {condition}"
        );
        (sql, false)
    }

    pub(crate) fn common(&mut self) -> (String, bool) {
        self.tag("common table");
        let (sorts, grouped) = (self.sorts(), self.rng.bool());
        let (inner, sorts) = if grouped {
            let (from, scope) = self.from(1);
            let key = self.int_column(&scope);
            let sql = format!("SELECT {key} AS c0, COUNT(*) AS c1 FROM {from} GROUP BY {key}");
            (sql, vec![Sort::Int, Sort::Int])
        } else {
            (self.select(&sorts, 2), sorts)
        };
        let scope = vec![
            Self::derived_scope("x", &sorts),
            Self::derived_scope("y", &sorts),
        ];
        let outer_sorts = self.sorts();
        let items = self.items(&scope, &outer_sorts);
        let condition = self.condition(&scope, 1);
        let sql = format!("WITH w AS ({inner}) SELECT {items} FROM w x, w y WHERE {condition}");
        (sql, false)
    }

    pub(crate) fn window(&mut self) -> (String, bool) {
        self.tag("window");
        let (from, scope) = self.from(1);
        let (x, y) = (self.int_column(&scope), *self.pick(&INTS));
        let id = format!("{}.id", scope[0].alias);
        let (alias, direction) = (&scope[0].alias, *self.pick(&["", " DESC"]));
        let calls = [
            format!("ROW_NUMBER() OVER (PARTITION BY {x} ORDER BY {id})"),
            format!("RANK() OVER (ORDER BY {x}{direction})"),
            format!("DENSE_RANK() OVER (PARTITION BY {alias}.a ORDER BY {x})"),
            format!("SUM({x}) OVER (PARTITION BY {alias}.{y})"),
            format!("SUM({x}) OVER (ORDER BY {id}{direction})"),
            format!("COUNT(*) OVER (ORDER BY {x})"),
            format!("LAG({x}) OVER (ORDER BY {id})"),
            format!("LEAD({x}, 2) OVER (PARTITION BY {alias}.{y} ORDER BY {id})"),
            format!("FIRST_VALUE({x}) OVER (ORDER BY {id}{direction})"),
            format!("MAX({x}) OVER ()"),
        ];
        let (first, second) = (self.pick(&calls).clone(), self.pick(&calls).clone());
        let condition = self.condition(&scope, 1);
        let inner = format!(
            "SELECT {id} AS c0, {first} AS c1, {second} AS c2 FROM {from} WHERE {condition}"
        );
        if self.rng.bool() {
            return (inner, false);
        }
        let outer = format!(
            "SELECT z.c0, z.c2 FROM ({inner}) z WHERE z.c1 >= {}",
            self.rng.u8(..3)
        );
        (outer, false)
    }

    /// Named windows and frames.
    pub(crate) fn frames(&mut self) -> (String, bool) {
        self.tag("frame");
        let (from, scope) = self.from(1);
        let x = self.int_column(&scope);
        let alias = &scope[0].alias;
        let id = format!("{alias}.id");
        let bounds = [
            "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
            "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
            "ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING",
            "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING",
            "ROWS 1 PRECEDING",
            "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            "RANGE UNBOUNDED PRECEDING",
            "GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
            "GROUPS BETWEEN CURRENT ROW AND 1 FOLLOWING",
        ];
        let known = match self.dialect {
            DialectName::MySql => &bounds[..7],
            _ => &bounds[..],
        };
        let (one, two) = (*self.pick(known), *self.pick(known));
        let functions = [
            format!("SUM({x})"),
            "COUNT(*)".to_owned(),
            format!("MIN({x})"),
            format!("FIRST_VALUE({id})"),
            format!("LAST_VALUE({id})"),
            format!("NTH_VALUE({id}, 2)"),
        ];
        let (first, second) = (self.pick(&functions).clone(), self.pick(&functions).clone());
        let ranks = [
            "NTILE(2)",
            "NTILE(3)",
            "ROW_NUMBER()",
            "PERCENT_RANK()",
            "CUME_DIST()",
        ];
        let rank = *self.pick(&ranks);
        let by = self.int_column(&scope);
        let direction = *self.pick(&["", " DESC"]);
        let partition = if self.rng.bool() {
            format!("PARTITION BY {by} ")
        } else {
            String::new()
        };
        let condition = self.condition(&scope, 1);
        // The order by `id` leaves no ties to break, unless the frame counts peers.
        let peers = if one.starts_with('G') || one.starts_with("RANGE") {
            format!("SUM({x}) OVER (w ORDER BY {by}{direction} {one})")
        } else {
            format!("{first} OVER (w ORDER BY {id}{direction} {one})")
        };
        let sql = format!(
            "SELECT {id}, {peers}, {second} OVER ({partition}ORDER BY {id} {two}), {rank} OVER v \
             FROM {from} WHERE {condition} WINDOW w AS ({partition}), v AS ({partition}ORDER BY {id})"
        );
        (sql, false)
    }

    /// WITH RECURSIVE over numbers or over rows that refer to each other.
    pub(crate) fn recursive(&mut self) -> (String, bool) {
        self.tag("recursive");
        let union = *self.pick(&["UNION", "UNION ALL"]);
        if self.rng.bool() {
            let (from, limit) = (self.rng.u8(..3), self.rng.u8(2..9));
            let step = *self.pick(&["k + 1", "k + 2", "k * 2 + 1"]);
            let (table, named) = self.table();
            let x = self.int_column(std::slice::from_ref(&named));
            let sql = format!(
                "WITH RECURSIVE c(k) AS (SELECT {from} {union} SELECT {step} FROM c WHERE k < {limit}) \
                 SELECT c.k, {x} FROM c LEFT JOIN {table} ON {x} = c.k"
            );
            return (sql, false);
        }
        // Each row refers by `a` to another; a depth keeps circles from going on for ever.
        let sql = format!(
            "WITH RECURSIVE c(id, k) AS (SELECT id, 0 FROM p WHERE {} {union} \
             SELECT p.id, c.k + 1 FROM p JOIN c ON p.a = c.id WHERE c.k < 3) \
             SELECT c.id, c.k FROM c WHERE c.k >= {}",
            self.pick(&["b > 1", "a IS NULL", "id = 0", "1 = 1"]),
            self.rng.u8(..3)
        );
        (sql, false)
    }

    /// LATERAL, where there is one.
    pub(crate) fn lateral(&mut self) -> (String, bool) {
        if self.dialect != DialectName::Postgres {
            return self.derived();
        }
        self.tag("lateral");
        let (table, left) = self.table();
        let (inner, right) = self.table();
        let mut both = vec![left.clone()];
        both.push(right.clone());
        let condition = self.condition(&both, 1);
        let right_only = std::slice::from_ref(&right);
        let x = self.int_column(right_only);
        let query = if self.rng.bool() {
            format!("SELECT COUNT(*) AS c0, MAX({x}) AS c1 FROM {inner} WHERE {condition}")
        } else {
            format!(
                "SELECT {x} AS c0, {}.id AS c1 FROM {inner} WHERE {condition} \
                 ORDER BY {}.id LIMIT 2",
                right.alias, right.alias
            )
        };
        let join = *self.pick(&[", LATERAL", "JOIN LATERAL", "LEFT JOIN LATERAL"]);
        let on = if join.starts_with(',') {
            ""
        } else {
            " ON z.c0 >= 1"
        };
        let sql = format!(
            "SELECT {}.id, z.c0, z.c1 FROM {table} {join} ({query}) z{on}",
            left.alias
        );
        (sql, false)
    }

    /// ROLLUP, CUBE and GROUPING SETS.
    pub(crate) fn grouping_sets(&mut self) -> (String, bool) {
        if self.dialect == DialectName::Sqlite {
            return self.grouped();
        }
        self.tag("grouping sets");
        let (from, scope) = self.from(1);
        let alias = scope[0].alias.clone();
        let (x, y) = (format!("{alias}.a"), format!("{alias}.s"));
        let group = if self.dialect == DialectName::MySql {
            format!("{x}, {y} WITH ROLLUP")
        } else {
            let shapes = [
                format!("ROLLUP ({x}, {y})"),
                format!("CUBE ({x}, {y})"),
                format!("GROUPING SETS (({x}), ({y}), ())"),
                format!("GROUPING SETS (({x}, {y}), ({x}))"),
                format!("{x}, ROLLUP ({y})"),
            ];
            self.pick(&shapes).clone()
        };
        let aggregate = self.aggregate(&scope);
        let having = if self.rng.bool() {
            String::new()
        } else {
            " HAVING COUNT(*) > 1".to_owned()
        };
        let condition = self.condition(&scope, 1);
        let sql = format!(
            "SELECT {x}, {y}, {aggregate} FROM {from} WHERE {condition} GROUP BY {group}{having}"
        );
        (sql, false)
    }

    /// DISTINCT ON, where there is one, and FETCH.
    pub(crate) fn first_of_each(&mut self) -> (String, bool) {
        if self.dialect != DialectName::Postgres {
            return self.plain(2);
        }
        let (from, scope) = self.from(1);
        let (x, id) = (self.int_column(&scope), format!("{}.id", scope[0].alias));
        let direction = *self.pick(&["", " DESC"]);
        let condition = self.condition(&scope, 1);
        if self.rng.u8(..3) == 0 {
            self.tag("fetch");
            let sql = format!(
                "SELECT {id}, {x} FROM {from} WHERE {condition} ORDER BY {id}{direction} \
                 FETCH FIRST 2 ROWS ONLY"
            );
            return (sql, true);
        }
        self.tag("distinct on");
        let sql = format!(
            "SELECT DISTINCT ON ({x}) {x}, {id} FROM {from} WHERE {condition} \
             ORDER BY {x}, {id}{direction}"
        );
        (sql, true)
    }

    /// Rows of values in comparisons and on the left of IN.
    pub(crate) fn rows_of_values(&mut self) -> (String, bool) {
        self.tag("row");
        let (from, scope) = self.from(1);
        let (x, y) = (self.int_column(&scope), self.int_column(&scope));
        let not = *self.pick(&["", "NOT "]);
        let (inner, other) = self.table();
        let others = std::slice::from_ref(&other);
        let (v, w) = (self.int_column(others), self.int_column(others));
        let mut both = scope.clone();
        both.push(other);
        let filter = self.condition(&both, 1);
        let op = *self.pick(&["=", "<>", "<", ">="]);
        let condition = match self.rng.u8(..3) {
            0 => format!("({x}, {y}) {not}IN (SELECT {v}, {w} FROM {inner} WHERE {filter})"),
            // SQLite has lists of rows only as VALUES.
            1 if self.dialect != DialectName::Sqlite => {
                format!("({x}, {y}) {not}IN ((1, 2), (0, NULL), ({y}, 3))")
            }
            _ => format!("({x}, {y}) {op} (1, {x})"),
        };
        let sql = format!(
            "SELECT {}.id, {x} FROM {from} WHERE {condition}",
            scope[0].alias
        );
        (sql, false)
    }

    /// USING and NATURAL.
    pub(crate) fn merged(&mut self) -> (String, bool) {
        self.tag("using");
        let kinds: &[&str] = match self.dialect {
            DialectName::MySql => &["JOIN", "LEFT JOIN", "RIGHT JOIN"],
            _ => &["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"],
        };
        let (kind, other) = (*self.pick(kinds), *self.pick(kinds));
        let columns = *self.pick(&["(a)", "(id)", "(a, b)", "(s)"]);
        let items = *self.pick(&["*", "*", "l.id, r.id", "COUNT(*)"]);
        let limit = self.rng.u8(..3);
        let sql = match self.rng.u8(..3) {
            0 => format!("SELECT {items} FROM p l NATURAL {kind} q r"),
            1 if items != "*" => format!(
                "SELECT COUNT(*) FROM p l {kind} q r USING {columns} {other} u v USING {columns}"
            ),
            _ => {
                let name = columns
                    .trim_matches(['(', ')'])
                    .split(',')
                    .next()
                    .unwrap_or("id");
                let items = if self.rng.bool() { items } else { name };
                let filter = match name {
                    "s" => "s IS NOT NULL".to_owned(),
                    name => format!("{name} >= {limit} OR {name} IS NULL"),
                };
                format!("SELECT {items} FROM p l {kind} q r USING {columns} WHERE {filter}")
            }
        };
        (sql, false)
    }
}
