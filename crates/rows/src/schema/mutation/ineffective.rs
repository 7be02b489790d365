//! Ineffective mutants: still-born, impaired, equivalent and redundant.

use std::collections::hash_map::Entry;

use isobath_sql::{Dialect, Schema};
use rustc_hash::FxHashMap;

use super::mutant::Mutant;
use super::normal_form::{NormalForm, Normalizer};
use super::stillborn::{self, MutantDefect};

/// How mutants are sifted before any test is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FilterPipeline {
    /// The peer's default: foreign keys are looked at, structures are compared as they stand.
    Default,
    /// The pipeline behind the paper's numbers: structures are normalized before they are compared.
    Normalized,
    /// Ours: all that the engine refuses or ignores is known, and structures are normalized.
    #[default]
    Engine,
}

/// Why a mutant is not worth a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ineffective {
    /// The engine refuses its definition.
    StillBorn {
        /// Why.
        why: String,
    },
    /// The engine accepts its definition and then refuses every row.
    Impaired {
        /// Why.
        why: String,
    },
    /// It accepts exactly the rows of the original.
    Equivalent {
        /// Why, as a sentence.
        proof: String,
    },
    /// It accepts exactly the rows of an earlier mutant.
    Redundant {
        /// Index of that mutant.
        same_as: usize,
    },
}

/// Says of each mutant why it is of no use, `None` for those that are.
pub fn find_ineffective(
    schema: &Schema,
    dialect: &'static dyn Dialect,
    mutants: &[Mutant],
    pipeline: FilterPipeline,
) -> Vec<Option<Ineffective>> {
    let form = match pipeline {
        FilterPipeline::Default => NormalForm::Plain,
        FilterPipeline::Normalized => NormalForm::Normalized,
        FilterPipeline::Engine => NormalForm::Engine,
    };
    let normalizer = Normalizer::new(schema, dialect, form);
    let originals: Vec<_> = (0..schema.tables.len())
        .map(|table| normalizer.original(table))
        .collect();
    // Hashing the normal form of the one changed table replaces comparing all pairs of schemas.
    let mut seen = FxHashMap::default();
    mutants
        .iter()
        .enumerate()
        .map(|(index, mutant)| {
            let defect = match pipeline {
                FilterPipeline::Default | FilterPipeline::Normalized => {
                    stillborn::references_defect(mutant, dialect)
                }
                FilterPipeline::Engine => stillborn::defect(mutant, dialect),
            };
            match defect {
                Some(MutantDefect::StillBorn(why)) => return Some(Ineffective::StillBorn { why }),
                Some(MutantDefect::Impaired(why)) => return Some(Ineffective::Impaired { why }),
                None => {}
            }
            let normal = normalizer.mutant(mutant);
            if normal == originals[mutant.table] {
                let proof = "both say the same once written in the same way".to_owned();
                return Some(Ineffective::Equivalent { proof });
            }
            match seen.entry((mutant.table, normal)) {
                Entry::Occupied(earlier) => Some(Ineffective::Redundant {
                    same_as: *earlier.get(),
                }),
                Entry::Vacant(place) => {
                    place.insert(index);
                    None
                }
            }
        })
        .collect()
}

impl FilterPipeline {
    /// As flags spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Normalized => "normalized",
            Self::Engine => "engine",
        }
    }
}

impl Ineffective {
    /// The word for it in tables.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::StillBorn { .. } => "still-born",
            Self::Impaired { .. } => "impaired",
            Self::Equivalent { .. } => "equivalent",
            Self::Redundant { .. } => "redundant",
        }
    }
}
