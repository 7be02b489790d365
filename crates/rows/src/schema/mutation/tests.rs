//! What operators make, and which of it is set aside.

use isobath_sql::expr::CompareOp;
use isobath_sql::schema::{Action, ConstraintKind};
use isobath_sql::{DataType, DialectName, Expr, Schema, Value};

use super::sample::{
    check, column, compare, insert, key, not_null, refers, schema, slot, table, test, unique,
};
use super::{
    Analysis, FilterPipeline, Ineffective, MutantStatus, Operator, OperatorSet, analyze,
    find_ineffective, mutants,
};
use crate::schema::case::ExpectedRows;

const ENGINES: [DialectName; 2] = [DialectName::Postgres, DialectName::MySql];

/// The sentences of the mutants that an operator makes.
fn made(schema: &Schema, operator: Operator) -> String {
    let made = mutants(schema, DialectName::Postgres.dialect(), OperatorSet::All);
    let lines: Vec<String> = made
        .into_iter()
        .filter(|mutant| mutant.operator == operator)
        .map(|mutant| mutant.description)
        .collect();
    lines.join("\n")
}

/// Why mutants are set aside, one line each; mutants worth a test are left out.
fn aside(
    schema: &Schema,
    engine: DialectName,
    set: OperatorSet,
    pipeline: FilterPipeline,
) -> String {
    let made = mutants(schema, engine.dialect(), set);
    let lines: Vec<String> = find_ineffective(schema, engine.dialect(), &made, pipeline)
        .into_iter()
        .zip(&made)
        .filter_map(|(ineffective, mutant)| {
            let ineffective = ineffective?;
            let more = match &ineffective {
                Ineffective::Redundant { same_as } => {
                    format!(" (as: {})", made[*same_as].description)
                }
                _ => String::new(),
            };
            Some(format!(
                "{}: {}{more}",
                ineffective.as_str(),
                mutant.description
            ))
        })
        .collect();
    lines.join("\n")
}

fn shop() -> Schema {
    schema(vec![
        table("item", &["id", "code"], vec![key(&[0]), not_null(1)]),
        table(
            "sale",
            &["id", "item", "n"],
            vec![key(&[0]), refers(&[1], 0, &[0])],
        ),
    ])
}

#[test]
fn keys_gain_lose_and_exchange_columns() {
    let schema = schema(vec![table("t", &["a", "b", "c"], vec![key(&[0, 1])])]);
    insta::assert_snapshot!(made(&schema, Operator::PrimaryKeyColumnAdd), @"the primary key of `t` gains `c`");
    insta::assert_snapshot!(made(&schema, Operator::PrimaryKeyColumnRemove), @r"
    the primary key of `t` loses `a`
    the primary key of `t` loses `b`
    ");
    insta::assert_snapshot!(made(&schema, Operator::PrimaryKeyColumnExchange), @r"
    the primary key of `t` has `c` in place of `a`
    the primary key of `t` has `c` in place of `b`
    ");
}

#[test]
fn a_table_without_a_key_gets_each_column_as_one() {
    let schema = schema(vec![table("t", &["a", "b"], vec![])]);
    insta::assert_snapshot!(made(&schema, Operator::PrimaryKeyColumnAdd), @r"
    `a` becomes the primary key of `t`
    `b` becomes the primary key of `t`
    ");
    assert_eq!(made(&schema, Operator::PrimaryKeyColumnRemove), "");
}

#[test]
fn the_last_column_takes_its_key_along() {
    let schema = schema(vec![table("t", &["a"], vec![key(&[0]), unique(&[0])])]);
    insta::assert_snapshot!(made(&schema, Operator::PrimaryKeyColumnRemove), @"`t` loses its primary key");
    insta::assert_snapshot!(made(&schema, Operator::UniqueColumnRemove), @"UNIQUE (`a`) of `t` is removed");
}

#[test]
fn uniques_gain_lose_and_exchange_columns_and_appear() {
    let schema = schema(vec![table("t", &["a", "b"], vec![unique(&[0])])]);
    insta::assert_snapshot!(made(&schema, Operator::UniqueColumnAdd), @r"
    `b` of `t` becomes UNIQUE
    UNIQUE (`a`) of `t` gains `b`
    ");
    insta::assert_snapshot!(made(&schema, Operator::UniqueColumnExchange), @"UNIQUE (`a`) of `t` has `b` in place of `a`");
}

#[test]
fn not_nulls_come_and_go() {
    let schema = schema(vec![table("t", &["a", "b"], vec![not_null(0)])]);
    insta::assert_snapshot!(made(&schema, Operator::NotNullAdd), @"`b` of `t` becomes NOT NULL");
    insta::assert_snapshot!(made(&schema, Operator::NotNullRemove), @"`a` of `t` is no longer NOT NULL");
}

#[test]
fn foreign_keys_change_one_side_of_a_pair_at_a_time() {
    insta::assert_snapshot!(made(&shop(), Operator::ForeignKeyPairExchange), @r"
    the foreign key (`item`) of `sale` to `item` has `id` in place of `item`
    the foreign key (`item`) of `sale` to `item` has `n` in place of `item`
    the foreign key (`item`) of `sale` to `item` refers to `code` in place of `id`
    ");
    insta::assert_snapshot!(made(&shop(), Operator::ForeignKeyPairAdd), @r"
    the foreign key (`item`) of `sale` to `item` gains the pair `id` and `code`
    the foreign key (`item`) of `sale` to `item` gains the pair `n` and `code`
    ");
    insta::assert_snapshot!(made(&shop(), Operator::ForeignKeyPairRemove), @"the foreign key (`item`) of `sale` to `item` is removed");
}

#[test]
fn foreign_keys_act_otherwise() {
    insta::assert_snapshot!(made(&shop(), Operator::ForeignKeyAction), @r"
    the foreign key (`item`) of `sale` to `item` says ON DELETE CASCADE
    the foreign key (`item`) of `sale` to `item` says ON UPDATE CASCADE
    the foreign key (`item`) of `sale` to `item` says ON DELETE SET NULL
    the foreign key (`item`) of `sale` to `item` says ON UPDATE SET NULL
    the foreign key (`item`) of `sale` to `item` says ON DELETE SET DEFAULT
    the foreign key (`item`) of `sale` to `item` says ON UPDATE SET DEFAULT
    ");
}

#[test]
fn checks_are_changed_in_one_place_at_a_time() {
    let a = || slot(0, "a");
    let listed = Expr::InList {
        expr: Box::new(a()),
        list: vec![Expr::int(1), Expr::int(2)],
        negated: false,
    };
    let within = Expr::Between {
        expr: Box::new(a()),
        low: Box::new(Expr::int(0)),
        high: Box::new(Expr::int(9)),
        negated: false,
        symmetric: false,
    };
    let positive = compare(a(), CompareOp::Greater, Expr::int(0));
    let schema = schema(vec![table(
        "t",
        &["a"],
        vec![check(Expr::Or(vec![listed, within, positive]))],
    )]);
    let original = "CHECK (a IN (1, 2) OR a BETWEEN 0 AND 9 OR a > 0) of `t` becomes ";
    let made = |operator| made(&schema, operator).replace(original, "");
    insta::assert_snapshot!(made(Operator::CheckRemoval), @"CHECK (a IN (1, 2) OR a BETWEEN 0 AND 9 OR a > 0) of `t` is removed");
    insta::assert_snapshot!(made(Operator::CheckInElementRemoval), @r"
    CHECK (a IN (2) OR a BETWEEN 0 AND 9 OR a > 0)
    CHECK (a IN (1) OR a BETWEEN 0 AND 9 OR a > 0)
    ");
    assert_eq!(made(Operator::CheckRelationalExchange).lines().count(), 5);
    insta::assert_snapshot!(made(Operator::CheckConstant), @r"
    CHECK (a IN (1, 2) OR a BETWEEN 0 AND 9 OR a > -1)
    CHECK (a IN (1, 2) OR a BETWEEN 0 AND 9 OR a > 1)
    ");
    insta::assert_snapshot!(made(Operator::CheckBound), @r"
    CHECK (a IN (1, 2) OR a BETWEEN -1 AND 9 OR a > 0)
    CHECK (a IN (1, 2) OR a BETWEEN 1 AND 9 OR a > 0)
    CHECK (a IN (1, 2) OR a BETWEEN 0 AND 8 OR a > 0)
    CHECK (a IN (1, 2) OR a BETWEEN 0 AND 10 OR a > 0)
    ");
    insta::assert_snapshot!(made(Operator::CheckConnective), @"CHECK (a IN (1, 2) AND a BETWEEN 0 AND 9 AND a > 0)");
    insta::assert_snapshot!(made(Operator::CheckNegation), @r"
    CHECK (a NOT IN (1, 2) OR a BETWEEN 0 AND 9 OR a > 0)
    CHECK (a IN (1, 2) OR a NOT BETWEEN 0 AND 9 OR a > 0)
    ");
}

#[test]
fn types_become_a_step_narrower_and_wider_and_defaults_go() {
    let mut sized = table("t", &["a", "b", "c"], vec![]);
    sized.columns[0] = column("a", DataType::Varchar { length: Some(5) });
    sized.columns[1].default = Some(Expr::int(7));
    sized.columns[2] = column(
        "c",
        DataType::Decimal {
            precision: Some(5),
            scale: Some(2),
        },
    );
    let schema = schema(vec![sized]);
    insta::assert_snapshot!(made(&schema, Operator::ColumnType), @r"
    `a` of `t` is VARCHAR(4) in place of VARCHAR(5)
    `a` of `t` is VARCHAR(6) in place of VARCHAR(5)
    `b` of `t` is SMALLINT in place of INTEGER
    `b` of `t` is BIGINT in place of INTEGER
    `c` of `t` is NUMERIC(4, 2) in place of NUMERIC(5, 2)
    `c` of `t` is NUMERIC(6, 2) in place of NUMERIC(5, 2)
    `c` of `t` is NUMERIC(4, 1) in place of NUMERIC(5, 2)
    `c` of `t` is NUMERIC(6, 3) in place of NUMERIC(5, 2)
    ");
    insta::assert_snapshot!(made(&schema, Operator::DefaultRemoval), @"`b` of `t` loses its DEFAULT");
}

#[test]
fn a_partial_unique_index_loses_its_condition() {
    let partial = ConstraintKind::UniqueIndex {
        keys: vec![slot(0, "a")],
        predicate: Some(compare(slot(0, "a"), CompareOp::Greater, Expr::int(0))),
        nulls_distinct: true,
    };
    let schema = schema(vec![table("t", &["a"], vec![partial])]);
    insta::assert_snapshot!(made(&schema, Operator::IndexPredicateRemoval), @"a unique index of `t` loses its WHERE");
}

#[test]
fn the_paper_set_holds_only_the_fourteen() {
    let made = mutants(&shop(), &isobath_sql::dialect::Postgres, OperatorSet::Paper);
    assert!(
        made.iter()
            .all(|mutant| Operator::PAPER.contains(&mutant.operator))
    );
    assert!(!made.is_empty());
}

#[test]
fn a_reference_to_no_key_is_still_born_or_impairs_sqlite() {
    let count = |engine| {
        let aside = aside(&shop(), engine, OperatorSet::Paper, FilterPipeline::Engine);
        let of = |word: &str| aside.lines().filter(|line| line.starts_with(word)).count();
        (of("still-born"), of("impaired"))
    };
    // Changes of item's key (3), pairs added (2) and the reference to `code`.
    assert_eq!(count(DialectName::Postgres), (6, 0));
    assert_eq!(count(DialectName::Sqlite), (0, 6));
    // InnoDB is content with the first columns of an index.
    assert_eq!(count(DialectName::MySql), (5, 0));
}

#[test]
fn a_reference_between_types_that_do_not_compare_is_still_born() {
    let mut sale = table("sale", &["item", "note"], vec![refers(&[0], 0, &[0])]);
    sale.columns[1] = column("note", DataType::Text);
    let schema = schema(vec![table("item", &["id"], vec![key(&[0])]), sale]);
    let exchanged = "the foreign key (`item`) of `sale` to `item` has `note` in place of `item`";
    for engine in ENGINES {
        let aside = aside(&schema, engine, OperatorSet::Paper, FilterPipeline::Engine);
        assert!(
            aside.contains(&format!("still-born: {exchanged}")),
            "{aside}"
        );
    }
    let aside = aside(
        &schema,
        DialectName::Sqlite,
        OperatorSet::Paper,
        FilterPipeline::Engine,
    );
    assert!(!aside.contains(exchanged), "{aside}");
}

#[test]
fn text_without_a_length_is_no_key_in_mysql() {
    let mut texts = table("t", &["a", "b"], vec![key(&[0])]);
    texts.columns[1] = column("b", DataType::Text);
    insta::assert_snapshot!(aside(&schema(vec![texts]), DialectName::MySql, OperatorSet::Paper, FilterPipeline::Engine), @r"
    still-born: the primary key of `t` gains `b`
    still-born: the primary key of `t` has `b` in place of `a`
    equivalent: `a` of `t` becomes NOT NULL
    equivalent: `a` of `t` becomes UNIQUE
    ");
}

#[test]
fn what_a_key_implies_is_equivalent() {
    let schema = schema(vec![table("t", &["a", "b"], vec![key(&[0]), not_null(0)])]);
    insta::assert_snapshot!(aside(&schema, DialectName::Postgres, OperatorSet::Paper, FilterPipeline::Default), @r"
    equivalent: `a` of `t` is no longer NOT NULL
    equivalent: `a` of `t` becomes UNIQUE
    ");
}

#[test]
fn normalizing_sees_that_a_key_is_unique_and_not_null() {
    let schema = schema(vec![table(
        "t",
        &["a", "b"],
        vec![unique(&[0]), not_null(0)],
    )]);
    let default = aside(
        &schema,
        DialectName::Postgres,
        OperatorSet::Paper,
        FilterPipeline::Default,
    );
    assert_eq!(default, "");
    insta::assert_snapshot!(aside(&schema, DialectName::Postgres, OperatorSet::Paper, FilterPipeline::Normalized), @"equivalent: `a` becomes the primary key of `t`");
}

#[test]
fn normalizing_sees_a_not_null_inside_a_check() {
    let is_there = Expr::IsNull {
        expr: Box::new(slot(0, "a")),
        negated: true,
    };
    let schema = schema(vec![table("t", &["a"], vec![check(is_there)])]);
    let aside = aside(
        &schema,
        DialectName::Postgres,
        OperatorSet::Paper,
        FilterPipeline::Normalized,
    );
    assert!(aside.contains("equivalent: `a` of `t` becomes NOT NULL"));
}

#[test]
fn a_unique_over_more_columns_says_nothing_new() {
    let schema = schema(vec![table(
        "t",
        &["a", "b"],
        vec![unique(&[0]), unique(&[0, 1])],
    )]);
    insta::assert_snapshot!(aside(&schema, DialectName::Postgres, OperatorSet::Paper, FilterPipeline::Normalized), @r"
    redundant: `a` of `t` becomes NOT NULL (as: `a` becomes the primary key of `t`)
    redundant: UNIQUE (`a`) of `t` is removed (as: UNIQUE (`a`) of `t` gains `b`)
    redundant: UNIQUE (`a`, `b`) of `t` loses `a` (as: `b` of `t` becomes UNIQUE)
    equivalent: UNIQUE (`a`, `b`) of `t` loses `b`
    ");
}

#[test]
fn sqlite_ignores_the_sizes_of_types() {
    let mut sized = table("t", &["a"], vec![]);
    sized.columns[0] = column("a", DataType::Varchar { length: Some(5) });
    let schema = schema(vec![sized]);
    let of = |engine| aside(&schema, engine, OperatorSet::All, FilterPipeline::Engine);
    assert_eq!(of(DialectName::Sqlite).matches("equivalent").count(), 2);
    assert_eq!(of(DialectName::Postgres), "");
}

/// The status of the one mutant with this description.
fn status<'a>(analysis: &'a Analysis, description: &str) -> &'a MutantStatus {
    let index = analysis
        .mutants
        .iter()
        .position(|mutant| mutant.description == description)
        .unwrap_or_else(|| panic!("no mutant says: {description}"));
    &analysis.statuses[index]
}

#[test]
fn a_mutant_is_killed_by_the_first_test_whose_outcome_differs() {
    let (schema, dialect) = (shop(), DialectName::Postgres.dialect());
    let suite = vec![
        test(&schema, dialect, vec![], insert(0, &[Some(1), Some(1)])),
        test(
            &schema,
            dialect,
            vec![insert(0, &[Some(1), Some(1)])],
            insert(0, &[Some(2), Some(1)]),
        ),
        test(&schema, dialect, vec![], insert(0, &[Some(1), None])),
    ];
    let made = mutants(&schema, dialect, OperatorSet::Paper);
    let analysis = analyze(&schema, dialect, made, FilterPipeline::Engine, &suite);
    let killed = |test| MutantStatus::Killed { test };
    assert_eq!(
        *status(&analysis, "`code` of `item` becomes UNIQUE"),
        killed(1)
    );
    assert_eq!(
        *status(&analysis, "`code` of `item` is no longer NOT NULL"),
        killed(2)
    );
    assert_eq!(
        *status(
            &analysis,
            "the foreign key (`item`) of `sale` to `item` is removed"
        ),
        MutantStatus::Alive
    );
    assert_eq!(
        analysis.survivors().count(),
        analysis.effective() - analysis.killed()
    );
}

#[test]
fn a_refusal_for_another_reason_kills_nothing() {
    let (schema, dialect) = (shop(), DialectName::Postgres.dialect());
    // Refused by NOT NULL, and once more by the key: losing either changes nothing.
    let suite = vec![test(
        &schema,
        dialect,
        vec![insert(0, &[Some(1), Some(1)])],
        insert(0, &[Some(1), None]),
    )];
    let made = mutants(&schema, dialect, OperatorSet::Paper);
    let analysis = analyze(&schema, dialect, made, FilterPipeline::Engine, &suite);
    assert_eq!(
        *status(&analysis, "`code` of `item` is no longer NOT NULL"),
        MutantStatus::Alive
    );
}

#[test]
fn judging_only_the_changed_constraint_agrees_with_judging_all() {
    let (schema, dialect) = (shop(), DialectName::Postgres.dialect());
    let cells = [None, Some(1), Some(2)];
    let mut suite = Vec::new();
    let existing = || {
        vec![
            insert(0, &[Some(1), Some(1)]),
            insert(0, &[Some(2), Some(1)]),
            insert(1, &[Some(1), Some(1), Some(2)]),
        ]
    };
    for a in cells {
        for b in cells {
            suite.push(test(&schema, dialect, existing(), insert(0, &[a, b])));
            for c in cells {
                suite.push(test(&schema, dialect, existing(), insert(1, &[a, b, c])));
            }
        }
    }
    // A test that ends in an UPDATE without effect is judged in full.
    let judged_in_full: Vec<_> = suite
        .iter()
        .cloned()
        .map(|mut test| {
            let idle = isobath_sql::row::Statement::Update {
                table: test.table,
                set: vec![],
                only: vec![(0, Value::from(99))],
            };
            test.setup_rows
                .push(std::mem::replace(&mut test.statement, idle));
            test
        })
        .collect();
    let statuses = |suite: &[_]| {
        let made = mutants(&schema, dialect, OperatorSet::Paper);
        analyze(&schema, dialect, made, FilterPipeline::Engine, suite).statuses
    };
    assert_eq!(statuses(&suite), statuses(&judged_in_full));
}

#[test]
fn an_action_is_noticed_by_the_rows_that_are_left() {
    let mut sale = table("sale", &["item"], vec![refers(&[0], 0, &[0])]);
    let ConstraintKind::ForeignKey(key_to_item) = &mut sale.constraints[0].kind else {
        unreachable!("it is a foreign key");
    };
    key_to_item.on_delete = Action::Cascade;
    let schema = schema(vec![table("item", &["id"], vec![key(&[0])]), sale]);
    let dialect = DialectName::Postgres.dialect();
    let mut deletes = test(
        &schema,
        dialect,
        vec![insert(0, &[Some(1)]), insert(1, &[Some(1)])],
        isobath_sql::row::Statement::Delete {
            table: 0,
            only: vec![],
        },
    );
    let run = |suite: &[_]| {
        let made = mutants(&schema, dialect, OperatorSet::All);
        analyze(&schema, dialect, made, FilterPipeline::Engine, suite)
    };
    let description = |action: &str| {
        format!("the foreign key (`item`) of `sale` to `item` says ON DELETE {action}")
    };
    let unasserted = run(&[deletes.clone()]);
    assert_eq!(
        *status(&unasserted, &description("NO ACTION")),
        MutantStatus::Killed { test: 0 }
    );
    assert_eq!(
        *status(&unasserted, &description("SET NULL")),
        MutantStatus::Alive
    );
    deletes.after.push(ExpectedRows {
        table: 1,
        columns: vec![crate::schema::case::ObservedColumn::Value(0)],
        rows: vec![],
    });
    assert_eq!(
        *status(&run(&[deletes]), &description("SET NULL")),
        MutantStatus::Killed { test: 0 }
    );
}
