//! Titles as parts of addresses.

/// The longest slug, before a number is appended.
const LONGEST: usize = 60;

/// Letters that lose their marks, and their replacements.
const FOLDED: &[(&str, &str)] = &[
    ("àáâãåā", "a"),
    ("ä", "ae"),
    ("çćč", "c"),
    ("èéêëē", "e"),
    ("ìíîïī", "i"),
    ("ñń", "n"),
    ("òóôõøō", "o"),
    ("ö", "oe"),
    ("śš", "s"),
    ("ß", "ss"),
    ("ùúûū", "u"),
    ("ü", "ue"),
    ("ýÿ", "y"),
    ("źżž", "z"),
];

/// Turns a title into lower case words with hyphens; `article` if nothing is left.
pub(crate) fn slug(title: &str) -> String {
    let mut slug = String::with_capacity(title.len());
    for letter in title.chars().flat_map(char::to_lowercase) {
        match letter {
            'a'..='z' | '0'..='9' => slug.push(letter),
            '\'' | '’' => {}
            _ if letter.is_alphabetic() => match fold(letter) {
                Some(plain) => slug.push_str(plain),
                None => hyphen(&mut slug),
            },
            _ => hyphen(&mut slug),
        }
    }
    shorten(&mut slug);
    if slug.is_empty() {
        slug.push_str("article");
    }
    slug
}

/// The nth slug of the same words.
pub(crate) fn numbered(slug: &str, nth: i64) -> String {
    if nth <= 1 {
        slug.to_owned()
    } else {
        format!("{slug}-{nth}")
    }
}

fn hyphen(slug: &mut String) {
    if !slug.is_empty() && !slug.ends_with('-') {
        slug.push('-');
    }
}

fn fold(letter: char) -> Option<&'static str> {
    FOLDED
        .iter()
        .find(|(letters, _)| letters.contains(letter))
        .map(|(_, plain)| *plain)
}

/// Cuts at the last hyphen that leaves the slug short enough.
fn shorten(slug: &mut String) {
    if slug.len() > LONGEST {
        let cut = slug[..=LONGEST].rfind('-').unwrap_or(LONGEST);
        slug.truncate(cut);
    }
    while slug.ends_with('-') {
        slug.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_by_single_hyphens() {
        assert_eq!(slug("  Hello,   World! "), "hello-world");
        assert_eq!(slug("It's a Café"), "its-a-cafe");
        assert_eq!(slug("Größe ändern"), "groesse-aendern");
    }

    #[test]
    fn a_title_without_letters_still_has_an_address() {
        assert_eq!(slug("!!!"), "article");
        assert_eq!(slug("日本"), "article");
    }

    #[test]
    fn long_titles_are_cut_between_words() {
        let cut = slug(&"word ".repeat(30));
        assert!(cut.len() <= LONGEST && cut.ends_with("word"), "{cut}");
        assert_eq!(slug(&"x".repeat(200)).len(), LONGEST);
    }

    #[test]
    fn the_first_of_a_name_has_no_number() {
        assert_eq!(numbered("a", 1), "a");
        assert_eq!(numbered("a", 3), "a-3");
    }
}
