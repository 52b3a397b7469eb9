//! The oracle's own walk: it goes through the minutes of UTC, reads the clock on the zone's wall and compares.
//!
//! Nothing of the planner or of `punctual-time` is used here; of jiff only which offset a zone has when. It is slow on
//! purpose: what it finds was looked at, second by second of every minute that can match.

use jiff::Timestamp;
use jiff::tz::TimeZone;

const DAY: i64 = 86_400;

/// Local times that no instant shows are made up for if the clock skipped at most this much.
const GAP_MADE_UP_MAX: i64 = 3 * 3_600;

/// A time of constant offset; `end` does not belong to it.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: i64,
    end: i64,
    offset: i64,
    /// The offset just before it.
    before: i64,
    /// The offset just after it.
    after: i64,
}

/// A zone's clock over the time of a story.
#[derive(Clone, Debug)]
pub(crate) struct Wall(Vec<Piece>);

impl Wall {
    /// The clock of a zone between two instants, with days to spare on both sides.
    pub(crate) fn new(zone: &TimeZone, from: Timestamp, to: Timestamp) -> Self {
        let first = from.as_second() - 400 * DAY;
        let at = |second: i64| Timestamp::from_second(second).unwrap_or(Timestamp::UNIX_EPOCH);
        let offset = |second: i64| i64::from(zone.to_offset(at(second)).seconds());
        let begun = offset(first);
        let mut pieces = vec![Piece {
            start: i64::MIN / 4,
            end: i64::MAX / 4,
            offset: begun,
            before: begun,
            after: begun,
        }];
        for change in zone
            .following(at(first))
            .take_while(|one| one.timestamp().as_second() < to.as_second() + 400 * DAY)
        {
            let (start, now) = (change.timestamp().as_second(), i64::from(change.offset().seconds()));
            let Some(last) = pieces.last_mut().filter(|last| last.offset != now) else { continue };
            (last.end, last.after) = (start, now);
            let before = last.offset;
            pieces.push(Piece { start, end: i64::MAX / 4, offset: now, before, after: now });
        }
        Self(pieces)
    }

    fn piece(&self, second: i64) -> &Piece {
        let at = self.0.partition_point(|piece| piece.end <= second);
        &self.0[at.min(self.0.len() - 1)]
    }

    /// The local second that an instant shows.
    pub(crate) fn local(&self, second: i64) -> i64 {
        second + self.piece(second).offset
    }
}

/// The seconds after one and up to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Not this one.
    pub(crate) after: i64,
    /// But this one.
    pub(crate) through: i64,
}

/// What clock changes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Whether local times that are skipped are made up for.
    pub(crate) gap: Gap,
    /// Which pass of what is repeated counts.
    pub(crate) fold: Fold,
}

/// What becomes of skipped local times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    /// They are the first instant after.
    Shift,
    /// Nothing.
    Skip,
}

/// Which pass of repeated local times counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    /// The first.
    First,
    /// The last.
    Last,
    /// Each.
    Both,
}

/// Local times that are planned: sets of bits by field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sets {
    /// Of the minute.
    pub(crate) seconds: u64,
    /// Of the hour.
    pub(crate) minutes: u64,
    /// Of the day.
    pub(crate) hours: u32,
    /// Of the month, from bit 1; none if any day will do.
    pub(crate) days: Option<u32>,
    /// Of the year, from bit 1.
    pub(crate) months: u16,
    /// Of the week, 0 is Sunday; none if any will do.
    pub(crate) weekdays: Option<u8>,
}

impl Sets {
    fn has_day(&self, day: i64) -> bool {
        let date = civil(day);
        let is_day = |days: u32| days >> date.day & 1 == 1;
        let is_weekday = |weekdays: u8| weekdays >> weekday(day) & 1 == 1;
        let is_month = self.months >> date.month & 1 == 1;
        is_month
            && match (self.days, self.weekdays) {
                (None, None) => true,
                (Some(days), None) => is_day(days),
                (None, Some(weekdays)) => is_weekday(weekdays),
                (Some(days), Some(weekdays)) => is_day(days) || is_weekday(weekdays),
            }
    }

    fn has_minute(&self, of_day: i64) -> bool {
        self.hours >> (of_day / 3_600) & 1 == 1 && self.minutes >> (of_day / 60 % 60) & 1 == 1
    }

    fn has(&self, local: i64) -> bool {
        let of_day = local.rem_euclid(DAY);
        self.has_minute(of_day)
            && self.seconds >> (of_day % 60) & 1 == 1
            && self.has_day(local.div_euclid(DAY))
    }
}

/// A date of the calendar.
struct Date {
    month: u32,
    day: u32,
}

/// The date of a day since 1970-01-01, reckoned in cycles of four hundred years that begin in March.
fn civil(day: i64) -> Date {
    let shifted = day + 719_468;
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    Date { month: u32::try_from(month).unwrap_or_default(), day: u32::try_from(day).unwrap_or_default() }
}

/// The weekday of a day since 1970-01-01, which was a Thursday; 0 is Sunday.
pub(crate) fn weekday(day: i64) -> u32 {
    u32::try_from((day + 4).rem_euclid(7)).unwrap_or_default()
}

/// The ticks of local sets after one second and up to another.
pub(crate) fn ticks_of_sets(sets: &Sets, wall: &Wall, changes: Changes, stretch: Stretch) -> Vec<i64> {
    let Stretch { after, through } = stretch;
    let mut ticks = Vec::new();
    let mut second = after + 1;
    while second <= through {
        let piece = *wall.piece(second);
        let end = piece.end.min(through + 1);
        if second == piece.start && skips_a_match(sets, &piece, changes.gap) {
            ticks.push(second);
        }
        ticks.extend(walk_piece(sets, &piece, changes.fold, second..end));
        second = end;
    }
    ticks.dedup();
    ticks
}

/// Whether the clock change at the beginning of a piece skipped a planned local time.
fn skips_a_match(sets: &Sets, piece: &Piece, gap: Gap) -> bool {
    let skipped = piece.offset - piece.before;
    let is_made_up = gap == Gap::Shift && skipped > 0 && skipped <= GAP_MADE_UP_MAX;
    is_made_up && (piece.start + piece.before..piece.start + piece.offset).any(|local| sets.has(local))
}

/// The ticks of a piece from one second to before another.
fn walk_piece(sets: &Sets, piece: &Piece, fold: Fold, part: std::ops::Range<i64>) -> Vec<i64> {
    let (mut second, end, mut known) = (part.start, part.end, None);
    let mut ticks = Vec::new();
    while second < end {
        let local = second + piece.offset;
        let (day, of_day) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        let is_day = match known {
            Some((known, is_day)) if known == day => is_day,
            _ => {
                let is_day = sets.has_day(day);
                known = Some((day, is_day));
                is_day
            }
        };
        if !is_day {
            second += DAY - of_day;
            continue;
        }
        if sets.has_minute(of_day) {
            let last = (second + 59 - of_day % 60).min(end - 1);
            let seconds =
                (second..=last).filter(|one| sets.seconds >> ((one + piece.offset).rem_euclid(60)) & 1 == 1);
            ticks.extend(seconds.filter(|one| counts(piece, fold, *one)));
        }
        second += 60 - of_day % 60;
    }
    ticks
}

/// Whether an instant that shows a planned local time is the pass that counts.
fn counts(piece: &Piece, fold: Fold, second: i64) -> bool {
    let is_second_pass = second - piece.start < piece.before - piece.offset;
    let comes_again = piece.end - second <= piece.offset - piece.after;
    match fold {
        Fold::Both => true,
        Fold::First => !is_second_pass,
        Fold::Last => !comes_again,
    }
}

/// Every so many calendar days from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Days {
    /// How many.
    pub(crate) every: i64,
    /// That instant.
    pub(crate) origin: i64,
}

/// The ticks of every so many calendar days from an origin, after one second and up to another.
pub(crate) fn ticks_of_days(days: Days, wall: &Wall, changes: Changes, stretch: Stretch) -> Vec<i64> {
    let (Days { every, origin }, Stretch { after, through }) = (days, stretch);
    let local = wall.local(origin);
    let (first, of_day) = (local.div_euclid(DAY), local.rem_euclid(DAY));
    let days = (after - 2 * DAY).div_euclid(DAY).max(first)..=(through + 2 * DAY).div_euclid(DAY);
    let planned = days.filter(|day| (day - first) % every == 0).map(|day| day * DAY + of_day);
    let mut ticks: Vec<i64> = planned.flat_map(|local| instants(wall, local, changes, origin)).collect();
    ticks.retain(|tick| *tick > after && *tick <= through);
    ticks.sort_unstable();
    ticks.dedup();
    ticks
}

/// The instants at which a planned local time ticks; passes before the origin do not count.
fn instants(wall: &Wall, local: i64, changes: Changes, origin: i64) -> Vec<i64> {
    let shows = |piece: &&Piece| (piece.start..piece.end).contains(&(local - piece.offset));
    let passes: Vec<i64> = wall
        .0
        .iter()
        .filter(shows)
        .map(|piece| local - piece.offset)
        .filter(|pass| *pass >= origin)
        .collect();
    if !passes.is_empty() {
        return match changes.fold {
            Fold::First => passes[..1].to_vec(),
            Fold::Last => passes[passes.len() - 1..].to_vec(),
            Fold::Both => passes,
        };
    }
    let swallows = |piece: &&Piece| {
        let skipped = piece.start + piece.before..piece.start + piece.offset;
        piece.offset - piece.before <= GAP_MADE_UP_MAX && skipped.contains(&local)
    };
    let after = wall.0.iter().find(swallows).map(|piece| piece.start);
    after.filter(|_| changes.gap == Gap::Shift).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(zone: &str) -> Wall {
        let at = |text: &str| text.parse().expect("an instant");
        let zone = jiff::tz::TimeZoneDatabase::bundled().get(zone).expect("a zone");
        Wall::new(&zone, at("2025-01-01T00:00:00Z"), at("2026-12-31T00:00:00Z"))
    }

    fn nightly(hours: u32) -> Sets {
        Sets { seconds: 1, minutes: 1 << 30, hours, days: None, months: 0x1FFE, weekdays: None }
    }

    fn check(zone: &str, sets: Sets, changes: Changes, (from, to, expected): (&str, &str, &[&str])) {
        let second = |text: &str| text.parse::<Timestamp>().expect("an instant").as_second();
        let ticks =
            ticks_of_sets(&sets, &wall(zone), changes, Stretch { after: second(from), through: second(to) });
        let ticks: Vec<String> = ticks
            .into_iter()
            .map(|tick| Timestamp::from_second(tick).expect("an instant").to_string())
            .collect();
        assert_eq!(ticks, expected);
    }

    #[test]
    fn each_local_time_of_a_wall_clock_spec_ticks_once() {
        let changes = Changes { gap: Gap::Shift, fold: Fold::First };
        let spring = (
            "2026-03-28T12:00:00Z",
            "2026-03-30T12:00:00Z",
            &["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"][..],
        );
        check("Europe/Berlin", nightly(1 << 2), changes, spring);
        let autumn = (
            "2026-10-24T12:00:00Z",
            "2026-10-26T12:00:00Z",
            &["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"][..],
        );
        check("Europe/Berlin", nightly(1 << 2), changes, autumn);
        let last = Changes { fold: Fold::Last, ..changes };
        let autumn = ("2026-10-24T12:00:00Z", "2026-10-26T00:00:00Z", &["2026-10-25T01:30:00Z"][..]);
        check("Europe/Berlin", nightly(1 << 2), last, autumn);
    }

    #[test]
    fn the_first_of_each_month_is_found_in_every_year() {
        let first =
            Sets { seconds: 1, minutes: 1, hours: 1, days: Some(1 << 1), months: 0x1FFE, weekdays: None };
        let changes = Changes { gap: Gap::Shift, fold: Fold::First };
        let year = (
            "2024-01-31T00:00:00Z",
            "2024-04-02T00:00:00Z",
            &["2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z", "2024-04-01T00:00:00Z"][..],
        );
        check("UTC", first, changes, year);
    }
}
