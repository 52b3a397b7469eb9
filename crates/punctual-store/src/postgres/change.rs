//! Schedules that are changed, and runs that people ask for: each in its own guard.

use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{
    Changed, Cursor, OrgKey, Origin, Plan, RunKey, RunStatus, Schedule, ScheduleKey, Status,
};

use super::connection::{Arg, Tx, col};
use super::create::actor;
use super::ledger::{About, End, Ending, Events, Planned};
use super::said::is_duplicate;
use super::{Postgres, sql};
use crate::definition::encode;
use crate::stored::{payload_text, status_detail, uses};
use crate::text::tags;
use crate::{Error, ScheduleWrite, Scope, Write, Written};

/// A change with its parts by name.
struct Change<'a> {
    schedule: ScheduleKey,
    version: i64,
    from: Cursor,
    definition: Option<&'a Arc<Schedule>>,
    status: Option<&'a Status>,
    is_deleted: bool,
    changed: &'a Changed,
    plan: Option<&'a Plan>,
}

/// Where the schedule stood.
struct Stood {
    org: OrgKey,
    shard: i64,
}

impl Postgres {
    /// Carries out one change or request; a refusal leaves nothing behind.
    pub(super) async fn alter(
        &self,
        tx: &Tx,
        scope: &Scope,
        write: &ScheduleWrite,
    ) -> Result<Result<Written, Error>, Error> {
        tx.batch("SAVEPOINT one").await?;
        let result = match &write.write {
            Write::Create { .. } => Err(Error::Closed),
            Write::Change { schedule, version, from, definition, status, is_deleted, changed, plan } => {
                let change = Change {
                    schedule: *schedule,
                    version: *version,
                    from: *from,
                    definition: definition.as_ref(),
                    status: status.as_ref(),
                    is_deleted: *is_deleted,
                    changed,
                    plan: plan.as_ref(),
                };
                self.change(tx, scope, (write, &change)).await
            }
            Write::Trigger { .. } => self.trigger(tx, scope, write).await,
        };
        match result {
            Ok(Written::Stale) | Err(Error::NotFound { .. }) => {
                tx.batch("ROLLBACK TO SAVEPOINT one").await?;
                Ok(result)
            }
            Ok(written) => {
                tx.batch("RELEASE SAVEPOINT one").await?;
                Ok(Ok(written))
            }
            Err(error) if is_duplicate(&error) => {
                tx.batch("ROLLBACK TO SAVEPOINT one").await?;
                Ok(Err(Error::NameTaken { name: new_name(write) }))
            }
            Err(error) => Err(error),
        }
    }

    async fn change(
        &self,
        tx: &Tx,
        scope: &Scope,
        (write, change): (&ScheduleWrite, &Change<'_>),
    ) -> Result<Written, Error> {
        let now = write.now;
        lock_open(tx, change.changed).await?;
        let Some(stood) = move_state(tx, change, now).await? else {
            let found = tx.row(sql!("schedule_lives"), &[&change.schedule.0]).await?;
            let gone = || Error::NotFound { what: "any more".to_owned() };
            return found.map(|_| Written::Stale).ok_or_else(gone);
        };
        self.write_definition(tx, change, (&stood, scope, now)).await?;
        let removed: Vec<i64> = change.changed.removed.iter().map(|run| run.0).collect();
        if !removed.is_empty() {
            tx.run(sql!("remove_runs"), &[&removed, &vec!["scheduled", "waiting"]]).await?;
        }
        let cancelled: Vec<End> = change
            .changed
            .cancelled
            .iter()
            .map(|(run, reason)| End { run: *run, status: RunStatus::Cancelled, reason: reason.clone() })
            .collect();
        let ended = self.close(tx, &cancelled, now).await?;
        self.wake(tx, &ended, now).await?;
        let old = self.definitions(tx, &[(change.schedule, change.version)]).await?;
        let old = old.get(&(change.schedule, change.version)).and_then(|old| old.as_ref().ok());
        let new = change.definition.or(old);
        let planned = |plan, version, definition| Planned {
            schedule: change.schedule,
            org: stood.org,
            shard: stood.shard,
            version,
            definition,
            plan,
        };
        let before = planned(&change.changed.plan, change.version, old.map(Arc::as_ref));
        self.write_plans(tx, &[before], now).await?;
        if change.definition.is_some() {
            let arguments: [&dyn Arg; 3] = [&change.schedule.0, &now.as_microsecond(), &"waiting"];
            tx.run(sql!("wake_schedule"), &arguments).await?;
        }
        if let Some(plan) = change.plan {
            let version = change.definition.map_or(change.version, |definition| definition.version);
            self.write_plans(tx, &[planned(plan, version, new.map(Arc::as_ref))], now).await?;
            let is_over = plan.next_tick.is_none() && plan.plan_at.is_none();
            let over = new.filter(|_| is_over).map(|new| Ending::of(change.schedule, new));
            let over: Vec<Ending> = over.into_iter().collect();
            self.go_on_if_free(tx, if plan.is_hanging { &over[..] } else { &[] }, now).await?;
            self.exhaust(tx, over, now).await?;
        }
        let mut events = Events::default();
        let about = About { org: stood.org, schedule: Some(change.schedule), run: None };
        events.say(about, &actor(scope), (write.kind, &write.note));
        events.write(tx, now).await?;
        Ok(Written::Schedule(change.schedule))
    }

    async fn write_definition(
        &self,
        tx: &Tx,
        change: &Change<'_>,
        (stood, scope, now): (&Stood, &Scope, Timestamp),
    ) -> Result<(), Error> {
        let (key, at) = (change.schedule.0, now.as_microsecond());
        let deleted_at = change.is_deleted.then_some(at);
        let Some(definition) = change.definition else {
            tx.run(sql!("touch_schedule"), &[&key, &at, &deleted_at]).await?;
            if change.is_deleted {
                tx.run(sql!("remove_uses"), &[&key]).await?;
            }
            return Ok(());
        };
        let text = encode(definition);
        let (user, description) = (definition.owner.user_id.as_deref(), definition.description.as_deref());
        let (name, spec) = (definition.name.as_str(), definition.spec.as_str());
        let arguments: [&dyn Arg; 9] = [
            &key,
            &name,
            &user,
            &description,
            &tags(definition),
            &spec,
            &definition.version,
            &at,
            &deleted_at,
        ];
        tx.run(sql!("replace_schedule"), &arguments).await?;
        let by = match scope {
            Scope::Org { user, .. } => user.clone(),
            Scope::Engine => None,
        };
        let since = change.changed.valid_from().as_microsecond();
        tx.run(sql!("insert_version"), &[&key, &definition.version, &stood.org.0, &since, &by, &text])
            .await?;
        tx.run(sql!("remove_uses"), &[&key]).await?;
        let uses = if change.is_deleted { Vec::new() } else { uses(definition) };
        if !uses.is_empty() {
            let count = uses.len();
            let (kind, name): (Vec<&str>, Vec<String>) =
                uses.into_iter().map(|(kind, name)| (kind.name(), name)).unzip();
            tx.run(sql!("insert_uses"), &[&vec![stood.org.0; count], &kind, &name, &vec![key; count]])
                .await?;
        }
        // Not remembered here: until the commit, another node may make another version of the same number.
        Ok(())
    }

    async fn trigger(&self, tx: &Tx, scope: &Scope, write: &ScheduleWrite) -> Result<Written, Error> {
        let Write::Trigger { schedule, origin, nonce, scheduled_for, fire_at, is_forced, payload, trace } =
            &write.write
        else {
            return Err(Error::Closed);
        };
        let state = tx.row(sql!("lock_living"), &[&schedule.0]).await?;
        let state = state.ok_or_else(|| Error::NotFound { what: "any more".to_owned() })?;
        let (org, shard, version): (i64, i64, i64) = (col(&state, 0)?, col(&state, 1)?, col(&state, 2)?);
        if let Some(before) = tx.row(sql!("find_request"), &[&schedule.0, &origin.name(), nonce]).await? {
            return Ok(Written::Run(RunKey(col(&before, 0)?)));
        }
        let (tick, fire) = (scheduled_for.as_second(), fire_at.as_microsecond());
        let arguments: [&dyn Arg; 10] = [
            &tick,
            &org,
            &schedule.0,
            &origin.name(),
            nonce,
            &shard,
            &fire,
            &version,
            &self.tz,
            &i64::from(*is_forced),
        ];
        let row = tx.row(sql!("insert_request"), &arguments).await?;
        let run = RunKey(col(&row.ok_or_else(|| Error::corrupt("a run has no key"))?, 0)?);
        if let Some(payload) = payload {
            tx.run(sql!("set_payload"), &[&run.0, &payload_text(payload)]).await?;
        }
        if let Some(trace) = trace {
            tx.run(sql!("set_trace"), &[&run.0, &trace.to_string()]).await?;
        }
        let mut events = Events::default();
        let about = About { org: OrgKey(org), schedule: Some(*schedule), run: Some(run) };
        events.say(about, &actor(scope), (write.kind, &write.note));
        events.write(tx, write.now).await?;
        debug_assert!(
            matches!(origin, Origin::Manual | Origin::Backfill),
            "ticks are planned, not asked for"
        );
        Ok(Written::Run(run))
    }
}

fn new_name(write: &ScheduleWrite) -> String {
    match &write.write {
        Write::Change { definition: Some(definition), .. } => definition.name.clone(),
        _ => String::new(),
    }
}

/// Rows are held before the schedule, as admission does.
async fn lock_open(tx: &Tx, changed: &Changed) -> Result<(), Error> {
    let removed = changed.removed.iter().map(|run| run.0);
    let cancelled = changed.cancelled.iter().map(|(run, _)| run.0);
    let closed = changed.plan.closed.iter().map(|row| row.run.0);
    let mut runs: Vec<i64> = removed.chain(cancelled).chain(closed).collect();
    runs.sort_unstable();
    if !runs.is_empty() {
        tx.rows(sql!("lock_runs"), &[&runs]).await?;
    }
    Ok(())
}

/// Moves version, status and cursor together, if they are as the decision found them.
async fn move_state(tx: &Tx, change: &Change<'_>, now: Timestamp) -> Result<Option<Stood>, Error> {
    let version = change.definition.map_or(change.version, |definition| definition.version);
    let cursor = change.plan.map_or(change.changed.plan.cursor, |plan| plan.cursor);
    let is_leaving = change.is_deleted || change.status.is_some_and(|status| !status.is_active());
    let plan = change.plan.filter(|_| !is_leaving);
    let next_tick = plan.and_then(|plan| plan.next_tick).map(Timestamp::as_second);
    let plan_at = plan.and_then(|plan| plan.plan_at).map(Timestamp::as_microsecond);
    let at = match change.status {
        Some(Status::Exhausted { at }) => *at,
        _ => now,
    };
    let left_at = is_leaving.then_some(at.as_microsecond());
    let is_back = change.status.is_some_and(Status::is_active) && !change.is_deleted;
    let begins_anew = i64::from(is_back || change.definition.is_some());
    let (status, detail) = (change.status.map(Status::name), change.status.map(status_detail));
    let has_ticks = match change.definition {
        Some(definition) => definition.when.timing().is_some(),
        // Only the present definition could say; the planner leaves alone what only follows others.
        None => true,
    };
    let unplanned = (change.plan.is_none() && !is_leaving && has_ticks).then(|| now.as_microsecond());
    let arguments: [&dyn Arg; 15] = [
        &change.schedule.0,
        &change.version,
        &change.from.planned_through.as_microsecond(),
        &change.from.decided_through.as_microsecond(),
        &version,
        &status,
        &detail,
        &left_at,
        &cursor.planned_through.as_microsecond(),
        &cursor.decided_through.as_microsecond(),
        &next_tick,
        &plan_at,
        &begins_anew,
        &i64::from(is_back),
        &unplanned,
    ];
    let row = tx.row(sql!("change_state"), &arguments).await?;
    row.map(|row| Ok(Stood { org: OrgKey(col(&row, 0)?), shard: col(&row, 1)? })).transpose()
}
