//! Plans for groups: how many rows, which of their values are equal, different or NULL, and which
//! rows of a join they have in common.

use isobath_sql::expr::CompareOp;
use isobath_sql::query::model::{Aggregate, AggregateFunction, From, Grouping, Select};
use isobath_sql::{DataType, Dialect, Expr, Value, eval};

use super::proof::{Cause, Proof};

/// Which copies have equal values; `None` is NULL.
type ValuePattern = Vec<Option<u8>>;

/// How a group is made.
#[derive(Clone, Debug)]
pub(super) struct GroupPlan {
    /// How many rows it has.
    pub(super) copies: usize,
    /// For each copy, an earlier one and the relations, by bit, that it has in common with it.
    pub(super) shared: Vec<(usize, u64)>,
    /// Patterns of the arguments of aggregates.
    pub(super) patterns: Vec<(Expr, ValuePattern)>,
    /// Whether HAVING is asked for.
    pub(super) having: bool,
    /// What is asked for instead: a condition on one of the group's rows.
    pub(super) part: Option<Box<Expr>>,
    /// For each copy, how its outer joins come out; as elsewhere when empty.
    pub(super) shapes: Vec<u64>,
}

impl GroupPlan {
    fn of(copies: usize, patterns: Vec<(Expr, ValuePattern)>, having: bool) -> Self {
        Self {
            copies,
            shared: vec![(0, 0); copies],
            patterns,
            having,
            part: None,
            shapes: Vec::new(),
        }
    }

    /// A group in which a row has a value, whatever else it has.
    pub(super) fn with_value(argument: Expr) -> Self {
        Self::of(1, vec![(argument, vec![Some(0)])], false)
    }

    /// Whether two copies have different values anyway.
    pub(super) fn tells_apart(&self, a: usize, b: usize) -> bool {
        self.patterns
            .iter()
            .any(|(_, pattern)| pattern[a] != pattern[b])
    }

    /// What a COUNT comes to.
    fn count(&self, aggregate: &Aggregate) -> Option<usize> {
        if aggregate.function != AggregateFunction::Count || aggregate.filter.is_some() {
            return None;
        }
        let Some(argument) = &aggregate.argument else {
            return Some(self.copies);
        };
        let (_, pattern) = self.patterns.iter().find(|(of, _)| of == argument)?;
        let mut there: Vec<u8> = pattern.iter().copied().flatten().collect();
        if aggregate.distinct {
            there.sort_unstable();
            there.dedup();
        }
        Some(there.len())
    }

    /// Whether HAVING can be true as far as it speaks of counts alone.
    fn counts_fit(&self, having: &Expr, grouping: &Grouping, dialect: &dyn Dialect) -> bool {
        let parts = match having {
            Expr::And(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        parts.iter().all(|part| {
            if let Expr::And(_) = part {
                return self.counts_fit(part, grouping, dialect);
            }
            let width = part.columns().into_iter().max().map_or(0, |slot| slot + 1);
            let mut row = vec![Value::Null; width];
            for slot in part.columns() {
                let mut aggregates = grouping.aggregates.iter();
                let aggregate = aggregates.find(|(of, _)| *of == slot);
                match aggregate.and_then(|(_, aggregate)| self.count(aggregate)) {
                    Some(count) => row[slot] = Value::Int(count as i128),
                    None => return true,
                }
            }
            let verdict = eval::truth_in(part, eval::Env::queried(&row, &[]), dialect);
            !verdict.is_ok_and(|truth| truth.verdict() != Some(true))
        })
    }
}

/// Ways to make a group that HAVING likes, the simplest first; not all there are.
pub(super) fn plans(select: &Select, grouping: &Grouping, dialect: &dyn Dialect) -> Vec<GroupPlan> {
    let empty = grouping.keys.is_empty();
    let Some(having) = &select.having else {
        let mut plans = vec![GroupPlan::of(1, Vec::new(), true)];
        if empty {
            plans.push(GroupPlan::of(0, Vec::new(), true));
        }
        return plans;
    };
    let used = having.columns();
    let mut arguments: Vec<&Expr> = Vec::new();
    for (slot, aggregate) in &grouping.aggregates {
        if let (true, Some(argument)) = (used.contains(slot), &aggregate.argument)
            && !arguments.contains(&argument)
        {
            arguments.push(argument);
        }
    }
    let mut copies = vec![1, 2, 3];
    having.walk(&mut |part| {
        if let Expr::Literal(Value::Int(number)) = part
            && let Ok(number) = usize::try_from(*number)
            && (3..=20).contains(&number)
        {
            copies.extend([number, number + 1]);
        }
    });
    copies.dedup();
    let mut plans = Vec::new();
    for copies in copies {
        for assigned in assignments(&arguments, copies) {
            let plan = GroupPlan::of(copies, assigned, true);
            if plan.counts_fit(having, grouping, dialect) {
                plans.extend(sharings(select, plan));
            }
        }
    }
    if empty {
        plans.push(GroupPlan::of(0, Vec::new(), true));
    }
    plans
}

/// Every way to give arguments a pattern.
fn assignments(arguments: &[&Expr], copies: usize) -> Vec<Vec<(Expr, ValuePattern)>> {
    let mut patterns: Vec<ValuePattern> = Vec::new();
    let last = copies.saturating_sub(1);
    patterns.push(vec![Some(0); copies]);
    if copies > 1 {
        let different = (0..copies).map(|copy| u8::try_from(copy).ok());
        patterns.push(different.clone().collect());
        let mut with_null: ValuePattern = different.collect();
        with_null[last] = None;
        patterns.push(with_null);
    }
    if copies > 2 {
        let mut repeated = vec![Some(0); copies];
        repeated[last] = Some(1);
        patterns.push(repeated);
    }
    patterns.push(vec![None; copies]);
    let mut all: Vec<Vec<(Expr, ValuePattern)>> = vec![Vec::new()];
    for argument in arguments.iter().take(3) {
        all = all
            .into_iter()
            .flat_map(|so_far| {
                patterns.iter().map(move |pattern| {
                    let mut next = so_far.clone();
                    next.push(((*argument).clone(), pattern.clone()));
                    next
                })
            })
            .collect();
    }
    all
}

/// Which rows of a join the copies have in common. Copies with different values share nothing that
/// the values are read from; copies with equal ones differ in one relation and what is joined to it,
/// or in all.
fn sharings(select: &Select, plan: GroupPlan) -> Vec<GroupPlan> {
    let mut joined = Vec::new();
    if let Some(from) = &select.from {
        relations(from, &mut joined);
    }
    let count = joined.len().min(62);
    if count < 2 || plan.copies < 2 {
        return vec![plan];
    }
    let all = (1u64 << count) - 1;
    let over = |columns: &[usize]| -> u64 {
        let mut over = 0;
        for (number, relation) in joined.iter().enumerate().take(count) {
            if columns.iter().any(|column| relation.slots.contains(column)) {
                over |= 1 << number;
            }
        }
        over
    };
    let mut read = 0;
    for (argument, _) in &plan.patterns {
        read |= over(&argument.columns());
    }
    let mut hanging: Vec<u64> = Vec::new();
    for number in (0..count).rev() {
        let mut together = 1u64 << number;
        for (later, relation) in joined.iter().enumerate().take(count).skip(number + 1) {
            if over(&relation.on) & together != 0 {
                together |= 1 << later;
            }
        }
        if !hanging.contains(&together) {
            hanging.push(together);
        }
    }
    // What is read comes last among the relations to differ in.
    hanging.sort_by_key(|together| read & together != 0);
    let mut ways = Vec::new();
    for apart in hanging.into_iter().map(Some).chain([None]) {
        for others in [all & !read, 0] {
            let mut way = plan.clone();
            for copy in 1..plan.copies {
                let twin = (0..copy).find(|earlier| !plan.tells_apart(*earlier, copy));
                way.shared[copy] = match (twin, apart) {
                    (Some(twin), Some(apart)) => (twin, all & !apart),
                    (Some(_), None) => (0, 0),
                    (None, _) => (0, others),
                };
            }
            if !ways
                .iter()
                .any(|known: &GroupPlan| known.shared == way.shared)
            {
                ways.push(way);
            }
        }
    }
    ways
}

/// A relation of FROM.
struct PlannedRelation {
    slots: std::ops::Range<usize>,
    /// The columns of the condition that joins it to those before.
    on: Vec<usize>,
}

fn relations(from: &From, found: &mut Vec<PlannedRelation>) {
    match from {
        From::Table { slot, columns, .. } | From::Derived { slot, columns, .. } => {
            found.push(PlannedRelation {
                slots: *slot..slot + columns,
                on: Vec::new(),
            });
        }
        From::Join {
            left, right, on, ..
        } => {
            relations(left, found);
            let first = found.len();
            relations(right, found);
            if let Some(on) = on {
                for relation in &mut found[first..] {
                    relation.on.extend(on.columns());
                }
            }
        }
    }
}

/// The most copies that a need is written out for.
const MAX_NEEDED: usize = 3;

/// What every group that HAVING likes must have, as plans that leave HAVING itself out.
///
/// # Errors
///
/// When no group can have it.
pub(super) fn needs(select: &Select, grouping: &Grouping) -> Result<Vec<GroupPlan>, Proof> {
    let mut needs: Vec<GroupPlan> = Vec::new();
    let need = |needs: &mut Vec<GroupPlan>, copies: usize, patterns| {
        needs.push(GroupPlan::of(copies, patterns, false));
    };
    // A grouping set without keys is a group of all rows, also of none.
    let empty = match &grouping.sets {
        None => grouping.keys.is_empty(),
        Some(sets) => sets.sets.iter().any(Vec::is_empty),
    };
    let parts = match &select.having {
        None => &[][..],
        Some(Expr::And(parts)) => parts.as_slice(),
        Some(single) => std::slice::from_ref(single),
    };
    let mut flat: Vec<&Expr> = Vec::new();
    for part in parts {
        match part {
            Expr::And(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    let of = |expr: &Expr| -> Option<&Aggregate> {
        let Expr::Column(column) = expr else {
            return None;
        };
        let mut found = grouping.aggregates.iter();
        let found =
            found.find(|(slot, aggregate)| *slot == column.slot && aggregate.filter.is_none());
        found.map(|(_, aggregate)| aggregate)
    };
    let mut least = usize::from(!empty);
    let mut asks_for_none = false;
    for part in &flat {
        if let Expr::Compare { op, left, right } = part
            && let (Some(count), Expr::Literal(Value::Int(bound))) = (of(left), &**right)
            && count.function == AggregateFunction::Count
        {
            let (from, to) = range(*op, *bound);
            if count.argument.is_none() {
                if to < i128::from(!empty) {
                    let description = format!(
                        "a group has at least {} rows, so `COUNT(*) {} {bound}` is never true",
                        i32::from(!empty),
                        op.symbol()
                    );
                    return Err(Proof::new(Cause::Group, description));
                }
                asks_for_none |= to == 0;
            } else if to < 0 {
                let description = format!("`COUNT {} {bound}` is never true", op.symbol());
                return Err(Proof::new(Cause::Group, description));
            }
            least = least.max(usize::try_from(from).unwrap_or(0));
        }
    }
    if asks_for_none {
        need(&mut needs, 0, Vec::new());
        return Ok(needs);
    }
    if least > 0 {
        need(&mut needs, least.min(MAX_NEEDED), Vec::new());
    }
    for part in flat {
        let Expr::Compare { op, left, right } = part else {
            continue;
        };
        let Some(aggregate) = of(left) else {
            continue;
        };
        let Some(argument) = &aggregate.argument else {
            // COUNT(*) > COUNT(x)
            if let (CompareOp::Greater, Some(other)) = (op, of(right))
                && other.function == AggregateFunction::Count
                && !other.distinct
                && let Some(argument) = &other.argument
            {
                need(&mut needs, 1, vec![(argument.clone(), vec![None])]);
            }
            continue;
        };
        match (&aggregate.function, &**right, of(right)) {
            (AggregateFunction::Count, Expr::Literal(Value::Int(bound)), _) => {
                let (from, to) = range(*op, *bound);
                let copies = usize::try_from(from).unwrap_or(0).min(MAX_NEEDED);
                if to == 0 && least > 0 {
                    need(&mut needs, 1, vec![(argument.clone(), vec![None])]);
                } else if copies > 0 && aggregate.distinct {
                    let letters = (0..copies).map(|copy| u8::try_from(copy).ok());
                    need(
                        &mut needs,
                        copies,
                        vec![(argument.clone(), letters.collect())],
                    );
                } else if copies > 0 {
                    // Whether the values are equal is open, so that only one is spoken of.
                    need(&mut needs, 1, vec![(argument.clone(), vec![Some(0)])]);
                }
            }
            (AggregateFunction::Count, _, Some(other))
                if !aggregate.distinct
                    && *op == CompareOp::Greater
                    && other.function == AggregateFunction::Count
                    && other.distinct
                    && other.argument.as_ref() == Some(argument) =>
            {
                need(
                    &mut needs,
                    2,
                    vec![(argument.clone(), vec![Some(0), Some(0)])],
                );
            }
            (
                AggregateFunction::Min
                | AggregateFunction::Max
                | AggregateFunction::Sum
                | AggregateFunction::Avg,
                ..,
            ) => {
                let mut plan = GroupPlan::of(1, vec![(argument.clone(), vec![Some(0)])], false);
                if part.columns().len() == 1 && is_met_by_a_row(aggregate, *op) {
                    plan.part = Some(Box::new((*part).clone()));
                }
                needs.push(plan);
            }
            _ => {}
        }
    }
    needs.extend(with_null_and_value(&needs));
    Ok(needs)
}

/// Whether an aggregate that compares so with a constant has a row whose value does.
fn is_met_by_a_row(aggregate: &Aggregate, op: CompareOp) -> bool {
    match aggregate.function {
        // One of the rows has the value.
        AggregateFunction::Min | AggregateFunction::Max => true,
        // Not all rows are on the other side of an average; fractions may be rounded.
        AggregateFunction::Avg => {
            let whole = matches!(&aggregate.argument, Some(Expr::Column(column))
                if matches!(column.data_type, DataType::Integer { .. }));
            whole && !matches!(op, CompareOp::Equal | CompareOp::NotEqual)
        }
        _ => false,
    }
}

/// For arguments of which a group needs a NULL and a value: both together.
fn with_null_and_value(needs: &[GroupPlan]) -> Vec<GroupPlan> {
    let has = |wanted: &Expr, null: bool| {
        let patterns = needs.iter().flat_map(|need| &need.patterns);
        let mut patterns = patterns.filter(|(argument, _)| argument == wanted);
        patterns.any(|(_, pattern)| pattern.iter().any(|letter| letter.is_none() == null))
    };
    let mut both: Vec<GroupPlan> = Vec::new();
    for (argument, _) in needs.iter().flat_map(|need| &need.patterns) {
        let known = both.iter().any(|plan| plan.patterns[0].0 == *argument);
        if !known && has(argument, true) && has(argument, false) {
            let pattern = vec![Some(0), None];
            both.push(GroupPlan::of(2, vec![(argument.clone(), pattern)], false));
        }
    }
    both
}

/// The numbers that a comparison with a bound lets through.
fn range(op: CompareOp, bound: i128) -> (i128, i128) {
    match op {
        CompareOp::Equal => (bound, bound),
        CompareOp::NotEqual => (0, i128::MAX),
        CompareOp::Less => (0, bound - 1),
        CompareOp::LessOrEqual => (0, bound),
        CompareOp::Greater => (bound + 1, i128::MAX),
        CompareOp::GreaterOrEqual => (bound, i128::MAX),
    }
}
