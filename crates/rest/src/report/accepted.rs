//! Faults that people have accepted: they are reported and fail no run.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::fault::Fault;

/// An accepted fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedFault {
    /// Why it is accepted.
    pub reason: String,
    /// The last day on which it is.
    pub expires: Option<Date>,
}

/// The status of a fault in the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BaselineStatus {
    /// Nobody has accepted it.
    New,
    /// It is accepted, for a reason.
    Known(String),
    /// It was accepted until a day that is over.
    Expired(Date),
}

/// Accepted faults, on the day of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedFaults {
    /// The faults, by fingerprint.
    pub known: BTreeMap<String, AcceptedFault>,
    /// The day.
    pub today: Date,
}

impl AcceptedFaults {
    /// The status of a fault.
    #[must_use]
    pub fn status(&self, fault: &Fault) -> BaselineStatus {
        match self.known.get(&fault.fingerprint()) {
            None => BaselineStatus::New,
            Some(AcceptedFault {
                expires: Some(day), ..
            }) if *day < self.today => BaselineStatus::Expired(*day),
            Some(known) => BaselineStatus::Known(known.reason.clone()),
        }
    }

    /// Fingerprints of accepted faults that are not among these, with their reasons.
    pub fn unmet<'f>(&self, faults: impl Iterator<Item = &'f Fault>) -> Vec<(&str, &str)> {
        let met: Vec<String> = faults.map(Fault::fingerprint).collect();
        let known = self.known.iter();
        known
            .filter(|(print, _)| !met.contains(print))
            .map(|(print, known)| (print.as_str(), known.reason.as_str()))
            .collect()
    }
}
