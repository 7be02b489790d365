//! Report data of a schema run.

use isobath_emit::Suite;
use isobath_emit::report::{
    ColumnView, ConstraintView, DesignFinding, Infeasible, LimitationView, MutantResult,
    MutantView, Mutation, RunReport, TableView, Totals, Uncovered,
};
use isobath_sql::limitation::Limitation;
use isobath_sql::render;
use isobath_sql::schema::{ConstraintKind, Filled, Table};
use isobath_sql::{DialectName, Schema};

use super::case::{ExpectedOutcome, TestCase};
use super::job::{RequirementStatus, SchemaOutcome};
use super::mutation::{Analysis, MutantStatus};

/// The report of a run, without what only the caller knows (time, command line, engine versions).
///
/// The views that show statements need the printed suite; without it, the report has the rest.
pub fn overview(
    schema: &Schema,
    dialect: DialectName,
    outcome: &SchemaOutcome,
    suite: Option<&Suite>,
    limitations: &[Limitation],
    analysis: Option<&Analysis>,
) -> RunReport {
    let description = |index: usize| outcome.requirements[index].description.join("; ");
    let table_of = |index: usize| {
        schema.tables[outcome.requirements[index].table]
            .name
            .clone()
    };
    let mut report = RunReport {
        schema: schema.name.clone(),
        totals: totals(schema, outcome),
        mutation: analysis.map(|analysis| mutation(schema, analysis, suite)),
        limitations: limitation_views(limitations),
        findings: outcome
            .findings
            .iter()
            .map(|finding| DesignFinding {
                kind: "design".to_owned(),
                table: schema.tables[finding.table].name.clone(),
                explanation: finding.description.clone(),
            })
            .collect(),
        ..RunReport::default()
    };
    if let Some(suite) = suite {
        report.seed = suite.seed;
        report.generator.clone_from(&suite.generator);
        report.criterion.clone_from(&suite.criterion);
        report.version.clone_from(&suite.version);
        report.command.clone_from(&suite.command);
        report.tests.clone_from(&suite.tests);
        report.tables = (0..schema.tables.len())
            .map(|table| table_view(schema, table, dialect, outcome, suite))
            .collect();
    }
    for (index, status) in outcome.statuses.iter().enumerate() {
        match status {
            RequirementStatus::Covered(_) => {}
            RequirementStatus::Infeasible { proof } => report.infeasible.push(Infeasible {
                table: table_of(index),
                requirement: description(index),
                proof: proof.clone(),
            }),
            RequirementStatus::Uncovered { why } => report.uncovered.push(Uncovered {
                table: table_of(index),
                requirement: description(index),
                reason: Some(why.clone()),
            }),
        }
    }
    report
}

fn totals(schema: &Schema, outcome: &SchemaOutcome) -> Totals {
    let count = |is: fn(&ConstraintKind) -> bool| {
        schema
            .tables
            .iter()
            .flat_map(|table| &table.constraints)
            .filter(|constraint| is(&constraint.kind))
            .count()
    };
    let constraints = [
        (
            "PRIMARY KEY",
            count(|kind| matches!(kind, ConstraintKind::PrimaryKey { .. })),
        ),
        (
            "NOT NULL",
            count(|kind| matches!(kind, ConstraintKind::NotNull { .. })),
        ),
        (
            "UNIQUE",
            count(|kind| {
                matches!(
                    kind,
                    ConstraintKind::Unique { .. } | ConstraintKind::UniqueIndex { .. }
                )
            }),
        ),
        (
            "FOREIGN KEY",
            count(|kind| matches!(kind, ConstraintKind::ForeignKey(_))),
        ),
        (
            "CHECK",
            count(|kind| matches!(kind, ConstraintKind::Check { .. })),
        ),
    ];
    let statuses = |is: fn(&RequirementStatus) -> bool| {
        outcome.statuses.iter().filter(|status| is(status)).count()
    };
    Totals {
        tables: schema.tables.len(),
        columns: schema.tables.iter().map(|table| table.columns.len()).sum(),
        constraints: constraints
            .into_iter()
            .map(|(kind, count)| (kind.to_owned(), count))
            .collect(),
        requirements: outcome.requirements.len(),
        covered: statuses(|status| matches!(status, RequirementStatus::Covered(_))),
        infeasible: statuses(|status| matches!(status, RequirementStatus::Infeasible { .. })),
        tests: outcome.tests.len(),
        inserts: outcome.tests.iter().map(TestCase::inserts).sum(),
        millis: None,
    }
}

fn mutation(schema: &Schema, analysis: &Analysis, suite: Option<&Suite>) -> Mutation {
    let left_out = [
        (
            "still-born",
            analysis.count(|status| matches!(status, MutantStatus::StillBorn { .. })),
        ),
        (
            "impaired",
            analysis.count(|status| matches!(status, MutantStatus::Impaired { .. })),
        ),
        (
            "redundant",
            analysis.count(|status| matches!(status, MutantStatus::Redundant { .. })),
        ),
    ];
    Mutation {
        mutants: analysis.effective(),
        killed: analysis.killed(),
        equivalent: analysis.equivalent(),
        excluded: left_out
            .into_iter()
            .map(|(why, count)| (why.to_owned(), count))
            .collect(),
        all: (0..analysis.mutants.len())
            .map(|index| mutant_view(schema, analysis, index, suite))
            .collect(),
    }
}

fn mutant_view(
    schema: &Schema,
    analysis: &Analysis,
    index: usize,
    suite: Option<&Suite>,
) -> MutantView {
    let mutant = &analysis.mutants[index];
    let (status, why) = match &analysis.statuses[index] {
        MutantStatus::Killed { .. } => (MutantResult::Killed, None),
        MutantStatus::Alive => (MutantResult::Alive, None),
        MutantStatus::Unsupported { what } => (MutantResult::Unjudged, Some(what.clone())),
        MutantStatus::Equivalent { proof } => (MutantResult::Equivalent, Some(proof.clone())),
        MutantStatus::StillBorn { why } => (MutantResult::StillBorn, Some(why.clone())),
        MutantStatus::Impaired { why } => (MutantResult::Impaired, Some(why.clone())),
        MutantStatus::Redundant { same_as } => {
            let first = &analysis.mutants[*same_as].description;
            (
                MutantResult::Redundant,
                Some(format!("the same as: {first}")),
            )
        }
    };
    let killed_by = match analysis.statuses[index] {
        MutantStatus::Killed { test } => {
            suite.and_then(|suite| Some(suite.tests.get(test)?.name.clone()))
        }
        _ => None,
    };
    MutantView {
        operator: mutant.operator.as_str().to_owned(),
        table: schema.tables[mutant.table].name.clone(),
        description: mutant.description.clone(),
        status,
        killed_by,
        why,
    }
}

/// Limitations of one kind are shown once, with the first place and a count.
fn limitation_views(limitations: &[Limitation]) -> Vec<LimitationView> {
    let mut views: Vec<LimitationView> = Vec::new();
    for limitation in limitations {
        match views.iter_mut().find(|view| view.what == limitation.why) {
            Some(view) => view.count += 1,
            None => views.push(LimitationView {
                what: limitation.why.clone(),
                quote: limitation.input.clone(),
                location: Some(limitation.location.to_string()),
                count: 1,
            }),
        }
    }
    views
}

fn table_view(
    schema: &Schema,
    index: usize,
    dialect: DialectName,
    outcome: &SchemaOutcome,
    suite: &Suite,
) -> TableView {
    let table = &schema.tables[index];
    TableView {
        name: table.name.clone(),
        columns: table
            .columns
            .iter()
            .enumerate()
            .map(|(position, column)| ColumnView {
                name: column.name.clone(),
                data_type: render::type_name(&column.data_type, dialect),
                notes: column_notes(table, position, dialect),
            })
            .collect(),
        constraints: (0..table.constraints.len())
            .map(|constraint| constraint_view(schema, index, constraint, dialect, outcome, suite))
            .collect(),
    }
}

fn column_notes(table: &Table, position: usize, dialect: DialectName) -> Vec<String> {
    let column = &table.columns[position];
    let mut notes = Vec::new();
    if table.is_not_null(position) {
        notes.push("NOT NULL".to_owned());
    }
    if let Some(default) = &column.default {
        notes.push(format!("DEFAULT {}", render::expression(default, dialect)));
    }
    match &column.filled {
        Filled::No => {}
        Filled::Counter => notes.push("counts by itself".to_owned()),
        Filled::CounterAlways => notes.push("always counts by itself".to_owned()),
        Filled::Generated(expr) => notes.push(format!(
            "GENERATED AS ({})",
            render::expression(expr, dialect)
        )),
    }
    notes
}

/// A constraint with a test that puts it to the proof from either side.
fn constraint_view(
    schema: &Schema,
    table: usize,
    constraint: usize,
    dialect: DialectName,
    outcome: &SchemaOutcome,
    suite: &Suite,
) -> ConstraintView {
    let definition = &schema.tables[table].constraints[constraint];
    let statements = |test: usize| {
        suite.tests[test]
            .steps
            .iter()
            .flat_map(|step| step.sql.iter().cloned())
            .collect()
    };
    let rejecting = outcome.tests.iter().position(|case| match &case.expected {
        ExpectedOutcome::Rejected(violation) => {
            violation.table == table && violation.constraint == Some(constraint)
        }
        ExpectedOutcome::Accepted => false,
    });
    // The accepted test that covers a requirement about this very constraint says most; else any of its table.
    let accepting = outcome
        .tests
        .iter()
        .position(|case| {
            case.table == table
                && case.expected == ExpectedOutcome::Accepted
                && case
                    .covers
                    .iter()
                    .any(|index| outcome.requirements[*index].violates == Some(constraint))
        })
        .or_else(|| {
            outcome
                .tests
                .iter()
                .position(|case| case.table == table && case.expected == ExpectedOutcome::Accepted)
        });
    ConstraintView {
        name: render::constraint_name(schema, table, constraint, dialect),
        kind: kind_words(&definition.kind).to_owned(),
        definition: definition_text(schema, table, &definition.kind, dialect),
        accepting: accepting.map(statements).unwrap_or_default(),
        rejecting: rejecting.map(statements).unwrap_or_default(),
        note: rejecting.is_none().then(|| {
            "no row can be refused by this constraint alone, or none was found".to_owned()
        }),
    }
}

fn kind_words(kind: &ConstraintKind) -> &'static str {
    match kind {
        ConstraintKind::PrimaryKey { .. } => "PRIMARY KEY",
        ConstraintKind::NotNull { .. } => "NOT NULL",
        ConstraintKind::Unique { .. } => "UNIQUE",
        ConstraintKind::UniqueIndex { .. } => "UNIQUE INDEX",
        ConstraintKind::ForeignKey(_) => "FOREIGN KEY",
        ConstraintKind::Check { .. } => "CHECK",
    }
}

fn definition_text(
    schema: &Schema,
    table: usize,
    kind: &ConstraintKind,
    dialect: DialectName,
) -> String {
    let names = |table: usize, columns: &[usize]| {
        let names: Vec<&str> = columns
            .iter()
            .map(|column| schema.tables[table].columns[*column].name.as_str())
            .collect();
        names.join(", ")
    };
    match kind {
        ConstraintKind::PrimaryKey { columns } => {
            format!("PRIMARY KEY ({})", names(table, columns))
        }
        ConstraintKind::NotNull { column } => format!("{} NOT NULL", names(table, &[*column])),
        ConstraintKind::Unique { columns, .. } => format!("UNIQUE ({})", names(table, columns)),
        ConstraintKind::UniqueIndex {
            keys, predicate, ..
        } => {
            let keys: Vec<String> = keys
                .iter()
                .map(|key| render::expression(key, dialect))
                .collect();
            let only = predicate
                .as_ref()
                .map(|predicate| format!(" WHERE {}", render::expression(predicate, dialect)));
            format!(
                "UNIQUE INDEX ({}){}",
                keys.join(", "),
                only.unwrap_or_default()
            )
        }
        ConstraintKind::ForeignKey(key) => format!(
            "FOREIGN KEY ({}) REFERENCES {} ({})",
            names(table, &key.columns),
            schema.tables[key.parent].name,
            names(key.parent, &key.parent_columns)
        ),
        ConstraintKind::Check { expr } => format!("CHECK ({})", render::expression(expr, dialect)),
    }
}
