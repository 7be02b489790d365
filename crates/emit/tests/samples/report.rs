//! A report with something in every section.

use isobath_emit::report::{
    ColumnView, ConstraintView, DesignFinding, Disagreement, Infeasible, LimitationView,
    MutantResult, MutantView, Mutation, RunReport, TableView, Totals, Uncovered,
};
use isobath_emit::{Suite, SuiteDialect};

/// The report that goes with the suite [`super::shop`].
pub(crate) fn shop() -> RunReport {
    let suite = super::shop(SuiteDialect::Sqlite);
    RunReport {
        schema: "shop".into(),
        engine: "SQLite 3.50.4".into(),
        dialect: "sqlite".into(),
        dialect_evidence: "guessed from AUTOINCREMENT".into(),
        seed: 42,
        generator: "default".into(),
        criterion: "ClauseAICC+AUCC+ANCC".into(),
        version: "0.0.0".into(),
        command: Some("isobath schema shop.sql --seed 42".into()),
        totals: Totals {
            tables: 2,
            columns: 6,
            constraints: vec![
                ("PRIMARY KEY".into(), 2),
                ("FOREIGN KEY".into(), 1),
                ("CHECK".into(), 1),
                ("NOT NULL".into(), 1),
            ],
            requirements: 40,
            covered: 37,
            infeasible: 2,
            tests: suite.tests.len(),
            inserts: 14,
            millis: Some(3),
        },
        mutation: Some(Mutation {
            mutants: 50,
            killed: 49,
            equivalent: 4,
            excluded: vec![("still-born".into(), 2)],
            all: vec![
                MutantView {
                    operator: "not-null-remove".into(),
                    table: "customer".into(),
                    description: "`email` may be NULL".into(),
                    status: MutantResult::Killed,
                    killed_by: Some(suite.tests[0].name.clone()),
                    why: None,
                },
                MutantView {
                    operator: "check-comparison-exchange".into(),
                    table: "orders".into(),
                    description: "quantity > 0 becomes quantity >= 0".into(),
                    ..MutantView::default()
                },
                MutantView {
                    operator: "check-removal".into(),
                    table: "orders".into(),
                    description: "CHECK (quantity > 0) is removed".into(),
                    status: MutantResult::Equivalent,
                    killed_by: None,
                    why: Some("quantity BETWEEN 1 AND 9 implies it".into()),
                },
            ],
        }),
        infeasible: vec![Infeasible {
            table: "orders".into(),
            requirement: "quantity BETWEEN 1 AND 9 is false while quantity > 0 is false".into(),
            proof: "quantity < 1 and quantity > 9 cannot hold together".into(),
        }],
        uncovered: vec![Uncovered {
            table: "orders".into(),
            requirement: "note is matched by <b>&amp;|`*</b>".into(),
            reason: None,
        }],
        limitations: vec![LimitationView {
            what: "triggers are not understood".into(),
            quote: "CREATE TRIGGER t <script>alert(1)</script>".into(),
            location: Some("shop.sql:12:3".into()),
            count: 2,
        }],
        findings: vec![DesignFinding {
            kind: "redundant CHECK".into(),
            table: "orders".into(),
            explanation: "quantity > 0 follows from quantity BETWEEN 1 AND 9.".into(),
        }],
        disagreements: vec![Disagreement {
            test: "customer rejects 'A@B' beside 'a@b'".into(),
            sql: "INSERT INTO customer (id, email) VALUES (2, 'A@B')".into(),
            outcomes: vec![
                ("SQLite".into(), "accepted".into()),
                ("MariaDB".into(), "rejected by UNIQUE email".into()),
            ],
        }],
        tables: vec![customer(), orders()],
        tests: suite.tests,
    }
}

fn customer() -> TableView {
    TableView {
        name: "customer".into(),
        columns: vec![
            column("id", "INTEGER", &[]),
            column("email", "VARCHAR(40)", &["NOT NULL"]),
        ],
        constraints: vec![ConstraintView {
            name: Some("email_has_at".into()),
            kind: "CHECK".into(),
            definition: "CHECK (email LIKE '%@%')".into(),
            accepting: vec!["INSERT INTO customer (id, email) VALUES (1, 'a@b')".into()],
            rejecting: vec!["INSERT INTO customer (id, email) VALUES (2, 'nobody')".into()],
            note: None,
        }],
    }
}

fn orders() -> TableView {
    TableView {
        name: "orders".into(),
        columns: vec![
            column("order_id", "INTEGER", &[]),
            column("customer_id", "INTEGER", &[]),
            column("quantity", "INTEGER", &["DEFAULT 1"]),
            column("note", "VARCHAR(40)", &[]),
        ],
        constraints: vec![
            ConstraintView {
                name: None,
                kind: "PRIMARY KEY".into(),
                definition: "PRIMARY KEY (order_id)".into(),
                accepting: vec!["INSERT INTO orders (order_id) VALUES (1)".into()],
                rejecting: vec![
                    "INSERT INTO orders (order_id) VALUES (1)".into(),
                    "INSERT INTO orders (order_id) VALUES (1)".into(),
                ],
                note: None,
            },
            ConstraintView {
                name: Some("orders_customer".into()),
                kind: "FOREIGN KEY".into(),
                definition: "FOREIGN KEY (customer_id) REFERENCES customer (id)".into(),
                note: Some("No example: the table it refers to can hold no row.".into()),
                ..ConstraintView::default()
            },
        ],
    }
}

fn column(name: &str, data_type: &str, notes: &[&str]) -> ColumnView {
    ColumnView {
        name: name.into(),
        data_type: data_type.into(),
        notes: notes.iter().map(|note| (*note).to_owned()).collect(),
    }
}

/// A suite of `n_tests` tests over 40 tables.
pub(crate) fn large(n_tests: usize) -> Suite {
    let small = super::shop(SuiteDialect::Sqlite);
    let mut suite = small.clone();
    suite.tests = (0..n_tests)
        .map(|idx| {
            let mut test = small.tests[idx % small.tests.len()].clone();
            test.group = format!("table_{}", idx % 40);
            test
        })
        .collect();
    suite
}
