//! Accounts: registering, logging in and out, changing oneself.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, SqliteConnection};
use uuid::Uuid;

use crate::app::App;
use crate::auth::{CurrentUser, password};
use crate::error::{Error, Result};
use crate::input::{Body, present};
use crate::store;
use crate::validate::{Check, EMAIL, IMAGE_URL, RESERVED, USERNAME, Violations, password_strength};

/// Bodies hold the user under this name.
#[derive(Deserialize, Serialize)]
pub(crate) struct UserBody<T> {
    user: T,
}

#[derive(Deserialize)]
pub(crate) struct Registration {
    username: String,
    email: String,
    password: String,
}

#[derive(Deserialize)]
pub(crate) struct Login {
    email: String,
    password: String,
}

#[derive(Default, Deserialize)]
pub(crate) struct Change {
    username: Option<String>,
    email: Option<String>,
    password: Option<String>,
    bio: Option<String>,
    #[serde(default, deserialize_with = "present")]
    image: Option<Option<String>>,
}

#[derive(FromRow)]
struct Row {
    id: i64,
    username: String,
    email: String,
    password: String,
    bio: String,
    image: Option<String>,
    moderator: bool,
}

/// An account as its owner sees it.
#[derive(Serialize)]
pub(crate) struct Account {
    username: String,
    email: String,
    bio: String,
    image: Option<String>,
    moderator: bool,
    token: String,
}

impl Row {
    fn with_token(self, token: String) -> Body<UserBody<Account>> {
        Body(UserBody {
            user: Account {
                username: self.username,
                email: self.email,
                bio: self.bio,
                image: self.image,
                moderator: self.moderator,
                token,
            },
        })
    }
}

async fn by_id(db: &mut SqliteConnection, id: i64) -> Result<Row> {
    let row = sqlx::query_as(
        "SELECT id, username, email, password, bio, image, moderator FROM users WHERE id = ?1",
    )
    .bind(id)
    .fetch_optional(db)
    .await?;
    row.ok_or(Error::Absent("user"))
}

/// `POST /api/users`
pub(crate) async fn register(
    State(app): State<App>,
    Body(UserBody { user }): Body<UserBody<Registration>>,
) -> Result<(StatusCode, Body<UserBody<Account>>)> {
    check(
        Some(&user.username),
        Some(&user.email),
        Some(&user.password),
    )?;
    let salt = Uuid::new_v4().simple().to_string();
    let mut db = app.store.connection().await?;
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO users (username, email, password, created_at) VALUES (?1, ?2, ?3, ?4) RETURNING id",
    )
    .bind(&user.username)
    .bind(user.email.to_ascii_lowercase())
    .bind(password::hash(&user.password, &salt))
    .bind(store::text(app.now()))
    .fetch_one(&mut *db)
    .await?;
    let row = by_id(&mut db, id).await?;
    let token = app.signer.issue(row.id, app.now());
    Ok((StatusCode::CREATED, row.with_token(token)))
}

/// `POST /api/users/login`
pub(crate) async fn login(
    State(app): State<App>,
    Body(UserBody { user }): Body<UserBody<Login>>,
) -> Result<Body<UserBody<Account>>> {
    let key = user.email.to_ascii_lowercase();
    app.attempts.admit(&key, app.now())?;
    let mut db = app.store.connection().await?;
    let row: Option<Row> = sqlx::query_as(
        "SELECT id, username, email, password, bio, image, moderator FROM users WHERE email = ?1",
    )
    .bind(&key)
    .fetch_optional(&mut *db)
    .await?;
    let Some(row) = row.filter(|row| password::verify(&user.password, &row.password)) else {
        app.attempts.failed(&key, app.now());
        return Err(Error::WrongPassword);
    };
    app.attempts.succeeded(&key);
    let token = app.signer.issue(row.id, app.now());
    Ok(row.with_token(token))
}

/// `POST /api/user/logout`
pub(crate) async fn logout(State(app): State<App>, user: CurrentUser) -> Result<StatusCode> {
    let mut db = app.store.connection().await?;
    sqlx::query("DELETE FROM revoked_tokens WHERE expires_at <= ?1")
        .bind(app.now().timestamp())
        .execute(&mut *db)
        .await?;
    sqlx::query("INSERT OR IGNORE INTO revoked_tokens (id, expires_at) VALUES (?1, ?2)")
        .bind(user.claims.id.to_string())
        .bind(user.claims.expires)
        .execute(&mut *db)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/user`
pub(crate) async fn current(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Body<UserBody<Account>>> {
    let mut db = app.store.connection().await?;
    let row = by_id(&mut db, user.id).await?;
    Ok(row.with_token(app.signer.issue(user.id, app.now())))
}

/// `PUT /api/user`
pub(crate) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    Body(UserBody { user: change }): Body<UserBody<Change>>,
) -> Result<Body<UserBody<Account>>> {
    check(
        change.username.as_deref(),
        change.email.as_deref(),
        change.password.as_deref(),
    )?;
    let mut rules = Check::default();
    rules.optional("bio", change.bio.as_deref(), |bio| {
        bio.length(0, 500).no_control_characters();
    });
    rules.optional(
        "image",
        change.image.as_ref().and_then(Option::as_deref),
        |image| {
            image
                .length(1, 300)
                .matches(&IMAGE_URL, "an address of an image");
        },
    );
    rules.finish()?;

    let mut transaction = app.store.begin().await?;
    let mut row = by_id(&mut transaction, user.id).await?;
    if let Some(username) = change.username {
        row.username = username;
    }
    if let Some(email) = change.email {
        row.email = email.to_ascii_lowercase();
    }
    if let Some(new) = change.password {
        if password::verify(&new, &row.password) {
            return Err(Violations::of("password", "is the one you have").into());
        }
        row.password = password::hash(&new, &Uuid::new_v4().simple().to_string());
    }
    row.bio = change.bio.unwrap_or(row.bio);
    row.image = change.image.unwrap_or(row.image);
    sqlx::query(
        "UPDATE users SET username = ?2, email = ?3, password = ?4, bio = ?5, image = ?6 WHERE id = ?1",
    )
    .bind(row.id)
    .bind(&row.username)
    .bind(&row.email)
    .bind(&row.password)
    .bind(&row.bio)
    .bind(&row.image)
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    let token = app.signer.issue(row.id, app.now());
    Ok(row.with_token(token))
}

fn check(
    username: Option<&str>,
    email: Option<&str>,
    password: Option<&str>,
) -> Result<(), Violations> {
    let mut check = Check::default();
    check.optional("username", username, |name| {
        name.length(3, 20)
            .matches(
                &USERNAME,
                "letters, digits, hyphens and underscores after a letter",
            )
            .not_among(RESERVED);
    });
    check.optional("email", email, |address| {
        address.length(6, 80).matches(&EMAIL, "an e-mail address");
    });
    check.optional("password", password, |password| {
        password.length(8, 72).no_control_characters();
    });
    check.finish()?;
    if let Some(password) = password {
        if password_strength(password) < 1 {
            return Err(Violations::of(
                "password",
                "is too simple: use more than one kind of character",
            ));
        }
        let same = [username, email]
            .into_iter()
            .flatten()
            .any(|other| other.eq_ignore_ascii_case(password));
        if same {
            return Err(Violations::of("password", "is your name"));
        }
    }
    Ok(())
}
