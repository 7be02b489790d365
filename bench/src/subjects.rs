//! The given schemas, loaded and translated for an engine.

use std::path::Path;

use isobath_sql::ddl::{Source, load};
use isobath_sql::render::translate;
use isobath_sql::{DialectName, Schema};

/// Every `*.sql` file of `data/schemas`, by name, as text.
pub(crate) fn sources(folder: &Path) -> std::io::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder.join("data").join("schemas"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "sql")
            && let Some(stem) = path.file_stem()
        {
            let text = std::fs::read_to_string(&path)?;
            found.push((stem.to_string_lossy().into_owned(), text));
        }
    }
    found.sort();
    Ok(found)
}

/// The schema of a source as an engine holds it.
pub(crate) fn schema(name: &str, text: &str, engine: DialectName) -> Schema {
    let source = Source {
        name: format!("{name}.sql"),
        text: text.to_owned(),
    };
    let loaded = load(name, &[source], None);
    translate(&loaded.schema, loaded.dialect, engine).schema
}
