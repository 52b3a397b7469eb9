//! A zone's stretches of constant offset from 1970 to 2100, found by their time in constant time.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The table covers these seconds of UTC, 1970-01-01 to 2100-01-01; what lies outside is asked of jiff.
const TABLE_FROM: i64 = 0;
const TABLE_TO: i64 = 4_102_444_800;

/// About 48 days: shorter than nearly all stretches, so a look-up takes one step more at most.
const BUCKET_BITS: u32 = 22;

/// Before and after all instants that jiff can express, far from overflow.
const BEGINNING: i64 = -(1 << 40);
const END: i64 = 1 << 40;

/// The first and last second that jiff can express, with a day to spare.
const SECOND_MIN: i64 = -377_705_023_201 + 86_400;
const SECOND_MAX: i64 = 253_402_207_200 - 86_400;

/// How many transitions that change nothing but a name may follow each other.
const NAME_CHANGES_MAX: usize = 64;

/// A stretch of constant offset: `start` belongs to it, `end` does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub start: i64,
    pub end: i64,
    /// Seconds east of Greenwich within it, just before it and just after it.
    pub offset: i32,
    pub before: i32,
    pub after: i32,
}

impl Segment {
    /// Seconds of local time that are skipped as it begins; 0 if none are.
    #[inline]
    pub(crate) fn gap(&self) -> i64 {
        i64::from(self.offset - self.before).max(0)
    }

    /// Seconds of local time at its beginning that have been there before; 0 if none.
    #[inline]
    pub(crate) fn repeated(&self) -> i64 {
        i64::from(self.before - self.offset).max(0)
    }

    /// Seconds of local time at its end that will come again; 0 if none.
    #[inline]
    pub(crate) fn repeating(&self) -> i64 {
        i64::from(self.offset - self.after).max(0)
    }
}

pub(crate) struct Table {
    zone: TimeZone,
    segments: Vec<Segment>,
    /// The segment in which each bucket of the table's time begins.
    buckets: Vec<u16>,
}

impl Table {
    pub(super) fn new(zone: TimeZone) -> Self {
        let mut segments = vec![ask(&zone, TABLE_FROM)];
        while let Some(last) = segments.last().filter(|last| last.end < TABLE_TO) {
            segments.push(ask(&zone, last.end));
        }
        let mut buckets = Vec::new();
        let mut at = 0;
        let mut second = TABLE_FROM;
        while second < TABLE_TO {
            while segments[at].end <= second {
                at += 1;
            }
            buckets.push(at as u16);
            second += 1 << BUCKET_BITS;
        }
        Table { zone, segments, buckets }
    }

    pub(super) fn name(&self) -> &str {
        self.zone.iana_name().unwrap_or("UTC")
    }

    pub(super) fn zone(&self) -> &TimeZone {
        &self.zone
    }

    #[inline]
    pub(super) fn segment(&self, second: i64) -> Segment {
        let bucket = (second - TABLE_FROM) >> BUCKET_BITS;
        if let Some(&at) = self.buckets.get(bucket as usize) {
            let mut at = usize::from(at);
            while let Some(segment) = self.segments.get(at) {
                if second < segment.end {
                    return *segment;
                }
                at += 1;
            }
        }
        self.outside(second)
    }

    #[cold]
    fn outside(&self, second: i64) -> Segment {
        let ends = [self.segments.first(), self.segments.last()];
        let known =
            ends.into_iter().flatten().find(|segment| segment.start <= second && second < segment.end);
        known.copied().unwrap_or_else(|| ask(&self.zone, second))
    }
}

/// The segment of a second, from jiff.
fn ask(zone: &TimeZone, second: i64) -> Segment {
    let offset_at = |second: i64| zone.to_offset(instant(second)).seconds();
    let offset = offset_at(second);
    let mut segment = Segment { start: BEGINNING, end: END, offset, before: offset, after: offset };
    for change in zone.preceding(instant(second + 1)).take(NAME_CHANGES_MAX) {
        let start = change.timestamp().as_second();
        let before = offset_at(start - 1);
        if before != offset {
            segment = Segment { start, before, ..segment };
            break;
        }
    }
    for change in zone.following(instant(second)).take(NAME_CHANGES_MAX) {
        let after = change.offset().seconds();
        if after != offset {
            segment = Segment { end: change.timestamp().as_second(), after, ..segment };
            break;
        }
    }
    segment
}

/// The instant of a second, held within what jiff can express.
fn instant(second: i64) -> Timestamp {
    Timestamp::from_second(second.clamp(SECOND_MIN, SECOND_MAX)).unwrap_or(Timestamp::UNIX_EPOCH)
}
