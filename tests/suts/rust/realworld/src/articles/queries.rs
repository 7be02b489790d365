//! How articles are found.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use serde::Deserialize;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use crate::articles::model::{Article, Row};
use crate::error::{Error, Result};
use crate::page::{Listed, Page, Window};
use crate::store::{anywhere, text};
use crate::validate::Violations;

/// The columns of [`Row`]; the viewer must be bound right after it.
const COLUMNS: &str = "
    a.id, a.slug, a.title, a.description, a.body, a.state, a.reads,
    a.created_at, a.updated_at, a.published_at,
    coalesce((SELECT group_concat(tag, ' ') FROM (
        SELECT tag FROM article_tags t WHERE t.article_id = a.id ORDER BY tag)), '') AS tags,
    (SELECT count(*) FROM favorites c WHERE c.article_id = a.id) AS favorites,
    u.id AS author_id, u.username, u.bio, u.image";

/// What a list is narrowed down to.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Filter {
    pub(crate) tag: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) favorited: Option<String>,
    pub(crate) q: Option<String>,
    pub(crate) since: Option<String>,
    pub(crate) until: Option<String>,
    pub(crate) sort: Option<Sort>,
    // Not flattened, because numbers of a query string do not survive that.
    pub(crate) limit: Option<u32>,
    pub(crate) offset: Option<u32>,
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sort {
    #[default]
    Newest,
    Oldest,
    MostLiked,
    Title,
}

impl Sort {
    const fn order(self) -> &'static str {
        match self {
            Self::Newest => " ORDER BY a.published_at DESC, a.id DESC",
            Self::Oldest => " ORDER BY a.published_at, a.id",
            Self::MostLiked => " ORDER BY favorites DESC, a.id",
            Self::Title => " ORDER BY a.title COLLATE NOCASE, a.id",
        }
    }
}

/// Whose articles a list holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scope {
    /// All that are published.
    Everybody,
    /// Those of authors whom the viewer follows.
    Followed,
}

/// A start and an end, each of which may be missing.
type Span = (Option<DateTime<Utc>>, Option<DateTime<Utc>>);

impl Filter {
    /// The page that is asked for.
    pub(crate) fn page(&self) -> Result<Page> {
        let window = Window {
            limit: self.limit,
            offset: self.offset,
        };
        Ok(Page::try_from(window)?)
    }

    /// The times between which articles were published, the second exclusive.
    fn span(&self) -> Result<Span, Violations> {
        let since = self
            .since
            .as_deref()
            .map(|text| day_or_time("since", text, false));
        let until = self
            .until
            .as_deref()
            .map(|text| day_or_time("until", text, true));
        let (since, until) = (since.transpose()?, until.transpose()?);
        match (since, until) {
            (Some(since), Some(until)) if since >= until => {
                Err(Violations::of("until", "is before since"))
            }
            span => Ok(span),
        }
    }
}

/// A day (its start, or the start of the next one) or a time with an offset.
fn day_or_time(
    field: &'static str,
    text: &str,
    next_day: bool,
) -> Result<DateTime<Utc>, Violations> {
    if let Ok(day) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        let day = if next_day { day.succ_opt() } else { Some(day) };
        let day = day.ok_or_else(|| Violations::of(field, "is too far away"))?;
        return Ok(day.and_time(NaiveTime::MIN).and_utc());
    }
    match DateTime::parse_from_rfc3339(text) {
        Ok(time) => Ok(time.with_timezone(&Utc)),
        Err(_) => Err(Violations::of(field, "is neither a day nor a time")),
    }
}

fn select(viewer: i64) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new("SELECT ");
    query
        .push(COLUMNS)
        .push(", EXISTS (SELECT * FROM favorites m WHERE m.article_id = a.id AND m.user_id = ")
        .push_bind(viewer)
        .push(") AS favorited, EXISTS (SELECT * FROM follows w WHERE w.followed_id = u.id AND w.follower_id = ")
        .push_bind(viewer)
        .push(") AS following FROM articles a JOIN users u ON u.id = a.author_id ");
    query
}

fn narrow(
    query: &mut QueryBuilder<Sqlite>,
    filter: &Filter,
    scope: Scope,
    viewer: i64,
) -> Result<()> {
    query.push(" WHERE a.state = 'published'");
    if scope == Scope::Followed {
        query
            .push(" AND a.author_id IN (SELECT followed_id FROM follows WHERE follower_id = ")
            .push_bind(viewer)
            .push(")");
    }
    if let Some(tag) = &filter.tag {
        query
            .push(
                " AND EXISTS (SELECT * FROM article_tags x WHERE x.article_id = a.id AND x.tag = ",
            )
            .push_bind(tag.to_lowercase())
            .push(")");
    }
    if let Some(author) = &filter.author {
        query.push(" AND u.username = ").push_bind(author.clone());
    }
    if let Some(fan) = &filter.favorited {
        query
            .push(" AND EXISTS (SELECT * FROM favorites y JOIN users z ON z.id = y.user_id WHERE y.article_id = a.id AND z.username = ")
            .push_bind(fan.clone())
            .push(")");
    }
    for word in filter.q.iter().flat_map(|words| words.split_whitespace()) {
        let pattern = anywhere(word);
        query
            .push(" AND (a.title LIKE ")
            .push_bind(pattern.clone())
            .push(" ESCAPE '\\' OR a.body LIKE ")
            .push_bind(pattern)
            .push(" ESCAPE '\\')");
    }
    let (since, until) = filter.span()?;
    if let Some(since) = since {
        query.push(" AND a.published_at >= ").push_bind(text(since));
    }
    if let Some(until) = until {
        query.push(" AND a.published_at < ").push_bind(text(until));
    }
    Ok(())
}

/// The articles that a filter leaves, a page of them.
pub(crate) async fn list(
    db: &mut SqliteConnection,
    filter: &Filter,
    scope: Scope,
    viewer: i64,
) -> Result<Listed<Article>> {
    let page = filter.page()?;
    let mut counting =
        QueryBuilder::new("SELECT count(*) FROM articles a JOIN users u ON u.id = a.author_id ");
    narrow(&mut counting, filter, scope, viewer)?;
    let total: i64 = counting.build_query_scalar().fetch_one(&mut *db).await?;

    let mut query = select(viewer);
    narrow(&mut query, filter, scope, viewer)?;
    query
        .push(filter.sort.unwrap_or_default().order())
        .push(" LIMIT ")
        .push_bind(page.limit)
        .push(" OFFSET ")
        .push_bind(page.offset);
    let rows: Vec<Row> = query.build_query_as().fetch_all(db).await?;
    Listed::new(rows, total, page).try_map(|row| Ok(Article::try_from(row)?.without_body()))
}

/// One article, if the viewer may see it.
pub(crate) async fn by_slug(db: &mut SqliteConnection, slug: &str, viewer: i64) -> Result<Row> {
    let mut query = select(viewer);
    query.push(" WHERE a.slug = ").push_bind(slug.to_owned());
    let row: Option<Row> = query.build_query_as().fetch_optional(db).await?;
    match row {
        Some(row) if row.state == "draft" && row.author.id != viewer => {
            Err(Error::Absent("article"))
        }
        Some(row) => Ok(row),
        None => Err(Error::Absent("article")),
    }
}

/// Replaces the tags of an article.
pub(crate) async fn set_tags(db: &mut SqliteConnection, id: i64, tags: &[String]) -> Result<()> {
    sqlx::query("DELETE FROM article_tags WHERE article_id = ?1")
        .bind(id)
        .execute(&mut *db)
        .await?;
    if tags.is_empty() {
        return Ok(());
    }
    let mut query = QueryBuilder::<Sqlite>::new("INSERT INTO article_tags (article_id, tag) ");
    query.push_values(tags, |mut row, tag| {
        row.push_bind(id).push_bind(tag.clone());
    });
    query.build().execute(db).await?;
    Ok(())
}

/// An address that no article but this one has.
pub(crate) async fn free_slug(
    db: &mut SqliteConnection,
    wanted: &str,
    but: Option<i64>,
) -> Result<String> {
    let taken: Vec<String> = sqlx::query_scalar(
        "SELECT slug FROM articles WHERE (slug = ?1 OR slug LIKE ?1 || '-%') AND id <> ?2",
    )
    .bind(wanted)
    .bind(but.unwrap_or(0))
    .fetch_all(db)
    .await?;
    let mut nth = 1;
    loop {
        let candidate = crate::slug::numbered(wanted, nth);
        if !taken.contains(&candidate) {
            break Ok(candidate);
        }
        nth += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_ends_with_its_last_day() {
        let filter = Filter {
            since: Some("2024-02-28".into()),
            until: Some("2024-02-28".into()),
            ..Filter::default()
        };
        let (since, until) = filter.span().expect("both are days");
        let day = until.expect("given") - since.expect("given");
        assert_eq!(day, chrono::Duration::days(1));
    }

    #[test]
    fn a_span_that_ends_before_it_starts_is_refused() {
        let filter = Filter {
            since: Some("2024-03-01T12:00:00+01:00".into()),
            until: Some("2024-03-01T11:00:00Z".into()),
            ..Filter::default()
        };
        assert!(filter.span().is_err());
    }
}
