//! The installation on the screen.

use jiff::tz::TimeZone;
use punctual::{BreakerHistory, Check, Extent, Failure, Maintenance, Nodes, is_alive};
use punctual_plan::Breaker;
use punctual_store::{BreakerRow, NodeRow, TransitionRow};
use serde_json::{Value, json};

use super::prose::hung;
use super::table::{table, table_without};
use super::{Output, clock};

/// Where the text of a check begins.
const INDENT: usize = 24;

/// What became of a wish to close a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    /// It was not closed, and is now.
    Closed,
    /// It was closed.
    Idle,
}

impl From<bool> for Reset {
    fn from(was_open: bool) -> Self {
        if was_open { Self::Closed } else { Self::Idle }
    }
}

fn breaker_json(row: &BreakerRow) -> Value {
    let (failures, until, probe) = match row.breaker {
        Breaker::Closed { failures } => (Some(failures), None, None),
        Breaker::Open { until } => (None, Some(until), None),
        Breaker::HalfOpen { probe } => (None, None, Some(probe.to_string())),
    };
    json!({
        "target": row.target,
        "state": row.breaker.name(),
        "failures": failures,
        "until": until,
        "probe": probe,
        "changed_at": row.changed_at,
    })
}

fn transition_json(row: &TransitionRow) -> Value {
    json!({"at": row.at, "from": row.from, "to": row.to, "run_id": row.run.map(|run| run.to_string())})
}

fn state_text(breaker: Breaker) -> String {
    match breaker {
        Breaker::Closed { failures: 0 } => "every run goes through".to_owned(),
        Breaker::Closed { failures } => format!("every run goes through; {failures} failed in a row"),
        Breaker::Open { until } => format!("no run goes through until {}", clock(until, &TimeZone::UTC)),
        Breaker::HalfOpen { probe } => format!("{probe} tries whether it works again"),
    }
}

/// The breakers that are not plainly closed.
pub(crate) fn breakers(output: &Output, rows: &[BreakerRow]) -> Result<(), Failure> {
    output.write(&json!({"breakers": rows.iter().map(breaker_json).collect::<Vec<_>>()}), || {
        if rows.is_empty() {
            return "every circuit breaker is closed\n".to_owned();
        }
        let cells = rows.iter().map(|row| {
            let since = clock(row.changed_at, &TimeZone::UTC);
            vec![row.target.clone(), row.breaker.name().to_owned(), since, state_text(row.breaker)]
        });
        table(&["TARGET", "STATE", "SINCE", "WHAT IT DOES"], cells)
    })
}

fn whole_json(history: &BreakerHistory) -> Value {
    let mut json = breaker_json(&history.breaker);
    json["transitions"] = history.transitions.iter().map(transition_json).collect();
    json
}

fn whole_text(history: &BreakerHistory) -> String {
    let row = &history.breaker;
    let mut said = format!("`{}` is {}: {}\n", row.target, row.breaker.name(), state_text(row.breaker));
    if !history.transitions.is_empty() {
        let cells = history.transitions.iter().map(|one| {
            let by = one.run.map_or("a person".to_owned(), |run| run.to_string());
            vec![clock(one.at, &TimeZone::UTC), one.from.clone(), one.to.clone(), by]
        });
        said += &format!("\n{}", table(&["AT", "FROM", "TO", "BY"], cells));
    }
    said
}

/// One breaker with its moves.
pub(crate) fn breaker(output: &Output, history: &BreakerHistory) -> Result<(), Failure> {
    output.write(&json!({"breaker": whole_json(history)}), || whole_text(history))
}

/// One breaker that was to be closed.
pub(crate) fn reset(output: &Output, history: &BreakerHistory, reset: Reset) -> Result<(), Failure> {
    let json = json!({"reset": reset == Reset::Closed, "breaker": whole_json(history)});
    output.write(&json, || {
        let said = match reset {
            Reset::Closed => "closed it by hand",
            Reset::Idle => "it was closed already",
        };
        format!("{said}\n{}", whole_text(history))
    })
}

fn node_state(node: &NodeRow, nodes: &Nodes) -> &'static str {
    match node.left_at {
        Some(_) => "left",
        None if is_alive(node, nodes.now) => "alive",
        None => "lost",
    }
}

/// The nodes, newest first.
pub(crate) fn nodes(output: &Output, nodes: &Nodes) -> Result<(), Failure> {
    let offset_ms = nodes.offset.as_secs_f64() * 1_000.0;
    let node = |node: &NodeRow| {
        json!({
            "id": node.id,
            "state": node_state(node, nodes),
            "fence": node.fence.0,
            "pid": node.pid,
            "version": node.version,
            "tz_version": node.tz_version,
            "shards": node.shards,
            "started_at": node.started_at,
            "seen_at": node.seen_at,
            "lease_until": node.lease_until,
            "left_at": node.left_at,
        })
    };
    let json = json!({
        "nodes": nodes.nodes.iter().map(node).collect::<Vec<_>>(),
        "now": nodes.now,
        "clock_offset_ms": (offset_ms * 1_000.0).round() / 1_000.0,
    });
    output.write(&json, || {
        if nodes.nodes.is_empty() {
            return "no node has served this database yet; start `punctual serve`\n".to_owned();
        }
        let cells = nodes.nodes.iter().map(|node| {
            vec![
                node.id.chars().take(8).collect(),
                node_state(node, nodes).to_owned(),
                node.pid.to_string(),
                node.version.clone(),
                node.tz_version.clone(),
                clock(node.started_at, &TimeZone::UTC),
                clock(node.lease_until, &TimeZone::UTC),
                node.shards.to_string(),
            ]
        });
        let headings = ["NODE", "STATE", "PID", "VERSION", "TZ", "STARTED", "LEASE UNTIL", "SHARDS"];
        let said = table_without(&["TZ", "VERSION", "PID"], &headings, cells);
        format!("{said}\nthe database's clock is {offset_ms:.1} ms from that of this host\n")
    })
}

/// What the doctor found.
pub(crate) fn checks(output: &Output, checks: &[Check]) -> Result<(), Failure> {
    let check = |check: &Check| json!({"name": check.name, "state": check.health.name(), "text": check.text, "hint": check.hint});
    output.write(&json!({"checks": checks.iter().map(check).collect::<Vec<_>>()}), || {
        let line = |check: &Check| {
            let hint = check.hint.as_ref().map_or(String::new(), |hint| format!("      {:<18}{hint}\n", ""));
            format!("{:<4}  {:<16}  {}\n{hint}", check.health.name(), check.name, check.text)
        };
        hung(&checks.iter().map(line).collect::<String>(), INDENT)
    })
}

/// What the end of a maintenance came to.
#[derive(Clone, Copy)]
pub(crate) struct Ended<'a> {
    /// Whether it was on.
    pub(crate) was_on: bool,
    /// Schedules that were enabled.
    pub(crate) resumed: usize,
    /// What still pauses the org.
    pub(crate) left: &'a [Maintenance],
}

fn maintenance_json(one: &Maintenance) -> Value {
    json!({"extent": extent(one.extent), "note": one.note, "by": one.by, "since": one.since})
}

fn extent(extent: Extent) -> &'static str {
    match extent {
        Extent::Org => "org",
        Extent::Installation => "installation",
    }
}

/// A maintenance that began.
pub(crate) fn paused(output: &Output, one: &Maintenance, count: usize) -> Result<(), Failure> {
    let json = json!({"maintenance": maintenance_json(one), "paused": count});
    output.write(&json, || {
        format!("paused {count} schedules of the {}; `off` enables them again\n", extent(one.extent))
    })
}

/// A maintenance that ended.
pub(crate) fn resumed(output: &Output, ended: Ended<'_>) -> Result<(), Failure> {
    let left: Vec<Value> = ended.left.iter().map(maintenance_json).collect();
    let json = json!({"ended": ended.was_on, "resumed": ended.resumed, "left": left});
    output.write(&json, || {
        let said = match ended.was_on {
            true => "the maintenance is over",
            false => "there was no maintenance",
        };
        let left: String = ended.left.iter().map(line).collect();
        format!("{said}; {} schedules are enabled again\n{left}", ended.resumed)
    })
}

fn line(one: &Maintenance) -> String {
    let since = clock(one.since, &TimeZone::UTC);
    format!("the {} is paused since {since} by {}: {}\n", extent(one.extent), one.by, one.note)
}

/// What pauses the org.
pub(crate) fn maintenance(output: &Output, pauses: &[Maintenance]) -> Result<(), Failure> {
    let json = json!({"maintenance": pauses.iter().map(maintenance_json).collect::<Vec<_>>()});
    output.write(&json, || match pauses.is_empty() {
        true => "no maintenance: schedules run\n".to_owned(),
        false => pauses.iter().map(line).collect(),
    })
}
