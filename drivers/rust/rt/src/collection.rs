//! Texts and collections as receivers: what they hold, and how near an argument is to it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::{Range, RangeInclusive};
use std::rc::Rc;
use std::sync::Arc;

use isobath_protocol::InputUse;

use crate::view::{View, view};
use crate::{measure, track};

/// After so many elements of a collection the nearest so far counts.
const ENOUGH: usize = 64;

/// A text or a collection, seen from outside.
pub trait Receiver {
    #[doc(hidden)]
    fn text(&self) -> Option<&str> {
        None
    }
    #[doc(hidden)]
    fn length(&self) -> usize;
    /// Whether elements are found by what they are, not by where.
    #[doc(hidden)]
    fn keyed(&self) -> bool {
        true
    }
    #[doc(hidden)]
    fn near(&self, argument: &Argument<'_>) -> Option<f64>;
}

/// What is looked for.
#[derive(Debug)]
pub struct Argument<'a> {
    view: View<'a>,
    target: u32,
    /// Constants that a tracked argument was looked for among.
    among: RefCell<Vec<String>>,
}

impl<'a> Argument<'a> {
    pub(crate) fn new(target: u32, view: View<'a>) -> Self {
        Self {
            view,
            target,
            among: RefCell::default(),
        }
    }

    /// A tracked argument would be satisfied by any of the constants it met.
    pub(crate) fn tell(self) {
        let among = self.among.into_inner();
        if let (View::Text(input), false) = (&self.view, among.is_empty()) {
            track::used(self.target, input, InputUse::Equal, among);
        }
    }

    /// Compares with one element; the least distance so far.
    fn meet<T>(&self, nearest: Option<f64>, element: &T) -> Option<f64> {
        let element = view(element);
        if let (View::Text(input), View::Text(constant)) = (&self.view, &element)
            && track::tracked(input)
            && !track::tracked(constant)
        {
            self.among.borrow_mut().push(constant.to_string());
        } else {
            track::compared(self.target, &self.view, &element, InputUse::Equal);
        }
        let distance = measure::equality(&self.view, &element);
        match (nearest, distance) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn among<'e, T: 'e>(&self, elements: impl Iterator<Item = &'e T>) -> Option<f64> {
        let mut nearest = None;
        for element in elements.take(ENOUGH) {
            nearest = self.meet(nearest, element);
        }
        nearest
    }
}

impl Receiver for str {
    fn text(&self) -> Option<&str> {
        Some(self)
    }
    fn length(&self) -> usize {
        self.len()
    }
    fn near(&self, _: &Argument<'_>) -> Option<f64> {
        None
    }
}

macro_rules! through {
    ($(<$of:ident> $type:ty),* $(,)?) => {$(
        impl<$of: Receiver + ?Sized> Receiver for $type {
            fn text(&self) -> Option<&str> {
                (**self).text()
            }
            fn length(&self) -> usize {
                (**self).length()
            }
            fn keyed(&self) -> bool {
                (**self).keyed()
            }
            fn near(&self, argument: &Argument<'_>) -> Option<f64> {
                (**self).near(argument)
            }
        }
    )*};
}

through!(<T> &T, <T> &mut T, <T> Box<T>, <T> Arc<T>, <T> Rc<T>);

impl Receiver for String {
    fn text(&self) -> Option<&str> {
        Some(self)
    }
    fn length(&self) -> usize {
        self.len()
    }
    fn near(&self, _: &Argument<'_>) -> Option<f64> {
        None
    }
}

impl Receiver for Cow<'_, str> {
    fn text(&self) -> Option<&str> {
        Some(self)
    }
    fn length(&self) -> usize {
        self.len()
    }
    fn near(&self, _: &Argument<'_>) -> Option<f64> {
        None
    }
}

macro_rules! elements {
    ($(<$($of:ident),* $(; const $n:ident)?> $type:ty, $iter:ident, $keyed:literal);* $(;)?) => {$(
        impl<$($of,)* $(const $n: usize)?> Receiver for $type {
            fn length(&self) -> usize {
                self.len()
            }
            fn keyed(&self) -> bool {
                $keyed
            }
            fn near(&self, argument: &Argument<'_>) -> Option<f64> {
                argument.among(self.$iter())
            }
        }
    )*};
}

elements! {
    <T> [T], iter, false;
    <T> Vec<T>, iter, false;
    <T; const N> [T; N], iter, false;
    <T> VecDeque<T>, iter, false;
    <K, V, S> HashMap<K, V, S>, keys, true;
    <K, S> HashSet<K, S>, iter, true;
    <K, V> BTreeMap<K, V>, keys, true;
    <K> BTreeSet<K>, iter, true;
}

impl<T> Receiver for Range<T> {
    fn length(&self) -> usize {
        1
    }
    fn near(&self, argument: &Argument<'_>) -> Option<f64> {
        let (low, high) = (view(&self.start), view(&self.end));
        measure::range(&argument.view, Some(&low), Some(&high), false)
    }
}

impl<T> Receiver for RangeInclusive<T> {
    fn length(&self) -> usize {
        1
    }
    fn near(&self, argument: &Argument<'_>) -> Option<f64> {
        let (low, high) = (view(self.start()), view(self.end()));
        measure::range(&argument.view, Some(&low), Some(&high), true)
    }
}
