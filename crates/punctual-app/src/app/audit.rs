//! Audit: what was planned against what is recorded, the audit log, and its sealed chain.
//!
//! Start with [`App::audit`]. Each version of a schedule is audited over the time in which it was valid: from its making
//! to the next one, and not beyond the instant at which it had all its runs.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Basis, Hole, Origin, Recorded, RunStatus, Span, Status, Version, audit_ledger};
use punctual_store::{
    AuditFilter, AuditRow, Chain, Cut, RangeRow, RunFilter, RunRow, ScheduleRow, Store, timing,
};
use punctual_time::Timing;

use super::App;
use crate::Failure;

/// How the events begin that tell of the nodes' clocks.
const CLOCK: &str = "clock.";

/// Rows of one page of what is audited.
const PAGE: u32 = 1_000;

/// What an audit of one schedule found.
#[derive(Clone, Debug)]
pub struct Audited {
    /// The schedule.
    pub schedule: ScheduleRow,
    /// From when its ledger was compared; none if nothing of it lies in the stretch.
    pub from: Option<Timestamp>,
    /// Through when; ticks after it have not been decided yet.
    pub through: Option<Timestamp>,
    /// Ticks that the specs have.
    pub planned: u64,
    /// Ticks that the ledger has an entry for.
    pub recorded: u64,
    /// Whether the specs say when it ticks: not if it follows other schedules, or its own last run.
    pub basis: Basis,
    /// How many of each state.
    pub counts: BTreeMap<&'static str, u64>,
    /// What is wrong.
    pub holes: Vec<Hole>,
    /// Why the ledger does not reach the end of the stretch.
    pub open: Option<Open>,
}

/// Ticks that nobody has decided yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// From when on.
    pub since: Timestamp,
    /// Why.
    pub why: String,
}

impl App {
    /// Audits a schedule over a stretch of time, both ends included.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn audit(
        &self,
        schedule: ScheduleRow,
        stretch: RangeInclusive<Timestamp>,
    ) -> Result<Audited, Failure> {
        let now = self.now().await?;
        let mut versions = self.versions_of(&schedule).await?;
        let (rows, ranges) = self.recorded(&schedule, &stretch).await?;
        end_spent(&schedule, &mut versions, &rows);
        let parts = parts(&schedule, &versions, &stretch, now);
        let mut found = Audited {
            from: parts.iter().map(|part| *part.stretch.start()).min(),
            through: parts.iter().map(|part| *part.stretch.end()).max(),
            planned: 0,
            recorded: 0,
            basis: Basis::Spec,
            counts: counts(&rows, &ranges, &parts),
            holes: Vec::new(),
            open: open(&schedule, *stretch.end(), now),
            schedule,
        };
        for part in &parts {
            found.compare(part, &rows, &ranges);
        }
        found.recorded = found.counts.values().sum();
        found.holes.truncate(punctual_plan::AUDIT_HOLES_MAX);
        Ok(found)
    }

    /// Everything that the ledger has for a stretch.
    async fn recorded(
        &self,
        schedule: &ScheduleRow,
        stretch: &RangeInclusive<Timestamp>,
    ) -> Result<(Vec<Entry>, Vec<RangeRow>), Failure> {
        let filter = RunFilter {
            schedule: Some(schedule.definition.id),
            origin: Some(Origin::Tick).filter(|_| holds(Rule::ProofCountsTicks)),
            since: Some(*stretch.start()),
            until: Some(*stretch.end()),
            ..RunFilter::default()
        };
        let (mut rows, mut ranges) = (Vec::new(), Vec::new());
        let mut cut = Cut::first(PAGE);
        loop {
            let page = self.store.runs(self.scope.clone(), filter.clone(), cut).await?;
            rows.extend(page.rows.iter().map(Entry::of));
            let Some(after) = page.next else { break };
            cut = Cut { after: Some(after), limit: PAGE };
        }
        let mut cut = Cut::first(PAGE);
        loop {
            let page = self.store.ranges(self.scope.clone(), filter.clone(), cut).await?;
            ranges.extend(page.rows);
            let Some(after) = page.next else { return Ok((rows, ranges)) };
            cut = Cut { after: Some(after), limit: PAGE };
        }
    }

    /// Events of the audit log, newest first, with what happened to the clocks of the nodes unless a schedule or a run
    /// is asked about.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn audit_log(&self, filter: AuditFilter, limit: u32) -> Result<Vec<AuditRow>, Failure> {
        let is_wide = filter.schedule.is_none() && filter.run.is_none();
        let clocks = if is_wide { self.clock_events(filter.clone(), limit).await? } else { Vec::new() };
        let mut rows = self.store.audit(self.scope.clone(), filter, Cut::first(limit)).await?.rows;
        if !clocks.is_empty() {
            rows.extend(clocks);
            rows.sort_by_key(|row| std::cmp::Reverse((row.at, row.seq)));
            rows.truncate(limit as usize);
        }
        Ok(rows)
    }

    /// What happened to the clocks of the nodes, newest first.
    pub(super) async fn clock_events(
        &self,
        filter: AuditFilter,
        limit: u32,
    ) -> Result<Vec<AuditRow>, Failure> {
        let wanted = filter.kind.unwrap_or_default();
        // A kind that begins like theirs, or that theirs begin like; no other event of the installation is shown.
        let kind = match wanted.as_str() {
            kind if kind.starts_with(CLOCK) => kind.to_owned(),
            kind if CLOCK.starts_with(kind) => CLOCK.to_owned(),
            _ => return Ok(Vec::new()),
        };
        let filter = AuditFilter { kind: Some(kind), schedule: None, run: None, ..filter };
        Ok(self.store.audit(self.of_installation().await?, filter, Cut::first(limit)).await?.rows)
    }

    /// Checks the hash chain of the audit log.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn audit_verify(&self) -> Result<Chain, Failure> {
        Ok(self.store.verify_audit(self.scope.clone()).await?)
    }
}

/// What of a run is audited: a ledger is long, and what its runs printed is no matter here.
struct Entry {
    scheduled_for: Timestamp,
    version: i64,
    status: RunStatus,
}

impl Entry {
    fn of(row: &RunRow) -> Self {
        Self {
            scheduled_for: row.run.scheduled_for,
            version: row.run.version,
            status: row.run.state.status(),
        }
    }
}

/// A schedule that was enabled again after it had had all its runs owes no tick since its last one.
fn end_spent(schedule: &ScheduleRow, versions: &mut [Version], rows: &[Entry]) {
    let is_spent = timing(&schedule.definition, &schedule.state).is_some_and(|timing| timing.is_exhausted());
    let Some(last) = versions.last_mut().filter(|last| is_spent && last.exhausted_at.is_none()) else {
        return;
    };
    let ticks = rows.iter().filter(|row| row.version == last.schedule.version);
    last.exhausted_at = Some(ticks.map(|row| row.scheduled_for).max().unwrap_or(last.since));
}

/// A version and the part of the stretch in which its ticks count.
struct Part {
    version: i64,
    timing: Option<Timing>,
    stretch: RangeInclusive<Timestamp>,
}

/// How far the ledger of a schedule must reach.
fn decided(schedule: &ScheduleRow, now: Timestamp) -> Timestamp {
    let planned = schedule.state.cursor.planned_through.min(now);
    match schedule.deleted_at {
        Some(deleted) => deleted.min(now),
        // A pause is an open stretch until it is decided at resume.
        None => planned,
    }
}

fn parts(
    schedule: &ScheduleRow,
    versions: &[Version],
    stretch: &RangeInclusive<Timestamp>,
    now: Timestamp,
) -> Vec<Part> {
    let mut parts = Vec::new();
    for (place, version) in versions.iter().enumerate() {
        let next = versions.get(place + 1).map_or_else(|| decided(schedule, now), |next| next.since);
        let end = version.exhausted_at.map_or(next, |at| at.max(version.since).min(next));
        // A tick at the very instant of a change belongs to the version before it.
        let begin = version.since.saturating_add(SignedDuration::from_nanos(1)).unwrap_or(Timestamp::MAX);
        let stretch = begin.max(*stretch.start())..=end.min(*stretch.end());
        if stretch.start() <= stretch.end() {
            let timing = version.schedule.when.timing().cloned();
            parts.push(Part { version: version.schedule.version, timing, stretch });
        }
    }
    parts
}

impl Audited {
    /// Whether every tick has its entry, as far as the specs say when it ticks.
    pub fn is_whole(&self) -> bool {
        self.holes.is_empty()
    }

    fn compare(&mut self, part: &Part, rows: &[Entry], ranges: &[RangeRow]) {
        let Some(timing) = &part.timing else {
            self.basis = Basis::Runs;
            return;
        };
        // What an older version fired ahead of its instant is that version's, whatever this one says of the instant.
        let early: Vec<Timestamp> = rows
            .iter()
            .filter(|row| row.version < part.version && part.stretch.contains(&row.scheduled_for))
            .map(|row| row.scheduled_for)
            .collect();
        // Retention may have made it a stretch meanwhile.
        let digests = ranges.iter().filter(|row| row.version < part.version).map(|row| row.range.last);
        let digests = digests.filter(|last| part.stretch.contains(last));
        let begin = early.iter().copied().chain(digests).max().map_or(*part.stretch.start(), |last| {
            last.saturating_add(SignedDuration::from_nanos(1))
                .unwrap_or(Timestamp::MAX)
                .max(*part.stretch.start())
        });
        if begin > *part.stretch.end() {
            return;
        }
        let ticks: Vec<Timestamp> = rows.iter().map(|row| row.scheduled_for).collect();
        let own = ranges.iter().filter(|row| row.version >= part.version || row.range.last >= begin);
        let spans: Vec<Span> = own.map(|row| span(&row.range)).collect();
        let audit =
            audit_ledger(timing, Recorded { rows: &ticks, ranges: &spans }, begin..=*part.stretch.end());
        self.planned += audit.planned + early.len() as u64;
        if audit.basis == Basis::Runs {
            self.basis = Basis::Runs;
        }
        self.holes.extend(audit.holes);
    }
}

fn span(range: &punctual_plan::Range) -> Span {
    Span { first: range.first, last: range.last, count: range.count }
}

/// How many ticks ended as what: rows one by one, stretches and digests by their counts.
fn counts(rows: &[Entry], ranges: &[RangeRow], parts: &[Part]) -> BTreeMap<&'static str, u64> {
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    let is_audited = |at: Timestamp| parts.iter().any(|part| part.stretch.contains(&at));
    for row in rows.iter().filter(|row| is_audited(row.scheduled_for)) {
        *counts.entry(row.status.name()).or_default() += 1;
    }
    for row in ranges {
        let whole = is_audited(row.range.first) && is_audited(row.range.last);
        let status: Vec<(RunStatus, u64)> = match row.counts.is_empty() || !whole {
            true => vec![(row.range.end.status(), within(row, parts))],
            false => row.counts.clone(),
        };
        for (status, count) in status.into_iter().filter(|(_, count)| *count > 0) {
            *counts.entry(status.name()).or_default() += count;
        }
    }
    counts
}

/// How many ticks of a stretch lie in what is audited.
fn within(row: &RangeRow, parts: &[Part]) -> u64 {
    let contains =
        |part: &Part| part.stretch.contains(&row.range.first) && part.stretch.contains(&row.range.last);
    if parts.iter().any(contains) {
        return row.range.count;
    }
    let ticks = |part: &Part| {
        let timing = part.timing.as_ref()?;
        let (from, to) =
            (row.range.first.max(*part.stretch.start()), row.range.last.min(*part.stretch.end()));
        let mut free = timing.clone();
        free.bounds.max_runs = None;
        (from <= to).then(|| free.ticks(from..=to).count() as u64)
    };
    parts.iter().filter_map(ticks).sum::<u64>().min(row.range.count)
}

/// Why the ledger does not reach the end of the stretch, if it does not.
fn open(schedule: &ScheduleRow, end: Timestamp, now: Timestamp) -> Option<Open> {
    let since = decided(schedule, now);
    let is_over = schedule.deleted_at.is_some() || super::why::exhausted_at(schedule).is_some();
    if is_over || since >= end.min(now) || schedule.definition.when.timing().is_none() {
        return None;
    }
    let why = match &schedule.state.status {
        Status::Active => "no node has planned it further yet".to_owned(),
        Status::Maintenance { note, .. } => {
            format!("it is in maintenance ({note}): what it slept through is decided when that ends")
        }
        status => format!("it is `{}`: what it slept through is decided when it is enabled", status.name()),
    };
    Some(Open { since, why })
}
