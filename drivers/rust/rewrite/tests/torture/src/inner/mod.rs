//! A module with modules of its own.
pub mod deep;

pub fn text() -> &'static str {
    include_str!("../../data/text.txt").trim()
}
