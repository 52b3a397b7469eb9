//! Retention: old rows become digests that an audit of the ledger still accepts.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Origin, RunKey, RunStatus, ScheduleKey};

use super::data::Data;
use super::table::{RangeRecord, RunRecord};
use crate::stored::digest_end;
use crate::{Retained, Retention, to_microsecond};

/// Batches and answers are kept this long: nobody repeats a call after it.
const ANSWERS_KEPT: SignedDuration = SignedDuration::from_hours(1);

/// Requests with a key of their own are answered alike for a day.
const REQUESTS_KEPT: SignedDuration = SignedDuration::from_hours(24);

/// Neighbouring ticks that go, gathered.
struct Digest {
    first: Timestamp,
    last: Timestamp,
    count: u64,
    counts: BTreeMap<&'static str, (RunStatus, u64)>,
    version: i64,
}

/// Whether a row is among the newest that its schedule keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Within,
    Beyond,
}

/// A step with what is left of its bound.
struct Step {
    retention: Retention,
    now: Timestamp,
    left: usize,
    is_more: bool,
}

impl Step {
    /// Whether a tick is so old that its row may go.
    fn is_past(&self, tick: Timestamp) -> bool {
        self.is_older(tick, self.retention.runs.min(self.retention.failures))
    }

    fn is_older(&self, at: Timestamp, kept: SignedDuration) -> bool {
        self.now.duration_since(at) > kept
    }
}

impl Data {
    pub(super) fn retain(&mut self, retention: Retention, now: Timestamp) -> Retained {
        let mut step = Step { retention, now, left: retention.limit, is_more: false };
        let mut retained = Retained::default();
        for schedule in self.schedules_to_retain(&step) {
            retained.runs += self.retain_schedule(schedule, &mut step);
        }
        retained.events = self.retain_events(&mut step);
        retained.is_more = step.is_more;
        // Runs name their node, so a node is known as long as they are.
        let longest = retention.runs.max(retention.failures);
        self.nodes.retain(|_, node| now.duration_since(node.lease_until) <= longest);
        self.forget_answers(now);
        self.requests.retain(|_, request| now.duration_since(request.at) <= REQUESTS_KEPT);
        let unread = |at: Timestamp| now.duration_since(at) <= retention.runs;
        self.outbox.retain(|_, message| unread(message.at));
        let left = &self.outbox;
        self.outbox_positions.retain(|_, seq| left.contains_key(seq));
        retained
    }

    /// The schedules that may have a row which goes. Most have none most of the time, and looking at each costs a search.
    fn schedules_to_retain(&self, step: &Step) -> BTreeSet<ScheduleKey> {
        // Only what is old can go while all together are not too many for one schedule.
        if self.history.len() > step.retention.runs_per_schedule as usize {
            return self.schedules.keys().copied().collect();
        }
        let old = self.times.iter().take_while(|(tick, _)| step.is_past(*tick));
        old.filter_map(|(_, key)| Some(self.runs.get(key)?.schedule)).collect()
    }

    /// Forgets answers that nobody asks for again; all are looked at, so that is done now and then.
    fn forget_answers(&mut self, now: Timestamp) {
        if now.duration_since(self.answers_forgotten_at).abs() > ANSWERS_KEPT / 4 {
            self.answers_forgotten_at = now;
            self.batches.retain(|_, (at, _)| now.duration_since(*at) <= ANSWERS_KEPT);
        }
    }

    fn retain_schedule(&mut self, schedule: ScheduleKey, step: &mut Step) -> u64 {
        let from = (schedule, Timestamp::MIN, RunKey(i64::MIN));
        let all = || self.history.range(from..=(schedule, Timestamp::MAX, RunKey(i64::MAX)));
        // Those of one schedule are counted only where all together are too many for one.
        let kept = step.retention.runs_per_schedule as usize;
        let mut excess = if self.history.len() > kept { all().count().saturating_sub(kept) } else { 0 };
        let newest = excess;
        let is_candidate = |place: usize, tick: Timestamp| place < newest || step.is_past(tick);
        let rows = all().enumerate().take_while(|(place, (_, tick, _))| is_candidate(*place, *tick));
        let rows: Vec<RunKey> = rows.map(|(_, (_, _, key))| *key).collect();
        let (mut digest, mut gone): (Option<Digest>, u64) = (None, 0);
        for key in rows {
            let run = &self.runs[&key];
            let place = if excess > 0 { Place::Beyond } else { Place::Within };
            let goes = goes(run, step, place);
            excess = excess.saturating_sub(1);
            if run.origin == Origin::Tick {
                let run = run.clone();
                self.gather(&mut digest, &run, goes.then_some(step.now));
            }
            if goes {
                gone += 1;
                self.put_run(key, None);
                let attempts: Vec<_> =
                    self.attempts.range((key, 0)..=(key, u32::MAX)).map(|(place, _)| *place).collect();
                for place in attempts {
                    self.attempts.remove(&place);
                }
            }
        }
        self.write_digest(schedule, digest.take(), step.now);
        gone
    }

    /// Adds a tick that goes to the digest; one that stays, or that has another version, ends it.
    fn gather(&mut self, digest: &mut Option<Digest>, run: &RunRecord, goes_at: Option<Timestamp>) {
        let tick = run.scheduled_for;
        let fits = digest.as_ref().is_some_and(|digest| {
            let between = self.ranges.range((run.schedule, digest.last)..(run.schedule, tick)).next();
            goes_at.is_some() && digest.version == run.version && between.is_none()
        });
        if !fits {
            let at = goes_at.or(run.completed_at).unwrap_or(run.fire_at);
            self.write_digest(run.schedule, digest.take(), at);
        }
        if goes_at.is_some() {
            let (first, last, version) = (tick, tick, run.version);
            let digest = digest.get_or_insert_with(|| Digest {
                first,
                last,
                count: 0,
                counts: BTreeMap::new(),
                version,
            });
            digest.last = tick;
            digest.count += 1;
            digest.counts.entry(run.status.name()).or_insert((run.status, 0)).1 += 1;
        }
    }

    fn write_digest(&mut self, schedule: ScheduleKey, digest: Option<Digest>, now: Timestamp) {
        let Some(mut digest) = digest else { return };
        self.join_digests(schedule, &mut digest);
        let record = RangeRecord {
            last: digest.last,
            org: self.schedules[&schedule].org,
            count: digest.count,
            end: digest_end(),
            counts: Some(digest.counts.into_values().collect()),
            version: digest.version,
            recorded_at: to_microsecond(now),
        };
        self.ranges.insert((schedule, digest.first), record);
    }

    /// Takes over the digest just before it, if no tick stands between them.
    fn join_digests(&mut self, schedule: ScheduleKey, digest: &mut Digest) {
        let before = self.ranges.range((schedule, Timestamp::MIN)..(schedule, digest.first)).next_back();
        let Some((place, range)) = before else { return };
        let Some(counts) = range.counts.clone().filter(|_| range.version == digest.version) else { return };
        let between = (schedule, range.last, RunKey(i64::MAX))..(schedule, digest.first, RunKey(i64::MIN));
        let is_tick = |key: &RunKey| self.runs.get(key).is_some_and(|run| run.origin == Origin::Tick);
        if self.history.range(between).any(|(_, _, key)| is_tick(key)) {
            return;
        }
        let (place, first) = (*place, place.1);
        digest.count += if holds(Rule::DigestsCount) { range.count } else { 0 };
        for (status, count) in counts {
            digest.counts.entry(status.name()).or_insert((status, 0)).1 += count;
        }
        digest.first = first;
        self.ranges.remove(&place);
    }

    /// Removes the oldest events, and only sealed ones.
    fn retain_events(&mut self, step: &mut Step) -> u64 {
        let mut gone = 0;
        while let Some((seq, event)) = self.events.first_key_value() {
            let is_old = step.is_older(event.at, step.retention.audit);
            let is_sealed = self.sealed_seqs.contains_key(seq) || !holds(Rule::UnsealedStay);
            if !is_old || !is_sealed {
                break;
            }
            if step.left == 0 {
                step.is_more = true;
                break;
            }
            step.left -= 1;
            gone += 1;
            self.retained_through = *seq;
            self.events.pop_first();
        }
        gone
    }
}

/// Whether a row goes now; what the bound leaves for later is noted.
fn goes(run: &RunRecord, step: &mut Step, place: Place) -> bool {
    let is_failure = run.status == RunStatus::Failed && holds(Rule::FailuresStayLonger);
    let kept = if is_failure { step.retention.failures } else { step.retention.runs };
    let is_beyond = place == Place::Beyond && !is_failure;
    // A run of an old tick that was asked for lately counts from its end.
    let is_old = |at| step.is_older(at, kept);
    let is_past = is_old(run.scheduled_for) && run.completed_at.is_none_or(is_old);
    if !run.status.is_terminal() || !(is_beyond || is_past) {
        return false;
    }
    if step.left == 0 {
        step.is_more = true;
        return false;
    }
    step.left -= 1;
    true
}
