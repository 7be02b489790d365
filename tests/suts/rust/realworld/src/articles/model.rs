//! What articles are, and which states they go through.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sqlx::FromRow;

use crate::error::Error;
use crate::profiles::Profile;
use crate::validate::{Check, TAG, Violations};

/// The most tags that an article has.
pub(crate) const MOST_TAGS: usize = 8;

/// Who sees an article.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ArticleState {
    /// Only the author.
    Draft,
    /// Everybody.
    Published,
    /// Everybody who has the address.
    Archived,
}

impl ArticleState {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Published => "published",
            Self::Archived => "archived",
        }
    }

    /// Goes to another state, if there is a way.
    pub(crate) fn go(self, to: Self) -> Result<Self, Error> {
        match (self, to) {
            (Self::Draft, Self::Published)
            | (Self::Published, Self::Archived)
            | (Self::Archived, Self::Published) => Ok(to),
            (from, to) => Err(Error::Transition {
                from: from.name(),
                to: to.name(),
            }),
        }
    }
}

impl fmt::Display for ArticleState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ArticleState {
    type Err = Violations;

    fn from_str(text: &str) -> Result<Self, Violations> {
        match text {
            "draft" => Ok(Self::Draft),
            "published" => Ok(Self::Published),
            "archived" => Ok(Self::Archived),
            _ => Err(Violations::of("state", "is unknown")),
        }
    }
}

/// A row of an article, with what the viewer has to do with it.
#[derive(Debug, FromRow)]
pub(crate) struct Row {
    pub(crate) id: i64,
    pub(crate) slug: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) body: String,
    pub(crate) state: String,
    pub(crate) reads: i64,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    pub(crate) published_at: Option<String>,
    pub(crate) tags: String,
    pub(crate) favorited: bool,
    pub(crate) favorites: i64,
    #[sqlx(flatten)]
    pub(crate) author: Profile,
}

/// An article as it is answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Article {
    pub(crate) slug: String,
    pub(crate) title: String,
    pub(crate) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<String>,
    pub(crate) tag_list: Vec<String>,
    pub(crate) state: ArticleState,
    pub(crate) reads: i64,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    pub(crate) published_at: Option<String>,
    pub(crate) favorited: bool,
    pub(crate) favorites_count: i64,
    pub(crate) reading_minutes: usize,
    pub(crate) author: Profile,
}

/// Words that are read in a minute.
const WORDS_PER_MINUTE: usize = 220;

impl TryFrom<Row> for Article {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        let words = row.body.split_whitespace().count();
        let tag_list = row
            .tags
            .split(' ')
            .filter(|tag| !tag.is_empty())
            .map(str::to_owned)
            .collect();
        Ok(Self {
            state: row.state.parse()?,
            slug: row.slug,
            title: row.title,
            description: row.description,
            body: Some(row.body),
            tag_list,
            reads: row.reads,
            created_at: row.created_at,
            updated_at: row.updated_at,
            published_at: row.published_at,
            favorited: row.favorited,
            favorites_count: row.favorites,
            reading_minutes: words.div_ceil(WORDS_PER_MINUTE).max(1),
            author: row.author,
        })
    }
}

impl Article {
    /// As it stands in lists: without the text.
    pub(crate) fn without_body(mut self) -> Self {
        self.body = None;
        self
    }
}

/// An article to be written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewArticle {
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) body: String,
    #[serde(default)]
    pub(crate) tag_list: Vec<String>,
    #[serde(default)]
    pub(crate) draft: bool,
}

/// A change of an article: what is absent stays.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangedArticle {
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) body: Option<String>,
    pub(crate) tag_list: Option<Vec<String>>,
}

impl ChangedArticle {
    pub(crate) fn is_empty(&self) -> bool {
        matches!(
            self,
            Self {
                title: None,
                description: None,
                body: None,
                tag_list: None,
            }
        )
    }
}

/// Checks what is there of an article.
pub(crate) fn check(
    title: Option<&str>,
    description: Option<&str>,
    body: Option<&str>,
    tags: Option<&[String]>,
) -> Result<(), Violations> {
    let mut check = Check::default();
    check.optional("title", title, |title| {
        title.length(1, 120).not_blank().no_control_characters();
    });
    check.optional("description", description, |description| {
        description.length(1, 300).not_blank();
    });
    check.optional("body", body, |body| {
        body.length(1, 20_000).not_blank();
    });
    if let Some(tags) = tags {
        check.count("tagList", tags.len(), MOST_TAGS);
        for tag in tags {
            check
                .text("tagList", tag)
                .length(2, 30)
                .matches(&TAG, "a word in lower case");
        }
    }
    check.finish()
}

/// Sorted, and each only once.
pub(crate) fn tidy(mut tags: Vec<String>) -> Vec<String> {
    tags.sort_unstable();
    tags.dedup();
    tags
}

#[cfg(test)]
mod tests {
    use super::ArticleState::{Archived, Draft, Published};
    use super::*;

    #[test]
    fn drafts_are_published_once_and_never_come_back() {
        assert!(Draft.go(Published).is_ok());
        assert!(Published.go(Archived).is_ok());
        assert!(Archived.go(Published).is_ok());
        for (from, to) in [
            (Draft, Archived),
            (Published, Draft),
            (Archived, Draft),
            (Draft, Draft),
        ] {
            assert!(from.go(to).is_err(), "{from} to {to}");
        }
    }

    #[test]
    fn each_rule_names_its_field() {
        let tags = ["Not Lower".to_owned()];
        let violations = check(Some(""), Some("fine"), Some(" "), Some(&tags)).unwrap_err();
        let fields: Vec<_> = violations.iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["body", "tagList", "title"]);
    }
}
