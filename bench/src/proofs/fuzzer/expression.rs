//! Random expressions: constants, arithmetic, functions, aggregates, window functions.

use isobath_sql::DialectName;

use super::query::{Column, Writer};
use super::tables::Kind;

impl Writer<'_> {
    /// A constant as this dialect takes it.
    pub(super) fn constant(&self, kind: Kind, text: &str) -> String {
        match (kind, self.dialect) {
            (Kind::Date, DialectName::Postgres) => format!("DATE {text}"),
            (Kind::Timestamp, DialectName::Postgres) => format!("TIMESTAMP {text}"),
            _ => text.to_owned(),
        }
    }

    /// An expression of a type.
    pub(super) fn expr(&mut self, kind: Kind, scope: &[Column], depth: usize) -> String {
        let fitting: Vec<&Column> = scope.iter().filter(|column| column.kind == kind).collect();
        let constant = self.any_constant(kind);
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
        match self.rng.usize(0..8) {
            0 => format!("NULLIF({name}, {constant})"),
            1 => {
                let (test, other) = (self.test(scope), self.expr(kind, scope, depth - 1));
                format!("CASE WHEN {test} THEN {name} ELSE {other} END")
            }
            2 => {
                let (same, other) = (self.any_constant(kind), self.expr(kind, scope, depth - 1));
                format!("CASE {name} WHEN {same} THEN {constant} WHEN {constant} THEN {other} END")
            }
            3 => format!("COALESCE({name}, {constant})"),
            4 if !self.is(DialectName::Sqlite) => {
                let call = self.pick(&["GREATEST", "LEAST"]);
                format!("{call}({name}, {constant})")
            }
            4 => {
                let call = self.pick(&["MAX", "MIN"]);
                format!("{call}({name}, {constant})")
            }
            _ => self.call(kind, &name, &constant, scope),
        }
    }

    /// An operator or a function that makes a value of a type.
    fn call(&mut self, kind: Kind, name: &str, constant: &str, scope: &[Column]) -> String {
        let first = |kind: Kind| {
            let mut of = scope.iter().filter(|column| column.kind == kind);
            of.next().map(|column| column.name.as_str())
        };
        let (text, decimal, date) = (first(Kind::Text), first(Kind::Decimal), first(Kind::Date));
        match (kind, self.dialect) {
            (Kind::Int, dialect) => match (self.rng.usize(0..10), text, decimal, date) {
                (0, ..) => format!("{name} + {constant}"),
                (1, ..) => format!("{name} * 2 - {constant}"),
                (2, ..) => format!("ABS({name})"),
                (3, ..) => format!("{name} % 2"),
                (4, Some(text), ..) => format!("LENGTH({text})"),
                (5, _, Some(decimal), _) if dialect == DialectName::MySql => {
                    format!("CAST({decimal} AS SIGNED)")
                }
                (5, _, Some(decimal), _) => format!("CAST({decimal} AS INT)"),
                (6, _, _, Some(date)) if dialect == DialectName::Sqlite => {
                    format!("CAST(STRFTIME('%Y', {date}) AS INT)")
                }
                (6, _, _, Some(date)) => format!("EXTRACT(YEAR FROM {date})"),
                (7, ..) if dialect == DialectName::MySql => format!("{name} DIV 2"),
                (7, ..) => format!("{name} / 2"),
                (8, ..) => format!("{name} & 1"),
                _ => format!("-{name}"),
            },
            (Kind::Decimal | Kind::Float, _) => match self.rng.usize(0..5) {
                0 => format!("{name} + {constant}"),
                1 => format!("{name} * 2"),
                2 => format!("ROUND({name})"),
                3 => format!("ABS({name})"),
                _ => format!("-{name}"),
            },
            (Kind::Text, dialect) => match self.rng.usize(0..8) {
                0 => format!("UPPER({name})"),
                1 => format!("LOWER({name})"),
                2 => format!("SUBSTR({name}, 1, 1)"),
                3 => format!("TRIM({name})"),
                4 if dialect == DialectName::MySql => format!("CONCAT({name}, 'a')"),
                4 => format!("{name} || 'a'"),
                5 => format!("REPLACE({name}, 'a', 'b')"),
                6 if dialect != DialectName::Sqlite => format!("LEFT({name}, 2)"),
                7 if dialect != DialectName::Sqlite => format!("LPAD({name}, 2, 'x')"),
                _ => format!("LTRIM({name})"),
            },
            (Kind::Date, DialectName::Sqlite) => format!("DATE({name}, '+1 day')"),
            (Kind::Date, DialectName::MySql) => format!("{name} + INTERVAL 1 DAY"),
            (Kind::Date, _) => format!("{name} + 1"),
            (Kind::Timestamp, DialectName::Sqlite) => format!("DATETIME({name}, '-1 hour')"),
            (Kind::Timestamp, DialectName::MySql) => format!("{name} - INTERVAL 1 HOUR"),
            (Kind::Timestamp, _) => format!("{name} - INTERVAL '1 hour'"),
            (Kind::Bool, _) => format!("(NOT {name})"),
        }
    }

    /// An aggregate, as a column whose name is the call.
    pub(super) fn aggregate(&mut self, scope: &[Column]) -> Column {
        let column = scope[self.rng.usize(..scope.len())].clone();
        let kind = column.kind;
        let argument = if self.one_in(4) {
            self.expr(kind, scope, 1)
        } else {
            column.name
        };
        let numeric = matches!(kind, Kind::Int | Kind::Decimal | Kind::Float);
        let distinct = if self.one_in(4) { "DISTINCT " } else { "" };
        let (call, kind) = match self.rng.usize(0..10) {
            0 | 1 => ("COUNT(*)".to_owned(), Kind::Int),
            2 => (format!("COUNT({distinct}{argument})"), Kind::Int),
            3 => {
                let test = self.test(scope);
                (
                    format!("SUM(CASE WHEN {test} THEN 1 ELSE 0 END)"),
                    Kind::Int,
                )
            }
            _ if kind == Kind::Bool && self.is(DialectName::Postgres) => {
                let call = self.pick(&["BOOL_AND", "BOOL_OR"]);
                (format!("{call}({argument})"), Kind::Bool)
            }
            4 if kind == Kind::Text && self.is(DialectName::Postgres) => {
                (format!("STRING_AGG({distinct}{argument}, ',')"), kind)
            }
            4 if kind == Kind::Text => (format!("GROUP_CONCAT({distinct}{argument})"), kind),
            4 | 5 => (format!("MIN({argument})"), kind),
            6 if numeric => (format!("SUM({distinct}{argument})"), kind),
            7 if numeric => (format!("AVG({distinct}{argument})"), Kind::Decimal),
            _ => (format!("MAX({argument})"), kind),
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

    /// A call of a window function, and its type.
    pub(super) fn window(&mut self, scope: &[Column]) -> (String, Kind) {
        let mut any = || scope[self.rng.usize(..scope.len())].clone();
        let (column, by, order) = (any(), any().name, any().name);
        let partition = if self.one_in(2) {
            format!("PARTITION BY {by} ")
        } else {
            String::new()
        };
        let direction = self.pick(&["", "", " DESC"]);
        let over = format!("{partition}ORDER BY {order}{direction}");
        let frame = if self.one_in(3) {
            self.pick(&[
                " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
                " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
                " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
                " RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
                " ROWS 1 PRECEDING",
            ])
        } else {
            ""
        };
        let (name, numeric) = (
            &column.name,
            matches!(column.kind, Kind::Int | Kind::Decimal | Kind::Float),
        );
        let extremes = column.kind != Kind::Bool || !self.is(DialectName::Postgres);
        let (call, kind, framed) = match self.rng.usize(0..14) {
            0 | 1 => ("ROW_NUMBER()".to_owned(), Kind::Int, false),
            2 => ("RANK()".to_owned(), Kind::Int, false),
            3 => ("DENSE_RANK()".to_owned(), Kind::Int, false),
            4 => (format!("LAG({name})"), column.kind, false),
            5 => {
                let otherwise = self.any_constant(column.kind);
                (format!("LEAD({name}, 1, {otherwise})"), column.kind, false)
            }
            6 => (format!("FIRST_VALUE({name})"), column.kind, true),
            7 => (format!("LAST_VALUE({name})"), column.kind, true),
            8 => ("NTILE(2)".to_owned(), Kind::Int, false),
            9 => (format!("NTH_VALUE({name}, 2)"), column.kind, true),
            10 if numeric => (format!("SUM({name})"), column.kind, true),
            11 => {
                let call = self.pick(&["PERCENT_RANK()", "CUME_DIST()"]);
                (call.to_owned(), Kind::Float, false)
            }
            12 if extremes => (format!("MAX({name})"), column.kind, true),
            _ => ("COUNT(*)".to_owned(), Kind::Int, true),
        };
        let frame = if framed { frame } else { "" };
        (format!("{call} OVER ({over}{frame})"), kind)
    }
}
