//! Reads the `Retry-After` header.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use super::call::Response;

/// The wait that an answer asks for: 429 or 503 with `Retry-After` in seconds or as a date.
pub(super) fn asked_for(response: &Response, now: SystemTime) -> Option<Duration> {
    if !matches!(response.status, 429 | 503) {
        return None;
    }
    let value = response.header("retry-after")?.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let at: Timestamp = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    let at = SystemTime::from(at);
    Some(at.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::call::BodyCompleteness;

    fn check(status: u16, value: &'static str) -> Option<u64> {
        let mut headers = ::http::HeaderMap::new();
        headers.insert("retry-after", ::http::HeaderValue::from_static(value));
        let response = Response {
            status,
            headers,
            body: bytes::Bytes::new(),
            completeness: BodyCompleteness::Complete,
        };
        // Sun, 06 Nov 1994 08:49:30 GMT.
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        asked_for(&response, now).map(|wait| wait.as_secs())
    }

    #[test]
    fn seconds_and_dates_are_understood() {
        assert_eq!(check(429, "3"), Some(3));
        assert_eq!(check(503, "Sun, 06 Nov 1994 08:49:37 GMT"), Some(7));
        assert_eq!(check(429, "Sun, 06 Nov 1994 08:00:00 GMT"), Some(0));
    }

    #[test]
    fn nothing_else_makes_us_wait() {
        assert_eq!(check(429, "soon"), None);
        assert_eq!(check(429, "-1"), None);
        assert_eq!(check(200, "3"), None);
    }
}
