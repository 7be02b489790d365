//! The faults as SARIF 2.1.0, for code scanning.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::model::{FaultView, RestReport, pretty};

/// The faults as a SARIF log.
///
/// Each code is a rule; a result's fingerprint is its root cause, so that a viewer can follow a
/// fault from run to run.
pub fn sarif(report: &RestReport) -> String {
    let mut rules: BTreeMap<&str, &FaultView> = BTreeMap::new();
    for fault in &report.faults {
        rules.entry(&fault.code).or_insert(fault);
    }
    let indices: BTreeMap<&str, usize> = rules
        .keys()
        .enumerate()
        .map(|(n, code)| (*code, n))
        .collect();
    let rules: Vec<Value> = rules
        .iter()
        .map(|(code, fault)| rule(code, fault))
        .collect();
    let results = Results { report, indices };
    let mut invocation = json!({ "executionSuccessful": report.ended_early.is_none() });
    if let Some(command) = &report.command {
        put(&mut invocation, "commandLine", json!(command));
    }
    let driver = json!({ "name": "isobath", "version": report.version, "rules": rules });
    pretty(&Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: json!({ "driver": driver }),
            invocations: [invocation],
            results,
        }],
    })
}

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
struct Run<'a> {
    tool: Value,
    invocations: [Value; 1],
    results: Results<'a>,
}

/// The results, of which one at a time is in memory: there may be very many.
struct Results<'a> {
    report: &'a RestReport,
    indices: BTreeMap<&'a str, usize>,
}

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let faults = self.report.faults.iter();
        serializer.collect_seq(faults.map(|fault| {
            let rule = self.indices.get(fault.code.as_str());
            result(self.report, fault, rule.copied())
        }))
    }
}

/// Adds a member to an object.
fn put(object: &mut Value, name: &str, member: Value) {
    if let Value::Object(members) = object {
        members.insert(name.to_owned(), member);
    }
}

fn rule(code: &str, fault: &FaultView) -> Value {
    let mut rule = json!({
        "id": code,
        "name": crate::writer::name::pascal(code),
        "shortDescription": { "text": code.replace('-', " ") },
        "defaultConfiguration": { "level": fault.severity.word() },
    });
    if let Some(wfc) = fault.wfc_code {
        put(&mut rule, "properties", json!({ "wfcCode": wfc }));
    }
    rule
}

fn result(report: &RestReport, fault: &FaultView, rule: Option<usize>) -> Value {
    let mut text = format!("{}: {}", fault.operation, fault.message);
    for detail in &fault.details {
        text.push('\n');
        text.push_str(detail);
    }
    let (file, line) = match &fault.location {
        Some(location) => (location.file.as_str(), location.line),
        None => (report.source.as_str(), 0),
    };
    let mut physical = json!({ "artifactLocation": { "uri": uri(file) } });
    if line > 0 {
        put(&mut physical, "region", json!({ "startLine": line }));
    }
    let mut location = json!({
        "logicalLocations": [{ "fullyQualifiedName": fault.operation, "kind": "function" }],
    });
    if !file.is_empty() {
        put(&mut location, "physicalLocation", physical);
    }
    let mut result = json!({
        "ruleId": fault.code,
        "level": fault.severity.word(),
        "message": { "text": text },
        "locations": [location],
        "partialFingerprints": { "rootCause/v1": fault.root_cause, "isobath/v1": fault.fingerprint },
        "properties": { "curl": fault.curl, "test": fault.test, "seen": fault.seen },
    });
    if let Some(reason) = &fault.known {
        put(
            &mut result,
            "suppressions",
            json!([{ "kind": "external", "justification": reason }]),
        );
    }
    if let Some(rule) = rule {
        put(&mut result, "ruleIndex", json!(rule));
    }
    result
}

/// A path as a URI reference: SARIF takes nothing else.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.replace('\\', "/").bytes() {
        let kept = byte.is_ascii_alphanumeric() || b"-._~/:?#[]@!$&'()*+,;=%".contains(&byte);
        if kept {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
