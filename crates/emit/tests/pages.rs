//! The pages of a report: what they show, and what must not get through.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod samples;

use isobath_emit::RunReport;
use isobath_emit::report::query::QueryReport;
use isobath_emit::report::{html, markdown, query_html, query_markdown};

#[test]
fn the_markdown_page_shows_every_section() {
    insta::assert_snapshot!(markdown(&samples::report::shop()));
}

#[test]
fn the_html_page_shows_every_section() {
    insta::assert_snapshot!(readable(&html(&samples::report::shop())));
}

#[test]
fn a_report_without_anything_is_still_a_page() {
    let page = html(&RunReport::default());
    assert!(page.contains("0 of 0"), "{page}");
    assert!(!page.contains("class=\"note\""), "{page}");
    assert!(markdown(&RunReport::default()).contains("| Tests | 0 |"));
}

#[test]
fn nothing_from_the_schema_becomes_markup() {
    let mut report = samples::report::shop();
    let hostile = "</code></script><script>alert('&')</script><img src=x onerror=\"y\">";
    report.schema = hostile.into();
    report.findings[0].explanation = hostile.into();
    report.tables[0].name = hostile.into();
    report.tables[0].constraints[0].rejecting = vec![hostile.into()];
    report.tests[0].name = hostile.into();
    report.tests[0].covers = vec![hostile.into()];
    let mutation = report.mutation.as_mut().unwrap();
    mutation.all[0].description = hostile.into();
    mutation.all[0].killed_by = Some(hostile.into());
    mutation.all[1].why = Some(hostile.into());
    let page = html(&report);
    assert!(!page.contains("<script>alert"), "{page}");
    assert!(!page.contains("<img"), "{page}");
    assert_eq!(page.matches("<script>").count(), 1);
    assert!(!markdown(&report).contains("\n# <"));
}

#[test]
fn the_html_page_asks_nothing_of_the_network() {
    let page = html(&samples::report::shop());
    for reference in ["http://", "https://", "src=", "<link", "@import", "url("] {
        assert!(!page.contains(reference), "{reference}");
    }
}

#[test]
fn a_report_is_the_same_after_a_round_trip_through_json() {
    let report = samples::report::shop();
    assert_eq!(RunReport::from_json(&report.to_json()).unwrap(), report);
    let error = RunReport::from_json("{\n  \"seed\": -1\n}").unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("failed to read report: "), "{text}");
    assert!(text.contains("line 2"), "{text}");
}

#[test]
fn the_page_of_queries_marks_clauses_and_shows_rows() {
    let page = query_html(&samples::query_report::shop());
    insta::assert_snapshot!(readable(between(&page, "<main", "</main>")));
}

#[test]
fn the_markdown_of_queries_shows_targets_and_rows() {
    insta::assert_snapshot!(query_markdown(&samples::query_report::shop()));
}

#[test]
fn nothing_from_a_query_becomes_markup() {
    let mut report = samples::query_report::shop();
    let hostile = "</code></script><script>alert('&')</script><img src=x onerror=\"y\">";
    report.name = hostile.into();
    report.notes = vec![hostile.into()];
    report.unreadable[0].why = hostile.into();
    let query = &mut report.queries[0];
    query.id = hostile.into();
    query.sql = hostile.into();
    query.clauses[0].text = hostile.into();
    query.clauses[0].targets[0].description = hostile.into();
    query.fixtures[0].given[0].table = hostile.into();
    query.fixtures[0].given[0].rows[0][1] = hostile.into();
    query.fixtures[0].result = Some(vec![vec![Some(hostile.into())]]);
    let page = query_html(&report);
    assert!(!page.contains("<script>alert"), "{page}");
    assert!(!page.contains("<img"), "{page}");
    assert_eq!(page.matches("<script>").count(), 1);
    for reference in ["http://", "https://", "<link", "@import", "url("] {
        assert!(!page.contains(reference), "{reference}");
    }
    // In Markdown, code may hold anything; prose may not.
    let text = query_markdown(&report);
    assert!(text.starts_with("# Queries of &lt;/code&gt;"), "{text}");
}

#[test]
fn a_clause_whose_place_is_no_place_of_the_query_is_not_marked() {
    let mut report = samples::query_report::shop();
    report.queries[0].sql = "é".into();
    report.queries[0].clauses[0].range = Some((1, 2));
    report.queries[0].clauses[1].range = Some((0, 900));
    let page = query_html(&report);
    assert!(page.contains("<code>é</code>"), "{page}");
    assert!(query_html(&QueryReport::default()).contains("0 of 0"));
}

#[test]
fn a_report_of_queries_is_the_same_after_a_round_trip_through_json() {
    let report = samples::query_report::shop();
    assert_eq!(QueryReport::from_json(&report.to_json()).unwrap(), report);
}

/// A page with a line per block.
fn readable(page: &str) -> String {
    page.replace("><", ">\n<")
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let from = text.find(start).unwrap();
    let to = text.rfind(end).unwrap();
    &text[from..to]
}
