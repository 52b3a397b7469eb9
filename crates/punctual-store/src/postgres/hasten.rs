//! A pending retry that shall not wait any longer.

use jiff::Timestamp;
use punctual_plan::{OrgKey, RunKey, ScheduleKey};

use super::connection::{Tx, col};
use super::create::actor;
use super::ledger::{About, Events};
use super::{Postgres, sql};
use crate::{Commit, Error, Scope};

impl Postgres {
    /// Lets the next attempt of a run come now; stale if none is planned.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn hasten(&self, scope: Scope, run: RunKey, now: Timestamp) -> Result<Commit, Error> {
        let tx = self.connections.begin((&scope).into(), "letting a retry come now").await?;
        let result = self.hasten_in(&tx, &scope, Hasty { run, now }).await;
        tx.finish(result).await
    }

    async fn hasten_in(&self, tx: &Tx, scope: &Scope, Hasty { run, now }: Hasty) -> Result<Commit, Error> {
        // Found as whoever asks, so that nobody reaches the runs of another org; what follows is the engine's.
        if tx.rows(sql!("cancellable"), &[&vec![run.0]]).await?.is_empty() {
            return Ok(Commit::Stale);
        }
        tx.batch("SET LOCAL ROLE punctual_engine").await?;
        let row = tx.row(sql!("hasten_run"), &[&run.0, &now.as_microsecond()]).await?;
        let Some(row) = row else { return Ok(Commit::Stale) };
        let about =
            About { org: OrgKey(col(&row, 0)?), schedule: Some(ScheduleKey(col(&row, 1)?)), run: Some(run) };
        let mut events = Events::default();
        events.say(about, &actor(scope), ("run.hastened", "its next attempt comes now"));
        events.write(tx, now).await?;
        self.notify(tx).await?;
        Ok(Commit::Done)
    }
}

/// Which run, and when.
struct Hasty {
    run: RunKey,
    now: Timestamp,
}
