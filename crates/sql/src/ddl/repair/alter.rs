//! ALTER TABLE, cut into its actions.

use super::{
    Edits, ElementKind, NON_UNIQUE, RemovedSyntax, TableText, anywhere, column, constraint,
    element_kind, elements, is_index, matching, removed, tokens,
};
use crate::dialect::DialectName;
use crate::lex::Token;
use crate::limitation::Severity;

/// The actions of an ALTER TABLE, each as a statement of its own.
#[derive(Debug, Default)]
pub(in crate::ddl) struct AlterActions {
    /// One statement per action that may matter.
    pub(in crate::ddl) texts: Vec<String>,
    /// Actions that are not for us.
    pub(in crate::ddl) removed: Vec<RemovedSyntax>,
}

/// Cuts an ALTER TABLE into its actions.
pub(in crate::ddl) fn alter_table(text: &str, dialect: DialectName) -> AlterActions {
    let tokens = tokens(text, dialect);
    let mut actions = AlterActions::default();
    let Some(first) = first_action(&tokens) else {
        actions.texts.push(text.to_owned());
        return actions;
    };
    let elements = elements(&tokens, first, tokens.len());
    // Beyond this the text is not worth copying once per action.
    let together = elements.len() > 500;
    for element in &elements {
        let part = tokens.get(element.clone()).unwrap_or_default();
        if let Some((severity, why)) = action_severity(part) {
            actions.removed.push(removed(part, text, severity, why));
            continue;
        }
        if together {
            continue;
        }
        let mut edits = Edits::default();
        anywhere(part, &mut edits, &mut actions.removed);
        identity(part, &mut edits);
        if let [add, rest @ ..] = part
            && add.is("ADD")
        {
            let rest = match rest {
                [column, rest @ ..] if column.is("COLUMN") => rest,
                _ => rest,
            };
            match element_kind(rest, text) {
                ElementKind::Constraint => constraint(rest, &mut edits, &mut TableText::default()),
                _ => column(rest, &mut edits),
            }
        } else {
            column(part, &mut edits);
        }
        let earlier = tokens.get(first..element.start).unwrap_or_default();
        if let (Some(first), Some(last)) = (earlier.first(), earlier.last()) {
            edits.blank(first.start.offset..last.end());
        }
        if let Some(after) = tokens.get(element.end) {
            edits.blank(after.start.offset..text.len());
        }
        actions.texts.push(edits.apply(text));
    }
    if together {
        actions.texts.push(text.to_owned());
    }
    actions
}

fn first_action(tokens: &[Token<'_>]) -> Option<usize> {
    let mut at = tokens.iter().position(|token| token.is("TABLE"))? + 1;
    while tokens
        .get(at)
        .is_some_and(|token| token.is("IF") || token.is("EXISTS") || token.is("ONLY"))
    {
        at += 1;
    }
    at += 1;
    while tokens.get(at).is_some_and(|token| token.is_symbol(".")) {
        at += 2;
    }
    if tokens.get(at).is_some_and(|token| token.is_symbol("*")) {
        at += 1;
    }
    (at < tokens.len()).then_some(at)
}

/// pg_dump names the sequence of an identity column.
fn identity(part: &[Token<'_>], edits: &mut Edits) {
    let Some(at) = part.iter().position(|token| token.is("IDENTITY")) else {
        return;
    };
    if let Some(open) = part.get(at + 1).filter(|token| token.is_symbol("("))
        && let Some(close) = matching(part, at + 1).and_then(|close| part.get(close))
    {
        edits.blank(open.start.offset..close.end());
    }
}

/// Actions that refuse no row, or that we cannot follow.
fn action_severity(part: &[Token<'_>]) -> Option<(Severity, &'static str)> {
    let Some((first, rest)) = part.split_first() else {
        return Some((Severity::Ignored, "it is empty"));
    };
    let next = |word: &str| part.get(1).is_some_and(|token| token.is(word));
    if first.is("ADD") {
        if is_index(rest) {
            return Some((Severity::Ignored, NON_UNIQUE));
        }
        if next("PARTITION") {
            return Some((Severity::Unsupported, "partitions are not supported"));
        }
        let excludes = part.iter().take(4).any(|token| token.is("EXCLUDE"));
        if excludes {
            return Some((
                Severity::Unsupported,
                "EXCLUDE constraints are not supported",
            ));
        }
        return None;
    }
    let storage = [
        "OWNER",
        "CLUSTER",
        "REPLICA",
        "VALIDATE",
        "COMMENT",
        "ENGINE",
        "AUTO_INCREMENT",
        "ORDER",
        "CONVERT",
        "DEFAULT",
        "CHARSET",
        "CHARACTER",
        "COLLATE",
        "ROW_FORMAT",
        "SET",
        "RESET",
        "ALGORITHM",
        "LOCK",
        "FORCE",
        "DISCARD",
        "IMPORT",
    ];
    if storage.iter().any(|word| first.is(word)) {
        return Some((Severity::Ignored, "it refuses no row"));
    }
    if (first.is("ENABLE") || first.is("DISABLE")) && next("KEYS") {
        return Some((Severity::Ignored, "it refuses no row"));
    }
    if ["ENABLE", "DISABLE", "NO"]
        .iter()
        .any(|word| first.is(word))
    {
        return Some((
            Severity::Unsupported,
            "triggers, rules and row security are not supported",
        ));
    }
    if ["ATTACH", "DETACH", "INHERIT", "PARTITION"]
        .iter()
        .any(|word| first.is(word))
    {
        return Some((Severity::Unsupported, "partitions are not supported"));
    }
    let statistics = part
        .iter()
        .any(|token| token.is("STATISTICS") || token.is("STORAGE") || token.is("COMPRESSION"));
    if first.is("ALTER") && statistics && part.len() <= 6 {
        return Some((Severity::Ignored, "it refuses no row"));
    }
    None
}
