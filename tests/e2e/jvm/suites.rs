//! Suites that start the service themselves, where ports are free, and Kotlin under them.

use super::*;

/// Runs a written JUnit suite as its reader would; how many tests passed.
fn passes(suite: &Path) -> usize {
    let test = |offline: bool| {
        let mut maven = Command::new("mvn");
        maven.args(["-q", "-B", "test"]).current_dir(suite);
        maven.env_remove("ISOBATH_BASE_URL");
        if offline {
            maven.arg("-o");
        }
        maven.output().expect("Maven runs")
    };
    let mut ran = test(true);
    if !suite.join("target/surefire-reports").is_dir() {
        ran = test(false);
    }
    let said = [ran.stdout, ran.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(ran.status.success(), "{said}");
    let reports = std::fs::read_dir(suite.join("target/surefire-reports")).expect("reports");
    let reports = reports
        .flatten()
        .filter_map(|file| std::fs::read_to_string(file.path()).ok());
    reports
        .map(|report| report.matches("<testcase ").count())
        .sum()
}

/// The Java of a written suite.
fn java(suite: &Path) -> String {
    let files = std::fs::read_dir(suite.join("src/test/java")).expect("classes");
    let files = files
        .flatten()
        .filter_map(|file| std::fs::read_to_string(file.path()).ok());
    files.collect()
}

#[test]
fn coroutines_are_covered_without_what_the_compiler_adds_and_their_suite_finds_its_port() {
    if !is_built() {
        return;
    }
    let run = Run::of("kiosk", &["--budget", "3000calls", "--lang", "junit"]);
    run.covers("kiosk/Prices.kt");
    let report = run.report();
    assert_eq!(report["code"]["not_instrumented"], serde_json::json!([]));
    let files = report["code"]["files"].as_array().expect("a list of files");
    let names: Vec<&str> = files
        .iter()
        .filter_map(|file| file["file"].as_str())
        .collect();
    // Not those of inline functions of libraries.
    assert_eq!(names, ["kiosk/Main.kt", "kiosk/Prices.kt"]);
    let suite = run.folder.path().join("junit");
    assert!(java(&suite).contains("freePort()"), "{}", java(&suite));
    assert!(passes(&suite) > 3);
}

#[test]
fn a_suite_with_rows_in_memory_starts_the_service_resets_and_stops_it() {
    if !is_built() {
        return;
    }
    let more = [
        "openapi-read.json",
        "--budget",
        "300calls",
        "--lang",
        "junit",
    ];
    let run = Run::of("rows", &more);
    let suite = run.folder.path().join("junit");
    assert!(java(&suite).contains("insertInto("), "{}", java(&suite));
    assert!(passes(&suite) > 1);
}

#[test]
fn rows_come_to_tables_in_memory_whose_names_are_quoted() {
    if !is_built() {
        return;
    }
    let more = [
        "openapi-read.json",
        "--budget",
        "300calls",
        "--lang",
        "junit",
        "--",
        "--spring.jpa.properties.hibernate.globally_quoted_identifiers=true",
        "--spring.jpa.hibernate.naming.physical-strategy=org.hibernate.boot.model.naming.PhysicalNamingStrategyStandardImpl",
    ];
    let run = Run::of("rows", &more);
    let branches = run.report()["code"]["branches"].clone();
    assert_eq!(branches["covered"], branches["total"], "{}", run.said());
    let suite = run.folder.path().join("junit");
    let text = java(&suite);
    // Plain, they would be those of another table.
    assert!(text.contains(r#"insertInto("\"FooEntity\"""#), "{text}");
    assert!(passes(&suite) > 1);
}

/// What runs a written suite of a language as its reader would; nothing where this machine lacks it.
fn runner(language: &str, suite: &Path) -> Option<Command> {
    let works = |program: &str, arguments: &[&str]| {
        let ran = Command::new(program).args(arguments).output();
        ran.is_ok_and(|output| output.status.success())
    };
    let command = match language {
        "pytest" if works("python3", &["-c", "import pytest, requests"]) => {
            let mut command = Command::new("python3");
            command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
            command
        }
        "js" if works("node", &["-e", "process.exit(fetch ? 0 : 1)"]) => {
            let mut command = Command::new("node");
            command.arg("--test");
            command
        }
        "rust" => {
            let mut command = Command::new("cargo");
            command.args(["test", "--no-fail-fast"]);
            // What is built is large, and the same for all such suites.
            let target = std::env::temp_dir().join("isobath-rest-target");
            command.env("CARGO_TARGET_DIR", target);
            command
        }
        _ => return None,
    };
    let mut command = command;
    command.current_dir(suite);
    command
        .env_remove("ISOBATH_BASE_URL")
        .env_remove("ISOBATH_DATABASE");
    Some(command)
}

#[test]
fn suites_in_other_languages_find_their_ports_too_so_that_several_run_at_once() {
    if !is_built() {
        return;
    }
    let more = ["openapi-read.json", "--budget", "300calls", "--lang"];
    let run = Run::of("rows", &[&more[..], &["pytest,js,rust"]].concat());
    let folder = run.folder.path();
    // Two of the first kind: what they have in common must not meet either.
    let languages = ["pytest", "pytest", "js", "rust"];
    let runners = languages.map(|language| runner(language, &folder.join(language)));
    let running: Vec<_> = languages
        .iter()
        .zip(runners)
        .filter_map(|(language, runner)| {
            let mut runner = runner?;
            let pipe = std::process::Stdio::piped;
            let child = runner.stdout(pipe()).stderr(pipe()).spawn();
            Some((language, child.expect("a runner")))
        })
        .collect();
    assert!(running.len() > 1, "one suite cannot meet another");
    for (language, child) in running {
        let output = child.wait_with_output().expect("a runner");
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(output.status.success(), "{language}: {said}");
        // Not for want of tests.
        let passed = match *language {
            "pytest" => said.contains(" passed"),
            "js" => said.contains("pass "),
            _ => said.contains("test result: ok"),
        };
        assert!(passed, "{language}: {said}");
    }
}

/// A Java installation without a compiler, which leaves a mark when it runs a service and refuses to run Maven.
fn runtime_only(folder: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let java = folder.join("bin/java");
    let mark = folder.join("used");
    std::fs::create_dir_all(folder.join("bin")).expect("a folder");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *plexus*) echo 'not for Maven'; exit 1;; esac\ntouch '{}'\nexec java \"$@\"\n",
        mark.display()
    );
    std::fs::write(&java, script).expect("a file");
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&java, permissions).expect("a file of ours");
    mark
}

#[test]
fn the_java_of_the_service_is_not_that_of_maven() {
    if !is_built() {
        return;
    }
    let sample = root().join("tests/suts/jvm/numbers");
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let [by_variable, by_flag] = ["variable", "flag"].map(|name| runtime_only(&at.join(name)));
    let run = |more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_isobath"))
            .current_dir(at)
            .env("JAVA_HOME", at.join("variable"))
            .arg("rest")
            .arg(sample.join("openapi.json"))
            .arg("--jvm")
            .arg(sample.join("target/numbers.jar"))
            .args(["--port", &port(), "--budget", "100calls"])
            .args(["--lang", "junit", "--out", "out"])
            .args(more)
            .output()
            .expect("the binary runs");
        let said = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&said).into_owned()
    };
    let said = run(&[]);
    assert!(by_variable.is_file(), "{said}");
    let report = std::fs::read_to_string(at.join("out/report.json"));
    let report = report.unwrap_or_else(|error| panic!("{error}: {said}"));
    let report: Value = serde_json::from_str(&report).expect("a report is JSON");
    let suite = &report["suites"][0];
    assert_eq!(suite["not_run"], Value::Null, "{suite}\n{said}");
    assert!(suite["passed"].as_u64() > Some(0), "{suite}\n{said}");
    assert!(!by_flag.is_file());
    let said = run(&["--no-run", "--jvm-home", "flag"]);
    assert!(by_flag.is_file(), "{said}");
}
