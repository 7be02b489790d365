//! Operators, who log in with every request.

use axum::extract::FromRequestParts;
use axum::http::{header, request::Parts};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::error::{Error, Result};

/// Somebody who may write.
#[derive(Clone, Debug)]
pub(crate) struct Editor {
    pub(crate) name: String,
    admin: bool,
}

/// Somebody who may do everything.
#[derive(Clone, Debug)]
pub(crate) struct Admin;

/// The name and the password of a `Basic` header.
fn credentials(value: &str) -> Option<(String, String)> {
    let (scheme, encoded) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = STANDARD.decode(encoded.trim()).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    let (name, password) = text.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}

impl FromRequestParts<App> for Editor {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let value = parts.headers.get(header::AUTHORIZATION);
        let value = value.and_then(|value| value.to_str().ok());
        let Some((name, password)) = value.and_then(credentials) else {
            return Err(Error::Unauthenticated);
        };
        let operator = app
            .config
            .operators
            .iter()
            .find(|operator| operator.name == name);
        // Digests have the same length, so that the time tells nothing of the password.
        let given = Sha256::digest(&password);
        match operator {
            Some(operator) if Sha256::digest(&operator.password) == given => Ok(Self {
                name: operator.name.clone(),
                admin: operator.admin,
            }),
            Some(_) | None => Err(Error::Unauthenticated),
        }
    }
}

impl FromRequestParts<App> for Admin {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let editor = Editor::from_request_parts(parts, app).await?;
        if !editor.admin {
            return Err(Error::Forbidden);
        }
        Ok(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_well_formed_headers_hold_credentials() {
        let header = format!("basic {}", STANDARD.encode("a:b:c"));
        assert_eq!(
            credentials(&header),
            Some(("a".to_owned(), "b:c".to_owned()))
        );
        for bad in ["Basic", "Bearer YTpi", "Basic !!", "Basic YQ=="] {
            assert_eq!(credentials(bad), None, "{bad}");
        }
    }
}
