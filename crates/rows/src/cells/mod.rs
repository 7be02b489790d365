//! Single values of rows under search: how they are drawn, and how they move towards a goal.

pub(crate) mod avm;
pub(crate) mod values;
