//! JSON Schema of `isobath.toml`, for editors.

use clap::Command;
use serde_json::{Map, Value, json};

use super::JOBS;
use super::keys::{ConfigKey, ValueKind, keys};

/// The schema of `isobath.toml`.
pub(super) fn schema(command: &Command) -> Value {
    let mut command = command.clone();
    command.build();
    let jobs = JOBS.iter().filter_map(|name| {
        let job = command.find_subcommand(name)?;
        let properties: Map<String, Value> =
            keys(job).map(|key| (key.name(), property(key))).collect();
        let about = job.get_about().map(ToString::to_string);
        let table = json!({
            "type": "object",
            "description": about.unwrap_or_default(),
            "additionalProperties": false,
            "properties": properties,
        });
        Some(((*name).to_owned(), table))
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Isobath configuration",
        "description": "isobath.toml: default values of flags. ${NAME} and ${NAME:-default} are replaced by environment variables.",
        "type": "object",
        "additionalProperties": false,
        "properties": jobs.collect::<Map<_, _>>(),
    })
}

fn property(key: ConfigKey<'_>) -> Value {
    let one = match key.takes() {
        ValueKind::Truth => json!({ "type": "boolean" }),
        // Numbers may also be texts with variables in them.
        ValueKind::Integer => json!({ "type": ["integer", "string"] }),
        ValueKind::Number => json!({ "type": ["number", "string"] }),
        ValueKind::Text => {
            let values = key.arg.get_possible_values();
            if values.is_empty() {
                json!({ "type": "string" })
            } else {
                let names = values.iter().map(|value| value.get_name());
                json!({ "enum": names.collect::<Vec<_>>() })
            }
        }
    };
    let mut property = if key.is_list() {
        json!({ "anyOf": [one, { "type": "array", "items": one }] })
    } else {
        one
    };
    let mut put = |name: &str, value: Value| {
        if let Value::Object(members) = &mut property {
            members.insert(name.to_owned(), value);
        }
    };
    if let Some(help) = key.arg.get_help() {
        put("description", json!(help.to_string()));
    }
    let default: Vec<_> = key
        .arg
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy())
        .collect();
    if let ([default], ValueKind::Text) = (default.as_slice(), key.takes()) {
        put("default", json!(default));
    }
    property
}
