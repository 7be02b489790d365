//! Targets by name and by index.

use rustc_hash::FxHashMap;

/// A target, as a number.
///
/// Invariant: numbers are dense, because the archive is indexed by them. Take
/// them from one [`Targets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(u32);

impl TargetId {
    /// The target at a place in a dense numbering of one's own.
    ///
    /// # Panics
    ///
    /// When there are more than four thousand million targets.
    pub fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("a run has fewer than four thousand million targets"))
    }

    /// Its place in the dense numbering.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Numbers for the names of targets, in the order in which they were first seen.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    names: Vec<Box<str>>,
    ids: FxHashMap<Box<str>, TargetId>,
}

impl Targets {
    /// The number of a name; a name that was never seen gets the next one.
    pub fn id(&mut self, name: &str) -> TargetId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = TargetId::from_index(self.names.len());
        self.names.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }

    /// The number of a name, if it was seen.
    pub fn get(&self, name: &str) -> Option<TargetId> {
        self.ids.get(name).copied()
    }

    /// The name behind a number; empty when it is not of this numbering.
    pub fn name(&self, id: TargetId) -> &str {
        self.names.get(id.index()).map_or("", |name| name)
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// All names, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (TargetId, &str)> {
        self.names
            .iter()
            .enumerate()
            .map(|(index, name)| (TargetId::from_index(index), &**name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_in_the_order_of_their_first_sight() {
        let mut targets = Targets::default();
        let ids = ["b", "a", "b"].map(|name| targets.id(name).index());
        assert_eq!(ids, [0, 1, 0]);
        assert_eq!(targets.name(TargetId::from_index(1)), "a");
        assert_eq!(targets.name(TargetId::from_index(9)), "");
        assert_eq!(targets.get("c"), None);
        assert_eq!(targets.iter().count(), targets.len());
    }
}
