use isobath_sql::expr::{ColumnUse, CompareOp};
use isobath_sql::schema::{Action, ConstraintKind};
use isobath_sql::{DataType, DialectName, Expr, Schema};

use super::{Strengthened, strengthen};
use crate::schema::mutation::sample::{
    check, column, compare, key, not_null, refers, schema, slot, table, unique,
};
use crate::schema::mutation::{Judge, MutantStatus, OperatorSet, Pipeline, analyse, mutants};

const ENGINES: [DialectName; 3] = [
    DialectName::Sqlite,
    DialectName::Postgres,
    DialectName::MySql,
];

/// Strengthens the empty suite.
fn from_nothing(schema: &Schema, engine: DialectName) -> Strengthened {
    let dialect = engine.dialect();
    let made = mutants(schema, dialect, OperatorSet::All);
    let analysis = analyse(schema, dialect, made, Pipeline::Engine, &[]);
    strengthen(schema, dialect, &[], analysis)
}

fn undecided(strengthened: &Strengthened) -> Vec<&str> {
    strengthened
        .analysis
        .survivors()
        .map(|(_, mutant)| mutant.description.as_str())
        .collect()
}

fn above(slot_of: usize, name: &str, than: i64) -> ConstraintKind {
    check(compare(
        slot(slot_of, name),
        CompareOp::Greater,
        Expr::int(than),
    ))
}

/// Products and their sales, with one of everything.
fn shop() -> Schema {
    let mut product = table(
        "product",
        &["id", "code", "price", "stock"],
        vec![
            key(&[0]),
            not_null(1),
            unique(&[1, 2]),
            above(2, "price", 0),
        ],
    );
    product.columns[1] = column("code", DataType::Varchar { length: Some(8) });
    product.columns[3].default = Some(Expr::int(7));
    let mut sale = table(
        "sale",
        &["id", "product", "n"],
        vec![key(&[0]), refers(&[1], 0, &[0]), above(2, "n", 0)],
    );
    if let ConstraintKind::ForeignKey(key) = &mut sale.constraints[1].kind {
        key.on_delete = Action::Cascade;
    }
    schema(vec![product, sale])
}

#[test]
fn every_mutant_dies_or_is_proven_equivalent() {
    for engine in ENGINES {
        let strengthened = from_nothing(&shop(), engine);
        assert_eq!(undecided(&strengthened), [""; 0], "{engine}");
        assert!(strengthened.analysis.killed() > 40, "{engine}");
        assert!((strengthened.analysis.score() - 1.0).abs() < f64::EPSILON);
    }
}

#[test]
fn the_tests_found_really_kill_when_the_suite_is_judged_anew() {
    let (schema, dialect) = (shop(), DialectName::Postgres.dialect());
    let strengthened = from_nothing(&schema, DialectName::Postgres);
    let judge = Judge::new(&schema, dialect, &strengthened.tests);
    let analysis = &strengthened.analysis;
    for (mutant, status) in analysis.mutants.iter().zip(&analysis.statuses) {
        if let MutantStatus::Killed { test } = status {
            assert!(
                judge.killers(mutant).contains(test),
                "{}",
                mutant.description
            );
        }
    }
}

#[test]
fn a_condition_that_others_imply_can_go_without_notice() {
    // x > 5 implies x > 0.
    let schema = schema(vec![table(
        "t",
        &["x"],
        vec![above(0, "x", 0), above(0, "x", 5)],
    )]);
    let strengthened = from_nothing(&schema, DialectName::Postgres);
    let gone = strengthened
        .analysis
        .mutants
        .iter()
        .position(|mutant| mutant.description == "CHECK (x > 0) of `t` is gone")
        .expect("the first CHECK can be removed");
    assert!(
        matches!(&strengthened.analysis.statuses[gone], MutantStatus::Equivalent { proof } if !proof.is_empty()),
        "{:?}",
        strengthened.analysis.statuses[gone]
    );
    assert_eq!(undecided(&strengthened), [""; 0]);
}

#[test]
fn setting_what_may_not_be_null_to_null_is_refused_either_way() {
    let schema = schema(vec![
        table("item", &["id"], vec![key(&[0])]),
        table("sale", &["item"], vec![refers(&[0], 0, &[0]), not_null(0)]),
    ]);
    let strengthened = from_nothing(&schema, DialectName::Postgres);
    let set_null = strengthened
        .analysis
        .mutants
        .iter()
        .position(|mutant| mutant.description.ends_with("ON DELETE SET NULL"))
        .expect("the action can be changed");
    insta::assert_debug_snapshot!(strengthened.analysis.statuses[set_null], @r#"
    Equivalent {
        proof: "`item` may not become NULL, so the statement is refused either way",
    }
    "#);
}

#[test]
fn a_key_that_gains_a_foreign_key_gets_a_second_parent() {
    // UNIQUE (name) that gains `region` differs only for two regions, so two of them are needed.
    let schema = schema(vec![
        table("region", &["id"], vec![key(&[0])]),
        table(
            "town",
            &["name", "region"],
            vec![
                unique(&[0]),
                not_null(0),
                not_null(1),
                refers(&[1], 0, &[0]),
            ],
        ),
    ]);
    for engine in ENGINES {
        assert_eq!(
            undecided(&from_nothing(&schema, engine)),
            [""; 0],
            "{engine}"
        );
    }
}

#[test]
fn names_say_what_is_guarded_and_are_unique() {
    let strengthened = from_nothing(&shop(), DialectName::Postgres);
    let names: Vec<&str> = strengthened
        .tests
        .iter()
        .map(|test| test.name.as_str())
        .collect();
    assert!(
        names.contains(
            &"product rejects price = 0, so it would be noticed if CHECK (price > 0) of `product` is gone"
        ),
        "{names:#?}"
    );
    let unique: std::collections::BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(unique.len(), names.len());
}

#[test]
fn a_longer_type_says_nothing_where_values_are_listed() {
    let text = |length| DataType::Varchar {
        length: Some(length),
    };
    let mut person = table(
        "person",
        &["id", "code"],
        vec![
            key(&[0]),
            check(Expr::InList {
                expr: Box::new(Expr::Column(ColumnUse {
                    slot: 1,
                    name: "code".to_owned(),
                    data_type: text(9),
                    collation: None,
                })),
                list: ["a", "bc"]
                    .map(|value| Expr::Literal(value.into()))
                    .to_vec(),
                negated: false,
            }),
        ],
    );
    person.columns[0] = column("id", text(40));
    person.columns[1] = column("code", text(9));
    let mut note = table("note", &["person"], vec![refers(&[0], 0, &[0])]);
    note.columns[0] = column("person", text(40));
    let schema = schema(vec![person, note]);
    let strengthened = from_nothing(&schema, DialectName::Postgres);
    assert_eq!(undecided(&strengthened), [""; 0]);
    let proof = |description: &str| {
        let analysis = &strengthened.analysis;
        let index = analysis
            .mutants
            .iter()
            .position(|mutant| mutant.description == description)
            .unwrap();
        match &analysis.statuses[index] {
            MutantStatus::Equivalent { proof } => proof.clone(),
            status => format!("{status:?}"),
        }
    };
    insta::assert_snapshot!(proof("`code` of `person` is VARCHAR(10) in place of VARCHAR(9)"), @"only the listed values of `code` are accepted, and both types hold them");
    // PostgreSQL cuts off blanks beyond the shorter length, and then the parent is found.
    assert!(
        proof("`person` of `note` is VARCHAR(41) in place of VARCHAR(40)").starts_with("Killed")
    );
    // The shorter one is noticed, because the parent gets a value as long as needed.
    assert!(
        proof("`person` of `note` is VARCHAR(39) in place of VARCHAR(40)").starts_with("Killed")
    );
}

#[test]
fn an_action_is_shown_on_a_row_that_nothing_else_refers_to() {
    // The good row of `b` refers to the good row of `a` as well, and would keep it from going.
    let schema = schema(vec![
        table("a", &["id"], vec![key(&[0])]),
        table(
            "b",
            &["id", "a"],
            vec![key(&[0]), not_null(1), refers(&[1], 0, &[0])],
        ),
        table(
            "c",
            &["id", "a", "b"],
            vec![
                key(&[0]),
                not_null(1),
                not_null(2),
                refers(&[1], 0, &[0]),
                refers(&[2], 1, &[0]),
            ],
        ),
    ]);
    for engine in ENGINES {
        assert_eq!(
            undecided(&from_nothing(&schema, engine)),
            [""; 0],
            "{engine}"
        );
    }
}
