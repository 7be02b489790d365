//! Base URL of the service, and the check that it may be called.

use isobath_exec::document::is_local;
use isobath_exec::http::{Method, Request};
use isobath_rest::caller::ResetCall;
use isobath_rest::openapi::Api;

use super::run::SetupError;

/// Base URL: from the flag, else from the document, relative to its location.
pub(super) fn base(url: Option<&str>, api: &Api, location: &str) -> Result<String, SetupError> {
    let served = api.servers.first().map_or("", |server| server.url.as_str());
    joined(url, served, location)
}

fn joined(url: Option<&str>, served: &str, location: &str) -> Result<String, SetupError> {
    let known = url.or_else(|| location.contains("://").then_some(location));
    let joined = match known.map(url::Url::parse) {
        Some(Ok(known)) if url.is_some() => {
            // A path on the command line says it all; without one, that of the document is added.
            let path = url::Url::parse(served)
                .map_or_else(|_| served.to_owned(), |url| url.path().to_owned());
            if known.path() == "/" && !path.is_empty() {
                known.join(&path).ok()
            } else {
                Some(known)
            }
        }
        // Without a server in the document, the service is where the document came from.
        Some(Ok(known)) => known
            .join(if served.is_empty() { "/" } else { served })
            .ok(),
        Some(Err(error)) => return Err(SetupError::usage(format!("--url: {error}"))),
        None => url::Url::parse(served).ok(),
    };
    let base = joined.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let base = base.ok_or_else(|| {
        SetupError::usage(
            "the OpenAPI document names no server; pass --url, for example --url http://localhost:8080",
        )
    })?;
    Ok(base.as_str().trim_end_matches('/').to_owned())
}

/// The port that `--url` names.
pub(super) fn port_of(url: Option<&str>) -> Option<u16> {
    url::Url::parse(url?).ok()?.port()
}

/// The port of `--url`, that of its scheme if it names none.
pub(super) fn known_port(url: Option<&str>) -> Option<u16> {
    url::Url::parse(url?).ok()?.port_or_known_default()
}

/// The address of a service that is started here at a port: `--url` with that port, else that of this machine.
pub(super) fn at_port(url: Option<&str>, port: u16) -> String {
    let given = url.and_then(|url| url::Url::parse(url).ok());
    given
        .and_then(|mut url| url.set_port(Some(port)).ok().map(|()| url.to_string()))
        .unwrap_or_else(|| format!("http://127.0.0.1:{port}"))
}

/// Strangers' services are not to be called by mistake.
pub(super) fn guard(url: &str, remote: bool) -> Result<(), SetupError> {
    let parsed =
        url::Url::parse(url).map_err(|error| SetupError::usage(format!("--url: {error}")))?;
    if is_local(&parsed) || remote {
        return Ok(());
    }
    Err(SetupError::usage(format!(
        "{url} is on another machine; add --remote if you may send it thousands of calls, some of them deliberately invalid"
    )))
}

pub(super) fn reset_call(reset: &str, base: &str) -> Result<ResetCall, SetupError> {
    let wrong = || {
        SetupError::usage(format!(
            "invalid --reset `{reset}` (expected a method and a path, for example \"POST /reset\")"
        ))
    };
    let (method, path) = reset.split_once(' ').ok_or_else(wrong)?;
    let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes()).map_err(|_| wrong())?;
    let path = path.trim();
    if !path.starts_with('/') {
        return Err(wrong());
    }
    Ok(ResetCall {
        request: Request::new(method, format!("{base}{path}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_decides_then_the_document_then_where_it_came_from() {
        let at = "http://localhost:4200/docs/openapi.json";
        for (url, served, location, wanted) in [
            (None, "", at, "http://localhost:4200"),
            (None, "/", at, "http://localhost:4200"),
            (None, "/v1", at, "http://localhost:4200/v1"),
            (None, "http://h:1/api/", at, "http://h:1/api"),
            (Some("http://h:1"), "", "openapi.yaml", "http://h:1"),
            (Some("http://h:1"), "/v1", "openapi.yaml", "http://h:1/v1"),
            (Some("http://h:1/api"), "/v1", at, "http://h:1/api"),
        ] {
            let base = joined(url, served, location).ok();
            assert_eq!(base.as_deref(), Some(wanted), "{url:?} {served:?}");
        }
        assert!(joined(None, "", "openapi.yaml").is_err());
    }

    #[test]
    fn a_service_that_is_started_here_keeps_host_and_path_of_the_flag() {
        let given = Some("http://localhost:8099/api");
        assert_eq!(port_of(given), Some(8099));
        assert_eq!(at_port(given, 8100), "http://localhost:8100/api");
        assert_eq!(at_port(None, 8100), "http://127.0.0.1:8100");
        assert_eq!(port_of(Some("http://localhost/api")), None);
    }
}
