//! One of many tasks: plans, admits, launches and settles the schedules of its shards, a few at a time.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Due, Next, Outcome, RunKey, Verdict, Window, admit, plan};
use punctual_store::{
    AdmitCommit, Ask, AttemptToken, Batch, Commit, DueBatch, PlanCommit, Plannable, Report, SHARDS, Settled,
    Shards, Started, Store, Whose,
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::Failure;
use crate::node::{Flight, Node};
use crate::notes::Submit;

/// Rows in one batch: the smallest make the most commits.
const BATCH: usize = 1;

/// Rounds in one second of the virtual clock; a row that stays stale must not stop it.
const ROUNDS_MAX: u32 = 40;

/// Works on its shards for ever.
pub(crate) async fn work(node: Arc<Node>, number: u16, mut flights: Vec<Flight>) -> Result<(), Failure> {
    let tasks = if node.is_server() { crate::TASKS_POSTGRES } else { crate::TASKS_SQLITE };
    let shards = Shards::Some((0..SHARDS).filter(|shard| shard % tasks == number).collect());
    loop {
        let now = node.clock.now();
        for _ in 0..ROUNDS_MAX {
            let ask = Ask { now, whose: Whose::Own(shards.clone()), limit: read_max(&node) };
            let is_busy = node.create_next(now).await?
                | plan_some(&node, ask.clone()).await?
                | admit_some(&node, ask, &mut flights).await?
                | settle_some(&node, now, &mut flights).await?;
            if !is_busy {
                break;
            }
        }
        node.clock.rest(number, now).await;
    }
}

/// Rows that are read at once and written by several batches.
fn read_max(node: &Node) -> usize {
    if node.is_server() { crate::READ_POSTGRES } else { crate::READ_SQLITE }
}

/// How many of these batches are under way side by side.
fn at_once(node: &Node) -> usize {
    if node.is_server() { crate::READ_POSTGRES } else { crate::AT_ONCE_SQLITE }
}

/// Does what there is, so much of it at once; gives back what it came to.
async fn all<T, W>(works: impl Iterator<Item = W>, at_once: usize) -> Result<Vec<T>, Failure>
where
    T: Send + 'static,
    W: Future<Output = Result<T, Failure>> + Send + 'static,
{
    let (mut under_way, mut done) = (JoinSet::new(), Vec::new());
    for work in works {
        if under_way.len() >= at_once
            && let Some(one) = under_way.join_next().await
        {
            done.push(one??);
        }
        under_way.spawn(work);
    }
    while let Some(one) = under_way.join_next().await {
        done.push(one??);
    }
    Ok(done)
}

/// Takes any row that is due, whoever's it is, as the repair sweep does: it races with all others.
pub(crate) async fn sweep(node: Arc<Node>) -> Result<(), Failure> {
    let mut flights = Vec::new();
    loop {
        let now = node.clock.now();
        let ask = Ask { now, whose: Whose::Late(SignedDuration::ZERO), limit: read_max(&node) };
        let is_busy = plan_some(&node, ask.clone()).await?
            | admit_some(&node, ask, &mut flights).await?
            | settle_some(&node, now, &mut flights).await?;
        if !is_busy {
            node.clock.after(now).await;
        }
    }
}

async fn plan_some(node: &Arc<Node>, ask: Ask) -> Result<bool, Failure> {
    let now = ask.now;
    let Some(batch) = passing(node.store.plannable(ask).await)? else { return Ok(false) };
    if batch.ready.is_empty() {
        return Ok(false);
    }
    let plans: Vec<PlanCommit> = batch.ready.into_iter().map(|one| planned(one, now)).collect();
    let batches = plans.chunks(BATCH).map(|part| {
        let (node, part) = (Arc::clone(node), part.to_vec());
        async move { commit_plans(&node, node.batch(now), part).await }
    });
    all(batches, at_once(node)).await?;
    Ok(true)
}

/// What is planned of a schedule at an instant.
pub(crate) fn planned(one: Plannable, now: Timestamp) -> PlanCommit {
    let plan = plan(&one.subject(None), Window::at(now));
    let Plannable { schedule, org, definition, cursor, .. } = one;
    PlanCommit { schedule, org, definition, from: cursor, plan }
}

/// Commits plans; gives the answers.
pub(crate) async fn commit_plans(
    node: &Node,
    batch: Batch,
    plans: Vec<PlanCommit>,
) -> Result<Option<Vec<Commit>>, Failure> {
    let cursors: Vec<(i64, i64)> = plans
        .iter()
        .map(|plan| (plan.schedule.0, plan.plan.cursor.planned_through.as_microsecond()))
        .collect();
    let body = json!(cursors.iter().map(|(schedule, _)| *schedule).collect::<Vec<i64>>());
    let is_again = node.is_again(batch);
    let kind = if is_again { "plan-again" } else { "plan" };
    let call = Submit { kind, batch: batch.id.0, now: batch.now, body };
    let told = |commits: &Vec<Commit>| match is_again {
        true => json!([]),
        false => told_of(commits, &cursors, |(schedule, through)| json!([schedule, through])),
    };
    node.call(call, node.store.commit_plans(batch, plans), told).await
}

/// The answers that were `Done`, each in the words of its row.
fn told_of<T>(commits: &[Commit], rows: &[T], word: impl Fn(&T) -> Value) -> Value {
    let done = commits.iter().zip(rows).filter(|(commit, _)| **commit == Commit::Done);
    done.map(|(_, row)| word(row)).collect()
}

async fn admit_some(node: &Arc<Node>, ask: Ask, flights: &mut Vec<Flight>) -> Result<bool, Failure> {
    let now = ask.now;
    let Some(batch) = passing(node.store.due(ask).await)? else { return Ok(false) };
    if batch.rows.is_empty() {
        return Ok(false);
    }
    let judged = judge(batch);
    let batches = judged.chunks(BATCH).map(|part| {
        let (node, part) = (Arc::clone(node), part.to_vec());
        async move {
            let started = admit_these(&node, node.batch(now), part).await?;
            mark(&node, now, &started).await.map(|()| started)
        }
    });
    flights.extend(all(batches, at_once(node)).await?.into_iter().flatten());
    Ok(true)
}

/// The verdicts over rows that are due.
pub(crate) fn judge(mut batch: DueBatch) -> Vec<AdmitCommit> {
    let due: Vec<Due> = batch.rows.iter().map(|row| row.due.clone()).collect();
    let verdicts = admit(&due, &mut batch.world);
    verdicts.into_iter().zip(batch.rows).map(|(admission, row)| AdmitCommit { admission, row }).collect()
}

/// Commits verdicts; gives the runs that are now ours.
pub(crate) async fn admit_these(
    node: &Node,
    batch: Batch,
    judged: Vec<AdmitCommit>,
) -> Result<Vec<Flight>, Failure> {
    let rows: Vec<(i64, &'static str, u32)> = judged
        .iter()
        .map(|commit| {
            (commit.admission.run.0, verdict_name(&commit.admission.verdict), commit.row.due.attempt)
        })
        .collect();
    let body = json!(rows.iter().map(|(run, ..)| *run).collect::<Vec<i64>>());
    let is_again = node.is_again(batch);
    let kind = if is_again { "admit-again" } else { "admit" };
    let call = Submit { kind, batch: batch.id.0, now: batch.now, body };
    let told = |commits: &Vec<Commit>| match is_again {
        true => json!([]),
        false => told_of(commits, &rows, |(run, verdict, attempt)| json!([run, verdict, attempt])),
    };
    let commits = node.call(call, node.store.admit(batch, judged), told).await?.unwrap_or_default();
    let started =
        commits.iter().zip(&rows).filter(|(commit, row)| **commit == Commit::Done && row.1 == "start");
    let flight = |(_, (run, _, attempt)): (&Commit, &(i64, &str, u32))| Flight {
        key: RunKey(*run),
        attempt: *attempt,
        // Some end at once, some are still in flight when their schedule's next tick is due.
        ends_at: batch.now + SignedDuration::from_secs(chance(*run, 7) % 8),
    };
    Ok(started.map(flight).collect())
}

fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Start => "start",
        Verdict::Wait(_) => "wait",
        Verdict::Later(_) => "later",
        Verdict::Skip(_) => "skipped",
        Verdict::Miss(_) => "missed",
        Verdict::Fail(_) => "failed",
    }
}

/// Notes the launch of most of them.
async fn mark(node: &Node, now: Timestamp, started: &[Flight]) -> Result<(), Failure> {
    let launched: Vec<Started> = started
        .iter()
        .filter(|run| chance(run.key.0, 3) % 4 != 0)
        .map(|run| Started { run: run.key, attempt: run.attempt, at: now })
        .collect();
    if launched.is_empty() {
        return Ok(());
    }
    let rows: Vec<(i64, u32)> = launched.iter().map(|run| (run.run.0, run.attempt)).collect();
    let batch = node.batch(now);
    let call = Submit { kind: "mark", batch: batch.id.0, now, body: json!(rows) };
    let told = |commits: &Vec<Commit>| told_of(commits, &rows, |(run, attempt)| json!([run, attempt]));
    node.call(call, node.store.mark_running(batch, launched), told).await.map(|_| ())
}

async fn settle_some(node: &Arc<Node>, now: Timestamp, flights: &mut Vec<Flight>) -> Result<bool, Failure> {
    let (ended, flying): (Vec<Flight>, Vec<Flight>) = flights.iter().partition(|run| run.ends_at <= now);
    if ended.is_empty() {
        return Ok(false);
    }
    *flights = flying;
    let batches = ended.chunks(BATCH).map(|part| {
        let (node, part) = (Arc::clone(node), part.to_vec());
        async move {
            let reports = part.iter().map(|run| report(&node, *run, now)).collect();
            let settled = settle_these(&node, node.batch(now), reports).await?;
            // If nothing was written it is reported again.
            Ok(if settled.is_some() { Vec::new() } else { part })
        }
    });
    flights.extend(all(batches, at_once(node)).await?.into_iter().flatten());
    Ok(true)
}

fn report(node: &Node, run: Flight, now: Timestamp) -> Report {
    let outcome = match chance(run.key.0, i64::from(run.attempt)) % 10 {
        0 | 1 => Outcome::Exited { code: 1 },
        2 => Outcome::LaunchFailed { error: "no such file".to_owned() },
        3 => Outcome::InDoubt,
        _ => Outcome::Succeeded,
    };
    Report {
        run: run.key,
        attempt: run.attempt,
        token: AttemptToken::Node(node.fence),
        outcome,
        started_at: Some(now),
        at: now,
        output: None,
    }
}

/// Settles runs; gives the answers, none if it failed.
pub(crate) async fn settle_these(
    node: &Node,
    batch: Batch,
    reports: Vec<Report>,
) -> Result<Option<Vec<Settled>>, Failure> {
    let rows: Vec<(i64, u32)> = reports.iter().map(|report| (report.run.0, report.attempt)).collect();
    let sent: Vec<Value> = reports.iter().map(crate::repeat::written).collect();
    let kind = if node.is_again(batch) { "settle-again" } else { "settle" };
    let call = Submit { kind, batch: batch.id.0, now: batch.now, body: json!(sent) };
    let told = |settled: &Vec<Settled>| {
        let done = settled.iter().zip(&rows).filter(|(settled, _)| settled.commit == Commit::Done);
        done.map(|(settled, (run, attempt))| json!([run, attempt, ended_as(settled)])).collect()
    };
    node.call(call, node.store.settle(batch, reports), told).await
}

fn ended_as(settled: &Settled) -> &'static str {
    match settled.settlement.as_ref().map(|settlement| &settlement.next) {
        Some(Next::End { status, .. }) => status.name(),
        Some(Next::Retry { .. }) => "retrying",
        None => "told before",
    }
}

/// A number that looks like chance and is the same each time.
fn chance(run: i64, salt: i64) -> i64 {
    let mixed = (run.unsigned_abs() ^ salt.unsigned_abs() << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    i64::try_from(mixed >> 40).unwrap_or_default()
}

/// A read that failed for a moment gives nothing; the next round asks again.
fn passing<T>(read: Result<T, punctual_store::Error>) -> Result<Option<T>, Failure> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_transient() => Ok(None),
        Err(error) => Err(error.into()),
    }
}
