//! Parts of long lists, by page number.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Which page is wanted, from one.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    pub(crate) page: Option<u32>,
    pub(crate) size: Option<u32>,
}

/// A page that was looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Page {
    number: u32,
    size: u32,
}

impl TryFrom<Wanted> for Page {
    type Error = Error;

    fn try_from(wanted: Wanted) -> Result<Self> {
        let number = wanted.page.unwrap_or(1);
        let size = wanted.size.unwrap_or(25);
        match (number, size) {
            (0, _) => Err(Error::invalid("page", "counts from one")),
            (_, 0 | 201..) => Err(Error::invalid("size", "is not between 1 and 200")),
            _ => Ok(Self { number, size }),
        }
    }
}

impl Page {
    pub(crate) const fn limit(self) -> u32 {
        self.size
    }

    pub(crate) fn offset(self) -> i64 {
        i64::from(self.number - 1) * i64::from(self.size)
    }

    pub(crate) fn of<T>(self, items: Vec<T>, total: i64) -> Paged<T> {
        let size = i64::from(self.size);
        Paged {
            items,
            page: self.number,
            pages: (total + size - 1) / size,
            total,
        }
    }
}

/// A page with its place among the others.
#[derive(Debug, Serialize)]
pub(crate) struct Paged<T> {
    pub(crate) items: Vec<T>,
    pub(crate) page: u32,
    pub(crate) pages: i64,
    pub(crate) total: i64,
}
