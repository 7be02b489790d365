//! Samples strings from a pattern, whole or one part at a time.

use fastrand::Rng;

use super::parse::Span;
use super::tree::{CharSet, PartId, PartKind, Tree};

impl Tree {
    /// Appends a text of about an allowed length; the caller checks, and tries again.
    pub(super) fn sample(
        &self,
        rng: &mut Rng,
        min: u32,
        max: Option<u32>,
        attempt: u32,
        out: &mut String,
    ) {
        let root = self.part(self.root);
        // Early attempts stay short; later ones spread over all the allowed lengths.
        let usual = 4 + attempt / 4;
        let low = min.saturating_sub(root.min);
        let high = max
            .unwrap_or(u32::MAX)
            .saturating_sub(root.min)
            .min(root.max.saturating_sub(root.min))
            .min(low.saturating_add(usual));
        let grow = rng.u32(low.min(high)..=high.max(low.min(high)));
        self.derive(rng, self.root, grow, out);
    }

    /// Appends a text of part `id` with about `grow` characters more than its least length.
    fn derive(&self, rng: &mut Rng, id: PartId, grow: u32, out: &mut String) {
        match &self.part(id).kind {
            PartKind::Literal(text) => out.push_str(text),
            PartKind::Class(set) => out.push(pick(rng, set)),
            PartKind::Look(_) => {}
            PartKind::Repeat { sub, min, max } => {
                let each = self.part(*sub).min;
                let most = grow.checked_div(each).unwrap_or(3);
                let more = most.min(max - min);
                // Parts that cannot grow themselves have to be many to fill the length.
                let fixed = self.part(*sub).max == each;
                let n = min
                    + if fixed || more == 0 {
                        more
                    } else {
                        rng.u32(0..=more)
                    };
                let mut left = grow.saturating_sub((n - min) * each);
                for i in 0..n {
                    let share = if i + 1 == n { left } else { rng.u32(0..=left) };
                    let share = share.min(self.part(*sub).max.saturating_sub(each));
                    self.derive(rng, *sub, share, out);
                    left -= share;
                }
            }
            PartKind::Concat(subs) => {
                let room = |id: PartId| self.part(id).max - self.part(id).min;
                let n_elastic = subs.iter().filter(|&&id| room(id) > 0).count();
                // Free text around an unanchored pattern is allowed, and rarely what was meant.
                let mut left = grow;
                let mut seen = 0;
                for &sub in subs {
                    let share = match room(sub) {
                        0 => 0,
                        room => {
                            seen += 1;
                            let share = if seen == n_elastic {
                                left
                            } else {
                                rng.u32(0..=left)
                            };
                            share.min(room)
                        }
                    };
                    self.derive(rng, sub, share, out);
                    left -= share;
                }
            }
            PartKind::Alternation(subs) => {
                let length = self.part(id).min.saturating_add(grow);
                let Some(&sub) = rng.choice(subs) else {
                    return;
                };
                let part = self.part(sub);
                self.derive(rng, sub, length.min(part.max).saturating_sub(part.min), out);
            }
        }
    }

    /// Writes `text` with one of its parts derived anew; false when no part can differ.
    pub(super) fn vary(&self, rng: &mut Rng, text: &str, spans: &[Span], out: &mut String) -> bool {
        let elastic = |span: &&Span| match &self.part(span.part).kind {
            PartKind::Literal(_) | PartKind::Look(_) | PartKind::Concat(_) => false,
            PartKind::Class(set) => match &*set.ranges {
                [(low, high)] => low != high,
                ranges => ranges.len() > 1,
            },
            PartKind::Repeat { min, max, .. } => min != max,
            PartKind::Alternation(subs) => subs.len() > 1,
        };
        let n = spans.iter().filter(elastic).count();
        if n == 0 {
            return false;
        }
        let Some(span) = spans.iter().filter(elastic).nth(rng.usize(..n)) else {
            return false;
        };
        let old = &text[span.start..span.end];
        out.push_str(&text[..span.start]);
        let part = self.part(span.part);
        match (&part.kind, old.chars().next()) {
            (PartKind::Class(set), Some(c)) => out.push(near(rng, set, c)),
            _ => {
                let len = u32::try_from(old.chars().count()).unwrap_or(u32::MAX);
                let grow = len.saturating_sub(part.min);
                let grow = if rng.bool() {
                    grow + 1
                } else {
                    grow.saturating_sub(1)
                };
                self.derive(rng, span.part, grow, out);
            }
        }
        out.push_str(&text[span.end..]);
        true
    }
}

fn pick(rng: &mut Rng, set: &CharSet) -> char {
    let ranges = if set.liked.is_empty() || rng.u8(0..40) == 0 {
        &set.ranges
    } else {
        &set.liked
    };
    let (low, high) = *rng
        .choice(ranges)
        .expect("a set without characters is no part");
    rng.char(low..=high)
}

/// A different character of the set: next to `c`, or any.
fn near(rng: &mut Rng, set: &CharSet, c: char) -> char {
    let by = if rng.bool() { 1 } else { u32::MAX };
    char::from_u32(u32::from(c).wrapping_add(by))
        .filter(|&next| rng.bool() && set.contains(next))
        .unwrap_or_else(|| pick(rng, set))
}
