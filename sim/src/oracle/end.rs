//! Ends: whether a run that was not run, or is over, had a reason that holds.

use std::time::Duration;

use jiff::Timestamp;
use punctual_plan::{Origin, Reason, Run, RunKey, RunStatus};

use super::known::Seen;
use super::{Grain, Moment, Oracle, Spent};

impl Oracle {
    /// A run came to its end.
    pub(super) fn ended(&mut self, moment: Moment, seen: &Seen, run: &Run) {
        let status = run.state.status();
        let mut wrong = Vec::new();
        let is_unlaunched = matches!(status, RunStatus::Skipped | RunStatus::Missed);
        let instant = Timestamp::from_second(seen.tick).unwrap_or(seen.fire_at).min(seen.fire_at);
        // What was decided before the clock was set back stays decided: its instant has come.
        let known = self.schedules.get(&seen.schedule);
        let come = known.map_or(moment.db, |known| moment.db.max(known.decided_through));
        let early = instant.duration_since(come);
        if is_unlaunched && early > self.rhythm.early_max() && !self.is_stepped(moment) {
            wrong.push("6: it ended ahead of its instant".to_owned());
        }
        match (status, run.state.reason()) {
            (RunStatus::Success, _) => {}
            (_, None) => wrong.push("1: it has no reason".to_owned()),
            _ if self.grain == Grain::Coarse => {}
            (RunStatus::Skipped, Some(Reason::MaxRuns { max })) => {
                self.spent.push(Spent { schedule: seen.schedule, run: run.key, max: *max });
            }
            (RunStatus::Missed, Some(reason)) => wrong.extend(self.missed(moment, seen, reason)),
            (RunStatus::Skipped, Some(reason)) => wrong.extend(self.skipped(moment, seen, reason)),
            _ => {}
        }
        if run.state.reason().is_some_and(|reason| reason.to_string().is_empty()) {
            wrong.push("12: its reason says nothing".to_owned());
        }
        for what in wrong {
            let said = run.state.reason().map(ToString::to_string).unwrap_or_default();
            let number = self.schedules.get(&seen.schedule).map_or(0, |known| known.present().number);
            self.complain(
                moment,
                format!("{what} ({} of s{number:02}, tick {}, {status}: {said})", run.key, run.scheduled_for),
            );
        }
    }

    /// Judges what was skipped because all runs of its schedule have been, when every start of the batch that says so was heard
    /// of: one that a later tick of the batch has cancelled is not seen in flight.
    pub(super) fn judge_spent(&mut self, moment: Moment) {
        for Spent { schedule, run, max } in std::mem::take(&mut self.spent) {
            let Some(known) = self.schedules.get(&schedule) else { continue };
            let (admitted, number) = (known.admitted, known.present().number);
            if admitted < max {
                let what =
                    format!("1: only {admitted} of {max} runs of s{number:02} were admitted before {run}");
                self.complain(moment, what);
            }
        }
    }

    /// Only what no living node has looked at in time is missed, and what was paused.
    fn missed(&self, moment: Moment, seen: &Seen, reason: &Reason) -> Option<String> {
        let known = self.schedules.get(&seen.schedule)?;
        let is_outage = matches!(
            reason,
            Reason::Outage { .. }
                | Reason::Overtaken { .. }
                | Reason::CaughtUp { .. }
                | Reason::CatchUpLimit { .. }
        );
        // Whoever has not heard that it comes finds it by a look of its own, when the next one may be due as well.
        let is_unheard = matches!(reason, Reason::Overtaken { .. } | Reason::CaughtUp { .. })
            && moment.db.duration_since(known.said_at) <= self.rhythm.late_max();
        let is_explained = !self.is_calm(moment) || seen.tick <= known.resumed_through || is_unheard;
        (is_outage && !is_explained).then(|| "L1: it is missed and nothing was wrong".to_owned())
    }

    fn skipped(&self, moment: Moment, seen: &Seen, reason: &Reason) -> Option<String> {
        let known = self.schedules.get(&seen.schedule)?;
        let window = match seen.origin {
            Origin::Tick => known.suppressed(&self.walls, seen.version, seen.tick),
            _ => Vec::new(),
        };
        match reason {
            Reason::OutsideWindow { .. } | Reason::NotOn { .. } => {
                (!window.contains(&reason.code())).then(|| format!("1: only {window:?} suppress it"))
            }
            Reason::Overlap { run } | Reason::Guard { run, .. } => {
                (!self.flew_lately(moment, *run)).then(|| format!("13: {run} was not in flight"))
            }
            Reason::StartDeadline { limit_s, .. } => {
                let tick = Timestamp::from_second(seen.tick).unwrap_or(moment.db);
                let late = moment.db.duration_since(tick) + self.rhythm.early_max();
                let is_in_time = late.as_secs() < *limit_s && !self.is_stepped(moment);
                is_in_time.then(|| format!("6: it was only {} s late", late.as_secs()))
            }
            _ => None,
        }
    }

    /// Whether a run was in flight when a decision that is written now can have been made.
    fn flew_lately(&self, moment: Moment, run: RunKey) -> bool {
        let Some(seen) = self.runs.get(&run) else { return false };
        let patience = self.rhythm.calm_after() + Duration::from_secs(10);
        seen.status.is_in_flight()
            || seen.flew.is_some_and(|flew| moment.real.saturating_sub(flew) <= patience)
    }
}
