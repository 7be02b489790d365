//! Keys of `isobath.toml`, derived from the flags of each command.

use std::any::TypeId;
use std::path::PathBuf;

use clap::builder::ValueHint;
use clap::{Arg, ArgAction, Command};

/// A flag or an argument of a job that may be set in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConfigKey<'c> {
    /// The flag itself.
    pub arg: &'c Arg,
}

/// All keys of a job.
pub(super) fn keys(job: &Command) -> impl Iterator<Item = ConfigKey<'_>> {
    let about_the_file = ["help", "version", "config", "no_config"];
    job.get_arguments()
        .filter(move |arg| !arg.is_hide_set() && !about_the_file.contains(&arg.get_id().as_str()))
        .map(|arg| ConfigKey { arg })
}

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// Yes or no.
    Truth,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A text.
    Text,
}

impl ConfigKey<'_> {
    /// The name in the file.
    pub(super) fn name(&self) -> String {
        match self.arg.get_long() {
            Some(long) => long.to_owned(),
            None => self.arg.get_id().as_str().replace('_', "-"),
        }
    }

    /// Whether several values may be given.
    pub(super) fn is_list(&self) -> bool {
        let several = self.arg.get_num_args().is_some_and(|n| n.max_values() > 1);
        several || matches!(self.arg.get_action(), ArgAction::Append)
    }

    /// What one value is.
    pub(super) fn takes(&self) -> ValueKind {
        if !self.arg.get_action().takes_values() {
            return ValueKind::Truth;
        }
        let is = |id: TypeId| self.arg.get_value_parser().type_id() == id;
        if is(TypeId::of::<bool>()) {
            ValueKind::Truth
        } else if [
            TypeId::of::<u64>(),
            TypeId::of::<usize>(),
            TypeId::of::<u32>(),
            TypeId::of::<u16>(),
        ]
        .into_iter()
        .any(is)
        {
            ValueKind::Integer
        } else if is(TypeId::of::<f64>()) {
            ValueKind::Number
        } else {
            ValueKind::Text
        }
    }

    /// Whether values are files or folders, which are relative to the file that names them.
    pub(super) fn is_path(&self) -> bool {
        self.arg.get_value_parser().type_id() == TypeId::of::<PathBuf>()
            || self.arg.get_value_hint() == ValueHint::FilePath
    }
}
