//! Values observed in responses, by name, for reuse in later calls.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::resource::plain_name;

/// Values by name. The newest push out the oldest.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValuePool {
    values: BTreeMap<String, Vec<Value>>,
}

/// Values kept for one name.
const KEPT: usize = 20;
/// Names kept in all.
const NAMES: usize = 2_000;
/// Items of a list that are looked at.
const ITEMS: usize = 5;

impl ValuePool {
    /// Takes the simple values of a response.
    pub(crate) fn learn(&mut self, body: &Value) {
        self.walk("", body, 6);
    }

    fn walk(&mut self, name: &str, value: &Value, depth: usize) {
        if depth == 0 {
            return;
        }
        match value {
            Value::Object(object) => object
                .iter()
                .for_each(|(name, value)| self.walk(name, value, depth - 1)),
            Value::Array(items) => items
                .iter()
                .take(ITEMS)
                .for_each(|item| self.walk(name, item, depth - 1)),
            Value::String(text) if text.len() > 200 => {}
            Value::String(_) | Value::Number(_) => self.add(plain_name(name), value),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn add(&mut self, name: String, value: &Value) {
        if name.is_empty() || (self.values.len() >= NAMES && !self.values.contains_key(&name)) {
            return;
        }
        let kept = self.values.entry(name).or_default();
        if kept.contains(value) {
            return;
        }
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(value.clone());
    }

    /// The values that were seen under a name.
    #[must_use]
    pub(crate) fn values(&self, name: &str) -> &[Value] {
        self.values
            .get(&plain_name(name))
            .map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_found_by_name_however_it_is_written() {
        let mut pool = ValuePool::default();
        pool.learn(&json!([{"boat_id": 7, "name": "Gull", "old": null}, {"boat_id": 8}]));
        assert_eq!(pool.values("boatId"), [json!(7), json!(8)]);
        assert_eq!(pool.values("old"), [] as [Value; 0]);
    }

    #[test]
    fn the_newest_push_out_the_oldest() {
        let mut pool = ValuePool::default();
        (0..30).for_each(|id| pool.learn(&json!({ "id": id })));
        assert_eq!(pool.values("id").len(), KEPT);
        assert_eq!(pool.values("id")[0], json!(10));
    }
}
