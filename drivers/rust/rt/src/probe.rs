//! Statements, conditions and comparisons.

use std::fmt::Display;
use std::ops::{Deref, Not};

use isobath_distance::{Relation, Truth};
use isobath_protocol::{InputUse, score};

use crate::view::{View, displayed, type_id, view};
use crate::{link, measure, track};

/// A statement, an arm or a closure is executed.
///
/// Never inlined, as other probes that are not generic: in a debug build of the service the inlined text would
/// be compiled without optimizations, and cost ten times as much as a call.
#[inline(never)]
pub fn hit(target: u32) {
    if let Some(map) = link::map() {
        map.cover(target);
    }
}

/// A condition of which only the verdict is known; the outcome false is the next target.
#[inline(never)]
pub fn flag(target: u32, verdict: bool) -> bool {
    record(target, verdict, |_| Truth::of(Some(verdict)));
    verdict
}

/// The operand of `!`, which need not be a `bool`.
#[inline]
pub fn flagn<T: Not>(target: u32, operand: T) -> T {
    if let View::Bool(verdict) = view(&operand) {
        flag(target, verdict);
    }
    operand
}

/// A copy of an operand, which the variable itself need not be kept for.
#[inline]
pub fn copied<T: Copy>(value: T) -> T {
    value
}

/// Gives the second the type of the first, so that it is coerced as an operand would be.
#[inline]
pub fn like<T>(_: &T, value: T) -> T {
    value
}

/// Two operands of a comparison.
#[inline]
pub fn c<'a, L: ?Sized, R: ?Sized>(left: &'a L, right: &'a R) -> C<'a, L, R> {
    C(C1(C2(left, right)))
}

/// Operands that can be displayed, if they can.
pub struct C<'a, L: ?Sized, R: ?Sized>(C1<'a, L, R>);

/// Operands that are bytes of some kind, as the values of headers are.
pub struct C1<'a, L: ?Sized, R: ?Sized>(C2<'a, L, R>);

/// Operands of which nothing is known.
pub struct C2<'a, L: ?Sized, R: ?Sized>(&'a L, &'a R);

impl<'a, L: ?Sized, R: ?Sized> Deref for C1<'a, L, R> {
    type Target = C2<'a, L, R>;

    fn deref(&self) -> &C2<'a, L, R> {
        &self.0
    }
}

impl<'a, L: ?Sized, R: ?Sized> Deref for C<'a, L, R> {
    type Target = C1<'a, L, R>;

    fn deref(&self) -> &C1<'a, L, R> {
        &self.0
    }
}

impl<L: Display + ?Sized, R: Display + ?Sized> C<'_, L, R> {
    /// Records a comparison by this relation, whose verdict comes back.
    #[inline]
    pub fn cmp(&self, target: u32, relation: u8, verdict: bool) -> bool {
        if link::awake() {
            let C2(l, r) = self.0.0;
            let (mut left, mut right) = (view(l), view(r));
            if left == View::Opaque {
                left = displayed(l);
            }
            if right == View::Opaque {
                right = displayed(r);
            }
            compared(target, relation, verdict, &left, &right);
        }
        verdict
    }
}

impl<L: AsRef<[u8]> + ?Sized, R: AsRef<[u8]> + ?Sized> C1<'_, L, R> {
    /// As above, of bytes.
    #[inline]
    pub fn cmp(&self, target: u32, relation: u8, verdict: bool) -> bool {
        if link::awake() {
            let C2(left, right) = self.0;
            let (left, right) = (read(left.as_ref()), read(right.as_ref()));
            compared(target, relation, verdict, &left, &right);
        }
        verdict
    }
}

/// Bytes as the text that they are, if they are one.
fn read(bytes: &[u8]) -> View<'_> {
    std::str::from_utf8(bytes).map_or(View::Bytes(bytes), |text| View::Text(text.into()))
}

impl<L: ?Sized, R: ?Sized> C2<'_, L, R> {
    /// As above, where nothing can be displayed.
    #[inline]
    pub fn cmp(&self, target: u32, relation: u8, verdict: bool) -> bool {
        if link::awake() {
            compared(target, relation, verdict, &view(self.0), &view(self.1));
        }
        verdict
    }
}

/// Whether the type of a value is `bool`, and which.
#[inline]
pub(crate) fn verdict<T>(value: &T) -> Option<bool> {
    if type_id::<T>() != type_id::<bool>() {
        return None;
    }
    match view(value) {
        View::Bool(verdict) => Some(verdict),
        _ => None,
    }
}

pub(crate) fn compared(
    target: u32,
    relation: u8,
    verdict: bool,
    left: &View<'_>,
    right: &View<'_>,
) {
    let relation = Relation::ALL
        .get(usize::from(relation))
        .copied()
        .unwrap_or(Relation::Equal);
    if matches!(relation, Relation::Equal | Relation::NotEqual) {
        track::compared(target, left, right, InputUse::Equal);
    }
    record(target, verdict, |verdict| {
        measure::compare(relation, left, right, verdict)
    });
}

/// Records an outcome: it is covered, and the other is as far as `truth` says.
#[inline]
pub(crate) fn record(target: u32, verdict: bool, truth: impl FnOnce(bool) -> Truth) {
    let Some(map) = link::map() else { return };
    let (is, other) = if verdict {
        (target, target + 1)
    } else {
        (target + 1, target)
    };
    map.cover(is);
    // Most comparisons in a loop end here: both outcomes are known.
    if map.covered(other) {
        return;
    }
    let truth = truth(verdict);
    let distance = if verdict {
        truth.to_false()
    } else {
        truth.to_true()
    };
    map.record(other, score(distance));
}
