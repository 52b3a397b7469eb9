//! Runs that a person asks for: one of a schedule, or one item on a queue without a schedule of its own.

use std::time::Duration;

use jiff::Timestamp;
use punctual_plan::{Object, Origin, RunKey, RunStatus};
use punctual_store::{Cut, RunFilter, RunRow, ScheduleRow, ScheduleWrite, Store, Write, Written};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::list::REQUESTS;
use super::{App, Told};
use crate::Failure;

/// Somebody who waits for a run looks at least this often.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Runs of one schedule that are looked at when they are to be ended.
const IN_FLIGHT_MAX: u32 = 1_000;

/// How a run is asked for.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The request's own key: a second request with the same one gives the first one's run.
    pub request_key: Option<String>,
    /// Whether it runs beside whatever is in flight.
    pub is_forced: bool,
    /// What the run carries on top of what those of its schedule do.
    pub payload: Option<Object>,
}

/// A run that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triggered {
    /// The request.
    pub request_id: String,
    /// The run that it became.
    pub run: RunKey,
}

impl App {
    /// Asks for a run of a schedule now, active or not; its cursor stays where it is.
    ///
    /// # Errors
    /// When it was deleted meanwhile.
    pub async fn trigger(&self, row: &ScheduleRow, wanted: &Wanted) -> Result<Triggered, Failure> {
        let now = self.now().await?;
        let request_id = wanted.request_key.clone().unwrap_or_else(|| format!("req-{}", Uuid::new_v4()));
        let write = Write::Trigger {
            schedule: row.key,
            origin: Origin::Manual,
            nonce: request_id.clone(),
            scheduled_for: Timestamp::from_second(now.as_second()).unwrap_or(now),
            fire_at: now,
            is_forced: wanted.is_forced,
            payload: wanted.payload.clone(),
            trace: self.trace,
        };
        let note = format!("asked for by {}", self.actor());
        let written = self.write(ScheduleWrite { write, kind: "schedule.triggered", note, now }).await?;
        match written {
            Written::Run(run) => Ok(Triggered { request_id, run }),
            _ => Err(Failure::world(format!("`{}` cannot be triggered now", row.definition.name))),
        }
    }

    /// Puts one item on a queue. It is the only run of a schedule that never ticks and is in no list.
    ///
    /// # Errors
    /// When the keys of its target cannot be meant.
    pub async fn request(
        &self,
        mut keys: Map<String, Value>,
        wanted: &Wanted,
        told: Told<'_>,
    ) -> Result<Triggered, Failure> {
        let now = self.now().await?;
        let request_id = wanted.request_key.clone().unwrap_or_else(|| format!("req-{}", Uuid::new_v4()));
        let name = format!("request/{request_id}");
        let soon = now.as_second().saturating_add(60);
        let soon = Timestamp::from_second(soon).unwrap_or(now);
        keys.insert("name".to_owned(), json!(name));
        keys.insert("at".to_owned(), json!(soon.to_string()));
        keys.insert("enabled".to_owned(), json!(false));
        let selector = punctual_store::Selector::Name(name);
        let known = self.store.schedule(self.scope(), selector).await?;
        let row = match known.filter(|row| row.deleted_at.is_none()) {
            Some(row) => row,
            None => {
                let drafted = self.draft(&keys, told).await?;
                self.insert(&drafted, Some(REQUESTS)).await?
            }
        };
        let wanted = Wanted { request_key: Some(request_id), is_forced: true, payload: None };
        self.trigger(&row, &wanted).await
    }

    /// Checks the keys of a request; writes nothing.
    ///
    /// # Errors
    /// When they cannot be meant.
    pub async fn check_request(&self, mut keys: Map<String, Value>, told: Told<'_>) -> Result<(), Failure> {
        keys.insert("name".to_owned(), json!("request"));
        keys.insert("after".to_owned(), json!("1m"));
        self.draft(&keys, told).await.map(drop)
    }

    /// The runs of a schedule that are in flight.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn in_flight(&self, row: &ScheduleRow) -> Result<Vec<RunKey>, Failure> {
        let mut runs = Vec::new();
        for status in [RunStatus::Enqueued, RunStatus::Running] {
            let filter =
                RunFilter { schedule: Some(row.definition.id), status: Some(status), ..RunFilter::default() };
            let found = self.store.runs(self.scope(), filter, Cut::first(IN_FLIGHT_MAX)).await?;
            runs.extend(found.rows.iter().map(|row| row.run.key));
        }
        Ok(runs)
    }

    /// Ends the runs of a schedule that are in flight; gives back how many.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn cancel_in_flight(&self, row: &ScheduleRow) -> Result<usize, Failure> {
        let runs = self.in_flight(row).await?;
        self.cancel(&runs).await?;
        Ok(runs.len())
    }

    /// Waits until a run has ended.
    ///
    /// # Errors
    /// When it vanished, or the database fails.
    pub async fn wait(&self, run: RunKey) -> Result<RunRow, Failure> {
        loop {
            let row = self.store.run(self.scope(), run).await?;
            let row = row.ok_or_else(|| Failure::world(format!("{run} is not in the ledger any more")))?;
            if row.run.state.status().is_terminal() {
                return Ok(row);
            }
            // A change that is not seen costs half a second, never the answer.
            let _ = tokio::time::timeout(LOOK_EVERY, self.store.changed()).await;
        }
    }
}
