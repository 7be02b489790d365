//! Whole queries over random rows, evaluated by us and by a database.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fastrand::Rng;
use isobath_exec::Database;
use isobath_exec::engine::Engine;
use isobath_sql::ddl::{Source, load};
use isobath_sql::eval::EvalError;
use isobath_sql::schema::Schema;
use isobath_sql::{DialectName, Value, query};
use jiff::civil::date;
use rust_decimal::Decimal;
use rust_decimal::prelude::FromPrimitive;

use super::evaluation::same;
use super::lexicon;
use super::query_text::{COLUMNS, Query, TABLES, Writer};

const QUERIES: usize = 400;
/// How many contents of the tables are tried per seed.
const FILLINGS: usize = 4;
/// At most this share of queries may be unsupported, overall and per construct.
const UNSUPPORTED: f64 = 0.01;
const UNSUPPORTED_CONSTRUCT: f64 = 0.1;
/// At most this share may return no rows, of which there would be little to compare.
const EMPTY: f64 = 0.56;

#[derive(Default)]
struct Tally {
    queries: usize,
    empty: usize,
    unsupported: BTreeMap<String, usize>,
    seen: BTreeMap<&'static str, (usize, usize)>,
    disagreements: Vec<String>,
}

pub(crate) fn agree(engine: Engine) {
    let Some(mut provisioned) = super::database("agreement of queries", engine) else {
        return;
    };
    let dialect = engine.dialect();
    let ddl: String = TABLES
        .iter()
        .map(|table| format!("CREATE TABLE {table} ({COLUMNS});\n"))
        .collect();
    let source = Source {
        name: "tables.sql".to_owned(),
        text: ddl,
    };
    let schema = load("tables", &[source], Some(dialect)).schema;
    let mut tally = Tally::default();
    for seed in super::seeds() {
        for filling in 0..FILLINGS {
            let seed = seed * 100 + filling as u64;
            run(seed, dialect, &schema, provisioned.database(), &mut tally);
        }
    }
    tally.report(engine);
}

fn run(
    seed: u64,
    dialect: DialectName,
    schema: &Schema,
    database: &mut dyn Database,
    tally: &mut Tally,
) {
    database.drop_all_objects().unwrap();
    let mut rng = Rng::with_seed(seed);
    let rows: Vec<Vec<Vec<Value>>> = TABLES
        .iter()
        .enumerate()
        .map(|(index, table)| fill(&mut rng, dialect, schema, index, table, database))
        .collect();
    let mut writer = Writer {
        rng,
        dialect,
        aliases: 0,
        tags: Vec::new(),
    };
    for _ in 0..QUERIES / FILLINGS {
        let written = writer.query();
        let theirs = match database.query(&written.sql).unwrap() {
            Ok(rows) => Ok(rows.rows),
            Err(refusal) => Err(format!("{refusal:?}")),
        };
        tally.count(&written, schema, &rows, dialect, &theirs);
    }
}

fn fill(
    rng: &mut Rng,
    dialect: DialectName,
    schema: &Schema,
    index: usize,
    table: &str,
    database: &mut dyn Database,
) -> Vec<Vec<Value>> {
    done(database, &format!("CREATE TABLE {table} ({COLUMNS})"));
    let mut rows = Vec::new();
    let count = if rng.u8(..8) == 0 { 0 } else { rng.i64(2..7) };
    for id in 0..count {
        let given = [
            Value::from(id),
            Value::from(rng.i64(0..4)),
            Value::from(rng.i64(-1..5)),
            Value::from(*rng.choice(&["", "a", "A", "b", "ab", "abc"]).unwrap()),
            Value::Date(date(2020, 1, rng.i8(1..5))),
            Value::Decimal(Decimal::new(rng.i64(0..8) * 50, 2)),
        ];
        let mut stored = Vec::new();
        let mut literals = Vec::new();
        for (column, value) in schema.tables[index].columns.iter().zip(given) {
            let value = if column.name != "id" && rng.u8(..5) == 0 {
                Value::Null
            } else {
                value
            };
            literals.push(lexicon::literal(&value, dialect));
            stored.push(dialect.dialect().store(&value, column, false).unwrap());
        }
        done(
            database,
            &format!("INSERT INTO {table} VALUES ({})", literals.join(", ")),
        );
        rows.push(stored);
    }
    rows
}

fn done(database: &mut dyn Database, sql: &str) {
    let answer = database.execute(sql).unwrap();
    assert!(answer.is_done(), "{sql}: {answer:?}");
}

impl Tally {
    fn count(
        &mut self,
        written: &Query,
        schema: &Schema,
        tables: &Vec<Vec<Vec<Value>>>,
        dialect: DialectName,
        theirs: &Result<Vec<Vec<Value>>, String>,
    ) {
        self.queries += 1;
        let ours = match query::parse(&written.sql, schema, dialect) {
            Ok(query) => {
                let evaluated = query::evaluate(&query, tables, &[], dialect.dialect());
                let distance = query::distance(&query, tables, &[], None, dialect.dialect());
                if let (Ok(evaluated), Ok(distance)) = (&evaluated, &distance) {
                    let empty = evaluated.rows.is_empty();
                    assert_eq!(evaluated.distance == 0.0, !empty, "{}", written.sql);
                    assert_eq!(*distance == 0.0, !empty, "{}", written.sql);
                    assert!(evaluated.distance.is_finite() && evaluated.to_empty.is_finite());
                }
                evaluated.map(|evaluated| evaluated.rows).map_err(|stop| {
                    let raised = matches!(stop, EvalError::Raised(_));
                    (raised, stop.to_string())
                })
            }
            Err(error) => Err((false, error.to_string())),
        };
        let unsupported = matches!(ours, Err((false, _)));
        for tag in &written.tags {
            let (seen, left) = self.seen.entry(tag).or_default();
            *seen += 1;
            *left += usize::from(unsupported);
        }
        let agree = match (&ours, theirs) {
            (Err((false, why)), _) => {
                *self.unsupported.entry(why.clone()).or_default() += 1;
                true
            }
            (Err((true, _)), Err(_)) => true,
            (Ok(ours), Ok(theirs)) => {
                self.empty += usize::from(ours.is_empty());
                alike(ours, theirs, written.ordered, dialect)
            }
            _ => false,
        };
        if !agree {
            self.disagreements.push(format!(
                "{}\n  we say {ours:?}\n  it says {theirs:?}\n  over {tables:?}",
                written.sql
            ));
        }
    }

    fn report(&self, engine: Engine) {
        let mut report = String::new();
        for line in self.disagreements.iter().take(6) {
            let _ = writeln!(report, "{line}\n");
        }
        assert!(
            self.disagreements.is_empty(),
            "{} disagreements in {} queries on {engine}:\n{report}",
            self.disagreements.len(),
            self.queries,
        );
        let unsupported: usize = self.unsupported.values().sum();
        super::summary(engine, "queries", self.queries, unsupported);
        println!("{engine}: {} queries without rows", self.empty);
        for (why, count) in &self.unsupported {
            println!("  {count} {why}");
        }
        assert!((unsupported as f64) < self.queries as f64 * UNSUPPORTED);
        assert!(
            (self.empty as f64) < self.queries as f64 * EMPTY,
            "most queries are empty"
        );
        for (tag, (seen, left)) in &self.seen {
            println!("  {tag}: {left} of {seen}");
            let share = *left as f64 / *seen as f64;
            assert!(
                *seen < 20 || share < UNSUPPORTED_CONSTRUCT,
                "{tag} is unsupported"
            );
        }
    }
}

/// Whether two results hold the same rows, in the same order where that is settled.
fn alike(ours: &[Vec<Value>], theirs: &[Vec<Value>], ordered: bool, dialect: DialectName) -> bool {
    let folded = |value: &Value| match value {
        // Of strings that differ in case only, MariaDB keeps any.
        Value::Text(text) if dialect == DialectName::MySql => Value::Text(text.to_lowercase()),
        other => other.clone(),
    };
    let equal_values = |a: &Value, b: &Value| match (folded(a), folded(b)) {
        // An integer is no rounded decimal, or rows of both would be mistaken for each other.
        (Value::Decimal(a), Value::Int(b)) => Some(a) == Decimal::from_i128(b),
        (a, b) => same(&a, &b),
    };
    let equal = |a: &[Value], b: &[Value]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal_values(a, b))
    };
    if ours.len() != theirs.len() {
        return false;
    }
    if ordered {
        return ours.iter().zip(theirs).all(|(a, b)| equal(a, b));
    }
    let mut left: Vec<&Vec<Value>> = theirs.iter().collect();
    ours.iter().all(|row| {
        let found = left.iter().position(|other| equal(row, other));
        found.map(|index| left.swap_remove(index)).is_some()
    })
}
