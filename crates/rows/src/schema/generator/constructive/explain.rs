//! Proof texts: which requirements and constraints contradict each other.

use isobath_sql::schema::ConstraintKind;
use isobath_sql::{Dialect, Expr, Schema, render};

use super::problem::{CellProblem, LAST_SOURCE, ReasonOrigin, Reasons};
use crate::schema::predicate::{MatchMode, Predicate, RequiredTruth, RowMatch};

/// The sentence for a conflict.
pub(super) fn sentence(problem: &CellProblem<'_>, schema: &Schema, why: Reasons) -> String {
    let writer = ProofWriter {
        schema,
        table: problem.rows[problem.subject].table,
        dialect: problem.dialect,
    };
    let mut facts: Vec<String> = Vec::new();
    for (index, source) in problem.sources.iter().enumerate() {
        let bit = u32::try_from(index).unwrap_or(LAST_SOURCE).min(LAST_SOURCE);
        if why & (1 << bit) == 0 || (bit == LAST_SOURCE && index > LAST_SOURCE as usize) {
            continue;
        }
        let fact = match source {
            _ if bit == LAST_SOURCE => "further constraints of the tables".to_owned(),
            ReasonOrigin::Part(part) => writer.predicate(part),
            ReasonOrigin::Type(cell) => {
                let plan = &problem.cells[*cell];
                format!(
                    "`{}.{}` has type {}",
                    problem.rows[plan.row].definition.name,
                    plan.definition.name,
                    plan.definition.declared
                )
            }
            ReasonOrigin::Constraint { table, constraint } => writer.rule(*table, *constraint),
        };
        if !facts.contains(&fact) {
            facts.push(fact);
        }
    }
    match facts.as_slice() {
        [] => "no row satisfies the requirement".to_owned(),
        [one] => format!("no row satisfies: {one}"),
        many => format!("no row satisfies all of: {}", many.join("; ")),
    }
}

struct ProofWriter<'s> {
    schema: &'s Schema,
    table: usize,
    dialect: &'static dyn Dialect,
}

impl ProofWriter<'_> {
    /// `table.column` of the row under test.
    fn column(&self, column: usize) -> String {
        let table = &self.schema.tables[self.table];
        let column = table.columns.get(column);
        let column = column.map_or("?", |column| &column.name);
        format!("{}.{column}", table.name)
    }

    fn predicate(&self, predicate: &Predicate) -> String {
        match predicate {
            Predicate::And(parts) => self.joined(parts, " and "),
            Predicate::Or(parts) => self.joined(parts, " or "),
            Predicate::Null { column, is_null } => {
                let column = self.column(*column);
                if *is_null {
                    format!("`{column}` is NULL")
                } else {
                    format!("`{column}` is not NULL")
                }
            }
            Predicate::Expr { expr, wanted } => {
                let expr = self.qualified(expr);
                match wanted {
                    RequiredTruth::True => format!("`{expr}` is true"),
                    RequiredTruth::False => format!("`{expr}` is false"),
                    RequiredTruth::Unknown => format!("`{expr}` is unknown"),
                    RequiredTruth::NotFalse => format!("`{expr}` is not false"),
                }
            }
            Predicate::Match(wanted) => self.matching(wanted),
            Predicate::Duplicate { duplicate, .. } => {
                let verb = if *duplicate {
                    "repeats"
                } else {
                    "does not repeat"
                };
                format!(
                    "the row {verb} a key of a unique index of `{}`",
                    self.schema.tables[self.table].name
                )
            }
            Predicate::Fits { column, fits, .. } => {
                let verb = if *fits { "fits" } else { "does not fit" };
                format!("the value of `{}` {verb} its type", self.column(*column))
            }
        }
    }

    fn joined(&self, parts: &[Predicate], word: &str) -> String {
        let parts: Vec<String> = parts.iter().map(|part| self.predicate(part)).collect();
        format!("({})", parts.join(word))
    }

    fn matching(&self, wanted: &RowMatch) -> String {
        let names = |pairs: &[(usize, usize)]| {
            let names: Vec<String> = pairs
                .iter()
                .map(|(own, _)| format!("`{}`", self.column(*own)))
                .collect();
            let joint = if wanted.mode == MatchMode::All {
                ", "
            } else {
                " or "
            };
            names.join(joint)
        };
        let with = &self.schema.tables[wanted.with].name;
        match (wanted.equal.is_empty(), wanted.differ.is_empty()) {
            (true, _) => format!(
                "{} differs from every row of `{with}`",
                names(&wanted.differ)
            ),
            (false, true) => format!("{} matches a row of `{with}`", names(&wanted.equal)),
            (false, false) => format!(
                "{} matches a row of `{with}` that differs in {}",
                names(&wanted.equal),
                names(&wanted.differ)
            ),
        }
    }

    fn rule(&self, table: usize, constraint: usize) -> String {
        let definition = &self.schema.tables[table];
        let name = &definition.name;
        let columns = |columns: &[usize]| {
            let names = columns
                .iter()
                .map(|column| definition.columns[*column].name.as_str());
            names.collect::<Vec<_>>().join(", ")
        };
        match &definition.constraints[constraint].kind {
            ConstraintKind::Check { expr } => {
                format!("CHECK ({}) of `{name}`", self.expr(expr))
            }
            ConstraintKind::PrimaryKey { columns: of } => {
                format!("PRIMARY KEY ({}) of `{name}`", columns(of))
            }
            ConstraintKind::Unique { columns: of, .. } => {
                format!("UNIQUE ({}) of `{name}`", columns(of))
            }
            ConstraintKind::ForeignKey(key) => {
                format!("FOREIGN KEY ({}) of `{name}`", columns(&key.columns))
            }
            ConstraintKind::NotNull { column } => {
                format!("`{name}.{}` is NOT NULL", definition.columns[*column].name)
            }
            ConstraintKind::UniqueIndex { .. } => format!("a unique index of `{name}`"),
        }
    }

    /// An expression over the row under test, its columns with their table.
    fn qualified(&self, expr: &Expr) -> String {
        let mut expr = expr.clone();
        expr.walk_mut(&mut |part| {
            if let Expr::Column(column) = part {
                column.name = self.column(column.slot);
            }
        });
        render::phrase(&expr)
    }

    fn expr(&self, expr: &Expr) -> String {
        render::expression(expr, self.dialect.name())
    }
}
