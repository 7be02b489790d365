//! What campaigns are, and which states they go through.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, QueryBuilder, Sqlite, SqliteConnection};

use crate::error::{Error, Result};
use crate::store::time;
use crate::template::Values;

/// Where a campaign stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(rename_all = "lowercase")]
pub(crate) enum CampaignState {
    Draft,
    Scheduled,
    Sending,
    Paused,
    Sent,
    Cancelled,
}

/// What can happen to a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Schedule,
    Unschedule,
    Start,
    Pause,
    Resume,
    Finish,
    Cancel,
}

impl Step {
    /// A step that operators ask for by its name.
    pub(crate) fn by_name(name: &str) -> Result<Self> {
        match name {
            "unschedule" => Ok(Self::Unschedule),
            "pause" => Ok(Self::Pause),
            "resume" => Ok(Self::Resume),
            "cancel" => Ok(Self::Cancel),
            _ => Err(Error::Absent("step")),
        }
    }
}

impl CampaignState {
    /// Where a step leads.
    pub(crate) fn after(self, step: Step) -> Result<Self> {
        use CampaignState::{Cancelled, Draft, Paused, Scheduled, Sending, Sent};
        let next = match (self, step) {
            (Draft | Scheduled, Step::Schedule) => Scheduled,
            (Scheduled, Step::Unschedule) => Draft,
            (Scheduled, Step::Start) | (Paused, Step::Resume) => Sending,
            (Sending, Step::Pause) => Paused,
            (Sending, Step::Finish) => Sent,
            (Draft | Scheduled | Sending | Paused, Step::Cancel) => Cancelled,
            (state, step) => {
                return Err(Error::Conflict(
                    format!("a campaign that is {state:?} cannot {step:?}").to_lowercase(),
                ));
            }
        };
        Ok(next)
    }

    pub(crate) const fn may_be_changed(self) -> bool {
        matches!(self, Self::Draft | Self::Scheduled)
    }

    pub(crate) const fn is_over(self) -> bool {
        matches!(self, Self::Sent | Self::Cancelled)
    }
}

/// A campaign as it is stored.
#[derive(Clone, Debug, FromRow)]
pub(crate) struct Campaign {
    pub(crate) id: i64,
    pub(crate) list_id: i64,
    pub(crate) list: String,
    pub(crate) template: String,
    pub(crate) title: String,
    pub(crate) variables: String,
    pub(crate) state: CampaignState,
    pub(crate) send_at: Option<i64>,
    pub(crate) created_at: i64,
    pub(crate) finished_at: Option<i64>,
}

/// A campaign as it is answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CampaignView {
    id: i64,
    list: String,
    template: String,
    title: String,
    variables: Values,
    state: CampaignState,
    send_at: Option<Timestamp>,
    created_at: Timestamp,
    finished_at: Option<Timestamp>,
}

impl Campaign {
    pub(crate) fn values(&self) -> Values {
        serde_json::from_str(&self.variables).unwrap_or_default()
    }

    pub(crate) fn view(self) -> Result<CampaignView> {
        Ok(CampaignView {
            variables: self.values(),
            send_at: self.send_at.map(time).transpose()?,
            created_at: time(self.created_at)?,
            finished_at: self.finished_at.map(time).transpose()?,
            id: self.id,
            list: self.list,
            template: self.template,
            title: self.title,
            state: self.state,
        })
    }

    /// Stores the state and what goes with it.
    pub(crate) async fn save(&self, db: &mut SqliteConnection) -> Result<()> {
        sqlx::query(
            "UPDATE campaigns SET template = ?2, title = ?3, variables = ?4, state = ?5, send_at = ?6, finished_at = ?7 WHERE id = ?1",
        )
        .bind(self.id)
        .bind(&self.template)
        .bind(&self.title)
        .bind(&self.variables)
        .bind(self.state)
        .bind(self.send_at)
        .bind(self.finished_at)
        .execute(db)
        .await?;
        Ok(())
    }
}

/// The start of all queries for campaigns.
pub(crate) fn select() -> QueryBuilder<Sqlite> {
    QueryBuilder::new(
        "SELECT c.*, l.slug AS list FROM campaigns c JOIN lists l ON l.id = c.list_id WHERE 1 = 1",
    )
}

/// A campaign by its number.
pub(crate) async fn by_id(db: &mut SqliteConnection, id: i64) -> Result<Campaign> {
    let mut query = select();
    query.push(" AND c.id = ").push_bind(id);
    let found: Option<Campaign> = query.build_query_as().fetch_optional(db).await?;
    found.ok_or(Error::Absent("campaign"))
}

#[cfg(test)]
mod tests {
    use super::CampaignState::{Cancelled, Draft, Paused, Scheduled, Sending, Sent};
    use super::*;

    #[test]
    fn campaigns_go_their_way() {
        let way = [
            (Step::Schedule, Scheduled),
            (Step::Unschedule, Draft),
            (Step::Schedule, Scheduled),
            (Step::Start, Sending),
            (Step::Pause, Paused),
            (Step::Resume, Sending),
            (Step::Finish, Sent),
        ];
        let mut state = Draft;
        for (step, expected) in way {
            state = state.after(step).expect("there is a way");
            assert_eq!(state, expected);
        }
    }

    #[test]
    fn what_is_over_stays_over() {
        for state in [Sent, Cancelled] {
            for step in [
                Step::Schedule,
                Step::Start,
                Step::Pause,
                Step::Resume,
                Step::Cancel,
            ] {
                assert!(state.after(step).is_err(), "{state:?} {step:?}");
            }
        }
        assert!(Draft.after(Step::Start).is_err());
    }
}
