//! Parts of long lists.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::validate::Violations;

/// The most that one answer holds.
pub(crate) const MOST: u32 = 100;

/// The page size when nothing is said.
pub(crate) const USUAL: u32 = 20;

/// Which part of a list is wanted.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Window {
    pub(crate) limit: Option<u32>,
    pub(crate) offset: Option<u32>,
}

/// A window that was looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Page {
    pub(crate) limit: u32,
    pub(crate) offset: u32,
}

impl TryFrom<Window> for Page {
    type Error = Violations;

    fn try_from(window: Window) -> std::result::Result<Self, Violations> {
        let limit = window.limit.unwrap_or(USUAL);
        if !(1..=MOST).contains(&limit) {
            return Err(Violations::of(
                "limit",
                format!("is not between 1 and {MOST}"),
            ));
        }
        Ok(Self {
            limit,
            offset: window.offset.unwrap_or(0),
        })
    }
}

/// A part of a list, with how long the whole is and where the next part starts.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listed<T> {
    pub(crate) items: Vec<T>,
    pub(crate) total: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_offset: Option<u32>,
}

impl<T> Listed<T> {
    pub(crate) fn new(items: Vec<T>, total: i64, page: Page) -> Self {
        let end = page
            .offset
            .saturating_add(u32::try_from(items.len()).unwrap_or(u32::MAX));
        let more = i64::from(end) < total && !items.is_empty();
        Self {
            items,
            total,
            next_offset: more.then_some(end),
        }
    }

    pub(crate) fn try_map<U>(self, change: impl FnMut(T) -> Result<U>) -> Result<Listed<U>> {
        Ok(Listed {
            items: self.items.into_iter().map(change).collect::<Result<_>>()?,
            total: self.total,
            next_offset: self.next_offset,
        })
    }
}
