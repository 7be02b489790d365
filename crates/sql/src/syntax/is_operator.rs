//! SQLite's `x IS y` for any `y`, which the parser knows only in its standard spelling.

use sqlparser::dialect::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// Spells `IS y` as `IS NOT DISTINCT FROM y` and `IS NOT y` as `IS DISTINCT FROM y`, unless `y` is a keyword.
pub(crate) fn spelled_out(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        out.push(token.clone());
        at += 1;
        if !is(&token.token, Keyword::IS) {
            continue;
        }
        let next = |from: usize| {
            let mut rest = tokens.iter().enumerate().skip(from);
            rest.find(|(_, token)| !matches!(token.token, Token::Whitespace(_)))
        };
        let Some((place, token)) = next(at) else {
            continue;
        };
        let negated = is(&token.token, Keyword::NOT);
        let operand = if negated {
            next(place + 1)
        } else {
            Some((place, token))
        };
        let plain = operand.is_some_and(|(_, operand)| !is_test(&operand.token));
        if !plain {
            continue;
        }
        let span = token.span;
        if negated {
            at = place + 1;
        } else {
            out.push(word("NOT", Keyword::NOT, span));
        }
        out.push(word("DISTINCT", Keyword::DISTINCT, span));
        out.push(word("FROM", Keyword::FROM, span));
    }
    out
}

fn is(token: &Token, keyword: Keyword) -> bool {
    matches!(token, Token::Word(word) if word.keyword == keyword && word.quote_style.is_none())
}

/// Whether a word after IS makes a test of its own.
fn is_test(token: &Token) -> bool {
    let tests = [
        Keyword::NULL,
        Keyword::TRUE,
        Keyword::FALSE,
        Keyword::UNKNOWN,
        Keyword::DISTINCT,
        Keyword::JSON,
        Keyword::NORMALIZED,
    ];
    tests.iter().any(|keyword| is(token, *keyword))
}

fn word(text: &str, keyword: Keyword, span: sqlparser::tokenizer::Span) -> TokenWithSpan {
    TokenWithSpan {
        token: Token::Word(Word {
            value: text.to_owned(),
            quote_style: None,
            keyword,
        }),
        span,
    }
}
