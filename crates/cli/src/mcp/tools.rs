//! The tools: their names, what they take, and what they do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use isobath_exec::document::is_local;
use isobath_mcp::{Arguments, Cancellation, Tool, Tools};
use isobath_rest::redact::redact_likely_secrets;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::folders::Folders;
use super::{findings, job};

/// Seconds that `isobath rest` may take in addition to its budget: building and starting the service, checking suites.
const OVERHEAD: u64 = 600;
/// Seconds that a client may ask for.
const MAX_SECONDS: u64 = 1_800;
/// Seconds for a job when the client does not say.
const DEFAULT_SECONDS: u64 = 60;
/// Findings in an answer, at most and by default.
const MAX_FINDINGS: usize = 100;
const DEFAULT_FINDINGS: usize = 20;
/// Bytes of a query or schema in a call.
const MAX_SQL: usize = 1 << 20;

/// The jobs and their findings, for one client.
#[derive(Debug)]
pub(super) struct JobTools {
    folders: Folders,
    /// Whether a job runs: two would disturb each other's service and database.
    is_busy: AtomicBool,
}

impl JobTools {
    pub(super) fn new(folders: Folders) -> Self {
        Self {
            folders,
            is_busy: AtomicBool::new(false),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    run: Option<String>,
    #[serde(default)]
    search: String,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExplainArguments {
    finding: String,
    run: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplayArguments {
    finding: Option<String>,
    run: Option<String>,
    url: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunArguments {
    job: JobName,
    document: Option<String>,
    url: Option<String>,
    #[serde(default)]
    operations: Vec<String>,
    #[serde(default)]
    schema: Vec<String>,
    #[serde(default)]
    queries: Vec<String>,
    seconds: Option<u64>,
    seed: Option<u64>,
    out: Option<String>,
}

#[derive(Clone, Copy, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
enum JobName {
    Rest,
    Query,
    Schema,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowsArguments {
    query: String,
    schema: String,
    dialect: Option<String>,
    seconds: Option<u64>,
}

impl Tools for JobTools {
    fn list(&self) -> Vec<Tool> {
        descriptions()
    }

    fn call(
        &self,
        name: &str,
        arguments: Arguments,
        cancellation: &Cancellation,
    ) -> Result<String, String> {
        let arguments = Json::Object(arguments);
        let redacted = |text: String| job::shortened(&redact_likely_secrets(&text));
        let shortened = |text: String| job::shortened(&text);
        match name {
            "list_findings" => read(arguments)
                .and_then(|given| self.list_findings(&given))
                .map(redacted)
                .map_err(redacted),
            "explain" => read(arguments)
                .and_then(|given| self.explain(&given))
                .map(redacted)
                .map_err(redacted),
            "replay" => read(arguments)
                .and_then(|given| self.replay(given, cancellation))
                .map(redacted)
                .map_err(redacted),
            "run" => read(arguments)
                .and_then(|given| self.run(&given, cancellation))
                .map(redacted)
                .map_err(redacted),
            // Its rows are made up from what the client sent: there is nothing to redact.
            "rows_for_query" => read(arguments)
                .and_then(|given| rows_for_query(&given, cancellation))
                .map(shortened)
                .map_err(shortened),
            _ => Err(format!("unknown tool `{}`", job::shortened(name))),
        }
    }
}

impl JobTools {
    fn list_findings(&self, given: &ListArguments) -> Result<String, String> {
        let run = findings::newest_run(&self.folders, given.run.as_deref())?;
        let limit = given.limit.unwrap_or(DEFAULT_FINDINGS).min(MAX_FINDINGS);
        Ok(findings::list(&run, &given.search, limit))
    }

    fn explain(&self, given: &ExplainArguments) -> Result<String, String> {
        let run = findings::newest_run(&self.folders, given.run.as_deref());
        if given.run.is_some() {
            // Whoever names a run wants to hear that there is none.
            return findings::explain(Ok(run?), &given.finding);
        }
        findings::explain(run, &given.finding)
    }

    fn replay(
        &self,
        given: ReplayArguments,
        cancellation: &Cancellation,
    ) -> Result<String, String> {
        let run = findings::newest_run(&self.folders, given.run.as_deref())?;
        let mut words = vec![
            "replay".to_owned(),
            format!("--out={}", run.folder.display()),
        ];
        words.extend(local_url(given.url.as_deref())?);
        if let Some(finding) = given.finding {
            words.extend(["--".to_owned(), finding]);
        }
        self.one_job(&words, DEFAULT_SECONDS + OVERHEAD, cancellation)
    }

    fn run(&self, given: &RunArguments, cancellation: &Cancellation) -> Result<String, String> {
        let seconds = given.seconds.unwrap_or(DEFAULT_SECONDS);
        if !(1..=MAX_SECONDS).contains(&seconds) {
            return Err(format!("`seconds` must be from 1 to {MAX_SECONDS}"));
        }
        let of_others = match given.job {
            JobName::Rest => !given.schema.is_empty() || !given.queries.is_empty(),
            _ => given.document.is_some() || given.url.is_some() || !given.operations.is_empty(),
        };
        if of_others || given.job == JobName::Schema && !given.queries.is_empty() {
            return Err("`document`, `url` and `operations` are for the job rest, `schema` for query and schema, \
                        `queries` for query"
                .to_owned());
        }
        let path = |given: &String| Ok(self.folders.resolve(given)?.display().to_string());
        let paths = |given: &[String]| given.iter().map(path).collect::<Result<Vec<_>, String>>();
        // An argument of a client never begins a word, so that none is taken for a flag.
        let flag = |name: &str, value: &dyn std::fmt::Display| format!("--{name}={value}");
        let mut words = Vec::new();
        let limit = match given.job {
            JobName::Rest => {
                words.push("rest".to_owned());
                words.push(flag("budget", &format!("{seconds}s")));
                words.extend(local_url(given.url.as_deref())?);
                words.extend(given.operations.iter().map(|one| flag("operation", one)));
                words.extend(
                    given
                        .document
                        .iter()
                        .map(|one| self.document(one))
                        .collect::<Result<Vec<_>, _>>()?,
                );
                seconds + OVERHEAD
            }
            JobName::Query => {
                words.push("query".to_owned());
                words.extend(paths(&given.queries)?);
                words.extend(paths(&given.schema)?.iter().map(|one| flag("schema", one)));
                seconds
            }
            JobName::Schema => {
                words.push("schema".to_owned());
                words.extend(paths(&given.schema)?);
                seconds
            }
        };
        words.extend(given.seed.iter().map(|seed| flag("seed", seed)));
        if let Some(out) = &given.out {
            words.push(flag("out", &path(out)?));
        }
        self.one_job(&words, limit, cancellation)
    }

    /// The OpenAPI document: a URL of this machine, or a path.
    fn document(&self, given: &str) -> Result<String, String> {
        if given.contains("://") {
            local(given)?;
            return Ok(given.to_owned());
        }
        Ok(self.folders.resolve(given)?.display().to_string())
    }

    /// Runs a job unless another one runs.
    fn one_job(
        &self,
        words: &[String],
        seconds: u64,
        cancellation: &Cancellation,
    ) -> Result<String, String> {
        if self.is_busy.swap(true, Ordering::Acquire) {
            return Err("another job is running; wait for it, or cancel it".to_owned());
        }
        let limit = Duration::from_secs(seconds);
        let answer = job::run(words, self.folders.root(), limit, cancellation);
        self.is_busy.store(false, Ordering::Release);
        answer
    }
}

/// Runs the query job in a directory of its own, without configuration or database.
fn rows_for_query(given: &RowsArguments, cancellation: &Cancellation) -> Result<String, String> {
    let seconds = given.seconds.unwrap_or(DEFAULT_SECONDS);
    if !(1..=MAX_SECONDS).contains(&seconds) {
        return Err(format!("`seconds` must be from 1 to {MAX_SECONDS}"));
    }
    if given.query.len() > MAX_SQL || given.schema.len() > MAX_SQL {
        return Err(format!(
            "`query` and `schema` may have {MAX_SQL} bytes each"
        ));
    }
    let failed = |error: std::io::Error| format!("cannot write the query: {error}");
    let folder = tempfile::tempdir().map_err(failed)?;
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
    put("query.sql", &given.query).map_err(failed)?;
    put("schema.sql", &given.schema).map_err(failed)?;
    let words = "query query.sql --schema schema.sql --lang fixtures --out out --quiet --no-config";
    let mut words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    let dialect = given.dialect.iter();
    words.extend(dialect.map(|dialect| format!("--dialect={dialect}")));
    let limit = Duration::from_secs(seconds);
    let said = job::run(&words, folder.path(), limit, cancellation)?;
    let unreadable = |error: std::io::Error| format!("cannot read the rows: {error}");
    let out = folder.path().join("out");
    let report = std::fs::read_to_string(out.join("report.md")).map_err(unreadable)?;
    // Without a target that can be covered there are no rows.
    let entries = std::fs::read_dir(out.join("fixtures"))
        .into_iter()
        .flatten();
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut answer = format!("{said}\n\n{report}\n# The rows as SQL\n");
    for file in files {
        let rows = std::fs::read_to_string(file).map_err(unreadable)?;
        answer.push_str(&format!("\n{rows}"));
    }
    Ok(answer)
}

/// The flag for a base URL, which must be on this machine.
fn local_url(given: Option<&str>) -> Result<Option<String>, String> {
    given
        .map(|url| local(url).map(|()| format!("--url={url}")))
        .transpose()
}

/// Only the user may send requests to other machines.
fn local(url: &str) -> Result<(), String> {
    let parsed = url::Url::parse(url).map_err(|error| format!("`{url}` is not a URL: {error}"))?;
    let is_http = matches!(parsed.scheme(), "http" | "https");
    (is_http && is_local(&parsed)).then_some(()).ok_or_else(|| {
        format!(
            "`{url}` is not a service on this machine; the user can name others in isobath.toml"
        )
    })
}

fn read<T: for<'de> Deserialize<'de>>(arguments: Json) -> Result<T, String> {
    serde_json::from_value(arguments).map_err(|error| format!("wrong arguments: {error}"))
}

fn text(description: &str) -> Json {
    json!({ "type": "string", "description": description })
}

fn list(description: &str) -> Json {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

fn whole(minimum: u64, maximum: u64, description: &str) -> Json {
    json!({ "type": "integer", "minimum": minimum, "maximum": maximum, "description": description })
}

fn object(properties: Json, required: &[&str]) -> Json {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn descriptions() -> Vec<Tool> {
    let run = text(
        "Output directory of the run, or a directory above several [default: the newest run below isobath-out]",
    );
    let seconds = whole(
        1,
        MAX_SECONDS,
        "Budget of the search of rest; time limit of query and schema [default: 60]",
    );
    vec![
        Tool {
            name: "list_findings",
            description: "List the findings of an earlier run, the severest first.",
            arguments: object(
                json!({
                    "run": run,
                    "search": text("Words that a finding must contain: code, severity, operation or table, id, message"),
                    "limit": whole(1, MAX_FINDINGS as u64, "Most findings to return [default: 20]"),
                }),
                &[],
            ),
            is_read_only: true,
        },
        Tool {
            name: "explain",
            description: "Explain a finding: what happened, the calls that show it, what its code means, why it matters, and when it may be intended.",
            arguments: object(
                json!({ "finding": text("Id of a finding, or a fault code such as server-error"), "run": run }),
                &["finding"],
            ),
            is_read_only: true,
        },
        Tool {
            name: "replay",
            description: "Run the tests of an earlier run of rest again, and say which faults remain. Starts the service if it is not running and the run knew how.",
            arguments: object(
                json!({
                    "finding": text("Id of a finding, fault code or test id [default: all findings]"),
                    "run": run,
                    "url": text("Base URL of the service on this machine [default: as in the run]"),
                }),
                &[],
            ),
            is_read_only: false,
        },
        Tool {
            name: "run",
            description: "Run a job: rest (tests for a REST API; sends requests that change data), query (rows for SQL queries) or schema (tests for integrity constraints). What is not given comes from isobath.toml.",
            arguments: object(
                json!({
                    "job": { "type": "string", "enum": ["rest", "query", "schema"] },
                    "document": text("rest: OpenAPI document, a file or a URL on this machine"),
                    "url": text("rest: base URL of the service on this machine"),
                    "operations": list("rest: operations to test, such as \"GET /boats\" or an operationId"),
                    "schema": list("query, schema: SQL files or directories of migrations"),
                    "queries": list("query: files or directories with queries"),
                    "seconds": seconds,
                    "seed": whole(0, u64::MAX, "Random seed"),
                    "out": text("Output directory"),
                }),
                &["job"],
            ),
            is_read_only: false,
        },
        Tool {
            name: "rows_for_query",
            description: "Find the fewest rows that exercise every predicate, join, NULL, group and subquery of a SQL query.",
            arguments: object(
                json!({
                    "query": text("The query"),
                    "schema": text("CREATE TABLE statements of the tables that it reads"),
                    "dialect": { "type": "string", "enum": ["ansi", "postgres", "mysql", "sqlite"] },
                    "seconds": whole(1, MAX_SECONDS, "Time limit [default: 60]"),
                }),
                &["query", "schema"],
            ),
            is_read_only: true,
        },
    ]
}
