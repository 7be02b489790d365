//! Prices in other currencies.

use axum::extract::{Path, Query};
use axum::http::StatusCode;
use serde::Deserialize;

use crate::outside;

/// What a caller wants to know.
#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    currency: String,
}

/// A rate, as the other service has it.
#[derive(Debug, Deserialize)]
struct Rate {
    currency: String,
    value: f64,
    source: Source,
}

/// Who says so.
#[derive(Debug, Deserialize)]
struct Source {
    bank: String,
}

/// Whether the service is up; nobody else is asked.
pub(crate) async fn health() -> &'static str {
    "up"
}

/// The price of an item, by the rate of the day.
pub(crate) async fn price(
    Path(item): Path<u32>,
    Query(wanted): Query<Wanted>,
) -> Result<String, StatusCode> {
    let path = format!("/latest/{}", segment(&wanted.currency));
    let Some((status, text)) = outside::get(&path).await else {
        return Err(StatusCode::GATEWAY_TIMEOUT);
    };
    if status == 404 {
        return Err(StatusCode::NOT_FOUND);
    }
    if status >= 500 {
        return Err(StatusCode::SERVICE_UNAVAILABLE);
    }
    let Ok(rate) = serde_json::from_str::<Rate>(&text) else {
        return Err(StatusCode::BAD_GATEWAY);
    };
    if rate.currency == "EUR" && rate.value > 100.0 {
        return Ok(format!("{item} is dear"));
    }
    if rate.source.bank.starts_with("central") {
        return Ok(format!("{item} at the official rate"));
    }
    Ok(format!("{item} at {}", rate.value))
}

/// How an item sells, as the other service has it; nothing describes that answer.
#[derive(Debug, Deserialize)]
struct Rank {
    place: i64,
    name: String,
}

/// How an item sells.
pub(crate) async fn rank(Path(item): Path<u32>) -> Result<String, StatusCode> {
    let Some((_, text)) = outside::get(&format!("/ranks/{item}")).await else {
        return Err(StatusCode::GATEWAY_TIMEOUT);
    };
    let Ok(rank) = serde_json::from_str::<Rank>(&text) else {
        return Err(StatusCode::BAD_GATEWAY);
    };
    if rank.name == "bestseller" {
        return Ok(format!("{item} sells best"));
    }
    Ok(format!("{item} is number {}", rank.place))
}

/// A text as a segment of a path.
fn segment(text: &str) -> String {
    let mut segment = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            segment.push(char::from(byte));
        } else {
            segment.push_str(&format!("%{byte:02X}"));
        }
    }
    segment
}
