//! The coverage map in shared memory: one cell per target, and a bit for each touched one.
//!
//! ```text
//! word 0      magic
//! word 1      version << 32 | number of targets
//! word 2      candidate, counted by the core
//! word 3      action, set by the core before it acts
//! word 4–7    zero
//! then        one bit per target: touched since the core cleared the map
//! then        one cell per target
//! ```
//!
//! A cell holds the best score since the map was cleared and the first action
//! that had it. Positive floating-point numbers are ordered as their bits, so
//! one atomic maximum keeps both: the score in the upper 48 bits (no score needs
//! the sign bit or the top bit of the exponent, which leaves 38 bits of mantissa)
//! and the action, counted downwards so that the earlier one is the greater, in
//! the lower 16. Zero is a target that was not reached.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::memory::Memory;
use crate::message::VERSION;

/// The score of a covered target.
pub const COVERED: f64 = 1.0;

/// The first word of every map.
const MAGIC: u64 = u64::from_le_bytes(*b"ISOBATH\0");
/// Words before the bits.
const HEADER: usize = 8;
/// No system under test has more targets, so a greater number is garbage.
const MAX_TARGETS: u32 = 1 << 26;
/// The lower bits of a cell.
const ACTION_BITS: u32 = 16;
/// The greatest action that a cell can name; later ones count as this one.
const LAST_ACTION: u64 = (1 << ACTION_BITS) - 1;

/// The score of a target that is `distance` from being covered, below [`COVERED`].
///
/// There is no base that says "reached": being greater than zero says so, and a
/// base would swallow the steps of a target that is still far away.
pub fn score(distance: f64) -> f64 {
    let distance = if distance >= 0.0 { distance } else { f64::MAX };
    (0.999 / (1.0 + distance)).max(f64::MIN_POSITIVE)
}

/// The distance that a [`score`] below [`COVERED`] stands for; `None` where it stands for none.
pub fn distance(score: f64) -> Option<f64> {
    let distance = 0.999 / score - 1.0;
    (score > 0.0 && score < COVERED && distance.is_finite()).then_some(distance.max(0.0))
}

/// A target that was reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReachedTarget {
    /// Its number.
    pub target: u32,
    /// Its best score, above zero; [`COVERED`] when it is covered.
    pub score: f64,
    /// The first action with that score.
    pub action: u16,
}

/// The cells, shared between the core and the drivers of one system under test.
#[derive(Debug)]
pub struct CoverageMap {
    memory: Memory,
    targets: u32,
}

impl CoverageMap {
    /// Makes the file of a map, all targets not reached; for the core.
    ///
    /// # Errors
    ///
    /// When the file cannot be made, or there are more targets than any map holds.
    pub fn create(path: &Path, targets: u32) -> Result<Self, MapError> {
        if targets > MAX_TARGETS {
            return Err(MapError::TooManyTargets(targets));
        }
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)?;
        let words = words(targets);
        file.set_len((words * size_of::<u64>()) as u64)?;
        let memory = Memory::map(&file, words)?;
        let header = header(&memory);
        header[1].store(u64::from(VERSION) << 32 | u64::from(targets), Relaxed);
        // Whoever sees the magic also sees the rest of the header.
        header[0].store(MAGIC, Release);
        Ok(Self { memory, targets })
    }

    /// Opens the file of a map; for drivers.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened, or is not a map of this version.
    pub fn open(path: &Path) -> Result<Self, MapError> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let beginning = Memory::map(&file, HEADER)?;
        let header = header(&beginning);
        if header[0].load(Acquire) != MAGIC {
            return Err(MapError::NotAMap);
        }
        let sizes = header[1].load(Relaxed);
        let version = (sizes >> 32) as u32;
        if version != VERSION {
            return Err(MapError::Version(version));
        }
        let targets = sizes as u32;
        if targets > MAX_TARGETS {
            return Err(MapError::TooManyTargets(targets));
        }
        let memory = Memory::map(&file, words(targets))?;
        Ok(Self { memory, targets })
    }

    /// How many targets have a cell.
    pub fn targets(&self) -> u32 {
        self.targets
    }

    /// Forgets all scores and starts the next candidate, at its first action; for the core.
    pub fn begin_candidate(&self) {
        self.clear();
        let header = header(&self.memory);
        header[3].store(0, Release);
        header[2].fetch_add(1, AcqRel);
    }

    /// What is recorded from now on belongs to this action; for the core.
    pub fn begin_action(&self, action: u16) {
        header(&self.memory)[3].store(u64::from(action), Release);
    }

    /// The number of the current candidate, counted from one.
    pub fn candidate(&self) -> u64 {
        header(&self.memory)[2].load(Acquire)
    }

    /// The current action.
    pub fn action(&self) -> u16 {
        header(&self.memory)[3].load(Relaxed).min(LAST_ACTION) as u16
    }

    /// Appends every target reached since the candidate began, in order; for the core.
    ///
    /// Cells that hold no score (a driver gone wild) are left out.
    pub fn read(&self, reached: &mut Vec<ReachedTarget>) {
        for (n, word) in self.bits().iter().enumerate() {
            let mut bits = word.load(Acquire);
            while bits != 0 {
                let target = n as u32 * u64::BITS + bits.trailing_zeros();
                bits &= bits - 1;
                let cell = self.cell(target).map_or(0, |cell| cell.load(Relaxed));
                let (score, action) = unpack(cell);
                if score > 0.0 && score <= COVERED {
                    reached.push(ReachedTarget {
                        target,
                        score,
                        action,
                    });
                }
            }
        }
    }

    /// The target was covered by the current action; for drivers.
    pub fn cover(&self, target: u32) {
        self.record(target, COVERED);
    }

    /// The target was reached with a score by the current action; for drivers.
    ///
    /// A target that is not in the map is ignored.
    pub fn record(&self, target: u32, score: f64) {
        let Some(cell) = self.cell(target) else {
            return;
        };
        let packed = pack(score, header(&self.memory)[3].load(Relaxed));
        // Most events repeat what is known, and a load is cheaper than a maximum.
        if cell.load(Relaxed) >> ACTION_BITS >= packed >> ACTION_BITS {
            return;
        }
        if cell.fetch_max(packed, Relaxed) == 0
            && let Some(bits) = self.bits().get((target / u64::BITS) as usize)
        {
            bits.fetch_or(1 << (target % u64::BITS), Ordering::Release);
        }
    }

    /// Whether the target is covered since the candidate began; for drivers.
    pub fn covered(&self, target: u32) -> bool {
        self.cell(target).is_some_and(|cell| {
            cell.load(Relaxed) >> ACTION_BITS >= pack(COVERED, 0) >> ACTION_BITS
        })
    }

    /// Clears what was touched, and only that.
    ///
    /// The bits go first: a driver that stores in between either finds its cell
    /// not empty, and the value is lost with the candidate it belonged to, or
    /// empty, and sets the bit again. No cell ever keeps a value without a bit.
    fn clear(&self) {
        for (n, word) in self.bits().iter().enumerate() {
            if word.load(Relaxed) == 0 {
                continue;
            }
            let mut bits = word.swap(0, AcqRel);
            while bits != 0 {
                let target = n as u32 * u64::BITS + bits.trailing_zeros();
                bits &= bits - 1;
                if let Some(cell) = self.cell(target) {
                    cell.store(0, Relaxed);
                }
            }
        }
    }

    fn bits(&self) -> &[AtomicU64] {
        self.memory
            .get(HEADER..HEADER + bit_words(self.targets))
            .unwrap_or_default()
    }

    fn cell(&self, target: u32) -> Option<&AtomicU64> {
        if target >= self.targets {
            return None;
        }
        self.memory
            .get(HEADER + bit_words(self.targets) + target as usize)
    }
}

/// Why there is no map.
#[derive(Debug)]
pub enum MapError {
    /// The file cannot be made, opened or mapped.
    Io(io::Error),
    /// The file is something else.
    NotAMap,
    /// The file is a map of another version.
    Version(u32),
    /// More targets than any map holds.
    TooManyTargets(u32),
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "failed to access the coverage map: {error}"),
            Self::NotAMap => f.write_str("the file is not a coverage map"),
            Self::Version(version) => write!(
                f,
                "the coverage map has version {version}, expected {VERSION}; use driver and core of the same release"
            ),
            Self::TooManyTargets(targets) => write!(
                f,
                "{targets} targets exceed the limit of {MAX_TARGETS}; exclude parts of the system under test"
            ),
        }
    }
}

impl std::error::Error for MapError {}

impl From<io::Error> for MapError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The words before the bits.
fn header(memory: &Memory) -> &[AtomicU64; HEADER] {
    memory
        .first_chunk()
        .expect("no map is shorter than its header")
}

fn words(targets: u32) -> usize {
    HEADER + bit_words(targets) + targets as usize
}

fn bit_words(targets: u32) -> usize {
    targets.div_ceil(u64::BITS) as usize
}

fn pack(score: f64, action: u64) -> u64 {
    let score = if score.is_nan() { 0.0 } else { score };
    let bits = score.clamp(f64::MIN_POSITIVE, COVERED).to_bits();
    (bits << 2) & !LAST_ACTION | (LAST_ACTION - action.min(LAST_ACTION))
}

fn unpack(cell: u64) -> (f64, u16) {
    let score = f64::from_bits((cell & !LAST_ACTION) >> 2);
    (score, (LAST_ACTION - (cell & LAST_ACTION)) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(targets: u32) -> (tempfile::TempDir, CoverageMap) {
        let folder = tempfile::tempdir().expect("a folder for the map");
        let map = CoverageMap::create(&folder.path().join("map"), targets).expect("a map");
        (folder, map)
    }

    fn read(map: &CoverageMap) -> Vec<ReachedTarget> {
        let mut reached = Vec::new();
        map.read(&mut reached);
        reached
    }

    #[test]
    fn a_score_tells_the_distance_that_it_stands_for() {
        for one in [0.0, 0.5, 1.0, 48_151_616.0, 1e12] {
            let told = distance(score(one)).expect("a distance");
            assert!((told - one).abs() <= 1e-9 + one * 1e-12, "{one}: {told}");
        }
        assert_eq!(distance(COVERED), None);
        assert_eq!(distance(0.0), None);
        assert_eq!(distance(f64::NAN), None);
    }

    #[test]
    fn the_best_score_and_its_first_action_are_kept() {
        let (folder, core) = map(200);
        let driver = CoverageMap::open(&folder.path().join("map")).unwrap();
        core.begin_candidate();
        driver.record(130, 0.25);
        core.begin_action(1);
        driver.record(130, 0.5);
        core.begin_action(2);
        driver.record(130, 0.5);
        driver.record(130, 0.125);
        driver.cover(7);
        let seen = read(&core);
        assert_eq!(
            seen,
            [
                ReachedTarget {
                    target: 7,
                    score: 1.0,
                    action: 2
                },
                ReachedTarget {
                    target: 130,
                    score: 0.5,
                    action: 1
                },
            ]
        );
        assert!(driver.covered(7) && !driver.covered(130));
    }

    #[test]
    fn a_new_candidate_starts_from_nothing() {
        let (_folder, map) = map(65);
        map.begin_candidate();
        map.begin_action(3);
        map.cover(64);
        map.begin_candidate();
        assert_eq!(read(&map), []);
        assert_eq!((map.action(), map.candidate()), (0, 2));
        map.cover(64);
        assert_eq!(read(&map).len(), 1);
    }

    #[test]
    fn far_targets_still_feel_single_steps() {
        let (_folder, map) = map(2);
        map.record(0, score(1_000_000_000.0));
        map.record(1, score(999_999_999.0));
        let seen = read(&map);
        assert!(seen[1].score > seen[0].score, "{seen:?}");
    }

    #[test]
    fn a_driver_gone_wild_harms_nobody() {
        let (_folder, map) = map(10);
        map.record(10, 1.0);
        map.record(u32::MAX, 1.0);
        map.record(0, f64::NAN);
        map.record(1, f64::INFINITY);
        map.record(2, -3.0);
        for word in map.memory.iter().skip(HEADER) {
            word.store(u64::MAX, Relaxed);
        }
        assert!(read(&map).len() <= 10);
        map.begin_candidate();
        assert_eq!(read(&map), []);
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other");
        std::fs::write(&path, [7; 4096]).unwrap();
        assert!(matches!(CoverageMap::open(&path), Err(MapError::NotAMap)));
        std::fs::write(&path, "short").unwrap();
        assert!(matches!(CoverageMap::open(&path), Err(MapError::Io(_))));
        let mut header = Vec::new();
        header.extend(MAGIC.to_le_bytes());
        header.extend((u64::from(VERSION) << 32 | 1000).to_le_bytes());
        header.resize(HEADER * 8, 0);
        std::fs::write(&path, header).unwrap();
        assert!(
            matches!(CoverageMap::open(&path), Err(MapError::Io(_))),
            "too short for its targets"
        );
    }
}
