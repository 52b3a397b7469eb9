//! The settings of a schedule, by the names of the product.

use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{Behaviour, BreakerRule, Dependency, Failing, How, Jitter, Policy, Schedule, When};
use punctual_time::{Bounds, Calendar, QuietHours, Weekdays, Windows, Zone};

use crate::parse::{Trouble, duration, instant};
use crate::script::ids;

fn read<T: std::str::FromStr>(text: &str) -> Result<T, Trouble>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error| format!("{error}"))
}

/// Puts one setting into a definition.
pub(crate) fn apply(schedule: &mut Schedule, words: &[&str], first: Timestamp) -> Result<(), Trouble> {
    if apply_when(schedule, words, first)? {
        return Ok(());
    }
    match words {
        ["breaker", threshold, reset_after] => {
            let rule = BreakerRule { threshold: read(threshold)?, reset_after: duration(reset_after)? };
            Arc::make_mut(&mut schedule.target).breaker = rule;
            Ok(())
        }
        ["target", name] => {
            Arc::make_mut(&mut schedule.target).name = (*name).to_owned();
            Ok(())
        }
        _ => apply_policy(Arc::make_mut(&mut schedule.policy), words),
    }
}

fn apply_policy(policy: &mut Policy, words: &[&str]) -> Result<(), Trouble> {
    match words {
        ["overlap", name] => policy.overlap = read(name)?,
        ["catch_up", name] => policy.catch_up = read(name)?,
        ["max_catch_up", count] => policy.max_catch_up = read(count)?,
        ["missed_audit_max", count] => policy.missed_audit_max = read(count)?,
        ["grace", length] => policy.grace = duration(length)?,
        ["start_deadline", length] => policy.start_deadline = Some(duration(length)?),
        ["jitter", mode, max] => policy.jitter = Jitter { mode: read(mode)?, max: duration(max)? },
        ["retry", delay] => policy.retry_after = Some(duration(delay)?),
        ["run_timeout", length] => policy.run_timeout = duration(length)?,
        ["disable_after", "never"] => policy.max_consecutive_failures = None,
        ["disable_after", count] => policy.max_consecutive_failures = Some(read(count)?),
        ["guard", key] => policy.guard = Some((*key).to_owned()),
        ["lane", name] => policy.lane = Some((*name).to_owned()),
        ["depends_on", names @ ..] => policy.depends_on = Some(Dependency::on(ids(names))),
        ["depends_timeout", length] => {
            let depends = policy.depends_on.as_mut().ok_or("it depends on nothing")?;
            depends.timeout = duration(length)?;
        }
        ["delivery", name] => policy.delivery = read(name)?,
        _ => return Err("no such setting".to_owned()),
    }
    Ok(())
}

/// The parts that ticks and chains have in common.
struct Place<'a> {
    zone: &'a mut Zone,
    bounds: &'a mut Bounds,
    windows: &'a mut Windows,
}

fn place(schedule: &mut Schedule) -> Place<'_> {
    match &mut schedule.when {
        When::Ticks(timing) => {
            Place { zone: &mut timing.zone, bounds: &mut timing.bounds, windows: &mut timing.windows }
        }
        When::Chain(chain) => {
            Place { zone: &mut chain.zone, bounds: &mut chain.bounds, windows: &mut chain.windows }
        }
    }
}

/// Whether it was a setting of the "when".
fn apply_when(schedule: &mut Schedule, words: &[&str], first: Timestamp) -> Result<bool, Trouble> {
    let wrong = |error: punctual_time::Error| error.to_string();
    match (words, &mut schedule.when) {
        (["delay", length], When::Chain(chain)) => chain.delay = duration(length)?,
        (["anchor", anchor], When::Ticks(timing)) => timing.anchor = anchor.parse().map_err(wrong)?,
        _ => {
            let place = place(schedule);
            match words {
                ["zone", name] => *place.zone = Zone::get(name).map_err(wrong)?,
                ["start_at", at] => place.bounds.start_at = Some(instant(at, Some(first))?),
                ["end_at", at] => place.bounds.end_at = Some(instant(at, Some(first))?),
                ["max_runs", count] => place.bounds.max_runs = Some(read(count)?),
                ["only_between", range] => place.windows.only_between = Some(range.parse().map_err(wrong)?),
                ["not_on", day] => place.windows.exclude(day, &[]).map_err(wrong)?,
                ["calendar", name, dates @ ..] => {
                    let dates: Result<Vec<_>, Trouble> = dates.iter().map(|date| read(date)).collect();
                    place.windows.calendars.push(Calendar::new(*name, dates?));
                }
                ["quiet", name, range] => place.windows.quiet_hours.push(QuietHours {
                    name: (*name).to_owned(),
                    during: range.parse().map_err(wrong)?,
                    on: Weekdays::none(),
                    zone: None,
                }),
                ["open"] => *place.windows = Windows::default(),
                _ => return Ok(false),
            }
        }
    }
    Ok(true)
}

/// Which attempts fail, and how.
pub(crate) fn fail(behaviour: &mut Behaviour, words: &[&str]) -> Result<(), Trouble> {
    let (which, how) = match words {
        ["always", how @ ..] => (Failing::Always, how),
        ["first", count, how @ ..] => (Failing::First(read(count)?), how),
        ["every", step, how @ ..] => (Failing::Every(read(step)?), how),
        _ => return Err("which attempts?".to_owned()),
    };
    behaviour.failing = which;
    behaviour.how = match how {
        [] | ["exit"] => How::Exit,
        ["launch"] => How::Launch,
        ["lost"] => How::Lost,
        _ => return Err("fails how?".to_owned()),
    };
    Ok(())
}
