//! Encoding and decoding of values.
//!
//! Numbers are little-endian, a string or list is its length (four bytes) and
//! its elements, an option is a byte 0 or 1 and the value. Decoding trusts
//! nothing: it ends with a [`MalformedMessage`], never with a panic or an allocation
//! that the bytes do not pay for.

use std::fmt;

/// A value that travels.
pub trait Wire: Sized {
    /// Appends the bytes of the value.
    fn encode(&self, out: &mut Vec<u8>);

    /// Takes a value from the front of the bytes.
    ///
    /// # Errors
    ///
    /// When the bytes do not hold one.
    fn decode(bytes: &mut ByteReader<'_>) -> Result<Self, MalformedMessage>;

    /// Its name in the documentation.
    fn name() -> String;
}

/// Bytes that are being read.
#[derive(Debug)]
pub struct ByteReader<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> ByteReader<'a> {
    /// Reads from the start.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, at: 0 }
    }

    /// The next bytes.
    ///
    /// # Errors
    ///
    /// When there are not as many.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], MalformedMessage> {
        let Some((taken, rest)) = self.rest.split_at_checked(count) else {
            return Err(self.malformed("it ends too early"));
        };
        self.rest = rest;
        self.at += count;
        Ok(taken)
    }

    /// Whether all was read.
    ///
    /// # Errors
    ///
    /// When bytes are left.
    pub fn end(&self) -> Result<(), MalformedMessage> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.malformed("bytes are left over"))
        }
    }

    /// What is wrong, here.
    pub fn malformed(&self, what: &'static str) -> MalformedMessage {
        MalformedMessage { at: self.at, what }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], MalformedMessage> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }
}

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedMessage {
    /// Where, counted from the first byte.
    pub at: usize,
    /// What is wrong there.
    pub what: &'static str,
}

impl fmt::Display for MalformedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed message at byte {}: {}", self.at, self.what)
    }
}

impl std::error::Error for MalformedMessage {}

macro_rules! number {
    ($($type:ty),*) => {$(
        impl Wire for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn decode(bytes: &mut ByteReader<'_>) -> Result<Self, MalformedMessage> {
                bytes.array().map(Self::from_le_bytes)
            }

            fn name() -> String {
                stringify!($type).into()
            }
        }
    )*};
}

number!(u8, u16, u32, u64);

impl Wire for String {
    fn encode(&self, out: &mut Vec<u8>) {
        // A text longer than a frame may be is refused when the frame is sent.
        (self.len() as u32).encode(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn decode(bytes: &mut ByteReader<'_>) -> Result<Self, MalformedMessage> {
        let length = u32::decode(bytes)? as usize;
        let taken = bytes.take(length)?;
        String::from_utf8(taken.to_vec()).map_err(|_| bytes.malformed("a text is not UTF-8"))
    }

    fn name() -> String {
        "string".into()
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.len() as u32).encode(out);
        self.iter().for_each(|element| element.encode(out));
    }

    fn decode(bytes: &mut ByteReader<'_>) -> Result<Self, MalformedMessage> {
        let length = u32::decode(bytes)? as usize;
        // Every element takes at least a byte, so a made-up length reserves nothing.
        if length > bytes.rest.len() {
            return Err(bytes.malformed("a list is longer than the message"));
        }
        (0..length).map(|_| T::decode(bytes)).collect()
    }

    fn name() -> String {
        format!("list of {}", T::name())
    }
}

impl<T: Wire> Wire for Option<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            None => out.push(0),
            Some(value) => {
                out.push(1);
                value.encode(out);
            }
        }
    }

    fn decode(bytes: &mut ByteReader<'_>) -> Result<Self, MalformedMessage> {
        match u8::decode(bytes)? {
            0 => Ok(None),
            1 => T::decode(bytes).map(Some),
            _ => Err(bytes.malformed("an option starts with neither 0 nor 1")),
        }
    }

    fn name() -> String {
        format!("optional {}", T::name())
    }
}

/// A list of names that travels as one byte.
macro_rules! names {
    (
        $(#[$meta:meta])*
        $type:ident { $( $(#[doc = $doc:literal])+ $tag:literal => $variant:ident ),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $type { $( $(#[doc = $doc])+ $variant = $tag ),* }

        impl $type {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The number, name and meaning of each, for the documentation.
            pub const SHAPE: &'static [(u8, &'static str, &'static str)] =
                &[$(($tag, stringify!($variant), concat!($($doc),+))),*];
        }

        impl $crate::wire::Wire for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                out.push(*self as u8);
            }

            fn decode(
                bytes: &mut $crate::wire::ByteReader<'_>,
            ) -> Result<Self, $crate::wire::MalformedMessage> {
                match u8::decode(bytes)? {
                    $($tag => Ok(Self::$variant),)*
                    _ => Err(bytes.malformed(concat!("no such ", stringify!($type)))),
                }
            }

            fn name() -> String {
                stringify!($type).into()
            }
        }
    };
}

/// A record, or a choice of records with a leading tag, that travels field by field.
macro_rules! records {
    (
        $(#[$meta:meta])*
        struct $type:ident { $( $(#[doc = $doc:literal])+ $field:ident: $of:ty ),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct $type { $( $(#[doc = $doc])+ pub $field: $of ),* }

        impl $type {
            /// The name, type and meaning of each field, for the documentation.
            pub fn shape() -> Vec<(&'static str, String, &'static str)> {
                use $crate::wire::Wire;
                vec![$((stringify!($field), <$of>::name(), concat!($($doc),+))),*]
            }
        }

        impl $crate::wire::Wire for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                $(self.$field.encode(out);)*
            }

            fn decode(
                bytes: &mut $crate::wire::ByteReader<'_>,
            ) -> Result<Self, $crate::wire::MalformedMessage> {
                Ok(Self { $($field: <$of>::decode(bytes)?),* })
            }

            fn name() -> String {
                stringify!($type).into()
            }
        }
    };
    (
        $(#[$meta:meta])*
        enum $type:ident { $(
            $(#[doc = $doc:literal])+
            $tag:literal => $variant:ident { $( $(#[doc = $fdoc:literal])+ $field:ident: $of:ty ),* $(,)? }
        ),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $type { $(
            $(#[doc = $doc])+
            $variant { $( $(#[doc = $fdoc])+ $field: $of ),* }
        ),* }

        impl $type {
            /// The tag, name, meaning and fields of each, for the documentation.
            pub fn shape() -> Vec<(u8, &'static str, &'static str, Vec<(&'static str, String, &'static str)>)> {
                use $crate::wire::Wire;
                vec![$((
                    $tag,
                    stringify!($variant),
                    concat!($($doc),+),
                    vec![$((stringify!($field), <$of>::name(), concat!($($fdoc),+))),*],
                )),*]
            }
        }

        impl $crate::wire::Wire for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                match self { $(
                    Self::$variant { $($field),* } => {
                        out.push($tag);
                        $($field.encode(out);)*
                    }
                ),* }
            }

            fn decode(
                bytes: &mut $crate::wire::ByteReader<'_>,
            ) -> Result<Self, $crate::wire::MalformedMessage> {
                match u8::decode(bytes)? {
                    $($tag => Ok(Self::$variant { $($field: <$of>::decode(bytes)?),* }),)*
                    _ => Err(bytes.malformed(concat!("no such ", stringify!($type)))),
                }
            }

            fn name() -> String {
                stringify!($type).into()
            }
        }
    };
}

pub(crate) use {names, records};
