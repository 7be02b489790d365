//! `isobath campaign` and `isobath worker`: many jobs, and what is left when their processes die.

mod account;
mod faults;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use isobath_suts::nats::NatsServer;
use marina::Faults;
use serde_json::Value;

use faults::FaultPlan;

const BINARY: &str = env!("CARGO_BIN_EXE_isobath");
const SCHEMA: &str = "CREATE TABLE boats (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, meters INT CHECK (meters > 3));
CREATE TABLE trips (id INT PRIMARY KEY, boat INT REFERENCES boats (id));\n";
const QUERY: &str = "SELECT name FROM boats WHERE meters > 10;\n";

/// A folder with the inputs of jobs.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    put(folder.path(), "schema.sql", SCHEMA);
    put(folder.path(), "boats.sql", QUERY);
    folder
}

fn put(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("a file");
}

fn isobath(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("KEY", "planted-secret")
        .stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    isobath(folder, arguments)
        .output()
        .expect("the binary runs")
}

fn said(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}

fn report(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("out/campaign.json")).expect("a report");
    serde_json::from_str(&text).expect("JSON")
}

/// Pairs of the name of a job and a value of it.
fn column<'r>(report: &'r Value, key: &str) -> Vec<(&'r str, &'r Value)> {
    let jobs = report["jobs"].as_array().expect("a list").iter();
    jobs.map(|job| (job["name"].as_str().expect("a name"), &job[key]))
        .collect()
}

fn verdicts(report: &Value) -> Vec<(&str, &str)> {
    let verdicts = column(report, "verdict").into_iter();
    verdicts
        .map(|(name, verdict)| (name, verdict.as_str().expect("a word")))
        .collect()
}

/// A process that is ended with the test.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn started(mut command: Command) -> Started {
    let silent = command.stdout(Stdio::null()).stderr(Stdio::null());
    Started(silent.spawn().expect("the binary runs"))
}

#[test]
fn jobs_of_all_kinds_run_side_by_side_and_have_one_report() {
    let marina = marina::start(Faults::all()).expect("a free port");
    let folder = folder();
    let url = marina.url();
    let text = format!(
        "[rest]\nbudget = '300calls'\nno-run = true\n\
         [[job]]\nname = 'marina'\nseeds = [1, 2]\n[job.rest]\nspec = '{url}/openapi.yaml'\n\
         [[job]]\nname = 'boats'\n[job.query]\nqueries = ['boats.sql']\nschema = ['schema.sql']\n\
         [[job]]\nname = 'tables'\n[job.schema]\npaths = ['schema.sql']\n"
    );
    put(folder.path(), "campaign.toml", &text);
    let done = run(
        folder.path(),
        &["campaign", "--workers", "3", "--out", "out"],
    );
    assert_eq!(done.status.code(), Some(1), "{}", said(&done));
    let report = report(folder.path());
    assert_eq!(
        verdicts(&report),
        [
            ("marina-1", "findings"),
            ("marina-2", "findings"),
            ("boats", "clean"),
            ("tables", "clean")
        ]
    );
    for (name, tests) in column(&report, "tests") {
        assert!(tests.as_u64() > Some(0), "{name}: {report}");
    }
    // A finding of both seeds is one finding.
    let findings = report["findings"].as_array().expect("a list");
    let of_both = findings
        .iter()
        .filter(|finding| finding["jobs"].as_array().map_or(0, Vec::len) == 2);
    assert!(of_both.count() > 0, "{report}");
    let mut ids: Vec<&str> = findings
        .iter()
        .filter_map(|finding| finding["id"].as_str())
        .collect();
    let n_findings = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), n_findings, "each finding once");
    for file in [
        "campaign.html",
        "campaign.md",
        "junit.xml",
        "marina-2/report.html",
        "boats/report.json",
    ] {
        assert!(
            folder.path().join("out").join(file).exists(),
            "{file}: {}",
            said(&done)
        );
    }
    // The same again is another campaign; the output of this one is set aside.
    let again = run(folder.path(), &["campaign", "--out", "out"]);
    assert_eq!(again.status.code(), Some(1), "{}", said(&again));
    assert!(!said(&again).contains("resuming"), "{}", said(&again));
    assert!(
        folder
            .path()
            .join("out/previous/marina-1/report.json")
            .exists()
    );
}

#[test]
fn jobs_that_cannot_be_done_end_after_three_deliveries_with_their_logs() {
    let folder = folder();
    let text = "[[job]]\nname = 'down'\n[job.rest]\nspec = 'http://127.0.0.1:9/openapi.json'\nwait = 0.01\n\
                [[job]]\nname = 'wrong'\n[job.query]\nqueries = ['missing.sql']\nschema = ['schema.sql']\n\
                [[job]]\nname = 'good'\n[job.schema]\npaths = ['schema.sql']\n";
    put(folder.path(), "campaign.toml", text);
    let done = run(folder.path(), &["campaign", "--out", "out"]);
    assert_eq!(done.status.code(), Some(3), "{}", said(&done));
    let report = report(folder.path());
    assert_eq!(
        verdicts(&report),
        [("down", "failed"), ("wrong", "failed"), ("good", "clean")]
    );
    let attempts: Vec<u64> = column(&report, "attempts")
        .iter()
        .filter_map(|(_, n)| n.as_u64())
        .collect();
    assert_eq!(attempts, [3, 1, 1], "wrong input stays wrong");
    let errors = column(&report, "error");
    let error = |at: usize| errors[at].1.as_str().unwrap_or_default();
    assert!(error(0).contains("cannot reach"), "{report}");
    assert!(error(1).contains("missing.sql"), "{report}");
    assert!(folder.path().join("out/down/job.log").exists());
}

#[test]
fn mistakes_in_the_file_are_told_before_anything_runs() {
    let folder = folder();
    put(
        folder.path(),
        "campaign.toml",
        "[[job]]\nname = 'a'\n[job.rest]\nbugdet = '1s'\n",
    );
    let done = run(folder.path(), &["campaign"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(
        said(&done).contains("job `a`: unknown key `bugdet` in [rest]; did you mean `budget`?"),
        "{}",
        said(&done)
    );
    assert!(!folder.path().join("isobath-out").exists());
    let done = run(folder.path(), &["campaign", "none.toml"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(
        said(&done).contains("cannot read none.toml"),
        "{}",
        said(&done)
    );
}

/// Ends a campaign with `SIGKILL` once this many jobs have ended.
fn killed_after(folder: &Path, n_jobs: usize) {
    let mut command = started(isobath(
        folder,
        &["campaign", "--workers", "1", "--out", "out"],
    ));
    let results = folder.join("out/.campaign/results");
    let ended = || {
        let entries = std::fs::read_dir(&results).into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.path().extension().is_some_and(|end| end == "json"))
            .count()
    };
    while ended() < n_jobs {
        assert!(
            command.0.try_wait().expect("a child").is_none(),
            "it ended too early"
        );
        std::thread::yield_now();
    }
}

#[test]
fn a_killed_campaign_goes_on_where_it_was() {
    let marina = marina::start(Faults::all()).expect("a free port");
    let folder = folder();
    let text = format!(
        "[[job]]\nname = 'first'\n[job.schema]\npaths = ['schema.sql']\n\
         [[job]]\nname = 'second'\n[job.rest]\nspec = '{}/openapi.yaml'\nbudget = '2000calls'\nno-run = true\n\
         [[job]]\nname = 'third'\n[job.schema]\npaths = ['schema.sql']\n",
        marina.url()
    );
    put(folder.path(), "campaign.toml", &text);
    killed_after(folder.path(), 1);
    let first = folder.path().join("out/.campaign/results/first.json");
    let before = std::fs::read_to_string(first).expect("a result");
    let done = run(
        folder.path(),
        &["campaign", "--workers", "1", "--out", "out"],
    );
    assert!(
        said(&done).contains("resuming the campaign"),
        "{}",
        said(&done)
    );
    let report = report(folder.path());
    assert_eq!(
        verdicts(&report),
        [
            ("first", "clean"),
            ("second", "findings"),
            ("third", "clean")
        ]
    );
    let worker = report["jobs"][0]["worker"].as_str().expect("a name");
    assert!(
        before.contains(worker),
        "it was not run again: {before} {worker}"
    );
    assert_ne!(report["jobs"][2]["worker"].as_str(), Some(worker));
}

#[test]
fn workers_take_the_jobs_that_their_labels_allow() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let marina = marina::start(Faults::all()).expect("a free port");
    let folder = folder();
    let text = format!(
        "name = 'night'\n[[job]]\nname = 'marina'\nlabels = ['web']\n[job.rest]\nspec = '{}/openapi.yaml'\nbudget = '300calls'\n\
         no-run = true\nheader = ['X-Key: ${{KEY}}']\n\
         [[job]]\nname = 'boats'\n[job.query]\nqueries = ['boats.sql']\nschema = ['schema.sql']\n",
        marina.url()
    );
    put(folder.path(), "campaign.toml", &text);
    let elsewhere = tempfile::tempdir().expect("a folder");
    let url = server.url();
    let _plain = started(isobath(elsewhere.path(), &["worker", "--nats", &url]));
    let label = [
        "worker", "--label", "web", "--label", "fast", "--nats", &url,
    ];
    let labeled = started(isobath(elsewhere.path(), &label));
    let done = run(folder.path(), &["campaign", "--out", "out", "--nats", &url]);
    assert_eq!(done.status.code(), Some(1), "{}", said(&done));
    let report = report(folder.path());
    assert_eq!(
        verdicts(&report),
        [("marina", "findings"), ("boats", "clean")]
    );
    let worker = report["jobs"][0]["worker"].as_str().expect("a name");
    assert!(
        worker.ends_with(&format!("-{}", labeled.0.id())),
        "{worker}"
    );
    // The suites are here, and what the worker knows and the command does not is nowhere.
    assert!(
        folder.path().join("out/marina/pytest").is_dir(),
        "{}",
        said(&done)
    );
    assert!(
        holds(&server.store(), b"isobath.job"),
        "the store is what we look at"
    );
    assert!(!holds(&server.store(), b"planted-secret"));
    assert!(!holds(&folder.path().join("out"), b"planted-secret"));
    // Its last progress can still be seen.
    let mut watch = isobath(folder.path(), &["campaign", "--watch", "--nats", &url]);
    let mut watch = Started(
        watch
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs"),
    );
    let mut lines = BufRead::lines(BufReader::new(watch.0.stdout.take().expect("a pipe")));
    let seen = lines.find(|line| {
        line.as_ref()
            .is_ok_and(|line| line.contains(" marina: ended with exit code 1"))
    });
    assert!(seen.is_some());
}

/// Whether a file below a folder holds some bytes.
fn holds(folder: &Path, bytes: &[u8]) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            return holds(&path, bytes);
        }
        let content = std::fs::read(&path).unwrap_or_default();
        content.windows(bytes.len()).any(|window| window == bytes)
    })
}

#[test]
fn secrets_do_not_leave_this_machine() {
    let folder = folder();
    put(
        folder.path(),
        "campaign.toml",
        "[[job]]\nname = 'a'\n[job.rest]\nspec = 'x.yaml'\nheader = ['Authorization: Bearer planted-secret']\n",
    );
    let done = run(folder.path(), &["campaign", "--nats", "nats://127.0.0.1:9"]);
    assert_eq!(done.status.code(), Some(2), "{}", said(&done));
    let said = said(&done);
    assert!(
        said.contains("${NAME}") && !said.contains("planted-secret"),
        "{said}"
    );
}

#[test]
fn a_server_that_cannot_be_used_is_told() {
    let folder = folder();
    put(
        folder.path(),
        "campaign.toml",
        "[[job]]\nname = 'a'\n[job.schema]\npaths = ['schema.sql']\n",
    );
    for arguments in [
        ["campaign", "--nats", "nats://me:planted@127.0.0.1:9"],
        ["worker", "--nats", "nats://me:planted@127.0.0.1:9"],
    ] {
        let done = run(folder.path(), &arguments);
        assert_eq!(done.status.code(), Some(3), "{}", said(&done));
        let said = said(&done);
        assert!(
            said.contains("failed to connect to nats://127.0.0.1:9"),
            "{said}"
        );
        assert!(!said.contains("planted"), "{said}");
    }
    let Some(server) =
        NatsServer::start_with(|_| "authorization { user: me, password: planted }".to_owned())
    else {
        return;
    };
    let url = server.url();
    let refused = run(folder.path(), &["worker", "--nats", &url]);
    assert_eq!(refused.status.code(), Some(3), "{}", said(&refused));
    assert!(
        said(&refused).to_lowercase().contains("authorization"),
        "{}",
        said(&refused)
    );
    let with_user = url.replace("nats://", "nats://me:planted@");
    let _worker = started(isobath(folder.path(), &["worker", "--nats", &with_user]));
    let done = run(
        folder.path(),
        &["campaign", "--out", "out", "--nats", &with_user],
    );
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    assert!(!holds(&folder.path().join("out"), b"planted"));
}

#[test]
fn accounts_and_certificates_are_those_of_nats() {
    let files = tempfile::tempdir().expect("a folder");
    let Some(server) = NatsServer::start_with(|_| account::configuration(files.path())) else {
        return;
    };
    let folder = folder();
    put(
        folder.path(),
        "campaign.toml",
        "[[job]]\nname = 'a'\n[job.schema]\npaths = ['schema.sql']\n",
    );
    let url = server.url().replace("nats://127.0.0.1", "tls://localhost");
    let file = |name: &str| files.path().join(name).display().to_string();
    let (ca, creds) = (file("ca.pem"), file("user.creds"));
    let no_creds = run(folder.path(), &["worker", "--nats", &url, "--tls-ca", &ca]);
    assert_eq!(no_creds.status.code(), Some(3), "{}", said(&no_creds));
    let no_ca = run(
        folder.path(),
        &["worker", "--nats", &url, "--creds", &creds],
    );
    assert_eq!(no_ca.status.code(), Some(3), "{}", said(&no_ca));
    assert!(said(&no_ca).contains("certificate"), "{}", said(&no_ca));
    let with = ["--nats", &url, "--tls-ca", &ca, "--creds", &creds];
    let _worker = started(isobath(folder.path(), &[&["worker"], &with[..]].concat()));
    let done = run(
        folder.path(),
        &[&["campaign", "--out", "out"], &with[..]].concat(),
    );
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    assert_eq!(verdicts(&report(folder.path())), [("a", "clean")]);
}

#[test]
fn a_job_whose_worker_died_is_resumed_by_another() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let marina = marina::start(Faults::all()).expect("a free port");
    let folder = folder();
    let text = format!(
        "redeliver-after = '1s'\n[[job]]\nname = 'long'\n[job.rest]\nspec = '{}/openapi.yaml'\nbudget = '12000calls'\nno-run = true\n",
        marina.url()
    );
    put(folder.path(), "campaign.toml", &text);
    let url = server.url();
    let mut campaign = isobath(folder.path(), &["campaign", "--out", "out", "--nats", &url]);
    let campaign = campaign.stdout(Stdio::piped()).spawn();
    let campaign = campaign.expect("the binary runs");
    let first = started(isobath(folder.path(), &["worker", "--nats", &url]));
    // What the job wrote is stored before its progress is told again.
    let mut watch = isobath(folder.path(), &["campaign", "--watch", "--nats", &url]);
    let mut watch = Started(
        watch
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs"),
    );
    let lines = BufReader::new(watch.0.stdout.take().expect("a pipe")).lines();
    let told = lines.map_while(Result::ok).filter(|line| {
        assert!(!line.contains("ended"), "it ended too early: {line}");
        line.contains(" long: running") && line.contains(" calls")
    });
    assert_eq!(told.take(2).count(), 2);
    drop(first);
    let _second = started(isobath(folder.path(), &["worker", "--nats", &url]));
    let done = campaign.wait_with_output().expect("a child");
    assert_eq!(done.status.code(), Some(1), "{}", said(&done));
    let report = report(folder.path());
    assert_eq!(report["jobs"][0]["attempts"], 2, "{report}");
    let log = std::fs::read_to_string(folder.path().join("out/long/job.log")).expect("a log");
    assert!(log.contains("resuming after"), "{log}");
}

#[test]
fn every_job_ends_once_whatever_is_killed() {
    let Some(mut server) = NatsServer::start() else {
        return;
    };
    let marina = marina::start(Faults::all()).expect("a free port");
    let plan = FaultPlan {
        binary: Path::new(BINARY),
        document: &format!("{}/openapi.yaml", marina.url()),
        kills: 6,
        jobs: 6,
        calls: 800,
        workers: 2,
        seed: 1,
    };
    let counts = faults::run(&plan, &mut server);
    assert_eq!(counts.ended + counts.given_up, plan.jobs, "{counts:?}");
    assert!(counts.killed.values().sum::<usize>() >= 3, "{counts:?}");
}

/// Candidates in the journal of a job, without what they covered there.
fn journal(folder: &Path, job: &str) -> BTreeSet<String> {
    let path = folder.join("out").join(job).join("candidates.ndjson");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let candidates = text.lines().map(|line| {
        let mut json: Value = serde_json::from_str(line).expect("JSON");
        json["covers"].take();
        json.to_string()
    });
    candidates.collect()
}

/// Runs three islands, one after the other, and looks at their results.
fn check_islands(flags: &[&str], started: impl FnOnce(&Path) -> Option<Started>) {
    let marina = marina::start(Faults::all()).expect("a free port");
    let folder = folder();
    let text = format!(
        "[[job]]\nname = 'marina'\nislands = 3\n[job.rest]\nspec = '{}/openapi.yaml'\nreset = 'POST /reset'\nbudget = '500calls'\n\
         no-run = true\n",
        marina.url()
    );
    put(folder.path(), "campaign.toml", &text);
    let _worker = started(folder.path());
    let done = run(
        folder.path(),
        &[&["campaign", "--out", "out"], flags].concat(),
    );
    assert_eq!(done.status.code(), Some(1), "{}", said(&done));
    let report = report(folder.path());
    // Only the merge has tests and findings, which it verified.
    assert_eq!(
        verdicts(&report),
        [
            ("marina-1", "clean"),
            ("marina-2", "clean"),
            ("marina-3", "clean"),
            ("marina", "findings")
        ]
    );
    let tests = column(&report, "tests").into_iter();
    let tests: Vec<u64> = tests.filter_map(|(_, tests)| tests.as_u64()).collect();
    assert!(tests[..3] == [0, 0, 0] && tests[3] > 20, "{tests:?}");
    let journals = ["marina-1", "marina-2", "marina-3"].map(|job| journal(folder.path(), job));
    for (journal, before) in journals[1..].iter().zip(&journals) {
        let common = journal.intersection(before).count();
        assert!(
            3 * common >= before.len(),
            "{common} of {} candidates",
            before.len()
        );
        assert!(journal.len() > common, "each has its own randomness");
    }
    let covered = |job: &str| {
        let path = folder.path().join("out").join(job).join("events.ndjson");
        let events = std::fs::read_to_string(path).expect("events");
        let end: Value =
            serde_json::from_str(events.lines().last().expect("an end")).expect("JSON");
        end["covered"].as_u64().expect("a number")
    };
    let [first, last, merged] = ["marina-1", "marina-3", "marina"].map(covered);
    assert!(last > first, "{last} after {first}");
    // A few answers differ when they come again.
    assert!(merged * 20 >= last * 19, "{merged} of {last}");
}

#[test]
fn islands_use_what_others_cover_and_one_suite_comes_of_them() {
    check_islands(&["--workers", "1"], |_| None);
}

#[test]
fn islands_exchange_over_nats() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let url = server.url();
    check_islands(&["--nats", &url], |folder| {
        Some(started(isobath(folder, &["worker", "--nats", &url])))
    });
    assert!(
        !holds(&server.store(), b"$KV.isobath.shared."),
        "it is cleared"
    );
}
