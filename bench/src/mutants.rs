//! Mutants and kills on the given schemas, beside the numbers of SchemaAnalyst.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use isobath_rows::schema::generator::GeneratorName;
use isobath_rows::schema::job::{Config, generate};
use isobath_rows::schema::mutation::{
    FilterPipeline, OperatorSet, analyze, find_ineffective, mutants, strengthen as strengthened,
};
use isobath_sql::DialectName;

use crate::subjects;

/// What the peer measured on SQLite.
struct Peer {
    schema: &'static str,
    /// Mutants kept by its default pipeline.
    default: usize,
    /// Mutants kept by its normalized pipeline.
    normalized: usize,
    /// Of the latter, those killed by suites of DOMINO, AVM-D and AVM-R.
    killed: [usize; 3],
}

const fn peer(schema: &'static str, default: usize, normalized: usize, killed: [usize; 3]) -> Peer {
    Peer {
        schema,
        default,
        normalized,
        killed,
    }
}

const PEER: [Peer; 16] = [
    peer("ArtistTerm", 23, 19, [19, 19, 19]),
    peer("BankAccount", 30, 30, [28, 26, 29]),
    peer("BookTown", 224, 193, [191, 165, 192]),
    peer("BrowserCookies", 92, 89, [86, 77, 87]),
    peer("CoffeeOrders", 56, 56, [55, 53, 56]),
    peer("Employee", 44, 44, [43, 37, 43]),
    peer("Flights", 53, 51, [51, 43, 50]),
    peer("FrenchTowns", 89, 66, [63, 55, 63]),
    peer("Iso3166", 10, 10, [10, 8, 10]),
    peer("NistDML182", 111, 94, [94, 94, 94]),
    peer("NistWeather", 34, 32, [32, 30, 32]),
    peer("NistXTS749", 27, 25, [23, 23, 24]),
    peer("Person", 22, 22, [22, 18, 22]),
    peer("Products", 51, 49, [43, 42, 43]),
    peer("RiskIt", 214, 206, [205, 184, 206]),
    peer("UnixUsage", 119, 112, [112, 110, 112]),
];

/// Prints the mutants kept, and the kills of each generator, beside the peer's.
#[expect(clippy::print_stdout, reason = "a benchmark prints its table")]
pub(crate) fn compare(folder: &Path) -> ExitCode {
    let sources = match subjects::sources(folder) {
        Ok(sources) => sources,
        Err(error) => {
            println!("failed to read {}: {error}", folder.display());
            return ExitCode::FAILURE;
        }
    };
    let dialect = DialectName::Sqlite.dialect();
    let generators = [
        GeneratorName::Domino,
        GeneratorName::AvmD,
        GeneratorName::AvmR,
    ];
    println!("mutants kept and killed on SQLite, ours (peer's)");
    println!(
        "schema            default   normalized      domino       avm-d       avm-r     default generator"
    );
    let mut same = 0;
    let (mut farthest, mut sums) = (0, [(0, 0); 3]);
    for (name, text) in &sources {
        let Some(peer) = PEER.iter().find(|peer| peer.schema == name) else {
            continue;
        };
        let schema = subjects::schema(name, text, DialectName::Sqlite);
        let kept = |pipeline| {
            let made = mutants(&schema, dialect, OperatorSet::Paper);
            let sifted = find_ineffective(&schema, dialect, &made, pipeline);
            sifted.iter().filter(|one| one.is_none()).count()
        };
        let killed = |generator| {
            let config = Config {
                generator,
                ..Config::default()
            };
            let suite = generate(&schema, dialect, &config).tests;
            let made = mutants(&schema, dialect, OperatorSet::Paper);
            analyze(&schema, dialect, made, FilterPipeline::Normalized, &suite)
        };
        let (default, normalized) = (
            kept(FilterPipeline::Default),
            kept(FilterPipeline::Normalized),
        );
        same += usize::from(default == peer.default && normalized == peer.normalized);
        let mut line = format!(
            "{name:<16}{:>11}{:>13}",
            format!("{default} ({})", peer.default),
            format!("{normalized} ({})", peer.normalized)
        );
        for ((generator, theirs), sum) in generators.into_iter().zip(peer.killed).zip(&mut sums) {
            let ours = killed(generator).killed();
            farthest = farthest.max(ours.abs_diff(theirs));
            *sum = (sum.0 + ours, sum.1 + theirs);
            line += &format!("{:>12}", format!("{ours} ({theirs})"));
        }
        let ours = killed(GeneratorName::Default);
        println!("{line}{:>12}", ours.killed());
        for (_, mutant) in ours.survivors() {
            println!(
                "    alive with the default generator: {}",
                mutant.description
            );
        }
    }
    println!(
        "{same} of {} schemas have the peer's numbers of mutants",
        PEER.len()
    );
    let [domino, avm_d, avm_r] = sums;
    println!(
        "killed in all: domino {} ({}), avm-d {} ({}), avm-r {} ({}); at most {farthest} apart on a schema",
        domino.0, domino.1, avm_d.0, avm_d.1, avm_r.0, avm_r.1
    );
    // The peer's order over all schemas, where its numbers differ by more than chance.
    let same_order = avm_d.0 < domino.0 && avm_d.0 < avm_r.0;
    println!("Row ids: the peer writes INT for INTEGER, so NULL in such a key is no number there");
    if same == PEER.len() && farthest <= FEW && same_order {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// How far a generator's kills on a schema may be from the peer's.
const FEW: usize = 3;

/// Prints what is done with all mutants with the default suite, and when it is strengthened.
#[expect(clippy::print_stdout, reason = "a benchmark prints its table")]
pub(crate) fn strengthen(folder: &Path, by_name: bool) -> ExitCode {
    let sources = match subjects::sources(folder) {
        Ok(sources) => sources,
        Err(error) => {
            println!("failed to read {}: {error}", folder.display());
            return ExitCode::FAILURE;
        }
    };
    println!(
        "schema          engine    tests  mutants  effective  killed | analysis ms | added  killed  equivalent  undecided | strengthen ms"
    );
    let mut total = std::time::Duration::ZERO;
    for engine in [
        DialectName::Sqlite,
        DialectName::Postgres,
        DialectName::MySql,
    ] {
        for (name, text) in &sources {
            let dialect = engine.dialect();
            let schema = subjects::schema(name, text, engine);
            let suite = generate(&schema, dialect, &Config::default()).tests;
            let started = Instant::now();
            let made = mutants(&schema, dialect, OperatorSet::All);
            let analysis = analyze(&schema, dialect, made, FilterPipeline::Engine, &suite);
            let analysed = started.elapsed();
            total += analysed;
            let line = format!(
                "{name:<16}{engine:<9}{:>6}{:>9}{:>11}{:>8} |{:>12} |",
                suite.len(),
                analysis.mutants.len(),
                analysis.effective(),
                analysis.killed(),
                analysed.as_millis()
            );
            let started = Instant::now();
            let strong = strengthened(&schema, dialect, &suite, analysis);
            println!(
                "{line}{:>6}{:>8}{:>12}{:>11} |{:>14}",
                strong.tests.len(),
                strong.analysis.killed(),
                strong.analysis.equivalent(),
                strong.analysis.survivors().count(),
                started.elapsed().as_millis()
            );
            if by_name {
                for (_, mutant) in strong.analysis.survivors() {
                    println!("    undecided: {}", mutant.description);
                }
            }
        }
    }
    println!(
        "analysis of all schemas on all engines: {} ms",
        total.as_millis()
    );
    ExitCode::SUCCESS
}
