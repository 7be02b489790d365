//! Adds and mutates calls that write the tables which a statement reads.

use std::collections::BTreeSet;

use isobath_genes::{Gene, Value};
use isobath_search::{Rng, TargetId};

use crate::candidate::{Candidate, Step, StepKind};
use crate::problem::RestProblem;
use crate::sample::{MUTATE_WITH_VARIATION, append_operation, violate_constraint, with_value};
use crate::target::Target;

/// That the calls which fill the tables of a statement are changed, and not the one that reads them.
const MUTATE_PRODUCER: f64 = 0.7;
/// That a constant of the statement is tried as an input of such a call.
const TRY_CONSTANT: f64 = 0.4;
/// That a call more fills the tables, where each has one that does.
const ADD_PRODUCER: f64 = 0.1;
/// The same where a table has none.
const ADD_MISSING_PRODUCER: f64 = 0.5;
/// That a value which is taken from another call stays so.
const KEEP_REFERENCE: f64 = 0.9;

/// A copy of a candidate in which the calls that fill the tables of the aimed statement are others, or more, and calls that have
/// nothing to do with it are gone; `None` when that is left alone.
pub(crate) fn with_row_producers(
    problem: &RestProblem,
    rng: &mut Rng,
    parent: &Candidate,
    target: Option<TargetId>,
) -> Option<Candidate> {
    let (reader, row_producers) = problem.seeder()?.row_producers(target?)?;
    let reads = |step: &Step| step.operation() == Some(reader.operation);
    let last = parent.steps.iter().rposition(reads)?;
    if row_producers.is_empty() || rng.f64() >= MUTATE_PRODUCER {
        return None;
    }
    let is_row_producer = |step: &Step| {
        step.operation()
            .is_some_and(|it| row_producers.contains(&it))
    };
    let mut child = trimmed(parent, last, &is_row_producer);
    let (reading, before) = child.steps.split_last()?;
    let (last, user) = (before.len(), reading.user.unwrap_or(0));
    let numbered = before.iter().enumerate();
    let filling: Vec<(usize, &Step)> = numbered.filter(|(_, step)| is_row_producer(step)).collect();
    let is_lacking = |row_producer: &usize| {
        let mut filling = filling.iter();
        !filling.any(|(_, step)| step.operation() == Some(*row_producer))
    };
    let lacking: Vec<usize> = row_producers.iter().copied().filter(is_lacking).collect();
    let eagerness = if lacking.is_empty() {
        ADD_PRODUCER
    } else {
        ADD_MISSING_PRODUCER
    };
    if filling.is_empty() || rng.f64() < eagerness {
        let wanted = if lacking.is_empty() {
            &row_producers
        } else {
            &lacking
        };
        let row_producer = *rng.choice(wanted)?;
        let n_before = child.steps.len();
        append_operation(problem, rng, &mut child, row_producer, user, 1);
        let added = child.steps.len() - n_before;
        // What was added at the end belongs before what reads it.
        child.steps.get_mut(last..)?.rotate_right(added);
        return (child.steps.len() <= problem.sampling.steps).then_some(child);
    }
    let &(at, filler) = rng.choice(&filling)?;
    // What refuses such calls is found from those that are accepted.
    if rng.f64() < MUTATE_WITH_VARIATION * problem.sampling.breach {
        let row_producer = filler.operation();
        return violate_constraint(problem, rng, &mut child, row_producer).then_some(child);
    }
    let StepKind::Call {
        action,
        breach: None,
    } = &mut child.steps.get_mut(at)?.kind
    else {
        return None;
    };
    // What the statement asked for in this candidate; what it asked for first may be from another input.
    let constants = match problem.targets().get(target?) {
        Some(Target::Statement(shape, _) | Target::Rule(shape, _)) => {
            problem.seeder()?.constants(parent, shape)
        }
        _ => None,
    };
    let constants = constants.unwrap_or(&reader.constants);
    if rng.f64() < TRY_CONSTANT
        && let Some(with_constant) = with_constant(rng, &action.gene, constants)
    {
        action.gene = with_constant;
        return Some(child);
    }
    let references = action.gene.references();
    action.mutate(rng, &problem.sampling.tuning)?;
    // What joins rows is worth more than any other value there.
    for (pointer, reference) in references {
        if rng.f64() < KEEP_REFERENCE {
            action.gene.bind(&pointer, reference);
        }
    }
    Some(child)
}

/// A candidate up to a step, with what that step refers to and what fills the tables that it reads.
fn trimmed(parent: &Candidate, last: usize, is_row_producer: &dyn Fn(&Step) -> bool) -> Candidate {
    let mut child = parent.clone();
    child.steps.truncate(last + 1);
    let mut needed = BTreeSet::new();
    let mut kept = Vec::new();
    for (at, step) in child.steps.drain(..).enumerate().rev() {
        if at != last && !is_row_producer(&step) && !needed.contains(&step.id) {
            continue;
        }
        let references = step.input().map(Gene::references).unwrap_or_default();
        needed.extend(references.iter().map(|(_, reference)| reference.source));
        kept.push(step);
    }
    kept.reverse();
    child.steps = kept;
    child
}

/// An input with a constant of a statement in it, or one beside it, where that is valid.
fn with_constant(rng: &mut Rng, input: &Gene, constants: &[String]) -> Option<Gene> {
    let constant = constants.get(rng.usize(..constants.len().max(1)))?;
    let number: Option<i128> = constant.parse().ok();
    let number = number.map(|number| number + i128::from(rng.i8(-1..=1)));
    let mut places = Vec::new();
    input.walk(|place| match (place.value, number) {
        (Value::Integer(_), Some(number)) => {
            places.push((place.pointer.to_owned(), Value::Integer(number)));
        }
        (Value::Text(_), _) => {
            let text = Value::Text(constant.as_str().into());
            places.push((place.pointer.to_owned(), text));
        }
        _ => {}
    });
    let chosen = places.get(rng.usize(..places.len().max(1)))?;
    with_value(input, chosen.clone())
}
