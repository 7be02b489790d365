//! Which columns of which tables a query compares with constants, and how.
//!
//! Whoever knows where a constant came from learns which column it stands for.

use crate::expr::{CompareOp, Expr};
use crate::value::Value;

use super::model::{From, Query, QueryBody, Select};

/// A column that a query compares with a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnComparison {
    /// Index of the table in the schema.
    pub table: usize,
    /// The column of the table.
    pub column: usize,
    /// What it is compared with.
    pub constant: Value,
    /// How.
    pub how: ComparisonKind,
}

/// How a column is compared with a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonKind {
    /// True where they are equal, and only there: `=`, IN, IS NOT DISTINCT FROM.
    Equal,
    /// True where they are equal, and elsewhere: `<=`, `>=`, BETWEEN.
    Within,
    /// Anything else: `<`, `<>`, LIKE, what is done with the column in a function, what is under a NOT.
    Otherwise,
}

impl ComparisonKind {
    /// What it is where it may be turned round.
    fn unless(self, negated: bool) -> Self {
        if negated { Self::Otherwise } else { self }
    }
}

/// The column of a table that each slot of a row is, where it is one.
type SlotOrigins = Vec<Option<(usize, usize)>>;

impl Query {
    /// The columns that it compares with constants in its conditions, those of its subqueries included.
    pub fn column_comparisons(&self) -> Vec<ColumnComparison> {
        let mut found = Vec::new();
        of_query(self, &SlotOrigins::new(), &mut found);
        found
    }
}

/// Finds comparisons; says which columns of tables the columns of the result are.
fn of_query(query: &Query, outer: &SlotOrigins, found: &mut Vec<ColumnComparison>) -> SlotOrigins {
    match &query.body {
        QueryBody::Select(select) => of_select(select, outer, found),
        QueryBody::Set { left, right, .. } => {
            let shown = of_query(left, outer, found);
            of_query(right, outer, found);
            shown
        }
        QueryBody::Values(_) => SlotOrigins::new(),
    }
}

fn of_select(
    select: &Select,
    outer: &SlotOrigins,
    found: &mut Vec<ColumnComparison>,
) -> SlotOrigins {
    let mut origins = outer.clone();
    origins.resize(select.width.max(outer.len()), None);
    // What an aggregate or a sibling left there is not ours.
    origins[select.base.min(outer.len())..].fill(None);
    if let Some(from) = &select.from {
        of_from(from, &mut origins, found);
    }
    for expr in select.filter.iter().chain(&select.having) {
        of_condition(expr, &origins, true, found);
    }
    for subquery in &select.subqueries {
        of_query(&subquery.query, &origins, found);
    }
    let items = select.items.iter();
    items.map(|item| origin(&item.expr, &origins)).collect()
}

fn of_from(from: &From, origins: &mut SlotOrigins, found: &mut Vec<ColumnComparison>) {
    match from {
        From::Table {
            table,
            slot,
            columns,
            ..
        } => {
            for column in 0..*columns {
                put(origins, slot + column, Some((*table, column)));
            }
        }
        From::Derived { query, slot, .. } => {
            let shown = of_query(query, origins, found);
            for (column, origin) in shown.into_iter().enumerate() {
                put(origins, slot + column, origin);
            }
        }
        From::Join {
            left, right, on, ..
        } => {
            of_from(left, origins, found);
            of_from(right, origins, found);
            if let Some(on) = on {
                of_condition(on, origins, true, found);
            }
        }
    }
}

fn put(origins: &mut SlotOrigins, slot: usize, origin: Option<(usize, usize)>) {
    if let Some(place) = origins.get_mut(slot) {
        *place = origin;
    }
}

/// The column that an expression is, unchanged but for its type.
fn origin(expr: &Expr, origins: &SlotOrigins) -> Option<(usize, usize)> {
    match expr {
        Expr::Column(column) => *origins.get(column.slot)?,
        Expr::Cast { expr, .. } => origin(expr, origins),
        _ => None,
    }
}

/// Finds comparisons in a condition; `plain` unless it is under a NOT.
fn of_condition(
    expr: &Expr,
    origins: &SlotOrigins,
    plain: bool,
    found: &mut Vec<ColumnComparison>,
) {
    let mut pair = |column: &Expr, constant: &Expr, how: ComparisonKind| {
        let how = how.unless(!plain);
        found.extend(of_pair(column, constant, how, origins));
    };
    match expr {
        Expr::And(parts) | Expr::Or(parts) => {
            for part in parts {
                of_condition(part, origins, plain, found);
            }
        }
        Expr::Not(inner) => of_condition(inner, origins, false, found),
        Expr::Compare { op, left, right } => {
            let how = match op {
                CompareOp::Equal => ComparisonKind::Equal,
                CompareOp::LessOrEqual | CompareOp::GreaterOrEqual => ComparisonKind::Within,
                CompareOp::NotEqual | CompareOp::Less | CompareOp::Greater => {
                    ComparisonKind::Otherwise
                }
            };
            pair(left, right, how);
            pair(right, left, how);
        }
        Expr::IsDistinct {
            left,
            right,
            negated,
        } => {
            let how = ComparisonKind::Equal.unless(!negated);
            pair(left, right, how);
            pair(right, left, how);
        }
        Expr::Between {
            expr,
            low,
            high,
            negated,
            ..
        } => {
            let how = ComparisonKind::Within.unless(*negated);
            pair(expr, low, how);
            pair(expr, high, how);
        }
        Expr::InList {
            expr,
            list,
            negated,
        } => {
            let how = ComparisonKind::Equal.unless(*negated);
            for constant in list {
                pair(expr, constant, how);
            }
        }
        Expr::Like { expr, pattern, .. } => pair(expr, pattern, ComparisonKind::Otherwise),
        _ => {}
    }
}

/// The comparison of a column, or of what a function makes of one, with a constant.
fn of_pair(
    column: &Expr,
    constant: &Expr,
    how: ComparisonKind,
    origins: &SlotOrigins,
) -> Option<ColumnComparison> {
    let constant = match constant {
        Expr::Literal(value) if !value.is_null() => value.clone(),
        Expr::Cast { expr, .. } => match &**expr {
            Expr::Literal(value) if !value.is_null() => value.clone(),
            _ => return None,
        },
        _ => return None,
    };
    let ((table, column), how) = match origin(column, origins) {
        Some(plain) => (plain, how),
        None => {
            let mut inside = None;
            column.walk(&mut |part| inside = inside.or_else(|| origin(part, origins)));
            (inside?, ComparisonKind::Otherwise)
        }
    };
    Some(ColumnComparison {
        table,
        column,
        constant,
        how,
    })
}

#[cfg(test)]
mod tests {
    use crate::ddl::{Source, load};
    use crate::dialect::DialectName;
    use crate::query::parse;

    fn column_comparisons(sql: &str) -> String {
        let source = Source {
            name: "test".to_owned(),
            text: "CREATE TABLE foo (id INTEGER PRIMARY KEY, x INT, name TEXT); CREATE TABLE bar (id INT, foo INT)".to_owned(),
        };
        let schema = load("test", &[source], Some(DialectName::Sqlite)).schema;
        let query = parse(sql, &schema, DialectName::Sqlite).expect("a query");
        let all = query
            .column_comparisons()
            .into_iter()
            .map(|column_comparisons| {
                let table = &schema.tables[column_comparisons.table];
                let column = &table.columns[column_comparisons.column].name;
                let (table, constant, how) = (
                    &table.name,
                    &column_comparisons.constant,
                    column_comparisons.how,
                );
                format!("{table}.{column} {how:?} {constant}")
            });
        all.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn constants_are_told_with_the_columns_that_they_are_compared_with() {
        let check = |sql, expected: &str| assert_eq!(column_comparisons(sql), expected, "{sql}");
        check(
            "SELECT 1 FROM foo WHERE x = 4 AND name = 'a'",
            "foo.x Equal 4, foo.name Equal a",
        );
        check(
            "SELECT 1 FROM foo WHERE -4 <= x OR x IN (1, 2)",
            "foo.x Within -4, foo.x Equal 1, foo.x Equal 2",
        );
        check(
            "SELECT 1 FROM foo WHERE id BETWEEN 3 AND 5 AND x > 7",
            "foo.id Within 3, foo.id Within 5, foo.x Otherwise 7",
        );
        check(
            "SELECT 1 FROM foo WHERE lower(name) = 'a' AND name LIKE 'b%'",
            "foo.name Otherwise a, foo.name Otherwise b%",
        );
        check("SELECT 1 FROM foo WHERE NOT (x = 4)", "foo.x Otherwise 4");
        check("SELECT 1 FROM foo WHERE x = id", "");
    }

    #[test]
    fn joins_subqueries_and_derived_tables_lead_to_the_tables_behind_them() {
        let check = |sql, expected: &str| assert_eq!(column_comparisons(sql), expected, "{sql}");
        check(
            "SELECT 1 FROM bar b JOIN foo f ON f.id = b.foo AND f.x = 1 WHERE b.id = 2",
            "foo.x Equal 1, bar.id Equal 2",
        );
        check(
            "SELECT 1 FROM bar WHERE EXISTS (SELECT 1 FROM foo WHERE foo.id = bar.foo AND bar.id = 3 AND x = 4)",
            "bar.id Equal 3, foo.x Equal 4",
        );
        check(
            "SELECT 1 FROM (SELECT name AS n, x + 1 AS y FROM foo) d WHERE d.n = 'a' AND d.y = 2",
            "foo.name Equal a",
        );
    }
}
