//! ALTER TABLE.

use sqlparser::ast::{
    AlterColumnOperation, AlterTableOperation as Op, ColumnDef, ColumnOption, ColumnOptionDef,
    GeneratedAs, Ident, MySQLColumnPosition, RenameTableNameKind, Statement as Ast,
};

use super::load::{Loader, TableDraft, column_index, name_of};
use super::split::Statement;
use super::table::{is_nextval, move_expr, move_slots};
use super::{parse, repair};
use crate::limitation::Severity;
use crate::schema::{ConstraintKind, Filled};
use crate::syntax::data_type;

impl Loader {
    /// Applies an ALTER TABLE, action by action.
    pub(super) fn alter_table(&mut self, statement: &Statement) {
        let actions = repair::alter_table(&statement.text, self.dialect);
        self.report_removed(actions.removed);
        for text in actions.texts {
            match parse::statement(&text, self.dialect) {
                Ok(Ast::AlterTable(alter)) => {
                    let name = name_of(&alter.name);
                    let Some(index) = self.find(&name) else {
                        let why = format!("unknown table `{}`", name.name);
                        self.report(Severity::Unsupported, self.here(), &text, why);
                        continue;
                    };
                    for operation in &alter.operations {
                        self.action(operation, index, &text);
                    }
                }
                Ok(_) => self.report_statement(Severity::Ignored, statement, "it alters no table"),
                Err(error) => self.report_syntax(&text, error),
            }
        }
    }

    /// Applies one action to a table that exists.
    fn action(&mut self, operation: &Op, index: usize, text: &str) {
        if let Op::RenameTable {
            table_name: RenameTableNameKind::As(name) | RenameTableNameKind::To(name),
        } = operation
        {
            return self.rename_table(index, name_of(name));
        }
        let Some(mut draft) = self.draft(index).cloned() else {
            return;
        };
        let done = self.change(operation, &mut draft, text);
        match done {
            Ok(()) => {
                if let Some(location) = self.draft_mut(index) {
                    *location = draft;
                }
            }
            Err((severity, why)) => self.report(severity, self.here(), text, why),
        }
    }

    fn change(
        &mut self,
        operation: &Op,
        draft: &mut TableDraft,
        text: &str,
    ) -> Result<(), (Severity, String)> {
        let refuses_nothing = || Err((Severity::Ignored, "it refuses no row".to_owned()));
        match operation {
            Op::AddConstraint { constraint, .. } => {
                if let Some(found) = self.table_constraint(constraint, &draft.table.columns) {
                    self.add_constraint(draft, found);
                }
                Ok(())
            }
            Op::AddColumn {
                column_def,
                if_not_exists,
                column_position,
                ..
            } => {
                if column_index(&draft.table.columns, &column_def.name.value).is_some() {
                    if *if_not_exists {
                        return Err((Severity::Ignored, "the column already exists".to_owned()));
                    }
                    let why = format!("column `{}` is defined twice", column_def.name.value);
                    return Err((Severity::Unsupported, why));
                }
                let slot = draft.table.columns.len();
                let column = self.column(column_def);
                draft.table.columns.push(column);
                self.column_options(column_def, slot, draft);
                reposition(draft, slot, column_position.as_ref());
                Ok(())
            }
            Op::DropColumn {
                column_names,
                if_exists,
                ..
            } => {
                for name in column_names {
                    match column_index(&draft.table.columns, &name.value) {
                        Some(slot) => draft.drop_column(slot),
                        None if *if_exists => {}
                        None => return Err(no_column(name)),
                    }
                }
                Ok(())
            }
            Op::DropConstraint {
                name, if_exists, ..
            } => {
                let dropped = draft.drop_constraint(&name.value, false)
                    || self.drop_by_default_name(draft, &name.value);
                if dropped || *if_exists {
                    Ok(())
                } else {
                    let why = format!("unknown constraint `{}`", name.value);
                    Err((Severity::Unsupported, why))
                }
            }
            Op::DropForeignKey { name, .. } => {
                let dropped = draft.drop_constraint(&name.value, false)
                    || self.drop_by_default_name(draft, &name.value);
                if dropped {
                    Ok(())
                } else {
                    let why = format!("unknown foreign key `{}`", name.value);
                    Err((Severity::Unsupported, why))
                }
            }
            Op::DropIndex { name } => {
                draft.drop_constraint(&name.value, true);
                Ok(())
            }
            Op::DropPrimaryKey { .. } => {
                draft
                    .constraints
                    .retain(|of| !matches!(of.constraint.kind, ConstraintKind::PrimaryKey { .. }));
                Ok(())
            }
            Op::RenameColumn {
                old_column_name,
                new_column_name,
            } => {
                let slot = find_column(draft, old_column_name)?;
                self.rename_column(draft, slot, new_column_name);
                Ok(())
            }
            Op::RenameConstraint { old_name, new_name } => {
                for of in &mut draft.constraints {
                    if of.constraint.name.as_ref() == Some(&old_name.value) {
                        of.constraint.name = Some(new_name.value.clone());
                    }
                }
                Ok(())
            }
            Op::ModifyColumn {
                col_name,
                data_type,
                options,
                column_position,
            } => {
                let slot = find_column(draft, col_name)?;
                let def = redefinition(col_name, data_type, options);
                self.redefine(draft, slot, &def);
                reposition(draft, slot, column_position.as_ref());
                Ok(())
            }
            Op::ChangeColumn {
                old_name,
                new_name,
                data_type,
                options,
                column_position,
            } => {
                let slot = find_column(draft, old_name)?;
                self.rename_column(draft, slot, new_name);
                let def = redefinition(new_name, data_type, options);
                self.redefine(draft, slot, &def);
                reposition(draft, slot, column_position.as_ref());
                Ok(())
            }
            Op::AlterColumn { column_name, op } => {
                let slot = find_column(draft, column_name)?;
                self.alter_column(draft, slot, op)
            }
            Op::OwnerTo { .. }
            | Op::ReplicaIdentity { .. }
            | Op::ValidateConstraint { .. }
            | Op::SetTblProperties { .. }
            | Op::SetOptionsParens { .. }
            | Op::Algorithm { .. }
            | Op::Lock { .. }
            | Op::SetLogged
            | Op::SetUnlogged
            | Op::AutoIncrement { .. } => refuses_nothing(),
            _ => {
                let _ = text;
                Err((
                    Severity::Unsupported,
                    "this change is not followed".to_owned(),
                ))
            }
        }
    }

    fn alter_column(
        &mut self,
        draft: &mut TableDraft,
        slot: usize,
        op: &AlterColumnOperation,
    ) -> Result<(), (Severity, String)> {
        let location = self.here();
        match op {
            AlterColumnOperation::SetNotNull => self.not_null(draft, slot, None, &location),
            AlterColumnOperation::DropNotNull => draft.constraints.retain(|of| {
                !matches!(of.constraint.kind, ConstraintKind::NotNull { column } if column == slot)
            }),
            AlterColumnOperation::SetDefault { value } if is_nextval(value) => {
                draft.column_mut(slot).filled = Filled::Counter;
            }
            AlterColumnOperation::SetDefault { value } => {
                let expr = self.expr(value, &[], &location);
                draft.column_mut(slot).default = Some(expr);
            }
            AlterColumnOperation::DropDefault => {
                let column = draft.column_mut(slot);
                column.default = None;
                if column.filled == Filled::Counter {
                    column.filled = Filled::No;
                }
            }
            AlterColumnOperation::SetDataType { data_type: ast, .. } => {
                let names = self.names(&[]);
                let found = data_type(ast, self.dialect, &|name| {
                    crate::syntax::NameResolver::user_type(&names, name)
                });
                let column = draft.column_mut(slot);
                column.data_type = found;
                column.declared = ast.to_string();
            }
            AlterColumnOperation::AddGenerated { generated_as, .. } => {
                draft.column_mut(slot).filled = match generated_as {
                    Some(GeneratedAs::Always) => Filled::CounterAlways,
                    _ => Filled::Counter,
                };
                self.not_null(draft, slot, None, &location);
            }
        }
        Ok(())
    }

    /// MODIFY and CHANGE replace everything that is said of a column but its keys.
    fn redefine(&mut self, draft: &mut TableDraft, slot: usize, def: &ColumnDef) {
        draft.constraints.retain(|of| {
            !matches!(of.constraint.kind, ConstraintKind::NotNull { column } if column == slot)
        });
        *draft.column_mut(slot) = self.column(def);
        self.column_options(def, slot, draft);
    }

    /// Renames a column here and where other tables refer to it.
    fn rename_column(&mut self, draft: &mut TableDraft, slot: usize, new: &Ident) {
        let old = std::mem::replace(&mut draft.column_mut(slot).name, new.value.clone());
        let table = draft.table.name.clone();
        let rename = |draft: &mut TableDraft| {
            for target in draft
                .constraints
                .iter_mut()
                .filter_map(|of| of.target.as_mut())
            {
                if target.table.name.eq_ignore_ascii_case(&table) {
                    for column in &mut target.columns {
                        if column.eq_ignore_ascii_case(&old) {
                            column.clone_from(&new.value);
                        }
                    }
                }
            }
        };
        self.drafts_mut().for_each(rename);
        rename(draft);
    }

    /// Drops a constraint by the name that the database gave it.
    fn drop_by_default_name(&self, draft: &mut TableDraft, name: &str) -> bool {
        let names = crate::render::default_names(&draft.as_table(), self.dialect);
        let Some(index) = names.iter().position(|of| {
            of.as_deref()
                .is_some_and(|of| of.eq_ignore_ascii_case(name))
        }) else {
            return false;
        };
        draft.constraints.remove(index);
        true
    }
}

fn find_column(draft: &TableDraft, name: &Ident) -> Result<usize, (Severity, String)> {
    column_index(&draft.table.columns, &name.value).ok_or_else(|| no_column(name))
}

fn no_column(name: &Ident) -> (Severity, String) {
    (
        Severity::Unsupported,
        format!("unknown column `{}`", name.value),
    )
}

fn redefinition(
    name: &Ident,
    data_type: &sqlparser::ast::DataType,
    options: &[ColumnOption],
) -> ColumnDef {
    ColumnDef {
        name: name.clone(),
        data_type: data_type.clone(),
        options: options
            .iter()
            .map(|option| ColumnOptionDef {
                name: None,
                option: option.clone(),
            })
            .collect(),
    }
}

/// MySQL's FIRST and AFTER.
fn reposition(draft: &mut TableDraft, slot: usize, position: Option<&MySQLColumnPosition>) {
    let to = match position {
        None => return,
        Some(MySQLColumnPosition::First) => 0,
        Some(MySQLColumnPosition::After(name)) => {
            match column_index(&draft.table.columns, &name.value) {
                Some(after) if after >= slot => after,
                Some(after) => after + 1,
                None => return,
            }
        }
    };
    let mut order: Vec<usize> = (0..draft.table.columns.len()).collect();
    let moved = order.remove(slot);
    order.insert(to.min(order.len()), moved);
    let mut slots: Vec<usize> = (0..order.len()).collect();
    slots.sort_by_key(|&new| order.get(new));
    let column = draft.table.columns.remove(slot);
    let to = to.min(draft.table.columns.len());
    draft.table.columns.insert(to, column);
    draft.move_columns(&slots);
}

impl TableDraft {
    /// Takes a constraint out by name; `index` when only unique indexes are meant.
    pub(super) fn drop_constraint(&mut self, name: &str, index: bool) -> bool {
        let before = self.constraints.len();
        self.constraints.retain(|of| {
            let unique = matches!(
                of.constraint.kind,
                ConstraintKind::Unique { .. } | ConstraintKind::UniqueIndex { .. }
            );
            let named = of
                .constraint
                .name
                .as_ref()
                .is_some_and(|of| of.eq_ignore_ascii_case(name));
            !(named && (unique || !index))
        });
        self.constraints.len() < before
    }

    /// Takes a column out, with every constraint that speaks of it.
    fn drop_column(&mut self, slot: usize) {
        self.constraints
            .retain(|of| !of.constraint.columns().contains(&slot));
        self.table.columns.remove(slot);
        let slots: Vec<usize> = (0..=self.table.columns.len())
            .map(|old| if old > slot { old - 1 } else { old })
            .collect();
        self.move_columns(&slots);
    }

    /// Follows columns to their new positions.
    fn move_columns(&mut self, slots: &[usize]) {
        for of in &mut self.constraints {
            move_slots(&mut of.constraint.kind, slots);
        }
        for column in &mut self.table.columns {
            if let Filled::Generated(expr) = &mut column.filled {
                move_expr(expr, slots);
            }
        }
    }

    /// The table with its constraints, parents of foreign keys aside.
    fn as_table(&self) -> crate::schema::Table {
        let mut table = self.table.clone();
        table.constraints = self
            .constraints
            .iter()
            .map(|of| of.constraint.clone())
            .collect();
        table
    }
}
