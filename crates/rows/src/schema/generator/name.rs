//! The generators by name.

use std::fmt;
use std::str::FromStr;

use isobath_sql::Schema;

use super::{Avm, Constructive, Domino, Generator, Random};

/// The generators to choose from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GeneratorName {
    /// Ours: builds rows, and proves when there are none.
    #[default]
    Default,
    /// DOMINO.
    Domino,
    /// DOMINO with the AVM for CHECKs.
    DominoAvm,
    /// The AVM from random values.
    AvmR,
    /// The AVM from default values.
    AvmD,
    /// Random+.
    Random,
}

/// An unknown generator name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown generator `{given}` (expected one of: {})",
    GeneratorName::ALL.map(GeneratorName::as_str).join(", ")
)]
pub struct UnknownGenerator {
    /// What was given.
    pub given: String,
}

impl GeneratorName {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Default,
        Self::Domino,
        Self::DominoAvm,
        Self::AvmR,
        Self::AvmD,
        Self::Random,
    ];

    /// As flags spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Domino => "domino",
            Self::DominoAvm => "domino-avm",
            Self::AvmR => "avm-r",
            Self::AvmD => "avm-d",
            Self::Random => "random",
        }
    }

    /// The generator itself, for a schema.
    pub fn generator(self, schema: &Schema) -> Box<dyn Generator> {
        match self {
            Self::Default => Box::new(Constructive),
            Self::Domino => Box::new(Domino::new(schema)),
            Self::DominoAvm => Box::new(Domino::with_avm(schema)),
            Self::AvmR => Box::new(Avm::from_random(schema)),
            Self::AvmD => Box::new(Avm::from_defaults(schema)),
            Self::Random => Box::new(Random::new(schema)),
        }
    }
}

impl fmt::Display for GeneratorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for GeneratorName {
    type Err = UnknownGenerator;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|name| name.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownGenerator {
                given: text.to_owned(),
            })
    }
}
