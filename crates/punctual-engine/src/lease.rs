//! Lease: the node's claim as its own clocks see it. Without it nothing is launched.

use std::sync::MutexGuard;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::Fence;
use punctual_plan::rule::{Rule, holds};

use crate::Clock;
use crate::brief::Brief;

/// How long before its end a lease counts as over: a launch takes its time, and clocks differ.
const MARGIN: SignedDuration = SignedDuration::from_millis(500);

/// A claim that ends by itself.
#[derive(Debug)]
pub(crate) struct Lease(Brief<Held>);

#[derive(Clone, Copy, Debug)]
struct Held {
    fence: Fence,
    /// By the clock that counts suspend.
    until_uptime: Duration,
    /// By the wall, which other nodes see as well.
    until_wall: Timestamp,
}

/// A moment by both clocks that a lease is measured with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    uptime: Duration,
    wall: Timestamp,
}

impl Moment {
    pub(crate) fn of<C: Clock>(clock: &C) -> Self {
        Self { uptime: clock.uptime(), wall: clock.now() }
    }
}

impl Lease {
    /// A claim that begins at `asked`, when the database was asked for it.
    pub(crate) fn new(fence: Fence, asked: Moment, lasts: SignedDuration) -> Self {
        Self(Brief::new(Held::new(fence, asked, lasts)))
    }

    /// The fence under which the node acts.
    pub(crate) fn fence(&self) -> Fence {
        self.held().fence
    }

    /// The claim was renewed, or is another one.
    pub(crate) fn renew(&self, fence: Fence, asked: Moment, lasts: SignedDuration) {
        *self.held() = Held::new(fence, asked, lasts);
    }

    /// The fence, if the claim certainly still holds by both clocks.
    pub(crate) fn certain<C: Clock>(&self, clock: &C) -> Option<Fence> {
        let held = *self.held();
        let is_certain = (clock.uptime() < held.until_uptime || !holds(Rule::LeaseByUptime))
            && (clock.now() < held.until_wall || !holds(Rule::LeaseByTheWall));
        (is_certain || !holds(Rule::LeaseBeforeLaunch)).then_some(held.fence)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock()
    }
}

impl Held {
    fn new(fence: Fence, asked: Moment, lasts: SignedDuration) -> Self {
        let margin = if holds(Rule::LeaseMargin) { MARGIN } else { SignedDuration::ZERO };
        let certain = Duration::try_from(lasts - margin).unwrap_or(Duration::ZERO);
        Self {
            fence,
            until_uptime: asked.uptime + certain,
            until_wall: asked.wall.saturating_add(certain).unwrap_or(Timestamp::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VirtualClock;

    #[tokio::test(start_paused = true)]
    async fn a_lease_is_over_by_either_clock_a_margin_before_its_end() {
        let clock = VirtualClock::at("2026-01-01T10:00:00Z".parse().unwrap());
        let lasts = SignedDuration::from_secs(3);
        let lease = Lease::new(Fence(1), Moment::of(&clock), lasts);
        tokio::time::advance(Duration::from_millis(2_499)).await;
        assert_eq!(lease.certain(&clock), Some(Fence(1)));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(lease.certain(&clock), None);

        lease.renew(Fence(2), Moment::of(&clock), lasts);
        assert_eq!(lease.certain(&clock), Some(Fence(2)));
        clock.suspend(Duration::from_secs(10));
        clock.step(SignedDuration::from_secs(-10));
        assert_eq!(lease.certain(&clock), None, "the wall was set back, the other clock was not");

        lease.renew(Fence(3), Moment::of(&clock), lasts);
        clock.step(SignedDuration::from_secs(10));
        assert_eq!(lease.certain(&clock), None, "by the wall others may have taken over");
    }
}
