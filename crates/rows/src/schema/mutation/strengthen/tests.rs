use isobath_sql::expr::{ColumnRef, CompareOp};
use isobath_sql::schema::{Action, ConstraintKind, Filled};
use isobath_sql::{DataType, DialectName, Expr, Schema, Value};

use super::{Strengthened, strengthen};
use crate::schema::case::ObservedColumn;
use crate::schema::mutation::sample::{
    check, column, compare, key, not_null, refers, schema, slot, table, unique,
};
use crate::schema::mutation::{
    FilterPipeline, MutantRunner, MutantStatus, OperatorSet, analyze, mutants,
};

const ENGINES: [DialectName; 3] = [
    DialectName::Sqlite,
    DialectName::Postgres,
    DialectName::MySql,
];

/// Strengthens the empty suite.
fn from_nothing(schema: &Schema, engine: DialectName) -> Strengthened {
    let dialect = engine.dialect();
    let made = mutants(schema, dialect, OperatorSet::All);
    let analysis = analyze(schema, dialect, made, FilterPipeline::Engine, &[]);
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
    let runner = MutantRunner::new(&schema, dialect, &strengthened.tests);
    let analysis = &strengthened.analysis;
    for (mutant, status) in analysis.mutants.iter().zip(&analysis.statuses) {
        if let MutantStatus::Killed { test } = status {
            assert!(
                runner.killers(mutant).contains(test),
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
        .position(|mutant| mutant.description == "CHECK (x > 0) of `t` is removed")
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
            &"product rejects price = 0, so it would be noticed if CHECK (price > 0) of `product` is removed"
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
                expr: Box::new(Expr::Column(ColumnRef {
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

/// The outcome of the mutant with this description.
fn status<'a>(strengthened: &'a Strengthened, description: &str) -> &'a MutantStatus {
    let analysis = &strengthened.analysis;
    let found = analysis
        .mutants
        .iter()
        .position(|mutant| mutant.description == description);
    &analysis.statuses[found.expect("the mutant is made")]
}

#[test]
fn a_default_that_reads_the_clock_is_missed_when_it_is_gone() {
    let moment = DataType::Timestamp {
        precision: 6,
        zoned: false,
    };
    let mut log = table("log", &["id", "made", "seen"], vec![key(&[0]), not_null(1)]);
    for column_of in [1, 2] {
        log.columns[column_of] = column(["made", "seen"][column_of - 1], moment.clone());
        log.columns[column_of].default = Some(Expr::Function {
            name: "current_timestamp".to_owned(),
            args: vec![],
        });
    }
    let schema = schema(vec![log]);
    for engine in ENGINES {
        let strengthened = from_nothing(&schema, engine);
        assert_eq!(undecided(&strengthened), [""; 0], "{engine}");
        for name in ["made", "seen"] {
            let gone = format!("`{name}` of `log` loses its DEFAULT");
            let MutantStatus::Killed { test } = status(&strengthened, &gone) else {
                panic!("{engine}: {gone} is not noticed");
            };
            // What the clock says is another value in each run, so only its presence is asserted.
            let [after] = &strengthened.tests[*test].after[..] else {
                panic!("{engine}: one table is looked at");
            };
            assert!(
                matches!(after.columns[..], [ObservedColumn::Presence(_)]),
                "{engine}"
            );
        }
    }
}

#[test]
fn a_default_that_reads_the_clock_says_nothing_where_its_value_matters() {
    let mut log = table("log", &["id", "made"], vec![key(&[0]), unique(&[1])]);
    log.columns[1] = column("made", DataType::Date);
    log.columns[1].default = Some(Expr::Function {
        name: "current_date".to_owned(),
        args: vec![],
    });
    let strengthened = from_nothing(&schema(vec![log]), DialectName::Postgres);
    assert_eq!(
        undecided(&strengthened),
        ["`made` of `log` loses its DEFAULT"]
    );
}

#[test]
fn sizes_beyond_the_digits_that_we_count_with_are_told_apart() {
    let wide = DataType::Decimal {
        precision: Some(38),
        scale: Some(10),
    };
    let mut item = table(
        "item",
        &["price", "reduced"],
        vec![check(compare(
            slot(0, "price"),
            CompareOp::Greater,
            slot(1, "reduced"),
        ))],
    );
    item.columns[0] = column("price", wide.clone());
    item.columns[1] = column("reduced", wide);
    for constraint in &mut item.constraints {
        if let ConstraintKind::Check { expr } = &mut constraint.kind {
            expr.walk_mut(&mut |part| {
                if let Expr::Column(used) = part {
                    used.data_type = item.columns[used.slot].data_type.clone();
                }
            });
        }
    }
    let schema = schema(vec![item]);
    for engine in [DialectName::Postgres, DialectName::MySql] {
        let strengthened = from_nothing(&schema, engine);
        assert_eq!(undecided(&strengthened), [""; 0], "{engine}");
    }
}

#[test]
fn a_listed_value_with_a_blank_behind_it_shows_a_longer_type() {
    let mut person = table(
        "person",
        &["gender"],
        vec![check(Expr::InList {
            expr: Box::new(Expr::Column(ColumnRef {
                slot: 0,
                name: "gender".to_owned(),
                data_type: DataType::Varchar { length: Some(6) },
                collation: None,
            })),
            list: ["Male", "Female"]
                .map(|text| Expr::Literal(Value::text(text)))
                .to_vec(),
            negated: false,
        })],
    );
    person.columns[0] = column("gender", DataType::Varchar { length: Some(6) });
    let strengthened = from_nothing(&schema(vec![person]), DialectName::Postgres);
    assert_eq!(undecided(&strengthened), [""; 0]);
    let longer = "`gender` of `person` is VARCHAR(7) in place of VARCHAR(6)";
    assert!(matches!(
        status(&strengthened, longer),
        MutantStatus::Killed { .. }
    ));
}

#[test]
fn the_type_of_a_counter_says_nothing_in_sqlite() {
    let mut item = table("item", &["id"], vec![key(&[0]), not_null(0)]);
    item.columns[0].filled = Filled::Counter;
    let strengthened = from_nothing(&schema(vec![item]), DialectName::Sqlite);
    assert_eq!(undecided(&strengthened), [""; 0]);
    assert!(matches!(
        status(&strengthened, "`id` of `item` is SMALLINT in place of INT"),
        MutantStatus::Equivalent { .. }
    ));
}

#[test]
fn an_action_is_shown_beside_rows_that_refer_to_each_other() {
    // Staff work in a store that one of them runs; both have an address.
    let refers_to = |columns: &[usize], parent| refers(columns, parent, &[0]);
    let schema = schema(vec![
        table("address", &["id"], vec![key(&[0])]),
        table(
            "staff",
            &["id", "address", "store"],
            vec![
                key(&[0]),
                not_null(1),
                not_null(2),
                refers_to(&[1], 0),
                refers_to(&[2], 2),
            ],
        ),
        table(
            "store",
            &["id", "manager", "address"],
            vec![
                key(&[0]),
                not_null(1),
                not_null(2),
                unique(&[1]),
                refers_to(&[1], 1),
                refers_to(&[2], 0),
            ],
        ),
    ]);
    for engine in ENGINES {
        let strengthened = from_nothing(&schema, engine);
        assert_eq!(undecided(&strengthened), [""; 0], "{engine}");
    }
}
