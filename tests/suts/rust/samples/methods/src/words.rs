//! Texts that are parsed, matched and compared.

use std::net::IpAddr;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::StatusCode;
use regex::Regex;
use uuid::Uuid;

static PART: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[a-c]{3}-\d{4}$").expect("a constant pattern"));
static BERTH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^([A-F])-(\d{2})$").expect("a constant pattern"));

/// An identifier, small or large.
pub(crate) async fn uuid(Path(id): Path<String>) -> Result<&'static str, StatusCode> {
    let Ok(id) = Uuid::parse_str(&id) else {
        return Err(StatusCode::BAD_REQUEST);
    };
    if id < Uuid::from_u128(1 << 127) {
        return Ok("small");
    }
    Ok("large")
}

/// The number of a part, somewhere in a text.
pub(crate) async fn found(Path(text): Path<String>) -> Result<String, StatusCode> {
    match PART.find(&text) {
        Some(part) => Ok(part.as_str().to_owned()),
        None => Err(StatusCode::NOT_FOUND),
    }
}

/// A berth, and whether it is the one for guests.
pub(crate) async fn captured(Path(text): Path<String>) -> Result<&'static str, StatusCode> {
    let Some(berth) = BERTH.captures(&text) else {
        return Err(StatusCode::NOT_FOUND);
    };
    if &berth[1] == "F" {
        return Ok("for guests");
    }
    Ok("taken")
}

/// An address, a flag and a letter.
pub(crate) async fn parsed(
    Path((address, flag, letter)): Path<(String, String, String)>,
) -> Result<&'static str, StatusCode> {
    let address: IpAddr = address.parse().map_err(|_| StatusCode::BAD_REQUEST)?;
    let flag: bool = flag.parse().map_err(|_| StatusCode::BAD_REQUEST)?;
    let letter: char = letter.parse().map_err(|_| StatusCode::BAD_REQUEST)?;
    if address.is_loopback() && flag {
        return Ok("here");
    }
    if letter == 'q' {
        return Ok("quiet");
    }
    Ok("elsewhere")
}

/// Whether two inputs are one.
pub(crate) async fn same(Path((a, b)): Path<(String, String)>) -> &'static str {
    if a.len() > 5 && a == b {
        return "the same";
    }
    "different"
}
