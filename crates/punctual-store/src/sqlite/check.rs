//! A look for anything that the promises exclude: rows, claims, cursors, the sealed log, the file itself.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Anchors, Hole, Recorded, Schedule, ScheduleKey, Span, audit_ledger};
use punctual_time::Timing;
use rusqlite::{Row, params};

use super::connection::{Db, doing};
use super::decode::{column, instant, maybe_instant, maybe_tick, text, tick};
use super::{Sqlite, audit, sql};
use crate::{Error, Finding, Scope};

/// Findings of one kind that are named.
const FINDINGS_MAX: i64 = 100;

/// Schedules that are looked at in one read transaction.
const SCHEDULES_STEP: i64 = 500;

/// Ticks of a schedule that are compared with its spec, from the latest on back.
const TICKS_MAX: i64 = 2_000;

impl Sqlite {
    /// Looks at everything, in steps that let the log of the database be moved in between.
    pub(super) async fn check_all(&self) -> Result<Vec<Finding>, Error> {
        let mut findings = self.lister.run(check_file).await?;
        findings.extend(self.lister.run(check_rows).await?);
        findings.extend(self.lister.run(check_claims).await?);
        let chain = self.lister.run(|db| audit::verify(db, &Scope::Engine)).await?;
        let broken = chain.broken.map(|(seq, what)| found("audit_events", format!("{seq}"), what));
        findings.extend(broken);
        let mut after = 0;
        loop {
            let (more, last) = self.lister.run(move |db| check_schedules(db, after)).await?;
            findings.extend(more);
            let Some(last) = last else { return Ok(findings) };
            after = last;
        }
    }
}

fn found(table: &'static str, row: String, what: impl Into<String>) -> Finding {
    Finding { table, row, what: what.into() }
}

/// What SQLite itself finds.
fn check_file(db: &Db) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    let said = db.connection.pragma_query(None, "integrity_check", |row| {
        let line: String = row.get(0)?;
        if line != "ok" {
            findings.push(found("file", String::new(), line));
        }
        Ok(())
    });
    said.map_err(doing("checking the file"))?;
    Ok(findings)
}

fn check_rows(db: &Db) -> Result<Vec<Finding>, Error> {
    db.rows(sql!("check_looks"), [FINDINGS_MAX], |row| {
        let (key, status): (i64, String) = (column(row, 0)?, column(row, 1)?);
        let what = format!("it is {status}, and when it is looked at or ended does not fit that");
        Ok(found("runs", format!("run-{key}"), what))
    })
}

fn check_claims(db: &Db) -> Result<Vec<Finding>, Error> {
    let mut findings = db.rows(sql!("check_held"), [FINDINGS_MAX], |row| {
        let (schedule, run): (i64, i64) = (column(row, 0)?, column(row, 1)?);
        let what = format!("it is held by run-{run}, which is not in flight");
        Ok(found("schedule_state", schedule.to_string(), what))
    })?;
    findings.extend(db.rows(sql!("check_claims"), [FINDINGS_MAX], |row| {
        let table = if text(row, 0)? == "guards" { "guards" } else { "lanes" };
        let what = format!("it is held by run-{}, which is not in flight", column::<i64>(row, 2)?);
        Ok(found(table, column(row, 1)?, what))
    })?);
    let in_flight = db.rows(sql!("check_in_flight"), [FINDINGS_MAX * 1_000], |row| check_held(db, row))?;
    findings.extend(in_flight.into_iter().flatten());
    Ok(findings)
}

/// A run in flight whose schedule lets only one run at a time must hold it.
fn check_held(db: &Db, row: &Row<'_>) -> Result<Option<Finding>, Error> {
    let (run, schedule): (i64, i64) = (column(row, 0)?, column(row, 1)?);
    let Ok(definition) = db.definition(ScheduleKey(schedule), column(row, 2)?) else { return Ok(None) };
    let is_forced: bool = column(row, 3)?;
    let is_held = column::<Option<i64>>(row, 4)? == Some(run) || column::<bool>(row, 5)?;
    let is_exclusive = definition.policy.overlap.is_exclusive() && !is_forced;
    let what = "it is in flight without the claim that lets it be the only one";
    // Under an older version the run may have been let in beside others.
    let is_wrong = is_exclusive && !is_held && definition.version == 1;
    Ok(is_wrong.then(|| found("runs", format!("run-{run}"), what)))
}

/// A schedule as it is checked.
struct Checked {
    schedule: i64,
    definition: std::sync::Arc<Schedule>,
    planned_through: Timestamp,
    next_tick: Option<Timestamp>,
    spent_at: Option<Timestamp>,
    is_active: bool,
    successes: u64,
    since: Timestamp,
    timing: Timing,
}

fn check_schedules(db: &Db, after: i64) -> Result<(Vec<Finding>, Option<i64>), Error> {
    let mut findings = Vec::new();
    let mut last = None;
    let checked = db.rows(sql!("check_schedules"), params![after, SCHEDULES_STEP], |row| {
        let schedule: i64 = column(row, 0)?;
        last = Some(schedule);
        match read_checked(db, row, schedule) {
            Err(Error::Corrupt { what }) => {
                findings.push(found("schedules", schedule.to_string(), what));
                Ok(None)
            }
            other => other,
        }
    })?;
    for one in checked.into_iter().flatten() {
        check_cursor(&one, &mut findings);
        check_ledger(db, &one, &mut findings)?;
        check_counts(db, &one, &mut findings)?;
    }
    Ok((findings, last))
}

fn read_checked(db: &Db, row: &Row<'_>, schedule: i64) -> Result<Option<Checked>, Error> {
    let definition = db.definition(ScheduleKey(schedule), column(row, 1)?)?;
    let Some(mut timing) = definition.when.timing().cloned() else { return Ok(None) };
    timing.runs = column(row, 6)?;
    let anchors = Anchors { start: maybe_instant(row, 7)?, finish: maybe_instant(row, 8)? };
    timing.last = anchors.last(timing.anchor);
    Ok(Some(Checked {
        schedule,
        definition,
        planned_through: instant(row, 2)?,
        next_tick: maybe_tick(row, 3)?,
        spent_at: maybe_instant(row, 4)?,
        is_active: column(row, 5)?,
        successes: column(row, 9)?,
        since: instant(row, 10)?,
        timing,
    }))
}

/// The next tick must be the first one after what is planned.
fn check_cursor(one: &Checked, findings: &mut Vec<Finding>) {
    if !one.is_active || one.spent_at.is_some() || one.timing.is_floating() || one.next_tick.is_none() {
        return;
    }
    let expected = one.timing.planned_after(one.planned_through);
    if one.next_tick != expected {
        let said = |tick: Option<Timestamp>| tick.map_or_else(|| "none".to_owned(), |tick| tick.to_string());
        let what = format!(
            "its cursor is at {} and names {} as the next tick, which is {}",
            one.planned_through,
            said(one.next_tick),
            said(expected)
        );
        findings.push(found("schedule_state", one.schedule.to_string(), what));
    }
}

/// Every tick of the present version up to the cursor has one entry.
fn check_ledger(db: &Db, one: &Checked, findings: &mut Vec<Finding>) -> Result<(), Error> {
    if one.timing.is_exhausted() && one.spent_at.is_none() {
        // It was resumed after it had had all its runs: none of its ticks since then is accounted for.
        return Ok(());
    }
    let version = one.definition.version;
    let rows = db.rows(sql!("check_ticks"), params![one.schedule, i64::MAX, TICKS_MAX], |row| {
        Ok((tick(row, 0)?, column::<i64>(row, 1)?))
    })?;
    let spans = db.rows(sql!("check_ranges"), params![one.schedule, TICKS_MAX], |row| {
        let span = Span { first: tick(row, 0)?, last: tick(row, 1)?, count: column(row, 2)? };
        Ok((span, column::<i64>(row, 3)?))
    })?;
    // The version begins after its making and after what an older one had fired early; a long ledger is cut.
    let is_cut = rows.len() as i64 == TICKS_MAX;
    let cut = rows.last().filter(|_| is_cut).map(|(tick, _)| *tick);
    let span_cut = spans.last().filter(|_| spans.len() as i64 == TICKS_MAX).map(|(span, _)| span.last);
    let older = rows.iter().filter(|(_, of)| *of < version).map(|(tick, _)| *tick).max();
    let older_spans = spans.iter().filter(|(_, of)| *of < version).map(|(span, _)| span.last).max();
    let bounds = [Some(one.since), cut, span_cut, older, older_spans];
    let from = bounds.into_iter().flatten().max().unwrap_or(one.since);
    let through = one.spent_at.map_or(one.planned_through, |spent| spent.min(one.planned_through));
    let from = from.saturating_add(SignedDuration::from_nanos(1)).unwrap_or(Timestamp::MAX);
    let ticks: Vec<Timestamp> =
        rows.iter().filter(|(tick, of)| *of == version && *tick >= from).map(|(tick, _)| *tick).collect();
    let ranges: Vec<Span> = spans.iter().filter(|(_, of)| *of == version).map(|(span, _)| *span).collect();
    let beyond = ticks.iter().find(|tick| **tick > one.planned_through && one.spent_at.is_none());
    if let Some(tick) = beyond.filter(|_| !one.timing.is_floating()) {
        let what = format!("the tick at {tick} has a row, and its cursor is only at {}", one.planned_through);
        findings.push(found("schedule_state", one.schedule.to_string(), what));
    }
    if from > through {
        return Ok(());
    }
    let audit = audit_ledger(&one.timing, Recorded { rows: &ticks, ranges: &ranges }, from..=through);
    let mut told = BTreeSet::new();
    for hole in &audit.holes {
        let what = said(hole);
        if told.len() < FINDINGS_MAX as usize && told.insert(what.clone()) {
            findings.push(found("runs", format!("schedule {}", one.schedule), what));
        }
    }
    Ok(())
}

fn said(hole: &Hole) -> String {
    match hole {
        Hole::Missing { first, last, count } => format!("{count} ticks from {first} to {last} have no entry"),
        Hole::Doubled { tick, entries } => format!("the tick at {tick} has {entries} entries"),
        Hole::Foreign { at } => format!("there is an entry at {at}, which is no tick of the schedule"),
        Hole::Miscounted { span, found } => {
            format!("the stretch from {} counts {} ticks, not {found}", span.first, span.count)
        }
    }
}

/// What is counted must be what the rows say, unless retention took some.
fn check_counts(db: &Db, one: &Checked, findings: &mut Vec<Finding>) -> Result<(), Error> {
    let counted = db.first(sql!("check_counts"), [one.schedule], |row| {
        Ok((column::<u64>(row, 0)?, column::<bool>(row, 1)?))
    })?;
    if let Some((rows, false)) = counted.filter(|(rows, _)| *rows != one.successes) {
        let what = format!("it counts {} runs that succeeded, its rows {rows}", one.successes);
        findings.push(found("schedule_state", one.schedule.to_string(), what));
    }
    Ok(())
}
