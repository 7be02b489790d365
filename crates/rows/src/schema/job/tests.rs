use isobath_sql::dialect::{MySql, Postgres, Sqlite};
use isobath_sql::{Dialect, Expr, Schema};

use super::*;
use crate::schema::generator::GeneratorName;
use crate::schema::samples::{TableBuilder, col, greater, schema, shop, table};

const DIALECTS: [&dyn Dialect; 3] = [&Postgres, &MySql, &Sqlite];

fn with(generator: GeneratorName) -> Config {
    Config {
        generator,
        budget: 20_000,
        ..Config::default()
    }
}

fn run(schema: &Schema, generator: GeneratorName) -> SchemaOutcome {
    generate(schema, &Postgres, &with(generator))
}

fn uncovered(outcome: &SchemaOutcome) -> Vec<String> {
    let pairs = outcome.requirements.iter().zip(&outcome.statuses);
    pairs
        .filter_map(|(requirement, status)| match status {
            RequirementStatus::Covered(_) => None,
            other => Some(format!("{}: {other:?}", requirement.description[0])),
        })
        .collect()
}

#[test]
fn domino_covers_the_shop_on_every_dialect() {
    for dialect in DIALECTS {
        let outcome = generate(&shop(), dialect, &with(GeneratorName::Domino));
        assert_eq!(uncovered(&outcome), [""; 0], "{dialect:?}");
    }
}

#[test]
fn every_guided_generator_covers_the_shop() {
    for name in [
        GeneratorName::Default,
        GeneratorName::DominoAvm,
        GeneratorName::AvmD,
        GeneratorName::AvmR,
    ] {
        let outcome = run(&shop(), name);
        assert_eq!(uncovered(&outcome), [""; 0], "{name}");
    }
}

#[test]
fn every_test_does_in_memory_what_it_says() {
    for dialect in DIALECTS {
        for name in [GeneratorName::Domino, GeneratorName::AvmD] {
            let schema = shop();
            let outcome = generate(&schema, dialect, &with(name));
            for case in &outcome.tests {
                assert_eq!(verify(&schema, dialect, case), Ok(()), "{}", case.name);
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_suite() {
    let again = || format!("{:?}", run(&shop(), GeneratorName::Domino).tests);
    assert_eq!(again(), again());
    let other = Config {
        seed: 1,
        ..with(GeneratorName::Domino)
    };
    let other = generate(&shop(), &Postgres, &other);
    assert_ne!(again(), format!("{:?}", other.tests));
}

#[test]
fn names_say_the_intent_and_are_unique() {
    let outcome = run(&shop(), GeneratorName::AvmD);
    let mut names: Vec<&str> = outcome
        .tests
        .iter()
        .map(|case| case.name.as_str())
        .collect();
    assert!(names.contains(&"orders rejects a second row with the same order_id"));
    assert!(names.contains(&"items rejects quantity = 0 (quantity > 0)"));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), outcome.tests.len());
}

#[test]
fn a_circle_of_references_is_filled_together() {
    let circle = |name, other| {
        table(name, &["id", "other"])
            .key(&[0])
            .not_null(1)
            .refers(&[1], other, &[0])
    };
    let schema = schema(vec![circle("a", 1), circle("b", 0)]);
    let outcome = run(&schema, GeneratorName::Domino);
    assert_eq!(uncovered(&outcome), [""; 0]);
}

#[test]
fn a_row_may_refer_to_itself() {
    let tree = table("tree", &["id", "parent"])
        .key(&[0])
        .not_null(1)
        .refers(&[1], 0, &[0]);
    let outcome = run(&schema(vec![tree]), GeneratorName::Domino);
    assert_eq!(uncovered(&outcome), [""; 0]);
}

#[test]
fn a_table_without_a_first_row_does_not_stop_the_others() {
    let impossible = table("impossible", &["a"])
        .key(&[0])
        .check(greater(col(0, "a"), Expr::int(5)))
        .check(greater(Expr::int(3), col(0, "a")));
    let child = table("child", &["a"]).not_null(0).refers(&[0], 0, &[0]);
    let fine = table("fine", &["a"]).key(&[0]);
    let schema = schema(vec![impossible, child, fine]);
    let config = Config {
        budget: 200,
        ..with(GeneratorName::Domino)
    };
    let outcome = generate(&schema, &Postgres, &config);
    let pairs = outcome.requirements.iter().zip(&outcome.statuses);
    for (requirement, status) in pairs {
        let covered = matches!(status, RequirementStatus::Covered(_));
        match requirement.table {
            1 => assert!(!covered, "{}", requirement.description[0]),
            2 => assert!(covered, "{}", requirement.description[0]),
            _ => {}
        }
    }
}

#[test]
fn tests_stand_on_no_more_rows_than_they_refer_to() {
    let outcome = run(&shop(), GeneratorName::Domino);
    let orders: Vec<usize> = outcome
        .tests
        .iter()
        .filter(|case| case.table == 1)
        .map(|case| case.setup_rows.len())
        .collect();
    assert!(orders.iter().all(|rows| *rows <= 1), "{orders:?}");
}
