//! Dates and times as bounded parts, so that a search can move each part by itself.

use std::fmt;

use fastrand::Rng;

use crate::config::GeneConfig;

/// Which parts a moment shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateTimeKind {
    /// `2020-02-29`
    Date,
    /// `12:30:59Z`, RFC 3339
    Time,
    /// `2020-02-29T12:30:59Z`, RFC 3339
    DateTime,
    /// `12:30:59`, without offset
    LocalTime,
    /// `2020-02-29T12:30:59`, without offset
    LocalDateTime,
}

impl DateTimeKind {
    fn has_date(self) -> bool {
        matches!(self, Self::Date | Self::DateTime | Self::LocalDateTime)
    }

    fn has_time(self) -> bool {
        self != Self::Date
    }

    fn has_offset(self) -> bool {
        matches!(self, Self::Time | Self::DateTime)
    }
}

/// The parts of a date or time; each may be out of its range on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateTime {
    /// Year, usually 1900 to 2100.
    pub year: i16,
    /// Month, 1 to 12 when valid.
    pub month: i8,
    /// Day, 1 to the length of the month when valid.
    pub day: i8,
    /// Hour, 0 to 23 when valid.
    pub hour: i8,
    /// Minute, 0 to 59 when valid.
    pub minute: i8,
    /// Second, 0 to 59 when valid.
    pub second: i8,
    /// Milliseconds, or -1 for none shown.
    pub milli: i16,
    /// Offset from UTC in minutes.
    pub offset: i16,
}

impl DateTime {
    const START: Self = Self {
        year: 2020,
        month: 1,
        day: 1,
        hour: 0,
        minute: 0,
        second: 0,
        milli: -1,
        offset: 0,
    };

    fn month_length(self) -> i8 {
        let leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        match self.month {
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            _ => 31,
        }
    }

    /// Whether such a moment exists.
    #[must_use]
    pub fn is_valid(self, kind: DateTimeKind) -> bool {
        let date = (0..=9999).contains(&self.year)
            && (1..=12).contains(&self.month)
            && (1..=self.month_length()).contains(&self.day);
        let time = (0..=23).contains(&self.hour)
            && (0..=59).contains(&self.minute)
            && (0..=59).contains(&self.second)
            && (-1..=999).contains(&self.milli);
        let offset = self.offset.abs() < 24 * 60;
        (date || !kind.has_date()) && (time || !kind.has_time()) && (offset || !kind.has_offset())
    }

    pub(crate) fn sample(rng: &mut Rng, config: &GeneConfig, kind: DateTimeKind) -> Self {
        let mut date_time = Self {
            year: if rng.f64() < config.boundary {
                rng.choice([1900, 1969, 1970, 2000, 2038, 2100])
                    .unwrap_or(1970)
            } else {
                rng.i16(1990..=2030)
            },
            month: rng.i8(1..=12),
            day: 1,
            hour: rng.i8(0..=23),
            minute: rng.i8(0..=59),
            second: rng.i8(0..=59),
            milli: if rng.u8(0..4) == 0 {
                rng.i16(0..=999)
            } else {
                -1
            },
            offset: if rng.u8(0..4) == 0 {
                rng.i16(-23..=23) * 30
            } else {
                0
            },
        };
        date_time.day = rng.i8(1..=date_time.month_length());
        if rng.f64() < config.invalid_time {
            date_time.make_invalid(rng, kind);
        }
        date_time.only(kind)
    }

    /// Hidden parts are fixed, so that equal texts are equal moments.
    fn only(mut self, kind: DateTimeKind) -> Self {
        let start = Self::START;
        if !kind.has_date() {
            (self.year, self.month, self.day) = (start.year, start.month, start.day);
        }
        if !kind.has_time() {
            (self.hour, self.minute, self.second) = (0, 0, 0);
            self.milli = -1;
        }
        if !kind.has_offset() {
            self.offset = 0;
        }
        self
    }

    /// Puts one visible part out of its range.
    pub(crate) fn make_invalid(&mut self, rng: &mut Rng, kind: DateTimeKind) {
        let date = kind.has_date() && (!kind.has_time() || rng.bool());
        match (date, rng.u8(0..4)) {
            (true, 0) => self.month = 13,
            (true, 1) => self.month = 0,
            (true, 2) => self.day = 32,
            (true, _) => (self.month, self.day) = (2, 30),
            (false, 0) => self.hour = 24,
            (false, 1) => self.minute = 60,
            (false, 2) => self.second = 61,
            (false, _) => self.second = -1,
        }
    }

    /// The same time, so many days later.
    #[must_use]
    pub fn days_later(self, days: u16) -> Self {
        self.plus_days(days.into()).unwrap_or(self)
    }

    pub(crate) fn mutate(
        self,
        rng: &mut Rng,
        config: &GeneConfig,
        kind: DateTimeKind,
        large: bool,
    ) -> Self {
        if large || !self.is_valid(kind) {
            for _ in 0..8 {
                let next = Self::sample(rng, config, kind);
                if next != self {
                    return next;
                }
            }
        }
        loop {
            let mut next = self;
            let by: i8 = if rng.bool() { 1 } else { -1 };
            match (kind.has_date(), kind.has_time(), rng.u8(0..8)) {
                (true, _, 0) => next.year += i16::from(by),
                (true, _, 1) => next.month += by,
                (true, _, 2 | 3) => next.day += by,
                (_, true, 4) => next.hour += by,
                (_, true, 5) => next.minute += by,
                (_, true, 6) => next.second += by,
                (_, true, 7) if kind.has_offset() => next.offset += i16::from(by) * 30,
                _ => continue,
            }
            next.day = next.day.min(next.month_length());
            if next != self && next.is_valid(kind) {
                return next;
            }
        }
    }

    /// Moves the moment by a measured distance: by days, as orders are measured, or one part by up to the distance,
    /// as equality is; `None` where the result does not exist.
    pub(crate) fn shifted(self, kind: DateTimeKind, distance: f64, rng: &mut Rng) -> Option<Self> {
        let sign = if rng.bool() { 1 } else { -1 };
        let mut next = self;
        if kind.has_date() && rng.bool() {
            // Services that count milliseconds or seconds measure in these.
            let day = rng.choice([1.0, 86_400.0, 86_400_000.0])?;
            let days = (distance / day).ceil();
            let days = (days < 4e6).then_some(days as i64)?;
            next = next.plus_days(sign * days)?;
        } else {
            let most = (distance.min(3_000.0).ceil() as i16).max(1);
            let by = i16::from(sign as i8) * if rng.bool() { most } else { rng.i16(1..=most) };
            let small = i8::try_from(by).ok();
            match (kind.has_date(), kind.has_time(), rng.u8(0..6)) {
                (true, _, 0) => next.year = next.year.checked_add(by)?,
                (true, _, 1) => next.month = next.month.checked_add(small?)?,
                (true, _, 2) => next.day = next.day.checked_add(small?)?,
                (_, true, 3) => next.hour = next.hour.checked_add(small?)?,
                (_, true, 4) => next.minute = next.minute.checked_add(small?)?,
                (_, true, 5) => next.second = next.second.checked_add(small?)?,
                _ => return None,
            }
        }
        (next != self && next.is_valid(kind)).then_some(next)
    }

    /// The same time, so many days later or earlier; `None` beyond the years that can be shown.
    fn plus_days(mut self, days: i64) -> Option<Self> {
        // Years begin in March, so that a leap day is the last day of one.
        let (year, month) = (i64::from(self.year), i64::from(self.month));
        let from_march = (month + 9).rem_euclid(12);
        let year = year - i64::from(month <= 2);
        let day_of_year = (153 * from_march + 2) / 5 + i64::from(self.day) - 1;
        let leap_days =
            |year: i64| year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        let first_day = |year: i64| 365 * year + leap_days(year);
        let day = first_day(year) + day_of_year + days;
        let mut year = (10_000 * day + 14_780).div_euclid(3_652_425);
        if first_day(year) > day {
            year -= 1;
        }
        let day_of_year = day - first_day(year);
        let from_march = (100 * day_of_year + 52) / 3060;
        let month = (from_march + 2) % 12 + 1;
        self.year = i16::try_from(year + i64::from(month <= 2)).ok()?;
        self.month = i8::try_from(month).ok()?;
        self.day = i8::try_from(day_of_year - (from_march * 306 + 5) / 10 + 1).ok()?;
        Some(self)
    }

    /// Reads the text of a moment; it need not exist, but must have the shape.
    #[must_use]
    pub fn read(text: &str, kind: DateTimeKind) -> Option<Self> {
        let mut date_time = Self::START;
        let mut rest = Cursor(text.as_bytes());
        if kind.has_date() {
            date_time.year = rest.digits(4)?;
            rest.one_of(b"-")?;
            date_time.month = i8::try_from(rest.digits(2)?).ok()?;
            rest.one_of(b"-")?;
            date_time.day = i8::try_from(rest.digits(2)?).ok()?;
        }
        if kind.has_date() && kind.has_time() {
            rest.one_of(b"Tt ")?;
        }
        if kind.has_time() {
            date_time.hour = i8::try_from(rest.digits(2)?).ok()?;
            rest.one_of(b":")?;
            date_time.minute = i8::try_from(rest.digits(2)?).ok()?;
            rest.one_of(b":")?;
            date_time.second = if let Some(after) = rest.0.strip_prefix(b"-1") {
                rest.0 = after;
                -1
            } else {
                i8::try_from(rest.digits(2)?).ok()?
            };
            if rest.one_of(b".").is_some() {
                date_time.milli = rest.fraction()?;
            }
        }
        if kind.has_offset() {
            date_time.offset = match rest.one_of(b"Zz+-")? {
                b'Z' | b'z' => 0,
                sign => {
                    let hours = rest.digits(2)?;
                    rest.one_of(b":")?;
                    let minutes = rest.digits(2)?;
                    let offset = hours * 60 + minutes;
                    if minutes > 59 {
                        return None;
                    }
                    if sign == b'-' { -offset } else { offset }
                }
            };
        }
        rest.0.is_empty().then_some(date_time)
    }

    /// The moment as text, by `kind`.
    #[must_use]
    pub fn show(self, kind: DateTimeKind) -> impl fmt::Display {
        Shown {
            date_time: self,
            kind,
        }
    }
}

struct Shown {
    date_time: DateTime,
    kind: DateTimeKind,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let m = self.date_time;
        if self.kind.has_date() {
            write!(f, "{:04}-{:02}-{:02}", m.year, m.month, m.day)?;
        }
        if self.kind.has_date() && self.kind.has_time() {
            f.write_str("T")?;
        }
        if self.kind.has_time() {
            write!(f, "{:02}:{:02}:{:02}", m.hour, m.minute, m.second)?;
            if m.milli >= 0 {
                write!(f, ".{:03}", m.milli)?;
            }
        }
        if self.kind.has_offset() {
            if m.offset == 0 {
                f.write_str("Z")?;
            } else {
                let sign = if m.offset < 0 { '-' } else { '+' };
                let minutes = m.offset.unsigned_abs();
                write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)?;
            }
        }
        Ok(())
    }
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn digits(&mut self, n: usize) -> Option<i16> {
        let (digits, rest) = self.0.split_at_checked(n)?;
        let mut number = 0i16;
        for digit in digits {
            if !digit.is_ascii_digit() {
                return None;
            }
            number = number * 10 + i16::from(digit - b'0');
        }
        self.0 = rest;
        Some(number)
    }

    fn one_of(&mut self, bytes: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        bytes.contains(first).then(|| {
            self.0 = rest;
            *first
        })
    }

    /// Any number of digits; the first three are milliseconds.
    fn fraction(&mut self) -> Option<i16> {
        let n = self.0.iter().take_while(|b| b.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at(n);
        self.0 = rest;
        (n > 0).then(|| {
            (0..3).fold(0i16, |number, i| {
                number * 10 + digits.get(i).map_or(0, |d| i16::from(d - b'0'))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_over_leap_years_and_centuries() {
        let check = |date: &str, days: i64, wanted: &str| {
            let date = DateTime::read(date, DateTimeKind::Date).expect("a date");
            let moved = date.plus_days(days).expect("a year that can be shown");
            assert_eq!(moved.show(DateTimeKind::Date).to_string(), wanted);
        };
        check("2020-02-28", 1, "2020-02-29");
        check("2020-02-29", 1, "2020-03-01");
        check("2021-03-01", -1, "2021-02-28");
        check("1999-12-31", 1, "2000-01-01");
        check("2000-03-01", -1, "2000-02-29");
        check("1900-03-01", -1, "1900-02-28");
        check("1970-01-01", 19_723, "2024-01-01");
        check("2024-01-01", -19_723, "1970-01-01");
        let first = DateTime::read("1995-01-01", DateTimeKind::Date).expect("a date");
        for days in 0..3_000 {
            let later = first.plus_days(days).expect("a date");
            assert!(later.is_valid(DateTimeKind::Date), "{days} days");
            assert_eq!(first.plus_days(days + 1), later.plus_days(1));
            assert_eq!(later.plus_days(-days), Some(first));
        }
    }
}
