//! A NATS server with an operator, an account and a user, over TLS: what `nsc` and an authority would make.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use nkeys::KeyPair;
use serde_json::{Value, json};

/// Writes the certificate (`ca.pem`) and the credentials of the user (`user.creds`) into a folder, and returns the
/// configuration of the server.
pub(crate) fn configuration(folder: &Path) -> String {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    put("ca.pem", &pem("CERTIFICATE", made.cert.der()));
    put(
        "key.pem",
        &pem("PRIVATE KEY", &made.signing_key.serialize_der()),
    );
    let (operator, account, user) = (
        KeyPair::new_operator(),
        KeyPair::new_account(),
        KeyPair::new_user(),
    );
    let no_limits = json!({ "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
        "conn": -1, "leaf": -1, "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1 });
    let of_operator = token(
        &operator,
        &operator,
        json!({ "type": "operator", "version": 2 }),
    );
    let limited = |limits: &Value| json!({ "type": "account", "version": 2, "limits": limits, "default_permissions": { "pub": {}, "sub": {} } });
    let of_account = token(&operator, &account, limited(&no_limits));
    // JetStream needs an account for the server itself, which must not have streams.
    let system = KeyPair::new_account();
    let few = json!({ "subs": -1, "data": -1, "payload": -1, "conn": -1 });
    let of_system = token(&operator, &system, limited(&few));
    let of_user = token(
        &account,
        &user,
        json!({ "type": "user", "version": 2, "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1 }),
    );
    let seed = user.seed().expect("a key with a seed");
    let creds = format!(
        "-----BEGIN NATS USER JWT-----\n{of_user}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    );
    put("user.creds", &creds);
    let (account, system) = (account.public_key(), system.public_key());
    format!(
        "operator: {of_operator}\nresolver: MEMORY\nresolver_preload: {{ {account}: {of_account}, {system}: {of_system} }}\n\
         system_account: {system}\ntls {{ cert_file: {:?}, key_file: {:?} }}",
        folder.join("ca.pem"),
        folder.join("key.pem")
    )
}

/// Bytes as text in the form that programs read keys and certificates in.
fn pem(what: &str, bytes: &[u8]) -> String {
    let text = STANDARD.encode(bytes);
    let lines: Vec<&str> = (0..text.len())
        .step_by(64)
        .map(|at| &text[at..text.len().min(at + 64)])
        .collect();
    let lines = lines.join("\n");
    format!("-----BEGIN {what}-----\n{lines}\n-----END {what}-----\n")
}

/// A JSON web token in which one key says something about another.
fn token(issuer: &KeyPair, subject: &KeyPair, claims: Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let header = part(&json!({ "typ": "JWT", "alg": "ed25519-nkey" }));
    let body = part(&json!({
        "jti": subject.public_key(), "iat": 1_700_000_000, "name": "test",
        "iss": issuer.public_key(), "sub": subject.public_key(), "nats": claims,
    }));
    let signed = format!("{header}.{body}");
    let signature = issuer.sign(signed.as_bytes()).expect("a key that signs");
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}
