//! Models of undocumented request bodies, from the type into which the service parses them.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use isobath_genes::{Model, NodeId};
use serde_json::{Value as Json, json};

use crate::openapi::{self, NoLoader};

/// A model, and where in it the body is.
pub(crate) type BodyModel = (Arc<Model>, NodeId);

/// Services tell the same few types again and again.
static KNOWN: LazyLock<Mutex<BTreeMap<Arc<str>, Option<BodyModel>>>> =
    LazyLock::new(Mutex::default);

/// What a JSON Schema allows; `None` when it is none.
pub(crate) fn shape(schema: &Arc<str>) -> Option<BodyModel> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(shape) = known.get(schema) {
        return shape.clone();
    }
    let shape = read(schema);
    known.insert(Arc::clone(schema), shape.clone());
    shape
}

/// Reads it as part of a document, so that a schema means the same wherever it comes from.
fn read(schema: &str) -> Option<BodyModel> {
    let schema: Json = serde_json::from_str(schema).ok()?;
    let body = json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    let post = json!({ "requestBody": body, "responses": {} });
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": "", "version": "" },
        "paths": { "/": { "post": post } },
    });
    let api = openapi::read(&document.to_string(), "the type of a body", &NoLoader).ok()?;
    let node = super::property(&api.model, api.operations.first()?.input, "body")?;
    Some((Arc::clone(&api.model), node))
}

/// Whether a body of this schema may have a field of this name; one without a name is any body.
pub(crate) fn describes(schema: &Arc<str>, name: &str) -> bool {
    shape(schema).is_some_and(|(model, node)| {
        name.is_empty() || super::declared(&model, node, name).is_some()
    })
}
