//! Fills templates.

use std::collections::{BTreeMap, BTreeSet};

use super::{Condition, Filter, Node, Template, TemplateError};

/// What a template is filled with.
pub(crate) type Values = BTreeMap<String, String>;

impl Template {
    /// The text, with everything filled in.
    pub(crate) fn render(&self, values: &Values) -> Result<String, TemplateError> {
        let mut text = String::new();
        render(&self.0, values, &mut text)?;
        Ok(text)
    }

    /// All names that it asks for.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        collect(&self.0, &mut names);
        names
    }
}

fn render(nodes: &[Node], values: &Values, text: &mut String) -> Result<(), TemplateError> {
    for node in nodes {
        match node {
            Node::Text(plain) => text.push_str(plain),
            Node::Value { name, filters } => {
                let value = filled(values.get(name), filters);
                let value = value.ok_or_else(|| TemplateError::Missing(name.clone()))?;
                text.push_str(&value);
            }
            Node::If {
                condition,
                then,
                otherwise,
            } => {
                let chosen = if condition.holds(values) {
                    then
                } else {
                    otherwise
                };
                render(chosen, values, text)?;
            }
        }
    }
    Ok(())
}

fn filled(value: Option<&String>, filters: &[Filter]) -> Option<String> {
    filters
        .iter()
        .fold(value.cloned(), |value, filter| match (filter, value) {
            (Filter::Default(text), None) => Some(text.clone()),
            (Filter::Default(text), Some(value)) if value.trim().is_empty() => Some(text.clone()),
            (Filter::Upper, Some(value)) => Some(value.to_uppercase()),
            (Filter::Lower, Some(value)) => Some(value.to_lowercase()),
            (Filter::Title, Some(value)) => Some(title(&value)),
            (Filter::Trim, Some(value)) => Some(value.trim().to_owned()),
            (Filter::Truncate(length), Some(value)) => Some(truncate(&value, *length)),
            (_, value) => value,
        })
}

fn title(text: &str) -> String {
    let mut start = true;
    let mut titled = String::with_capacity(text.len());
    for letter in text.chars() {
        if start {
            titled.extend(letter.to_uppercase());
        } else {
            titled.extend(letter.to_lowercase());
        }
        start = letter.is_whitespace() || letter == '-';
    }
    titled
}

/// Cut to a length, the last letter being an ellipsis if something is missing.
fn truncate(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(length - 1).collect();
    cut.push('…');
    cut
}

impl Condition {
    fn holds(&self, values: &Values) -> bool {
        match self {
            Self::Set(name) => match values.get(name).map(String::as_str) {
                None | Some("" | "false") => false,
                Some(_) => true,
            },
            Self::Not(inner) => !inner.holds(values),
            Self::Equal(name, expected) => values.get(name) == Some(expected),
        }
    }
}

fn collect<'n>(nodes: &'n [Node], names: &mut BTreeSet<&'n str>) {
    for node in nodes {
        match node {
            Node::Text(_) => {}
            Node::Value { name, .. } => {
                names.insert(name);
            }
            Node::If {
                condition,
                then,
                otherwise,
            } => {
                let mut condition = condition;
                while let Condition::Not(inner) = condition {
                    condition = inner;
                }
                if let Condition::Set(name) | Condition::Equal(name, _) = condition {
                    names.insert(name);
                }
                collect(then, names);
                collect(otherwise, names);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TemplateError, parse};
    use super::Values;

    #[track_caller]
    fn check(source: &str, expected: Result<&str, TemplateError>) {
        let values = Values::from([
            ("name".to_owned(), "ada lovelace".to_owned()),
            ("plan".to_owned(), "gold".to_owned()),
            ("empty".to_owned(), String::new()),
        ]);
        let filled = parse(source).and_then(|template| template.render(&values));
        assert_eq!(filled, expected.map(str::to_owned), "{source}");
    }

    #[test]
    fn values_pass_through_filters() {
        check("Dear {{name|title}},", Ok("Dear Ada Lovelace,"));
        check("{{ name | truncate:4 | upper }}", Ok("ADA…"));
        check(
            "{{ nick | default:\"you\" }} {{ empty|default:\"?\" }}",
            Ok("you ?"),
        );
        check("a{# not seen #}b", Ok("ab"));
    }

    #[test]
    fn conditions_choose() {
        check("{% if plan == \"gold\" %}G{% else %}S{% end %}", Ok("G"));
        check(
            "{% if not empty %}{% if name %}both{% end %}{% end %}",
            Ok("both"),
        );
        check("{% if nobody %}x{% end %}", Ok(""));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        check("\n{{ name", Err(TemplateError::Open("{{", 2)));
        check("{% if name %}x", Err(TemplateError::Open("if", 1)));
        check(
            "{{ name | shout }}",
            Err(TemplateError::Filter("shout".to_owned(), 1)),
        );
        check(
            "{{ nobody }}",
            Err(TemplateError::Missing("nobody".to_owned())),
        );
        assert!(
            parse("{% end %}").is_err() && parse("{{ 1 }}").is_err() && parse("{% for %}").is_err()
        );
        assert_eq!(parse(&"{% if a %}".repeat(9)), Err(TemplateError::Deep(6)));
    }

    #[test]
    fn all_names_are_known_before() {
        let template =
            parse("{{b}}{% if not a %}{{c}}{% else %}{{d}}{% end %}").expect("it is fine");
        assert_eq!(
            template.names().into_iter().collect::<Vec<_>>(),
            ["a", "b", "c", "d"]
        );
    }
}
