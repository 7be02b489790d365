//! No text makes the generator panic, and what it makes can be read again.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::{QueryCriterion, try_targets};
use crate::dialect::DialectName;

/// Queries that use every clause, to be cut up and mixed.
const QUERIES: [&str; 10] = [
    "SELECT c.name, COUNT(*) FROM customers c LEFT JOIN orders o ON c.id = o.customer_id AND o.status = 'x' WHERE c.age BETWEEN 1 AND 9 OR c.vip GROUP BY c.name HAVING SUM(o.total) > 5 ORDER BY 1 LIMIT 3",
    "SELECT DISTINCT note FROM orders WHERE placed >= '2024-01-01 00:00:00' AND note LIKE 'a%' AND status NOT IN ('a', 'b', NULL)",
    "SELECT CASE WHEN age < 3 THEN 1 ELSE 2 END, COALESCE(name, country, 'z') FROM customers WHERE NOT (vip AND age = ?)",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n JOIN orders ON orders.id = n.i",
    "SELECT id FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE EXISTS (SELECT 1 FROM items WHERE order_id = orders.id))",
    "SELECT RANK() OVER (PARTITION BY status ORDER BY total DESC) r FROM orders, items WHERE order_id = id AND quantity <> -1",
    "(SELECT id FROM customers EXCEPT SELECT id FROM orders) INTERSECT SELECT order_id FROM items ORDER BY 1",
    "UPDATE orders SET note = (SELECT MAX(name) FROM customers WHERE customers.id = customer_id) WHERE total > :low",
    "DELETE FROM items WHERE order_id NOT IN (SELECT id FROM orders NATURAL JOIN customers)",
    "INSERT INTO items (order_id) SELECT d.x FROM (SELECT id AS x FROM orders RIGHT JOIN customers USING (id)) d WHERE d.x IS NOT NULL",
];

fn pieces() -> Vec<&'static str> {
    QUERIES
        .iter()
        .flat_map(|query| query.split_inclusive([' ', '(', ')', ',']))
        .chain([
            "'", "\"", "`", "%s", "@p", "$1", ";", "--", "NULL ", "\u{f5b0}", "é", "::", "ON ",
            "()",
        ])
        .collect()
}

fn mutated() -> impl Strategy<Value = String> {
    let pieces = pieces();
    let count = pieces.len();
    let edit = (0..60usize, 0..count, 0..3u8);
    (0..QUERIES.len(), prop::collection::vec(edit, 0..5)).prop_map(move |(query, edits)| {
        let mut words: Vec<&str> = QUERIES[query]
            .split_inclusive([' ', '(', ')', ','])
            .collect();
        for (at, piece, how) in edits {
            let at = at % words.len().max(1);
            match how {
                0 => words.insert(at, pieces[piece]),
                1 if words.len() > 1 => {
                    words.remove(at);
                }
                _ if !words.is_empty() => words[at] = pieces[piece],
                _ => {}
            }
        }
        words.concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn mutated_queries_never_panic_and_their_targets_are_sql(query in mutated()) {
        for dialect in DialectName::ALL {
            for criterion in [QueryCriterion::Fpc, QueryCriterion::Extended] {
                for target in try_targets(dialect, &query, criterion, true).unwrap_or_default() {
                    let read = crate::coverage::parse::query(&target.sql, dialect);
                    prop_assert!(read.is_ok(), "{query}\n{}\n{read:?}", target.sql);
                }
            }
        }
    }

    #[test]
    fn any_text_is_an_answer_or_an_error(text in "\\PC{0,60}") {
        for dialect in DialectName::ALL {
            let _ = try_targets(dialect, &text, QueryCriterion::Extended, true);
        }
    }
}

#[test]
fn the_whole_queries_have_targets() {
    for query in QUERIES {
        let dialect = DialectName::Postgres;
        let targets = try_targets(dialect, query, QueryCriterion::Extended, true);
        assert!(
            targets.as_ref().is_ok_and(|targets| !targets.is_empty()),
            "{query}: {targets:?}"
        );
    }
}
