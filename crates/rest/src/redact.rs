//! Redacts secrets from the output of the service.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::prelude::{
    BASE64_STANDARD_NO_PAD as STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD,
};
use isobath_exec::http::Request;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use regex::Regex;
use serde_json::Value;

/// Heading of service output in the evidence of a fault.
const OUTPUT_HEADING: &str = "service output:\n";
/// What stands in place of a secret.
pub(crate) const MASK: &str = "***";
/// Shorter values are not taken for secrets: they would be found in every other word.
const SHORTEST: usize = 3;
/// Shorter ones are only looked for as they are: encoded, they would be found by chance.
const SHORTEST_SPELLED: usize = 8;

/// What browsers and most libraries escape in URLs.
const FRAGMENT: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`');

/// Service output as evidence.
pub(crate) fn output_evidence(output: &str) -> String {
    format!("{OUTPUT_HEADING}{output}")
}

/// The service output in a piece of evidence, if it is one.
#[must_use]
pub fn output_in(evidence: &str) -> Option<&str> {
    evidence.strip_prefix(OUTPUT_HEADING)
}

/// A text without the secrets of a request, and without what looks like one.
#[must_use]
pub(crate) fn request_secrets(text: &str, request: &Request) -> String {
    let secrets = secrets(request);
    redact_likely_secrets(&without(text, secrets.iter().map(String::as_str)))
}

/// A text without these secrets, however they are spelled.
#[must_use]
pub(crate) fn without<'s>(text: &str, secrets: impl IntoIterator<Item = &'s str>) -> String {
    let mut spelled: Vec<String> = secrets.into_iter().flat_map(spellings).collect();
    // The longest first: one may be a part of another.
    spelled.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    let masked = |text: String, secret: &String| match text.contains(secret) {
        true => text.replace(secret, MASK),
        false => text,
    };
    spelled.iter().fold(text.to_owned(), masked)
}

/// How a secret may stand in a text: as it is, escaped for JSON, HTML or URLs, and in Base64, also as a part of what was
/// encoded.
#[must_use]
pub fn spellings(secret: &str) -> BTreeSet<String> {
    let mut spellings = BTreeSet::from([secret.to_owned()]);
    if secret.len() < SHORTEST_SPELLED {
        return spellings;
    }
    let json = Value::from(secret).to_string();
    spellings.insert(json[1..json.len() - 1].to_owned());
    let html = secret.replace('&', "&amp;").replace('<', "&lt;");
    let html = html.replace('>', "&gt;").replace('"', "&quot;");
    spellings.insert(html);
    const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'.')
        .remove(b'_')
        .remove(b'~');
    for set in [UNRESERVED, NON_ALPHANUMERIC, FRAGMENT] {
        spellings.insert(utf8_percent_encode(secret, set).to_string());
    }
    spellings.insert(url::form_urlencoded::byte_serialize(secret.as_bytes()).collect());
    for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
        // What comes before a secret shifts it by up to two bytes.
        for (before, start) in [(&[][..], 0), (&[0], 2), (&[0, 0], 3)] {
            let bytes = [before, secret.as_bytes()].concat();
            let text = engine.encode(&bytes);
            // The characters at either end also hold bits of the neighbors.
            let end = text.len() - usize::from(!bytes.len().is_multiple_of(3));
            let core = text.get(start..end).unwrap_or_default();
            if core.len() >= SHORTEST_SPELLED {
                spellings.insert(core.to_owned());
            }
        }
    }
    spellings
}

/// A text without what looks like a secret: what follows the name of one, credentials, tokens.
#[must_use]
pub fn redact_likely_secrets(text: &str) -> String {
    static SECRETS: LazyLock<[(Regex, &str); 5]> = LazyLock::new(|| {
        let pattern = |text: &str| Regex::new(text).expect("a constant pattern");
        [
            (
                pattern(r#"(?im)((?:\b|_)(?:authorization|cookie)\b["']?\s*[:=]\s*)[^\n]+"#),
                "${1}***",
            ),
            (
                pattern(
                    r#"(?i)((?:passw(?:or)?d|passphrase|secret|token|api[-_]?key)["']?\s*[:=]\s*(?:Some\()?["']?)[^\s"',;&}\])]+"#,
                ),
                "${1}***",
            ),
            (
                pattern(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}"),
                "${1} ***",
            ),
            (pattern(r"(://[^\s/:@]+:)[^\s/@]+@"), "${1}***@"),
            // Hashes of passwords.
            (
                pattern(r"\$(?:argon2\w*|2[aby]|pbkdf2[\w-]*|scrypt|[56])\$[\w./+=,$-]{8,}"),
                "***",
            ),
        ]
    });
    let mut text = text.to_owned();
    for (pattern, mask) in SECRETS.iter() {
        text = pattern.replace_all(&text, *mask).into_owned();
    }
    text
}

/// Whether a value of this name is a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [
        "pass",
        "secret",
        "token",
        "auth",
        "key",
        "cookie",
        "session",
        "credential",
    ]
    .iter()
    .any(|word| name.contains(word))
}

/// The secrets that a request carries.
fn secrets(request: &Request) -> BTreeSet<String> {
    let mut secrets = BTreeSet::new();
    let mut add = |value: &str| {
        if value.len() >= SHORTEST {
            secrets.insert(value.to_owned());
        }
    };
    for (name, value) in &request.headers {
        if !is_secret(name) {
            continue;
        }
        add(value);
        // The scheme is none, nor is the name of a cookie.
        value.split(' ').skip(1).for_each(&mut add);
        for pair in value.split(';') {
            if let Some((_, value)) = pair.split_once('=') {
                add(value.trim());
            }
        }
    }
    let query = request.url.split_once('?').map_or("", |(_, query)| query);
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        if is_secret(&name) {
            add(&value);
        }
    }
    if let Ok(json) = serde_json::from_slice::<Value>(&request.body) {
        in_json(&json, false, &mut add);
    }
    secrets
}

fn in_json(value: &Value, named: bool, add: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) if named => add(text),
        Value::Array(items) => items.iter().for_each(|item| in_json(item, named, add)),
        Value::Object(members) => members
            .iter()
            .for_each(|(name, member)| in_json(member, is_secret(name), add)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_the_call_are_masked_wherever_they_stand() {
        let request = Request::get("http://localhost/a?api_key=hush-hush&page=abc")
            .header("Authorization", "Bearer s3cr3t-t0ken")
            .header("Cookie", "sid=crumbs; theme=dark")
            .header("Accept", "text/plain")
            .body(r#"{"user": {"name": "ada", "password": "correct horse"}}"#);
        let output = "login of ada with correct horse by s3cr3t-t0ken, hush-hush, crumbs, abc";
        assert_eq!(
            request_secrets(output, &request),
            "login of ada with *** by ***, ***, ***, abc"
        );
    }

    #[test]
    fn secrets_are_masked_however_they_are_spelled() {
        let secret = "pla\"nted/to&ken+47 11=ü";
        let encode = |text: &str| base64::prelude::BASE64_STANDARD.encode(text);
        let url_safe = |text: &str| base64::prelude::BASE64_URL_SAFE.encode(text);
        let texts = [
            secret.to_owned(),
            format!("a {secret} b"),
            Value::from(secret).to_string(),
            Value::from(format!("x{secret}y")).to_string(),
            encode(secret),
            encode(&format!("ada:{secret}")),
            encode(&format!("me:{secret}@host")),
            url_safe(&format!("a:{secret}")),
            url::form_urlencoded::byte_serialize(secret.as_bytes()).collect(),
            utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string(),
            "pla&quot;nted/to&amp;ken+47 11=ü".to_owned(),
        ];
        for text in texts {
            let shown = without(&text, [secret]);
            assert!(shown.contains(MASK), "{text}: {shown}");
            // No half of it is left either.
            for part in ["nted", "4711", "47 11", &encode("nted/to&ken+")[4..12]] {
                assert!(!shown.contains(part), "{text}: {shown}");
            }
        }
        assert_eq!(without("YWJj abc", ["abc"]), "YWJj ***");
    }

    #[test]
    fn what_looks_like_a_secret_is_masked() {
        let check = |output: &str, shown: &str| assert_eq!(redact_likely_secrets(output), shown);
        check("authorization: Basic abc def", "authorization: ***");
        check("password=hunter2&x=1", "password=***&x=1");
        check(
            r#"{"accessToken": "abc", "n": 1}"#,
            r#"{"accessToken": "***", "n": 1}"#,
        );
        check("got bearer abcdefgh", "got bearer ***");
        check(
            "postgres://ada:pw@localhost/db",
            "postgres://ada:***@localhost/db",
        );
        check(
            "panicked at src/token.rs:7:3: no such token",
            "panicked at src/token.rs:7:3: no such token",
        );
    }

    #[test]
    fn evidence_is_told_from_other_evidence() {
        assert_eq!(output_in(&output_evidence("a\nb")), Some("a\nb"));
        assert_eq!(output_in("SELECT 1"), None);
    }
}
