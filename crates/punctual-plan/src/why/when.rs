//! The links up to the tick: spec, version, status, zone, bounds, windows.

use jiff::SignedDuration;
use jiff::tz::AmbiguousOffset;
use punctual_time::{Bounds, Explanation, Subject, Windows, tz_version};

use super::facts::{Facts, Matter, conditions, is_match};
use super::link::{Link, Step};
use super::show::{self, instants, span};
use crate::{Chain, Origin, Status, When};

pub(super) fn links(facts: &Facts<'_>) -> Vec<Link> {
    vec![spec(facts), version(facts), status(facts), zone(facts), bounds(facts), windows(facts)]
}

fn spec(facts: &Facts<'_>) -> Link {
    if let Some(run) = facts.run().filter(|run| matches!(run.origin, Origin::Manual | Origin::Backfill)) {
        let text = format!("a `{}` run, asked for under the key `{}`", run.origin, run.nonce);
        return facts.idle(Step::Spec, text);
    }
    let text = match (&facts.schedule().when, &facts.explained) {
        (When::Ticks(_), Some(explained)) => ticks(facts, explained),
        (When::Chain(chain), _) => chained(facts, chain),
        (When::Ticks(_), None) => String::new(),
    };
    facts.link(Step::Spec, text)
}

fn ticks(facts: &Facts<'_>, explained: &Explanation) -> String {
    let schedule = facts.schedule();
    let written = if schedule.spec == explained.spec.to_string() {
        format!("`{}`", schedule.spec)
    } else {
        format!("`{}`, that is `{}`", schedule.spec, explained.spec)
    };
    let is_past = facts.at <= facts.inquiry.now;
    if facts.is_floating() && is_past {
        let anchor = facts.timing.as_ref().map(|timing| timing.anchor.to_string()).unwrap_or_default();
        return match facts.run() {
            Some(_) => format!("{written}: the run before it (`{anchor}`) set this tick"),
            None => {
                format!("{written}: each tick hangs on the run before it (`{anchor}`), and none set one here")
            }
        };
    }
    let said: Vec<String> = conditions(explained).into_iter().map(|check| check.text).collect();
    let mut text = format!("{written}: {}", said.join(", "));
    if explained.is_tick && !is_match(explained) {
        text += "; it stands for a time that the clock skipped";
    }
    if let Matter::NotATick(_) = facts.matter {
        text += &format!("; {}", nearest(facts));
    }
    text
}

/// The ticks around an instant that is none.
fn nearest(facts: &Facts<'_>) -> String {
    let before = facts.tick_before().map_or("no tick comes before it".to_owned(), |tick| {
        format!("the tick before it is {}", facts.show.at(tick))
    });
    let after = facts
        .tick_after()
        .map_or("none after it".to_owned(), |tick| format!("the one after it {}", facts.show.at(tick)));
    format!("{before}, {after}")
}

fn chained(facts: &Facts<'_>, chain: &Chain) -> String {
    let upstream = facts.inquiry.upstream.first();
    let upstream = upstream.map_or_else(|| chain.upstream.to_string(), |upstream| upstream.schedule.clone());
    let delay = if chain.delay > SignedDuration::ZERO {
        format!(", {} after", span(chain.delay))
    } else {
        String::new()
    };
    let rule = format!("it has no ticks of its own: it follows `{upstream}` on `{}`{delay}", chain.on);
    match facts.run().filter(|run| run.origin == Origin::Chained) {
        Some(run) => facts.with_runs(format!("{rule}; this one came of {}", run.nonce)),
        None => rule,
    }
}

fn version(facts: &Facts<'_>) -> Link {
    let version = facts.version;
    if let Matter::Unborn(made_at) = facts.matter {
        let text = format!(
            "the schedule was made at {}; its first tick comes strictly after that",
            facts.show.at(made_at)
        );
        return facts.link(Step::Version, text);
    }
    let mut text =
        format!("version {}, valid since {}", version.schedule.version, facts.show.at(version.since));
    let number = version.schedule.version;
    if let Some(next) = facts.inquiry.versions.iter().find(|next| next.schedule.version > number) {
        text += &format!(", followed by version {} at {}", next.schedule.version, facts.show.at(next.since));
    }
    if let Some(told) = facts.told(Step::Version) {
        text += &format!("; {told}");
    }
    facts.link(Step::Version, text)
}

fn status(facts: &Facts<'_>) -> Link {
    let inquiry = facts.inquiry;
    if let Some(mut told) = facts.told(Step::Status) {
        let is_untouched = facts.waiting().is_none() && facts.run().is_none_or(|run| run.attempts.is_empty());
        let came_later = facts.reason().is_some_and(|reason| instants(reason).any(|at| at > facts.at));
        if is_untouched && came_later {
            told += "; until then nobody had looked at the tick";
        }
        return facts.link(Step::Status, told);
    }
    if let Matter::Gone(deleted_at) = facts.matter {
        let text = format!("the schedule was deleted at {}", facts.show.at(deleted_at));
        return facts.link(Step::Status, text);
    }
    let since = inquiry.left_at.map(|at| format!(" since {}", facts.show.at(at))).unwrap_or_default();
    if let Matter::Inactive = facts.matter {
        return facts.link(Step::Status, inactive(facts, &since));
    }
    if let Matter::Unborn(_) = facts.matter {
        return facts.idle(Step::Status, "there was no schedule yet");
    }
    let has_left = inquiry.left_at.is_some_and(|left_at| facts.at > left_at);
    let text = match (&inquiry.state.status, inquiry.deleted_at) {
        (_, Some(deleted_at)) => format!("active then; deleted at {}", facts.show.at(deleted_at)),
        (Status::Active, None) => "active".to_owned(),
        (status, None) if has_left => format!("`{}`{since}", status.name()),
        (status, None) => format!("active then; `{}`{since}", status.name()),
    };
    facts.link(Step::Status, text)
}

fn inactive(facts: &Facts<'_>, since: &str) -> String {
    let status = &facts.inquiry.state.status;
    let note = match status {
        Status::PausedManual { by, note } if note.is_empty() => format!(", by {by}"),
        Status::PausedManual { by, note } => format!(", by {by}: {note}"),
        Status::Maintenance { by, note } => format!(", for maintenance by {by}: {note}"),
        Status::PausedInvalid { error } => format!(": {error}"),
        Status::AutoDisabled { failures } => format!(", after {} in a row", show::failures(*failures)),
        Status::Active | Status::Exhausted { .. } => String::new(),
    };
    let catch_up = facts.policy().catch_up;
    format!(
        "`{}`{since}{note}; when it is resumed, `catch_up: {catch_up}` judges what it missed",
        status.name()
    )
}

fn zone(facts: &Facts<'_>) -> Link {
    let zone = facts.zone();
    let jiff = zone.to_jiff();
    let offset = jiff.to_offset(facts.at);
    let local = offset.to_datetime(facts.at);
    let mut text = format!("{zone} shows {local}, offset {}", show::offset(offset));
    if let AmbiguousOffset::Fold { after, .. } = jiff.to_ambiguous_timestamp(local).offset() {
        let pass = if offset == after { "second" } else { "first" };
        text += &format!("; the {pass} of two passes, for the clock is set back");
    }
    if let Some(asked) = facts.inquiry.local
        && let AmbiguousOffset::Gap { before, after } = jiff.to_ambiguous_timestamp(asked).offset()
    {
        let (before, after) = (show::offset(before), show::offset(after));
        text += &format!(
            "; {asked} does not exist there, for the clock is set forward from {before} to {after}: this is the \
             first instant after the gap"
        );
    }
    let checks = facts.explained.iter().flat_map(|explained| &explained.checks);
    for check in checks.filter(|check| check.subject == Subject::ClockChange) {
        text += &format!("; {}", check.text);
    }
    if jiff.to_fixed_offset().is_err() {
        text += &format!(" (tz database {})", tz_version());
    }
    facts.link(Step::Zone, text)
}

fn bounds(facts: &Facts<'_>) -> Link {
    let bounds = match &facts.schedule().when {
        When::Ticks(timing) => timing.bounds,
        When::Chain(chain) => chain.bounds,
    };
    let Bounds { start_at, end_at, max_runs } = bounds;
    let mut said: Vec<String> = Vec::new();
    if let Some(start_at) = start_at {
        let which = if facts.at < start_at { "before" } else { "not before" };
        said.push(format!("{which} `start_at` {}", facts.show.at(start_at)));
    }
    if let Some(end_at) = end_at {
        let which = if facts.at > end_at { "after" } else { "not after" };
        said.push(format!("{which} `end_at` {}", facts.show.at(end_at)));
    }
    if let Some(max) = max_runs {
        said.push(format!("{} of `max_runs` {max} admitted by now", facts.inquiry.state.counters.admitted));
    }
    if let Matter::Spent(at) = facts.matter {
        said.push(format!("the schedule was exhausted at {}", facts.show.at(at)));
    }
    said.extend(facts.told(Step::Bounds));
    match said.is_empty() {
        true => facts.link(Step::Bounds, "no bound but those of the spec"),
        false => facts.link(Step::Bounds, said.join("; ")),
    }
}

fn windows(facts: &Facts<'_>) -> Link {
    let windows = match &facts.schedule().when {
        When::Ticks(timing) => &timing.windows,
        When::Chain(chain) => &chain.windows,
    };
    if let Some(told) = facts.told(Step::Windows) {
        let list = if says_more(windows) { format!(" ({})", list(windows)) } else { String::new() };
        return facts.link(Step::Windows, format!("{told}{list}"));
    }
    if windows.is_open() {
        return facts.idle(Step::Windows, "it has none");
    }
    let list = list(windows);
    let others = if says_more(windows) { format!(" ({list})") } else { String::new() };
    match facts.suppressed() {
        _ if !facts.is_planned() => {
            facts.idle(Step::Windows, format!("a person's wish ignores them ({list})"))
        }
        Some(cause) => facts.link(Step::Windows, format!("suppressed: {cause}{others}")),
        None => facts.link(Step::Windows, format!("none suppresses it ({list})")),
    }
}

/// Whether the list of windows says more than the one that suppresses.
fn says_more(windows: &Windows) -> bool {
    parts(windows).len() > 1 || !windows.quiet_hours.is_empty()
}

/// All windows of a schedule.
fn list(windows: &Windows) -> String {
    let said = parts(windows);
    if said.is_empty() { "none by now".to_owned() } else { said.join(", ") }
}

fn parts(windows: &Windows) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    said.extend(windows.only_between.map(|range| format!("only between {range}")));
    said.extend((!windows.not_on.is_empty()).then(|| format!("not on {}", windows.not_on)));
    said.extend(
        windows.calendars.iter().map(|calendar| format!("not on the dates of `{}`", calendar.name())),
    );
    said.extend(
        windows.quiet_hours.iter().map(|quiet| format!("quiet hours `{}` {}", quiet.name, quiet.during)),
    );
    said
}
