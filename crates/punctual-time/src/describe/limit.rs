//! What limits a schedule, in words: windows, exclusions, bounds and the zone.

use super::list::{WEEKDAYS, and, ordinal};
use crate::{Anchor, DayRange, Interval, Spec, Timing, Unit, Windows, Zone};
use jiff::{Timestamp, Zoned};

const WORKDAYS: [u32; 5] = [1, 2, 3, 4, 5];
const WEEKEND: [u32; 2] = [0, 6];

/// ` between 09:30 and 17:30`.
pub(super) fn between(range: DayRange) -> String {
    format!(" between {} and {}", clock(range.start()), clock(range.end()))
}

fn clock(second: u32) -> String {
    match (second / 3600, second / 60 % 60, second % 60) {
        (0 | 24, 0, 0) => "midnight".to_owned(),
        (hour, minute, 0) => format!("{hour:02}:{minute:02}"),
        (hour, minute, second) => format!("{hour:02}:{minute:02}:{second:02}"),
    }
}

/// `, except on weekends and holidays`.
pub(super) fn except(windows: &Windows) -> String {
    let mut items = Vec::new();
    let days: Vec<u32> = (0..7).filter(|day| windows.not_on.contains(*day)).collect();
    match days.as_slice() {
        [] => {}
        days if days == WEEKEND => items.push("weekends".to_owned()),
        days if days == WORKDAYS => items.push("weekdays".to_owned()),
        days => {
            // Monday first, as people list them.
            let mut days = days.to_vec();
            days.sort_by_key(|day| (day + 6) % 7);
            items.extend(days.iter().map(|day| format!("{}s", WEEKDAYS[*day as usize])));
        }
    }
    for calendar in &windows.calendars {
        items.push(match calendar.name() {
            "holidays" => "holidays".to_owned(),
            name => format!("the dates of `{name}`"),
        });
    }
    let mut text = String::new();
    if !items.is_empty() {
        text = format!(", except on {}", and(&items));
    }
    for quiet in &windows.quiet_hours {
        text.push_str(&format!(", quiet during `{}`", quiet.name));
    }
    text
}

/// ` on Friday at 12:00`: what the first tick of an interval of days or longer fixes for all that follow.
pub(super) fn first(timing: &Timing, interval: Interval) -> String {
    let Some(start) = timing.bounds.start_at.filter(|_| is_of_days(timing)) else { return String::new() };
    let local = start.to_zoned(timing.zone.to_jiff());
    let time = clock(second_of_day(&local));
    match interval.unit() {
        Unit::Month => format!(" on the {} at {time}", ordinal(u32::from(local.day().unsigned_abs()))),
        Unit::Day if interval.count() > 7 && interval.count().is_multiple_of(7) => {
            format!(" on {} at {time}", local.strftime("%A"))
        }
        _ => format!(" at {time}"),
    }
}

/// Whether ticks keep the time of day of the first one.
fn is_of_days(timing: &Timing) -> bool {
    let is_long = matches!(timing.spec, Spec::Every(interval) if interval.unit() != Unit::Second);
    is_long && timing.anchor == Anchor::Fixed
}

/// `, starting 2027-01-01 at 09:00, until 2027-06-30, at most 10 times`.
pub(super) fn bounds(timing: &Timing) -> String {
    let mut text = String::new();
    if let Some(start) = timing.bounds.start_at {
        let local = start.to_zoned(timing.zone.to_jiff());
        let silent = if is_of_days(timing) { second_of_day(&local) } else { 0 };
        text.push_str(&format!(", starting {}", moment(start, &timing.zone, silent)));
    }
    if let Some(end) = timing.bounds.end_at {
        text.push_str(&format!(", until {}", moment(end, &timing.zone, 86_399)));
    }
    match timing.bounds.max_runs {
        None => {}
        Some(1) => text.push_str(", at most once"),
        Some(count) => text.push_str(&format!(", at most {count} times")),
    }
    text
}

/// The date, and the time unless it is the second of the day that goes without saying.
fn moment(at: Timestamp, zone: &Zone, silent: u32) -> String {
    let local = at.to_zoned(zone.to_jiff());
    let second = second_of_day(&local);
    let date = local.date();
    if second == silent { date.to_string() } else { format!("{date} at {}", clock(second)) }
}

fn second_of_day(local: &Zoned) -> u32 {
    let part = |value: i8| u32::from(value.unsigned_abs());
    part(local.hour()) * 3600 + part(local.minute()) * 60 + part(local.second())
}

/// `, Europe/Berlin time`; UTC goes without saying.
pub(super) fn zone(zone: &Zone) -> String {
    match zone.name() {
        "UTC" => String::new(),
        name if name.contains('/') => format!(", {name} time"),
        name => format!(", {name}"),
    }
}
