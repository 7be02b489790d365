//! Requirement counts per schema, engine and criterion, against those of the peer.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use isobath_rows::schema::criterion::{Criterion, RequirementCounts, requirements};
use isobath_sql::DialectName;

use crate::subjects;

/// Prints every count that differs, then how many agree; fails when any differs.
#[expect(clippy::print_stdout, reason = "a benchmark prints its table")]
pub(crate) fn compare(folder: &Path) -> ExitCode {
    let counts = folder.join("facts").join("schema-requirement-counts.csv");
    let (sources, counts) = match (subjects::sources(folder), std::fs::read_to_string(counts)) {
        (Ok(sources), Ok(counts)) => (sources, counts),
        (Err(error), _) | (_, Err(error)) => {
            println!("failed to read {}: {error}", folder.display());
            return ExitCode::FAILURE;
        }
    };
    let sources: BTreeMap<String, String> = sources.into_iter().collect();
    let mut lines = counts.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let (mut same, mut different) = (0, 0);
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let [name, engine, ..] = cells.as_slice() else {
            continue;
        };
        let engine_name = match *engine {
            "SQLite" => DialectName::Sqlite,
            _ => DialectName::Postgres,
        };
        let Some(text) = sources.get(*name) else {
            println!("{name}: no such schema file");
            different += 1;
            continue;
        };
        let schema = subjects::schema(name, text, engine_name);
        for (position, column) in header.iter().enumerate() {
            let Some(criterion) = column.strip_suffix("_total") else {
                continue;
            };
            let Ok(parsed) = criterion.parse::<Criterion>() else {
                println!("{column}: no such criterion");
                continue;
            };
            let RequirementCounts {
                raw,
                feasible,
                attempted,
            } = requirements(&schema, engine_name.dialect(), &parsed).counts;
            let ours = [raw, feasible, attempted].map(|count| count.to_string());
            let theirs = cells.get(position..position + 3).unwrap_or_default();
            if ours.iter().eq(theirs) {
                same += 1;
            } else {
                different += 1;
                println!(
                    "{name:15} {engine:9} {criterion:22} ours {} peer {}",
                    ours.join(" → "),
                    theirs.join(" → ")
                );
            }
        }
    }
    println!("{same} counts agree, {different} differ");
    if different == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
