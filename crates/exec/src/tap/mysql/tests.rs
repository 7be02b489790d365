//! Recorded sessions, split at arbitrary positions.

use super::super::super::Session as _;
use super::*;

fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_le_bytes();
    [&length[..3], &[number], body].concat()
}

const OFFER: u64 =
    greeting::PROTOCOL_41 | greeting::SSL | greeting::COMPRESS | greeting::DEPRECATE_EOF;

fn greeting_of(offer: u64) -> Vec<u8> {
    let mut body = b"\x0a8.0\0".to_vec();
    body.extend([1, 0, 0, 0]);
    body.extend(b"challeng\0");
    body.extend(&offer.to_le_bytes()[..2]);
    body.extend([45, 2, 0]);
    body.extend(&offer.to_le_bytes()[2..4]);
    body.push(21);
    body.extend([0; 6]);
    body.extend([7, 0, 0, 0]);
    body.extend(b"anotherpart!\0");
    packet(0, &body)
}

fn hello(taken: u64) -> Vec<u8> {
    let mut body = taken.to_le_bytes()[..4].to_vec();
    body.extend([0; 28]);
    body.extend(b"me\0\0");
    packet(1, &body)
}

const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
const MORE_OK: &[u8] = &[0, 3, 0, 2 | 8, 0, 0, 0];
const END: &[u8] = &[0xfe, 0, 0, 2, 0];
const COLUMN: &[u8] = b"\x03def";

enum Side {
    Client,
    Server,
}
use Side::{Client, Server};

/// A login, three statements in one query, and a prepared statement that is used twice.
fn script(taken: u64) -> Vec<(Side, Vec<u8>)> {
    // How the columns end depends on what was agreed.
    let end = |number: u8| {
        if taken & greeting::DEPRECATE_EOF == 0 {
            packet(number, END)
        } else {
            Vec::new()
        }
    };
    let last = if taken & greeting::DEPRECATE_EOF == 0 {
        packet(9, &[0xfe, 0, 0, 2 | 8, 0])
    } else {
        packet(9, &[0xfe, 0, 0, 2 | 8, 0, 0, 0])
    };
    let mut execute = b"\x17\x05\0\0\0\0\x01\0\0\0\0\x01\x08\0\xfd\0".to_vec();
    execute.extend((-5_i64).to_le_bytes());
    execute.extend(b"\x04it's");
    let mut again = b"\x17\x05\0\0\0\0\x01\0\0\0\x02\0".to_vec();
    again.extend(6_i64.to_le_bytes());
    vec![
        (Server, greeting_of(OFFER)),
        (Client, hello(taken)),
        (Server, packet(2, OK)),
        (
            Client,
            packet(0, b"\x03UPDATE t SET a=1; SELECT 'a;b'; DELETE FROM t"),
        ),
        (
            Server,
            [
                packet(1, MORE_OK),
                packet(2, &[1]),
                packet(3, COLUMN),
                end(4),
                packet(5, b"\x03a;b"),
                last,
                packet(
                    10,
                    b"\xff\xab\x05#23000Cannot delete or update a parent row: a foreign key constraint fails (`d`.`c`, CONSTRAINT `fk` FOREIGN KEY (`a`) REFERENCES `t` (`a`))",
                ),
            ]
            .concat(),
        ),
        (Client, packet(0, b"\x16INSERT INTO t VALUES (?, ?)")),
        (
            Server,
            [
                packet(1, &[0, 5, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]),
                packet(2, COLUMN),
                packet(3, COLUMN),
                end(4),
            ]
            .concat(),
        ),
        (Client, packet(0, &execute)),
        (Server, packet(1, &[0, 1, 0, 2, 0, 0, 0])),
        (Client, packet(0, &again)),
        (
            Server,
            packet(1, b"\xff\x18\x04#23000Column 'b' cannot be null"),
        ),
        (Client, packet(0, b"\x0e")),
        (Server, packet(1, OK)),
    ]
}

const TOLD: &str = "\
UPDATE t SET a=1 | Changed(3)
SELECT 'a;b' | Returned(1)
DELETE FROM t | Nothing | 23000: Cannot delete or update a parent row: a foreign key constraint fails (`d`.`c`, CONSTRAINT `fk` FOREIGN KEY (`a`) REFERENCES `t` (`a`)) (FOREIGN KEY: constraint \"fk\", table \"c\", column \"a\")
INSERT INTO t VALUES ((-5), 'it''s') | Changed(1)
INSERT INTO t VALUES (6, NULL) | Nothing | 23000: Column 'b' cannot be null (NOT NULL: column \"b\")";

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

fn play(script: &[(Side, Vec<u8>)], mut piece: impl FnMut() -> usize) -> Session {
    let mut session = Session::default();
    for (side, bytes) in script {
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(piece().clamp(1, rest.len()));
            rest = later;
            match side {
                Client => {
                    assert_eq!(session.on_client_bytes(now, 1 << 16), Forwarded::default());
                }
                Server => {
                    session.on_server_bytes(now);
                }
            }
        }
    }
    session
}

#[test]
fn statements_are_paired_with_their_answers_whatever_was_agreed() {
    for taken in [
        greeting::PROTOCOL_41,
        greeting::PROTOCOL_41 | greeting::DEPRECATE_EOF,
    ] {
        let mut session = play(&script(taken), || usize::MAX);
        assert_eq!(told(&mut session), TOLD);
    }
}

#[test]
fn a_server_does_not_offer_what_we_cannot_read() {
    let mut session = Session::default();
    let whole = greeting_of(OFFER);
    let held = session.on_server_bytes(&whole[..10]);
    assert_eq!(held.forward.as_deref(), Some([].as_slice()));
    let passed = session.on_server_bytes(&whole[10..]);
    let mut expected = greeting_of(greeting::PROTOCOL_41 | greeting::DEPRECATE_EOF);
    let more = expected.len() - b"anotherpart!\0".len() - 4;
    expected[more..more + 4].fill(0);
    assert_eq!(passed.forward.as_deref(), Some(expected.as_slice()));
}

#[test]
fn who_takes_what_was_not_offered_passes_unseen() {
    let mut session = play(&script(greeting::PROTOCOL_41)[..1], || usize::MAX);
    let asks = hello(greeting::PROTOCOL_41 | greeting::SSL);
    assert_eq!(session.on_client_bytes(&asks, 0), Forwarded::default());
    assert_eq!(
        session.on_client_bytes(b"\x16\x03\x01", 0),
        Forwarded::default()
    );
    let mut observed = Observed::default();
    session.drain_into(&mut observed);
    assert_eq!(observed.warnings, [ENCRYPTED]);
}

#[test]
fn a_file_that_a_client_sends_is_no_command() {
    let mut script = script(greeting::PROTOCOL_41);
    script.truncate(3);
    script.push((
        Client,
        packet(0, b"\x03LOAD DATA LOCAL INFILE 'f' INTO TABLE t"),
    ));
    script.push((Server, packet(1, b"\xfbf")));
    script.push((
        Client,
        [packet(2, b"\x03SELECT 1"), packet(3, b"")].concat(),
    ));
    script.push((Server, packet(4, &[0, 2, 0, 2, 0, 0, 0])));
    script.push((Client, packet(0, b"\x03SELECT 2")));
    script.push((
        Server,
        [
            packet(1, &[1]),
            packet(2, COLUMN),
            packet(3, END),
            packet(4, END),
        ]
        .concat(),
    ));
    let mut session = play(&script, || usize::MAX);
    assert_eq!(
        told(&mut session),
        "LOAD DATA LOCAL INFILE 'f' INTO TABLE t | Changed(2)\nSELECT 2 | Returned(0)"
    );
}

#[test]
fn long_values_are_put_together() {
    let mut script = script(greeting::PROTOCOL_41);
    script.truncate(7);
    script.push((
        Client,
        [
            packet(0, b"\x18\x05\0\0\0\x01\0long "),
            packet(0, b"\x18\x05\0\0\0\x01\0text"),
            packet(0, b"\x17\x05\0\0\0\0\x01\0\0\0\0\x01\x01\0\xfc\0\x07"),
        ]
        .concat(),
    ));
    script.push((Server, packet(1, OK)));
    let mut session = play(&script, || 3);
    let told = told(&mut session);
    assert!(
        told.ends_with("INSERT INTO t VALUES (7, 'long text') | Changed(0)"),
        "{told}"
    );
}

#[test]
fn rows_of_a_cursor_belong_to_its_statement() {
    let mut script = script(greeting::PROTOCOL_41);
    script.truncate(3);
    script.push((Client, packet(0, b"\x16SELECT a FROM t")));
    script.push((
        Server,
        [
            packet(1, &[0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
            packet(2, COLUMN),
            packet(3, END),
        ]
        .concat(),
    ));
    script.push((Client, packet(0, b"\x17\x09\0\0\0\x01\x01\0\0\0")));
    script.push((
        Server,
        [
            packet(1, &[1]),
            packet(2, COLUMN),
            packet(3, &[0xfe, 0, 0, 2 | 64, 0]),
        ]
        .concat(),
    ));
    script.push((Client, packet(0, b"\x1c\x09\0\0\0\x0a\0\0\0")));
    script.push((
        Server,
        [packet(1, b"\0\0row"), packet(2, b"\0\0row"), packet(3, END)].concat(),
    ));
    let mut session = play(&script, || usize::MAX);
    assert_eq!(told(&mut session), "SELECT a FROM t | Returned(2)");
}

#[test]
fn packets_that_go_on_are_one() {
    let mut packets = Packets::default();
    let mut lengths = Vec::new();
    let mut bytes = packet(0, &vec![b'x'; 0xff_ffff]);
    bytes.extend(packet(1, b"yz"));
    bytes.extend(packet(0, b"next"));
    for piece in bytes.chunks(1 << 16) {
        packets.feed(piece, 10, |packet| {
            lengths.push((packet.number, packet.length))
        });
    }
    assert_eq!(lengths, [(0, 0xff_ffff + 2), (0, 4)]);
}

proptest::proptest! {
    #[test]
    fn pieces_of_any_size_tell_the_same(sizes in proptest::collection::vec(1_usize..40, 1..50)) {
        let mut sizes = sizes.into_iter().cycle();
        let script = script(greeting::PROTOCOL_41 | greeting::DEPRECATE_EOF);
        let mut session = play(&script, || sizes.next().unwrap_or(1));
        proptest::prop_assert_eq!(told(&mut session), TOLD);
    }

    #[test]
    fn garbage_is_passed_on_and_nothing_breaks(
        started: bool,
        pieces in proptest::collection::vec((proptest::bool::ANY, proptest::collection::vec(0_u8.., 0..60)), 0..20),
    ) {
        let mut session = if started {
            play(&script(greeting::PROTOCOL_41)[..7], || usize::MAX)
        } else {
            Session::default()
        };
        for (is_client, bytes) in &pieces {
            if *is_client {
                proptest::prop_assert_eq!(session.on_client_bytes(bytes, 1), Forwarded::default());
            } else {
                session.on_server_bytes(bytes);
            }
        }
        let mut observed = Observed::default();
        session.drain_into(&mut observed);
        observed.statements.iter().for_each(|recorded| drop(recorded.read()));
    }
}
