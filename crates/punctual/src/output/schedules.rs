//! Schedules on the screen.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use punctual::{Failure, declare, ticks};
use punctual_plan::{Action, RunStatus, Schedule};
use punctual_store::ScheduleRow;
use serde::Serialize;
use serde_json::json;

use super::table::table;
use super::{Output, clock};

/// Letters of an id in a table; `--id` takes any unambiguous start of one.
const SHORT_ID: usize = 8;

/// Ticks that a dry run shows.
const TICKS: usize = 5;

/// A schedule in JSON.
#[derive(Serialize)]
struct ScheduleJson<'a> {
    #[serde(flatten)]
    definition: DefinitionJson<'a>,
    org_id: &'a str,
    enabled: bool,
    status: &'static str,
    version: i64,
    next_run_at: Option<Timestamp>,
    last_run_at: Option<Timestamp>,
    last_run_status: Option<&'static str>,
    run_count: u64,
    success_count: u64,
    failure_count: u64,
    created_at: Timestamp,
    updated_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_at: Option<Timestamp>,
}

#[derive(Serialize)]
struct DefinitionJson<'a> {
    id: String,
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    spec: &'a str,
    dialect: String,
    timezone: &'a str,
    target: serde_json::Value,
}

impl<'a> DefinitionJson<'a> {
    fn new(definition: &'a Schedule) -> Self {
        Self {
            id: definition.id.to_string(),
            name: &definition.name,
            kind: "cron",
            spec: &definition.spec,
            dialect: definition.dialect.to_string(),
            timezone: definition.timezone(),
            target: match &definition.target.action {
                Action::Process(process) => json!({"type": "process", "argv": process.argv}),
                other => json!({"type": other.kind()}),
            },
        }
    }
}

impl<'a> ScheduleJson<'a> {
    fn new(row: &'a ScheduleRow) -> Self {
        Self {
            definition: DefinitionJson::new(&row.definition),
            org_id: &row.definition.owner.org_id,
            enabled: row.deleted_at.is_none() && row.state.status.is_active(),
            status: status(row),
            version: row.definition.version,
            next_run_at: row.next_run_at,
            last_run_at: row.state.last_finish.map(|(at, _)| at),
            last_run_status: row.state.last_finish.map(|(_, status)| RunStatus::name(status)),
            run_count: row.state.counters.runs,
            success_count: row.state.counters.successes,
            failure_count: row.state.counters.failures,
            created_at: row.created_at,
            updated_at: row.updated_at,
            deleted_at: row.deleted_at,
        }
    }
}

fn status(row: &ScheduleRow) -> &'static str {
    if row.deleted_at.is_some() { "deleted" } else { row.state.status.name() }
}

/// The table of all schedules.
pub(crate) fn list(output: &Output, rows: &[ScheduleRow]) -> Result<(), Failure> {
    let schedules: Vec<ScheduleJson<'_>> = rows.iter().map(ScheduleJson::new).collect();
    output.write(&json!({"schedules": schedules}), || {
        if rows.is_empty() {
            return "no schedules yet; `punctual schedule create --help` shows how to make one\n".to_owned();
        }
        let cells = rows.iter().map(|row| {
            let definition = &row.definition;
            let id = definition.id.to_string();
            vec![
                id[..SHORT_ID].to_owned(),
                definition.name.clone(),
                definition.spec.clone(),
                next_run(row),
                if row.state.status.is_active() { "enabled" } else { row.state.status.name() }.to_owned(),
            ]
        });
        table(&["ID", "NAME", "CRON", "NEXT RUN", "STATUS"], cells)
    })
}

fn next_run(row: &ScheduleRow) -> String {
    row.next_run_at.map_or("-".to_owned(), |at| clock(at, &zone_of(&row.definition)))
}

fn zone_of(definition: &Schedule) -> TimeZone {
    TimeZone::get(definition.timezone()).unwrap_or(TimeZone::UTC)
}

/// A schedule that was made.
pub(crate) fn created(output: &Output, row: &ScheduleRow) -> Result<(), Failure> {
    output.write(&json!({"schedule": ScheduleJson::new(row)}), || {
        let definition = &row.definition;
        format!("created schedule `{}` ({}), next run {}\n", definition.name, definition.id, next_run(row))
    })
}

/// A schedule that would be made.
pub(crate) fn preview(output: &Output, drafted: &declare::Schedule, now: Timestamp) -> Result<(), Failure> {
    let definition = &drafted.definition;
    let ticks: Vec<Timestamp> = ticks(definition, now, TICKS).iter().map(|tick| tick.at).collect();
    let json = json!({
        "dry_run": true,
        "schedule": DefinitionJson::new(definition),
        "next_run_at": ticks.first(),
        "next": ticks,
    });
    output.write(&json, || {
        let zone = zone_of(definition);
        let ticks: String = ticks.iter().map(|at| format!("  {}\n", clock(*at, &zone))).collect();
        format!("would create schedule `{}`; its first runs:\n{ticks}", definition.name)
    })
}

/// A schedule that was deleted.
pub(crate) fn deleted(output: &Output, row: &ScheduleRow) -> Result<(), Failure> {
    output.write(&json!({"deleted": true, "schedule": ScheduleJson::new(row)}), || {
        format!(
            "deleted schedule `{}`; its history stays under --id {}\n",
            row.definition.name, row.definition.id
        )
    })
}

/// A schedule that would be deleted.
pub(crate) fn would_delete(output: &Output, row: &ScheduleRow) -> Result<(), Failure> {
    output.write(&json!({"dry_run": true, "schedule": ScheduleJson::new(row)}), || {
        format!("would delete schedule `{}` ({})\n", row.definition.name, row.definition.id)
    })
}
