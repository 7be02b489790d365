//! Parts of a schema as they stand in sentences for people.

use isobath_sql::memory::{Verdict, ViolationKind};
use isobath_sql::schema::{Constraint, ConstraintKind, Schema, Table};
use isobath_sql::{DataType, Dialect, DialectName, Expr, Value, render};

/// An expression, as the dialect writes it.
pub fn expr(expr: &Expr, dialect: &dyn Dialect) -> String {
    render::expression(expr, dialect.name())
}

/// A type, as the dialect writes it.
pub fn data_type(data_type: &DataType, dialect: &dyn Dialect) -> String {
    render::type_name(data_type, dialect.name())
}

/// A value for a title: long text is cut.
pub fn short(value: &Value) -> String {
    const LONGEST: usize = 24;
    let text = render::literal(value, DialectName::Ansi);
    if text.chars().count() <= LONGEST {
        return text;
    }
    let head: String = text.chars().take(LONGEST - 1).collect();
    format!("{head}…")
}

/// A constraint of a table, as a noun.
pub fn constraint(
    constraint: &Constraint,
    table: &Table,
    schema: &Schema,
    dialect: &dyn Dialect,
) -> String {
    let names = |table: &Table, columns: &[usize]| {
        let names: Vec<&str> = columns
            .iter()
            .map(|column| table.columns[*column].name.as_str())
            .collect();
        names.join(", ")
    };
    match &constraint.kind {
        ConstraintKind::PrimaryKey { columns } => {
            format!("PRIMARY KEY ({})", names(table, columns))
        }
        ConstraintKind::NotNull { column } => {
            format!("NOT NULL on {}", table.columns[*column].name)
        }
        ConstraintKind::Unique { columns, .. } => format!("UNIQUE ({})", names(table, columns)),
        ConstraintKind::UniqueIndex {
            keys, predicate, ..
        } => {
            let keys: Vec<String> = keys.iter().map(|key| expr(key, dialect)).collect();
            let condition = predicate
                .as_ref()
                .map(|predicate| format!(" WHERE {}", expr(predicate, dialect)));
            format!(
                "UNIQUE INDEX ({}){}",
                keys.join(", "),
                condition.unwrap_or_default()
            )
        }
        ConstraintKind::ForeignKey(key) => {
            let parent = &schema.tables[key.parent];
            format!(
                "FOREIGN KEY ({}) REFERENCES {} ({})",
                names(table, &key.columns),
                parent.name,
                names(parent, &key.parent_columns)
            )
        }
        ConstraintKind::Check { expr } => format!("CHECK ({})", self::expr(expr, dialect)),
    }
}

/// Why a statement was refused, as a fragment; for an accepted one, that it was.
pub fn refusal(verdict: &Verdict, schema: &Schema, dialect: &dyn Dialect) -> String {
    let Verdict::Rejected(violations) = verdict else {
        return "it is accepted".to_owned();
    };
    let reasons: Vec<String> = violations
        .iter()
        .map(|violation| {
            let table = &schema.tables[violation.table];
            match (&violation.kind, violation.constraint) {
                (ViolationKind::Type { column, error }, _) => {
                    format!("{} of {}: {error}", table.columns[*column].name, table.name)
                }
                (ViolationKind::GivenGenerated { column }, _) => format!(
                    "{} of {} is filled by the database alone",
                    table.columns[*column].name, table.name
                ),
                (ViolationKind::Raises(raised), _) => raised.to_string(),
                (_, Some(index)) => format!(
                    "{} of {}",
                    constraint(&table.constraints[index], table, schema, dialect),
                    table.name
                ),
                (kind, None) => format!("{kind:?}"),
            }
        })
        .collect();
    format!("refused by {}", reasons.join(" and "))
}
