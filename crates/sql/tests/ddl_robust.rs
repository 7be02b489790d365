//! Whatever the input is, loading ends, and in limitations rather than a panic.

mod common;

use common::load_guessing;
use isobath_sql::DialectName;
use isobath_sql::render;
use proptest::prelude::*;

const SEED: &str = "CREATE DOMAIN d AS int CHECK (VALUE > 1); CREATE TYPE e AS ENUM ('a');
CREATE TABLE IF NOT EXISTS s.\"p q\" (id serial, d d NOT NULL, e e DEFAULT 'a'::e, `k` int(11) unsigned,
 t text(9) COLLATE NOCASE CHECK (t ~ 'x' OR length(t) BETWEEN SYMMETRIC 3 AND -1), PRIMARY KEY (id), KEY x (d),
 g int GENERATED ALWAYS AS (d + 1) STORED) ENGINE=InnoDB;
CREATE TABLE c (LIKE s.\"p q\" INCLUDING ALL, p int REFERENCES \"p q\" ON DELETE SET NULL DEFERRABLE) INHERITS (c);
ALTER TABLE ONLY c ADD CONSTRAINT f FOREIGN KEY (p, id) REFERENCES c (id, p) MATCH FULL, DROP COLUMN d, RENAME g TO h;
CREATE UNIQUE INDEX i ON c (lower(t), p) WHERE p > $$3$$; COPY c FROM stdin;\n1\n\\.\n
/*!40101 CREATE TRIGGER g BEGIN CASE END; END */; DELIMITER // \nDROP TABLE c // DELIMITER ;\n ALTER TYPE e ADD VALUE 'b';";

fn runs_through(text: &str) {
    let loaded = load_guessing(text);
    for to in DialectName::ALL {
        let translated = render::translate(&loaded.schema, loaded.dialect, to);
        render::create_statements(&translated.schema, to);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_characters_load(text in "\\PC{0,200}") {
        runs_through(&text);
    }

    #[test]
    fn random_bytes_load(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        runs_through(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn shuffled_words_load(picks in proptest::collection::vec(0usize..200, 0..60)) {
        let words: Vec<&str> = SEED.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
        let text: String = picks.iter().map(|&pick| words[pick % words.len()]).collect();
        runs_through(&format!("CREATE TABLE t (a int, {text}"));
    }

    #[test]
    fn damaged_definitions_load(cuts in proptest::collection::vec((0usize..2000, 0usize..12, 0usize..2000), 1..6)) {
        let mut chars: Vec<char> = SEED.chars().collect();
        for (at, length, from) in cuts {
            let at = at % chars.len();
            let end = (at + length).min(chars.len());
            let from = from % chars.len();
            let piece: Vec<char> = chars[from..(from + length).min(chars.len())].to_vec();
            chars.splice(at..end, piece);
            if chars.is_empty() {
                break;
            }
        }
        runs_through(&chars.into_iter().collect::<String>());
    }
}
