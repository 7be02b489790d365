//! Conflicts in words.

use isobath_sql::{Expr, Value, render};

use super::super::proof::{Cause, Proof};
use super::super::state::{AtomicCondition, CellOwner, ConditionOrigin, TruthRequirement};
use super::CellSolver;

impl CellSolver<'_, '_> {
    /// A condition without cells that is not as wanted.
    pub(super) fn never(&self, leaf: &AtomicCondition) -> Proof {
        let cause = if compares_with_null(&leaf.expr) {
            Cause::ComparedWithNull
        } else {
            Cause::Contradiction
        };
        Proof::new(cause, format!("{} cannot be", self.description(leaf)))
    }

    /// A class without a value.
    pub(super) fn explain(&self, index: usize) -> Proof {
        self.explain_part(&[index])
    }

    /// Classes without values that fit together.
    pub(super) fn explain_part(&self, part: &[usize]) -> Proof {
        let mut names: Vec<String> = Vec::new();
        let mut leaves: Vec<usize> = Vec::new();
        let mut not_null = false;
        for index in part {
            let class = &self.classes[*index];
            not_null |= class.not_null;
            let mut equal: Vec<String> = Vec::new();
            for member in &class.members {
                let name = match self.state.cells[*member] {
                    CellOwner::Column { table, column } => {
                        let table = &self.state.context.schema.tables[table];
                        format!("{}.{}", table.name, table.columns[column].name)
                    }
                    CellOwner::Parameter(number) => format!("parameter {}", number + 1),
                };
                if !equal.contains(&name) {
                    equal.push(name);
                }
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
        let mut asked: Vec<String> = Vec::new();
        for leaf in &leaves {
            let description = self.description(leaf);
            if !asked.contains(&description) {
                asked.push(description);
            }
        }
        let asks_null = leaves.iter().any(|leaf| {
            matches!((&leaf.expr, leaf.want), (Expr::IsNull { negated, .. }, want)
                if *negated != matches!(want, TruthRequirement::True | TruthRequirement::NotFalse))
        });
        let rule = if not_null && asks_null {
            ", which cannot be NULL"
        } else {
            ""
        };
        let cause = if leaves.iter().any(|leaf| compares_with_null(&leaf.expr)) {
            Cause::ComparedWithNull
        } else if leaves
            .iter()
            .any(|leaf| leaf.origin == ConditionOrigin::Key)
        {
            Cause::Key
        } else if leaves
            .iter()
            .any(|leaf| leaf.origin == ConditionOrigin::ForeignKey)
        {
            Cause::ForeignKey
        } else if leaves
            .iter()
            .any(|leaf| leaf.origin == ConditionOrigin::Check)
        {
            Cause::Domain
        } else if asks_null && not_null && leaves.len() == 1 {
            Cause::NotNull
        } else if leaves.len() == 1 {
            Cause::Domain
        } else {
            Cause::Contradiction
        };
        let description = format!(
            "no value of {}{rule} is such that {}",
            names.join(" and "),
            asked.join(" and ")
        );
        Proof::new(cause, description)
    }

    fn description(&self, leaf: &AtomicCondition) -> String {
        let text = render::expression(&leaf.expr, self.state.context.dialect.name());
        match leaf.want {
            TruthRequirement::True => text,
            TruthRequirement::False => format!("NOT ({text})"),
            TruthRequirement::NotTrue => format!("({text}) is not true"),
            TruthRequirement::NotFalse => format!("({text}) is not false"),
        }
    }
}

/// Whether a comparison has NULL itself on one side.
fn compares_with_null(expr: &Expr) -> bool {
    let null = |expr: &Expr| matches!(expr, Expr::Literal(Value::Null));
    let mut found = false;
    expr.walk(&mut |part| {
        if let Expr::Compare { left, right, .. } = part {
            found |= null(left) || null(right);
        }
    });
    found
}
