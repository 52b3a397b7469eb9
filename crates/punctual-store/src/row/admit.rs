//! Admission: rows that are due, the world they are judged in, and what a launch needs.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Action, Admission, Claim, Due, Fence, Lane, Object, OrgKey, Origin, RunKey, Schedule, ScheduleKey, Trace,
    Verdict, World,
};
use punctual_time::Anchor;

use crate::cache::is_sharing;
use crate::stored::patience;
use crate::{Commit, Error};

/// Rows that are due, and when to look again.
#[derive(Clone, Debug)]
pub struct DueBatch {
    /// The rows: round-robin by org, within an org oldest first.
    pub rows: Vec<DueRow>,
    /// Everything the verdicts over them depend on.
    pub world: World,
    /// Schedules of late rows that have ticks in the past which no plan has decided: their late rows are decided
    /// together with those, so none of them is admitted before the next plan.
    pub undecided: HashSet<ScheduleKey>,
    /// Runs in flight that nobody has answered for in time.
    pub expired: Vec<Expired>,
    /// Those that cannot be read any more; they never stop the others.
    pub unreadable: Vec<Illegible>,
    /// When the next row beyond them wants to be looked at.
    pub next_look_at: Option<Timestamp>,
}

impl DueBatch {
    /// Whether nothing was found: all it says is when to look again.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.expired.is_empty() && self.unreadable.is_empty()
    }

    /// Schedules whose late ticks are one decision: several of their ticks are due, or ticks in the past were never
    /// planned.
    pub fn stretches(&self) -> BTreeSet<ScheduleKey> {
        let (mut seen, mut stretches) =
            (HashSet::new(), self.undecided.iter().copied().collect::<BTreeSet<_>>());
        for row in self.rows.iter().filter(|row| row.due.is_undecided(&row.launch.definition.policy)) {
            if !seen.insert(row.due.schedule) {
                stretches.insert(row.due.schedule);
            }
        }
        stretches
    }

    /// Schedules of which one tick is late here, and more may be due: there is more to look at than this batch holds.
    pub fn unsure(&self, now: Timestamp) -> BTreeSet<ScheduleKey> {
        if self.next_look_at.is_none_or(|next| next > now) {
            return BTreeSet::new();
        }
        let is_late =
            |row: &&DueRow| row.due.is_undecided(&row.launch.definition.policy) && row.is_overtaken(now);
        let late: BTreeSet<ScheduleKey> =
            self.rows.iter().filter(is_late).map(|row| row.due.schedule).collect();
        late.difference(&self.stretches()).copied().collect()
    }
}

/// A due row that cannot be read any more.
#[derive(Clone, Debug)]
pub struct Illegible {
    /// The row.
    pub run: RunKey,
    /// Its schedule: if that cannot be read either, it is to be paused.
    pub schedule: ScheduleKey,
    /// What is wrong.
    pub error: Error,
}

/// A due row: what the decision needs and what the launch needs.
#[derive(Clone, Debug)]
pub struct DueRow {
    /// For the decision.
    pub due: Due,
    /// For the launch.
    pub launch: Launchable,
}

impl DueRow {
    /// Whether it is to be decided together with the other late ticks of its schedule.
    pub fn is_of_stretch(&self, now: Timestamp) -> bool {
        self.due.is_undecided(&self.launch.definition.policy) || self.is_overtaken(now)
    }

    /// Whether a later tick of its schedule may have come meanwhile: it is an armed tick or a retry, and a second late.
    /// A retry and the ticks that came after it are judged together: one of them may take its place.
    pub fn is_overtaken(&self, now: Timestamp) -> bool {
        let due = &self.due;
        let is_armed = (due.origin == Origin::Tick || due.is_retry()) && due.waiting.is_none();
        is_armed && due.scheduled_for.as_second() < now.as_second()
    }
}

/// A run in flight whose deadline has passed: it is settled as lost.
#[derive(Clone, Debug)]
pub struct Expired {
    /// The run.
    pub run: RunKey,
    /// The attempt that was not answered for.
    pub attempt: u32,
    /// The fence under which it was admitted.
    pub fence: Fence,
}

/// Everything a target needs to launch a run.
#[derive(Clone, Debug)]
pub struct Launchable {
    /// The run.
    pub run: RunKey,
    /// Its schedule inside the database.
    pub schedule: ScheduleKey,
    /// Whose it is.
    pub org: OrgKey,
    /// The definition of the version that it belongs to, with what its request adds to the payload.
    pub definition: Arc<Schedule>,
    /// What brought it about.
    pub origin: Origin,
    /// The request, upstream run or backfill that it came from; empty for ticks.
    pub nonce: String,
    /// The instant it stands for.
    pub scheduled_for: Timestamp,
    /// When it was to be admitted.
    pub fire_at: Timestamp,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// The trace that it belongs to; whoever admits it gives it one, if it has none.
    pub trace: Option<Trace>,
    /// The token with which its executor may speak for this attempt; given by its admission, if its target gets one.
    pub token: Option<String>,
    /// When it is given up, by whoever looks first, if nobody has answered for it: counted from when it was read to be admitted,
    /// or as its row says. Nobody may launch it after that, for its next attempt may be under way.
    pub answer_by: Timestamp,
}

impl Launchable {
    /// Lays what a request adds over what the schedule's runs carry.
    pub(crate) fn carrying(mut self, payload: Option<Object>) -> Self {
        if let Some(payload) = payload {
            let mut definition = Schedule::clone(&self.definition);
            definition.payload.extend(payload);
            self.definition = Arc::new(definition);
        }
        self
    }
}

/// Verdicts that were made ahead of their instant, and what a store can know of them before it.
#[derive(Clone, Debug)]
pub struct Ahead {
    /// When what they are based on was read.
    pub moment: Moment,
    /// The verdicts.
    pub admissions: Arc<Vec<AdmitCommit>>,
    /// Those that are plain starts, each with its place among them.
    pub(crate) plain: Arc<Vec<(usize, PlainStart)>>,
    /// The schedules they are over, in their order.
    pub schedules: Arc<Vec<ScheduleKey>>,
}

impl Ahead {
    /// Looks through verdicts for plain starts.
    pub fn new(moment: Moment, admissions: Vec<AdmitCommit>) -> Self {
        let plain = Arc::new(plain_starts(&admissions));
        let mut schedules: Vec<ScheduleKey> = admissions.iter().map(|one| one.admission.schedule).collect();
        schedules.sort_unstable();
        Self { moment, admissions: Arc::new(admissions), plain, schedules: Arc::new(schedules) }
    }

    /// Whether all of them are plain starts.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain.len() == self.admissions.len()
    }
}

/// A start that takes nothing but its schedule's lane and changes nothing but its run and its schedule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainStart {
    pub(crate) run: RunKey,
    pub(crate) schedule: ScheduleKey,
    pub(crate) scheduled_for: Timestamp,
    /// How long after its start it is given up.
    pub(crate) patience: SignedDuration,
    pub(crate) trace: Option<Trace>,
    pub(crate) is_exclusive: bool,
}

impl PlainStart {
    fn of(one: &AdmitCommit) -> Option<Self> {
        let (admission, due, definition) = (&one.admission, &one.row.due, &one.row.launch.definition);
        let own_lane = |claim: &Claim| matches!(claim, Claim::Lane(Lane::Schedule(_)));
        let is_plain = admission.verdict == Verdict::Start
            && admission.effects.is_empty()
            && admission.claims.iter().all(own_lane)
            && due.origin == Origin::Tick
            && due.waiting.is_none()
            && !due.is_retry()
            && !matches!(definition.target.action, Action::Queue(_) | Action::Message { .. })
            && one.row.launch.token.is_none()
            // Somebody may change them between the verdict and its instant.
            && !is_sharing(definition)
            && !definition.when.floats_on(Anchor::LastStart);
        is_plain.then(|| Self {
            run: due.run,
            schedule: due.schedule,
            scheduled_for: due.scheduled_for,
            patience: patience(definition),
            trace: one.row.launch.trace,
            is_exclusive: !admission.claims.is_empty(),
        })
    }
}

/// The plain starts among verdicts, each with its place. Of a schedule with several rows one verdict may depend on another,
/// so none of them is plain.
pub(crate) fn plain_starts(admissions: &[AdmitCommit]) -> Vec<(usize, PlainStart)> {
    let mut rows: HashMap<ScheduleKey, u32> = HashMap::with_capacity(admissions.len());
    for one in admissions {
        *rows.entry(one.admission.schedule).or_default() += 1;
    }
    let is_alone = |one: &AdmitCommit| rows.get(&one.admission.schedule) == Some(&1);
    let plain =
        |(place, one): (usize, &AdmitCommit)| Some((place, PlainStart::of(one).filter(|_| is_alone(one))?));
    admissions.iter().enumerate().filter_map(plain).collect()
}

/// Whether verdicts are plain starts, all of them: what is written for such a one concerns nothing but its own schedule.
pub fn are_plain(admissions: &[AdmitCommit]) -> bool {
    plain_starts(admissions).len() == admissions.len()
}

/// The starts of a batch that did not come about: a row that was not to run because of one of them is judged again.
#[derive(Default)]
pub(crate) struct Footing(HashSet<RunKey>);

impl Footing {
    /// Whether what a verdict rests on has come about, as far as it is of the same batch.
    pub(crate) fn holds(&self, one: &AdmitCommit) -> bool {
        one.admission.verdict.rests_on().is_none_or(|run| !self.0.contains(&run))
    }

    /// Takes note of what became of a verdict.
    pub(crate) fn note(&mut self, one: &AdmitCommit, commit: Commit) {
        if commit == Commit::Stale && one.admission.verdict == Verdict::Start {
            self.0.insert(one.admission.run);
        }
    }
}

/// Until something is written that a verdict over a due row may depend on, it is the same moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// How often something was written that any verdict may depend on.
    pub(crate) stirred: u64,
    /// How often runs ended on which nothing but the verdicts over their own schedules depends.
    pub(crate) ends: u64,
}

impl Moment {
    /// The only moment of a store that several write into: what was written since is found out row by row, when verdicts
    /// are carried out.
    pub(crate) const ANY: Self = Self { stirred: u64::MAX, ends: 0 };

    /// Whether what was read at it may have changed without another moment having come.
    pub fn is_any(self) -> bool {
        self.stirred == Self::ANY.stirred
    }

    /// Whether what was read at it still holds at another one, but for schedules of which runs have ended since.
    pub fn lasts_until(self, other: Self) -> bool {
        self.stirred == other.stirred
    }
}

/// What a store holds of verdicts whose instant has not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Nothing: all of it is done at the instant.
    Nothing,
    /// All but the commit is done, and whoever wants to change their rows waits for it.
    Open,
}

/// A verdict to be carried out, with the row it is over.
#[derive(Clone, Debug)]
pub struct AdmitCommit {
    /// The verdict.
    pub admission: Admission,
    /// The row.
    pub row: DueRow,
}
