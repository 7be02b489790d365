//! What is read as queries, and what is said about what cannot be read.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::command::isobath;
use crate::desk::{Desk, SQLITE, ids, is_complete, objects};

#[test]
fn sqlc_files_sqlx_files_rust_and_json_lines_are_read_from_a_folder_in_order() {
    let desk = Desk::new();
    let queries = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| crate::command::write(&queries, name, text);
    put(
        "a_sqlc.sql",
        "-- name: ByCity :many\nSELECT id FROM people WHERE city = sqlc.arg(city);\n\
         -- name: One :one\nSELECT name FROM people WHERE id = @id;",
    );
    put("big_orders.sql", "SELECT id FROM orders WHERE total > $1");
    put(
        "c.jsonl",
        "{\"id\": \"json-1\", \"query\": \"SELECT id FROM people WHERE name = %s\"}\n",
    );
    put(
        "db.rs",
        "async fn rust_one(p: &Pool) { sqlx::query!(\"SELECT id FROM people WHERE name = ?\", x).fetch_all(p) }",
    );
    put("notes.txt", "not SQL at all");
    let run = desk.run(queries.path().to_str().unwrap(), &["--json"]);
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(
        ids(&run),
        ["ByCity", "One", "big_orders", "json-1", "rust_one"]
    );
    assert!(objects(&run).iter().all(is_complete), "{run}");
}

#[test]
fn queries_are_read_from_standard_input_as_sql_and_as_json_lines() {
    let desk = Desk::new();
    for (text, id) in [
        ("SELECT id FROM people WHERE city = 'Faro'", "stdin"),
        (
            "{\"id\":\"x\",\"query\":\"SELECT id FROM people WHERE city = 'Faro'\"}",
            "x",
        ),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_isobath"))
            .args(["query", "-", "--schema", &desk.schema, "--json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        drop(input);
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success());
        let object: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(object["id"], id);
        assert!(is_complete(&object), "{object}");
    }
}

#[test]
fn every_parameter_style_becomes_part_of_the_search() {
    let desk = Desk::new();
    for style in ["?", "$1", ":city", "@city", "%s", "%(city)s"] {
        for engine in ["none", "sqlite"] {
            let query = format!("SELECT id FROM people WHERE city = {style}");
            let objects = desk.objects(&query, &["--dialect", "sqlite", "--engine", engine]);
            assert_eq!(objects[0]["covered"], 3, "{style}: {objects:?}");
        }
    }
}

#[test]
fn statements_that_change_rows_are_covered_by_what_they_read() {
    let desk = Desk::new();
    let statements = "UPDATE orders SET total = 0 WHERE total > $1;
DELETE FROM orders WHERE person IN (SELECT id FROM people WHERE city = 'Faro');
INSERT INTO orders (id, person, total) SELECT id + 100, id, 5 FROM people WHERE city IS NULL;
";
    let out = desk.path("out");
    let flags = [SQLITE, &["--out", &out, "--lang", "fixtures,json"]].concat();
    let objects = desk.objects(statements, &flags);
    assert_eq!(objects.len(), 3);
    assert!(objects.iter().all(is_complete), "{objects:?}");
    // What they leave behind was looked at.
    let files = crate::command::files(&out);
    let stored = crate::desk::text(&files, "json/q.json");
    assert!(stored.contains("FROM orders\\nORDER BY"), "{stored}");
}

#[test]
fn a_statement_that_reads_nothing_is_said_to_have_nothing_to_cover() {
    let desk = Desk::new();
    let text = "INSERT INTO people (id, name) VALUES (1, 'Ada');\nSELECT id FROM people;";
    let run = desk.query(text, &["--json"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.err.contains("q.sql:1"), "{run}");
    let objects = objects(&run);
    assert!(objects[0].get("error").is_some(), "{run}");
    assert!(objects[1]["covered"].as_u64() > Some(0), "{run}");
}

#[test]
fn a_bad_query_is_shown_with_a_caret_and_the_others_go_on() {
    let desk = Desk::new();
    let queries = "SELECT nme FROM people;
SELECT * FROM peple;
  SELECT id FROM people, orders;
SELECT * FROM people WHERE;
SELECT name FROM people WHERE city = 'Faro';
";
    let run = desk.query(queries, &["--json"]);
    assert_eq!(run.code, 2, "{run}");
    for said in [
        "unknown column `nme`; did you mean `name`?\n --> ",
        "unknown table `peple`; did you mean `people`?",
        "column `id` is ambiguous between people and orders",
        "q.sql:1:8",
        "q.sql:2:15",
        "q.sql:3:10",
        "1 | SELECT nme FROM people;\n  |        ^",
        "3 |   SELECT id FROM people, orders;\n  |          ^",
        "q.sql:4:27",
    ] {
        assert!(run.err.contains(said), "{said}\n{run}");
    }
    let objects = objects(&run);
    assert_eq!(objects.len(), 5, "{run}");
    let errors = objects
        .iter()
        .filter(|object| object.get("error").is_some());
    assert_eq!(errors.count(), 4);
    assert!(is_complete(&objects[4]), "{run}");
}

#[test]
fn a_function_that_nobody_knows_is_shown_and_what_it_stands_in_the_way_of() {
    let desk = Desk::new();
    let queries =
        "SELECT id FROM people;\nSELECT id\nFROM people WHERE frob(city) = 1 OR frob(name) = 2;";
    let run = desk.query(queries, &["--json"]);
    assert_eq!(run.code, 2, "{run}");
    let said = "unsupported function `frob`";
    assert!(run.err.contains(said), "{run}");
    assert_eq!(run.err.matches("error: ").count(), 1, "{run}");
    let caret = "3 | FROM people WHERE frob(city) = 1 OR frob(name) = 2;\n  |                   ^";
    assert!(run.err.contains(caret), "{run}");
    let uncovered = objects(&run)[1]["uncovered"].clone();
    let why = uncovered[0]["why"].as_str().unwrap();
    assert!(why.contains("the function frob"), "{run}");
}

#[test]
fn marks_carriage_returns_and_letters_beyond_ascii_do_not_move_the_caret() {
    let desk = Desk::new();
    let text = "\u{feff}-- name: Größe :many\r\nSELECT id AS größe FROM people\r\nWHERE city = 'Évora';\r\n\
                SELECT name,\r\n  nme FROM people;\r\n";
    let run = desk.query(text, &["--json"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.err.contains("q.sql:5:3"), "{run}");
    let objects = objects(&run);
    assert_eq!(objects[0]["id"], "Größe", "{run}");
    assert!(is_complete(&objects[0]), "{run}");
}

#[test]
fn inputs_without_queries_end_with_two_and_say_so() {
    let desk = Desk::new();
    let folder = tempfile::tempdir().unwrap();
    crate::command::write(&folder, "notes.txt", "SELECT 1");
    let binary = desk.path("binary.sql");
    std::fs::write(&binary, [0u8, 159, 146, 150, 0]).unwrap();
    for (path, said) in [
        (desk.file("empty.sql", ""), "holds no query"),
        (
            desk.file("comment.sql", "-- nothing yet\n;\n"),
            "holds no query",
        ),
        (desk.file("none.rs", "fn main() {}"), "holds no query"),
        (binary, "NUL bytes"),
        (
            folder.path().to_str().unwrap().to_owned(),
            "contains no .sql, .jsonl or .rs file",
        ),
    ] {
        let run = desk.run(&path, &[]);
        assert_eq!(run.code, 2, "{path}: {run}");
        assert!(run.err.contains(said), "{path}: {run}");
    }
}

#[test]
fn many_statements_in_one_file_are_read_in_one_go() {
    let desk = Desk::new();
    let text = "SELECT id FROM people WHERE city = 'Faro' AND name <> 'x';\n".repeat(2_000);
    let path = desk.file("many.sql", &text);
    let run = isobath(&[
        "query",
        "targets",
        &path,
        "--schema",
        &desk.schema,
        "--criterion",
        "fpc",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(run.out.lines().count(), 2_000);
    assert!(run.out.ends_with('\n') && run.out.contains("\"id\":\"many:2000\""));
}

#[test]
fn a_product_of_a_dozen_tables_neither_hangs_nor_fails() {
    let desk = Desk::new();
    let tables: Vec<String> = (0..12).map(|n| format!("people p{n}")).collect();
    let query = format!(
        "SELECT p0.id FROM {} WHERE p3.city = 'Faro' AND p11.name <> p0.name",
        tables.join(", ")
    );
    let objects = desk.objects(&query, SQLITE);
    assert!(is_complete(&objects[0]), "{objects:?}");
}

#[test]
fn targets_come_from_a_file_when_asked_for() {
    let desk = Desk::new();
    let queries = desk.file(
        "q.jsonl",
        "{\"id\":\"q\",\"query\":\"SELECT id FROM people\",\"targets\":[\"SELECT 1 FROM \\\"PEOPLE\\\" WHERE \\\"CITY\\\" = 'x'\"]}",
    );
    let run = desk.run(
        &queries,
        &["--criterion", "recorded", "--engine", "sqlite", "--json"],
    );
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(objects(&run)[0]["covered"], 1, "{run}");
    let plain = "SELECT id FROM people WHERE name = 'a';\nSELECT id FROM people WHERE 1 = 2;\n";
    let lines = "{\"id\":\"q\",\"targets\":[\"SELECT id FROM people WHERE city = 'y'\"]}\n{\"id\":\"other\",\"targets\":[\"SELECT 1\"]}";
    for (name, text, covered, infeasible) in [("t.sql", plain, 1, 1), ("t.jsonl", lines, 1, 0)] {
        let targets = desk.file(name, text);
        let run = desk.run(&queries, &["--targets", &targets, "--json"]);
        assert_eq!(run.code, 0, "{run}");
        let object = &objects(&run)[0];
        assert_eq!(object["covered"], covered, "{run}");
        assert_eq!(object["infeasible"], infeasible, "{run}");
    }
}
