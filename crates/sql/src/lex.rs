//! The one scanner of SQL text: a tolerant lexer that knows just enough of every dialect to tell strings, names and
//! comments from the rest.
//!
//! `sqlparser` tokenizes one statement at a time and stops at the first thing it
//! does not like; a dump must be cut into statements before that.

#![deny(clippy::indexing_slicing)]

use crate::dialect::DialectName;

/// A position in a text: byte offset, and line and column counted from one in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Bytes before it.
    pub offset: usize,
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A keyword or a plain identifier.
    Word,
    /// An identifier in double quotes, backquotes or brackets, or MySQL text in double quotes.
    Quoted,
    /// A string, in single quotes or dollar quotes.
    Text,
    /// A number.
    Number,
    /// A comment, or the marks around a MySQL version comment: nothing to a parser.
    Comment,
    /// Any other character; `::` is one.
    Symbol,
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    /// What it is.
    pub kind: TokenKind,
    /// Its text.
    pub text: &'a str,
    /// Where it starts.
    pub start: Position,
}

impl Token<'_> {
    /// Whether this is a keyword, in any case.
    pub fn is(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text.eq_ignore_ascii_case(word)
    }

    /// Whether this is a symbol.
    pub fn is_symbol(&self, symbol: &str) -> bool {
        self.kind == TokenKind::Symbol && self.text == symbol
    }

    /// The byte after its last.
    pub fn end(&self) -> usize {
        self.start.offset + self.text.len()
    }
}

/// How strings and comments are written.
#[derive(Clone, Copy, Debug)]
pub struct LexerRules {
    backslash: bool,
    hash_comments: bool,
    hash_lines: bool,
    nested_comments: bool,
    dollar_quotes: bool,
    version_comments: bool,
}

impl LexerRules {
    /// The rules of a dialect; without one, those under which no dump derails.
    pub fn of(dialect: Option<DialectName>) -> Self {
        let mysql = dialect == Some(DialectName::MySql);
        Self {
            backslash: mysql,
            hash_comments: mysql,
            // `#` begins operators of PostgreSQL.
            hash_lines: dialect != Some(DialectName::Postgres),
            nested_comments: dialect == Some(DialectName::Postgres),
            dollar_quotes: !mysql && dialect != Some(DialectName::Sqlite),
            version_comments: mysql || dialect.is_none(),
        }
    }

    /// The same rules, under which what MySQL executes in comments is a comment.
    pub fn without_version_comments(self) -> Self {
        Self {
            version_comments: false,
            ..self
        }
    }
}

/// Reads tokens from a text.
#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    text: &'a str,
    rules: LexerRules,
    at: Position,
    in_version: bool,
}

impl<'a> Lexer<'a> {
    /// Starts at the beginning, past a byte-order mark.
    pub fn new(text: &'a str, rules: LexerRules) -> Self {
        let mut lexer = Self {
            text,
            rules,
            at: Position {
                offset: 0,
                line: 1,
                column: 1,
            },
            in_version: false,
        };
        if text.starts_with('\u{feff}') {
            lexer.at.offset = '\u{feff}'.len_utf8();
        }
        lexer
    }

    /// Where the next token is looked for.
    pub fn position(&self) -> Position {
        self.at
    }

    /// Everything not read yet.
    pub fn rest(&self) -> &'a str {
        self.text.get(self.at.offset..).unwrap_or_default()
    }

    /// Takes the rest of the line, without its end.
    pub fn take_line(&mut self) -> &'a str {
        let line = line_length(self.rest());
        self.take(line).trim_end_matches('\r')
    }

    /// Skips white space.
    pub fn skip_space(&mut self) {
        let rest = self.rest();
        let blank = rest
            .find(|c: char| !c.is_whitespace() && c != '\0')
            .unwrap_or(rest.len());
        self.advance(blank);
    }

    /// Moves on by so many bytes, which must end at a character.
    pub fn advance(&mut self, bytes: usize) {
        self.take(bytes);
    }

    /// Moves on by so many bytes, and returns them.
    fn take(&mut self, bytes: usize) -> &'a str {
        let rest = self.rest();
        let taken = rest.get(..bytes).unwrap_or(rest);
        for c in taken.chars() {
            if c == '\n' {
                self.at.line += 1;
                self.at.column = 1;
            } else {
                self.at.column += 1;
            }
        }
        self.at.offset += taken.len();
        taken
    }

    fn length_of_next(&mut self) -> Option<(TokenKind, usize)> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let first = rest.chars().next()?;
        let found = match first {
            '-' if bytes.get(1) == Some(&b'-') => (TokenKind::Comment, line_length(rest)),
            '#' if self.rules.hash_comments || self.rules.hash_lines && self.at_line_start() => {
                (TokenKind::Comment, line_length(rest))
            }
            '/' if bytes.get(1) == Some(&b'*') => {
                let executed = rest.starts_with("/*!") || rest.starts_with("/*M!");
                if executed && self.rules.version_comments {
                    self.in_version = true;
                    let mark = if rest.starts_with("/*M!") { 4 } else { 3 };
                    let version = bytes.iter().skip(mark);
                    let digits = version.take_while(|byte| byte.is_ascii_digit());
                    (TokenKind::Comment, mark + digits.count())
                } else {
                    (
                        TokenKind::Comment,
                        comment_length(rest, self.rules.nested_comments),
                    )
                }
            }
            '*' if self.in_version && bytes.get(1) == Some(&b'/') => {
                self.in_version = false;
                (TokenKind::Comment, 2)
            }
            '\'' => (
                TokenKind::Text,
                quoted_length(rest, '\'', self.rules.backslash),
            ),
            '"' => (
                TokenKind::Quoted,
                quoted_length(rest, '"', self.rules.backslash),
            ),
            '`' => (TokenKind::Quoted, quoted_length(rest, '`', false)),
            '$' if self.rules.dollar_quotes => match dollar_length(rest) {
                Some(length) => (TokenKind::Text, length),
                None => (TokenKind::Symbol, 1),
            },
            ':' if bytes.get(1) == Some(&b':') => (TokenKind::Symbol, 2),
            c if c.is_ascii_digit() => (
                TokenKind::Number,
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.')
                    .unwrap_or(rest.len()),
            ),
            c if is_word_start(c) => {
                let length = rest
                    .find(|c: char| !is_word_start(c) && !c.is_ascii_digit() && c != '$')
                    .unwrap_or(rest.len());
                // PostgreSQL's E'…' has backslashes whatever the setting.
                let escaped = rest.strip_prefix(['e', 'E']);
                match escaped.filter(|text| text.starts_with('\'')) {
                    Some(text) => (TokenKind::Text, 1 + quoted_length(text, '\'', true)),
                    None => (TokenKind::Word, length),
                }
            }
            c => (TokenKind::Symbol, c.len_utf8()),
        };
        Some(found)
    }

    /// Whether nothing but blanks stands before this on its line.
    fn at_line_start(&self) -> bool {
        let before = self.text.get(..self.at.offset).unwrap_or_default();
        before
            .bytes()
            .rev()
            .find(|byte| !matches!(byte, b' ' | b'\t'))
            .is_none_or(|byte| byte == b'\n')
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_space();
        let start = self.at;
        let (kind, length) = self.length_of_next()?;
        let text = self.take(length);
        Some(Token { kind, text, start })
    }
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '@' || (!c.is_ascii() && c.is_alphanumeric())
}

fn line_length(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

fn comment_length(rest: &str, nested: bool) -> usize {
    if !nested {
        let text = rest.strip_prefix("/*").unwrap_or_default();
        return text.find("*/").map_or(rest.len(), |end| end + 4);
    }
    let mut depth = 0usize;
    let mut left = rest.as_bytes();
    while let [first, after @ ..] = left {
        left = after;
        match (first, after) {
            (b'/', [b'*', after @ ..]) => {
                depth += 1;
                left = after;
            }
            (b'*', [b'/', after @ ..]) => {
                depth = depth.saturating_sub(1);
                left = after;
                if depth == 0 {
                    return rest.len() - left.len();
                }
            }
            _ => {}
        }
    }
    rest.len()
}

/// The length of a quoted run; doubled quotes stay inside, an unclosed one runs to the end.
fn quoted_length(rest: &str, quote: char, backslash: bool) -> usize {
    let mut characters = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        if backslash && c == '\\' {
            characters.next();
        } else if c == quote && characters.next_if(|(_, next)| *next == quote).is_none() {
            return at + quote.len_utf8();
        }
    }
    rest.len()
}

fn dollar_length(rest: &str) -> Option<usize> {
    let (name, body) = rest.strip_prefix('$')?.split_once('$')?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if !is_name || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let tag = format!("${name}$");
    Some(match body.find(&tag) {
        Some(end) => tag.len() + end + tag.len(),
        None => rest.len(),
    })
}
