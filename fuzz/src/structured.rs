//! Targets whose inputs are right by construction: each byte is a choice. Queries over a few rows, run by us and by SQLite;
//! documents, with a service that answers by chance.

use fastrand::Rng;
use isobath_exec::connect;
use isobath_genes::{GeneConfig, Unresolved};
use isobath_rest::action::{Action, ReceivedResponse, ResponseChecker};
use isobath_rest::openapi::{self, NoLoader};
use isobath_sql::ddl::{Source, load};
use isobath_sql::{DialectName, Value, query as sql};
use serde_json::{Map, Value as Json, json};

/// Bytes as choices; when they are used up, always the first one.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn below(&mut self, n: usize) -> usize {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                usize::from(*first) % n
            }
            None => 0,
        }
    }

    fn of<'o, T: ?Sized>(&mut self, options: &[&'o T]) -> &'o T {
        options[self.below(options.len())]
    }
}

const TABLES: &str =
    "CREATE TABLE t (a INTEGER, b INTEGER, s TEXT); CREATE TABLE u (a INTEGER, b INTEGER, s TEXT);";

/// Runs a query over a few rows by ourselves and by SQLite, which must return the same rows.
pub fn evaluated(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let source = Source {
        name: "fuzz.sql".to_owned(),
        text: TABLES.to_owned(),
    };
    let schema = load("fuzz", &[source], Some(DialectName::Sqlite)).schema;
    let mut database = connect("sqlite::memory:").expect("SQLite is built in");
    let mut run = |statement: &str| {
        database
            .execute_required(statement)
            .unwrap_or_else(|error| panic!("{statement}: {error}"));
    };
    TABLES.split_inclusive(';').for_each(&mut run);
    let mut tables = Vec::new();
    for name in ["t", "u"] {
        let rows: Vec<Vec<Value>> = (0..choices.below(4)).map(|_| row(&mut choices)).collect();
        for row in &rows {
            let literal = |value| isobath_sql::render::literal(value, DialectName::Sqlite);
            let values: Vec<String> = row.iter().map(literal).collect();
            run(&format!(
                "INSERT INTO {name} VALUES ({})",
                values.join(", ")
            ));
        }
        tables.push(rows);
    }
    let text = select(&mut choices);
    let query = sql::parse(&text, &schema, DialectName::Sqlite)
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    // What we do not evaluate is told, and no wrong answer.
    let Ok(ours) = sql::evaluate(&query, &tables, &[], DialectName::Sqlite.dialect()) else {
        return;
    };
    let theirs = database
        .query_required(&text)
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    let shown = |rows: &[Vec<Value>]| {
        let mut rows: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
        rows.sort();
        rows
    };
    assert_eq!(
        shown(&ours.rows),
        shown(&theirs.rows),
        "{text} on {tables:?}"
    );
}

fn row(choices: &mut Choices<'_>) -> Vec<Value> {
    let mut number = || match choices.below(5) {
        0 => Value::Null,
        n => Value::from([0, 1, 2, -1][n - 1]),
    };
    let (a, b) = (number(), number());
    let s = match choices.below(5) {
        0 => Value::Null,
        n => Value::from(["", "a", "A", "ab"][n - 1]),
    };
    vec![a, b, s]
}

fn select(choices: &mut Choices<'_>) -> String {
    let join = match choices.below(4) {
        0 => String::new(),
        n => format!(
            " {} JOIN u ON {}",
            ["INNER", "LEFT", "INNER"][n - 1],
            predicate(choices, true, 1)
        ),
    };
    let joined = !join.is_empty();
    let condition = predicate(choices, joined, 3);
    let from = format!("FROM t{join} WHERE {condition}");
    match choices.below(4) {
        0 => format!("SELECT t.a, t.s {from}"),
        1 => format!("SELECT DISTINCT t.b, {} {from}", number(choices, joined, 1)),
        2 => format!("SELECT t.a, COUNT(*), SUM(t.b), MIN(t.s) {from} GROUP BY t.a"),
        _ => {
            let number = number(choices, joined, 1);
            format!("SELECT COUNT({number}), MAX(t.a) {from}")
        }
    }
}

fn predicate(choices: &mut Choices<'_>, joined: bool, depth: usize) -> String {
    if depth > 0 && choices.below(2) == 1 {
        let left = predicate(choices, joined, depth - 1);
        return match choices.below(5) {
            0 => format!("NOT ({left})"),
            1 => format!("({left}) IS NOT TRUE"),
            n => {
                let right = predicate(choices, joined, depth - 1);
                format!("({left}) {} ({right})", ["AND", "OR", "AND"][n - 2])
            }
        };
    }
    let text = choices.of(if joined { &["t.s", "u.s"] } else { &["t.s"] });
    let operator = choices.of(&["=", "<>", "<", "<=", ">", ">="]);
    match choices.below(8) {
        0 => {
            let (left, right) = (number(choices, joined, 1), number(choices, joined, 1));
            format!("{left} {operator} {right}")
        }
        1 => format!("{} IS NULL", number(choices, joined, 1)),
        2 => {
            let number = number(choices, joined, 1);
            format!("{number} BETWEEN 0 AND {}", choices.below(3))
        }
        3 => format!("{} IN (0, NULL, 2)", number(choices, joined, 0)),
        4 => format!("{text} LIKE '{}'", choices.of(&["%", "a%", "_", "A_"])),
        5 => format!("{text} {operator} '{}'", choices.of(&["", "a", "A", "b"])),
        6 => format!("EXISTS (SELECT 1 FROM u AS v WHERE v.a = t.a AND v.b {operator} 1)"),
        _ => format!("t.a IN (SELECT v.b FROM u AS v WHERE v.s {operator} t.s)"),
    }
}

fn number(choices: &mut Choices<'_>, joined: bool, depth: usize) -> String {
    if depth > 0 && choices.below(3) == 0 {
        let left = number(choices, joined, depth - 1);
        return match choices.below(4) {
            0 => format!("(-{left})"),
            1 => format!("COALESCE({left}, 1)"),
            2 => format!("({left} + 1)"),
            _ => format!("(CASE WHEN {left} > 0 THEN {left} ELSE 0 END)"),
        };
    }
    let columns: &[&str] = match joined {
        true => &["t.a", "t.b", "u.a", "u.b"],
        false => &["t.a", "t.b"],
    };
    match choices.below(4) {
        0 => choices.below(3).to_string(),
        _ => choices.of(columns).to_owned(),
    }
}

/// Reads a document that is right, makes calls of it, and checks what a service answers by chance.
pub fn chance(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let document = document(&mut choices);
    let api = openapi::read(&document.to_string(), "fuzz.json", &NoLoader)
        .unwrap_or_else(|error| panic!("{document}: {error}"));
    let (mut rng, tuning) = (Rng::with_seed(1), GeneConfig::robust());
    let checker = ResponseChecker::new(&api);
    for (index, operation) in api.operations.iter().enumerate() {
        let mut action = Action::sample(&api, index, &mut rng, &tuning)
            .unwrap_or_else(|| panic!("no call of {} in {document}", operation.name()));
        for _ in 0..3 {
            action.mutate(&mut rng, &tuning);
            let _ = action.request(&api, &Unresolved);
            let body = value(&mut choices, 3).to_string().into_bytes();
            let kind = choices.of(&["application/json", "text/plain", "application/xml", "x"]);
            let answer = ReceivedResponse {
                status: [200, 201, 404, 500, 999][choices.below(5)],
                headers: &[("Content-Type", kind)],
                body: &body,
                json: None,
            };
            let _ = checker.check(&api, operation, &answer);
        }
    }
}

fn document(choices: &mut Choices<'_>) -> Json {
    let mut paths = Map::new();
    for n in 0..=choices.below(3) {
        let mut item = Map::new();
        for method in ["get", "post", "put", "delete"] {
            if choices.below(2) == 0 {
                item.insert(method.to_owned(), operation(choices));
            }
        }
        paths.insert(format!("/p{n}/{{id}}"), item.into());
    }
    // A document needs an operation.
    paths.insert("/p".to_owned(), json!({ "get": { "responses": {} } }));
    let components: Map<String, Json> = ["A", "B", "C"]
        .into_iter()
        .map(|name| (name.to_owned(), schema(choices, 3)))
        .collect();
    json!({
        "openapi": choices.of(&["3.0.3", "3.1.0"]),
        "info": { "title": "chance", "version": "1" },
        "paths": paths,
        "components": { "schemas": components },
    })
}

fn operation(choices: &mut Choices<'_>) -> Json {
    let mut parameters = vec![json!({
        "name": "id", "in": "path", "required": true, "schema": schema(choices, 0),
    })];
    for name in ["q", "r"] {
        if choices.below(2) == 0 {
            let place = choices.of(&["query", "header", "cookie"]);
            parameters.push(json!({ "name": name, "in": place, "schema": schema(choices, 1) }));
        }
    }
    let media = choices.of(&[
        "application/json",
        "application/x-www-form-urlencoded",
        "text/plain",
    ]);
    let mut operation = json!({
        "parameters": parameters,
        "responses": { "200": { "description": "", "content": { "application/json": { "schema": schema(choices, 2) } } } },
    });
    if choices.below(2) == 0 {
        operation["requestBody"] =
            json!({ "content": { media: { "schema": schema(choices, 2) } } });
    }
    operation
}

fn schema(choices: &mut Choices<'_>, depth: usize) -> Json {
    let bound = choices.below(5);
    let simple = match choices.below(7) {
        0 => json!({ "type": "integer", "minimum": bound }),
        1 => json!({ "type": "string", "minLength": bound, "maxLength": bound + 3 }),
        2 => json!({ "type": "boolean" }),
        3 => {
            json!({ "type": "number", "multipleOf": 0.5, "exclusiveMinimum": choices.below(2) == 0 })
        }
        4 => {
            json!({ "type": "string", "format": choices.of(&["date", "date-time", "uuid", "byte", "email"]) })
        }
        5 => json!({ "enum": [bound, "x", null, [1], { "a": 1 }] }),
        _ => json!({ "type": "string", "pattern": choices.of(&["^a+$", "[0-9]{3}", "^(x|y)*$"]) }),
    };
    if depth == 0 {
        return simple;
    }
    match choices.below(7) {
        0 => json!({ "$ref": format!("#/components/schemas/{}", choices.of(&["A", "B", "C"])) }),
        1 => {
            json!({ "type": "array", "items": schema(choices, depth - 1), "minItems": bound, "uniqueItems": choices.below(2) == 0 })
        }
        2 => {
            let properties =
                json!({ "a": schema(choices, depth - 1), "b": schema(choices, depth - 1) });
            let required = choices.of::<[&str]>(&[&[], &["a"], &["a", "c"]]);
            json!({ "type": "object", "properties": properties, "required": required })
        }
        3 => {
            json!({ "type": "object", "additionalProperties": schema(choices, depth - 1), "minProperties": bound })
        }
        4 => {
            let options = [schema(choices, depth - 1), schema(choices, depth - 1)];
            json!({ choices.of(&["oneOf", "anyOf", "allOf"]): options })
        }
        _ => simple,
    }
}

fn value(choices: &mut Choices<'_>, depth: usize) -> Json {
    match choices.below(if depth == 0 { 5 } else { 7 }) {
        0 => Json::Null,
        1 => json!(choices.below(2) == 0),
        2 => json!(choices.below(256)),
        3 => json!(1.5e300),
        4 => json!(choices.of(&["", "a", "2024-02-30", "\u{0}"])),
        5 => json!([value(choices, depth - 1), value(choices, depth - 1)]),
        _ => json!({ "a": value(choices, depth - 1), "b": value(choices, depth - 1) }),
    }
}
