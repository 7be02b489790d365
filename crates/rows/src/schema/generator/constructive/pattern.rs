//! Text that matches a pattern, built from the pattern itself.
//!
//! The result is a proposal: the caller evaluates the pattern on it. Features
//! that this does not read (lookaround, back references) only make a proposal
//! that fails.

use isobath_sql::expr::PatternKind;

/// Text that should match; `filler` stands for what the pattern leaves open.
pub(super) fn matching(
    pattern: &str,
    kind: PatternKind,
    escape: Option<char>,
    filler: &str,
    min_repeats: usize,
) -> Option<String> {
    match kind {
        PatternKind::Like | PatternKind::Ilike => {
            Some(like(pattern, escape.unwrap_or('\\'), filler))
        }
        PatternKind::Glob => Some(glob(pattern, filler)),
        PatternKind::SimilarTo => {
            let translated = pattern.replace('%', ".*").replace('_', ".");
            regex(&translated, filler, min_repeats)
        }
        PatternKind::Regex | PatternKind::RegexInsensitive => regex(pattern, filler, min_repeats),
    }
}

fn like(pattern: &str, escape: char, filler: &str) -> String {
    let mut fill = filler.chars().cycle();
    let mut out = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c == escape => out.extend(chars.next()),
            '%' => out.push_str(filler),
            '_' => out.extend(fill.next()),
            c => out.push(c),
        }
    }
    out
}

fn glob(pattern: &str, filler: &str) -> String {
    let mut fill = filler.chars().cycle();
    let mut out = String::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '*' => out.push_str(filler),
            '?' => out.extend(fill.next()),
            '[' => {
                let mut set = Vec::new();
                for c in chars.by_ref() {
                    if c == ']' && !set.is_empty() {
                        break;
                    }
                    set.push(c);
                }
                out.extend(member(&set));
            }
            c => out.push(c),
        }
    }
    out
}

/// A character of a bracket's content, such as `a-z_` or `^0-9`.
fn member(set: &[char]) -> Option<char> {
    let (negated, set) = match set {
        ['^' | '!', rest @ ..] => (true, rest),
        set => (false, set),
    };
    if !negated {
        let named: String = set.iter().collect();
        return match named.as_str() {
            "[:alpha:]" | "[:lower:]" | "[:alnum:]" => Some('a'),
            "[:upper:]" => Some('A'),
            "[:digit:]" => Some('7'),
            _ => match set {
                ['\\', class, ..] => class_sample(*class),
                [first, ..] => Some(*first),
                [] => None,
            },
        };
    }
    let within = |c: char| {
        let mut index = 0;
        while index < set.len() {
            if index + 2 < set.len() && set[index + 1] == '-' {
                if (set[index]..=set[index + 2]).contains(&c) {
                    return true;
                }
                index += 3;
            } else {
                if set[index] == c {
                    return true;
                }
                index += 1;
            }
        }
        false
    };
    ('a'..='z')
        .chain('0'..='9')
        .chain("-_ @.".chars())
        .find(|c| !within(*c))
}

fn class_sample(class: char) -> Option<char> {
    Some(match class {
        'd' => '7',
        'w' | 'S' | 'D' => 'a',
        's' | 'W' => ' ',
        other => other,
    })
}

/// Reads the common part of regular expressions; always takes the first alternative.
fn regex(pattern: &str, filler: &str, min_repeats: usize) -> Option<String> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut reader = Regex {
        chars: &chars,
        at: 0,
        filler: filler.chars().next().unwrap_or('a'),
        repeats: min_repeats,
    };
    reader.alternatives()
}

struct Regex<'c> {
    chars: &'c [char],
    at: usize,
    filler: char,
    repeats: usize,
}

impl Regex<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += 1;
        c
    }

    fn alternatives(&mut self) -> Option<String> {
        let first = self.sequence()?;
        while self.peek() == Some('|') {
            self.at += 1;
            self.sequence()?;
        }
        Some(first)
    }

    fn sequence(&mut self) -> Option<String> {
        let mut out = String::new();
        while let Some(c) = self.peek() {
            if matches!(c, '|' | ')') {
                break;
            }
            let piece = self.piece()?;
            let (least, most) = self.quantifier()?;
            let count = self.repeats.clamp(least, most.max(least));
            for _ in 0..count {
                out.push_str(&piece);
            }
        }
        Some(out)
    }

    fn piece(&mut self) -> Option<String> {
        Some(match self.next()? {
            '^' | '$' => String::new(),
            '.' => self.filler.to_string(),
            '(' => {
                if self.peek() == Some('?') {
                    self.at += 1;
                    (self.next()? == ':').then_some(())?;
                }
                let inner = self.alternatives()?;
                (self.next()? == ')').then_some(())?;
                inner
            }
            '[' => {
                let mut set = Vec::new();
                loop {
                    let c = self.next()?;
                    if c == '[' && self.peek() == Some(':') {
                        set.push(c);
                        while let Some(c) = self.next() {
                            set.push(c);
                            if c == ']' {
                                break;
                            }
                        }
                        continue;
                    }
                    if c == ']' && !set.is_empty() && set != ['^'] {
                        break;
                    }
                    set.push(c);
                }
                member(&set)?.to_string()
            }
            '\\' => match self.next()? {
                'y' | 'm' | 'M' | 'A' | 'Z' | 'b' => String::new(),
                class => class_sample(class)?.to_string(),
            },
            c => c.to_string(),
        })
    }

    fn quantifier(&mut self) -> Option<(usize, usize)> {
        let range = match self.peek() {
            Some('*') => (0, 8),
            Some('+') => (1, 8),
            Some('?') => (0, 1),
            Some('{') => {
                let close = self.chars[self.at..].iter().position(|c| *c == '}')?;
                let inner: String = self.chars[self.at + 1..self.at + close].iter().collect();
                self.at += close;
                match inner.split_once(',') {
                    Some((least, "")) => (least.parse().ok()?, 64),
                    Some((least, most)) => (least.parse().ok()?, most.parse().ok()?),
                    None => (inner.parse().ok()?, inner.parse().ok()?),
                }
            }
            _ => return Some((1, 1)),
        };
        self.at += 1;
        if self.peek() == Some('?') {
            self.at += 1;
        }
        Some((range.0.min(500), range.1.min(500)))
    }
}
