//! Applies each kind of DDL statement to the schema.

use sqlparser::ast::{
    CreateDomain, ObjectType, Spanned, Statement as Ast, TableConstraint,
    UserDefinedTypeRepresentation,
};

use super::load::{Domain, Loader, UserType, name_of};
use super::parse;
use super::split::Statement;
use crate::limitation::Severity;
use crate::syntax::{data_type, last_part};
use crate::types::DataType;

/// Statements that the model has no place for, by their first words, and why.
const IGNORED: &[(&[&str], &str)] = &[
    (&["INSERT"], "data, not a definition"),
    (&["REPLACE"], "data, not a definition"),
    (&["UPDATE"], "data, not a definition"),
    (&["DELETE"], "data, not a definition"),
    (&["MERGE"], "data, not a definition"),
    (&["COPY"], "data, not a definition"),
    (&["LOAD"], "data, not a definition"),
    (&["TRUNCATE"], "data, not a definition"),
    (&["SELECT"], "a query, not a definition"),
    (&["WITH"], "a query, not a definition"),
    (&["VALUES"], "a query, not a definition"),
    (&["EXPLAIN"], "a query, not a definition"),
    (&["SHOW"], "a query, not a definition"),
    (&["DESCRIBE"], "a query, not a definition"),
    (&["SET"], "a setting"),
    (&["RESET"], "a setting"),
    (&["PRAGMA"], "a setting"),
    (&["USE"], "a setting"),
    (&["ATTACH"], "a setting"),
    (&["DETACH"], "a setting"),
    (&["GRANT"], "permissions"),
    (&["REVOKE"], "permissions"),
    (&["COMMENT"], "a comment"),
    (&["BEGIN"], "a transaction"),
    (&["START"], "a transaction"),
    (&["COMMIT"], "a transaction"),
    (&["END"], "a transaction"),
    (&["ROLLBACK"], "a transaction"),
    (&["SAVEPOINT"], "a transaction"),
    (&["RELEASE"], "a transaction"),
    (&["LOCK"], "a transaction"),
    (&["UNLOCK"], "a transaction"),
    (&["ANALYZE"], "maintenance"),
    (&["VACUUM"], "maintenance"),
    (&["REINDEX"], "maintenance"),
    (&["OPTIMIZE"], "maintenance"),
    (&["FLUSH"], "maintenance"),
    (&["CLUSTER"], "maintenance"),
    (&["REFRESH"], "maintenance"),
    (&["CALL"], "a call, which is not run"),
    (&["EXECUTE"], "a call, which is not run"),
    (&["PREPARE"], "a call, which is not run"),
    (&["DEALLOCATE"], "a call, which is not run"),
    (&["DO"], "a block of code, which is not run"),
    (&["\\"], "a command to the client"),
    (&["GO"], "a command to the client"),
    (&["ALTER", "DEFAULT"], "permissions"),
    (&["ALTER", "SEQUENCE"], "a sequence"),
    (&["ALTER", "DATABASE"], "a database"),
    (&["ALTER", "SCHEMA"], "a schema"),
    (&["ALTER", "VIEW"], "a view"),
    (&["ALTER", "MATERIALIZED"], "a view"),
    (&["ALTER", "FUNCTION"], "a function"),
    (&["ALTER", "PROCEDURE"], "a function"),
    (&["ALTER", "AGGREGATE"], "a function"),
    (&["ALTER", "OPERATOR"], "an operator"),
    (&["ALTER", "ROLE"], "permissions"),
    (&["ALTER", "USER"], "permissions"),
    (&["ALTER", "INDEX"], "an index"),
    (&["ALTER", "EXTENSION"], "an extension"),
    (&["ALTER", "LANGUAGE"], "a language"),
    (&["ALTER", "PUBLICATION"], "replication"),
    (&["ALTER", "TEXT"], "text search"),
    (&["ALTER", "FOREIGN"], "foreign data"),
    (&["ALTER", "SERVER"], "foreign data"),
    (&["CREATE", "SEQUENCE"], "a sequence"),
    (&["CREATE", "DATABASE"], "a database"),
    (&["CREATE", "SCHEMA"], "a schema"),
    (&["CREATE", "EXTENSION"], "an extension"),
    (&["CREATE", "LANGUAGE"], "a language"),
    (&["CREATE", "PROCEDURAL"], "a language"),
    (&["CREATE", "TRUSTED"], "a language"),
    (&["CREATE", "ROLE"], "permissions"),
    (&["CREATE", "USER"], "permissions"),
    (&["CREATE", "AGGREGATE"], "a function"),
    (&["CREATE", "OPERATOR"], "an operator"),
    (&["CREATE", "CAST"], "a cast"),
    (&["CREATE", "COLLATION"], "a collation"),
    (&["CREATE", "CONVERSION"], "a conversion"),
    (&["CREATE", "TEXT"], "text search"),
    (&["CREATE", "STATISTICS"], "statistics"),
    (&["CREATE", "TABLESPACE"], "storage"),
    (&["CREATE", "PUBLICATION"], "replication"),
    (&["CREATE", "SUBSCRIPTION"], "replication"),
    (&["CREATE", "FOREIGN"], "foreign data"),
    (&["CREATE", "SERVER"], "foreign data"),
    (&["CREATE", "EVENT"], "a timed event"),
    (&["CREATE", "ACCESS"], "storage"),
];

/// Statements that may refuse rows in ways we do not model.
const UNSUPPORTED: &[(&str, &str)] = &[
    (
        "TRIGGER",
        "triggers are not run: they may refuse or change rows",
    ),
    ("RULE", "rules are not applied: they may redirect rows"),
    ("POLICY", "row security is not supported"),
    ("ASSERTION", "assertions are not supported"),
];

impl Loader {
    /// Applies one statement.
    pub(super) fn apply(&mut self, statement: &Statement) {
        let ignored = IGNORED
            .iter()
            .find(|(words, _)| statement.starts_with(words))
            .map(|(_, why)| *why);
        if let Some(why) = ignored {
            return self.report_statement(Severity::Ignored, statement, why);
        }
        match statement.head.first().map(String::as_str) {
            Some("CREATE") => self.apply_create(statement),
            Some("ALTER") if statement.mentions("TABLE") => self.alter_table(statement),
            Some("ALTER") if statement.mentions("TYPE") => self.alter_type(statement),
            Some("ALTER") if statement.mentions("DOMAIN") => self.alter_domain(statement),
            Some("DROP") => self.drop(statement),
            Some("RENAME") => self.rename(statement),
            _ => match parse::statement(&statement.text, self.dialect) {
                Ok(_) => self.report_statement(
                    Severity::Ignored,
                    statement,
                    "not a definition of a table",
                ),
                Err(error) => self.report_syntax(&statement.text, error),
            },
        }
    }

    fn apply_create(&mut self, statement: &Statement) {
        let kind = statement.head.iter().skip(1).find(|word| {
            [
                "TABLE",
                "INDEX",
                "TYPE",
                "DOMAIN",
                "VIEW",
                "FUNCTION",
                "PROCEDURE",
                "TRIGGER",
                "RULE",
                "POLICY",
                "ASSERTION",
                "EVENT",
            ]
            .contains(&word.as_str())
        });
        match kind.map(String::as_str) {
            Some("TABLE") if statement.mentions("VIRTUAL") => self.report_statement(
                Severity::Unsupported,
                statement,
                "virtual tables are not supported",
            ),
            Some("TABLE") => self.create_table(statement),
            Some("INDEX") => self.create_index(statement),
            Some("TYPE") => self.create_type(statement),
            Some("DOMAIN") => self.create_domain(statement),
            Some("VIEW") => self.report_statement(Severity::Ignored, statement, "a view"),
            Some("FUNCTION" | "PROCEDURE") => {
                self.report_statement(Severity::Ignored, statement, "a function, which is not run");
            }
            Some("EVENT") => {
                self.report_statement(Severity::Ignored, statement, "a timed event");
            }
            Some(other) => {
                let why = UNSUPPORTED
                    .iter()
                    .find(|(word, _)| *word == other)
                    .map_or("it is not supported", |(_, why)| why);
                self.report_statement(Severity::Unsupported, statement, why);
            }
            None => match parse::statement(&statement.text, self.dialect) {
                Ok(_) => self.report_statement(
                    Severity::Ignored,
                    statement,
                    "not a definition of a table",
                ),
                Err(error) => self.report_syntax(&statement.text, error),
            },
        }
    }

    fn create_type(&mut self, statement: &Statement) {
        match parse::statement(&statement.text, self.dialect) {
            Ok(Ast::CreateType {
                name,
                representation: Some(UserDefinedTypeRepresentation::Enum { labels }),
            }) => {
                let name = last_part(&name);
                let data_type = DataType::Enum {
                    name: Some(name.clone()),
                    labels: labels.into_iter().map(|label| label.value).collect(),
                };
                self.types
                    .insert(name.to_lowercase(), UserType::Enum(data_type));
            }
            Ok(_) => self.report_statement(
                Severity::Unsupported,
                statement,
                "only enumerated types are supported",
            ),
            Err(error) => self.report_syntax(&statement.text, error),
        }
    }

    fn create_domain(&mut self, statement: &Statement) {
        let (text, not_null) = domain_text(&statement.text);
        let domain = match parse::statement(&text, self.dialect) {
            Ok(Ast::CreateDomain(domain)) => domain,
            Ok(_) => return self.report_statement(Severity::Syntax, statement, "it is no domain"),
            Err(error) => return self.report_syntax(&statement.text, error),
        };
        let CreateDomain {
            name,
            data_type: ast,
            default,
            constraints,
            ..
        } = domain;
        let names = self.names(&[]);
        let data_type = data_type(&ast, self.dialect, &|name| {
            crate::syntax::NameResolver::user_type(&names, name)
        });
        let mut checks = Vec::new();
        for constraint in constraints {
            match constraint {
                TableConstraint::Check(check) => {
                    checks.push((check.name.map(|name| name.value), *check.expr));
                }
                other => {
                    let location = self.location(other.span());
                    self.report(
                        Severity::Unsupported,
                        location,
                        &other.to_string(),
                        "a domain has CHECKs only",
                    );
                }
            }
        }
        let domain = Domain {
            data_type,
            declared: ast.to_string(),
            default,
            not_null,
            checks,
            location: self.here(),
        };
        self.types.insert(
            last_part(&name).to_lowercase(),
            UserType::Domain(Box::new(domain)),
        );
    }

    fn alter_type(&mut self, statement: &Statement) {
        use sqlparser::ast::{AlterTypeAddValuePosition as At, AlterTypeOperation as Op};
        let Ok(Ast::AlterType(alter)) = parse::statement(&statement.text, self.dialect) else {
            return self.report_statement(Severity::Ignored, statement, "it refuses no row");
        };
        let key = last_part(&alter.name).to_lowercase();
        let Some(UserType::Enum(DataType::Enum { labels, .. })) = self.types.get_mut(&key) else {
            return self.report_statement(Severity::Ignored, statement, "it refuses no row");
        };
        match alter.operation {
            Op::AddValue(add) => {
                let at = match &add.position {
                    Some(At::Before(label)) => labels.iter().position(|of| *of == label.value),
                    Some(At::After(label)) => labels
                        .iter()
                        .position(|of| *of == label.value)
                        .map(|index| index + 1),
                    None => None,
                };
                if !labels.contains(&add.value.value) {
                    let at = at.unwrap_or(labels.len());
                    labels.insert(at, add.value.value);
                }
            }
            Op::RenameValue(rename) => {
                for label in labels.iter_mut().filter(|of| **of == rename.from.value) {
                    label.clone_from(&rename.to.value);
                }
            }
            _ => return self.report_statement(Severity::Ignored, statement, "it refuses no row"),
        }
        let Some(UserType::Enum(data_type)) = self.types.get(&key).cloned() else {
            return;
        };
        for draft in self.drafts_mut() {
            for column in &mut draft.table.columns {
                if matches!(&column.data_type, DataType::Enum { name: Some(name), .. } if name.eq_ignore_ascii_case(&key))
                {
                    column.data_type = data_type.clone();
                }
            }
        }
    }

    fn alter_domain(&mut self, statement: &Statement) {
        let upper = statement.text.to_ascii_uppercase();
        let owner = upper.contains(" OWNER ") || upper.contains(" SET SCHEMA ");
        if owner {
            self.report_statement(Severity::Ignored, statement, "it refuses no row");
        } else {
            self.report_statement(
                Severity::Unsupported,
                statement,
                "changes of a domain are not followed",
            );
        }
    }

    fn drop(&mut self, statement: &Statement) {
        let known = ["TABLE", "INDEX", "TYPE", "DOMAIN"]
            .into_iter()
            .find(|word| {
                statement
                    .head
                    .get(1..3)
                    .unwrap_or(&[])
                    .iter()
                    .any(|of| of == word)
                    || statement.head.get(1).is_some_and(|of| of == word)
            });
        if known.is_none() {
            return self.report_statement(Severity::Ignored, statement, "it drops no table");
        }
        match parse::statement(&statement.text, self.dialect) {
            Ok(Ast::Drop {
                object_type: ObjectType::Table,
                names,
                if_exists,
                cascade,
                ..
            }) => {
                for name in names {
                    let name = name_of(&name);
                    match self.find(&name) {
                        Some(index) => self.drop_table(index, cascade),
                        None if if_exists => {
                            self.report_statement(
                                Severity::Ignored,
                                statement,
                                "the table does not exist yet",
                            );
                        }
                        None => self.report_statement(
                            Severity::Ignored,
                            statement,
                            "the table does not exist yet",
                        ),
                    }
                }
            }
            Ok(Ast::Drop {
                object_type: ObjectType::Index,
                names,
                ..
            }) => {
                let mut dropped = false;
                for name in names {
                    let name = last_part(&name);
                    for draft in self.drafts_mut() {
                        dropped |= draft.drop_constraint(&name, true);
                    }
                }
                if !dropped {
                    self.report_statement(
                        Severity::Ignored,
                        statement,
                        "an index that is not unique refuses no row",
                    );
                }
            }
            Ok(Ast::Drop {
                object_type: ObjectType::Type,
                names,
                ..
            }) => {
                for name in names {
                    self.types.remove(&last_part(&name).to_lowercase());
                }
            }
            Ok(Ast::DropDomain(domain)) => {
                self.types.remove(&last_part(&domain.name).to_lowercase());
            }
            Ok(_) => self.report_statement(Severity::Ignored, statement, "it drops no table"),
            Err(error) => self.report_syntax(&statement.text, error),
        }
    }

    /// Drops a table; foreign keys to it go with CASCADE, and are reported at the end otherwise.
    fn drop_table(&mut self, index: usize, cascade: bool) {
        let Some(gone) = self.remove_table(index) else {
            return;
        };
        if cascade {
            for draft in self.drafts_mut() {
                draft.constraints.retain(|constraint| {
                    constraint.target.as_ref().is_none_or(|target| {
                        !target.table.name.eq_ignore_ascii_case(&gone.table.name)
                    })
                });
            }
        }
    }

    fn rename(&mut self, statement: &Statement) {
        match parse::statement(&statement.text, self.dialect) {
            Ok(Ast::RenameTable(renames)) => {
                for rename in renames {
                    match self.find(&name_of(&rename.old_name)) {
                        Some(index) => self.rename_table(index, name_of(&rename.new_name)),
                        None => self.report_statement(
                            Severity::Unsupported,
                            statement,
                            "the table does not exist",
                        ),
                    }
                }
            }
            Ok(_) => self.report_statement(Severity::Ignored, statement, "it renames no table"),
            Err(error) => self.report_syntax(&statement.text, error),
        }
    }
}

/// A domain without its NOT NULL, which the parser does not take, and whether it had one.
fn domain_text(text: &str) -> (String, bool) {
    let upper = text.to_ascii_uppercase();
    let mut out = String::with_capacity(text.len());
    let mut not_null = false;
    let mut at = 0;
    for (start, _) in upper.match_indices("NOT") {
        let (before, from) = upper.split_at(start);
        let null = from.strip_prefix("NOT").unwrap_or_default();
        let after = null.trim_start().strip_prefix("NULL");
        let word = before.ends_with(|c: char| c.is_whitespace() || c == ')');
        if let Some(after) = after
            && word
            && null.starts_with(char::is_whitespace)
            && !before.trim_end().ends_with("IS")
        {
            not_null = true;
            let end = text.len() - after.len();
            out.push_str(text.get(at..start).unwrap_or_default());
            super::split::blank(&mut out, text.get(start..end).unwrap_or_default());
            at = end;
        }
    }
    out.push_str(text.get(at..).unwrap_or_default());
    (out, not_null)
}
