//! Takes secrets out of the statements that reset a database: password hashes, tokens, keys.

use std::collections::BTreeMap;

use crate::writer::name::snake_case;

/// What columns with secrets are called.
const NAMES: [&str; 9] = [
    "passw",
    "pwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "credential",
    "salt",
    "hash",
];
/// How hashes of passwords begin.
const SHAPES: [&str; 15] = [
    "$argon2",
    "$2a$",
    "$2b$",
    "$2y$",
    "$5$",
    "$6$",
    "$pbkdf2",
    "$scrypt",
    "pbkdf2_",
    "pbkdf2:",
    "scrypt:",
    "{bcrypt}",
    "{SSHA",
    "bcrypt_sha256$",
    "argon2$",
];
/// Shorter values are no secrets.
const SHORTEST: usize = 8;

/// Whether a value is a secret, by the name of its column or by its shape.
#[must_use]
pub fn is_secret_value(column: &str, value: &str) -> bool {
    let column = column.to_ascii_lowercase();
    let is_named = NAMES.iter().any(|name| column.contains(name));
    SHAPES.iter().any(|shape| value.starts_with(shape))
        || (is_named && value.len() >= SHORTEST && value != "0")
}

/// The statement with `${VARIABLE}` in place of its secrets; their values go to `taken`.
pub(super) fn take(statement: &str, taken: &mut BTreeMap<String, String>) -> String {
    let (table, columns) = columns(statement);
    let mut out = String::with_capacity(statement.len());
    let mut rest = statement;
    let (mut depth, mut column) = (0_usize, 0_usize);
    while let Some(c) = rest.chars().next() {
        let Some(after) = rest.strip_prefix('\'') else {
            match c {
                '(' => {
                    depth += 1;
                    if depth == 1 {
                        column = 0;
                    }
                }
                ')' => depth = depth.saturating_sub(1),
                ',' if depth == 1 => column += 1,
                _ => {}
            }
            out.push(c);
            rest = rest.strip_prefix(c).unwrap_or_default();
            continue;
        };
        let literal = end_of_literal(after).and_then(|end| after.split_at_checked(end));
        let Some((content, after)) = literal else {
            break;
        };
        let name = columns.get(column).map_or("", String::as_str);
        // What is escaped could not be put back as it is.
        if is_secret_value(name, content) && !content.contains(['\'', '\\']) {
            let name = if name.is_empty() { "secret" } else { name };
            let variable = variable(&format!("{table} {name}"), content, taken);
            out.push_str(&format!("'${{{variable}}}'"));
        } else {
            out.push_str(&format!("'{content}'"));
        }
        rest = after.strip_prefix('\'').unwrap_or_default();
    }
    out + rest
}

/// The table and the columns that an INSERT names.
fn columns(statement: &str) -> (String, Vec<String>) {
    let bare = |name: &str| name.trim().trim_matches(['"', '`', '[', ']']).to_owned();
    let inserted = statement.trim_start().strip_prefix("INSERT INTO ");
    let Some((table, rest)) = inserted.and_then(|text| text.split_once('(')) else {
        return (String::new(), Vec::new());
    };
    let names = rest.split(')').next().unwrap_or_default();
    (bare(table), names.split(',').map(bare).collect())
}

/// Where a text literal ends, after its first quote: the index of its last quote. Two quotes are one of the text.
fn end_of_literal(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        if byte == b'\'' && bytes.next_if(|(_, next)| *next == b'\'').is_none() {
            return Some(at);
        }
    }
    None
}

/// The variable that holds a value.
fn variable(name: &str, value: &str, taken: &mut BTreeMap<String, String>) -> String {
    let plain = snake_case(name).to_ascii_uppercase();
    let mut variable = plain.clone();
    let mut number = 1;
    while taken.get(&variable).is_some_and(|other| other != value) {
        number += 1;
        variable = format!("{plain}_{number}");
    }
    taken.insert(variable.clone(), value.to_owned());
    variable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_and_tokens_are_taken_out_by_name_and_by_shape() {
        let mut taken = BTreeMap::new();
        let statement = "INSERT INTO \"user\" (email, hashed_password, note) VALUES \
             ('ada@x.org', '$argon2id$v=19$m=6$abc', 'it''s, (fine)'), ('b', '$2b$12$other', '$2a$10$shape')";
        assert_eq!(
            take(statement, &mut taken),
            "INSERT INTO \"user\" (email, hashed_password, note) VALUES \
             ('ada@x.org', '${USER_HASHED_PASSWORD}', 'it''s, (fine)'), ('b', '${USER_HASHED_PASSWORD_2}', '${USER_NOTE}')"
        );
        assert_eq!(taken["USER_HASHED_PASSWORD_2"], "$2b$12$other");
        assert_eq!(taken.len(), 3);
    }

    #[test]
    fn other_statements_stay_as_they_are() {
        let mut taken = BTreeMap::new();
        for statement in [
            "DELETE FROM boats",
            "SELECT setval('boats_id_seq', 1, false)",
            "INSERT INTO boats (id, name) VALUES (1, 'it''s')",
            "INSERT INTO broken (a) VALUES ('open",
        ] {
            assert_eq!(take(statement, &mut taken), statement);
        }
        assert!(taken.is_empty());
    }
}
