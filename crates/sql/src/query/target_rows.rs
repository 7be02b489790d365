//! What a statement that was seen looks for, as a query that returns a row where the statement finds one.
//!
//! A SELECT is its own query, except where it answers whatever is there: of `SELECT COUNT(*) …` the
//! counted rows are sought, and of `SELECT EXISTS (…)` what is to exist. UPDATE and DELETE
//! look for the rows that they would change.

use sqlparser::ast::{
    self, FromTable, FunctionArguments, GroupByExpr, SelectItem, SetExpr, Statement,
    TableWithJoins, UpdateTableFromKind,
};
use sqlparser::dialect::{Dialect, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::tokenizer::{Token, Tokenizer};

use super::model::Query;
use super::resolve::{ResolveError, parse, resolve, syntax_error};
use crate::dialect::DialectName;
use crate::schema::Schema;

/// What a statement looks for.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetRows {
    /// Returns a row where the statement finds one.
    pub query: Query,
    /// Whether the statement has a row to return also when it finds none, so that the number of its rows says nothing.
    pub always_returns_row: bool,
}

/// What a statement looks for; `None` when it looks for nothing, as an INSERT of values does.
///
/// # Errors
///
/// When it does not parse, names something unknown, or uses what we do not evaluate.
pub fn target_rows(
    sql: &str,
    schema: &Schema,
    dialect: DialectName,
) -> Result<Option<TargetRows>, ResolveError> {
    let statement = crate::ddl::parse::statement(sql, dialect).map_err(syntax_error)?;
    match statement {
        Statement::Query(query) => of_query(*query, schema, dialect),
        Statement::Update(update) => {
            let mut tables = vec![update.table];
            match update.from {
                Some(
                    UpdateTableFromKind::AfterSet(from) | UpdateTableFromKind::BeforeSet(from),
                ) => tables.extend(from),
                None => {}
            }
            rows_of(&tables, update.selection.as_ref(), schema, dialect)
        }
        Statement::Delete(delete) => {
            let (FromTable::WithFromKeyword(mut tables) | FromTable::WithoutKeyword(mut tables)) =
                delete.from;
            tables.extend(delete.using.unwrap_or_default());
            rows_of(&tables, delete.selection.as_ref(), schema, dialect)
        }
        _ => Ok(None),
    }
}

/// The rows of tables under a condition.
fn rows_of(
    tables: &[TableWithJoins],
    condition: Option<&ast::Expr>,
    schema: &Schema,
    dialect: DialectName,
) -> Result<Option<TargetRows>, ResolveError> {
    let tables: Vec<String> = tables.iter().map(ToString::to_string).collect();
    let mut text = format!("SELECT 1 FROM {}", tables.join(", "));
    if let Some(condition) = condition {
        text.push_str(&format!(" WHERE {condition}"));
    }
    let query = parse(&text, schema, dialect)?;
    Ok(Some(TargetRows {
        query,
        always_returns_row: false,
    }))
}

fn of_query(
    mut query: ast::Query,
    schema: &Schema,
    dialect: DialectName,
) -> Result<Option<TargetRows>, ResolveError> {
    query.locks.clear();
    let SetExpr::Select(select) = &mut *query.body else {
        let writes = matches!(
            &*query.body,
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_)
        );
        if writes || matches!(&*query.body, SetExpr::Values(_)) {
            return Ok(None);
        }
        return found(&query, schema, dialect, false);
    };
    if select.from.is_empty() {
        // SELECT EXISTS (…), and whatever else asks one question and has one answer.
        return match select.projection.iter().find_map(asked) {
            Some(mut inner) => {
                inner.with = query.with.take();
                found(&inner, schema, dialect, true)
            }
            None => Ok(None),
        };
    }
    let is_grouped = match &select.group_by {
        GroupByExpr::Expressions(keys, _) => !keys.is_empty(),
        GroupByExpr::All(_) => true,
    };
    let sums_up = !is_grouped && select.having.is_none() && select.projection.iter().any(sums);
    if sums_up {
        select.projection = vec![SelectItem::UnnamedExpr(ast::Expr::value(
            ast::Value::Number("1".into(), false),
        ))];
        select.distinct = None;
        query.order_by = None;
        query.limit_clause = None;
        query.fetch = None;
    }
    found(&query, schema, dialect, sums_up)
}

fn found(
    query: &ast::Query,
    schema: &Schema,
    dialect: DialectName,
    always_returns_row: bool,
) -> Result<Option<TargetRows>, ResolveError> {
    let query = resolve(query, schema, dialect)?;
    Ok(Some(TargetRows {
        query,
        always_returns_row,
    }))
}

fn expression(item: &SelectItem) -> Option<&ast::Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

/// The query whose rows an item of a SELECT without FROM asks for.
fn asked(item: &SelectItem) -> Option<ast::Query> {
    let mut expr = expression(item)?;
    loop {
        expr = match expr {
            ast::Expr::Nested(inner) => inner,
            ast::Expr::UnaryOp { expr, .. } | ast::Expr::Cast { expr, .. } => expr,
            ast::Expr::Exists { subquery, .. } | ast::Expr::Subquery(subquery) => {
                return Some((**subquery).clone());
            }
            _ => return None,
        };
    }
}

/// Whether an item makes one row of all rows, at whatever depth.
fn sums(item: &SelectItem) -> bool {
    fn in_expr(expr: &ast::Expr) -> bool {
        match expr {
            ast::Expr::Function(function) => {
                let name = function.name.to_string().to_ascii_lowercase();
                let is_aggregate = matches!(
                    name.as_str(),
                    "count"
                        | "sum"
                        | "total"
                        | "avg"
                        | "min"
                        | "max"
                        | "bool_or"
                        | "bool_and"
                        | "every"
                        | "group_concat"
                        | "string_agg"
                        | "array_agg"
                        | "json_agg"
                        | "jsonb_agg"
                        | "json_group_array"
                        | "json_arrayagg"
                );
                let windowed = function.over.is_some();
                let arguments = match &function.args {
                    FunctionArguments::List(list) => list.args.as_slice(),
                    _ => &[],
                };
                // SQLite's MIN and MAX of several arguments compare these.
                let of_rows = !(matches!(name.as_str(), "min" | "max") && arguments.len() > 1);
                (is_aggregate && of_rows && !windowed)
                    || arguments.iter().any(|argument| match argument {
                        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => {
                            in_expr(expr)
                        }
                        _ => false,
                    })
            }
            ast::Expr::Nested(inner)
            | ast::Expr::UnaryOp { expr: inner, .. }
            | ast::Expr::Cast { expr: inner, .. } => in_expr(inner),
            ast::Expr::BinaryOp { left, right, .. } => in_expr(left) || in_expr(right),
            _ => false,
        }
    }
    expression(item).is_some_and(in_expr)
}

/// A statement without its constants: what is the same however it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementShape {
    /// The text with `?` in place of every constant, and lists of them cut to one.
    pub text: String,
    /// The constants, in order: numbers as written, texts without quotes.
    pub constants: Vec<String>,
}

/// The shape of a statement; what cannot be read is its own shape.
pub fn shape(sql: &str, dialect: DialectName) -> StatementShape {
    let parser: &dyn Dialect = match dialect {
        DialectName::Ansi => &GenericDialect,
        DialectName::Postgres => &PostgreSqlDialect {},
        DialectName::MySql => &MySqlDialect {},
        DialectName::Sqlite => &SQLiteDialect {},
    };
    let Ok(tokens) = Tokenizer::new(parser, sql).tokenize() else {
        return StatementShape {
            text: sql.split_whitespace().collect::<Vec<_>>().join(" "),
            constants: Vec::new(),
        };
    };
    let mut text = String::with_capacity(sql.len());
    let mut constants = Vec::new();
    let mut gap = false;
    // Whether a minus belongs to the number after it.
    let mut before = None;
    for token in tokens {
        match token {
            Token::Whitespace(_) => {
                gap = !text.is_empty();
                continue;
            }
            Token::Number(number, _) => {
                let negative = text.ends_with('-') && before == Some(true);
                if negative {
                    text.pop();
                    constants.push(format!("-{number}"));
                } else {
                    constants.push(number);
                }
                constant(&mut text, gap && !negative);
            }
            Token::SingleQuotedString(inner)
            | Token::EscapedStringLiteral(inner)
            | Token::NationalStringLiteral(inner)
            | Token::UnicodeStringLiteral(inner)
            | Token::HexStringLiteral(inner) => {
                constants.push(inner);
                constant(&mut text, gap);
            }
            other => {
                if gap {
                    text.push(' ');
                }
                let is_sign = matches!(other, Token::Minus);
                let after_operand = text.trim_end().ends_with(|c: char| {
                    c.is_alphanumeric() || matches!(c, '?' | ')' | '"' | '`' | ']' | '_')
                });
                before = Some(is_sign && !after_operand);
                text.push_str(&other.to_string());
            }
        }
        gap = false;
    }
    StatementShape { text, constants }
}

/// Adds the place of a constant, unless it only goes on a list.
fn constant(text: &mut String, gap: bool) {
    if let Some(list) = text.strip_suffix(",")
        && list.ends_with('?')
    {
        text.truncate(text.len() - 1);
        return;
    }
    if gap {
        text.push(' ');
    }
    text.push('?');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddl::{Source, load};
    use crate::value::Value;

    fn schema() -> Schema {
        let source = Source {
            name: "test".to_owned(),
            text: "CREATE TABLE foo (id INTEGER PRIMARY KEY, x INT, y INT); CREATE TABLE bar (id INT, foo INT)".to_owned(),
        };
        load("test", &[source], Some(DialectName::Sqlite)).schema
    }

    /// Whether something is sought, whether an answer comes anyway, and how far one row (1, 2, 3) is from being it.
    fn check(sql: &str, expected: Option<(bool, f64)>) {
        let schema = schema();
        let found = target_rows(sql, &schema, DialectName::Sqlite).expect("it can be read");
        let rows: Vec<Vec<Vec<Value>>> = vec![
            vec![vec![Value::from(1), Value::from(2), Value::from(3)]],
            Vec::new(),
        ];
        let got = found.map(|target_rows| {
            let dialect = DialectName::Sqlite.dialect();
            let distance = super::super::distance(&target_rows.query, &rows, &[], None, dialect);
            (
                target_rows.always_returns_row,
                distance.expect("it is evaluated"),
            )
        });
        match (got, expected) {
            (Some((always, distance)), Some((wanted, far))) => {
                assert_eq!(always, wanted, "{sql}");
                assert_eq!(distance > 0.0, far > 0.0, "{sql}: {distance}");
            }
            (got, expected) => assert_eq!(got, expected, "{sql}"),
        }
    }

    #[test]
    fn statements_seek_the_rows_that_they_read_or_change() {
        check("SELECT x FROM foo WHERE y = 3", Some((false, 0.0)));
        check(
            "SELECT x FROM foo WHERE y = 4 FOR UPDATE",
            Some((false, 1.0)),
        );
        check("UPDATE foo SET x = 7 WHERE y = 4", Some((false, 1.0)));
        check("DELETE FROM foo WHERE x = 2", Some((false, 0.0)));
        check("DELETE FROM bar", Some((false, 1.0)));
        check("INSERT INTO foo (x) VALUES (1)", None);
        check("SELECT 1", None);
        check("BEGIN", None);
    }

    #[test]
    fn what_answers_always_is_asked_for_the_rows_behind_the_answer() {
        check("SELECT COUNT(*) FROM foo WHERE y = 4", Some((true, 1.0)));
        check("SELECT 1 + MAX(x) FROM foo WHERE y = 3", Some((true, 0.0)));
        check(
            "SELECT EXISTS (SELECT 1 FROM foo WHERE y = 4)",
            Some((true, 1.0)),
        );
        check(
            "SELECT NOT EXISTS (SELECT 1 FROM foo WHERE y = 3) AS free",
            Some((true, 0.0)),
        );
        check(
            "SELECT y, COUNT(*) FROM foo WHERE y = 4 GROUP BY y",
            Some((false, 1.0)),
        );
    }

    #[test]
    fn statements_that_differ_in_constants_have_one_shape() {
        let of = |sql: &str| shape(sql, DialectName::Sqlite);
        let one = of("SELECT * FROM foo\n WHERE x = 1 AND name IN ('a', 'b') AND y = -3");
        assert_eq!(
            one.text,
            "SELECT * FROM foo WHERE x = ? AND name IN (?) AND y = ?"
        );
        assert_eq!(one.constants, ["1", "a", "b", "-3"]);
        let other = of("SELECT * FROM foo WHERE x = 22 AND name IN ('it''s') AND y = 4");
        assert_eq!(one.text, other.text);
        assert_eq!(other.constants[1], "it's");
        assert_eq!(of("SELECT x - 1 FROM foo").constants, ["1"]);
    }
}
