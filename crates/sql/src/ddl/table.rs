//! CREATE TABLE.

use sqlparser::ast::{
    ColumnDef, ColumnOption, CreateTable, CreateTableLikeKind, DataType as AstType,
    Expr as AstExpr, GeneratedAs, Spanned, Statement as Ast,
};

use super::load::{
    Domain, DraftConstraint, Loader, QualifiedName, TableDraft, UserType, column_index,
    constraint_exprs, name_from_text, name_of,
};
use super::repair::{self, LikeClause, TableText};
use super::split::Statement;
use super::{constraints, parse};
use crate::dialect::DialectName;
use crate::expr::Expr;
use crate::limitation::{Severity, SourceLocation};
use crate::schema::{Column, Constraint, ConstraintKind, Deferrable, Filled, Table};
use crate::syntax::{ExprConverter, data_type, last_part};

impl Loader {
    /// Applies a CREATE TABLE.
    pub(super) fn create_table(&mut self, statement: &Statement) {
        let mut repaired = repair::create_table(&statement.text, self.dialect);
        let removed = std::mem::take(&mut repaired.removed);
        self.report_removed(removed);
        let Some(create) = self.parse_table(statement, &mut repaired) else {
            return;
        };
        let name = name_of(&create.name);
        if let Some(existing) = self.find(&name) {
            return self.defined_twice(statement, &create, existing);
        }
        if create.partition_of.is_some() {
            return self.report_statement(
                Severity::Unsupported,
                statement,
                "a partition is not a table of its own in the model",
            );
        }
        let mut draft = TableDraft {
            table: Table {
                name: name.name.clone(),
                namespace: name.namespace.clone(),
                columns: Vec::new(),
                constraints: Vec::new(),
                strict: repaired.strict || create.strict,
                without_rowid: repaired.without_rowid || create.without_rowid,
                location: self.location(create.name.span()),
            },
            quoted: name.quoted,
            constraints: Vec::new(),
        };
        self.inherit(&repaired, &mut draft);
        if let Some(CreateTableLikeKind::Plain(like) | CreateTableLikeKind::Parenthesized(like)) =
            &create.like
        {
            self.copy_like(&everything_like(&like.name.to_string()), &mut draft, 0);
        }
        let inherited = draft.table.columns.len();
        let own = self.own_columns_of(&create, &repaired, &mut draft, inherited);
        let before = draft.constraints.len();
        for (def, slot) in own {
            self.column_options(def, slot, &mut draft);
        }
        for constraint in &create.constraints {
            let found = self.table_constraint(constraint, &draft.table.columns);
            if let Some(found) = found {
                self.add_constraint(&mut draft, found);
            }
        }
        // Column and table constraints come apart in the syntax tree; the source's order counts.
        let own = draft.constraints.get_mut(before..).unwrap_or_default();
        own.sort_by(|a, b| {
            let at = |draft: &DraftConstraint| {
                (
                    draft.constraint.location.line,
                    draft.constraint.location.column,
                )
            };
            at(a).cmp(&at(b))
        });
        if repaired.counter {
            mark_counter(&mut draft);
        }
        if draft.table.columns.is_empty() {
            let why = if create.query.is_some() {
                "columns that come from a query are not in the model"
            } else {
                "a table without columns holds nothing to test"
            };
            return self.report_statement(Severity::Unsupported, statement, why);
        }
        self.add_table(draft);
    }

    /// Parses, giving up constraints that the parser refuses rather than the table.
    fn parse_table(
        &mut self,
        statement: &Statement,
        repaired: &mut TableText,
    ) -> Option<CreateTable> {
        // One try per constraint is enough: each failure takes one away.
        for _ in 0..=repaired.constraints.len().min(20) {
            let error = match parse::statement(&repaired.text, self.dialect) {
                Ok(Ast::CreateTable(create)) => return Some(create),
                Ok(_) => {
                    self.report_statement(Severity::Syntax, statement, "it is no table");
                    return None;
                }
                Err(error) => error,
            };
            let at = offset_of(&repaired.text, error.line, error.column);
            let culprit = repaired
                .constraints
                .iter()
                .map(|characters| repair::bytes(&repaired.text, characters))
                .position(|range| range.start <= at && at <= range.end);
            let input = match culprit {
                Some(index) => {
                    let characters = repaired.constraints.remove(index);
                    let range = repair::bytes(&repaired.text, &characters);
                    let input = repaired
                        .text
                        .get(range.clone())
                        .unwrap_or_default()
                        .to_owned();
                    repaired.text = repair::without(&repaired.text, &range);
                    input
                }
                None => statement.text.clone(),
            };
            self.report_syntax(&input, error);
            culprit?;
        }
        None
    }

    fn defined_twice(&mut self, statement: &Statement, create: &CreateTable, existing: usize) {
        let name = name_of(&create.name).name;
        if create.if_not_exists {
            return self.report_statement(Severity::Ignored, statement, "the table already exists");
        }
        let first = self
            .draft(existing)
            .map(|draft| draft.table.location.to_string())
            .unwrap_or_default();
        let why = format!("table `{name}` is already defined in {first}; that definition is used");
        self.report_statement(Severity::Unsupported, statement, &why);
    }

    /// Creates the columns of the table itself, and copies those of LIKE between them.
    fn own_columns_of<'a>(
        &mut self,
        create: &'a CreateTable,
        repaired: &TableText,
        draft: &mut TableDraft,
        inherited: usize,
    ) -> Vec<(&'a ColumnDef, usize)> {
        let mut own = Vec::new();
        let mut likes = repaired.likes.iter().peekable();
        for (index, def) in create.columns.iter().enumerate() {
            while let Some(like) = likes.next_if(|like| like.columns_before <= index) {
                let at = draft.table.columns.len();
                self.copy_like(like, draft, at);
            }
            let existing = draft
                .table
                .columns
                .iter()
                .position(|column| same_column(self.dialect, column, def));
            match existing {
                // A column that is also inherited is merged with it.
                Some(slot) if slot < inherited => own.push((def, slot)),
                Some(_) => {
                    let location = self.location(def.name.span);
                    let why = format!("column `{}` is defined twice", def.name.value);
                    self.report(Severity::Unsupported, location, &def.to_string(), why);
                }
                None => {
                    let column = self.column(def);
                    own.push((def, draft.table.columns.len()));
                    draft.table.columns.push(column);
                }
            }
        }
        for like in likes {
            let at = draft.table.columns.len();
            self.copy_like(like, draft, at);
        }
        own
    }

    /// A column without its options.
    pub(super) fn column(&self, def: &ColumnDef) -> Column {
        let names = self.names(&[]);
        let user = |name: &_| crate::syntax::NameResolver::user_type(&names, name);
        let declared = match self.domain(&def.data_type) {
            Some(domain) => domain.declared.clone(),
            None => def.data_type.to_string(),
        };
        Column {
            name: def.name.value.clone(),
            data_type: data_type(&def.data_type, self.dialect, &user),
            declared,
            default: None,
            filled: Filled::No,
            collation: None,
        }
    }

    fn domain(&self, ast: &AstType) -> Option<&Domain> {
        let AstType::Custom(name, _) = ast else {
            return None;
        };
        match self.types.get(&last_part(name).to_lowercase())? {
            UserType::Domain(domain) => Some(domain.as_ref()),
            UserType::Enum(_) => None,
        }
    }

    /// Applies what stands behind the type of a column.
    pub(super) fn column_options(&mut self, def: &ColumnDef, slot: usize, draft: &mut TableDraft) {
        let mut location = self.location(def.name.span);
        if let Some(domain) = self.domain(&def.data_type).cloned() {
            self.apply_domain(&domain, slot, &location, draft);
        }
        if is_serial(&def.data_type) {
            draft.column_mut(slot).filled = Filled::Counter;
            self.not_null(draft, slot, None, &location);
            if self.dialect == DialectName::MySql {
                let kind = ConstraintKind::Unique {
                    columns: vec![slot],
                    nulls_distinct: true,
                };
                self.add_constraint(draft, plain(None, kind, Deferrable::No, &location));
            }
        }
        for option in &def.options {
            // An option without a place of its own stands behind the one before it.
            let span = option.span();
            if span.start.line > 0 {
                let own = self.location(span);
                if (own.line, own.column) > (location.line, location.column) {
                    location = own;
                }
            }
            let name = option.name.as_ref().map(|ident| ident.value.clone());
            self.column_option(&option.option, name, slot, &location, draft);
        }
    }

    pub(super) fn column_option(
        &mut self,
        option: &ColumnOption,
        name: Option<String>,
        slot: usize,
        location: &SourceLocation,
        draft: &mut TableDraft,
    ) {
        match option {
            ColumnOption::NotNull => self.not_null(draft, slot, name, location),
            ColumnOption::Default(ast) => {
                if is_nextval(ast) {
                    draft.column_mut(slot).filled = Filled::Counter;
                } else {
                    let expr = self.expr(ast, &[], location);
                    draft.column_mut(slot).default = Some(expr);
                }
            }
            ColumnOption::PrimaryKey(key) => {
                let kind = ConstraintKind::PrimaryKey {
                    columns: vec![slot],
                };
                let deferrable = constraints::deferrable(key.characteristics);
                self.add_constraint(draft, plain(name, kind, deferrable, location));
            }
            ColumnOption::Unique(key) => {
                let kind = ConstraintKind::Unique {
                    columns: vec![slot],
                    nulls_distinct: true,
                };
                let deferrable = constraints::deferrable(key.characteristics);
                self.add_constraint(draft, plain(name, kind, deferrable, location));
            }
            ColumnOption::ForeignKey(key) => {
                let mut found = self.foreign_key(key, vec![slot], location.clone());
                found.constraint.name = name;
                self.add_constraint(draft, found);
            }
            ColumnOption::Check(check) => {
                let kind = self.check(check, &draft.table.columns, location);
                if let Some(kind) = kind {
                    self.add_constraint(draft, plain(name, kind, Deferrable::No, location));
                }
            }
            ColumnOption::Generated {
                generated_as,
                generation_expr,
                ..
            } => {
                let filled = match (generation_expr, generated_as) {
                    (Some(ast), _) => {
                        Filled::Generated(self.expr(ast, &draft.table.columns, location))
                    }
                    (None, GeneratedAs::Always) => Filled::CounterAlways,
                    (None, GeneratedAs::ByDefault | GeneratedAs::ExpStored) => Filled::Counter,
                };
                if generation_expr.is_none() {
                    self.not_null(draft, slot, None, location);
                }
                draft.column_mut(slot).filled = filled;
            }
            ColumnOption::Identity(_) => {
                draft.column_mut(slot).filled = Filled::Counter;
                self.not_null(draft, slot, None, location);
            }
            ColumnOption::DialectSpecific(tokens) => {
                let counts = tokens.iter().any(|token| {
                    let word = token.to_string();
                    word.eq_ignore_ascii_case("AUTO_INCREMENT")
                        || word.eq_ignore_ascii_case("AUTOINCREMENT")
                });
                if counts {
                    draft.column_mut(slot).filled = Filled::Counter;
                }
            }
            ColumnOption::Collation(collation) => {
                draft.column_mut(slot).collation = Some(last_part(collation));
            }
            // None of these refuses a row.
            ColumnOption::Null
            | ColumnOption::Comment(_)
            | ColumnOption::CharacterSet(_)
            | ColumnOption::OnUpdate(_)
            | ColumnOption::Options(_)
            | ColumnOption::OnConflict(_)
            | ColumnOption::Policy(_)
            | ColumnOption::Tags(_)
            | ColumnOption::Srid(_)
            | ColumnOption::Invisible => {}
            ColumnOption::Materialized(_) | ColumnOption::Ephemeral(_) | ColumnOption::Alias(_) => {
                self.report(
                    Severity::Unsupported,
                    location.clone(),
                    &option.to_string(),
                    "no dialect we know has this",
                );
            }
        }
    }

    fn apply_domain(
        &mut self,
        domain: &Domain,
        slot: usize,
        location: &SourceLocation,
        draft: &mut TableDraft,
    ) {
        if domain.not_null {
            self.not_null(draft, slot, None, location);
        }
        if let Some(default) = &domain.default {
            let expr = self.expr(default, &[], &domain.location);
            draft.column_mut(slot).default = Some(expr);
        }
        for (name, check) in &domain.checks {
            let mut names = self.names(&draft.table.columns);
            names.value = Some(slot);
            let mut converter = ExprConverter::new(&names, self.dialect);
            let expr = converter.expr(check);
            let problems = converter.problems;
            self.report_problems(problems, &domain.location);
            let kind = ConstraintKind::Check { expr };
            self.add_constraint(draft, plain(name.clone(), kind, Deferrable::No, location));
        }
    }

    /// NOT NULL, once per column.
    pub(super) fn not_null(
        &mut self,
        draft: &mut TableDraft,
        slot: usize,
        name: Option<String>,
        location: &SourceLocation,
    ) {
        let same = draft.constraints.iter_mut().find(
            |of| matches!(of.constraint.kind, ConstraintKind::NotNull { column } if column == slot),
        );
        match same {
            Some(same) => {
                if same.constraint.name.is_none() {
                    same.constraint.name = name;
                }
            }
            None => draft.constraints.push(plain(
                name,
                ConstraintKind::NotNull { column: slot },
                Deferrable::No,
                location,
            )),
        }
    }

    /// Adds a constraint, unless it is a second primary key.
    pub(super) fn add_constraint(&mut self, draft: &mut TableDraft, constraint: DraftConstraint) {
        let is_key =
            |of: &DraftConstraint| matches!(of.constraint.kind, ConstraintKind::PrimaryKey { .. });
        if is_key(&constraint) && draft.constraints.iter().any(is_key) {
            let why = format!("table `{}` already has a primary key", draft.table.name);
            let location = constraint.constraint.location;
            self.report(Severity::Unsupported, location, "PRIMARY KEY", why);
            return;
        }
        draft.constraints.push(constraint);
    }

    /// INHERITS: the columns, NOT NULLs and CHECKs of the parents.
    fn inherit(&mut self, repaired: &TableText, draft: &mut TableDraft) {
        for parent in &repaired.inherits {
            let name = name_from_text(parent);
            let like = LikeClause {
                name: parent.clone(),
                columns_before: 0,
                checks: true,
                indexes: false,
                defaults: true,
            };
            if self.find(&name).is_none() {
                let why = format!("unknown table `{}` in INHERITS", name.name);
                self.report(Severity::Unsupported, self.here(), &draft.table.name, why);
                continue;
            }
            let at = draft.table.columns.len();
            self.copy_like(&like, draft, at);
        }
    }

    /// Copies columns of another table, and its constraints as far as asked for.
    fn copy_like(&mut self, like: &LikeClause, draft: &mut TableDraft, at: usize) {
        let name: QualifiedName = name_from_text(&like.name);
        let Some(other) = self
            .find(&name)
            .and_then(|index| self.draft(index))
            .cloned()
        else {
            let why = format!("unknown table `{}` in LIKE", name.name);
            return self.report(Severity::Unsupported, self.here(), &like.name, why);
        };
        let mut slots = Vec::with_capacity(other.table.columns.len());
        for column in &other.table.columns {
            let existing = column_index(&draft.table.columns, &column.name);
            slots.push(existing.unwrap_or(draft.table.columns.len()));
            if existing.is_none() {
                let mut column = column.clone();
                if !like.defaults {
                    column.default = None;
                    column.filled = Filled::No;
                }
                draft.table.columns.push(column);
            }
        }
        debug_assert!(at <= draft.table.columns.len());
        for of in &other.constraints {
            let copied = match of.constraint.kind {
                ConstraintKind::NotNull { .. } => true,
                ConstraintKind::Check { .. } => like.checks,
                ConstraintKind::PrimaryKey { .. }
                | ConstraintKind::Unique { .. }
                | ConstraintKind::UniqueIndex { .. } => like.indexes,
                ConstraintKind::ForeignKey(_) => false,
            };
            if !copied {
                continue;
            }
            let mut copy = of.clone();
            // Names of keys are those of indexes, which are unique in a schema.
            if like.indexes && !matches!(copy.constraint.kind, ConstraintKind::Check { .. }) {
                copy.constraint.name = None;
            }
            move_slots(&mut copy.constraint.kind, &slots);
            let double = match copy.constraint.kind {
                ConstraintKind::NotNull { column } => draft.constraints.iter().any(|of| {
                    matches!(of.constraint.kind, ConstraintKind::NotNull { column: c } if c == column)
                }),
                _ => false,
            };
            if !double {
                self.add_constraint(draft, copy);
            }
        }
    }
}

fn everything_like(name: &str) -> LikeClause {
    LikeClause {
        name: name.to_owned(),
        columns_before: 0,
        checks: true,
        indexes: true,
        defaults: true,
    }
}

/// Puts a constraint onto other columns.
pub(super) fn move_slots(kind: &mut ConstraintKind, slots: &[usize]) {
    let moved = |column: &mut usize| *column = new_slot(slots, *column);
    match kind {
        ConstraintKind::PrimaryKey { columns } | ConstraintKind::Unique { columns, .. } => {
            columns.iter_mut().for_each(moved);
        }
        ConstraintKind::NotNull { column } => moved(column),
        ConstraintKind::ForeignKey(key) => key.columns.iter_mut().for_each(moved),
        ConstraintKind::Check { .. } | ConstraintKind::UniqueIndex { .. } => {
            constraint_exprs(kind, &mut |expr| move_expr(expr, slots));
        }
    }
}

/// Where a column is now; one that did not move is where it was.
fn new_slot(slots: &[usize], column: usize) -> usize {
    slots.get(column).copied().unwrap_or(column)
}

/// Puts an expression onto other columns.
pub(super) fn move_expr(expr: &mut Expr, slots: &[usize]) {
    let moved = |column: &mut usize| *column = new_slot(slots, *column);
    expr.walk_mut(&mut |expr| match expr {
        Expr::Column(column) => column.slot = new_slot(slots, column.slot),
        Expr::Opaque { columns, .. } => {
            columns.iter_mut().for_each(moved);
        }
        _ => {}
    });
}

fn plain(
    name: Option<String>,
    kind: ConstraintKind,
    deferrable: Deferrable,
    location: &SourceLocation,
) -> DraftConstraint {
    DraftConstraint {
        constraint: Constraint {
            name,
            kind,
            deferrable,
            location: location.clone(),
        },
        target: None,
    }
}

fn same_column(dialect: DialectName, column: &Column, def: &ColumnDef) -> bool {
    let exact = dialect == DialectName::Postgres && def.name.quote_style.is_some();
    if exact {
        column.name == def.name.value
    } else {
        column.name.eq_ignore_ascii_case(&def.name.value)
    }
}

/// SQLite's `PRIMARY KEY (id AUTOINCREMENT)`.
fn mark_counter(draft: &mut TableDraft) {
    let key = draft
        .constraints
        .iter()
        .find_map(|of| match &of.constraint.kind {
            ConstraintKind::PrimaryKey { columns } => columns.first().copied(),
            _ => None,
        });
    if let Some(column) = key.and_then(|slot| draft.table.columns.get_mut(slot)) {
        column.filled = Filled::Counter;
    }
}

fn is_serial(ast: &AstType) -> bool {
    let AstType::Custom(name, _) = ast else {
        return false;
    };
    matches!(
        last_part(name).to_ascii_lowercase().as_str(),
        "serial" | "serial2" | "serial4" | "serial8" | "bigserial" | "smallserial"
    )
}

/// `nextval('…')`, whatever it is cast to: a counter.
pub(super) fn is_nextval(ast: &AstExpr) -> bool {
    match ast {
        AstExpr::Nested(inner) | AstExpr::Cast { expr: inner, .. } => is_nextval(inner),
        AstExpr::Function(function) => last_part(&function.name).eq_ignore_ascii_case("nextval"),
        _ => false,
    }
}

/// The byte at a line and column of a text.
fn offset_of(text: &str, line: u64, column: u64) -> usize {
    let mut rest = text;
    for _ in 1..line {
        let Some((_, after)) = rest.split_once('\n') else {
            return text.len();
        };
        rest = after;
    }
    let before = text.len() - rest.len();
    rest.char_indices()
        .nth(usize::try_from(column.saturating_sub(1)).unwrap_or(usize::MAX))
        .map_or(text.len(), |(offset, _)| before + offset)
}
