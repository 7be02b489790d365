//! Dates and times of three crates: parsed, and compared.

use axum::extract::Path;
use axum::http::StatusCode;
use chrono::{DateTime, NaiveDate};
use jiff::civil;
use time::Date;
use time::format_description::BorrowedFormatItem;
use time::macros::{date, format_description};

const DAY: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

/// A date in the German form, before or after a day.
pub(crate) async fn chrono_date(Path(day): Path<String>) -> Result<&'static str, StatusCode> {
    let Ok(day) = NaiveDate::parse_from_str(&day, "%d.%m.%Y") else {
        return Err(StatusCode::BAD_REQUEST);
    };
    if day < NaiveDate::default() {
        return Ok("before 1970");
    }
    Ok("since 1970")
}

/// A moment, before or after another.
pub(crate) async fn chrono_moment(Path(moment): Path<String>) -> Result<&'static str, StatusCode> {
    let Ok(moment) = DateTime::parse_from_rfc3339(&moment) else {
        return Err(StatusCode::BAD_REQUEST);
    };
    if moment < DateTime::UNIX_EPOCH {
        return Ok("before 1970");
    }
    Ok("since 1970")
}

/// A date, one day of which is special.
pub(crate) async fn time_date(Path(day): Path<String>) -> Result<&'static str, StatusCode> {
    let Ok(day) = Date::parse(&day, DAY) else {
        return Err(StatusCode::BAD_REQUEST);
    };
    if day == date!(1969 - 07 - 20) {
        return Ok("the moon");
    }
    Ok("the earth")
}

/// A date with slashes, on a leap day or not.
pub(crate) async fn jiff_date(Path(day): Path<String>) -> Result<&'static str, StatusCode> {
    let day = day.replace('_', "/");
    let Ok(day) = civil::Date::strptime("%Y-%m/%d", day.as_str()) else {
        return Err(StatusCode::BAD_REQUEST);
    };
    if day.month() == 2 && day.day() > 27 {
        return Ok("the end of winter");
    }
    Ok("another day")
}
