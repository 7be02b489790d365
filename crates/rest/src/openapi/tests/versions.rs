//! Features of single OpenAPI versions.

use isobath_genes::Value as GeneValue;

use super::*;

/// Documents by location.
struct Shelf(BTreeMap<&'static str, Json>);

impl Loader for Shelf {
    fn load(&self, location: &str) -> Result<String, String> {
        let found = self.0.get(location).ok_or("it is not there")?;
        Ok(found.to_string())
    }
}

fn naming_itself(shelf: Shelf) -> Api {
    let document = json!({
        "openapi": "3.2.0",
        "$self": "https://example.org/apis/harbor.json",
        "paths": {"/x": {"post": {
            "requestBody": {"content": {"application/json": {"schema": {"$ref": "parts.json#/Boat"}}}},
            "responses": {"200": {"description": "", "content": {"application/json":
                {"schema": {"$ref": "https://example.org/apis/harbor.json#/components/schemas/Own"}}}}},
        }}},
        "components": {"schemas": {"Own": {"type": "string"}}},
    });
    read(&document.to_string(), "copies/harbor.json", &shelf).expect("an OpenAPI document")
}

#[test]
fn references_lead_on_from_what_a_document_calls_itself() {
    let parts = json!({"Boat": {"type": "object", "required": ["name"], "properties": {"name": {"const": "Gull"}}}});
    for place in ["https://example.org/apis/parts.json", "copies/parts.json"] {
        let api = naming_itself(Shelf([(place, parts.clone())].into()));
        assert_eq!(limitations(&api), "", "{place}");
        let gulls = bodies(&api);
        assert!(
            gulls.contains(&json!({"name": "Gull"})),
            "{place}: {gulls:?}"
        );
    }
    let api = naming_itself(Shelf(BTreeMap::new()));
    assert!(
        limitations(&api).contains("`parts.json#/Boat`")
            || limitations(&api).contains("`parts.json`"),
        "{}",
        limitations(&api)
    );
}

#[test]
fn a_default_mapping_is_said_not_to_be_followed() {
    let schemas = json!({
        "Cat": {"type": "object", "properties": {"kind": {"type": "string"}}},
        "Pet": {"oneOf": [{"$ref": "#/components/schemas/Cat"}],
                "discriminator": {"propertyName": "kind", "defaultMapping": "Cat"}},
    });
    let api = posting(json!({"$ref": "#/components/schemas/Pet"}), schemas);
    assert!(
        limitations(&api).contains("schema-keyword `defaultMapping` is not followed"),
        "{}",
        limitations(&api)
    );
}

#[test]
fn a_parameter_may_be_sent_by_its_name_alone() {
    let document = |allowed: bool| {
        api(&json!({
            "openapi": "3.0.3",
            "paths": {"/x": {"get": {
                "parameters": [{"name": "n", "in": "query", "required": true, "allowEmptyValue": allowed,
                    "schema": {"type": "integer"}}],
                "responses": {"200": {"description": "ok"}},
            }}},
        }))
    };
    let queries = |allowed: bool| {
        let api = document(allowed);
        let mut rng = Rng::with_seed(1);
        let action = |_| {
            let action = crate::action::Action::sample(&api, 0, &mut rng, &GeneConfig::default())
                .expect("there");
            assert!(!matches!(action.gene.value(), GeneValue::Absent));
            action.request(&api, &Unresolved).query
        };
        (0..60).map(action).collect::<Vec<String>>()
    };
    assert!(queries(true).contains(&"n=".to_owned()));
    assert!(queries(true).iter().any(|query| query.len() > 2));
    assert!(!queries(false).contains(&"n=".to_owned()));
}
