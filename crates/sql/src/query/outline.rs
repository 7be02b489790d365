//! What a statement touches, for those who print or rewrite it: the tables that it names and where,
//! and the table that it changes.

use std::ops::ControlFlow;

use isobath_walk::{Tree, TreeVisitor};
use sqlparser::ast::{
    FromTable, ObjectName, Query, SetExpr, Spanned, Statement, TableFactor, TableObject,
    TableWithJoins,
};

use crate::coverage::{ParameterMention, Span};
use crate::dialect::DialectName;

/// A table's name in a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableMention {
    /// The name without quotes, and without a schema before it.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// What a statement touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The table that it changes; `None` when it only reads.
    pub changes: Option<String>,
    /// Every mention of a table, in order; common table expressions are none.
    pub tables: Vec<TableMention>,
    /// Every mention of a parameter, in order.
    pub parameters: Vec<ParameterMention>,
    /// Whether the result has an order of its own.
    pub ordered: bool,
    /// Whether LIMIT or FETCH cuts the result.
    pub limited: bool,
}

/// The outline of one statement; `None` when it does not parse.
pub fn outline(sql: &str, dialect: DialectName) -> Option<Outline> {
    let (statement, parameters) = crate::ddl::parse::with_parameters(sql, dialect).ok()?;
    let mut found = TableCollector::default();
    let _ = statement.walk(&mut found);
    found.tables.retain(|mention| {
        !found
            .ctes
            .iter()
            .any(|cte| cte.eq_ignore_ascii_case(&mention.name))
    });
    found.tables.sort_by_key(|mention| mention.span);
    found.tables.dedup();
    let top = match &statement {
        Statement::Query(query) => Some(query),
        _ => None,
    };
    Some(Outline {
        changes: changed(&statement),
        tables: found.tables,
        parameters,
        ordered: top.is_some_and(|query| query.order_by.is_some()),
        limited: top.is_some_and(|query| query.limit_clause.is_some() || query.fetch.is_some()),
    })
}

/// Tables and common table expressions, gathered while walking.
#[derive(Default)]
struct TableCollector {
    tables: Vec<TableMention>,
    ctes: Vec<String>,
}

impl TreeVisitor for TableCollector {
    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if let Some(with) = &query.with {
            let names = with.cte_tables.iter();
            self.ctes
                .extend(names.map(|cte| cte.alias.name.value.clone()));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        let span = relation.span();
        if let (Some(name), true) = (last(relation), span.start.line > 0) {
            self.tables.push(TableMention {
                name,
                span: Span {
                    line: span.start.line,
                    column: span.start.column,
                    end_line: span.end.line,
                    // The parser's spans end after the last character.
                    end_column: span.end.column.saturating_sub(1),
                },
            });
        }
        ControlFlow::Continue(())
    }
}

fn last(name: &ObjectName) -> Option<String> {
    let part = name.0.last()?;
    Some(part.as_ident()?.value.clone())
}

fn changed(statement: &Statement) -> Option<String> {
    let of = |table: &TableWithJoins| match &table.relation {
        TableFactor::Table { name, .. } => last(name),
        _ => None,
    };
    match statement {
        Statement::Insert(insert) => match &insert.table {
            TableObject::TableName(name) => last(name),
            _ => None,
        },
        Statement::Update(update) => of(&update.table),
        Statement::Delete(delete) => match (delete.tables.first(), &delete.from) {
            (Some(name), _) => last(name),
            (None, FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) => {
                from.first().and_then(of)
            }
        },
        Statement::Query(query) => match &*query.body {
            SetExpr::Insert(inner) | SetExpr::Update(inner) | SetExpr::Delete(inner) => {
                changed(inner)
            }
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sql: &str) -> Outline {
        outline(sql, DialectName::Postgres).expect("it parses")
    }

    #[test]
    fn tables_are_found_where_they_stand_and_common_tables_are_none() {
        let outline = of(
            "WITH big AS (SELECT * FROM orders)\nSELECT * FROM big JOIN \"people\" p ON true ORDER BY 1",
        );
        let places: Vec<_> = outline
            .tables
            .iter()
            .map(|mention| {
                (
                    mention.name.as_str(),
                    mention.span.line,
                    mention.span.column,
                    mention.span.end_column,
                )
            })
            .collect();
        assert_eq!(places, [("orders", 1, 28, 33), ("people", 2, 24, 31)]);
        assert!(outline.ordered && !outline.limited && outline.changes.is_none());
    }

    #[test]
    fn parameters_of_every_style_are_found() {
        let of = |sql: &str, dialect| -> Vec<(usize, String, u64, u64)> {
            let outline = outline(sql, dialect).expect("it parses");
            let parameters = outline.parameters.into_iter();
            parameters
                .map(|at| (at.index, at.written, at.span.column, at.span.end_column))
                .collect()
        };
        let sql = "SELECT * FROM t WHERE a = %s AND b % s = %(x)s OR c = %(x)s AND d = '%s'";
        assert_eq!(
            of(sql, DialectName::MySql),
            [
                (0, "%s".into(), 27, 28),
                (1, "%(x)s".into(), 42, 46),
                (1, "%(x)s".into(), 55, 59)
            ]
        );
        let sql = "SELECT * FROM t WHERE a = $2 AND b = $1 AND c = $2 AND d = @e AND f = :g";
        let found: Vec<usize> = of(sql, DialectName::MySql).iter().map(|at| at.0).collect();
        assert_eq!(found, [0, 1, 0, 2, 3]);
    }

    #[test]
    fn a_statement_that_writes_names_its_table() {
        assert_eq!(of("UPDATE a SET x = 1").changes.as_deref(), Some("a"));
        assert_eq!(of("DELETE FROM b USING c").changes.as_deref(), Some("b"));
        assert_eq!(
            of("INSERT INTO d SELECT * FROM e").changes.as_deref(),
            Some("d")
        );
    }
}
