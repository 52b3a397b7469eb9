//! The installation on the screen.

use jiff::tz::TimeZone;
use punctual::shape::{
    Breaker, BreakerAnswer, BreakerReset, Breakers, Maintenance, Maintenances, Node, Nodes, Paused, Resumed,
    WholeBreaker,
};
use punctual::{Check, Failure};
use serde_json::json;

use super::prose::hung;
use super::table::{table, table_without};
use super::{Output, clock};

/// Where the text of a check begins.
const INDENT: usize = 24;

fn state_text(breaker: &Breaker) -> String {
    match (breaker.failures, breaker.until, &breaker.probe) {
        (_, Some(until), _) => format!("no run goes through until {}", clock(until, &TimeZone::UTC)),
        (_, _, Some(probe)) => format!("{probe} tries whether it works again"),
        (None | Some(0), ..) => "every run goes through".to_owned(),
        (Some(failures), ..) => format!("every run goes through; {failures} failed in a row"),
    }
}

/// The breakers that are not plainly closed.
pub(crate) fn breakers(output: &Output, all: &Breakers) -> Result<(), Failure> {
    output.write(all, || {
        if all.breakers.is_empty() {
            return "every circuit breaker is closed\n".to_owned();
        }
        let cells = all.breakers.iter().map(|one| {
            let since = clock(one.changed_at, &TimeZone::UTC);
            vec![one.target.clone(), one.state.clone(), since, state_text(one)]
        });
        table(&["TARGET", "STATE", "SINCE", "WHAT IT DOES"], cells)
    })
}

fn whole_text(whole: &WholeBreaker) -> String {
    let breaker = &whole.breaker;
    let mut said = format!("`{}` is {}: {}\n", breaker.target, breaker.state, state_text(breaker));
    if !whole.transitions.is_empty() {
        let cells = whole.transitions.iter().map(|one| {
            let by = one.run_id.clone().unwrap_or_else(|| "a person".to_owned());
            vec![clock(one.at, &TimeZone::UTC), one.from.clone(), one.to.clone(), by]
        });
        said += &format!("\n{}", table(&["AT", "FROM", "TO", "BY"], cells));
    }
    said
}

/// One breaker with its moves.
pub(crate) fn breaker(output: &Output, answer: &BreakerAnswer) -> Result<(), Failure> {
    output.write(answer, || whole_text(&answer.breaker))
}

/// One breaker that was to be closed.
pub(crate) fn reset(output: &Output, answer: &BreakerReset) -> Result<(), Failure> {
    output.write(answer, || {
        let said = if answer.reset { "closed it by hand" } else { "it was closed already" };
        format!("{said}\n{}", whole_text(&answer.breaker))
    })
}

/// The tz database of a node, and what follows from it.
fn tz_text(node: &Node) -> String {
    match node.state == "alive" && !node.plans {
        true => format!("{} (too old to plan)", node.tz_version),
        false => node.tz_version.clone(),
    }
}

/// The nodes, newest first.
pub(crate) fn nodes(output: &Output, nodes: &Nodes) -> Result<(), Failure> {
    output.write(nodes, || {
        if nodes.nodes.is_empty() {
            return "no node has served this database yet; start `punctual serve`\n".to_owned();
        }
        let cells = nodes.nodes.iter().map(|node| {
            vec![
                node.id.chars().take(8).collect(),
                node.state.clone(),
                node.pid.to_string(),
                node.version.clone(),
                tz_text(node),
                clock(node.started_at, &TimeZone::UTC),
                clock(node.lease_until, &TimeZone::UTC),
                node.shards.to_string(),
                node.clock_offset_ms.map_or_else(String::new, |offset| format!("{offset:+.1} ms")),
            ]
        });
        let headings = ["NODE", "STATE", "PID", "VERSION", "TZ", "STARTED", "LEASE UNTIL", "SHARDS", "CLOCK"];
        let said = table_without(&["TZ", "VERSION", "PID"], &headings, cells);
        let offset_ms = nodes.clock_offset_ms;
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

/// A maintenance that began.
pub(crate) fn paused(output: &Output, begun: &Paused) -> Result<(), Failure> {
    output.write(begun, || {
        let (count, extent) = (begun.paused, &begun.maintenance.extent);
        format!("paused {count} schedules of the {extent}; `off` enables them again\n")
    })
}

/// A maintenance that ended.
pub(crate) fn resumed(output: &Output, ended: &Resumed) -> Result<(), Failure> {
    output.write(ended, || {
        let said = match ended.ended {
            true => "the maintenance is over",
            false => "there was no maintenance",
        };
        let left: String = ended.left.iter().map(line).collect();
        format!("{said}; {} schedules are enabled again\n{left}", ended.resumed)
    })
}

fn line(one: &Maintenance) -> String {
    let since = clock(one.since, &TimeZone::UTC);
    format!("the {} is paused since {since} by {}: {}\n", one.extent, one.by, one.note)
}

/// What pauses the org.
pub(crate) fn maintenance(output: &Output, found: &Maintenances) -> Result<(), Failure> {
    output.write(found, || match found.maintenance.is_empty() {
        true => "no maintenance: schedules run\n".to_owned(),
        false => found.maintenance.iter().map(line).collect(),
    })
}
