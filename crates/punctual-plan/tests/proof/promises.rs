//! The promises, held against what a simulation left behind.
//!
//! Nothing here asks the planner: the ticks come from the spec's own walk, what ran from the attempts, and what people
//! did from the scenario. Each broken promise is a sentence that begins with its number.

use std::collections::BTreeMap;

use jiff::Timestamp;
use punctual_plan::{
    Account, Act, CatchUp, Event, Origin, Run, RunStatus, Scenario, Simulated, Status, Version,
};
use punctual_time::{Anchor, Spec, Timing};

#[path = "exclusive.rs"]
mod exclusive;

/// What was looked at, and what did not hold.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Ticks whose entry was looked for.
    pub(crate) ticks: u64,
    /// Sentences about what is wrong; empty if everything holds.
    pub(crate) broken: Vec<String>,
}

/// Looks at everything.
pub(crate) fn check(scenario: &Scenario, simulated: &Simulated) -> Verdict {
    let mut verdict = Verdict::default();
    for (place, account) in simulated.accounts.iter().enumerate() {
        let case =
            Case { scenario, simulated, account, starts_at_once: scenario.schedules[place].starts_at_once };
        case.accounted(&mut verdict);
        case.once(&mut verdict);
        case.never_early(&mut verdict);
        case.never_after(&mut verdict);
        case.never_retroactive(&mut verdict);
        case.no_more_than_max(&mut verdict);
    }
    exclusive::check(simulated, &mut verdict.broken);
    verdict
}

struct Case<'a> {
    scenario: &'a Scenario,
    simulated: &'a Simulated,
    account: &'a Account,
    starts_at_once: bool,
}

/// Whether the ticks hang on the runs, so that no walk knows them ahead.
fn is_floating(timing: &Timing) -> bool {
    matches!(timing.spec, Spec::Every(_)) && timing.anchor != Anchor::Fixed
}

impl Case<'_> {
    fn name(&self) -> &str {
        &self.account.schedule().name
    }

    fn tick_rows(&self) -> impl Iterator<Item = &Run> {
        self.account.runs.iter().filter(|run| run.origin == Origin::Tick)
    }

    /// How far the ledger must reach: now, but for nodes that are down and schedules that make no runs.
    fn through(&self) -> Timestamp {
        let now = self.simulated.through;
        let down = self.scenario.outages.iter().find(|outage| outage.from <= now && outage.to > now);
        let looked = down.map_or(now, |outage| outage.from);
        // Who edits or resumes it looks at it too, node or not.
        let resumed = self.simulated.log.iter().rev().find(|logged| {
            logged.schedule == self.account.key
                && matches!(&logged.event, Event::Changed { what } if what == "resumed")
        });
        let changed = self.account.versions.last().map(|version| version.since);
        let changed = changed.max(resumed.map(|logged| logged.at)).unwrap_or(now);
        match (&self.account.state.status, self.account.deleted_at) {
            (Status::Exhausted { at }, deleted) => deleted.map_or(*at, |deleted| deleted.min(*at)),
            (_, Some(deleted)) => deleted,
            (Status::Active, None) => looked.max(changed),
            // A pause is an open stretch until it is decided at resume.
            (_, None) => self.account.state.cursor.planned_through.min(now),
        }
    }

    /// When the last run that a version's `max_runs` lets through was admitted.
    fn spent_at(&self, version: &Version) -> Option<Timestamp> {
        let max = version.schedule.when.timing()?.bounds.max_runs?;
        let starts = self.account.runs.iter().filter(|run| run.origin == Origin::Tick);
        let mut starts: Vec<Timestamp> =
            starts.filter_map(|run| run.attempts.first()).map(|attempt| attempt.started_at).collect();
        starts.sort_unstable();
        match max {
            0 => Some(Timestamp::MIN),
            max => starts.get(max as usize - 1).copied(),
        }
    }

    /// Promises 1, 7 and 8: the ticks of each version's time, in their order, with one entry each and no other.
    fn accounted(&self, verdict: &mut Verdict) {
        let mut wanted = Vec::new();
        let versions = &self.account.versions;
        let mut after = versions[0].since;
        for (place, version) in versions.iter().enumerate() {
            let Some(timing) = version.schedule.when.timing() else { continue };
            if is_floating(timing) {
                return self.increasing(verdict);
            }
            let next = versions.get(place + 1).map_or(self.through(), |next| next.since);
            let end = self.spent_at(version).map_or(next, |spent| spent.max(version.since).min(next));
            // One that fired ahead of its instant belongs to the version that fired it.
            let early = self.tick_rows().filter(|run| run.version == version.schedule.version);
            let early = early
                .filter(|run| run.scheduled_for > end && !matches!(run.state.status(), RunStatus::Scheduled));
            let end = early.map(|run| run.scheduled_for).max().map_or(end, |early| early.max(end));
            let mut free = timing.clone();
            free.bounds.max_runs = None;
            let from = after.max(version.since);
            wanted.extend(
                free.ticks((core::ops::Bound::Excluded(from), core::ops::Bound::Included(end)))
                    .map(|tick| tick.at),
            );
            after = end;
        }
        verdict.ticks += wanted.len() as u64;
        self.compare(&wanted, &mut verdict.broken);
    }

    fn compare(&self, wanted: &[Timestamp], broken: &mut Vec<String>) {
        let mut entries: BTreeMap<Timestamp, usize> = BTreeMap::new();
        let first = self.account.versions[0].since;
        for run in self.tick_rows() {
            let is_first_start = self.starts_at_once && run.scheduled_for <= first;
            let is_ahead = run.state.status() == RunStatus::Scheduled;
            let is_wanted = wanted.binary_search(&run.scheduled_for).is_ok();
            if !is_first_start && (is_wanted || !is_ahead) {
                *entries.entry(run.scheduled_for).or_insert(0) += 1;
            }
        }
        for record in &self.account.ranges {
            let range = &record.range;
            let from = wanted.partition_point(|tick| *tick < range.first);
            let to = wanted.partition_point(|tick| *tick <= range.last);
            if (to - from) as u64 != range.count {
                broken.push(format!(
                    "1: {} counts {} ticks in {range:?}, there are {}",
                    self.name(),
                    range.count,
                    to - from
                ));
            }
            wanted[from..to].iter().for_each(|tick| *entries.entry(*tick).or_insert(0) += 1);
        }
        let missing = wanted.iter().filter(|tick| !entries.contains_key(tick)).take(3);
        broken.extend(missing.map(|tick| format!("1: {} has no entry for {tick}", self.name())));
        for (tick, count) in &entries {
            if wanted.binary_search(tick).is_err() {
                broken.push(format!(
                    "1: {} has an entry for {tick}, which is no tick of its time",
                    self.name()
                ));
            }
            if *count > 1 {
                broken.push(format!("2: {} has {count} entries for {tick}", self.name()));
            }
        }
    }

    /// Where each tick hangs on the run before it: no instant twice, none in another's range.
    fn increasing(&self, verdict: &mut Verdict) {
        let mut spans: Vec<(Timestamp, Timestamp)> =
            self.tick_rows().map(|run| (run.scheduled_for, run.scheduled_for)).collect();
        spans.extend(self.account.ranges.iter().map(|record| (record.range.first, record.range.last)));
        spans.sort_unstable();
        verdict.ticks += spans.len() as u64;
        for pair in spans.windows(2).filter(|pair| pair[0].1 >= pair[1].0) {
            verdict.broken.push(format!(
                "2: {} has {} and {} entries for one instant",
                self.name(),
                pair[0].1,
                pair[1].0
            ));
        }
    }

    /// Promise 2: at most one row per tick, and per request or upstream run.
    fn once(&self, verdict: &mut Verdict) {
        let mut keys: Vec<_> =
            self.account.runs.iter().map(|run| (run.scheduled_for, run.origin.name(), &run.nonce)).collect();
        keys.sort_unstable();
        let doubled = keys.windows(2).filter(|pair| pair[0] == pair[1]);
        verdict
            .broken
            .extend(doubled.map(|pair| format!("2: {} has two rows for {:?}", self.name(), pair[0])));
    }

    /// Promise 6, first half: no attempt before its instant, no two attempts of a run at once, none ended ahead.
    fn never_early(&self, verdict: &mut Verdict) {
        for run in &self.account.runs {
            let at = |what: &str| format!("6: {} {} of {} {what}", self.name(), run.key, run.scheduled_for);
            if run.attempts.first().is_some_and(|attempt| attempt.started_at < run.fire_at) {
                verdict.broken.push(at("started before it was to fire"));
            }
            let follows = |pair: &[punctual_plan::Attempt]| {
                pair[0].ended_at.is_some_and(|end| end <= pair[1].started_at)
            };
            if !run.attempts.windows(2).all(follows) {
                verdict.broken.push(at("has attempts side by side"));
            }
        }
        for record in self.account.ranges.iter().filter(|record| record.range.last > record.recorded_at) {
            verdict.broken.push(format!("1: {} wrote a range that ends ahead: {record:?}", self.name()));
        }
    }

    /// The stretches in which the schedule must not start anything of its own.
    fn silences(&self) -> Vec<(Timestamp, Timestamp)> {
        let id = self.account.schedule().id;
        let mut silences = Vec::new();
        let mut since = None;
        for edit in
            self.scenario.edits.iter().filter(|edit| edit.schedule == id && edit.at <= self.simulated.through)
        {
            match (&edit.act, since) {
                (Act::Leave(_) | Act::Maintain { .. } | Act::Delete | Act::RemoveOwner, None) => {
                    since = Some(edit.at);
                }
                (Act::Resume, Some(from))
                    if self.account.deleted_at.is_none_or(|deleted| deleted > edit.at) =>
                {
                    silences.push((from, edit.at));
                    since = None;
                }
                _ => {}
            }
        }
        silences.extend(since.map(|from| (from, Timestamp::MAX)));
        silences
    }

    /// Promises 6 and 7: nothing starts while a schedule is silent, nor by a version that an edit has ended.
    fn never_after(&self, verdict: &mut Verdict) {
        let versions = &self.account.versions;
        let silences = self.silences();
        let is_valid = |status: &Status| !matches!(status, Status::PausedInvalid { .. });
        let can_say = is_valid(&self.account.state.status) && !self.ends_by_edit();
        for run in self.account.runs.iter().filter(|run| run.origin != Origin::Manual) {
            let at = |what: String| format!("6: {} {} of {} {what}", self.name(), run.key, run.scheduled_for);
            for attempt in &run.attempts {
                let silent = silences
                    .iter()
                    .find(|(from, to)| *from <= attempt.started_at && attempt.started_at < *to);
                if let Some((from, _)) = silent.filter(|_| can_say) {
                    verdict.broken.push(at(format!("starts at {}, silent since {from}", attempt.started_at)));
                }
            }
            let ended = versions.iter().find(|version| version.schedule.version > run.version);
            let first = run.attempts.first().map(|attempt| attempt.started_at);
            if let (Some(ended), Some(first), Origin::Tick) = (ended, first, run.origin)
                && first >= ended.since
            {
                verdict.broken.push(at(format!("starts at {first}, its version ended at {}", ended.since)));
            }
        }
    }

    /// Promise 7: under `skip` nothing of a paused stretch ever runs, neither before resuming nor after. A tick that
    /// its jitter lets fire only after resuming was not missed: it is ahead of its instant.
    fn never_retroactive(&self, verdict: &mut Verdict) {
        for (from, to) in self.silences().into_iter().filter(|(_, to)| *to < Timestamp::MAX) {
            let policy = &self.account.version_at(to).schedule.policy;
            let in_pause = |run: &&Run| from < run.scheduled_for && run.scheduled_for <= to;
            let has_run = |run: &&Run| {
                let is_ahead = run.fire_at > to;
                !is_ahead && run.attempts.first().is_some_and(|attempt| attempt.started_at >= from)
            };
            let is_skip = policy.catch_up == CatchUp::Skip && !self.ends_by_edit();
            let wrong = self.tick_rows().filter(in_pause).filter(has_run).filter(|_| is_skip);
            let said =
                |run: &Run| format!("7: {} ran {}, a tick of its pause", self.name(), run.scheduled_for);
            verdict.broken.extend(wrong.map(said));
        }
    }

    /// No more ticks were admitted than `max_runs` lets.
    fn no_more_than_max(&self, verdict: &mut Verdict) {
        let [version] = self.account.versions.as_slice() else { return };
        let max = version.schedule.when.timing().and_then(|timing| timing.bounds.max_runs);
        let admitted = self.tick_rows().filter(|run| !run.attempts.is_empty()).count() as u64;
        if max.is_some_and(|max| admitted > max) {
            verdict.broken.push(format!("{} has had {admitted} runs of {max:?}", self.name()));
        }
    }

    /// Whether an edit may have ended a silence: it clears what made a schedule invalid.
    fn ends_by_edit(&self) -> bool {
        let is_invalid =
            |act: &Act| matches!(act, Act::Leave(Status::PausedInvalid { .. } | Status::Exhausted { .. }));
        self.scenario.edits.iter().any(|edit| is_invalid(&edit.act))
    }
}
