//! Schemas as PostgreSQL reads them: names are lower-case unless they are quoted.

use isobath_exec::Engine;
use isobath_sql::DialectName;
use isobath_sql::ddl::{self, LoadedSchema, Source};

/// Reads a schema for an engine.
///
/// Queries spell names as they like, and PostgreSQL finds what it has folded itself. Where no name of
/// the schema is quoted, all of them are folded.
pub(super) fn load(
    name: &str,
    sources: &[Source],
    dialect: Option<DialectName>,
    engine: Option<Engine>,
) -> LoadedSchema {
    let loaded = ddl::load(name, sources, dialect);
    let folds = engine == Some(Engine::Postgres)
        && matches!(loaded.dialect, DialectName::Postgres | DialectName::Ansi);
    // `$` may quote text in which case counts.
    let plain = sources
        .iter()
        .all(|source| !source.text.contains(['"', '$']));
    if !(folds && plain) {
        return loaded;
    }
    let sources: Vec<Source> = sources
        .iter()
        .map(|source| Source {
            name: source.name.clone(),
            text: folded(&source.text),
        })
        .collect();
    LoadedSchema {
        evidence: loaded.evidence,
        ..ddl::load(name, &sources, Some(loaded.dialect))
    }
}

/// A text in lower case, but for what stands between quotes and in comments; every byte stays in its
/// place.
fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        // What is skipped ends where its end is found, or with the text. A doubled quote closes and
        // opens again, which comes to the same.
        let skipped = [("'", "'"), ("--", "\n"), ("/*", "*/")]
            .iter()
            .find_map(|(start, end)| {
                let inner = rest.strip_prefix(start)?;
                let length = inner.find(end).map(|at| start.len() + at + end.len());
                Some(length.unwrap_or(rest.len()))
            });
        match skipped {
            Some(length) => {
                folded.push_str(&rest[..length]);
                rest = &rest[length..];
            }
            None => {
                folded.push(first.to_ascii_lowercase());
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folded_and_texts_are_not() {
        assert_eq!(
            folded(
                "-- It's\nCREATE TABLE Flights (Meal CHAR /* B' */ CHECK (Meal IN ('It''s B', 'L')))"
            ),
            "-- It's\ncreate table flights (meal char /* B' */ check (meal in ('It''s B', 'L')))"
        );
        assert_eq!(folded("A 'B"), "a 'B");
    }

    #[test]
    fn only_postgres_folds_and_only_where_nothing_is_quoted() {
        let name_of = |text: &str, engine: Option<Engine>| {
            let source = Source {
                name: "schema.sql".to_owned(),
                text: text.to_owned(),
            };
            let loaded = load("schema", &[source], None, engine);
            loaded.schema.tables[0].name.clone()
        };
        let plain = "CREATE TABLE Flights (Id INT)";
        assert_eq!(name_of(plain, Some(Engine::Postgres)), "flights");
        assert_eq!(name_of(plain, Some(Engine::Sqlite)), "Flights");
        assert_eq!(name_of(plain, None), "Flights");
        let quoted = "CREATE TABLE \"Flights\" (Id INT)";
        assert_eq!(name_of(quoted, Some(Engine::Postgres)), "Flights");
    }
}
