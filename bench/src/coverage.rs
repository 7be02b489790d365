//! Coverage, tests and time of the generators on the given schemas.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use isobath_rows::schema::generator::GeneratorName;
use isobath_rows::schema::job::{Config, RequirementStatus, generate};
use isobath_sql::DialectName;

use crate::subjects;

/// Prints a line per schema, engine and generator, and every requirement that is neither covered nor proven infeasible.
#[expect(clippy::print_stdout, reason = "a benchmark prints its table")]
pub(crate) fn table(folder: &Path, generators: &[&str]) -> ExitCode {
    let sources = match subjects::sources(folder) {
        Ok(sources) => sources,
        Err(error) => {
            println!("failed to read {}: {error}", folder.display());
            return ExitCode::FAILURE;
        }
    };
    let generators: Result<Vec<GeneratorName>, _> =
        generators.iter().map(|name| name.parse()).collect();
    let generators = match generators {
        Ok(names) if names.is_empty() => vec![GeneratorName::Default],
        Ok(names) => names,
        Err(error) => {
            println!("{error}");
            return ExitCode::from(2);
        }
    };
    println!(
        "schema          engine   generator   required covered infeasible tests inserts evaluations millis"
    );
    for generator in generators {
        for engine in [
            DialectName::Sqlite,
            DialectName::Postgres,
            DialectName::MySql,
        ] {
            for (name, text) in &sources {
                let schema = subjects::schema(name, text, engine);
                let config = Config {
                    generator,
                    ..Config::default()
                };
                let started = Instant::now();
                let outcome = generate(&schema, engine.dialect(), &config);
                let millis = started.elapsed().as_millis();
                println!(
                    "{name:15} {engine:8} {generator:11} {:8} {:7} {:10} {:5} {:7} {:11} {millis:6}",
                    outcome.requirements.len(),
                    outcome.covered(),
                    outcome.infeasible(),
                    outcome.tests.len(),
                    outcome.inserts(),
                    outcome.evaluations,
                );
                for (requirement, status) in outcome.requirements.iter().zip(&outcome.statuses) {
                    if let RequirementStatus::Uncovered { why } = status {
                        println!("    {}: {why}", requirement.description[0]);
                    }
                }
            }
        }
    }
    ExitCode::SUCCESS
}
