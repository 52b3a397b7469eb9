//! Looks for anything that the promises exclude: rows that contradict each other, ticks that are missing or doubled,
//! cursors that stand wrong, audit events that do not fit their seals.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Hole, Recorded, ScheduleKey, Span, audit_ledger};
use punctual_time::{Anchor, Spec};
use tokio_postgres::Row;

use super::connection::{Role, Tx, col};
use super::plan::unsigned;
use super::{Postgres, sql};
use crate::instant::{from_micros, from_seconds};
use crate::{BATCH_MAX, Error, Finding, Scope};

/// At most so many findings of one kind: who has more has one problem, not many.
const FINDINGS_MAX: i64 = 1_000;

/// How far back the ticks of each schedule are compared with its rows.
const LOOK_BACK: SignedDuration = SignedDuration::from_hours(24);

/// Contradictions that a statement finds: which table, what is wrong, and the statement that names the rows.
const CONTRADICTIONS: &[(&str, &str, &str)] = &[
    ("runs", "it has ended and still wants to be looked at, or the other way round", sql!("check_look")),
    ("runs", "it is in flight without the claim of its lane", sql!("check_unclaimed")),
    ("schedule_state", "its lane is held by a run that is not in flight", sql!("check_active_run")),
    ("lanes", "it is held by a run that is not in flight", sql!("check_lanes")),
    ("guards", "it is held by a run that is not in flight", sql!("check_guards")),
    ("runs", "its schedule or its version does not exist", sql!("check_versions")),
    ("schedule_state", "its version is not that of its definition", sql!("check_states")),
    ("schedule_state", "it counts fewer runs than the ledger has", sql!("check_counts")),
    ("run_ranges", "it overlaps another range", sql!("check_ranges")),
    ("runs", "its tick lies within a range", sql!("check_rows_in_ranges")),
];

impl Postgres {
    pub(super) async fn find_faults(&self) -> Result<Vec<Finding>, Error> {
        let tx = self.connections.begin(Role::Engine, "checking the database").await?;
        let result = self.faults_in(&tx).await;
        let mut findings = tx.finish(result).await?;
        let chain = self.check_chain(&Scope::Engine).await?;
        findings.extend(chain.broken.map(|(seq, what)| Finding {
            table: "audit_events",
            row: format!("seq {seq}"),
            what,
        }));
        Ok(findings)
    }

    async fn faults_in(&self, tx: &Tx) -> Result<Vec<Finding>, Error> {
        let mut findings = Vec::new();
        for (table, what, statement) in CONTRADICTIONS {
            for row in tx.rows(statement, &[&FINDINGS_MAX]).await? {
                findings.push(Finding { table, row: col(&row, 0)?, what: (*what).to_owned() });
            }
        }
        let mut after = 0_i64;
        loop {
            let rows = tx.rows(sql!("check_cursors"), &[&after, &(BATCH_MAX as i64)]).await?;
            let Some(last) = rows.last() else { return Ok(findings) };
            after = col(last, 0)?;
            self.check_schedules(tx, &rows, &mut findings).await?;
        }
    }

    /// Compares cursors and ledgers with the ticks of the definitions.
    async fn check_schedules(&self, tx: &Tx, rows: &[Row], findings: &mut Vec<Finding>) -> Result<(), Error> {
        let mut wanted = Vec::with_capacity(rows.len());
        for row in rows {
            wanted.push((ScheduleKey(col(row, 0)?), col::<i64>(row, 1)?));
        }
        let known = self.definitions(tx, &wanted).await?;
        for (row, want) in rows.iter().zip(wanted) {
            let named = |what: String| Finding {
                table: "schedule_state",
                row: format!("schedule {}", want.0.0),
                what,
            };
            let definition = match known.get(&want) {
                Some(Ok(definition)) => definition,
                // Something it refers to is gone: that is the schedule's trouble, not the database's.
                _ => continue,
            };
            let Some(mut timing) = definition.when.timing().cloned() else { continue };
            timing.runs = unsigned(col(row, 6)?);
            if matches!(timing.spec, Spec::Every(_)) && timing.anchor != Anchor::Fixed {
                continue;
            }
            let planned = from_micros(col(row, 2)?)?;
            let next: Option<Timestamp> = col::<Option<i64>>(row, 3)?.map(from_seconds).transpose()?;
            if next != timing.planned_after(planned)
                && !timing.is_exhausted()
                && col::<Option<i64>>(row, 5)?.is_none()
            {
                findings.push(named("its next tick is not the first after its cursor".to_owned()));
            }
            if timing.is_exhausted() && col::<Option<i64>>(row, 5)?.is_none() {
                // It was resumed after it had had all its runs: none of its ticks since then is accounted for.
                continue;
            }
            // Once it has had all its runs, its ticks are not accounted for.
            let spent = col::<Option<i64>>(row, 5)?.map(from_micros).transpose()?;
            let through = spent.map_or(planned, |spent| spent.min(planned));
            let since =
                from_micros(col(row, 4)?)?.max(planned.saturating_sub(LOOK_BACK).unwrap_or(Timestamp::MIN));
            findings.extend(self.audit_ticks(tx, want, (&timing, since, through)).await?);
        }
        Ok(())
    }

    async fn audit_ticks(
        &self,
        tx: &Tx,
        (schedule, version): (ScheduleKey, i64),
        (timing, since, planned): (&punctual_time::Timing, Timestamp, Timestamp),
    ) -> Result<Vec<Finding>, Error> {
        let (from, to) = (since.as_second() + 1, planned.as_second());
        if from > to {
            return Ok(Vec::new());
        }
        let (mut rows, mut ranges) = (Vec::new(), Vec::new());
        let found = tx.rows(sql!("check_ticks"), &[&schedule.0, &from, &to]).await?;
        // What an older version had fired early is that version's.
        let mut from = from;
        for row in &found {
            let last = col::<Option<i64>>(row, 1)?.unwrap_or(col(row, 0)?);
            if col::<i64>(row, 3)? < version {
                from = from.max(last + 1);
            }
        }
        if from > to {
            return Ok(Vec::new());
        }
        for row in found {
            let last = col::<Option<i64>>(&row, 1)?.unwrap_or(col(&row, 0)?);
            if last < from {
                continue;
            }
            let (first, last, count): (i64, Option<i64>, i64) = (col(&row, 0)?, col(&row, 1)?, col(&row, 2)?);
            match last {
                None => rows.push(from_seconds(first)?),
                Some(last) => ranges.push(Span {
                    first: from_seconds(first)?,
                    last: from_seconds(last)?,
                    count: unsigned(count),
                }),
            }
        }
        let stretch = from_seconds(from)?..=from_seconds(to)?;
        let audit = audit_ledger(timing, Recorded { rows: &rows, ranges: &ranges }, stretch);
        let say = |hole: Hole| Finding {
            table: "runs",
            row: format!("schedule {}", schedule.0),
            what: match hole {
                Hole::Missing { first, last, count } => {
                    format!("{count} ticks from {first} to {last} have no entry")
                }
                Hole::Doubled { tick, entries } => format!("the tick at {tick} has {entries} entries"),
                Hole::Foreign { at } => format!("the schedule does not tick at {at}"),
                Hole::Miscounted { span, found } => {
                    format!(
                        "the range from {} to {} has {found} ticks, not {}",
                        span.first, span.last, span.count
                    )
                }
            },
        };
        Ok(audit.holes.into_iter().map(say).collect())
    }
}
