//! The ledger as people see it: runs with their attempts, ranges, counts.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use punctual_plan::{
    Attempt, NonFire, Range, Reason, Run, RunKey, RunState, RunStatus, ScheduleId, ScheduleKey, Waiting,
};
use tokio_postgres::Row;

use super::connection::{Arg, Tx, col};
use super::plan::{named, read_reason, unsigned};
use super::schedules::listed;
use super::{Postgres, sql};
use crate::instant::{from_micros, from_seconds};
use crate::stored::{read_payload, read_trace, read_wait};
use crate::{Cut, Error, Listed, RangeRow, RunFilter, RunRow, Scope};

impl Postgres {
    pub(super) async fn list_runs(
        &self,
        scope: &Scope,
        filter: &RunFilter,
        cut: &Cut,
    ) -> Result<Listed<RunRow>, Error> {
        let tx = self.connections.begin(scope.into(), "listing runs").await?;
        let asked = Asked::of(filter, cut);
        let mut arguments = asked.arguments().to_vec();
        // Few rows have not ended, and they have indexes of their own.
        let is_open = filter.status.is_some_and(|status| !status.is_terminal());
        let statement = match (is_open, asked.schedule.is_some()) {
            (true, _) => sql!("list_open_runs"),
            (false, true) => sql!("list_runs_of"),
            (false, false) => {
                arguments.remove(Asked::SCHEDULE);
                sql!("list_runs")
            }
        };
        let result = async {
            let rows = tx.rows(statement, &arguments).await?;
            self.read_runs(&tx, &rows).await
        };
        let result = result.await;
        let rows = tx.over(result).await?;
        Ok(listed(rows, cut, |row| format!("{} {}", row.run.scheduled_for.as_second(), row.run.key.0)))
    }

    pub(super) async fn find_run(&self, scope: &Scope, run: RunKey) -> Result<Option<RunRow>, Error> {
        let tx = self.connections.begin(scope.into(), "looking for the run").await?;
        let result = async {
            let rows = tx.rows(sql!("find_run"), &[&run.0]).await?;
            self.read_runs(&tx, &rows).await
        };
        let result = result.await;
        Ok(tx.over(result).await?.into_iter().next())
    }

    /// Rows of the ledger with their attempts. The names of nodes are the engine's to see: its role asks for them, as
    /// the transaction's last statement.
    pub(super) async fn read_runs(&self, tx: &Tx, rows: &[Row]) -> Result<Vec<RunRow>, Error> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let keys = rows.iter().map(|row| col::<i64>(row, 0)).collect::<Result<Vec<_>, _>>()?;
        let mut attempts: HashMap<i64, Vec<(Attempt, Option<String>)>> = HashMap::new();
        for row in tx.rows(sql!("list_attempts"), &[&keys]).await? {
            attempts.entry(col(&row, 0)?).or_default().push(read_attempt(&row)?);
        }
        let fences = rows.iter().map(|row| col::<Option<i64>>(row, 17)).collect::<Result<Vec<_>, _>>()?;
        let fences: Vec<i64> = fences.into_iter().flatten().collect();
        let mut nodes: HashMap<i64, String> = HashMap::new();
        if !fences.is_empty() {
            tx.batch("SET LOCAL ROLE punctual_engine").await?;
            for row in tx.rows(sql!("node_names"), &[&fences]).await? {
                nodes.insert(col(&row, 0)?, col(&row, 1)?);
            }
        }
        rows.iter()
            .map(|row| read_run(row, attempts.remove(&col(row, 0)?).unwrap_or_default(), &nodes))
            .collect()
    }

    pub(super) async fn list_ranges(
        &self,
        scope: &Scope,
        filter: &RunFilter,
        cut: &Cut,
    ) -> Result<Listed<RangeRow>, Error> {
        let tx = self.connections.begin(scope.into(), "listing ranges").await?;
        let asked = Asked::of(filter, cut);
        let mut arguments = asked.arguments().to_vec();
        arguments.remove(Asked::ORIGIN);
        let rows = tx.rows(sql!("list_ranges"), &arguments).await;
        let rows = tx.over(rows).await?;
        let read = rows.iter().map(read_range).collect::<Result<Vec<_>, _>>()?;
        let page = listed(read, cut, |(key, row)| format!("{} {key}", row.range.first.as_second()));
        Ok(Listed { rows: page.rows.into_iter().map(|(_, row)| row).collect(), next: page.next })
    }

    /// What a statement counts.
    pub(super) async fn count(
        &self,
        scope: &Scope,
        statement: &'static str,
        arguments: &[&dyn Arg],
    ) -> Result<u64, Error> {
        let tx = self.connections.begin(scope.into(), "counting").await?;
        let row = tx.row(statement, arguments).await;
        let row = tx.over(row).await?;
        Ok(row.map(|row| col(&row, 0)).transpose()?.map(unsigned).unwrap_or_default())
    }
}

/// A filter and a place as the statements want them.
struct Asked {
    after_tick: Option<i64>,
    after_key: Option<i64>,
    schedule: Option<String>,
    status: Option<&'static str>,
    origin: Option<&'static str>,
    since: Option<i64>,
    until: Option<i64>,
    limit: i64,
}

impl Asked {
    /// Places of what not every statement asks.
    const SCHEDULE: usize = 2;
    const ORIGIN: usize = 4;

    fn of(filter: &RunFilter, cut: &Cut) -> Self {
        let after = cut.after.as_deref().and_then(|after| after.split_once(' '));
        // A tick before a whole second is not before the second after it.
        let ceiling = |at: Timestamp| {
            let whole = at.as_second();
            if Timestamp::from_second(whole).is_ok_and(|second| second < at) { whole + 1 } else { whole }
        };
        let after_tick: Option<i64> = after.and_then(|(tick, _)| tick.parse().ok());
        // Said twice: a plain bound leads into more indexes than a comparison of pairs.
        let until = filter.until.map(Timestamp::as_second).into_iter().chain(after_tick).min();
        Self {
            after_tick,
            after_key: after.and_then(|(_, key)| key.parse().ok()),
            schedule: filter.schedule.map(|id| id.to_string()),
            status: filter.status.map(RunStatus::name),
            origin: filter.origin.map(punctual_plan::Origin::name),
            since: filter.since.map(ceiling),
            until,
            limit: i64::from(cut.limit) + 1,
        }
    }

    fn arguments(&self) -> [&dyn Arg; 8] {
        [
            &self.after_tick,
            &self.after_key,
            &self.schedule,
            &self.status,
            &self.origin,
            &self.since,
            &self.until,
            &self.limit,
        ]
    }
}

fn read_attempt(row: &Row) -> Result<(Attempt, Option<String>), Error> {
    let ended_at = col::<Option<i64>>(row, 3)?.map(from_micros).transpose()?;
    let started_at = col::<Option<i64>>(row, 2)?.map(from_micros).transpose()?;
    let attempt = Attempt {
        number: u32::try_from(col::<i64>(row, 1)?).unwrap_or(u32::MAX),
        started_at: started_at.or(ended_at).unwrap_or(Timestamp::UNIX_EPOCH),
        ended_at,
        reason: read_reason(col(row, 4)?, col(row, 5)?)?,
    };
    Ok((attempt, col(row, 6)?))
}

/// When things happened to a run.
struct Times {
    enqueued_at: Option<Timestamp>,
    started_at: Option<Timestamp>,
    completed_at: Option<Timestamp>,
    look_at: Option<Timestamp>,
}

fn read_run(
    row: &Row,
    attempts: Vec<(Attempt, Option<String>)>,
    nodes: &HashMap<i64, String>,
) -> Result<RunRow, Error> {
    let micros = |place| col::<Option<i64>>(row, place)?.map(from_micros).transpose();
    let times = Times {
        enqueued_at: micros(19)?,
        started_at: micros(20)?,
        completed_at: micros(21)?,
        look_at: micros(18)?,
    };
    let waited = match col::<Option<&str>>(row, 12)? {
        Some(kind) => Some(Waiting {
            wait: read_wait(kind, col::<Option<&str>>(row, 13)?.unwrap_or_default())?,
            since: micros(14)?.unwrap_or(Timestamp::UNIX_EPOCH),
            deadline: micros(15)?.unwrap_or(Timestamp::UNIX_EPOCH),
        }),
        None => None,
    };
    let state = read_state(row, &times, waited.as_ref())?;
    let launched = u32::try_from(col::<i64>(row, 8)?).unwrap_or(u32::MAX);
    let output = attempts
        .iter()
        .find(|(attempt, _)| attempt.number == launched)
        .and_then(|(_, output)| output.clone());
    let mut all: Vec<Attempt> = attempts.into_iter().map(|(attempt, _)| attempt).collect();
    let is_known = all.iter().any(|attempt| attempt.number == launched);
    if let Some(started_at) = times.started_at.filter(|_| launched > 0 && !is_known) {
        let reason = state.reason().filter(|_| state.status().is_terminal()).cloned();
        all.push(Attempt { number: launched, started_at, ended_at: times.completed_at, reason });
    }
    all.sort_by_key(|attempt| attempt.number);
    Ok(RunRow {
        run: Run {
            key: RunKey(col(row, 0)?),
            schedule: ScheduleKey(col(row, 1)?),
            version: col(row, 3)?,
            origin: named(col(row, 4)?)?,
            nonce: col(row, 5)?,
            scheduled_for: from_seconds(col(row, 6)?)?,
            fire_at: from_micros(col(row, 7)?)?,
            state,
            waited,
            attempts: all,
        },
        schedule_id: schedule_id(col(row, 23)?)?,
        schedule_name: col(row, 24)?,
        enqueued_at: times.enqueued_at,
        started_at: times.started_at,
        completed_at: times.completed_at,
        output,
        node: col::<Option<i64>>(row, 17)?.and_then(|fence| nodes.get(&fence).cloned()),
        tz_version: col(row, 25)?,
        executor_run_id: col(row, 22)?,
        payload: read_payload(col(row, 26)?)?,
        trace: read_trace(col(row, 27)?),
    })
}

fn schedule_id(text: &str) -> Result<ScheduleId, Error> {
    text.parse().map(ScheduleId).map_err(|_| Error::corrupt(format!("`{text}` is no id of a schedule")))
}

fn read_state(row: &Row, times: &Times, waited: Option<&Waiting>) -> Result<RunState, Error> {
    let status: RunStatus = named(col(row, 9)?)?;
    let reason = read_reason(col(row, 10)?, col(row, 11)?)?;
    let attempt = u32::try_from(col::<i64>(row, 8)?).unwrap_or(u32::MAX);
    let missing = || Error::corrupt(format!("a run is {status} without what belongs to it"));
    let why = || reason.clone().ok_or_else(missing);
    let at = times.completed_at.ok_or_else(missing);
    Ok(match status {
        RunStatus::Scheduled => RunState::Scheduled { verdict: reason },
        RunStatus::Waiting => RunState::Waiting(waited.cloned().ok_or_else(missing)?),
        RunStatus::Enqueued => RunState::Enqueued { attempt, since: times.enqueued_at.ok_or_else(missing)? },
        RunStatus::Running => {
            RunState::Running { attempt, since: times.started_at.or(times.enqueued_at).ok_or_else(missing)? }
        }
        RunStatus::Retrying => RunState::Retrying {
            attempt: attempt.saturating_add(1),
            at: times.look_at.ok_or_else(missing)?,
            reason: why()?,
        },
        RunStatus::Success => RunState::Success { at: at? },
        RunStatus::Failed => RunState::Failed { reason: why()?, at: at? },
        RunStatus::Cancelled => RunState::Cancelled { reason: why()?, at: at? },
        RunStatus::Skipped => RunState::Skipped { reason: why()?, at: at? },
        RunStatus::Missed => RunState::Missed { reason: why()?, at: at? },
    })
}

fn read_range(row: &Row) -> Result<(i64, RangeRow), Error> {
    let id: &str = col(row, 1)?;
    let id = id.parse().map_err(|_| Error::corrupt(format!("`{id}` is no id of a schedule")))?;
    let reason =
        Reason::from_stored(col(row, 7)?, col(row, 8)?).map_err(|error| Error::corrupt(error.to_string()))?;
    let status: RunStatus = named(col(row, 6)?)?;
    let counts: Option<&str> = col(row, 9)?;
    let counts: BTreeMap<String, u64> = counts
        .map(serde_json::from_str)
        .transpose()
        .map_err(|error| Error::corrupt(format!("the counts of a range: {error}")))?
        .unwrap_or_default();
    let counts =
        counts.iter().map(|(name, count)| Ok((named(name)?, *count))).collect::<Result<_, Error>>()?;
    let range = RangeRow {
        schedule_id: ScheduleId(id),
        schedule_name: col(row, 2)?,
        range: Range {
            first: from_seconds(col(row, 3)?)?,
            last: from_seconds(col(row, 4)?)?,
            count: unsigned(col(row, 5)?),
            end: match status {
                RunStatus::Missed => NonFire::Missed(reason),
                _ => NonFire::Skipped(reason),
            },
        },
        counts,
        version: col(row, 10)?,
        recorded_at: from_micros(col(row, 11)?)?,
    };
    Ok((col(row, 0)?, range))
}
