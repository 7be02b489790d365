//! The pages of a report: what they show, and what must not get through.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod samples;

use isobath_emit::RunReport;
use isobath_emit::report::{html, markdown};

#[test]
fn the_markdown_page_shows_every_section() {
    insta::assert_snapshot!(markdown(&samples::report::shop()));
}

#[test]
fn the_html_page_shows_every_section() {
    insta::assert_snapshot!(html(&samples::report::shop()));
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
    assert!(text.starts_with("read report: "), "{text}");
    assert!(text.contains("line 2"), "{text}");
}
