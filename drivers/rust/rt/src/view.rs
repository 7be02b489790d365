//! Looking at a value of any type, without asking for a bound.
//!
//! Rewritten code is checked before its types are known to us, and much of it
//! is generic, so no trait bound can be written. Instead the type is
//! recognized at run time by its `TypeId`; what is not recognized is
//! [`View::Opaque`] and costs only the gradient.

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use isobath_distance::date::DateParts;

/// What a value is, as far as distances care.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum View<'a> {
    /// A type that is not known.
    Opaque,
    /// `None`.
    Absent,
    /// A truth value.
    Bool(bool),
    /// A character.
    Char(char),
    /// An integer.
    Int(i128),
    /// A float, a duration in seconds, a decimal.
    Float(f64),
    /// A date, a time or both.
    Moment(DateParts),
    /// A text.
    Text(Cow<'a, str>),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// A type that can be looked at.
pub(crate) trait Seen {
    fn view(&self) -> View<'_>;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Seen for $type {
            fn view(&self) -> View<'_> {
                // Only the upper half of u128 does not fit, and is far from anything there.
                View::Int(i128::try_from(*self).unwrap_or(i128::MAX))
            }
        }
    )*};
}

integers!(
    i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize
);

impl Seen for f32 {
    fn view(&self) -> View<'_> {
        View::Float(f64::from(*self))
    }
}

impl Seen for f64 {
    fn view(&self) -> View<'_> {
        View::Float(*self)
    }
}

impl Seen for bool {
    fn view(&self) -> View<'_> {
        View::Bool(*self)
    }
}

impl Seen for char {
    fn view(&self) -> View<'_> {
        View::Char(*self)
    }
}

impl Seen for Duration {
    fn view(&self) -> View<'_> {
        View::Float(self.as_secs_f64())
    }
}

impl Seen for str {
    fn view(&self) -> View<'_> {
        View::Text(Cow::Borrowed(self))
    }
}

impl Seen for [u8] {
    fn view(&self) -> View<'_> {
        View::Bytes(self)
    }
}

impl Seen for Vec<u8> {
    fn view(&self) -> View<'_> {
        View::Bytes(self)
    }
}

macro_rules! through {
    ($($type:ty),*) => {$(
        impl Seen for $type {
            fn view(&self) -> View<'_> {
                (**self).view()
            }
        }
    )*};
}

through!(String, Box<str>, Arc<str>, Rc<str>, Cow<'_, str>);

impl<T: Seen + ?Sized> Seen for &T {
    fn view(&self) -> View<'_> {
        (**self).view()
    }
}

impl<T: Seen> Seen for Option<T> {
    fn view(&self) -> View<'_> {
        self.as_ref().map_or(View::Absent, Seen::view)
    }
}

/// What a value is.
#[inline]
pub(crate) fn view<T: ?Sized>(value: &T) -> View<'_> {
    look(
        type_id::<T>(),
        (&raw const *value).cast(),
        size_of_val(value),
    )
}

pub(crate) use lookup::{look, type_id};

type Extractor = fn(*const u8) -> View<'static>;

#[derive(Default)]
struct Fold(u64);

impl Hasher for Fold {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    // A `TypeId` is a hash already.
    fn write_u64(&mut self, hash: u64) {
        self.0 ^= hash;
    }
}

type Registry = HashMap<TypeId, Extractor, BuildHasherDefault<Fold>>;

fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let mut registry = Registry::default();
        macro_rules! register {
            ($($type:ty),*) => {$(
                lookup::register::<$type>(&mut registry);
                lookup::register::<&'static $type>(&mut registry);
                lookup::register::<&'static &'static $type>(&mut registry);
                lookup::register::<Option<$type>>(&mut registry);
                lookup::register::<&'static Option<$type>>(&mut registry);
                lookup::register::<Option<&'static $type>>(&mut registry);
            )*};
        }
        register!(
            i8,
            i16,
            i32,
            i64,
            i128,
            isize,
            u8,
            u16,
            u32,
            u64,
            u128,
            usize,
            f32,
            f64,
            bool,
            char,
            Duration,
            String,
            &'static str,
            Box<str>,
            Arc<str>,
            Rc<str>,
            Cow<'static, str>,
            Vec<u8>,
            &'static [u8]
        );
        registry
    })
}

#[expect(unsafe_code, reason = "a value is read as the type that its id names")]
mod lookup {
    use super::{Extractor, PhantomData, Registry, Seen, TypeId, View, registry};

    /// The id of a type, lifetimes taken as `'static`.
    pub(crate) fn type_id<T: ?Sized>() -> TypeId {
        trait Named {
            fn id(&self) -> TypeId
            where
                Self: 'static;
        }
        impl<T: ?Sized> Named for PhantomData<T> {
            fn id(&self) -> TypeId
            where
                Self: 'static,
            {
                TypeId::of::<T>()
            }
        }
        let named = PhantomData::<T>;
        let named: &dyn Named = &named;
        // SAFETY: only the lifetime bound of the trait object changes. `id` reads
        // nothing through the reference; it returns the id, which lifetimes do not change.
        unsafe { std::mem::transmute::<&dyn Named, &(dyn Named + 'static)>(named) }.id()
    }

    /// What the value of the type with this id is, that lies here and is so long.
    ///
    /// The result must not outlive the value, although its type would allow it;
    /// [`super::view`] sees to that.
    pub(crate) fn look<'a>(id: TypeId, at: *const u8, size: usize) -> View<'a> {
        if id == TypeId::of::<str>() {
            // SAFETY: the value is a `str` of `size` bytes, which the caller borrows.
            let text = unsafe { std::slice::from_raw_parts(at, size) };
            return std::str::from_utf8(text).map_or(View::Opaque, |text| View::Text(text.into()));
        }
        if id == TypeId::of::<[u8]>() {
            // SAFETY: as above, of bytes.
            return View::Bytes(unsafe { std::slice::from_raw_parts(at, size) });
        }
        registry()
            .get(&id)
            .map_or(View::Opaque, |extract| extract(at))
    }

    pub(super) fn register<T: Seen + 'static>(registry: &mut Registry) {
        fn extract<T: Seen + 'static>(at: *const u8) -> View<'static> {
            // SAFETY: the registry is asked by `TypeId`, so a `T` lies here, up to
            // lifetimes, and `look` hands the view on for no longer than that lives.
            unsafe { &*at.cast::<T>() }.view()
        }
        let extract: Extractor = extract::<T>;
        registry.insert(TypeId::of::<T>(), extract);
    }
}

/// What a value that can be displayed is, when its type is one of those whose text says it.
///
/// No date, identifier or number type is linked, so they are known by name.
pub(crate) fn displayed<T: std::fmt::Display + ?Sized>(value: &T) -> View<'static> {
    const KNOWN: [&str; 13] = [
        "chrono::",
        "time::",
        "jiff::",
        "uuid::",
        "rust_decimal::",
        "bigdecimal::",
        "semver::",
        "http::method::",
        "http::header::value",
        "url::",
        "core::net::",
        "mime::",
        "serde_json::value::Value",
    ];
    let name = std::any::type_name::<T>().trim_start_matches('&');
    if !KNOWN.iter().any(|known| name.starts_with(known)) {
        return View::Opaque;
    }
    let text = value.to_string();
    if ["chrono::", "time::", "jiff::"]
        .iter()
        .any(|known| name.starts_with(known))
    {
        return crate::parsing::moment(&text).map_or(View::Text(text.into()), View::Moment);
    }
    if name.starts_with("serde_json::") {
        return json(&text);
    }
    if name.contains("decimal::") {
        return text.parse().map_or(View::Text(text.into()), View::Float);
    }
    View::Text(text.into())
}

/// A simple JSON value.
fn json(text: &str) -> View<'static> {
    let quoted = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match (quoted, text) {
        // Most texts need no more to be read than this.
        (Some(inner), _) => {
            let plain = inner.replace("\\\"", "\"").replace("\\\\", "\\");
            View::Text(plain.into())
        }
        (None, "null") => View::Absent,
        (None, "true" | "false") => View::Bool(text == "true"),
        (None, number) => match (number.parse(), number.parse()) {
            (Ok(integer), _) => View::Int(integer),
            (_, Ok(float)) => View::Float(float),
            _ => View::Opaque,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_seen_through_references_and_options() {
        let owned = String::from("x");
        let borrowed: &str = &owned;
        assert_eq!(view(&owned), View::Text("x".into()));
        assert_eq!(view(borrowed), View::Text("x".into()));
        assert_eq!(view(&borrowed), View::Text("x".into()));
        assert_eq!(view(&&borrowed), View::Text("x".into()));
        assert_eq!(view(&Some(borrowed)), View::Text("x".into()));
        assert_eq!(view(&None::<String>), View::Absent);
        assert_eq!(view(&&Some(7u8)), View::Int(7));
        assert_eq!(view(&u128::MAX), View::Int(i128::MAX));
        assert_eq!(view(&b"ab"[..]), View::Bytes(b"ab"));
    }

    #[test]
    fn types_of_the_service_are_opaque() {
        struct Own<'a>(#[expect(dead_code, reason = "never read")] &'a str);
        assert_eq!(view(&Own("x")), View::Opaque);
        assert_eq!(displayed("2024-01-01"), View::Opaque);
    }

    #[test]
    fn simple_json_values_are_seen() {
        assert_eq!(json(r#""a \"b\"""#), View::Text(r#"a "b""#.into()));
        assert_eq!(json("12"), View::Int(12));
        assert_eq!(json("1.5"), View::Float(1.5));
        assert_eq!(json("true"), View::Bool(true));
        assert_eq!(json("null"), View::Absent);
        assert_eq!(json("[1]"), View::Opaque);
    }

    #[test]
    fn generic_code_sees_the_type_it_is_used_with() {
        fn inner<T>(value: T) -> bool {
            view(&value) == View::Int(3)
        }
        assert!(inner(3i64) && !inner("3"));
    }
}
