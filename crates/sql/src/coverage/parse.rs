//! Parses a statement and extracts the query by which it reads rows.

use sqlparser::ast::GroupByExpr;
use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    Expr, FromTable, Query, Select, SelectFlavor, SelectItem, SetExpr, Statement, TableWithJoins,
    UpdateTableFromKind, WildcardAdditionalOptions,
};
use sqlparser::dialect::{Dialect, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::error::TargetError;
use super::parameter;
use crate::dialect::DialectName;

/// The most operators that a query may have. Targets grow with the square of the conditions, and
/// the parser's trees with their number are walked by recursion.
const MAX_OPERATORS: usize = 500;

/// Parses the one statement of a text and returns the query by which it reads.
pub(crate) fn query(text: &str, dialect: DialectName) -> Result<Query, TargetError> {
    let sqlite = dialect == DialectName::Sqlite;
    if let Some((line, column)) = parameter::marked(text) {
        return Err(TargetError::Syntax {
            message: "a private-use character that has a meaning here".to_owned(),
            line,
            column,
        });
    }
    let dialect = parser_dialect(dialect);
    let tokens = Tokenizer::new(dialect, text)
        .tokenize_with_location()
        .map_err(|error| TargetError::Syntax {
            message: error.message,
            line: error.location.line,
            column: error.location.column,
        })?;
    check_size(&tokens)?;
    let tokens = if sqlite {
        crate::syntax::spelled_out(tokens)
    } else {
        tokens
    };
    let tokens = parameter::mark(tokens);
    let mut parser = Parser::new(dialect).with_tokens_with_locations(tokens);
    let mut statements = parser
        .parse_statements()
        .map_err(|error| syntax(&error, &parser))?;
    match (statements.pop(), statements.len()) {
        (None, _) => Err(TargetError::Empty),
        (Some(statement), 0) => reading_part(statement),
        (Some(_), others) => Err(TargetError::Several {
            statements: others + 1,
        }),
    }
}

fn parser_dialect(dialect: DialectName) -> &'static dyn Dialect {
    match dialect {
        DialectName::Ansi => &GenericDialect {},
        DialectName::Postgres => &PostgreSqlDialect {},
        DialectName::MySql => &MySqlDialect {},
        DialectName::Sqlite => &SQLiteDialect {},
    }
}

fn check_size(tokens: &[TokenWithSpan]) -> Result<(), TargetError> {
    let operators = tokens
        .iter()
        .filter(|token| match &token.token {
            Token::Word(word) => {
                word.quote_style.is_none()
                    && [
                        "AND",
                        "OR",
                        "NOT",
                        "XOR",
                        "UNION",
                        "INTERSECT",
                        "EXCEPT",
                        "JOIN",
                    ]
                    .iter()
                    .any(|of| word.value.eq_ignore_ascii_case(of))
            }
            Token::Whitespace(_)
            | Token::Comma
            | Token::Period
            | Token::RParen
            | Token::RBracket
            | Token::RBrace
            | Token::SemiColon
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_)
            | Token::Placeholder(_)
            | Token::EOF => false,
            _ => true,
        })
        .count();
    if operators > MAX_OPERATORS {
        return Err(TargetError::TooLarge {
            operators,
            limit: MAX_OPERATORS,
        });
    }
    Ok(())
}

/// The parser reports places inside its message; where it does not, its position tells.
fn syntax(error: &ParserError, parser: &Parser<'_>) -> TargetError {
    let message = match error {
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => message.clone(),
        ParserError::RecursionLimitExceeded => "nested too deeply".to_owned(),
    };
    let (message, _) = parameter::unmark(&message);
    let place = message.rsplit_once(" at Line: ").and_then(|(said, place)| {
        let (line, column) = place.split_once(", Column: ")?;
        Some((said.to_owned(), line.parse().ok()?, column.parse().ok()?))
    });
    let (message, line, column) = place.unwrap_or_else(|| {
        let at = parser.peek_token().span.start;
        (message.clone(), at.line, at.column)
    });
    TargetError::Syntax {
        message,
        line,
        column,
    }
}

/// The query by which a statement reads rows.
fn reading_part(statement: Statement) -> Result<Query, TargetError> {
    let nothing = |statement: &Statement| {
        let text = statement.to_string();
        let words: Vec<&str> = text.split_whitespace().take(2).collect();
        Err(TargetError::ReadsNothing {
            statement: words.join(" "),
        })
    };
    match statement {
        Statement::Query(query) => from_query(*query),
        Statement::Insert(insert) => match insert.source {
            Some(source) if !matches!(*source.body, SetExpr::Values(_)) => from_query(*source),
            source => {
                let insert = sqlparser::ast::Insert { source, ..insert };
                nothing(&Statement::Insert(insert))
            }
        },
        Statement::CreateView(view) => from_query(*view.query),
        Statement::CreateTable(table) if table.query.is_some() => match table.query {
            Some(query) => from_query(*query),
            None => Err(TargetError::Empty),
        },
        Statement::Delete(delete) => {
            let (FromTable::WithFromKeyword(mut from) | FromTable::WithoutKeyword(mut from)) =
                delete.from;
            // `DELETE FROM a USING a JOIN b` (MySQL) names the deleted table twice.
            match delete.using {
                Some(using)
                    if using.iter().any(|table| {
                        from.contains(&TableWithJoins {
                            relation: table.relation.clone(),
                            joins: Vec::new(),
                        })
                    }) =>
                {
                    from = using
                }
                Some(using) => from.extend(using),
                None => {}
            }
            Ok(plain(select(vec![wildcard()], from, delete.selection)))
        }
        Statement::Update(update) => {
            let mut from = vec![update.table];
            match update.from {
                Some(
                    UpdateTableFromKind::BeforeSet(more) | UpdateTableFromKind::AfterSet(more),
                ) => {
                    from.extend(more);
                }
                None => {}
            }
            let values: Vec<SelectItem> = update
                .assignments
                .into_iter()
                .map(|assignment| SelectItem::UnnamedExpr(assignment.value))
                .filter(|item| !item.to_string().eq_ignore_ascii_case("default"))
                .collect();
            let values = if values.is_empty() {
                vec![wildcard()]
            } else {
                values
            };
            Ok(plain(select(values, from, update.selection)))
        }
        other => nothing(&other),
    }
}

/// `WITH … UPDATE` and similar statements are queries to the parser, with a statement as body.
fn from_query(query: Query) -> Result<Query, TargetError> {
    match *query.body {
        SetExpr::Insert(statement)
        | SetExpr::Update(statement)
        | SetExpr::Delete(statement)
        | SetExpr::Merge(statement) => {
            let inner = reading_part(statement)?;
            Ok(Query {
                with: query.with.or(inner.with),
                ..inner
            })
        }
        _ => Ok(query),
    }
}

/// `*`.
pub(crate) fn wildcard() -> SelectItem {
    SelectItem::Wildcard(WildcardAdditionalOptions::default())
}

/// A query of nothing but a SELECT.
pub(crate) fn plain(select: Select) -> Query {
    from_body(SetExpr::Select(Box::new(select)))
}

/// A query of nothing but a body.
pub(crate) fn from_body(body: SetExpr) -> Query {
    Query {
        with: None,
        body: Box::new(body),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    }
}

/// A SELECT of the usual three clauses.
pub(crate) fn select(
    projection: Vec<SelectItem>,
    from: Vec<TableWithJoins>,
    selection: Option<Expr>,
) -> Select {
    Select {
        select_token: AttachedToken::empty(),
        optimizer_hints: Vec::new(),
        distinct: None,
        select_modifiers: None,
        top: None,
        top_before_distinct: false,
        projection,
        exclude: None,
        into: None,
        from,
        lateral_views: Vec::new(),
        prewhere: None,
        selection,
        connect_by: Vec::new(),
        group_by: GroupByExpr::Expressions(Vec::new(), Vec::new()),
        cluster_by: Vec::new(),
        distribute_by: Vec::new(),
        sort_by: Vec::new(),
        having: None,
        named_window: Vec::new(),
        qualify: None,
        window_before_qualify: false,
        value_table_mode: None,
        flavor: SelectFlavor::Standard,
    }
}
