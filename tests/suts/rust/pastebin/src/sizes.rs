//! How large the futures of handlers are: instrumentation must not change that.

use crate::service::{detect, health, reset, syntax};

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
        ("detect", size(detect)),
        ("health", size(health)),
        ("reset", size(reset)),
        ("syntax", size(syntax)),
    ]
}
