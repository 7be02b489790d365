//! Reads a campaign: a list of jobs in TOML.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Command;
use isobath_rest::redact::redact_likely_secrets;
use serde::Deserialize;
use toml::Table;

use super::exchange::Island;
use super::job::JobText;
use crate::config::{JOBS, JobSettings, job_table};
use crate::rest::Budget;

/// How long a job may take unless the file says so.
const TIMEOUT: Duration = Duration::from_secs(6 * 3600);
/// The most islands of one job; each asks all others for what they found.
const MAX_ISLANDS: u16 = 64;
/// How long nobody may speak of a job before it is delivered again, unless the file says so.
const REDELIVER_AFTER: Duration = Duration::from_secs(30);

/// A campaign that was read.
#[derive(Debug)]
pub(super) struct Campaign {
    /// Its name.
    pub(super) name: String,
    /// The folder that its paths are relative to.
    pub(super) root: PathBuf,
    /// When a job whose worker is silent is delivered again.
    pub(super) redeliver_after: Duration,
    /// Its jobs.
    pub(super) jobs: Vec<PlannedJob>,
    /// Files and folders that workers on other machines need.
    pub(super) inputs: Vec<PathBuf>,
}

/// A job with what the queue needs to know about it.
#[derive(Debug, PartialEq)]
pub(super) struct PlannedJob {
    pub(super) name: String,
    pub(super) labels: BTreeSet<String>,
    pub(super) text: JobText,
    /// Jobs that must have ended before this one begins.
    pub(super) after: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CampaignToml {
    name: Option<String>,
    redeliver_after: Option<String>,
    #[serde(default)]
    rest: Table,
    #[serde(default)]
    query: Table,
    #[serde(default)]
    schema: Table,
    #[serde(default)]
    job: Vec<JobToml>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct JobToml {
    name: String,
    #[serde(default)]
    labels: BTreeSet<String>,
    #[serde(default)]
    seeds: Vec<u32>,
    islands: Option<u16>,
    config: Option<PathBuf>,
    directory: Option<PathBuf>,
    #[serde(default)]
    files: Vec<PathBuf>,
    timeout: Option<String>,
    rest: Option<Table>,
    query: Option<Table>,
    schema: Option<Table>,
}

impl JobToml {
    /// The kind of the job, with its settings.
    fn settings(&self) -> Result<(&'static str, &Table), String> {
        let tables = [&self.rest, &self.query, &self.schema];
        let mut given = JOBS.iter().zip(tables).filter_map(|(kind, table)| {
            let table = table.as_ref()?;
            Some((*kind, table))
        });
        match (given.next(), given.next()) {
            (Some(one), None) => Ok(one),
            _ => Err("expected one table: [job.rest], [job.query] or [job.schema]".to_owned()),
        }
    }

    /// Its working directory. Refuses paths that workers cannot have.
    fn directory(&self) -> Result<PathBuf, String> {
        if let Some(outside) = self.files.iter().find(|path| !is_below(path)) {
            return Err(format!(
                "`{}` in `files` is outside of the folder of the campaign",
                outside.display()
            ));
        }
        let directory = self.directory.clone().unwrap_or_default();
        if is_below(&directory) || directory.is_absolute() {
            return Ok(directory);
        }
        Err("`directory` must be absolute, or below the folder of the campaign".to_owned())
    }
}

impl Campaign {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or a job of it cannot be run.
    pub(super) fn read(path: &Path, command: &Command) -> Result<Self, String> {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read {shown}: {error}"))?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let root = folder
            .canonicalize()
            .map_err(|error| format!("cannot open {}: {error}", folder.display()))?;
        let name = path.file_stem().map(|name| name.to_string_lossy());
        let name = name.map_or_else(|| "campaign".to_owned(), |name| name.into_owned());
        Self::parse(&text, &name, &root, command).map_err(|error| format!("{shown}: {error}"))
    }

    fn parse(text: &str, name: &str, root: &Path, command: &Command) -> Result<Self, String> {
        let toml: CampaignToml = toml::from_str(text).map_err(|error| error.to_string())?;
        if toml.job.is_empty() {
            return Err("there is no job; add a [[job]] with a table [job.rest], [job.query] or [job.schema]".to_owned());
        }
        let name = toml.name.clone().unwrap_or_else(|| plain(name));
        check_name("campaign", &name)?;
        let redeliver_after = match &toml.redeliver_after {
            Some(text) => duration("redeliver-after", text)?,
            None => REDELIVER_AFTER,
        };
        let mut campaign = Self {
            name,
            root: root.to_owned(),
            redeliver_after,
            jobs: Vec::new(),
            inputs: Vec::new(),
        };
        for job in &toml.job {
            let planned = campaign
                .plan(&toml, job, command)
                .map_err(|error| format!("job `{}`: {error}", job.name))?;
            campaign.jobs.extend(planned);
        }
        let mut names = BTreeSet::new();
        if let Some(twice) = campaign.jobs.iter().find(|job| !names.insert(&job.name)) {
            return Err(format!("two jobs have the name `{}`", twice.name));
        }
        campaign.inputs.sort();
        campaign.inputs.dedup();
        Ok(campaign)
    }

    /// One job for each seed.
    fn plan(
        &mut self,
        toml: &CampaignToml,
        job: &JobToml,
        command: &Command,
    ) -> Result<Vec<PlannedJob>, String> {
        check_name("job", &job.name)?;
        for label in &job.labels {
            check_name("label", label)?;
        }
        let (kind, table) = job.settings()?;
        let defaults = match kind {
            "rest" => &toml.rest,
            "query" => &toml.query,
            _ => &toml.schema,
        };
        let config = match &job.config {
            Some(config) => job_table(&self.root.join(config), kind)?,
            None => Table::new(),
        };
        let at = job.config.as_ref().and_then(|config| config.parent());
        let config_folder = self.root.join(at.unwrap_or(Path::new("")));
        let root = self.root.clone();
        let layers: [(&Table, &Path); 3] =
            [(defaults, &root), (&config, &config_folder), (table, &root)];
        let settings = JobSettings::new(command, kind, &layers, &root)?;
        for output in ["out", "resume"] {
            if settings.texts().any(|(key, _)| key == output) {
                return Err(format!("`{output}` is set by the campaign; remove it"));
            }
        }
        let directory = job.directory()?;
        self.inputs.extend(job.files.iter().cloned());
        // Of a service, only files are sent; what it is built from is large, and is listed in `files`.
        let is_sent = |path: &PathBuf| kind != "rest" || self.root.join(path).is_file();
        let auth: Vec<PathBuf> = settings
            .texts()
            .filter(|(key, _)| *key == "auth")
            .map(|(_, path)| PathBuf::from(path))
            .collect();
        let inputs = settings.inputs().into_iter();
        self.inputs
            .extend(inputs.filter(|path| is_sent(path) && !auth.contains(path)));
        let timeout = match &job.timeout {
            Some(text) => duration("timeout", text)?,
            None => TIMEOUT,
        };
        let planned = |name: String, settings: JobSettings| PlannedJob {
            name,
            labels: job.labels.clone(),
            text: JobText {
                settings,
                directory: directory.clone(),
                timeout,
                island: None,
            },
            after: Vec::new(),
        };
        if let Some(islands) = job.islands {
            if kind != "rest" || !job.seeds.is_empty() {
                return Err("`islands` requires [job.rest] and no `seeds`".to_owned());
            }
            if !(2..=MAX_ISLANDS).contains(&islands) {
                return Err(format!("`islands` must be 2 to {MAX_ISLANDS}"));
            }
            return Ok(island_jobs(job, islands, settings, planned));
        }
        if job.seeds.is_empty() {
            return Ok(vec![planned(job.name.clone(), settings)]);
        }
        let of_seed = |seed: &u32| {
            let mut settings = settings.clone();
            settings.set("seed", u64::from(*seed));
            planned(format!("{}-{seed}", job.name), settings)
        };
        Ok(job.seeds.iter().map(of_seed).collect())
    }

    /// Refuses islands that would share a port or a database, because they run on one machine.
    ///
    /// # Errors
    ///
    /// When a job has such.
    pub(super) fn check_islands(&self) -> Result<(), String> {
        for job in self.jobs.iter().filter(|job| job.text.island.is_some()) {
            let shared = job
                .text
                .settings
                .texts()
                .find(|(key, _)| matches!(*key, "db" | "start"));
            if let Some((key, _)) = shared {
                return Err(format!(
                    "job `{}`: islands on one machine would share what `{key}` names; use --workers 1, workers on other machines (--nats), or `instances` in place of `islands`",
                    job.name
                ));
            }
        }
        Ok(())
    }

    /// Refuses secrets, which must not leave this machine: workers read theirs from their environment.
    ///
    /// # Errors
    ///
    /// When a job holds one.
    pub(super) fn check_for_secrets(&self) -> Result<(), String> {
        for job in &self.jobs {
            let settings = &job.text.settings;
            let refused = |key: &str, why: &str| {
                Err(format!(
                    "job `{}`: `{key}` {why}; workers read secrets from their environment: write ${{NAME}}",
                    job.name
                ))
            };
            if settings.is_on("inline-secrets") {
                return refused("inline-secrets", "would put secrets into the suites");
            }
            for (key, text) in settings.texts() {
                let without_variables = without_variables(text);
                if key == "header" && without_variables == text {
                    return refused(key, "holds a value, which may be secret");
                }
                if key == "auth" && Path::new(text).is_relative() && without_variables == text {
                    return refused(
                        key,
                        "names a file with logins, which is not sent; put it on every worker and name it there",
                    );
                }
                // The name of a header would look like one.
                let is_redacted = redact_likely_secrets(&without_variables) != without_variables;
                if key != "header" && is_redacted {
                    return refused(key, "seems to hold a secret");
                }
            }
        }
        Ok(())
    }
}

/// One search as several jobs with different seeds, and the job that merges what they found.
fn island_jobs(
    job: &JobToml,
    islands: u16,
    settings: JobSettings,
    planned: impl Fn(String, JobSettings) -> PlannedJob,
) -> Vec<PlannedJob> {
    let first = settings.number("seed").unwrap_or(1);
    let members: Vec<String> = (1..=islands)
        .map(|number| format!("{}-{number}", job.name))
        .collect();
    let of_group = |mut planned: PlannedJob, is_merge| {
        let members = members.clone();
        planned.text.island = Some(Island { members, is_merge });
        planned
    };
    let mut jobs = Vec::new();
    for (seed, name) in (first..).zip(&members) {
        let mut settings = settings.clone();
        settings.set("seed", seed);
        jobs.push(of_group(planned(name.clone(), settings), false));
    }
    let mut merge = of_group(planned(job.name.clone(), settings), true);
    merge.after.clone_from(&members);
    jobs.push(merge);
    jobs
}

/// A text without its variables.
fn without_variables(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((_, after)) = after.split_once('}') else {
            break;
        };
        out.push_str(before);
        rest = after;
    }
    out + rest
}

/// Whether a relative path stays below the folder that it is relative to.
fn is_below(path: &Path) -> bool {
    let plain = |part| {
        matches!(
            part,
            std::path::Component::Normal(_) | std::path::Component::CurDir
        )
    };
    path.components().all(plain)
}

/// A name made of what names may have.
fn plain(name: &str) -> String {
    let plain = name.chars().map(|c| if is_name_char(c) { c } else { '-' });
    plain.collect()
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// Names are parts of subjects, keys and paths.
pub(super) fn check_name(what: &str, name: &str) -> Result<(), String> {
    let is_plain = (1..=100).contains(&name.len()) && name.chars().all(is_name_char);
    if is_plain && name != "previous" {
        return Ok(());
    }
    Err(format!(
        "`{name}` cannot be the name of a {what}: use letters, digits, `-` and `_`"
    ))
}

fn duration(key: &str, text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(Budget::Time(time)) => Ok(time),
        _ => Err(format!("`{key}` must be a duration such as 30s, 10m or 2h")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(text: &str) -> Result<Campaign, String> {
        Campaign::parse(
            text,
            "my nights",
            Path::new("/nowhere"),
            &crate::Cli::command(),
        )
    }

    #[test]
    fn a_job_with_seeds_is_a_job_for_each() {
        let text = "redeliver-after = '5s'\n[rest]\nbudget = '9s'\n[[job]]\nname = 'shop'\nlabels = ['jvm-17']\nseeds = [4, 7]\n\
                    timeout = '10m'\n[job.rest]\nspec = 'http://localhost/x'\n[[job]]\nname = 'orders'\n[job.query]\nqueries = ['q.sql']\nschema = ['s.sql']\n";
        let campaign = parse(text).expect("it is right");
        assert_eq!(campaign.name, "my-nights");
        assert_eq!(campaign.redeliver_after, Duration::from_secs(5));
        let names: Vec<&str> = campaign.jobs.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(names, ["shop-4", "shop-7", "orders"]);
        assert_eq!(campaign.jobs[0].text.timeout, Duration::from_secs(600));
        let toml = campaign.jobs[1].text.settings.to_toml(Path::new("/"));
        assert_eq!(
            toml,
            "[rest]\nbudget = \"9s\"\nseed = 7\nspec = \"http://localhost/x\"\n"
        );
        assert_eq!(campaign.inputs, ["q.sql", "s.sql"].map(PathBuf::from));
    }

    #[test]
    fn a_job_with_islands_is_a_search_for_each_and_a_merge() {
        let text = "[[job]]\nname = 'shop'\nislands = 3\n[job.rest]\nspec = 'http://localhost/x'\nseed = 5\n";
        let campaign = parse(text).expect("it is right");
        let names: Vec<&str> = campaign.jobs.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(names, ["shop-1", "shop-2", "shop-3", "shop"]);
        let third = campaign.jobs[2].text.settings.to_toml(Path::new("/"));
        assert!(third.contains("seed = 7"), "{third}");
        assert_eq!(campaign.jobs[3].after, names[..3]);
        let islands: Vec<bool> = campaign
            .jobs
            .iter()
            .filter_map(|job| Some(job.text.island.as_ref()?.is_merge))
            .collect();
        assert_eq!(islands, [false, false, false, true]);
        for wrong in ["islands = 1", "islands = 3\nseeds = [1]", "islands = 900"] {
            let text = format!("[[job]]\nname = 'a'\n{wrong}\n[job.rest]\n");
            assert!(parse(&text).unwrap_err().contains("`islands`"), "{wrong}");
        }
    }

    #[test]
    fn islands_that_would_share_a_port_or_a_database_are_refused() {
        let check = |islands: &str, setting: &str| {
            let text = format!("[[job]]\nname = 'a'\n{islands}\n[job.rest]\n{setting}\n");
            parse(&text).expect("it is right").check_islands()
        };
        for setting in ["db = 'sqlite:x.db'", "start = './run'"] {
            assert!(check("islands = 2", setting).is_err_and(|why| why.contains("instances")));
            assert_eq!(check("", setting), Ok(()));
        }
        assert_eq!(check("islands = 2", "rust = 'shop'"), Ok(()));
    }

    #[test]
    fn mistakes_are_told_with_the_job() {
        let error = |text: &str| parse(text).unwrap_err();
        assert!(error("").contains("there is no job"));
        assert!(error("[[job]]\nname = 'a'\n").contains("job `a`: expected one table"));
        assert!(
            error("[[job]]\nname = 'a b'\n[job.rest]\n").contains("cannot be the name of a job")
        );
        assert!(
            error("[[job]]\nname = 'a'\nlabels = ['x.y']\n[job.rest]\n")
                .contains("name of a label")
        );
        assert!(
            error("[[job]]\nname = 'a'\n[job.rest]\nbugdet = '1s'\n")
                .contains("did you mean `budget`?")
        );
        assert!(
            error("[[job]]\nname = 'a'\n[job.rest]\nout = 'x'\n").contains("set by the campaign")
        );
        assert!(error("[[job]]\nname = 'a'\nfiles = ['../x']\n[job.rest]\n").contains("outside"));
        assert!(
            error("[[job]]\nname = 'a'\n[job.rest]\n[[job]]\nname = 'a'\n[job.rest]\n")
                .contains("two jobs")
        );
        assert!(
            error("[[job]]\nname = 'a'\ntimeout = '5calls'\n[job.rest]\n").contains("a duration")
        );
        assert!(error("[[job]]\nnam = 'a'\n").contains("nam"));
    }

    #[test]
    fn secrets_are_refused_and_variables_are_not() {
        let check = |settings: &str| {
            let text = format!("[[job]]\nname = 'a'\n[job.rest]\n{settings}\n");
            parse(&text).expect("it is right").check_for_secrets()
        };
        for secret in [
            "header = ['Authorization: Bearer abcdefgh']",
            "header = ['X-Key: plain']",
            "db = 'postgres://me:planted@localhost/shop_test'",
            "start = 'TOKEN=planted ./run'",
            "auth = 'users.yaml'",
            "inline-secrets = true",
        ] {
            let error = check(secret).expect_err(secret);
            assert!(
                error.contains("${NAME}") && !error.contains("planted"),
                "{error}"
            );
        }
        for fine in [
            "header = ['Authorization: Bearer ${TOKEN}']",
            "db = 'postgres://me:${PASSWORD}@localhost/shop_test'",
            "db = '${DATABASE}'",
            "auth = '/etc/isobath/users.yaml'",
            "start = './run --port 8080'",
        ] {
            assert_eq!(check(fine), Ok(()), "{fine}");
        }
    }
}
