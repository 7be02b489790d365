//! The suite and the faults as JUnit XML, for the test view of a CI system.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::model::{FaultView, RestReport};

/// The report as JUnit XML: a test case per fault, which failed, or was skipped when the baseline has it; and one per test of the suite that
/// shows none, as it ran.
pub fn junit(report: &RestReport) -> String {
    let mut out = Report::new(format!("isobath rest {}", report.title));
    if report.seconds.is_finite() && report.seconds >= 0.0 {
        out.set_time(Duration::from_secs_f64(report.seconds));
    }
    let mut faults = TestSuite::new("faults");
    for fault in &report.faults {
        let mut status = match &fault.known {
            Some(_) => TestCaseStatus::skipped(),
            None => TestCaseStatus::non_success(NonSuccessKind::Failure),
        };
        status.set_message(match &fault.known {
            Some(reason) => format!("{} (known: {reason})", fault.message),
            None => fault.message.clone(),
        });
        status.set_type(fault.code.clone());
        status.set_description(description(fault));
        let name = format!("{} {}", fault.code, fault.root_cause);
        let mut case = TestCase::new(name, status);
        case.set_classname(fault.operation.clone());
        faults.add_test_case(case);
    }
    out.add_test_suite(faults);
    let mut suite = TestSuite::new("suite");
    for test in &report.test_cases {
        let status = match test.passed {
            Some(true) => TestCaseStatus::success(),
            Some(false) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_message(test.message.clone());
                status
            }
            None => TestCaseStatus::skipped(),
        };
        let mut case = TestCase::new(test.name.clone(), status);
        case.set_classname(test.operation.clone());
        suite.add_test_case(case);
    }
    out.add_test_suite(suite);
    // Writing to memory does not fail; the text replaces characters that XML has no place for.
    without_total_of_skipped(out.to_string().unwrap_or_default())
}

/// The schema that Jenkins holds such files to counts skipped tests by suite, and not in all.
pub(crate) fn without_total_of_skipped(mut xml: String) -> String {
    // In the values of attributes, quotes are escaped.
    const ATTRIBUTE: &str = " skipped=\"";
    let attribute = xml.find("<testsuites").and_then(|from| {
        let (root, _) = xml.get(from..)?.split_once('>')?;
        let (before, value) = root.split_once(ATTRIBUTE)?;
        let start = from + before.len();
        Some(start..start + ATTRIBUTE.len() + value.find('"')? + 1)
    });
    if let Some(attribute) = attribute {
        xml.replace_range(attribute, "");
    }
    xml
}

fn description(fault: &FaultView) -> String {
    let mut text = fault.details.join("\n");
    if !fault.rows.is_empty() {
        text.push_str("\n\nRows:\n");
        text.push_str(&fault.rows.join(";\n"));
    }
    if !fault.curl.is_empty() {
        text.push_str("\n\n");
        text.push_str(&fault.curl);
    }
    text.trim().to_owned()
}
