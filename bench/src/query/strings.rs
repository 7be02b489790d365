//! The string cases that seed 001 discusses, which its search cannot solve.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::time::Duration;

use isobath_rows::query::algorithm::Config;
use isobath_rows::query::construct::SolverContext;
use isobath_rows::query::job::run;
use isobath_rows::query::target::QueryTarget;
use isobath_sql::DialectName;
use isobath_sql::ddl::{Source, load};

use crate::cpu;

const CASES: [&str; 4] = [
    "SELECT * FROM people WHERE LENGTH(name) = 12 AND LEFT(name, 5) = 'abcde'",
    "SELECT * FROM people WHERE REVERSE(name) = 'olleh'",
    "SELECT * FROM people WHERE LENGTH(name) = 12 AND LEFT(name, 5) = 'abcde' AND RIGHT(name, 3) = 'xyz'",
    "SELECT * FROM people WHERE UPPER(name) = 'ADA' AND CONCAT(name, '@', city) = 'Ada@Faro'",
];

/// What a case may take.
const BUDGET: Duration = Duration::from_millis(10);

/// One line per case; whether all are covered within milliseconds.
pub(super) fn table() -> bool {
    let source = Source {
        name: "people.sql".to_owned(),
        text: "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(40), city VARCHAR(40))"
            .to_owned(),
    };
    let schema = load("people", &[source], Some(DialectName::MySql)).schema;
    let setting = SolverContext::new(&schema, DialectName::MySql.dialect());
    println!("\nstring cases of the paper's discussion:");
    let mut reached = true;
    for sql in CASES {
        let started = cpu::spent();
        let target = QueryTarget::read(sql, "", "", &schema, DialectName::MySql);
        let outcome = run(&[target], setting, &Config::default());
        let elapsed = cpu::spent().saturating_sub(started);
        reached &= outcome.covered() == 1 && elapsed < BUDGET;
        println!(
            "  {} {:>8.3} ms {:>5} evaluations  {sql}",
            if outcome.covered() == 1 {
                "covered"
            } else {
                "OPEN   "
            },
            elapsed.as_secs_f64() * 1e3,
            outcome.evaluations
        );
    }
    reached
}
