//! Reads and writes MySQL error packets.

use crate::database::Refusal;
use crate::database::mariadb::refusal;
use crate::tap::reader::Reader;

/// Reads an error packet.
pub(super) fn read(body: &[u8]) -> Refusal {
    let mut reader = Reader(body);
    let _ = reader.byte();
    let code = reader.number(2).unwrap_or(0) as u16;
    let state = match reader
        .0
        .strip_prefix(b"#")
        .and_then(|rest| rest.split_at_checked(5))
    {
        Some((state, rest)) => {
            reader.0 = rest;
            String::from_utf8_lossy(state).into_owned()
        }
        None => "HY000".to_owned(),
    };
    refusal(code, &state, &String::from_utf8_lossy(reader.0))
}

/// The error packet by which a server refuses a connection, in place of its greeting.
pub(super) fn fatal(why: &str) -> Vec<u8> {
    /// Cannot connect to the server.
    const CODE: u16 = 2003;
    let mut body = vec![0xff];
    body.extend(CODE.to_le_bytes());
    body.extend(b"#08006");
    // Messages of servers are no longer than this.
    body.extend(why.bytes().take(512));
    let [a, b, c, _] = (body.len() as u32).to_le_bytes();
    let mut packet = vec![a, b, c, 0];
    packet.append(&mut body);
    packet
}
