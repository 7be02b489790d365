//! Templates as a resource.

use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, SqliteConnection};

use crate::app::App;
use crate::auth::{Admin, Editor};
use crate::error::{Error, Result};
use crate::input::{Body, Path, line, slug};
use crate::store::time;
use crate::template::{Values, parse};

/// The longest body.
const LONGEST: usize = 10_000;

/// A template as it is stored.
#[derive(Clone, Debug, FromRow)]
pub(crate) struct Stored {
    pub(crate) name: String,
    pub(crate) subject: String,
    pub(crate) body: String,
    updated_at: i64,
}

/// A template as it is answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TemplateView {
    name: String,
    subject: String,
    body: String,
    placeholders: Vec<String>,
    updated_at: Timestamp,
}

impl Stored {
    /// All names that the subject and the body ask for.
    pub(crate) fn placeholders(&self) -> Result<Vec<String>> {
        let (subject, body) = (parse(&self.subject)?, parse(&self.body)?);
        let mut names = subject.names();
        names.extend(body.names());
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    /// The subject and the body, filled.
    pub(crate) fn fill(&self, values: &Values) -> Result<(String, String)> {
        let subject = parse(&self.subject)?.render(values)?;
        let body = parse(&self.body)?.render(values)?;
        // A subject is one line, whatever it is filled with.
        let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok((subject, body))
    }

    fn view(self) -> Result<TemplateView> {
        Ok(TemplateView {
            placeholders: self.placeholders()?,
            updated_at: time(self.updated_at)?,
            name: self.name,
            subject: self.subject,
            body: self.body,
        })
    }
}

/// A template by its name.
pub(crate) async fn by_name(db: &mut SqliteConnection, name: &str) -> Result<Stored> {
    let stored = sqlx::query_as("SELECT * FROM templates WHERE name = ?1")
        .bind(name)
        .fetch_optional(db)
        .await?;
    stored.ok_or(Error::Absent("template"))
}

/// The texts of a template.
#[derive(Debug, Deserialize)]
pub(crate) struct Texts {
    subject: String,
    body: String,
}

/// A template to be made.
#[derive(Debug, Deserialize)]
pub(crate) struct NewTemplate {
    name: String,
    #[serde(flatten)]
    texts: Texts,
}

impl Texts {
    fn check(&self) -> Result<()> {
        line("subject", &self.subject, 1, 150)?;
        if self.body.trim().is_empty() {
            return Err(Error::invalid("body", "is empty"));
        }
        if self.body.chars().count() > LONGEST {
            return Err(Error::invalid("body", format!("is longer than {LONGEST}")));
        }
        parse(&self.subject)?;
        parse(&self.body)?;
        Ok(())
    }
}

/// `GET /admin/templates`
pub(crate) async fn list(State(app): State<App>, _: Editor) -> Result<Body<Vec<TemplateView>>> {
    let mut db = app.store.connection().await?;
    let all: Vec<Stored> = sqlx::query_as("SELECT * FROM templates ORDER BY name")
        .fetch_all(&mut *db)
        .await?;
    let views = all.into_iter().map(Stored::view).collect::<Result<_>>()?;
    Ok(Body(views))
}

/// `POST /admin/templates`
pub(crate) async fn create(
    State(app): State<App>,
    _: Editor,
    Body(new): Body<NewTemplate>,
) -> Result<(StatusCode, Body<TemplateView>)> {
    let name = slug("name", &new.name)?;
    new.texts.check()?;
    let mut db = app.store.connection().await?;
    sqlx::query("INSERT INTO templates (name, subject, body, updated_at) VALUES (?1, ?2, ?3, ?4)")
        .bind(name)
        .bind(&new.texts.subject)
        .bind(&new.texts.body)
        .bind(app.now().as_second())
        .execute(&mut *db)
        .await?;
    let view = by_name(&mut db, name).await?.view()?;
    Ok((StatusCode::CREATED, Body(view)))
}

/// `GET /admin/templates/{name}`
pub(crate) async fn fetch(
    State(app): State<App>,
    _: Editor,
    Path(name): Path<String>,
) -> Result<Body<TemplateView>> {
    let mut db = app.store.connection().await?;
    by_name(&mut db, &name).await?.view().map(Body)
}

/// `PUT /admin/templates/{name}`
pub(crate) async fn replace(
    State(app): State<App>,
    _: Editor,
    Path(name): Path<String>,
    Body(texts): Body<Texts>,
) -> Result<Body<TemplateView>> {
    texts.check()?;
    let mut transaction = app.store.begin().await?;
    by_name(&mut transaction, &name).await?;
    let sending: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM campaigns WHERE template = ?1 AND state IN ('sending', 'paused')",
    )
    .bind(&name)
    .fetch_one(&mut *transaction)
    .await?;
    if sending > 0 {
        return Err(Error::Conflict(
            "a campaign is being sent with it".to_owned(),
        ));
    }
    sqlx::query("UPDATE templates SET subject = ?2, body = ?3, updated_at = ?4 WHERE name = ?1")
        .bind(&name)
        .bind(&texts.subject)
        .bind(&texts.body)
        .bind(app.now().as_second())
        .execute(&mut *transaction)
        .await?;
    let view = by_name(&mut transaction, &name).await?.view()?;
    transaction.commit().await?;
    Ok(Body(view))
}

/// `DELETE /admin/templates/{name}`
pub(crate) async fn remove(
    State(app): State<App>,
    _: Admin,
    Path(name): Path<String>,
) -> Result<StatusCode> {
    let mut db = app.store.connection().await?;
    let removed = sqlx::query("DELETE FROM templates WHERE name = ?1")
        .bind(&name)
        .execute(&mut *db)
        .await?;
    if removed.rows_affected() == 0 {
        return Err(Error::Absent("template"));
    }
    Ok(StatusCode::NO_CONTENT)
}

/// What to try a template with.
#[derive(Deserialize)]
pub(crate) struct Trial {
    #[serde(default)]
    variables: Values,
}

/// Its result.
#[derive(Serialize)]
pub(crate) struct Preview {
    subject: String,
    body: String,
}

/// `POST /admin/templates/{name}/preview`
pub(crate) async fn preview(
    State(app): State<App>,
    _: Editor,
    Path(name): Path<String>,
    Body(trial): Body<Trial>,
) -> Result<Body<Preview>> {
    let mut db = app.store.connection().await?;
    let (subject, body) = by_name(&mut db, &name).await?.fill(&trial.variables)?;
    Ok(Body(Preview { subject, body }))
}
