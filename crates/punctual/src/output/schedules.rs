//! Schedules on the screen: lists, what was done to them, what would be.

use std::collections::HashSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use punctual::declare::Names;
use punctual::{Acted, Created, Edition, Failure, Outlook, Pages, Step, Triggered, declare, ticks};
use punctual_plan::{Schedule, ScheduleId};
use punctual_store::{RunRow, ScheduleRow};
use punctual_time::{Mark, Tick};
use serde_json::{Value, json};

use super::schedule::{self, status};
use super::table::table;
use super::{Answer, Output, clock};

/// Letters of an id in a table; `--id` takes any unambiguous start of one.
const SHORT_ID: usize = 8;

/// Ticks that a dry run shows.
const TICKS: usize = 5;

/// A schedule with everything about it.
pub(crate) struct Whole {
    pub(crate) row: ScheduleRow,
    pub(crate) names: Vec<(ScheduleId, String)>,
    pub(crate) now: Timestamp,
    pub(crate) runs: Vec<RunRow>,
}

/// The schedules, page by page; a long table has its headings on each page.
pub(crate) async fn list(output: &Output, mut pages: Pages<'_>) -> Result<(), Failure> {
    if output.is_json() {
        let mut answer = Answer::begin()?;
        write_rows(&mut answer, &mut pages).await?;
        if let Some(next) = pages.rest() {
            answer.value("next", &next)?;
        }
        return answer.end();
    }
    let mut count = 0;
    while let Some(rows) = pages.next().await? {
        count += rows.len();
        if !rows.is_empty() {
            output.text(&table(&["ID", "NAME", "CRON", "NEXT RUN", "STATUS"], rows.iter().map(cells)))?;
        }
    }
    match (count, pages.rest()) {
        (0, None) => {
            output.text("no schedules yet; `punctual schedule create --help` shows how to make one\n")
        }
        (_, Some(next)) => output.text(&format!("there are more: go on with `--after '{next}'`\n")),
        (_, None) => Ok(()),
    }
}

/// All schedules of some pages under `schedules`.
async fn write_rows(answer: &mut Answer, pages: &mut Pages<'_>) -> Result<(), Failure> {
    answer.begin_list("schedules")?;
    while let Some(rows) = pages.next().await? {
        let names = names(&rows);
        for row in &rows {
            answer.item(&schedule::row(row, &names))?;
        }
        if !answer.is_read() {
            break;
        }
    }
    answer.end_list()
}

/// The names of those whom the rows refer to, as far as they are among them.
fn names(rows: &[ScheduleRow]) -> Names<'_> {
    Names::of(rows.iter().map(|row| (row.definition.id, row.definition.name.as_str())))
}

fn cells(row: &ScheduleRow) -> Vec<String> {
    let definition = &row.definition;
    let shown = match status(row) {
        "active" => "enabled",
        "paused_manual" => "disabled",
        other => other,
    };
    let id = definition.id.to_string();
    vec![
        id[..SHORT_ID].to_owned(),
        definition.name.clone(),
        definition.spec.clone(),
        next_run(row),
        shown.to_owned(),
    ]
}

fn next_run(row: &ScheduleRow) -> String {
    row.next_run_at.map_or("-".to_owned(), |at| clock(at, &zone_of(&row.definition)))
}

pub(super) fn zone_of(definition: &Schedule) -> TimeZone {
    TimeZone::get(definition.timezone()).unwrap_or(TimeZone::UTC)
}

/// A schedule that was made.
pub(crate) fn created(output: &Output, created: &Created) -> Result<(), Failure> {
    let row = &created.row;
    let json = json!({"schedule": schedule::row(row, &Names::of([])), "created": created.is_new});
    output.write(&json, || match created.is_new {
        true => made(row),
        false => format!("schedule `{}` was made by an earlier request with this key\n", row.definition.name),
    })
}

fn made(row: &ScheduleRow) -> String {
    let definition = &row.definition;
    format!("created schedule `{}` ({}), next run {}\n", definition.name, definition.id, next_run(row))
}

/// Schedules of a file that were made, as they are stored now.
pub(crate) async fn created_many(
    output: &Output,
    mut pages: Pages<'_>,
    made_now: &HashSet<ScheduleId>,
) -> Result<(), Failure> {
    let is_new = |row: &ScheduleRow| made_now.contains(&row.definition.id);
    let mut answer = match output.is_json() {
        true => Some(Answer::begin()?),
        false => None,
    };
    if let Some(answer) = &mut answer {
        answer.begin_list("schedules")?;
    }
    while let Some(rows) = pages.next().await? {
        let names = names(&rows);
        for row in rows.iter().filter(|row| is_new(row)) {
            match &mut answer {
                Some(answer) => answer.item(&schedule::row(row, &names))?,
                None => output.text(&made(row))?,
            }
        }
    }
    match answer {
        Some(mut answer) => answer.end_list().and_then(|()| answer.end()),
        None => Ok(()),
    }
}

/// A schedule that would be made.
pub(crate) fn would_create(
    output: &Output,
    drafted: &declare::Schedule,
    now: Timestamp,
) -> Result<(), Failure> {
    let ticks = instants(&drafted.definition, now);
    let json = json!({
        "dry_run": true,
        "schedule": schedule::definition(&drafted.definition, &Names::of([])),
        "next_run_at": ticks.first(),
        "next": ticks,
    });
    output.write(&json, || would_make(drafted, now))
}

fn would_make(drafted: &declare::Schedule, now: Timestamp) -> String {
    let definition = &drafted.definition;
    let ticks = lines(&instants(definition, now), definition);
    match (drafted.enabled, ticks.is_empty()) {
        (false, _) => format!("would create schedule `{}`, disabled\n", definition.name),
        (true, true) => format!("would create schedule `{}`\n", definition.name),
        (true, false) => format!("would create schedule `{}`; its first runs:\n{ticks}", definition.name),
    }
}

/// Schedules that would be made.
pub(crate) fn would_create_many(
    output: &Output,
    drafted: &[declare::Schedule],
    now: Timestamp,
) -> Result<(), Failure> {
    let one = |drafted: &declare::Schedule| {
        let mut json = schedule::definition(&drafted.definition, &Names::of([]));
        json.insert("next".to_owned(), json!(instants(&drafted.definition, now)));
        Value::Object(json)
    };
    if output.is_json() {
        let mut answer = Answer::begin()?;
        answer.value("dry_run", &true)?;
        answer.list("schedules", drafted.iter().map(one))?;
        return answer.end();
    }
    drafted.iter().try_for_each(|one| output.text(&would_make(one, now)))
}

fn instants(definition: &Schedule, now: Timestamp) -> Vec<Timestamp> {
    let fires = ticks(definition, now, TICKS * 100).into_iter().filter(|tick| tick.suppressed.is_none());
    fires.take(TICKS).map(|tick| tick.at).collect()
}

fn lines(ticks: &[Timestamp], definition: &Schedule) -> String {
    let zone = zone_of(definition);
    ticks.iter().map(|at| format!("  {}\n", clock(*at, &zone))).collect()
}

/// A schedule that was changed, or not.
pub(crate) fn changed(output: &Output, verb: &str, acted: &Acted) -> Result<(), Failure> {
    let row = &acted.row;
    let mut json = json!({"schedule": schedule::row(row, &Names::of([])), "changed": acted.is_changed});
    if verb == "deleted" {
        json["deleted"] = json!(true);
    }
    output.write(&json, || changed_line(verb, acted))
}

fn changed_line(verb: &str, acted: &Acted) -> String {
    let (row, name) = (&acted.row, &acted.row.definition.name);
    match (acted.is_changed, verb) {
        (false, _) => format!("schedule `{name}` is as it was\n"),
        (true, "deleted") => {
            format!("deleted schedule `{name}`; its history stays under --id {}\n", row.definition.id)
        }
        (true, "disabled") => format!("disabled schedule `{name}`\n"),
        (true, verb) => {
            format!(
                "{verb} schedule `{name}`, version {}, next run {}\n",
                row.definition.version,
                next_run(row)
            )
        }
    }
}

/// Schedules that were changed, or not.
pub(crate) fn changed_many(output: &Output, verb: &str, acted: &[Acted]) -> Result<(), Failure> {
    let json: Vec<Value> = acted.iter().map(|one| schedule::row(&one.row, &Names::of([]))).collect();
    let count = acted.iter().filter(|one| one.is_changed).count();
    output.write(&json!({"schedules": json, "changed": count}), || {
        format!("{verb} {count} of {} schedules\n", acted.len())
    })
}

/// What a step would do to a schedule.
type Seen = (ScheduleRow, Option<Step>, Outlook);

/// What a step would do.
pub(crate) fn outlook(output: &Output, would: &str, seen: &Seen) -> Result<(), Failure> {
    let mut json = outlook_json(seen);
    json["dry_run"] = json!(true);
    output.write(&json, || outlook_text(would, seen))
}

/// What a step would do to many.
pub(crate) fn outlooks(output: &Output, would: &str, seen: &[Seen]) -> Result<(), Failure> {
    let json: Vec<Value> = seen.iter().map(outlook_json).collect();
    output.write(&json!({"dry_run": true, "schedules": json}), || {
        seen.iter().map(|seen| outlook_text(would, seen)).collect()
    })
}

fn outlook_json((row, step, outlook): &Seen) -> Value {
    let changes = changes(row, step.as_ref());
    let changes: Vec<Value> = changes
        .iter()
        .map(|one| json!({"field": one.field, "before": one.before, "after": one.after}))
        .collect();
    json!({
        "schedule": schedule::row(row, &Names::of([])),
        "changed": step.is_some(),
        "changes": changes,
        "before": outlook.before,
        "after": outlook.after,
    })
}

fn changes(row: &ScheduleRow, step: Option<&Step>) -> Vec<punctual::Difference> {
    match step {
        Some(Step::Replace { definition, .. }) => punctual::differences(&row.definition, definition),
        _ => Vec::new(),
    }
}

fn outlook_text(would: &str, (row, step, outlook): &Seen) -> String {
    let name = &row.definition.name;
    if step.is_none() {
        return format!("schedule `{name}` would stay as it is\n");
    }
    let changes: String = changes(row, step.as_ref()).iter().map(|one| format!("  {one}\n")).collect();
    let zone = zone_of(&row.definition);
    let shown =
        |ticks: &[Timestamp], place: usize| ticks.get(place).map_or("-".to_owned(), |at| clock(*at, &zone));
    let count = outlook.before.len().max(outlook.after.len()).max(1);
    let rows = (0..count).map(|place| vec![shown(&outlook.before, place), shown(&outlook.after, place)]);
    format!(
        "would {would} schedule `{name}` ({})\n{changes}{}",
        row.definition.id,
        table(&["BEFORE", "AFTER"], rows)
    )
}

/// A run that was asked for.
pub(crate) fn triggered(output: &Output, name: &str, one: &Triggered) -> Result<(), Failure> {
    let json = json!({"triggered": true, "request_id": one.request_id, "run_id": one.run.to_string()});
    output.write(&json, || format!("triggered `{name}` as {} ({})\n", one.run, one.request_id))
}

/// Runs that were asked for.
pub(crate) fn triggered_many(output: &Output, all: &[(String, Triggered)]) -> Result<(), Failure> {
    let json: Vec<Value> = all
        .iter()
        .map(|(name, one)| json!({"name": name, "request_id": one.request_id, "run_id": one.run.to_string()}))
        .collect();
    output.write(&json!({"triggered": true, "requests": json}), || {
        format!("triggered {} schedules\n", all.len())
    })
}

/// Runs that would be asked for.
pub(crate) fn would_trigger(output: &Output, rows: &[ScheduleRow]) -> Result<(), Failure> {
    let names: Vec<&str> = rows.iter().map(|row| row.definition.name.as_str()).collect();
    output.write(&json!({"dry_run": true, "schedules": names}), || {
        names.iter().map(|name| format!("would trigger `{name}`\n")).collect()
    })
}

/// An item that was put on a queue.
pub(crate) fn requested(output: &Output, one: &Triggered) -> Result<(), Failure> {
    let json = json!({"request_id": one.request_id, "run_id": one.run.to_string()});
    output.write(&json, || format!("made request {} ({})\n", one.request_id, one.run))
}

/// An item that would be put on a queue.
pub(crate) fn would_request(output: &Output) -> Result<(), Failure> {
    output.write(&json!({"dry_run": true}), || "would make a request\n".to_owned())
}

/// The next ticks of a schedule with their marks.
pub(crate) fn preview(output: &Output, row: &ScheduleRow, ticks: &[Tick]) -> Result<(), Failure> {
    let zone = zone_of(&row.definition);
    let json: Vec<Value> = ticks
        .iter()
        .map(|tick| {
            let window = tick.suppressed.as_ref().map(ToString::to_string);
            json!({"at": tick.at, "dst": tick.mark.as_ref().map(mark), "suppressed": window})
        })
        .collect();
    output.write(&json!({"name": row.definition.name, "ticks": json}), || {
        if ticks.is_empty() {
            return "it has no ticks of its own to come\n".to_owned();
        }
        let cells = ticks.iter().map(|tick| {
            let note = match &tick.suppressed {
                Some(window) => format!("suppressed: {window}"),
                None => tick.mark.as_ref().map(mark).unwrap_or_default(),
            };
            let day = tick.at.to_zoned(zone.clone()).strftime("%a").to_string();
            vec![clock(tick.at, &zone), day, note]
        });
        table(&["TICK", "DAY", "NOTE"], cells)
    })
}

fn mark(mark: &Mark) -> String {
    match mark {
        Mark::Shifted { from } => format!("moved from {from}, which the clock skips"),
        Mark::FirstPass => "the first of two".to_owned(),
        Mark::SecondPass => "the second of two".to_owned(),
    }
}

/// The versions of a schedule.
pub(crate) fn editions(output: &Output, editions: &[Edition]) -> Result<(), Failure> {
    let one = |edition: &Edition| {
        let changes: Vec<Value> = edition
            .changes
            .iter()
            .map(|one| json!({"field": one.field, "before": one.before, "after": one.after}))
            .collect();
        let version = &edition.version;
        json!({"version": version.version, "since": version.since, "by": version.by, "spec": version.definition.spec, "changes": changes})
    };
    let json: Vec<Value> = editions.iter().map(one).collect();
    output.write(&json!({"versions": json}), || {
        let cells = editions.iter().map(|edition| {
            let changes: Vec<String> = edition.changes.iter().map(ToString::to_string).collect();
            let what = match (edition.version.version, changes.is_empty()) {
                (1, _) => format!("created with `{}`", edition.version.definition.spec),
                (_, true) => "decided again".to_owned(),
                (_, false) => changes.join("; "),
            };
            let by = edition.version.by.clone().unwrap_or_else(|| "-".to_owned());
            vec![edition.version.version.to_string(), clock(edition.version.since, &TimeZone::UTC), by, what]
        });
        table(&["VERSION", "SINCE", "BY", "WHAT CHANGED"], cells)
    })
}
