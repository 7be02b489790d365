//! When letters go out: at a time, or on the next day of the week, within the hours of a list.

use jiff::civil::{Time, Weekday};
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp, ToSpan};
use serde::Deserialize;

/// When a campaign shall go out.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum When {
    /// On the next day of the week, at a time of the day.
    Weekly(Weekly),
    /// `now`, or a time with an offset.
    At(String),
}

/// A day of the week and a time of the day.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Weekly {
    weekday: String,
    time: String,
}

/// Why a campaign cannot go out then.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum ScheduleError {
    #[error("is neither `now` nor a time such as 2024-02-29T09:30:00Z: {0}")]
    Time(String),
    #[error("names no day of the week")]
    Weekday,
    #[error("is not a time of the day such as 09:30")]
    TimeOfDay,
    #[error("is in the past")]
    Past,
    #[error("is more than a year away")]
    Far,
    #[error("is outside of the hours of the list, {0} to {1}")]
    Hours(i8, i8),
}

/// The hours in which a list sends, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hours {
    pub(crate) from: i8,
    pub(crate) until: i8,
    pub(crate) offset_minutes: i32,
}

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

impl Hours {
    fn zone(self) -> TimeZone {
        let offset = Offset::from_seconds(self.offset_minutes * 60);
        offset.map_or(TimeZone::UTC, TimeZone::fixed)
    }

    /// Whether letters may go out at a time.
    pub(crate) fn hold(self, at: Timestamp) -> bool {
        let hour = at.to_zoned(self.zone()).hour();
        if self.from <= self.until {
            (self.from..self.until).contains(&hour)
        } else {
            // Over midnight.
            hour >= self.from || hour < self.until
        }
    }

    pub(crate) const fn is_always(self) -> bool {
        self.from == 0 && self.until == 24
    }
}

impl When {
    /// The time that is meant.
    pub(crate) fn resolve(&self, now: Timestamp, hours: Hours) -> Result<Timestamp, ScheduleError> {
        let at = match self {
            Self::At(text) if text.trim().eq_ignore_ascii_case("now") => now,
            Self::At(text) => text
                .trim()
                .parse::<Timestamp>()
                .map_err(|error| ScheduleError::Time(error.to_string()))?,
            Self::Weekly(weekly) => weekly.next(now, hours)?,
        };
        let ahead = at.duration_since(now);
        if ahead < SignedDuration::ZERO {
            return Err(ScheduleError::Past);
        }
        if ahead > SignedDuration::from_hours(366 * 24) {
            return Err(ScheduleError::Far);
        }
        if !hours.hold(at) {
            return Err(ScheduleError::Hours(hours.from, hours.until));
        }
        Ok(at)
    }
}

impl Weekly {
    fn next(&self, now: Timestamp, hours: Hours) -> Result<Timestamp, ScheduleError> {
        let weekday = WEEKDAYS
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(&self.weekday))
            .map(|(_, weekday)| *weekday)
            .ok_or(ScheduleError::Weekday)?;
        let (hour, minute) = self.time.split_once(':').ok_or(ScheduleError::TimeOfDay)?;
        let time = match (hour.parse(), minute.parse()) {
            (Ok(hour), Ok(minute)) if hour < 24i8 && minute < 60i8 => Time::new(hour, minute, 0, 0),
            _ => return Err(ScheduleError::TimeOfDay),
        };
        let time = time.map_err(|_| ScheduleError::TimeOfDay)?;
        let today = now.to_zoned(hours.zone());
        let mut day = today.date();
        for _ in 0..8 {
            if day.weekday() == weekday {
                let candidate = day.to_datetime(time).to_zoned(hours.zone());
                if let Ok(candidate) = candidate
                    && candidate > today
                {
                    return Ok(candidate.timestamp());
                }
            }
            day = day.checked_add(1.day()).map_err(|_| ScheduleError::Far)?;
        }
        Err(ScheduleError::Weekday)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFICE: Hours = Hours {
        from: 8,
        until: 18,
        offset_minutes: 60,
    };

    /// A Wednesday, noon in the zone of the office.
    fn now() -> Timestamp {
        "2024-02-28T11:00:00Z".parse().expect("a time")
    }

    #[track_caller]
    fn check(when: &When, expected: Result<&str, ScheduleError>) {
        let found = when.resolve(now(), OFFICE).map(|at| at.to_string());
        assert_eq!(found, expected.map(str::to_owned), "{when:?}");
    }

    fn weekly(weekday: &str, time: &str) -> When {
        When::Weekly(Weekly {
            weekday: weekday.to_owned(),
            time: time.to_owned(),
        })
    }

    #[test]
    fn times_are_resolved_in_the_zone_of_the_list() {
        check(&When::At("Now".to_owned()), Ok("2024-02-28T11:00:00Z"));
        check(
            &When::At("2024-02-29T09:00:00+01:00".to_owned()),
            Ok("2024-02-29T08:00:00Z"),
        );
        check(&weekly("Thursday", "09:30"), Ok("2024-02-29T08:30:00Z"));
        check(&weekly("wednesday", "13:00"), Ok("2024-02-28T12:00:00Z"));
        check(&weekly("wednesday", "11:00"), Ok("2024-03-06T10:00:00Z"));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        check(
            &When::At("2024-02-27T09:00:00Z".to_owned()),
            Err(ScheduleError::Past),
        );
        check(
            &When::At("2026-02-27T09:00:00Z".to_owned()),
            Err(ScheduleError::Far),
        );
        check(
            &When::At("2024-02-29T23:00:00Z".to_owned()),
            Err(ScheduleError::Hours(8, 18)),
        );
        check(&weekly("someday", "09:30"), Err(ScheduleError::Weekday));
        check(&weekly("friday", "24:00"), Err(ScheduleError::TimeOfDay));
        check(&weekly("friday", "-1:00"), Err(ScheduleError::TimeOfDay));
    }

    #[test]
    fn hours_may_go_over_midnight() {
        let night = Hours {
            from: 22,
            until: 6,
            offset_minutes: 0,
        };
        assert!(night.hold("2024-01-01T23:00:00Z".parse().expect("a time")));
        assert!(night.hold("2024-01-01T05:59:00Z".parse().expect("a time")));
        assert!(!night.hold("2024-01-01T12:00:00Z".parse().expect("a time")));
    }
}
