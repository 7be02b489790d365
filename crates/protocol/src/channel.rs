//! Messages on a stream: four bytes of length, then the message.

use std::fmt;
use std::io::{self, Read, Write};

use crate::wire::{ByteReader, MalformedMessage, Wire};

/// No message is longer, so a greater length is garbage.
pub const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// Sends one message.
///
/// # Errors
///
/// When the other side is gone, or the message is longer than [`MAX_MESSAGE_BYTES`].
pub fn send<M: Wire>(to: &mut impl Write, message: &M) -> Result<(), ChannelError> {
    let mut frame = Vec::new();
    push(&mut frame, message)?;
    to.write_all(&frame)?;
    Ok(to.flush()?)
}

/// Appends one message to bytes that will be sent together.
///
/// # Errors
///
/// When the message is longer than [`MAX_MESSAGE_BYTES`]; nothing is appended then.
pub fn push<M: Wire>(frames: &mut Vec<u8>, message: &M) -> Result<(), ChannelError> {
    let start = frames.len();
    frames.extend_from_slice(&[0; 4]);
    message.encode(frames);
    let length = frames.len() - start - 4;
    if length > MAX_MESSAGE_BYTES {
        frames.truncate(start);
        return Err(ChannelError::TooLong(length));
    }
    if let Some(head) = frames.get_mut(start..start + 4) {
        head.copy_from_slice(&(length as u32).to_le_bytes());
    }
    Ok(())
}

/// Waits for one message.
///
/// # Errors
///
/// [`ChannelError::Closed`] when the other side is gone between two messages; otherwise
/// when it goes within one, or sends what is no message.
pub fn receive<M: Wire>(from: &mut impl Read) -> Result<M, ChannelError> {
    let (mut first, mut others) = ([0; 1], [0; 3]);
    match from.read_exact(&mut first) {
        Ok(()) => {}
        Err(error) if gone(&error) => return Err(ChannelError::Closed),
        Err(error) => return Err(error.into()),
    }
    from.read_exact(&mut others)?;
    let ([a], [b, c, d]) = (first, others);
    let length = u32::from_le_bytes([a, b, c, d]) as usize;
    if length > MAX_MESSAGE_BYTES {
        return Err(ChannelError::TooLong(length));
    }
    // Grows with what arrives, not with what was promised.
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Err(ChannelError::Io(io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(parse(&bytes)?)
}

/// Reads one message without its length.
///
/// # Errors
///
/// When the bytes are not exactly one message.
pub fn parse<M: Wire>(bytes: &[u8]) -> Result<M, MalformedMessage> {
    let mut bytes = ByteReader::new(bytes);
    let message = M::decode(&mut bytes)?;
    bytes.end()?;
    Ok(message)
}

/// Why nothing more can be said or heard. The connection is of no use any more.
#[derive(Debug)]
pub enum ChannelError {
    /// The other side is gone.
    Closed,
    /// The stream failed, perhaps within a message.
    Io(io::Error),
    /// A message of so many bytes.
    TooLong(usize),
    /// Bytes that are no message.
    Malformed(MalformedMessage),
    /// A message that has no place here.
    Unexpected,
}

impl fmt::Display for ChannelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the other side closed the connection"),
            Self::Io(error) => write!(f, "connection failed: {error}"),
            Self::TooLong(length) => write!(
                f,
                "message of {length} bytes exceeds the limit of {MAX_MESSAGE_BYTES} bytes"
            ),
            Self::Malformed(malformed) => malformed.fmt(f),
            Self::Unexpected => f.write_str("a message came that has no place there"),
        }
    }
}

impl std::error::Error for ChannelError {}

impl From<io::Error> for ChannelError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<MalformedMessage> for ChannelError {
    fn from(malformed: MalformedMessage) -> Self {
        Self::Malformed(malformed)
    }
}

fn gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionAborted
    )
}
