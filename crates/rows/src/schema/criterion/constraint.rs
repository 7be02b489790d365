//! Constraint criteria: APC, ICC, AICC, CondAICC and ClauseAICC.

use isobath_sql::schema::{ConstraintKind, ForeignKey};

use super::clause::{CheckCase, clauses, whole};
use super::predicates::{
    differs, equals, equals_but, is_null, not_null, pairs, refers, satisfied, violated,
};
use super::subject::{RowVerdict, TableUnderTest};
use crate::schema::enforced::EnforcedConstraint;
use crate::schema::phrase;
use crate::schema::predicate::{MatchMode, Predicate, RequiredTruth, RowMatch};
use crate::schema::requirement::Requirement;

/// APC: all rules hold; at least one does not.
pub(super) fn acceptance(subject: &TableUnderTest<'_>) -> Vec<Requirement> {
    if subject.rules.is_empty() {
        return Vec::new();
    }
    let compares = subject.rules.iter().any(TableUnderTest::compares);
    let broken = Predicate::or(
        subject
            .rules
            .iter()
            .map(|rule| violated(subject.index, rule)),
    );
    let mut requirements = vec![
        subject.requirement(
            subject.all_hold(),
            RowVerdict::Accepted,
            "a row that keeps all constraints",
        ),
        subject.requirement(
            broken,
            RowVerdict::RejectedSomehow,
            "a row that breaks some constraint",
        ),
    ];
    for requirement in &mut requirements {
        requirement.needs_comparison = compares;
    }
    requirements
}

/// ICC: each rule holds; each rule fails. The others are left alone.
pub(super) fn each(subject: &TableUnderTest<'_>) -> Vec<Requirement> {
    requirements(subject, |rule| {
        let what = rule_name(subject, rule);
        vec![
            ConstraintCase::open(
                satisfied(subject.index, rule),
                format!("a row that keeps {what}"),
            ),
            ConstraintCase::broken(
                violated(subject.index, rule),
                format!("a row that breaks {what}"),
            ),
        ]
    })
}

/// AICC: each rule holds and fails while the others hold.
pub(super) fn active(subject: &TableUnderTest<'_>) -> Vec<Requirement> {
    requirements(subject, |rule| {
        let what = rule_name(subject, rule);
        vec![
            ConstraintCase::accept(
                satisfied(subject.index, rule),
                format!("a row that keeps {what}"),
            ),
            ConstraintCase::reject(
                violated(subject.index, rule),
                format!("a row that breaks {what}"),
            ),
        ]
    })
}

/// CondAICC: as AICC, with NULL told apart.
pub(super) fn active_by_condition(subject: &TableUnderTest<'_>) -> Vec<Requirement> {
    requirements(subject, |rule| by_condition(subject, rule))
}

/// ClauseAICC: as CondAICC, per column and per clause.
pub(super) fn active_by_clause(subject: &TableUnderTest<'_>) -> Vec<Requirement> {
    requirements(subject, |rule| by_clause(subject, rule))
}

/// One requirement before it is joined with the rules that must hold besides.
struct ConstraintCase {
    own: Predicate,
    verdict: ExpectedVerdict,
    description: String,
}

enum ExpectedVerdict {
    Accept,
    Reject,
    /// Rejected, but the other rules are not asked about.
    Broken,
    /// Nothing is known about the other rules.
    Open,
}

impl ConstraintCase {
    fn accept(own: Predicate, description: String) -> Self {
        Self {
            own,
            verdict: ExpectedVerdict::Accept,
            description,
        }
    }

    fn reject(own: Predicate, description: String) -> Self {
        Self {
            own,
            verdict: ExpectedVerdict::Reject,
            description,
        }
    }

    fn broken(own: Predicate, description: String) -> Self {
        Self {
            own,
            verdict: ExpectedVerdict::Broken,
            description,
        }
    }

    fn open(own: Predicate, description: String) -> Self {
        Self {
            own,
            verdict: ExpectedVerdict::Open,
            description,
        }
    }
}

impl From<CheckCase> for ConstraintCase {
    fn from(case: CheckCase) -> Self {
        let verdict = if case.passes {
            ExpectedVerdict::Accept
        } else {
            ExpectedVerdict::Reject
        };
        Self {
            own: case.predicate,
            verdict,
            description: format!("a row {}", case.description),
        }
    }
}

fn requirements(
    subject: &TableUnderTest<'_>,
    cases: impl Fn(&EnforcedConstraint) -> Vec<ConstraintCase>,
) -> Vec<Requirement> {
    let mut requirements = Vec::new();
    for (position, rule) in subject.rules.iter().enumerate() {
        for ConstraintCase {
            own,
            verdict,
            description,
        } in cases(rule)
        {
            let (predicate, outcome) = match verdict {
                ExpectedVerdict::Accept => {
                    (subject.others_hold(&[position], own), RowVerdict::Accepted)
                }
                ExpectedVerdict::Reject => (
                    subject.others_hold(&[position], own),
                    RowVerdict::Rejected(position),
                ),
                ExpectedVerdict::Broken => (own, RowVerdict::RejectedSomehow),
                ExpectedVerdict::Open => (own, RowVerdict::Open),
            };
            let mut requirement = subject.requirement(predicate, outcome, &description);
            requirement.needs_comparison = TableUnderTest::compares(rule);
            requirements.push(requirement);
        }
    }
    requirements
}

fn by_condition(subject: &TableUnderTest<'_>, rule: &EnforcedConstraint) -> Vec<ConstraintCase> {
    let table = subject.index;
    let named = |columns: &[usize]| phrase::columns(subject.table, columns);
    match &rule.kind {
        ConstraintKind::PrimaryKey { columns } => {
            let mut cases = vec![ConstraintCase::accept(
                with_values(differs(table, columns), columns),
                format!("a row with another {}", named(columns)),
            )];
            let nulls = some_null(subject, columns);
            cases.extend(
                nulls.map(|own| ConstraintCase::reject(own, format!("NULL in {}", named(columns)))),
            );
            cases.push(ConstraintCase::reject(
                with_values(equals(table, columns), columns),
                format!("a second row with the same {}", named(columns)),
            ));
            cases
        }
        ConstraintKind::Unique {
            columns,
            nulls_distinct,
        } => {
            let mut cases = Vec::new();
            let nulls = some_null(subject, columns).map(|own| {
                if *nulls_distinct {
                    own
                } else {
                    Predicate::and([own, satisfied(table, rule)])
                }
            });
            cases.extend(
                nulls.map(|own| ConstraintCase::accept(own, format!("NULL in {}", named(columns)))),
            );
            cases.push(ConstraintCase::accept(
                with_values(differs(table, columns), columns),
                format!("a row with another {}", named(columns)),
            ));
            cases.push(ConstraintCase::reject(
                with_values(equals(table, columns), columns),
                format!("a second row with the same {}", named(columns)),
            ));
            cases
        }
        ConstraintKind::UniqueIndex { .. } => by_index(subject, rule),
        ConstraintKind::ForeignKey(key) => {
            let columns = &key.columns;
            let parent = &subject_parent(subject, key);
            let mut cases = Vec::new();
            let nulls = if key.match_full {
                all_null(subject, columns)
            } else {
                some_null(subject, columns)
            };
            cases.extend(
                nulls.map(|own| ConstraintCase::accept(own, format!("NULL in {}", named(columns)))),
            );
            cases.push(ConstraintCase::accept(
                with_values(refers(key), columns),
                format!("{} of a row of {parent}", named(columns)),
            ));
            cases.push(ConstraintCase::reject(
                with_values(not_refers(key), columns),
                format!("{} of no row of {parent}", named(columns)),
            ));
            if key.match_full && columns.len() > 1 {
                cases.push(ConstraintCase::reject(
                    Predicate::and([
                        Predicate::or(columns.iter().map(is_null)),
                        Predicate::or(columns.iter().map(not_null)),
                    ]),
                    format!("NULL in only some of {}", named(columns)),
                ));
            }
            cases
        }
        ConstraintKind::NotNull { column } => null_cases(subject, *column),
        ConstraintKind::Check { expr } => {
            whole(expr).into_iter().map(ConstraintCase::from).collect()
        }
    }
}

fn by_clause(subject: &TableUnderTest<'_>, rule: &EnforcedConstraint) -> Vec<ConstraintCase> {
    let table = subject.index;
    let named = |columns: &[usize]| phrase::columns(subject.table, columns);
    match &rule.kind {
        ConstraintKind::PrimaryKey { columns } => {
            let mut cases = all_but_one(subject, columns);
            cases.extend(one_null(subject, columns).map(|(column, own)| {
                ConstraintCase::reject(own, format!("NULL in {}", named(&[column])))
            }));
            cases.push(ConstraintCase::reject(
                with_values(equals(table, columns), columns),
                format!("a second row with the same {}", named(columns)),
            ));
            cases
        }
        ConstraintKind::Unique {
            columns,
            nulls_distinct,
        } => {
            let mut cases: Vec<ConstraintCase> = one_null(subject, columns)
                .map(|(column, own)| {
                    let own = if *nulls_distinct {
                        own
                    } else {
                        Predicate::and([own, satisfied(table, rule)])
                    };
                    ConstraintCase::accept(own, format!("NULL in {}", named(&[column])))
                })
                .collect();
            cases.extend(all_but_one(subject, columns));
            cases.push(ConstraintCase::reject(
                with_values(equals(table, columns), columns),
                format!("a second row with the same {}", named(columns)),
            ));
            cases
        }
        ConstraintKind::UniqueIndex { .. } => by_index(subject, rule),
        ConstraintKind::ForeignKey(key) => foreign_clauses(subject, key),
        ConstraintKind::NotNull { column } => null_cases(subject, *column),
        ConstraintKind::Check { expr } => clauses(expr)
            .into_iter()
            .map(ConstraintCase::from)
            .collect(),
    }
}

fn foreign_clauses(subject: &TableUnderTest<'_>, key: &ForeignKey) -> Vec<ConstraintCase> {
    let columns = &key.columns;
    let named = |columns: &[usize]| phrase::columns(subject.table, columns);
    let parent = &subject_parent(subject, key);
    let mut cases: Vec<ConstraintCase> = Vec::new();
    if key.match_full && columns.len() > 1 {
        cases.extend(
            all_null(subject, columns).map(|own| {
                ConstraintCase::accept(own, format!("NULL in all of {}", named(columns)))
            }),
        );
        cases.extend(one_null(subject, columns).map(|(column, own)| {
            ConstraintCase::reject(own, format!("NULL in only {}", named(&[column])))
        }));
    } else {
        cases.extend(one_null(subject, columns).map(|(column, own)| {
            ConstraintCase::accept(own, format!("NULL in {}", named(&[column])))
        }));
    }
    cases.push(ConstraintCase::accept(
        with_values(refers(key), columns),
        format!("{} of a row of {parent}", named(columns)),
    ));
    for (own, other) in pairs(key) {
        let but = Predicate::Match(RowMatch {
            with: key.parent,
            equal: pairs(key).filter(|pair| pair.0 != own).collect(),
            differ: vec![(own, other)],
            mode: MatchMode::All,
        });
        cases.push(ConstraintCase::reject(
            with_values(but, columns),
            format!("{} of no row of {parent}", named(&[own])),
        ));
    }
    cases
}

/// A unique index over expressions or part of the rows: another key, the same key, and outside the index.
fn by_index(subject: &TableUnderTest<'_>, rule: &EnforcedConstraint) -> Vec<ConstraintCase> {
    let ConstraintKind::UniqueIndex {
        keys, predicate, ..
    } = &rule.kind
    else {
        return Vec::new();
    };
    let what = phrase::conditions(keys, ", ");
    let inside = predicate.as_ref().map(|condition| Predicate::Expr {
        expr: condition.clone(),
        wanted: RequiredTruth::True,
    });
    let mut cases = vec![ConstraintCase::accept(
        Predicate::and(inside.into_iter().chain([satisfied(subject.index, rule)])),
        format!("a row with another {what}"),
    )];
    if let Some(condition) = predicate {
        cases.push(ConstraintCase::accept(
            Predicate::Expr {
                expr: condition.clone(),
                wanted: RequiredTruth::False,
            },
            format!("any {what} without {}", phrase::condition(condition)),
        ));
    }
    cases.push(ConstraintCase::reject(
        violated(subject.index, rule),
        format!("a second row with the same {what}"),
    ));
    cases
}

fn null_cases(subject: &TableUnderTest<'_>, column: usize) -> Vec<ConstraintCase> {
    let name = phrase::columns(subject.table, &[column]);
    let mut cases = vec![ConstraintCase::accept(
        Predicate::not_null(column),
        format!("a value in {name}"),
    )];
    if subject.admits_null(column) {
        cases.push(ConstraintCase::reject(
            Predicate::null(column),
            format!("NULL in {name}"),
        ));
    }
    cases
}

/// For each column: the row repeats a row in all the others and differs in this one.
fn all_but_one(subject: &TableUnderTest<'_>, columns: &[usize]) -> Vec<ConstraintCase> {
    columns
        .iter()
        .map(|column| {
            let description = if columns.len() == 1 {
                format!(
                    "a row with another {}",
                    phrase::columns(subject.table, columns)
                )
            } else {
                format!(
                    "a row that differs from another in {} only of {}",
                    phrase::columns(subject.table, &[*column]),
                    phrase::columns(subject.table, columns)
                )
            };
            let own = equals_but(subject.index, columns, *column);
            ConstraintCase::accept(with_values(own, columns), description)
        })
        .collect()
}

/// For each column that can be NULL: it is, and the others are not.
fn one_null<'a>(
    subject: &'a TableUnderTest<'_>,
    columns: &'a [usize],
) -> impl Iterator<Item = (usize, Predicate)> + 'a {
    columns
        .iter()
        .filter(|column| subject.admits_null(**column))
        .map(|column| {
            let others = columns.iter().filter(move |other| *other != column);
            let own = std::iter::once(is_null(column)).chain(others.map(not_null));
            (*column, Predicate::and(own))
        })
}

fn some_null(subject: &TableUnderTest<'_>, columns: &[usize]) -> Option<Predicate> {
    let nulls: Vec<Predicate> = columns
        .iter()
        .filter(|column| subject.admits_null(**column))
        .map(is_null)
        .collect();
    (!nulls.is_empty()).then(|| Predicate::or(nulls))
}

fn all_null(subject: &TableUnderTest<'_>, columns: &[usize]) -> Option<Predicate> {
    let possible = columns.iter().all(|column| subject.admits_null(*column));
    possible.then(|| Predicate::and(columns.iter().map(is_null)))
}

fn with_values(own: Predicate, columns: &[usize]) -> Predicate {
    Predicate::and(std::iter::once(own).chain(columns.iter().map(not_null)))
}

fn not_refers(key: &ForeignKey) -> Predicate {
    Predicate::Match(RowMatch {
        with: key.parent,
        equal: Vec::new(),
        differ: pairs(key).collect(),
        mode: if key.columns.len() > 1 {
            MatchMode::Any
        } else {
            MatchMode::All
        },
    })
}

fn subject_parent(subject: &TableUnderTest<'_>, key: &ForeignKey) -> String {
    let name = subject.table_name(key.parent);
    if key.parent == subject.index {
        format!("{name} itself")
    } else {
        name.to_owned()
    }
}

fn rule_name(subject: &TableUnderTest<'_>, rule: &EnforcedConstraint) -> String {
    let constraint = &subject.table.constraints[rule.constraint];
    let columns = phrase::columns(subject.table, &constraint.columns());
    match &constraint.kind {
        ConstraintKind::PrimaryKey { .. } => format!("the key {columns}"),
        ConstraintKind::NotNull { .. } => format!("NOT NULL of {columns}"),
        ConstraintKind::Unique { .. } | ConstraintKind::UniqueIndex { .. } => {
            format!("UNIQUE of {columns}")
        }
        ConstraintKind::ForeignKey(_) => format!("the foreign key {columns}"),
        ConstraintKind::Check { expr } => phrase::condition(expr),
    }
}
