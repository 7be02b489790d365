//! "Did you mean" suggestions: the known name nearest to an unknown one.

/// The nearest of some names, when it is near enough to be a slip of the pen.
pub(crate) fn nearest<'s>(name: &str, names: impl Iterator<Item = &'s str>) -> Option<&'s str> {
    let name = name.trim_matches(['"', '`']).to_lowercase();
    let allowed = (name.chars().count() / 3).clamp(1, 3);
    names
        .map(|other| (strsim::osa_distance(&name, &other.to_lowercase()), other))
        .filter(|(edits, _)| *edits <= allowed)
        .min()
        .map(|(_, other)| other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_recognised_and_another_word_is_not() {
        let names = || ["people", "orders", "order_items"].into_iter();
        assert_eq!(nearest("peple", names()), Some("people"));
        assert_eq!(nearest("\"Order\"", names()), Some("orders"));
        assert_eq!(nearest("poeple", names()), Some("people"));
        assert_eq!(nearest("invoices", names()), None);
    }
}
