//! Which late ticks still fire: the rule of the catch-up policy `skip`.
//!
//! A tick is late, not missed, within the grace period and as long as no later tick of its schedule is
//! due: a restart loses nothing and bursts nothing.

use jiff::Timestamp;

use crate::{GRACE, Reason};

/// A tick that is due, beside what was due with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Late {
    /// The tick itself.
    pub(crate) scheduled_for: Timestamp,
    /// From when its lateness counts.
    pub(crate) fire_at: Timestamp,
    /// The last tick of its schedule that is due at the moment of the decision.
    pub(crate) last_due: Timestamp,
}

impl Late {
    /// Why the tick is missed, or `None` when it still fires.
    pub(crate) fn missed(&self, now: Timestamp) -> Option<Reason> {
        if now.duration_since(self.fire_at) > GRACE {
            return Some(Reason::Outage { until: now, grace_s: GRACE.as_secs() });
        }
        (self.last_due > self.scheduled_for).then_some(Reason::Overtaken { by: self.last_due })
    }
}
