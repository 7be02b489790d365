//! Where our evaluator does not know a function, the engine says whether rows cover a target.

use isobath_exec::connect;
use isobath_rows::query::algorithm::Config;
use isobath_rows::query::candidate::Candidate;
use isobath_rows::query::confirm::{prepare, returns_row};
use isobath_rows::query::construct::SolverContext;
use isobath_rows::query::job::{TargetStatus, run, run_judged};
use isobath_rows::query::target::QueryTarget;
use isobath_sql::DialectName;
use isobath_sql::ddl::{Source, load};

#[test]
fn the_engine_judges_what_we_cannot_evaluate() {
    let source = Source {
        name: "tables.sql".to_owned(),
        text: "CREATE TABLE t (a INT NOT NULL, s TEXT NOT NULL);".to_owned(),
    };
    let schema = load("tables", &[source], Some(DialectName::Sqlite)).schema;
    let context = SolverContext::new(&schema, DialectName::Sqlite.dialect());
    // No evaluator of ours knows `unlikely`; the engine does.
    let known = "SELECT * FROM t WHERE unlikely(a > 5) AND a > 5";
    let never = "SELECT * FROM t WHERE unlikely(a > 5) AND a < 5";
    let targets: Vec<QueryTarget> = [known, never]
        .iter()
        .map(|sql| QueryTarget::read(sql, "", "", &schema, DialectName::Sqlite))
        .collect();
    let config = Config {
        budget: 50,
        ..Config::default()
    };
    let alone = run(&targets, context, &config);
    assert_eq!(alone.covered(), 0, "{:?}", alone.statuses);

    let mut database = connect("sqlite::memory:").expect("SQLite is built in");
    assert!(
        prepare(&schema, &mut *database)
            .expect("SQLite answers")
            .is_empty()
    );
    let mut judge = |target: &QueryTarget, candidate: &Candidate| {
        returns_row(
            &target.sql,
            target,
            candidate,
            context,
            &schema,
            &mut *database,
        )
        .ok()
    };
    let judged = run_judged(&targets, context, &config, Some(&mut judge));
    assert!(
        matches!(judged.statuses[0], TargetStatus::Covered(_)),
        "{:?}",
        judged.statuses
    );
    assert!(
        matches!(judged.statuses[1], TargetStatus::Uncovered { .. }),
        "{:?}",
        judged.statuses
    );
    // All rows are gone again.
    let left = database.query_required("SELECT * FROM t").expect("a table");
    assert!(left.rows.is_empty());
}
