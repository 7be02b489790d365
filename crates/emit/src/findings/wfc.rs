//! The report in the format of the Web Fuzzing Commons.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::model::{RestReport, pretty};

/// The report as the Web Fuzzing Commons define it.
///
/// A fault without a code of theirs is not part of it. Their schema knows codes up to 206; higher
/// ones are in their catalog all the same.
pub fn wfc(report: &RestReport) -> String {
    let mut found: BTreeMap<(String, &str), BTreeSet<(u32, &str)>> = BTreeMap::new();
    let mut distinct = BTreeSet::new();
    for fault in &report.faults {
        if let Some(code) = fault.wfc_code {
            let test = fault.test.as_deref().unwrap_or_default();
            let category = (code, fault.root_cause.as_str());
            let place = (endpoint(report, &fault.operation), test);
            found.entry(place).or_default().insert(category);
            distinct.insert(category);
        }
    }
    let found: Vec<Value> = found
        .into_iter()
        .map(|((operation, test), categories)| {
            let categories: Vec<Value> = categories
                .into_iter()
                .map(|(code, context)| json!({ "code": code, "context": context }))
                .collect();
            // The schema requires `endpointId` where it describes `operationId`.
            json!({
                "operationId": operation,
                "endpointId": operation,
                "testCaseId": test,
                "faultCategories": categories,
            })
        })
        .collect();
    let mut covered: BTreeMap<(String, &str), BTreeSet<u16>> = BTreeMap::new();
    for test in &report.test_cases {
        for step in test.steps.iter().filter(|step| step.status > 0) {
            let place = (endpoint(report, &step.operation), test.id.as_str());
            covered.entry(place).or_default().insert(step.status);
        }
    }
    let covered: Vec<Value> = covered
        .into_iter()
        .map(|((endpoint, test), statuses)| {
            json!({ "endpointId": endpoint, "testCaseId": test, "httpStatus": statuses })
        })
        .collect();
    let files: BTreeSet<&str> = report
        .test_cases
        .iter()
        .map(|test| test.file.as_str())
        .collect();
    let tests: Vec<Value> = report
        .test_cases
        .iter()
        .map(|test| {
            json!({
                "id": test.id,
                "filePath": test.file,
                "name": test.name,
                "startLine": test.start_line,
                "endLine": test.end_line,
            })
        })
        .collect();
    let endpoints: Vec<String> = report
        .operations
        .iter()
        .map(|operation| format!("{}:{}", operation.method, operation.path))
        .collect();
    pretty(&json!({
        "schemaVersion": "0.2.0",
        "toolName": "Isobath",
        "toolVersion": report.version,
        "creationTime": report.started.as_deref().unwrap_or("1970-01-01T00:00:00Z"),
        "totalTests": report.test_cases.len(),
        "executionTimeInSeconds": report.seconds.max(0.0).round() as u64,
        "testFilePaths": files,
        "testCases": tests,
        "faults": { "totalNumber": distinct.len(), "foundFaults": found },
        "problemDetails": { "rest": {
            "outputHttpCalls": report.suite_calls,
            "evaluatedHttpCalls": report.calls,
            "endpointIds": endpoints,
            "coveredHttpStatus": covered,
        }},
    }))
}

/// `GET /boats` as `GET:/boats`.
fn endpoint(report: &RestReport, operation: &str) -> String {
    let known = report.operations.iter().find(|known| known.id == operation);
    match known {
        Some(known) => format!("{}:{}", known.method, known.path),
        None => operation.replacen(' ', ":", 1),
    }
}
