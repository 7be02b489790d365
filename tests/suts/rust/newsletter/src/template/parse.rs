//! Reads templates.

use super::{Condition, Filter, Node, Template, TemplateError};

/// How deep conditions may stand in each other.
const DEEPEST: usize = 6;

/// Reads a template.
pub(crate) fn parse(source: &str) -> Result<Template, TemplateError> {
    let tokens = tokens(source)?;
    let mut parser = Parser { tokens, at: 0 };
    let nodes = parser.nodes(0)?;
    match parser.tokens.get(parser.at) {
        None => Ok(Template(nodes)),
        Some((Token::Tag(tag), line)) => Err(TemplateError::Tag(
            format!("`{tag}` without an `if`"),
            *line,
        )),
        Some((_, line)) => Err(TemplateError::Tag(
            "something that is left over".to_owned(),
            *line,
        )),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token<'s> {
    Text(&'s str),
    Value(&'s str),
    Tag(&'s str),
}

/// Opening, closing, and what is between them.
const BRACES: [(&str, &str); 3] = [("{{", "}}"), ("{%", "%}"), ("{#", "#}")];

fn tokens(source: &str) -> Result<Vec<(Token<'_>, usize)>, TemplateError> {
    let mut tokens = Vec::new();
    let mut rest = source;
    let mut line = 1;
    while !rest.is_empty() {
        let next = BRACES
            .iter()
            .filter_map(|(open, close)| Some((rest.find(open)?, *open, *close)))
            .min_by_key(|(at, ..)| *at);
        let Some((at, open, close)) = next else {
            tokens.push((Token::Text(rest), line));
            break;
        };
        let (before, after) = rest.split_at(at);
        if !before.is_empty() {
            tokens.push((Token::Text(before), line));
            line += before.matches('\n').count();
        }
        let after = &after[open.len()..];
        let (inner, tail) = after
            .split_once(close)
            .ok_or(TemplateError::Open(open, line))?;
        match open {
            "{{" => tokens.push((Token::Value(inner.trim()), line)),
            "{%" => tokens.push((Token::Tag(inner.trim()), line)),
            _ => {}
        }
        line += inner.matches('\n').count();
        rest = tail;
    }
    Ok(tokens)
}

struct Parser<'s> {
    tokens: Vec<(Token<'s>, usize)>,
    at: usize,
}

impl<'s> Parser<'s> {
    /// Pieces up to an `else`, an `end`, or the end of everything.
    fn nodes(&mut self, depth: usize) -> Result<Vec<Node>, TemplateError> {
        if depth > DEEPEST {
            return Err(TemplateError::Deep(DEEPEST));
        }
        let mut nodes = Vec::new();
        while let Some((token, line)) = self.tokens.get(self.at).cloned() {
            match token {
                Token::Text(text) => nodes.push(Node::Text(text.to_owned())),
                Token::Value(inner) => nodes.push(value(inner, line)?),
                Token::Tag("else" | "end") => break,
                Token::Tag(tag) => {
                    self.at += 1;
                    nodes.push(self.condition(tag, line, depth)?);
                }
            }
            self.at += 1;
        }
        Ok(nodes)
    }

    /// The rest of an `if`; stands on its `end` afterwards.
    fn condition(
        &mut self,
        tag: &'s str,
        line: usize,
        depth: usize,
    ) -> Result<Node, TemplateError> {
        let Some(asked) = tag.strip_prefix("if ") else {
            return Err(TemplateError::Tag(format!("the unknown tag `{tag}`"), line));
        };
        let condition = condition(asked.trim(), line)?;
        let then = self.nodes(depth + 1)?;
        let otherwise = if self.is_tag("else") {
            self.at += 1;
            self.nodes(depth + 1)?
        } else {
            Vec::new()
        };
        if !self.is_tag("end") {
            return Err(TemplateError::Open("if", line));
        }
        Ok(Node::If {
            condition,
            then,
            otherwise,
        })
    }

    fn is_tag(&self, tag: &str) -> bool {
        matches!(self.tokens.get(self.at), Some((Token::Tag(found), _)) if *found == tag)
    }
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn name(text: &str, line: usize) -> Result<String, TemplateError> {
    if is_name(text) {
        Ok(text.to_owned())
    } else {
        Err(TemplateError::Tag(
            format!("`{text}`, which is no name"),
            line,
        ))
    }
}

fn condition(text: &str, line: usize) -> Result<Condition, TemplateError> {
    if let Some(rest) = text.strip_prefix("not ") {
        let inner = condition(rest.trim(), line)?;
        return Ok(Condition::Not(Box::new(inner)));
    }
    match text.split_once("==") {
        Some((left, right)) => Ok(Condition::Equal(
            name(left.trim(), line)?,
            quoted(right.trim(), line)?,
        )),
        None => Ok(Condition::Set(name(text, line)?)),
    }
}

fn quoted(text: &str, line: usize) -> Result<String, TemplateError> {
    text.strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .map(str::to_owned)
        .ok_or_else(|| TemplateError::Tag(format!("`{text}`, which is not in quotes"), line))
}

fn value(inner: &str, line: usize) -> Result<Node, TemplateError> {
    let mut parts = inner.split('|').map(str::trim);
    let name = name(parts.next().unwrap_or_default(), line)?;
    let filters = parts
        .map(|part| filter(part, line))
        .collect::<Result<_, _>>()?;
    Ok(Node::Value { name, filters })
}

fn filter(text: &str, line: usize) -> Result<Filter, TemplateError> {
    let unknown = || TemplateError::Filter(text.to_owned(), line);
    let (word, argument) = match text.split_once(':') {
        Some((word, argument)) => (word.trim(), Some(argument.trim())),
        None => (text, None),
    };
    match (word, argument) {
        ("upper", None) => Ok(Filter::Upper),
        ("lower", None) => Ok(Filter::Lower),
        ("title", None) => Ok(Filter::Title),
        ("trim", None) => Ok(Filter::Trim),
        ("truncate", Some(length)) => match length.parse() {
            Ok(length @ 1..=500) => Ok(Filter::Truncate(length)),
            _ => Err(unknown()),
        },
        ("default", Some(argument)) => Ok(Filter::Default(quoted(argument, line)?)),
        _ => Err(unknown()),
    }
}
