//! Rows: what becomes of a run, from one look at it to the next.

use jiff::Timestamp;
use punctual_plan::{Origin, Run, RunKey, RunState, RunStatus, ScheduleKey};
use punctual_store::RunRow;

use super::known::{Seen, floor};
use super::{Following, Gone, Grain, Moment, Oracle};
use crate::sketch::Beat;

/// Requests whose run goes beside whatever is in flight have a key that begins so.
pub(crate) const FORCED: &str = "forced-";

impl Oracle {
    /// A row of the ledger was written or taken away.
    pub(crate) fn observe(&mut self, moment: Moment, key: RunKey, row: Option<&RunRow>) {
        if self.follow.is_some() {
            let of =
                row.map(|row| row.run.schedule).or_else(|| self.runs.get(&key).map(|seen| seen.schedule));
            let said = row.map(|row| {
                format!("{} fires at {}: {:?}", row.run.scheduled_for, row.run.fire_at, row.run.state)
            });
            self.say(
                moment,
                of.unwrap_or(ScheduleKey(0)),
                format_args!("{key} {}", said.unwrap_or("is gone".to_owned())),
            );
        }
        match (self.runs.remove(&key), row) {
            (None, None) => {}
            (Some(seen), None) => self.vanished(moment, key, &seen),
            (None, Some(row)) => self.appeared(moment, key, &row.run),
            (Some(seen), Some(row)) => self.moved(moment, seen, row),
        }
    }

    /// Takes over which ticks have rows, where looks are rare: one that went may have been replaced by another meanwhile.
    pub(crate) fn recount(&mut self, moment: Moment, rows: &[RunRow]) {
        self.schedules.values_mut().for_each(|known| known.rows.clear());
        for run in rows.iter().map(|row| &row.run).filter(|run| run.origin == Origin::Tick) {
            let known = self.schedules.get_mut(&run.schedule);
            if known.is_some_and(|known| !known.rows.insert(run.scheduled_for.as_second())) {
                self.complain(
                    moment,
                    format!("2: two rows for tick {} of {}", run.scheduled_for, run.schedule.0),
                );
            }
        }
    }

    fn vanished(&mut self, moment: Moment, key: RunKey, seen: &Seen) {
        let mut is_beyond = false;
        if let Some(known) = self.schedules.get_mut(&seen.schedule).filter(|_| seen.origin == Origin::Tick) {
            known.rows.remove(&seen.tick);
            // A last run that was admitted before the instant, and committed after it, leaves no tick behind it.
            is_beyond = known.is_over_before(seen.tick);
        }
        // One that was to fire early may wait already.
        let is_open = matches!(seen.status, RunStatus::Scheduled | RunStatus::Waiting);
        // Where looks are rare it was ahead when it was removed; if not, its tick has no entry, and that is found.
        let was_ahead = self.grain == Grain::Coarse || self.is_stepped(moment);
        let is_ahead = is_open && (seen.tick > floor(moment.db) || was_ahead || is_beyond);
        if !is_ahead && !seen.status.is_terminal() {
            let number = self.schedules.get(&seen.schedule).map_or(0, |known| known.present().number);
            let (schedule, tick, status) = (seen.schedule, seen.tick, seen.status);
            let what = format!("1: {key} of tick {tick} of s{number:02} vanished while {status}");
            self.gone.push(Gone { schedule, tick, moment, what });
        }
    }

    /// A commit took a schedule out of `active` from an instant on: ticks after that are in what the ledger says of it since,
    /// though they had come before the commit reached the database.
    pub(crate) fn left_active(&mut self, schedule: ScheduleKey, at: Timestamp) {
        self.gone.retain(|gone| gone.schedule != schedule || gone.tick <= floor(at));
    }

    /// Judges what a look left open, when everything of its commit was heard of.
    pub(crate) fn judge_rest(&mut self, moment: Moment) {
        self.judge_spent(moment);
        for Gone { moment, what, .. } in std::mem::take(&mut self.gone) {
            self.complain(moment, what);
        }
    }

    fn appeared(&mut self, moment: Moment, key: RunKey, run: &Run) {
        let Some(known) = self.schedules.get_mut(&run.schedule) else {
            // A schedule is written with its first rows; it is learnt of right after.
            return;
        };
        let tick = run.scheduled_for.as_second();
        let is_new = run.origin != Origin::Tick || known.rows.insert(tick);
        let follows = (run.origin == Origin::Chained).then(|| upstream_of(&run.nonce)).flatten();
        known.followed.extend(follows);
        let seen = Seen {
            schedule: run.schedule,
            origin: run.origin,
            tick,
            fire_at: run.fire_at,
            version: run.version,
            status: RunStatus::Scheduled,
            attempt: 0,
            launched: 0,
            holder: None,
            flew: None,
            started: None,
            is_forced: run.nonce.starts_with(FORCED),
            guard: None,
            lane: None,
        };
        if !is_new && self.grain == Grain::Fine {
            self.complain(
                moment,
                format!("2: two rows for tick {} of {}", run.scheduled_for, run.schedule.0),
            );
        }
        if run.scheduled_for.subsec_nanosecond() != 0 {
            self.complain(moment, format!("1: {key} stands for {}, no whole second", run.scheduled_for));
        }
        if let Some(what) = self.fires_off(moment, &seen) {
            self.complain(moment, format!("{what} ({key}, tick {})", run.scheduled_for));
        }
        self.follow_to(moment, seen, run);
    }

    fn moved(&mut self, moment: Moment, mut seen: Seen, row: &RunRow) {
        let run = &row.run;
        let is_same = seen.tick == run.scheduled_for.as_second()
            && (seen.version, seen.origin) == (run.version, run.origin);
        if !is_same {
            self.complain(moment, format!("4: {} is not what it was: {run:?}", run.key));
        }
        let is_decided = seen.status != RunStatus::Scheduled;
        if seen.fire_at != run.fire_at && is_decided && self.grain == Grain::Fine {
            self.complain(moment, format!("6: {} fires at another time while {}", run.key, seen.status));
        }
        seen.fire_at = run.fire_at;
        self.follow_to(moment, seen, run);
    }

    /// Judges the way from one state to the next and remembers it.
    fn follow_to(&mut self, moment: Moment, mut seen: Seen, run: &Run) {
        let (before, now) = (seen.status, run.state.status());
        let is_possible = match self.grain {
            Grain::Fine => may_become(before, now),
            Grain::Coarse => !before.is_terminal() || now == before,
        };
        if !is_possible {
            self.complain(moment, format!("4: {} was {before} and is {now}", run.key));
        }
        let attempt = match run.state {
            RunState::Enqueued { attempt, since } | RunState::Running { attempt, since, .. } => {
                Some((attempt, since))
            }
            _ => None,
        };
        if let Some((attempt, since)) = attempt.filter(|(attempt, _)| *attempt > seen.attempt) {
            // Whoever has not heard yet that the clock was set back starts it by the old one.
            (seen.attempt, seen.started) = (attempt, Some(moment.db.max(since)));
            self.started(moment, &mut seen, run);
        }
        seen.status = now;
        // One that a later tick of the same batch has cancelled was in flight for others of that batch.
        if before.is_in_flight() || now.is_in_flight() || now == RunStatus::Cancelled {
            seen.flew = Some(moment.real);
        }
        if let Some(known) = self.schedules.get_mut(&seen.schedule) {
            if !now.is_in_flight() {
                known.in_flight.remove(&run.key);
            }
            let is_reached = !matches!(now, RunStatus::Scheduled | RunStatus::Waiting);
            if seen.origin == Origin::Tick && is_reached {
                known.reached = known.reached.max(seen.tick);
                known.reach_beyond(seen.tick);
            }
        }
        if now.is_terminal() && !before.is_terminal() {
            self.ended(moment, &seen, run);
            if before.is_in_flight() && self.grain == Grain::Fine {
                self.lead(run, now);
            }
        }
        self.runs.insert(run.key, seen);
    }

    /// Remembers who has to follow a run that ended.
    fn lead(&mut self, run: &Run, ended: RunStatus) {
        use punctual_plan::ChainOn;
        let Some(upstream) = self.schedules.get(&run.schedule).map(|known| known.present().number) else {
            return;
        };
        for (schedule, known) in &self.schedules {
            let Beat::After(followed, on) = known.present().beat else { continue };
            let is_meant = match on {
                ChainOn::Success => ended == RunStatus::Success,
                ChainOn::Failure => ended == RunStatus::Failed,
                ChainOn::Finish => matches!(ended, RunStatus::Success | RunStatus::Failed),
            };
            if followed == upstream && is_meant && known.standing != super::Standing::Deleted {
                self.to_follow.push(Following { schedule: *schedule, upstream: run.key });
            }
        }
    }
}

/// The run that a chained one follows, by its nonce.
fn upstream_of(nonce: &str) -> Option<RunKey> {
    nonce.strip_prefix("run-").and_then(|key| key.parse().ok()).map(RunKey)
}

/// The ways between two states.
fn may_become(before: RunStatus, now: RunStatus) -> bool {
    use RunStatus::{
        Cancelled, Enqueued, Failed, Missed, Retrying, Running, Scheduled, Skipped, Success, Waiting,
    };
    match before {
        Scheduled => !matches!(now, Retrying),
        Waiting => !matches!(now, Scheduled),
        Enqueued | Running => !matches!(now, Scheduled | Waiting | Skipped | Missed),
        Retrying => !matches!(now, Scheduled | Skipped | Missed),
        Success | Failed | Cancelled | Skipped | Missed => now == before,
    }
}
