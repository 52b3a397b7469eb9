//! What the program says afterwards, and questions about it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// A run as `runs` shows it.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) schedule: String,
    pub(crate) origin: String,
    pub(crate) tick: Timestamp,
    pub(crate) fire_at: Timestamp,
    pub(crate) status: String,
    pub(crate) reason: String,
    pub(crate) attempt: u64,
    /// When it was admitted, which is what limits and anchors count by.
    pub(crate) enqueued_at: Option<Timestamp>,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) completed_at: Option<Timestamp>,
}

impl Run {
    fn read(run: &Value) -> Self {
        let text = |key: &str| run[key].as_str().unwrap_or_default().to_owned();
        let time = |key: &str| run[key].as_str().map(|text| text.parse().expect("a time"));
        Self {
            schedule: text("schedule_name"),
            origin: text("origin"),
            tick: time("scheduled_for").expect("a tick"),
            fire_at: time("fire_at").expect("an instant"),
            status: text("status"),
            reason: text("reason"),
            attempt: run["attempt"].as_u64().unwrap_or_default(),
            enqueued_at: time("enqueued_at"),
            started_at: time("started_at"),
            completed_at: time("completed_at"),
        }
    }

    /// How far from its tick it was to fire.
    pub(crate) fn moved(&self) -> SignedDuration {
        self.fire_at.duration_since(self.tick)
    }

    /// How long after its tick it was admitted.
    pub(crate) fn late(&self) -> Option<SignedDuration> {
        Some(self.enqueued_at?.duration_since(self.tick))
    }

    pub(crate) fn is(&self, status: &str, reason: &str) -> bool {
        self.status == status && self.reason == reason
    }
}

/// Reads the answer of `runs`, by tick.
pub(crate) fn runs(answer: &Value) -> Vec<Run> {
    let mut runs: Vec<Run> = answer["runs"].as_array().expect("a list").iter().map(Run::read).collect();
    runs.sort_by_key(|run| (run.tick, run.started_at));
    runs
}

/// Everything at the end, and the runs as they were before the outage.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) runs: Vec<Run>,
    pub(crate) before: Vec<Run>,
    /// By schedule; those that were deleted are not there.
    pub(crate) statuses: BTreeMap<String, String>,
    /// Kinds and sentences of the audit log, by schedule.
    pub(crate) events: BTreeMap<String, Vec<(String, String)>>,
    /// The moves of one breaker, oldest first.
    pub(crate) moves: Vec<String>,
    /// The second server was ready.
    pub(crate) restarted_at: Timestamp,
}

impl Seen {
    pub(crate) fn of(&self, schedule: &str) -> Vec<&Run> {
        self.runs.iter().filter(|run| run.schedule == schedule).collect()
    }

    pub(crate) fn count(&self, schedule: &str, status: &str, reason: &str) -> usize {
        self.of(schedule).iter().filter(|run| run.is(status, reason)).count()
    }

    /// Whether a schedule has no run of this state.
    pub(crate) fn never(&self, schedule: &str, status: &str) -> bool {
        self.of(schedule).iter().all(|run| run.status != status)
    }

    /// Whether all its runs that ended did so in one way.
    pub(crate) fn only(&self, schedule: &str, status: &str, reason: &str) -> bool {
        let ended = |run: &&&Run| run.status != "scheduled" && run.status != "waiting";
        self.count(schedule, status, reason) > 0
            && self.of(schedule).iter().filter(ended).all(|run| run.is(status, reason))
    }

    /// Runs that started, by their start.
    pub(crate) fn started(&self, schedules: &[&str]) -> Vec<&Run> {
        let is_meant = |run: &&Run| schedules.contains(&run.schedule.as_str()) && run.started_at.is_some();
        let mut runs: Vec<&Run> = self.runs.iter().filter(is_meant).collect();
        runs.sort_by_key(|run| run.started_at);
        runs
    }

    /// Whether no two of their runs were going on at once.
    pub(crate) fn is_exclusive(&self, schedules: &[&str]) -> bool {
        let runs = self.started(schedules);
        runs.len() > 1
            && runs
                .windows(2)
                .all(|two| two[0].completed_at.is_some_and(|end| Some(end) <= two[1].started_at))
    }

    /// Runs that were admitted at least a second after their tick.
    pub(crate) fn late(&self, schedule: &str) -> Vec<&Run> {
        let is_late = |run: &&Run| run.late().is_some_and(|late| late >= SignedDuration::from_secs(1));
        self.of(schedule).into_iter().filter(is_late).collect()
    }

    pub(crate) fn status(&self, schedule: &str) -> &str {
        self.statuses.get(schedule).map_or("", String::as_str)
    }

    /// How many events of a kind a schedule has.
    pub(crate) fn events(&self, schedule: &str, kind: &str) -> usize {
        self.events.get(schedule).map_or(0, |events| events.iter().filter(|event| event.0 == kind).count())
    }

    /// What became of a schedule, for whoever reads a failure.
    pub(crate) fn story(&self, schedule: &str) -> String {
        let mut said = format!("  {schedule} is {}\n", self.status(schedule));
        for run in self.of(schedule).into_iter().filter(|run| run.status != "scheduled") {
            let Run { origin, tick, fire_at, status, reason, attempt, started_at, completed_at, .. } = run;
            said += &format!(
                "    {origin} {tick} fire {fire_at} {status}/{reason} #{attempt} {started_at:?} {completed_at:?}\n"
            );
        }
        for (kind, text) in self.events.get(schedule).into_iter().flatten() {
            said += &format!("    {kind} {text}\n");
        }
        said
    }
}
