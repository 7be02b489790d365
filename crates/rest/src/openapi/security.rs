//! Security schemes and requirements.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use super::api::{ParameterLocation, SecurityRequirement, SecurityScheme};
use super::document::DocumentPlace;
use super::limitation::LimitationKind;
use super::reader::Reader;

impl Reader<'_> {
    pub(super) fn security_schemes(
        &mut self,
        root: &DocumentPlace,
    ) -> BTreeMap<Arc<str>, SecurityScheme> {
        let place = if self.is_v2() {
            root.child("securityDefinitions")
        } else {
            root.child("components").child("securitySchemes")
        };
        let mut schemes = BTreeMap::new();
        for name in self.names(&place) {
            let place = place.child(&name);
            if let Some(scheme) = self.security_scheme(&place) {
                schemes.insert(name.as_str().into(), scheme);
            }
        }
        schemes
    }

    fn security_scheme(&mut self, place: &DocumentPlace) -> Option<SecurityScheme> {
        let (place, map) = self.object(place)?;
        let text = |name: &str| map.get(name).and_then(Json::as_str);
        let scheme = match text("type") {
            Some("apiKey") => {
                let location = match text("in") {
                    Some("header") => Some(ParameterLocation::Header),
                    Some("query") => Some(ParameterLocation::Query),
                    Some("cookie") => Some(ParameterLocation::Cookie),
                    _ => None,
                };
                match (text("name"), location) {
                    (Some(name), Some(location)) => Some(SecurityScheme::ApiKey {
                        name: name.into(),
                        location,
                    }),
                    _ => None,
                }
            }
            Some("basic") => Some(SecurityScheme::Http {
                scheme: "basic".into(),
            }),
            Some("http") => text("scheme").map(|scheme| SecurityScheme::Http {
                scheme: scheme.to_ascii_lowercase().into(),
            }),
            Some("oauth2") => {
                let flows = map.get("flows").and_then(Json::as_object);
                let token_url = flows
                    .into_iter()
                    .flatten()
                    .find_map(|(_, flow)| flow.get("tokenUrl")?.as_str())
                    .or_else(|| text("tokenUrl"));
                Some(SecurityScheme::OAuth2 {
                    token_url: token_url.map(Into::into),
                })
            }
            Some("openIdConnect") => Some(SecurityScheme::OpenIdConnect {
                url: text("openIdConnectUrl").unwrap_or_default().into(),
            }),
            Some("mutualTLS") => Some(SecurityScheme::MutualTls),
            _ => None,
        };
        match &scheme {
            None => self.malformed(&place, "unknown kind of security scheme"),
            Some(SecurityScheme::MutualTls) => {
                let detail = "client certificates are not sent";
                self.documents
                    .limit(LimitationKind::Security, &place, detail);
            }
            Some(_) => {}
        }
        scheme
    }

    /// The requirements at a place; `None` if nothing is said there.
    pub(super) fn security(&mut self, place: &DocumentPlace) -> Option<Vec<SecurityRequirement>> {
        let requirements = match self.documents.get(place)? {
            Json::Array(requirements) => requirements,
            _ => {
                self.malformed(place, "`security` must be a list");
                return None;
            }
        };
        let read = requirements
            .iter()
            .filter_map(Json::as_object)
            .map(|requirement| SecurityRequirement {
                schemes: requirement
                    .iter()
                    .map(|(name, scopes)| {
                        let scopes = scopes.as_array().into_iter().flatten();
                        let scopes = scopes.filter_map(|s| s.as_str().map(Into::into)).collect();
                        (name.as_str().into(), scopes)
                    })
                    .collect(),
            })
            .collect();
        Some(read)
    }
}
