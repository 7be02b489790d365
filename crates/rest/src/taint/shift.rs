//! Moves an input by the distance that a comparison in the code reported.

use isobath_exec::driver::distance;
use isobath_genes::Gene;
use isobath_search::Rng;

use crate::candidate::{Candidate, StepKind};

/// The chance that a mutation moves an input by the reported distance.
const SHIFT: f64 = 0.4;
/// The same for a distance of one, which conditions without operands report, too.
const SHIFT_BY_ONE: f64 = 0.1;

/// Moves one number, moment or numeric text of the aimed operation by the distance that the score of the parent
/// stands for; false when nothing was moved.
///
/// Whatever the input was before it came to the comparison (a query parameter, a form, a JSON string, a header),
/// the distance is that of the value it became.
pub(crate) fn shift_by_distance(
    rng: &mut Rng,
    candidate: &mut Candidate,
    operation: Option<usize>,
    score: Option<f64>,
) -> bool {
    let Some(distance) = score.and_then(distance).filter(|distance| *distance > 0.0) else {
        return false;
    };
    let is_one = (distance - 1.0).abs() < 1e-9;
    if rng.f64() >= if is_one { SHIFT_BY_ONE } else { SHIFT } {
        return false;
    }
    let mut places: Vec<(usize, Option<usize>, String)> = Vec::new();
    for (step_idx, step) in candidate.steps.iter().enumerate() {
        let StepKind::Call {
            action,
            breach: None,
        } = &step.kind
        else {
            continue;
        };
        if operation.is_some_and(|operation| operation != action.operation) {
            continue;
        }
        let mut add = |extra: Option<usize>, gene: &Gene| {
            let pointers = gene.shiftable().into_iter();
            places.extend(pointers.map(|pointer| (step_idx, extra, pointer)));
        };
        add(None, &action.gene);
        for (number, extra) in action.undocumented.iter().enumerate() {
            add(Some(number), &extra.gene);
        }
    }
    if places.is_empty() {
        return false;
    }
    let (step_idx, extra, pointer) = places.swap_remove(rng.usize(..places.len()));
    let Some(StepKind::Call { action, .. }) =
        candidate.steps.get_mut(step_idx).map(|step| &mut step.kind)
    else {
        return false;
    };
    let gene = match extra {
        Some(number) => action
            .undocumented
            .get_mut(number)
            .map(|extra| &mut extra.gene),
        None => Some(&mut action.gene),
    };
    gene.is_some_and(|gene| gene.shift(&pointer, distance, rng))
}
