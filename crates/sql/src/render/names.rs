//! Default names that databases give to unnamed constraints.

use crate::dialect::DialectName;
use crate::schema::{Constraint, ConstraintKind, Schema, Table};

/// The name under which a constraint is created and by which its rejections are known.
///
/// The user's name, or the one that the database itself would give. `None`
/// where the database reports no name: NOT NULL everywhere, and in SQLite all
/// unnamed constraints but CHECKs and unique indexes.
pub fn constraint_name(
    schema: &Schema,
    table: usize,
    constraint: usize,
    dialect: DialectName,
) -> Option<String> {
    default_names(schema.tables.get(table)?, dialect)
        .into_iter()
        .nth(constraint)?
}

/// The names of all constraints of a table, in order.
pub fn default_names(table: &Table, dialect: DialectName) -> Vec<Option<String>> {
    match dialect {
        DialectName::MySql => mysql_names(table),
        DialectName::Postgres | DialectName::Ansi => given_names(table, postgres_parts),
        DialectName::Sqlite => given_names(table, |table, constraint| match constraint.kind {
            ConstraintKind::Check { .. } | ConstraintKind::UniqueIndex { .. } => {
                postgres_parts(table, constraint)
            }
            _ => None,
        }),
    }
}

/// What PostgreSQL builds a name of: the columns, if any, and a label.
type DefaultNameParts = Option<(Option<String>, &'static str)>;

fn given_names(
    table: &Table,
    parts: impl Fn(&Table, &Constraint) -> DefaultNameParts,
) -> Vec<Option<String>> {
    let mut taken: Vec<String> = table
        .constraints
        .iter()
        .filter_map(|constraint| constraint.name.clone())
        .collect();
    table
        .constraints
        .iter()
        .map(|constraint| {
            if let Some(name) = &constraint.name {
                return Some(name.clone());
            }
            let (columns, label) = parts(table, constraint)?;
            let name = (0usize..)
                .map(|digit| {
                    let label = match digit {
                        0 => label.to_owned(),
                        digit => format!("{label}{digit}"),
                    };
                    object_name(&table.name, columns.as_deref(), &label)
                })
                .find(|name| !taken.contains(name))?;
            taken.push(name.clone());
            Some(name)
        })
        .collect()
}

fn postgres_parts(table: &Table, constraint: &Constraint) -> DefaultNameParts {
    let joined = |columns: &[usize]| {
        let names: Vec<&str> = columns
            .iter()
            .map(|&column| table.columns[column].name.as_str())
            .collect();
        names.join("_")
    };
    match &constraint.kind {
        ConstraintKind::PrimaryKey { .. } => Some((None, "pkey")),
        ConstraintKind::NotNull { .. } => None,
        ConstraintKind::Unique { columns, .. } => Some((Some(joined(columns)), "key")),
        ConstraintKind::UniqueIndex { keys, .. } => {
            let parts: Vec<&str> = keys
                .iter()
                .map(|key| match key {
                    crate::expr::Expr::Column(column) => column.name.as_str(),
                    crate::expr::Expr::Function { name, .. } => name.as_str(),
                    _ => "expr",
                })
                .collect();
            Some((Some(parts.join("_")), "idx"))
        }
        ConstraintKind::ForeignKey(key) => Some((Some(joined(&key.columns)), "fkey")),
        // PostgreSQL names a CHECK after its column when it speaks of one only.
        ConstraintKind::Check { expr } => match expr.columns().as_slice() {
            &[column] => Some((Some(table.columns[column].name.clone()), "check")),
            _ => Some((None, "check")),
        },
    }
}

/// `table_columns_label` within 63 bytes: the longer of the first two is cut, byte by byte.
fn object_name(table: &str, columns: Option<&str>, label: &str) -> String {
    const LIMIT: usize = 63;
    let overhead = label.len() + 1 + columns.map_or(0, |_| 1);
    let available = LIMIT.saturating_sub(overhead);
    let (mut first, mut second) = (table.len(), columns.map_or(0, str::len));
    while first + second > available && (first > 0 || second > 0) {
        if first > second {
            first -= 1;
        } else {
            second -= 1;
        }
    }
    let mut name = clip(table, first).to_owned();
    if let Some(columns) = columns {
        name.push('_');
        name.push_str(clip(columns, second));
    }
    name.push('_');
    name.push_str(label);
    name
}

/// At most so many bytes, never half a character.
fn clip(text: &str, mut bytes: usize) -> &str {
    while !text.is_char_boundary(bytes) {
        bytes -= 1;
    }
    &text[..bytes]
}

fn mysql_names(table: &Table) -> Vec<Option<String>> {
    let mut keys: Vec<String> = Vec::new();
    let mut checks: Vec<String> = Vec::new();
    for constraint in &table.constraints {
        let Some(name) = &constraint.name else {
            continue;
        };
        match constraint.kind {
            ConstraintKind::Unique { .. } | ConstraintKind::UniqueIndex { .. } => {
                keys.push(name.to_lowercase());
            }
            ConstraintKind::Check { .. } => checks.push(name.to_lowercase()),
            _ => {}
        }
    }
    let mut foreign = 0;
    let mut check = 0;
    table
        .constraints
        .iter()
        .map(|constraint| match &constraint.kind {
            ConstraintKind::NotNull { .. } => None,
            ConstraintKind::PrimaryKey { .. } => Some("PRIMARY".to_owned()),
            _ if constraint.name.is_some() => constraint.name.clone(),
            ConstraintKind::Unique { .. } | ConstraintKind::UniqueIndex { .. } => {
                let first = constraint.columns().first().copied()?;
                let base = &table.columns[first].name;
                let name = (1usize..)
                    .map(|digit| match digit {
                        1 => base.clone(),
                        digit => format!("{base}_{digit}"),
                    })
                    .find(|name| !keys.contains(&name.to_lowercase()))?;
                keys.push(name.to_lowercase());
                Some(name)
            }
            ConstraintKind::ForeignKey(_) => {
                foreign += 1;
                Some(format!("{}_ibfk_{foreign}", table.name))
            }
            ConstraintKind::Check { .. } => loop {
                check += 1;
                let name = format!("CONSTRAINT_{check}");
                if !checks.contains(&name.to_lowercase()) {
                    break Some(name);
                }
            },
        })
        .collect()
}
