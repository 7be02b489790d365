//! Parameters of a query: `?`, `$1`, `:name`, `@name`, `%s`, `%(name)s`.
//!
//! A query's parameters are numbered from zero in the order in which they appear; repeated names
//! share a number, and every bare `?` or `%s` has its own. Targets move, copy and drop conditions,
//! so each says which of the query's parameters stands where.

use std::ops::Range;

use isobath_sql::coverage::is_before_operand;
use isobath_sql::{DialectName, Value, render};

/// Where the parameters of a text stand, in order.
pub fn places(sql: &str) -> Vec<Range<usize>> {
    let mut places: Vec<Range<usize>> = Vec::new();
    let mut rest = sql.char_indices().peekable();
    // Whether what stands before is an operand, after which `?`, `%` and `:` are operators.
    let mut after_operand = false;
    while let Some((at, c)) = rest.next() {
        let tail = &sql[at..];
        let mut end = at + c.len_utf8();
        match c {
            '\'' | '"' | '`' => {
                // A doubled quote closes and opens again, which comes to the same.
                end = tail[1..].find(c).map_or(sql.len(), |close| at + close + 2);
                after_operand = true;
            }
            '-' if tail.starts_with("--") => {
                end = tail.find('\n').map_or(sql.len(), |line| at + line);
            }
            '/' if tail.starts_with("/*") => {
                end = tail.find("*/").map_or(sql.len(), |close| at + close + 2);
            }
            ':' | '@' | '$' if tail[1..].starts_with(c) => {
                // A cast, a system variable, or quotes of PostgreSQL.
                end = at + 2 + word(&tail[2..]);
                after_operand = true;
            }
            _ if c.is_alphanumeric() || c == '_' => {
                end = at + word(tail);
                after_operand = !is_before_operand(&sql[at..end]);
            }
            _ => {
                let length = length(tail, after_operand);
                if length > 0 {
                    end = at + length;
                    places.push(at..end);
                    after_operand = true;
                } else if !c.is_whitespace() {
                    after_operand = matches!(c, ')' | ']');
                }
            }
        }
        while rest.next_if(|(next, _)| *next < end).is_some() {}
    }
    places
}

/// How long the parameter is that a text begins with; zero when it begins with something else.
fn length(tail: &str, after_operand: bool) -> usize {
    let first = tail.chars().next().unwrap_or(' ');
    match first {
        '$' | '@' => match word(&tail[1..]) {
            0 => 0,
            name => 1 + name,
        },
        '?' if !after_operand => {
            let digits = tail[1..].find(|c: char| !c.is_ascii_digit());
            1 + digits.unwrap_or(tail.len() - 1)
        }
        ':' if !after_operand => match word(&tail[1..]) {
            0 => 0,
            name => 1 + name,
        },
        '%' if !after_operand && word(&tail[1..]) == 1 && tail.starts_with("%s") => 2,
        '%' if !after_operand && tail.starts_with("%(") => match tail.find(")s") {
            Some(close) => close + 2,
            None => 0,
        },
        _ => 0,
    }
}

fn word(tail: &str) -> usize {
    tail.find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(tail.len())
}

/// The numbers of a query's parameters, one per place.
pub fn numbers(sql: &str) -> Vec<usize> {
    let mut names: Vec<&str> = Vec::new();
    places(sql)
        .into_iter()
        .map(|place| {
            let name = &sql[place];
            let known = names.iter().position(|known| *known == name);
            match known.filter(|_| !matches!(name, "?" | "%s")) {
                Some(number) => number,
                None => {
                    names.push(name);
                    names.len() - 1
                }
            }
        })
        .collect()
}

/// A query whose parameters carry their numbers, counted from one.
pub(super) fn numbered(sql: &str, numbers: &[usize], syntax: DialectName) -> String {
    let sign = match syntax {
        DialectName::Postgres => '$',
        DialectName::Ansi | DialectName::MySql | DialectName::Sqlite => '?',
    };
    replaced(sql, |place| {
        let number = numbers.get(place).copied().unwrap_or(place);
        format!("{sign}{}", number + 1)
    })
}

/// A query with its parameters replaced by values; `numbers` has one number per place.
pub fn bound(sql: &str, numbers: &[usize], values: &[Value], dialect: DialectName) -> String {
    replaced(sql, |place| {
        let number = numbers.get(place).copied().unwrap_or(place);
        render::literal(values.get(number).unwrap_or(&Value::Null), dialect)
    })
}

fn replaced(sql: &str, mut with: impl FnMut(usize) -> String) -> String {
    let mut text = String::with_capacity(sql.len());
    let mut done = 0;
    for (number, place) in places(sql).into_iter().enumerate() {
        text.push_str(&sql[done..place.start]);
        text.push_str(&with(number));
        done = place.end;
    }
    text.push_str(&sql[done..]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_every_style_are_bound() {
        let values = [Value::from(1), Value::text("x")];
        let bind = |sql: &str| bound(sql, &numbers(sql), &values, DialectName::Postgres);
        assert_eq!(bind("a = ? AND b = ?"), "a = 1 AND b = 'x'");
        assert_eq!(bind("a = %s AND b = %s"), "a = 1 AND b = 'x'");
        assert_eq!(
            bind("a = $1 AND b = $2 OR a = $1"),
            "a = 1 AND b = 'x' OR a = 1"
        );
        assert_eq!(bind("a = :n::int AND b = :s"), "a = 1::int AND b = 'x'");
        assert_eq!(bind("a = %(n)s AND b = %(s)s"), "a = 1 AND b = 'x'");
    }

    #[test]
    fn what_only_looks_like_a_parameter_stays() {
        let stays = |sql: &str| assert!(places(sql).is_empty(), "{sql}");
        stays("a LIKE '?%s' AND b = '$1'");
        stays("a % s = 1");
        stays("a::text = b -- why?");
        stays("@@version = 1");
    }

    #[test]
    fn numbers_follow_the_query_where_a_target_swaps_conditions() {
        let sql = "SELECT 1 FROM t WHERE b = ? AND a = ?";
        assert_eq!(
            numbered(sql, &[1, 0], DialectName::MySql),
            "SELECT 1 FROM t WHERE b = ?2 AND a = ?1"
        );
    }
}
