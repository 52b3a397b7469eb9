//! Schedules whose definitions cannot be read any more.

use jiff::Timestamp;
use punctual_plan::{OrgKey, ScheduleKey, Status};

use super::connection::{Role, Tx, col};
use super::said::unless_raced;
use super::{Postgres, sql};
use crate::Error;

impl Postgres {
    /// Takes those of them out of `active` that cannot be read now; gives back how many.
    pub(super) async fn pause_unreadable(
        &self,
        now: Timestamp,
        schedules: &[ScheduleKey],
    ) -> Result<usize, Error> {
        unless_raced(|| async {
            let tx = self.connections.begin(Role::Engine, "pausing what cannot be read").await?;
            let result = self.pause_in(&tx, now, schedules).await;
            tx.finish(result).await
        })
        .await
    }

    async fn pause_in(&self, tx: &Tx, now: Timestamp, schedules: &[ScheduleKey]) -> Result<usize, Error> {
        let keys: Vec<i64> = schedules.iter().map(|schedule| schedule.0).collect();
        // Held, so that nobody gives them a definition that can be read meanwhile.
        let rows = tx.rows(sql!("lock_versions"), &[&keys, &"active"]).await?;
        let (mut orgs, mut versions) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for row in &rows {
            orgs.push(OrgKey(col(row, 1)?));
            versions.push((ScheduleKey(col(row, 0)?), col::<i64>(row, 2)?));
        }
        let known = self.definitions(tx, &versions).await?;
        let mut paused = 0;
        for (org, version) in orgs.into_iter().zip(versions) {
            if let Some(Err(Error::Corrupt { what })) = known.get(&version) {
                let status = Status::PausedInvalid { error: what.clone() };
                self.disable(tx, (version.0, org), (&status, now)).await?;
                paused += 1;
            }
        }
        Ok(paused)
    }
}
