//! Jitter: when a tick fires, scattered the same way on every node and in every preview.

use jiff::{SignedDuration, Timestamp};
use punctual_time::Timing;

use crate::id::digest;
use crate::rule::{Rule, holds};
use crate::{Jitter, ScheduleId};

/// When a tick fires: its own instant, moved by its jitter, between the midpoints to its neighbours and never
/// before `start_at`. What the clock adds to it is the planner's business.
pub(crate) fn fire_at(id: ScheduleId, timing: &Timing, jitter: Jitter, tick: Timestamp) -> Timestamp {
    if jitter.max <= SignedDuration::ZERO {
        return tick;
    }
    let half_way = |neighbour: Option<Timestamp>, max: SignedDuration| {
        let neighbour = neighbour.filter(|_| holds(Rule::BetweenMidpoints));
        neighbour.map_or(max, |neighbour| max.min(neighbour.duration_since(tick).abs() / 2))
    };
    let early = half_way(timing.planned_before(tick), jitter.early_max());
    let late = half_way(timing.planned_after(tick), jitter.max);
    let span = early.saturating_add(late).as_millis().unsigned_abs();
    let [a, b, c, d, e, f, g, h, ..] = digest(id, tick);
    let place = u128::from(u64::from_be_bytes([a, b, c, d, e, f, g, h])) % (span + 1);
    let offset = SignedDuration::from_millis(i64::try_from(place).unwrap_or(i64::MAX)).saturating_sub(early);
    let fire_at = tick.saturating_add(offset).unwrap_or(tick);
    let start = timing.bounds.start_at.filter(|_| holds(Rule::NeverBeforeTheStart));
    start.map_or(fire_at, |start| fire_at.max(start))
}
