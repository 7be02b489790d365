//! Speed and effect, printed.

fn main() {}
