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

    /// PostgreSQL: two bytes as a count.
    pub(crate) fn count(&mut self) -> Option<usize> {
        self.take(2)
            .map(|b| usize::from(u16::from_be_bytes([b[0], b[1]])))
    }

    /// PostgreSQL: four bytes.
    pub(crate) fn int(&mut self) -> Option<i32> {
        self.take(4)
            .map(|b| i32::from_be_bytes([b[0], b[1], b[2], b[3]]))
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
        self.take(1)?;
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
        match self.take(1)?[0] {
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
