//! Random tables, and random rows for them.

use isobath_sql::DialectName;

/// The type of a generated column or expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Int,
    Text,
    Decimal,
    Float,
    Date,
    Timestamp,
    Bool,
}

impl Kind {
    /// A type, the simple ones more often.
    pub(crate) fn any(rng: &mut fastrand::Rng) -> Self {
        match rng.usize(0..20) {
            0..=8 => Self::Int,
            9..=12 => Self::Text,
            13 | 14 => Self::Decimal,
            15 => Self::Float,
            16 | 17 => Self::Date,
            18 => Self::Timestamp,
            _ => Self::Bool,
        }
    }

    /// Constants of this type, as SQL: few, so that conditions meet and contradict each other.
    pub(crate) fn constants(self) -> &'static [&'static str] {
        match self {
            Self::Int => &["0", "1", "2", "3", "-1", "10"],
            Self::Text => &["'a'", "'b'", "'A'", "''", "'ab'", "'x'"],
            Self::Decimal => &["0", "1", "1.5", "2.25", "-1", "0.01"],
            Self::Float => &["0.0", "1.0", "0.5", "-2.5"],
            Self::Timestamp => &[
                "'2020-01-01 00:00:00'",
                "'2020-01-01 12:30:00'",
                "'2019-12-31 23:59:59'",
            ],
            Self::Bool => &["TRUE", "FALSE"],
            Self::Date => &[
                "'2020-01-01'",
                "'2020-01-02'",
                "'2020-02-29'",
                "'2019-12-31'",
            ],
        }
    }

    /// A way to declare it.
    fn declared(self, rng: &mut fastrand::Rng, dialect: DialectName) -> &'static str {
        let mysql = dialect == DialectName::MySql;
        let of: &[&str] = match self {
            Self::Int if mysql => &["INT", "BIGINT", "SMALLINT", "INT UNSIGNED"],
            Self::Int => &["INT", "BIGINT", "SMALLINT"],
            Self::Text if mysql => &["VARCHAR(8)", "CHAR(3)", "VARCHAR(8) COLLATE utf8mb4_bin"],
            Self::Text if dialect == DialectName::Sqlite => {
                &["VARCHAR(8)", "TEXT", "TEXT COLLATE NOCASE"]
            }
            Self::Text => &["VARCHAR(8)", "TEXT", "CHAR(3)"],
            Self::Decimal => &["DECIMAL(6, 2)", "NUMERIC(4, 1)"],
            Self::Float if mysql => &["DOUBLE"],
            Self::Float => &["DOUBLE PRECISION"],
            Self::Date => &["DATE"],
            Self::Timestamp if dialect == DialectName::Postgres => &["TIMESTAMP"],
            Self::Timestamp => &["DATETIME"],
            Self::Bool => &["BOOLEAN"],
        };
        // The first is the usual one.
        of[if rng.bool() { 0 } else { rng.usize(..of.len()) }]
    }
}

/// A generated column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) not_null: bool,
    /// The table whose first column it refers to.
    pub(crate) parent: Option<usize>,
}

/// A generated table.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
    /// Everything in the parentheses of CREATE TABLE.
    definition: Vec<String>,
}

impl Table {
    /// Its CREATE TABLE.
    pub(crate) fn create(&self) -> String {
        format!(
            "CREATE TABLE {} ({})",
            self.name,
            self.definition.join(", ")
        )
    }
}

/// A few tables with keys, foreign keys and CHECKs, of the dialect's own syntax.
pub(crate) fn tables(rng: &mut fastrand::Rng, dialect: DialectName) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for number in 0..rng.usize(2..4) {
        let table = table(rng, dialect, number, &tables);
        tables.push(table);
    }
    tables
}

fn table(rng: &mut fastrand::Rng, dialect: DialectName, number: usize, before: &[Table]) -> Table {
    let letter = char::from(b'a' + u8::try_from(number).unwrap_or(0));
    let count = rng.usize(2..5);
    let mut columns = Vec::new();
    let mut definition = Vec::new();
    let key = rng.usize(0..3) > 0;
    for index in 0..count {
        let parent = (index > 0 && rng.usize(0..3) == 0 && !before.is_empty())
            .then(|| rng.usize(..before.len()))
            .filter(|parent| before[*parent].has_key());
        let refers = index == 0 || parent.is_some();
        let kind = if refers { Kind::Int } else { Kind::any(rng) };
        let in_key = key && index == 0;
        let not_null = in_key || rng.usize(0..3) == 0;
        let column = Column {
            name: format!("{letter}{index}"),
            kind,
            not_null,
            parent,
        };
        // Both sides of a foreign key are declared alike.
        let declared = if refers {
            "INT"
        } else {
            kind.declared(rng, dialect)
        };
        let mut text = format!("{} {declared}", column.name);
        if not_null {
            text.push_str(" NOT NULL");
        }
        if in_key {
            text.push_str(" PRIMARY KEY");
        } else if rng.usize(0..8) == 0 {
            text.push_str(" UNIQUE");
        }
        definition.push(text);
        columns.push(column);
    }
    for column in columns.iter().filter(|column| column.parent.is_some()) {
        if let Some(parent) = column.parent.and_then(|parent| before.get(parent)) {
            definition.push(format!(
                "FOREIGN KEY ({}) REFERENCES {} ({})",
                column.name, parent.name, parent.columns[0].name
            ));
        }
    }
    if columns.len() > 2 && rng.usize(0..6) == 0 {
        definition.push(format!("UNIQUE ({}, {})", columns[1].name, columns[2].name));
    }
    if rng.usize(0..3) == 0 {
        let scope: Vec<super::query::Column> = columns
            .iter()
            .map(|column| super::query::Column {
                name: column.name.clone(),
                kind: column.kind,
            })
            .collect();
        let mut writer = super::query::Writer::new(rng, dialect, &[]);
        definition.push(format!("CHECK ({})", writer.check(&scope)));
    }
    Table {
        name: format!("t{letter}"),
        columns,
        definition,
    }
}

impl Table {
    pub(crate) fn has_key(&self) -> bool {
        self.definition[0].ends_with("PRIMARY KEY")
    }
}

/// Two versions of a table of three columns whose CHECKs differ.
pub(crate) fn checks(rng: &mut fastrand::Rng, dialect: DialectName) -> (Table, Table) {
    let mut columns = Vec::new();
    let mut definition = Vec::new();
    for index in 0..3 {
        let kind = Kind::any(rng);
        let not_null = rng.usize(0..4) == 0;
        let name = format!("a{index}");
        let null = if not_null { " NOT NULL" } else { "" };
        let declared = kind.declared(rng, dialect);
        definition.push(format!("{name} {declared}{null}"));
        columns.push(Column {
            name,
            kind,
            not_null,
            parent: None,
        });
    }
    let scope: Vec<super::query::Column> = columns
        .iter()
        .map(|column| super::query::Column {
            name: column.name.clone(),
            kind: column.kind,
        })
        .collect();
    let mut writer = super::query::Writer::new(rng, dialect, &[]);
    let (before, after) = writer.similar_checks(&scope);
    let with = |check: &str| {
        let mut definition = definition.clone();
        definition.push(format!("CHECK ({check})"));
        Table {
            name: "ta".to_owned(),
            columns: columns.clone(),
            definition,
        }
    };
    (with(&before), with(&after))
}

/// An INSERT of one random row.
pub(crate) fn row(rng: &mut fastrand::Rng, table: &Table) -> String {
    let pool = Pool::new(rng);
    let values: Vec<String> = table
        .columns
        .iter()
        .map(|column| match rng.usize(0..4) {
            0 if !column.not_null => "NULL".to_owned(),
            _ => pool.value(rng, column.kind),
        })
        .collect();
    format!("INSERT INTO {} VALUES ({})", table.name, values.join(", "))
}

/// INSERTs of up to four random rows per table, parents first. Values are few, so that rows meet; a
/// database refuses what the constraints forbid.
pub(crate) fn rows(rng: &mut fastrand::Rng, tables: &[Table]) -> Vec<String> {
    let pool = Pool::new(rng);
    let most = rng.usize(1..5);
    let mut keys: Vec<Vec<String>> = vec![Vec::new(); tables.len()];
    let mut inserts = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        // Some of them break a constraint, and are refused.
        for _ in 0..2 * rng.usize(0..=most) {
            let mut values = Vec::new();
            for column in &table.columns {
                let parents = column.parent.map(|parent| keys[parent].as_slice());
                let value = match parents {
                    _ if !column.not_null && rng.usize(0..4) == 0 => "NULL".to_owned(),
                    Some([]) if !column.not_null => "NULL".to_owned(),
                    Some(keys) if !keys.is_empty() => keys[rng.usize(..keys.len())].clone(),
                    _ => pool.value(rng, column.kind),
                };
                values.push(value);
            }
            keys[index].push(values[0].clone());
            inserts.push(format!(
                "INSERT INTO {} VALUES ({})",
                table.name,
                values.join(", ")
            ));
        }
    }
    inserts
}

/// The values of one set of rows.
struct Pool {
    ints: Vec<String>,
    texts: Vec<String>,
    decimals: Vec<String>,
    dates: Vec<String>,
    floats: Vec<String>,
    timestamps: Vec<String>,
    bools: Vec<String>,
}

impl Pool {
    fn new(rng: &mut fastrand::Rng) -> Self {
        let mut some = |further: &[&str], kind: Kind| {
            let mut values: Vec<String> = Vec::new();
            for _ in 0..rng.usize(2..6) {
                let of = if rng.usize(0..4) == 0 {
                    further
                } else {
                    kind.constants()
                };
                values.push(of[rng.usize(..of.len())].to_owned());
            }
            values
        };
        Self {
            ints: some(&["4", "5", "-2", "9", "11", "100"], Kind::Int),
            texts: some(&["'c'", "'B'", "'abc'", "'y'", "' '", "'a '"], Kind::Text),
            decimals: some(&["0.5", "1.49", "3", "-0.01", "99.99"], Kind::Decimal),
            dates: some(
                &["'2020-03-01'", "'1999-12-31'", "'2021-06-15'"],
                Kind::Date,
            ),
            floats: some(&["0.1", "3.0", "1e3"], Kind::Float),
            timestamps: some(
                &["'2020-01-02 00:00:01'", "'2000-02-29 00:00:00'"],
                Kind::Timestamp,
            ),
            bools: some(Kind::Bool.constants(), Kind::Bool),
        }
    }

    fn value(&self, rng: &mut fastrand::Rng, kind: Kind) -> String {
        let of = match kind {
            Kind::Int => &self.ints,
            Kind::Text => &self.texts,
            Kind::Decimal => &self.decimals,
            Kind::Date => &self.dates,
            Kind::Float => &self.floats,
            Kind::Timestamp => &self.timestamps,
            Kind::Bool => &self.bools,
        };
        of[rng.usize(..of.len())].clone()
    }
}
