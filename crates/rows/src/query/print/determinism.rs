//! Statements whose result depends on the clock or on randomness.

use isobath_sql::{DialectName, Schema};

use crate::query::construct;

/// The statement that makes an engine's clock stand at the time that rows are built for; only
/// MariaDB has one.
pub fn clock(schema: &Schema, dialect: DialectName) -> Option<String> {
    let now = construct::SolverContext::new(schema, dialect.dialect()).now;
    (dialect == DialectName::MySql).then(|| {
        let (date, time) = (now.date(), now.time());
        format!("SET timestamp = UNIX_TIMESTAMP('{date} {time}')")
    })
}

/// What in a statement gives another value whenever it is run.
pub fn nondeterministic_call(sql: &str) -> Option<String> {
    const WORDS: &[&str] = &[
        "NOW",
        "CURRENT_DATE",
        "CURRENT_TIME",
        "CURRENT_TIMESTAMP",
        "LOCALTIME",
        "LOCALTIMESTAMP",
        "CURDATE",
        "CURTIME",
        "SYSDATE",
        "UTC_DATE",
        "UTC_TIMESTAMP",
        "UNIX_TIMESTAMP",
        "RAND",
        "RANDOM",
        "RANDOMBLOB",
        "UUID",
        "GEN_RANDOM_UUID",
    ];
    // What stands between single quotes is text.
    let outside = sql.split('\'').step_by(2);
    let words = outside.flat_map(|text| text.split(|c: char| !(c.is_alphanumeric() || c == '_')));
    let mut words = words.filter(|word| WORDS.iter().any(|of| of.eq_ignore_ascii_case(word)));
    words.next().map(str::to_owned)
}
