//! Verdicts: what the judgements over a batch of reports write, one statement a table.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use jiff::Timestamp;
use punctual_plan::{
    Anchors, Before, Breaker, Chained, Change, Changed, Counters, Cursor, Event, Next, Open, OpenKind,
    OrgKey, Origin, Reason, RunKey, RunStatus, Schedule, ScheduleKey, Status, change,
};
use punctual_time::Timing;

use super::connection::{Arg, Tx, col};
use super::ledger::{About, End, Ended, Ending, Events, Planned};
use super::settle::Held;
use super::{Postgres, sql};
use crate::docket::Judgement;
use crate::instant::{from_micros, from_seconds};
use crate::stored::{bounded_output, status_detail};
use crate::{Error, Report};

/// Runs as they are after the batch.
#[derive(Default)]
struct Runs {
    run: Vec<i64>,
    status: Vec<&'static str>,
    reason: Vec<Option<&'static str>>,
    detail: Vec<Option<String>>,
    look_at: Vec<Option<i64>>,
    started_at: Vec<Option<i64>>,
    completed_at: Vec<Option<i64>>,
    seen: HashSet<i64>,
}

#[derive(Default)]
struct Attempts {
    run: Vec<i64>,
    number: Vec<i64>,
    org: Vec<i64>,
    started_at: Vec<Option<i64>>,
    ended_at: Vec<i64>,
    reason: Vec<Option<&'static str>>,
    detail: Vec<Option<String>>,
    output: Vec<Option<String>>,
    token: Vec<Option<String>>,
}

/// What the runs of a schedule have come to.
struct Score {
    counters: Counters,
    freed: i64,
    finish: Option<(i64, &'static str)>,
    success: Option<(i64, i64)>,
    moves: i64,
    anchor: Option<i64>,
    disabled: Option<(OrgKey, Status)>,
}

struct Moved {
    run: RunKey,
    schedule: ScheduleKey,
    before: Breaker,
    after: Breaker,
}

/// Everything that a batch of judgements writes.
pub(super) struct Verdicts {
    now: Timestamp,
    held: Held,
    runs: Runs,
    attempts: Attempts,
    scores: BTreeMap<ScheduleKey, Score>,
    breakers: BTreeMap<(OrgKey, String), Vec<Moved>>,
    chained: Vec<Chained>,
    /// All that are not in flight any more.
    settled: Vec<Ended>,
    /// Those of them that gave their claims back.
    freed: BTreeMap<OrgKey, i64>,
    /// Good ends that were judged as they were written before.
    as_written: usize,
}

impl Verdicts {
    pub(super) fn new(now: Timestamp, held: Held) -> Self {
        Self {
            now,
            held,
            runs: Runs::default(),
            attempts: Attempts::default(),
            scores: BTreeMap::new(),
            breakers: BTreeMap::new(),
            chained: Vec::new(),
            settled: Vec::new(),
            freed: BTreeMap::new(),
            as_written: 0,
        }
    }

    /// Whether all good ends that were written before they were judged are such.
    pub(super) fn are_as_written(&self) -> bool {
        self.as_written == self.held.written
    }

    pub(super) fn add(&mut self, report: &Report, judgement: Judgement) {
        let settlement = &judgement.settlement;
        let (run, schedule) = (settlement.in_flight.run, settlement.in_flight.schedule);
        let Some(held) = self.held.runs.get(&run) else { return };
        let (origin, tick, ended_at) = (held.origin, held.tick, held.ended_at);
        let started_at = report.started_at.or(held.started_at);
        let token = held.token.clone();
        self.settled.push(Ended { run, schedule, org: judgement.org, origin, tick, is_unlaunched: false });
        if judgement.was.is_in_flight() {
            *self.freed.entry(judgement.org).or_default() += 1;
        }
        let is_written = ended_at
            .is_some_and(|at| settlement.next == Next::End { status: RunStatus::Success, reason: None, at });
        self.as_written += usize::from(is_written);
        if !is_written {
            self.runs.add(run, &settlement.next, started_at);
        }
        self.score(&judgement, origin);
        let is_repeated = judgement.attempt > 1 || matches!(settlement.next, Next::Retry { .. });
        if is_repeated || report.output.is_some() {
            self.attempts.add(&judgement, (report, started_at, token));
        }
        if let Some(after) = settlement.breaker {
            let key = (judgement.org, judgement.definition.target.name.clone());
            let moved = Moved { run, schedule, before: judgement.breaker_before, after };
            self.breakers.entry(key).or_default().push(moved);
        }
        self.chained.extend(judgement.settlement.chained);
    }

    fn score(&mut self, judgement: &Judgement, origin: Origin) {
        let settlement = &judgement.settlement;
        let (run, schedule) = (settlement.in_flight.run, settlement.in_flight.schedule);
        let score = self.scores.entry(schedule).or_insert(Score {
            counters: settlement.counters,
            freed: 0,
            finish: None,
            success: None,
            moves: 0,
            anchor: None,
            disabled: None,
        });
        score.counters = settlement.counters;
        let active = self.held.states.get(&schedule).and_then(|state| state.active_run);
        score.freed |= i64::from(active == Some(run.0));
        if let Next::End { status, at, .. } = &settlement.next {
            score.finish = Some((at.as_microsecond(), status.name()));
            if *status == RunStatus::Success {
                score.success = Some((at.as_microsecond(), run.0));
            }
            if origin == Origin::Tick {
                score.anchor = Some(at.as_microsecond());
            }
            let present = self.held.states.get(&schedule).and_then(|state| state.definition.as_deref());
            let is_moving =
                origin == Origin::Tick && present.is_some_and(|present| present.when.is_floating());
            score.moves |= i64::from(is_moving);
        }
        if let Some(status) = &settlement.disabled {
            score.disabled = Some((judgement.org, status.clone()));
        }
    }
}

impl Runs {
    fn add(&mut self, run: RunKey, next: &Next, started_at: Option<Timestamp>) {
        let (status, reason, look_at, completed_at) = match next {
            Next::End { status, reason, at } => (*status, reason.as_ref(), None, Some(*at)),
            Next::Retry { at, reason, .. } => (RunStatus::Retrying, Some(reason), Some(*at), None),
        };
        // A second report of the same run in one batch has the last word.
        if !self.seen.insert(run.0)
            && let Some(place) = self.run.iter().rposition(|other| *other == run.0)
        {
            self.remove(place);
        }
        self.run.push(run.0);
        self.status.push(status.name());
        self.reason.push(reason.map(Reason::code));
        self.detail.push(reason.map(|reason| reason.detail().replace('\0', "\u{fffd}")));
        self.look_at.push(look_at.map(Timestamp::as_microsecond));
        self.started_at.push(started_at.map(Timestamp::as_microsecond));
        self.completed_at.push(completed_at.map(Timestamp::as_microsecond));
    }

    fn remove(&mut self, place: usize) {
        self.run.remove(place);
        self.status.remove(place);
        self.reason.remove(place);
        self.detail.remove(place);
        self.look_at.remove(place);
        self.started_at.remove(place);
        self.completed_at.remove(place);
    }
}

impl Attempts {
    fn add(
        &mut self,
        judgement: &Judgement,
        (report, started_at, token): (&Report, Option<Timestamp>, Option<String>),
    ) {
        let reason = match &judgement.settlement.next {
            Next::End { reason, .. } => reason.clone(),
            Next::Retry { reason, .. } => Some(reason.clone()),
        };
        self.run.push(report.run.0);
        self.number.push(i64::from(report.attempt));
        self.org.push(judgement.org.0);
        self.started_at.push(started_at.map(Timestamp::as_microsecond));
        self.ended_at.push(report.at.as_microsecond());
        self.reason.push(reason.as_ref().map(Reason::code));
        self.detail.push(reason.map(|reason| reason.detail().replace('\0', "\u{fffd}")));
        self.output.push(report.output.as_deref().map(bounded_output));
        self.token.push(token.filter(|_| report.attempt == judgement.attempt));
    }
}

impl Postgres {
    pub(super) async fn carry_out(&self, tx: &Tx, verdicts: Verdicts) -> Result<(), Error> {
        if verdicts.settled.is_empty() {
            return Ok(());
        }
        let Verdicts { now, held, runs, attempts, scores, breakers, chained, settled, freed, .. } = verdicts;
        write_runs(tx, runs).await?;
        write_attempts(tx, attempts).await?;
        let keys: Vec<i64> = settled.iter().map(|row| row.run.0).collect();
        tx.run(sql!("free_claims"), &[&keys]).await?;
        let (org, count): (Vec<i64>, Vec<i64>) = freed.into_iter().map(|(org, count)| (org.0, count)).unzip();
        tx.run(sql!("free_places"), &[&org, &count]).await?;
        write_scores(tx, (&scores, &held), now).await?;
        let mut events = Events::default();
        write_breakers(tx, breakers, (now, &mut events)).await?;
        self.write_chained(tx, &chained, (&held, now)).await?;
        events.write(tx, now).await?;
        for (schedule, (org, status)) in
            scores.iter().filter_map(|(key, score)| Some((key, score.disabled.clone()?)))
        {
            self.disable(tx, (*schedule, org), (&status, now)).await?;
        }
        self.wake(tx, &settled, now).await?;
        tx.run(sql!("wake_limited"), &[&org, &now.as_microsecond(), &RunStatus::Waiting.name()]).await?;
        let concerned: BTreeSet<ScheduleKey> = settled.iter().map(|row| row.schedule).collect();
        let ending = concerned.into_iter().filter_map(|key| {
            let state = held.states.get(&key).filter(|state| state.may_end)?;
            Some(Ending::of(key, state.definition.as_ref()?))
        });
        self.exhaust(tx, ending.collect(), now).await
    }

    async fn write_chained(
        &self,
        tx: &Tx,
        chained: &[Chained],
        (held, now): (&Held, Timestamp),
    ) -> Result<(), Error> {
        let (mut tick, mut org, mut schedule, mut nonce, mut shard) =
            (vec![], vec![], vec![], vec![], vec![]);
        let (mut fire_at, mut reason, mut detail, mut version) = (vec![], vec![], vec![], vec![]);
        for one in chained {
            let Some(follower) = held.followers.get(&one.schedule) else { continue };
            let known =
                follower.status.reason(follower.left_at.unwrap_or(now)).or_else(|| one.verdict.clone());
            tick.push(one.scheduled_for.as_second());
            org.push(follower.org.0);
            schedule.push(one.schedule.0);
            nonce.push(one.upstream.to_string());
            shard.push(follower.shard);
            fire_at.push(one.fire_at.as_microsecond());
            reason.push(known.as_ref().map(Reason::code));
            detail.push(known.as_ref().map(Reason::detail));
            version.push(follower.version);
        }
        if tick.is_empty() {
            return Ok(());
        }
        let arguments: [&dyn Arg; 10] =
            [&tick, &org, &schedule, &nonce, &shard, &fire_at, &reason, &detail, &version, &self.tz];
        tx.run(sql!("insert_chained"), &arguments).await?;
        Ok(())
    }

    /// A schedule that failed too often leaves `active`: what is armed ahead vanishes, what is due is skipped.
    pub(super) async fn disable(
        &self,
        tx: &Tx,
        (schedule, org): (ScheduleKey, OrgKey),
        (status, now): (&Status, Timestamp),
    ) -> Result<(), Error> {
        let (at, detail) = (now.as_microsecond(), status_detail(status));
        let left = tx.row(sql!("disable"), &[&schedule.0, &status.name(), &detail, &at, &"active"]).await?;
        let (Some(left), Some(reason)) = (left, status.reason(now)) else { return Ok(()) };
        let changed = self.changed_by(tx, (schedule, &left), (status, now)).await?;
        let removed: Vec<i64> = changed.removed.iter().map(|run| run.0).collect();
        tx.run(sql!("remove_runs"), &[&removed, &vec!["scheduled", "waiting"]]).await?;
        let cancelled: Vec<End> = changed
            .cancelled
            .iter()
            .map(|(run, reason)| End { run: *run, status: RunStatus::Cancelled, reason: reason.clone() })
            .collect();
        let ended = self.close(tx, &cancelled, now).await?;
        self.wake(tx, &ended, now).await?;
        let version = (schedule, col::<i64>(&left, 3)?);
        let known = self.definitions(tx, &[version]).await?;
        let planned = Planned {
            schedule,
            org,
            shard: col(&left, 4)?,
            version: version.1,
            definition: known.get(&version).and_then(|known| known.as_deref().ok()),
            plan: &changed.plan,
        };
        self.write_plans(tx, &[planned], now).await?;
        let mut events = Events::default();
        events.note(About { org, schedule: Some(schedule), run: None }, &Event::Left { reason });
        events.write(tx, now).await
    }

    /// What leaving `active` does to the rows and the unplanned ticks of a schedule.
    async fn changed_by(
        &self,
        tx: &Tx,
        (schedule, left): (ScheduleKey, &tokio_postgres::Row),
        (status, now): (&Status, Timestamp),
    ) -> Result<Changed, Error> {
        let mut open = Vec::new();
        for row in tx.rows(sql!("open_of_schedule"), &[&schedule.0, &super::ledger::OPEN.to_vec()]).await? {
            let is_launched = col::<i64>(&row, 1)? > 0;
            open.push(Open {
                run: RunKey(col(&row, 0)?),
                scheduled_for: from_seconds(col(&row, 2)?)?,
                kind: if is_launched { OpenKind::Retrying } else { OpenKind::Unlaunched },
            });
        }
        let version = (schedule, col::<i64>(left, 3)?);
        let known = self.definitions(tx, &[version]).await?;
        let definition = known.get(&version).and_then(|known| known.as_ref().ok());
        let cursor = Cursor {
            planned_through: from_micros(col(left, 0)?)?,
            decided_through: from_micros(col(left, 1)?)?,
        };
        let timing = definition.map(|definition| left_timing(left, definition)).transpose()?.flatten();
        let before = Before {
            timing: timing.as_ref(),
            cursor,
            open: &open,
            slept: None,
            launched_through: col::<Option<i64>>(left, 2)?.map(from_seconds).transpose()?,
        };
        let changed = change(&before, &Change::Leave(status.clone()), now);
        let cursor = changed.plan.cursor;
        let (planned, decided) =
            (cursor.planned_through.as_microsecond(), cursor.decided_through.as_microsecond());
        tx.run(sql!("move_cursor"), &[&schedule.0, &planned, &decided]).await?;
        Ok(changed)
    }
}

/// The ticks of a schedule that leaves, with what has become of them; none if it has had them all.
fn left_timing(left: &tokio_postgres::Row, definition: &Schedule) -> Result<Option<Timing>, Error> {
    let micros = |place| col::<Option<i64>>(left, place)?.map(from_micros).transpose();
    let anchors = Anchors { start: micros(6)?, finish: micros(7)? };
    let spent_at = micros(8)?;
    let timing = definition.when.timing().filter(|_| spent_at.is_none()).cloned();
    let runs = super::plan::unsigned(col(left, 5)?);
    Ok(timing.map(|timing| Timing { runs, last: anchors.last(timing.anchor), ..timing }))
}

async fn write_runs(tx: &Tx, runs: Runs) -> Result<(), Error> {
    let Runs { run, status, reason, detail, look_at, started_at, completed_at, .. } = runs;
    if run.is_empty() {
        return Ok(());
    }
    let arguments: [&dyn Arg; 7] = [&run, &status, &reason, &detail, &look_at, &started_at, &completed_at];
    tx.run(sql!("settle_runs"), &arguments).await?;
    Ok(())
}

async fn write_attempts(tx: &Tx, attempts: Attempts) -> Result<(), Error> {
    if attempts.run.is_empty() {
        return Ok(());
    }
    let Attempts { run, number, org, started_at, ended_at, reason, detail, output, token } = attempts;
    let arguments: [&dyn Arg; 9] =
        [&run, &number, &org, &started_at, &ended_at, &reason, &detail, &output, &token];
    tx.run(sql!("insert_attempts"), &arguments).await?;
    Ok(())
}

async fn write_scores(
    tx: &Tx,
    (scores, held): (&BTreeMap<ScheduleKey, Score>, &Held),
    now: Timestamp,
) -> Result<(), Error> {
    // What one good end leaves is written with it, but not that a schedule wants planning.
    let is_left = |(key, score): &(&ScheduleKey, &Score)| {
        score.moves == 1 || held.states.get(key).is_none_or(|state| !state.is_written)
    };
    let scores: BTreeMap<&ScheduleKey, &Score> = scores.iter().filter(is_left).collect();
    if scores.is_empty() {
        return Ok(());
    }
    let count = |read: fn(&Counters) -> u64| {
        scores
            .values()
            .map(|score| i64::try_from(read(&score.counters)).unwrap_or(i64::MAX))
            .collect::<Vec<i64>>()
    };
    let schedule: Vec<i64> = scores.keys().map(|key| key.0).collect();
    let runs = count(|counters| counters.runs);
    let successes = count(|counters| counters.successes);
    let failures = count(|counters| counters.failures);
    let in_a_row = count(|counters| u64::from(counters.consecutive_failures));
    let freed: Vec<i64> = scores.values().map(|score| score.freed).collect();
    let finish: Vec<Option<i64>> = scores.values().map(|score| score.finish.map(|(at, _)| at)).collect();
    let status: Vec<Option<&str>> =
        scores.values().map(|score| score.finish.map(|(_, status)| status)).collect();
    let success_at: Vec<Option<i64>> = scores.values().map(|score| score.success.map(|(at, _)| at)).collect();
    let success_run: Vec<Option<i64>> =
        scores.values().map(|score| score.success.map(|(_, run)| run)).collect();
    let moves: Vec<i64> = scores.values().map(|score| score.moves).collect();
    let anchor: Vec<Option<i64>> = scores.values().map(|score| score.anchor).collect();
    let arguments: [&dyn Arg; 13] = [
        &schedule,
        &runs,
        &successes,
        &failures,
        &in_a_row,
        &freed,
        &finish,
        &status,
        &success_at,
        &success_run,
        &moves,
        &anchor,
        &now.as_microsecond(),
    ];
    tx.run(sql!("settle_states"), &arguments).await?;
    Ok(())
}

/// Where breakers stand now; each move between states leaves a transition and an event.
async fn write_breakers(
    tx: &Tx,
    breakers: BTreeMap<(OrgKey, String), Vec<Moved>>,
    (now, events): (Timestamp, &mut Events),
) -> Result<(), Error> {
    if breakers.is_empty() {
        return Ok(());
    }
    let at = now.as_microsecond();
    let (mut org, mut target, mut state, mut failures, mut until, mut probe) =
        (vec![], vec![], vec![], vec![], vec![], vec![]);
    let (mut t_org, mut t_target, mut t_from, mut t_to, mut t_run) = (vec![], vec![], vec![], vec![], vec![]);
    for ((whose, name), moves) in &breakers {
        for moved in moves.iter().filter(|moved| moved.before.name() != moved.after.name()) {
            t_org.push(whose.0);
            t_target.push(name.as_str());
            t_from.push(moved.before.name());
            t_to.push(moved.after.name());
            t_run.push(moved.run.0);
            let about = About { org: *whose, schedule: Some(moved.schedule), run: Some(moved.run) };
            events.note(about, &Event::BreakerMoved { target: name.clone(), to: moved.after });
        }
        let Some(last) = moves.last() else { continue };
        org.push(whose.0);
        target.push(name.as_str());
        state.push(last.after.name());
        failures.push(match last.after {
            Breaker::Closed { failures } => i64::from(failures),
            _ => 0,
        });
        until.push(match last.after {
            Breaker::Open { until } => Some(until.as_microsecond()),
            _ => None,
        });
        probe.push(match last.after {
            Breaker::HalfOpen { probe } => Some(probe.0),
            _ => None,
        });
    }
    let arguments: [&dyn Arg; 7] = [&org, &target, &state, &failures, &until, &probe, &at];
    tx.run(sql!("move_breakers"), &arguments).await?;
    tx.run(sql!("remove_closed_breakers"), &[&org, &target]).await?;
    if !t_org.is_empty() {
        tx.run(sql!("insert_transitions"), &[&t_org, &t_target, &at, &t_from, &t_to, &t_run]).await?;
    }
    Ok(())
}
