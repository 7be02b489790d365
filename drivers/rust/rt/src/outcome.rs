//! Values that say whether something worked: `Result` and `Option`.

use std::any::type_name;
use std::ops::Deref;

use isobath_distance::Truth;
use isobath_protocol::{InputLocation, InputUse};

use crate::probe::{flag, record};
use crate::receiver::Pending;
use crate::view::{View, view};
use crate::{link, measure, parsing, track};

/// A value that may be a `Result` or an `Option`.
#[inline]
pub fn q<T: ?Sized>(value: &T) -> Q<'_, T> {
    Q(Q1(value))
}

/// A `Result` or an `Option`, if it is one.
pub struct Q<'a, T: ?Sized>(Q1<'a, T>);

/// Anything else.
pub struct Q1<'a, T: ?Sized>(&'a T);

impl<'a, T: ?Sized> Deref for Q<'a, T> {
    type Target = Q1<'a, T>;

    fn deref(&self) -> &Q1<'a, T> {
        &self.0
    }
}

macro_rules! outcome {
    (<$($of:ident),*> $type:ty, $good:ident, $goal:ident) => {
        impl<$($of),*> Q<'_, $type> {
            /// The operand of `?`: execution continues, or (the next target) leaves.
            #[inline]
            pub fn q(&self, target: u32) {
                flag(target, self.0.0.$good());
            }

            /// What a replaced method returned.
            #[inline]
            pub fn found(&self, pending: Pending) {
                pending.settle(self.0.0.$good());
            }

            /// What a text was parsed into.
            #[inline]
            pub fn parsed<S: ?Sized>(&self, target: u32, text: &S) {
                if link::awake() {
                    parse(target, &view(text), type_name::<$goal>(), self.0.0.$good());
                }
            }
        }
    };
}

impl<T, E: std::fmt::Display> Q<'_, Result<T, E>> {
    /// What JSON was read into; the complaint names what is missing.
    #[inline]
    pub fn json(&self, target: u32) {
        if link::awake() {
            if let Err(error) = self.0.0 {
                missed(InputLocation::Field, &error.to_string());
            }
            flag(target, self.0.0.is_ok());
        }
    }

    /// What a form, or the query of a URL, was read into; as above.
    #[inline]
    pub fn form(&self, target: u32) {
        if link::awake() {
            if let Err(error) = self.0.0 {
                let complaint = error.to_string();
                missed(InputLocation::Form, &complaint);
                missed(InputLocation::Query, &complaint);
            }
            flag(target, self.0.0.is_ok());
        }
    }
}

/// A reader of JSON, or of a form, complained.
fn missed(place: InputLocation, complaint: &str) {
    let quoted = |after: &str| -> Option<&str> {
        let from = complaint.find(after)? + after.len();
        complaint[from..].split('`').next()
    };
    match quoted("missing field `") {
        Some(name) => track::named(place, name),
        // Nothing was read at all: that it should be JSON is worth knowing.
        None if place == InputLocation::Field
            && (complaint.contains("EOF") || complaint.contains("expected value")) =>
        {
            track::named(place, "");
        }
        None => {}
    }
}

outcome!(<T, E> Result<T, E>, is_ok, T);
outcome!(<T> Option<T>, is_some, T);

impl<T: ?Sized> Q1<'_, T> {
    /// Nothing can be said.
    #[inline]
    pub fn q(&self, _: u32) {}

    /// Nothing can be said.
    #[inline]
    pub fn json(&self, _: u32) {}

    /// Nothing can be said.
    #[inline]
    pub fn form(&self, _: u32) {}

    /// Nothing can be said.
    #[inline]
    pub fn found(&self, _: Pending) {}

    /// Nothing can be said.
    #[inline]
    pub fn parsed<S: ?Sized>(&self, _: u32, _: &S) {}
}

/// A text was parsed as the type of this name.
pub(crate) fn parse(target: u32, text: &View<'_>, type_name: &str, good: bool) {
    let View::Text(text) = text else {
        record(target, good, |good| Truth::of(Some(good)));
        return;
    };
    if track::tracked(text) {
        let form = match parsing::form(type_name) {
            // The width matters, so integers and floats go by their own name.
            Some("integer" | "float") | None => type_name.rsplit("::").next().unwrap_or(type_name),
            Some(form) => form,
        };
        track::used(target, text, InputUse::Parsed, vec![form.to_owned()]);
    }
    record(target, good, |good| {
        measure::found(parsing::distance(text, type_name), good)
    });
}
