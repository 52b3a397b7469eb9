//! Good ends: what ended well under its node's fence is written by the statements that hold it.
//!
//! Most runs end so, and then there is nothing to be read before it is written. The docket judges them like all others,
//! by what the statements give back; what follows from its verdict beyond the end itself is written afterwards, as ever.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;
use punctual_plan::{Origin, Outcome, RunKey};
use tokio_postgres::Row;

use super::connection::{Arg, Tx};
use super::ledger::FLYING;
use super::settle::Held;
use super::sql;
use crate::docket::Docket;
use crate::{AttemptToken, Error, Report};

/// How reports are settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Good ends are written by the statements that hold them.
    Short,
    /// Everything is held, judged, and then written: for what turned out otherwise than a good end does.
    Long,
}

/// Reports of runs that ended well, the only ones of their runs, in the order of their keys.
pub(super) struct Good {
    ends: BTreeMap<RunKey, End>,
}

struct End {
    attempt: i64,
    fence: i64,
    started_at: Option<i64>,
    at: Timestamp,
}

impl Good {
    pub(super) fn among(reports: &[Report], (now, way): (Timestamp, Way)) -> Self {
        let mut ends = BTreeMap::new();
        if way == Way::Long {
            return Self { ends };
        }
        let mut seen: HashMap<RunKey, u32> = HashMap::with_capacity(reports.len());
        for report in reports {
            *seen.entry(report.run).or_default() += 1;
            let AttemptToken::Node(fence) = report.token else { continue };
            if report.outcome == Outcome::Succeeded {
                let started_at = report.started_at.map(Timestamp::as_microsecond);
                // It ended when it ended, not when that was written down.
                let at = report.at.min(now);
                let end = End { attempt: i64::from(report.attempt), fence: fence.0, started_at, at };
                ends.insert(report.run, end);
            }
        }
        ends.retain(|run, _| seen.get(run) == Some(&1));
        Self { ends }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// When a run ended.
    pub(super) fn ended_at(&self, run: RunKey) -> Option<Timestamp> {
        self.ends.get(&run).map(|end| end.at)
    }

    /// Writes the ends of those that are in flight as it is said of them; gives their rows.
    pub(super) async fn end_runs(&self, tx: &Tx) -> Result<Vec<Row>, Error> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let run: Vec<i64> = self.ends.keys().map(|run| run.0).collect();
        let attempt: Vec<i64> = self.ends.values().map(|end| end.attempt).collect();
        let fence: Vec<i64> = self.ends.values().map(|end| end.fence).collect();
        let started_at: Vec<Option<i64>> = self.ends.values().map(|end| end.started_at).collect();
        let at: Vec<i64> = self.ends.values().map(|end| end.at.as_microsecond()).collect();
        let arguments: [&dyn Arg; 6] = [&run, &attempt, &fence, &started_at, &at, &FLYING.to_vec()];
        tx.rows(sql!("end_runs"), &arguments).await
    }
}

/// Writes what runs that ended well leave of their schedules, of each that nothing else is said of; gives their rows, and
/// the other schedules.
pub(super) async fn end_states(tx: &Tx, docket: &Docket, held: &Held) -> Result<(Vec<Row>, Vec<i64>), Error> {
    let mut runs: BTreeMap<i64, Vec<RunKey>> = BTreeMap::new();
    for (run, standing) in &docket.runs {
        runs.entry(standing.schedule.0).or_default().push(*run);
    }
    let (mut schedule, mut run, mut at, mut anchored) = (vec![], vec![], vec![], vec![]);
    let mut others = BTreeSet::new();
    for (key, runs) in runs {
        let one = if let [one] = runs[..] { held.runs.get(&one).map(|held| (one, held)) } else { None };
        let Some((ended, held, ended_at)) = one.and_then(|(run, held)| Some((run, held, held.ended_at?)))
        else {
            others.insert(key);
            continue;
        };
        schedule.push(key);
        run.push(ended.0);
        at.push(ended_at.as_microsecond());
        anchored.push(i64::from(held.origin == Origin::Tick));
    }
    let others = others.into_iter().collect();
    if schedule.is_empty() {
        return Ok((Vec::new(), others));
    }
    let rows = tx.rows(sql!("end_states"), &[&schedule, &run, &at, &anchored]).await?;
    Ok((rows, others))
}
