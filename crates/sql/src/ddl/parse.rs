//! One statement's text to one syntax tree, by whichever of the parser's dialects takes it.

use sqlparser::ast::Statement;
use sqlparser::dialect::{Dialect, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{TokenWithSpan, Tokenizer};

use crate::coverage::parameter::{self, ParameterMention};
use crate::dialect::DialectName;

/// Why a text did not parse, and where in it (line and column from one).
#[derive(Clone, Debug)]
pub(crate) struct SyntaxError {
    pub(crate) line: u64,
    pub(crate) column: u64,
    pub(crate) why: String,
}

/// Nesting that we follow; pg_dump writes one pair of parentheses per OR.
const RECURSION: usize = 400;

/// Operators in one run that we follow: the trees of longer ones are too deep to walk.
const OPERATORS: usize = 4_000;

/// Parses one statement, in the given dialect first and in the others when that fails.
pub(crate) fn statement(text: &str, dialect: DialectName) -> Result<Statement, SyntaxError> {
    by_one_of_them(text, dialect, &|tokens| tokens)
}

/// The same for a statement with parameters, whose styles are more than the parser knows.
pub(crate) fn with_parameters(
    text: &str,
    dialect: DialectName,
) -> Result<(Statement, Vec<ParameterMention>), SyntaxError> {
    let mentions = std::cell::RefCell::new(Vec::new());
    let statement = by_one_of_them(text, dialect, &|tokens| {
        let (tokens, found) = parameter::joined(tokens);
        *mentions.borrow_mut() = found;
        tokens
    })?;
    Ok((statement, mentions.into_inner()))
}

/// What is done to tokens before they are parsed.
type TokenRewrite<'a> = &'a dyn Fn(Vec<TokenWithSpan>) -> Vec<TokenWithSpan>;

fn by_one_of_them(
    text: &str,
    dialect: DialectName,
    prepare: TokenRewrite<'_>,
) -> Result<Statement, SyntaxError> {
    guard(text)?;
    let order: [&dyn Dialect; 4] = match dialect {
        DialectName::Ansi => [
            &GenericDialect,
            &PostgreSqlDialect {},
            &MySqlDialect {},
            &SQLiteDialect {},
        ],
        DialectName::Postgres => [
            &PostgreSqlDialect {},
            &GenericDialect,
            &SQLiteDialect {},
            &MySqlDialect {},
        ],
        DialectName::MySql => [
            &MySqlDialect {},
            &GenericDialect,
            &SQLiteDialect {},
            &PostgreSqlDialect {},
        ],
        DialectName::Sqlite => [
            &SQLiteDialect {},
            &GenericDialect,
            &MySqlDialect {},
            &PostgreSqlDialect {},
        ],
    };
    let sqlite = dialect == DialectName::Sqlite;
    let prepare: TokenRewrite<'_> = &|tokens| {
        prepare(if sqlite {
            crate::syntax::spelled_out(tokens)
        } else {
            tokens
        })
    };
    let mut first = None;
    for dialect in order {
        match parse(text, dialect, prepare) {
            Ok(statement) => return Ok(statement),
            Err(error) => {
                first.get_or_insert(error);
            }
        }
    }
    Err(first.unwrap_or(SyntaxError {
        line: 1,
        column: 1,
        why: "it is empty".to_owned(),
    }))
}

fn parse(
    text: &str,
    dialect: &dyn Dialect,
    prepare: TokenRewrite<'_>,
) -> Result<Statement, SyntaxError> {
    let tokens = Tokenizer::new(dialect, text)
        .tokenize_with_location()
        .map_err(|error| SyntaxError {
            line: error.location.line,
            column: error.location.column,
            why: error.message.to_lowercase(),
        })?;
    let mut statements = Parser::new(dialect)
        .with_recursion_limit(RECURSION)
        .with_tokens_with_locations(prepare(tokens))
        .parse_statements()
        .map_err(|error| located(error, text))?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        _ => Err(SyntaxError {
            line: 1,
            column: 1,
            why: "expected exactly one statement".to_owned(),
        }),
    }
}

/// The parser appends the place to its message; at the end of the text it gives none.
fn located(error: ParserError, text: &str) -> SyntaxError {
    let message = match error {
        ParserError::ParserError(message) | ParserError::TokenizerError(message) => message,
        ParserError::RecursionLimitExceeded => "nested too deeply".to_owned(),
    };
    let mut why = message.as_str();
    let mut location = None;
    if let Some((before, numbers)) = message.rsplit_once(" at Line: ") {
        let mut numbers = numbers.split(", Column: ");
        let line = numbers.next().and_then(|text| text.trim().parse().ok());
        let column = numbers.next().and_then(|text| text.trim().parse().ok());
        if let (Some(line), Some(column)) = (line, column) {
            location = Some((line, column));
            why = before;
        }
    }
    let (line, column) = location.unwrap_or_else(|| end_of(text));
    let why = match why.split_once("Expected: ") {
        Some(("", rest)) => format!("expected {}", rest.replace(", found: ", ", found ")),
        _ => why.to_owned(),
    };
    SyntaxError { line, column, why }
}

fn end_of(text: &str) -> (u64, u64) {
    let text = text.trim_end();
    let line = text.matches('\n').count() as u64 + 1;
    let last = text.rsplit('\n').next().unwrap_or("");
    (line, last.chars().count() as u64 + 1)
}

/// Refuses texts whose tree would be too deep to walk, or to drop, without overflowing the stack.
fn guard(text: &str) -> Result<(), SyntaxError> {
    let mut run = 0;
    let mut depth = 0usize;
    let (mut line, mut column) = (1, 0);
    for c in text.chars() {
        if c == '\n' {
            line += 1;
            column = 0;
        } else {
            column += 1;
        }
        match c {
            ',' => run = 0,
            '+' | '-' | '*' | '/' | '|' | '=' | '<' | '>' | '&' | '%' | '~' | '^' | '#' | ':'
            | '[' | '.' | '!' | '?' | '@' => run += 1,
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > RECURSION {
            return Err(SyntaxError {
                line,
                column,
                why: format!("more than {RECURSION} parentheses in each other"),
            });
        }
        if run > OPERATORS {
            return Err(SyntaxError {
                line,
                column,
                why: format!("more than {OPERATORS} operators in one expression"),
            });
        }
    }
    let words = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| {
            ["and", "or", "not", "is", "like", "between", "collate"]
                .iter()
                .any(|operator| word.eq_ignore_ascii_case(operator))
        })
        .count();
    if words > 20 * OPERATORS {
        return Err(SyntaxError {
            line: 1,
            column: 1,
            why: "too many operators in one statement".to_owned(),
        });
    }
    Ok(())
}
