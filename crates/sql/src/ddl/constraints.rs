//! Constraints: from syntax to the model, for CREATE TABLE, ALTER TABLE and CREATE INDEX alike.

use sqlparser::ast::{
    CheckConstraint, ConstraintCharacteristics, ConstraintReferenceMatchKind, DeferrableInitial,
    Expr as AstExpr, ForeignKeyConstraint, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    IndexColumn, NullsDistinctOption, ReferentialAction, Spanned, Statement as Ast,
    TableConstraint,
};

use super::load::{DraftConstraint, ForeignKeyTarget, Loader, column_index, name_of};
use super::parse;
use super::split::Statement;
use crate::dialect::DialectName;
use crate::expr::Expr;
use crate::limitation::{Severity, SourceLocation};
use crate::schema::{Action, Column, Constraint, ConstraintKind, Deferrable, ForeignKey};
use crate::syntax::{ExprConverter, last_part};

/// The columns of a key, or expressions where it has any.
enum KeyParts {
    Columns(Vec<usize>),
    Exprs(Vec<Expr>),
}

impl Loader {
    /// A constraint of a table; `None` when it is reported instead.
    pub(super) fn table_constraint(
        &mut self,
        constraint: &TableConstraint,
        columns: &[Column],
    ) -> Option<DraftConstraint> {
        let location = self.location(constraint.span());
        let input = constraint.to_string();
        let (name, kind, characteristics) = match constraint {
            TableConstraint::PrimaryKey(key) => {
                let kind = match self.keys(&key.columns, columns, &location, &input)? {
                    KeyParts::Columns(columns) => ConstraintKind::PrimaryKey { columns },
                    KeyParts::Exprs(exprs) => {
                        self.report(
                            Severity::Unsupported,
                            location.clone(),
                            &input,
                            "a key over parts of columns is taken to be over whole columns",
                        );
                        let mut columns: Vec<usize> =
                            exprs.iter().flat_map(Expr::columns).collect();
                        columns.dedup();
                        ConstraintKind::PrimaryKey { columns }
                    }
                };
                (key.name.as_ref(), kind, key.characteristics)
            }
            TableConstraint::Unique(key) => {
                let nulls_distinct = key.nulls_distinct != NullsDistinctOption::NotDistinct;
                let kind = match self.keys(&key.columns, columns, &location, &input)? {
                    KeyParts::Columns(columns) => ConstraintKind::Unique {
                        columns,
                        nulls_distinct,
                    },
                    KeyParts::Exprs(keys) => ConstraintKind::UniqueIndex {
                        keys,
                        predicate: None,
                        nulls_distinct,
                    },
                };
                let name = key.index_name.as_ref().or(key.name.as_ref());
                (name, kind, key.characteristics)
            }
            TableConstraint::ForeignKey(key) => {
                let own = self.own_columns(&key.columns, columns, &location, &input)?;
                return Some(self.foreign_key(key, own, location));
            }
            TableConstraint::Check(check) => {
                let kind = self.check(check, columns, &location)?;
                (check.name.as_ref(), kind, None)
            }
            TableConstraint::Index(_) | TableConstraint::FulltextOrSpatial(_) => {
                self.report(
                    Severity::Ignored,
                    location,
                    &input,
                    "an index that is not unique refuses no row",
                );
                return None;
            }
            TableConstraint::PrimaryKeyUsingIndex(_) | TableConstraint::UniqueUsingIndex(_) => {
                self.report(
                    Severity::Unsupported,
                    location,
                    &input,
                    "a constraint that takes over an index is not followed",
                );
                return None;
            }
            TableConstraint::Exclude(_) => {
                self.report(
                    Severity::Unsupported,
                    location,
                    &input,
                    "EXCLUDE constraints are not supported",
                );
                return None;
            }
        };
        Some(DraftConstraint {
            constraint: Constraint {
                name: name.map(|ident| ident.value.clone()),
                kind,
                deferrable: deferrable(characteristics),
                location,
            },
            target: None,
        })
    }

    /// A foreign key over columns that are known already.
    pub(super) fn foreign_key(
        &mut self,
        key: &ForeignKeyConstraint,
        columns: Vec<usize>,
        location: SourceLocation,
    ) -> DraftConstraint {
        if key.match_kind == Some(ConstraintReferenceMatchKind::Partial) {
            self.report(
                Severity::Unsupported,
                location.clone(),
                &key.to_string(),
                "MATCH PARTIAL is taken to be MATCH SIMPLE",
            );
        }
        DraftConstraint {
            constraint: Constraint {
                name: key.name.as_ref().map(|ident| ident.value.clone()),
                kind: ConstraintKind::ForeignKey(ForeignKey {
                    columns,
                    parent: usize::MAX,
                    parent_columns: Vec::new(),
                    match_full: key.match_kind == Some(ConstraintReferenceMatchKind::Full),
                    on_delete: action(key.on_delete),
                    on_update: action(key.on_update),
                }),
                deferrable: deferrable(key.characteristics),
                location,
            },
            target: Some(ForeignKeyTarget {
                table: name_of(&key.foreign_table),
                columns: key
                    .referred_columns
                    .iter()
                    .map(|ident| ident.value.clone())
                    .collect(),
                input: key.to_string(),
            }),
        }
    }

    /// A CHECK; `None` when the database does not enforce it.
    pub(super) fn check(
        &mut self,
        check: &CheckConstraint,
        columns: &[Column],
        location: &SourceLocation,
    ) -> Option<ConstraintKind> {
        if check.enforced == Some(false) {
            self.report(
                Severity::Ignored,
                location.clone(),
                &check.to_string(),
                "it is NOT ENFORCED",
            );
            return None;
        }
        let expr = self.expr(&check.expr, columns, location);
        Some(ConstraintKind::Check { expr })
    }

    /// Converts an expression over the columns of a table, and reports what it cannot.
    pub(super) fn expr(
        &mut self,
        ast: &AstExpr,
        columns: &[Column],
        location: &SourceLocation,
    ) -> Expr {
        let names = self.names(columns);
        let mut converter = ExprConverter::new(&names, self.dialect);
        let expr = converter.expr(ast);
        let problems = converter.problems;
        self.report_problems(problems, location);
        expr
    }

    fn own_columns(
        &mut self,
        idents: &[Ident],
        columns: &[Column],
        location: &SourceLocation,
        input: &str,
    ) -> Option<Vec<usize>> {
        let mut found = Vec::with_capacity(idents.len());
        for ident in idents {
            let Some(index) = column_index(columns, &ident.value) else {
                let why = format!("unknown column `{}`", ident.value);
                self.report(Severity::Unsupported, location.clone(), input, why);
                return None;
            };
            found.push(index);
        }
        Some(found)
    }

    fn keys(
        &mut self,
        parts: &[IndexColumn],
        columns: &[Column],
        location: &SourceLocation,
        input: &str,
    ) -> Option<KeyParts> {
        let mut plain = Vec::new();
        let mut exprs = Vec::new();
        for part in parts {
            let ast = &part.column.expr;
            let expr = match self.prefix(ast, columns) {
                Some(expr) => expr,
                None => self.expr(ast, columns, location),
            };
            match &expr {
                Expr::Column(column)
                    if columns
                        .get(column.slot)
                        .is_some_and(|of| of.collation == column.collation) =>
                {
                    plain.push(column.slot);
                }
                Expr::Opaque { .. } if matches!(ast, AstExpr::Identifier(_)) => {
                    // The unknown column has been reported with its name.
                    if let Some(last) = self.limitations.last_mut() {
                        last.input = super::load::shorten(input);
                        last.why = format!("unknown column `{ast}`");
                    }
                    return None;
                }
                _ => {}
            }
            exprs.push(expr);
        }
        if plain.len() == exprs.len() {
            Some(KeyParts::Columns(plain))
        } else {
            Some(KeyParts::Exprs(exprs))
        }
    }

    /// MySQL's `name(10)`: unique by its first ten characters.
    fn prefix(&self, ast: &AstExpr, columns: &[Column]) -> Option<Expr> {
        let AstExpr::Function(function) = ast else {
            return None;
        };
        let FunctionArguments::List(list) = &function.args else {
            return None;
        };
        let [FunctionArg::Unnamed(FunctionArgExpr::Expr(AstExpr::Value(length)))] =
            list.args.as_slice()
        else {
            return None;
        };
        if self.dialect != DialectName::MySql {
            return None;
        }
        let slot = column_index(columns, &last_part(&function.name))?;
        let ident = Ident::new(columns.get(slot)?.name.clone());
        let length: i64 = length.to_string().parse().ok()?;
        let names = self.names(columns);
        let column = crate::syntax::NameResolver::column(&names, &[ident])?;
        Some(Expr::Function {
            name: "left".to_owned(),
            args: vec![Expr::Column(column), Expr::int(length)],
        })
    }

    /// CREATE UNIQUE INDEX; other indexes refuse nothing.
    pub(super) fn create_index(&mut self, statement: &Statement) {
        if !statement.mentions("UNIQUE") {
            return self.report_statement(
                Severity::Ignored,
                statement,
                "an index that is not unique refuses no row",
            );
        }
        let index = match parse::statement(&statement.text, self.dialect) {
            Ok(Ast::CreateIndex(index)) => index,
            Ok(_) => return self.report_statement(Severity::Syntax, statement, "it is no index"),
            Err(error) => return self.report_syntax(&statement.text, error),
        };
        let table = name_of(&index.table_name);
        let Some(of) = self.find(&table) else {
            let why = format!("unknown table `{}`", table.name);
            return self.report_statement(Severity::Unsupported, statement, &why);
        };
        let Some(columns) = self.draft(of).map(|draft| draft.table.columns.clone()) else {
            return;
        };
        let location = self.here();
        let Some(keys) = self.keys(&index.columns, &columns, &location, &statement.text) else {
            return;
        };
        let predicate = index
            .predicate
            .as_ref()
            .map(|predicate| self.expr(predicate, &columns, &location));
        let nulls_distinct = index.nulls_distinct != Some(false);
        let kind = match (keys, predicate) {
            (KeyParts::Columns(columns), None) => ConstraintKind::Unique {
                columns,
                nulls_distinct,
            },
            (KeyParts::Columns(slots), predicate) => {
                let names = self.names(&columns);
                ConstraintKind::UniqueIndex {
                    keys: slots
                        .into_iter()
                        .filter_map(|slot| {
                            let ident = Ident::new(columns.get(slot)?.name.clone());
                            crate::syntax::NameResolver::column(&names, &[ident]).map(Expr::Column)
                        })
                        .collect(),
                    predicate,
                    nulls_distinct,
                }
            }
            (KeyParts::Exprs(keys), predicate) => ConstraintKind::UniqueIndex {
                keys,
                predicate,
                nulls_distinct,
            },
        };
        let constraint = DraftConstraint {
            constraint: Constraint {
                name: index.name.as_ref().map(last_part),
                kind,
                deferrable: Deferrable::No,
                location,
            },
            target: None,
        };
        if let Some(draft) = self.draft_mut(of) {
            draft.constraints.push(constraint);
        }
    }
}

/// When a constraint is checked.
pub(super) fn deferrable(characteristics: Option<ConstraintCharacteristics>) -> Deferrable {
    let Some(characteristics) = characteristics else {
        return Deferrable::No;
    };
    match (characteristics.deferrable, characteristics.initially) {
        (Some(false), _) => Deferrable::No,
        (_, Some(DeferrableInitial::Deferred)) => Deferrable::InitiallyDeferred,
        (Some(true), _) => Deferrable::InitiallyImmediate,
        (None, _) => Deferrable::No,
    }
}

fn action(action: Option<ReferentialAction>) -> Action {
    match action {
        None | Some(ReferentialAction::NoAction) => Action::NoAction,
        Some(ReferentialAction::Restrict) => Action::Restrict,
        Some(ReferentialAction::Cascade) => Action::Cascade,
        Some(ReferentialAction::SetNull) => Action::SetNull,
        Some(ReferentialAction::SetDefault) => Action::SetDefault,
    }
}
