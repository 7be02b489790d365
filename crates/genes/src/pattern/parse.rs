//! Parses a string into the parts of the pattern that it matches.
//!
//! A backtracking matcher that remembers which part matched where. It is bounded in steps and text
//! length, because all it has to do is find a place to change; when it gives up, the caller draws a
//! fresh text.

use regex_syntax::hir::Look;

use super::tree::{PartId, PartKind, Tree};

const MAX_TEXT: usize = 256;
const MAX_STEPS: u32 = 20_000;

/// A part of the pattern and the bytes of the text it matched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) part: PartId,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// How the whole text is made of parts, or `None` if it is not or the search got too long.
pub(super) fn derivation(tree: &Tree, text: &str) -> Option<Vec<Span>> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let mut matcher = Matcher {
        tree,
        text,
        spans: Vec::new(),
        steps: 0,
    };
    matcher
        .part(tree.root, 0, &mut |_, end| end == text.len())
        .then_some(matcher.spans)
}

struct Matcher<'a> {
    tree: &'a Tree,
    text: &'a str,
    spans: Vec<Span>,
    steps: u32,
}

/// What has to match after the part at hand.
type Next<'n, 'a> = &'n mut dyn FnMut(&mut Matcher<'a>, usize) -> bool;

impl<'a> Matcher<'a> {
    fn part(&mut self, id: PartId, start: usize, next: Next<'_, 'a>) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return false;
        }
        let tree = self.tree;
        match &tree.part(id).kind {
            PartKind::Literal(literal) => {
                self.text[start..].starts_with(&**literal) && next(self, start + literal.len())
            }
            PartKind::Class(set) => match self.text[start..].chars().next() {
                Some(c) if set.contains(c) => {
                    self.set_taint_marker(id, start, start + c.len_utf8(), next)
                }
                _ => false,
            },
            PartKind::Look(look) => self.looks(*look, start) && next(self, start),
            PartKind::Repeat { sub, min, max } => self.repeat(id, (*sub, *min, *max), start, next),
            PartKind::Concat(subs) => self.sequence(subs, start, next),
            PartKind::Alternation(subs) => subs.iter().any(|&sub| {
                self.part(sub, start, &mut |this, end| {
                    this.set_taint_marker(id, start, end, next)
                })
            }),
        }
    }

    /// Continues with the span noted, and takes the note back if that fails.
    fn set_taint_marker(
        &mut self,
        part: PartId,
        start: usize,
        end: usize,
        next: Next<'_, 'a>,
    ) -> bool {
        let n = self.spans.len();
        self.spans.push(Span { part, start, end });
        let matched = next(self, end);
        if !matched {
            self.spans.truncate(n);
        }
        matched
    }

    fn sequence(&mut self, subs: &'a [PartId], start: usize, next: Next<'_, 'a>) -> bool {
        match subs.split_first() {
            None => next(self, start),
            Some((&first, rest)) => self.part(first, start, &mut |this, end| {
                this.sequence(rest, end, next)
            }),
        }
    }

    fn repeat(
        &mut self,
        id: PartId,
        (sub, min, max): (PartId, u32, u32),
        start: usize,
        next: Next<'_, 'a>,
    ) -> bool {
        // Repeated classes are nearly all repetitions there are; they need no recursion.
        if let PartKind::Class(set) = &self.tree.part(sub).kind {
            let mut ends = vec![start];
            let mut end = start;
            for c in self.text[start..].chars() {
                if ends.len() > max as usize || !set.contains(c) {
                    break;
                }
                end += c.len_utf8();
                ends.push(end);
            }
            // The nearest end first: free text in front of a pattern should stay short.
            let n_spans = self.spans.len();
            for n in (min as usize..ends.len()).rev() {
                self.steps += 1;
                self.spans.truncate(n_spans);
                let starts = ends.iter().zip(ends.iter().skip(1));
                for (&start, &end) in starts.take(n) {
                    self.spans.push(Span {
                        part: sub,
                        start,
                        end,
                    });
                }
                let end = ends.get(n).copied().unwrap_or(start);
                if self.set_taint_marker(id, start, end, next) {
                    return true;
                }
                if self.steps > MAX_STEPS {
                    break;
                }
            }
            self.spans.truncate(n_spans);
            return false;
        }
        self.again(id, (sub, min, max), (start, start, 0), next)
    }

    fn again(
        &mut self,
        id: PartId,
        (sub, min, max): (PartId, u32, u32),
        (first, start, n): (usize, usize, u32),
        next: Next<'_, 'a>,
    ) -> bool {
        let more = n < max
            && self.part(sub, start, &mut |this, end| {
                // An empty round would continue forever.
                (end > start || n < min)
                    && this.again(id, (sub, min, max), (first, end, n + 1), next)
            });
        more || (n >= min && self.set_taint_marker(id, first, start, next))
    }

    fn looks(&self, look: Look, at: usize) -> bool {
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let before = word(self.text[..at].chars().next_back());
        let after = word(self.text[at..].chars().next());
        match look {
            Look::Start => at == 0,
            Look::End => at == self.text.len(),
            Look::WordAscii | Look::WordUnicode => before != after,
            Look::WordAsciiNegate | Look::WordUnicodeNegate => before == after,
            // Line anchors and half boundaries need flags that ECMA patterns in documents lack.
            _ => true,
        }
    }
}
