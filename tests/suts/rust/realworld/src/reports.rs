//! Complaints of users, and what moderators make of them.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, QueryBuilder, Sqlite, SqliteConnection};

use crate::app::App;
use crate::auth::CurrentUser;
use crate::error::{Error, Result};
use crate::input::{Body, Path, Query};
use crate::page::{Listed, Page, Window};
use crate::store;
use crate::validate::{Check, Violations};

/// An enum whose names in the API and in the database are the same words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $field:literal { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
        pub(crate) enum $name {
            $(#[serde(rename = $word)] $variant,)+
        }

        impl $name {
            const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl TryFrom<String> for $name {
            type Error = Violations;

            fn try_from(word: String) -> std::result::Result<Self, Violations> {
                match word.as_str() {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(Violations::of($field, "is unknown")),
                }
            }
        }
    };
}

words! {
    /// What is complained about.
    Subject, "kind" { Article = "article", Comment = "comment", User = "user" }
}

words! {
    /// What is wrong with it.
    Reason, "reason" { Spam = "spam", Abuse = "abuse", Copied = "copied", Other = "other" }
}

words! {
    /// What moderators made of it.
    Decision, "state" { Open = "open", Triaged = "triaged", Upheld = "upheld", Dismissed = "dismissed" }
}

impl Decision {
    const fn is_final(self) -> bool {
        matches!(self, Self::Upheld | Self::Dismissed)
    }

    fn may_go(self, to: Self) -> bool {
        match self {
            Self::Open => to == Self::Triaged || to == Self::Dismissed,
            Self::Triaged => to.is_final(),
            Self::Upheld | Self::Dismissed => false,
        }
    }
}

#[derive(FromRow)]
struct Row {
    id: i64,
    reporter: String,
    subject_kind: String,
    subject_id: i64,
    reason: String,
    details: String,
    state: String,
    note: Option<String>,
    created_at: String,
}

/// A complaint as it is answered.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    id: i64,
    reporter: String,
    kind: Subject,
    subject_id: i64,
    reason: Reason,
    details: String,
    state: Decision,
    note: Option<String>,
    created_at: String,
}

impl TryFrom<Row> for Report {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        Ok(Self {
            id: row.id,
            reporter: row.reporter,
            kind: row.subject_kind.try_into()?,
            subject_id: row.subject_id,
            reason: row.reason.try_into()?,
            details: row.details,
            state: row.state.try_into()?,
            note: row.note,
            created_at: row.created_at,
        })
    }
}

/// A complaint to be made.
#[derive(Deserialize)]
pub(crate) struct NewReport {
    kind: Subject,
    /// The address of an article, the number of a comment, or the name of a user.
    subject: String,
    reason: Reason,
    #[serde(default)]
    details: String,
}

const SELECT: &str = "SELECT r.id, u.username AS reporter, r.subject_kind, r.subject_id, r.reason, r.details, r.state, r.note, r.created_at
    FROM reports r JOIN users u ON u.id = r.reporter_id ";

async fn by_id(db: &mut SqliteConnection, id: i64) -> Result<Report> {
    let mut query = QueryBuilder::<Sqlite>::new(SELECT);
    query.push("WHERE r.id = ").push_bind(id);
    let row: Option<Row> = query.build_query_as().fetch_optional(db).await?;
    row.ok_or(Error::Absent("report"))?.try_into()
}

/// The number of what is complained about, and of the user who made it.
async fn find_subject(
    db: &mut SqliteConnection,
    kind: Subject,
    subject: &str,
) -> Result<(i64, i64)> {
    let statement = match kind {
        Subject::Article => {
            "SELECT id, author_id FROM articles WHERE slug = ?1 AND state <> 'draft'"
        }
        Subject::Comment => "SELECT id, author_id FROM comments WHERE id = ?1",
        Subject::User => "SELECT id, id FROM users WHERE username = ?1",
    };
    let query = sqlx::query_as(statement);
    let query = if kind == Subject::Comment {
        let id: i64 = subject
            .parse()
            .map_err(|_| Violations::of("subject", "is not the number of a comment"))?;
        query.bind(id)
    } else {
        query.bind(subject.to_owned())
    };
    let found: Option<(i64, i64)> = query.fetch_optional(db).await?;
    found.ok_or_else(|| Violations::of("subject", "does not exist").into())
}

/// `POST /api/reports`
pub(crate) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    Body(new): Body<NewReport>,
) -> Result<(StatusCode, Body<Report>)> {
    let mut check = Check::default();
    check.text("details", &new.details).length(0, 1000);
    check.finish()?;
    if new.reason == Reason::Other && new.details.trim().is_empty() {
        return Err(Violations::of("details", "are needed for this reason").into());
    }
    let mut db = app.store.connection().await?;
    let (subject, owner) = find_subject(&mut db, new.kind, &new.subject).await?;
    if owner == user.id {
        return Err(Error::Forbidden("you cannot report yourself"));
    }
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO reports (reporter_id, subject_kind, subject_id, reason, details, state, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, 'open', ?6) RETURNING id",
    )
    .bind(user.id)
    .bind(new.kind.word())
    .bind(subject)
    .bind(new.reason.word())
    .bind(&new.details)
    .bind(store::text(app.now()))
    .fetch_one(&mut *db)
    .await?;
    Ok((StatusCode::CREATED, Body(by_id(&mut db, id).await?)))
}

/// Which complaints are wanted.
#[derive(Deserialize)]
pub(crate) struct Wanted {
    state: Option<Decision>,
    kind: Option<Subject>,
    limit: Option<u32>,
    offset: Option<u32>,
}

impl Wanted {
    fn narrow(&self, query: &mut QueryBuilder<Sqlite>) {
        query.push("WHERE 1 = 1");
        if let Some(state) = self.state {
            query.push(" AND r.state = ").push_bind(state.word());
        }
        if let Some(kind) = self.kind {
            query.push(" AND r.subject_kind = ").push_bind(kind.word());
        }
    }
}

/// `GET /api/reports`
pub(crate) async fn list(
    State(app): State<App>,
    user: CurrentUser,
    Query(wanted): Query<Wanted>,
) -> Result<Body<Listed<Report>>> {
    user.must_moderate()?;
    let page = Page::try_from(Window {
        limit: wanted.limit,
        offset: wanted.offset,
    })?;
    let mut db = app.store.connection().await?;
    let mut counting = QueryBuilder::new("SELECT count(*) FROM reports r ");
    wanted.narrow(&mut counting);
    let total: i64 = counting.build_query_scalar().fetch_one(&mut *db).await?;
    let mut query = QueryBuilder::new(SELECT);
    wanted.narrow(&mut query);
    query
        .push(" ORDER BY r.id LIMIT ")
        .push_bind(page.limit)
        .push(" OFFSET ")
        .push_bind(page.offset);
    let rows: Vec<Row> = query.build_query_as().fetch_all(&mut *db).await?;
    Ok(Body(
        Listed::new(rows, total, page).try_map(Report::try_from)?,
    ))
}

/// `GET /api/reports/{id}`
pub(crate) async fn fetch(
    State(app): State<App>,
    user: CurrentUser,
    Path(id): Path<i64>,
) -> Result<Body<Report>> {
    user.must_moderate()?;
    let mut db = app.store.connection().await?;
    by_id(&mut db, id).await.map(Body)
}

/// What a moderator decides.
#[derive(Deserialize)]
pub(crate) struct Verdict {
    state: Decision,
    note: Option<String>,
}

/// `PATCH /api/reports/{id}`
pub(crate) async fn decide(
    State(app): State<App>,
    user: CurrentUser,
    Path(id): Path<i64>,
    Body(verdict): Body<Verdict>,
) -> Result<Body<Report>> {
    user.must_moderate()?;
    let mut check = Check::default();
    check.optional("note", verdict.note.as_deref(), |note| {
        note.length(3, 1000).not_blank();
    });
    check.finish()?;
    let mut transaction = app.store.begin().await?;
    let report = by_id(&mut transaction, id).await?;
    if !report.state.may_go(verdict.state) {
        return Err(Error::Transition {
            from: report.state.word(),
            to: verdict.state.word(),
        });
    }
    if verdict.state.is_final() && verdict.note.is_none() {
        return Err(Violations::of("note", "is needed to close a report").into());
    }
    sqlx::query("UPDATE reports SET state = ?2, note = coalesce(?3, note) WHERE id = ?1")
        .bind(id)
        .bind(verdict.state.word())
        .bind(&verdict.note)
        .execute(&mut *transaction)
        .await?;
    let report = by_id(&mut transaction, id).await?;
    transaction.commit().await?;
    Ok(Body(report))
}
