//! How many recorded lists of coverage targets the strict criterion reproduces.
//!
//! The folder holds one folder per system with `schema.sql` and `queries.jsonl`,
//! whose lines have `id`, `query`, `targets` and `kinds`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use isobath_sql::coverage::{CoverageOptions, CoverageTarget, QueryCriterion, targets};
use isobath_sql::ddl::{Source, load};
use isobath_sql::{DialectName, Schema};
use serde_json::Value;
use sqlparser::dialect::{GenericDialect, MySqlDialect};

use crate::canonical::canonical;

/// What was counted, for one system or all.
#[derive(Default)]
struct Counts {
    lists: usize,
    reproduced: usize,
    in_order: usize,
    with_labels: usize,
    targets: usize,
    extended: usize,
    time: Duration,
}

/// Prints a line per system and one for all; succeeds when every list is reproduced, in order and with its labels.
pub(crate) fn compare(folder: &Path, verbose: bool) -> ExitCode {
    crate::verdict::exit(lists(folder, verbose))
}

/// As [`compare`]; whether every list is reproduced, in order and with its labels.
pub(crate) fn lists(folder: &Path, verbose: bool) -> Result<bool, Box<dyn Error>> {
    let mut systems: Vec<PathBuf> = Vec::new();
    for folder in [
        folder.to_owned(),
        folder.join("data/queries"),
        folder.join("queries"),
    ] {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
        systems.extend(paths.filter(|path| path.join("queries.jsonl").is_file()));
    }
    systems.sort();
    if systems.is_empty() {
        return Err(format!("no `queries.jsonl` in the folders of {}", folder.display()).into());
    }
    println!("system     lists reproduced in-order labels targets extended    time");
    let mut all = Counts::default();
    for system in systems {
        let counts = measure(&system, verbose)?;
        let name = system.file_name().unwrap_or_default().to_string_lossy();
        print(&name, &counts);
        all.lists += counts.lists;
        all.reproduced += counts.reproduced;
        all.in_order += counts.in_order;
        all.with_labels += counts.with_labels;
        all.targets += counts.targets;
        all.extended += counts.extended;
        all.time += counts.time;
    }
    print("all", &all);
    let least = all.reproduced.min(all.in_order).min(all.with_labels);
    Ok(least == all.lists)
}

fn print(name: &str, counts: &Counts) {
    println!(
        "{name:<10} {:>5} {:>10} {:>8} {:>6} {:>7} {:>8} {:>5} ms",
        counts.lists,
        counts.reproduced,
        counts.in_order,
        counts.with_labels,
        counts.targets,
        counts.extended,
        counts.time.as_millis(),
    );
}

fn measure(system: &Path, verbose: bool) -> Result<Counts, Box<dyn Error>> {
    let text = fs::read_to_string(system.join("schema.sql"))?;
    let source = Source {
        name: "schema.sql".to_owned(),
        text,
    };
    let schema = load("system", &[source], Some(DialectName::MySql)).schema;
    let mut counts = Counts::default();
    for line in fs::read_to_string(system.join("queries.jsonl"))?.lines() {
        let record: Value = serde_json::from_str(line)?;
        let id = record["id"].as_str().unwrap_or_default();
        let query = record["query"].as_str().ok_or("a record without a query")?;
        let recorded = texts(&record["targets"]);
        counts.lists += 1;
        counts.extended +=
            of(query, &schema, QueryCriterion::Extended).map_or(0, |list| list.len());
        let start = Instant::now();
        let made = of(query, &schema, QueryCriterion::Fpc);
        counts.time += start.elapsed();
        match made {
            Ok(made) => hold(id, query, &made, &recorded, &record, verbose, &mut counts)?,
            Err(error) if verbose => println!("{id}: {error}\n  {query}"),
            Err(_) => {}
        }
    }
    Ok(counts)
}

fn of(
    query: &str,
    schema: &Schema,
    criterion: QueryCriterion,
) -> Result<Vec<CoverageTarget>, isobath_sql::coverage::TargetError> {
    targets(
        query,
        schema,
        DialectName::MySql,
        criterion,
        CoverageOptions::default(),
    )
}

/// Holds one list against the recorded one.
fn hold(
    id: &str,
    query: &str,
    made: &[CoverageTarget],
    recorded: &[&str],
    record: &Value,
    verbose: bool,
    counts: &mut Counts,
) -> Result<(), Box<dyn Error>> {
    counts.targets += made.len();
    let ours: Result<Vec<String>, String> = made
        .iter()
        .map(|target| canonical(&target.sql, &MySqlDialect {}))
        .collect();
    let theirs: Result<Vec<String>, String> = recorded
        .iter()
        .map(|sql| canonical(sql, &GenericDialect {}))
        .collect();
    let (ours, theirs) = (ours?, theirs?);
    counts.in_order += usize::from(ours == theirs);
    let labels: Vec<String> = made.iter().map(CoverageTarget::label).collect();
    counts.with_labels += usize::from(labels == texts(&record["kinds"]));
    let missing = without(&theirs, &ours);
    let surplus = without(&ours, &theirs);
    if missing.is_empty() && surplus.is_empty() {
        counts.reproduced += 1;
    } else if verbose {
        println!("{id}: {query}");
        for sql in missing {
            println!("  missing {sql}");
        }
        for sql in surplus {
            println!("  surplus {sql}");
        }
    }
    Ok(())
}

fn texts(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// What is left of a list when another is taken away, repetitions counted.
fn without<'t>(list: &'t [String], other: &[String]) -> Vec<&'t str> {
    let mut other: Vec<&String> = other.iter().collect();
    list.iter()
        .filter(|sql| match other.iter().position(|of| of == sql) {
            Some(index) => {
                other.swap_remove(index);
                false
            }
            None => true,
        })
        .map(String::as_str)
        .collect()
}
