//! Speed and effect, printed.
//!
//! Usage: `isobath-bench <what> <folder>`, where the folder holds `data` and `facts`.

mod ablation;
mod analytics;
mod campaign;
mod canonical;
mod coverage;
mod cpu;
mod database;
mod effect;
mod faults;
mod flakes;
mod foo;
mod http;
mod instances;
mod jvm;
mod llvm;
mod marina;
mod memory;
mod mutants;
mod openapi;
mod proofs;
mod protocol;
mod python;
mod query;
mod query_eval;
mod query_targets;
mod requirements;
mod rest;
mod schema;
mod search;
mod services;
mod stages;
mod strangers;
mod subjects;
mod tap;
mod verdict;
mod whitebox;

use std::path::Path;
use std::process::ExitCode;

/// As in the product.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[expect(
    clippy::print_stderr,
    reason = "a wrong call is answered by how to call"
)]
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["requirements", folder] => requirements::compare(Path::new(folder)),
        ["coverage", folder, generators @ ..] => coverage::table(Path::new(folder), generators),
        ["schema", folder] => schema::all(Path::new(folder), 30, None),
        ["schema", folder, binary] => schema::all(Path::new(folder), 30, Some(Path::new(binary))),
        ["mutants", folder] => mutants::compare(Path::new(folder)),
        ["strengthen", folder] => mutants::strengthen(Path::new(folder), false),
        ["strengthen", folder, "names"] => mutants::strengthen(Path::new(folder), true),
        ["openapi", folder] => openapi::table(&openapi::documents(Path::new(folder))),
        ["openapi", folder, binary] => {
            rest::starts(&openapi::documents(Path::new(folder)), Path::new(binary))
        }
        ["rest", folder, binary] => rest::all(Path::new(folder), Path::new(binary)),
        ["query-eval", folder] => query_eval::table(Path::new(folder)),
        ["query-targets", folder] => query_targets::compare(Path::new(folder), false),
        ["query-targets", folder, "-v"] => query_targets::compare(Path::new(folder), true),
        ["campaign", "queue"] => campaign::queue(2_000),
        ["campaign", "simulate"] => campaign::simulation::table(),
        ["campaign", "simulate", "islands"] => campaign::simulation::island_table(),
        ["campaign", binary] => campaign::scaling(Path::new(binary), 1_000, false),
        ["campaign", binary, "nats"] => campaign::scaling(Path::new(binary), 1_000, true),
        ["campaign", binary, "nats", calls] => {
            campaign::scaling(Path::new(binary), calls.parse().unwrap_or(1_000), true)
        }
        ["campaign", binary, "islands", numbers @ ..] => {
            let number = |at: usize, usual| {
                let word = numbers.get(at).and_then(|word| word.parse().ok());
                word.unwrap_or(usual)
            };
            campaign::islands(Path::new(binary), number(0, 90), number(1, 5))
        }
        ["campaign", binary, "faults"] => campaign::kills(Path::new(binary), 50),
        ["campaign", binary, "faults", kills] => {
            campaign::kills(Path::new(binary), kills.parse().unwrap_or(50))
        }
        ["instances", "core"] => instances::core(),
        ["instances", "serve", port] => instances::serve(port),
        ["instances", binary] => instances::calls(Path::new(binary), 30),
        ["instances", binary, seconds] => {
            instances::calls(Path::new(binary), seconds.parse().unwrap_or(30))
        }
        ["search"] => search::table(),
        ["http"] => http::table(),
        ["tap"] => tap::table(),
        ["foo"] => foo::table(10),
        ["foo", seeds] => foo::table(seeds.parse().unwrap_or(10)),
        ["marina", binary] => marina::table(Path::new(binary), "60s", 5),
        ["marina", binary, budget] => marina::table(Path::new(binary), budget, 5),
        ["faults", binary, numbers @ ..] => {
            let number = |at: usize, usual| {
                let word = numbers.get(at).and_then(|word| word.parse().ok());
                word.unwrap_or(usual)
            };
            faults::table(&faults::Plan {
                binary: Path::new(binary),
                calls: number(0, 160),
                kills: number(1, 20),
                only: numbers.get(2).copied(),
            })
        }
        ["memory", binary] => memory::table(Path::new(binary), 100_000),
        ["memory", binary, calls] => {
            memory::table(Path::new(binary), calls.parse().unwrap_or(100_000))
        }
        ["flakes", binary, rest @ ..] => {
            let number = |at: usize, usual| {
                let word = rest.get(at).and_then(|word| word.parse().ok());
                word.unwrap_or(usual)
            };
            flakes::table(&flakes::Plan {
                program: Path::new(binary),
                runs: number(0, 10),
                calls: number(1, 500),
                only: rest.get(2).copied(),
            })
        }
        ["ledger", port] => faults::serve_ledger(port),
        ["query", folder, options @ ..] => query::measure(Path::new(folder), options),
        ["proofs", options @ ..] => proofs::table(options),
        ["analytics", folder] => analytics::table(Path::new(folder), false),
        ["analytics", folder, "-v"] => analytics::table(Path::new(folder), true),
        ["protocol"] => protocol::table(),
        ["database", words @ ..] => database::table(words),
        ["whitebox", "effect", samples, program, numbers @ ..] => {
            let number = |at: usize, usual| {
                let word = numbers.get(at).and_then(|word| word.parse().ok());
                word.unwrap_or(usual)
            };
            ablation::table(&ablation::Plan {
                samples: Path::new(samples),
                program: Path::new(program),
                seeds: number(0, 10),
                calls: number(1, 6_000),
                names: numbers.get(2..).unwrap_or_default(),
            })
        }
        ["whitebox", "llvm", samples, program, names @ ..] => {
            let (samples, program) = (Path::new(samples), Path::new(program));
            llvm::compare(samples, program, "12000calls", names)
        }
        ["whitebox", folder, package, wrapper, paths @ ..] => {
            whitebox::compare(Path::new(folder), package, Path::new(wrapper), paths)
        }
        ["jvm", samples, program, numbers @ ..] => {
            let number = |at: usize, usual| {
                let word = numbers.get(at).and_then(|word| word.parse().ok());
                word.unwrap_or(usual)
            };
            jvm::table(&jvm::Plan {
                samples: Path::new(samples),
                program: Path::new(program),
                seeds: number(0, 3),
                calls: number(1, 20_000),
                only: numbers.get(2).copied(),
            })
        }
        ["strangers", folder, program, seconds, words @ ..] => {
            let (seed, names) = match words {
                ["--seed", seed, names @ ..] => (*seed, names),
                names => ("1", names),
            };
            let (Ok(seconds), Ok(seed)) = (seconds.parse(), seed.parse()) else {
                eprintln!("isobath-bench: `{seconds}` seconds or seed `{seed}`: not a number");
                return ExitCode::from(2);
            };
            strangers::table(&strangers::Plan {
                folder: Path::new(folder),
                program: Path::new(program),
                seconds,
                seed,
                names,
            })
        }
        ["python", samples, "latency", only @ ..] => {
            python::latency(Path::new(samples), only.first().copied())
        }
        ["python", samples, program, numbers @ ..] => {
            let number = |at: usize, usual| {
                let word = numbers.get(at).and_then(|word| word.parse().ok());
                word.unwrap_or(usual)
            };
            let extent = stages::Extent {
                program: Path::new(program),
                seeds: number(0, 3),
                calls: number(1, 10_000),
            };
            python::table(Path::new(samples), &extent, numbers.get(2).copied())
        }
        ["wfd", folder, program, rest @ ..] => {
            let number = |at: usize, usual| {
                let word = rest.get(at).and_then(|word| word.parse().ok());
                word.unwrap_or(usual)
            };
            jvm::compare(&jvm::Comparison {
                folder: Path::new(folder),
                program: Path::new(program),
                seeds: number(0, 3),
                seconds: number(1, 60),
                services: rest.get(2..).unwrap_or_default(),
            })
        }
        ["services", folder, wrapper, names @ ..] => {
            services::table(Path::new(folder), Path::new(wrapper), names)
        }
        _ => {
            eprintln!("usage: isobath-bench requirements FOLDER");
            eprintln!("       isobath-bench schema FOLDER [BINARY]");
            eprintln!("       isobath-bench mutants FOLDER");
            eprintln!("       isobath-bench strengthen FOLDER [names]");
            eprintln!("       isobath-bench coverage FOLDER [GENERATOR…]");
            eprintln!("       isobath-bench search");
            eprintln!("       isobath-bench campaign queue|simulate [islands]");
            eprintln!("       isobath-bench campaign ISOBATH [nats [CALLS]]");
            eprintln!("       isobath-bench campaign ISOBATH faults [KILLS]");
            eprintln!("       isobath-bench campaign ISOBATH islands [SECONDS [SEEDS]]");
            eprintln!("       isobath-bench instances core");
            eprintln!("       isobath-bench instances ISOBATH [SECONDS]");
            eprintln!("       isobath-bench http");
            eprintln!("       isobath-bench tap");
            eprintln!("       isobath-bench foo [SEEDS]");
            eprintln!("       isobath-bench marina BINARY [BUDGET]");
            eprintln!("       isobath-bench faults BINARY [CALLS [KILLS [NAME]]]");
            eprintln!("       isobath-bench memory BINARY [CALLS]");
            eprintln!("       isobath-bench flakes BINARY [RUNS [CALLS [NAME]]]");
            eprintln!("       isobath-bench openapi FOLDER [BINARY]");
            eprintln!("       isobath-bench rest FOLDER BINARY");
            eprintln!("       isobath-bench query-eval FOLDER");
            eprintln!("       isobath-bench query-targets FOLDER [-v]");
            eprintln!(
                "       isobath-bench query FOLDER [--all] [--seeds N] [--algorithm NAME] [--budget N] [--ignore-constraints] [--confirm] [--apart] [--only ID] [-v]"
            );
            eprintln!("       isobath-bench query FOLDER --paper [--seeds N] [--budget N]");
            eprintln!(
                "       isobath-bench proofs [--engine NAME] [--only queries|schemas] [--seed N] [--rounds N] [--queries N] [--databases N]"
            );
            eprintln!("       isobath-bench analytics FOLDER [-v]");
            eprintln!("       isobath-bench protocol");
            eprintln!("       isobath-bench whitebox PROJECT PACKAGE WRAPPER PATH…");
            eprintln!("       isobath-bench whitebox llvm SAMPLES ISOBATH [NAME…]");
            eprintln!(
                "       isobath-bench whitebox effect SAMPLES ISOBATH [SEEDS [CALLS [SUBJECT…]]]"
            );
            eprintln!("       isobath-bench database [ISOBATH] [SEEDS [CALLS [SERVICE…]]]");
            eprintln!(
                "       isobath-bench jvm SAMPLES ISOBATH [SEEDS [CALLS [probes|throughput|figures|functions|numbers|texts]]]"
            );
            eprintln!("       isobath-bench strangers FOLDER ISOBATH SECONDS [--seed N] [NAME…]");
            eprintln!("       isobath-bench python SAMPLES ISOBATH [SEEDS [CALLS [SERVICE]]]");
            eprintln!("       isobath-bench python SAMPLES latency [fastapi|flask|django]");
            eprintln!(
                "       isobath-bench wfd FOLDER ISOBATH [SEEDS [SECONDS [SERVICE[/TOOL]…]]]"
            );
            eprintln!("       isobath-bench services WORKSPACE WRAPPER [NAME…]");
            ExitCode::from(2)
        }
    }
}
