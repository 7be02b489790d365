//! What there is to cover, as a driver knows it.

use std::io::Read;

use crate::channel::{self, ChannelError};
use crate::message::Event;
use crate::wire::{names, records};

names! {
    /// What kind of thing a target is.
    TargetKind {
        /// A statement is executed.
        1 => Statement,
        /// A condition, comparison or call comes out true, matches or finds something.
        2 => True,
        /// A condition, comparison or call comes out false, does not match or finds nothing.
        3 => False,
        /// An arm of a `match` or `switch` is taken.
        4 => Arm,
        /// An operation that may fail succeeds, and execution continues.
        5 => Proceed,
        /// An operation that may fail fails, and the function returns or throws.
        6 => Leave,
        /// The place panics, or throws what nobody expects; covering it shows a fault.
        7 => Fault,
    }
}

records! {
    /// One target.
    struct Target {
        /// The number of its cell.
        id: u32,
        /// What kind of thing it is.
        kind: TargetKind,
        /// The crate, package or module that it belongs to.
        unit: String,
        /// The source file, relative to the root of the project.
        file: String,
        /// The line, counted from one.
        line: u32,
        /// The column, counted from one.
        column: u32,
        /// The column in what was compiled, where that differs from the source.
        compiled_column: u32,
        /// The function around it.
        function: String,
        /// The source text, shortened.
        text: String,
    }
}

impl Target {
    /// A name that stays the same from build to build as long as the source does.
    pub fn label(&self) -> String {
        format!(
            "{}:{}:{} {:?} {}",
            self.file, self.line, self.column, self.kind, self.text
        )
    }
}

/// All targets of a system under test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetTable {
    targets: Vec<Target>,
}

impl TargetTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads what a build left behind: `Targets` messages, one after the other.
    ///
    /// # Errors
    ///
    /// When there is something else.
    pub fn read(from: &mut impl Read) -> Result<Self, ChannelError> {
        let mut table = Self::new();
        loop {
            match channel::receive(from) {
                Ok(Event::Targets { targets }) => table.extend(targets),
                Ok(_) => return Err(ChannelError::Unexpected),
                Err(ChannelError::Closed) => return Ok(table),
                Err(error) => return Err(error),
            }
        }
    }

    /// Adds targets.
    pub fn extend(&mut self, targets: Vec<Target>) {
        self.targets.extend(targets);
    }

    /// All of them, in the order in which they were made known.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// How many cells a map needs to hold all of them.
    pub fn cells(&self) -> u32 {
        let last = self.targets.iter().map(|target| target.id).max();
        last.map_or(0, |last| last.saturating_add(1))
    }
}
