//! The database: how it is opened, and what is in it at first.

use std::str::FromStr;

use jiff::Timestamp;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{Sqlite, SqlitePool, Transaction};

use crate::error::{Error, Result};

const SCHEMA: &str = include_str!("schema.sql");

/// What is there at first: a list, a template.
const FIRST: &str = "
    INSERT INTO lists (slug, title, description) VALUES ('weekly', 'The weekly', 'All that happened');
    INSERT INTO templates (name, subject, body, updated_at) VALUES
        ('plain', '{{ title }}', 'Hello {{ name | default:\"reader\" }},

{{ text | default:\"nothing happened\" }}', 0);
";

/// A pool of connections to the one database.
#[derive(Clone, Debug)]
pub(crate) struct Store(SqlitePool);

impl Store {
    pub(crate) async fn open(url: &str) -> Result<Self, sqlx::Error> {
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
        let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema")
            .fetch_one(&pool)
            .await?;
        if tables == 0 {
            sqlx::raw_sql(SCHEMA).execute(&pool).await?;
            sqlx::raw_sql(FIRST).execute(&pool).await?;
        }
        Ok(Self(pool))
    }

    pub(crate) async fn connection(&self) -> Result<PoolConnection<Sqlite>> {
        Ok(self.0.acquire().await?)
    }

    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Sqlite>> {
        Ok(self.0.begin().await?)
    }

    /// Takes everything out and puts the first rows back.
    pub(crate) async fn reset(&self) -> Result<()> {
        let mut transaction = self.begin().await?;
        for statement in [
            "DELETE FROM campaigns",
            "DELETE FROM templates",
            "DELETE FROM lists",
            "DELETE FROM idempotency",
            "DELETE FROM sqlite_sequence",
        ] {
            sqlx::query(statement).execute(&mut *transaction).await?;
        }
        sqlx::raw_sql(FIRST).execute(&mut *transaction).await?;
        Ok(transaction.commit().await?)
    }
}

/// A stored time.
pub(crate) fn time(seconds: i64) -> Result<Timestamp> {
    Timestamp::from_second(seconds).map_err(|error| Error::Conflict(error.to_string()))
}

/// A pattern for `LIKE … ESCAPE '\'` that finds a text anywhere.
pub(crate) fn anywhere(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('%', "\\%")
        .replace('_', "\\_");
    format!("%{escaped}%")
}
