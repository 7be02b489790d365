//! How large the futures of handlers are: instrumentation must not change that.

use crate::articles::handlers;
use crate::{comments, favorites, profiles, reports, tags, trending, users};

/// A handler of some number of arguments.
trait Handler<Arguments> {
    /// The size of its future.
    const SIZE: usize;
}

macro_rules! handlers {
    ($(($($argument:ident),*))*) => {
        $(impl<F, R, $($argument),*> Handler<($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> R,
            R: Future,
        {
            const SIZE: usize = size_of::<R>();
        })*
    };
}

handlers!((A)(A, B)(A, B, C)(A, B, C, D));

fn size<Arguments, H: Handler<Arguments>>(_: H) -> usize {
    H::SIZE
}

/// The names of some handlers, and the sizes of their futures in bytes.
#[must_use]
pub fn future_sizes() -> Vec<(&'static str, usize)> {
    vec![
        ("users::register", size(users::register)),
        ("users::login", size(users::login)),
        ("users::change", size(users::change)),
        ("profiles::followers", size(profiles::followers)),
        ("handlers::list", size(handlers::list)),
        ("handlers::create", size(handlers::create)),
        ("handlers::change", size(handlers::change)),
        ("comments::list", size(comments::list)),
        ("comments::create", size(comments::create)),
        ("favorites::add", size(favorites::add)),
        ("tags::list", size(tags::list)),
        ("trending::list", size(trending::list)),
        ("reports::create", size(reports::create)),
        ("reports::decide", size(reports::decide)),
    ]
}
