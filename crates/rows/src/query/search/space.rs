//! The search space: tables, relevant columns, parameters, and seeds.

use isobath_sql::expr::{CompareOp, Expr};
use isobath_sql::query::Query;
use isobath_sql::query::model::{
    Aggregate, From, OrderBy, OrderKey, QueryBody, Select, SubqueryUsage, WindowFunction,
};
use isobath_sql::{Column, Value};

use crate::query::construct::SolverContext;

/// A column of a table.
pub(in crate::query) type At = (usize, usize);

/// What a search may change, and what it may draw from.
#[derive(Debug, Default)]
pub(in crate::query) struct SearchSpace {
    /// The tables that the query reads, and of each the columns that are used outside the outermost select list.
    pub(in crate::query) tables: Vec<(usize, Vec<usize>)>,
    /// The query's parameters that matter, each with a column that it is compared with.
    pub(in crate::query) parameters: Vec<(usize, Option<At>)>,
    /// The constants of the query.
    pub(in crate::query) constants: Vec<Value>,
    /// Columns that are compared with each other.
    pub(in crate::query) pairs: Vec<(At, At)>,
}

impl SearchSpace {
    pub(in crate::query) fn new(query: &Query) -> Self {
        let mut space = Self::default();
        let tables = query.tables().into_iter();
        space.tables = tables.map(|table| (table, Vec::new())).collect();
        space.query(query, &[], true);
        for (_, columns) in &mut space.tables {
            columns.sort_unstable();
            columns.dedup();
        }
        space
    }

    /// The columns of a table that matter.
    pub(in crate::query) fn columns(&self, table: usize) -> &[usize] {
        self.tables
            .iter()
            .find(|(of, _)| *of == table)
            .map_or(&[], |(_, columns)| columns)
    }

    /// Columns that a column is compared with.
    pub(in crate::query) fn partners(&self, at: At) -> impl Iterator<Item = At> + '_ {
        self.pairs.iter().filter_map(move |(a, b)| {
            if *a == at {
                Some(*b)
            } else if *b == at {
                Some(*a)
            } else {
                None
            }
        })
    }

    fn query(&mut self, query: &Query, outer: &[Option<At>], outermost: bool) {
        match &query.body {
            QueryBody::Select(select) => {
                let slots = self.select(select, outer, outermost);
                self.order(&query.order_by, &slots, select, outermost);
            }
            QueryBody::Set { left, right, .. } => {
                self.query(left, outer, outermost);
                self.query(right, outer, outermost);
            }
            QueryBody::Values(rows) => {
                for value in rows.iter().flatten() {
                    self.expr(value, outer);
                }
            }
        }
        for expr in query.limit.iter().chain(&query.offset) {
            self.expr(expr, outer);
        }
    }

    fn select(
        &mut self,
        select: &Select,
        outer: &[Option<At>],
        outermost: bool,
    ) -> Vec<Option<At>> {
        let mut slots: Vec<Option<At>> = outer.iter().take(select.base).copied().collect();
        slots.resize(select.width, None);
        if let Some(from) = &select.from {
            self.place(from, select, &mut slots);
        }
        let shown = if outermost { &[][..] } else { &select.shows };
        for slot in select.read_slots.iter().chain(shown) {
            if let Some(Some(at)) = slots.get(*slot) {
                self.uses(*at);
            }
        }
        if let Some(from) = &select.from {
            self.conditions(from, &slots);
        }
        let mut exprs: Vec<&Expr> = select.filter.iter().chain(&select.having).collect();
        if let Some(grouping) = &select.grouping {
            exprs.extend(&grouping.keys);
            for (_, aggregate) in &grouping.aggregates {
                of_aggregate(aggregate, &mut exprs);
            }
        }
        for window in &select.windows {
            exprs.extend(&window.partition_by);
            match &window.function {
                WindowFunction::Aggregate(aggregate) => of_aggregate(aggregate, &mut exprs),
                WindowFunction::Shift { expr, .. }
                | WindowFunction::FirstValue(expr)
                | WindowFunction::LastValue(expr)
                | WindowFunction::NthValue(expr, _) => exprs.push(expr),
                WindowFunction::RowNumber
                | WindowFunction::Rank
                | WindowFunction::DenseRank
                | WindowFunction::Ntile(_)
                | WindowFunction::PercentRank
                | WindowFunction::CumeDist => {}
            }
        }
        exprs.extend(select.items.iter().map(|item| &item.expr));
        for expr in exprs {
            self.expr(expr, &slots);
        }
        for subquery in &select.subqueries {
            if let SubqueryUsage::Any { left, op } | SubqueryUsage::All { left, op } =
                &subquery.usage
            {
                self.expr(left, &slots);
                if let (QueryBody::Select(inner), CompareOp::Equal | CompareOp::NotEqual) =
                    (&subquery.query.body, op)
                {
                    let inner_slots = {
                        let mut within: Vec<Option<At>> =
                            slots.iter().take(inner.base).copied().collect();
                        within.resize(inner.width, None);
                        if let Some(from) = &inner.from {
                            place_tables(from, &mut within);
                        }
                        within
                    };
                    if let Some(item) = inner.items.first() {
                        self.pair(column(left, &slots), column(&item.expr, &inner_slots));
                    }
                }
            }
            self.query(&subquery.query, &slots, false);
        }
        slots
    }

    fn order(&mut self, keys: &[OrderKey], slots: &[Option<At>], select: &Select, outermost: bool) {
        for key in keys {
            match &key.by {
                OrderBy::Expr(expr) => {
                    for slot in expr.columns() {
                        if let Some(Some(at)) = slots.get(slot) {
                            self.uses(*at);
                        }
                    }
                    self.expr(expr, slots);
                }
                OrderBy::Output(index) if outermost => {
                    for slot in select
                        .items
                        .get(*index)
                        .into_iter()
                        .flat_map(|item| item.expr.columns())
                    {
                        if let Some(Some(at)) = slots.get(slot) {
                            self.uses(*at);
                        }
                    }
                }
                OrderBy::Output(_) => {}
            }
        }
    }

    fn place(&mut self, from: &From, select: &Select, slots: &mut Vec<Option<At>>) {
        match from {
            From::Table { .. } => place_tables(from, slots),
            From::Derived { query, slot, .. } => {
                let outer: Vec<Option<At>> = slots.iter().take(select.base).copied().collect();
                self.query(query, &outer, false);
                if let QueryBody::Select(inner) = &query.body {
                    let mut within: Vec<Option<At>> =
                        outer.iter().take(inner.base).copied().collect();
                    within.resize(inner.width, None);
                    if let Some(from) = &inner.from {
                        place_tables(from, &mut within);
                    }
                    for (index, item) in inner.items.iter().enumerate() {
                        slots[slot + index] = column(&item.expr, &within);
                    }
                }
            }
            From::Join { left, right, .. } => {
                self.place(left, select, slots);
                self.place(right, select, slots);
            }
        }
    }

    fn conditions(&mut self, from: &From, slots: &[Option<At>]) {
        if let From::Join {
            left, right, on, ..
        } = from
        {
            self.conditions(left, slots);
            self.conditions(right, slots);
            if let Some(on) = on {
                self.expr(on, slots);
            }
        }
    }

    fn uses(&mut self, at: At) {
        if let Some((_, columns)) = self.tables.iter_mut().find(|(table, _)| *table == at.0) {
            columns.push(at.1);
        }
    }

    /// Constants, pairs and parameters of an expression.
    fn expr(&mut self, expr: &Expr, slots: &[Option<At>]) {
        let mut found = Vec::new();
        expr.walk(&mut |part| found.push(part));
        for part in found {
            match part {
                Expr::Literal(value) if !value.is_null() => {
                    add(&mut self.constants, value.clone());
                }
                Expr::Parameter(number) => self.add_parameter(*number, None),
                Expr::Compare { left, right, .. } | Expr::IsDistinct { left, right, .. } => {
                    self.pair(column(left, slots), column(right, slots));
                    self.against(left, right, slots);
                }
                Expr::InList { expr, list, .. } => {
                    for item in list {
                        self.against(expr, item, slots);
                    }
                }
                Expr::Between {
                    expr, low, high, ..
                } => {
                    self.against(expr, low, slots);
                    self.against(expr, high, slots);
                }
                Expr::Like { expr, pattern, .. } => self.against(expr, pattern, slots),
                _ => {}
            }
        }
    }

    fn against(&mut self, left: &Expr, right: &Expr, slots: &[Option<At>]) {
        for (side, other) in [(left, right), (right, left)] {
            let mut numbers = Vec::new();
            side.walk(&mut |part| {
                if let Expr::Parameter(number) = part {
                    numbers.push(*number);
                }
            });
            let mut at = None;
            other.walk(&mut |part| {
                if at.is_none() {
                    at = column(part, slots);
                }
            });
            for number in numbers {
                self.add_parameter(number, at);
            }
        }
    }

    fn add_parameter(&mut self, number: usize, at: Option<At>) {
        match self.parameters.iter_mut().find(|(of, _)| *of == number) {
            Some((_, known)) => *known = known.or(at),
            None => self.parameters.push((number, at)),
        }
    }

    fn pair(&mut self, a: Option<At>, b: Option<At>) {
        if let (Some(a), Some(b)) = (a, b)
            && a != b
        {
            add(&mut self.pairs, (a, b));
        }
    }

    /// The column that a parameter is compared with.
    pub(in crate::query) fn parameter_column<'s>(
        &self,
        at: Option<At>,
        context: &SolverContext<'s>,
    ) -> Option<&'s Column> {
        at.map(|(table, column)| &context.schema.tables[table].columns[column])
    }
}

fn of_aggregate<'e>(aggregate: &'e Aggregate, exprs: &mut Vec<&'e Expr>) {
    exprs.extend(aggregate.argument.iter().chain(&aggregate.filter));
}

fn place_tables(from: &From, slots: &mut [Option<At>]) {
    match from {
        From::Table {
            table,
            slot,
            columns,
            ..
        } => {
            for column in 0..*columns {
                slots[slot + column] = Some((*table, column));
            }
        }
        From::Derived { .. } => {}
        From::Join { left, right, .. } => {
            place_tables(left, slots);
            place_tables(right, slots);
        }
    }
}

fn column(expr: &Expr, slots: &[Option<At>]) -> Option<At> {
    match expr {
        Expr::Column(column) => slots.get(column.slot).copied().flatten(),
        _ => None,
    }
}

fn add<T: PartialEq>(pool: &mut Vec<T>, value: T) {
    if !pool.contains(&value) {
        pool.push(value);
    }
}
