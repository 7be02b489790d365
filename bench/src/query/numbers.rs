//! The numbers to reach, and those that were missed.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

/// What was held against the numbers to reach.
#[derive(Default)]
pub(super) struct Numbers {
    missed: Vec<String>,
    left_out: Vec<&'static str>,
}

impl Numbers {
    /// Notes a number that was or was not reached.
    pub(super) fn hold(&mut self, reached: bool, what: impl Into<String>) {
        if !reached {
            self.missed.push(what.into());
        }
    }

    /// Notes a number that nobody asked for.
    pub(super) fn leave_out(&mut self, what: &'static str) {
        self.left_out.push(what);
    }

    /// Says what was missed; whether nothing was.
    pub(super) fn print(&self) -> bool {
        println!();
        for missed in &self.missed {
            println!("missed: {missed}");
        }
        let all = self.missed.is_empty();
        if all && self.left_out.is_empty() {
            println!("every number is reached");
        } else if all {
            println!(
                "every number that was measured is reached; not measured: {} (--all measures everything)",
                self.left_out.join(", ")
            );
        }
        all
    }
}
