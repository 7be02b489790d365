//! Random tables, and random rows for them.

use isobath_sql::DialectName;

/// The type of a generated column or expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Int,
    Text,
    Decimal,
    Date,
}

impl Kind {
    /// Constants of this type, as SQL: few, so that conditions meet and contradict each other.
    pub(crate) fn constants(self) -> &'static [&'static str] {
        match self {
            Self::Int => &["0", "1", "2", "3", "-1", "10"],
            Self::Text => &["'a'", "'b'", "'A'", "''", "'ab'", "'x'"],
            Self::Decimal => &["0", "1", "1.5", "2.25", "-1", "0.01"],
            Self::Date => &[
                "'2020-01-01'",
                "'2020-01-02'",
                "'2020-02-29'",
                "'2019-12-31'",
            ],
        }
    }

    fn declared(self) -> &'static str {
        match self {
            Self::Int => "INT",
            Self::Text => "VARCHAR(8)",
            Self::Decimal => "DECIMAL(6, 2)",
            Self::Date => "DATE",
        }
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
        let kind = match (index, rng.usize(0..8)) {
            (0, _) | (_, 0..=3) => Kind::Int,
            (_, 4 | 5) => Kind::Text,
            (_, 6) => Kind::Decimal,
            _ => Kind::Date,
        };
        let kind = if parent.is_some() { Kind::Int } else { kind };
        let in_key = key && index == 0;
        let not_null = in_key || rng.usize(0..3) == 0;
        let column = Column {
            name: format!("{letter}{index}"),
            kind,
            not_null,
            parent,
        };
        let mut text = format!("{} {}", column.name, kind.declared());
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
        let kind = match rng.usize(0..8) {
            0..=3 => Kind::Int,
            4 | 5 => Kind::Text,
            6 => Kind::Decimal,
            _ => Kind::Date,
        };
        let not_null = rng.usize(0..4) == 0;
        let name = format!("a{index}");
        let null = if not_null { " NOT NULL" } else { "" };
        definition.push(format!("{name} {}{null}", kind.declared()));
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
        }
    }

    fn value(&self, rng: &mut fastrand::Rng, kind: Kind) -> String {
        let of = match kind {
            Kind::Int => &self.ints,
            Kind::Text => &self.texts,
            Kind::Decimal => &self.decimals,
            Kind::Date => &self.dates,
        };
        of[rng.usize(..of.len())].clone()
    }
}
