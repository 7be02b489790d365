//! Reads message bodies, big-endian or little-endian.

/// What is left to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    /// So many bytes.
    pub(crate) fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    /// As many bytes as the array has.
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    /// One byte.
    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    /// PostgreSQL: two bytes as a count.
    pub(crate) fn count(&mut self) -> Option<usize> {
        self.array().map(|bytes| u16::from_be_bytes(bytes).into())
    }

    /// PostgreSQL: four bytes.
    pub(crate) fn int(&mut self) -> Option<i32> {
        self.array().map(i32::from_be_bytes)
    }

    /// PostgreSQL: a count and so many types.
    pub(crate) fn types(&mut self) -> std::sync::Arc<[u32]> {
        let count = self.count().unwrap_or(0);
        (0..count)
            .map_while(|_| self.int())
            .map(i32::cast_unsigned)
            .collect()
    }

    /// Bytes up to a zero.
    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|&byte| byte == 0)?;
        let text = self.take(end)?;
        self.byte()?;
        Some(text)
    }

    /// Bytes up to a zero, or all that are left of a body that was cut.
    pub(crate) fn text_or_rest(&mut self) -> &'a [u8] {
        match self.text() {
            Some(text) => text,
            None => std::mem::take(&mut self.0),
        }
    }

    /// MySQL: so many bytes as a number, the least first.
    pub(crate) fn number(&mut self, n: usize) -> Option<u64> {
        let bytes = self.take(n)?;
        let bytes = bytes.iter().rev();
        Some(bytes.fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// MySQL: a number that says how long it is.
    pub(crate) fn length(&mut self) -> Option<u64> {
        match self.byte()? {
            small @ ..=0xfa => Some(small.into()),
            0xfc => self.number(2),
            0xfd => self.number(3),
            0xfe => self.number(8),
            0xfb | 0xff => None,
        }
    }

    /// MySQL: bytes after their length.
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.take(usize::try_from(length).ok()?)
    }
}

/// Fills the head of a message, of which `have` bytes are there; the bytes after it.
pub(crate) fn fill<'a>(head: &mut [u8], have: &mut usize, bytes: &'a [u8]) -> &'a [u8] {
    let missing = head.get_mut(*have..).unwrap_or_default();
    let (now, rest) = bytes.split_at(missing.len().min(bytes.len()));
    for (byte, now) in missing.iter_mut().zip(now) {
        *byte = *now;
    }
    *have += now.len();
    rest
}
