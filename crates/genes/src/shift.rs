//! Moves a number or a moment by a measured distance.
//!
//! A comparison that a driver observed says how far its operands are apart. Moving the value that was
//! compared by exactly that distance satisfies the comparison, in one step and whatever the distance is.

use std::sync::Arc;

use fastrand::Rng;
use serde_json::Value as Json;

use crate::gene::Gene;
use crate::model::{Domain, Model, NodeId};
use crate::value::{Specialized, Value};

/// Distances are stored with 38 bits: relative to it, a whole distance is off by less than this.
const ROUNDING: f64 = 1e-11;

impl Gene {
    /// The JSON Pointers of all values that [`shift`](Self::shift) can move: numbers, moments, and texts that
    /// are numbers.
    #[must_use]
    pub fn shiftable(&self) -> Vec<String> {
        let mut pointers = Vec::new();
        self.walk(|place| {
            let is_shiftable = match place.value {
                Value::Integer(_) | Value::Float(_) | Value::DateTime(_) => true,
                Value::Specialized(inner) => matches!(
                    inner.value,
                    Value::Integer(_) | Value::Float(_) | Value::DateTime(_)
                ),
                Value::Text(text) => number_in(text).is_some(),
                Value::Literal(json) => match &**json {
                    Json::Number(_) => true,
                    Json::String(text) => number_in(text).is_some(),
                    _ => false,
                },
                _ => false,
            };
            if is_shiftable {
                pointers.push(place.pointer.to_owned());
            }
        });
        pointers
    }

    /// Moves the value at a JSON Pointer up or down by `distance`; false where that leads out of its bounds.
    pub fn shift(&mut self, pointer: &str, distance: f64, rng: &mut Rng) -> bool {
        if !distance.is_finite() || distance <= 0.0 {
            return false;
        }
        self.edit(pointer, |model, id, value| {
            let next = shifted(model, id, value, distance, rng);
            let is_shifted = next.as_ref().is_some_and(|next| next != value);
            if let (true, Some(next)) = (is_shifted, next) {
                *value = next;
            }
            is_shifted
        })
        .unwrap_or(false)
    }
}

fn shifted(
    model: &Model,
    id: NodeId,
    value: &Value,
    distance: f64,
    rng: &mut Rng,
) -> Option<Value> {
    match (&model.node(id).domain, value) {
        (_, Value::Specialized(specialized)) => {
            let Specialized { model, root, value } = &**specialized;
            let next = shifted(model, *root, value, distance, rng)?;
            let mut specialized = Specialized::clone(specialized);
            specialized.value = next;
            Some(Value::Specialized(Arc::new(specialized)))
        }
        (_, Value::Literal(json)) => match (model.read(id, json), &**json) {
            (Ok(read), _) if !matches!(read, Value::Literal(_)) => {
                shifted(model, id, &read, distance, rng)
            }
            (_, Json::String(text)) => {
                let next = number_in(text)?.checked_add(signed(whole(distance)?, rng))?;
                Some(Value::Literal(Arc::new(Json::String(next.to_string()))))
            }
            _ => None,
        },
        (Domain::Integer(domain), Value::Integer(n)) => {
            let unit = 10f64.powi(i32::from(domain.scale()));
            let delta = signed(whole(distance * unit)?, rng);
            let in_bounds = |n: &i128| domain.check(*n).is_ok();
            let up = n.checked_add(delta).filter(in_bounds);
            up.or_else(|| n.checked_sub(delta).filter(in_bounds))
                .map(Value::Integer)
        }
        (Domain::Float(domain), Value::Float(x)) => {
            // Few digits first: the constants of programs have few.
            let digits = 10f64.powi(i32::from(rng.u8(1..=4)) * 3);
            let delta = if rng.bool() { distance } else { -distance };
            let moved = [x + delta, x - delta].map(|x| (x * digits).round() / digits);
            let fits = |x: &f64| x.is_finite() && domain.check(*x).is_ok();
            moved.into_iter().find(fits).map(Value::Float)
        }
        (Domain::DateTime(kind), Value::DateTime(date_time)) => {
            let moved = date_time.shifted(*kind, distance, rng)?;
            Some(Value::DateTime(moved))
        }
        (Domain::Text(domain), Value::Text(text)) => {
            let next = number_in(text)?.checked_add(signed(whole(distance)?, rng))?;
            let next = next.to_string();
            domain.check(&next).ok()?;
            Some(Value::Text(next.into()))
        }
        _ => None,
    }
}

/// A distance between whole numbers; `None` for any other.
fn whole(distance: f64) -> Option<i128> {
    let rounded = distance.round();
    let is_whole = (distance - rounded).abs() <= 1e-6 + distance * ROUNDING;
    (is_whole && (1.0..1e20).contains(&rounded)).then_some(rounded as i128)
}

fn signed(delta: i128, rng: &mut Rng) -> i128 {
    if rng.bool() { delta } else { -delta }
}

/// The whole number that a text is.
fn number_in(text: &str) -> Option<i128> {
    let is_short = !text.is_empty() && text.len() <= 20;
    is_short.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        DateTimeKind, FloatDomain, GeneConfig, IntegerDomain, ModelBuilder, Specialization,
        TextDomain, Unresolved,
    };

    fn gene(domain: Domain, json: &Json) -> Gene {
        let mut builder = ModelBuilder::new();
        let root = builder.add(domain);
        let model = Arc::new(builder.finish());
        Gene::read(&model, root, json).expect("a value of its domain")
    }

    /// The values that a shift leads to, over several seeds.
    fn check(gene: &Gene, distance: f64, wanted: &[&str]) {
        assert_eq!(gene.shiftable(), [""]);
        let mut reached: Vec<String> = (0..400)
            .filter_map(|seed| {
                let mut gene = gene.clone();
                gene.shift("", distance, &mut Rng::with_seed(seed))
                    .then(|| gene.to_json(&Unresolved).expect("a value").to_string())
            })
            .collect();
        reached.sort();
        reached.dedup();
        for value in wanted {
            assert!(
                reached.iter().any(|one| one == value),
                "{value}: {reached:?}"
            );
        }
    }

    #[test]
    fn numbers_move_up_and_down_by_the_distance() {
        let any = Domain::Integer(IntegerDomain::new(None, None).expect("a range"));
        check(&gene(any, &7.into()), 48_151_616.0, &["48151623"]);
        let positive = Domain::Integer(IntegerDomain::new(Some(0), None).expect("a range"));
        check(&gene(positive, &7.into()), 10.0, &["17"]);
        let float = Domain::Float(FloatDomain::new(None, None).expect("a range"));
        check(&gene(float, &1.5.into()), 0.25, &["1.25", "1.75"]);
    }

    #[test]
    fn distances_between_texts_move_no_whole_number() {
        let any = Domain::Integer(IntegerDomain::new(None, None).expect("a range"));
        check(&gene(any.clone(), &7.into()), 2.5, &[]);
        let mut number = gene(any, &7.into());
        assert!(!number.shift("", 2.5, &mut Rng::with_seed(1)));
        assert!(!number.shift("", f64::NAN, &mut Rng::with_seed(1)));
        assert!(!number.shift("/a", 2.0, &mut Rng::with_seed(1)));
    }

    #[test]
    fn texts_move_as_what_they_become() {
        let text = || gene(Domain::Text(TextDomain::any()), &"12".into());
        check(&text(), 30.0, &["\"42\"", "\"-18\""]);
        let config = GeneConfig::default();
        let mut rng = Rng::with_seed(3);
        let mut special = text();
        let integer = Specialization::Integer {
            min: 0,
            max: i64::from(i32::MAX),
        };
        let model = integer.model().expect("a model");
        assert!(special.specialize("", &model, &mut rng, &config));
        let sent = special.to_json(&Unresolved).expect("a text");
        let sent: f64 = sent.as_str().expect("a text").parse().expect("a number");
        check(&special, (48_151_623.0 - sent).abs(), &["\"48151623\""]);
    }

    #[test]
    fn moments_move_by_days_and_by_parts() {
        let date = || gene(Domain::DateTime(DateTimeKind::Date), &"2020-02-28".into());
        // An order of moments is measured in days, their equality in the sum of the parts.
        check(&date(), 4000.0, &["\"2031-02-10\""]);
        check(&date(), 5.0, &["\"2025-02-28\"", "\"2020-07-28\""]);
        let time = gene(
            Domain::DateTime(DateTimeKind::LocalTime),
            &"12:00:00".into(),
        );
        check(&time, 7.0, &["\"19:00:00\"", "\"12:07:00\""]);
    }
}
