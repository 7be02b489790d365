//! Which operations are tested.

use clap::Args;
use isobath_rest::openapi::{Api, Operation};

use super::run::SetupError;

/// Flags that select operations. Without any, all are tested.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SelectArgs {
    /// Test only operations with this operationId or "METHOD /path"; `*` matches any text; repeatable.
    #[arg(long, value_name = "PATTERN", help_heading = "Service")]
    pub operation: Vec<String>,

    /// Test only operations whose path matches; `*` matches any text; repeatable.
    #[arg(long, value_name = "PATTERN", help_heading = "Service")]
    pub include_path: Vec<String>,

    /// Leave out operations whose path matches; `*` matches any text; repeatable.
    #[arg(long, value_name = "PATTERN", help_heading = "Service")]
    pub exclude_path: Vec<String>,

    /// Test only operations with this tag; `*` matches any text; repeatable.
    #[arg(long, value_name = "PATTERN", help_heading = "Service")]
    pub tag: Vec<String>,

    /// Test only operations with this method; repeatable.
    #[arg(long, value_name = "METHOD", help_heading = "Service")]
    pub method: Vec<String>,
}

impl SelectArgs {
    /// Leaves only the selected operations.
    pub(super) fn select(&self, api: &mut Api) -> Result<(), SetupError> {
        let n_all = api.operations.len();
        api.retain_operations(|operation| self.is_selected(operation));
        if api.operations.is_empty() && n_all > 0 {
            return Err(SetupError::usage(format!(
                "none of the {n_all} operations is selected by --operation, --include-path, --exclude-path, --tag and --method; --dry-run lists them"
            )));
        }
        Ok(())
    }

    fn is_selected(&self, operation: &Operation) -> bool {
        let any = |patterns: &[String], texts: &[&str]| {
            let mut patterns = patterns.iter();
            patterns.any(|pattern| texts.iter().any(|text| matches(pattern, text)))
        };
        let wanted =
            |patterns: &[String], texts: &[&str]| patterns.is_empty() || any(patterns, texts);
        let id = operation.operation_id.as_deref().unwrap_or_default();
        let tags: Vec<&str> = operation.tags.iter().map(|tag| &**tag).collect();
        wanted(&self.operation, &[id, &operation.name()])
            && wanted(&self.include_path, &[&operation.path])
            && !any(&self.exclude_path, &[&operation.path])
            && wanted(&self.tag, &tags)
            && wanted(&self.method, &[&operation.method])
    }
}

/// Whether a pattern matches a text, upper and lower case alike.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_lowercase(), text.to_lowercase());
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in between {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use isobath_rest::openapi::{NoLoader, read};

    use super::*;

    #[test]
    fn patterns_match_with_stars() {
        for (pattern, text, is_match) in [
            ("/pets", "/pets", true),
            ("/pets", "/pets/{id}", false),
            ("/pets*", "/pets/{id}", true),
            ("*/admin/*", "/api/admin/users", true),
            ("get *", "GET /pets", true),
            ("*a*b", "xaxxb", true),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(matches(pattern, text), is_match, "{pattern} {text}");
        }
    }

    #[test]
    fn links_lead_to_the_operations_that_are_left() {
        let document = r#"
openapi: 3.0.0
info: {title: t, version: '1'}
paths:
  /gone:
    get: {operationId: gone, responses: {'200': {description: ok}}}
  /pets:
    post:
      tags: [pets]
      responses:
        '201':
          description: made
          links:
            one: {operationId: one, parameters: {id: $response.body#/id}}
            other: {operationId: gone}
  /pets/{id}:
    get:
      operationId: one
      tags: [pets]
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {'200': {description: one}}
"#;
        let mut api = read(document, "pets.yaml", &NoLoader).expect("a document");
        let args = SelectArgs {
            tag: vec!["pet*".into()],
            ..SelectArgs::default()
        };
        assert!(args.select(&mut api).is_ok());
        let names: Vec<String> = api.operations.iter().map(Operation::name).collect();
        assert_eq!(names, ["POST /pets", "GET /pets/{id}"]);
        let targets: Vec<Option<usize>> = api.operations[0].responses[0]
            .links
            .iter()
            .map(|link| link.target)
            .collect();
        assert_eq!(targets, [Some(1), None]);
        let none = SelectArgs {
            method: vec!["TRACE".into()],
            ..SelectArgs::default()
        };
        assert!(none.select(&mut api).is_err());
    }
}
