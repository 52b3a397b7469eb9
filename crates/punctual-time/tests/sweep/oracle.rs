//! What the ticks should be, found the slow way: UTC is walked step by step and jiff says what the clock shows.
//!
//! Nothing here is shared with the crate but jiff: expressions are read again, naively, and a gap or a fold is
//! whatever makes the clock on the wall jump.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::cases::{Case, Fold, Gap};

/// Longer gaps are not made up.
const GAP_MAX: i64 = 3 * 3600;

/// Which pass of a repeated stretch.
#[derive(Clone, Copy, PartialEq)]
enum Pass {
    Only,
    First,
    Second,
}

/// One step of the walk.
struct Step {
    utc: i64,
    local: DateTime,
    pass: Pass,
}

/// The clock of a zone around an instant, step by step.
pub(crate) struct Walk {
    steps: Vec<Step>,
    /// Local times that were skipped, with the first instant after them.
    skipped: Vec<(i64, Vec<DateTime>)>,
    dates: Vec<Date>,
}

/// From when to when, and how fine.
#[derive(Clone, Copy)]
pub(crate) struct Stretch {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) step: i64,
}

impl Walk {
    pub(crate) fn new(zone: &TimeZone, stretch: Stretch) -> Walk {
        let show = |utc: i64| zone.to_datetime(Timestamp::from_second(utc).unwrap());
        let mut steps = Vec::new();
        let mut skipped = Vec::new();
        let mut latest: Option<DateTime> = None;
        let mut utc = stretch.from;
        while utc <= stretch.to {
            let local = show(utc);
            if let Some(latest) = latest {
                let jump = local.duration_since(latest).as_secs() - stretch.step;
                if jump > 0 {
                    skipped.push((utc, skipped_times(latest, local, stretch.step)));
                }
            }
            let is_again = latest.is_some_and(|latest| local <= latest);
            steps.push(Step { utc, local, pass: if is_again { Pass::Second } else { Pass::Only } });
            latest = latest.max(Some(local));
            utc += stretch.step;
        }
        let mut earliest: Option<DateTime> = None;
        for step in steps.iter_mut().rev() {
            if step.pass == Pass::Only && earliest.is_some_and(|earliest| step.local >= earliest) {
                step.pass = Pass::First;
            }
            earliest = Some(earliest.map_or(step.local, |earliest| earliest.min(step.local)));
        }
        let mut dates: Vec<Date> = steps.iter().map(|step| step.local.date()).collect();
        dates.extend(skipped.iter().flat_map(|(_, times)| times.iter().map(|time| time.date())));
        dates.sort();
        dates.dedup();
        Walk { steps, skipped, dates }
    }

    /// The ticks of a case within the walk.
    pub(crate) fn ticks(&self, case: &Case) -> Vec<i64> {
        let plan = Plan::read(&case.expr);
        let days: Vec<Date> = self.dates.iter().copied().filter(|&date| plan.has_date(date)).collect();
        let is_planned = |local: DateTime| plan.has_time(local) && days.contains(&local.date());
        let gap = case.gap.unwrap_or(if plan.is_elapsed() { Gap::Skip } else { Gap::Shift });
        let fold = case.fold.unwrap_or(if plan.is_elapsed() { Fold::Both } else { Fold::First });
        let mut ticks: Vec<i64> = self
            .steps
            .iter()
            .filter(|step| match (step.pass, fold) {
                (Pass::First, Fold::Last) | (Pass::Second, Fold::First) => false,
                _ => is_planned(step.local),
            })
            .map(|step| step.utc)
            .collect();
        if gap == Gap::Shift {
            let moved = self.skipped.iter().filter(|(_, times)| times.iter().any(|&time| is_planned(time)));
            ticks.extend(moved.map(|(utc, _)| *utc));
            ticks.sort_unstable();
            ticks.dedup();
        }
        ticks
    }
}

fn skipped_times(before: DateTime, after: DateTime, step: i64) -> Vec<DateTime> {
    let step = SignedDuration::from_secs(step);
    if after.duration_since(before) - step > SignedDuration::from_secs(GAP_MAX) {
        return Vec::new();
    }
    let mut times = Vec::new();
    let mut time = before + step;
    while time < after {
        times.push(time);
        time += step;
    }
    times
}

/// An expression, read naively.
struct Plan {
    times: [Vec<i8>; 3],
    days: String,
    months: Vec<i8>,
    weekdays: String,
}

impl Plan {
    fn read(expr: &str) -> Plan {
        let mut fields: Vec<&str> = expr.split(' ').collect();
        if fields.len() == 5 {
            fields.insert(0, "0");
        }
        Plan {
            times: [numbers(fields[0], 0, 59), numbers(fields[1], 0, 59), numbers(fields[2], 0, 23)],
            days: fields[3].into(),
            months: numbers(fields[4], 1, 12),
            weekdays: fields[5].into(),
        }
    }

    fn is_elapsed(&self) -> bool {
        (0..24).all(|hour| self.times[2].contains(&hour))
    }

    fn has_time(&self, local: DateTime) -> bool {
        self.times[1].binary_search(&local.minute()).is_ok()
            && self.times[2].binary_search(&local.hour()).is_ok()
            && self.times[0].binary_search(&local.second()).is_ok()
    }

    fn has_date(&self, date: Date) -> bool {
        let by_day = || self.days.split(',').any(|item| day_is(item, date));
        let by_weekday = || self.weekdays.split(',').any(|item| weekday_is(item, date));
        self.months.contains(&date.month())
            && match (self.days.as_str(), self.weekdays.as_str()) {
                ("*", "*") => true,
                ("*", _) => by_weekday(),
                (_, "*") => by_day(),
                _ => by_day() || by_weekday(),
            }
    }
}

/// The numbers of a list of values, ranges and steps, in order.
fn numbers(text: &str, min: i8, max: i8) -> Vec<i8> {
    let mut all: Vec<i8> = text
        .split(',')
        .flat_map(|item| {
            let (range, step) = item.split_once('/').unwrap_or((item, "1"));
            let (from, to) = match range.split_once('-') {
                _ if range == "*" => (min, max),
                Some((from, to)) => (from.parse().unwrap(), to.parse().unwrap()),
                None => (range.parse().unwrap(), range.parse().unwrap()),
            };
            (from..=to).step_by(step.parse().unwrap())
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn day_is(item: &str, date: Date) -> bool {
    let len = date.days_in_month();
    let Some(wanted) = item.strip_suffix('W') else {
        return match item.strip_prefix('L') {
            Some("") => date.day() == len,
            Some(back) => date.day() == len - back[1..].parse::<i8>().unwrap(),
            None => numbers(item, 1, 31).contains(&date.day()),
        };
    };
    let wanted: i8 = if wanted == "L" { len } else { wanted.parse().unwrap() };
    if wanted > len {
        return false;
    }
    let is_workday = |day: i8| {
        let weekday = Date::new(date.year(), date.month(), day).map(Date::weekday);
        weekday.is_ok_and(|weekday| weekday != Weekday::Saturday && weekday != Weekday::Sunday)
    };
    let nearest = [0, -1, 1, -2, 2].into_iter().map(|delta| wanted + delta).find(|&day| is_workday(day));
    nearest == Some(date.day())
}

fn weekday_is(item: &str, date: Date) -> bool {
    let weekday = date.weekday().to_sunday_zero_offset();
    if let Some((wanted, nth)) = item.split_once('#') {
        return wanted.parse() == Ok(weekday) && nth.parse() == Ok((date.day() - 1) / 7 + 1);
    }
    if let Some(wanted) = item.strip_suffix('L') {
        return wanted.parse() == Ok(weekday) && date.day() + 7 > date.days_in_month();
    }
    numbers(item, 0, 6).contains(&weekday)
}
