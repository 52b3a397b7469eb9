//! Batches that were never answered, repeated under their ids by the process that comes after.
//!
//! What was to be written is made again from what the database offers now; if the first commit had happened, that is
//! nothing. Then something else is sent under the same id, and the id alone must keep it from being written.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use jiff::Timestamp;
use punctual_plan::{Fence, Outcome, RunKey};
use punctual_store::{
    Ask, AttemptToken, BATCH_MAX, Batch, BatchId, Commit, Report, Settled, Shards, Store, Whose,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::Failure;
use crate::node::{Flight, Node};
use crate::worker;

/// A call without an answer.
struct Open {
    kind: String,
    batch: Uuid,
    now: Timestamp,
    body: Value,
}

/// Batches that are repeated: they go one after the other, and the hammering shall begin soon.
const REPEATS_MAX: usize = 6;

/// Repeats some of the batches that the process before was not told about, and every creation; gives the runs that are
/// ours by that.
pub(crate) async fn unanswered(node: &Node, earlier: &Path) -> Result<Vec<Flight>, Failure> {
    let (mut started, mut repeats) = (Vec::new(), 0);
    for (number, open) in read(&std::fs::read_to_string(earlier)?)? {
        if open.kind == "create" {
            let schedule = open.body.get("number").and_then(Value::as_u64).unwrap_or_default();
            node.create(u32::try_from(schedule)?, open.now).await?;
        } else if number % 2 == 0 && repeats < REPEATS_MAX {
            repeats += 1;
            started.extend(again(node, &open).await?);
        }
    }
    Ok(started)
}

fn read(notes: &str) -> Result<BTreeMap<u64, Open>, Failure> {
    let mut open = BTreeMap::new();
    // A line without its end was being written when the process was killed.
    for line in notes.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let mut words = line.trim_end().splitn(7, ' ');
        let (kind, number) = (words.next().unwrap_or_default(), words.next().unwrap_or_default().parse()?);
        if kind != "submit" {
            open.remove(&number);
            continue;
        }
        let rest: Vec<&str> = words.skip(1).collect();
        let [kind, batch, now, body] = rest[..] else { return Err(format!("a strange note: {line}").into()) };
        let call = Open {
            kind: kind.to_owned(),
            batch: batch.parse()?,
            now: Timestamp::from_second(now.parse()?).map_err(|error| error.to_string())?,
            body: serde_json::from_str(body)?,
        };
        open.insert(number, call);
    }
    Ok(open)
}

async fn again(node: &Node, open: &Open) -> Result<Vec<Flight>, Failure> {
    let batch = Batch { id: BatchId(open.batch), fence: node.fence, now: open.now };
    match open.kind.as_str() {
        "plan" => again_plan(node, batch, &open.keys()).await.map(|()| Vec::new()),
        "admit" => again_admit(node, batch, &open.keys()).await,
        "settle" => again_settle(node, batch, open).await.map(|()| Vec::new()),
        _ => Ok(Vec::new()),
    }
}

impl Open {
    fn keys(&self) -> HashSet<i64> {
        self.body.as_array().into_iter().flatten().filter_map(Value::as_i64).collect()
    }
}

fn everything(now: Timestamp) -> Ask {
    Ask { now, whose: Whose::Own(Shards::All), limit: BATCH_MAX }
}

/// Plans the same schedules under the id; then any others under the same id, which must be kept out.
async fn again_plan(node: &Node, batch: Batch, wanted: &HashSet<i64>) -> Result<(), Failure> {
    let offer = async || Ok::<_, Failure>(node.store.plannable(everything(batch.now)).await?.ready);
    let send = async |ready: Vec<punctual_store::Plannable>| {
        let plans = ready.into_iter().map(|one| worker::planned(one, batch.now)).collect();
        worker::commit_plans(node, batch, plans).await?.ok_or("a repeated batch failed")?;
        Ok::<(), Failure>(())
    };
    let same = offer().await?.into_iter().filter(|one| wanted.contains(&one.schedule.0)).collect();
    send(same).await?;
    let others = offer().await?;
    let before: HashSet<i64> = others.iter().map(|one| one.schedule.0).collect();
    send(others).await?;
    let after = offer().await?.iter().map(|one| one.schedule.0).collect();
    kept_out(batch, &before, &after)
}

/// Admits the same rows under the id; then any others under the same id, which must be kept out.
async fn again_admit(node: &Node, batch: Batch, wanted: &HashSet<i64>) -> Result<Vec<Flight>, Failure> {
    let mut same = node.store.due(everything(batch.now)).await?;
    same.rows.retain(|row| wanted.contains(&row.due.run.0));
    let started = worker::admit_these(node, batch, worker::judge(same)).await?;
    let others = node.store.due(everything(batch.now)).await?;
    let before: HashSet<i64> = others.rows.iter().map(|row| row.due.run.0).collect();
    worker::admit_these(node, batch, worker::judge(others)).await?;
    let after = node.store.due(everything(batch.now)).await?.rows.iter().map(|row| row.due.run.0).collect();
    kept_out(batch, &before, &after)?;
    Ok(started)
}

/// Other rows under an id that was used must not be written.
fn kept_out(batch: Batch, before: &HashSet<i64>, after: &HashSet<i64>) -> Result<(), Failure> {
    if before == after { Ok(()) } else { Err(format!("batch {} was written twice", batch.id.0).into()) }
}

async fn again_settle(node: &Node, batch: Batch, open: &Open) -> Result<(), Failure> {
    let sent = open.body.as_array().into_iter().flatten();
    let reports: Option<Vec<Report>> = sent.map(|sent| written_back(sent, open.now)).collect();
    let reports = reports.ok_or("a strange report among the notes")?;
    let first = worker::settle_these(node, batch, reports.clone()).await?.ok_or("a repeated batch failed")?;
    let second = worker::settle_these(node, batch, reports).await?.ok_or("a repeated batch failed")?;
    let commits = |settled: &[Settled]| settled.iter().map(|one| one.commit).collect::<Vec<Commit>>();
    if commits(&first) != commits(&second) {
        return Err(format!("batch {} was answered in two ways", open.batch).into());
    }
    Ok(())
}

/// A report as it is noted.
pub(crate) fn written(report: &Report) -> Value {
    let outcome = match &report.outcome {
        Outcome::Succeeded => "succeeded",
        Outcome::Exited { .. } => "exited",
        Outcome::LaunchFailed { .. } => "launch_failed",
        _ => "in_doubt",
    };
    let fence = match report.token {
        AttemptToken::Node(Fence(fence)) => fence,
        AttemptToken::Holder(_) => 0,
    };
    json!([report.run.0, report.attempt, fence, outcome])
}

/// A report from its note.
fn written_back(sent: &Value, now: Timestamp) -> Option<Report> {
    let number = |place: usize| sent.get(place).and_then(Value::as_i64);
    let outcome = match sent.get(3)?.as_str()? {
        "succeeded" => Outcome::Succeeded,
        "exited" => Outcome::Exited { code: 1 },
        "launch_failed" => Outcome::LaunchFailed { error: "no such file".to_owned() },
        _ => Outcome::InDoubt,
    };
    Some(Report {
        run: RunKey(number(0)?),
        attempt: u32::try_from(number(1)?).ok()?,
        token: AttemptToken::Node(Fence(number(2)?)),
        outcome,
        started_at: Some(now),
        at: now,
        output: None,
    })
}
