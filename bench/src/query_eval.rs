//! All given queries and targets through the evaluator: what resolves, what is unsupported, how fast it is.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use fastrand::Rng;
use isobath_sql::ddl::{Source, load};
use isobath_sql::eval::EvalError;
use isobath_sql::query::{self, Query};
use isobath_sql::{DataType, DialectName, Schema, Value};
use jiff::civil::{DateTime, date};

/// The systems, as folders of `data/queries`.
const SYSTEMS: [&str; 3] = ["erpnext", "espocrm", "suitecrm"];
/// How many contents of the tables are tried per query.
const FILLINGS: u64 = 5;
/// How often each evaluation is timed.
const REPETITIONS: u32 = 5;

#[derive(Default)]
struct Tally {
    texts: usize,
    resolved: usize,
    unresolved: BTreeMap<String, usize>,
    unsupported: BTreeMap<String, usize>,
    raised: BTreeMap<String, usize>,
    /// Queries and targets that have no answer on at least one filling.
    incomplete: usize,
    evaluations: u32,
    spent: Duration,
    /// Evaluations and time by the number of tables.
    shapes: BTreeMap<usize, (u32, Duration)>,
}

/// Prints the tally of one folder.
pub(crate) fn table(folder: &Path) -> ExitCode {
    crate::verdict::exit(tally(folder).map(|tally| {
        tally.print();
        true
    }))
}

/// Prints how fast evaluations are; how many microseconds one takes.
pub(crate) fn speed(folder: &Path) -> Result<f64, Box<dyn Error>> {
    let tally = tally(folder)?;
    tally.print_speed();
    Ok(tally.spent.as_secs_f64() * 1e6 / f64::from(tally.evaluations.max(1)))
}

fn tally(folder: &Path) -> Result<Tally, Box<dyn Error>> {
    let mut tally = Tally::default();
    for system in SYSTEMS {
        let folder = folder.join("data").join("queries").join(system);
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let source = Source {
            name: "schema.sql".to_owned(),
            text: read("schema.sql")?,
        };
        let schema = load(system, &[source], Some(DialectName::MySql)).schema;
        for line in read("queries.jsonl")?.lines() {
            let record: serde_json::Value = serde_json::from_str(line)?;
            if let Some(sql) = record["query"].as_str() {
                tally.run(sql, &schema, DialectName::MySql);
            }
            for target in record["targets"].as_array().into_iter().flatten() {
                if let Some(sql) = target.as_str() {
                    tally.run(sql, &schema, DialectName::Ansi);
                }
            }
        }
    }
    Ok(tally)
}

impl Tally {
    fn run(&mut self, sql: &str, schema: &Schema, syntax: DialectName) {
        self.texts += 1;
        let query = match query::parse_as(sql, schema, syntax, DialectName::MySql) {
            Ok(query) => query,
            Err(error) => {
                *self.unresolved.entry(error.to_string()).or_default() += 1;
                return;
            }
        };
        self.resolved += 1;
        let mut complete = true;
        for seed in 0..FILLINGS {
            let tables = fill(schema, &query, seed);
            complete &= self.evaluate(&query, &tables);
        }
        self.incomplete += usize::from(!complete);
    }

    fn evaluate(&mut self, query: &Query, tables: &Vec<Vec<Vec<Value>>>) -> bool {
        let dialect = DialectName::MySql.dialect();
        let outcome = query::distance(query, tables, &[], Some(now()), dialect);
        // The least of several runs, because other programs take their share of the time.
        let best = (0..REPETITIONS)
            .map(|_| {
                let started = Instant::now();
                let again = query::distance(query, tables, &[], Some(now()), dialect);
                let elapsed = started.elapsed();
                drop(std::hint::black_box(again));
                elapsed
            })
            .min()
            .unwrap_or_default();
        self.spent += best;
        self.evaluations += 1;
        let shape = self.shapes.entry(query.tables().len()).or_default();
        shape.0 += 1;
        shape.1 += best;
        match outcome {
            Ok(_) => true,
            Err(EvalError::Unsupported(what)) => {
                *self.unsupported.entry(what.what).or_default() += 1;
                false
            }
            Err(EvalError::Raised(raised)) => {
                *self.raised.entry(raised.to_string()).or_default() += 1;
                true
            }
        }
    }

    fn print(&self) {
        println!(
            "{} of {} queries and targets resolve; {} have no answer on some rows",
            self.resolved, self.texts, self.incomplete
        );
        for (title, reasons) in [
            ("do not resolve", &self.unresolved),
            ("unsupported evaluations", &self.unsupported),
            ("evaluations that raise an error", &self.raised),
        ] {
            println!("{title}: {}", reasons.values().sum::<usize>());
            let mut reasons: Vec<_> = reasons.iter().collect();
            reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            for (why, count) in reasons.into_iter().take(15) {
                println!("  {count:6}  {}", why.chars().take(160).collect::<String>());
            }
        }
        self.print_speed();
    }

    fn print_speed(&self) {
        let seconds = self.spent.as_secs_f64();
        println!(
            "{} evaluations, {:.0} per second, {:.2} µs each",
            self.evaluations,
            f64::from(self.evaluations) / seconds,
            seconds * 1e6 / f64::from(self.evaluations)
        );
        for (tables, (evaluations, spent)) in &self.shapes {
            println!(
                "  {tables} tables: {evaluations} evaluations, {:.2} µs each",
                spent.as_secs_f64() * 1e6 / f64::from(*evaluations)
            );
        }
    }
}

fn now() -> DateTime {
    date(2017, 3, 1).at(12, 0, 0, 0)
}

/// Nothing for the first seed, then one to three rows in every table that the query names.
fn fill(schema: &Schema, query: &Query, seed: u64) -> Vec<Vec<Vec<Value>>> {
    let mut tables = vec![Vec::new(); schema.tables.len()];
    if seed == 0 {
        return tables;
    }
    let mut rng = Rng::with_seed(seed);
    for table in query.tables() {
        let columns = &schema.tables[table].columns;
        tables[table] = (0..rng.usize(1..4))
            .map(|_| {
                columns
                    .iter()
                    .map(|column| value(&mut rng, &column.data_type))
                    .collect()
            })
            .collect();
    }
    tables
}

fn value(rng: &mut Rng, data_type: &DataType) -> Value {
    if rng.u8(..6) == 0 {
        return Value::Null;
    }
    match data_type {
        DataType::Integer { .. } | DataType::Boolean => Value::from(rng.i64(0..4)),
        DataType::Decimal { .. } => Value::Decimal(rust_decimal::Decimal::new(rng.i64(0..4000), 2)),
        DataType::Float { .. } => Value::Float(f64::from(rng.u8(..9)) / 2.0),
        DataType::Date => Value::Date(day(rng)),
        DataType::Timestamp { .. } => Value::DateTime(day(rng).at(rng.i8(0..24), 0, 0, 0)),
        DataType::Time { .. } => Value::Time(jiff::civil::time(rng.i8(0..24), 0, 0, 0)),
        _ => Value::text(
            *rng.choice(&["", "a", "Sales", "_Test Item", "1"])
                .unwrap_or(&""),
        ),
    }
}

fn day(rng: &mut Rng) -> jiff::civil::Date {
    date(rng.i16(2012..2018), rng.i8(1..13), rng.i8(1..28))
}
