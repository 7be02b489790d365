//! Words of POSIX shell commands.

/// `text` as one word, in single quotes.
#[must_use]
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// `text` as one word, in single quotes only where it needs them.
#[must_use]
pub fn quote_if_needed(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+{}".contains(c);
    // Some shells expand `{a,b}`.
    let has_list = text.contains('{') && text.contains(',');
    if !text.is_empty() && text.chars().all(is_plain) && !has_list {
        text.to_owned()
    } else {
        quote(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_only_where_needed() {
        assert_eq!(quote_if_needed("--port=1"), "--port=1");
        assert_eq!(quote_if_needed("--port={port}"), "--port={port}");
        assert_eq!(quote_if_needed("{a,b}"), "'{a,b}'");
        assert_eq!(quote_if_needed(""), "''");
        assert_eq!(quote_if_needed("it's"), r"'it'\''s'");
    }
}
