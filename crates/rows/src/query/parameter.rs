//! Parameters of a query: `?`, `$1`, `:name`, `@name`, `%s`, `%(name)s`.
//!
//! A query's parameters are numbered from zero in the order in which they appear; repeated names
//! share a number, and every bare `?` or `%s` has its own. Targets move, copy and drop conditions,
//! so each says which of the query's parameters stands where.

use isobath_sql::statement_text::{parameters, replace, takes_array};
use isobath_sql::{DialectName, Value, render};

/// The numbers of a query's parameters, one per place.
pub fn numbers(sql: &str, syntax: DialectName) -> Vec<usize> {
    let mut names: Vec<&str> = Vec::new();
    parameters(sql, syntax)
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
    let numbered = replace(sql, syntax, |place, _| {
        let number = numbers.get(place).copied().unwrap_or(place);
        Some(format!("{sign}{}", number + 1))
    });
    numbered.into_owned()
}

/// A query with its parameters replaced by values; `numbers` has one number per place.
pub fn bound(sql: &str, numbers: &[usize], values: &[Value], dialect: DialectName) -> String {
    let arrays = arrays(sql, dialect);
    let bound = replace(sql, dialect, |place, _| {
        let number = numbers.get(place).copied().unwrap_or(place);
        let value = values.get(number).unwrap_or(&Value::Null);
        Some(literal(value, arrays.get(place) == Some(&true), dialect))
    });
    bound.into_owned()
}

/// For each place of a parameter, whether it takes an array.
pub(super) fn arrays(sql: &str, syntax: DialectName) -> Vec<bool> {
    let places = parameters(sql, syntax).into_iter();
    places
        .map(|place| takes_array(sql.get(..place.start).unwrap_or_default()))
        .collect()
}

/// The value of a parameter as a literal. An array has the value as its one element.
pub(super) fn literal(value: &Value, is_array: bool, dialect: DialectName) -> String {
    match is_array {
        true => render::array_literal(value, dialect),
        false => render::literal(value, dialect),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_every_style_are_bound() {
        let values = [Value::from(1), Value::text("x")];
        let bind = |sql: &str| {
            let numbers = numbers(sql, DialectName::Postgres);
            bound(sql, &numbers, &values, DialectName::Postgres)
        };
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
    fn a_parameter_of_any_is_bound_to_an_array() {
        let bind = |sql: &str, value: Value| {
            let numbers = numbers(sql, DialectName::Postgres);
            bound(sql, &numbers, &[value], DialectName::Postgres)
        };
        assert_eq!(
            bind("a = ANY($1::int[]) AND b = 2", Value::from(1)),
            "a = ANY('{\"1\"}'::int[]) AND b = 2"
        );
        assert_eq!(
            bind("a <> all ( $1 )", Value::text("it's \"x\"")),
            "a <> all ( '{\"it''s \\\"x\\\"\"}' )"
        );
        assert_eq!(bind("a = any($1)", Value::Null), "a = any(NULL)");
        assert_eq!(bind("a = many($1)", Value::from(1)), "a = many(1)");
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
