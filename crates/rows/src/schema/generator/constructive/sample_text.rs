//! Readable sample values, chosen by the name and type of a column. Mostly flat tables.

use isobath_sql::schema::Column;
use isobath_sql::value::Interval;
use isobath_sql::{DataType, Value, opaque_literals};
use jiff::{Timestamp, ToSpan, civil};
use rust_decimal::Decimal;

const FIRST_NAMES: &[&str] = &[
    "Ada", "Ben", "Clara", "David", "Elena", "Felix", "Grace", "Hugo", "Iris", "Jonas", "Kate",
    "Liam", "Mira", "Noah", "Olga", "Paul", "Quinn", "Rosa", "Sam", "Tina",
];
const LAST_NAMES: &[&str] = &[
    "Adams", "Brown", "Cohen", "Diaz", "Evans", "Fischer", "Garcia", "Hansen", "Ito", "Jensen",
    "Kim", "Lopez", "Moore", "Nguyen", "Olsen", "Patel", "Quist", "Rossi", "Smith", "Turner",
];
const CITIES: &[&str] = &[
    "Athens", "Berlin", "Cairo", "Dublin", "Essen", "Florence", "Geneva", "Hamburg", "Istanbul",
    "Jena", "Kyoto", "Lisbon", "Madrid", "Nairobi", "Oslo", "Prague", "Quito", "Rome", "Sofia",
    "Turin",
];
const COUNTRIES: &[&str] = &[
    "Austria", "Brazil", "Chile", "Denmark", "Egypt", "France", "Ghana", "Hungary", "India",
    "Japan", "Kenya", "Latvia", "Mexico", "Norway", "Oman", "Peru", "Qatar", "Spain", "Turkey",
];
const TITLES: &[&str] = &[
    "Autumn Light",
    "Blue Harbour",
    "Cold Spring",
    "Deep Water",
    "Early Train",
    "Far Shore",
    "Green Fields",
    "High Tide",
    "Iron Bridge",
    "Jade Garden",
    "Kind Words",
    "Long Road",
    "Morning Sun",
    "Night Watch",
    "Open Door",
    "Paper Boat",
    "Quiet Hours",
    "Red Kite",
];
const STREETS: &[&str] = &[
    "Ash Street",
    "Birch Road",
    "Cedar Lane",
    "Dover Street",
    "Elm Avenue",
    "Forest Way",
    "Garden Row",
    "Hill Road",
    "Inner Ring",
    "Kings Road",
    "Lake View",
    "Mill Lane",
];
const COMPANIES: &[&str] = &[
    "Acorn Ltd",
    "Beacon Inc",
    "Crane and Co",
    "Delta Works",
    "Ember Labs",
    "Foxglove Ltd",
    "Granite Inc",
    "Harbor and Co",
    "Ivy Works",
    "Juniper Labs",
];
const COLORS: &[&str] = &[
    "amber", "blue", "coral", "green", "indigo", "ivory", "lime", "maroon", "navy", "olive",
    "pink", "red", "teal", "violet", "white", "yellow",
];
const NOTES: &[&str] = &[
    "asked for a call back",
    "better than expected",
    "checked twice",
    "delivered in the morning",
    "early reminder sent",
    "first of its kind",
    "good condition",
    "handle with care",
    "in two parts",
    "just arrived",
    "kept for later",
    "left at the door",
];
const WORDS: &[&str] = &[
    "acorn", "birch", "cedar", "daisy", "ember", "fern", "ginkgo", "hazel", "iris", "jasmine",
    "kelp", "larch", "maple", "nettle", "oak", "poppy", "quince", "rowan", "sage", "thyme",
    "umber", "violet", "willow", "yarrow", "zinnia",
];

/// The `index`-th value for a column; `None` for types of which we know no value.
pub(super) fn natural(column: &Column, index: u32) -> Option<Value> {
    let name = column.name.to_ascii_lowercase();
    let number = i64::from(index);
    Some(match &column.data_type {
        DataType::Boolean => Value::Bool(index.is_multiple_of(2)),
        DataType::Integer { .. } => Value::Int(integer(&name, number, &column.data_type)),
        DataType::Decimal { precision, scale } => {
            Value::Decimal(decimal(number, *precision, scale.unwrap_or(0)))
        }
        DataType::Float { .. } => Value::Float((number % 1000) as f64 + 0.5),
        DataType::Char { length } => Value::Text(text(
            TextTopic::of(&name),
            index,
            Some(*length),
            *length <= 8,
        )),
        DataType::Varchar { length } => {
            Value::Text(text(TextTopic::of(&name), index, *length, false))
        }
        DataType::Text => Value::Text(text(TextTopic::of(&name), index, None, false)),
        DataType::Bytes { length, fixed } => Value::Bytes(bytes(index, *length, *fixed)),
        DataType::Date => Value::Date(day(&name, number)?),
        DataType::Time { .. } => Value::Time(time(number)),
        DataType::Timestamp { zoned: false, .. } => {
            Value::DateTime(day(&name, number)?.to_datetime(time(number)))
        }
        DataType::Timestamp { zoned: true, .. } => {
            let noon = 1_577_880_000 + (number % 3000) * 86_400 + (number % 60) * 60;
            Value::Instant(Timestamp::from_second(noon).ok()?)
        }
        DataType::Year => Value::Int(2000 + i128::from(number % 100)),
        DataType::Interval => Value::Interval(Interval {
            months: 0,
            days: i32::try_from(number % 1000 + 1).ok()?,
            micros: 0,
        }),
        DataType::Uuid => Value::Uuid(uuid(index)),
        DataType::Json { .. } => Value::Json(format!("{{\"note\": \"{}\"}}", pooled(WORDS, index))),
        DataType::Enum { labels, .. } => {
            let label = labels.get(usize::try_from(index).ok()?.checked_rem(labels.len())?)?;
            Value::text(label.as_str())
        }
        DataType::Other(name) => Value::Text(opaque_literals::literal(name, index)?),
    })
}

fn integer(name: &str, number: i64, data_type: &DataType) -> i128 {
    let has = |part| name.contains(part);
    let value = if has("year") {
        2000 + number % 30
    } else if has("age") && name.len() <= 8 {
        18 + number % 60
    } else if has("month") {
        1 + number % 12
    } else if has("day") || has("quantity") || has("qty") || has("count") {
        1 + number % 28
    } else {
        1 + number % 997
    };
    let most = data_type
        .integer_range()
        .map_or(i128::MAX, |range| *range.end());
    i128::from(value).rem_euclid(most.min(1 << 40)).max(1)
}

fn decimal(number: i64, precision: Option<u32>, scale: u32) -> Decimal {
    let scale = scale.min(12);
    let whole_digits = precision
        .map_or(4, |precision| precision.saturating_sub(scale))
        .min(4);
    let whole = (3 + number * 7 % 997) % 10i64.pow(whole_digits);
    let cents = (number * 37 % 90 + 10) % 100;
    let fraction = match scale {
        0 => return Decimal::new(whole, 0),
        1 => cents / 10,
        2 => cents,
        more => cents * 10i64.pow(more - 2),
    };
    Decimal::new(whole * 10i64.pow(scale) + fraction, scale)
}

fn day(name: &str, number: i64) -> Option<civil::Date> {
    let start = if name.contains("birth") || name.contains("dob") {
        civil::date(1960, 3, 1)
    } else {
        civil::date(2020, 1, 6)
    };
    start.checked_add((number * 5 % 2400).days()).ok()
}

fn time(number: i64) -> civil::Time {
    let minutes = 480 + number * 7 % 600;
    let part = |value: i64| i8::try_from(value).unwrap_or(0);
    civil::time(part(minutes / 60), part(minutes % 60), 0, 0)
}

fn bytes(index: u32, length: Option<u32>, fixed: bool) -> Vec<u8> {
    let most = length.unwrap_or(4);
    let count = if fixed { most } else { most.min(4) };
    let mut bytes = vec![0xa5; usize::try_from(count).unwrap_or(4)];
    for (byte, part) in bytes.iter_mut().zip((index + 1).to_le_bytes()) {
        *byte = part;
    }
    bytes
}

fn uuid(index: u32) -> [u8; 16] {
    let mut bytes = [0u8; 16];
    for (position, byte) in bytes.iter_mut().enumerate() {
        let mixed = (index + 1)
            .wrapping_mul(2_654_435_761)
            .rotate_left(position as u32 * 5);
        *byte = mixed.to_le_bytes()[position % 4];
    }
    bytes[6] = 0x40 | (bytes[6] & 0x0f);
    bytes[8] = 0x80 | (bytes[8] & 0x3f);
    bytes
}

/// An index whose texts carry a number, for when plain words are taken.
pub(super) fn numbered(index: u32) -> u32 {
    index % NUMBERED + (1 + index % 90) * NUMBERED
}

/// From here on, words come with a number.
const NUMBERED: u32 = 1 << 16;

/// A word of a pool.
fn pooled(pool: &[&str], index: u32) -> String {
    let word = pick(pool, index % NUMBERED);
    match index / NUMBERED {
        0 => word.to_owned(),
        number => format!("{word} {number}"),
    }
}

fn pick<'w>(pool: &[&'w str], index: u32) -> &'w str {
    pool[usize::try_from(index).unwrap_or(0) % pool.len()]
}

/// What a column of text is about, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextTopic {
    Mail,
    Phone,
    Url,
    FirstName,
    LastName,
    City,
    Country,
    Street,
    Postcode,
    Title,
    Company,
    Color,
    Note,
    Name,
    Date,
    Other,
}

/// Parts of names and what they speak of; the first that occurs decides.
const TOPICS: &[(&str, TextTopic)] = &[
    ("mail", TextTopic::Mail),
    ("phone", TextTopic::Phone),
    ("fax", TextTopic::Phone),
    ("tel", TextTopic::Phone),
    ("mobile", TextTopic::Phone),
    ("url", TextTopic::Url),
    ("website", TextTopic::Url),
    ("homepage", TextTopic::Url),
    ("link", TextTopic::Url),
    ("first", TextTopic::FirstName),
    ("given", TextTopic::FirstName),
    ("fname", TextTopic::FirstName),
    ("last", TextTopic::LastName),
    ("surname", TextTopic::LastName),
    ("family", TextTopic::LastName),
    ("lname", TextTopic::LastName),
    ("city", TextTopic::City),
    ("town", TextTopic::City),
    ("place", TextTopic::City),
    ("location", TextTopic::City),
    ("country", TextTopic::Country),
    ("nation", TextTopic::Country),
    ("street", TextTopic::Street),
    ("address", TextTopic::Street),
    ("zip", TextTopic::Postcode),
    ("postal", TextTopic::Postcode),
    ("postcode", TextTopic::Postcode),
    ("title", TextTopic::Title),
    ("company", TextTopic::Company),
    ("publisher", TextTopic::Company),
    ("organi", TextTopic::Company),
    ("supplier", TextTopic::Company),
    ("color", TextTopic::Color),
    ("colour", TextTopic::Color),
    ("note", TextTopic::Note),
    ("comment", TextTopic::Note),
    ("descr", TextTopic::Note),
    ("remark", TextTopic::Note),
    ("message", TextTopic::Note),
    ("name", TextTopic::Name),
    ("author", TextTopic::Name),
    ("artist", TextTopic::Name),
    ("owner", TextTopic::Name),
    ("date", TextTopic::Date),
];

impl TextTopic {
    /// What a column's name says.
    pub(super) fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        // Most parts are ruled out by a letter that the name lacks; this is asked for every cell.
        let bit = |letter: u8| 1u32 << (letter & 31);
        let letters = name
            .bytes()
            .fold(0, |letters, letter| letters | bit(letter));
        let possible = |part: &str| part.bytes().all(|letter| letters & bit(letter) != 0);
        TOPICS
            .iter()
            .find(|(part, _)| possible(part) && name.contains(part))
            .map_or(Self::Other, |(_, topic)| *topic)
    }
}

/// Text about something, of at most `most` characters, exactly so many when `full`.
pub(super) fn text(topic: TextTopic, index: u32, most: Option<u32>, full: bool) -> String {
    let lower = |pool| pooled(pool, index).to_ascii_lowercase().replace(' ', "");
    let found = match topic {
        TextTopic::Mail => {
            let last = pick(LAST_NAMES, index / 20).to_ascii_lowercase();
            format!("{}.{last}@example.org", lower(FIRST_NAMES))
        }
        TextTopic::Phone => format!("555-{:04}", 100 + index % 9000),
        TextTopic::Url => format!("https://example.org/{}", lower(WORDS)),
        TextTopic::FirstName => pooled(FIRST_NAMES, index),
        TextTopic::LastName => pooled(LAST_NAMES, index),
        TextTopic::City => pooled(CITIES, index),
        TextTopic::Country => pooled(COUNTRIES, index),
        TextTopic::Street => format!("{} {}", 1 + index % 97, pooled(STREETS, index)),
        TextTopic::Postcode => format!("{:05}", 10_000 + index % 80_000),
        TextTopic::Title => pooled(TITLES, index),
        TextTopic::Company => pooled(COMPANIES, index),
        TextTopic::Color => pooled(COLORS, index),
        TextTopic::Note => pooled(NOTES, index),
        TextTopic::Name => {
            let first = pick(FIRST_NAMES, index / 20);
            format!("{first} {}", pooled(LAST_NAMES, index))
        }
        TextTopic::Date => format!("2020-{:02}-{:02}", 1 + index % 12, 1 + index % 28),
        TextTopic::Other => pooled(WORDS, index),
    };
    match most {
        Some(most) => fitted(
            found,
            index,
            usize::try_from(most).unwrap_or(usize::MAX),
            full,
        ),
        None => found,
    }
}

/// Shortens text so that different indices stay different.
fn fitted(found: String, index: u32, most: usize, full: bool) -> String {
    if most == 0 {
        return String::new();
    }
    let count = found.chars().count();
    if count <= most && (!full || count == most) {
        return found;
    }
    let code = code(index, most.min(3));
    let room = most - code.len();
    let mut shortened: String = found
        .chars()
        .filter(char::is_ascii_alphabetic)
        .take(room)
        .collect();
    if full {
        while shortened.len() < room {
            shortened.push('x');
        }
    }
    if room == 0 { code } else { shortened + &code }
}

/// A code of letters, different for different indices as long as it can be.
fn code(index: u32, length: usize) -> String {
    let mut rest = index;
    let mut letters = Vec::with_capacity(length);
    for _ in 0..length {
        letters.push(char::from(b'A' + u8::try_from(rest % 26).unwrap_or(0)));
        rest /= 26;
    }
    letters.iter().rev().collect()
}
