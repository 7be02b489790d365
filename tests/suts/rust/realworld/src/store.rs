//! The database: how it is opened, and what is in it at first.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{Sqlite, SqliteConnection, SqlitePool, Transaction};

use crate::auth::password;
use crate::error::Result;

/// Times in the database, sortable as text.
const TIME: &str = "%Y-%m-%dT%H:%M:%S%.3fZ";

const SCHEMA: &str = include_str!("schema.sql");

/// The accounts that are always there: name, whether a moderator, biography.
const FIRST_USERS: &[(&str, bool, &str)] = &[
    ("gardener", true, "Keeps this place tidy."),
    ("ada", false, "Writes about machines."),
    ("jakob", false, ""),
];

/// What the password of each of the first users is.
const FIRST_PASSWORD: &str = "Correct-Horse-7";

/// A pool of connections to the one database.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pool: SqlitePool,
}

impl Store {
    pub(crate) async fn open(url: &str, now: DateTime<Utc>) -> Result<Self, sqlx::Error> {
        let options = SqliteConnectOptions::from_str(url)?
            .create_if_missing(true)
            .foreign_keys(true);
        // One connection: a database in memory is gone with its connection.
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(options)
            .await?;
        let store = Self { pool };
        let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema")
            .fetch_one(&store.pool)
            .await?;
        if tables == 0 {
            sqlx::raw_sql(SCHEMA).execute(&store.pool).await?;
            store.fill(now).await?;
        }
        Ok(store)
    }

    pub(crate) async fn connection(&self) -> Result<PoolConnection<Sqlite>> {
        Ok(self.pool.acquire().await?)
    }

    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Sqlite>> {
        Ok(self.pool.begin().await?)
    }

    /// Takes everything out and puts the first rows back.
    pub(crate) async fn reset(&self, now: DateTime<Utc>) -> Result<(), sqlx::Error> {
        let mut transaction = self.pool.begin().await?;
        for statement in [
            "DELETE FROM reports",
            "DELETE FROM users",
            "DELETE FROM revoked_tokens",
            "DELETE FROM sqlite_sequence",
        ] {
            sqlx::query(statement).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        self.fill(now).await
    }

    async fn fill(&self, now: DateTime<Utc>) -> Result<(), sqlx::Error> {
        let mut transaction = self.pool.begin().await?;
        for &(name, moderator, bio) in FIRST_USERS {
            insert_first_user(&mut transaction, name, moderator, bio, now).await?;
        }
        sqlx::query("INSERT INTO follows (follower_id, followed_id) VALUES (3, 2)")
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await
    }
}

async fn insert_first_user(
    db: &mut SqliteConnection,
    name: &str,
    moderator: bool,
    bio: &str,
    now: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO users (username, email, password, bio, moderator, created_at)
         VALUES (?1, ?1 || '@example.org', ?2, ?3, ?4, ?5)",
    )
    .bind(name)
    .bind(password::hash(FIRST_PASSWORD, name))
    .bind(bio)
    .bind(moderator)
    .bind(text(now))
    .execute(db)
    .await?;
    Ok(())
}

/// A time as it is stored.
pub(crate) fn text(time: DateTime<Utc>) -> String {
    time.format(TIME).to_string()
}

/// A pattern for `LIKE … ESCAPE '\'` that finds the words anywhere.
pub(crate) fn anywhere(words: &str) -> String {
    let mut pattern = String::from("%");
    for letter in words.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}
