//! A schema and queries in a folder of their own, and `isobath query` over them.

use std::collections::BTreeMap;

use serde_json::Value;
use tempfile::TempDir;

use crate::command::{Run, isobath, lines, write};

/// Two tables in words that every engine reads.
pub(crate) const SHOP: &str = "
CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, city VARCHAR(40));
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id),
    total INTEGER CHECK (total >= 0)
);";

pub(crate) const QUERIES: &str = "-- Everything about a few queries.

-- name: Big :many
SELECT o.id, p.name, o.total
FROM orders o JOIN people p ON p.id = o.person
WHERE o.total > 10 AND p.city = 'Faro'
ORDER BY o.id;

-- Totals by city
SELECT p.city, SUM(o.total) AS total
FROM people p LEFT JOIN orders o ON o.person = p.id
GROUP BY p.city;

-- name: Forget :exec
DELETE FROM orders WHERE total IS NULL;
";

/// Rows are built and run by SQLite.
pub(crate) const SQLITE: &[&str] = &["--dialect", "sqlite", "--engine", "sqlite"];

/// Where a test works.
pub(crate) struct Desk {
    pub(crate) folder: TempDir,
    /// The path of the schema.
    pub(crate) schema: String,
}

impl Desk {
    /// A desk with the two tables.
    pub(crate) fn new() -> Self {
        Self::with(SHOP)
    }

    /// A desk with other tables.
    pub(crate) fn with(schema: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let schema = write(&folder, "shop.sql", schema);
        Self { folder, schema }
    }

    /// Puts a file on the desk.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        write(&self.folder, name, text)
    }

    /// The path of something on the desk.
    pub(crate) fn path(&self, name: &str) -> String {
        let path = self.folder.path().join(name);
        path.to_str().expect("a plain path").to_owned()
    }

    /// Runs the job over a path of queries.
    pub(crate) fn run(&self, queries: &str, flags: &[&str]) -> Run {
        isobath(&[&["query", queries, "--schema", &self.schema], flags].concat())
    }

    /// Runs the job over the text of a file `q.sql`.
    pub(crate) fn query(&self, queries: &str, flags: &[&str]) -> Run {
        self.run(&self.file("q.sql", queries), flags)
    }

    /// The same with `--json`, which has to end well, and the objects that it prints.
    pub(crate) fn objects(&self, queries: &str, flags: &[&str]) -> Vec<Value> {
        let run = self.query(queries, &[&["--json"], flags].concat());
        assert_eq!(run.code, 0, "{queries}\n{run}");
        objects(&run)
    }

    /// Writes the sample's tests in all languages that run everywhere, and returns their folder.
    pub(crate) fn written(&self, flags: &[&str]) -> String {
        let queries = self.file("queries.sql", QUERIES);
        let out = self.path("out");
        let formats = "fixtures,sql,pytest,junit,rust,sqlx,dbt,json";
        let mut all = vec!["--out", &out, "--lang", formats];
        all.extend(flags);
        let run = self.run(&queries, &all);
        assert_eq!(run.code, 0, "{run}");
        out
    }
}

/// The objects that a run printed.
pub(crate) fn objects(run: &Run) -> Vec<Value> {
    lines(&run.out)
        .map(|line| serde_json::from_str(line).expect("every line is JSON"))
        .collect()
}

/// The names of the queries that a run printed objects for.
pub(crate) fn ids(run: &Run) -> Vec<String> {
    let objects = objects(run);
    let ids = objects.iter().map(|object| object["id"].as_str());
    ids.map(|id| id.expect("an id").to_owned()).collect()
}

/// Whether everything of a query is covered.
pub(crate) fn is_complete(object: &Value) -> bool {
    object["covered"].as_u64() > Some(0) && object["uncovered"] == Value::Array(Vec::new())
}

/// The text of one of some files.
pub(crate) fn text(files: &BTreeMap<String, Vec<u8>>, name: &str) -> String {
    let file = files
        .get(name)
        .unwrap_or_else(|| panic!("{name} is missing among {:?}", files.keys()));
    String::from_utf8(file.clone()).expect("text")
}
