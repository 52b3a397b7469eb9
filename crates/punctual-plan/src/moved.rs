//! Moved: which ticks that were planned by other rules of a zone are not where the present ones put them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use punctual_time::Timing;

use crate::{Cursor, PLAN_ENTRIES_MAX, Reason};

/// What was planned of a schedule and has not come yet.
#[derive(Clone, Debug)]
pub struct Foreseen<'a> {
    /// When it ticks, by the present rules of its zone.
    pub timing: &'a Timing,
    /// How far it was planned.
    pub cursor: Cursor,
    /// The latest tick that was launched or ended: nothing up to it is planned again.
    pub launched_through: Option<Timestamp>,
    /// Its armed ticks.
    pub armed: &'a [ArmedTick],
    /// The first tick that is not planned yet, as it was known when the others were.
    pub next_tick: Option<Timestamp>,
}

/// A tick that is a row of the ledger and was never launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArmedTick {
    /// Its instant.
    pub tick: Timestamp,
    /// Which kind of window suppresses it, if one does: the code of its reason.
    pub suppressed: Option<&'static str>,
}

/// What other rules move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Armed ticks that are none any more, or that another window suppresses.
    pub gone: usize,
    /// Ticks of the same time that were not armed.
    pub come: usize,
}

/// What of a plan is not as the present rules have it; none if all of it is.
///
/// ```
/// use punctual_plan::{ArmedTick, Cursor, Foreseen, Moved, moved};
/// use punctual_time::{Cron, Timing, Zone};
///
/// // It was planned when the zone was thought to be an hour further east.
/// let timing = Timing::new("0 10 * * *".parse::<Cron>()?, Zone::utc());
/// let now = "2026-01-01T08:59:50Z".parse()?;
/// let armed = [ArmedTick { tick: "2026-01-01T09:00:00Z".parse()?, suppressed: None }];
/// let cursor = Cursor { planned_through: "2026-01-01T09:00:30Z".parse()?, decided_through: now };
/// let next_tick = Some("2026-01-02T09:00:00Z".parse()?);
/// let seen = Foreseen { timing: &timing, cursor, launched_through: None, armed: &armed, next_tick };
/// assert_eq!(moved(&seen, now), Some(Moved { gone: 1, come: 0 }));
///
/// let next_tick = Some("2026-01-01T10:00:00Z".parse()?);
/// assert_eq!(moved(&Foreseen { armed: &[], next_tick, ..seen }, now), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn moved(seen: &Foreseen<'_>, now: Timestamp) -> Option<Moved> {
    let Foreseen { timing, cursor, .. } = *seen;
    let from = now.max(cursor.decided_through).max(seen.launched_through.unwrap_or(Timestamp::MIN));
    let mut armed: BTreeMap<Timestamp, Option<&'static str>> =
        seen.armed.iter().filter(|one| one.tick > from).map(|one| (one.tick, one.suppressed)).collect();
    let (mut gone, mut come) = (0, 0);
    let first = timing.planned_after(from);
    let ticks = std::iter::successors(first, |tick| timing.planned_after(*tick));
    // A plan has no more than so many, and one that is longer by as much is another one.
    let ticks = ticks.take_while(|tick| *tick <= cursor.planned_through).take(2 * PLAN_ENTRIES_MAX);
    for tick in ticks {
        let suppressed = timing.suppressed(tick).map(|window| Reason::from(window).code());
        match armed.remove(&tick) {
            Some(before) if before == suppressed => {}
            before => {
                gone += usize::from(before.is_some());
                come += 1;
            }
        }
    }
    gone += armed.len();
    let is_next = timing.planned_after(cursor.planned_through) == seen.next_tick;
    (gone + come > 0 || !is_next).then_some(Moved { gone, come })
}
