//! Schemas as PostgreSQL reads them: names are lower-case unless they are quoted.

use super::{LoadedSchema, Source, load};
use crate::dialect::DialectName;
use crate::lex::{Lexer, LexerRules, TokenKind};

/// Reads a schema for the engine of a dialect, if there is one.
///
/// Queries spell names as they like, and PostgreSQL finds what it has folded itself: names that are not quoted.
pub fn load_for_engine(
    name: &str,
    sources: &[Source],
    dialect: Option<DialectName>,
    engine: Option<DialectName>,
) -> LoadedSchema {
    let loaded = load(name, sources, dialect);
    let folds = engine == Some(DialectName::Postgres)
        && matches!(loaded.dialect, DialectName::Postgres | DialectName::Ansi);
    if !folds {
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
        ..load(name, &sources, Some(loaded.dialect))
    }
}

/// A text whose names and keywords are in lower case, where nothing quotes them; every byte stays in its place.
fn folded(text: &str) -> String {
    let mut folded = text.to_owned();
    for token in Lexer::new(text, LexerRules::of(Some(DialectName::Postgres))) {
        if token.kind == TokenKind::Word {
            folded[token.start.offset..token.end()].make_ascii_lowercase();
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
        assert_eq!(
            folded("A \"B\" DEFAULT $$ C $$ || E'\\'D'"),
            "a \"B\" default $$ C $$ || E'\\'D'"
        );
    }

    #[test]
    fn only_postgres_folds_and_only_names_without_quotes() {
        let name_of = |text: &str, engine: Option<DialectName>| {
            let source = Source {
                name: "schema.sql".to_owned(),
                text: text.to_owned(),
            };
            let loaded = load_for_engine("schema", &[source], None, engine);
            loaded.schema.tables[0].name.clone()
        };
        let plain = "CREATE TABLE Flights (Id INT)";
        assert_eq!(name_of(plain, Some(DialectName::Postgres)), "flights");
        assert_eq!(name_of(plain, Some(DialectName::Sqlite)), "Flights");
        assert_eq!(name_of(plain, None), "Flights");
        let quoted = "CREATE TABLE \"Flights\" (Id INT)";
        assert_eq!(name_of(quoted, Some(DialectName::Postgres)), "Flights");
        let elsewhere = "CREATE TABLE Flights (\"Id\" INT)";
        assert_eq!(name_of(elsewhere, Some(DialectName::Postgres)), "flights");
    }
}
