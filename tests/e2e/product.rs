//! What surrounds the jobs: settings, explanations, baselines, completions, manual pages.

use std::path::Path;
use std::process::{Command, Output};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use marina::Faults;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

fn isobath(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_isobath"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn put(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("the folder is ours");
}

#[test]
fn codes_are_explained_by_name_and_by_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let explain = |code: &[&str]| isobath(folder.path(), &[&["explain"], code].concat());
    let one = explain(&["put-not-idempotent"]);
    assert_eq!(one.status.code(), Some(0));
    assert!(
        text(&one.stdout)
            .replace('\n', " ")
            .contains("Clients and proxies repeat PUT")
    );
    assert!(text(&explain(&["206"]).stdout).contains("other-users-resource"));
    assert!(text(&explain(&[]).stdout).lines().count() > 15);
    let wrong = explain(&["put-not-idempotnet"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("did you mean `put-not-idempotent`?"));
}

#[test]
fn settings_apply_where_the_flags_are_silent() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    put(
        path,
        "shop.sql",
        "CREATE TABLE a (id INT PRIMARY KEY, n INT NOT NULL);\n",
    );
    put(
        path,
        "isobath.toml",
        "[schema]\npaths = 'shop.sql'\nlang = 'junit'\nout = 'made'\nquiet = true\n",
    );
    let run = isobath(path, &["schema"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert!(path.join("made/shop/junit").is_dir());
    let run = isobath(path, &["schema", "--lang", "pytest", "--out", "other"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert!(path.join("other/shop/pytest").is_dir() && !path.join("other/shop/junit").exists());
    let run = isobath(path, &["schema", "--no-config"]);
    assert_eq!(
        run.status.code(),
        Some(2),
        "without settings there is no schema"
    );

    let check = isobath(path, &["config", "check"]);
    assert_eq!(check.status.code(), Some(0), "{}", text(&check.stderr));
    assert!(text(&check.stdout).contains("[schema] sets 4"));
    put(path, "isobath.toml", "[schema]\nlamg = 'junit'\n");
    for words in [&["config", "check"][..], &["schema", "shop.sql"]] {
        let run = isobath(path, words);
        assert_eq!(run.status.code(), Some(2));
        let said = text(&run.stderr);
        assert!(said.contains("did you mean `lang`?"), "{said}");
        assert!(said.contains("isobath.toml:2:1"), "{said}");
    }
}

#[test]
fn known_faults_do_not_fail_a_run_and_new_ones_do() {
    let marina = marina::start(Faults::all()).expect("a free port");
    let folder = tempfile::tempdir().expect("a folder");
    let document = format!("{}/openapi.yaml", marina.url());
    let auth = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/marina/auth.yaml"
    );
    let run = |more: &[&str]| {
        let words = ["rest", &document, "--auth", auth, "--reset", "POST /reset"];
        let rest = ["--budget", "1500calls", "--no-run", "--out", "out"];
        isobath(folder.path(), &[&words[..], &rest, more].concat())
    };
    let missing = run(&["--baseline", "known.toml"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("create it with --update-baseline"));
    let first = run(&["--baseline", "known.toml", "--update-baseline"]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    let again = run(&["--baseline", "known.toml"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stdout));
    assert!(text(&again.stdout).contains("all in the baseline"));
    let report = std::fs::read_to_string(folder.path().join("out/report.json")).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let faults = report["faults"].as_array().expect("a list");
    assert!(
        faults
            .iter()
            .all(|fault| fault["known"] == "not reviewed yet")
    );

    // Somebody fixed the file by hand: one fault is not accepted any more.
    let known = std::fs::read_to_string(folder.path().join("known.toml")).expect("a baseline");
    let (kept, _) = known.rsplit_once("[[finding]]").expect("several findings");
    put(folder.path(), "known.toml", kept);
    assert_eq!(run(&["--baseline", "known.toml"]).status.code(), Some(1));
    assert_eq!(run(&["--fail-on", "none"]).status.code(), Some(0));
}

#[test]
fn completions_and_manual_pages_know_the_flags() {
    let folder = tempfile::tempdir().expect("a folder");
    for shell in ["bash", "zsh", "fish"] {
        let run = isobath(folder.path(), &["completions", shell]);
        assert_eq!(run.status.code(), Some(0));
        assert!(text(&run.stdout).contains("fail-on"), "{shell}");
    }
    let run = isobath(folder.path(), &["man", "pages"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let page = std::fs::read_to_string(folder.path().join("pages/isobath-rest.1"));
    assert!(page.expect("a page").contains("fail\\-on"));
}

#[test]
fn the_doctor_says_what_there_is_and_what_is_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = isobath(folder.path(), &["doctor"]);
    assert_eq!(run.status.code(), Some(0));
    assert!(text(&run.stdout).contains("Rust toolchain"));
    let run = isobath(folder.path(), &["doctor", "--json"]);
    let found: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let cargo = &found["needs"][0];
    assert!(
        cargo["version"]
            .as_str()
            .is_some_and(|v| v.contains("cargo")),
        "{found}"
    );
}

#[test]
fn a_replay_tells_what_is_still_there_what_is_gone_and_what_it_cannot_tell() {
    let folder = tempfile::tempdir().expect("a folder");
    let faulty = marina::start(Faults::all()).expect("a free port");
    let document = format!("{}/openapi.yaml", faulty.url());
    let auth = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/marina/auth.yaml"
    );
    let words = ["rest", &document, "--auth", auth, "--reset", "POST /reset"];
    let rest = [
        "--budget",
        "1500calls",
        "--no-run",
        "--out",
        "out",
        "--inline-secrets",
    ];
    let run = isobath(folder.path(), &[&words[..], &rest].concat());
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));

    let replay =
        |more: &[&str]| isobath(folder.path(), &[&["replay", "--out", "out"], more].concat());
    let again = replay(&[]);
    assert_eq!(again.status.code(), Some(1));
    let said = text(&again.stdout);
    let count = |said: &str, word: &str| said.lines().filter(|line| line.starts_with(word)).count();
    assert!(count(&said, "still there") >= 3, "{said}");
    assert_eq!(count(&said, "gone"), 0, "{said}");
    assert_eq!(count(&said, "unknown      "), 0, "{said}");

    let fixed = marina::start(Faults::none()).expect("a free port");
    let fixed = replay(&["--url", &fixed.url()]);
    let said = text(&fixed.stdout);
    assert_eq!(count(&said, "still there"), 0, "{said}");
    assert!(count(&said, "gone") >= 3, "{said}");

    let report = std::fs::read_to_string(folder.path().join("out/report.json")).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let shown = report["faults"].as_array().and_then(|faults| {
        let mut shown = faults.iter().filter(|fault| fault["test"].is_string());
        shown.find_map(|fault| fault["fingerprint"].as_str())
    });
    let one = replay(&[shown.expect("a fault with a test")]);
    assert_eq!(one.status.code(), Some(1), "{}", text(&one.stderr));
    let wrong = replay(&["no-such-test"]);
    assert_eq!(wrong.status.code(), Some(2));
    drop(faulty);
    assert_eq!(replay(&[]).status.code(), Some(3), "nobody is there");
}

/// All files below a folder that contain a text.
fn holding(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if String::from_utf8_lossy(&std::fs::read(&path).expect("a file")).contains(text) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn secrets_are_in_no_output_and_suites_find_them_in_the_environment() {
    let marina = marina::start(Faults::all()).expect("a free port");
    let document = format!("{}/openapi.yaml", marina.url());
    let folder = tempfile::tempdir().expect("a folder");
    let auth = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/marina/auth.yaml"
    );
    let words = ["rest", &document, "--reset", "POST /reset", "--out", "out"];
    let run = |more: &[&str]| isobath(folder.path(), &[&words[..], more].concat());
    let out = run(&[
        "--auth",
        auth,
        "--budget",
        "800calls",
        "--lang",
        "pytest,js,rust,junit",
        "--no-run",
    ]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    let said = text(&out.stdout) + &text(&out.stderr);
    // A password of the example, and how its tokens begin.
    for secret in ["sextant", "Bearer pass-"] {
        assert!(!said.contains(secret), "{said}");
        assert_eq!(
            holding(folder.path(), secret),
            Vec::<String>::new(),
            "{secret}"
        );
    }
    assert!(said.contains("ADA_PASSWORD"), "{said}");
    let plan = std::fs::read_to_string(folder.path().join("out/plan.json")).expect("a plan");
    let plan: Value = serde_json::from_str(&plan).expect("JSON");
    assert!(
        plan["command"]
            .as_str()
            .is_some_and(|line| line.contains("800calls")),
        "{plan}"
    );

    let header = "Authorization: Bearer planted-token";
    let out = run(&["--header", header, "--budget", "200calls", "--no-run"]);
    assert!(!(text(&out.stdout) + &text(&out.stderr)).contains("planted-token"));
    assert_eq!(
        holding(folder.path(), "planted-token"),
        Vec::<String>::new()
    );

    let out = run(&[
        "--auth",
        auth,
        "--budget",
        "300calls",
        "--inline-secrets",
        "--no-run",
    ]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    assert!(
        !holding(folder.path(), "sextant").is_empty(),
        "they were asked for"
    );
}

/// Checks that a secret is neither in files nor in a text: as it is, in Base64, in a URL, in JSON or in HTML.
fn found_nowhere(folder: &Path, said: &str, secret: &str) {
    let url = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
    let form = url.replace("%20", "+");
    let json = Value::from(secret).to_string();
    let html = secret.replace('&', "&amp;").replace('"', "&quot;");
    // Behind names of any length; the first and the last characters depend on the neighbors.
    let shifted = ["", "a", "ab"].map(|name| {
        let text = BASE64_STANDARD.encode(format!("{name}{secret}"));
        text[4..text.len() - 4].to_owned()
    });
    let url_safe = shifted
        .clone()
        .map(|text| text.replace('+', "-").replace('/', "_"));
    let plain = [
        secret.to_owned(),
        url,
        form,
        json[1..json.len() - 1].to_owned(),
        html,
    ];
    for spelled in plain.into_iter().chain(shifted).chain(url_safe) {
        assert!(!said.contains(&spelled), "{spelled}: {said}");
        assert_eq!(holding(folder, &spelled), Vec::<String>::new(), "{spelled}");
    }
}

#[test]
fn secrets_of_every_input_are_found_nowhere() {
    let gossip = isobath_suts::gossip::gossip();
    let document = format!("{}/openapi.json", gossip.url);
    let folder = tempfile::tempdir().expect("a folder");
    let put =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    // They lie outside of what is searched.
    let inputs = tempfile::tempdir().expect("a folder");
    let secret = "planted:token/47+11";
    let auth = inputs.path().join("auth.yaml");
    let user = format!(
        "auth:\n  - name: ada\n    fixedHeaders:\n      - name: X-Door\n        value: {secret}\n"
    );
    std::fs::write(&auth, user).expect("a file");
    put("shop.sql", "CREATE TABLE a (id INT PRIMARY KEY);\n");
    put("a.sql", "SELECT id FROM a WHERE id > 3;\n");
    put("isobath.toml", "[rest]\nheader = ['X-Door: ${PLANTED}']\n");
    // Nobody listens there.
    let password = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
    let database = format!("postgres://someone:{password}@127.0.0.1:1/db");
    let auth = auth.display().to_string();
    let rest = [
        "rest", &document, "--budget", "60calls", "--no-run", "--out", "out",
    ];
    let runs: [&[&str]; 6] = [
        &rest,
        &[&rest[..], &["--auth", &auth]].concat(),
        &[&rest[..], &["--db", &database]].concat(),
        &["schema", "--db", &database],
        &[
            "schema",
            "shop.sql",
            "--engine",
            "postgres",
            "--test-db",
            &database,
            "--out",
            "schema",
        ],
        &[
            "query",
            "a.sql",
            "--schema",
            "shop.sql",
            "--engine",
            "postgres",
            "--test-db",
            &database,
            "--out",
            "query",
        ],
    ];
    for words in runs {
        let out = Command::new(env!("CARGO_BIN_EXE_isobath"))
            .args(words)
            .current_dir(folder.path())
            .env("NO_COLOR", "1")
            .env("PLANTED", secret)
            .output()
            .expect("the binary runs");
        let said = text(&out.stdout) + &text(&out.stderr);
        // The jobs ran, or say that there is no database.
        let code = out.status.code();
        assert!(matches!(code, Some(1 | 3)), "{words:?}: {code:?} {said}");
        found_nowhere(folder.path(), &said, secret);
    }
}

#[test]
fn secrets_that_a_service_repeats_are_in_no_output_either() {
    let gossip = isobath_suts::gossip::gossip();
    let document = format!("{}/openapi.json", gossip.url);
    let folder = tempfile::tempdir().expect("a folder");
    let secret = "planted/token+47&11 \"pl\"";
    let header = format!("{}: {secret}", isobath_suts::gossip::DOOR);
    let out = isobath(
        folder.path(),
        &[
            "rest",
            &document,
            "--header",
            &header,
            "--budget",
            "300calls",
            "--lang",
            "pytest,js,rust,junit",
            "--no-run",
            "--out",
            "out",
        ],
    );
    let said = text(&out.stdout) + &text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    // Names of tests and root causes are made of parts of messages.
    for part in ["planted", "47&11"] {
        assert!(!said.contains(part), "{said}");
        assert_eq!(holding(folder.path(), part), Vec::<String>::new());
    }
    found_nowhere(folder.path(), &said, secret);
    for name in [
        "plan.json",
        "events.ndjson",
        "candidates.ndjson",
        "isobath.log",
        "suite.json",
        "report.json",
        "report.md",
        "report.html",
        "report.sarif",
        "junit.xml",
        "wfc-report.json",
        "pytest",
        "js",
        "rust",
        "junit",
    ] {
        assert!(folder.path().join("out").join(name).exists(), "{name}");
    }
    // All of it was seen, and what can be told is told.
    let report = std::fs::read_to_string(folder.path().join("out/report.json")).expect("a report");
    for told in [
        "GET /error 500 no door for ***",
        r#"\"***\" is not of type \"integer\""#,
    ] {
        assert!(report.contains(told), "{told}: {report}");
    }
}

/// `scripts/installed` does the same with `cargo install`, and runs the REST job on services of each language.
#[test]
fn a_program_without_its_checkout_runs_the_jobs_on_sql_and_says_what_the_demo_needs() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("isobath");
    std::fs::copy(env!("CARGO_BIN_EXE_isobath"), &program).expect("a copy of the program");
    let run = |arguments: &[&str]| {
        Command::new(&program)
            .args(arguments)
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .env("NO_COLOR", "1")
            .output()
            .expect("the program runs")
    };
    for (job, report) in [
        ("--query", "q/report.html"),
        ("--schema", "s/shop/report.html"),
    ] {
        let out = report.split('/').next().unwrap_or_default();
        let demo = run(&["demo", job, "--out", out]);
        let said = text(&demo.stdout) + &text(&demo.stderr);
        assert_eq!(demo.status.code(), Some(0), "{said}");
        assert!(folder.path().join(report).is_file(), "{said}");
        assert!(said.contains("then, on your own: isobath "), "{said}");
    }
    let demo = run(&["demo"]);
    assert_eq!(demo.status.code(), Some(2));
    assert!(text(&demo.stderr).contains("isobath demo --query"));
}
