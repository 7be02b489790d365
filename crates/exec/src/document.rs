//! Loads documents from files and URLs, bounded in size and time.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use url::{Host, Url};

use crate::http::{BodyCompleteness, CallFailure, CallOutcome, Client, ClientConfig, Request};

/// The largest document that is read; the largest API descriptions in use have some 20 MB.
pub const LIMIT: usize = 64 << 20;

/// How many redirections to a document are followed.
const REDIRECTS: usize = 5;

/// A document that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Where it is: a path, or an address after all redirections.
    pub location: String,
    /// What it says.
    pub text: String,
    /// What the web server says it is, without parameters.
    pub media_type: Option<String>,
}

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("failed to read `{location}`")]
    File {
        /// Where.
        location: String,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The web server did not answer.
    #[error("failed to fetch {location}: {cause}")]
    Fetch {
        /// Where.
        location: String,
        /// What happened.
        #[source]
        cause: CallFailure,
    },
    /// The web server has no such document for us.
    #[error("{location} responded with status {status} instead of a document")]
    Status {
        /// Where.
        location: String,
        /// The status code.
        status: u16,
    },
    /// Only a part of it came.
    #[error("the transfer of {location} ended after {bytes} bytes")]
    Incomplete {
        /// Where.
        location: String,
        /// How much came.
        bytes: usize,
    },
    /// A document from elsewhere may not lead there.
    #[error("`{location}` is not loaded: {why}")]
    Refused {
        /// Where.
        location: String,
        /// The rule, with the way out if there is one.
        why: &'static str,
    },
    /// It is larger than we read.
    #[error("`{location}` has more than {LIMIT} bytes")]
    TooLarge {
        /// Where.
        location: String,
    },
    /// It is not text.
    #[error("`{location}` is not UTF-8 text (byte {offset})")]
    NotText {
        /// Where.
        location: String,
        /// The first byte that does not belong.
        offset: usize,
    },
}

/// Reads a document from a path, a `file:` address or an `http(s):` address.
///
/// # Errors
///
/// When it is not there, not text, or too large.
pub fn load(location: &str, timeout: Duration) -> Result<Document, LoadError> {
    load_redirected(location, timeout, REDIRECTS)
}

/// Reads a document that the document at `from` refers to.
///
/// A document that came over the network reads no local files. Other hosts than its own and this machine are asked
/// only if `remote` allows it, and redirects are followed only then.
///
/// # Errors
///
/// As [`load`], and when the reference is not allowed.
pub fn load_reference(
    location: &str,
    from: &str,
    remote: bool,
    timeout: Duration,
) -> Result<Document, LoadError> {
    let refuse = |why| {
        Err(LoadError::Refused {
            location: location.to_owned(),
            why,
        })
    };
    let (to, from) = (web(location), web(from));
    match (&to, &from) {
        (None, Some(_)) => return refuse("a document from the network may not read local files"),
        (Some(to), _) if !remote => {
            let is_own = from.is_some_and(|from| from.host() == to.host());
            if !is_own && !is_local(to) {
                return refuse("it is on another host; add --remote to load it");
            }
        }
        _ => {}
    }
    load_redirected(location, timeout, if remote { REDIRECTS } else { 0 })
}

/// The address of a document on the web.
fn web(location: &str) -> Option<Url> {
    let url = Url::parse(location).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

/// Whether an address is on this machine.
#[must_use]
pub fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn load_redirected(
    location: &str,
    timeout: Duration,
    redirects: usize,
) -> Result<Document, LoadError> {
    match Url::parse(location) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => fetch(location, timeout, redirects),
        Ok(url) if url.scheme() == "file" => match url.to_file_path() {
            Ok(path) => read(&path),
            Err(()) => Err(LoadError::File {
                location: location.to_owned(),
                cause: io::Error::from(io::ErrorKind::InvalidInput),
            }),
        },
        _ => read(Path::new(location)),
    }
}

/// Where a reference inside a document leads: `reference` relative to `base`, without its fragment.
///
/// Both may be paths or addresses; a reference to a place in the same document leads to `base`.
pub fn resolve(base: &str, reference: &str) -> String {
    let reference = reference.split('#').next().unwrap_or(reference);
    if reference.is_empty() {
        return base.to_owned();
    }
    if Url::parse(reference).is_ok_and(|url| url.scheme().len() > 1) {
        return reference.to_owned();
    }
    let web = Url::parse(base).ok().filter(|url| url.scheme().len() > 1);
    if let Some(joined) = web.and_then(|url| url.join(reference).ok()) {
        return joined.into();
    }
    let mut path = PathBuf::from(base);
    path.pop();
    for part in Path::new(reference).components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir if path.file_name().is_some() => {
                path.pop();
            }
            part => path.push(part),
        }
    }
    path.display().to_string()
}

fn read(path: &Path) -> Result<Document, LoadError> {
    let location = path.display().to_string();
    let mut bytes = Vec::new();
    let reading =
        File::open(path).and_then(|file| file.take(LIMIT as u64 + 1).read_to_end(&mut bytes));
    if let Err(cause) = reading {
        return Err(LoadError::File { location, cause });
    }
    if bytes.len() > LIMIT {
        return Err(LoadError::TooLarge { location });
    }
    text(location, bytes, None)
}

fn fetch(location: &str, timeout: Duration, redirects: usize) -> Result<Document, LoadError> {
    let location = location.to_owned();
    let config = ClientConfig {
        timeout,
        body_limit: LIMIT,
        redirects,
        ..ClientConfig::default()
    };
    let mut client = match Client::new(config) {
        Ok(client) => client,
        Err(cause) => return Err(LoadError::File { location, cause }),
    };
    let request = Request::get(&location).header(
        "Accept",
        "application/json, application/yaml, text/yaml, */*;q=0.5",
    );
    let mut call = client.call(&request);
    let location = call.hops.pop().unwrap_or(location);
    let response = match call.outcome {
        CallOutcome::Answered(response) => response,
        CallOutcome::Failed(cause) => return Err(LoadError::Fetch { location, cause }),
    };
    if response.status != 200 {
        let status = response.status;
        return Err(LoadError::Status { location, status });
    }
    let media_type = response.media_type();
    match response.completeness {
        BodyCompleteness::Complete => text(location, response.body.into(), media_type),
        BodyCompleteness::TooLarge => Err(LoadError::TooLarge { location }),
        BodyCompleteness::Dropped | BodyCompleteness::TimedOut | BodyCompleteness::Undecodable => {
            let bytes = response.body.len();
            Err(LoadError::Incomplete { location, bytes })
        }
    }
}

fn text(
    location: String,
    bytes: Vec<u8>,
    media_type: Option<String>,
) -> Result<Document, LoadError> {
    // Editors on some systems mark UTF-8 by three bytes that belong to no document.
    let content = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    match std::str::from_utf8(content) {
        Ok(text) => Ok(Document {
            location,
            text: text.to_owned(),
            media_type,
        }),
        Err(error) => Err(LoadError::NotText {
            location,
            offset: bytes.len() - content.len() + error.valid_up_to(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(10);

    #[test]
    fn references_lead_from_document_to_document() {
        let check = |base, reference| resolve(base, reference);
        assert_eq!(
            check("api/openapi.yaml", "#/components/x"),
            "api/openapi.yaml"
        );
        assert_eq!(check("api/openapi.yaml", "./a/b.yaml#/x"), "api/a/b.yaml");
        assert_eq!(check("api/v1/openapi.yaml", "../b.yaml"), "api/b.yaml");
        assert_eq!(check("openapi.yaml", "../b.yaml"), "../b.yaml");
        assert_eq!(
            check("http://h/x/y.json", "../z.json#/a"),
            "http://h/z.json"
        );
        assert_eq!(check("api/y.json", "https://h/z.json"), "https://h/z.json");
        assert_eq!(check("/abs/y.json", "/other/z.json"), "/other/z.json");
    }

    #[test]
    fn files_are_read_by_path_and_by_address() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b.yaml");
        std::fs::write(&path, "\u{feff}openapi: 3.0.0\n").unwrap();
        let by_path = load(path.to_str().unwrap(), TIMEOUT).unwrap();
        assert_eq!(by_path.text, "openapi: 3.0.0\n");
        let url = Url::from_file_path(&path).unwrap();
        assert_eq!(load(url.as_str(), TIMEOUT).unwrap().text, by_path.text);
    }

    #[test]
    fn documents_lead_only_where_they_may() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret.yaml");
        std::fs::write(&path, "a: b\n").unwrap();
        let file = path.to_str().unwrap();
        let url = Url::from_file_path(&path).unwrap();
        let check = |to: &str, from: &str, remote| load_reference(to, from, remote, TIMEOUT);
        assert!(check(file, "api/openapi.yaml", false).is_ok());
        for to in [file, url.as_str()] {
            let read = check(to, "http://127.0.0.1:1/openapi.json", true);
            assert!(matches!(read, Err(LoadError::Refused { .. })), "{read:?}");
        }
        for from in ["openapi.yaml", "http://127.0.0.1:1/openapi.json"] {
            let asked = check("http://host.invalid/x.json", from, false);
            assert!(matches!(asked, Err(LoadError::Refused { .. })), "{asked:?}");
        }
        // Allowed, and refused by the system.
        for to in ["http://127.0.0.1:1/x.json", "http://localhost:1/x.json"] {
            let asked = check(to, "openapi.yaml", false);
            assert!(matches!(asked, Err(LoadError::Fetch { .. })), "{asked:?}");
        }
        let own = check(
            "http://host.invalid/x.json",
            "http://host.invalid/y.json",
            false,
        );
        assert!(matches!(own, Err(LoadError::Fetch { .. })), "{own:?}");
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        let missing = load(path.to_str().unwrap(), TIMEOUT);
        assert!(matches!(missing, Err(LoadError::File { .. })));
        std::fs::write(&path, b"{\xff}").unwrap();
        let binary = load(path.to_str().unwrap(), TIMEOUT);
        assert!(matches!(binary, Err(LoadError::NotText { offset: 1, .. })));
        let folder = load(folder.path().to_str().unwrap(), TIMEOUT);
        assert!(matches!(folder, Err(LoadError::File { .. })));
    }
}
