//! Takes whatever comes as a query apart into targets, resolves all of them, runs them over a few
//! rows, and looks for rows that cover them.
#![no_main]

use std::sync::LazyLock;

use isobath_rows::query::algorithm::Config;
use isobath_rows::query::construct::Setting;
use isobath_rows::query::job;
use isobath_rows::query::target::Target;
use isobath_sql::coverage::{Criterion, Options, targets};
use isobath_sql::ddl::{Source, load};
use isobath_sql::{DialectName, Schema, Value, query};
use libfuzzer_sys::fuzz_target;

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let source = Source {
        name: "fuzz.sql".to_owned(),
        text: "CREATE TABLE a (id INT PRIMARY KEY, n INT CHECK (n > 0), s VARCHAR(20), d DATE);
               CREATE TABLE b (id INT REFERENCES a (id), n INT NOT NULL, s VARCHAR(20), d DATE);"
            .to_owned(),
    };
    load("fuzz", &[source], Some(DialectName::Postgres)).schema
});

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let dialect = DialectName::ALL[usize::from(*first) % DialectName::ALL.len()];
    let text = String::from_utf8_lossy(rest);
    let row = |id: i64, s: &str| {
        vec![
            Value::from(id),
            Value::from(id % 2),
            Value::from(s),
            Value::Null,
        ]
    };
    let tables = vec![vec![row(1, "a"), row(2, "")], vec![row(2, "b")]];
    let run = |sql: &str| {
        if let Ok(query) = query::parse(sql, &SCHEMA, dialect) {
            // Whether it has an answer does not matter, only that it comes back.
            let _ = query::evaluate(&query, &tables, &[Value::from(1)], dialect.dialect());
            let _ = query.reads_clock();
        }
    };
    run(&text);
    let options = Options { boundaries: true };
    for criterion in [Criterion::Fpc, Criterion::Extended] {
        if let Ok(made) = targets(&text, &SCHEMA, dialect, criterion, options) {
            made.iter().take(50).for_each(|target| run(&target.sql));
            let read = |target| Target::of(target, &SCHEMA, dialect);
            let targets: Vec<Target> = made.iter().take(8).map(read).collect();
            let config = Config {
                budget: 20,
                ..Config::default()
            };
            let _ = job::run(&targets, Setting::new(&SCHEMA, dialect.dialect()), &config);
        }
    }
});
