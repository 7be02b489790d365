//! CREATE TABLE and what belongs to it.

use super::expr::expression;
use super::ident::{identifier, table_name};
use super::names::default_names;
use super::types::type_name;
use crate::dialect::DialectName;
use crate::expr::Expr;
use crate::schema::{
    Action, Column, ConstraintKind, Deferrable, Filled, ForeignKey, Schema, Table,
};
use crate::types::DataType;
use crate::value::Value;

/// The statements that create a schema, parents before children.
///
/// The schema is written as it is; [`translate`](super::translate) it first when
/// it comes from another dialect. Foreign keys that close a circle come last, by
/// ALTER TABLE; SQLite lets tables refer to later ones.
pub fn create_statements(schema: &Schema, dialect: DialectName) -> Vec<String> {
    let mut statements = enum_types(schema, dialect);
    let (mut late, mut latest) = (Vec::new(), Vec::new());
    let mut created = vec![false; schema.tables.len()];
    for index in table_order(schema) {
        created[index] = true;
        let writer = TableWriter::new(schema, index, dialect);
        statements.extend(writer.sequences());
        statements.push(writer.create(&created));
        statements.extend(writer.indexes());
        late.extend(writer.late_keys(&created, false));
        latest.extend(writer.late_keys(&created, true));
    }
    statements.extend(late);
    statements.extend(latest);
    statements
}

/// Indices of tables, parents before children; within a circle in the order of definition.
pub fn table_order(schema: &Schema) -> Vec<usize> {
    let count = schema.tables.len();
    let mut children = vec![Vec::new(); count];
    let mut waiting = vec![0usize; count];
    for (child, table) in schema.tables.iter().enumerate() {
        let mut parents: Vec<usize> = table
            .foreign_keys()
            .map(|key| key.parent)
            .filter(|&parent| parent != child && parent < count)
            .collect();
        parents.sort_unstable();
        parents.dedup();
        waiting[child] = parents.len();
        for parent in parents {
            children[parent].push(child);
        }
    }
    let mut ready: std::collections::BTreeSet<usize> =
        (0..count).filter(|&index| waiting[index] == 0).collect();
    let mut stuck: std::collections::BTreeSet<usize> =
        (0..count).filter(|&index| waiting[index] > 0).collect();
    let mut order = Vec::with_capacity(count);
    // A circle is broken at its first table.
    while let Some(next) = ready.pop_first().or_else(|| stuck.pop_first()) {
        order.push(next);
        for &child in &children[next] {
            waiting[child] = waiting[child].saturating_sub(1);
            if waiting[child] == 0 && stuck.remove(&child) {
                ready.insert(child);
            }
        }
    }
    order
}

/// CREATE TYPE for PostgreSQL's enumerations.
fn enum_types(schema: &Schema, dialect: DialectName) -> Vec<String> {
    if dialect != DialectName::Postgres {
        return Vec::new();
    }
    let mut seen: Vec<&str> = Vec::new();
    let mut statements = Vec::new();
    for column in schema.tables.iter().flat_map(|table| &table.columns) {
        if let DataType::Enum {
            name: Some(name),
            labels,
        } = &column.data_type
            && !seen.contains(&name.as_str())
        {
            seen.push(name);
            let labels: Vec<String> = labels
                .iter()
                .map(|label| super::literal(&Value::Text(label.clone()), dialect))
                .collect();
            statements.push(format!(
                "CREATE TYPE {} AS ENUM ({})",
                identifier(name, dialect),
                labels.join(", ")
            ));
        }
    }
    statements
}

struct TableWriter<'a> {
    schema: &'a Schema,
    table: &'a Table,
    index: usize,
    dialect: DialectName,
    names: Vec<Option<String>>,
}

impl<'a> TableWriter<'a> {
    fn new(schema: &'a Schema, index: usize, dialect: DialectName) -> Self {
        let table = &schema.tables[index];
        Self {
            schema,
            table,
            index,
            dialect,
            names: default_names(table, dialect),
        }
    }

    fn create(&self, created: &[bool]) -> String {
        let mut parts: Vec<String> = (0..self.table.columns.len())
            .map(|slot| self.column(slot))
            .collect();
        for (index, constraint) in self.table.constraints.iter().enumerate() {
            let late = match &constraint.kind {
                ConstraintKind::ForeignKey(key) => self.is_late(key, created),
                _ => false,
            };
            if !late {
                parts.extend(self.constraint(index));
            }
        }
        parts.extend(self.counter_key());
        let mut text = format!(
            "CREATE TABLE {} (\n  {}\n)",
            table_name(self.table, self.dialect),
            parts.join(",\n  ")
        );
        let mut options = Vec::new();
        if self.dialect == DialectName::Sqlite {
            if self.table.strict {
                options.push("STRICT");
            }
            if self.table.without_rowid {
                options.push("WITHOUT ROWID");
            }
        }
        if !options.is_empty() {
            text.push(' ');
            text.push_str(&options.join(", "));
        }
        text
    }

    fn column(&self, slot: usize) -> String {
        let column = &self.table.columns[slot];
        let mut text = format!(
            "{} {}",
            identifier(&column.name, self.dialect),
            self.column_type(column)
        );
        if text.ends_with(' ') {
            text.pop();
        }
        if let Some(collation) = &column.collation {
            let collation = match self.dialect {
                DialectName::Postgres => format!("\"{collation}\""),
                _ => collation.clone(),
            };
            text.push_str(&format!(" COLLATE {collation}"));
        }
        if let Some(default) = &column.default {
            text.push_str(&format!(" DEFAULT {}", self.default(column, default)));
        }
        let not_null = self.table.is_not_null(slot);
        // MariaDB takes NOT NULL on no generated column.
        let generated = matches!(column.filled, Filled::Generated(_));
        if not_null && !(generated && self.dialect == DialectName::MySql) {
            text.push_str(" NOT NULL");
        }
        text.push_str(&self.filled(slot, not_null));
        text
    }

    /// SQLite looks at the spelling of a type, so there the source's counts.
    fn column_type(&self, column: &Column) -> String {
        if self.dialect == DialectName::Sqlite {
            return column.declared.clone();
        }
        match &column.data_type {
            DataType::Other(_) if !column.declared.is_empty() => column.declared.clone(),
            data_type => type_name(data_type, self.dialect),
        }
    }

    fn default(&self, column: &Column, default: &Expr) -> String {
        let text = expression(default, self.dialect);
        let simple = matches!(default, Expr::Literal(_));
        let moment = matches!(default, Expr::Function { name, args } if args.is_empty()
            && matches!(name.as_str(), "current_timestamp" | "current_date" | "current_time"));
        match self.dialect {
            DialectName::MySql if moment && !matches!(column.data_type, DataType::Date) => {
                let digits = match column.data_type {
                    DataType::Timestamp { precision, .. } | DataType::Time { precision, .. } => {
                        precision
                    }
                    _ => 0,
                };
                match (default, digits) {
                    (Expr::Function { name, .. }, 1..) if name == "current_timestamp" => {
                        format!("CURRENT_TIMESTAMP({digits})")
                    }
                    _ => text,
                }
            }
            _ if simple || moment => text,
            DialectName::Postgres | DialectName::Ansi => text,
            DialectName::MySql | DialectName::Sqlite => format!("({text})"),
        }
    }

    fn filled(&self, slot: usize, not_null: bool) -> String {
        let column = &self.table.columns[slot];
        match (&column.filled, self.dialect) {
            (Filled::No, _) => String::new(),
            (Filled::Generated(expr), _) => {
                format!(
                    " GENERATED ALWAYS AS ({}) STORED",
                    expression(expr, self.dialect)
                )
            }
            (Filled::Counter | Filled::CounterAlways, DialectName::MySql) => {
                " AUTO_INCREMENT".to_owned()
            }
            (Filled::Counter | Filled::CounterAlways, DialectName::Sqlite) => {
                " PRIMARY KEY AUTOINCREMENT".to_owned()
            }
            (Filled::CounterAlways, _) => " GENERATED ALWAYS AS IDENTITY".to_owned(),
            // An identity is never NULL; a counter by default may be.
            (Filled::Counter, DialectName::Postgres) if !not_null => {
                let sequence = super::literal(
                    &Value::Text(identifier(&self.sequence(slot), self.dialect)),
                    self.dialect,
                );
                format!(" DEFAULT nextval({sequence})")
            }
            (Filled::Counter, _) => " GENERATED BY DEFAULT AS IDENTITY".to_owned(),
        }
    }

    fn sequence(&self, slot: usize) -> String {
        format!("{}_{}_seq", self.table.name, self.table.columns[slot].name)
    }

    /// Sequences behind counters that may be NULL.
    fn sequences(&self) -> Vec<String> {
        if self.dialect != DialectName::Postgres {
            return Vec::new();
        }
        (0..self.table.columns.len())
            .filter(|&slot| {
                self.table.columns[slot].filled == Filled::Counter && !self.table.is_not_null(slot)
            })
            .map(|slot| {
                format!(
                    "CREATE SEQUENCE {}",
                    identifier(&self.sequence(slot), self.dialect)
                )
            })
            .collect()
    }

    /// MySQL wants a counter to lead a key.
    fn counter_key(&self) -> Option<String> {
        if self.dialect != DialectName::MySql {
            return None;
        }
        let slot =
            self.table.columns.iter().position(|column| {
                matches!(column.filled, Filled::Counter | Filled::CounterAlways)
            })?;
        let leads = self.table.constraints.iter().any(|constraint| {
            matches!(&constraint.kind, ConstraintKind::PrimaryKey { columns }
                | ConstraintKind::Unique { columns, .. } if columns.first() == Some(&slot))
        });
        let name = identifier(&self.table.columns[slot].name, self.dialect);
        (!leads).then(|| format!("KEY ({name})"))
    }

    /// A constraint as an element of CREATE TABLE; `None` where it stands elsewhere.
    fn constraint(&self, index: usize) -> Option<String> {
        let constraint = &self.table.constraints[index];
        let body = match &constraint.kind {
            ConstraintKind::NotNull { .. } => return None,
            ConstraintKind::PrimaryKey { columns } => {
                if self.dialect == DialectName::Sqlite && self.is_counter_key(columns) {
                    return None;
                }
                format!("PRIMARY KEY ({})", self.columns(columns))
            }
            ConstraintKind::Unique {
                columns,
                nulls_distinct,
            } => {
                let nulls = if *nulls_distinct {
                    ""
                } else {
                    " NULLS NOT DISTINCT"
                };
                format!("UNIQUE{nulls} ({})", self.columns(columns))
            }
            ConstraintKind::UniqueIndex { keys, .. } => {
                return self.prefix_key(index, keys);
            }
            ConstraintKind::ForeignKey(key) => self.foreign_key(key),
            ConstraintKind::Check { expr } => {
                format!("CHECK ({})", expression(expr, self.dialect))
            }
        };
        let mut text = match &self.names[index] {
            Some(name) if !(self.dialect == DialectName::MySql && name == "PRIMARY") => {
                format!("CONSTRAINT {} {body}", identifier(name, self.dialect))
            }
            _ => body,
        };
        text.push_str(match constraint.deferrable {
            Deferrable::No => "",
            Deferrable::InitiallyImmediate => " DEFERRABLE",
            Deferrable::InitiallyDeferred => " DEFERRABLE INITIALLY DEFERRED",
        });
        Some(text)
    }

    fn is_counter_key(&self, columns: &[usize]) -> bool {
        matches!(columns, &[slot] if matches!(
            self.table.columns[slot].filled,
            Filled::Counter | Filled::CounterAlways
        ))
    }

    /// MySQL's unique key over the beginnings of columns.
    fn prefix_key(&self, index: usize, keys: &[Expr]) -> Option<String> {
        if self.dialect != DialectName::MySql {
            return None;
        }
        let parts: Option<Vec<String>> = keys.iter().map(prefix_part).collect();
        let name = self.names[index].as_deref()?;
        Some(format!(
            "UNIQUE KEY {} ({})",
            identifier(name, self.dialect),
            parts?.join(", ")
        ))
    }

    fn foreign_key(&self, key: &ForeignKey) -> String {
        let parent = &self.schema.tables[key.parent];
        let columns: Vec<String> = key
            .parent_columns
            .iter()
            .map(|&column| identifier(&parent.columns[column].name, self.dialect))
            .collect();
        let mut text = format!(
            "FOREIGN KEY ({}) REFERENCES {} ({})",
            self.columns(&key.columns),
            table_name(parent, self.dialect),
            columns.join(", ")
        );
        if key.match_full {
            text.push_str(" MATCH FULL");
        }
        for (event, action) in [("DELETE", key.on_delete), ("UPDATE", key.on_update)] {
            let action = match action {
                Action::NoAction => continue,
                Action::Restrict => "RESTRICT",
                Action::Cascade => "CASCADE",
                Action::SetNull => "SET NULL",
                Action::SetDefault => "SET DEFAULT",
            };
            text.push_str(&format!(" ON {event} {action}"));
        }
        text
    }

    fn columns(&self, columns: &[usize]) -> String {
        let names: Vec<String> = columns
            .iter()
            .map(|&column| identifier(&self.table.columns[column].name, self.dialect))
            .collect();
        names.join(", ")
    }

    /// Whether a key must wait until all tables are there: its parent is created after this table, or
    /// what it refers to is only indexed because of a foreign key, which may be late itself (InnoDB).
    fn is_late(&self, key: &ForeignKey, created: &[bool]) -> bool {
        if self.dialect == DialectName::Sqlite {
            return false;
        }
        self.needs_others_index(key) || (key.parent != self.index && !created[key.parent])
    }

    fn needs_others_index(&self, key: &ForeignKey) -> bool {
        let parent = &self.schema.tables[key.parent];
        let own_index = parent.constraints.iter().any(|c| match &c.kind {
            ConstraintKind::PrimaryKey { columns } | ConstraintKind::Unique { columns, .. } => {
                columns.starts_with(&key.parent_columns)
            }
            _ => false,
        });
        self.dialect == DialectName::MySql && !own_index
    }

    fn late_keys(&self, created: &[bool], after_others: bool) -> Vec<String> {
        let mut statements = Vec::new();
        for (index, constraint) in self.table.constraints.iter().enumerate() {
            if let ConstraintKind::ForeignKey(key) = &constraint.kind
                && self.is_late(key, created)
                && self.needs_others_index(key) == after_others
                && let Some(text) = self.constraint(index)
            {
                statements.push(format!(
                    "ALTER TABLE {} ADD {text}",
                    table_name(self.table, self.dialect)
                ));
            }
        }
        statements
    }

    /// Unique indexes over expressions or over part of the rows.
    fn indexes(&self) -> Vec<String> {
        let mut statements = Vec::new();
        for (index, constraint) in self.table.constraints.iter().enumerate() {
            let ConstraintKind::UniqueIndex {
                keys,
                predicate,
                nulls_distinct,
            } = &constraint.kind
            else {
                continue;
            };
            if self.dialect == DialectName::MySql {
                continue;
            }
            let parts: Vec<String> = keys.iter().map(|key| self.index_part(key)).collect();
            let name = self.names[index].clone().unwrap_or_default();
            let mut text = format!(
                "CREATE UNIQUE INDEX {} ON {} ({})",
                identifier(&name, self.dialect),
                table_name(self.table, self.dialect),
                parts.join(", ")
            );
            if !nulls_distinct {
                text.push_str(" NULLS NOT DISTINCT");
            }
            if let Some(predicate) = predicate {
                text.push_str(&format!(" WHERE {}", expression(predicate, self.dialect)));
            }
            statements.push(text);
        }
        statements
    }

    fn index_part(&self, key: &Expr) -> String {
        match key {
            Expr::Column(column) => {
                let name = identifier(&column.name, self.dialect);
                let own = self
                    .table
                    .columns
                    .get(column.slot)
                    .and_then(|of| of.collation.as_ref());
                match &column.collation {
                    Some(collation) if Some(collation) != own => {
                        format!("{name} COLLATE {}", identifier(collation, self.dialect))
                    }
                    _ => name,
                }
            }
            key => format!("({})", expression(key, self.dialect)),
        }
    }
}

/// `column` or `column(n)` of a MySQL key.
pub(super) fn prefix_part(key: &Expr) -> Option<String> {
    match key {
        Expr::Column(column) => Some(identifier(&column.name, DialectName::MySql)),
        Expr::Function { name, args } if name == "left" => match args.as_slice() {
            [Expr::Column(column), Expr::Literal(Value::Int(length))] => Some(format!(
                "{}({length})",
                identifier(&column.name, DialectName::MySql)
            )),
            _ => None,
        },
        _ => None,
    }
}
