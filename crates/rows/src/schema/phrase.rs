//! Text for columns, constraints and conditions in messages.

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
    cut(render::literal(value, DialectName::Ansi), 24)
}

/// A condition as SQL, for a title: a long one is cut.
pub fn condition(expr: &Expr) -> String {
    cut(render::phrase(expr), 60)
}

/// Several conditions, joined.
pub fn conditions(parts: &[Expr], joint: &str) -> String {
    let parts: Vec<String> = parts.iter().map(condition).collect();
    parts.join(joint)
}

/// Column names, joined as in a sentence.
pub fn columns(table: &Table, columns: &[usize]) -> String {
    let names: Vec<&str> = columns
        .iter()
        .map(|column| table.columns[*column].name.as_str())
        .collect();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        [one] => (*one).to_owned(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

fn cut(text: String, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text;
    }
    let head: String = text.chars().take(longest - 1).collect();
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
