//! The clock on a zone's wall: which instants show a local time, and what becomes of one that none or several show.
//!
//! The rule for clock changes is written down here a second time, on purpose, as a statement about one local time. The
//! search in `punctual-time` has it as a walk through stretches of UTC; an error would have to be made in both.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use punctual_time::{DstRule, Fold, Gap};

/// Local times that no instant shows are made up for if the clock skipped at most this much.
const GAP_MADE_UP_MAX: i64 = 3 * 3600;

/// Local times are counted in seconds from 1970-01-01T00:00:00 of the clock on the wall.
pub(super) const DAY: i64 = 86_400;

/// What happens at clock changes, with nothing left open.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    gap: Gap,
    fold: Fold,
    beginning: i64,
}

impl Rule {
    /// The clock is followed as it goes: both passes of what is repeated, nothing for what is skipped.
    pub(super) fn elapsed(dst: DstRule) -> Self {
        let (gap, fold) = (dst.gap.unwrap_or(Gap::Skip), dst.fold.unwrap_or(Fold::Both));
        Rule { gap, fold, beginning: i64::MIN }
    }

    /// Each local time once: the first pass of what is repeated, the first instant after what is skipped.
    pub(super) fn wall(dst: DstRule) -> Self {
        let (gap, fold) = (dst.gap.unwrap_or(Gap::Shift), dst.fold.unwrap_or(Fold::First));
        Rule { gap, fold, beginning: i64::MIN }
    }

    /// Passes before a second of UTC do not count. An interval is reckoned from an instant, which names its pass: if
    /// that is the second one, the tick is there.
    pub(super) fn beginning(self, beginning: i64) -> Self {
        Rule { beginning, ..self }
    }
}

/// A time during which the clock is ahead of UTC by the same number of seconds; `end` does not belong to it.
struct Piece {
    start: i64,
    end: i64,
    ahead: i64,
}

impl Piece {
    fn local_start(&self) -> i64 {
        self.start.saturating_add(self.ahead)
    }

    fn local_end(&self) -> i64 {
        self.end.saturating_add(self.ahead)
    }

    fn shows(&self, local: i64) -> bool {
        (self.local_start()..self.local_end()).contains(&local)
    }
}

/// A zone's clock around some time.
pub(super) struct Wall {
    pieces: Vec<Piece>,
}

impl Wall {
    /// The clock from one second of UTC to another. What it shows outside is not known here.
    pub(super) fn new(zone: &TimeZone, from: i64, to: i64) -> Self {
        let ahead = |second: i64| i64::from(zone.to_offset(instant(second)).seconds());
        let mut pieces = vec![Piece { start: i64::MIN, end: i64::MAX, ahead: ahead(from) }];
        let changes = zone.following(instant(from)).map(|change| change.timestamp().as_second());
        for start in changes.take_while(|start| *start <= to) {
            let piece = Piece { start, end: i64::MAX, ahead: ahead(start) };
            match pieces.last_mut() {
                // A change of nothing but the abbreviation.
                Some(last) if last.ahead == piece.ahead => {}
                Some(last) => {
                    last.end = start;
                    pieces.push(piece);
                }
                None => {}
            }
        }
        Wall { pieces }
    }

    /// How far the clock is ahead of UTC all through a local day, if it shows each of its times exactly once and
    /// without a change.
    pub(super) fn plain_day(&self, midnight: i64) -> Option<i64> {
        let end = midnight + DAY;
        let mut touched =
            self.pieces.iter().filter(|piece| piece.local_start() < end && piece.local_end() > midnight);
        let only = touched.next().filter(|_| touched.next().is_none())?;
        (only.local_start() <= midnight && only.local_end() >= end).then_some(only.ahead)
    }

    /// Adds the instants at which a planned local time ticks.
    pub(super) fn add_instants(&self, local: i64, rule: Rule, ticks: &mut Vec<i64>) {
        let showing = || self.pieces.iter().filter(|piece| piece.shows(local));
        if showing().next().is_none() {
            ticks.extend(self.after_gap(local).filter(|_| rule.gap == Gap::Shift));
            return;
        }
        let mut passes = showing().map(|piece| local - piece.ahead).filter(|pass| *pass >= rule.beginning);
        match rule.fold {
            Fold::First => ticks.extend(passes.next()),
            Fold::Last => ticks.extend(passes.next_back()),
            Fold::Both => ticks.extend(passes),
        }
    }

    /// The first instant after the gap that swallowed a local time, unless the gap is too long to be made up for.
    fn after_gap(&self, local: i64) -> Option<i64> {
        let gaps = self.pieces.iter().zip(self.pieces.iter().skip(1));
        let mut swallowed =
            gaps.filter(|(before, after)| (before.local_end()..after.local_start()).contains(&local));
        let (before, after) = swallowed.next()?;
        (after.ahead - before.ahead <= GAP_MADE_UP_MAX).then_some(after.start)
    }
}

/// The instant of a second, held within what can be expressed.
fn instant(second: i64) -> Timestamp {
    let end = if second < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_second(second).unwrap_or(end)
}
