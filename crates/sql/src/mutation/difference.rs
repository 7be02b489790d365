//! Queries that return a row where a mutant may differ from the original.
//!
//! The two trees say where they differ, so every operator is served by the clause that it changes.

use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, Ident, JoinConstraint, JoinOperator, OrderByKind, Query,
    Select, SelectItem, SetExpr, SetOperator, SetQuantifier, TableFactor, TableWithJoins, Value,
};

use super::mutate::{DifferenceQuery, binary, is_grouped};
use super::raise::can_raise;
use crate::coverage::parse::{from_body, plain, select};
use crate::dialect::DialectName;
use crate::schema::Schema;

/// A query, and whether it is decisive.
type Difference = (Query, bool);

/// The queries that may tell the two apart.
pub(super) fn queries(
    original: &Query,
    mutant: &Query,
    schema: &Schema,
    dialect: DialectName,
) -> Vec<DifferenceQuery> {
    let mut found = differences(original, mutant, (schema, dialect));
    for (query, _) in &mut found {
        query.with.clone_from(&original.with);
    }
    let found = found.iter();
    found
        .map(|(query, is_decisive)| DifferenceQuery::new(query, *is_decisive))
        .collect()
}

fn differences(original: &Query, mutant: &Query, of: (&Schema, DialectName)) -> Vec<Difference> {
    let (SetExpr::Select(before), SetExpr::Select(after)) = (&*original.body, &*mutant.body) else {
        return except(original, mutant);
    };
    let same = Query {
        body: original.body.clone(),
        ..mutant.clone()
    };
    if same != *original {
        return order(original, mutant, before);
    }
    let found = selects(before, after, of);
    if found.is_empty() {
        return except(original, mutant);
    }
    found
}

fn selects(
    before: &Select,
    after: &Select,
    (schema, dialect): (&Schema, DialectName),
) -> Vec<Difference> {
    // A mutant that alone raises an error is no equivalent one, although it returns no row more.
    let decides = |changed: &Expr| !can_raise(changed, dialect);
    if let (Some(condition), Some(changed)) = (&before.selection, &after.selection)
        && *before == restored(after, |of| of.selection.clone_from(&before.selection))
    {
        let either = either_way(condition, changed);
        // Where the rows are grouped, the difference also has to show.
        let shown = either.iter().map(|condition| {
            let mut shown = before.clone();
            shown.selection = Some(condition.clone());
            (plain(shown), false)
        });
        let input = either
            .iter()
            .map(|condition| plain(input(before, Some(condition.clone()))));
        let input = input.map(|query| (query, decides(changed)));
        return shown.chain(input).collect();
    }
    if let (Some(condition), Some(changed)) = (&before.having, &after.having)
        && *before == restored(after, |of| of.having.clone_from(&before.having))
    {
        let groups = either_way(condition, changed).into_iter().map(|condition| {
            let mut groups = before.clone();
            groups.having = Some(condition);
            (plain(groups), decides(changed))
        });
        return groups.collect();
    }
    if *before == restored(after, |of| of.projection.clone_from(&before.projection)) {
        return values(before, after);
    }
    if *before == restored(after, |of| of.distinct.clone_from(&before.distinct)) {
        return duplicates(before);
    }
    if *before == restored(after, |of| of.from.clone_from(&before.from)) {
        return joins(before, after, (schema, dialect));
    }
    Vec::new()
}

fn restored(after: &Select, restore: impl Fn(&mut Select)) -> Select {
    let mut select = after.clone();
    restore(&mut select);
    select
}

/// One condition without the other, and the reverse.
fn either_way(a: &Expr, b: &Expr) -> Vec<Expr> {
    let one = |a: &Expr, b: &Expr| {
        let not = Expr::IsNotTrue(Box::new(Expr::Nested(Box::new(b.clone()))));
        binary(nested(a), BinaryOperator::And, not)
    };
    vec![one(a, b), one(b, a)]
}

fn nested(expr: &Expr) -> Expr {
    Expr::Nested(Box::new(expr.clone()))
}

fn number(digits: &str) -> Expr {
    Expr::Value(Value::Number(digits.to_owned(), false).into())
}

/// The rows that a SELECT starts from, under another condition.
fn input(of: &Select, condition: Option<Expr>) -> Select {
    let one = SelectItem::UnnamedExpr(number("1"));
    select(vec![one], of.from.clone(), condition)
}

pub(super) fn item(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

/// Rows or groups for which a value of the result differs.
fn values(before: &Select, after: &Select) -> Vec<Difference> {
    let pairs = before.projection.iter().zip(&after.projection);
    let pairs = pairs.filter(|(a, b)| a != b);
    let pairs = pairs.filter_map(|(a, b)| Some((item(a)?, item(b)?)));
    let queries = pairs.map(|(a, b)| {
        let differ = binary(nested(a), BinaryOperator::NotEq, nested(b));
        let mut select = before.clone();
        let clause = if is_grouped(before) {
            &mut select.having
        } else {
            &mut select.selection
        };
        *clause = Some(match clause.take() {
            Some(condition) => binary(nested(&condition), BinaryOperator::And, differ),
            None => differ,
        });
        (plain(select), false)
    });
    queries.collect()
}

/// Rows that are in the result twice.
fn duplicates(before: &Select) -> Vec<Difference> {
    let items: Option<Vec<&Expr>> = before.projection.iter().map(item).collect();
    let Some(items) = items else {
        return Vec::new();
    };
    let names: Vec<String> = (0..items.len()).map(|n| format!("c{n}")).collect();
    let mut inner = before.clone();
    inner.distinct = None;
    inner.projection = items
        .iter()
        .zip(&names)
        .map(|(expr, name)| SelectItem::ExprWithAlias {
            expr: (*expr).clone(),
            alias: Ident::new(name),
        })
        .collect();
    let columns: Vec<Expr> = names
        .iter()
        .map(|name| Expr::CompoundIdentifier(vec![Ident::new("d"), Ident::new(name)]))
        .collect();
    let items = columns.iter().cloned().map(SelectItem::UnnamedExpr);
    let mut outer = select(items.collect(), derived(inner), None);
    outer.group_by = GroupByExpr::Expressions(columns, Vec::new());
    outer.having = Some(binary(call("COUNT(*)"), BinaryOperator::Gt, number("1")));
    vec![(plain(outer), true)]
}

/// A call as an expression that prints as it is written.
fn call(text: &str) -> Expr {
    Expr::Identifier(Ident::new(text))
}

/// `FROM (SELECT …) d`.
fn derived(inner: Select) -> Vec<TableWithJoins> {
    vec![TableWithJoins {
        relation: TableFactor::Derived {
            lateral: false,
            subquery: Box::new(plain(inner)),
            alias: Some(sqlparser::ast::TableAlias {
                explicit: false,
                name: Ident::new("d"),
                columns: Vec::new(),
                at: None,
            }),
            sample: None,
        },
        joins: Vec::new(),
    }]
}

/// Results with more than one value of a sort key that the mutant treats otherwise.
fn order(original: &Query, mutant: &Query, select: &Select) -> Vec<Difference> {
    let keys = |query: &Query| match query.order_by.as_ref().map(|order| &order.kind) {
        Some(OrderByKind::Expressions(keys)) => keys.clone(),
        _ => Vec::new(),
    };
    let (before, after) = (keys(original), keys(mutant));
    let changed = before
        .iter()
        .enumerate()
        .find(|(number, key)| after.get(*number) != Some(key));
    let Some((_, key)) = changed else {
        return Vec::new();
    };
    let mut inner = select.clone();
    inner.distinct = None;
    inner.projection = vec![SelectItem::ExprWithAlias {
        expr: sort_value(&key.expr, select),
        alias: Ident::new("k"),
    }];
    let mut outer = self::select(
        vec![SelectItem::UnnamedExpr(call("COUNT(*)"))],
        derived(inner),
        None,
    );
    outer.having = Some(binary(
        call("MIN(d.k)"),
        BinaryOperator::Lt,
        call("MAX(d.k)"),
    ));
    vec![(plain(outer), false)]
}

/// What a sort key stands for, where it is a name or a number of the result.
fn sort_value(key: &Expr, select: &Select) -> Expr {
    let by_number = key.to_string().parse::<usize>().ok();
    let by_number = by_number.and_then(|number| select.projection.get(number.checked_sub(1)?));
    let by_name = select.projection.iter().find(|item| {
        matches!((item, key), (SelectItem::ExprWithAlias { alias, .. }, Expr::Identifier(name))
            if alias.value.eq_ignore_ascii_case(&name.value))
    });
    let of = by_number.or(by_name).and_then(item);
    of.unwrap_or(key).clone()
}

/// Rows for which a changed join brings another partner, or none.
fn joins(
    before: &Select,
    after: &Select,
    (schema, dialect): (&Schema, DialectName),
) -> Vec<Difference> {
    let ([from], [changed]) = (before.from.as_slice(), after.from.as_slice()) else {
        return Vec::new();
    };
    let mut pairs = from.joins.iter().zip(&changed.joins);
    let Some(at) = pairs.position(|(a, b)| a != b) else {
        return Vec::new();
    };
    let (a, b) = (&from.joins[at], &changed.joins[at]);
    let inner =
        |join: &JoinOperator| matches!(join, JoinOperator::Join(_) | JoinOperator::Inner(_));
    if let (Some(JoinConstraint::On(one)), Some(JoinConstraint::On(other))) =
        (constraint(&a.join_operator), constraint(&b.join_operator))
        && one != other
    {
        // Among inner joins, ON is a part of WHERE.
        if !from.joins.iter().all(|join| inner(&join.join_operator)) {
            return Vec::new();
        }
        let mut open = before.clone();
        let always = binary(number("1"), BinaryOperator::Eq, number("1"));
        open.from[0].joins[at].join_operator = JoinOperator::Inner(JoinConstraint::On(always));
        let queries = either_way(one, other).into_iter().map(|differs| {
            let condition = match &before.selection {
                Some(condition) => binary(nested(condition), BinaryOperator::And, differs),
                None => differs,
            };
            let decides = !can_raise(other, dialect);
            (plain(input(&open, Some(condition))), decides)
        });
        return queries.collect();
    }
    // Which sides the two keep when there is no partner: those differ.
    let keeps = |join: &JoinOperator| match join {
        JoinOperator::Left(_) | JoinOperator::LeftOuter(_) => (true, false),
        JoinOperator::Right(_) | JoinOperator::RightOuter(_) => (false, true),
        JoinOperator::FullOuter(_) => (true, true),
        _ => (false, false),
    };
    let (one, other) = (keeps(&a.join_operator), keeps(&b.join_operator));
    let Some(on) = constraint(&a.join_operator) else {
        return Vec::new();
    };
    let mut queries: Vec<Difference> = Vec::new();
    // Of columns with one name for both sides, each type of join takes the value of another side.
    let mut is_complete = matches!(on, JoinConstraint::On(_));
    let mut without_partner = |kind: JoinOperator, missing: &TableFactor, complete: bool| {
        is_complete &= complete;
        let Some(column) = partner_column(missing, schema) else {
            is_complete = false;
            return;
        };
        let mut select = before.clone();
        select.from[0].joins[at].join_operator = kind;
        let is_null = Expr::IsNull(Box::new(column));
        let mut shown = select.clone();
        shown.selection = Some(match shown.selection.take() {
            Some(condition) => binary(nested(&condition), BinaryOperator::And, is_null.clone()),
            None => is_null.clone(),
        });
        queries.push((plain(shown), false));
        select.from[0].joins.truncate(at + 1);
        queries.push((plain(input(&select, Some(is_null))), true));
    };
    if one.0 != other.0 {
        without_partner(JoinOperator::Left(on.clone()), &a.relation, true);
    }
    if one.1 != other.1 {
        without_partner(JoinOperator::Right(on.clone()), &from.relation, at == 0);
    }
    for (_, is_decisive) in &mut queries {
        *is_decisive &= is_complete;
    }
    queries
}

fn constraint(join: &JoinOperator) -> Option<&JoinConstraint> {
    match join {
        JoinOperator::Join(on)
        | JoinOperator::Inner(on)
        | JoinOperator::Left(on)
        | JoinOperator::LeftOuter(on)
        | JoinOperator::Right(on)
        | JoinOperator::RightOuter(on)
        | JoinOperator::FullOuter(on) => Some(on),
        _ => None,
    }
}

/// A column of a table that is NULL where the table has no row, and rarely elsewhere.
fn partner_column(relation: &TableFactor, schema: &Schema) -> Option<Expr> {
    let TableFactor::Table { name, alias, .. } = relation else {
        return None;
    };
    let name = name.0.last()?.as_ident()?;
    let table = &schema.tables[schema.table_index(&name.value)?];
    let key = table.primary_key().and_then(|key| key.first().copied());
    let not_null = || (0..table.columns.len()).find(|column| table.is_not_null(*column));
    let column = key.or_else(not_null).unwrap_or(0);
    let of = alias.as_ref().map_or(name, |alias| &alias.name);
    let column = Ident::new(&table.columns.get(column)?.name);
    Some(Expr::CompoundIdentifier(vec![of.clone(), column]))
}

/// Rows that only one of the two returns.
fn except(original: &Query, mutant: &Query) -> Vec<Difference> {
    let one = |left: &Query, right: &Query| {
        let side = |query: &Query| {
            let mut query = query.clone();
            query.with = None;
            query.order_by = None;
            match *query.body {
                SetExpr::Select(_) if query.limit_clause.is_none() => query.body,
                _ => Box::new(SetExpr::Query(Box::new(query))),
            }
        };
        from_body(SetExpr::SetOperation {
            op: SetOperator::Except,
            set_quantifier: SetQuantifier::None,
            left: side(left),
            right: side(right),
        })
    };
    if original.with != mutant.with {
        return Vec::new();
    }
    vec![
        (one(original, mutant), false),
        (one(mutant, original), false),
    ]
}
