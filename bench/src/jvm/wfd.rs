//! Real JVM services under black-box and white-box tests, beside the peers that are installed.
//!
//! The folder has a folder for each service: `service.jar`, `openapi.json`, the `classes` that count, and, where the
//! service needs them, `auth.yaml`, `options` (of the JVM) and `arguments` (of the service; `{port}` is its port), one
//! per line. Beside the services are `jacocoagent.jar` and `jacococli.jar`, and, where they are to be compared,
//! `evomaster.jar` and `schemathesis` (a command); `java` is the Java installation that runs the services, if not that
//! of the path. Lines and branches are counted by JaCoCo during the run. Peers get twice the time.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use isobath_exec::process::{Launch, ReadyCheck, Service, free_port};

use super::coverage::{Counts, counts};
use crate::effect::{a12, median};
use crate::verdict::{self, BenchError, run};

/// What is compared.
pub(crate) struct Comparison<'a> {
    /// The folder of the services.
    pub(crate) folder: &'a Path,
    /// The binary of the product.
    pub(crate) program: &'a Path,
    /// How many seeds, from 1 on.
    pub(crate) seeds: u64,
    /// The time of a search of ours.
    pub(crate) seconds: u64,
    /// The only services to measure, if not all; `NAME/TOOL` is a service with one of the tools (its last word).
    pub(crate) services: &'a [&'a str],
}

/// The tools, ours first.
const TOOLS: [&str; 5] = [
    "isobath white-box",
    "isobath --no-rows",
    "isobath black-box",
    "evomaster black-box",
    "schemathesis",
];
/// The first port of the services.
const PORT: u16 = 9_700;

/// Measures, prints, and says whether white-box tests cover more than every other tool.
pub(crate) fn compare(comparison: &Comparison<'_>) -> ExitCode {
    let measured = || -> Result<bool, BenchError> {
        let mut services: Vec<PathBuf> = std::fs::read_dir(comparison.folder)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.join("service.jar").exists())
            .filter(|path| TOOLS.iter().any(|tool| comparison.wants(path, tool)))
            .collect();
        services.sort();
        if services.is_empty() {
            return Err("no folder with a service.jar".into());
        }
        let mut good = true;
        for service in &services {
            good &= comparison.service(service)?;
        }
        Ok(good)
    };
    verdict::conclude(measured())
}

impl Comparison<'_> {
    /// Compares the tools on one service.
    fn service(&self, service: &Path) -> Result<bool, BenchError> {
        let name = service.file_name().unwrap_or_default().to_string_lossy();
        let mut all: Vec<(&str, Vec<Counts>)> = Vec::new();
        let tools = TOOLS.into_iter().filter(|tool| self.has(tool));
        for tool in tools.filter(|tool| self.wants(service, tool)) {
            let mut measured = Vec::new();
            for seed in 1..=self.seeds {
                let counted = self
                    .one(service, tool, seed)
                    .map_err(|error| format!("{name}, {tool}, seed {seed}: {error}"))?;
                println!("  {name}, {tool}, seed {seed}: {counted}");
                measured.push(counted);
            }
            all.push((tool, measured));
        }
        let lines =
            |measured: &[Counts]| measured.iter().map(|one| one.lines.0).collect::<Vec<_>>();
        let branches = |measured: &[Counts]| {
            measured
                .iter()
                .map(|one| one.branches.0)
                .collect::<Vec<_>>()
        };
        let ours = all.first().map(|(_, measured)| measured.clone());
        let ours = ours.unwrap_or_default();
        let mut good = true;
        for (tool, measured) in &all {
            let total = measured.first().copied().unwrap_or_default();
            let share = |covered: u64, of: u64| 100.0 * covered as f64 / of.max(1) as f64;
            let (line, branch) = (median(&lines(measured)), median(&branches(measured)));
            let is_beaten = median(&lines(&ours)) >= line && median(&branches(&ours)) >= branch;
            println!(
                "{name:<20} {tool:<20} lines {:5.1} %  branches {:5.1} %  A12 of white-box {:.2} {:.2}{}",
                share(line, total.lines.1),
                share(branch, total.branches.1),
                a12(&lines(&ours), &lines(measured)),
                a12(&branches(&ours), &branches(measured)),
                if is_beaten { "" } else { "  NOT REACHED" }
            );
            good &= is_beaten;
        }
        Ok(good)
    }

    fn wants(&self, service: &Path, tool: &str) -> bool {
        let is_wanted = |wanted: &&str| match wanted.split_once('/') {
            Some((name, last)) => service.ends_with(name) && tool.ends_with(last),
            None => service.ends_with(wanted),
        };
        self.services.is_empty() || self.services.iter().any(is_wanted)
    }

    fn has(&self, tool: &str) -> bool {
        match tool {
            "evomaster black-box" => self.folder.join("evomaster.jar").exists(),
            "schemathesis" => self.folder.join("schemathesis").exists(),
            _ => true,
        }
    }

    /// Runs one tool on a freshly started service, and counts what it covered.
    fn one(&self, service: &Path, tool: &str, seed: u64) -> Result<Counts, BenchError> {
        let folder = tempfile::tempdir()?;
        let data = folder.path().join("jacoco.exec");
        let agent = format!(
            "-javaagent:{}=destfile={},append=true",
            self.folder
                .join("jacocoagent.jar")
                .canonicalize()?
                .display(),
            data.display()
        );
        let mut options = vec![agent];
        options.extend(words(&service.join("options"))?);
        let port = free_port(PORT)?;
        let arguments = words(&service.join("arguments"))?;
        let arguments: Vec<String> = arguments
            .iter()
            .map(|argument| argument.replace("{port}", &port.to_string()))
            .collect();
        let jar = service.join("service.jar").canonicalize()?;
        if tool == "isobath white-box" || tool == "isobath --no-rows" {
            let mut command = self.isobath(service, seed, folder.path());
            if tool == "isobath --no-rows" {
                command.arg("--no-rows");
            }
            command.arg("--jvm").arg(&jar);
            command.args(["--port", &port.to_string()]);
            if let Ok(home) = self.folder.join("java").canonicalize() {
                command.arg("--jvm-home").arg(home);
            }
            for option in &options {
                command.args(["--jvm-option", option]);
            }
            finish_ours(command.arg("--").args(&arguments))?;
        } else {
            // Counts are written when the service ends.
            let _running = self.start(&jar, port, &options, &arguments)?;
            let url = format!("http://127.0.0.1:{port}");
            let mut command = self.black_box(service, tool, seed, &url, folder.path())?;
            if tool.starts_with("isobath") {
                finish_ours(&mut command)?;
            } else {
                finish(&mut command)?;
            }
        }
        let table = folder.path().join("counts.csv");
        run(Command::new("java")
            .arg("-jar")
            .arg(self.folder.join("jacococli.jar"))
            .arg("report")
            .arg(&data)
            .arg("--classfiles")
            .arg(service.join("classes"))
            .arg("--csv")
            .arg(&table))?;
        counts(&std::fs::read_to_string(table)?)
    }

    fn start(
        &self,
        jar: &Path,
        port: u16,
        options: &[String],
        arguments: &[String],
    ) -> Result<Service, BenchError> {
        let java = match self.folder.join("java").canonicalize() {
            Ok(home) => home.join("bin/java").display().to_string(),
            Err(_) => "java".to_owned(),
        };
        let quoted = |words: &[String]| {
            let quoted = words.iter();
            let quoted = quoted.map(|word| format!("'{}'", word.replace('\'', "'\\''")));
            quoted.collect::<Vec<_>>().join(" ")
        };
        let command = format!(
            "exec '{java}' {} -jar '{}' {}",
            quoted(options),
            jar.display(),
            quoted(arguments)
        );
        Ok(Service::start(Launch {
            timeout: Duration::from_secs(300),
            grace: Duration::from_secs(20),
            ..Launch::new(
                command,
                ReadyCheck::Url(format!("http://127.0.0.1:{port}/")),
            )
        })?)
    }

    fn isobath(&self, service: &Path, seed: u64, folder: &Path) -> Command {
        let mut command = Command::new(self.program);
        command
            .arg("rest")
            .arg(service.join("openapi.json"))
            .args(["--seed", &seed.to_string()])
            .args(["--budget", &format!("{}s", self.seconds)])
            .args(["--quiet", "--no-run", "--start-timeout", "300", "--out"])
            .arg(folder.join("out"));
        let auth = service.join("auth.yaml");
        if auth.exists() {
            command.arg("--auth").arg(auth);
        }
        command
    }

    /// The command of a tool that only sees responses.
    fn black_box(
        &self,
        service: &Path,
        tool: &str,
        seed: u64,
        url: &str,
        folder: &Path,
    ) -> Result<Command, BenchError> {
        let document = service.join("openapi.json").canonicalize()?;
        let time = 2 * self.seconds;
        let mut command = match tool {
            "evomaster black-box" => {
                let mut command = Command::new("java");
                command.arg("-jar").arg(self.folder.join("evomaster.jar"));
                command.args(["--blackBox", "true", "--bbTargetUrl", url]);
                command.args(["--bbSwaggerUrl", &format!("file://{}", document.display())]);
                command.args([
                    "--maxTime",
                    &format!("{time}s"),
                    "--seed",
                    &seed.to_string(),
                ]);
                let auth = service.join("auth.yaml");
                if auth.exists() {
                    command.arg("--configPath").arg(auth.canonicalize()?);
                }
                command.arg("--outputFolder").arg(folder.join("out"));
                command
            }
            "schemathesis" => {
                let mut command = Command::new("timeout");
                command.arg(time.to_string());
                command.arg(self.folder.join("schemathesis").canonicalize()?);
                command.arg("run").arg(document).args(["--url", url]);
                command.args(["--seed", &seed.to_string(), "--max-examples", "10000"]);
                let header = service.join("header");
                if header.exists() {
                    command.args(["-H", std::fs::read_to_string(header)?.trim()]);
                }
                command
            }
            _ => {
                let mut command = self.isobath(service, seed, folder);
                command.args(["--url", url]);
                command
            }
        };
        command.current_dir(folder);
        Ok(command)
    }
}

/// Runs our tool. Findings are no failure (exit code 1), but what keeps it from testing is.
fn finish_ours(command: &mut Command) -> Result<(), BenchError> {
    let output = command.stdin(Stdio::null()).output()?;
    if !matches!(output.status.code(), Some(0 | 1)) {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{}: {said}", output.status).into());
    }
    Ok(())
}

/// Runs a tool. Findings are no failure; that it did nothing shows in what it covered.
fn finish(command: &mut Command) -> Result<(), BenchError> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.stdin(Stdio::null()).status()?;
    Ok(())
}

/// The lines of a file; none where there is no such file.
fn words(path: &Path) -> Result<Vec<String>, BenchError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(path)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}
