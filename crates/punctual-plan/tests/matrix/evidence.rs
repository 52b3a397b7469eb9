//! Evidence: a cell shows what its coordinates name, or it proves nothing.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{CatchUp, Overlap, Run, RunStatus, Simulated, Wait};

use crate::cell::{CATCH_UP_MAX, Cell, Night, zone};

/// What a cell should show and does not, as sentences.
pub(crate) fn lacking(cell: &Cell, simulated: &Simulated) -> Vec<String> {
    let scene = Scene { cell, runs: &simulated.accounts[0].runs };
    let mut lacking = Vec::new();
    if !scene.shows_overlap() {
        lacking.push("nothing in it meets its overlap policy".to_owned());
    }
    if !scene.shows_catch_up() {
        lacking.push("nothing in it is decided by its catch-up policy".to_owned());
    }
    if !scene.shows_window() {
        lacking
            .push("its window suppresses nothing, or not both at its instant and in the outage".to_owned());
    }
    let wanted = scene.wanted();
    let recorded: Vec<Timestamp> = scene.runs.iter().map(|run| run.scheduled_for).collect();
    if recorded != wanted {
        lacking.push(format!("its ticks are {recorded:?}, by the oracle {wanted:?}"));
    }
    if !scene.shows_night(&wanted) {
        lacking.push("its clock change is not in it".to_owned());
    }
    lacking
}

struct Scene<'a> {
    cell: &'a Cell,
    runs: &'a [Run],
}

impl Scene<'_> {
    fn has(&self, status: RunStatus, code: &str) -> bool {
        let is_so = |run: &&Run| run.state.reason().is_some_and(|reason| reason.code() == code);
        self.runs.iter().any(|run| run.state.status() == status && is_so(&run))
    }

    fn intervals(&self) -> Vec<(Timestamp, Timestamp)> {
        let attempts = self.runs.iter().flat_map(|run| &run.attempts);
        let mut intervals: Vec<_> = attempts
            .map(|attempt| (attempt.started_at, attempt.ended_at.unwrap_or(Timestamp::MAX)))
            .collect();
        intervals.sort_unstable();
        intervals
    }

    fn shows_overlap(&self) -> bool {
        let waited = |run: &Run| {
            let for_turn = |waited: &punctual_plan::Waiting| matches!(waited.wait, Wait::Turn { .. });
            run.waited.as_ref().is_some_and(for_turn) && run.state.status() == RunStatus::Success
        };
        match self.cell.overlap {
            Overlap::Skip => self.has(RunStatus::Skipped, "overlap"),
            Overlap::Queue => self.runs.iter().any(waited),
            Overlap::Cancel => self.has(RunStatus::Cancelled, "cancelled"),
            Overlap::Allow => self.intervals().windows(2).any(|pair| pair[0].1 > pair[1].0),
        }
    }

    fn shows_catch_up(&self) -> bool {
        let outage = self.cell.outage();
        let is_late =
            |run: &&Run| (outage.from..outage.to).contains(&run.scheduled_for) && run.fire_at >= outage.to;
        let fired: Vec<Timestamp> = self.runs.iter().filter(is_late).map(|run| run.fire_at).collect();
        let all = fired.len() == CATCH_UP_MAX as usize && self.has(RunStatus::Missed, "catch_up_limit");
        match self.cell.catch_up {
            CatchUp::Skip => fired.is_empty() && self.has(RunStatus::Missed, "outage"),
            CatchUp::RunOnce => fired == [outage.to] && self.has(RunStatus::Missed, "caught_up"),
            CatchUp::RunAll => all && fired.iter().all(|fire_at| *fire_at == outage.to),
            CatchUp::Spread => all && fired.windows(2).all(|pair| pair[0] < pair[1]),
        }
    }

    /// Both a tick that was skipped at its instant and one that was skipped when the outage was over.
    fn shows_window(&self) -> bool {
        let Some(code) = self.cell.window.code() else {
            let codes = ["outside_window", "not_on", "quiet_hours", "calendar"];
            return !codes.iter().any(|code| self.has(RunStatus::Skipped, code));
        };
        let outage = self.cell.outage();
        let is_suppressed = |run: &&Run| {
            run.state.status() == RunStatus::Skipped
                && run.attempts.is_empty()
                && run.state.reason().is_some_and(|reason| reason.code() == code)
        };
        let suppressed = || self.runs.iter().filter(is_suppressed);
        let in_outage = |run: &Run| (outage.from..outage.to).contains(&run.scheduled_for);
        suppressed().any(in_outage) && !suppressed().all(in_outage)
    }

    /// The ticks by the calendar alone: each local time once, in the gap its end, in the fold its first pass.
    fn wanted(&self) -> Vec<Timestamp> {
        let (zone, [evening, morning]) = (zone(), self.cell.night.dates());
        let hours = [(evening, 23)].into_iter().chain((0..=5).map(|hour| (morning, hour)));
        let locals = hours.flat_map(|(date, hour)| [0, 20, 40].map(|minute| date.at(hour, minute, 0, 0)));
        let instant = |local: jiff::civil::DateTime| {
            let ambiguous = zone.to_ambiguous_timestamp(local);
            match ambiguous.offset() {
                jiff::tz::AmbiguousOffset::Gap { .. } => {
                    let after = ambiguous.later().expect("an instant") + SignedDuration::from_secs(1);
                    zone.preceding(after).next().expect("the clock change").timestamp()
                }
                _ => ambiguous.earlier().expect("an instant"),
            }
        };
        let mut wanted: Vec<Timestamp> = locals.map(instant).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    /// The change is inside the outage, and the ticks around it lie as it makes them.
    fn shows_night(&self, wanted: &[Timestamp]) -> bool {
        let outage = self.cell.outage();
        let change = zone().following(outage.from).next().map(|change| change.timestamp());
        let change = change.filter(|change| *change < outage.to);
        let is_moved = |change| wanted.contains(&change) && wanted.len() == 21 - 3;
        let minutes = |pair: &[Timestamp]| pair[1].duration_since(pair[0]).as_mins();
        let is_long = wanted.windows(2).any(|pair| minutes(pair) == 80);
        match self.cell.night {
            Night::Plain => change.is_none() && wanted.windows(2).all(|pair| minutes(pair) == 20),
            Night::Gap => change.is_some_and(is_moved),
            Night::Fold => change.is_some() && is_long && wanted.len() == 21,
        }
    }
}
