//! The loader: applies statements in order and ties foreign keys together at the end.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use sqlparser::ast::{Ident, ObjectName};
use sqlparser::tokenizer::Span;

use super::parse::SyntaxError;
use super::repair::RemovedSyntax;
use super::split::{self, Statement};
use super::{LoadedSchema, Source, detect_dialect};
use crate::dialect::DialectName;
use crate::expr::{ColumnRef, Expr};
use crate::lex::{LexerRules, Position};
use crate::limitation::{Limitation, Severity, SourceLocation};
use crate::schema::{Column, Constraint, ConstraintKind, ForeignKey, Schema, Table};
use crate::syntax::{NameResolver, UnsupportedSyntax, last_part};
use crate::types::DataType;

/// Reads DDL, in order; never fails, because everything not understood is a limitation.
pub fn load(name: &str, sources: &[Source], dialect: Option<DialectName>) -> LoadedSchema {
    let (dialect, evidence) = match dialect {
        Some(dialect) => (dialect, "as asked for".to_owned()),
        None => detect_dialect::dialect(sources),
    };
    let mut loader = Loader::new(dialect);
    let mut statements = 0;
    for source in sources {
        loader.source = source.name.as_str().into();
        for statement in split::statements(&source.text, LexerRules::of(Some(dialect))) {
            statements += 1;
            loader.start = statement.start;
            if statement.runs_on {
                // Databases refuse both; the first is whole, so only the second is in doubt.
                let why = "a `;` is missing before it, so that a database refuses it";
                loader.report_statement(Severity::Unsupported, &statement, why);
            } else {
                loader.apply(&statement);
            }
        }
    }
    let (schema, limitations) = loader.finish(name);
    LoadedSchema {
        schema,
        dialect,
        evidence,
        limitations,
        statements,
    }
}

/// Everything known so far.
pub(super) struct Loader {
    pub(super) dialect: DialectName,
    pub(super) source: Arc<str>,
    pub(super) start: Position,
    pub(super) limitations: Vec<Limitation>,
    pub(super) types: FxHashMap<String, UserType>,
    drafts: Vec<Option<TableDraft>>,
    by_name: FxHashMap<String, Vec<usize>>,
}

/// A table while statements may still change it.
#[derive(Clone, Debug)]
pub(super) struct TableDraft {
    /// The table; its constraints are below until the end.
    pub(super) table: Table,
    /// Whether its name was quoted, so that its case counts.
    pub(super) quoted: bool,
    /// Its constraints.
    pub(super) constraints: Vec<DraftConstraint>,
}

impl TableDraft {
    /// A column, to add to what is said of it.
    #[expect(
        clippy::indexing_slicing,
        reason = "slots come from looking the column up in the same draft, or from adding it"
    )]
    pub(super) fn column_mut(&mut self, slot: usize) -> &mut Column {
        &mut self.table.columns[slot]
    }
}

/// A constraint whose parent table is still only a name.
#[derive(Clone, Debug)]
pub(super) struct DraftConstraint {
    /// The constraint; the parent of a foreign key is not set yet.
    pub(super) constraint: Constraint,
    /// What a foreign key refers to.
    pub(super) target: Option<ForeignKeyTarget>,
}

/// What a foreign key refers to, by name.
#[derive(Clone, Debug)]
pub(super) struct ForeignKeyTarget {
    pub(super) table: QualifiedName,
    pub(super) columns: Vec<String>,
    pub(super) input: String,
}

/// A name with the schema it lives in, when given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QualifiedName {
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    pub(super) quoted: bool,
}

/// A type that the user defined.
#[derive(Clone, Debug)]
pub(super) enum UserType {
    /// CREATE TYPE … AS ENUM.
    Enum(DataType),
    /// CREATE DOMAIN.
    Domain(Box<Domain>),
}

/// A domain: its constraints are copied to each column of its type.
#[derive(Clone, Debug)]
pub(super) struct Domain {
    pub(super) data_type: DataType,
    pub(super) declared: String,
    pub(super) default: Option<sqlparser::ast::Expr>,
    pub(super) not_null: bool,
    pub(super) checks: Vec<(Option<String>, sqlparser::ast::Expr)>,
    pub(super) location: SourceLocation,
}

impl Loader {
    fn new(dialect: DialectName) -> Self {
        Self {
            dialect,
            source: "".into(),
            start: Position {
                offset: 0,
                line: 1,
                column: 1,
            },
            limitations: Vec::new(),
            types: FxHashMap::default(),
            drafts: Vec::new(),
            by_name: FxHashMap::default(),
        }
    }

    /// Adds a table, unless there is one of the name.
    pub(super) fn add_table(&mut self, draft: TableDraft) {
        let index = self.drafts.len();
        self.by_name
            .entry(draft.table.name.to_lowercase())
            .or_default()
            .push(index);
        self.drafts.push(Some(draft));
    }

    /// The index of a table by name.
    pub(super) fn find(&self, name: &QualifiedName) -> Option<usize> {
        let candidates = self.by_name.get(&name.name.to_lowercase())?;
        let live = || {
            candidates
                .iter()
                .copied()
                .filter_map(|index| Some((index, self.draft(index)?)))
        };
        let here = |draft: &TableDraft| match (&name.namespace, &draft.table.namespace) {
            (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
            _ => true,
        };
        // An exact name first; then one that folds to it, unless both were quoted.
        live()
            .find(|(_, draft)| draft.table.name == name.name && here(draft))
            .or_else(|| {
                live().find(|(_, draft)| {
                    here(draft)
                        && !(name.quoted && draft.quoted && self.dialect == DialectName::Postgres)
                })
            })
            .map(|(index, _)| index)
    }

    /// A table by index.
    pub(super) fn draft(&self, index: usize) -> Option<&TableDraft> {
        self.drafts.get(index)?.as_ref()
    }

    /// A table by index, to change it.
    pub(super) fn draft_mut(&mut self, index: usize) -> Option<&mut TableDraft> {
        self.drafts.get_mut(index)?.as_mut()
    }

    /// Takes a table out.
    pub(super) fn remove_table(&mut self, index: usize) -> Option<TableDraft> {
        let draft = self.drafts.get_mut(index)?.take()?;
        if let Some(indices) = self.by_name.get_mut(&draft.table.name.to_lowercase()) {
            indices.retain(|&of| of != index);
        }
        Some(draft)
    }

    /// Gives a table another name.
    pub(super) fn rename_table(&mut self, index: usize, name: QualifiedName) {
        let Some(mut draft) = self.remove_table(index) else {
            return;
        };
        let old = draft.table.name.clone();
        draft.quoted = name.quoted;
        draft.table.name = name.name.clone();
        self.by_name
            .entry(name.name.to_lowercase())
            .or_default()
            .push(index);
        if let Some(place) = self.drafts.get_mut(index) {
            *place = Some(draft);
        }
        let targets = self
            .drafts
            .iter_mut()
            .flatten()
            .flat_map(|draft| &mut draft.constraints)
            .filter_map(|constraint| constraint.target.as_mut());
        for target in targets {
            if target.table.name.eq_ignore_ascii_case(&old) {
                target.table.name.clone_from(&name.name);
            }
        }
    }

    /// Every table that is still there, to change it.
    pub(super) fn drafts_mut(&mut self) -> impl Iterator<Item = &mut TableDraft> {
        self.drafts.iter_mut().flatten()
    }

    /// The place of a span of the current statement; an empty one is the statement's start.
    pub(super) fn location(&self, span: Span) -> SourceLocation {
        self.location_at(span.start.line, span.start.column)
    }

    /// The place of a line and column of the current statement.
    pub(super) fn location_at(&self, line: u64, column: u64) -> SourceLocation {
        let (line, column) = match (line, column) {
            (0, _) => (self.start.line, self.start.column),
            (1, column) => (self.start.line, self.start.column + column.max(1) - 1),
            (line, column) => (self.start.line + line - 1, column),
        };
        SourceLocation {
            source: self.source.to_string(),
            line,
            column,
        }
    }

    /// Where the current statement starts.
    pub(super) fn here(&self) -> SourceLocation {
        self.location_at(0, 0)
    }

    /// Reports something that is not in the model.
    pub(super) fn report(
        &mut self,
        severity: Severity,
        location: SourceLocation,
        input: &str,
        why: impl Into<String>,
    ) {
        self.limitations.push(Limitation {
            severity,
            location,
            input: shorten(input),
            why: why.into(),
        });
    }

    /// Reports the whole statement.
    pub(super) fn report_statement(
        &mut self,
        severity: Severity,
        statement: &Statement,
        why: &str,
    ) {
        self.report(severity, self.here(), &statement.text, why);
    }

    /// Reports text that did not parse.
    pub(super) fn report_syntax(&mut self, text: &str, error: SyntaxError) {
        let location = self.location_at(error.line, error.column);
        self.report(Severity::Syntax, location, text, error.why);
    }

    /// Reports what a repair took out.
    pub(super) fn report_removed(&mut self, removed: Vec<RemovedSyntax>) {
        for removed in removed {
            let location = self.location_at(removed.at.line, removed.at.column);
            self.report(removed.severity, location, &removed.input, removed.why);
        }
    }

    /// Reports parts of expressions that are carried as text.
    pub(super) fn report_problems(
        &mut self,
        problems: Vec<UnsupportedSyntax>,
        fallback: &SourceLocation,
    ) {
        for problem in problems {
            let location = if problem.span.start.line == 0 {
                fallback.clone()
            } else {
                self.location(problem.span)
            };
            self.report(Severity::Unsupported, location, &problem.input, problem.why);
        }
    }

    /// The names that hold inside a table.
    pub(super) fn names<'a>(&'a self, columns: &'a [Column]) -> TableNames<'a> {
        TableNames {
            columns,
            types: &self.types,
            value: None,
        }
    }

    /// Resolves foreign keys and hands everything over.
    fn finish(mut self, name: &str) -> (Schema, Vec<Limitation>) {
        let mut position = FxHashMap::default();
        for (index, _) in self.drafts.iter().enumerate().filter(|(_, d)| d.is_some()) {
            let next = position.len();
            position.insert(index, next);
        }
        let mut tables = Vec::with_capacity(position.len());
        for index in 0..self.drafts.len() {
            let Some(draft) = self.draft(index).cloned() else {
                continue;
            };
            let mut table = draft.table;
            for DraftConstraint {
                mut constraint,
                target,
            } in draft.constraints
            {
                if let (ConstraintKind::ForeignKey(key), Some(target)) =
                    (&mut constraint.kind, target)
                    && let Err(why) = self.resolve(key, &target, &position)
                {
                    let location = constraint.location;
                    self.report(Severity::Unsupported, location, &target.input, why);
                    continue;
                }
                table.constraints.push(constraint);
            }
            table.refresh();
            tables.push(Arc::new(table));
        }
        let schema = Schema {
            name: name.to_owned(),
            tables,
        };
        (schema, self.limitations)
    }

    fn resolve(
        &self,
        key: &mut ForeignKey,
        target: &ForeignKeyTarget,
        position: &FxHashMap<usize, usize>,
    ) -> Result<(), String> {
        let index = self
            .find(&target.table)
            .ok_or_else(|| format!("unknown table `{}` in REFERENCES", target.table.name))?;
        let parent = self
            .draft(index)
            .ok_or_else(|| format!("unknown table `{}` in REFERENCES", target.table.name))?;
        key.parent = *position
            .get(&index)
            .ok_or_else(|| format!("unknown table `{}` in REFERENCES", target.table.name))?;
        key.parent_columns = if target.columns.is_empty() {
            parent
                .constraints
                .iter()
                .find_map(|draft| match &draft.constraint.kind {
                    ConstraintKind::PrimaryKey { columns } => Some(columns.clone()),
                    _ => None,
                })
                .ok_or_else(|| format!("`{}` has no primary key to refer to", parent.table.name))?
        } else {
            target
                .columns
                .iter()
                .map(|column| {
                    parent
                        .table
                        .column_index(column)
                        .ok_or_else(|| format!("`{}` has no column `{column}`", parent.table.name))
                })
                .collect::<Result<_, _>>()?
        };
        if key.parent_columns.len() != key.columns.len() {
            return Err(format!(
                "{} columns cannot refer to {}",
                key.columns.len(),
                key.parent_columns.len()
            ));
        }
        Ok(())
    }
}

/// Calls `visit` on every expression of a constraint.
pub(super) fn constraint_exprs(kind: &mut ConstraintKind, visit: &mut dyn FnMut(&mut Expr)) {
    match kind {
        ConstraintKind::Check { expr } => visit(expr),
        ConstraintKind::UniqueIndex {
            keys, predicate, ..
        } => keys.iter_mut().chain(predicate).for_each(visit),
        ConstraintKind::PrimaryKey { .. }
        | ConstraintKind::NotNull { .. }
        | ConstraintKind::Unique { .. }
        | ConstraintKind::ForeignKey(_) => {}
    }
}

/// The names inside a table: its columns, and in a domain's CHECK also VALUE.
pub(super) struct TableNames<'a> {
    columns: &'a [Column],
    types: &'a FxHashMap<String, UserType>,
    /// The column that VALUE stands for.
    pub(super) value: Option<usize>,
}

impl NameResolver for TableNames<'_> {
    fn column(&self, path: &[Ident]) -> Option<ColumnRef> {
        let ident = path.last()?;
        let name = ident.value.as_str();
        let slot = match self.value {
            Some(slot) if name.eq_ignore_ascii_case("value") => slot,
            Some(_) => return None,
            None => column_index(self.columns, name)?,
        };
        let column = self.columns.get(slot)?;
        Some(ColumnRef {
            slot,
            name: column.name.clone(),
            data_type: column.data_type.clone(),
            collation: column.collation.clone(),
        })
    }

    fn user_type(&self, name: &ObjectName) -> Option<DataType> {
        match self.types.get(&last_part(name).to_lowercase())? {
            UserType::Enum(data_type) => Some(data_type.clone()),
            UserType::Domain(domain) => Some(domain.data_type.clone()),
        }
    }
}

/// The index of a column by name, first exactly, then ignoring case.
pub(super) fn column_index(columns: &[Column], name: &str) -> Option<usize> {
    columns
        .iter()
        .position(|column| column.name == name)
        .or_else(|| {
            columns
                .iter()
                .position(|column| column.name.eq_ignore_ascii_case(name))
        })
}

/// A parsed name; `public` and similar names stay, so that two schemas can hold one name.
pub(super) fn name_of(name: &ObjectName) -> QualifiedName {
    let parts: Vec<&Ident> = name.0.iter().filter_map(|part| part.as_ident()).collect();
    let last = parts.last();
    QualifiedName {
        namespace: parts.iter().nth_back(1).map(|ident| ident.value.clone()),
        name: last.map(|ident| ident.value.clone()).unwrap_or_default(),
        quoted: last.is_some_and(|ident| ident.quote_style.is_some()),
    }
}

/// A name that was cut out of the text, possibly quoted and qualified.
pub(super) fn name_from_text(text: &str) -> QualifiedName {
    let mut parts = Vec::new();
    let mut current = String::new();
    let mut quote: Option<char> = None;
    let mut quoted = false;
    for c in text.chars() {
        match quote {
            Some(end) if c == end => quote = None,
            Some(_) => current.push(c),
            None => match c {
                '"' | '`' => {
                    quote = Some(c);
                    quoted = true;
                }
                '[' => {
                    quote = Some(']');
                    quoted = true;
                }
                '.' => {
                    parts.push(std::mem::take(&mut current));
                    quoted = false;
                }
                c => current.push(c),
            },
        }
    }
    QualifiedName {
        namespace: parts.pop(),
        name: current,
        quoted,
    }
}

/// One line of at most some eighty characters.
pub(super) fn shorten(text: &str) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        if count > 0 {
            line.push(' ');
            count += 1;
        }
        for c in word.chars() {
            if count >= 80 {
                line.push('…');
                return line;
            }
            line.push(c);
            count += 1;
        }
    }
    line
}
