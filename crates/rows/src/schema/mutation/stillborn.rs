//! Whether an engine would create a schema at all, and whether it could then be used.

use isobath_sql::schema::{
    Action, Column, Constraint, ConstraintKind, Filled, ForeignKey, Schema, Table,
};
use isobath_sql::{DataType, Dialect, DialectName, Expr};

use super::mutant::{Mutant, MutantChange, names};

/// Why a mutant is of no use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MutantDefect {
    /// The engine refuses its definition.
    StillBorn(String),
    /// The engine accepts the definition, and then refuses every row.
    Impaired(String),
}

/// The first thing that is wrong with the definition of a mutant, judging only what it changed.
pub(super) fn defect(mutant: &Mutant, dialect: &dyn Dialect) -> Option<MutantDefect> {
    references_defect(mutant, dialect)
        .or_else(|| own_defect(mutant, dialect).map(MutantDefect::StillBorn))
}

/// Foreign keys of the changed table, and those that refer to it.
///
/// This is all that the peer's pipelines look at.
pub(super) fn references_defect(mutant: &Mutant, dialect: &dyn Dialect) -> Option<MutantDefect> {
    let schema = &mutant.schema;
    // Keys that only gain a condition elsewhere are as good as before; the rest is looked at again.
    let keys_changed = match mutant.change {
        MutantChange::Column { .. } => true,
        MutantChange::Constraint { original, .. } => original.is_some(),
    };
    for (index, table) in schema.tables.iter().enumerate() {
        for key in table.foreign_keys() {
            let concerned = index == mutant.table || (keys_changed && key.parent == mutant.table);
            if concerned && let Some(defect) = reference_defect(schema, table, key, dialect) {
                return Some(defect);
            }
        }
    }
    None
}

fn reference_defect(
    schema: &Schema,
    table: &Table,
    key: &ForeignKey,
    dialect: &dyn Dialect,
) -> Option<MutantDefect> {
    let parent = &schema.tables[key.parent];
    if !is_key(parent, &key.parent_columns, dialect) {
        let why = format!(
            "the foreign key of `{}` refers to {} of `{}`, which is no key",
            table.name,
            names(parent, &key.parent_columns),
            parent.name
        );
        return Some(if dialect.name() == DialectName::Sqlite {
            MutantDefect::Impaired(why)
        } else {
            MutantDefect::StillBorn(why)
        });
    }
    if dialect.name() == DialectName::Sqlite {
        return None;
    }
    let pairs = || key.columns.iter().zip(&key.parent_columns);
    let incompatible = pairs().find(|(own, theirs)| {
        let (own, theirs) = (&table.columns[**own], &parent.columns[**theirs]);
        !compatible(&own.data_type, &theirs.data_type, dialect.name())
    });
    if let Some((own, theirs)) = incompatible {
        return Some(MutantDefect::StillBorn(format!(
            "`{}` of `{}` and `{}` of `{}` have types that cannot be compared",
            table.columns[*own].name, table.name, parent.columns[*theirs].name, parent.name
        )));
    }
    if dialect.name() == DialectName::MySql {
        return cascade_defect(table, parent, key).map(MutantDefect::StillBorn);
    }
    None
}

/// What MariaDB refuses of keys that change their columns.
fn cascade_defect(table: &Table, parent: &Table, key: &ForeignKey) -> Option<String> {
    if key.on_delete == Action::SetNull || key.on_update == Action::SetNull {
        let forbids = |column: &&usize| never_null(table, **column);
        if let Some(column) = key.columns.iter().find(forbids) {
            return Some(format!(
                "SET NULL on `{}` of `{}`, which may not be NULL",
                table.columns[*column].name, table.name
            ));
        }
    }
    if key.on_update == Action::Cascade {
        let mut pairs = key.columns.iter().zip(&key.parent_columns);
        if let Some((own, theirs)) =
            pairs.find(|(own, theirs)| never_null(table, **own) && !never_null(parent, **theirs))
        {
            return Some(format!(
                "ON UPDATE CASCADE could bring NULL from `{}` of `{}` to `{}` of `{}`",
                parent.columns[*theirs].name, parent.name, table.columns[*own].name, table.name
            ));
        }
    }
    let changes = |action| matches!(action, Action::Cascade | Action::SetNull);
    if !changes(key.on_update) && key.on_delete != Action::SetNull {
        return None;
    }
    let checked = table.constraints.iter().find_map(|c| match &c.kind {
        ConstraintKind::Check { expr } => expr
            .columns()
            .into_iter()
            .find(|column| key.columns.contains(column)),
        _ => None,
    })?;
    Some(format!(
        "`{}` of `{}` is in a CHECK and changed by a foreign key",
        table.columns[checked].name, table.name
    ))
}

fn never_null(table: &Table, column: usize) -> bool {
    table.is_not_null(column) || table.primary_key().is_some_and(|key| key.contains(&column))
}

/// Whether a foreign key may refer to these columns.
fn is_key(table: &Table, columns: &[usize], dialect: &dyn Dialect) -> bool {
    table.constraints.iter().any(|constraint| {
        let unique = match &constraint.kind {
            ConstraintKind::PrimaryKey { columns } | ConstraintKind::Unique { columns, .. } => {
                columns
            }
            // InnoDB is content with any index, and makes one for each foreign key.
            ConstraintKind::ForeignKey(key) if dialect.name() == DialectName::MySql => &key.columns,
            _ => return false,
        };
        if dialect.name() == DialectName::MySql {
            unique.starts_with(columns)
        } else {
            unique.len() == columns.len() && columns.iter().all(|column| unique.contains(column))
        }
    })
}

/// Whether a column of one type may refer to a column of another.
fn compatible(own: &DataType, theirs: &DataType, engine: DialectName) -> bool {
    if engine == DialectName::MySql {
        return same_storage(own, theirs);
    }
    match (own, theirs) {
        // Each side must convert to the key's type without a cast: integers do to every number,
        // exact numbers to inexact ones, and neither the other way.
        (
            DataType::Integer { .. },
            DataType::Integer { .. } | DataType::Decimal { .. } | DataType::Float { .. },
        )
        | (DataType::Decimal { .. }, DataType::Decimal { .. } | DataType::Float { .. })
        | (DataType::Float { .. }, DataType::Float { .. })
        | (
            DataType::Date | DataType::Timestamp { .. },
            DataType::Date | DataType::Timestamp { .. },
        ) => true,
        (DataType::Bytes { .. }, DataType::Bytes { .. })
        | (DataType::Json { .. }, DataType::Json { .. }) => true,
        (DataType::Time { zoned: a, .. }, DataType::Time { zoned: b, .. }) => a == b,
        (a, b) => (a.is_text() && b.is_text()) || a == b,
    }
}

/// InnoDB's rule: the same kind of storage, and for integers the same width and sign.
fn same_storage(own: &DataType, theirs: &DataType) -> bool {
    let integer = |data_type: &DataType| match *data_type {
        DataType::Integer { bits, unsigned } => Some((bits, unsigned)),
        DataType::Boolean => Some((8, false)),
        _ => None,
    };
    match (own, theirs) {
        (DataType::Decimal { .. }, DataType::Decimal { .. })
        | (DataType::Bytes { .. }, DataType::Bytes { .. }) => true,
        (a, b) => match (integer(a), integer(b)) {
            (Some(a), Some(b)) => a == b,
            _ => (a.is_text() && b.is_text()) || a == b,
        },
    }
}

/// What an engine refuses in the changed table itself.
fn own_defect(mutant: &Mutant, dialect: &dyn Dialect) -> Option<String> {
    let table = mutant.mutated_table();
    if table.without_rowid && table.primary_key().is_none() {
        return Some("a table WITHOUT ROWID needs a primary key".to_owned());
    }
    if dialect.name() == DialectName::MySql
        && let Some(why) = mysql_defect(mutant, table, dialect)
    {
        return Some(why);
    }
    if dialect.name() == DialectName::Sqlite
        && let Some(column) = table.columns.iter().position(counts)
        && table.primary_key() != Some(&[column])
    {
        return Some(format!(
            "`{}` of `{}` is AUTOINCREMENT and must be the primary key",
            table.columns[column].name, table.name
        ));
    }
    let constraint = mutant.mutated_constraint()?;
    let unindexable = match dialect.name() {
        DialectName::Postgres | DialectName::Ansi => indexed(constraint).iter().find(|column| {
            matches!(
                table.columns[**column].data_type,
                DataType::Json { binary: false }
            )
        }),
        DialectName::MySql | DialectName::Sqlite => None,
    };
    unindexable.map(|column| {
        format!(
            "`{}` of `{}` has a type without equality",
            table.columns[*column].name, table.name
        )
    })
}

fn counts(column: &Column) -> bool {
    matches!(column.filled, Filled::Counter | Filled::CounterAlways)
}

/// InnoDB's limit on the bytes of an index.
const MYSQL_KEY_BYTES: u32 = 3072;

fn mysql_defect(mutant: &Mutant, table: &Table, dialect: &dyn Dialect) -> Option<String> {
    let counting = table.columns.iter().position(counts);
    let leads_a_key = |column: usize| {
        table.constraints.iter().any(|c| match &c.kind {
            ConstraintKind::PrimaryKey { columns } | ConstraintKind::Unique { columns, .. } => {
                columns.first() == Some(&column)
            }
            ConstraintKind::ForeignKey(key) => key.columns.first() == Some(&column),
            _ => false,
        })
    };
    if let Some(column) = counting.filter(|column| !leads_a_key(*column)) {
        return Some(format!(
            "`{}` of `{}` is AUTO_INCREMENT and must be a key",
            table.columns[column].name, table.name
        ));
    }
    if let MutantChange::Column { column } = mutant.change {
        let definition = &table.columns[column];
        if let Some(Expr::Literal(value)) = &definition.default
            && !value.is_null()
            && dialect.store(value, definition, table.strict).is_err()
        {
            return Some(format!(
                "the DEFAULT of `{}` does not fit its type",
                definition.name
            ));
        }
        return None;
    }
    let constraint = mutant.mutated_constraint()?;
    let columns = constraint.columns();
    let nulls_by_default = |column: &&usize| matches!(&table.columns[**column].default, Some(Expr::Literal(value)) if value.is_null());
    match &constraint.kind {
        ConstraintKind::NotNull { .. } | ConstraintKind::PrimaryKey { .. } => {
            if let Some(column) = columns.iter().find(nulls_by_default) {
                return Some(format!(
                    "`{}` of `{}` is NULL by default and may not be",
                    table.columns[*column].name, table.name
                ));
            }
        }
        ConstraintKind::ForeignKey(key) => {
            if key.on_delete == Action::SetDefault || key.on_update == Action::SetDefault {
                return Some("InnoDB has no SET DEFAULT".to_owned());
            }
        }
        ConstraintKind::Unique { .. }
        | ConstraintKind::UniqueIndex { .. }
        | ConstraintKind::Check { .. } => {}
    }
    if !matches!(
        constraint.kind,
        ConstraintKind::PrimaryKey { .. } | ConstraintKind::ForeignKey(_)
    ) {
        // Since 10.4 a UNIQUE over anything long is kept as a hash.
        return None;
    }
    let unbounded = |column: &&usize| {
        matches!(
            table.columns[**column].data_type,
            DataType::Text | DataType::Json { .. } | DataType::Bytes { length: None, .. }
        )
    };
    if let Some(column) = columns.iter().find(unbounded) {
        return Some(format!(
            "`{}` of `{}` has no length and cannot be in a key",
            table.columns[*column].name, table.name
        ));
    }
    let bytes: u32 = columns
        .iter()
        .map(|column| match table.columns[*column].data_type {
            DataType::Char { length } => length.saturating_mul(4),
            DataType::Varchar { length } => length.unwrap_or(0).saturating_mul(4),
            DataType::Bytes { length, .. } => length.unwrap_or(0),
            _ => 8,
        })
        .fold(0, u32::saturating_add);
    (bytes > MYSQL_KEY_BYTES).then(|| format!("a key of {bytes} bytes is too long"))
}

/// The columns that a constraint puts into an index.
fn indexed(constraint: &Constraint) -> &[usize] {
    match &constraint.kind {
        ConstraintKind::PrimaryKey { columns } | ConstraintKind::Unique { columns, .. } => columns,
        ConstraintKind::ForeignKey(key) => &key.columns,
        ConstraintKind::NotNull { .. }
        | ConstraintKind::UniqueIndex { .. }
        | ConstraintKind::Check { .. } => &[],
    }
}
