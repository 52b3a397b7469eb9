//! The ticks of a definition, found from its own words and from the zone's clock.
//!
//! Nothing of the search that plans is used, neither directly nor by way of `explain` or `ticks`: only the parsed
//! definition is read. Every local day is looked at, every time of day it plans is spelled out, and the clock on the
//! wall says which instants show it. That is slower than a search and cannot jump too far.

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::tz::TimeZone;
use punctual_time::{Anchor, Field, Interval, Spec, Timing, Unit};

use super::dates::{Dates, date_of, times_of_day};
use super::wall::{DAY, Rule, Wall};

/// Ticks are found for this many seconds at a time: a month of a per-second schedule takes about 20 MB.
const BLOCK_SECONDS: i64 = 32 * DAY;

/// No clock is further from UTC than this many days, rounded up, so that a block needs no days beyond them.
const DAYS_AROUND: i64 = 2;

/// The clock is looked at for this long around a block: its days, their length and the farthest offset.
const WALL_AROUND: i64 = (2 * DAYS_AROUND + 1) * DAY;

/// Hours in the set of a spec that follows the real clock.
const ALL_HOURS: u32 = 24;

/// A definition that can be asked for its ticks.
pub(super) struct Oracle {
    plan: Plan,
    /// The first and the last second at which the schedule may tick.
    first: i64,
    last: i64,
}

enum Plan {
    /// One second.
    Once(i64),
    /// Elapsed seconds from an origin.
    Seconds { origin: i64, every: i64 },
    /// Local times of a zone.
    Local(Local),
}

struct Local {
    dates: Dates,
    /// Seconds of the day, ascending.
    times: Vec<i64>,
    rule: Rule,
    zone: TimeZone,
}

impl Oracle {
    /// Reads a definition; none if its ticks depend on when its runs start or end.
    pub(super) fn of(timing: &Timing) -> Option<Self> {
        let bounds = &timing.bounds;
        let mut first = bounds.start_at.map_or(i64::MIN, ceil_second);
        let plan = match &timing.spec {
            Spec::Once(once) => Plan::Once(ceil_second(once.instant())),
            Spec::Cron(cron) => {
                let is_elapsed = cron.set(Field::Hour).len() == ALL_HOURS;
                let rule = if is_elapsed { Rule::elapsed(timing.dst) } else { Rule::wall(timing.dst) };
                let (dates, times) = (Dates::of_cron(*cron), times_of_day(cron));
                Plan::Local(Local { dates, times, rule, zone: timing.zone.to_jiff() })
            }
            Spec::Every(_) if timing.anchor != Anchor::Fixed => return None,
            Spec::Every(interval) => {
                first = ceil_second(bounds.start_at.unwrap_or(timing.created_at));
                from_origin(*interval, first, timing)
            }
        };
        Some(Oracle { plan, first, last: bounds.end_at.map_or(i64::MAX, floor_second) })
    }

    /// The ticks between two seconds, both included, ascending.
    pub(super) fn ticks(&self, from: i64, through: i64) -> impl Iterator<Item = Timestamp> {
        let (from, through) = (from.max(self.first), through.min(self.last));
        let starts = std::iter::successors(Some(from), |start| start.checked_add(BLOCK_SECONDS));
        starts
            .take_while(move |start| *start <= through)
            .flat_map(move |start| self.block(start, through.min(start.saturating_add(BLOCK_SECONDS - 1))))
            .filter_map(|second| Timestamp::from_second(second).ok())
    }

    fn block(&self, from: i64, through: i64) -> Vec<i64> {
        match &self.plan {
            Plan::Once(at) => Some(*at).filter(|at| (from..=through).contains(at)).into_iter().collect(),
            Plan::Seconds { origin, every } => {
                // Blocks begin at the origin or later.
                let over = (from - origin) % every;
                let next = if over == 0 { from } else { from + every - over };
                std::iter::successors(Some(next), |at| at.checked_add(*every))
                    .take_while(|at| *at <= through)
                    .collect()
            }
            Plan::Local(local) => local.block(from, through),
        }
    }
}

impl Local {
    /// The ticks between two seconds of UTC, from all local days that could have one there.
    fn block(&self, from: i64, through: i64) -> Vec<i64> {
        let wall = Wall::new(&self.zone, from - WALL_AROUND, through + WALL_AROUND);
        let mut ticks = Vec::new();
        for day in from.div_euclid(DAY) - DAYS_AROUND..=through.div_euclid(DAY) + DAYS_AROUND {
            if !date_of(day).is_some_and(|date| self.dates.contain(date)) {
                continue;
            }
            let midnight = day * DAY;
            match wall.plain_day(midnight) {
                Some(ahead) => {
                    let instants = self.times.iter().map(|time| midnight - ahead + time);
                    let early = |instant: &i64| *instant < from;
                    ticks.extend(instants.skip_while(early).take_while(|instant| *instant <= through));
                }
                None => {
                    let locals = self.times.iter().map(|time| midnight + time);
                    locals.for_each(|local| wall.add_instants(local, self.rule, &mut ticks));
                }
            }
        }
        ticks.retain(|tick| (from..=through).contains(tick));
        // Passes of a repeated hour come out of order, and several skipped times are one tick.
        ticks.sort();
        ticks.dedup();
        ticks
    }
}

/// An interval from a second of UTC; days and months are those of the zone's calendar.
fn from_origin(interval: Interval, origin: i64, timing: &Timing) -> Plan {
    let every = i64::from(interval.count());
    let zone = timing.zone.to_jiff();
    let local = zone.to_datetime(Timestamp::from_second(origin).unwrap_or(Timestamp::MAX));
    let dates = match interval.unit() {
        Unit::Second => return Plan::Seconds { origin, every },
        Unit::Day => Dates::Days { origin: local.date(), every },
        Unit::Month => Dates::Months { origin: local.date(), every },
    };
    let times = vec![local.time().duration_since(Time::midnight()).as_secs()];
    Plan::Local(Local { dates, times, rule: Rule::wall(timing.dst).beginning(origin), zone })
}

/// The last whole second at or before an instant.
pub(super) fn floor_second(at: Timestamp) -> i64 {
    at.as_second() - i64::from(at.subsec_nanosecond() < 0)
}

/// The first whole second at or after an instant.
pub(super) fn ceil_second(at: Timestamp) -> i64 {
    at.as_second() + i64::from(at.subsec_nanosecond() > 0)
}
