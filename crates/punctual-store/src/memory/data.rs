//! All tables with their indexes. A row changes only through `put_…`, which moves its index entries along.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Fence, OrgKey, Origin, RunKey, RunStatus, Schedule, ScheduleId, ScheduleKey, When};
use uuid::Uuid;

use super::table::{
    AttemptRecord, BreakerRecord, Definition, DocumentRecord, EventRecord, Kept, MessageRecord, NodeRecord,
    RangeRecord, RequestRecord, RunRecord, ScheduleRecord, SealRecord, StateRecord, TransitionRecord,
    VersionRecord,
};
use crate::stored::{uses, wait_columns};
use crate::{Batch, Token, UseKind};

/// What makes a ledger entry the only one: its instant, org, schedule, origin and nonce.
pub(super) type Identity = (Timestamp, OrgKey, ScheduleKey, &'static str, String);

/// Everything that a database would hold.
#[derive(Debug, Default)]
pub(super) struct Data {
    /// The clock; the host's if none was set.
    pub(super) clock: Time,
    pub(super) fence: i64,
    pub(super) tz: i64,
    pub(super) tz_versions: BTreeMap<i64, String>,
    pub(super) nodes: BTreeMap<Fence, NodeRecord>,
    pub(super) shard_leases: BTreeMap<u16, (Fence, i64)>,
    pub(super) batches: BTreeMap<Uuid, (Timestamp, Kept)>,
    pub(super) orgs: BTreeMap<OrgKey, (String, Timestamp)>,
    pub(super) org_ids: BTreeMap<String, OrgKey>,
    /// By table, org and name.
    pub(super) documents: BTreeMap<(&'static str, OrgKey, String), DocumentRecord>,
    pub(super) tokens: BTreeMap<(OrgKey, String), Token>,
    pub(super) token_hashes: BTreeMap<String, (OrgKey, String)>,
    pub(super) schedules: BTreeMap<ScheduleKey, ScheduleRecord>,
    pub(super) ids: BTreeMap<(ScheduleId, OrgKey), ScheduleKey>,
    /// Living schedules by name.
    pub(super) names: BTreeMap<(OrgKey, String), ScheduleKey>,
    /// All schedules by name.
    pub(super) listed: BTreeSet<(String, ScheduleKey)>,
    pub(super) versions: BTreeMap<(ScheduleKey, i64), VersionRecord>,
    pub(super) uses: BTreeSet<(OrgKey, &'static str, String, ScheduleKey)>,
    /// Those of kind `chain`: upstream, follower.
    pub(super) followers: BTreeSet<(ScheduleId, ScheduleKey)>,
    /// Living schedules that share a lane.
    pub(super) sharers: BTreeSet<(OrgKey, String, ScheduleKey)>,
    pub(super) states: BTreeMap<ScheduleKey, StateRecord>,
    pub(super) plannable: BTreeSet<(Timestamp, ScheduleKey)>,
    pub(super) runs: BTreeMap<RunKey, RunRecord>,
    pub(super) run_last: i64,
    pub(super) identities: BTreeMap<Identity, RunKey>,
    pub(super) times: BTreeSet<(Timestamp, RunKey)>,
    pub(super) history: BTreeSet<(ScheduleKey, Timestamp, RunKey)>,
    pub(super) looks: BTreeSet<(Timestamp, RunKey)>,
    /// Rows that have not ended.
    pub(super) unended: BTreeSet<(ScheduleKey, RunKey)>,
    pub(super) in_flight: BTreeSet<(Fence, RunKey)>,
    pub(super) org_in_flight: BTreeMap<OrgKey, u32>,
    pub(super) waiting: BTreeSet<(OrgKey, &'static str, String, RunKey)>,
    pub(super) queued: BTreeSet<(OrgKey, String, Timestamp, RunKey)>,
    /// Manual runs by their request.
    pub(super) requested: BTreeMap<(ScheduleKey, String), RunKey>,
    pub(super) attempts: BTreeMap<(RunKey, u32), AttemptRecord>,
    pub(super) ranges: BTreeMap<(ScheduleKey, Timestamp), RangeRecord>,
    pub(super) events: BTreeMap<i64, EventRecord>,
    pub(super) event_last: i64,
    pub(super) retained_through: i64,
    pub(super) seals: BTreeMap<(OrgKey, i64), SealRecord>,
    pub(super) sealed_seqs: BTreeMap<i64, i64>,
    pub(super) outbox: BTreeMap<i64, MessageRecord>,
    pub(super) outbox_last: i64,
    pub(super) outbox_positions: BTreeMap<i64, i64>,
    pub(super) position_last: i64,
    pub(super) breakers: BTreeMap<(OrgKey, String), BreakerRecord>,
    pub(super) transitions: BTreeMap<i64, TransitionRecord>,
    pub(super) transition_last: i64,
    pub(super) guards: BTreeMap<(OrgKey, String), RunKey>,
    pub(super) lanes: BTreeMap<(OrgKey, String), RunKey>,
    /// The present minute of an org with limits, and the runs that started in it.
    pub(super) org_use: BTreeMap<OrgKey, (i64, u32)>,
    pub(super) requests: BTreeMap<(OrgKey, String), RequestRecord>,
    pub(super) leases_given: u64,
    /// When old answers were last forgotten.
    pub(super) answers_forgotten_at: Timestamp,
    /// Every event up to this one has its seal, whosever it is.
    pub(super) sealed_through: i64,
    /// The rows that were written since somebody asked, once somebody has.
    pub(super) touched: Option<Vec<RunKey>>,
}

/// What the store's clock is.
#[derive(Default)]
pub(super) enum Time {
    #[default]
    Host,
    Fixed(Timestamp),
    By(Box<dyn Fn() -> Timestamp + Send + Sync>),
}

impl std::fmt::Debug for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Host => f.write_str("Host"),
            Self::Fixed(now) => f.debug_tuple("Fixed").field(now).finish(),
            Self::By(_) => f.write_str("By"),
        }
    }
}

impl Data {
    /// The present.
    pub(super) fn now(&self) -> Timestamp {
        crate::to_microsecond(match &self.clock {
            Time::Host => host_now(),
            Time::Fixed(now) => *now,
            Time::By(clock) => clock(),
        })
    }

    /// What a batch was answered, if it was done before.
    pub(super) fn batch(&self, batch: Batch) -> Option<&(Timestamp, Kept)> {
        self.batches.get(&batch.id.0).filter(|_| holds(Rule::BatchOnce))
    }

    /// The org with an id, made if it is new.
    pub(super) fn org_of(&mut self, id: &str) -> OrgKey {
        if let Some(org) = self.org_ids.get(id) {
            return *org;
        }
        let org = OrgKey(self.orgs.last_key_value().map_or(1, |(last, _)| last.0 + 1));
        self.orgs.insert(org, (id.to_owned(), self.now()));
        self.org_ids.insert(id.to_owned(), org);
        org
    }

    // ---- Runs.

    /// Writes a row, or takes it away.
    pub(super) fn put_run(&mut self, key: RunKey, record: Option<RunRecord>) {
        if let Some(touched) = &mut self.touched {
            touched.push(key);
        }
        let before = match record {
            Some(record) => {
                let before = self.runs.remove(&key);
                self.unindex(key, before.as_ref(), Some(&record));
                self.index(key, &record, before.as_ref());
                self.runs.insert(key, record);
                return;
            }
            None => self.runs.remove(&key),
        };
        self.unindex(key, before.as_ref(), None);
    }

    /// Changes a row that is there.
    pub(super) fn change_run(&mut self, key: RunKey, change: impl FnOnce(&mut RunRecord)) {
        if let Some(before) = self.runs.get(&key) {
            let mut record = before.clone();
            change(&mut record);
            self.put_run(key, Some(record));
        }
    }

    /// Writes a new row, unless its identity has one already.
    pub(super) fn insert_run(&mut self, record: RunRecord) -> Result<RunKey, RunKey> {
        let first = self.identities.get(&identity(&record));
        if let Some(first) = first.filter(|_| holds(Rule::OneRowPerTick)) {
            return Err(*first);
        }
        self.run_last += 1;
        let key = RunKey(self.run_last);
        self.put_run(key, Some(record));
        Ok(key)
    }

    /// Removes the index entries that the row does not have any more.
    fn unindex(&mut self, key: RunKey, before: Option<&RunRecord>, after: Option<&RunRecord>) {
        let Some(before) = before else { return };
        if after.is_none() {
            self.identities.remove(&identity(before));
            self.times.remove(&(before.scheduled_for, key));
            self.history.remove(&(before.schedule, before.scheduled_for, key));
            if before.origin == Origin::Manual {
                self.requested.remove(&(before.schedule, before.nonce.clone()));
            }
        }
        if let Some(look_at) = before.look_at {
            self.looks.remove(&(look_at, key));
        }
        if after.is_none_or(|after| after.status.is_terminal()) {
            self.unended.remove(&(before.schedule, key));
        }
        if before.status.is_in_flight() {
            if let Some(fence) = before.fence {
                self.in_flight.remove(&(fence, key));
            }
            let count = self.org_in_flight.entry(before.org).or_default();
            *count = count.saturating_sub(1);
        }
        if let Some(waiting) = before.waiting() {
            let (kind, what) = wait_columns(&waiting.wait);
            self.waiting.remove(&(before.org, kind, what, key));
        }
        if let Some(place) = queue_place(key, before) {
            self.queued.remove(&place);
        }
    }

    fn index(&mut self, key: RunKey, record: &RunRecord, before: Option<&RunRecord>) {
        if before.is_none() {
            self.identities.insert(identity(record), key);
            self.times.insert((record.scheduled_for, key));
            self.history.insert((record.schedule, record.scheduled_for, key));
            if record.origin == Origin::Manual {
                self.requested.insert((record.schedule, record.nonce.clone()), key);
            }
        }
        if let Some(look_at) = record.look_at {
            self.looks.insert((look_at, key));
        }
        if !record.status.is_terminal() {
            self.unended.insert((record.schedule, key));
        }
        if record.status.is_in_flight() {
            if let Some(fence) = record.fence {
                self.in_flight.insert((fence, key));
            }
            *self.org_in_flight.entry(record.org).or_default() += 1;
        }
        if let Some(waiting) = record.waiting() {
            let (kind, what) = wait_columns(&waiting.wait);
            self.waiting.insert((record.org, kind, what, key));
        }
        self.queued.extend(queue_place(key, record));
    }

    /// The rows of a schedule that have not ended, by key.
    pub(super) fn unended_of(&self, schedule: ScheduleKey) -> impl Iterator<Item = (RunKey, &RunRecord)> {
        let keys = self.unended.range((schedule, RunKey(i64::MIN))..=(schedule, RunKey(i64::MAX)));
        keys.filter_map(|(_, key)| Some((*key, self.runs.get(key)?)))
    }

    // ---- Schedules.

    /// Writes a schedule with its place in every list.
    pub(super) fn put_schedule(&mut self, key: ScheduleKey, record: ScheduleRecord) {
        if let Some(before) = self.schedules.remove(&key) {
            self.unlist(key, &before);
        }
        self.ids.insert((record.id, record.org), key);
        self.listed.insert((record.name.clone(), key));
        if record.deleted_at.is_none() {
            self.names.insert((record.org, record.name.clone()), key);
            let definition = Arc::clone(record.definition.any());
            for (kind, name) in uses(&definition) {
                self.uses.insert((record.org, kind.name(), name, key));
            }
            if let When::Chain(chain) = &definition.when {
                self.followers.insert((chain.upstream, key));
            }
            if let Some(lane) = &definition.policy.lane {
                self.sharers.insert((record.org, lane.clone(), key));
            }
        }
        self.schedules.insert(key, record);
    }

    fn unlist(&mut self, key: ScheduleKey, before: &ScheduleRecord) {
        self.listed.remove(&(before.name.clone(), key));
        if before.deleted_at.is_some() {
            return;
        }
        self.names.remove(&(before.org, before.name.clone()));
        let definition = before.definition.any();
        for (kind, name) in uses(definition) {
            self.uses.remove(&(before.org, kind.name(), name, key));
        }
        if let When::Chain(chain) = &definition.when {
            self.followers.remove(&(chain.upstream, key));
        }
        if let Some(lane) = &definition.policy.lane {
            self.sharers.remove(&(before.org, lane.clone(), key));
        }
    }

    /// Changes a schedule's state that is there.
    pub(super) fn change_state(&mut self, key: ScheduleKey, change: impl FnOnce(&mut StateRecord)) {
        let Some(state) = self.states.get_mut(&key) else { return };
        let before = state.plan_at;
        change(state);
        let after = state.plan_at;
        if before != after {
            self.plannable.extend(after.map(|at| (at, key)));
            if let Some(before) = before {
                self.plannable.remove(&(before, key));
            }
        }
    }

    /// The definition of a version of a schedule; the present one if that version is unknown.
    pub(super) fn definition(&self, schedule: ScheduleKey, version: i64) -> Option<&Definition> {
        let version = self.versions.get(&(schedule, version)).map(|version| &version.definition);
        version.or_else(|| self.schedules.get(&schedule).map(|schedule| &schedule.definition))
    }

    /// Why a definition cannot be used, if it refers to something that is gone or was never readable.
    pub(super) fn unusable(&self, org: OrgKey, definition: &Definition) -> Option<String> {
        let definition = match definition {
            Definition::Read(definition) => definition,
            Definition::Unread { why, .. } => return Some(why.clone()),
        };
        let windows = match &definition.when {
            When::Ticks(timing) => &timing.windows,
            When::Chain(chain) => &chain.windows,
        };
        let has =
            |table: &'static str, name: &str| self.documents.contains_key(&(table, org, name.to_owned()));
        let calendar = windows.calendars.iter().find(|one| !has("calendars", one.name()));
        let quiet = windows.quiet_hours.iter().find(|one| !has("quiet_hours_policies", &one.name));
        let calendar = calendar.map(|one| format!("there is no calendar `{}` any more", one.name()));
        calendar.or(quiet.map(|one| format!("there is no quiet-hours policy `{}` any more", one.name)))
    }

    /// The valid definition of a schedule, or what is left of it.
    pub(super) fn present(&self, schedule: ScheduleKey) -> Option<&Arc<Schedule>> {
        self.schedules.get(&schedule).map(|record| record.definition.any())
    }

    /// Schedules that use something.
    pub(super) fn users(&self, org: OrgKey, kind: UseKind, name: &str) -> Vec<ScheduleKey> {
        let from = (org, kind.name(), name.to_owned(), ScheduleKey(i64::MIN));
        let to = (org, kind.name(), name.to_owned(), ScheduleKey(i64::MAX));
        self.uses.range(from..=to).map(|(.., schedule)| *schedule).collect()
    }
}

pub(super) fn identity(record: &RunRecord) -> Identity {
    let is_beside = record.origin != Origin::Backfill || holds(Rule::BackfillBeside);
    let (origin, nonce) =
        if is_beside { (record.origin, record.nonce.clone()) } else { (Origin::Tick, String::new()) };
    (record.scheduled_for, record.org, record.schedule, origin.name(), nonce)
}

/// The place of a run that workers may take.
fn queue_place(key: RunKey, record: &RunRecord) -> Option<(OrgKey, String, Timestamp, RunKey)> {
    let is_free = record.status == RunStatus::Enqueued;
    let is_offered = is_free || (record.status.is_in_flight() && !holds(Rule::LeasedOnce));
    let queue = record.queue.clone().filter(|_| is_offered)?;
    Some((record.org, queue, record.fire_at, key))
}

fn host_now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let micros = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX)
}
