//! Single cell values under search: sampling, and the moves of the alternating variable method.

pub(crate) mod avm;
pub(crate) mod values;
