//! A schedule becomes English: `Every weekday at 09:00`.
//!
//! Start with [`timing`], which words everything that a schedule says about when, or [`cron`] for an expression alone.
//! `clock` words the time of day, `days` the date, `limit` windows and bounds; `list` knows runs and ordinals. What is
//! written here can be read again by [`human::parse`](crate::human::parse), with the same ticks.

mod clock;
mod days;
mod limit;
mod list;

use crate::human::{Context, Parsed};
use crate::{Anchor, Calendar, Cron, DayRange, Error, Interval, Once, Spec, Timing, Unit, Zone};
use clock::ClockText;

/// A cron expression of any dialect in English.
///
/// ```
/// use punctual_time::{Cron, Dialect, describe};
///
/// let say = |text| Cron::parse(text, Dialect::Standard).map(|cron| describe::cron(&cron));
/// assert_eq!(say("0 9 * * 1-5")?, "Every weekday at 09:00");
/// assert_eq!(say("*/15 9-17 * * 1-5")?, "Every 15 minutes between 09:00 and 17:59 on weekdays");
/// assert_eq!(say("0 0 1,15 * 1")?, "At midnight on the 1st and 15th, and on every Monday");
/// # Ok::<(), punctual_time::Error>(())
/// ```
pub fn cron(cron: &Cron) -> String {
    capital(&cron_within(cron, None))
}

/// An interval in English.
///
/// ```
/// use punctual_time::{Interval, describe};
///
/// assert_eq!(describe::interval("90m".parse()?), "Every 90 minutes");
/// assert_eq!(describe::interval("2 weeks".parse()?), "Every 2 weeks");
/// # Ok::<(), punctual_time::Error>(())
/// ```
pub fn interval(interval: Interval) -> String {
    format!("Every {}", length(interval))
}

/// A one-shot in English, as the clocks of a zone show it.
///
/// ```
/// use punctual_time::{Once, Zone, describe};
///
/// let zone = Zone::get("Europe/Berlin")?;
/// let once = Once::parse("2026-11-20T11:00:00Z", &zone)?;
/// assert_eq!(describe::once(once, &zone), "Once on Friday 20 November 2026 at noon");
/// # Ok::<(), punctual_time::Error>(())
/// ```
pub fn once(once: Once, zone: &Zone) -> String {
    let local = once.instant().to_zoned(zone.to_jiff());
    let time = match (local.hour(), local.minute(), local.second()) {
        (0, 0, 0) => "midnight".to_owned(),
        (12, 0, 0) => "noon".to_owned(),
        (hour, minute, 0) => format!("{hour:02}:{minute:02}"),
        (hour, minute, second) => format!("{hour:02}:{minute:02}:{second:02}"),
    };
    format!("Once on {} at {time}", local.strftime("%A %-d %B %Y"))
}

/// The "when" of a schedule in English, whatever its kind.
///
/// ```
/// use punctual_time::{Interval, Spec, Zone, describe};
///
/// let spec = Spec::from("45m".parse::<Interval>()?);
/// assert_eq!(describe::spec(&spec, &Zone::utc()), "Every 45 minutes");
/// # Ok::<(), punctual_time::Error>(())
/// ```
pub fn spec(spec: &Spec, zone: &Zone) -> String {
    match spec {
        Spec::Cron(found) => cron(found),
        Spec::Every(found) => interval(*found),
        Spec::Once(found) => once(*found, zone),
    }
}

/// Everything a schedule says about when: the spec, its windows and bounds, and the zone unless it is UTC.
///
/// ```
/// use punctual_time::{Cron, Dialect, Timing, Zone, describe};
///
/// let cron = Cron::parse("*/30 9-17 * * 1-5", Dialect::Standard)?;
/// let mut timing = Timing::new(cron, Zone::get("America/New_York")?);
/// timing.windows.only_between = Some("09:30-17:30".parse()?);
/// timing.bounds.end_at = Some("2027-06-01T23:59:59-04:00".parse().unwrap());
/// assert_eq!(
///     describe::timing(&timing),
///     "Every 30 minutes between 09:30 and 17:30 on weekdays, until 2027-06-01, America/New_York time"
/// );
/// # Ok::<(), punctual_time::Error>(())
/// ```
pub fn timing(timing: &Timing) -> String {
    let window = timing.windows.only_between;
    let spec = match &timing.spec {
        Spec::Cron(found) => cron_within(found, window),
        Spec::Every(found) => {
            let since = match timing.anchor {
                Anchor::Fixed => "",
                Anchor::LastStart => " after the last start",
                Anchor::LastFinish => " after the last finish",
            };
            let first = limit::first(timing, *found);
            format!("every {}{since}{first}{}", length(*found), window.map_or(String::new(), limit::between))
        }
        Spec::Once(found) => {
            format!("{}{}", once(*found, &timing.zone), window.map_or(String::new(), only_between))
        }
    };
    let (except, bounds) = (limit::except(&timing.windows), limit::bounds(timing));
    capital(&format!("{spec}{except}{bounds}{}", limit::zone(&timing.zone)))
}

/// What a text was read as, in English; calendars that `not_on` names need not be known.
///
/// ```
/// use punctual_time::{Zone, describe, human};
///
/// let context = human::Context { now: "2026-11-15T12:00:00Z".parse().unwrap(), zone: Zone::utc() };
/// let parsed = human::parse("weekdays at 9 except holidays", &context)?;
/// assert_eq!(describe::parsed(&parsed, &context)?, "Every weekday at 09:00, except on holidays");
/// # Ok::<(), punctual_time::Error>(())
/// ```
///
/// # Errors
///
/// If a field of `parsed` was changed to something invalid.
pub fn parsed(parsed: &Parsed, context: &Context) -> Result<String, Error> {
    let calendars: Vec<Calendar> = parsed.not_on.iter().map(|word| Calendar::new(word.trim(), [])).collect();
    Ok(timing(&parsed.timing(context, &calendars)?))
}

/// The cron, with the window said in its place if there is one.
fn cron_within(cron: &Cron, window: Option<DayRange>) -> String {
    let days = days::days(cron);
    let clock = clock::clock(cron, window);
    let text = match (clock.text, days.before) {
        (ClockText::Times(times), Some(before)) => format!("{before} at {times}{}", days.months),
        (ClockText::Times(times), None) => format!("at {times}{}", days.after),
        (ClockText::Rule(rule), _) => format!("{rule}{}", days.after),
    };
    let rest = clock.window.map_or(String::new(), only_between);
    format!("{text}{}{rest}", years(cron))
}

/// `, only between 09:30 and 17:30`.
fn only_between(range: DayRange) -> String {
    format!(", only{}", limit::between(range))
}

/// `minute`, `90 seconds`, `2 weeks`.
fn length(interval: Interval) -> String {
    let (count, unit) = match (interval.count(), interval.unit()) {
        (count, Unit::Second) if count.is_multiple_of(3600) => (count / 3600, "hour"),
        (count, Unit::Second) if count.is_multiple_of(60) => (count / 60, "minute"),
        (count, Unit::Second) => (count, "second"),
        // Seven days are not "every week": that is read as Sundays.
        (count, Unit::Day) if count > 7 && count.is_multiple_of(7) => (count / 7, "week"),
        (count, Unit::Day) => (count, "day"),
        (count, Unit::Month) if count.is_multiple_of(12) => (count / 12, "year"),
        (count, Unit::Month) => (count, "month"),
    };
    list::units(count, unit)
}

/// ` in 2030`, ` in 2030 through 2032`.
fn years(cron: &Cron) -> String {
    let years: Vec<u32> = cron.years().collect();
    match years.as_slice() {
        [] => String::new(),
        [one] => format!(" in {one}"),
        [first, .., last] if last - first + 1 == years.len() as u32 => format!(" in {first} through {last}"),
        [first, second, .., last] if years.windows(2).all(|pair| pair[1] - pair[0] == second - first) => {
            format!(" every {} years from {first} through {last}", second - first)
        }
        years => format!(" in {}", list::and(&years.iter().map(u32::to_string).collect::<Vec<_>>())),
    }
}

/// The sentence with a capital.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
