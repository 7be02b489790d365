//! The faults of a run, one for each identity.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::fault::{Fault, FaultKind};

/// Faults in the order of their first sight; looking one up takes as long with 50,000 of them as with one.
#[derive(Debug, Default)]
pub(crate) struct KnownFaults {
    list: Vec<Fault>,
    /// Places in the list, by kind and cause.
    places: BTreeMap<FaultKind, FxHashMap<Box<str>, usize>>,
}

impl KnownFaults {
    /// All of them.
    pub(crate) fn list(&self) -> &[Fault] {
        &self.list
    }

    fn place(&self, fault: &Fault) -> Option<usize> {
        self.places.get(&fault.kind)?.get(&*fault.cause).copied()
    }

    /// Whether a fault of the same identity is known.
    pub(crate) fn has(&self, fault: &Fault) -> bool {
        self.place(fault).is_some()
    }

    /// What is known under the identity of a fault.
    pub(crate) fn like(&mut self, fault: &Fault) -> Option<&mut Fault> {
        let place = self.place(fault)?;
        self.list.get_mut(place)
    }

    /// Adds a fault, or the operation that showed a known one.
    pub(crate) fn add(&mut self, fault: Fault) {
        if let Some(known) = self.like(&fault) {
            known.add_operation(&fault.operation);
            return;
        }
        let of_kind = self.places.entry(fault.kind).or_default();
        of_kind.insert(fault.cause.as_str().into(), self.list.len());
        self.list.push(fault);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_known_by_its_kind_and_cause() {
        let fault = |kind, cause: &str, operation: &str| Fault {
            kind,
            cause: cause.to_owned(),
            operation: operation.to_owned(),
            others: Default::default(),
            detail: String::new(),
            evidence: Vec::new(),
            calls: Vec::new(),
        };
        let mut known = KnownFaults::default();
        known.add(fault(FaultKind::ServerError, "a", "GET /a"));
        known.add(fault(FaultKind::TimedOut, "a", "GET /a"));
        known.add(fault(FaultKind::ServerError, "a", "GET /b"));
        assert_eq!(known.list().len(), 2);
        assert!(known.list()[0].others.contains("GET /b"));
        assert!(known.has(&fault(FaultKind::TimedOut, "a", "")));
        assert!(!known.has(&fault(FaultKind::TimedOut, "b", "")));
    }
}
