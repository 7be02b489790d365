//! Encrypted connections.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::thread;

use isobath_exec::http::{CallFailure, ClientConfig, Request};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::client_with;

/// Serves so many connections, with a certificate that nobody vouches for.
fn serve(n_connections: usize) -> String {
    let own = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])
        .expect("a certificate can be made");
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|config| {
            let config = config.with_no_client_auth();
            config.with_single_cert(vec![own.cert.der().clone()], key)
        })
        .expect("the certificate was just made");
    let config = Arc::new(config);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for stream in listener.incoming().take(n_connections).flatten() {
            let Ok(connection) = ServerConnection::new(Arc::clone(&config)) else {
                return;
            };
            let mut stream = StreamOwned::new(connection, stream);
            let mut seen = Vec::new();
            let mut piece = [0; 1024];
            while let Ok(n) = stream.read(&mut piece) {
                if n == 0 {
                    break;
                }
                seen.extend_from_slice(&piece[..n]);
                if seen.ends_with(b"\r\n\r\n") {
                    seen.clear();
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret";
                    let _ = stream.write_all(answer);
                }
            }
        }
    });
    format!("https://localhost:{port}/")
}

#[test]
fn a_certificate_of_its_own_making_is_accepted_only_when_we_say_so() {
    let url = serve(2);
    let strict = client_with(ClientConfig::default()).call(&Request::get(&url));
    assert!(
        matches!(strict.failure(), Some(CallFailure::Tls(_))),
        "{strict:?}"
    );
    let mut lenient = client_with(ClientConfig {
        accept_any_certificate: true,
        ..ClientConfig::default()
    });
    // Twice, over the same connection: the service takes no third one.
    for _ in 0..2 {
        let call = lenient.call(&Request::get(&url));
        let response = call.response().unwrap_or_else(|| panic!("{call:?}"));
        assert_eq!(&*response.text(), "secret");
    }
}
