//! ECMA-262 patterns rewritten in the syntax of `regex-syntax`.
//!
//! The two mostly agree. Here are the differences that occur in real documents: ASCII meaning of
//! `\d` and `\w`, brackets inside classes, a literal `{`, control and surrogate escapes.

use std::iter::Peekable;
use std::str::Chars;

use super::PatternError;

const DIGIT: &str = "[0-9]";
const NOT_DIGIT: &str = "[^0-9]";
const WORD: &str = "[0-9A-Za-z_]";
const NOT_WORD: &str = "[^0-9A-Za-z_]";

pub(super) fn translate(source: &str) -> Result<String, PatternError> {
    let mut out = String::with_capacity(source.len() + 16);
    let mut chars = source.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => escape(&mut chars, &mut out, false)?,
            '[' => class(&mut chars, &mut out)?,
            '(' => group(&mut chars, &mut out)?,
            '.' => out.push_str(r"[^\n\r\u{2028}\u{2029}]"),
            '{' if is_quantifier(chars.clone()) => {
                out.push('{');
                for c in chars.by_ref() {
                    out.push(c);
                    if c == '}' {
                        break;
                    }
                }
            }
            '{' => out.push_str(r"\{"),
            '}' => out.push_str(r"\}"),
            ']' => out.push_str(r"\]"),
            c => out.push(c),
        }
    }
    Ok(out)
}

fn is_quantifier(mut chars: Peekable<Chars<'_>>) -> bool {
    let mut digits = 0;
    while chars.next_if(char::is_ascii_digit).is_some() {
        digits += 1;
    }
    if digits == 0 {
        return false;
    }
    if chars.next_if_eq(&',').is_some() {
        while chars.next_if(char::is_ascii_digit).is_some() {}
    }
    chars.next() == Some('}')
}

fn group(chars: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), PatternError> {
    out.push('(');
    let mut ahead = chars.clone();
    if ahead.next() != Some('?') {
        return Ok(());
    }
    match (ahead.next(), ahead.next()) {
        (Some('=' | '!'), _) | (Some('<'), Some('=' | '!')) => Err(PatternError::Lookaround),
        (Some('>'), _) => Err(PatternError::Syntax("atomic group".into())),
        _ => Ok(()),
    }
}

fn class(chars: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), PatternError> {
    let negated = chars.next_if_eq(&'^').is_some();
    if chars.next_if_eq(&']').is_some() {
        out.push_str(if negated { r"[\s\S]" } else { r"[^\s\S]" });
        return Ok(());
    }
    out.push_str(if negated { "[^" } else { "[" });
    // Where a hyphen cannot be an operator it is escaped: `--` is an operator of its own there.
    let mut hyphen_is_literal = true;
    while let Some(c) = chars.next() {
        match c {
            ']' => {
                out.push(']');
                return Ok(());
            }
            '\\' => {
                let is_set = matches!(chars.peek(), Some('d' | 'D' | 'w' | 'W' | 's' | 'S' | 'p'));
                escape(chars, out, true)?;
                hyphen_is_literal = is_set;
                continue;
            }
            '-' if hyphen_is_literal || chars.peek() == Some(&']') => out.push_str(r"\-"),
            '-' => {
                out.push('-');
                hyphen_is_literal = true;
                continue;
            }
            '[' | '&' | '~' | '^' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
        hyphen_is_literal = false;
    }
    Err(PatternError::Syntax("unclosed character class".into()))
}

fn escape(
    chars: &mut Peekable<Chars<'_>>,
    out: &mut String,
    in_class: bool,
) -> Result<(), PatternError> {
    let Some(c) = chars.next() else {
        return Err(PatternError::Syntax("trailing backslash".into()));
    };
    match c {
        'd' => out.push_str(DIGIT),
        'D' => out.push_str(NOT_DIGIT),
        'w' => out.push_str(WORD),
        'W' => out.push_str(NOT_WORD),
        'h' => out.push_str(r"[ \t]"),
        'b' if in_class => out.push_str(r"\x08"),
        'Z' if !in_class => out.push_str(r"\z"),
        'c' => match chars.next_if(char::is_ascii_alphabetic) {
            Some(letter) => push_code(out, u32::from(letter) % 32)?,
            None => out.push_str(r"\\c"),
        },
        '0' => out.push_str(r"\x00"),
        '1'..='9' if !in_class => return Err(PatternError::BackReference),
        'k' if chars.peek() == Some(&'<') => return Err(PatternError::BackReference),
        'u' => unicode(chars, out)?,
        's' | 'S' | 'b' | 'B' | 'p' | 'P' | 't' | 'n' | 'r' | 'f' | 'v' | 'x' | 'A' | 'z' | 'a' => {
            out.push('\\');
            out.push(c);
            if matches!(c, 'p' | 'P' | 'x') {
                braces(chars, out);
            }
        }
        c if regex_syntax::is_meta_character(c) => {
            out.push('\\');
            out.push(c);
        }
        c => out.push(c),
    }
    Ok(())
}

/// Copies `{…}`, which belongs to the escape before it.
fn braces(chars: &mut Peekable<Chars<'_>>, out: &mut String) {
    if chars.peek() == Some(&'{') {
        for c in chars.by_ref() {
            out.push(c);
            if c == '}' {
                break;
            }
        }
    }
}

fn push_code(out: &mut String, code: u32) -> Result<(), PatternError> {
    if char::from_u32(code).is_none() {
        return Err(PatternError::Syntax("half of a surrogate pair".into()));
    }
    out.push_str(&format!(r"\x{{{code:X}}}"));
    Ok(())
}

fn unicode(chars: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), PatternError> {
    if chars.peek() == Some(&'{') {
        out.push_str(r"\u");
        braces(chars, out);
        return Ok(());
    }
    let Some(high) = four_hex_digits(chars) else {
        out.push('u');
        return Ok(());
    };
    if (0xD800..0xDC00).contains(&high) {
        let mut ahead = chars.clone();
        if ahead.next() == Some('\\')
            && ahead.next() == Some('u')
            && let Some(low) = four_hex_digits(&mut ahead)
            && (0xDC00..0xE000).contains(&low)
        {
            *chars = ahead;
            return push_code(out, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
        }
    }
    push_code(out, high)
}

fn four_hex_digits(chars: &mut Peekable<Chars<'_>>) -> Option<u32> {
    let mut ahead = chars.clone();
    let mut code = 0;
    for _ in 0..4 {
        code = code * 16 + ahead.next()?.to_digit(16)?;
    }
    *chars = ahead;
    Some(code)
}
