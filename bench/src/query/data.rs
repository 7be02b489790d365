//! The recorded queries: one folder per system with `schema.sql` and `queries.jsonl`, whose lines
//! have `id`, `query`, `targets`, `kinds`, `infeasible` and `hard`.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use isobath_sql::ddl::{Source, load};
use isobath_sql::{DialectName, Schema};
use serde_json::Value;

/// A query with its recorded targets.
pub(super) struct Record {
    pub(super) id: String,
    pub(super) targets: Vec<String>,
    pub(super) kinds: Vec<String>,
    /// Indexes of targets that no rows cover, and of those that the peer never covered.
    pub(super) infeasible: Vec<usize>,
    pub(super) hard: Vec<usize>,
}

/// A system: its schema and its queries.
pub(super) struct System {
    pub(super) name: String,
    pub(super) schema: Schema,
    pub(super) records: Vec<Record>,
}

/// All systems below a folder.
pub(super) fn systems(folder: &Path) -> Result<Vec<System>, Box<dyn Error>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in [
        folder.to_owned(),
        folder.join("data/queries"),
        folder.join("queries"),
    ] {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        let found = entries.filter_map(Result::ok).map(|entry| entry.path());
        paths.extend(found.filter(|path| path.join("queries.jsonl").is_file()));
    }
    paths.sort();
    if paths.is_empty() {
        return Err(format!("no `queries.jsonl` in the folders of {}", folder.display()).into());
    }
    paths.iter().map(|path| system(path)).collect()
}

fn system(path: &Path) -> Result<System, Box<dyn Error>> {
    let source = Source {
        name: "schema.sql".to_owned(),
        text: fs::read_to_string(path.join("schema.sql"))?,
    };
    let mut records = Vec::new();
    for line in fs::read_to_string(path.join("queries.jsonl"))?.lines() {
        records.push(record(&serde_json::from_str(line)?));
    }
    Ok(System {
        name: path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        schema: load("schema", &[source], Some(DialectName::MySql)).schema,
        records,
    })
}

fn record(line: &Value) -> Record {
    let list = |key: &str| line[key].as_array().cloned().unwrap_or_default();
    let texts = |key: &str| -> Vec<String> {
        let list = list(key);
        let texts = list.iter().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    };
    let indexes = |key: &str| -> Vec<usize> {
        let list = list(key);
        let indexes = list.iter().filter_map(Value::as_u64);
        indexes
            .filter_map(|index| usize::try_from(index).ok())
            .collect()
    };
    Record {
        id: line["id"].as_str().unwrap_or_default().to_owned(),
        targets: texts("targets"),
        kinds: texts("kinds"),
        infeasible: indexes("infeasible"),
        hard: indexes("hard"),
    }
}
