//! Report data of a query: its clauses with their targets, and the covering rows.

use isobath_emit::Suite;
use isobath_emit::report::query::{ClauseView, FixtureView, QueryView, StatusView, TargetView};
use isobath_sql::coverage::Clause;
use isobath_sql::{Schema, Value};

use super::fixture::Fixture;
use super::job::TargetStatus;
use super::placeholders::Lines;
use super::print::{CoveredQuery, PrintResult, given, json, witness};
use super::target::QueryTarget;

/// The view of a query; `suite` is what was printed so far, this query last.
pub fn overview(
    covered: &CoveredQuery<'_>,
    printed: &PrintResult,
    suite: &Suite,
    schema: &Schema,
) -> QueryView {
    let outcome = covered.outcome;
    let fixtures = outcome.fixtures.iter().enumerate();
    QueryView {
        id: covered.id.to_owned(),
        location: covered.place.to_owned(),
        sql: covered.sql.trim().to_owned(),
        clauses: clauses(covered, schema),
        fixtures: fixtures
            .map(|(number, fixture)| {
                let case = printed.cases.get(number).copied().flatten();
                case.and_then(|case| tested(suite, covered.id, case))
                    .unwrap_or_else(|| untested(fixture, schema))
            })
            .collect(),
        evaluations: outcome.evaluations,
        millis: 0.0,
    }
}

/// The targets by the part of the query that they are about, in the order of the text.
fn clauses(covered: &CoveredQuery<'_>, schema: &Schema) -> Vec<ClauseView> {
    let lines = Lines::new(covered.sql);
    let before = covered.sql.len() - covered.sql.trim_start().len();
    let range = |clause: &Clause| {
        let (start, end) = lines.range(clause.span?)?;
        let end = end.max(start + written(&covered.sql[start..], &clause.text));
        Some((start.checked_sub(before)?, end.checked_sub(before)?))
    };
    let mut views: Vec<(Option<&Clause>, ClauseView)> = Vec::new();
    let statuses = covered.outcome.statuses.iter().enumerate();
    for (target, (number, status)) in covered.targets.iter().zip(statuses) {
        let clause = target.clause.as_ref();
        let known = views.iter().position(|(of, _)| *of == clause);
        let at = known.unwrap_or_else(|| {
            let view = ClauseView {
                kind: clause.map_or_else(|| "Targets".to_owned(), |clause| clause.kind.to_string()),
                text: clause.map_or_else(String::new, |clause| clause.text.clone()),
                range: clause.and_then(range),
                targets: Vec::new(),
            };
            views.push((clause, view));
            views.len() - 1
        });
        let fixture = match status {
            TargetStatus::Covered(fixture) => covered.outcome.fixtures.get(*fixture),
            TargetStatus::Infeasible { .. } | TargetStatus::Uncovered { .. } => None,
        };
        let rows = fixture.map(|fixture| witness(fixture, schema, number));
        views[at].1.targets.push(TargetView {
            rows: rows.unwrap_or_default(),
            ..view(target, status)
        });
    }
    let mut views: Vec<ClauseView> = views.into_iter().map(|(_, view)| view).collect();
    // The outer of two parts that begin together comes first; what has no place comes last.
    views.sort_by_key(|view| match view.range {
        Some((start, end)) => (false, start, usize::MAX - end),
        None => (true, 0, 0),
    });
    views
}

/// How many bytes of a query's text are a clause, blanks and case apart; none when it continues in
/// another way. The parser does not know where `IS NULL` ends.
fn written(text: &str, clause: &str) -> usize {
    let mut rest = text.char_indices().filter(|(_, c)| !c.is_whitespace());
    let mut end = 0;
    for wanted in clause.chars().filter(|c| !c.is_whitespace()) {
        match rest.next() {
            Some((at, c)) if c.eq_ignore_ascii_case(&wanted) => end = at + c.len_utf8(),
            _ => return 0,
        }
    }
    end
}

fn view(target: &QueryTarget, status: &TargetStatus) -> TargetView {
    TargetView {
        sql: target.sql.clone(),
        rule: target.rule.clone(),
        description: target.says.clone(),
        verdict: match status {
            TargetStatus::Covered(fixture) => StatusView::Covered { fixture: *fixture },
            TargetStatus::Infeasible { proof, .. } => StatusView::Infeasible {
                proof: proof.clone(),
            },
            TargetStatus::Uncovered { reason } => StatusView::Uncovered {
                why: reason.to_string(),
            },
        },
        rows: Vec::new(),
    }
}

/// The fixture of a case, with the result that its test expects.
fn tested(suite: &Suite, id: &str, case: usize) -> Option<FixtureView> {
    let query = suite.queries.iter().rfind(|query| query.id == id)?;
    let case = query.cases.get(case)?;
    let test = suite.tests.iter().find(|test| test.id == case.test)?;
    let names = query.parameters.iter().cloned();
    Some(FixtureView {
        given: case.given.clone(),
        parameters: names.zip(case.parameters.iter().cloned()).collect(),
        columns: case.columns.clone(),
        result: test.expected_rows().map(<[_]>::to_vec),
    })
}

/// A fixture without a test.
fn untested(fixture: &Fixture, schema: &Schema) -> FixtureView {
    let parameters = fixture.parameters().iter().enumerate();
    let named = |(index, value): (usize, &Value)| (format!("parameter {}", index + 1), json(value));
    FixtureView {
        given: given(fixture, schema),
        parameters: parameters.map(named).collect(),
        ..FixtureView::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_ends_where_its_text_ends() {
        let text = "a.b\n  is null AND c = 1";
        assert_eq!(written(text, "a.b IS NULL"), "a.b\n  is null".len());
        assert_eq!(written(text, "a.b IS NOT NULL"), 0);
    }
}
