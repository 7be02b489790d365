//! Proof texts: which constraints and conditions leave no value for a column.

use isobath_sql::{Expr, Value, render};

use super::super::proof::{Cause, Proof};
use super::super::state::{AtomicCondition, CellOwner, ConditionOrigin, TruthRequirement};
use super::CellSolver;

impl CellSolver<'_, '_> {
    /// A condition without cells that is not as wanted.
    pub(super) fn never(&self, leaf: &AtomicCondition) -> Proof {
        let value = match leaf.want {
            TruthRequirement::True => "never TRUE",
            TruthRequirement::False => "never FALSE",
            TruthRequirement::NotTrue => "always TRUE",
            TruthRequirement::NotFalse => "always FALSE",
        };
        // Columns of a row without a partner in an outer join are NULL.
        let fact = if is_null_with_null(&leaf.expr) {
            format!("both sides of a comparison are NULL for this target, so it is {value}")
        } else {
            format!("`{}` is {value}", self.predicate(leaf))
        };
        if compares_with_null(&leaf.expr) {
            let reason = "because a comparison with NULL is UNKNOWN";
            Proof::new(Cause::ComparedWithNull, format!("{fact}, {reason}"))
        } else {
            Proof::new(Cause::Contradiction, fact)
        }
    }

    /// A class without a value.
    pub(super) fn explain(&self, index: usize) -> Proof {
        self.explain_part(&[index])
    }

    /// Classes without values that fit together.
    pub(super) fn explain_part(&self, part: &[usize]) -> Proof {
        let mut names: Vec<String> = Vec::new();
        let mut not_null: Vec<String> = Vec::new();
        let mut leaves: Vec<usize> = Vec::new();
        for index in part {
            let class = &self.classes[*index];
            let mut equal: Vec<String> = Vec::new();
            for member in &class.members {
                let name = format!("`{}`", self.cell_name(*member));
                if !equal.contains(&name) {
                    equal.push(name);
                }
            }
            if class.not_null && !equal.is_empty() {
                not_null.push(equal[0].clone());
            }
            names.push(equal.join(" = "));
            leaves.extend(class.own.iter().chain(&class.coupled).filter(|leaf| {
                let cells = &self.state.leaves[**leaf].cells;
                cells
                    .iter()
                    .all(|cell| part.contains(&self.class_of[*cell]))
            }));
        }
        names.dedup();
        leaves.sort_unstable();
        leaves.dedup();
        let leaves: Vec<&AtomicCondition> = leaves
            .iter()
            .map(|leaf| &self.state.leaves[*leaf])
            .collect();
        let asks_null = leaves.iter().any(|leaf| {
            matches!((&leaf.expr, leaf.want), (Expr::IsNull { negated, .. }, want)
                if *negated != matches!(want, TruthRequirement::True | TruthRequirement::NotFalse))
        });
        let has = |origin| leaves.iter().any(|leaf| leaf.origin == origin);
        let cause = if leaves.iter().any(|leaf| compares_with_null(&leaf.expr)) {
            Cause::ComparedWithNull
        } else if has(ConditionOrigin::Key) {
            Cause::Key
        } else if has(ConditionOrigin::ForeignKey) {
            Cause::ForeignKey
        } else if has(ConditionOrigin::Check) {
            Cause::Domain
        } else if asks_null && !not_null.is_empty() && leaves.len() == 1 {
            Cause::NotNull
        } else if leaves.len() == 1 {
            Cause::Domain
        } else {
            Cause::Contradiction
        };
        let mut facts: Vec<String> = Vec::new();
        if asks_null && !not_null.is_empty() {
            facts.push(format!("{} cannot be NULL", not_null.join(" and ")));
        }
        for (origin, subject) in [
            (ConditionOrigin::ForeignKey, "the foreign key requires"),
            (ConditionOrigin::Key, "the keys require"),
            (ConditionOrigin::Check, "the CHECK constraints require"),
            (ConditionOrigin::Query, "the target requires"),
        ] {
            let mut asked: Vec<String> = Vec::new();
            for leaf in leaves.iter().filter(|leaf| leaf.origin == origin) {
                let condition = format!("`{}`", self.condition(leaf));
                if !asked.contains(&condition) {
                    asked.push(condition);
                }
            }
            if !asked.is_empty() {
                facts.push(format!("{subject} {}", asked.join(" and ")));
            }
        }
        let description = format!(
            "{}; no value of {} satisfies this",
            facts.join(", but "),
            names.join(" and ")
        );
        Proof::new(cause, description)
    }

    /// `table.column`, or the parameter by its number from one.
    fn cell_name(&self, cell: usize) -> String {
        match self.state.cells[cell] {
            CellOwner::Column { table, column } => {
                let table = &self.state.context.schema.tables[table];
                format!("{}.{}", table.name, table.columns[column].name)
            }
            CellOwner::Parameter(number) => format!("parameter {}", number + 1),
            CellOwner::Rank => "the window function".to_owned(),
        }
    }

    /// A predicate as SQL, its columns with their tables.
    fn predicate(&self, leaf: &AtomicCondition) -> String {
        let mut expr = leaf.expr.clone();
        expr.walk_mut(&mut |part| {
            if let Expr::Column(column) = part
                && column.slot < self.state.cells.len()
            {
                column.name = self.cell_name(column.slot);
            }
        });
        render::phrase(&expr)
    }

    /// A condition as SQL: a predicate, and the value that it must have.
    fn condition(&self, leaf: &AtomicCondition) -> String {
        let text = self.predicate(leaf);
        match leaf.want {
            TruthRequirement::True => text,
            TruthRequirement::False => format!("NOT ({text})"),
            TruthRequirement::NotTrue => format!("({text}) IS NOT TRUE"),
            TruthRequirement::NotFalse => format!("({text}) IS NOT FALSE"),
        }
    }
}

fn null(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(Value::Null))
}

/// Whether it is a comparison of NULL with NULL, which nobody writes.
fn is_null_with_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Compare { left, right, .. } if null(left) && null(right))
}

/// Whether a comparison has NULL itself on one side.
fn compares_with_null(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| {
        if let Expr::Compare { left, right, .. } = part {
            found |= null(left) || null(right);
        }
    });
    found
}
