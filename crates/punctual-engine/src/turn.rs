//! Turns: whether it is time to plan before an instant that is mustered for.

use jiff::{SignedDuration, Timestamp};

use crate::holding::{HELD_MIN, hold_from};
use crate::muster::{AHEAD_BUSY, LOOK_AGAIN, Muster, READ_GOAL};

/// So long before an instant, or before it has to be read what is due at it, nothing is planned any more.
const PLANNED_BEFORE: SignedDuration = SignedDuration::from_millis(120);

/// A task that plans has so long, if nothing is to be held soon.
pub(crate) const BESIDE_FOR: SignedDuration = SignedDuration::from_millis(300);

/// Whose turn it is before an instant that is mustered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Plans, whatever they are: nothing would have to be read again for them.
    Plans,
    /// Plans that concern no verdict for this instant.
    QuietPlans(Timestamp),
    /// Plans that are made by a task of their own, begun before this instant; what is held is spared.
    BesidePlans(Timestamp),
    /// Plans wait until then.
    Wait(Timestamp),
}

impl Muster {
    /// Whether plans come before the next instant, where a batch of them takes so long.
    pub(crate) fn turn(&self, now: Timestamp, due: Option<Timestamp>, takes: SignedDuration) -> Turn {
        if self.known.is_guarded {
            return self.turn_beside(now, due, takes);
        }
        let is_large = self.known.is_counted && self.known.found >= READ_GOAL;
        let at = match self.moment {
            Some(_) => Some(self.at),
            None => due.filter(|_| is_large),
        };
        let Some(at) = at.filter(|at| *at > now) else { return Turn::Plans };
        let left = at.duration_since(now);
        let is_near = left <= self.ahead(AHEAD_BUSY);
        if !self.known.is_counted {
            return if is_near { Turn::Wait(at) } else { Turn::Plans };
        }
        // What has begun to be read is read first: whatever takes longer than usual then does so beside what is ready.
        if self.moment.is_some() && !self.left.is_empty() {
            return Turn::Wait(now.saturating_add(LOOK_AGAIN).unwrap_or(at).min(at));
        }
        let (is_ready, reading) = match self.moment {
            Some(_) => (true, SignedDuration::ZERO),
            None => (false, self.ahead(AHEAD_BUSY)),
        };
        match left > reading + takes + PLANNED_BEFORE {
            true if is_near && is_ready => Turn::QuietPlans(at),
            true => Turn::Plans,
            false if is_ready => Turn::Wait(at),
            // Until it is.
            false => Turn::Wait(now.saturating_add(LOOK_AGAIN).unwrap_or(at).min(at)),
        }
    }

    /// The same where plans are made beside the loop: until the next herd is to be held, and of what it spares even then.
    fn turn_beside(&self, now: Timestamp, due: Option<Timestamp>, takes: SignedDuration) -> Turn {
        let at = self.moment.map(|_| self.at).or(due).filter(|at| *at > now);
        let Some(at) = at.filter(|_| self.known.found >= HELD_MIN) else { return self.any_plans(now) };
        if !self.ready.is_empty() {
            return Turn::BesidePlans(at);
        }
        let hold_from = hold_from(at, self.known.found) - takes;
        match now < hold_from {
            true => Turn::BesidePlans(hold_from),
            false => Turn::Wait(now.saturating_add(LOOK_AGAIN).unwrap_or(at).min(at)),
        }
    }

    /// Plans of whatever wants it.
    pub(crate) fn any_plans(&self, now: Timestamp) -> Turn {
        match self.known.is_guarded {
            true => Turn::BesidePlans(now.saturating_add(BESIDE_FOR).unwrap_or(Timestamp::MAX)),
            false => Turn::Plans,
        }
    }
}
