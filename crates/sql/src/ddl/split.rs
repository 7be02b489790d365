//! Splits a text into statements, each with its location and without comments.

use crate::lex::{Lexer, LexerRules, Position, Token, TokenKind};

/// One statement of a source.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// Its text with comments blanked, so that every position in it is that of the source.
    pub(super) text: String,
    /// Where it starts.
    pub(super) start: Position,
    /// Its first words, in upper case, up to the first that is not a word.
    pub(super) head: Vec<String>,
    /// Whether the statement before it ends without a semicolon.
    pub(super) runs_on: bool,
}

impl Statement {
    /// Whether the statement starts with these words.
    pub(super) fn starts_with(&self, words: &[&str]) -> bool {
        self.head.len() >= words.len() && self.head.iter().zip(words).all(|(a, b)| a == b)
    }

    /// Whether one of the first words is this.
    pub(super) fn mentions(&self, word: &str) -> bool {
        self.head.iter().any(|of| of == word)
    }
}

/// How many leading words tell statements apart.
const HEAD: usize = 6;

/// Cuts a text into statements.
pub(super) fn statements(text: &str, rules: LexerRules) -> Vec<Statement> {
    let mut splitter = Splitter {
        text,
        lexer: Lexer::new(text, rules),
        delimiter: ";".to_owned(),
        runs_on: false,
        found: Vec::new(),
    };
    while splitter.statement() {}
    splitter.found
}

struct Splitter<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    delimiter: String,
    /// Whether the next statement follows one without a semicolon.
    runs_on: bool,
    found: Vec<Statement>,
}

/// A statement being read.
#[derive(Default)]
struct StatementDraft<'a> {
    stdin: bool,
    first: Option<Position>,
    end: usize,
    blanks: Vec<(usize, usize)>,
    head: Vec<String>,
    head_done: bool,
    parens: usize,
    closed: bool,
    blocks: usize,
    last: Option<Token<'a>>,
}

impl<'a> Splitter<'a> {
    /// Reads one statement; false at the end of the text.
    fn statement(&mut self) -> bool {
        let mut draft = StatementDraft::default();
        loop {
            self.lexer.skip_space();
            if draft.first.is_none() && self.line_command() {
                return true;
            }
            if draft.first.is_some()
                && self.delimiter != ";"
                && self.lexer.rest().starts_with(&self.delimiter)
            {
                let length = self.delimiter.len();
                self.finish(draft);
                self.lexer.advance(length);
                return true;
            }
            let before = self.lexer.clone();
            let Some(token) = self.lexer.next() else {
                let any = draft.first.is_some();
                self.finish(draft);
                return any;
            };
            if token.kind == TokenKind::Comment {
                if draft.first.is_some() {
                    draft.blanks.push((token.start.offset, token.end()));
                }
                continue;
            }
            if token.is_symbol(";") && self.delimiter == ";" && draft.blocks == 0 {
                let copies = draft.copies_from_stdin();
                let any = draft.first.is_some();
                self.finish(draft);
                if copies {
                    self.skip_copied_rows();
                }
                if any {
                    return true;
                }
                draft = StatementDraft::default();
                continue;
            }
            if draft.ends_before(&token, &self.lexer) {
                self.lexer = before;
                self.finish(draft);
                self.runs_on = true;
                return true;
            }
            draft.take(token);
        }
    }

    /// Lines that are commands to a client, not SQL: `DELIMITER //`, `\connect db`.
    fn line_command(&mut self) -> bool {
        let rest = self.lexer.rest();
        let start = self.lexer.position();
        if rest.starts_with('\\') {
            let line = self.lexer.take_line();
            self.found.push(Statement {
                text: line.to_owned(),
                start,
                head: vec!["\\".to_owned()],
                runs_on: false,
            });
            return true;
        }
        const DELIMITER: &str = "delimiter";
        let is_delimiter = rest
            .split_at_checked(DELIMITER.len())
            .is_some_and(|(word, after)| {
                word.eq_ignore_ascii_case(DELIMITER) && after.starts_with([' ', '\t'])
            });
        if is_delimiter {
            let line = self.lexer.take_line();
            let delimiter = line.get(DELIMITER.len()..).unwrap_or_default().trim();
            if !delimiter.is_empty() {
                self.delimiter = delimiter.to_owned();
            }
            return true;
        }
        false
    }

    /// The data lines after `COPY … FROM stdin;`, up to `\.`.
    fn skip_copied_rows(&mut self) {
        self.lexer.take_line();
        while !self.lexer.rest().is_empty() {
            self.lexer.advance(1);
            if self.lexer.take_line().trim() == "\\." {
                return;
            }
        }
    }

    fn finish(&mut self, draft: StatementDraft<'_>) {
        let Some(start) = draft.first else { return };
        let mut text = String::with_capacity(draft.end - start.offset);
        let mut at = start.offset;
        for (from, to) in draft.blanks {
            if from >= draft.end {
                break;
            }
            text.push_str(self.text.get(at..from).unwrap_or_default());
            blank(&mut text, self.text.get(from..to).unwrap_or_default());
            at = to;
        }
        text.push_str(self.text.get(at..draft.end).unwrap_or_default());
        self.found.push(Statement {
            text,
            start,
            head: draft.head,
            runs_on: std::mem::take(&mut self.runs_on),
        });
    }
}

/// Appends white space in the shape of a text.
pub(super) fn blank(out: &mut String, text: &str) {
    out.extend(text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
}

impl<'a> StatementDraft<'a> {
    fn take(&mut self, token: Token<'a>) {
        self.first.get_or_insert(token.start);
        self.end = token.end();
        self.stdin |= token.is("STDIN");
        match token.kind {
            TokenKind::Word if !self.head_done && self.head.len() < HEAD => {
                self.head.push(token.text.to_ascii_uppercase());
            }
            TokenKind::Word => self.head_done = true,
            TokenKind::Symbol if token.text == "(" => {
                self.parens += 1;
                self.head_done = true;
            }
            TokenKind::Symbol if token.text == ")" => {
                self.parens = self.parens.saturating_sub(1);
                self.closed |= self.parens == 0;
            }
            // CREATE DEFINER=`root`@`localhost` TRIGGER: what it creates comes later.
            _ => self.head_done = self.head.get(1).is_none_or(|word| word != "DEFINER"),
        }
        if self.has_body() {
            // `END IF`, `END LOOP` and similar close what never opened a block here.
            let after_end = self.last.is_some_and(|last| last.is("END"));
            if token.is("BEGIN") || (token.is("CASE") && !after_end) {
                self.blocks += 1;
            } else if token.is("END") {
                self.blocks = self.blocks.saturating_sub(1);
            } else if after_end
                && ["IF", "LOOP", "WHILE", "REPEAT", "FOR"]
                    .iter()
                    .any(|word| token.is(word))
            {
                self.blocks += 1;
            }
        }
        self.last = Some(token);
    }

    /// Whether the statement may hold other statements between BEGIN and END.
    fn has_body(&self) -> bool {
        self.head.first().is_some_and(|word| word == "CREATE")
            && ["TRIGGER", "FUNCTION", "PROCEDURE", "EVENT"]
                .iter()
                .any(|kind| self.head.iter().any(|word| word == kind))
    }

    fn copies_from_stdin(&self) -> bool {
        self.head.first().is_some_and(|word| word == "COPY") && self.stdin
    }

    /// Whether a CREATE TABLE without semicolon ends here, because the next statement begins.
    fn ends_before(&self, token: &Token<'_>, after: &Lexer<'_>) -> bool {
        let table = self.head.first().is_some_and(|word| word == "CREATE")
            && self.head.iter().any(|word| word == "TABLE");
        if !table || !self.closed || self.parens > 0 || token.kind != TokenKind::Word {
            return false;
        }
        let second: &[&str] = if token.is("CREATE") {
            &[
                "TABLE",
                "INDEX",
                "UNIQUE",
                "VIEW",
                "SEQUENCE",
                "TYPE",
                "DOMAIN",
                "TRIGGER",
                "OR",
                "TEMP",
                "TEMPORARY",
            ]
        } else if token.is("ALTER") || token.is("DROP") {
            &["TABLE", "INDEX", "VIEW", "SEQUENCE"]
        } else if token.is("INSERT") {
            &["INTO"]
        } else {
            return false;
        };
        after
            .clone()
            .find(|next| next.kind != TokenKind::Comment)
            .is_some_and(|next| second.iter().any(|word| next.is(word)))
    }
}
