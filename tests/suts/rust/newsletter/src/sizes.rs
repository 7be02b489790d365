//! How large the futures of handlers are: instrumentation must not change that.

use crate::{campaigns, dispatch, lists, statistics, subscriptions, templates};

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
        ("campaigns::create", size(campaigns::create)),
        ("campaigns::change", size(campaigns::change)),
        ("campaigns::schedule", size(campaigns::schedule)),
        ("dispatch::deliveries", size(dispatch::deliveries)),
        ("lists::create", size(lists::create)),
        ("lists::change", size(lists::change)),
        ("statistics::overview", size(statistics::overview)),
        ("subscriptions::subscribe", size(subscriptions::subscribe)),
        ("subscriptions::confirm", size(subscriptions::confirm)),
        ("templates::replace", size(templates::replace)),
        ("templates::preview", size(templates::preview)),
    ]
}
