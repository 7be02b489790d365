//! Articles: written as drafts or at once for everybody, read, changed and put away.

pub(crate) mod archive;
pub(crate) mod handlers;
pub(crate) mod model;
pub(crate) mod queries;
