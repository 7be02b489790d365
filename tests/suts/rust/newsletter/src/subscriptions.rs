//! Subscriptions: asked for, confirmed by a token from a letter, ended by the same token.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, QueryBuilder, Sqlite, SqliteConnection};
use uuid::Uuid;

use crate::address::Address;
use crate::app::App;
use crate::auth::Editor;
use crate::error::{Error, Result};
use crate::idempotency::{self, MaybeKey, Seen};
use crate::input::{Body, Path, Query, line};
use crate::lists::{self, List};
use crate::mailer::{Letter, Mailer};
use crate::page::{Page, Paged, Wanted};
use crate::store::{anywhere, time};

/// Where a subscription stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(rename_all = "lowercase")]
pub(crate) enum SubscriberState {
    Pending,
    Confirmed,
    Unsubscribed,
    Bounced,
}

/// A subscription as it is stored.
#[derive(Clone, Debug, FromRow)]
pub(crate) struct Subscriber {
    pub(crate) id: i64,
    pub(crate) email: String,
    pub(crate) name: String,
    pub(crate) state: SubscriberState,
    token_expires: i64,
    reason: Option<String>,
    created_at: i64,
    slug: String,
}

/// A subscription as it is answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SubscriberView {
    list: String,
    email: String,
    name: String,
    state: SubscriberState,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    created_at: Timestamp,
}

impl Subscriber {
    fn view(self) -> Result<SubscriberView> {
        Ok(SubscriberView {
            created_at: time(self.created_at)?,
            list: self.slug,
            email: self.email,
            name: self.name,
            state: self.state,
            reason: self.reason,
        })
    }
}

const SELECT: &str =
    "SELECT s.id, s.email, s.name, s.state, s.token_expires, s.reason, s.created_at, l.slug
    FROM subscribers s JOIN lists l ON l.id = s.list_id ";

async fn by_token(db: &mut SqliteConnection, token: &str) -> Result<Subscriber> {
    let token = Uuid::parse_str(token)
        .map_err(|error| Error::invalid("token", format!("is not a token: {error}")))?;
    let mut query = QueryBuilder::<Sqlite>::new(SELECT);
    query.push("WHERE s.token = ").push_bind(token.to_string());
    let found: Option<Subscriber> = query.build_query_as().fetch_optional(db).await?;
    found.ok_or(Error::Absent("subscription"))
}

/// Who wants to read a list.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct NewSubscription {
    email: String,
    #[serde(default)]
    name: String,
}

/// What comes of it.
#[derive(Debug, Serialize)]
struct Asked {
    email: Address,
    state: SubscriberState,
    message: &'static str,
}

/// `POST /lists/{slug}/subscriptions`
pub(crate) async fn subscribe(
    State(app): State<App>,
    Path(slug): Path<String>,
    key: MaybeKey,
    Body(new): Body<NewSubscription>,
) -> Result<Response> {
    let email: Address = new.email.parse()?;
    let name = line("name", &new.name, 0, 60)?;
    let now = app.now().as_second();
    let operation = format!("subscribe {slug}");
    let mut transaction = app.store.begin().await?;
    let key = match key.seen(&mut transaction, &operation, &new, now).await? {
        Seen::Before(response) => return Ok(response),
        Seen::Never(key) => key,
    };
    let list = lists::by_slug(&mut transaction, &slug).await?;
    if !list.open {
        return Err(Error::Conflict("the list is closed".to_owned()));
    }
    let mut query = QueryBuilder::<Sqlite>::new(SELECT);
    query
        .push("WHERE s.list_id = ")
        .push_bind(list.id)
        .push(" AND s.email = ")
        .push_bind(email.as_str().to_owned());
    let known: Option<Subscriber> = query
        .build_query_as()
        .fetch_optional(&mut *transaction)
        .await?;
    let token = Uuid::new_v4().to_string();
    let expires = now + app.config.confirm_hours * 60 * 60;
    match known.map(|known| (known.id, known.state)) {
        Some((_, SubscriberState::Confirmed)) => {
            return Err(Error::Conflict("the address has subscribed".to_owned()));
        }
        Some((_, SubscriberState::Bounced)) => {
            return Err(Error::Gone("letters to this address come back"));
        }
        Some((id, SubscriberState::Pending | SubscriberState::Unsubscribed)) => {
            sqlx::query(
                "UPDATE subscribers SET state = 'pending', name = ?2, token = ?3, token_expires = ?4, reason = NULL WHERE id = ?1",
            )
            .bind(id)
            .bind(name)
            .bind(&token)
            .bind(expires)
            .execute(&mut *transaction)
            .await?;
        }
        None => {
            sqlx::query(
                "INSERT INTO subscribers (list_id, email, name, state, token, token_expires, created_at)
                 VALUES (?1, ?2, ?3, 'pending', ?4, ?5, ?6)",
            )
            .bind(list.id)
            .bind(email.as_str())
            .bind(name)
            .bind(&token)
            .bind(expires)
            .bind(now)
            .execute(&mut *transaction)
            .await?;
        }
    }
    app.outbox.send(invitation(&list, &email, &token)).await?;
    let asked = Asked {
        email,
        state: SubscriberState::Pending,
        message: "a letter with a token is on its way",
    };
    let response = idempotency::answer(
        &mut transaction,
        &operation,
        key,
        StatusCode::ACCEPTED,
        &asked,
        now,
    )
    .await?;
    transaction.commit().await?;
    Ok(response)
}

fn invitation(list: &List, email: &Address, token: &str) -> Letter {
    Letter {
        to: email.clone(),
        subject: format!("Do you want to read {}?", list.title),
        body: format!("Confirm with this token: {token}"),
    }
}

/// The token of a letter.
#[derive(Deserialize)]
pub(crate) struct Confirmation {
    token: String,
}

/// `POST /subscriptions/confirm`
pub(crate) async fn confirm(
    State(app): State<App>,
    Body(confirmation): Body<Confirmation>,
) -> Result<Body<SubscriberView>> {
    let mut transaction = app.store.begin().await?;
    let mut subscriber = by_token(&mut transaction, confirmation.token.trim()).await?;
    match subscriber.state {
        SubscriberState::Confirmed => return subscriber.view().map(Body),
        SubscriberState::Unsubscribed | SubscriberState::Bounced => {
            return Err(Error::Gone("the subscription was ended"));
        }
        SubscriberState::Pending if subscriber.token_expires <= app.now().as_second() => {
            return Err(Error::Gone("the token has expired; subscribe again"));
        }
        SubscriberState::Pending => subscriber.state = SubscriberState::Confirmed,
    }
    sqlx::query("UPDATE subscribers SET state = ?2 WHERE id = ?1")
        .bind(subscriber.id)
        .bind(subscriber.state)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    subscriber.view().map(Body)
}

/// `GET /subscriptions/{token}`
pub(crate) async fn show(
    State(app): State<App>,
    Path(token): Path<String>,
) -> Result<Body<SubscriberView>> {
    let mut db = app.store.connection().await?;
    by_token(&mut db, &token).await?.view().map(Body)
}

/// Why somebody leaves.
#[derive(Deserialize)]
pub(crate) struct Leaving {
    reason: Option<String>,
}

/// `DELETE /subscriptions/{token}`
pub(crate) async fn unsubscribe(
    State(app): State<App>,
    Path(token): Path<String>,
    Query(leaving): Query<Leaving>,
) -> Result<StatusCode> {
    let reason = match &leaving.reason {
        Some(reason) => Some(line("reason", reason, 1, 200)?),
        None => None,
    };
    let mut transaction = app.store.begin().await?;
    let subscriber = by_token(&mut transaction, &token).await?;
    if subscriber.state == SubscriberState::Unsubscribed {
        return Err(Error::Gone("the subscription was ended"));
    }
    sqlx::query("UPDATE subscribers SET state = 'unsubscribed', reason = ?2 WHERE id = ?1")
        .bind(subscriber.id)
        .bind(reason)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Which subscribers are wanted.
#[derive(Deserialize)]
pub(crate) struct Filter {
    state: Option<SubscriberState>,
    q: Option<String>,
    page: Option<u32>,
    size: Option<u32>,
}

impl Filter {
    fn narrow(&self, list: i64, query: &mut QueryBuilder<Sqlite>) {
        query.push("WHERE s.list_id = ").push_bind(list);
        if let Some(state) = self.state {
            query.push(" AND s.state = ").push_bind(state);
        }
        if let Some(text) = self.q.as_deref().filter(|text| !text.is_empty()) {
            query
                .push(" AND (s.email LIKE ")
                .push_bind(anywhere(text))
                .push(" ESCAPE '\\' OR s.name LIKE ")
                .push_bind(anywhere(text))
                .push(" ESCAPE '\\')");
        }
    }
}

/// `GET /admin/lists/{slug}/subscribers`
pub(crate) async fn list(
    State(app): State<App>,
    _: Editor,
    Path(slug): Path<String>,
    Query(filter): Query<Filter>,
) -> Result<Body<Paged<SubscriberView>>> {
    let page = Page::try_from(Wanted {
        page: filter.page,
        size: filter.size,
    })?;
    let mut db = app.store.connection().await?;
    let list = lists::by_slug(&mut db, &slug).await?;
    let mut counting = QueryBuilder::new("SELECT count(*) FROM subscribers s ");
    filter.narrow(list.id, &mut counting);
    let total: i64 = counting.build_query_scalar().fetch_one(&mut *db).await?;
    let mut query = QueryBuilder::new(SELECT);
    filter.narrow(list.id, &mut query);
    query
        .push(" ORDER BY s.email LIMIT ")
        .push_bind(page.limit())
        .push(" OFFSET ")
        .push_bind(page.offset());
    let rows: Vec<Subscriber> = query.build_query_as().fetch_all(&mut *db).await?;
    let items = rows
        .into_iter()
        .map(Subscriber::view)
        .collect::<Result<_>>()?;
    Ok(Body(page.of(items, total)))
}
