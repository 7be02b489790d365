//! Rewrite, compile, leave out what does not compile, and again.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use isobath_protocol::{Event, Target, channel};
use serde_json::Value;

use super::arguments::{Arguments, CompiledCrate};
use super::crate_report::{CrateReport, DroppedSite, absolute, key};
use super::{WrapperSettings, code, target_ids};
use crate::cfg::Cfg;
use crate::diagnose::{self, Blame};
use crate::rewrite::{
    NumberedFile, Rewritten, SiteCounts, SiteKind, SkippedSites, fingerprint, rewrite,
};
use crate::{files, mirror, runtime};

/// After so many rounds the crate is compiled as it is.
const ROUNDS: usize = 12;

/// Compiles a crate rewritten. An `Err` says why it must be compiled as it is.
pub(super) fn instrumented(
    rustc: &Path,
    arguments: &Arguments,
    unit: &CompiledCrate,
    settings: &WrapperSettings,
) -> Result<ExitCode, String> {
    if !unit.root.is_relative() || !mirror::stays_inside(&unit.root) {
        return Err("the crate lies outside of the workspace".into());
    }
    let state = absolute(&settings.state);
    std::fs::create_dir_all(&state).map_err(|error| error.to_string())?;
    let runtime = runtime::folder(&state, rustc, arguments.target())?;
    let key = key(&unit.name, &absolute(&unit.root));
    let cfg = cfg(rustc, arguments);
    let mut sources: Vec<(PathBuf, String)> = files::files(&unit.root, &cfg);
    sources.retain(|(path, _)| {
        mirror::stays_inside(path) && settings.patterns.wants(&unit.name, &path.to_string_lossy())
    });
    if sources.is_empty() {
        return Err("nothing of it is to be instrumented".into());
    }
    if sources[0].0 == unit.root && sources[0].1.contains("#![no_std]") {
        return Err("it does without the standard library".into());
    }
    let mut work = Work {
        unit,
        cfg,
        sources,
        skips: read_skips(&state, &key),
        plain: BTreeMap::new(),
    };
    for round in 1..=ROUNDS {
        let crate_ = work.rewrite(&state, &key)?;
        let place = state.join("mirror").join(&key);
        let texts: Vec<(PathBuf, String)> = crate_
            .files
            .iter()
            .map(|file| (file.path.clone(), file.done.text.clone()))
            .collect();
        let original = std::env::current_dir().map_err(|error| error.to_string())?;
        mirror::make(&original, &place, &texts).map_err(|error| error.to_string())?;
        let output = call(rustc, arguments, &runtime, &place, &original)
            .map_err(|error| error.to_string())?;
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            finish(&work, &crate_, &state, &key, round)?;
            pass_on(&messages, arguments.json(), &output.stdout);
            depend(arguments, &runtime, settings);
            return Ok(code(output.status.code()));
        }
        let looked_up: Vec<diagnose::RewrittenSource<'_>> = crate_
            .files
            .iter()
            .map(|file| diagnose::RewrittenSource {
                path: &file.path,
                sites: &file.done.sites,
            })
            .collect();
        let blame = diagnose::blame(&messages, &looked_up);
        if !work.leave_out(blame) {
            return Err("it does not compile, and no rewritten place is to blame".into());
        }
        write_skips(&state, &key, &work.skips);
    }
    Err(format!("it did not compile within {ROUNDS} rounds"))
}

/// One file on its way.
struct Mirrored {
    path: PathBuf,
    done: NumberedFile,
    counts: SiteCounts,
}

/// All files of a crate, rewritten and numbered.
struct Crate {
    files: Vec<Mirrored>,
}

struct Work<'a> {
    unit: &'a CompiledCrate,
    cfg: Cfg,
    sources: Vec<(PathBuf, String)>,
    /// By file and version of the file.
    skips: BTreeMap<(PathBuf, u64), SkippedSites>,
    /// Files that stay as they are, with the reason.
    plain: BTreeMap<PathBuf, String>,
}

impl Work<'_> {
    fn rewrite(&mut self, state: &Path, key: &str) -> Result<Crate, String> {
        let mut rewritten: Vec<(PathBuf, Rewritten)> = Vec::new();
        let none = SkippedSites::default();
        for (path, source) in &self.sources {
            if self.plain.contains_key(path) {
                continue;
            }
            let skip = self.skips.get(&(path.clone(), fingerprint(source)));
            let name = path.to_string_lossy();
            match rewrite(
                &self.unit.name,
                &name,
                source,
                &self.cfg,
                skip.unwrap_or(&none),
            ) {
                Ok(file) => rewritten.push((path.clone(), file)),
                Err(reason) => {
                    self.plain.insert(path.clone(), reason);
                }
            }
        }
        if rewritten.is_empty() {
            return Err("none of its files can be rewritten".into());
        }
        let needed: usize = rewritten.iter().map(|(_, file)| file.targets.len()).sum();
        let needed = u32::try_from(needed).map_err(|_| "too many targets")?;
        let mut next = target_ids::first(state, key, needed).map_err(|error| error.to_string())?;
        let files = rewritten.into_iter().map(|(path, file)| {
            let done = file.number(next);
            next += file.targets.len() as u32;
            Mirrored {
                path,
                done,
                counts: file.counts,
            }
        });
        Ok(Crate {
            files: files.collect(),
        })
    }

    /// Leaves out what is to blame; false when nothing new is.
    fn leave_out(&mut self, blame: Blame) -> bool {
        let mut changed = false;
        for (path, site) in blame.sites {
            let Some((_, source)) = self.sources.iter().find(|(file, _)| *file == path) else {
                continue;
            };
            let skip = self.skips.entry((path, fingerprint(source))).or_default();
            let (start, end) = site.range;
            changed |= skip.sites.insert((site.shape, start, end));
        }
        // Other errors of the same round may only follow from those.
        if changed {
            return true;
        }
        for path in blame.files {
            let reason = "it does not compile when rewritten".to_owned();
            changed |= self.plain.insert(path, reason).is_none();
        }
        changed
    }
}

/// The configuration that the compiler will see.
fn cfg(rustc: &Path, arguments: &Arguments) -> Cfg {
    let mut command = Command::new(rustc);
    command.args(["--print", "cfg"]);
    if let Some(target) = arguments.target() {
        command.args(["--target", target]);
    }
    let known = command
        .output()
        .map(|output| output.stdout)
        .unwrap_or_default();
    let known = String::from_utf8_lossy(&known).into_owned();
    // Debug builds have assertions; a release build compiles less, which harms nobody.
    Cfg::new(
        known
            .lines()
            .chain(arguments.cfg())
            .chain(["debug_assertions"]),
    )
}

fn call(
    rustc: &Path,
    arguments: &Arguments,
    runtime: &Path,
    place: &Path,
    original: &Path,
) -> std::io::Result<Output> {
    let mut command = Command::new(rustc);
    command.args(&arguments.all).current_dir(place);
    if !arguments.json() {
        command.arg("--error-format=json");
    }
    command
        .arg("--extern")
        .arg(format!(
            "isobath_rt={}",
            runtime::library(runtime).display()
        ))
        .arg("-L")
        .arg(format!("dependency={}", runtime.display()))
        // Warnings about our words would be no use to anybody, nor would `#![deny(warnings)]`.
        .arg("--cap-lints=allow")
        .arg(format!(
            "--remap-path-prefix={}={}",
            place.display(),
            original.display()
        ))
        .output()
}

/// Writes the table of targets and the report.
fn finish(
    work: &Work<'_>,
    done: &Crate,
    state: &Path,
    key: &str,
    rounds: usize,
) -> Result<(), String> {
    let targets: Vec<Target> = done
        .files
        .iter()
        .flat_map(|file| file.done.targets.iter().cloned())
        .collect();
    let mut table = Vec::new();
    for targets in targets.chunks(1000) {
        let message = Event::Targets {
            targets: targets.to_vec(),
        };
        channel::push(&mut table, &message).map_err(|error| error.to_string())?;
    }
    std::fs::write(state.join(format!("{key}.targets")), table)
        .map_err(|error| error.to_string())?;
    let mut outcome = CrateReport {
        rounds,
        ..CrateReport::default()
    };
    for file in &done.files {
        outcome.counts.add(file.counts);
    }
    for ((path, version), skip) in &work.skips {
        let current = work
            .sources
            .iter()
            .find(|(file, source)| file == path && fingerprint(source) == *version);
        let Some((_, source)) = current else { continue };
        let dropped = skip.sites.iter();
        for (shape, start, _) in dropped.filter(|(shape, ..)| *shape != SiteKind::Copy) {
            let line = source
                .get(..*start)
                .map_or(0, |before| before.matches('\n').count() + 1);
            outcome.dropped.push(DroppedSite {
                file: path.display().to_string(),
                line: line as u32,
                shape: shape.name().to_owned(),
            });
        }
    }
    let plain = work.plain.iter();
    outcome.plain_files = plain
        .map(|(path, reason)| (path.display().to_string(), reason.clone()))
        .collect();
    outcome.write(state, key);
    Ok(())
}

/// What the compiler said is passed to cargo, or to the terminal as text.
fn pass_on(messages: &str, json: bool, stdout: &[u8]) {
    let mut text = String::new();
    if json {
        text.push_str(messages);
    } else {
        for line in messages.lines() {
            let value: Value = serde_json::from_str(line).unwrap_or_default();
            text.push_str(value["rendered"].as_str().unwrap_or_default());
        }
    }
    // A closed pipe means that the reader is gone.
    let _ = std::io::stderr().write_all(text.as_bytes());
    let _ = std::io::stdout().write_all(stdout);
}

/// Makes cargo build again when the runtime or this program changes.
fn depend(arguments: &Arguments, runtime: &Path, settings: &WrapperSettings) {
    let Some(path) = arguments.dependencies() else {
        return;
    };
    let Ok(text) = std::fs::read_to_string(&path) else {
        return;
    };
    let escaped = |path: &Path| path.display().to_string().replace(' ', "\\ ");
    let mut more = format!(" {}", escaped(&runtime::library(runtime)));
    if let Some(program) = &settings.program {
        more.push_str(&format!(" {}", escaped(program)));
    }
    let mut done = false;
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            // Cargo reads the first rule only.
            if !done && line.contains(": ") {
                done = true;
                return format!("{line}{more}");
            }
            line.to_owned()
        })
        .collect();
    let _ = std::fs::write(&path, lines.join("\n") + "\n");
}

fn read_skips(state: &Path, key: &str) -> BTreeMap<(PathBuf, u64), SkippedSites> {
    let mut skips: BTreeMap<(PathBuf, u64), SkippedSites> = BTreeMap::new();
    let text = std::fs::read_to_string(state.join(format!("{key}.skip"))).unwrap_or_default();
    for line in text.lines() {
        let mut words = line.splitn(5, ' ');
        let parsed = (|| {
            let version = words.next()?.parse().ok()?;
            let name = words.next()?;
            let shape = SITE_KINDS.into_iter().find(|shape| shape.name() == name)?;
            let start = words.next()?.parse().ok()?;
            let end = words.next()?.parse().ok()?;
            Some((version, shape, start, end, PathBuf::from(words.next()?)))
        })();
        if let Some((version, shape, start, end, path)) = parsed {
            let skip = skips.entry((path, version)).or_default();
            skip.sites.insert((shape, start, end));
        }
    }
    skips
}

const SITE_KINDS: [SiteKind; 8] = [
    SiteKind::Hit,
    SiteKind::Flag,
    SiteKind::Comparison,
    SiteKind::Method,
    SiteKind::Parser,
    SiteKind::Question,
    SiteKind::Match,
    SiteKind::Copy,
];

fn write_skips(state: &Path, key: &str, skips: &BTreeMap<(PathBuf, u64), SkippedSites>) {
    let mut text = String::new();
    for ((path, version), skip) in skips {
        for (shape, start, end) in &skip.sites {
            let line = format!(
                "{version} {} {start} {end} {}\n",
                shape.name(),
                path.display()
            );
            text.push_str(&line);
        }
    }
    // Without the list the next build finds out again.
    let _ = std::fs::write(state.join(format!("{key}.skip")), text);
}
