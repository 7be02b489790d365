//! The rules of the database oracle. Each is narrow, to avoid false positives.

use std::collections::BTreeSet;

use isobath_exec::test_database::RowChange;
use isobath_sql::{Schema, Value};

use super::display::{self, names};
use super::names::{is_bookkeeping, names_one, path_values, plain, stems, table_of};
use super::oracle::{DatabaseOracle, JudgedCall};
use super::updates;
use crate::fault::{Fault, FaultKind};

/// Rows that are shown with a finding.
const SHOWN: usize = 6;

/// All rules.
pub(super) fn all(judge: &DatabaseOracle, case: &JudgedCall<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    match &*case.operation.method {
        "GET" | "HEAD" => faults.extend(get_changed_rows(judge, case)),
        "POST" | "PUT" | "PATCH" | "DELETE" => {
            faults.extend(failed_call_wrote(judge, case));
            faults.extend(orphan(judge, case));
        }
        _ => {}
    }
    match &*case.operation.method {
        "POST" => {
            faults.extend(created_nothing(judge, case));
            faults.extend(duplicate(judge, case));
        }
        "DELETE" => {
            faults.extend(row_not_deleted(judge, case));
            faults.extend(deleted_unrelated(judge, case));
        }
        "PUT" | "PATCH" => {
            faults.extend(updates::changed_others(judge, case));
            faults.extend(updates::lost_update(judge, case));
        }
        _ => {}
    }
    faults
}

/// A fault of this call; the cause is the operation and where in the database it shows.
pub(super) fn fault(
    case: &JudgedCall<'_>,
    judge: &DatabaseOracle,
    kind: FaultKind,
    place: &str,
    what: &str,
    changes: &[&RowChange],
) -> Fault {
    let name = case.operation.name();
    let mut evidence: Vec<String> = changes
        .iter()
        .take(SHOWN)
        .map(|change| display::change(&judge.schema, change))
        .collect();
    if changes.len() > SHOWN {
        evidence.push(format!("and {} more rows", changes.len() - SHOWN));
    }
    evidence.extend(case.exchange.trace.statements());
    let mut fault = Fault {
        others: Default::default(),
        kind,
        cause: format!("{name} {place}").trim_end().to_owned(),
        detail: format!(
            "{name} returned {} {what}",
            case.exchange.status().unwrap_or_default()
        ),
        operation: name,
        evidence,
        calls: Vec::new(),
    };
    fault.redact(case.exchange);
    fault
}

/// The names of the tables of some changes.
fn tables(schema: &Schema, changes: &[&RowChange]) -> String {
    let names: BTreeSet<&str> = changes
        .iter()
        .filter_map(|change| Some(schema.tables.get(change.table)?.name.as_str()))
        .collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// A GET that changed columns set by clients, removed a returned row, or inserts a row on every call.
fn get_changed_rows(judge: &DatabaseOracle, case: &JudgedCall<'_>) -> Option<Fault> {
    if !case.exchange.succeeded() {
        return None;
    }
    let body = case
        .exchange
        .response()
        .map(|response| &response.body[..])
        .unwrap_or_default();
    let body: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let values = path_values_of(case);
    let is_shown = |row: &[Value], table: usize| {
        let key = judge
            .schema
            .tables
            .get(table)
            .and_then(|table| table.primary_key());
        key.is_some_and(|key| {
            key.iter().all(|&column| {
                row.get(column).is_some_and(|cell| {
                    values.iter().any(|value| names(value, cell))
                        || body.as_ref().is_some_and(|body| mentions(body, cell))
                })
            })
        })
    };
    let inserted_before = |table: usize| {
        let same = |earlier: &&crate::exchange::Exchange| {
            earlier.request.url == case.exchange.request.url
                && earlier.request.method == case.exchange.request.method
                && earlier.succeeded()
        };
        case.earlier.last().filter(same).is_some_and(|earlier| {
            earlier.trace.effect.as_ref().is_some_and(|effect| {
                effect
                    .changes
                    .iter()
                    .any(|change| change.table == table && change.before.is_none())
            })
        })
    };
    let accused: Vec<&RowChange> = case
        .changes
        .iter()
        .copied()
        .filter(|change| match (&change.before, &change.after) {
            (Some(before), Some(after)) => change.columns().iter().any(|&column| {
                let name = judge.schema.table(change.table).columns.get(column);
                let cells = before.get(column).zip(after.get(column));
                name.is_some_and(|column| !is_bookkeeping(&column.name))
                    && cells.is_some_and(|(before, after)| {
                        !counts_up(before, after) && !is_moment(after)
                    })
            }),
            (Some(before), None) => is_shown(before, change.table),
            (None, Some(_)) => inserted_before(change.table),
            (None, None) => false,
        })
        .collect();
    if accused.is_empty() {
        return None;
    }
    let place = tables(&judge.schema, &accused);
    let what = format!("and changed rows of {place}; GET must not change data");
    Some(fault(
        case,
        judge,
        FaultKind::GetWrote,
        &format!("writes {place}"),
        &what,
        &accused,
    ))
}

fn counts_up(before: &Value, after: &Value) -> bool {
    matches!((before, after), (Value::Int(before), Value::Int(after)) if *after == before + 1)
}

fn is_moment(value: &Value) -> bool {
    matches!(
        value,
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::Instant(_)
    )
}

/// Whether a body holds a value somewhere.
fn mentions(body: &serde_json::Value, cell: &Value) -> bool {
    match body {
        serde_json::Value::Array(items) => items.iter().any(|item| mentions(item, cell)),
        serde_json::Value::Object(fields) => fields.values().any(|field| mentions(field, cell)),
        serde_json::Value::String(text) => names(text, cell),
        serde_json::Value::Number(number) => names(&number.to_string(), cell),
        serde_json::Value::Bool(_) | serde_json::Value::Null => false,
    }
}

fn path_values_of(case: &JudgedCall<'_>) -> Vec<String> {
    // Whatever stands before the path of the operation is the base.
    let path = case.operation.path.split('{').next().unwrap_or_default();
    let url = &case.exchange.request.url;
    let base = url.find(path).map_or("", |at| &url[..at]);
    path_values(case.operation, base, &case.exchange.request)
}

/// A call that failed and wrote what its successes write.
fn failed_call_wrote(judge: &DatabaseOracle, case: &JudgedCall<'_>) -> Option<Fault> {
    let status = case.exchange.status().filter(|status| *status >= 400)?;
    // These count as a response of their own: who you are, what to pay, when to come back.
    if matches!(status, 401 | 402 | 429 | 503) {
        return None;
    }
    let body = case
        .exchange
        .response()
        .map(|response| String::from_utf8_lossy(&response.body).into_owned())?;
    let body: serde_json::Value = serde_json::from_str(&body).unwrap_or(serde_json::Value::Null);
    let accused: Vec<&RowChange> = case
        .changes
        .iter()
        .copied()
        .filter(|change| status >= 500 || judge.writes(case.index, change.table))
        // A failure that tells of the row it left means to leave it.
        .filter(|change| {
            let row = change.after.as_ref().filter(|_| change.before.is_none());
            let key = judge
                .schema
                .tables
                .get(change.table)
                .and_then(|table| table.primary_key());
            !row.zip(key).is_some_and(|(row, key)| {
                key.iter()
                    .all(|&column| row.get(column).is_some_and(|cell| mentions(&body, cell)))
            })
        })
        .collect();
    if accused.is_empty() {
        return None;
    }
    let place = tables(&judge.schema, &accused);
    let what = format!("but wrote to {place}");
    Some(fault(
        case,
        judge,
        FaultKind::FailureWrote,
        &format!("fails and writes {place}"),
        &what,
        &accused,
    ))
}

/// A 201 without a row.
fn created_nothing(judge: &DatabaseOracle, case: &JudgedCall<'_>) -> Option<Fault> {
    if case.exchange.status() != Some(201)
        || !case.changes.is_empty()
        || !case.effect.is_complete
        || case.effect.mentions_existing_row
    {
        return None;
    }
    let is_stored = !names_one(case.operation) && table_of(&judge.schema, case.operation).is_some();
    // Where it is not known which table is meant, any row may be what was made.
    if !is_stored && (!judge.writes_at_all(case.index) || judge.makes_rows(&case.effect.changes)) {
        return None;
    }
    let what = "but changed no row";
    Some(fault(
        case,
        judge,
        FaultKind::SuccessWroteNothing,
        "writes nothing",
        what,
        &[],
    ))
}

/// A DELETE that changed nothing, of a row that was there.
fn row_not_deleted(judge: &DatabaseOracle, case: &JudgedCall<'_>) -> Option<Fault> {
    if !matches!(case.exchange.status(), Some(200 | 204))
        || !case.changes.is_empty()
        || !case.effect.is_complete
    {
        return None;
    }
    let target = case.effect.target.as_ref()?;
    // What an earlier call of the same candidate marked as deleted is deleted for its clients.
    if case.earlier.iter().any(|earlier| {
        earlier.operation == case.exchange.operation
            && earlier.request.url == case.exchange.request.url
    }) {
        return None;
    }
    let table = &judge.schema.tables.get(target.table)?.name;
    let what = format!(
        "but the row of {table} with {} still exists",
        display::key(&judge.schema, target.table, &target.row)
    );
    Some(fault(
        case,
        judge,
        FaultKind::DeleteLeftRow,
        &format!("leaves {table}"),
        &what,
        &[],
    ))
}

/// A DELETE that took rows that do not belong to what was deleted.
fn deleted_unrelated(judge: &DatabaseOracle, case: &JudgedCall<'_>) -> Option<Fault> {
    if !case.exchange.succeeded() {
        return None;
    }
    let target = case.effect.target.as_ref()?;
    let gone: Vec<&RowChange> = case
        .changes
        .iter()
        .copied()
        .filter(|change| change.after.is_none())
        .collect();
    let is_own = |change: &&RowChange| {
        change.table == target.table && change.before.as_ref() == Some(&target.row)
    };
    let own = gone.iter().copied().find(is_own)?;
    // Rows that refer to what is gone follow it, and rows that refer to those.
    let mut related: Vec<&RowChange> = vec![own];
    let mut rest: Vec<&RowChange> = gone
        .into_iter()
        .filter(|change| !std::ptr::eq(*change, own))
        .collect();
    loop {
        let (more, others): (Vec<&RowChange>, Vec<&RowChange>) =
            rest.into_iter().partition(|change| {
                related
                    .iter()
                    .any(|parent| refers(&judge.schema, change, parent))
            });
        rest = others;
        if more.is_empty() {
            break;
        }
        related.extend(more);
    }
    let accused: Vec<&RowChange> = rest
        .into_iter()
        .filter(|change| {
            change.table == target.table
                || related
                    .iter()
                    .any(|parent| reference(&judge.schema, change.table, parent.table).is_some())
        })
        // Rows that share the value by which the path names the resource are part of it.
        .filter(|change| {
            let named = target.row.get(target.column);
            let shares =
                |row: &Vec<Value>| change.table == target.table && row.get(target.column) == named;
            !change.before.as_ref().is_some_and(shares)
        })
        .collect();
    if accused.is_empty() {
        return None;
    }
    let place = tables(&judge.schema, &accused);
    let what = format!("and also deleted unrelated rows of {place}");
    Some(fault(
        case,
        judge,
        FaultKind::DeleteTookOthers,
        &format!("takes others of {place}"),
        &what,
        &accused,
    ))
}

/// The columns by which rows of a table refer to another: by foreign key, else by name.
fn reference(schema: &Schema, table: usize, parent: usize) -> Option<(Vec<usize>, Vec<usize>)> {
    let (own, other) = (schema.tables.get(table)?, schema.tables.get(parent)?);
    if let Some(key) = own.foreign_keys().find(|key| key.parent == parent) {
        return Some((key.columns.clone(), key.parent_columns.clone()));
    }
    let &[key] = other.primary_key()? else {
        return None;
    };
    let stems = stems(&other.name);
    let column = own.columns.iter().position(|column| {
        let name = plain(&column.name);
        stems
            .iter()
            .any(|stem| name == format!("{stem}id") || name == *stem)
    })?;
    (table != parent).then(|| (vec![column], vec![key]))
}

/// Whether a row that is gone referred to another one.
fn refers(schema: &Schema, child: &RowChange, parent: &RowChange) -> bool {
    let (Some(row), Some(of)) = (&child.before, &parent.before) else {
        return false;
    };
    reference(schema, child.table, parent.table).is_some_and(|(columns, parents)| {
        columns
            .iter()
            .zip(&parents)
            .all(|(&column, &parent)| row.get(column) == of.get(parent))
    })
}

/// A row that refers to nothing, where all others refer to something.
fn orphan(judge: &DatabaseOracle, case: &JudgedCall<'_>) -> Option<Fault> {
    let orphan = case
        .effect
        .orphans
        .first()
        .filter(|_| case.exchange.succeeded())?;
    let own = judge.schema.tables.get(orphan.table)?;
    let parent = &judge.schema.tables.get(orphan.parent)?.name;
    let column = &own.columns.get(orphan.column)?.name;
    let what = format!(
        "and left the row of {} with {}, whose {column} has no match in {parent}",
        own.name,
        display::key(&judge.schema, orphan.table, &orphan.row)
    );
    let place = format!("orphans {}.{column}", own.name);
    Some(fault(
        case,
        judge,
        FaultKind::OrphanRow,
        &place,
        &what,
        &case.changes,
    ))
}

/// The same POST with the same idempotency key, and another row.
fn duplicate(judge: &DatabaseOracle, case: &JudgedCall<'_>) -> Option<Fault> {
    let key = case
        .exchange
        .request
        .headers
        .iter()
        .find(|(name, _)| plain(name).contains("idempotency"))?;
    let (url, body) = (&case.exchange.request.url, &case.exchange.request.body);
    let first = case.earlier.iter().find(|earlier| {
        earlier.succeeded()
            && earlier.operation == case.exchange.operation
            && earlier.user == case.exchange.user
            && earlier.request.url == *url
            && earlier.request.body == *body
            && earlier.request.headers.contains(key)
    })?;
    let made = |changes: &[RowChange], table: usize| {
        changes
            .iter()
            .any(|change| change.table == table && change.before.is_none())
    };
    let before = first.trace.effect.as_ref()?;
    let accused: Vec<&RowChange> = case
        .changes
        .iter()
        .copied()
        .filter(|change| change.before.is_none() && made(&before.changes, change.table))
        .collect();
    if accused.is_empty() || !case.exchange.succeeded() {
        return None;
    }
    let place = tables(&judge.schema, &accused);
    let what = format!(
        "to a repeated request with the same idempotency key, and inserted another row into {place}"
    );
    Some(fault(
        case,
        judge,
        FaultKind::DuplicateOnRetry,
        &format!("repeats {place}"),
        &what,
        &accused,
    ))
}
