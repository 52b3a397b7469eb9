//! Why: the inquiry about an instant, put together from what is stored.

use jiff::civil::DateTime;
use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Breaker, Inquiry, Neighbour, Origin, RangeRecord, Reason, Run, RunKey, ScheduleId, Upset, Upstream,
    Version, When, Why, local_instant, referred_runs, why,
};
use punctual_store::{
    AuditFilter, Cut, RangeRow, RunFilter, RunRow, ScheduleRow, Selector, Store, VersionRow,
};
use punctual_time::{Once, Zone};

use super::App;
use super::find::zone_of;
use crate::{Failure, moment};

/// Rows before a tick that are looked through for those that it was run for.
const SLOTS_LOOK_MAX: u32 = 200;

/// Events that are looked through for when a version had all its ticks.
const EXHAUSTIONS_MAX: u32 = 1_000;

/// How long before an instant, and after it was looked at, what happened to the clocks may have mattered.
const UPSET_MARGIN: SignedDuration = SignedDuration::from_mins(1);

/// Of what happened to the clocks about an instant, at most this much is told.
const UPSETS_MAX: u32 = 10;

/// Runs of one second that are told of.
const RUNS_MAX: u32 = 100;

/// An instant as a person wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instant {
    /// The instant.
    pub at: Timestamp,
    /// The local time, if they wrote one that the clock of the zone may have skipped.
    pub local: Option<DateTime>,
}

impl Instant {
    /// Reads RFC 3339, or a local time of a zone.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse(text: &str, zone: &Zone) -> Result<Self, Failure> {
        let text = text.trim();
        let at = Once::parse(text, zone)?.instant();
        // A time that the clock skips is explained as it was written, not as the instant it is moved to.
        let written = text.parse::<DateTime>().ok().filter(|_| text.parse::<Timestamp>().is_err());
        Ok(Self { at, local: written.filter(|local| local_instant(*local, zone) == Some(at)) })
    }
}

/// What is stored about a schedule and an instant.
struct Found {
    row: ScheduleRow,
    versions: Vec<Version>,
    runs: Vec<RunRow>,
    range: Option<RangeRecord>,
    slots: Option<u64>,
    neighbours: Vec<Neighbour>,
    upstream: Vec<Upstream>,
    breaker: Breaker,
}

impl Found {
    fn explain(self, instant: Instant, now: Timestamp, upsets: Vec<Upset>) -> Why {
        let first = self.runs.first();
        why(&Inquiry {
            at: instant.at,
            local: instant.local,
            now,
            versions: &self.versions,
            state: &self.row.state,
            left_at: self.row.left_at,
            deleted_at: self.row.deleted_at,
            runs: self.runs.iter().map(|row| &row.run).collect(),
            range: self.range.as_ref(),
            slots: self.slots,
            neighbours: self.neighbours,
            upstream: self.upstream,
            breaker: Some(self.breaker),
            node: first.and_then(|row| row.node.clone()),
            lateness: first.and_then(admitted_after),
            upsets,
        })
    }
}

impl App {
    /// Explains what became of a schedule at an instant, or what will.
    ///
    /// # Errors
    /// When there is no such schedule, or the instant cannot be read.
    pub async fn why(&self, schedule: &str, at: &str) -> Result<Why, Failure> {
        let row = self.find(schedule).await?;
        let (zone, now) = (zone_of(&row), self.now().await?);
        let instant = Instant::parse(at, &zone).or_else(|failure| match moment(at, &zone, now) {
            Ok(at) => Ok(Instant { at, local: None }),
            Err(_) => Err(failure),
        })?;
        self.why_at(row, instant, now).await
    }

    /// The same for a schedule that was found, by another clock than the database's.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn why_at(&self, row: ScheduleRow, instant: Instant, now: Timestamp) -> Result<Why, Failure> {
        let second = Timestamp::from_second(instant.at.as_second()).unwrap_or(instant.at);
        let runs = self.runs_of_second(row.definition.id, second).await?;
        let found = self.look_up(row, runs, instant.at).await?;
        let upsets = self.upsets(instant.at, found.runs.first(), now).await?;
        Ok(found.explain(instant, now, upsets))
    }

    /// Explains what became of a run.
    ///
    /// # Errors
    /// When there is no such run.
    pub async fn why_run(&self, run: RunKey) -> Result<Why, Failure> {
        let first = self.run(run).await?;
        let row = self.get(Selector::Id(first.schedule_id)).await?;
        let instant = Instant { at: first.run.scheduled_for, local: None };
        let mut runs = self.runs_of_second(first.schedule_id, instant.at).await?;
        runs.retain(|other| other.run.key != run);
        runs.insert(0, first);
        let found = self.look_up(row, runs, instant.at).await?;
        let now = self.now().await?;
        let upsets = self.upsets(instant.at, found.runs.first(), now).await?;
        Ok(found.explain(instant, now, upsets))
    }

    /// The runs that stand for a second, the tick first, with all their attempts.
    async fn runs_of_second(&self, schedule: ScheduleId, at: Timestamp) -> Result<Vec<RunRow>, Failure> {
        let filter =
            RunFilter { schedule: Some(schedule), since: Some(at), until: Some(at), ..RunFilter::default() };
        let mut rows = self.store.runs(self.scope.clone(), filter, Cut::first(RUNS_MAX)).await?.rows;
        rows.sort_by_key(|row| (row.run.origin != Origin::Tick, row.run.key));
        if let Some(first) = rows.first_mut() {
            *first = self.run(first.run.key).await?;
        }
        Ok(rows)
    }

    /// What happened to the clocks of the run's node, or of any without one, from shortly before the instant until it
    /// was looked at.
    async fn upsets(
        &self,
        at: Timestamp,
        run: Option<&RunRow>,
        now: Timestamp,
    ) -> Result<Vec<Upset>, Failure> {
        let looked = run.and_then(|row| {
            let ended = row.run.state.status().is_terminal().then_some(row.completed_at).flatten();
            row.enqueued_at.or(row.started_at).or(ended)
        });
        let since = at.saturating_sub(UPSET_MARGIN).unwrap_or(at);
        let until = looked.unwrap_or(now).saturating_add(UPSET_MARGIN).unwrap_or(now);
        let filter = AuditFilter { since: Some(since), until: Some(until), ..AuditFilter::default() };
        let mut events = self.clock_events(filter, UPSETS_MAX).await?;
        if let Some(node) = run.and_then(|row| row.node.as_ref()) {
            events.retain(|event| event.detail.contains(&format!("node `{node}`")));
        }
        events.sort_by_key(|event| (event.at, event.seq));
        Ok(events.into_iter().map(|event| Upset { at: event.at, what: event.detail }).collect())
    }

    async fn look_up(&self, row: ScheduleRow, runs: Vec<RunRow>, at: Timestamp) -> Result<Found, Failure> {
        let second = Timestamp::from_second(at.as_second()).unwrap_or(at);
        let id = row.definition.id;
        let versions = self.versions_of(&row).await?;
        let range = self.range_at(id, second).await?;
        let slots = self.slots(id, second).await?;
        let referred = runs.first().map(|row| referred_runs(&row.run)).unwrap_or_default();
        let mut neighbours = Vec::new();
        for key in referred {
            neighbours.extend(self.neighbour(key).await?);
        }
        let mut upstream = Vec::new();
        for id in upstream_ids(&row) {
            upstream.push(self.upstream(id, second).await?);
        }
        let breaker = self.breaker(&row.definition.target.name).await?;
        Ok(Found { row, versions, runs, range, slots, neighbours, upstream, breaker })
    }

    /// The versions of a schedule, oldest first, each with when it had all its ticks.
    pub(super) async fn versions_of(&self, row: &ScheduleRow) -> Result<Vec<Version>, Failure> {
        let mut rows: Vec<VersionRow> = self.store.versions(self.scope.clone(), row.definition.id).await?;
        rows.sort_by_key(|version| version.version);
        let version =
            |one: VersionRow| Version { since: one.since, exhausted_at: None, schedule: one.definition };
        let mut versions: Vec<Version> = rows.into_iter().map(version).collect();
        if versions.len() > 1 {
            self.date_exhaustions(row.definition.id, &mut versions).await?;
        }
        if let Some(last) = versions.last_mut() {
            last.exhausted_at = exhausted_at(row);
        }
        Ok(versions)
    }

    /// Of versions that ended, the log says when they had all their ticks.
    async fn date_exhaustions(&self, schedule: ScheduleId, versions: &mut [Version]) -> Result<(), Failure> {
        let kind = Some("schedule.left_active".to_owned());
        let filter = AuditFilter { schedule: Some(schedule), kind, ..AuditFilter::default() };
        let events = self.store.audit(self.scope.clone(), filter, Cut::first(EXHAUSTIONS_MAX)).await?.rows;
        for place in 1..versions.len() {
            let (since, until) = (versions[place - 1].since, versions[place].since);
            let within = events.iter().filter(|event| since <= event.at && event.at <= until);
            versions[place - 1].exhausted_at = within.filter_map(|event| exhaustion(&event.detail)).min();
        }
        Ok(())
    }

    async fn range_at(&self, schedule: ScheduleId, at: Timestamp) -> Result<Option<RangeRecord>, Failure> {
        let filter =
            RunFilter { schedule: Some(schedule), since: Some(at), until: Some(at), ..RunFilter::default() };
        let found = self.store.ranges(self.scope.clone(), filter, Cut::first(1)).await?.rows;
        Ok(found.into_iter().next().map(record))
    }

    /// How many late ticks one stands for, as those that it was run for say.
    async fn slots(&self, schedule: ScheduleId, tick: Timestamp) -> Result<Option<u64>, Failure> {
        let filter = RunFilter { schedule: Some(schedule), until: Some(tick), ..RunFilter::default() };
        let cut = || Cut::first(SLOTS_LOOK_MAX);
        let rows = self.store.runs(self.scope.clone(), filter.clone(), cut()).await?.rows;
        let ranges = self.store.ranges(self.scope.clone(), filter, cut()).await?.rows;
        let by_rows = rows.iter().filter_map(|row| row.run.state.reason());
        let by_ranges = ranges.iter().map(|row| row.range.end.reason());
        Ok(by_rows.chain(by_ranges).find_map(|reason| match reason {
            Reason::CaughtUp { slots, by } if *by == tick => Some(*slots),
            _ => None,
        }))
    }

    async fn neighbour(&self, key: RunKey) -> Result<Option<Neighbour>, Failure> {
        let found = self.store.run(self.scope.clone(), key).await?;
        Ok(found.map(|RunRow { run: Run { scheduled_for, state, .. }, schedule_name, .. }| Neighbour {
            run: key,
            schedule: schedule_name,
            scheduled_for,
            status: state.status(),
        }))
    }

    /// A schedule that another one depends on, with its latest tick at or before an instant.
    async fn upstream(&self, id: ScheduleId, at: Timestamp) -> Result<Upstream, Failure> {
        let Some(row) = self.store.schedule(self.scope.clone(), Selector::Id(id)).await? else {
            return Ok(Upstream { schedule: id.to_string(), latest: None });
        };
        let filter = RunFilter {
            schedule: Some(id),
            origin: Some(Origin::Tick),
            until: Some(at),
            ..RunFilter::default()
        };
        let run =
            self.store.runs(self.scope.clone(), filter.clone(), Cut::first(1)).await?.rows.into_iter().next();
        let range =
            self.store.ranges(self.scope.clone(), filter, Cut::first(1)).await?.rows.into_iter().next();
        let run = run.map(|row| (row.run.scheduled_for, row.run.state.status()));
        let range = range.map(|row| (row.range.last.min(at), row.range.end.status()));
        let latest = run.into_iter().chain(range).max_by_key(|(tick, _)| *tick);
        Ok(Upstream { schedule: row.definition.name.clone(), latest })
    }

    /// Where the breaker of a target stands.
    async fn breaker(&self, target: &str) -> Result<Breaker, Failure> {
        let rows = self.store.breakers(self.scope.clone()).await?;
        Ok(rows.into_iter().find(|row| row.target == target).map(|row| row.breaker).unwrap_or_default())
    }
}

/// The instant in the sentence that says that a schedule was exhausted.
fn exhaustion(detail: &str) -> Option<Timestamp> {
    let at = detail.split(' ').next_back()?.parse().ok()?;
    (Reason::Exhausted { at }.to_string() == detail).then_some(at)
}

/// When the present version of a schedule had all its ticks.
pub(super) fn exhausted_at(row: &ScheduleRow) -> Option<Timestamp> {
    match row.state.status {
        punctual_plan::Status::Exhausted { at } => Some(at),
        _ => row.spent_at,
    }
}

fn record(row: RangeRow) -> RangeRecord {
    RangeRecord { range: row.range, version: row.version, recorded_at: row.recorded_at }
}

fn upstream_ids(row: &ScheduleRow) -> Vec<ScheduleId> {
    match &row.definition.when {
        When::Chain(chain) => vec![chain.upstream],
        When::Ticks(_) => {
            row.definition.policy.depends_on.iter().flat_map(|depends| depends.on.iter().copied()).collect()
        }
    }
}

/// How long after its time a run was launched.
fn admitted_after(row: &RunRow) -> Option<jiff::SignedDuration> {
    let first = row.run.attempts.first().map(|attempt| attempt.started_at).or(row.enqueued_at);
    first.map(|at| at.duration_since(row.run.fire_at))
}
