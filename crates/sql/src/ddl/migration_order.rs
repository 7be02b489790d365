//! The order in which a folder of migrations is applied.

use std::cmp::Ordering;

/// A migration that is not applied, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedMigration {
    /// The file's name as it was given.
    pub name: String,
    /// Why, a lowercase fragment.
    pub why: String,
}

/// Puts names of migrations into the order in which they run and takes out those that undo.
///
/// Digits compare by value, so `V2` comes before `V10`, and time stamps by age.
/// Repeatable migrations (`R__…`, as Flyway has them) run last. Files that undo
/// (`….down.sql`, `U2__…`, `down.sql`) are returned, so that the caller can
/// report them.
pub fn migration_order(names: &mut Vec<String>) -> Vec<SkippedMigration> {
    let mut skipped = Vec::new();
    names.retain(|name| {
        let undoes = undoes(name);
        if undoes {
            skipped.push(SkippedMigration {
                name: name.clone(),
                why: "it undoes a migration".to_owned(),
            });
        }
        !undoes
    });
    names.sort_by(|a, b| {
        repeatable(a)
            .cmp(&repeatable(b))
            .then_with(|| natural(a, b))
            .then_with(|| a.cmp(b))
    });
    skipped
}

fn file(name: &str) -> String {
    name.rsplit(['/', '\\'])
        .next()
        .unwrap_or(name)
        .to_lowercase()
}

fn undoes(name: &str) -> bool {
    let file = file(name);
    let stem = file.strip_suffix(".sql").unwrap_or(&file);
    let flyway = stem
        .strip_prefix('u')
        .and_then(|rest| rest.split_once("__"))
        .is_some_and(|(version, _)| {
            !version.is_empty()
                && version
                    .bytes()
                    .all(|b| b.is_ascii_digit() || b == b'.' || b == b'_')
        });
    flyway
        || stem == "down"
        || stem.ends_with(".down")
        || stem.ends_with("_down")
        || stem.ends_with("-down")
        || stem.ends_with(".undo")
        || stem.ends_with(".rollback")
}

fn repeatable(name: &str) -> bool {
    file(name).starts_with("r__")
}

/// Compares runs of digits by value and everything else by letter, ignoring case.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (mut after_a, mut after_b) = (a.chars(), b.chars());
        match (after_a.next(), after_b.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let (left, rest_a) = digits(a);
                let (right, rest_b) = digits(b);
                let order = left.len().cmp(&right.len()).then_with(|| left.cmp(right));
                if order != Ordering::Equal {
                    return order;
                }
                (a, b) = (rest_a, rest_b);
            }
            (Some(x), Some(y)) => {
                // What ends a number comes first, so that `1__x` is before `1.1__x`.
                let rank = |c: char| {
                    if matches!(c, '_' | '-' | ' ') {
                        '\0'
                    } else {
                        c
                    }
                };
                let order = rank(x).to_lowercase().cmp(rank(y).to_lowercase());
                if order != Ordering::Equal {
                    return order;
                }
                (a, b) = (after_a.as_str(), after_b.as_str());
            }
        }
    }
}

/// The leading digits without leading zeros, and the rest.
fn digits(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (run, rest) = text.split_at(end);
    (run.trim_start_matches('0'), rest)
}
