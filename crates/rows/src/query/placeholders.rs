//! Splits statements at their tables and parameters, and fills values in for the placeholders.

use isobath_emit::query::QueryPart;
use isobath_sql::coverage::Span;
use isobath_sql::query::{Outline, outline};
use isobath_sql::statement_text::takes_array;
use isobath_sql::{DialectName, Value};

use super::parameter;

/// A statement cut at its tables and parameters; `None` when it does not parse.
pub fn cut(sql: &str, dialect: DialectName) -> Option<(Vec<QueryPart>, Outline)> {
    let outline = outline(sql, dialect)?;
    let lines = Lines::new(sql);
    let tables = outline.tables.iter().filter_map(|mention| {
        let (start, end) = lines.range(mention.span)?;
        let part = QueryPart::Table {
            name: mention.name.clone(),
            written: sql[start..end].to_owned(),
        };
        Some((start, end, part))
    });
    let parameters = outline.parameters.iter().filter_map(|mention| {
        let (start, end) = lines.range(mention.span)?;
        let part = QueryPart::Parameter {
            index: mention.index,
            written: mention.written.clone(),
        };
        Some((start, end, part))
    });
    let mut cuts: Vec<(usize, usize, QueryPart)> = tables.chain(parameters).collect();
    cuts.sort_by_key(|(start, ..)| *start);
    let mut parts = Vec::new();
    let mut done = 0;
    for (start, end, part) in cuts {
        if start < done {
            continue;
        }
        if start > done {
            parts.push(QueryPart::Text(sql[done..start].to_owned()));
        }
        parts.push(part);
        done = end;
    }
    if done < sql.len() {
        parts.push(QueryPart::Text(sql[done..].to_owned()));
    }
    Some((parts, outline))
}

/// The parameters of a cut statement as written, each once.
pub fn names(parts: &[QueryPart]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in parts {
        if let QueryPart::Parameter { index, written } = part
            && *index >= names.len()
        {
            names.push(written.clone());
        }
    }
    names
}

/// A cut statement with values in place of its parameters; one without a value is NULL.
pub fn filled(parts: &[QueryPart], values: &[Value], dialect: DialectName) -> String {
    let mut filled = String::new();
    for part in parts {
        let QueryPart::Parameter { index, .. } = part else {
            filled.push_str(part.written());
            continue;
        };
        let value = values.get(*index).unwrap_or(&Value::Null);
        let literal = parameter::literal(value, takes_array(&filled), dialect);
        filled.push_str(&literal);
    }
    filled
}

/// Where the lines of a text begin.
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let newlines = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            text,
            starts: std::iter::once(0).chain(newlines).collect(),
        }
    }

    /// The byte range of a span.
    pub(super) fn range(&self, span: Span) -> Option<(usize, usize)> {
        let start = self.offset(span.line, span.column)?;
        let end = self.offset(span.end_line, span.end_column + 1)?;
        (start < end).then_some((start, end))
    }

    fn offset(&self, line: u64, column: u64) -> Option<usize> {
        let start = *self
            .starts
            .get(usize::try_from(line).ok()?.checked_sub(1)?)?;
        let column = usize::try_from(column).ok()?.checked_sub(1)?;
        let rest = &self.text[start..];
        let mut places = rest.char_indices().map(|(at, _)| at);
        match places.nth(column) {
            Some(at) => Some(start + at),
            None if rest.chars().count() == column => Some(self.text.len()),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_statement_is_still_the_statement() {
        let sql = "  SELECT *\n  FROM \"Über\" u, t\n WHERE u.x = :a -- why?\n AND t.y = :a";
        let (parts, _) = cut(sql, DialectName::Postgres).expect("it parses");
        let again: String = parts.iter().map(QueryPart::written).collect();
        assert_eq!(again, sql);
        assert_eq!(names(&parts), [":a"]);
        let values = [Value::text("it's")];
        assert_eq!(
            filled(&parts, &values, DialectName::Postgres),
            sql.replace(":a", "'it''s'")
        );
        let tables: Vec<&str> = parts
            .iter()
            .filter_map(|part| match part {
                QueryPart::Table { name, .. } => Some(name.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(tables, ["Über", "t"]);
    }
}
