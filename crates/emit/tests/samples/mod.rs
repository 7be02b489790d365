//! A small suite per dialect, with names and values that are hard on every test language.
#![allow(clippy::unwrap_used, reason = "only tests use it")]
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod queries;
pub(crate) mod query_report;
pub(crate) mod report;

use isobath_emit::{
    Expectation, Rejection, RejectionKind, Step, StepRole, Suite, SuiteDialect, Test,
};

/// Text that is special somewhere: SQL, Python, Java, Rust, TAP, psql, comments.
pub(crate) const NASTY: &str =
    "it's \"quoted\" \\n \\u0041 */ /* -- # %s :x ${y} {z} $sql$ \"\"\" '''\nzwölf\t\u{202e}日本";

/// A suite that covers every kind of expectation.
pub(crate) fn shop(dialect: SuiteDialect) -> Suite {
    let mut suite = Suite::new("shop", dialect);
    suite.seed = 42;
    suite.criterion = "ClauseAICC+AUCC+ANCC".into();
    suite.version = "0.0.0".into();
    suite.command = Some("isobath schema shop.sql --seed 42".into());
    suite.setup = setup(dialect);
    if dialect == SuiteDialect::Sqlite {
        suite.session.push("PRAGMA foreign_keys = ON".into());
    }
    let quoted = Quotes(dialect);
    let customer = "INSERT INTO customer (id, email) VALUES (1, 'a@b')";
    suite.tests = vec![
        test(
            "customer accepts a row",
            "customer",
            vec![Step::act(customer, Expectation::Accepted { rows: Some(1) })],
        ),
        test(
            "customer rejects a second row with the same id",
            "customer",
            vec![
                Step::setup(customer),
                Step::act(
                    "INSERT INTO customer (id, email) VALUES (1, 'c@d')",
                    primary_key(dialect, "customer", "id"),
                ),
            ],
        ),
        test(
            "customer rejects an email without @",
            "customer",
            vec![Step::act(
                "INSERT INTO customer (id, email) VALUES (2, 'nobody')",
                check(dialect, "email_has_at"),
            )],
        ),
        test(
            "customer rejects NULL as email",
            "customer",
            vec![Step::act(
                "INSERT INTO customer (id, email) VALUES (2, NULL)",
                not_null(dialect, "customer", "email"),
            )],
        ),
        test(
            "orders rejects a customer_id that customer does not have",
            "orders",
            vec![Step::act(
                "INSERT INTO orders (order_id, customer_id) VALUES (1, 7)",
                foreign_key(dialect, "orders_customer"),
            )],
        ),
        test(
            "customer cannot go while orders has it",
            "orders",
            vec![
                Step::setup(customer),
                Step::setup("INSERT INTO orders (order_id, customer_id) VALUES (1, 1)"),
                Step::act(
                    "DELETE FROM customer",
                    foreign_key(dialect, "orders_customer"),
                ),
            ],
        ),
        test(
            "orders fills quantity with 1",
            "orders",
            vec![
                Step::setup(customer),
                Step::act(
                    "INSERT INTO orders (order_id, customer_id) VALUES (5, 1)",
                    Expectation::Rows {
                        query: format!(
                            "SELECT CAST(order_id AS {0}), CAST(quantity AS {0}), note \
                             FROM orders ORDER BY order_id",
                            if dialect == SuiteDialect::Mysql {
                                "CHAR"
                            } else {
                                "TEXT"
                            }
                        ),
                        rows: vec![vec![Some("5".into()), Some("1".into()), None]],
                    },
                ),
            ],
        ),
        test(
            "orders is empty after DELETE",
            "orders",
            vec![Step::act(
                "DELETE FROM orders",
                Expectation::Rows {
                    query: "SELECT note FROM orders".into(),
                    rows: vec![],
                },
            )],
        ),
        Test {
            id: "class".into(),
            name: format!("class keeps {NASTY}"),
            group: "class".into(),
            covers: vec![NASTY.into(), "a line\nbreak".into()],
            steps: vec![Step::act(
                format!(
                    "INSERT INTO {} ({}, note) VALUES (1, {})",
                    quoted.name("class"),
                    quoted.name("odd \"$ */"),
                    quoted.text(NASTY)
                ),
                Expectation::Rows {
                    query: format!("SELECT note FROM {}", quoted.name("class")),
                    rows: vec![vec![Some(NASTY.into())]],
                },
            )],
        },
        // The same id again, and one that is no identifier at all.
        Test {
            id: "class".into(),
            ..test(
                "class rejects a second row",
                "class",
                vec![
                    Step::setup(format!(
                        "INSERT INTO {} VALUES (1, NULL)",
                        quoted.name("class")
                    )),
                    Step::act(
                        format!("INSERT INTO {} VALUES (1, 'x')", quoted.name("class")),
                        primary_key(dialect, "class", "odd \"$ */"),
                    ),
                ],
            )
        },
        Test {
            id: "日本".into(),
            ..test(
                "hen and egg come together",
                "hen",
                vec![Step {
                    role: StepRole::Act,
                    sql: vec![
                        "INSERT INTO hen VALUES (1, 1)".into(),
                        "INSERT INTO egg VALUES (1, 1)".into(),
                    ],
                    expect: Expectation::accepted(),
                }],
            )
        },
    ];
    if dialect != SuiteDialect::Mysql {
        // MariaDB has no deferred constraints, so a missing egg goes unnoticed there.
        suite.tests.push(test(
            "hen does not come with the egg of another",
            "hen",
            vec![Step {
                role: StepRole::Act,
                sql: vec![
                    "INSERT INTO hen VALUES (1, 2)".into(),
                    "INSERT INTO egg VALUES (1, 1)".into(),
                ],
                expect: foreign_key(dialect, "hen_egg"),
            }],
        ));
    }
    suite
}

/// Every way in which one expectation of [`shop`] can be wrong: what was changed, and the suite.
pub(crate) fn wrong(dialect: SuiteDialect) -> Vec<(String, Suite)> {
    let good = shop(dialect);
    let mut all = Vec::new();
    let mut add = |what: &str, test_idx: usize, change: &dyn Fn(&mut Expectation)| {
        let mut suite = good.clone();
        let step = suite.tests[test_idx].steps.last_mut().unwrap();
        let before = step.expect.clone();
        change(&mut step.expect);
        assert_ne!(step.expect, before, "{what}");
        // Alone, so that nothing else can be the reason.
        suite.tests = vec![suite.tests.swap_remove(test_idx)];
        all.push((what.to_owned(), suite));
    };
    add("an accepted row is expected to be rejected", 0, &|expect| {
        *expect = Expectation::Rejected(Rejection::new(RejectionKind::Check));
    });
    add("a wrong number of rows", 0, &|expect| {
        *expect = Expectation::Accepted { rows: Some(2) };
    });
    add("a rejected row is expected to be accepted", 2, &|expect| {
        *expect = Expectation::accepted();
    });
    add("a foreign key is expected to accept", 4, &|expect| {
        *expect = Expectation::accepted();
    });
    let other = if dialect == SuiteDialect::Postgres {
        "email_has_dot"
    } else {
        "nothing_like_it"
    };
    add("another constraint", 2, &move |expect| {
        if let Expectation::Rejected(rejection) = expect {
            rejection.constraint = Some(other.into());
        }
    });
    add("another code", 2, &move |expect| {
        if let Expectation::Rejected(rejection) = expect {
            if dialect == SuiteDialect::Postgres {
                rejection.sqlstate = Some("23505".into());
            } else {
                rejection.code = Some(1062);
            }
        }
    });
    add("text that the message lacks", 2, &|expect| {
        if let Expectation::Rejected(rejection) = expect {
            rejection.message_contains.push("no such words".into());
        }
    });
    add("another value", 6, &|expect| {
        if let Expectation::Rows { rows, .. } = expect {
            rows[0][1] = Some("2".into());
        }
    });
    add("a row too many", 7, &|expect| {
        if let Expectation::Rows { rows, .. } = expect {
            rows.push(vec![None]);
        }
    });
    add("a row too few", 6, &|expect| {
        if let Expectation::Rows { rows, .. } = expect {
            rows.clear();
        }
    });
    if dialect != SuiteDialect::Mysql {
        add("a broken cycle is expected to be accepted", 11, &|expect| {
            *expect = Expectation::accepted();
        });
    }
    all
}

fn setup(dialect: SuiteDialect) -> Vec<String> {
    let quoted = Quotes(dialect);
    let mut setup = vec![
        "CREATE TABLE customer (\n  id INTEGER PRIMARY KEY,\n  email VARCHAR(40) NOT NULL,\n  \
         CONSTRAINT email_has_at CHECK (email LIKE '%@%')\n)"
            .to_owned(),
        "CREATE TABLE orders (\n  order_id INTEGER PRIMARY KEY,\n  customer_id INTEGER,\n  \
         quantity INTEGER DEFAULT 1,\n  note VARCHAR(40),\n  \
         CONSTRAINT orders_customer FOREIGN KEY (customer_id) REFERENCES customer (id)\n)"
            .to_owned(),
        format!(
            "CREATE TABLE {} ({} INTEGER PRIMARY KEY, note VARCHAR(200))",
            quoted.name("class"),
            quoted.name("odd \"$ */")
        ),
    ];
    let deferred = match dialect {
        SuiteDialect::Mysql => "",
        _ => " DEFERRABLE INITIALLY DEFERRED",
    };
    let hen = |reference: &str| {
        format!("CREATE TABLE hen (id INTEGER PRIMARY KEY, egg INTEGER NOT NULL{reference})")
    };
    let egg = format!(
        "CREATE TABLE egg (id INTEGER PRIMARY KEY, hen INTEGER NOT NULL, \
         CONSTRAINT egg_hen FOREIGN KEY (hen) REFERENCES hen (id){deferred})"
    );
    let hen_egg = format!("CONSTRAINT hen_egg FOREIGN KEY (egg) REFERENCES egg (id){deferred}");
    if dialect == SuiteDialect::Sqlite {
        setup.extend([hen(&format!(", {hen_egg}")), egg]);
    } else {
        setup.extend([hen(""), egg, format!("ALTER TABLE hen ADD {hen_egg}")]);
    }
    setup
}

fn test(name: &str, group: &str, steps: Vec<Step>) -> Test {
    Test {
        id: name.to_ascii_lowercase().replace([' ', '@'], "_"),
        name: name.into(),
        group: group.into(),
        covers: vec![format!("what “{name}” says")],
        steps,
    }
}

fn rejected(
    dialect: SuiteDialect,
    kind: RejectionKind,
    state: &str,
    mysql: i64,
    sqlite: i64,
) -> Rejection {
    let mut rejection = Rejection::new(kind);
    match dialect {
        SuiteDialect::Sqlite => rejection.code = Some(sqlite),
        SuiteDialect::Postgres => rejection.sqlstate = Some(state.into()),
        SuiteDialect::Mysql => rejection.code = Some(mysql),
    }
    rejection
}

fn primary_key(dialect: SuiteDialect, table: &str, column: &str) -> Expectation {
    let mut rejection = rejected(dialect, RejectionKind::PrimaryKey, "23505", 1062, 1555);
    match dialect {
        SuiteDialect::Sqlite => rejection.message_contains.push(format!("{table}.{column}")),
        SuiteDialect::Postgres => rejection.constraint = Some(format!("{table}_pkey")),
        SuiteDialect::Mysql => rejection.constraint = Some("PRIMARY".into()),
    }
    Expectation::Rejected(rejection)
}

fn check(dialect: SuiteDialect, name: &str) -> Expectation {
    let mut rejection = rejected(dialect, RejectionKind::Check, "23514", 4025, 275);
    rejection.constraint = Some(name.into());
    Expectation::Rejected(rejection)
}

fn not_null(dialect: SuiteDialect, table: &str, column: &str) -> Expectation {
    let mut rejection = rejected(dialect, RejectionKind::NotNull, "23502", 1048, 1299);
    rejection.message_contains.push(match dialect {
        SuiteDialect::Sqlite => format!("{table}.{column}"),
        SuiteDialect::Postgres => format!("\"{column}\""),
        SuiteDialect::Mysql => format!("'{column}'"),
    });
    Expectation::Rejected(rejection)
}

fn foreign_key(dialect: SuiteDialect, name: &str) -> Expectation {
    let mut rejection = rejected(dialect, RejectionKind::ForeignKey, "23503", 1452, 787);
    match dialect {
        SuiteDialect::Sqlite => {}
        SuiteDialect::Postgres => rejection.constraint = Some(name.into()),
        SuiteDialect::Mysql => {
            rejection.constraint = Some(name.into());
            // 1452 for the child's side, 1451 for the parent's.
            rejection.code = None;
        }
    }
    Expectation::Rejected(rejection)
}

struct Quotes(SuiteDialect);

impl Quotes {
    fn name(&self, name: &str) -> String {
        match self.0 {
            SuiteDialect::Mysql => format!("`{}`", name.replace('`', "``")),
            _ => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    fn text(&self, text: &str) -> String {
        let text = text.replace('\'', "''");
        match self.0 {
            SuiteDialect::Mysql => format!("'{}'", text.replace('\\', "\\\\")),
            _ => format!("'{text}'"),
        }
    }
}

/// All wrong expectations as tests of one suite, and how many there are.
pub(crate) fn all_wrong(dialect: SuiteDialect) -> (usize, Suite) {
    let wrong = wrong(dialect);
    let mut suite = shop(dialect);
    suite.tests = wrong
        .into_iter()
        .flat_map(|(_, suite)| suite.tests)
        .collect();
    (suite.tests.len(), suite)
}
