//! Replaced methods: what the receiver and the argument say before the call.

use std::any::type_name;
use std::borrow::Cow;
use std::fmt::Display;
use std::ops::Deref;

use isobath_protocol::{InputLocation, InputUse};

use crate::collection::{Argument, Receiver};
use crate::probe::{record, verdict};
use crate::view::{View, displayed, view};
use crate::{link, measure, parsing, track};

/// Which method it is; the rewriter writes the numbers.
pub mod method {
    /// `contains`, `find`, `split_once`.
    pub const CONTAINS: u8 = 0;
    /// `starts_with`, `strip_prefix`.
    pub const STARTS: u8 = 1;
    /// `ends_with`, `strip_suffix`.
    pub const ENDS: u8 = 2;
    /// `eq_ignore_ascii_case`.
    pub const IGNORING_CASE: u8 = 3;
    /// `contains_key`, `get`, `remove`.
    pub const KEY: u8 = 4;
    /// `is_match`, `find`, `captures` of a regular expression.
    pub const MATCHES: u8 = 5;
    /// `is_empty`.
    pub const EMPTY: u8 = 6;
    /// `cookie` of a request.
    pub const COOKIE: u8 = 7;
    /// `pointer` of a JSON value.
    pub const POINTER: u8 = 8;
}

/// The receiver of a replaced method.
#[inline]
pub fn p<R: ?Sized>(receiver: &R) -> P<'_, R> {
    P(P1(P2(P3(P4(receiver)))))
}

/// A text or a collection itself. The tiers below are tried in order by
/// auto-deref, each asking less of the receiver, so no call needs a bound.
pub struct P<'a, R: ?Sized>(P1<'a, R>);
/// Something that derefs to a text or a collection.
pub struct P1<'a, R: ?Sized>(P2<'a, R>);
/// Something that can be displayed, as regular expressions can.
pub struct P2<'a, R: ?Sized>(P3<'a, R>);
/// Something that derefs to what can be displayed.
pub struct P3<'a, R: ?Sized>(P4<'a, R>);
/// Anything.
pub struct P4<'a, R: ?Sized>(&'a R);

macro_rules! falls_back {
    ($($from:ident => $to:ident),*) => {$(
        impl<'a, R: ?Sized> Deref for $from<'a, R> {
            type Target = $to<'a, R>;

            fn deref(&self) -> &$to<'a, R> {
                &self.0
            }
        }
    )*};
}

falls_back!(P => P1, P1 => P2, P2 => P3, P3 => P4);

impl<R: Receiver + ?Sized> P<'_, R> {
    /// Looks at a call before it is made.
    #[inline]
    pub fn pre<A: ?Sized>(&self, target: u32, method: u8, argument: &A) -> Pending {
        if !link::awake() {
            return Pending::NONE;
        }
        let receiver: &R = self.0.0.0.0.0;
        before(target, method, receiver, &view(argument), type_name::<R>())
    }
}

impl<R: Deref<Target: Receiver> + ?Sized> P1<'_, R> {
    /// Looks at a call before it is made.
    #[inline]
    pub fn pre<A: ?Sized>(&self, target: u32, method: u8, argument: &A) -> Pending {
        if !link::awake() {
            return Pending::NONE;
        }
        let receiver: &R::Target = self.0.0.0.0;
        before(target, method, receiver, &view(argument), type_name::<R>())
    }
}

impl<R: Display + ?Sized> P2<'_, R> {
    /// Looks at a call before it is made.
    #[inline]
    pub fn pre<A: ?Sized>(&self, target: u32, method: u8, argument: &A) -> Pending {
        pattern(target, method, self.0.0.0, &view(argument))
    }
}

impl<R: Deref<Target: Display> + ?Sized> P3<'_, R> {
    /// Looks at a call before it is made.
    #[inline]
    pub fn pre<A: ?Sized>(&self, target: u32, method: u8, argument: &A) -> Pending {
        let receiver: &R::Target = self.0.0;
        pattern(target, method, receiver, &view(argument))
    }
}

impl<R: ?Sized> P4<'_, R> {
    /// Looks at a call before it is made.
    #[inline]
    pub fn pre<A: ?Sized>(&self, target: u32, method: u8, argument: &A) -> Pending {
        if !link::awake() {
            return Pending::NONE;
        }
        if let View::Text(name) = view(argument) {
            looked_for(method, type_name::<R>(), &name);
        }
        Pending::of(target, None)
    }
}

fn before<R: Receiver + ?Sized>(
    target: u32,
    method: u8,
    receiver: &R,
    argument: &View<'_>,
    name: &str,
) -> Pending {
    if method == method::EMPTY {
        let truth = measure::empty(receiver.length());
        return Pending::of(target, Some(truth.to_true().max(truth.to_false())));
    }
    if let Some(text) = receiver.text() {
        return on_text(target, method, text, argument);
    }
    if let View::Text(key) = argument {
        looked_for(method, name, key);
    }
    if let (method::KEY, View::Int(at), false) = (method, argument, receiver.keyed()) {
        let missing = (at - receiver.length() as i128 + 1).max(0);
        return Pending::of(target, Some(missing as f64));
    }
    let argument = Argument::new(target, argument.clone());
    let near = receiver.near(&argument);
    argument.tell();
    Pending::of(target, near)
}

fn on_text(target: u32, method: u8, text: &str, argument: &View<'_>) -> Pending {
    let argument: Cow<'_, str> = match argument {
        View::Text(argument) => argument.clone(),
        View::Char(c) => c.to_string().into(),
        _ => return Pending::of(target, None),
    };
    let (near, role) = match method {
        method::STARTS => (measure::prefix(text, &argument), InputUse::StartsWith),
        method::ENDS => (measure::suffix(text, &argument), InputUse::EndsWith),
        method::IGNORING_CASE => (
            measure::ignoring_case(text, &argument),
            InputUse::EqualIgnoringCase,
        ),
        _ => (measure::part(text, &argument), InputUse::Contains),
    };
    track::compared(
        target,
        &View::Text(text.into()),
        &View::Text(argument),
        role,
    );
    Pending::of(target, Some(near))
}

/// A regular expression is known by the name of its type; its text is what it displays.
fn pattern<R: Display + ?Sized>(
    target: u32,
    method: u8,
    receiver: &R,
    argument: &View<'_>,
) -> Pending {
    if !link::awake() {
        return Pending::NONE;
    }
    let name = type_name::<R>();
    match argument {
        View::Text(text) if matches!(method, method::KEY | method::COOKIE | method::POINTER) => {
            looked_for(method, name, text);
        }
        View::Text(text) if name.contains("regex::") && track::tracked(text) => {
            track::used(target, text, InputUse::Pattern, vec![receiver.to_string()]);
        }
        View::Text(_) if !name.contains("regex::") => {
            // Identifiers, dates and the like that are searched as texts.
            if let View::Text(text) = displayed(receiver) {
                return on_text(target, method, &text, argument);
            }
        }
        _ => {}
    }
    Pending::of(target, None)
}

/// Something was looked for by its name.
fn looked_for(method: u8, receiver: &str, name: &str) {
    match method {
        method::KEY => place(receiver, name),
        method::COOKIE if receiver.contains("Request") => track::named(InputLocation::Cookie, name),
        // A field of a field is known by the way to it.
        method::POINTER if receiver.contains("serde_json::") => {
            track::named(InputLocation::Field, name.trim_start_matches('/'));
        }
        _ => {}
    }
}

/// A name that is looked for in a part of a request says what may be sent there.
fn place(receiver: &str, name: &str) {
    let place = if receiver.contains("HeaderMap") {
        InputLocation::Header
    } else if receiver.contains("CookieJar") {
        InputLocation::Cookie
    } else if receiver.contains("serde_json::") {
        InputLocation::Field
    } else if receiver.contains("Form<") {
        InputLocation::Form
    } else if receiver.contains("Query<") || texts_by_name(receiver) {
        InputLocation::Query
    } else {
        return;
    };
    track::named(place, name);
}

/// A name in brackets: of a JSON field, or of something that does not come from outside.
#[inline]
pub fn named(name: &str) -> &str {
    if link::awake() {
        track::named(InputLocation::Field, name);
    }
    name
}

/// A map from text to text is what raw queries are read into.
fn texts_by_name(receiver: &str) -> bool {
    receiver.contains("Map<alloc::string::String, alloc::string::String")
}

/// A known function that makes something of a text: `Uuid::parse_str` and the like.
#[inline]
pub fn call<A: ?Sized>(target: u32, function: &str, argument: &A, format: &str) -> Pending {
    if !link::awake() {
        return Pending::NONE;
    }
    let View::Text(text) = view(argument) else {
        return Pending::of(target, None);
    };
    let (kind, name) = function.rsplit_once("::").unwrap_or(("", function));
    let form = match name {
        "parse_from_rfc3339" | "parse_from_rfc2822" => Some("datetime"),
        _ => parsing::form(kind.trim()),
    };
    if track::tracked(&text) {
        let mut arguments = vec![form.unwrap_or(kind).to_owned()];
        if !format.is_empty() {
            arguments.push(format.to_owned());
        }
        track::used(target, &text, InputUse::Parsed, arguments);
    }
    let type_name = if form == Some("datetime") {
        "DateTime"
    } else {
        kind.trim()
    };
    Pending::of(target, parsing::distance(&text, type_name))
}

/// A call that was looked at and whose outcome is still to come.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    target: u32,
    near: Option<f64>,
    live: bool,
}

impl Pending {
    const NONE: Self = Self {
        target: 0,
        near: None,
        live: false,
    };

    fn of(target: u32, near: Option<f64>) -> Self {
        Self {
            target,
            near,
            live: true,
        }
    }

    /// What the method returned, when that is a verdict.
    #[inline]
    pub fn post<V>(self, value: V) -> V {
        if self.live
            && let Some(verdict) = verdict(&value)
        {
            self.settle(verdict);
        }
        value
    }

    /// The outcome.
    pub(crate) fn settle(self, verdict: bool) {
        if self.live {
            record(self.target, verdict, |verdict| {
                measure::agree(
                    (!verdict).then(|| measure::found(self.near, verdict)),
                    verdict,
                )
            });
        }
    }
}
