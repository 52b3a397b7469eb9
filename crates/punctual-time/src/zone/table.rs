//! A zone's stretches of constant offset, from the first record to 2100, found by their time in constant time.
//!
//! jiff is only ever asked for the transitions that *follow* an instant: going back, it overlooks the last one
//! before a zone's yearly rule begins, which moves Winamac's change of 2007 by an hour.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The table ends here, on 2100-01-01; what lies beyond is asked of jiff.
const TABLE_TO: i64 = 4_102_444_800;

/// From 1970 on, a stretch is found by buckets of about 48 days: shorter than nearly all stretches, so that a
/// look-up takes one step more at most.
const BUCKET_BITS: u32 = 22;

/// Before and after all instants that jiff can express, far from overflow.
const BEGINNING: i64 = -(1 << 40);
const END: i64 = 1 << 40;

/// The first and last second that jiff can express, with a day to spare.
const SECOND_MIN: i64 = -377_705_023_201 + 86_400;
const SECOND_MAX: i64 = 253_402_207_200 - 86_400;

/// Beyond the table a zone changes its clock every year, if it does at all.
const LOOK_BACK: i64 = 2 * 366 * 86_400;

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
    /// What a zone that is made up is called.
    #[cfg(feature = "editions")]
    pub(super) made_up: Option<&'static str>,
    /// Its rules in the next edition.
    #[cfg(feature = "editions")]
    pub(super) next: Option<Box<Table>>,
}

impl Table {
    pub(super) fn new(zone: TimeZone) -> Self {
        let segments = segments(&zone, SECOND_MIN, TABLE_TO);
        let mut buckets = Vec::new();
        let mut at = 0;
        let mut second = 0;
        while second < TABLE_TO {
            while segments.get(at).is_some_and(|segment: &Segment| segment.end <= second) {
                at += 1;
            }
            buckets.push(at as u16);
            second += 1 << BUCKET_BITS;
        }
        Table {
            zone,
            segments,
            buckets,
            #[cfg(feature = "editions")]
            made_up: None,
            #[cfg(feature = "editions")]
            next: None,
        }
    }

    /// The table that counts: its own, unless a simulated node has another edition.
    #[cfg(feature = "editions")]
    #[inline]
    pub(super) fn present(&self) -> &Table {
        let is_next = |_: &&Table| super::edition::current().is_some_and(|edition| edition > 0);
        self.next.as_deref().filter(is_next).unwrap_or(self)
    }

    /// The table that counts: its own.
    #[cfg(not(feature = "editions"))]
    #[inline]
    pub(super) fn present(&self) -> &Table {
        self
    }

    pub(super) fn name(&self) -> &str {
        #[cfg(feature = "editions")]
        if let Some(made_up) = self.made_up {
            return made_up;
        }
        self.zone.iana_name().unwrap_or("UTC")
    }

    pub(super) fn zone(&self) -> &TimeZone {
        &self.zone
    }

    #[inline]
    pub(super) fn segment(&self, second: i64) -> Segment {
        if let Some(&at) = self.buckets.get((second >> BUCKET_BITS) as usize) {
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

    /// Before 1970, or after 2100.
    #[cold]
    fn outside(&self, second: i64) -> Segment {
        let at = self.segments.partition_point(|segment| segment.end <= second);
        if let Some(segment) = self.segments.get(at) {
            return *segment;
        }
        let around = segments(&self.zone, second - LOOK_BACK, second + 1);
        around.last().copied().unwrap_or(Segment {
            start: BEGINNING,
            end: END,
            offset: 0,
            before: 0,
            after: 0,
        })
    }
}

/// The stretches from that of one second to that of another. The first is taken to have begun with time itself.
fn segments(zone: &TimeZone, from: i64, to: i64) -> Vec<Segment> {
    let offset = zone.to_offset(instant(from)).seconds();
    let mut last = Segment { start: BEGINNING, end: END, offset, before: offset, after: offset };
    let mut segments = Vec::new();
    // A transition may change nothing but a name.
    let changes = zone
        .following(instant(from))
        .map(|change| (change.timestamp().as_second(), change.offset().seconds()));
    for (at, after) in changes {
        if after == last.offset {
            continue;
        }
        segments.push(Segment { end: at, after, ..last });
        last = Segment { start: at, end: END, offset: after, before: last.offset, after };
        if at >= to {
            return segments;
        }
    }
    segments.push(last);
    segments
}

/// The instant of a second, held within what jiff can express.
fn instant(second: i64) -> Timestamp {
    Timestamp::from_second(second.clamp(SECOND_MIN, SECOND_MAX)).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Zone;

    #[test]
    fn the_last_change_before_a_yearly_rule_is_not_overlooked() {
        let zone = Zone::get("America/Indiana/Winamac").unwrap();
        let change = "2007-03-11T08:00:00Z".parse::<Timestamp>().unwrap().as_second();
        let segment = zone.segment(change);
        assert_eq!((segment.start, segment.gap()), (change, 7200));
    }

    #[test]
    fn segments_follow_each_other_within_and_beyond_the_table() {
        for name in ["UTC", "America/New_York", "Asia/Tokyo", "Africa/Casablanca", "Europe/Dublin"] {
            let zone = Zone::get(name).unwrap();
            let mut segment = zone.segment(SECOND_MIN);
            while segment.end < TABLE_TO + 20 * LOOK_BACK {
                let next = zone.segment(segment.end);
                assert_eq!(
                    (next.start, next.before, next.offset),
                    (segment.end, segment.offset, segment.after)
                );
                assert_eq!(zone.segment(next.end - 1), next, "{name}");
                segment = next;
            }
        }
    }
}
