//! The question: everything that is known about a schedule at an instant, whoever knows it.

use jiff::civil::DateTime;
use jiff::tz::AmbiguousOffset;
use jiff::{SignedDuration, Timestamp};
use punctual_time::Zone;

use crate::{
    Account, Breaker, Origin, RangeRecord, Reason, Run, RunKey, RunState, RunStatus, Schedule, ScheduleId,
    Simulated, State, Upstream, Version, Wait, When,
};

/// A schedule, an instant, and what is known about them.
#[derive(Clone, Debug)]
pub struct Inquiry<'a> {
    /// The instant asked about; the second that contains it counts.
    pub at: Timestamp,
    /// The local time as a person wrote it, if they did; [`local_instant`] makes the instant of it.
    pub local: Option<DateTime>,
    /// The present.
    pub now: Timestamp,
    /// The versions of the schedule in their order, never empty; the first is valid since its creation.
    pub versions: &'a [Version],
    /// What it has come to.
    pub state: &'a State,
    /// Since when it is not active.
    pub left_at: Option<Timestamp>,
    /// When it was deleted.
    pub deleted_at: Option<Timestamp>,
    /// Its runs that stand for the second asked about; the tick, if there is one, comes first.
    pub runs: Vec<&'a Run>,
    /// The stretch of equal non-fires that covers it, be it a tick or not.
    pub range: Option<&'a RangeRecord>,
    /// How many late ticks its run stands for, if others were missed because of it.
    pub slots: Option<u64>,
    /// The runs that the first run refers to: see [`referred_runs`].
    pub neighbours: Vec<Neighbour>,
    /// The schedules it depends on, each with its latest tick at or before the instant; for a schedule that follows
    /// another, that other.
    pub upstream: Vec<Upstream>,
    /// Where the breaker of its target stands now.
    pub breaker: Option<Breaker>,
    /// The node that admitted its run.
    pub node: Option<String>,
    /// How long after its time the run was admitted, as that node measured it.
    pub lateness: Option<SignedDuration>,
    /// What happened to the clocks of that node, or of any if none admitted it, about that time; oldest first.
    pub upsets: Vec<Upset>,
}

/// Something that happened to a node's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upset {
    /// When it was noticed.
    pub at: Timestamp,
    /// What, in words.
    pub what: String,
}

/// A run that another run refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// The run.
    pub run: RunKey,
    /// The name of its schedule.
    pub schedule: String,
    /// The instant it stands for.
    pub scheduled_for: Timestamp,
    /// Where it is now.
    pub status: RunStatus,
}

impl<'a> Inquiry<'a> {
    /// An inquiry about a schedule of a simulation, at the end of it.
    pub fn of_simulated(simulated: &'a Simulated, account: &'a Account, at: Timestamp) -> Self {
        let second = whole_second(at);
        let mut runs: Vec<&Run> = account.runs.iter().filter(|run| run.scheduled_for == second).collect();
        runs.sort_by_key(|run| (run.origin != Origin::Tick, run.key));
        let covers = |record: &&RangeRecord| record.range.first <= second && second <= record.range.last;
        let range = account.ranges.iter().find(covers);
        let schedule = account.schedule();
        let world = World { simulated };
        let referred = runs.first().map(|run| referred_runs(run)).unwrap_or_default();
        Self {
            at,
            local: None,
            now: simulated.through,
            versions: &account.versions,
            state: &account.state,
            left_at: account.left_at,
            deleted_at: account.deleted_at,
            range,
            slots: slots(account, second),
            neighbours: referred.into_iter().filter_map(|run| world.neighbour(run)).collect(),
            upstream: upstream_ids(schedule).into_iter().map(|id| world.upstream(id, second)).collect(),
            breaker: Some(simulated.breakers.get(&schedule.target.name).copied().unwrap_or_default()),
            node: None,
            lateness: None,
            upsets: Vec::new(),
            runs,
        }
    }
}

/// The second that contains an instant.
pub(super) fn whole_second(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_millisecond().div_euclid(1_000)).unwrap_or(at)
}

/// The instant that a local time stands for: the first of two, and the first after a gap that swallowed it.
///
/// ```
/// use punctual_plan::local_instant;
/// use punctual_time::Zone;
///
/// let paris = Zone::get("Europe/Paris")?;
/// // There was no 02:30 on that night: the clock went from 02:00 to 03:00.
/// let swallowed = local_instant("2026-03-29T02:30:00".parse()?, &paris);
/// assert_eq!(swallowed.map(|at| at.to_string()).as_deref(), Some("2026-03-29T01:00:00Z"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn local_instant(local: DateTime, zone: &Zone) -> Option<Timestamp> {
    let zone = zone.to_jiff();
    let ambiguous = zone.to_ambiguous_timestamp(local);
    let at = ambiguous.compatible().ok()?;
    match ambiguous.offset() {
        AmbiguousOffset::Gap { .. } => {
            // The instant itself may be the end of the gap.
            let next = at.saturating_add(SignedDuration::from_nanos(1)).ok()?;
            zone.preceding(next).next().map(|transition| transition.timestamp())
        }
        _ => Some(at),
    }
}

/// The runs that a run refers to: that it met, waited for, was ended by, or came of.
///
/// ```
/// use punctual_plan::{Origin, Reason, Run, RunKey, RunState, ScheduleKey, referred_runs};
///
/// let at = "2026-01-01T10:00:00Z".parse()?;
/// let run = Run {
///     key: RunKey(2),
///     schedule: ScheduleKey(1),
///     version: 1,
///     origin: Origin::Tick,
///     nonce: String::new(),
///     scheduled_for: at,
///     fire_at: at,
///     state: RunState::Skipped { reason: Reason::Overlap { run: RunKey(1) }, at },
///     waited: None,
///     attempts: Vec::new(),
/// };
/// assert_eq!(referred_runs(&run), [RunKey(1)]);
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn referred_runs(run: &Run) -> Vec<RunKey> {
    let said = run.state.reason().map(Reason::to_string).unwrap_or_default();
    let mut referred = runs_in(&said);
    let waiting = match &run.state {
        RunState::Waiting(waiting) => Some(waiting),
        _ => run.waited.as_ref(),
    };
    if let Some(Wait::Turn { behind }) = waiting.map(|waiting| &waiting.wait) {
        referred.push(*behind);
    }
    if run.origin == Origin::Chained {
        referred.extend(runs_in(&run.nonce));
    }
    referred.sort_unstable();
    referred.dedup();
    referred
}

/// The runs that a sentence names.
pub(super) fn runs_in(sentence: &str) -> Vec<RunKey> {
    let words = sentence.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'));
    words.filter_map(|word| word.strip_prefix("run-")?.parse().ok().map(RunKey)).collect()
}

fn upstream_ids(schedule: &Schedule) -> Vec<ScheduleId> {
    match &schedule.when {
        When::Chain(chain) => vec![chain.upstream],
        When::Ticks(_) => {
            schedule.policy.depends_on.iter().flat_map(|depends| depends.on.iter().copied()).collect()
        }
    }
}

/// How many late ticks one stands for, as those that it was run for say.
fn slots(account: &Account, tick: Timestamp) -> Option<u64> {
    let by_rows = account.runs.iter().filter_map(|run| run.state.reason());
    let by_ranges = account.ranges.iter().map(|record| record.end().reason());
    by_rows.chain(by_ranges).find_map(|reason| match reason {
        Reason::CaughtUp { slots, by } if *by == tick => Some(*slots),
        _ => None,
    })
}

/// The other schedules of a simulation.
struct World<'a> {
    simulated: &'a Simulated,
}

impl World<'_> {
    fn neighbour(&self, key: RunKey) -> Option<Neighbour> {
        self.simulated.accounts.iter().find_map(|account| {
            let run = account.runs.iter().find(|run| run.key == key)?;
            Some(Neighbour {
                run: key,
                schedule: account.schedule().name.clone(),
                scheduled_for: run.scheduled_for,
                status: run.state.status(),
            })
        })
    }

    fn upstream(&self, id: ScheduleId, at: Timestamp) -> Upstream {
        let Some(account) = self.simulated.accounts.iter().find(|account| account.schedule().id == id) else {
            return Upstream { schedule: id.to_string(), latest: None };
        };
        let mut ticks =
            account.runs.iter().filter(|run| run.origin == Origin::Tick && run.scheduled_for <= at);
        let row = ticks.next_back().map(|run| (run.scheduled_for, run.state.status()));
        let range = account.ranges.iter().rfind(|record| record.range.first <= at);
        let range = range.map(|record| (record.range.last.min(at), record.end().status()));
        let latest = row.into_iter().chain(range).max_by_key(|(tick, _)| *tick);
        Upstream { schedule: account.schedule().name.clone(), latest }
    }
}
