//! Rows, and how they are answered.

use diesel::prelude::*;
use diesel::sqlite::Sqlite;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::problem::{Problem, Result};
use crate::schema::{pastes, versions};

/// Who finds a paste.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Visibility {
    /// Everybody, also in lists.
    #[default]
    Public,
    /// Who has the address.
    Unlisted,
    /// Who has the address and the password.
    Private,
}

impl Visibility {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Unlisted => "unlisted",
            Self::Private => "private",
        }
    }

    pub(crate) fn of(word: &str) -> Self {
        match word {
            "public" => Self::Public,
            "private" => Self::Private,
            _ => Self::Unlisted,
        }
    }
}

/// A paste without its text.
#[derive(Clone, Debug, Queryable, Selectable, Identifiable, Insertable, AsChangeset)]
#[diesel(table_name = pastes, check_for_backend(Sqlite), treat_none_as_null = true)]
pub(crate) struct Paste {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) author: Option<String>,
    pub(crate) syntax: String,
    pub(crate) visibility: String,
    pub(crate) password: Option<String>,
    pub(crate) edit_key: String,
    pub(crate) parent: Option<String>,
    pub(crate) version: i32,
    pub(crate) views: i32,
    pub(crate) most_views: Option<i32>,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) expires_at: Option<i64>,
}

/// The text of one version.
#[derive(Clone, Debug, Queryable, Selectable, Insertable)]
#[diesel(table_name = versions, check_for_backend(Sqlite))]
pub(crate) struct Version {
    pub(crate) paste_id: String,
    pub(crate) number: i32,
    pub(crate) content: String,
    pub(crate) digest: String,
    pub(crate) note: String,
    pub(crate) created_at: i64,
}

/// A paste as it is answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PasteView {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) author: Option<String>,
    pub(crate) syntax: String,
    pub(crate) visibility: Visibility,
    pub(crate) parent: Option<String>,
    pub(crate) version: i32,
    pub(crate) views: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) views_left: Option<i32>,
    #[serde(with = "time::serde::rfc3339")]
    pub(crate) created_at: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339")]
    pub(crate) updated_at: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339::option")]
    pub(crate) expires_at: Option<OffsetDateTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) edit_key: Option<String>,
}

/// A version as it is answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VersionView {
    pub(crate) number: i32,
    pub(crate) size: usize,
    pub(crate) lines: usize,
    pub(crate) digest: String,
    pub(crate) note: String,
    #[serde(with = "time::serde::rfc3339")]
    pub(crate) created_at: OffsetDateTime,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
}

/// A stored time.
pub(crate) fn time(seconds: i64) -> Result<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp(seconds)
        .map_err(|error| Problem::Malformed(error.to_string()))
}

impl Paste {
    pub(crate) fn visibility(&self) -> Visibility {
        Visibility::of(&self.visibility)
    }

    /// Whether it cannot be read any more.
    pub(crate) fn is_over(&self, now: OffsetDateTime) -> bool {
        let expired = self
            .expires_at
            .is_some_and(|expires| expires <= now.unix_timestamp());
        expired || self.most_views.is_some_and(|most| self.views >= most)
    }

    pub(crate) fn view(self) -> Result<PasteView> {
        Ok(PasteView {
            visibility: self.visibility(),
            views_left: self.most_views.map(|most| (most - self.views).max(0)),
            created_at: time(self.created_at)?,
            updated_at: time(self.updated_at)?,
            expires_at: self.expires_at.map(time).transpose()?,
            id: self.id,
            title: self.title,
            author: self.author,
            syntax: self.syntax,
            parent: self.parent,
            version: self.version,
            views: self.views,
            content: None,
            digest: None,
            edit_key: None,
        })
    }

    pub(crate) fn view_with(self, version: Version) -> Result<PasteView> {
        let mut view = self.view()?;
        view.content = Some(version.content);
        view.digest = Some(version.digest);
        Ok(view)
    }
}

impl Version {
    pub(crate) fn view(self, with_content: bool) -> Result<VersionView> {
        Ok(VersionView {
            number: self.number,
            size: self.content.len(),
            lines: self.content.lines().count(),
            digest: self.digest,
            note: self.note,
            created_at: time(self.created_at)?,
            content: with_content.then_some(self.content),
        })
    }
}
