//! dbt unit tests: a model per query that reads its tables as sources, and `unit_tests` that mock
//! these sources. Parameters become variables.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::name::{Names, slug, snake};
use super::text::{bare, header, one_line, sql_literal};
use super::{File, WriteError, Writer, only_queries};
use crate::query::{Query, QueryCase, QueryPart};
use crate::suite::{Suite, Test};

/// Writes a dbt project.
#[derive(Debug)]
pub(crate) struct Dbt;

impl Writer for Dbt {
    fn name(&self) -> &'static str {
        "dbt"
    }

    fn write(&self, suite: &Suite) -> Result<Vec<File>, WriteError> {
        only_queries("dbt", suite)?;
        let source = slug(&suite.schema);
        let mut tests = String::new();
        comment(&mut tests, suite);
        tests.push_str("version: 2\n\nunit_tests:\n");
        let mut models = Vec::new();
        let mut names = Names::default();
        let mut any = false;
        for query in &suite.queries {
            if let Err(why) = expressible(query) {
                let _ = write!(tests, "\n  # {} is left out: {why}.\n", one_line(&query.id));
                continue;
            }
            let model = names.unique(snake(&query.id));
            for case in &query.cases {
                let test = suite.tests.iter().find(|test| test.id == case.test);
                if let Some(test) = test {
                    any = true;
                    unit_test(&mut tests, &source, &model, query, case, test);
                }
            }
            models.push(File {
                path: format!("models/{model}.sql"),
                text: self::model(&source, query),
            });
        }
        if !any {
            tests = tests.replace("unit_tests:\n", "unit_tests: []\n");
        }
        let mut files = vec![File {
            path: "models/unit_tests.yml".into(),
            text: tests,
        }];
        files.push(File {
            path: "models/sources.yml".into(),
            text: sources(&source, suite),
        });
        files.push(File {
            path: "dbt_project.yml".into(),
            text: format!(
                "# Run with: dbt test --select test_type:unit\n\
                 # dbt asks the warehouse for the types of the sources' columns, so the tables must be\n\
                 # there; they may be empty. Their place is the variable `isobath_schema`.\n\
                 name: {source}\nversion: \"1.0.0\"\nprofile: isobath\nmodel-paths: [\"models\"]\n"
            ),
        });
        files.extend(models);
        Ok(files)
    }
}

fn comment(out: &mut String, suite: &Suite) {
    for line in header(suite) {
        let _ = writeln!(out, "{}", format!("# {line}").trim_end());
    }
}

/// Why a query is no dbt model.
fn expressible(query: &Query) -> Result<(), &'static str> {
    let first = query.sql();
    let first = first.split_whitespace().next().unwrap_or_default();
    if !["SELECT", "WITH", "VALUES", "("].iter().any(|word| {
        first
            .get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
    }) {
        return Err("it changes data, which a model does not");
    }
    for case in &query.cases {
        let mut columns: Vec<String> = case.columns.iter().map(|c| c.to_lowercase()).collect();
        columns.sort();
        if columns
            .iter()
            .zip(columns.iter().skip(1))
            .any(|(one, next)| one == next)
        {
            return Err("two of its columns have the same name");
        }
    }
    Ok(())
}

/// The query as a model: tables are sources, parameters are variables.
fn model(source: &str, query: &Query) -> String {
    let mut out = String::new();
    let n_parts = query.parts.len();
    for (idx, part) in query.parts.iter().enumerate() {
        match part {
            QueryPart::Text(text) => {
                let text = if idx + 1 == n_parts { bare(text) } else { text };
                out.push_str(&raw(text));
            }
            QueryPart::Table { name, .. } => {
                let name = name.replace('\'', "\\'");
                let _ = write!(out, "{{{{ source('{source}', '{name}') }}}}");
            }
            QueryPart::Parameter { index, .. } => {
                let _ = write!(out, "{{{{ var('{}', 'NULL') }}}}", variable(query, *index));
            }
        }
    }
    out.push('\n');
    out
}

/// Text that Jinja leaves as it is.
fn raw(text: &str) -> String {
    if ["{{", "{%", "{#"].iter().any(|open| text.contains(open)) {
        format!("{{% raw %}}{text}{{% endraw %}}")
    } else {
        text.to_owned()
    }
}

fn variable(query: &Query, index: usize) -> String {
    let written = query.parameters.get(index).map_or("", String::as_str);
    let name = written.trim_matches(|c: char| !(c.is_alphanumeric() || c == '_'));
    let name = if written.starts_with("%(") {
        name.trim_end_matches(")s")
    } else {
        name
    };
    let plain = written.starts_with([':', '@']) || written.starts_with("%(");
    if plain && !name.is_empty() {
        slug(name)
    } else {
        format!("parameter_{}", index + 1)
    }
}

fn sources(source: &str, suite: &Suite) -> String {
    let mut out = String::new();
    comment(&mut out, suite);
    let _ = write!(
        out,
        "version: 2\n\nsources:\n  - name: {source}\n    schema: \"{{{{ var('isobath_schema', target.schema) }}}}\"\n    tables:\n"
    );
    let mut tables: Vec<&str> = suite
        .queries
        .iter()
        .flat_map(|query| &query.parts)
        .filter_map(|part| match part {
            QueryPart::Table { name, .. } => Some(name.as_str()),
            _ => None,
        })
        .collect();
    tables.sort_unstable();
    tables.dedup();
    for table in tables {
        let _ = writeln!(out, "      - name: {}", Value::from(table));
    }
    out
}

fn unit_test(
    out: &mut String,
    source: &str,
    model: &str,
    query: &Query,
    case: &QueryCase,
    test: &Test,
) {
    let mut about = one_line(&test.name);
    for covered in &test.covers {
        let _ = write!(about, "; covers: {}", one_line(covered));
    }
    let _ = write!(
        out,
        "\n  - name: {}\n    description: {}\n    model: {model}\n",
        super::name::of_test(test),
        Value::from(about)
    );
    if !case.parameters.is_empty() {
        out.push_str("    overrides:\n      vars:\n");
        for (index, value) in case.parameters.iter().enumerate() {
            let _ = writeln!(
                out,
                "        {}: {}",
                variable(query, index),
                Value::from(sql(value))
            );
        }
    }
    out.push_str("    given:\n");
    let mut tables: Vec<&str> = Vec::new();
    for part in &query.parts {
        if let QueryPart::Table { name, .. } = part
            && !tables.contains(&name.as_str())
        {
            tables.push(name);
        }
    }
    if tables.is_empty() {
        out.truncate(out.len() - "    given:\n".len());
        out.push_str("    given: []\n");
    }
    for table in tables {
        let input = format!("source('{source}', '{table}')");
        let given = case
            .given
            .iter()
            .find(|given| given.table.eq_ignore_ascii_case(table));
        let _ = writeln!(out, "      - input: {}", Value::from(input));
        let rows = given.map(|given| (&given.columns, &given.rows));
        match rows {
            Some((columns, rows)) if !rows.is_empty() => {
                out.push_str("        rows:\n");
                for row in rows {
                    let _ = writeln!(out, "          - {}", object(columns, row.iter().cloned()));
                }
            }
            _ => out.push_str("        rows: []\n"),
        }
    }
    match test.expected_rows() {
        Some(rows) if !rows.is_empty() => {
            out.push_str("    expect:\n      rows:\n");
            for row in rows {
                let cells = row.iter().map(|cell| match cell {
                    Some(cell) => Value::from(cell.as_str()),
                    None => Value::Null,
                });
                let _ = writeln!(out, "        - {}", object(&case.columns, cells));
            }
        }
        _ => out.push_str("    expect:\n      rows: []\n"),
    }
}

/// A row as a flow mapping; JSON is YAML.
fn object(columns: &[String], cells: impl Iterator<Item = Value>) -> String {
    let cells: Map<String, Value> = columns.iter().cloned().zip(cells).collect();
    Value::Object(cells).to_string()
}

/// A value as SQL.
fn sql(value: &Value) -> String {
    match value {
        Value::String(text) => sql_literal(text),
        Value::Null => "NULL".to_owned(),
        other => other.to_string(),
    }
}
