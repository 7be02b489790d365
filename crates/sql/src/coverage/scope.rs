//! Which table a column belongs to, and what is known of it.

use sqlparser::ast::{Cte, Expr, Ident, Query, Select, SelectItem};
use sqlparser::keywords::ALL_KEYWORDS;
use sqlparser::tokenizer::Location;

use super::error::TargetError;
use super::expr_parts::ColumnMention;
use super::relation;
use super::select_block::JoinPart;
use super::value_class::ValueClass;
use crate::dialect::{Dialect, DialectName};
use crate::schema::Schema;

/// What the whole work on one query shares.
#[derive(Clone, Copy)]
pub(super) struct CoverageContext<'a> {
    pub(super) schema: &'a Schema,
    pub(super) dialect: &'a dyn Dialect,
}

/// What is known of one column of a relation.
#[derive(Clone, Debug)]
pub(super) struct RelationColumn {
    pub(super) name: String,
    pub(super) nullable: bool,
    pub(super) class: ValueClass,
}

/// A table, view, derived table or CTE in FROM.
#[derive(Clone, Debug)]
pub(super) struct FromRelation {
    /// Its alias or name.
    pub(super) name: String,
    /// The same, quoted as the query quotes it.
    pub(super) written: Ident,
    /// Its columns; `None` when they cannot be known (a table function).
    pub(super) columns: Option<Vec<RelationColumn>>,
    /// Whether an outer join may leave it without a row.
    pub(super) outer: bool,
}

/// The common table expressions in reach, innermost last.
#[derive(Clone, Debug, Default)]
pub(super) struct Ctes(Vec<(String, Option<Vec<RelationColumn>>)>);

/// The relations of one SELECT, inside those of the queries around it.
pub(super) struct Scope<'p> {
    pub(super) relations: Vec<FromRelation>,
    pub(super) around: Option<&'p Scope<'p>>,
    /// Columns merged by USING or NATURAL, which are not ambiguous.
    pub(super) merged: Vec<String>,
    /// Names that the select list gives.
    pub(super) aliases: Vec<(String, Expr)>,
    dialect: DialectName,
}

/// Which column a mention means: how many queries outwards, which relation, which name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ColumnId {
    pub(super) depth: usize,
    pub(super) relation: usize,
    pub(super) name: String,
}

/// A column that was found.
#[derive(Clone, Debug)]
pub(super) struct ResolvedColumn {
    pub(super) id: ColumnId,
    /// Declared nullable.
    pub(super) nullable: bool,
    /// May be NULL because its table has no row.
    pub(super) outer: bool,
    pub(super) class: ValueClass,
}

impl<'p> Scope<'p> {
    /// The scope of a SELECT with these relations.
    pub(super) fn new(world: CoverageContext<'_>, around: Option<&'p Scope<'p>>) -> Self {
        Self {
            relations: Vec::new(),
            around,
            merged: Vec::new(),
            aliases: Vec::new(),
            dialect: world.dialect.name(),
        }
    }

    /// Finds the column that a mention means; `None` for words that are no column (a whole row, a
    /// name given in the select list).
    pub(super) fn resolve(
        &self,
        mention: &ColumnMention,
    ) -> Result<Option<ResolvedColumn>, TargetError> {
        let mut scope = Some(self);
        let mut depth = 0;
        while let Some(at) = scope {
            match at.lookup(&mention.path, depth)? {
                Lookup::Column(found) => return Ok(Some(found)),
                Lookup::NoColumn => return Ok(None),
                Lookup::Nothing => {}
            }
            scope = at.around;
            depth += 1;
        }
        let Some(name) = mention.path.last() else {
            return Ok(None);
        };
        // SQLite takes a quoted name that is no column for a string.
        if self.dialect == DialectName::Sqlite && name.quote_style == Some('"') {
            return Ok(None);
        }
        let written: Vec<String> = mention.path.iter().map(|part| part.value.clone()).collect();
        let at = start(&mention.path);
        Err(TargetError::UnknownColumn {
            name: written.join("."),
            line: at.line,
            column: at.column,
        })
    }

    fn lookup(&self, path: &[Ident], depth: usize) -> Result<Lookup, TargetError> {
        let (qualifier, name) = match path {
            [.., qualifier, name] => (Some(qualifier), name),
            [name] => (None, name),
            [] => return Ok(Lookup::NoColumn),
        };
        let mut hits = Vec::new();
        let mut unknown = false;
        for (index, relation) in self.relations.iter().enumerate() {
            if qualifier.is_some_and(|of| !of.value.eq_ignore_ascii_case(&relation.name)) {
                continue;
            }
            match relation.column(&name.value, self.dialect) {
                Some(column) => hits.push((index, column)),
                None => unknown |= relation.columns.is_none(),
            }
        }
        let merged = self
            .merged
            .iter()
            .any(|of| of.eq_ignore_ascii_case(&name.value));
        if hits.len() > 1 && !merged {
            // A name of the select list wins in GROUP BY, HAVING and ORDER BY.
            if qualifier.is_none() && self.alias(&name.value).is_some() {
                return Ok(Lookup::NoColumn);
            }
            return Err(TargetError::AmbiguousColumn {
                name: name.value.clone(),
                between: hits
                    .iter()
                    .filter_map(|&(idx, _)| Some(self.relations.get(idx)?.name.clone()))
                    .collect(),
                line: start(path).line,
                column: start(path).column,
            });
        }
        if let Some((relation, column)) = hits.into_iter().next() {
            return Ok(Lookup::Column(ResolvedColumn {
                id: ColumnId {
                    depth,
                    relation,
                    name: name.value.to_ascii_lowercase(),
                },
                nullable: column.nullable,
                outer: self.relations.get(relation).is_some_and(|of| of.outer),
                class: column.class,
            }));
        }
        let whole_row = qualifier.is_none()
            && self
                .relations
                .iter()
                .any(|of| of.name.eq_ignore_ascii_case(&name.value));
        if unknown || whole_row || qualifier.is_none() && self.alias(&name.value).is_some() {
            return Ok(Lookup::NoColumn);
        }
        Ok(Lookup::Nothing)
    }

    /// A name as an identifier, quoted where it has to be.
    pub(super) fn ident(&self, name: &str) -> Ident {
        let plain = name.starts_with(|ch: char| ch.is_ascii_lowercase() || ch == '_')
            && name
                .chars()
                .all(|ch| ch.is_ascii_lowercase() || ch.is_ascii_digit() || ch == '_');
        let keyword = name.to_ascii_uppercase();
        if plain && ALL_KEYWORDS.binary_search(&keyword.as_str()).is_err() {
            return Ident::new(name);
        }
        let quote = match self.dialect {
            DialectName::MySql => '`',
            DialectName::Ansi | DialectName::Postgres | DialectName::Sqlite => '"',
        };
        Ident::with_quote(quote, name)
    }

    /// The expression that the select list gives a name.
    pub(super) fn alias(&self, name: &str) -> Option<&Expr> {
        self.aliases
            .iter()
            .find(|(of, _)| of.eq_ignore_ascii_case(name))
            .map(|(_, expr)| expr)
    }
}

enum Lookup {
    Column(ResolvedColumn),
    NoColumn,
    Nothing,
}

impl FromRelation {
    /// A column by name, the hidden ones included.
    fn column(&self, name: &str, dialect: DialectName) -> Option<RelationColumn> {
        let columns = self.columns.as_ref()?;
        let declared = columns
            .iter()
            .find(|column| column.name.eq_ignore_ascii_case(name));
        let hidden = || {
            let hidden: &[&str] = match dialect {
                DialectName::Sqlite => &["rowid", "oid", "_rowid_"],
                DialectName::Postgres => &["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"],
                DialectName::Ansi | DialectName::MySql => &[],
            };
            hidden
                .iter()
                .any(|of| of.eq_ignore_ascii_case(name))
                .then(|| RelationColumn {
                    name: name.to_owned(),
                    nullable: false,
                    class: ValueClass::Other,
                })
        };
        declared.cloned().or_else(hidden)
    }
}

impl Ctes {
    /// The columns of a CTE, when there is one of that name.
    pub(super) fn get(&self, name: &str) -> Option<&Option<Vec<RelationColumn>>> {
        self.0
            .iter()
            .rev()
            .find(|(of, _)| of.eq_ignore_ascii_case(name))
            .map(|(_, columns)| columns)
    }

    /// The same with the CTEs of a query added, in order.
    pub(super) fn with(
        &self,
        world: CoverageContext<'_>,
        query: &Query,
        around: Option<&Scope<'_>>,
    ) -> Result<Self, TargetError> {
        let mut ctes = self.clone();
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            let recursive = query.with.as_ref().is_some_and(|with| with.recursive);
            ctes.add(world, cte, recursive, around)?;
        }
        Ok(ctes)
    }

    /// Adds one CTE.
    pub(super) fn add(
        &mut self,
        world: CoverageContext<'_>,
        cte: &Cte,
        recursive: bool,
        around: Option<&Scope<'_>>,
    ) -> Result<(), TargetError> {
        let name = cte.alias.name.value.clone();
        let columns = if recursive {
            // The part that does not refer to itself gives the columns; NULL may come later.
            let columns =
                relation::output(world, relation::first_select(&cte.query), self, around)?;
            relation::renamed(columns, &cte.alias).map(|columns| {
                let nullable = |column| RelationColumn {
                    nullable: true,
                    ..column
                };
                columns.into_iter().map(nullable).collect()
            })
        } else {
            let ctes = self.with(world, &cte.query, around)?;
            relation::renamed(
                relation::output(world, &cte.query.body, &ctes, around)?,
                &cte.alias,
            )
        };
        self.0.push((name, columns));
        Ok(())
    }
}

impl FromRelation {
    /// The columns as a query around sees them.
    pub(super) fn visible(&self) -> Option<Vec<RelationColumn>> {
        let columns = self.columns.as_ref()?;
        let column = |column: &RelationColumn| RelationColumn {
            nullable: column.nullable || self.outer,
            ..column.clone()
        };
        Some(columns.iter().map(column).collect())
    }
}

/// Where a name with its qualifiers starts.
fn start(path: &[Ident]) -> Location {
    path.first()
        .map_or(Location::empty(), |name| name.span.start)
}

/// The names that a select list gives.
pub(super) fn aliases(select: &Select) -> Vec<(String, Expr)> {
    select
        .projection
        .iter()
        .filter_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } => Some((alias.value.clone(), expr.clone())),
            _ => None,
        })
        .collect()
}

/// The relations that a join brings, for the rules of joins.
pub(super) fn part_names(part: &JoinPart, scope: &Scope<'_>) -> String {
    let names: Vec<&str> = part
        .relations
        .clone()
        .filter_map(|index| scope.relations.get(index))
        .map(|relation| relation.name.as_str())
        .collect();
    names.join(", ")
}
