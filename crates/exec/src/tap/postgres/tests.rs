//! Recorded sessions, split at arbitrary positions.

use super::super::super::Session as _;
use super::*;

/// A message of either side.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[kind], length.to_be_bytes().as_slice(), body].concat()
}

fn startup() -> Vec<u8> {
    let body = b"\x00\x03\x00\x00user\0me\0\0";
    let length = u32::try_from(body.len() + 4).unwrap();
    [length.to_be_bytes().as_slice(), body].concat()
}

fn error(fields: &[(u8, &str)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (kind, text) in fields {
        body.push(*kind);
        body.extend(text.as_bytes());
        body.push(0);
    }
    body.push(0);
    message(b'E', &body)
}

fn bind(values: &[&str]) -> Vec<u8> {
    let mut body = b"\0s\0\0\0".to_vec();
    body.extend(u16::try_from(values.len()).unwrap().to_be_bytes());
    for value in values {
        body.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
        body.extend(value.as_bytes());
    }
    body.extend([0, 0]);
    message(b'B', &body)
}

const EXECUTE: &[u8] = b"\0\0\0\0\0";

/// One statement per line: text, rows, failure.
fn told(session: &mut Session) -> String {
    let mut observed = Observed::default();
    session.drain_into(&mut observed);
    assert_eq!(observed.not_understood, 0);
    let lines = observed.statements.iter().map(|recorded| {
        let statement = recorded.read();
        let failure = statement.failure.map(|failure| format!(" | {failure}"));
        let failure = failure.unwrap_or_default();
        format!("{} | {:?}{failure}", statement.text, statement.touched)
    });
    lines.collect::<Vec<_>>().join("\n")
}

enum Side {
    Client,
    Server,
}
use Side::{Client, Server};

/// A prepared statement that is used twice in one go, the second time in vain, then a query of three statements.
fn script() -> Vec<(Side, Vec<u8>)> {
    vec![
        (Client, b"\0\0\0\x08\x04\xd2\x16\x2f".to_vec()),
        (Client, startup()),
        (
            Server,
            [message(b'R', &[0; 4]), message(b'Z', b"I")].concat(),
        ),
        (
            Client,
            [
                message(b'P', b"s\0INSERT INTO t VALUES ($1, $2)\0\0\0"),
                message(b'D', b"Ss\0"),
                message(b'S', b""),
            ]
            .concat(),
        ),
        (
            Server,
            [
                message(b'1', b""),
                message(b't', &[0, 2, 0, 0, 0, 23, 0, 0, 0, 25]),
                message(b'n', b""),
                message(b'Z', b"I"),
            ]
            .concat(),
        ),
        (
            Client,
            [
                bind(&["-5", "it's"]),
                message(b'E', EXECUTE),
                bind(&["6", "b"]),
                message(b'E', EXECUTE),
                bind(&["7", "c"]),
                message(b'E', EXECUTE),
                message(b'S', b""),
                message(b'Q', b"SELECT 1; SELECT ';'; UPDATE t SET a = 1\0"),
            ]
            .concat(),
        ),
        (
            Server,
            [
                message(b'2', b""),
                message(b'C', b"INSERT 0 1\0"),
                message(b'2', b""),
                error(&[
                    (b'S', "ERROR"),
                    (b'C', "23505"),
                    (b'M', "duplicate"),
                    (b'D', "Key (a)=(6) already exists."),
                    (b't', "t"),
                    (b'n', "t_a_key"),
                ]),
                message(b'Z', b"I"),
                message(b'T', b"\0\0"),
                message(b'D', b"\0\0"),
                message(b'C', b"SELECT 1\0"),
                message(b'T', b"\0\0"),
                message(b'C', b"SELECT 0\0"),
                message(b'C', b"UPDATE 3\0"),
                message(b'Z', b"I"),
            ]
            .concat(),
        ),
    ]
}

const TOLD: &str = "\
INSERT INTO t VALUES ((-5), 'it''s') | Changed(1)
INSERT INTO t VALUES (6, 'b') | Nothing | 23505: duplicate (UNIQUE: constraint \"t_a_key\", table \"t\", column \"a\")
SELECT 1 | Returned(1)
SELECT ';' | Returned(0)
UPDATE t SET a = 1 | Changed(3)";

/// Plays a script in pieces of so many bytes.
fn play(script: &[(Side, Vec<u8>)], mut piece: impl FnMut() -> usize) -> (Session, Vec<u8>) {
    let mut session = Session::default();
    let mut passed = Vec::new();
    for (side, bytes) in script {
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(piece().clamp(1, rest.len()));
            rest = later;
            match side {
                Client => {
                    let to = session.on_client_bytes(now, 1 << 16);
                    passed.extend(to.forward.unwrap_or_else(|| now.to_vec()));
                }
                Server => {
                    assert_eq!(session.on_server_bytes(now), Forwarded::default());
                }
            }
        }
    }
    (session, passed)
}

#[test]
fn statements_are_paired_with_their_answers_however_they_are_sent() {
    let (mut session, passed) = play(&script(), || usize::MAX);
    assert_eq!(told(&mut session), TOLD);
    // All but the request for TLS.
    let sent: Vec<u8> = script()
        .into_iter()
        .filter(|(side, _)| matches!(side, Client))
        .flat_map(|(_, bytes)| bytes)
        .collect();
    assert_eq!(passed, sent[8..]);
}

#[test]
fn requests_for_encryption_are_declined() {
    for (code, _) in [(0x2f, "TLS"), (0x30, "GSSAPI")] {
        let mut session = Session::default();
        let passed = session.on_client_bytes(&[0, 0, 0, 8, 4, 0xd2, 0x16, code], 0);
        assert_eq!(passed.back, b"N");
        assert_eq!(passed.forward.as_deref(), Some([].as_slice()));
        session.client_left();
        let mut observed = Observed::default();
        session.drain_into(&mut observed);
        assert_eq!(observed.warnings, [WANTS_ENCRYPTION]);
    }
}

#[test]
fn what_is_encrypted_from_the_start_passes_unseen() {
    let mut session = Session::default();
    let hello = [0x16, 0x03, 0x01, 0, 5, 1, 2, 3, 4, 5];
    let passed = session.on_client_bytes(&hello, 0);
    assert_eq!(passed.forward.as_deref(), Some(hello.as_slice()));
    assert_eq!(session.on_client_bytes(b"more", 0), Forwarded::default());
    let mut observed = Observed::default();
    session.drain_into(&mut observed);
    assert_eq!(observed.warnings, [ENCRYPTED]);
}

#[test]
fn a_request_to_cancel_is_passed_on() {
    let mut session = Session::default();
    let cancel = [0, 0, 0, 16, 4, 0xd2, 0x16, 0x2e, 0, 0, 0, 1, 0, 0, 0, 2];
    let passed = session.on_client_bytes(&cancel, 0);
    assert_eq!(passed.forward.as_deref(), Some(cancel.as_slice()));
    let mut observed = Observed::default();
    session.drain_into(&mut observed);
    assert_eq!(observed.not_understood, 0);
}

#[test]
fn rows_that_are_fetched_in_parts_are_one_statement() {
    let mut script = script();
    script.truncate(5);
    let fetch = message(b'E', b"\0\0\0\0\x01");
    script.push((
        Client,
        [
            message(b'P', b"s\0SELECT a FROM t\0\0\0"),
            bind(&[]),
            fetch.clone(),
            fetch,
            message(b'S', b""),
        ]
        .concat(),
    ));
    script.push((
        Server,
        [
            message(b'1', b""),
            message(b'2', b""),
            message(b'D', b"\0\0"),
            message(b's', b""),
            message(b'C', b"SELECT 0\0"),
            message(b'Z', b"I"),
        ]
        .concat(),
    ));
    let (mut session, _) = play(&script, || usize::MAX);
    assert_eq!(told(&mut session), "SELECT a FROM t | Returned(1)");
}

#[test]
fn rows_that_a_client_copies_do_not_disturb_what_follows() {
    let mut script = script();
    script.truncate(3);
    script.push((
        Client,
        [
            message(b'P', b"\0COPY t FROM STDIN\0\0\0"),
            message(b'B', b"\0\0\0\0\0\0\0\0"),
            message(b'E', EXECUTE),
            message(b'S', b""),
        ]
        .concat(),
    ));
    script.push((
        Server,
        [
            message(b'1', b""),
            message(b'2', b""),
            message(b'G', b"\0\0\0"),
        ]
        .concat(),
    ));
    script.push((
        Client,
        [
            message(b'd', b"1\n"),
            message(b'S', b""),
            message(b'd', b"2\n"),
            message(b'c', b""),
            message(b'S', b""),
            message(b'Q', b"SELECT 2\0"),
        ]
        .concat(),
    ));
    script.push((
        Server,
        [
            message(b'C', b"COPY 2\0"),
            message(b'Z', b"I"),
            message(b'D', b""),
            message(b'C', b"SELECT 1\0"),
            message(b'Z', b"I"),
        ]
        .concat(),
    ));
    let (mut session, _) = play(&script, || usize::MAX);
    assert_eq!(
        told(&mut session),
        "COPY t FROM STDIN | Changed(2)\nSELECT 2 | Returned(1)"
    );
}

#[test]
fn a_statement_that_waits_is_known() {
    let mut script = script();
    script.truncate(3);
    script.push((Client, message(b'Q', b"LOCK TABLE t\0")));
    let (session, _) = play(&script, || usize::MAX);
    let waiting: Vec<String> = session
        .unanswered()
        .iter()
        .map(|recorded| recorded.read().text)
        .collect();
    assert_eq!(waiting, ["LOCK TABLE t"]);
}

#[test]
fn a_huge_text_is_cut_and_not_lost() {
    let mut script = script();
    script.truncate(3);
    let mut text = b"SELECT '".to_vec();
    text.resize(crate::tap::LONGEST * 2, b'x');
    text.extend(b"'\0");
    script.push((Client, message(b'Q', &text)));
    script.push((
        Server,
        [message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat(),
    ));
    let (mut session, passed) = play(&script, || 1000);
    assert!(passed.len() > text.len());
    assert!(told(&mut session).contains("xxx… |"));
}

proptest::proptest! {
    #[test]
    fn pieces_of_any_size_tell_the_same(sizes in proptest::collection::vec(1_usize..40, 1..50)) {
        let mut sizes = sizes.into_iter().cycle();
        let (mut session, _) = play(&script(), || sizes.next().unwrap_or(1));
        proptest::prop_assert_eq!(told(&mut session), TOLD);
    }

    #[test]
    fn garbage_is_passed_on_and_nothing_breaks(
        started: bool,
        pieces in proptest::collection::vec((proptest::bool::ANY, proptest::collection::vec(0_u8.., 0..60)), 0..20),
    ) {
        let mut session = if started {
            play(&script()[..5], || usize::MAX).0
        } else {
            Session::default()
        };
        for (is_client, bytes) in &pieces {
            if *is_client {
                session.on_client_bytes(bytes, 1);
            } else {
                proptest::prop_assert_eq!(session.on_server_bytes(bytes), Forwarded::default());
            }
        }
        let mut observed = Observed::default();
        session.drain_into(&mut observed);
        observed.statements.iter().for_each(|recorded| drop(recorded.read()));
    }
}
