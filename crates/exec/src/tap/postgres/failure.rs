//! Reads and writes PostgreSQL ErrorResponse messages.

use crate::database::Refusal;
use crate::database::postgres::{ErrorFields, refusal};
use crate::tap::reader::Reader;

/// Reads the fields of an ErrorResponse.
pub(super) fn read(body: &[u8]) -> Refusal {
    let mut reader = Reader(body);
    let mut fields = Vec::new();
    while let Some(kind) = reader.byte().filter(|&kind| kind != 0) {
        let text = String::from_utf8_lossy(reader.text_or_rest()).into_owned();
        fields.push((kind, text));
    }
    let field = |wanted: u8| {
        let mut fields = fields.iter();
        fields
            .find(|(kind, _)| *kind == wanted)
            .map(|(_, text)| text.as_str())
    };
    refusal(&ErrorFields {
        code: field(b'C').unwrap_or("XX000"),
        message: field(b'M').unwrap_or("no message"),
        detail: field(b'D').unwrap_or_default(),
        table: field(b't'),
        column: field(b'c'),
        constraint: field(b'n'),
    })
}

/// An ErrorResponse by which a server says that it is not there.
pub(super) fn fatal(why: &str) -> Vec<u8> {
    let mut body = Vec::new();
    for (kind, text) in [
        (b'S', "FATAL"),
        (b'V', "FATAL"),
        (b'C', "08006"),
        (b'M', why),
    ] {
        body.push(kind);
        body.extend(text.bytes().filter(|&byte| byte != 0));
        body.push(0);
    }
    body.push(0);
    let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
    let mut message = vec![b'E'];
    message.extend(length.to_be_bytes());
    message.append(&mut body);
    message
}
