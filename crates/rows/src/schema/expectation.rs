//! The expected error of each engine for a violated constraint, so that no test passes for the
//! wrong reason.

use isobath_emit::{Rejection, RejectionKind};
use isobath_sql::dialect::StoreError;
use isobath_sql::eval::RaisedError;
use isobath_sql::memory::{Violation, ViolationKind};
use isobath_sql::render::constraint_name;
use isobath_sql::schema::{Action, ConstraintKind};
use isobath_sql::{DialectName, Schema};

/// The rejection that an engine gives for a violation, with everything it tells about the reason.
pub fn rejection(violation: &Violation, schema: &Schema, dialect: DialectName) -> Rejection {
    let kind = kind(violation, schema);
    let mut rejection = Rejection::new(kind);
    let table = &schema.tables[violation.table];
    let column = |index: usize| table.columns[index].name.as_str();
    let name = violation
        .constraint
        .and_then(|constraint| constraint_name(schema, violation.table, constraint, dialect));
    match dialect {
        DialectName::Postgres | DialectName::Ansi => {
            rejection.sqlstate = postgres_state(&violation.kind).map(str::to_owned);
            match &violation.kind {
                ViolationKind::Null { column: at } => {
                    rejection
                        .message_contains
                        .push(format!("\"{}\"", column(*at)));
                }
                ViolationKind::Duplicate
                | ViolationKind::NoParent
                | ViolationKind::StillReferenced
                | ViolationKind::CheckFalse => rejection.constraint = name,
                ViolationKind::Type { .. }
                | ViolationKind::Raises(_)
                | ViolationKind::GivenGenerated { .. } => {}
            }
        }
        DialectName::MySql => {
            let (code, state) = mariadb_code(&violation.kind);
            rejection.code = code;
            rejection.sqlstate = state.map(str::to_owned);
            match &violation.kind {
                // Quoted in several ways, some with the table's name before it.
                ViolationKind::Type { column: at, .. } => {
                    rejection.message_contains.push(column(*at).to_owned());
                }
                ViolationKind::Null { column: at }
                | ViolationKind::GivenGenerated { column: at } => {
                    rejection
                        .message_contains
                        .push(format!("'{}'", column(*at)));
                }
                ViolationKind::Duplicate => {
                    rejection
                        .message_contains
                        .extend(name.map(|name| format!("for key '{name}'")));
                }
                ViolationKind::NoParent
                | ViolationKind::StillReferenced
                | ViolationKind::CheckFalse => {
                    rejection
                        .message_contains
                        .extend(name.map(|name| format!("CONSTRAINT `{name}`")));
                }
                ViolationKind::Raises(_) => {}
            }
        }
        DialectName::Sqlite => sqlite(violation, schema, name, &mut rejection),
    }
    rejection
}

fn kind(violation: &Violation, schema: &Schema) -> RejectionKind {
    let constraint = violation
        .constraint
        .map(|index| &schema.tables[violation.table].constraints[index].kind);
    match (&violation.kind, constraint) {
        (ViolationKind::Null { .. }, _) => RejectionKind::NotNull,
        (ViolationKind::Duplicate, Some(ConstraintKind::PrimaryKey { .. })) => {
            RejectionKind::PrimaryKey
        }
        (ViolationKind::Duplicate, _) => RejectionKind::Unique,
        (ViolationKind::NoParent | ViolationKind::StillReferenced, _) => RejectionKind::ForeignKey,
        (ViolationKind::CheckFalse, _) => RejectionKind::Check,
        (ViolationKind::Type { .. }, _) => RejectionKind::Value,
        (ViolationKind::Raises(_) | ViolationKind::GivenGenerated { .. }, _) => {
            RejectionKind::Other
        }
    }
}

fn postgres_state(kind: &ViolationKind) -> Option<&'static str> {
    Some(match kind {
        ViolationKind::Null { .. } => "23502",
        ViolationKind::Duplicate => "23505",
        ViolationKind::NoParent => "23503",
        // 23503 up to PostgreSQL 17; RESTRICT has a state of its own since.
        ViolationKind::StillReferenced => return None,
        ViolationKind::CheckFalse => "23514",
        ViolationKind::GivenGenerated { .. } => "428C9",
        ViolationKind::Type { error, .. } => match error {
            StoreError::TooLong { .. } => "22001",
            StoreError::OutOfRange => "22003",
            // Text that is no number, date or label has a state per type.
            StoreError::WrongType | StoreError::Unknown(_) => return None,
        },
        ViolationKind::Raises(raised) => match raised {
            RaisedError::DivisionByZero => "22012",
            RaisedError::OutOfRange => "22003",
            RaisedError::InvalidText | RaisedError::InvalidArgument | RaisedError::TypeMismatch => {
                return None;
            }
        },
    })
}

fn mariadb_code(kind: &ViolationKind) -> (Option<i64>, Option<&'static str>) {
    match kind {
        ViolationKind::Null { .. } => (Some(1048), Some("23000")),
        ViolationKind::Duplicate => (Some(1062), Some("23000")),
        ViolationKind::NoParent => (Some(1452), Some("23000")),
        ViolationKind::StillReferenced => (Some(1451), Some("23000")),
        ViolationKind::CheckFalse => (Some(4025), Some("23000")),
        ViolationKind::GivenGenerated { .. } => (Some(1906), None),
        ViolationKind::Type { error, .. } => match error {
            StoreError::TooLong { .. } => (Some(1406), Some("22001")),
            StoreError::OutOfRange => (Some(1264), Some("22003")),
            StoreError::WrongType | StoreError::Unknown(_) => (None, None),
        },
        ViolationKind::Raises(_) => (None, None),
    }
}

/// SQLite tells a code and a message; foreign keys are not named at all.
fn sqlite(violation: &Violation, schema: &Schema, name: Option<String>, rejection: &mut Rejection) {
    let table = &schema.tables[violation.table];
    let constraint = violation
        .constraint
        .map(|index| &table.constraints[index].kind);
    let qualified = |columns: &[usize]| {
        let names: Vec<String> = columns
            .iter()
            .map(|column| format!("{}.{}", table.name, table.columns[*column].name))
            .collect();
        names.join(", ")
    };
    match (&violation.kind, constraint) {
        (ViolationKind::Null { column }, _) => {
            rejection.code = Some(1299);
            rejection.message_contains.push(qualified(&[*column]));
        }
        (ViolationKind::Duplicate, Some(ConstraintKind::PrimaryKey { columns })) => {
            rejection.code = Some(1555);
            rejection.message_contains.push(qualified(columns));
        }
        (ViolationKind::Duplicate, Some(ConstraintKind::Unique { columns, .. })) => {
            rejection.code = Some(2067);
            rejection.message_contains.push(qualified(columns));
        }
        (ViolationKind::Duplicate, _) => rejection.code = Some(2067),
        (ViolationKind::NoParent, _) => rejection.code = Some(787),
        (ViolationKind::StillReferenced, Some(ConstraintKind::ForeignKey(key))) => {
            // RESTRICT is carried out by a trigger inside SQLite, and reported as one.
            let restricts = key.on_delete == Action::Restrict || key.on_update == Action::Restrict;
            rejection.code = if restricts { None } else { Some(787) };
            rejection.message_contains.push("FOREIGN KEY".to_owned());
        }
        (ViolationKind::StillReferenced, _) => {
            rejection.message_contains.push("FOREIGN KEY".to_owned())
        }
        (ViolationKind::CheckFalse, _) => {
            rejection.code = Some(275);
            rejection.message_contains.extend(name);
        }
        (ViolationKind::Type { column, .. }, _) => {
            // Outside STRICT tables only a row id refuses a value for its type.
            rejection.code = if table.strict { Some(3091) } else { None };
            if table.strict {
                rejection.message_contains.push(qualified(&[*column]));
            }
        }
        (ViolationKind::GivenGenerated { column }, _) => {
            rejection
                .message_contains
                .push(table.columns[*column].name.clone());
        }
        (ViolationKind::Raises(_), _) => {}
    }
}
