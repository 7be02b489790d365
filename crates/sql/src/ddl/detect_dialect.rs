//! Detects the dialect of a text by constructs that only one database has.

use super::Source;
use crate::dialect::DialectName;
use crate::lex::{Lexer, LexerRules, Token, TokenKind};

/// A construct that gives a dialect away.
struct DialectClue {
    dialect: DialectName,
    weight: u32,
    /// Words in a row, in any case; a symbol stands for itself.
    words: &'static [&'static str],
}

const fn clue(dialect: DialectName, weight: u32, words: &'static [&'static str]) -> DialectClue {
    DialectClue {
        dialect,
        weight,
        words,
    }
}

use DialectName::{MySql, Postgres, Sqlite};

/// Every clue made of words; each counts once, however often it occurs.
const CLUES: &[DialectClue] = &[
    clue(Postgres, 4, &["::"]),
    clue(Postgres, 3, &["SERIAL"]),
    clue(Postgres, 4, &["BIGSERIAL"]),
    clue(Postgres, 4, &["SMALLSERIAL"]),
    clue(Postgres, 4, &["NEXTVAL"]),
    clue(Postgres, 4, &["BYTEA"]),
    clue(Postgres, 4, &["JSONB"]),
    clue(Postgres, 4, &["TIMESTAMPTZ"]),
    clue(Postgres, 4, &["TSVECTOR"]),
    clue(Postgres, 3, &["ILIKE"]),
    clue(Postgres, 3, &["INHERITS"]),
    clue(Postgres, 4, &["ALTER", "TABLE", "ONLY"]),
    clue(Postgres, 3, &["CREATE", "DOMAIN"]),
    clue(Postgres, 3, &["CREATE", "TYPE"]),
    clue(Postgres, 4, &["CREATE", "EXTENSION"]),
    clue(Postgres, 3, &["OWNER", "TO"]),
    clue(Postgres, 2, &["USING", "GIN"]),
    clue(Postgres, 2, &["USING", "GIST"]),
    clue(Postgres, 2, &["EXCLUDE", "USING"]),
    clue(Postgres, 2, &["NULLS", "NOT", "DISTINCT"]),
    clue(Postgres, 1, &["CHARACTER", "VARYING"]),
    clue(MySql, 5, &["ENGINE", "="]),
    clue(MySql, 5, &["AUTO_INCREMENT"]),
    clue(MySql, 4, &["UNSIGNED"]),
    clue(MySql, 4, &["ZEROFILL"]),
    clue(MySql, 3, &["CHARSET"]),
    clue(MySql, 2, &["CHARACTER", "SET"]),
    clue(MySql, 3, &["MEDIUMINT"]),
    clue(MySql, 2, &["TINYINT"]),
    clue(MySql, 3, &["LONGTEXT"]),
    clue(MySql, 3, &["MEDIUMTEXT"]),
    clue(MySql, 3, &["LONGBLOB"]),
    clue(MySql, 3, &["UNIQUE", "KEY"]),
    clue(MySql, 3, &["FULLTEXT", "KEY"]),
    clue(MySql, 3, &["LOCK", "TABLES"]),
    clue(MySql, 3, &["ON", "UPDATE", "CURRENT_TIMESTAMP"]),
    clue(Sqlite, 6, &["AUTOINCREMENT"]),
    clue(Sqlite, 6, &["WITHOUT", "ROWID"]),
    clue(Sqlite, 5, &[")", "STRICT"]),
    clue(Sqlite, 5, &["PRAGMA"]),
    clue(Sqlite, 3, &["GLOB"]),
    clue(Sqlite, 4, &["SQLITE_SEQUENCE"]),
    clue(Sqlite, 4, &["RAISE", "(", "ABORT"]),
    clue(Sqlite, 3, &["ON", "CONFLICT", "REPLACE"]),
    clue(Sqlite, 3, &["ON", "CONFLICT", "IGNORE"]),
];

/// The dialect that the evidence speaks for, and the evidence.
pub(super) fn dialect(sources: &[Source]) -> (DialectName, String) {
    let mut tally = ClueTally::default();
    for source in sources {
        let lexer = Lexer::new(&source.text, LexerRules::of(None));
        let mut recent: Vec<Token<'_>> = Vec::with_capacity(4);
        for token in lexer {
            if let Some((dialect, weight, what)) = by_shape(&token) {
                tally.add(dialect, weight, what, &source.name, &token);
            }
            if token.kind == TokenKind::Comment {
                continue;
            }
            if recent.len() == 3 {
                recent.remove(0);
            }
            recent.push(token);
            for clue in CLUES {
                if ends_with(&recent, clue.words) {
                    tally.add(
                        clue.dialect,
                        clue.weight,
                        &clue.words.join(" "),
                        &source.name,
                        &token,
                    );
                }
            }
        }
    }
    tally.verdict()
}

/// Clues that are not words: how names, strings and comments are written.
fn by_shape(token: &Token<'_>) -> Option<(DialectName, u32, &'static str)> {
    match token.kind {
        TokenKind::Quoted if token.text.starts_with('`') => Some((MySql, 2, "backquotes")),
        TokenKind::Text if token.text.starts_with('$') => Some((Postgres, 4, "dollar quotes")),
        TokenKind::Comment if token.text.starts_with("/*!") => Some((MySql, 5, "/*! … */")),
        TokenKind::Comment if token.text.contains("PostgreSQL database dump") => {
            Some((Postgres, 6, "the header of pg_dump"))
        }
        TokenKind::Comment
            if token.text.starts_with("-- MySQL dump") || token.text.contains("MariaDB dump") =>
        {
            Some((MySql, 6, "the header of mysqldump"))
        }
        TokenKind::Symbol if token.text == "\\" => Some((Postgres, 2, "a psql command")),
        _ => None,
    }
}

fn ends_with(recent: &[Token<'_>], words: &[&str]) -> bool {
    // Lengths first: this runs for every token and every clue.
    let (Some(last), Some(word)) = (recent.last(), words.last()) else {
        return false;
    };
    last.text.len() == word.len()
        && recent.len() >= words.len()
        && recent
            .iter()
            .rev()
            .zip(words.iter().rev())
            .all(|(token, word)| token.is(word) || token.is_symbol(word))
}

#[derive(Default)]
struct ClueTally {
    seen: Vec<(DialectName, u32, String, String)>,
}

impl ClueTally {
    fn add(&mut self, dialect: DialectName, weight: u32, what: &str, source: &str, at: &Token<'_>) {
        if !self
            .seen
            .iter()
            .any(|(of, _, seen, _)| *of == dialect && seen == what)
        {
            let location = format!("{source} line {}", at.start.line);
            self.seen.push((dialect, weight, what.to_owned(), location));
        }
    }

    fn verdict(self) -> (DialectName, String) {
        let score = |dialect| -> u32 {
            self.seen
                .iter()
                .filter(|(of, ..)| *of == dialect)
                .map(|(_, weight, ..)| weight)
                .sum()
        };
        let best = [Postgres, MySql, Sqlite]
            .into_iter()
            .rev()
            .max_by_key(|&dialect| score(dialect))
            .filter(|&dialect| score(dialect) > 1);
        let Some(best) = best else {
            return (
                DialectName::Ansi,
                "nothing that only one database knows".to_owned(),
            );
        };
        let strongest = self
            .seen
            .iter()
            .filter(|(of, ..)| *of == best)
            .rev()
            .max_by_key(|(_, weight, ..)| *weight);
        let evidence = match strongest {
            Some((_, _, what, location)) if what.starts_with("the ") || what.starts_with("a ") => {
                format!("{what} in {location}")
            }
            Some((_, _, what, location)) => format!("`{what}` in {location}"),
            None => String::new(),
        };
        (best, evidence)
    }
}
