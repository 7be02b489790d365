//! Who may read and change a paste, by what the request holds.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::http::header::HeaderMap;
use actix_web::{FromRequest, HttpRequest};
use uuid::Uuid;

use crate::models::{Paste, Visibility};
use crate::problem::{Problem, Result};
use crate::secret;

/// What a request proves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    password: Option<String>,
    key: Option<Uuid>,
}

fn header<'h>(headers: &'h HeaderMap, name: &'static str) -> Result<Option<&'h str>> {
    let Some(value) = headers.get(name) else {
        return Ok(None);
    };
    match value.to_str() {
        Ok(text) if !text.is_empty() => Ok(Some(text)),
        _ => Err(Problem::Malformed(format!("the header {name} is not text"))),
    }
}

impl Access {
    fn of(headers: &HeaderMap) -> Result<Self> {
        let key = match header(headers, "x-edit-key")? {
            Some(text) => Some(Uuid::parse_str(text).map_err(|error| {
                Problem::Malformed(format!("the header x-edit-key is no key: {error}"))
            })?),
            None => None,
        };
        Ok(Self {
            password: header(headers, "x-paste-password")?.map(str::to_owned),
            key,
        })
    }

    /// Whether the request holds the edit key of a paste.
    pub(crate) fn owns(&self, paste: &Paste) -> bool {
        self.key
            .is_some_and(|key| secret::digest(&key.to_string()) == paste.edit_key)
    }

    /// Refuses who may not read the paste.
    pub(crate) fn read(&self, paste: &Paste) -> Result<()> {
        match (paste.visibility(), &paste.password) {
            (Visibility::Public | Visibility::Unlisted, _) => Ok(()),
            (Visibility::Private, _) if self.owns(paste) => Ok(()),
            (Visibility::Private, Some(sealed)) => match &self.password {
                None => Err(Problem::NeedsPassword),
                Some(password) if secret::opens(password, sealed) => Ok(()),
                Some(_) => Err(Problem::WrongPassword),
            },
            (Visibility::Private, None) => Err(Problem::NeedsKey),
        }
    }

    /// Refuses who may not change the paste.
    pub(crate) fn change(&self, paste: &Paste) -> Result<()> {
        if self.key.is_none() {
            Err(Problem::NeedsKey)
        } else if self.owns(paste) {
            Ok(())
        } else {
            Err(Problem::WrongKey)
        }
    }
}

impl FromRequest for Access {
    type Error = Problem;
    type Future = Ready<Result<Self>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Self::of(request.headers()))
    }
}
