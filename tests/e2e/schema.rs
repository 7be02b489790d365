//! `isobath schema` as a user runs it: flags in, files and exit codes out.

mod command;

use command::{Run, isobath, lines, write};

/// Two tables whose constraints are all easy, for tests about anything but generation.
const SMALL: &str = "
CREATE TABLE makers (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE);
CREATE TABLE cars (
    id INT PRIMARY KEY,
    maker INT NOT NULL REFERENCES makers (id),
    seats INT CHECK (seats BETWEEN 1 AND 9)
);";

#[test]
fn json_is_one_object_per_schema_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let one = write(&folder, "one.sql", SMALL);
    let two = write(&folder, "two.sql", "CREATE TABLE t (a INT NOT NULL);");
    let run = isobath(&["schema", &one, &two, "--json", "--mutate"]);
    assert_eq!(run.code, 0, "{run}");
    let objects: Vec<serde_json::Value> = lines(&run.out)
        .map(|line| serde_json::from_str(line).expect("every line is JSON"))
        .collect();
    assert_eq!(objects.len(), 2);
    let keys: Vec<&str> = objects[0]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        [
            "schema",
            "requirements",
            "covered",
            "infeasible",
            "tests",
            "inserts",
            "mutants",
            "killed",
            "equivalent",
            "millis"
        ]
    );
    assert_eq!(objects[0]["schema"], "one");
    assert_eq!(objects[0]["covered"], objects[0]["requirements"], "{run}");
    assert_eq!(objects[1]["schema"], "two");
}

#[test]
fn the_same_seed_writes_the_same_files_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(&folder, "cars.sql", SMALL);
    let suite = |out: &str, seed: &str| {
        let out = folder.path().join(out);
        let out = out.to_str().unwrap();
        let run = isobath(&[
            "schema",
            &path,
            "--seed",
            seed,
            "--out",
            out,
            "--format",
            "sql,pytest,junit5,rust,json",
        ]);
        assert_eq!(run.code, 0, "{run}");
        command::files(out)
    };
    let first = suite("a", "7");
    let again = suite("b", "7");
    let names: Vec<&String> = first.keys().collect();
    assert!(
        names.iter().any(|name| name.ends_with("report.html")),
        "{names:?}"
    );
    for (name, text) in &first {
        // The report says how long the run took.
        if !name.contains("report.") {
            assert_eq!(text, &again[name], "{name} differs");
        }
    }
}

#[test]
fn a_syntax_error_shows_file_line_and_caret_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(
        &folder,
        "bad.sql",
        "CREATE TABLE good (a INT NOT NULL);\nCREATE TABLE bad (a INT,, b INT);\n",
    );
    let run = isobath(&["schema", &path, "--json"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.err.contains("bad.sql:2:"), "{run}");
    let shown: Vec<&str> = lines(&run.err).collect();
    let caret = shown
        .iter()
        .position(|line| line.trim_end().ends_with('^'))
        .expect("a caret");
    assert!(shown[caret - 1].contains("CREATE TABLE bad"), "{run}");
    let object: serde_json::Value = serde_json::from_str(run.out.trim()).unwrap();
    assert!(
        object["covered"].as_u64().unwrap() > 0,
        "the good table has tests: {run}"
    );
}

#[test]
fn what_cannot_be_read_is_said_and_costs_no_other_schema() {
    let folder = tempfile::tempdir().unwrap();
    let good = write(&folder, "good.sql", SMALL);
    let binary = folder.path().join("image.sql");
    std::fs::write(&binary, [0x89, b'P', b'N', b'G', 0, 0, 1]).unwrap();
    let run = isobath(&[
        "schema",
        "no/such/file.sql",
        binary.to_str().unwrap(),
        &good,
        "--json",
    ]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.err.contains("no/such/file.sql"), "{run}");
    assert!(run.err.contains("image.sql is not SQL text"), "{run}");
    assert_eq!(lines(&run.out).count(), 1, "{run}");
}

#[test]
fn prose_is_no_schema() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(
        &folder,
        "letter.sql",
        "Dear reader, there is no table here.",
    );
    let run = isobath(&["schema", &path]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.err.contains("defines no table"), "{run}");
}

#[test]
fn unsupported_statements_are_listed_and_do_not_fail_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{SMALL}\nCREATE TRIGGER t AFTER INSERT ON cars BEGIN SELECT 1; END;\n");
    let path = write(&folder, "cars.sql", &text);
    let run = isobath(&[
        "schema",
        &path,
        "--out",
        folder.path().join("out").to_str().unwrap(),
    ]);
    assert_eq!(run.code, 0, "{run}");
    assert!(
        run.out.contains("not supported") && run.out.contains("cars.sql:8:"),
        "{run}"
    );
}

#[test]
fn an_implied_check_is_proven_infeasible_to_violate() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(
        &folder,
        "shop.sql",
        "CREATE TABLE p (price INT NOT NULL CHECK (price > 0), low INT NOT NULL CHECK (low > 0), CHECK (price > low));",
    );
    let run = isobath(&["schema", &path, "--json"]);
    let object: serde_json::Value = serde_json::from_str(run.out.trim()).unwrap();
    assert_eq!(object["infeasible"], 1, "{run}");
    assert!(run.err.contains("infeasible: p:"), "{run}");
}

#[test]
fn strengthening_kills_every_mutant_and_reducing_keeps_that() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(&folder, "cars.sql", SMALL);
    let numbers = |flags: &[&str]| {
        let mut args = vec!["schema", &path, "--json"];
        args.extend(flags);
        let run = isobath(&args);
        assert_eq!(run.code, 0, "{run}");
        let object: serde_json::Value = serde_json::from_str(run.out.trim()).unwrap();
        ["covered", "tests", "mutants", "killed"].map(|key| object[key].as_u64().unwrap())
    };
    let [covered, tests, mutants, killed] = numbers(&["--strengthen"]);
    assert_eq!(killed, mutants);
    let [reduced_covered, reduced_tests, _, reduced_killed] =
        numbers(&["--strengthen", "--reduce"]);
    assert_eq!((reduced_covered, reduced_killed), (covered, killed));
    assert!(reduced_tests < tests, "{reduced_tests} of {tests}");
}

#[test]
fn a_diff_shows_rows_that_change_sides_and_the_tests_that_flip() {
    let folder = tempfile::tempdir().unwrap();
    let old = write(&folder, "old.sql", SMALL);
    let new = write(
        &folder,
        "new.sql",
        &SMALL
            .replace("BETWEEN 1 AND 9", "BETWEEN 2 AND 9")
            .replace(" UNIQUE", ""),
    );
    let run = isobath(&["schema", "diff", &old, &new]);
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.out.contains("a row becomes refused") && run.out.contains("a row becomes accepted"),
        "{run}"
    );
    assert!(run.out.contains("INSERT INTO cars"), "{run}");
    let same = isobath(&["schema", "diff", &old, &old]);
    assert_eq!(same.code, 0, "{same}");
}

#[test]
fn a_circle_of_mandatory_references_is_brought_up_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(
        &folder,
        "circle.sql",
        "CREATE TABLE hens (id INT PRIMARY KEY, egg INT NOT NULL REFERENCES eggs (id));
         CREATE TABLE eggs (id INT PRIMARY KEY, hen INT NOT NULL REFERENCES hens (id));",
    );
    let run = isobath(&["schema", &path, "--json"]);
    assert_eq!(run.code, 0, "{run}");
    let object: serde_json::Value = serde_json::from_str(run.out.trim()).unwrap();
    assert!(object["covered"].as_u64().unwrap() > 0, "{run}");
}

#[test]
fn thousands_of_tables_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..5_000)
        .map(|n| format!("CREATE TABLE t{n} (id INT PRIMARY KEY, v TEXT);\n"))
        .collect();
    let path = write(&folder, "many.sql", &text);
    let run = isobath(&[
        "schema",
        &path,
        "--engine",
        "none",
        "--criterion",
        "APC",
        "--json",
    ]);
    assert_eq!(
        run.code,
        0,
        "{}",
        run.err.lines().take(20).collect::<String>()
    );
    let object: serde_json::Value = serde_json::from_str(run.out.trim()).unwrap();
    assert_eq!(object["requirements"], 10_000);
}

#[test]
fn unknown_names_on_the_command_line_are_usage_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(&folder, "cars.sql", SMALL);
    for flags in [
        ["--criterion", "ABC"],
        ["--generator", "magic"],
        ["--engine", "oracle"],
        ["--format", "cobol"],
    ] {
        let run = isobath(&["schema", &path, flags[0], flags[1]]);
        assert_eq!(run.code, 2, "{flags:?}: {run}");
        assert!(run.err.contains(flags[1]), "{flags:?}: {run}");
    }
}

#[test]
fn a_live_database_is_read_and_never_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("live.db");
    let live = rusqlite::Connection::open(&file).unwrap();
    live.execute_batch(SMALL).unwrap();
    live.execute_batch("INSERT INTO makers VALUES (1, 'Saab')")
        .unwrap();
    drop(live);
    let before = std::fs::read(&file).unwrap();
    let address = format!("sqlite:{}", file.display());
    let run = isobath(&["schema", "--db", &address, "--json"]);
    assert_eq!(run.code, 0, "{run}");
    let object: serde_json::Value = serde_json::from_str(run.out.trim()).unwrap();
    assert_eq!(object["covered"], object["requirements"], "{run}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn a_database_that_does_not_answer_ends_with_its_own_exit_code() {
    // A port that was free a moment ago, so that nothing listens on it.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let address = format!("postgres://someone:secret@127.0.0.1:{port}/db");
    let run = isobath(&["schema", "--db", &address]);
    assert_eq!(run.code, 3, "{run}");
    assert!(
        run.err.contains("127.0.0.1") && !run.err.contains("secret"),
        "{run}"
    );
}

#[test]
fn engines_agree_with_their_suites_and_differences_between_them_are_told() {
    use isobath_exec::server::or_left_out;
    use isobath_exec::{Engine, provision};
    for (engine, flag) in [(Engine::Postgres, "postgres"), (Engine::MariaDb, "mariadb")] {
        if or_left_out("schema suites on a server", provision(engine)).is_none() {
            return;
        }
        let run: Run = isobath(&[
            "schema",
            &example("shop.sql"),
            "--engine",
            flag,
            "--json",
            "--strengthen",
            "--confirm",
        ]);
        assert_eq!(run.code, 0, "{run}");
    }
    // NULL in a primary key: SQLite takes it, the others do not.
    let folder = tempfile::tempdir().unwrap();
    let path = write(
        &folder,
        "key.sql",
        "CREATE TABLE t (id VARCHAR(5) PRIMARY KEY);",
    );
    let out = folder.path().join("out");
    let run = isobath(&[
        "schema",
        &path,
        "--engines",
        "sqlite,postgres,mariadb",
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.out.contains("PostgreSQL refuses it") && run.out.contains("MariaDB refuses it"),
        "{run}"
    );
}

#[test]
fn a_table_without_columns_is_listed_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let text = "CREATE TABLE nothing ();\nCREATE TABLE t (a INT NOT NULL);\n";
    let path = write(&folder, "empty.sql", text);
    let out = folder.path().join("out");
    let run = isobath(&["schema", &path, "--out", out.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.out.contains("a table without columns"), "{run}");
    assert!(run.out.contains("empty.sql:1:1"), "{run}");
    assert!(run.out.contains("4 of 4 requirements covered"), "{run}");
}

#[test]
fn a_refused_login_ends_with_its_own_exit_code_and_tells_no_password() {
    use isobath_exec::Engine;
    use isobath_exec::server::{or_left_out, shared};
    for engine in [Engine::Postgres, Engine::MariaDb] {
        let Some(server) = or_left_out("a refused login", shared(engine)) else {
            continue;
        };
        let scheme = engine.as_str();
        let address = format!("{scheme}://isobath:s3cret@127.0.0.1:{}/x", server.port());
        for flag in ["--db", "--test-db"] {
            let mut args = vec!["schema", flag, &address];
            let shop = example("shop.sql");
            if flag == "--test-db" {
                args.extend([shop.as_str(), "--engine", scheme]);
            }
            let run = isobath(&args);
            assert_eq!(run.code, 3, "{flag} {run}");
            assert!(run.err.contains("login"), "{flag} {run}");
            assert!(!run.err.contains("s3cret"), "{flag} {run}");
        }
    }
}

#[test]
fn a_database_that_dies_in_the_middle_loses_nothing_that_was_found() {
    use isobath_exec::Engine;
    use isobath_exec::server::{or_left_out, shared};
    for engine in [Engine::Postgres, Engine::MariaDb] {
        let Some(server) = or_left_out("a database that dies", shared(engine)) else {
            continue;
        };
        let address = server.create_database().unwrap();
        // Long enough for the login and the tables, too short for the tests.
        let port = dying_relay(server.port(), 20_000);
        let relayed = address.replace(&format!(":{}/", server.port()), &format!(":{port}/"));
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let run = isobath(&[
            "schema",
            &example("shop.sql"),
            "--engine",
            engine.as_str(),
            "--test-db",
            &relayed,
            "--out",
            out.to_str().unwrap(),
        ]);
        assert_eq!(run.code, 3, "{run}");
        assert!(
            run.err.contains("run again once the server is back"),
            "{run}"
        );
        assert!(out.join("shop/report.html").exists(), "{run}");
    }
}

/// A port that passes on to another until so many bytes went there, and then hangs up for good.
fn dying_relay(to: u16, most: usize) -> u16 {
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread::spawn;

    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let passed = Arc::new(AtomicUsize::new(0));
    spawn(move || {
        while let Ok((mut client, _)) = listener.accept() {
            if passed.load(Ordering::Relaxed) > most {
                break;
            }
            let mut server = TcpStream::connect(("127.0.0.1", to)).expect("the server is there");
            let mut from = server.try_clone().expect("a handle");
            let mut back = client.try_clone().expect("a handle");
            spawn(move || {
                let _ = std::io::copy(&mut from, &mut back);
                let _ = back.shutdown(Shutdown::Both);
            });
            let passed = Arc::clone(&passed);
            spawn(move || {
                let mut bytes = [0; 1024];
                while let Ok(count @ 1..) = client.read(&mut bytes) {
                    let before = passed.fetch_add(count, Ordering::Relaxed);
                    if before + count > most || server.write_all(&bytes[..count]).is_err() {
                        break;
                    }
                }
                let _ = server.shutdown(Shutdown::Both);
                let _ = client.shutdown(Shutdown::Both);
            });
        }
    });
    port
}

fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}
