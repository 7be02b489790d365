//! Reads queries from lines of JSON.

use serde::Deserialize;

use isobath_rows::query::cover::QueryText;

/// A line of a .jsonl file.
#[derive(Deserialize)]
struct Record {
    id: Option<serde_json::Value>,
    query: Option<String>,
    sql: Option<String>,
    #[serde(default)]
    targets: Vec<RecordedTarget>,
}

/// A target: its SQL, or an object as `isobath query targets` prints it.
#[derive(Deserialize)]
#[serde(untagged)]
enum RecordedTarget {
    Sql(String),
    Object { sql: String },
}

impl RecordedTarget {
    fn sql(self) -> String {
        match self {
            Self::Sql(sql) | Self::Object { sql } => sql,
        }
    }
}

impl Record {
    fn id(&self) -> Option<String> {
        self.id.as_ref().map(|id| match id {
            serde_json::Value::String(id) => id.clone(),
            other => other.to_string(),
        })
    }
}

fn lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| (number as u64 + 1, line))
}

/// The queries of a text; a line that is none does not lose the others.
pub(super) fn read(text: &str) -> Vec<QueryText> {
    lines(text)
        .map(|(line, text)| {
            let given = QueryText {
                id: line.to_string(),
                line,
                encoded: true,
                ..QueryText::default()
            };
            let broken = |why: String| QueryText {
                broken: Some(why),
                ..given.clone()
            };
            match serde_json::from_str::<Record>(text) {
                Ok(record) => match record.query.clone().or_else(|| record.sql.clone()) {
                    Some(sql) => QueryText {
                        id: record.id().unwrap_or_else(|| line.to_string()),
                        sql,
                        targets: record
                            .targets
                            .into_iter()
                            .map(RecordedTarget::sql)
                            .collect(),
                        ..given
                    },
                    None => broken("the line has no `query`".to_owned()),
                },
                Err(error) => broken(error.to_string()),
            }
        })
        .collect()
}

/// The targets of a text: of lines with `targets`, or lines that are one target each.
pub(super) fn targets(text: &str) -> Vec<(Option<String>, String)> {
    let mut found = Vec::new();
    for (_, line) in lines(text) {
        if let Ok(record) = serde_json::from_str::<Record>(line) {
            let id = record.id();
            let one = record.targets.is_empty().then_some(record.sql).flatten();
            let many = record.targets.into_iter().map(RecordedTarget::sql);
            found.extend(many.chain(one).map(|sql| (id.clone(), sql)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_line_does_not_lose_the_others() {
        let given = read("{\"query\": \"SELECT 1\"}\n{oops\n{\"id\": 7, \"sql\": \"SELECT 2\"}");
        assert_eq!(given.len(), 3);
        assert!(given[0].broken.is_none() && given[1].broken.is_some());
        assert_eq!((given[2].id.as_str(), given[2].line), ("7", 3));
    }

    #[test]
    fn targets_belong_to_the_query_whose_id_they_carry() {
        let text = "{\"id\":\"a\",\"targets\":[\"S1\",{\"sql\":\"S2\",\"rule\":\"WT\"}]}\n{\"sql\":\"S3\"}";
        let of = |id: &str, sql: &str| (Some(id.to_owned()), sql.to_owned());
        assert_eq!(
            targets(text),
            [of("a", "S1"), of("a", "S2"), (None, "S3".to_owned())]
        );
    }
}
