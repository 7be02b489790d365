//! Which articles users like.

use axum::extract::State;

use crate::app::App;
use crate::articles::handlers::{ArticleBody, answer};
use crate::articles::model::Article;
use crate::articles::queries;
use crate::auth::CurrentUser;
use crate::error::{Error, Result};
use crate::input::{Body, Path};

/// `POST /api/articles/{slug}/favorite`
pub(crate) async fn add(
    State(app): State<App>,
    user: CurrentUser,
    Path(slug): Path<String>,
) -> Result<Body<ArticleBody<Article>>> {
    set(&app, &user, &slug, true).await
}

/// `DELETE /api/articles/{slug}/favorite`
pub(crate) async fn remove(
    State(app): State<App>,
    user: CurrentUser,
    Path(slug): Path<String>,
) -> Result<Body<ArticleBody<Article>>> {
    set(&app, &user, &slug, false).await
}

async fn set(
    app: &App,
    user: &CurrentUser,
    slug: &str,
    favorite: bool,
) -> Result<Body<ArticleBody<Article>>> {
    let mut transaction = app.store.begin().await?;
    let row = queries::by_slug(&mut transaction, slug, user.id).await?;
    let statement = match (row.favorited, favorite) {
        (false, true) if row.state == "draft" => {
            return Err(Error::Conflict {
                field: "article",
                why: "is a draft",
            });
        }
        (false, true) => "INSERT INTO favorites (user_id, article_id) VALUES (?1, ?2)",
        (true, false) => "DELETE FROM favorites WHERE user_id = ?1 AND article_id = ?2",
        (true, true) | (false, false) => return answer(row),
    };
    sqlx::query(statement)
        .bind(user.id)
        .bind(row.id)
        .execute(&mut *transaction)
        .await?;
    let row = queries::by_slug(&mut transaction, slug, user.id).await?;
    transaction.commit().await?;
    answer(row)
}
