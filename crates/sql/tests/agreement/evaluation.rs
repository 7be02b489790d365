//! Conditions and values, evaluated by us and by a database.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fastrand::Rng;
use isobath_exec::engine::Engine;
use isobath_exec::{Database, RefusalKind, StatementOutcome};
use isobath_sql::eval::{self, Env, EvalError};
use isobath_sql::{DialectName, Value};
use rust_decimal::prelude::ToPrimitive;
use rust_decimal::{Decimal, RoundingStrategy};

use super::generate::{Generator, Term};
use super::lexicon::{self, Known};

/// Cases per seed; half are conditions, half are values.
const CASES: usize = 1500;
const ROWS: usize = 12;

/// How often cases may be unsupported: all together, and those that contain any one construct.
///
/// MariaDB mixes types in ways that only some of its functions document.
fn unsupported(engine: Engine) -> (f64, f64) {
    match engine {
        Engine::Sqlite => (0.03, 0.15),
        Engine::Postgres => (0.08, 0.35),
        Engine::MariaDb => (0.16, 0.6),
    }
}

#[derive(Default)]
struct Tally {
    seen: BTreeMap<&'static str, (usize, usize)>,
    cases: usize,
    unsupported: usize,
    disagreements: Vec<String>,
}

pub(crate) fn agree(engine: Engine) {
    let Some(mut provisioned) = super::database("agreement of verdicts", engine) else {
        return;
    };
    let database = provisioned.database();
    let dialect = engine.dialect();
    let mut tally = Tally::default();
    for seed in super::seeds() {
        run(seed, dialect, database, &mut tally);
    }
    let mut report = String::new();
    for line in tally.disagreements.iter().take(12) {
        let _ = writeln!(report, "{line}\n");
    }
    assert!(
        tally.disagreements.is_empty(),
        "{} disagreements in {} cases on {engine}:\n{report}",
        tally.disagreements.len(),
        tally.cases,
    );
    let share = tally.unsupported as f64 / tally.cases as f64;
    super::summary(
        engine,
        "expressions over rows",
        tally.cases,
        tally.unsupported,
    );
    for (tag, (seen, unsupported)) in &tally.seen {
        println!("  {tag}: {unsupported} of {seen}");
    }
    let (overall, per_construct) = unsupported(engine);
    assert!(share < overall, "{share} of the cases are unsupported");
    for (tag, (seen, unsupported)) in tally.seen {
        let share = unsupported as f64 / seen as f64;
        assert!(
            seen < 20 || share < per_construct,
            "{tag} is unsupported in {unsupported} of {seen} cases"
        );
    }
}

fn run(seed: u64, dialect: DialectName, database: &mut dyn Database, tally: &mut Tally) {
    let columns = lexicon::columns(dialect);
    database.drop_all_objects().unwrap();
    let rows = fill(seed, dialect, &columns, database);
    let mut generator = Generator {
        rng: Rng::with_seed(seed.wrapping_mul(7919).wrapping_add(1)),
        dialect,
        columns: &columns,
    };
    for case in 0..CASES {
        let row = generator.rng.usize(..rows.len());
        let condition = case % 2 == 0;
        let term = if condition {
            generator.condition(3)
        } else {
            let sort = generator.sort();
            generator.scalar(sort, 3)
        };
        // MariaDB is stricter in statements that write.
        let writes = condition && dialect == DialectName::MySql && case % 8 == 0;
        let env = Env {
            row: rows[row].as_slice().into(),
            parameters: &[],
            writes,
            subquery_results: &[],
            now: None,
        };
        let ours = if condition {
            eval::truth_in(&term.expr, env, dialect.dialect()).map(|truth| {
                assert!(truth.to_true().is_finite() && truth.to_false().is_finite());
                match truth.verdict() {
                    Some(verdict) => Value::Bool(verdict),
                    None => Value::Null,
                }
            })
        } else {
            eval::value_in(&term.expr, env, dialect.dialect())
        };
        let theirs = if writes {
            match check(database, &term, row, &ours, &columns) {
                Some(theirs) => theirs,
                // No schema can hold this condition.
                None => continue,
            }
        } else {
            ask(database, &term, row, condition)
        };
        tally.count(&term, &ours, &theirs, &rows[row], &columns, writes);
    }
}

/// Makes and fills the table; returns its rows as we think they are stored.
fn fill(
    seed: u64,
    dialect: DialectName,
    columns: &[Known],
    database: &mut dyn Database,
) -> Vec<Vec<Value>> {
    let mut rng = Rng::with_seed(seed);
    let declared: Vec<String> = columns
        .iter()
        .map(|known| format!("{} {}", known.column.name, known.column.declared))
        .collect();
    done(
        database,
        &format!("CREATE TABLE r (id INT, {})", declared.join(", ")),
    );
    let mut rows = Vec::new();
    for id in 0..ROWS {
        let mut row = Vec::new();
        let mut sql = Vec::new();
        for known in columns {
            // A value that does not fit is simply drawn again.
            let (given, stored) = loop {
                let given = if rng.u8(..6) == 0 {
                    Value::Null
                } else {
                    lexicon::value(&mut rng, known.sort, dialect)
                };
                if let Ok(stored) = dialect.dialect().store(&given, &known.column, false) {
                    break (given, stored);
                }
            };
            sql.push(lexicon::literal(&given, dialect));
            row.push(stored);
        }
        done(
            database,
            &format!("INSERT INTO r VALUES ({id}, {})", sql.join(", ")),
        );
        rows.push(row);
    }
    rows
}

fn done(database: &mut dyn Database, sql: &str) {
    let answer = database.execute(sql).unwrap();
    assert!(answer.is_done(), "{sql}: {answer:?}");
}

/// Whether a CHECK finds our verdict true of the row, or raises an error; `None` when it cannot exist.
///
/// MariaDB is stricter where it writes, so a verdict there is asked of a real constraint.
fn check(
    database: &mut dyn Database,
    term: &Term,
    row: usize,
    ours: &Result<Value, EvalError>,
    columns: &[Known],
) -> Option<Result<Value, String>> {
    let expected = match ours {
        Ok(Value::Bool(true)) => "TRUE",
        Ok(Value::Bool(false)) => "FALSE",
        Ok(_) => "UNKNOWN",
        Err(_) => "TRUE",
    };
    let declared: Vec<String> = columns
        .iter()
        .map(|known| format!("{} {}", known.column.name, known.column.declared))
        .collect();
    let create = format!(
        "CREATE OR REPLACE TEMPORARY TABLE checked (id INT, {}, CHECK (({}) IS {expected}))",
        declared.join(", "),
        term.sql
    );
    if !database.execute(&create).unwrap().is_done() {
        return None;
    }
    let insert = format!("INSERT INTO checked SELECT * FROM r WHERE id = {row}");
    Some(match database.execute(&insert).unwrap() {
        StatementOutcome::Done { .. } => Ok(ours.clone().unwrap_or(Value::Bool(true))),
        StatementOutcome::Refused(refusal) if refusal.kind == RefusalKind::Check => {
            Ok(Value::text(format!("something else than {expected}")))
        }
        StatementOutcome::Refused(refusal) => Err(format!("{refusal:?}")),
    })
}

fn ask(
    database: &mut dyn Database,
    term: &Term,
    row: usize,
    condition: bool,
) -> Result<Value, String> {
    let sql = if condition && database.dialect() == DialectName::Postgres {
        // A bare literal is a condition only where one is wanted.
        format!("SELECT NOT NOT {} FROM r WHERE id = {row}", term.sql)
    } else {
        format!("SELECT {} FROM r WHERE id = {row}", term.sql)
    };
    let rows = match database.query(&sql).unwrap() {
        Ok(rows) => rows,
        Err(refusal) => return Err(format!("{refusal:?}")),
    };
    let value = rows.rows[0][0].clone();
    Ok(match (value, condition) {
        // A number or text that stands as a condition.
        (Value::Int(int), true) => Value::Bool(int != 0),
        (Value::Float(float), true) => Value::Bool(float != 0.0),
        // Digits that are not shown count as well.
        (Value::Text(_) | Value::Bytes(_) | Value::Decimal(_), true) => {
            return truthy(database, term, row);
        }
        (value, _) => value,
    })
}

/// The verdict of text, asked of the database again.
fn truthy(database: &mut dyn Database, term: &Term, row: usize) -> Result<Value, String> {
    let sql = format!("SELECT NOT NOT ({}) FROM r WHERE id = {row}", term.sql);
    match database.query(&sql).unwrap() {
        Ok(rows) => Ok(match rows.rows[0][0] {
            Value::Int(int) => Value::Bool(int != 0),
            _ => Value::Null,
        }),
        Err(refusal) => Err(format!("{refusal:?}")),
    }
}

impl Tally {
    fn count(
        &mut self,
        term: &Term,
        ours: &Result<Value, EvalError>,
        theirs: &Result<Value, String>,
        row: &[Value],
        columns: &[Known],
        writes: bool,
    ) {
        self.cases += 1;
        let unsupported = matches!(ours, Err(EvalError::Unsupported(_)));
        self.unsupported += usize::from(unsupported);
        let mut tags = term.tags.clone();
        tags.sort_unstable();
        tags.dedup();
        for tag in tags {
            let (seen, left) = self.seen.entry(tag).or_default();
            *seen += 1;
            *left += usize::from(unsupported);
        }
        let agree = match (ours, theirs) {
            (Err(EvalError::Unsupported(_)), _) => true,
            (Err(EvalError::Raised(_)), Err(_)) => true,
            (Ok(ours), Ok(theirs)) => same(ours, theirs),
            _ => false,
        };
        if agree {
            return;
        }
        let mut used = term.expr.columns();
        used.sort_unstable();
        let used: Vec<String> = used
            .iter()
            .map(|&slot| format!("{} = {:?}", columns[slot].column.name, row[slot]))
            .collect();
        let mode = if writes { " (writing)" } else { "" };
        self.disagreements.push(format!(
            "{}{mode}\n  with {}\n  we say {ours:?}\n  it says {theirs:?}",
            term.sql,
            used.join(", "),
        ));
    }
}

/// Whether two values are the same, apart from how they are carried.
pub(crate) fn same(ours: &Value, theirs: &Value) -> bool {
    if ours == theirs {
        return true;
    }
    let number = |value: &Value| match value {
        Value::Bool(bool) => Some(Decimal::from(u8::from(*bool))),
        Value::Int(int) => Decimal::try_from_i128_with_scale(*int, 0).ok(),
        Value::Decimal(decimal) => Some(*decimal),
        _ => None,
    };
    match (ours, theirs) {
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Float(a), Value::Float(b)) => {
            // MariaDB shows fewer digits of some quotients.
            let short = b.to_string().len() < 14;
            let tolerance = if short { 1e-4 } else { a.abs() * 1e-15 };
            (a - b).abs() <= tolerance
        }
        (Value::Float(a), b) | (b, Value::Float(a)) => number(b)
            .and_then(|b| b.to_f64())
            .is_some_and(|b| (*a - b).abs() <= a.abs() * 1e-14),
        _ => match (number(ours), number(theirs)) {
            // A database shows fewer digits of a quotient than it computes with.
            (Some(a), Some(b)) => {
                a == b
                    || a.round_dp_with_strategy(b.scale(), RoundingStrategy::MidpointAwayFromZero)
                        == b
                    || a.trunc_with_scale(b.scale()) == b
            }
            (None, None) => text(ours) == text(theirs),
            _ => false,
        },
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::DateTime(at) => format!("{} {}", at.date(), at.time()),
        other => other.to_string(),
    }
}
