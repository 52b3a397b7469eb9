//! What runs at present: runs that ended under their programs, output on its way, runs that people cancel.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{Fence, OrgKey, Origin, Outcome, Reason, RunKey, RunStatus, Schedule, ScheduleKey};

use super::connection::{Role, Tx, col};
use super::create::actor;
use super::ledger::{About, End, Ending, Events, FLYING};
use super::plan::named;
use super::said::unless_raced;
use super::settle::Cancelled;
use super::wait::hold_with_waiters;
use super::{Postgres, sql};
use crate::instant::from_seconds;
use crate::stored::bounded_output;
use crate::{Attempt, Cancellation, Commit, Error, Scope, Shown};

/// A run that may be cancelled.
struct Found {
    org: OrgKey,
    schedule: ScheduleKey,
    definition: Option<Arc<Schedule>>,
    is_in_flight: bool,
}

impl Postgres {
    pub(super) async fn ended_of(&self, attempts: &[Attempt]) -> Result<Vec<RunKey>, Error> {
        let tx = self.connections.begin(Role::Hot, "looking for runs that ended").await?;
        let run: Vec<i64> = attempts.iter().map(|one| one.run.0).collect();
        let attempt: Vec<i64> = attempts.iter().map(|one| i64::from(one.attempt)).collect();
        let fence: Vec<i64> = attempts.iter().map(|one| one.fence.0).collect();
        let rows = tx.rows(sql!("ended"), &[&run, &attempt, &fence, &FLYING.to_vec()]).await;
        let rows = tx.over(rows).await?;
        rows.iter().map(|row| Ok(RunKey(col(row, 0)?))).collect()
    }

    pub(super) async fn keep_output(&self, fence: Fence, shown: &[Shown]) -> Result<(), Error> {
        let tx = self.connections.begin(Role::Hot, "keeping output").await?;
        // The last word of each attempt, in the order of keys: a statement meets a row once.
        let last: BTreeMap<(i64, i64), String> = shown
            .iter()
            .map(|one| ((one.run.0, i64::from(one.attempt)), bounded_output(&one.text)))
            .collect();
        let run: Vec<i64> = last.keys().map(|(run, _)| *run).collect();
        let attempt: Vec<i64> = last.keys().map(|(_, attempt)| *attempt).collect();
        let text: Vec<String> = last.into_values().collect();
        let done = tx.run(sql!("note_output"), &[&run, &attempt, &text, &fence.0, &FLYING.to_vec()]).await;
        tx.finish(done).await.map(|_| ())
    }

    pub(super) async fn cancel_wanted(
        &self,
        scope: &Scope,
        wanted: &Cancellation,
    ) -> Result<Vec<Commit>, Error> {
        unless_raced(|| async {
            let tx = self.connections.begin(scope.into(), "cancelling runs").await?;
            let result = self.cancel_in(&tx, scope, wanted).await;
            tx.finish(result).await
        })
        .await
    }

    async fn cancel_in(&self, tx: &Tx, scope: &Scope, wanted: &Cancellation) -> Result<Vec<Commit>, Error> {
        // Found as whoever asks, so that nobody reaches the runs of another org; what follows is the engine's.
        let keys: Vec<i64> = wanted.runs.iter().map(|run| run.0).collect();
        let rows = tx.rows(sql!("visible_runs"), &[&keys]).await?;
        let keys = rows.iter().map(|row| col(row, 0)).collect::<Result<Vec<i64>, Error>>()?;
        tx.batch("SET LOCAL ROLE punctual_engine").await?;
        // Places of orgs, then runs with all that wait for them: as settling holds them.
        tx.rows(sql!("lock_org_use_of"), &[&keys]).await?;
        hold_with_waiters(tx, &keys).await?;
        let found = self.cancellable(tx, &keys, wanted.now).await?;
        let (flying, open): (Vec<_>, Vec<_>) = found.iter().partition(|(_, run)| run.is_in_flight);
        let outcome = || Outcome::Cancelled { by: wanted.by.clone() };
        let flying: Vec<Cancelled> =
            flying.into_iter().map(|(run, _)| Cancelled { run: *run, outcome: outcome() }).collect();
        self.cancel(tx, wanted.now, &flying).await?;
        let reason = || Reason::Cancelled { by: wanted.by.clone() };
        let ends: Vec<End> = open
            .iter()
            .map(|(run, _)| End { run: **run, status: RunStatus::Cancelled, reason: reason() })
            .collect();
        let ended = self.close(tx, &ends, wanted.now).await?;
        self.wake(tx, &ended, wanted.now).await?;
        let over = |run: &Found| Some(Ending::of(run.schedule, run.definition.as_ref()?));
        let endings: Vec<Ending> = open.iter().filter_map(|(_, run)| over(run)).collect();
        // Only on a tick the next one can hang.
        let ticks: HashSet<ScheduleKey> =
            ended.iter().filter(|row| row.origin == Origin::Tick).map(|row| row.schedule).collect();
        let hanging: Vec<Ending> =
            endings.iter().filter(|one| ticks.contains(&one.schedule)).copied().collect();
        self.go_on(tx, &hanging, wanted.now).await?;
        self.exhaust(tx, endings, wanted.now).await?;
        let mut events = Events::default();
        let mut done = HashSet::new();
        for run in wanted.runs.iter().filter(|run| found.contains_key(run)) {
            if done.insert(*run) {
                let about =
                    About { org: found[run].org, schedule: Some(found[run].schedule), run: Some(*run) };
                events.say(about, &actor(scope), ("run.cancelled", &wanted.by));
            }
        }
        events.write(tx, wanted.now).await?;
        let mut first = |run: &RunKey| if done.remove(run) { Commit::Done } else { Commit::Stale };
        Ok(wanted.runs.iter().map(&mut first).collect())
    }

    /// The runs that are not over and whose instant has come, held until the commit.
    async fn cancellable(
        &self,
        tx: &Tx,
        keys: &[i64],
        now: Timestamp,
    ) -> Result<HashMap<RunKey, Found>, Error> {
        let rows = tx.rows(sql!("cancellable"), &[&keys.to_vec()]).await?;
        let mut versions = Vec::with_capacity(rows.len());
        for row in &rows {
            versions.push((ScheduleKey(col(row, 2)?), col::<i64>(row, 5)?));
        }
        let known = self.definitions(tx, &versions).await?;
        let mut found = HashMap::new();
        for (row, version) in rows.iter().zip(versions) {
            let (org, status): (_, RunStatus) = (OrgKey(col(row, 1)?), named(col(row, 3)?)?);
            let is_in_flight = status.is_in_flight();
            let has_come = is_in_flight || from_seconds(col(row, 4)?)? <= now;
            if status.is_terminal() || !has_come {
                continue;
            }
            let definition = known.get(&version).and_then(|known| known.as_ref().ok()).cloned();
            found.insert(RunKey(col(row, 0)?), Found { org, schedule: version.0, definition, is_in_flight });
        }
        Ok(found)
    }
}
