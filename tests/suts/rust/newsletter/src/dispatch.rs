//! Sending campaigns whose time has come, letter by letter.

use axum::extract::State;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, QueryBuilder, SqliteConnection};

use crate::address::Address;
use crate::app::App;
use crate::auth::{Admin, Editor};
use crate::campaigns::model::{Campaign, CampaignState, Step, by_id, select};
use crate::error::{Error, Result};
use crate::input::{Body, Path, Query};
use crate::lists;
use crate::mailer::{Letter, MailError, Mailer};
use crate::page::{Page, Paged, Wanted};
use crate::store::Store;
use crate::templates::{self, Stored};

/// How often a letter is tried.
const ATTEMPTS: i64 = 3;

/// Where a letter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(rename_all = "lowercase")]
pub(crate) enum DeliveryState {
    Queued,
    Delivered,
    Deferred,
    Failed,
}

/// What one run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Tally {
    started: usize,
    finished: usize,
    delivered: usize,
    deferred: usize,
    failed: usize,
}

/// Sends through some mailer.
pub(crate) struct Dispatcher<'a, M> {
    pub(crate) store: &'a Store,
    pub(crate) mailer: &'a M,
    pub(crate) batch: u32,
    pub(crate) now: Timestamp,
}

/// A letter that is to be sent.
#[derive(FromRow)]
struct Due {
    subscriber_id: i64,
    email: String,
    name: String,
    attempts: i64,
}

impl<M: Mailer> Dispatcher<'_, M> {
    /// Starts what is due and sends one batch of every campaign that is being sent.
    pub(crate) async fn run(&self) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut transaction = self.store.begin().await?;
        let mut query = select();
        query
            .push(" AND c.state = 'scheduled' AND c.send_at <= ")
            .push_bind(self.now.as_second())
            .push(" ORDER BY c.send_at, c.id");
        let due: Vec<Campaign> = query.build_query_as().fetch_all(&mut *transaction).await?;
        for campaign in due {
            self.start(&mut transaction, campaign).await?;
            tally.started += 1;
        }
        let mut query = select();
        query.push(" AND c.state = 'sending' ORDER BY c.id");
        let sending: Vec<Campaign> = query.build_query_as().fetch_all(&mut *transaction).await?;
        for campaign in sending {
            let list = lists::by_slug(&mut transaction, &campaign.list).await?;
            if !list.hours().is_always() && !list.hours().hold(self.now) {
                continue;
            }
            self.send_batch(&mut transaction, campaign, &mut tally)
                .await?;
        }
        transaction.commit().await?;
        Ok(tally)
    }

    async fn start(&self, db: &mut SqliteConnection, mut campaign: Campaign) -> Result<()> {
        campaign.state = campaign.state.after(Step::Start)?;
        sqlx::query(
            "INSERT OR IGNORE INTO deliveries (campaign_id, subscriber_id, state)
             SELECT ?1, id, 'queued' FROM subscribers WHERE list_id = ?2 AND state = 'confirmed'",
        )
        .bind(campaign.id)
        .bind(campaign.list_id)
        .execute(&mut *db)
        .await?;
        campaign.save(db).await
    }

    async fn send_batch(
        &self,
        db: &mut SqliteConnection,
        mut campaign: Campaign,
        tally: &mut Tally,
    ) -> Result<()> {
        let template = templates::by_name(db, &campaign.template).await?;
        let due: Vec<Due> = sqlx::query_as(
            "SELECT d.subscriber_id, d.attempts, s.email, s.name
             FROM deliveries d JOIN subscribers s ON s.id = d.subscriber_id
             WHERE d.campaign_id = ?1 AND d.state IN ('queued', 'deferred')
             ORDER BY d.attempts, d.subscriber_id LIMIT ?2",
        )
        .bind(campaign.id)
        .bind(self.batch)
        .fetch_all(&mut *db)
        .await?;
        let complete = due.len() < self.batch as usize;
        let mut deferred = 0;
        for letter in due {
            let state = self.send(db, &campaign, &template, &letter).await?;
            match state {
                DeliveryState::Delivered => tally.delivered += 1,
                DeliveryState::Deferred => deferred += 1,
                DeliveryState::Failed => tally.failed += 1,
                DeliveryState::Queued => {}
            }
        }
        tally.deferred += deferred;
        if complete && deferred == 0 {
            campaign.state = campaign.state.after(Step::Finish)?;
            campaign.finished_at = Some(self.now.as_second());
            campaign.save(db).await?;
            tally.finished += 1;
        }
        Ok(())
    }

    async fn send(
        &self,
        db: &mut SqliteConnection,
        campaign: &Campaign,
        template: &Stored,
        due: &Due,
    ) -> Result<DeliveryState> {
        let sent = match letter(campaign, template, due) {
            Ok(letter) => self.mailer.send(letter).await.map_err(Error::from),
            Err(error) => Err(error),
        };
        let attempts = due.attempts + 1;
        let (state, problem) = match sent {
            Ok(()) => (DeliveryState::Delivered, None),
            Err(Error::Mail(MailError::Busy)) if attempts < ATTEMPTS => {
                (DeliveryState::Deferred, Some(MailError::Busy.to_string()))
            }
            Err(error) => {
                if let Error::Mail(MailError::Bounced) = error {
                    sqlx::query("UPDATE subscribers SET state = 'bounced' WHERE id = ?1")
                        .bind(due.subscriber_id)
                        .execute(&mut *db)
                        .await?;
                }
                (DeliveryState::Failed, Some(error.to_string()))
            }
        };
        sqlx::query(
            "UPDATE deliveries SET state = ?3, attempts = ?4, problem = ?5 WHERE campaign_id = ?1 AND subscriber_id = ?2",
        )
        .bind(campaign.id)
        .bind(due.subscriber_id)
        .bind(state)
        .bind(attempts)
        .bind(problem)
        .execute(db)
        .await?;
        Ok(state)
    }
}

/// The letter for one reader.
fn letter(campaign: &Campaign, template: &Stored, due: &Due) -> Result<Letter> {
    let to: Address = due.email.parse()?;
    let mut values = campaign.values();
    values.insert("name".to_owned(), due.name.clone());
    values.insert("email".to_owned(), due.email.clone());
    values.insert("list".to_owned(), campaign.list.clone());
    values.insert("title".to_owned(), campaign.title.clone());
    let (subject, body) = template.fill(&values)?;
    Ok(Letter { to, subject, body })
}

/// `POST /admin/dispatch`
pub(crate) async fn now(State(app): State<App>, _: Admin) -> Result<Body<Tally>> {
    app.dispatcher().run().await.map(Body)
}

/// Which letters are wanted.
#[derive(Deserialize)]
pub(crate) struct Filter {
    state: Option<DeliveryState>,
    page: Option<u32>,
    size: Option<u32>,
}

/// A letter as it is answered.
#[derive(FromRow, Serialize)]
pub(crate) struct Delivery {
    email: String,
    state: DeliveryState,
    attempts: i64,
    problem: Option<String>,
}

/// `GET /admin/campaigns/{id}/deliveries`
pub(crate) async fn deliveries(
    State(app): State<App>,
    _: Editor,
    Path(id): Path<i64>,
    Query(filter): Query<Filter>,
) -> Result<Body<Paged<Delivery>>> {
    let page = Page::try_from(Wanted {
        page: filter.page,
        size: filter.size,
    })?;
    let mut db = app.store.connection().await?;
    let campaign = by_id(&mut db, id).await?;
    if campaign.state == CampaignState::Draft {
        return Ok(Body(page.of(Vec::new(), 0)));
    }
    let mut counting = QueryBuilder::<sqlx::Sqlite>::new(
        "SELECT count(*) FROM deliveries d WHERE d.campaign_id = ",
    );
    counting.push_bind(id);
    let mut query = QueryBuilder::<sqlx::Sqlite>::new(
        "SELECT s.email, d.state, d.attempts, d.problem FROM deliveries d JOIN subscribers s ON s.id = d.subscriber_id WHERE d.campaign_id = ",
    );
    query.push_bind(id);
    if let Some(state) = filter.state {
        counting.push(" AND d.state = ").push_bind(state);
        query.push(" AND d.state = ").push_bind(state);
    }
    let total: i64 = counting.build_query_scalar().fetch_one(&mut *db).await?;
    query
        .push(" ORDER BY s.email LIMIT ")
        .push_bind(page.limit())
        .push(" OFFSET ")
        .push_bind(page.offset());
    let items = query.build_query_as().fetch_all(&mut *db).await?;
    Ok(Body(page.of(items, total)))
}
