//! The driver for Python: what its techniques are worth, on the examples of the papers and on functions.
//!
//! The lines that a written suite executes are counted by coverage.py, from outside, on the plain service. Needs the
//! environment of the samples, which `scripts/test` makes, and pytest with requests.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod latency;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use isobath_exec::process::{Launch, ReadyCheck, Service, free_port};
use serde_json::Value;

use crate::stages::{self, Counted, Extent, Job, PORTS};
use crate::verdict::{self, BenchError, run, suite_passes};

/// A service to measure: name, folder, file that counts, application, and what serves it for coverage.py.
struct Subject {
    name: &'static str,
    folder: &'static str,
    file: &'static str,
    document: &'static str,
    application: &'static str,
    served: &'static str,
}

const SUBJECTS: [Subject; 5] = [
    Subject {
        name: "figures/fastapi",
        folder: "papers",
        file: "figures.py",
        document: "papers/openapi.json",
        application: "fastapi_app:app",
        served: "-m uvicorn fastapi_app:app --port {port} --no-access-log",
    },
    Subject {
        name: "figures/flask",
        folder: "papers",
        file: "figures.py",
        document: "papers/openapi.json",
        application: "flask_app:create_app()",
        served: "-m flask --app flask_app run --port {port}",
    },
    Subject {
        name: "figures/django",
        folder: "papers",
        file: "figures.py",
        document: "papers/openapi.json",
        application: "django_app:application",
        served: "django_app.py runserver --noreload 127.0.0.1:{port}",
    },
    Subject {
        name: "numbers",
        folder: "numbers",
        file: "functions.py",
        document: "numbers/openapi.json",
        application: "service:app",
        served: "-m uvicorn service:app --port {port} --no-access-log",
    },
    Subject {
        name: "texts",
        folder: "texts",
        file: "functions.py",
        document: "texts/openapi.json",
        application: "service:app",
        served: "-m flask --app service run --port {port}",
    },
];

/// Measures, prints, and says whether every number is reached. `only` is the start of a name.
pub(crate) fn table(samples: &Path, extent: &Extent<'_>, only: Option<&str>) -> ExitCode {
    println!(
        "lines executed by the suite, by coverage.py; {} calls, {} seeds",
        extent.calls, extent.seeds
    );
    let names = SUBJECTS.iter().map(|subject| subject.name);
    let names: Vec<&'static str> = names
        .filter(|name| only.is_none_or(|only| name.starts_with(only)))
        .collect();
    verdict::conclude(stages::measure(extent, &names, |job, ports| {
        one(samples, extent, job, ports)
    }))
}

/// Measures what the driver costs each framework, or one.
pub(crate) fn latency(samples: &Path, only: Option<&str>) -> ExitCode {
    verdict::exit(latency::measure(samples, only))
}

/// The environment of the samples.
fn environment(samples: &Path) -> Result<PathBuf, BenchError> {
    let environment = samples.join("../../../target/test-tools/services");
    let found = environment.canonicalize();
    Ok(found
        .map_err(|error| format!("{}: {error}; scripts/test makes it", environment.display()))?)
}

/// Searches a service and runs the written suite on the plain one.
fn one(samples: &Path, extent: &Extent<'_>, job: &Job, ports: u16) -> Result<Counted, BenchError> {
    let subject = SUBJECTS.iter().find(|subject| subject.name == job.subject);
    let subject = subject.ok_or("no such service")?;
    let samples = samples.canonicalize()?;
    let folder = samples.join(subject.folder);
    let environment = environment(&samples)?;
    let out = tempfile::tempdir()?;
    let port = free_port(ports)?;
    let python = environment.join("bin/python").display().to_string();
    let command = |prefix: &str, port: u16| {
        let served = subject.served.replace("{port}", &port.to_string());
        format!("exec '{python}' {prefix}{served}")
    };
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|&word| word.to_owned())
            .collect::<Vec<_>>()
    };
    let instrumented = words(&["--python", subject.application, "--port", &port.to_string()]);
    let url = format!("http://127.0.0.1:{port}");
    let plain = words(&["--url", &url, "--start", &command("", port)]);
    let document = samples.join("../jvm").join(subject.document);
    let mut search = job.search(extent, &document, out.path(), &instrumented, &plain);
    // Findings are no failure here; that there is no suite shows when it is run.
    search
        .current_dir(&folder)
        .env("VIRTUAL_ENV", &environment)
        .status()?;
    let counting = Counting::new(out.path(), subject.file)?;
    let port = free_port(ports + PORTS.1 / 2)?;
    let prefix = format!(
        "-m coverage run --rcfile='{}' ",
        counting.settings.display()
    );
    let launch = Launch {
        directory: Some(folder.clone()),
        timeout: Duration::from_secs(120),
        // What was counted is written at the end.
        grace: Duration::from_secs(60),
        ..Launch::new(
            command(&prefix, port),
            ReadyCheck::Port("127.0.0.1".to_owned(), port),
        )
    };
    let service = Service::start(launch)?;
    let suite_passes = suite_passes(out.path(), port)?;
    // Counts are written when the service ends.
    drop(service);
    let (covered, lines) = counting.lines(&python, &folder)?;
    Ok(Counted {
        covered,
        lines,
        suite_passes,
    })
}

/// Where coverage.py counts.
struct Counting {
    settings: PathBuf,
    table: PathBuf,
}

impl Counting {
    fn new(folder: &Path, file: &str) -> Result<Self, BenchError> {
        let settings = folder.join("coveragerc");
        let data = folder.join("coverage");
        let text = format!(
            "[run]\nsigterm = true\ndata_file = {}\ninclude = */{file}\n",
            data.display()
        );
        std::fs::write(&settings, text)?;
        Ok(Self {
            settings,
            table: folder.join("lines.json"),
        })
    }

    /// Covered and all lines.
    fn lines(&self, python: &str, folder: &Path) -> Result<(u64, u64), BenchError> {
        run(Command::new(python)
            .current_dir(folder)
            .args(["-m", "coverage", "json", "-q", "--rcfile"])
            .arg(&self.settings)
            .arg("-o")
            .arg(&self.table))?;
        let table: Value = serde_json::from_str(&std::fs::read_to_string(&self.table)?)?;
        let total = |name: &str| table["totals"][name].as_u64().unwrap_or_default();
        Ok((total("covered_lines"), total("num_statements")))
    }
}
