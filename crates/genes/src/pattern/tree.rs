//! The syntax tree of a pattern, flattened, with minimum and maximum length of each part.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::PatternError;

/// The greatest least length of a text that is still worth deriving.
const LONGEST: u32 = 100_000;

/// Index of a part.
pub(super) type PartId = u32;

/// The parts of a pattern; children stand before their parents, the last is the root.
pub(super) struct Tree {
    pub(super) parts: Vec<PatternPart>,
    pub(super) root: PartId,
}

/// One part of a pattern.
pub(super) struct PatternPart {
    pub(super) kind: PartKind,
    /// Least number of characters.
    pub(super) min: u32,
    /// Greatest number of characters; `u32::MAX` is no limit.
    pub(super) max: u32,
}

pub(super) enum PartKind {
    Literal(Box<str>),
    Class(CharSet),
    Look(Look),
    Repeat { sub: PartId, min: u32, max: u32 },
    Concat(Box<[PartId]>),
    Alternation(Box<[PartId]>),
}

/// A set of characters, and those of it that people like to read.
pub(super) struct CharSet {
    pub(super) ranges: Box<[(char, char)]>,
    pub(super) liked: Box<[(char, char)]>,
}

impl CharSet {
    fn new(ranges: Vec<(char, char)>) -> Self {
        const LIKED: [(char, char); 3] = [('a', 'z'), ('0', '9'), ('A', 'Z')];
        const SHOWN: [(char, char); 1] = [(' ', '~')];
        let mut liked = overlap(&ranges, &LIKED);
        if liked.is_empty() {
            liked = overlap(&ranges, &SHOWN);
        }
        Self {
            ranges: ranges.into(),
            liked: liked.into(),
        }
    }

    pub(super) fn contains(&self, c: char) -> bool {
        self.ranges
            .binary_search_by(|&(low, high)| {
                if high < c {
                    std::cmp::Ordering::Less
                } else if low > c {
                    std::cmp::Ordering::Greater
                } else {
                    std::cmp::Ordering::Equal
                }
            })
            .is_ok()
    }
}

fn overlap(ranges: &[(char, char)], with: &[(char, char)]) -> Vec<(char, char)> {
    let mut found = Vec::new();
    for &(low, high) in ranges {
        for &(a, b) in with {
            if low.max(a) <= high.min(b) {
                found.push((low.max(a), high.min(b)));
            }
        }
    }
    found
}

impl Tree {
    pub(super) fn new(hir: &Hir) -> Result<Self, PatternError> {
        let mut tree = Self {
            parts: Vec::new(),
            root: 0,
        };
        let body = tree.add(hir)?;
        // JSON Schema searches for the pattern: what is not anchored may have text around it.
        let properties = hir.properties();
        let mut whole = Vec::with_capacity(3);
        if !properties.look_set_prefix().contains(Look::Start) {
            whole.push(tree.anything()?);
        }
        whole.push(body);
        if !properties.look_set_suffix().contains(Look::End) {
            whole.push(tree.anything()?);
        }
        tree.root = tree.concat(whole)?;
        Ok(tree)
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "indexes of parts come from the tree that they are used with"
    )]
    pub(super) fn part(&self, id: PartId) -> &PatternPart {
        &self.parts[id as usize]
    }

    /// Whether there are conditions that a derivation does not meet by itself.
    pub(super) fn has_inner_looks(&self) -> bool {
        let is_look = |part: &&PatternPart| matches!(part.kind, PartKind::Look(_));
        let n_looks = self.parts.iter().filter(is_look).count();
        let mut n_outer = 0;
        let mut id = self.root;
        // A pattern such as `^…$` is a concatenation with a look at either end.
        while let PartKind::Concat(subs) = &self.part(id).kind {
            if let [first, .., last] = &**subs {
                let is =
                    |id: PartId, look| matches!(self.part(id).kind, PartKind::Look(l) if l == look);
                n_outer += usize::from(is(*first, Look::Start)) + usize::from(is(*last, Look::End));
                break;
            }
            match &**subs {
                [only] => id = *only,
                _ => break,
            }
        }
        n_looks > n_outer
    }

    fn anything(&mut self) -> Result<PartId, PatternError> {
        // Blanks are liked here, because a word boundary needs something that is not a word.
        let any = CharSet {
            ranges: [('\0', '\u{D7FF}'), ('\u{E000}', char::MAX)].into(),
            liked: [('a', 'z'), ('0', '9'), (' ', ' ')].into(),
        };
        let any = self.push(PartKind::Class(any), 1, 1)?;
        self.push(
            PartKind::Repeat {
                sub: any,
                min: 0,
                max: u32::MAX,
            },
            0,
            u32::MAX,
        )
    }

    fn push(&mut self, kind: PartKind, min: u32, max: u32) -> Result<PartId, PatternError> {
        if min > LONGEST || self.parts.len() > 200_000 {
            return Err(PatternError::TooLong);
        }
        self.parts.push(PatternPart { kind, min, max });
        Ok(
            PartId::try_from(self.parts.len() - 1)
                .expect("fewer parts than the check above allows"),
        )
    }

    fn concat(&mut self, subs: Vec<PartId>) -> Result<PartId, PatternError> {
        if let [only] = *subs {
            return Ok(only);
        }
        let min = subs
            .iter()
            .fold(0u32, |n, &id| n.saturating_add(self.part(id).min));
        let max = subs
            .iter()
            .fold(0u32, |n, &id| n.saturating_add(self.part(id).max));
        self.push(PartKind::Concat(subs.into()), min, max)
    }

    fn add(&mut self, hir: &Hir) -> Result<PartId, PatternError> {
        match hir.kind() {
            HirKind::Empty => self.push(PartKind::Literal("".into()), 0, 0),
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0)
                    .map_err(|_| PatternError::Syntax("bytes that are not text".into()))?;
                let n = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
                self.push(PartKind::Literal(text.into()), n, n)
            }
            HirKind::Class(Class::Unicode(class)) => {
                let ranges: Vec<_> = class.iter().map(|r| (r.start(), r.end())).collect();
                if ranges.is_empty() {
                    return Err(PatternError::NoText);
                }
                self.push(PartKind::Class(CharSet::new(ranges)), 1, 1)
            }
            HirKind::Class(Class::Bytes(class)) => {
                let ranges: Vec<_> = class
                    .iter()
                    .map(|r| (char::from(r.start()), char::from(r.end())))
                    .collect();
                if ranges.is_empty() {
                    return Err(PatternError::NoText);
                }
                self.push(PartKind::Class(CharSet::new(ranges)), 1, 1)
            }
            HirKind::Look(look) => self.push(PartKind::Look(*look), 0, 0),
            HirKind::Repetition(repetition) => {
                let sub = self.add(&repetition.sub)?;
                let max = repetition.max.unwrap_or(u32::MAX);
                let part = self.part(sub);
                let least = part.min.saturating_mul(repetition.min);
                let most = part.max.saturating_mul(max);
                self.push(
                    PartKind::Repeat {
                        sub,
                        min: repetition.min,
                        max,
                    },
                    least,
                    most,
                )
            }
            HirKind::Capture(capture) => self.add(&capture.sub),
            HirKind::Concat(subs) => {
                let subs = subs
                    .iter()
                    .map(|sub| self.add(sub))
                    .collect::<Result<_, _>>()?;
                self.concat(subs)
            }
            HirKind::Alternation(subs) => {
                // A branch that nothing matches is no choice; the others are.
                let subs: Vec<PartId> = subs
                    .iter()
                    .filter_map(|sub| match self.add(sub) {
                        Err(PatternError::NoText) => None,
                        other => Some(other),
                    })
                    .collect::<Result<_, _>>()?;
                let min = subs.iter().map(|&id| self.part(id).min).min();
                let max = subs.iter().map(|&id| self.part(id).max).max();
                let (min, max) = min.zip(max).ok_or(PatternError::NoText)?;
                self.push(PartKind::Alternation(subs.into()), min, max)
            }
        }
    }
}
