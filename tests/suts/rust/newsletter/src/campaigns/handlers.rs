//! The handlers of campaigns.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use sqlx::QueryBuilder;

use crate::app::App;
use crate::auth::{Admin, Editor};
use crate::campaigns::model::{Campaign, CampaignState, CampaignView, Step, by_id, select};
use crate::error::{Error, Result};
use crate::idempotency::{self, MaybeKey, Seen};
use crate::input::{Body, Path, Query, line};
use crate::page::{Page, Paged, Wanted};
use crate::schedule::When;
use crate::template::Values;
use crate::templates::Stored;
use crate::{lists, templates};

/// Values that the dispatcher puts in for every reader.
const PER_READER: [&str; 3] = ["name", "email", "list"];

/// A campaign to be made.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct NewCampaign {
    list: String,
    template: String,
    title: String,
    #[serde(default)]
    variables: Values,
}

/// A change of a campaign: what is absent stays.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct CampaignChange {
    template: Option<String>,
    title: Option<String>,
    variables: Option<Values>,
}

/// Checks values before they are kept.
fn check_values(values: &Values) -> Result<()> {
    if values.len() > 20 {
        return Err(Error::invalid("variables", "are more than 20"));
    }
    for (name, value) in values {
        if PER_READER.contains(&name.as_str()) {
            let why = format!("hold `{name}`, which is filled for every reader");
            return Err(Error::invalid("variables", why));
        }
        if value.chars().count() > 5_000 {
            let why = format!("hold `{name}`, which is longer than 5000");
            return Err(Error::invalid("variables", why));
        }
    }
    Ok(())
}

/// Fills a template as it will be for a reader, to see that nothing is missing.
pub(crate) fn rehearse(template: &Stored, title: &str, values: &Values) -> Result<()> {
    let mut values = values.clone();
    for name in PER_READER {
        values.insert(name.to_owned(), String::new());
    }
    values.insert("title".to_owned(), title.to_owned());
    template.fill(&values)?;
    Ok(())
}

/// `POST /admin/campaigns`
pub(crate) async fn create(
    State(app): State<App>,
    editor: Editor,
    key: MaybeKey,
    Body(new): Body<NewCampaign>,
) -> Result<Response> {
    let title = line("title", &new.title, 3, 100)?;
    check_values(&new.variables)?;
    let now = app.now().as_second();
    let operation = format!("campaign by {}", editor.name);
    let mut transaction = app.store.begin().await?;
    let key = match key.seen(&mut transaction, &operation, &new, now).await? {
        Seen::Before(response) => return Ok(response),
        Seen::Never(key) => key,
    };
    let list = lists::by_slug(&mut transaction, &new.list).await;
    let Ok(list) = list else {
        return Err(Error::invalid("list", "does not exist"));
    };
    let Ok(template) = templates::by_name(&mut transaction, &new.template).await else {
        return Err(Error::invalid("template", "does not exist"));
    };
    let variables = serde_json::to_string(&new.variables).unwrap_or_default();
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO campaigns (list_id, template, title, variables, state, created_at)
         VALUES (?1, ?2, ?3, ?4, 'draft', ?5) RETURNING id",
    )
    .bind(list.id)
    .bind(&template.name)
    .bind(title)
    .bind(variables)
    .bind(now)
    .fetch_one(&mut *transaction)
    .await?;
    let view = by_id(&mut transaction, id).await?.view()?;
    let response = idempotency::answer(
        &mut transaction,
        &operation,
        key,
        StatusCode::CREATED,
        &view,
        now,
    )
    .await?;
    transaction.commit().await?;
    Ok(response)
}

/// Which campaigns are wanted.
#[derive(Deserialize)]
pub(crate) struct Filter {
    state: Option<CampaignState>,
    list: Option<String>,
    page: Option<u32>,
    size: Option<u32>,
}

/// `GET /admin/campaigns`
pub(crate) async fn list(
    State(app): State<App>,
    _: Editor,
    Query(filter): Query<Filter>,
) -> Result<Body<Paged<CampaignView>>> {
    let page = Page::try_from(Wanted {
        page: filter.page,
        size: filter.size,
    })?;
    let mut db = app.store.connection().await?;
    let narrow = |query: &mut QueryBuilder<sqlx::Sqlite>| {
        if let Some(state) = filter.state {
            query.push(" AND c.state = ").push_bind(state);
        }
        if let Some(list) = &filter.list {
            query.push(" AND l.slug = ").push_bind(list.clone());
        }
    };
    let mut counting = QueryBuilder::new(
        "SELECT count(*) FROM campaigns c JOIN lists l ON l.id = c.list_id WHERE 1 = 1",
    );
    narrow(&mut counting);
    let total: i64 = counting.build_query_scalar().fetch_one(&mut *db).await?;
    let mut query = select();
    narrow(&mut query);
    query
        .push(" ORDER BY c.id DESC LIMIT ")
        .push_bind(page.limit())
        .push(" OFFSET ")
        .push_bind(page.offset());
    let rows: Vec<Campaign> = query.build_query_as().fetch_all(&mut *db).await?;
    let items = rows
        .into_iter()
        .map(Campaign::view)
        .collect::<Result<_>>()?;
    Ok(Body(page.of(items, total)))
}

/// `GET /admin/campaigns/{id}`
pub(crate) async fn fetch(
    State(app): State<App>,
    _: Editor,
    Path(id): Path<i64>,
) -> Result<Body<CampaignView>> {
    let mut db = app.store.connection().await?;
    by_id(&mut db, id).await?.view().map(Body)
}

/// `PATCH /admin/campaigns/{id}`
pub(crate) async fn change(
    State(app): State<App>,
    _: Editor,
    Path(id): Path<i64>,
    Body(change): Body<CampaignChange>,
) -> Result<Body<CampaignView>> {
    let mut transaction = app.store.begin().await?;
    let mut campaign = by_id(&mut transaction, id).await?;
    if !campaign.state.may_be_changed() {
        return Err(Error::Conflict("the campaign is on its way".to_owned()));
    }
    if let Some(title) = &change.title {
        campaign.title = line("title", title, 3, 100)?.to_owned();
    }
    if let Some(name) = change.template {
        if templates::by_name(&mut transaction, &name).await.is_err() {
            return Err(Error::invalid("template", "does not exist"));
        }
        campaign.template = name;
    }
    if let Some(values) = change.variables {
        check_values(&values)?;
        campaign.variables = serde_json::to_string(&values).unwrap_or_default();
    }
    if campaign.state == CampaignState::Scheduled {
        let template = templates::by_name(&mut transaction, &campaign.template).await?;
        rehearse(&template, &campaign.title, &campaign.values())?;
    }
    campaign.save(&mut transaction).await?;
    transaction.commit().await?;
    campaign.view().map(Body)
}

/// `DELETE /admin/campaigns/{id}`
pub(crate) async fn remove(
    State(app): State<App>,
    _: Admin,
    Path(id): Path<i64>,
) -> Result<StatusCode> {
    let mut transaction = app.store.begin().await?;
    let campaign = by_id(&mut transaction, id).await?;
    if campaign.state != CampaignState::Draft && !campaign.state.is_over() {
        return Err(Error::Conflict("cancel the campaign first".to_owned()));
    }
    sqlx::query("DELETE FROM campaigns WHERE id = ?1")
        .bind(id)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// When a campaign shall go out.
#[derive(Deserialize)]
pub(crate) struct Plan {
    at: When,
}

/// `POST /admin/campaigns/{id}/schedule`
pub(crate) async fn schedule(
    State(app): State<App>,
    _: Editor,
    Path(id): Path<i64>,
    Body(plan): Body<Plan>,
) -> Result<Body<CampaignView>> {
    let mut transaction = app.store.begin().await?;
    let mut campaign = by_id(&mut transaction, id).await?;
    let list = lists::by_slug(&mut transaction, &campaign.list).await?;
    let at = plan.at.resolve(app.now(), list.hours())?;
    campaign.state = campaign.state.after(Step::Schedule)?;
    let template = templates::by_name(&mut transaction, &campaign.template).await?;
    rehearse(&template, &campaign.title, &campaign.values())?;
    if list.confirmed == 0 {
        return Err(Error::Conflict("nobody reads the list".to_owned()));
    }
    campaign.send_at = Some(at.as_second());
    campaign.save(&mut transaction).await?;
    transaction.commit().await?;
    campaign.view().map(Body)
}

/// `POST /admin/campaigns/{id}/{step}`
pub(crate) async fn step(
    State(app): State<App>,
    _: Admin,
    Path((id, name)): Path<(i64, String)>,
) -> Result<Body<CampaignView>> {
    let step = Step::by_name(&name)?;
    let mut transaction = app.store.begin().await?;
    let mut campaign = by_id(&mut transaction, id).await?;
    campaign.state = campaign.state.after(step)?;
    match step {
        Step::Unschedule => campaign.send_at = None,
        Step::Cancel => campaign.finished_at = Some(app.now().as_second()),
        Step::Schedule | Step::Start | Step::Pause | Step::Resume | Step::Finish => {}
    }
    campaign.save(&mut transaction).await?;
    transaction.commit().await?;
    campaign.view().map(Body)
}
