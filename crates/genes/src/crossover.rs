//! Crossover of two values of the same node.

use std::mem::swap;
use std::sync::Arc;

use fastrand::Rng;

use crate::model::{ArrayDomain, Domain, Model, NodeId, ObjectDomain};
use crate::value::{ObjectValue, Unresolved, Value};

impl Model {
    /// Exchanges random parts of `a` and `b`; both stay valid if they were.
    pub(crate) fn crossover(&self, id: NodeId, a: &mut Value, b: &mut Value, rng: &mut Rng) {
        match (&self.node(id).domain, &mut *a, &mut *b) {
            (Domain::Object(domain), Value::Object(a), Value::Object(b)) => {
                self.cross_objects(domain, Arc::make_mut(a), Arc::make_mut(b), rng);
            }
            (Domain::Array(domain), Value::Array(a), Value::Array(b)) => {
                self.cross_arrays(domain, Arc::make_mut(a), Arc::make_mut(b), rng);
            }
            (Domain::Choice(options), Value::Choice(left), Value::Choice(right))
                if left.0 == right.0 =>
            {
                let option = options.get(left.0 as usize);
                let (left, right) = (Arc::make_mut(left), Arc::make_mut(right));
                if let Some(&option) = option {
                    self.crossover(option, &mut left.1, &mut right.1, rng);
                }
            }
            (Domain::Text(domain), Value::Text(left), Value::Text(right)) if rng.bool() => {
                // One cut at the same character, so that the tails keep their positions.
                let cut = rng.usize(0..=left.chars().count().min(right.chars().count()));
                let at = |text: &str| text.char_indices().nth(cut).map_or(text.len(), |(i, _)| i);
                let (i, j) = (at(left), at(right));
                let crossed: Arc<str> = format!("{}{}", &left[..i], &right[j..]).into();
                let other: Arc<str> = format!("{}{}", &right[..j], &left[i..]).into();
                if domain.check(&crossed).is_ok() && domain.check(&other).is_ok() {
                    (*left, *right) = (crossed, other);
                }
            }
            _ => {
                if rng.bool() {
                    swap(a, b);
                }
            }
        }
    }

    fn cross_objects(
        &self,
        domain: &ObjectDomain,
        a: &mut ObjectValue,
        b: &mut ObjectValue,
        rng: &mut Rng,
    ) {
        let counted = domain.min > 0 || domain.max.is_some();
        for ((field, a), b) in domain.fields.iter().zip(&mut a.fields).zip(&mut b.fields) {
            let moves = (*a == Value::Absent) != (*b == Value::Absent);
            if moves && counted {
                continue;
            }
            match rng.u8(0..3) {
                0 => swap(a, b),
                1 if !moves => self.crossover(field.node, a, b, rng),
                _ => {}
            }
        }
        if !counted && rng.bool() {
            swap(&mut a.extra, &mut b.extra);
        }
    }

    fn cross_arrays(
        &self,
        domain: &ArrayDomain,
        a: &mut Vec<Value>,
        b: &mut Vec<Value>,
        rng: &mut Rng,
    ) {
        let cut = rng.usize(0..=a.len().min(b.len()));
        let (tail_a, tail_b) = (a.split_off(cut), b.split_off(cut));
        a.extend(tail_b);
        b.extend(tail_a);
        if domain.unique && (self.repeats(domain, a) || self.repeats(domain, b)) {
            let (tail_a, tail_b) = (a.split_off(cut), b.split_off(cut));
            a.extend(tail_b);
            b.extend(tail_a);
        }
    }

    fn repeats(&self, domain: &ArrayDomain, items: &[Value]) -> bool {
        let printed: Vec<_> = items
            .iter()
            .filter_map(|item| self.print(domain.item, item, &Unresolved))
            .collect();
        crate::read::has_repeats(&printed)
    }
}
