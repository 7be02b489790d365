//! Impact of past mutations per site, which weights later mutations.

use rustc_hash::FxHashMap;

/// A place in a gene that stays the same from candidate to candidate: properties by position, all
/// items of an array together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GeneSite(u64);

impl GeneSite {
    pub(crate) const ROOT: Self = Self(0x9E37_79B9_7F4A_7C15);

    /// The site of a child; mixed so that sites of different paths differ.
    pub(crate) fn child(self, step: u64) -> Self {
        let mixed = (self.0 ^ step.wrapping_add(1)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        Self(mixed ^ (mixed >> 29))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Credit {
    n_tries: u32,
    n_mattered: u32,
}

/// How often a change at each site was tried, and how often it mattered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impacts {
    // Only ever looked up by key, so its order cannot leak into an outcome.
    credits: FxHashMap<GeneSite, Credit>,
}

impl Impacts {
    /// Notes that a change at `site` was tried, and whether it made a difference that counts.
    pub fn record(&mut self, site: GeneSite, mattered: bool) {
        let credit = self.credits.entry(site).or_default();
        credit.n_tries = credit.n_tries.saturating_add(1);
        credit.n_mattered = credit.n_mattered.saturating_add(u32::from(mattered));
    }

    /// The relative chance of a site to be changed; 1 where nothing is known.
    ///
    /// It is the smoothed rate at which change mattered, doubled. It never reaches zero: a site
    /// that is idle now may matter behind the next branch.
    #[must_use]
    pub fn weight(&self, site: GeneSite) -> f64 {
        match self.credits.get(&site) {
            Some(credit) => {
                let rate = (f64::from(credit.n_mattered) + 1.0) / (f64::from(credit.n_tries) + 2.0);
                (2.0 * rate).max(0.1)
            }
            None => 1.0,
        }
    }

    /// Whether nothing has been recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.credits.is_empty()
    }
}
