//! Inputs that carry a mark, and what they are used for (seed 002, section 5).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use isobath_protocol::{Event, InputLocation, InputUse};

use crate::view::View;
use crate::{link, queue};

static SOME: AtomicBool = AtomicBool::new(false);
static ALSO: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// These values are inputs, too.
pub(crate) fn also(inputs: Vec<String>) {
    SOME.store(!inputs.is_empty(), Ordering::Release);
    *ALSO.write().unwrap_or_else(PoisonError::into_inner) = inputs;
}

/// Whether a text is a tracked input or holds a marker.
pub(crate) fn tracked(text: &str) -> bool {
    marked(text)
        || (SOME.load(Ordering::Acquire)
            && ALSO
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .iter()
                .any(|input| input == text))
}

/// Whether a text holds `_isobath_n_input`.
fn marked(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find("_isobath_") {
        rest = &rest[at + "_isobath_".len()..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && rest[digits..].starts_with("_input") {
            return true;
        }
    }
    false
}

/// A tracked input was used together with these.
pub(crate) fn used(target: u32, input: &str, role: InputUse, arguments: Vec<String>) {
    let Some(map) = link::map() else { return };
    queue::push(&Event::Tracked {
        action: map.action(),
        input: input.into(),
        role,
        arguments,
        target: Some(target),
    });
}

/// Two values were compared for equality, or one was looked for among others.
pub(crate) fn compared(target: u32, left: &View<'_>, right: &View<'_>, role: InputUse) {
    let (View::Text(left), View::Text(right)) = (left, right) else {
        return;
    };
    match (tracked(left), tracked(right)) {
        (true, true) => used(target, left, InputUse::Same, vec![right.to_string()]),
        (true, false) => used(target, left, role, vec![right.to_string()]),
        // The second operand is the wish only where the operands may be exchanged.
        (false, true) if matches!(role, InputUse::Equal | InputUse::EqualIgnoringCase) => {
            used(target, right, role, vec![left.to_string()]);
        }
        _ => {}
    }
}

/// A part of a request was looked for by name.
pub(crate) fn named(place: InputLocation, name: &str) {
    let Some(map) = link::map() else { return };
    queue::push(&Event::Parameter {
        action: map.action(),
        place,
        name: name.into(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_found_anywhere_in_a_text() {
        assert!(marked("_isobath_13_input"));
        assert!(marked("a_isobath_x_isobath_0_input@x.org"));
        assert!(!marked("_isobath__input") && !marked("_isobath_1") && !marked(""));
    }
}
