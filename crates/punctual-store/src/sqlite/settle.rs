//! Runs are launched and end: judged one after the other, each written with everything that follows from it.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use punctual_plan::{
    Breaker, Chained, Counters, Event, Fence, Follower, Next, OrgKey, Origin, Outcome, Reason, RunKey,
    RunStatus, ScheduleKey, When,
};
use punctual_time::Anchor;
use rusqlite::{CachedStatement, Row, params};

use super::audit::{About, record_event};
use super::change::disable;
use super::connection::{Db, execute, first};
use super::decode::{breaker, column, maybe_instant, named, status, text};
use super::open::{Waker, done_by, exhaust, go_on};
use super::plan::{NewRow, Place, PlanWriter};
use super::sheet::{self, Folded};
use super::uncounted;
use super::{batch, sql};
use crate::docket::{Docket, Judgement, Standing, Tally};
use crate::stored::{answer_of, bounded_output, read_status};
use crate::{AttemptToken, Batch, Commit, Error, Report, Settled, Started};

/// Notes that runs were launched; one that has ended meanwhile keeps its end.
pub(super) fn mark_running(db: &Db, head: Batch, started: &[Started]) -> Result<Vec<Commit>, Error> {
    batch::once(db, head, || {
        let mut mark = db.prepare(sql!("mark_running"))?;
        let mut one = |one: &Started| {
            let row = params![one.run.0, one.attempt, head.fence.0, one.at.as_microsecond()];
            Ok(done_by(execute(&mut mark, row)?))
        };
        started.iter().map(&mut one).collect()
    })
}

/// Settles attempts; a batch that was settled before gives its commits again, without what was decided.
pub(super) fn settle(db: &Db, head: Batch, reports: &[Report]) -> Result<Vec<Settled>, Error> {
    if let Some(commits) = batch::answered(db, head)? {
        return Ok(commits.into_iter().map(|commit| Settled { commit, settlement: None }).collect());
    }
    let mut settling = Settling::new(db, head.now)?;
    settling.folded = sheet::take(db, &reports.iter().map(|report| report.run).collect())?;
    settling.planned_by = uncounted::planned_by(settling.folded.len(), head.now);
    let settled: Vec<Settled> =
        reports.iter().map(|report| settling.settle(report)).collect::<Result<_, _>>()?;
    let folded: Vec<ScheduleKey> = settling.folded.values().map(Folded::schedule).collect();
    settling.end()?;
    if settling.is_only_ends()? {
        db.has_ended(settling.docket.schedules.keys().copied().chain(folded).collect());
    }
    batch::keep(db, head, &answer_of(settled.iter().map(|one| one.commit)))?;
    Ok(settled)
}

/// Ends a run in flight in some way, with all that follows.
pub(super) fn end_as(settling: &mut Settling<'_>, run: RunKey, outcome: Outcome) -> Result<(), Error> {
    settling.load(run, &AttemptToken::Node(Fence(0)))?;
    let Some(standing) = settling.docket.runs.get(&run) else { return Ok(()) };
    let token = AttemptToken::Node(standing.fence.unwrap_or(Fence(0)));
    let (attempt, at) = (standing.attempt, settling.now);
    let report = Report { run, attempt, token, outcome, started_at: None, at, output: None };
    settling.settle(&report)?;
    settling.end()
}

/// What a run has beside what its decision needs.
struct Beside {
    origin: Origin,
    started_at: Option<Timestamp>,
    enqueued_at: Option<Timestamp>,
    token: Option<String>,
    /// Whether its schedule has no tick left to plan.
    is_last: bool,
    /// Whether its schedule may count it later.
    may_wait: bool,
}

/// A run as it was found, with how its schedule stood.
struct Found {
    schedule: ScheduleKey,
    org: OrgKey,
    status: RunStatus,
    attempt: u32,
    fence: Option<Fence>,
    version: i64,
    beside: Beside,
    tally: Tally,
    /// Whether an end of its schedule is in its row alone.
    has_uncounted: bool,
}

impl Found {
    fn read(row: &Row<'_>) -> Result<Self, Error> {
        let beside = Beside {
            origin: named(row, 7)?,
            started_at: maybe_instant(row, 8)?,
            enqueued_at: maybe_instant(row, 9)?,
            token: column(row, 5)?,
            is_last: column(row, 16)?,
            may_wait: column(row, 17)?,
        };
        let counters = Counters {
            runs: column(row, 10)?,
            successes: column(row, 11)?,
            failures: column(row, 12)?,
            consecutive_failures: column(row, 13)?,
            admitted: column(row, 14)?,
        };
        Ok(Self {
            schedule: ScheduleKey(column(row, 0)?),
            org: OrgKey(column(row, 1)?),
            status: status(row, 2)?,
            attempt: column(row, 3)?,
            fence: column::<Option<i64>>(row, 4)?.map(Fence),
            version: column(row, 6)?,
            beside,
            tally: Tally { counters, is_active: column(row, 15)?, followers: Vec::new() },
            has_uncounted: column(row, 18)?,
        })
    }

    /// Its start was committed on a sheet.
    fn start(&mut self, folded: &Folded) {
        (self.status, self.attempt, self.fence) = (RunStatus::Enqueued, 1, Some(folded.fence()));
        self.beside.enqueued_at = Timestamp::from_microsecond(folded.at()).ok();
        self.tally.counters.admitted += 1;
    }
}

/// Reports on their way into the tables.
pub(super) struct Settling<'a> {
    db: &'a Db,
    now: Timestamp,
    docket: Docket,
    beside: HashMap<RunKey, Beside>,
    /// Runs whose start is in no row yet: it is written with their end.
    folded: HashMap<RunKey, Folded>,
    read: CachedStatement<'a>,
    run: CachedStatement<'a>,
    state: CachedStatement<'a>,
    /// Schedules that are planned until then may count their ends with their plans.
    planned_by: i64,
    waker: Waker<'a>,
    has_breakers: bool,
    has_claims: bool,
    has_use: bool,
    /// Whether schedules of an org follow others.
    chains: HashMap<OrgKey, bool>,
    /// Orgs of which a place became free.
    freed: HashSet<OrgKey>,
    /// Whether more followed from a report than that a run has ended.
    has_more: bool,
}

impl<'a> Settling<'a> {
    pub(super) fn new(db: &'a Db, now: Timestamp) -> Result<Self, Error> {
        let is = |statement| Ok::<bool, Error>(db.value(statement, [])?.unwrap_or_default());
        Ok(Self {
            db,
            now,
            docket: Docket::default(),
            beside: HashMap::new(),
            folded: HashMap::new(),
            read: db.prepare(sql!("settle_read"))?,
            run: db.prepare(sql!("settle_run"))?,
            state: db.prepare(sql!("count_run"))?,
            planned_by: i64::MIN,
            waker: Waker::new(db, now)?,
            has_breakers: is(sql!("is_any_breaker"))?,
            has_claims: is(sql!("is_any_claim"))?,
            has_use: is(sql!("is_any_org_use"))?,
            chains: HashMap::new(),
            freed: HashSet::new(),
            has_more: false,
        })
    }

    fn settle(&mut self, report: &Report) -> Result<Settled, Error> {
        self.load(report.run, &report.token)?;
        let Some(judgement) = self.docket.judge(report, self.now) else {
            return Ok(Settled { commit: Commit::Stale, settlement: None });
        };
        self.write(report, &judgement)?;
        Ok(Settled { commit: Commit::Done, settlement: Some(judgement.settlement) })
    }

    /// Whether nothing that was written concerns a verdict over another schedule.
    fn is_only_ends(&self) -> Result<bool, Error> {
        let is_shared = self.has_breakers || self.has_claims || self.has_use || self.waker.is_any();
        if self.has_more || is_shared {
            return Ok(false);
        }
        let orgs: HashSet<OrgKey> = self.docket.runs.values().map(|run| run.org).collect();
        for org in orgs {
            if self.db.value(sql!("is_any_tie"), [org.0])?.unwrap_or(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What is left to do after the last report.
    fn end(&mut self) -> Result<(), Error> {
        // A start whose end nobody may report is one all the same.
        self.unfold()?;
        for org in self.freed.drain() {
            self.waker.room(org)?;
        }
        Ok(())
    }

    /// Puts the starts that are still to be written into their rows.
    fn unfold(&mut self) -> Result<(), Error> {
        let folded = std::mem::take(&mut self.folded);
        if folded.is_empty() { Ok(()) } else { sheet::into_rows(self.db, folded.values()) }
    }

    /// Reads a run and its schedule into the docket, once.
    fn load(&mut self, run: RunKey, token: &AttemptToken) -> Result<(), Error> {
        if self.docket.runs.contains_key(&run) {
            return Ok(());
        }
        let query = params![run.0, self.planned_by, self.now.as_second()];
        let Some(mut found) = first(&mut self.read, query, Found::read)? else { return Ok(()) };
        if found.has_uncounted && uncounted::count(self.db, found.schedule, self.now.as_second())? {
            found = first(&mut self.read, query, Found::read)?.unwrap_or(found);
        }
        if let Some(folded) = self.folded.get(&run) {
            found.start(folded);
        }
        let Found { schedule, org, status, attempt, fence, version, beside, mut tally, .. } = found;
        let definition = self.db.definition(schedule, version)?;
        let tokens = match token {
            AttemptToken::Node(_) => Vec::new(),
            AttemptToken::Holder(_) => self.tokens(run, attempt, beside.token.as_deref())?,
        };
        if !self.docket.schedules.contains_key(&schedule) {
            tally.followers = self.followers(org, &definition.id.to_string())?;
            self.docket.schedules.insert(schedule, tally);
        }
        if self.has_breakers {
            self.load_breaker(org, &definition.target.name)?;
        }
        self.beside.insert(run, beside);
        self.docket.runs.insert(run, Standing { schedule, org, status, attempt, fence, tokens, definition });
        Ok(())
    }

    fn tokens(&self, run: RunKey, attempt: u32, token: Option<&str>) -> Result<Vec<(u32, String)>, Error> {
        let read = |row: &rusqlite::Row<'_>| Ok((column(row, 0)?, column(row, 1)?));
        let mut tokens = self.db.rows(sql!("attempt_tokens"), [run.0], read)?;
        tokens.extend(token.map(|token| (attempt, token.to_owned())));
        Ok(tokens)
    }

    fn followers(&mut self, org: OrgKey, id: &str) -> Result<Vec<Follower>, Error> {
        let has_chains = match self.chains.get(&org) {
            Some(known) => *known,
            None => {
                let known = self.db.value(sql!("is_any_chain"), [org.0])?.unwrap_or_default();
                self.chains.insert(org, known);
                known
            }
        };
        if !has_chains {
            return Ok(Vec::new());
        }
        let found = self.db.rows(sql!("followers"), params![org.0, id], |row| {
            Ok((ScheduleKey(column(row, 0)?), column::<i64>(row, 1)?))
        })?;
        let follower = |(schedule, version)| match self.db.definition(schedule, version) {
            Ok(definition) => match &definition.when {
                When::Chain(chain) => Some(Ok(Follower { schedule, chain: chain.clone() })),
                When::Ticks(_) => None,
            },
            // One that cannot be read any more follows nothing, and stops nobody.
            Err(Error::Corrupt { .. }) => None,
            Err(error) => Some(Err(error)),
        };
        found.into_iter().filter_map(follower).collect()
    }

    fn load_breaker(&mut self, org: OrgKey, target: &str) -> Result<(), Error> {
        let key = (org, target.to_owned());
        if self.docket.breakers.contains_key(&key) {
            return Ok(());
        }
        let found = self.db.first(sql!("breaker"), params![org.0, target], |row| breaker(row, 0))?;
        self.docket.breakers.extend(found.map(|found| (key, found)));
        Ok(())
    }

    fn write(&mut self, report: &Report, judged: &Judgement) -> Result<(), Error> {
        let (run, org) = (report.run, judged.org);
        let settlement = &judged.settlement;
        let schedule = settlement.in_flight.schedule;
        let is_last = self.beside.get(&run).is_none_or(|beside| beside.is_last);
        self.has_more |=
            !judged.is_plain() || is_last || judged.definition.when.floats_on(Anchor::LastFinish);
        // Whatever follows from an end but that it is one is decided on rows that say all.
        if !self.folded.is_empty() && !judged.is_plain() {
            self.unfold()?;
            sheet::unfold_all(self.db)?;
        }
        self.keep_attempt(report, judged)?;
        match &settlement.next {
            Next::End { status, reason, at } => self.write_end(report, judged, (*status, reason, *at))?,
            Next::Retry { at, reason, .. } => {
                let started = report.started_at.map(Timestamp::as_microsecond);
                let row = params![run.0, reason.code(), reason.detail(), started, at.as_microsecond()];
                self.db.change(sql!("retry_run"), row)?;
                self.db.change(sql!("free_schedule"), params![schedule.0, run.0])?;
            }
        }
        if self.has_claims {
            self.db.change(sql!("free_guards"), [run.0])?;
            self.db.change(sql!("free_lanes"), [run.0])?;
        }
        if self.has_use && judged.was.is_in_flight() {
            self.db.change(sql!("free_place"), [org.0])?;
            self.freed.insert(org);
        }
        if let Some(moved) = settlement.breaker {
            self.move_breaker(run, judged, moved)?;
        }
        self.waker.behind(org, run)?;
        for chained in &settlement.chained {
            self.chain(chained)?;
        }
        if let Some(status) = &settlement.disabled {
            disable(self.db, schedule, status, self.now)?;
        }
        match (&settlement.next, self.beside.get(&run)) {
            (Next::End { .. }, Some(Beside { is_last: true, origin: Origin::Tick, .. })) => {
                go_on(self.db, org, schedule, self.now)
            }
            (Next::End { .. }, Some(Beside { is_last: true, .. })) => {
                exhaust(self.db, org, schedule, self.now)
            }
            _ => Ok(()),
        }
    }

    fn write_end(
        &mut self,
        report: &Report,
        judged: &Judgement,
        end: (RunStatus, &Option<Reason>, Timestamp),
    ) -> Result<(), Error> {
        let (status, reason, at) = end;
        let (run, at) = (report.run, at.as_microsecond());
        let folded = self.folded.remove(&run);
        let begun = folded.as_ref();
        let row = params![
            run.0,
            status.name(),
            reason.as_ref().map(Reason::code),
            reason.as_ref().map(Reason::detail),
            report.started_at.map(Timestamp::as_microsecond),
            at,
            begun.map(|folded| folded.fence().0),
            begun.map(Folded::at),
            begun.and_then(Folded::trace),
        ];
        execute(&mut self.run, row)?;
        if begun.is_some() && self.may_wait(run, judged, status) {
            return self.waker.upstream(judged.org, &judged.definition.name);
        }
        let counters = judged.settlement.counters;
        let schedule = judged.settlement.in_flight.schedule;
        let success = (status == RunStatus::Success).then_some(());
        let is_tick = self.beside.get(&run).is_some_and(|beside| beside.origin == Origin::Tick);
        let row = params![
            schedule.0,
            run.0,
            counters.runs,
            counters.successes,
            counters.failures,
            counters.consecutive_failures,
            at,
            status.name(),
            success.map(|()| at),
            success.map(|()| run.0),
            is_tick.then_some(at),
            begun.map(Folded::at),
            begun.map(Folded::scheduled_for),
        ];
        execute(&mut self.state, row)?;
        if is_tick {
            self.waker.upstream(judged.org, &judged.definition.name)?;
            if judged.definition.when.floats_on(Anchor::LastFinish) {
                self.db.change(sql!("float"), params![schedule.0, self.now.as_microsecond()])?;
            }
        }
        Ok(())
    }

    /// Whether the end of a run that was on a sheet is counted when its schedule is planned.
    fn may_wait(&self, run: RunKey, judged: &Judgement, status: RunStatus) -> bool {
        let is_good = status == RunStatus::Success && judged.is_plain();
        let may_wait = |beside: &Beside| beside.may_wait && !beside.is_last && beside.origin == Origin::Tick;
        is_good && self.beside.get(&run).is_some_and(may_wait) && uncounted::may_wait(&judged.definition)
    }

    /// An attempt that is repeated, or that printed something, has a row of its own.
    fn keep_attempt(&self, report: &Report, judged: &Judgement) -> Result<(), Error> {
        let (reason, is_repeated) = match &judged.settlement.next {
            Next::End { reason, .. } => (reason.as_ref(), judged.attempt > 1),
            Next::Retry { reason, .. } => (Some(reason), true),
        };
        let output = report.output.as_deref().filter(|output| !output.is_empty());
        if !is_repeated && output.is_none() {
            return Ok(());
        }
        let beside = self.beside.get(&report.run).filter(|_| report.attempt == judged.attempt);
        let started = report
            .started_at
            .or_else(|| beside.and_then(|beside| beside.started_at.or(beside.enqueued_at)))
            .unwrap_or(report.at);
        let row = params![
            report.run.0,
            report.attempt,
            judged.org.0,
            started.as_microsecond(),
            report.at.as_microsecond(),
            reason.map(Reason::code),
            reason.map(Reason::detail),
            output.map(bounded_output),
            beside.and_then(|beside| beside.token.as_deref()),
        ];
        self.db.change(sql!("put_attempt"), row).map(|_| ())
    }

    fn move_breaker(&mut self, run: RunKey, judged: &Judgement, to: Breaker) -> Result<(), Error> {
        self.has_breakers = true;
        let (org, target, at) = (judged.org, &judged.definition.target.name, self.now.as_microsecond());
        let (failures, until, probe) = match to {
            Breaker::Closed { failures } => (failures, None, None),
            Breaker::Open { until } => (0, Some(until.as_microsecond()), None),
            Breaker::HalfOpen { probe } => (0, None, Some(probe.0)),
        };
        if to == Breaker::default() {
            self.db.change(sql!("remove_breaker"), params![org.0, target])?;
        } else {
            let row = params![org.0, target, to.name(), failures, until, probe, at];
            self.db.change(sql!("put_breaker"), row)?;
        }
        let from = judged.breaker_before;
        if from.name() == to.name() {
            return Ok(());
        }
        let row = params![org.0, target, at, from.name(), to.name(), run.0];
        self.db.change(sql!("insert_transition"), row)?;
        let about = About::schedule(org, judged.settlement.in_flight.schedule, self.now).of_run(run);
        record_event(self.db, about, &Event::BreakerMoved { target: target.clone(), to })
    }

    /// A run of a follower; one that is not active has its reason, a deleted one none at all.
    fn chain(&self, chained: &Chained) -> Result<(), Error> {
        let found = self.db.first(sql!("follower_state"), [chained.schedule.0], |row| {
            let place = Place {
                org: OrgKey(column(row, 0)?),
                schedule: chained.schedule,
                version: column(row, 1)?,
                shard: column(row, 2)?,
            };
            let status = read_status(text(row, 3)?, text(row, 4)?)?;
            let since = maybe_instant(row, 5)?.unwrap_or(self.now);
            Ok((place, status.reason(since), maybe_instant(row, 6)?))
        })?;
        let Some((place, known, None)) = found else { return Ok(()) };
        let verdict = known.or_else(|| chained.verdict.clone());
        let new = NewRow {
            origin: Origin::Chained,
            nonce: &chained.upstream.to_string(),
            scheduled_for: chained.scheduled_for,
            fire_at: chained.fire_at,
            status: RunStatus::Scheduled,
            reason: verdict.as_ref(),
            is_forced: false,
        };
        PlanWriter::new(self.db, self.now)?.insert(place, &new).map(|_| ())
    }
}
