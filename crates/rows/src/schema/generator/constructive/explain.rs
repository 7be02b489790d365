//! Proofs as sentences: which facts cannot hold together.

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
            _ if bit == LAST_SOURCE => "further rules of the tables hold".to_owned(),
            ReasonOrigin::Part(part) => writer.predicate(part),
            ReasonOrigin::Type(cell) => {
                let plan = &problem.cells[*cell];
                format!(
                    "`{}` is of type {}",
                    plan.definition.name, plan.definition.declared
                )
            }
            ReasonOrigin::Constraint { table, constraint } => writer.rule(*table, *constraint),
        };
        if !facts.contains(&fact) {
            facts.push(fact);
        }
    }
    match facts.as_slice() {
        [] => "no row can do what is asked".to_owned(),
        [one] => format!("no row can do this: {one}"),
        many => format!("no row can do all of this: {}", many.join("; ")),
    }
}

struct ProofWriter<'s> {
    schema: &'s Schema,
    table: usize,
    dialect: &'static dyn Dialect,
}

impl ProofWriter<'_> {
    fn column(&self, column: usize) -> &str {
        self.schema.tables[self.table]
            .columns
            .get(column)
            .map_or("?", |column| &column.name)
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
                let expr = self.expr(expr);
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
                format!("the row {verb} a key of a unique index")
            }
            Predicate::Fits { column, fits, .. } => {
                let verb = if *fits { "fits" } else { "does not fit" };
                format!("`{}` {verb} its type", self.column(*column))
            }
        }
    }

    fn joined(&self, parts: &[Predicate], word: &str) -> String {
        let parts: Vec<String> = parts.iter().map(|part| self.predicate(part)).collect();
        format!("({})", parts.join(word))
    }

    fn matching(&self, wanted: &RowMatch) -> String {
        let names = |pairs: &[(usize, usize)]| {
            let names: Vec<&str> = pairs.iter().map(|(own, _)| self.column(*own)).collect();
            let joint = if wanted.mode == MatchMode::All {
                ", "
            } else {
                " or "
            };
            format!("`{}`", names.join(joint))
        };
        let with = &self.schema.tables[wanted.with].name;
        match (wanted.equal.is_empty(), wanted.differ.is_empty()) {
            (true, _) => format!(
                "{} differs from every row of `{with}`",
                names(&wanted.differ)
            ),
            (false, true) => format!("{} equals that of a row of `{with}`", names(&wanted.equal)),
            (false, false) => format!(
                "{} equals that of a row of `{with}` from which {} differs",
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
                format!("every row of `{name}` obeys CHECK ({})", self.expr(expr))
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
                format!(
                    "`{}` of `{name}` is NOT NULL",
                    definition.columns[*column].name
                )
            }
            ConstraintKind::UniqueIndex { .. } => format!("a unique index of `{name}`"),
        }
    }

    fn expr(&self, expr: &Expr) -> String {
        render::expression(expr, self.dialect.name())
    }
}
