//! What rows are about to wait for: held while they are written, so that its end either is seen here or sees them.

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use punctual_plan::{Claim, OrgKey, OrgLimit, Overlap, RunKey, RunStatus, Verdict, Wait};

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

/// Rows that wait, by what they wait for.
#[derive(Default)]
struct Waiters {
    blocked: Vec<Blocked>,
    /// All that wait for a run, known or not.
    for_runs: HashSet<RunKey>,
    for_rooms: Vec<(RunKey, OrgKey)>,
    /// Orgs whose places are taken or waited for.
    orgs: BTreeSet<OrgKey>,
}

/// Holds what rows wait for, before the rows themselves as settling does, and gives the rows for which it has ended
/// since they were judged: nothing else would wake them.
pub(super) async fn hold_waits(
    tx: &Tx,
    now: Timestamp,
    wanted: &[(usize, &AdmitCommit)],
) -> Result<HashSet<RunKey>, Error> {
    let mut waiters = Waiters::default();
    let mut upstream = Vec::new();
    for (_, commit) in wanted {
        let (run, org) = (commit.admission.run, commit.row.due.org);
        let places = commit.admission.claims.iter().filter_map(|claim| match claim {
            Claim::Place(org) => Some(*org),
            _ => None,
        });
        waiters.orgs.extend(places);
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
            Wait::Limit { limit: OrgLimit::PerMinute } => {}
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

    async fn hold(mut self, tx: &Tx, now: Timestamp) -> Result<HashSet<RunKey>, Error> {
        if !self.blocked.is_empty() {
            let runs: BTreeSet<i64> = self.blocked.iter().map(|blocked| blocked.by.0).collect();
            let runs: Vec<i64> = runs.into_iter().collect();
            let mut states: HashMap<RunKey, RunStatus> = HashMap::with_capacity(runs.len());
            for row in tx.rows(sql!("lock_runs"), &[&runs]).await? {
                states.insert(RunKey(col(&row, 0)?), named(col(&row, 1)?)?);
            }
            for blocked in &self.blocked {
                let state = states.get(&blocked.by).filter(|state| !state.is_terminal());
                if state.is_some_and(|state| blocked.takes_turns || state.is_in_flight()) {
                    self.for_runs.remove(&blocked.waiter);
                }
            }
        }
        let mut over = self.for_runs;
        if !self.orgs.is_empty() {
            let rooms = rooms(tx, now, &self.orgs).await?;
            let has_room = |org| rooms.get(org).is_none_or(|room: &Room| room.in_flight > 0);
            over.extend(self.for_rooms.iter().filter(|(_, org)| has_room(org)).map(|(run, _)| *run));
        }
        Ok(over)
    }
}
