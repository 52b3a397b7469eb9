//! Starts: whether a run that was admitted may have been.

use punctual_plan::{Origin, Run, RunKey, RunStatus};

use super::known::{Known, Seen, Turn, floor};
use super::{Grain, Moment, Oracle, Standing};
use crate::sketch::Sketch;
use crate::wall::Stretch;

impl Oracle {
    /// A run was admitted: it fires.
    pub(super) fn started(&mut self, moment: Moment, seen: &mut Seen, run: &Run) {
        self.starts += 1;
        let Some(known) = self.schedules.get_mut(&seen.schedule) else { return };
        let present = std::sync::Arc::clone(known.present());
        let is_first = seen.attempt == 1;
        let is_planned = seen.origin != Origin::Manual;
        let takes_turns = present.is_exclusive() && !seen.is_forced;
        let is_fine = self.grain == Grain::Fine;
        let mut wrong = if is_fine { not_to_start(known, seen) } else { Vec::new() };
        let others =
            known.in_flight.iter().filter(|(other, turn)| **other != run.key && **turn == Turn::Takes);
        if let Some((other, _)) = others.take(1).next().filter(|_| takes_turns) {
            wrong.push(format!(
                "13: it starts beside {other} of its schedule under {}",
                present.policy.overlap
            ));
        }
        // What may run beside others claims nothing that would keep them out.
        known.in_flight.insert(run.key, if takes_turns { Turn::Takes } else { Turn::Beside });
        if is_first && is_planned && is_fine {
            known.admitted += 1;
            let max = present.max_runs.unwrap_or(u64::MAX);
            if known.admitted > max {
                wrong.push(format!("1: it is run {} of at most {max}", known.admitted));
            }
            if known.admitted == max {
                known.reached =
                    known.reached.max(if seen.origin == Origin::Tick { seen.tick } else { i64::MIN });
                known.close(enqueued_at(run).unwrap_or(moment.db));
            }
        }
        (seen.guard, seen.lane) = (present.policy.guard.clone(), present.policy.lane.clone());
        wrong.extend(self.held_by_another(seen, run.key, &present));
        wrong.extend(self.at_a_wrong_time(moment, seen, run));
        for what in wrong {
            let tick = run.scheduled_for;
            self.complain(
                moment,
                format!(
                    "{what} ({} of s{:02}, {} {tick}, attempt {})",
                    run.key, present.number, seen.origin, seen.attempt
                ),
            );
        }
    }

    /// Guards and shared lanes have one holder.
    fn held_by_another(&self, seen: &Seen, key: RunKey, present: &Sketch) -> Vec<String> {
        if seen.guard.is_none() && seen.lane.is_none() {
            return Vec::new();
        }
        let in_flight = self.schedules.values().flat_map(|known| known.in_flight.iter());
        let others = in_flight.filter(|(other, _)| **other != key);
        let mut wrong = Vec::new();
        for (other, turn) in others {
            let Some(other_seen) = self.runs.get(other) else { continue };
            if seen.guard.is_some() && seen.guard == other_seen.guard {
                wrong.push(format!(
                    "13: {other} holds the guard `{}`",
                    seen.guard.as_deref().unwrap_or_default()
                ));
            }
            let takes_turns = present.is_exclusive() && !seen.is_forced && *turn == Turn::Takes;
            if seen.lane.is_some() && seen.lane == other_seen.lane && takes_turns {
                wrong.push(format!(
                    "13: {other} is in the lane `{}`",
                    seen.lane.as_deref().unwrap_or_default()
                ));
            }
        }
        wrong
    }

    /// A tick that is armed ahead fires within its jitter, between the midpoints to its neighbours.
    pub(super) fn fires_off(&self, moment: Moment, seen: &Seen) -> Option<String> {
        let known = self.schedules.get(&seen.schedule)?;
        let sketch = known.sketches.get(&seen.version)?;
        let is_ahead = seen.origin == Origin::Tick && seen.tick > floor(moment.db) + 1;
        if !is_ahead || sketch.is_floating() || self.is_stepped(moment) {
            return None;
        }
        let max = sketch.policy.jitter.max.as_millis();
        let off = i128::from(seen.fire_at.as_millisecond()) - i128::from(seen.tick) * 1_000;
        let far = 2 * i64::try_from(max / 1_000 + 1).unwrap_or(i64::MAX / 4);
        let stretch = match off < 0 {
            true => Stretch { after: seen.tick - far - 1, through: seen.tick - 1 },
            false => Stretch { after: seen.tick, through: seen.tick + far },
        };
        let neighbours = sketch.ticks(self.walls.of(sketch, known.rules_at(seen.tick)), known.made, stretch);
        let neighbour = if off < 0 { neighbours.last() } else { neighbours.first() };
        let half = neighbour.map_or(max, |tick| i128::from((tick - seen.tick).abs()) * 500);
        (off.abs() > max.min(half) + 1).then(|| format!("6: it would fire {off} ms from its tick"))
    }

    /// Never early, never after its deadline, and not late without a reason.
    fn at_a_wrong_time(&self, moment: Moment, seen: &Seen, run: &Run) -> Vec<String> {
        let mut wrong = Vec::new();
        if seen.attempt > 1 || self.is_stepped(moment) || self.grain == Grain::Coarse {
            return wrong;
        }
        if moment.db < seen.fire_at && seen.fire_at.duration_since(moment.db) > self.rhythm.early_max() {
            wrong.push(format!("6: it was to fire at {}", seen.fire_at));
        }
        let Some(known) = self.schedules.get(&seen.schedule) else { return wrong };
        let present = known.present();
        let deadline = present.policy.start_deadline.filter(|_| seen.origin != Origin::Manual);
        let late = moment.db.duration_since(seen.fire_at);
        let since = moment.db.duration_since(run.scheduled_for);
        // A decision may be on its way to the database for as long as its lease holds.
        let on_its_way = self.rhythm.lease + self.rhythm.late_max();
        if deadline.is_some_and(|limit| since > limit + on_its_way) {
            wrong.push(format!("6: it starts {} s after its tick, past its start deadline", since.as_secs()));
        }
        let decided = enqueued_at(run).map(|at| at.duration_since(run.scheduled_for));
        if let (Some(limit), Some(decided)) = (deadline, decided)
            && decided > limit + self.rhythm.early_max()
        {
            wrong.push(format!(
                "6: it was let start {} ms after its tick, past its start deadline",
                decided.as_millis()
            ));
        }
        let is_plain = seen.status == RunStatus::Scheduled && run.waited.is_none();
        if is_plain && self.is_calm(moment) && late > self.rhythm.late_max() {
            wrong.push(format!("L1: it is {} ms late and nothing was wrong", late.as_millis()));
        }
        let is_tick = seen.origin == Origin::Tick;
        if is_tick && !known.suppressed(&self.walls, seen.version, seen.tick).is_empty() {
            wrong.push("1: a window suppresses its tick".to_owned());
        }
        wrong
    }
}

/// What of the schedule's standing forbids the start.
fn not_to_start(known: &Known, seen: &Seen) -> Vec<String> {
    let mut wrong = Vec::new();
    let is_first = seen.attempt == 1;
    if known.standing == Standing::Deleted {
        wrong.push("6: its schedule was deleted before".to_owned());
    }
    let is_asked_for = is_first && seen.origin == Origin::Manual;
    if known.standing == Standing::Left && !is_asked_for {
        wrong.push("6: its schedule was paused before".to_owned());
    }
    if seen.origin != Origin::Tick || !is_first {
        return wrong;
    }
    if seen.version != known.version {
        wrong.push(format!("6: it is of version {} and version {} is valid", seen.version, known.version));
    }
    let since = known.valid_after;
    if seen.tick <= since {
        wrong.push(format!("7: its version became valid at second {since}, after its tick"));
    }
    wrong
}

fn enqueued_at(run: &Run) -> Option<jiff::Timestamp> {
    match run.state {
        punctual_plan::RunState::Enqueued { since, .. } => Some(since),
        _ => None,
    }
}
