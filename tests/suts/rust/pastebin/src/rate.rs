//! How many requests a client may make: a bucket of tokens per client, filled over time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::web::Data;
use time::OffsetDateTime;

use crate::problem::Problem;
use crate::service::Shared;

/// Clients that are remembered; beyond it, full buckets are forgotten.
const REMEMBERED: usize = 10_000;

/// The buckets of all clients.
#[derive(Debug)]
pub(crate) struct Buckets {
    per_minute: u32,
    levels: Mutex<HashMap<String, Level>>,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    tokens: f64,
    at: OffsetDateTime,
}

impl Buckets {
    pub(crate) fn new(per_minute: u32) -> Self {
        Self {
            per_minute,
            levels: Mutex::default(),
        }
    }

    /// Takes a token, or says how many seconds to wait for one.
    pub(crate) fn take(&self, client: &str, now: OffsetDateTime) -> Result<(), u64> {
        if self.per_minute == 0 {
            return Ok(());
        }
        let capacity = f64::from(self.per_minute);
        let per_second = capacity / 60.0;
        let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        if levels.len() >= REMEMBERED {
            levels.retain(|_, level| level.tokens < capacity);
        }
        let level = levels.entry(client.to_owned()).or_insert(Level {
            tokens: capacity,
            at: now,
        });
        let waited = (now - level.at).as_seconds_f64().max(0.0);
        level.tokens = (level.tokens + waited * per_second).min(capacity);
        level.at = now;
        if level.tokens >= 1.0 {
            level.tokens -= 1.0;
            Ok(())
        } else {
            let seconds = ((1.0 - level.tokens) / per_second).ceil();
            Err(seconds as u64)
        }
    }

    pub(crate) fn clear(&self) {
        let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        levels.clear();
    }
}

/// Who calls: what a proxy says, or the address.
fn client(request: &ServiceRequest) -> String {
    let forwarded = request
        .headers()
        .get("x-forwarded-for")
        .and_then(|value| value.to_str().ok())
        .and_then(|list| list.split(',').next())
        .map(str::trim)
        .filter(|client| !client.is_empty());
    match forwarded {
        Some(client) => client.to_owned(),
        None => request
            .peer_addr()
            .map_or_else(|| "unknown".to_owned(), |address| address.ip().to_string()),
    }
}

/// Refuses clients that call too often; health checks are free.
pub(crate) async fn limit(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    if request.path() != "/health"
        && let Some(shared) = request.app_data::<Data<Shared>>()
        && let Err(seconds) = shared.buckets.take(&client(&request), shared.now())
    {
        return Err(Problem::TooMany(seconds).into());
    }
    next.call(request).await
}

#[cfg(test)]
mod tests {
    use time::Duration;
    use time::macros::datetime;

    use super::*;

    #[test]
    fn an_empty_bucket_fills_with_time() {
        let buckets = Buckets::new(2);
        let now = datetime!(2024-01-01 00:00 UTC);
        assert_eq!(buckets.take("a", now), Ok(()));
        assert_eq!(buckets.take("a", now), Ok(()));
        assert_eq!(buckets.take("a", now), Err(30));
        assert_eq!(buckets.take("b", now), Ok(()));
        assert_eq!(buckets.take("a", now + Duration::seconds(30)), Ok(()));
    }

    #[test]
    fn no_limit_means_none() {
        let buckets = Buckets::new(0);
        let now = datetime!(2024-01-01 00:00 UTC);
        assert!((0..1000).all(|_| buckets.take("a", now).is_ok()));
    }
}
