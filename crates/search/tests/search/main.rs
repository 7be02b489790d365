//! Each algorithm does what it says, on problems about bits and numbers.

mod algorithms;
mod minimizing;
mod model;
mod problems;
mod quality;
mod runs;
