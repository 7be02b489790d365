//! Whether text is a JSON document (RFC 8259), without building one.

/// Nesting beyond this is refused, so that no text exhausts the stack.
const DEPTH: u32 = 200;

/// Whether a text is one JSON value with nothing around it but white space.
pub(crate) fn is_json(text: &str) -> bool {
    let mut at = Reader {
        bytes: text.as_bytes(),
        at: 0,
    };
    at.blanks();
    at.value(0) && {
        at.blanks();
        at.at == at.bytes.len()
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn eat(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: u32) -> bool {
        if depth > DEPTH {
            return false;
        }
        match self.peek() {
            Some(b'{') => self.list(b'}', depth, true),
            Some(b'[') => self.list(b']', depth, false),
            Some(b'"') => self.string(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => false,
        }
    }

    fn list(&mut self, end: u8, depth: u32, keyed: bool) -> bool {
        self.at += 1;
        self.blanks();
        if self.eat(end) {
            return true;
        }
        loop {
            self.blanks();
            if keyed {
                if !self.string() {
                    return false;
                }
                self.blanks();
                if !self.eat(b':') {
                    return false;
                }
                self.blanks();
            }
            if !self.value(depth + 1) {
                return false;
            }
            self.blanks();
            if self.eat(end) {
                return true;
            }
            if !self.eat(b',') {
                return false;
            }
        }
    }

    fn string(&mut self) -> bool {
        if !self.eat(b'"') {
            return false;
        }
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return true;
                }
                Some(b'\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                            self.at += 1;
                        }
                        Some(b'u') => {
                            let digits = self.bytes.get(self.at + 1..self.at + 5);
                            if !digits.is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit)) {
                                return false;
                            }
                            self.at += 5;
                        }
                        _ => return false,
                    }
                }
                Some(0x20..) => self.at += 1,
                _ => return false,
            }
        }
    }

    fn word(&mut self, word: &str) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let found = rest.starts_with(word.as_bytes());
        self.at += word.len();
        found
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> bool {
        self.eat(b'-');
        let leading_zero = self.peek() == Some(b'0');
        let whole = self.digits();
        if whole == 0 || (leading_zero && whole > 1) {
            return false;
        }
        if self.eat(b'.') && self.digits() == 0 {
            return false;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            return self.digits() > 0;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::is_json;

    #[test]
    fn documents_are_told_from_other_text() {
        for good in [
            "1",
            "-0.5e3",
            "\"a\\n\"",
            "[]",
            "{\"a\": [1, null, {}]}",
            " true ",
        ] {
            assert!(is_json(good), "{good}");
        }
        for bad in [
            "",
            "01",
            "{a:1}",
            "[1,]",
            "'x'",
            "\"\n\"",
            "nul",
            "1 2",
            "{\"a\" 1}",
        ] {
            assert!(!is_json(bad), "{bad}");
        }
        assert!(!is_json(&"[".repeat(100_000)));
    }
}
