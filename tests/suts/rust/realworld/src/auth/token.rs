//! Signed tokens in three parts, in the manner of JSON web tokens.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use uuid::Uuid;

const ALGORITHM: &str = "HS256";

/// What a token says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Claims {
    #[serde(rename = "jti")]
    pub(crate) id: Uuid,
    #[serde(rename = "sub")]
    pub(crate) user: i64,
    #[serde(rename = "iat")]
    pub(crate) issued: i64,
    #[serde(rename = "exp")]
    pub(crate) expires: i64,
}

#[derive(Serialize, Deserialize)]
struct Header {
    alg: String,
    typ: String,
}

/// Why a token is refused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub(crate) enum TokenError {
    #[error("the scheme must be Token or Bearer")]
    Scheme,
    #[error("it is malformed")]
    Malformed,
    #[error("it is signed in another way")]
    Algorithm,
    #[error("its signature is wrong")]
    Signature,
    #[error("it has expired")]
    Expired,
    #[error("it was logged out")]
    Revoked,
    #[error("its user is gone")]
    Unknown,
}

/// Makes and checks tokens.
#[derive(Clone)]
pub(crate) struct Signer {
    secret: Vec<u8>,
    life: Duration,
}

impl Signer {
    pub(crate) fn new(secret: &str, life: Duration) -> Self {
        Self {
            secret: secret.as_bytes().to_vec(),
            life,
        }
    }

    /// A token for a user, good from now on.
    pub(crate) fn issue(&self, user: i64, now: DateTime<Utc>) -> String {
        let issued = now.timestamp();
        let life = i64::try_from(self.life.as_secs()).unwrap_or(i64::MAX);
        let claims = Claims {
            id: Uuid::new_v4(),
            user,
            issued,
            expires: issued.saturating_add(life),
        };
        let header = Header {
            alg: ALGORITHM.to_owned(),
            typ: "JWT".to_owned(),
        };
        let text = format!("{}.{}", encode(&header), encode(&claims));
        let signature = URL_SAFE_NO_PAD.encode(self.mac(&text).finalize().into_bytes());
        format!("{text}.{signature}")
    }

    /// What a token says, if it is ours and still good.
    pub(crate) fn verify(&self, token: &str, now: DateTime<Utc>) -> Result<Claims, TokenError> {
        let (text, signature) = token.rsplit_once('.').ok_or(TokenError::Malformed)?;
        let (header, claims) = text.split_once('.').ok_or(TokenError::Malformed)?;
        let header: Header = decode(header)?;
        if header.alg != ALGORITHM {
            return Err(TokenError::Algorithm);
        }
        let signature = URL_SAFE_NO_PAD
            .decode(signature)
            .map_err(|_| TokenError::Malformed)?;
        self.mac(text)
            .verify_slice(&signature)
            .map_err(|_| TokenError::Signature)?;
        let claims: Claims = decode(claims)?;
        if claims.expires <= now.timestamp() {
            return Err(TokenError::Expired);
        }
        Ok(claims)
    }

    fn mac(&self, text: &str) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.secret).expect("a key may have any length");
        mac.update(text.as_bytes());
        mac
    }
}

fn encode<T: Serialize>(part: &T) -> String {
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(part).unwrap_or_default())
}

fn decode<T: for<'de> Deserialize<'de>>(part: &str) -> Result<T, TokenError> {
    let bytes = URL_SAFE_NO_PAD
        .decode(part)
        .map_err(|_| TokenError::Malformed)?;
    serde_json::from_slice(&bytes).map_err(|_| TokenError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer() -> Signer {
        Signer::new("a secret for this test", Duration::from_secs(60))
    }

    #[test]
    fn a_token_is_good_until_it_expires() {
        let now = DateTime::from_timestamp(1_000_000, 0).expect("in range");
        let token = signer().issue(7, now);
        assert_eq!(
            signer().verify(&token, now).map(|claims| claims.user),
            Ok(7)
        );
        let later = now + chrono::Duration::seconds(60);
        assert_eq!(signer().verify(&token, later), Err(TokenError::Expired));
    }

    #[test]
    fn a_changed_token_is_refused() {
        let now = DateTime::from_timestamp(1_000_000, 0).expect("in range");
        let token = signer().issue(7, now);
        let other = signer().issue(8, now);
        let (text, _) = token.rsplit_once('.').expect("three parts");
        let (_, signature) = other.rsplit_once('.').expect("three parts");
        let mixed = format!("{text}.{signature}");
        assert_eq!(signer().verify(&mixed, now), Err(TokenError::Signature));
        assert_eq!(signer().verify("a.b", now), Err(TokenError::Malformed));
    }
}
