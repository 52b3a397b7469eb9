//! Schedules on the screen: lists, what was done to them, what would be.

use std::collections::HashSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use punctual::shape::{
    Changed, ChangedMany, Created, Definition, Drafted, Outlook, Outlooks, Preview, Requested, Schedule,
    Schedules, Triggered, TriggeredMany, Version, Versions, WouldCreate, WouldTrigger,
};
use punctual::{Failure, Pages};
use punctual_plan::ScheduleId;
use serde_json::json;

use super::table::table;
use super::{Answer, Output, clock};
use crate::cli::door::ListPages;

/// Letters of an id in a table; `--id` takes any unambiguous start of one.
const SHORT_ID: usize = 8;

/// The schedules, page by page; a long table has its headings on each page.
pub(crate) async fn list(output: &Output, mut pages: ListPages<'_>) -> Result<(), Failure> {
    if output.is_json() {
        let mut answer = Answer::begin()?;
        answer.begin_list("schedules")?;
        while let Some(page) = pages.next().await?.filter(|_| answer.is_read()) {
            page.iter().try_for_each(|one| answer.item(one))?;
        }
        answer.end_list()?;
        if let Some(next) = pages.rest() {
            answer.value("next", &next)?;
        }
        return answer.end();
    }
    let mut count = 0;
    while let Some(page) = pages.next().await? {
        count += page.len();
        if !page.is_empty() {
            output.text(&table(&["ID", "NAME", "CRON", "NEXT RUN", "STATUS"], page.iter().map(cells)))?;
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

fn cells(schedule: &Schedule) -> Vec<String> {
    let definition = &schedule.definition;
    let shown = match schedule.status.as_str() {
        "active" => "enabled",
        "paused_manual" => "disabled",
        other => other,
    };
    vec![
        definition.id.chars().take(SHORT_ID).collect(),
        definition.name.clone(),
        definition.spec.clone(),
        next_run(schedule),
        shown.to_owned(),
    ]
}

fn next_run(schedule: &Schedule) -> String {
    schedule.next_run_at.map_or("-".to_owned(), |at| clock(at, &zone_of(&schedule.definition)))
}

pub(super) fn zone_of(definition: &Definition) -> TimeZone {
    TimeZone::get(&definition.timezone).unwrap_or(TimeZone::UTC)
}

/// A schedule that was made.
pub(crate) fn created(output: &Output, created: Created) -> Result<(), Failure> {
    let created = Created { assumed: Vec::new(), ..created };
    output.write(&created, || match created.created {
        true => made(&created.schedule),
        false => format!(
            "schedule `{}` was made by an earlier request with this key\n",
            created.schedule.definition.name
        ),
    })
}

fn made(schedule: &Schedule) -> String {
    let definition = &schedule.definition;
    format!("created schedule `{}` ({}), next run {}\n", definition.name, definition.id, next_run(schedule))
}

/// Schedules of a file that were made, as they are stored now.
pub(crate) async fn created_many(
    output: &Output,
    mut pages: Pages<'_>,
    made_now: &HashSet<ScheduleId>,
) -> Result<(), Failure> {
    let mut answer = match output.is_json() {
        true => Some(Answer::begin()?),
        false => None,
    };
    if let Some(answer) = &mut answer {
        answer.begin_list("schedules")?;
    }
    while let Some(rows) = pages.next().await? {
        let shapes = Schedule::all(&rows);
        let both = rows.iter().zip(&shapes);
        for (_, one) in both.filter(|(row, _)| made_now.contains(&row.definition.id)) {
            match &mut answer {
                Some(answer) => answer.item(one)?,
                None => output.text(&made(one))?,
            }
        }
    }
    match answer {
        Some(mut answer) => answer.end_list().and_then(|()| answer.end()),
        None => Ok(()),
    }
}

/// A schedule that would be made.
pub(crate) fn would_create(output: &Output, would: &WouldCreate) -> Result<(), Failure> {
    let plain = WouldCreate { enabled: None, assumed: Vec::new(), ..would.clone() };
    output.write(&plain, || would_make(&would.schedule, &would.next, would.enabled))
}

fn would_make(definition: &Definition, next: &[Timestamp], enabled: Option<bool>) -> String {
    let ticks = lines(next, definition);
    match (enabled.unwrap_or(true), ticks.is_empty()) {
        (false, _) => format!("would create schedule `{}`, disabled\n", definition.name),
        (true, true) => format!("would create schedule `{}`\n", definition.name),
        (true, false) => format!("would create schedule `{}`; its first runs:\n{ticks}", definition.name),
    }
}

/// Schedules that would be made.
pub(crate) fn would_create_many(
    output: &Output,
    mut would: impl Iterator<Item = Drafted>,
) -> Result<(), Failure> {
    if output.is_json() {
        let mut answer = Answer::begin()?;
        answer.value("dry_run", &true)?;
        answer.list("schedules", would.map(|one| Drafted { enabled: None, ..one }))?;
        return answer.end();
    }
    would.try_for_each(|one| output.text(&would_make(&one.definition, &one.next, one.enabled)))
}

/// Schedules of a file that a server has made.
pub(crate) fn made_elsewhere(output: &Output, all: &Schedules) -> Result<(), Failure> {
    output.write(all, || all.schedules.iter().map(made).collect())
}

fn lines(ticks: &[Timestamp], definition: &Definition) -> String {
    let zone = zone_of(definition);
    ticks.iter().map(|at| format!("  {}\n", clock(*at, &zone))).collect()
}

/// A schedule that was changed, or not.
pub(crate) fn changed(output: &Output, verb: &str, changed: Changed) -> Result<(), Failure> {
    let changed = Changed { in_flight: None, ..changed };
    output.write(&changed, || changed_line(verb, &changed))
}

fn changed_line(verb: &str, changed: &Changed) -> String {
    let Definition { name, id, .. } = &changed.schedule.definition;
    match (changed.changed, verb) {
        (false, _) => format!("schedule `{name}` is as it was\n"),
        (true, "deleted") => format!("deleted schedule `{name}`; its history stays under --id {id}\n"),
        (true, "disabled") => format!("disabled schedule `{name}`{}\n", going_on(&changed.still_running)),
        (true, verb) => {
            let Schedule { version, .. } = &changed.schedule;
            format!("{verb} schedule `{name}`, version {version}, next run {}\n", next_run(&changed.schedule))
        }
    }
}

/// Schedules that were changed, or not.
pub(crate) fn changed_many(output: &Output, verb: &str, changed: ChangedMany) -> Result<(), Failure> {
    let changed = ChangedMany { in_flight: None, ..changed };
    let going_on = going_on(&changed.still_running);
    let (count, all) = (changed.changed, changed.schedules.len());
    output.write(&changed, || format!("{verb} {count} of {all} schedules{going_on}\n"))
}

/// What was admitted before a pause, if anything was.
fn going_on(still_running: &Option<Vec<String>>) -> String {
    match still_running.as_deref() {
        None | Some([]) => String::new(),
        Some([one]) => format!("; {one} was admitted before and goes on"),
        Some(many) => format!("; {} were admitted before and go on", many.join(", ")),
    }
}

/// What a step would do.
pub(crate) fn outlook(output: &Output, would: &str, seen: &Outlook) -> Result<(), Failure> {
    output.write(seen, || outlook_text(would, seen))
}

/// What a step would do to many.
pub(crate) fn outlooks(output: &Output, would: &str, seen: &Outlooks) -> Result<(), Failure> {
    output.write(seen, || seen.schedules.iter().map(|one| outlook_text(would, one)).collect())
}

fn outlook_text(would: &str, seen: &Outlook) -> String {
    let definition = &seen.schedule.definition;
    let name = &definition.name;
    if !seen.changed {
        return format!("schedule `{name}` would stay as it is\n");
    }
    let changes: String = seen.changes.iter().map(|one| format!("  {one}\n")).collect();
    let zone = zone_of(definition);
    let shown =
        |ticks: &[Timestamp], place: usize| ticks.get(place).map_or("-".to_owned(), |at| clock(*at, &zone));
    let count = seen.before.len().max(seen.after.len()).max(1);
    let rows = (0..count).map(|place| vec![shown(&seen.before, place), shown(&seen.after, place)]);
    let ticks = table(&["BEFORE", "AFTER"], rows);
    format!("would {would} schedule `{name}` ({})\n{changes}{ticks}", definition.id)
}

/// A run that was asked for.
pub(crate) fn triggered(output: &Output, name: &str, one: &Triggered) -> Result<(), Failure> {
    output.write(one, || format!("triggered `{name}` as {} ({})\n", one.run_id, one.request_id))
}

/// Runs that were asked for.
pub(crate) fn triggered_many(output: &Output, all: &TriggeredMany) -> Result<(), Failure> {
    output.write(all, || format!("triggered {} schedules\n", all.requests.len()))
}

/// Runs that would be asked for.
pub(crate) fn would_trigger(output: &Output, would: &WouldTrigger) -> Result<(), Failure> {
    output.write(would, || would.schedules.iter().map(|name| format!("would trigger `{name}`\n")).collect())
}

/// An item that was put on a queue.
pub(crate) fn requested(output: &Output, one: &Requested) -> Result<(), Failure> {
    output.write(one, || format!("made request {} ({})\n", one.request_id, one.run_id))
}

/// An item that would be put on a queue.
pub(crate) fn would_request(output: &Output) -> Result<(), Failure> {
    output.write(&json!({"dry_run": true}), || "would make a request\n".to_owned())
}

/// The next ticks of a schedule with their marks.
pub(crate) fn preview(output: &Output, preview: &Preview) -> Result<(), Failure> {
    let plain = Preview { timezone: None, ..preview.clone() };
    output.write(&plain, || {
        if preview.ticks.is_empty() {
            return "it has no ticks of its own to come\n".to_owned();
        }
        let zone = super::zone(preview.timezone.as_deref());
        let cells = preview.ticks.iter().map(|tick| {
            let note = match &tick.suppressed {
                Some(window) => format!("suppressed: {window}"),
                None => tick.dst.clone().unwrap_or_default(),
            };
            let day = tick.at.to_zoned(zone.clone()).strftime("%a").to_string();
            vec![clock(tick.at, &zone), day, note]
        });
        table(&["TICK", "DAY", "NOTE"], cells)
    })
}

/// The versions of a schedule.
pub(crate) fn versions(output: &Output, versions: &Versions) -> Result<(), Failure> {
    output.write(versions, || {
        let cells = versions.versions.iter().map(|one: &Version| {
            let changes: Vec<String> = one.changes.iter().map(ToString::to_string).collect();
            let what = match (one.version, changes.is_empty()) {
                (1, _) => format!("created with `{}`", one.spec),
                (_, true) => "decided again".to_owned(),
                (_, false) => changes.join("; "),
            };
            let by = one.by.clone().unwrap_or_else(|| "-".to_owned());
            vec![one.version.to_string(), clock(one.since, &TimeZone::UTC), by, what]
        });
        table(&["VERSION", "SINCE", "BY", "WHAT CHANGED"], cells)
    })
}
