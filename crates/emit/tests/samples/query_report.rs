//! A report of one query with a target of every fate.

use isobath_emit::query::GivenRows;
use isobath_emit::report::query::{
    ClauseView, FixtureView, QueryReport, QueryView, StatusView, TargetView, UnreadableQuery,
};
use serde_json::json;

pub(crate) fn shop() -> QueryReport {
    QueryReport {
        name: "shop".into(),
        engine: "SQLite".into(),
        dialect: "sqlite".into(),
        dialect_evidence: "as asked for".into(),
        criterion: "extended".into(),
        algorithm: "default".into(),
        seed: 1,
        version: "0.0.0".into(),
        command: Some("isobath query shop-queries.sql --schema shop.sql".into()),
        millis: 1.5,
        queries: vec![query()],
        unreadable: vec![UnreadableQuery {
            id: "shop:9".into(),
            location: "shop.sql:9:8".into(),
            why: "unknown column `oops`".into(),
        }],
        disagreements: Vec::new(),
        notes: vec!["Paid: its result depends on NOW".into()],
    }
}

fn query() -> QueryView {
    let target = |description: &str, rule: &str, verdict: StatusView| TargetView {
        sql: "SELECT id FROM orders WHERE total < 5".into(),
        rule: rule.into(),
        description: description.into(),
        verdict,
        rows: Vec::new(),
    };
    QueryView {
        id: "Paid".into(),
        location: "shop.sql:3".into(),
        sql: "SELECT id FROM orders\nWHERE total < 5 AND state = 'paid'".into(),
        clauses: vec![
            ClauseView {
                kind: "WHERE".into(),
                text: "total < 5".into(),
                range: Some((28, 37)),
                targets: vec![
                    TargetView {
                        rows: vec![orders(vec![json!(1), json!(4), json!("paid")])],
                        ..target(
                            "`total < 5` is true",
                            "WT",
                            StatusView::Covered { fixture: 0 },
                        )
                    },
                    target(
                        "`total` is NULL",
                        "WN",
                        StatusView::Infeasible {
                            proof: "orders.total is NOT NULL".into(),
                        },
                    ),
                ],
            },
            ClauseView {
                kind: "WHERE".into(),
                text: "state = 'paid'".into(),
                range: Some((42, 56)),
                targets: vec![
                    target(
                        "`state = 'paid'` is true",
                        "WT",
                        StatusView::Covered { fixture: 0 },
                    ),
                    target(
                        "`state = 'paid'` is false",
                        "WF",
                        StatusView::Uncovered {
                            why: "the nearest miss is 1 | x".into(),
                        },
                    ),
                ],
            },
        ],
        fixtures: vec![FixtureView {
            given: vec![GivenRows {
                rows: vec![
                    vec![json!(1), json!(4), json!("paid")],
                    vec![json!(2), json!(4), json!(null)],
                ],
                ..orders(Vec::new())
            }],
            parameters: vec![(":most".into(), json!(5))],
            columns: vec!["id".into()],
            result: Some(vec![vec![Some("1".into())]]),
        }],
        evaluations: 7,
        millis: 1.5,
    }
}

fn orders(row: Vec<serde_json::Value>) -> GivenRows {
    GivenRows {
        table: "orders".into(),
        columns: ["id", "total", "state"].map(str::to_owned).into(),
        rows: vec![row],
    }
}
