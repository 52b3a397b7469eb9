//! Settling: runs, schedules and breakers are read under locks in the order of keys, the docket judges, and
//! everything that follows is written by `verdict` in the same transaction.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{
    Breaker, Counters, Fence, Follower, OrgKey, Origin, Outcome, RunKey, Schedule, ScheduleKey, Status, When,
};
use tokio_postgres::Row;

use super::connection::{Arg, Role, Tx, col};
use super::good::{Good, Way, end_states};
use super::plan::{named, unsigned};
use super::said::unless_raced;
use super::verdict::Verdicts;
use super::wait::hold_with_waiters;
use super::world::read_breaker;
use super::{By, Postgres, sql};
use crate::docket::{Docket, Standing, Tally};
use crate::instant::{from_micros, from_seconds};
use crate::stored::{answer_of, read_answer, read_status};
use crate::{AttemptToken, Batch, Commit, Error, Report, Settled, Started};

/// A run that an admission cancels.
pub(super) struct Cancelled {
    pub(super) run: RunKey,
    pub(super) outcome: Outcome,
}

/// What was read beside what the docket needs.
#[derive(Default)]
pub(super) struct Held {
    /// How many good ends are written already.
    pub(super) written: usize,
    pub(super) runs: HashMap<RunKey, HeldRun>,
    pub(super) states: HashMap<ScheduleKey, HeldState>,
    pub(super) followers: HashMap<ScheduleKey, HeldFollower>,
}

pub(super) struct HeldRun {
    pub(super) origin: Origin,
    pub(super) tick: Timestamp,
    pub(super) token: Option<String>,
    pub(super) started_at: Option<Timestamp>,
    /// When it ended well, if that is written already.
    pub(super) ended_at: Option<Timestamp>,
}

pub(super) struct HeldState {
    pub(super) active_run: Option<i64>,
    pub(super) definition: Option<Arc<Schedule>>,
    pub(super) may_end: bool,
    /// Whether what its run left of it is written already.
    pub(super) is_written: bool,
}

/// A schedule that follows one of those that are settled.
pub(super) struct HeldFollower {
    pub(super) org: OrgKey,
    pub(super) shard: i64,
    pub(super) version: i64,
    pub(super) status: Status,
    pub(super) left_at: Option<Timestamp>,
}

impl Postgres {
    pub(super) async fn mark_batch(&self, batch: Batch, started: &[Started]) -> Result<Vec<Commit>, Error> {
        unless_raced(|| self.mark_once(batch, started)).await
    }

    async fn mark_once(&self, batch: Batch, started: &[Started]) -> Result<Vec<Commit>, Error> {
        let tx = self.connections.begin(Role::Hot, "noting launches").await?;
        let result = mark_in(&tx, batch, started).await;
        let answered = self
            .answer(tx, By::Node(batch), result.map(|commits| (answer_of(commits.iter().copied()), commits)))
            .await?;
        answered.or_else(|before| read_answer(&before))
    }

    pub(super) async fn settle_batch(&self, batch: Batch, reports: &[Report]) -> Result<Vec<Settled>, Error> {
        unless_raced(|| self.settle_once(batch, reports)).await
    }

    async fn settle_once(&self, batch: Batch, reports: &[Report]) -> Result<Vec<Settled>, Error> {
        let mut tx = self.connections.begin(Role::Hot, "settling runs").await?;
        let mut result = self.settle_in(&tx, (batch.now, Way::Short), reports).await;
        if matches!(result, Ok(None)) {
            tx.rollback().await?;
            tx = self.connections.begin(Role::Hot, "settling runs").await?;
            result = self.settle_in(&tx, (batch.now, Way::Long), reports).await;
        }
        let result = result.map(Option::unwrap_or_default);
        let answer = |settled: Vec<Settled>| {
            let commits: Vec<Commit> = settled.iter().map(|one| one.commit).collect();
            (answer_of(commits.iter().copied()), settled)
        };
        let answered = self.answer(tx, By::Token(batch), result.map(answer)).await?;
        // What was decided the first time has been told, or is in the rows.
        answered.or_else(|before| {
            let settled = |commit| Settled { commit, settlement: None };
            Ok(read_answer(&before)?.into_iter().map(settled).collect())
        })
    }

    /// Settles reports; nothing, if the short way was the wrong one.
    async fn settle_in(
        &self,
        tx: &Tx,
        (now, way): (Timestamp, Way),
        reports: &[Report],
    ) -> Result<Option<Vec<Settled>>, Error> {
        let Some((mut docket, held)) = self.hold(tx, (now, way), reports).await? else {
            return Ok(None);
        };
        let mut verdicts = Verdicts::new(now, held);
        let mut settled = Vec::with_capacity(reports.len());
        for report in reports {
            let judgement = docket.judge(report, now);
            settled.push(Settled {
                commit: if judgement.is_some() { Commit::Done } else { Commit::Stale },
                settlement: judgement.as_ref().map(|judgement| judgement.settlement.clone()),
            });
            if let Some(judgement) = judgement {
                verdicts.add(report, judgement);
            }
        }
        if !verdicts.are_as_written() {
            return Ok(None);
        }
        self.carry_out(tx, verdicts).await?;
        Ok(Some(settled))
    }

    /// Ends runs in flight by the engine's own authority, inside another step's transaction.
    pub(super) async fn cancel(&self, tx: &Tx, now: Timestamp, cancelled: &[Cancelled]) -> Result<(), Error> {
        let mut keys: Vec<i64> = cancelled.iter().map(|one| one.run.0).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut present = HashMap::new();
        for row in tx.rows(sql!("lock_settling"), &[&keys]).await? {
            let fence = col::<Option<i64>>(&row, 5)?.unwrap_or_default();
            let attempt = u32::try_from(col::<i64>(&row, 4)?).unwrap_or(u32::MAX);
            present.insert(RunKey(col(&row, 0)?), (Fence(fence), attempt));
        }
        let report = |one: &Cancelled| {
            let (fence, attempt) = *present.get(&one.run)?;
            Some(Report {
                run: one.run,
                attempt,
                token: AttemptToken::Node(fence),
                outcome: one.outcome.clone(),
                started_at: None,
                at: now,
                output: None,
            })
        };
        let reports: Vec<Report> = cancelled.iter().filter_map(report).collect();
        self.settle_in(tx, (now, Way::Long), &reports).await.map(|_| ())
    }

    /// Reads and locks everything that the reports are judged by; nothing, if after what was written already another row
    /// would have to be waited for, whose holder may wait for what was written.
    async fn hold(
        &self,
        tx: &Tx,
        when: (Timestamp, Way),
        reports: &[Report],
    ) -> Result<Option<(Docket, Held)>, Error> {
        let keys: BTreeSet<i64> = reports.iter().map(|report| report.run.0).collect();
        let keys: Vec<i64> = keys.into_iter().collect();
        // Places of orgs, then runs with all that wait for them, then schedules: as admission holds them.
        tx.rows(sql!("lock_org_use_of"), &[&keys]).await?;
        hold_with_waiters(tx, &keys).await?;
        let good = Good::among(reports, when);
        let mut rows = good.end_runs(tx).await?;
        let mut ended = HashMap::with_capacity(rows.len());
        for row in &rows {
            let run = RunKey(col(row, 0)?);
            ended.insert(run, good.ended_at(run));
        }
        let others: Vec<i64> = keys.into_iter().filter(|key| !ended.contains_key(&RunKey(*key))).collect();
        // A row that was waited for and then turned out otherwise is held all the same.
        if good.is_empty() {
            rows = tx.rows(sql!("lock_settling"), &[&others]).await?;
        } else if !others.is_empty() {
            rows.extend(tx.rows(sql!("lock_free_settling"), &[&others]).await?);
            if rows.len() < ended.len() + others.len() {
                return Ok(None);
            }
        }
        let mut docket = Docket::default();
        let mut held = Held { written: ended.len(), ..Held::default() };
        let mut versions = Vec::with_capacity(rows.len());
        for row in &rows {
            versions.push((ScheduleKey(col(row, 1)?), col::<i64>(row, 6)?));
        }
        let known = self.definitions(tx, &versions).await?;
        for (row, version) in rows.iter().zip(versions) {
            // One that cannot be read any more is left to whoever repairs its definition.
            let Some(Ok(definition)) = known.get(&version) else { continue };
            let run = RunKey(col(row, 0)?);
            let (standing, extra) = read_standing(row, definition)?;
            docket.runs.insert(run, standing);
            held.runs.insert(run, HeldRun { ended_at: ended.get(&run).copied().flatten(), ..extra });
        }
        self.hold_tokens(tx, reports, &mut docket).await?;
        if !self.hold_states(tx, &mut docket, &mut held).await? {
            return Ok(None);
        }
        hold_breakers(tx, reports, &mut docket).await?;
        Ok(Some((docket, held)))
    }

    /// Tokens of earlier attempts, if somebody who is no node reports.
    async fn hold_tokens(&self, tx: &Tx, reports: &[Report], docket: &mut Docket) -> Result<(), Error> {
        let is_held = |report: &&Report| matches!(report.token, AttemptToken::Holder(_));
        let runs: Vec<i64> = reports.iter().filter(is_held).map(|report| report.run.0).collect();
        if runs.is_empty() {
            return Ok(());
        }
        for row in tx.rows(sql!("attempt_tokens"), &[&runs]).await? {
            if let Some(standing) = docket.runs.get_mut(&RunKey(col(&row, 0)?)) {
                standing
                    .tokens
                    .push((u32::try_from(col::<i64>(&row, 1)?).unwrap_or(u32::MAX), col(&row, 2)?));
            }
        }
        Ok(())
    }

    /// Whether the schedules of the runs could be held without waiting out of order.
    async fn hold_states(&self, tx: &Tx, docket: &mut Docket, held: &mut Held) -> Result<bool, Error> {
        let (mut rows, others) = end_states(tx, docket, held).await?;
        let written = rows.len();
        if written == 0 {
            rows = tx.rows(sql!("lock_states"), &[&others]).await?;
        } else if !others.is_empty() {
            rows.extend(tx.rows(sql!("lock_free_states"), &[&others]).await?);
            if rows.len() < written + others.len() {
                return Ok(false);
            }
        }
        let ids: HashMap<ScheduleKey, Arc<Schedule>> =
            docket.runs.values().map(|run| (run.schedule, Arc::clone(&run.definition))).collect();
        let mut asked: (Vec<i64>, Vec<String>) = Default::default();
        let mut versions = Vec::with_capacity(rows.len());
        for row in &rows {
            versions.push((ScheduleKey(col(row, 0)?), col::<i64>(row, 11)?));
        }
        let present = self.definitions(tx, &versions).await?;
        for (place, (row, version)) in rows.iter().zip(versions).enumerate() {
            let key = ScheduleKey(col(row, 0)?);
            let status: &str = col(row, 2)?;
            docket.schedules.insert(
                key,
                Tally {
                    counters: read_counters(row)?,
                    is_active: status == "active" && col::<Option<i64>>(row, 9)?.is_none(),
                    followers: Vec::new(),
                },
            );
            let own = ids.get(&key).cloned();
            if let Some(definition) = &own {
                asked.0.push(col(row, 1)?);
                asked.1.push(definition.id.to_string());
            }
            // What comes next is the present version's matter, unless that cannot be read.
            let definition = present.get(&version).and_then(|known| known.as_ref().ok().cloned()).or(own);
            let may_end = col(row, 10)?;
            let (active_run, is_written) = (col(row, 8)?, place < written);
            held.states.insert(key, HeldState { active_run, definition, may_end, is_written });
        }
        let by_id: HashMap<String, ScheduleKey> =
            ids.iter().map(|(key, definition)| (definition.id.to_string(), *key)).collect();
        let rows = tx.rows(sql!("followers"), &[&asked.0, &asked.1]).await?;
        self.hold_followers(tx, &rows, (docket, held, by_id)).await?;
        Ok(true)
    }

    async fn hold_followers(
        &self,
        tx: &Tx,
        rows: &[Row],
        (docket, held, by_id): (&mut Docket, &mut Held, HashMap<String, ScheduleKey>),
    ) -> Result<(), Error> {
        let mut versions = Vec::with_capacity(rows.len());
        for row in rows {
            versions.push((ScheduleKey(col(row, 1)?), col::<i64>(row, 4)?));
        }
        let known = self.definitions(tx, &versions).await?;
        for (row, version) in rows.iter().zip(versions) {
            let Some(Ok(definition)) = known.get(&version) else { continue };
            let When::Chain(chain) = &definition.when else { continue };
            let Some(upstream) = by_id.get(col::<&str>(row, 0)?) else { continue };
            if let Some(tally) = docket.schedules.get_mut(upstream) {
                tally.followers.push(Follower { schedule: version.0, chain: chain.clone() });
            }
            let follower = HeldFollower {
                org: OrgKey(col(row, 2)?),
                shard: col(row, 3)?,
                version: version.1,
                status: read_status(col(row, 5)?, col(row, 6)?)?,
                left_at: col::<Option<i64>>(row, 7)?.map(from_micros).transpose()?,
            };
            held.followers.insert(version.0, follower);
        }
        for tally in docket.schedules.values_mut() {
            tally.followers.sort_by_key(|follower| follower.schedule);
        }
        Ok(())
    }
}

fn read_standing(row: &Row, definition: &Arc<Schedule>) -> Result<(Standing, HeldRun), Error> {
    let attempt = u32::try_from(col::<i64>(row, 4)?).unwrap_or(u32::MAX);
    let token: Option<String> = col(row, 7)?;
    let standing = Standing {
        schedule: ScheduleKey(col(row, 1)?),
        org: OrgKey(col(row, 2)?),
        status: named(col(row, 3)?)?,
        attempt,
        fence: col::<Option<i64>>(row, 5)?.map(Fence),
        tokens: token.iter().map(|token| (attempt, token.clone())).collect(),
        definition: Arc::clone(definition),
    };
    let held = HeldRun {
        origin: named(col(row, 8)?)?,
        tick: from_seconds(col(row, 9)?)?,
        token,
        started_at: col::<Option<i64>>(row, 10)?.map(from_micros).transpose()?,
        ended_at: None,
    };
    Ok((standing, held))
}

fn read_counters(row: &Row) -> Result<Counters, Error> {
    Ok(Counters {
        admitted: unsigned(col(row, 3)?),
        runs: unsigned(col(row, 4)?),
        successes: unsigned(col(row, 5)?),
        failures: unsigned(col(row, 6)?),
        consecutive_failures: u32::try_from(col::<i64>(row, 7)?).unwrap_or(u32::MAX),
    })
}

/// Breakers of the targets concerned; one that a failure may move gets its row first, so that it can be held.
async fn hold_breakers(tx: &Tx, reports: &[Report], docket: &mut Docket) -> Result<(), Error> {
    let mut targets: BTreeMap<(i64, String), i64> = BTreeMap::new();
    for report in reports {
        let Some(run) = docket.runs.get(&report.run) else { continue };
        let moves =
            !matches!(report.outcome, Outcome::Succeeded | Outcome::Cancelled { .. } | Outcome::InDoubt);
        *targets.entry((run.org.0, run.definition.target.name.clone())).or_default() |= i64::from(moves);
    }
    if targets.is_empty() {
        return Ok(());
    }
    let failing: Vec<&(i64, String)> =
        targets.iter().filter(|(_, moves)| **moves == 1).map(|(key, _)| key).collect();
    if !failing.is_empty() {
        let org: Vec<i64> = failing.iter().map(|(org, _)| *org).collect();
        let target: Vec<&str> = failing.iter().map(|(_, target)| target.as_str()).collect();
        tx.run(sql!("begin_breakers"), &[&org, &target]).await?;
    }
    let (org, target): (Vec<i64>, Vec<String>) = targets.into_keys().unzip();
    for row in tx.rows(sql!("lock_breakers"), &[&org, &target]).await? {
        let breaker = read_breaker(&row)?;
        if breaker != Breaker::default() {
            docket.breakers.insert((OrgKey(col(&row, 0)?), col(&row, 1)?), breaker);
        }
    }
    Ok(())
}

async fn mark_in(tx: &Tx, batch: Batch, started: &[Started]) -> Result<Vec<Commit>, Error> {
    let mut sorted: Vec<&Started> = started.iter().collect();
    sorted.sort_by_key(|one| one.run);
    let run: Vec<i64> = sorted.iter().map(|one| one.run.0).collect();
    let attempt: Vec<i64> = sorted.iter().map(|one| i64::from(one.attempt)).collect();
    let at: Vec<i64> = sorted.iter().map(|one| one.at.as_microsecond()).collect();
    let arguments: [&dyn Arg; 5] = [&run, &attempt, &at, &batch.fence.0, &"enqueued"];
    let mut marked = HashMap::new();
    for row in tx.rows(sql!("mark_running"), &arguments).await? {
        marked.insert(RunKey(col(&row, 0)?), ());
    }
    let commit = |one: &Started| match marked.contains_key(&one.run) {
        true => Commit::Done,
        false => Commit::Stale,
    };
    Ok(started.iter().map(commit).collect())
}
