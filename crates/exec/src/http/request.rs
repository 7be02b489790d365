//! HTTP requests.

use ::http::header::{HOST, HeaderName, HeaderValue, USER_AGENT};
use ::http::uri::PathAndQuery;
use ::http::{Method, Uri};
use bytes::Bytes;
use http_body_util::Full;

use super::call::CallFailure;

/// What to send.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The whole address, `http` or `https`, with path and query already encoded.
    pub url: String,
    /// The headers, in this order; names may repeat.
    pub headers: Vec<(String, String)>,
    /// The body, as raw bytes.
    pub body: Bytes,
}

impl Request {
    /// A request without headers and body.
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        Self {
            method,
            url: url.into(),
            headers: Vec::new(),
            body: Bytes::new(),
        }
    }

    /// A GET request.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::GET, url)
    }

    /// The same request with one more header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The same request with a body.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }
}

/// Where a connection leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) is_tls: bool,
    /// Without the brackets of an IPv6 address.
    pub(super) host: String,
    pub(super) port: u16,
}

/// A request whose address was understood.
#[derive(Debug)]
pub(super) struct ParsedRequest<'a> {
    request: &'a Request,
    uri: Uri,
    pub(super) origin: Origin,
}

impl<'a> ParsedRequest<'a> {
    pub(super) fn new(request: &'a Request) -> Result<Self, CallFailure> {
        let unsendable = |why: String| CallFailure::Unsendable(why);
        let uri: Uri = request
            .url
            .parse()
            .map_err(|error| unsendable(format!("`{}`: {error}", request.url)))?;
        let is_tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => {
                return Err(unsendable(format!(
                    "`{}` is neither http nor https",
                    request.url
                )));
            }
        };
        let host = uri.host().unwrap_or_default();
        if host.is_empty() {
            return Err(unsendable(format!("`{}` names no host", request.url)));
        }
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let origin = Origin {
            is_tls,
            host: host.to_owned(),
            port: uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 }),
        };
        Ok(Self {
            request,
            uri,
            origin,
        })
    }

    /// The request as it goes over the wire.
    pub(super) fn message(
        &self,
        user_agent: &HeaderValue,
    ) -> Result<::http::Request<Full<Bytes>>, CallFailure> {
        let target = self.uri.path_and_query().cloned();
        let target = target.unwrap_or_else(|| PathAndQuery::from_static("/"));
        let mut message = ::http::Request::new(Full::new(self.request.body.clone()));
        *message.method_mut() = self.request.method.clone();
        *message.uri_mut() = Uri::from(target);
        let headers = message.headers_mut();
        for (name, value) in &self.request.headers {
            let bad = |what: &str| {
                CallFailure::Unsendable(format!("the {what} of the header `{name}` is not allowed"))
            };
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad("name"))?;
            let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| bad("value"))?;
            headers.append(name, value);
        }
        if !headers.contains_key(HOST) {
            let authority = self.uri.authority().map_or("", |authority| {
                let text = authority.as_str();
                // Credentials in the address are for us, not for the header.
                text.rsplit_once('@').map_or(text, |(_, host)| host)
            });
            let value = HeaderValue::from_str(authority)
                .map_err(|error| CallFailure::Unsendable(error.to_string()))?;
            headers.insert(HOST, value);
        }
        if !headers.contains_key(USER_AGENT) {
            headers.insert(USER_AGENT, user_agent.clone());
        }
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str) -> String {
        let request = Request::get(url).header("X-A", "1").header("x-a", "2");
        let addressed = match ParsedRequest::new(&request) {
            Ok(addressed) => addressed,
            Err(failure) => return failure.to_string(),
        };
        let message = addressed
            .message(&HeaderValue::from_static("us"))
            .expect("all headers are allowed");
        let Origin { is_tls, host, port } = &addressed.origin;
        let host_header = message.headers()[HOST].to_str().unwrap();
        format!("{is_tls} {host} {port} {} {host_header}", message.uri())
    }

    #[test]
    fn addresses_are_taken_apart() {
        insta::assert_snapshot!(check("http://localhost:8080/a%20b?q=1#part"), @"false localhost 8080 /a%20b?q=1 localhost:8080");
        insta::assert_snapshot!(check("https://u:p@example.org"), @"true example.org 443 / example.org");
        insta::assert_snapshot!(check("http://[::1]:9/x"), @"false ::1 9 /x [::1]:9");
    }

    #[test]
    fn what_cannot_be_sent_says_why() {
        insta::assert_snapshot!(check("ftp://a/b"), @"the request cannot be sent: `ftp://a/b` is neither http nor https");
        insta::assert_snapshot!(check("/only/path"), @"the request cannot be sent: `/only/path` is neither http nor https");
        assert!(check("http://a/b c").starts_with("the request cannot be sent"));
        let request = Request::get("http://a/").header("a", "line\nbreak");
        let failure = ParsedRequest::new(&request)
            .unwrap()
            .message(&HeaderValue::from_static("us"))
            .unwrap_err();
        insta::assert_snapshot!(failure, @"the request cannot be sent: the value of the header `a` is not allowed");
    }
}
