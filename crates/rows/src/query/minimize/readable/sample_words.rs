//! Readable sample values, chosen by the name of a column.

/// People, in the order of their names, so that what is sorted stays so.
const PEOPLE: &[&str] = &[
    "Ada", "Ben", "Cleo", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jun", "Kai", "Lea", "Mia",
    "Nils", "Olga", "Pia", "Rosa", "Sven", "Tara", "Uma",
];
const SURNAMES: &[&str] = &[
    "Adler", "Baker", "Costa", "Diaz", "Evans", "Fuchs", "Green", "Hart", "Ito", "Jones", "Kaya",
    "Lopez", "Moser", "Novak", "Olsen", "Park", "Rossi", "Silva", "Turner", "Weiss",
];
const CITIES: &[&str] = &[
    "Athens", "Bergen", "Cork", "Delft", "Evora", "Faro", "Ghent", "Hull", "Izmir", "Jena", "Kiel",
    "Leeds", "Malmo", "Nice", "Oslo", "Porto", "Riga", "Siena", "Turin", "Vigo",
];
const COUNTRIES: &[&str] = &[
    "Austria", "Brazil", "Chile", "Denmark", "Egypt", "France", "Ghana", "India", "Japan", "Kenya",
    "Latvia", "Mexico", "Norway", "Oman", "Peru", "Spain", "Tonga", "Uganda", "Vietnam", "Yemen",
];
const COUNTRY_CODES: &[&str] = &[
    "AT", "BR", "CL", "DK", "EG", "FR", "GH", "IN", "JP", "KE", "LV", "MX", "NO", "OM", "PE", "RO",
    "SE", "TO", "UG", "VN",
];
const CURRENCIES: &[&str] = &["CHF", "DKK", "EUR", "GBP", "JPY", "NOK", "SEK", "USD"];

/// Words in the names of tables that hold people.
const TABLES_OF_PEOPLE: &[&str] = &[
    "actor", "author", "client", "contact", "customer", "driver", "employee", "guest", "member",
    "owner", "patient", "people", "person", "player", "staff", "student", "teacher", "user",
];

/// Words for a column, the first for the smallest value; none is longer than `limit` characters.
pub(super) fn words(
    table: &str,
    column: &str,
    limit: usize,
) -> impl Iterator<Item = String> + use<> {
    let kind = WordKind::of(table, column, limit);
    (0..500).filter_map(move |number| {
        let word = kind.word(number);
        (word.chars().count() <= limit).then_some(word)
    })
}

enum WordKind {
    List(&'static [&'static str]),
    Mail,
    Page,
    Phone,
    /// A word and a letter: `Product A`.
    Thing(String),
    /// A word and a number: `sku-1`.
    Code(String),
    /// Letters alone, where there is room for nothing else.
    Letters,
}

impl WordKind {
    fn of(table: &str, column: &str, limit: usize) -> Self {
        let column = column.to_lowercase();
        let table = table.to_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| column.contains(part));
        let is_about_people = || TABLES_OF_PEOPLE.iter().any(|word| table.contains(word));
        if has(&["mail"]) && limit >= 15 {
            Self::Mail
        } else if has(&["country", "nation"]) {
            Self::List(if limit < 8 { COUNTRY_CODES } else { COUNTRIES })
        } else if has(&["currency"]) {
            Self::List(CURRENCIES)
        } else if has(&["city", "town"]) {
            Self::List(CITIES)
        } else if has(&["surname", "last_name", "lastname", "family"]) {
            Self::List(SURNAMES)
        } else if has(&[
            "first_name",
            "firstname",
            "author",
            "person",
            "user_name",
            "username",
        ]) {
            Self::List(PEOPLE)
        } else if has(&["url", "website", "homepage"]) && limit >= 21 {
            Self::Page
        } else if has(&["phone", "mobile", "fax"]) && limit >= 8 {
            Self::Phone
        } else if column.ends_with("name") && is_about_people() {
            Self::List(PEOPLE)
        } else if column.ends_with("name") && limit >= 12 {
            Self::Thing(capitalized(&singular(&table)))
        } else if has(&["title", "label", "subject"]) && limit >= column.len() + 3 {
            Self::Thing(capitalized(&column))
        } else if limit >= column.len() + 3 && column.len() <= 24 {
            Self::Code(column)
        } else {
            Self::Letters
        }
    }

    fn word(&self, number: usize) -> String {
        match self {
            Self::List(words) => listed(words, number),
            Self::Mail => format!("{}@example.org", listed(PEOPLE, number).to_lowercase()),
            Self::Page => format!("https://example.org/{}", letters(number).to_lowercase()),
            Self::Phone => format!("555-{:04}", 101 + number),
            Self::Thing(word) => format!("{word} {}", letters(number)),
            Self::Code(word) => format!("{word}-{}", number + 1),
            Self::Letters => letters(number),
        }
    }
}

fn listed(words: &[&str], number: usize) -> String {
    let word = words[number % words.len()];
    match number / words.len() {
        0 => word.to_owned(),
        round => format!("{word}{}", round + 1),
    }
}

/// `A` to `Z`, then `ZA` to `ZZ`, and so on, which sorts as it counts.
fn letters(number: usize) -> String {
    let last = u8::try_from(number % 26).map_or('A', |digit| char::from(b'A' + digit));
    format!("{}{last}", "Z".repeat(number / 26))
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(char::to_uppercase);
    let rest = letters.as_str().replace('_', " ");
    first.into_iter().flatten().chain(rest.chars()).collect()
}

fn singular(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None if word.ends_with("ss") => word.to_owned(),
        None => word.strip_suffix('s').unwrap_or(word).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(table: &str, column: &str, limit: usize) -> Vec<String> {
        words(table, column, limit).take(2).collect()
    }

    #[test]
    fn words_suit_the_column_and_its_length() {
        assert_eq!(
            first("customers", "email", 120),
            ["ada@example.org", "ben@example.org"]
        );
        assert_eq!(first("customers", "country", 2), ["AT", "BR"]);
        assert_eq!(first("people", "name", 40), ["Ada", "Ben"]);
        assert_eq!(
            first("categories", "name", 40),
            ["Category A", "Category B"]
        );
        assert_eq!(first("products", "sku", 12), ["sku-1", "sku-2"]);
        assert_eq!(first("products", "title", 80), ["Title A", "Title B"]);
        assert_eq!(first("flags", "kind", 1), ["A", "B"]);
    }

    #[test]
    fn words_of_a_column_are_sorted_and_different() {
        for (table, column, limit) in [("people", "name", 40), ("t", "city", 9), ("t", "x", 2)] {
            let words: Vec<String> = words(table, column, limit).take(20).collect();
            let mut sorted = words.clone();
            sorted.sort();
            sorted.dedup();
            assert_eq!(words, sorted);
        }
    }
}
