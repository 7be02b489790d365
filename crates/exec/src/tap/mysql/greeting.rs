//! Rewrites the capabilities of the server greeting, so that the session stays readable.

use crate::tap::reader::Reader;

/// Compressed packets.
pub(super) const COMPRESS: u64 = 1 << 5;
/// Encryption.
pub(super) const SSL: u64 = 1 << 11;
/// The protocol since 4.1.
pub(super) const PROTOCOL_41: u64 = 1 << 9;
/// Results end with an OK in place of an EOF.
pub(super) const DEPRECATE_EOF: u64 = 1 << 24;
/// Columns are described only if the client asks for it.
const OPTIONAL_METADATA: u64 = 1 << 25;
/// Compressed packets, in another way.
const ZSTD: u64 = 1 << 26;
/// Attributes stand before the text of a query.
const QUERY_ATTRIBUTES: u64 = 1 << 27;
/// MariaDB reports progress in packets of its own.
const PROGRESS: u64 = 1 << 29;
/// What is taken out of an offer.
const HIDDEN: u64 = COMPRESS | SSL | OPTIONAL_METADATA | ZSTD | QUERY_ATTRIBUTES | PROGRESS;

/// Takes out of a greeting what we could not read; the offer that is left, or `None` if it is no greeting
/// of this protocol.
pub(super) fn adapt(body: &mut [u8]) -> Option<u64> {
    let length = body.len();
    let mut reader = Reader(body);
    if reader.byte()? != 10 {
        return None;
    }
    let version = reader.0.iter().position(|&byte| byte == 0)?;
    // Version, zero, thread, first part of the challenge, zero.
    reader.take(version + 1 + 4 + 8 + 1)?;
    let low = length - reader.0.len();
    // Low half, character set, status, high half, length of the challenge.
    let high = low + 2 + 1 + 2;
    let offer_low = reader.number(2)?;
    reader.take(3)?;
    let offer_high = reader.number(2)?;
    let offer = (offer_high << 16 | offer_low) & !HIDDEN;
    for (at, half) in [(low, offer as u16), (high, (offer >> 16) as u16)] {
        body.get_mut(at..at + 2)?
            .copy_from_slice(&half.to_le_bytes());
    }
    // Where MySQL has zeros, MariaDB offers more: bulk commands, cached descriptions.
    let more = high + 2 + 1 + 6;
    if let Some(more) = body.get_mut(more..more + 4) {
        more.fill(0);
    }
    Some(offer)
}
