//! Loads whatever comes as DDL, translates it to every engine and writes it back.
#![no_main]

use isobath_sql::ddl::{Source, load};
use isobath_sql::{DialectName, render};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let source = Source {
        name: "fuzz.sql".to_owned(),
        text: String::from_utf8_lossy(bytes).into_owned(),
    };
    let loaded = load("fuzz", &[source], None);
    for to in DialectName::ALL {
        let translated = render::translate(&loaded.schema, loaded.dialect, to);
        render::create_statements(&translated.schema, to);
    }
});
