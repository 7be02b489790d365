//! Stores candidates and the database snapshot during a run, so that it can be resumed.
//!
//! Operations and tables are stored by name, users by index; what the document or the database no
//! longer contains is not restored.

use std::collections::BTreeMap;

use isobath_exec::test_database::{Counter, Snapshot};
use isobath_genes::{Gene, Rule, RuleViolation, binary};
use isobath_rows::set::{NewCell, NewRow};
use isobath_sql::value::Interval;
use isobath_sql::{Schema, Value};
use serde_json::{Value as Json, json};

use crate::action::{Action, UndocumentedInput, UndocumentedKind};
use crate::candidate::{Candidate, Step, StepKind};
use crate::external::MockResponse;
use crate::openapi::Api;

/// A candidate as [`restore`] reads it.
#[must_use]
pub fn store(api: &Api, schema: Option<&Schema>, candidate: &Candidate) -> Json {
    let rows = candidate.rows.iter().filter_map(|row| {
        let table = schema?.tables.get(row.table)?;
        let cells: Vec<Json> = row.cells.iter().map(store_cell).collect();
        Some(json!({ "id": row.id, "table": table.name, "cells": cells }))
    });
    let rows: Vec<Json> = rows.collect();
    let steps: Vec<Json> = candidate
        .steps
        .iter()
        .map(|step| store_step(api, step))
        .collect();
    if candidate.mock_responses.is_empty() {
        return json!({ "rows": rows, "steps": steps });
    }
    let mock_responses = candidate.mock_responses.iter();
    let mock_responses: Vec<Json> = mock_responses.map(MockResponse::store).collect();
    json!({ "rows": rows, "steps": steps, "mock_responses": mock_responses })
}

/// The candidate that was stored as `json`; `None` when something in it is unknown here.
#[must_use]
pub fn restore(
    api: &Api,
    schema: Option<&Schema>,
    n_users: usize,
    json: &Json,
) -> Option<Candidate> {
    let rows: Option<Vec<NewRow>> = json["rows"]
        .as_array()?
        .iter()
        .map(|row| restore_row(schema?, row))
        .collect();
    let steps: Option<Vec<Step>> = json["steps"]
        .as_array()?
        .iter()
        .map(|step| restore_step(api, n_users, step))
        .collect();
    let mock_responses = json["mock_responses"].as_array();
    let mock_responses: Option<Vec<MockResponse>> = mock_responses
        .into_iter()
        .flatten()
        .map(MockResponse::restore)
        .collect();
    let candidate = Candidate {
        rows: rows?,
        mock_responses: mock_responses?,
        number: 0,
        steps: steps?,
    };
    is_sound(&candidate).then_some(candidate)
}

/// The snapshot as [`restore_snapshot`] reads it.
#[must_use]
pub fn store_snapshot(first: &Snapshot) -> Json {
    let cells = |row: &Vec<Value>| row.iter().map(store_value).collect::<Json>();
    let tables = first.rows.iter();
    let tables = tables.map(|(name, rows)| (name.clone(), rows.iter().map(cells).collect()));
    let tables: serde_json::Map<String, Json> = tables.collect();
    let counters = first.counters.iter();
    let counters = counters.map(|one| json!([one.name, one.last.to_string(), one.is_called]));
    json!({ "tables": tables, "counters": counters.collect::<Json>() })
}

/// The snapshot stored as `json`; `None` if it is invalid.
#[must_use]
pub fn restore_snapshot(json: &Json) -> Option<Snapshot> {
    let row =
        |row: &Json| -> Option<Vec<Value>> { row.as_array()?.iter().map(restore_value).collect() };
    let table = |(name, rows): (&String, &Json)| -> Option<(String, Vec<Vec<Value>>)> {
        let rows: Option<_> = rows.as_array()?.iter().map(row).collect();
        Some((name.clone(), rows?))
    };
    let rows: Option<BTreeMap<_, _>> = json["tables"].as_object()?.iter().map(table).collect();
    let counter = |one: &Json| {
        Some(Counter {
            name: one.get(0)?.as_str()?.to_owned(),
            last: one.get(1)?.as_str()?.parse().ok()?,
            is_called: one.get(2)?.as_bool()?,
        })
    };
    let counters: Option<Vec<Counter>> = json["counters"].as_array()?.iter().map(counter).collect();
    Some(Snapshot {
        rows: rows?,
        counters: counters?,
    })
}

/// Whether ids are unique, and references lead to rows or to earlier steps.
fn is_sound(candidate: &Candidate) -> bool {
    let mut known: Vec<u32> = Vec::new();
    for row in &candidate.rows {
        let leads = |cell: &NewCell| match cell {
            NewCell::Of { row, .. } => known.contains(row),
            NewCell::Default | NewCell::Value(_) => true,
        };
        if known.contains(&row.id) || !row.cells.iter().all(leads) {
            return false;
        }
        known.push(row.id);
    }
    for step in &candidate.steps {
        if known.contains(&step.id) || !step.sources().iter().all(|source| known.contains(source)) {
            return false;
        }
        known.push(step.id);
    }
    !candidate.steps.is_empty()
}

fn store_step(api: &Api, step: &Step) -> Json {
    let (id, user) = (step.id, step.user);
    match &step.kind {
        StepKind::Follow(source) => json!({ "follow": source, "id": id, "user": user }),
        StepKind::Call { action, breach } => {
            let operation = api.operations.get(action.operation);
            let undocumented = action.undocumented.iter().map(|extra| {
                json!({ "in": word(extra.kind), "name": &*extra.name, "value": extra.gene.store() })
            });
            let undocumented: Vec<Json> = undocumented.collect();
            let breach = breach
                .as_ref()
                .map(|breach| json!({ "at": breach.pointer, "rule": breach.rule.keyword() }));
            json!({
                "call": operation.map(|operation| operation.name()),
                "input": action.gene.store(),
                "undocumented": undocumented,
                "breach": breach,
                "id": id,
                "user": user,
            })
        }
    }
}

fn restore_step(api: &Api, n_users: usize, json: &Json) -> Option<Step> {
    let small = |json: &Json| u32::try_from(json.as_u64()?).ok();
    let user = match &json["user"] {
        Json::Null => None,
        user => Some(usize::try_from(user.as_u64()?).ok()?),
    };
    let kind = match &json["follow"] {
        Json::Null => StepKind::Call {
            action: restore_action(api, json)?,
            breach: match &json["breach"] {
                Json::Null => None,
                breach => Some(RuleViolation {
                    pointer: breach["at"].as_str()?.to_owned(),
                    rule: Rule::by_keyword(breach["rule"].as_str()?)?,
                }),
            },
        },
        source => StepKind::Follow(small(source)?),
    };
    user.is_none_or(|user| user < n_users).then_some(Step {
        id: small(&json["id"])?,
        kind,
        user,
    })
}

fn restore_action(api: &Api, json: &Json) -> Option<Action> {
    let name = json["call"].as_str()?;
    let operations = &api.operations;
    let mut numbered = operations.iter().enumerate();
    let (operation, known) = numbered.find(|(_, known)| known.name() == name)?;
    let undocumented = json["undocumented"].as_array()?.iter().map(|extra| {
        let kind = UndocumentedKind::ALL
            .into_iter()
            .find(|kind| Some(word(*kind)) == extra["in"].as_str())?;
        UndocumentedInput::restore(kind, extra["name"].as_str()?.into(), &extra["value"])
    });
    let undocumented: Option<Vec<UndocumentedInput>> = undocumented.collect();
    Some(Action {
        operation,
        gene: Gene::restore(&api.model, known.input, &json["input"])?,
        undocumented: undocumented?,
    })
}

fn word(kind: UndocumentedKind) -> &'static str {
    match kind {
        UndocumentedKind::Query => "query",
        UndocumentedKind::Header => "header",
        UndocumentedKind::Cookie => "cookie",
        UndocumentedKind::Field => "field",
        UndocumentedKind::Form => "form",
        UndocumentedKind::Body => "body",
    }
}

fn store_cell(cell: &NewCell) -> Json {
    match cell {
        NewCell::Default => json!(["default"]),
        NewCell::Of { row, column } => json!(["of", row, column]),
        NewCell::Value(value) => store_value(value),
    }
}

/// The name of a type and the value as text, which is exact where a JSON number is not.
fn store_value(value: &Value) -> Json {
    match value {
        Value::Null => json!(["null"]),
        Value::Bool(truth) => json!(["bool", truth.to_string()]),
        Value::Int(n) => json!(["int", n.to_string()]),
        Value::Decimal(n) => json!(["decimal", n.to_string()]),
        Value::Float(x) => json!(["float", x.to_string()]),
        Value::Text(text) => json!(["text", text]),
        Value::Bytes(bytes) => json!(["bytes", binary::encode(bytes)]),
        Value::Date(date) => json!(["date", date.to_string()]),
        Value::Time(time) => json!(["time", time.to_string()]),
        Value::DateTime(moment) => json!(["datetime", moment.to_string()]),
        Value::Instant(moment) => json!(["instant", moment.to_string()]),
        Value::Interval(span) => json!(["interval", span.months, span.days, span.micros]),
        Value::Uuid(bytes) => json!(["uuid", binary::encode(bytes)]),
        Value::Json(text) => json!(["json", text]),
    }
}

fn restore_row(schema: &Schema, json: &Json) -> Option<NewRow> {
    let name = json["table"].as_str()?;
    let mut tables = schema.tables.iter().enumerate();
    let (table, known) = tables.find(|(_, table)| table.name == name)?;
    let cells = json["cells"].as_array()?.iter().map(restore_cell);
    let cells: Option<Vec<NewCell>> = cells.collect();
    let cells = cells.filter(|cells| cells.len() == known.columns.len())?;
    let id = u32::try_from(json["id"].as_u64()?).ok()?;
    Some(NewRow { id, table, cells })
}

fn restore_cell(json: &Json) -> Option<NewCell> {
    let number = |at: usize| json.get(at)?.as_u64();
    Some(match json.get(0)?.as_str()? {
        "default" => NewCell::Default,
        "of" => NewCell::Of {
            row: u32::try_from(number(1)?).ok()?,
            column: usize::try_from(number(2)?).ok()?,
        },
        _ => NewCell::Value(restore_value(json)?),
    })
}

fn restore_value(json: &Json) -> Option<Value> {
    let text = || json.get(1)?.as_str();
    let bytes = || binary::decode(text()?);
    let number = |at: usize| json.get(at)?.as_i64();
    Some(match json.get(0)?.as_str()? {
        "null" => Value::Null,
        "bool" => Value::Bool(text()?.parse().ok()?),
        "int" => Value::Int(text()?.parse().ok()?),
        "decimal" => Value::Decimal(text()?.parse().ok()?),
        "float" => Value::Float(text()?.parse().ok()?),
        "text" => Value::Text(text()?.to_owned()),
        "bytes" => Value::Bytes(bytes()?.to_vec()),
        "date" => Value::Date(text()?.parse().ok()?),
        "time" => Value::Time(text()?.parse().ok()?),
        "datetime" => Value::DateTime(text()?.parse().ok()?),
        "instant" => Value::Instant(text()?.parse().ok()?),
        "interval" => Value::Interval(Interval {
            months: i32::try_from(number(1)?).ok()?,
            days: i32::try_from(number(2)?).ok()?,
            micros: number(3)?,
        }),
        "uuid" => Value::Uuid((*bytes()?).try_into().ok()?),
        "json" => Value::Json(text()?.to_owned()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use isobath_genes::{GeneConfig, Reference};
    use isobath_sql::DialectName;
    use isobath_sql::ddl::{Source, load};

    use super::*;
    use crate::openapi::{self, NoLoader};

    const DOCUMENT: &str = r"
openapi: 3.0.0
info: {title: Pets, version: '1'}
paths:
  /pets:
    post:
      requestBody:
        content:
          application/json: {schema: {type: object, properties: {name: {type: string}, weight: {type: number}}}}
          application/xml: {schema: {type: object, properties: {name: {type: string}}}}
      responses: {'201': {description: made}}
  /pets/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {'200': {description: it}}
";

    fn table() -> Schema {
        let sql = "CREATE TABLE pets (id INTEGER PRIMARY KEY, name TEXT, born DATE, tag BLOB, weight DECIMAL(8,3))";
        let source = Source {
            name: "pets.sql".to_owned(),
            text: sql.to_owned(),
        };
        load("pets", &[source], Some(DialectName::Sqlite)).schema
    }

    fn sample(api: &Api, seed: u64) -> Candidate {
        let (mut rng, tuning) = (fastrand::Rng::with_seed(seed), GeneConfig::robust());
        let mut candidate = Candidate::default();
        candidate.rows.push(NewRow {
            id: 9,
            table: 0,
            cells: vec![
                NewCell::Default,
                NewCell::Value(Value::text("Rex")),
                NewCell::Value(Value::Date(jiff::civil::date(2024, 2, 29))),
                NewCell::Value(Value::Bytes(vec![0, 255])),
                NewCell::Value(Value::Decimal("1.250".parse().expect("a number"))),
            ],
        });
        let mut action = Action::sample(api, 0, &mut rng, &tuning).expect("an operation");
        let name: Arc<str> = "hidden".into();
        let extra = UndocumentedInput::sample(UndocumentedKind::Query, name, &mut rng, &tuning);
        action.undocumented.push(extra);
        let breach = action.breaches(api).pop();
        let made = candidate.push(StepKind::Call { action, breach }, Some(1));
        let mut get = Action::sample(api, 1, &mut rng, &tuning).expect("an operation");
        let place = "body/id".into();
        let source = if seed.is_multiple_of(2) { made } else { 9 };
        get.gene.bind("/path/id", Reference { source, place });
        let get = StepKind::Call {
            action: get,
            breach: None,
        };
        candidate.push(get, None);
        candidate.push(StepKind::Follow(made), Some(0));
        candidate
    }

    #[test]
    fn what_is_stored_is_restored_as_it_was() {
        let api = openapi::read(DOCUMENT, "pets.yaml", &NoLoader).expect("a document");
        let schema = table();
        for seed in 0..100 {
            let candidate = sample(&api, seed);
            let text = store(&api, Some(&schema), &candidate).to_string();
            let json: Json = serde_json::from_str(&text).expect("what was printed");
            let restored = restore(&api, Some(&schema), 2, &json);
            let debug = |candidate: &Candidate| format!("{candidate:?}");
            assert_eq!(
                restored.as_ref().map(debug),
                Some(debug(&candidate)),
                "{text}"
            );
        }
    }

    #[test]
    fn snapshots_are_restored_as_they_were() {
        let cells = [
            Value::Null,
            Value::Int(-7),
            Value::text("it's"),
            Value::Bytes(vec![0, 255]),
            Value::Float(0.1),
            Value::Date(jiff::civil::date(2024, 2, 29)),
        ];
        let first = Snapshot {
            rows: [("pets".to_owned(), vec![cells.to_vec()])].into(),
            counters: vec![Counter {
                name: "pets".to_owned(),
                last: 12,
                is_called: true,
            }],
        };
        let text = store_snapshot(&first).to_string();
        let json: Json = serde_json::from_str(&text).expect("what was printed");
        assert_eq!(restore_snapshot(&json), Some(first), "{text}");
        assert_eq!(restore_snapshot(&json!({ "tables": {} })), None);
    }

    #[test]
    fn what_is_unknown_here_is_not_restored() {
        let api = openapi::read(DOCUMENT, "pets.yaml", &NoLoader).expect("a document");
        let schema = table();
        let good = store(&api, Some(&schema), &sample(&api, 0));
        let refused = |change: &dyn Fn(&mut Json)| {
            let mut json = good.clone();
            change(&mut json);
            restore(&api, Some(&schema), 2, &json).is_none()
        };
        assert!(!refused(&|_| {}));
        assert!(restore(&api, None, 2, &good).is_none(), "no database");
        assert!(
            restore(&api, Some(&schema), 1, &good).is_none(),
            "no second user"
        );
        assert!(refused(
            &|json| json["steps"][0]["call"] = "DELETE /pets".into()
        ));
        assert!(refused(&|json| json["steps"][0]["input"] = json!(["a", []])));
        assert!(refused(&|json| json["steps"][2]["follow"] = 77.into()));
        assert!(refused(
            &|json| json["steps"][1]["id"] = json["steps"][0]["id"].clone()
        ));
        assert!(refused(&|json| json["rows"][0]["table"] = "cats".into()));
        assert!(refused(
            &|json| json["rows"][0]["cells"][0] = json!(["of", 9, 0])
        ));
        assert!(refused(&|json| *json = Json::Null));
    }
}
