//! When pastes expire: `never`, a span such as `90m` or `1d12h`, a day, or a time.

use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, Duration, OffsetDateTime, Time};

use crate::problem::{Problem, Result};

/// The longest that a paste may live.
const LONGEST: Duration = Duration::days(5 * 365);

/// The shortest.
const SHORTEST: Duration = Duration::seconds(10);

/// What letters after numbers mean, the largest first.
const UNITS: [(char, Duration); 5] = [
    ('w', Duration::weeks(1)),
    ('d', Duration::days(1)),
    ('h', Duration::hours(1)),
    ('m', Duration::minutes(1)),
    ('s', Duration::seconds(1)),
];

/// When a paste made now expires.
pub(crate) fn expires_at(text: &str, now: OffsetDateTime) -> Result<Option<OffsetDateTime>> {
    let text = text.trim();
    let bad = |why: &str| Problem::invalid("expires", why);
    let expires = match text {
        "" | "never" => return Ok(None),
        "tomorrow" => (now + Duration::DAY).replace_time(Time::MIDNIGHT),
        _ if text.starts_with(|c: char| c.is_ascii_digit()) && text.contains('-') => {
            moment(text).ok_or_else(|| bad("is neither a day nor a time"))?
        }
        _ => {
            let span = span(text).map_err(|why| bad(&why))?;
            now.checked_add(span)
                .ok_or_else(|| bad("is too far away"))?
        }
    };
    match expires - now {
        left if left < SHORTEST => Err(bad("is in the past, or in a moment")),
        left if left > LONGEST => Err(bad("is more than five years away")),
        _ => Ok(Some(expires)),
    }
}

/// A day (its start) or a time with an offset.
fn moment(text: &str) -> Option<OffsetDateTime> {
    let day = format_description!("[year]-[month]-[day]");
    if let Ok(date) = Date::parse(text, &day) {
        return Some(date.midnight().assume_utc());
    }
    OffsetDateTime::parse(text, &Rfc3339).ok()
}

/// A span of numbers with units, each unit smaller than the one before.
fn span(text: &str) -> Result<Duration, String> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    let mut units = UNITS.iter();
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit());
        let Some(digits) = digits.filter(|digits| *digits > 0) else {
            return Err("is not a number with a unit".to_owned());
        };
        let (number, tail) = rest.split_at(digits);
        let number: i32 = number
            .parse()
            .map_err(|error| format!("is out of range: {error}"))?;
        let mut letters = tail.chars();
        let unit = letters.next().unwrap_or_default();
        let Some((_, length)) = units.find(|(letter, _)| *letter == unit) else {
            return Err(format!(
                "has the unit `{unit}` in a place where it cannot be"
            ));
        };
        total = length
            .checked_mul(number)
            .and_then(|part| total.checked_add(part))
            .ok_or("is out of range")?;
        rest = letters.as_str();
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2024-02-28 12:00 UTC);

    #[track_caller]
    fn check(text: &str, expected: Option<OffsetDateTime>) {
        let found = expires_at(text, NOW).map_err(|problem| problem.to_string());
        assert_eq!(found, Ok(expected), "{text}");
    }

    #[test]
    fn spans_days_and_times_are_understood() {
        check("never", None);
        check("90m", Some(datetime!(2024-02-28 13:30 UTC)));
        check("1d12h", Some(datetime!(2024-03-01 00:00 UTC)));
        check("tomorrow", Some(datetime!(2024-02-29 00:00 UTC)));
        check("2024-02-29", Some(datetime!(2024-02-29 00:00 UTC)));
        check(
            "2024-02-28T14:00:00+01:00",
            Some(datetime!(2024-02-28 13:00 UTC)),
        );
    }

    #[test]
    fn senseless_dates_are_refused() {
        for text in [
            "soon",
            "5",
            "5y",
            "1h1d",
            "3s",
            "2023-01-01",
            "2024-02-30",
            "9999-01-01",
            "99999999999d",
        ] {
            assert!(expires_at(text, NOW).is_err(), "{text}");
        }
    }
}
