//! In which order tables get their first row, and where a circle of foreign keys is broken.

use isobath_sql::schema::{ConstraintKind, Filled, ForeignKey};
use isobath_sql::{Dialect, Schema};

use crate::schema::enforced::rules;

/// Tables in an order in which each can get a row.
#[derive(Clone, Debug)]
pub struct InsertOrder {
    /// Tables that get their rows at the same time; nearly always one.
    pub groups: Vec<Vec<usize>>,
    /// The group of each table.
    pub group_of: Vec<usize>,
}

impl InsertOrder {
    /// Parents before children; a circle is broken at a reference that may be NULL, or else inserted together.
    pub fn new(schema: &Schema, dialect: &dyn Dialect) -> Self {
        let edges: Vec<Vec<ReferenceEdge>> = (0..schema.tables.len())
            .map(|table| edges(schema, table, dialect))
            .collect();
        let mut placing = OrderBuilder {
            edges: &edges,
            groups: Vec::new(),
            group_of: vec![None; edges.len()],
        };
        while placing.groups.len() < edges.len() {
            if !placing.place_ready() && !placing.place_broken() && !placing.place_together() {
                break;
            }
        }
        let group_of = placing.group_of.into_iter().map(Option::unwrap_or_default);
        Self {
            group_of: group_of.collect(),
            groups: placing.groups,
        }
    }

    /// Whether the first row of a table must leave a reference empty because the parent's row comes later.
    pub fn is_broken(&self, table: usize, key: &ForeignKey) -> bool {
        self.group_of[key.parent] > self.group_of[table]
    }
}

struct ReferenceEdge {
    parent: usize,
    /// Whether the reference may be NULL.
    breakable: bool,
}

fn edges(schema: &Schema, table: usize, dialect: &dyn Dialect) -> Vec<ReferenceEdge> {
    let definition = &schema.tables[table];
    let rules = rules(definition, dialect);
    let nullable = |column: usize| {
        definition.columns[column].filled == Filled::No
            && !rules.iter().any(|rule| match &rule.kind {
                ConstraintKind::NotNull { column: of } => *of == column,
                ConstraintKind::PrimaryKey { columns } => columns.contains(&column),
                _ => false,
            })
    };
    definition
        .foreign_keys()
        .filter(|key| key.parent != table)
        .map(|key| {
            let mut columns = key.columns.iter();
            ReferenceEdge {
                parent: key.parent,
                breakable: if key.match_full {
                    columns.all(|column| nullable(*column))
                } else {
                    columns.any(|column| nullable(*column))
                },
            }
        })
        .collect()
}

struct OrderBuilder<'e> {
    edges: &'e [Vec<ReferenceEdge>],
    groups: Vec<Vec<usize>>,
    group_of: Vec<Option<usize>>,
}

impl OrderBuilder<'_> {
    fn place(&mut self, tables: Vec<usize>) {
        for table in &tables {
            self.group_of[*table] = Some(self.groups.len());
        }
        self.groups.push(tables);
    }

    fn waiting(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.edges.len()).filter(|table| self.group_of[*table].is_none())
    }

    fn blocking(&self, table: usize) -> impl Iterator<Item = &ReferenceEdge> + '_ {
        self.edges[table]
            .iter()
            .filter(|edge| self.group_of[edge.parent].is_none())
    }

    /// Places every table whose parents all have their place.
    fn place_ready(&mut self) -> bool {
        let mut placed = false;
        for table in 0..self.edges.len() {
            if self.group_of[table].is_none() && self.blocking(table).next().is_none() {
                self.place(vec![table]);
                placed = true;
            }
        }
        placed
    }

    /// Places one table of a circle whose open references may all be NULL.
    fn place_broken(&mut self) -> bool {
        let table = self.waiting().find(|table| {
            self.blocking(*table).all(|edge| edge.breakable)
                && self.reachable(*table, |_| true).contains(table)
        });
        let found = table.is_some();
        if let Some(table) = table {
            self.place(vec![table]);
        }
        found
    }

    /// Places the smallest set of tables that need each other.
    fn place_together(&mut self) -> bool {
        let smallest = self
            .waiting()
            .map(|table| (table, self.reachable(table, |edge| !edge.breakable)))
            .filter(|(table, needed)| needed.contains(table))
            .map(|(_, mut needed)| {
                needed.sort_unstable();
                needed
            })
            .min_by_key(Vec::len);
        let found = smallest.is_some();
        if let Some(tables) = smallest {
            self.place(tables);
        }
        found
    }

    /// Waiting tables that a table refers to, directly or not, by the edges chosen.
    fn reachable(&self, from: usize, chosen: impl Fn(&ReferenceEdge) -> bool) -> Vec<usize> {
        let mut seen = Vec::new();
        let mut is_seen = vec![false; self.edges.len()];
        let mut open = vec![from];
        while let Some(table) = open.pop() {
            for edge in self.blocking(table).filter(|edge| chosen(edge)) {
                if !is_seen[edge.parent] {
                    is_seen[edge.parent] = true;
                    seen.push(edge.parent);
                    open.push(edge.parent);
                }
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use isobath_sql::dialect::Postgres;

    use super::*;
    use crate::schema::samples::{TableBuilder, schema, shop, table};

    #[test]
    fn parents_come_before_children() {
        assert_eq!(
            InsertOrder::new(&shop(), &Postgres).groups,
            [vec![0], vec![1], vec![2]]
        );
        let child = table("child", &["a"]).refers(&[0], 1, &[0]);
        let parent = table("parent", &["a"]).key(&[0]);
        let schema = schema(vec![child, parent]);
        assert_eq!(
            InsertOrder::new(&schema, &Postgres).groups,
            [vec![1], vec![0]]
        );
    }

    #[test]
    fn a_circle_is_broken_where_a_reference_may_be_null() {
        let a = table("a", &["id", "b"]).key(&[0]).refers(&[1], 1, &[0]);
        let b = table("b", &["id", "a"])
            .key(&[0])
            .not_null(1)
            .refers(&[1], 0, &[0]);
        let schema = schema(vec![a, b]);
        let order = InsertOrder::new(&schema, &Postgres);
        assert_eq!(order.groups, [vec![0], vec![1]]);
        let key = schema.tables[0].foreign_keys().next().unwrap();
        assert!(order.is_broken(0, key));
    }

    #[test]
    fn a_child_outside_the_circle_waits_for_it() {
        let outside = table("outside", &["a"]).refers(&[0], 1, &[0]);
        let a = table("a", &["id", "b"]).key(&[0]).refers(&[1], 2, &[0]);
        let b = table("b", &["id", "a"]).key(&[0]).refers(&[1], 1, &[0]);
        let schema = schema(vec![outside, a, b]);
        let order = InsertOrder::new(&schema, &Postgres);
        let key = schema.tables[0].foreign_keys().next().unwrap();
        assert!(!order.is_broken(0, key));
    }

    #[test]
    fn a_circle_that_cannot_be_broken_is_inserted_together() {
        let circle = |name, other| {
            table(name, &["id", "other"])
                .key(&[0])
                .not_null(1)
                .refers(&[1], other, &[0])
        };
        let child = table("child", &["a"]).refers(&[0], 1, &[0]);
        let schema = schema(vec![child, circle("a", 2), circle("b", 1)]);
        let order = InsertOrder::new(&schema, &Postgres);
        assert_eq!(order.groups, [vec![1, 2], vec![0]]);
    }
}
