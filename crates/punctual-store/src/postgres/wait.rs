//! What rows are about to wait for: held while they are written, so that its end either is seen here or sees them.

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Claim, Effect, OrgKey, OrgLimit, Overlap, RunKey, RunStatus, Verdict, Wait};

use super::claims::{Room, rooms};
use super::connection::{Tx, col};
use super::plan::named;
use super::sql;
use crate::{AdmitCommit, Error};

/// A row that waits for the end of a run.
struct Blocked {
    waiter: RunKey,
    by: RunKey,
    /// Whether it waits behind a run that waits or retries too.
    takes_turns: bool,
}

/// What is found when the rows are held.
#[derive(Default)]
pub(super) struct Standing {
    /// Rows for which what they wait for has ended since they were judged: nothing else would wake them.
    pub(super) over: HashSet<RunKey>,
    /// Rows that have been launched since they were judged: a verdict over an earlier attempt says nothing about them.
    pub(super) stale: HashSet<RunKey>,
}

/// Rows that wait, by what they wait for.
#[derive(Default)]
struct Waiters {
    blocked: Vec<Blocked>,
    /// All that wait for a run, known or not.
    for_runs: HashSet<RunKey>,
    for_rooms: Vec<(RunKey, OrgKey)>,
    /// Orgs whose places are taken or waited for.
    orgs: BTreeSet<OrgKey>,
    /// Orgs whose places are given back, because a run of theirs is cancelled.
    freeing: BTreeSet<OrgKey>,
    /// Rows that do not start, with the attempt that was judged.
    judged: HashMap<RunKey, u32>,
    /// Runs that are written, and of them those that end.
    written: BTreeSet<i64>,
    ending: BTreeSet<i64>,
}

/// Holds the rows of a batch and what they wait for, in the order in which settling does it as well: places of orgs
/// first, then runs by key.
pub(super) async fn hold_waits(
    tx: &Tx,
    now: Timestamp,
    wanted: &[(usize, &AdmitCommit)],
) -> Result<Standing, Error> {
    let mut waiters = Waiters::default();
    let mut upstream = Vec::new();
    for (_, commit) in wanted {
        let (run, org) = (commit.admission.run, commit.row.due.org);
        let places = commit.admission.claims.iter().filter_map(|claim| match claim {
            Claim::Place(org) => Some(*org),
            _ => None,
        });
        waiters.orgs.extend(places);
        waiters.note_written(commit);
        let Verdict::Wait(waiting) = &commit.admission.verdict else { continue };
        match &waiting.wait {
            Wait::Turn { behind } => {
                let takes_turns = commit.row.launch.definition.policy.overlap == Overlap::Queue;
                waiters.blocked.push(Blocked { waiter: run, by: *behind, takes_turns });
                waiters.for_runs.insert(run);
            }
            Wait::Upstream { schedule } => {
                upstream.push((org.0, schedule.as_str(), commit.row.due.scheduled_for.as_second(), run.0));
                waiters.for_runs.insert(run);
            }
            Wait::Limit { limit: OrgLimit::InFlight } => {
                waiters.orgs.insert(org);
                waiters.for_rooms.push((run, org));
            }
            Wait::Limit { limit: OrgLimit::PerMinute } | Wait::Room { .. } => {}
        }
    }
    waiters.find_upstream(tx, upstream).await?;
    waiters.hold(tx, now).await
}

impl Waiters {
    async fn find_upstream(&mut self, tx: &Tx, asked: Vec<(i64, &str, i64, i64)>) -> Result<(), Error> {
        if asked.is_empty() {
            return Ok(());
        }
        let org: Vec<i64> = asked.iter().map(|one| one.0).collect();
        let name: Vec<&str> = asked.iter().map(|one| one.1).collect();
        let tick: Vec<i64> = asked.iter().map(|one| one.2).collect();
        let run: Vec<i64> = asked.iter().map(|one| one.3).collect();
        for row in tx.rows(sql!("latest_of"), &[&org, &name, &tick, &run]).await? {
            let (waiter, by) = (RunKey(col(&row, 0)?), RunKey(col(&row, 1)?));
            // An upstream's tick is waited for in whatever state it is, until it ends.
            self.blocked.push(Blocked { waiter, by, takes_turns: true });
        }
        Ok(())
    }

    /// Which runs a verdict writes.
    fn note_written(&mut self, commit: &AdmitCommit) {
        let admission = &commit.admission;
        self.written.insert(admission.run.0);
        if admission.verdict != Verdict::Start {
            self.judged.insert(admission.run, commit.row.due.attempt);
        }
        if matches!(admission.verdict, Verdict::Skip(_) | Verdict::Miss(_) | Verdict::Fail(_)) {
            self.ending.insert(admission.run.0);
        }
        for effect in &admission.effects {
            let (Effect::Cancel(run, _) | Effect::EndRetry(run, _) | Effect::EndWait(run, _)) = effect;
            self.ending.insert(run.0);
            if matches!(effect, Effect::Cancel(..)) {
                self.freeing.insert(commit.row.due.org);
            }
        }
    }

    async fn hold(mut self, tx: &Tx, now: Timestamp) -> Result<Standing, Error> {
        if !self.freeing.is_empty() {
            let orgs: Vec<i64> = self.freeing.union(&self.orgs).map(|org| org.0).collect();
            tx.rows(sql!("lock_org_use"), &[&orgs]).await?;
        }
        let mut over = HashSet::new();
        if !self.orgs.is_empty() {
            let rooms = rooms(tx, now, &self.orgs).await?;
            let has_room = |org| rooms.get(org).is_none_or(|room: &Room| room.in_flight > 0);
            over.extend(self.for_rooms.iter().filter(|(_, org)| has_room(org)).map(|(run, _)| *run));
        }
        // A batch that only starts rows takes them in their order by one statement, which compares the attempts as well.
        if self.judged.is_empty() && self.ending.is_empty() {
            return Ok(Standing { over, stale: HashSet::new() });
        }
        self.written.extend(self.blocked.iter().map(|blocked| blocked.by.0));
        self.written.extend(&self.ending);
        let ending: Vec<i64> = self.ending.into_iter().collect();
        self.written.extend(waiters(tx, &ending).await?);
        if !holds(Rule::OneOrder) {
            for key in self.written.iter().rev() {
                lock_runs(tx, BTreeSet::from([*key])).await?;
            }
        }
        let present = lock_runs(tx, self.written).await?;
        for blocked in &self.blocked {
            let state = present.get(&blocked.by).map(|run| run.status).filter(|state| !state.is_terminal());
            if state.is_some_and(|state| blocked.takes_turns || state.is_in_flight()) {
                self.for_runs.remove(&blocked.waiter);
            }
        }
        over.extend(self.for_runs);
        let is_stale = |(run, attempt): &(&RunKey, &u32)| {
            present.get(run).is_none_or(|run| run.attempt + 1 != i64::from(**attempt))
        };
        let stale = self.judged.iter().filter(is_stale).map(|(run, _)| *run).collect();
        Ok(Standing { over, stale })
    }
}

/// Holds runs together with those that their end wakes, all in the order of their keys. Where nobody waits, nothing is
/// held yet: whoever asks locks the runs themselves in the same order.
pub(super) async fn hold_with_waiters(tx: &Tx, ending: &[i64]) -> Result<(), Error> {
    let waiters = waiters(tx, ending).await?;
    if !waiters.is_empty() {
        let all: BTreeSet<i64> = waiters.into_iter().chain(ending.iter().copied()).collect();
        lock_runs(tx, all).await?;
    }
    Ok(())
}

/// Runs that wait for the end of these.
async fn waiters(tx: &Tx, ending: &[i64]) -> Result<Vec<i64>, Error> {
    if ending.is_empty() {
        return Ok(Vec::new());
    }
    let rows = tx.rows(sql!("waiters"), &[&ending.to_vec(), &RunStatus::Waiting.name()]).await?;
    rows.iter().map(|row| col(row, 0)).collect()
}

/// A run as it is held.
struct Present {
    status: RunStatus,
    attempt: i64,
}

/// Holds runs in the order of their keys; gives how they are.
async fn lock_runs(tx: &Tx, keys: BTreeSet<i64>) -> Result<HashMap<RunKey, Present>, Error> {
    let keys: Vec<i64> = keys.into_iter().collect();
    let mut present = HashMap::with_capacity(keys.len());
    for row in tx.rows(sql!("lock_runs"), &[&keys]).await? {
        let run = Present { status: named(col(&row, 1)?)?, attempt: col(&row, 2)? };
        present.insert(RunKey(col(&row, 0)?), run);
    }
    Ok(present)
}
