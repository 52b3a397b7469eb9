//! Time: the database's clock as this node knows it, and what happens to the node's own clocks.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::rule::{Rule, holds};
use punctual_store::{Error, Store};

use crate::Clock;

/// A difference between two clocks that is more than the noise of reading them.
const NOTABLE: SignedDuration = SignedDuration::from_millis(500);

/// A question that took longer than this does not tell whether the clocks are one.
const SAME_WITHIN: SignedDuration = SignedDuration::from_millis(20);

/// The present by the clock that decides. It goes by the node's clock that is never set, from what the database said
/// last: a wall that somebody sets, here, moves no tick.
#[derive(Debug)]
pub(crate) struct Time<C> {
    clock: Arc<C>,
    /// What the database's clock is ahead of the node's uptime, in microseconds.
    ahead_us: AtomicI64,
}

impl<C: Clock> Time<C> {
    pub(crate) fn new(clock: Arc<C>) -> Self {
        let time = Self { clock, ahead_us: AtomicI64::new(0) };
        time.set(time.clock.now());
        time
    }

    /// The present, never ahead of the database's clock.
    pub(crate) fn now(&self) -> Timestamp {
        let micros = self.uptime_us().saturating_add(self.ahead_us.load(Ordering::Relaxed));
        Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX)
    }

    /// What the database's clock is ahead of the node's, as far as is known.
    pub(crate) fn ahead(&self) -> SignedDuration {
        self.now().duration_since(self.clock.now())
    }

    pub(crate) fn clock(&self) -> &C {
        &self.clock
    }

    /// Asks the database for its time; gives back by how much the present has moved with the answer.
    pub(crate) async fn ask<S: Store>(&self, store: &S) -> Result<SignedDuration, Error> {
        let asked = self.clock.now();
        let database = store.now().await?;
        let believed = self.now();
        self.heard(database, asked, self.clock.now());
        Ok(self.now().duration_since(believed))
    }

    /// Takes over what the database's clock showed between two moments of the node's.
    fn heard(&self, database: Timestamp, asked: Timestamp, answered: Timestamp) {
        // A quick answer between question and reply is the same clock. Otherwise it was given at the latest when it
        // arrived, so this is never ahead of the database: nothing is admitted early.
        let is_quick = answered.duration_since(asked) <= SAME_WITHIN;
        let is_same = is_quick && asked <= database && database <= answered;
        self.set(if is_same || !holds(Rule::DatabaseClock) { answered } else { database });
    }

    /// It is this late now.
    fn set(&self, now: Timestamp) {
        self.ahead_us.store(now.as_microsecond().saturating_sub(self.uptime_us()), Ordering::Relaxed);
    }

    fn uptime_us(&self) -> i64 {
        i64::try_from(self.clock.uptime().as_micros()).unwrap_or(i64::MAX)
    }
}

/// What has happened to the node's clocks between two looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upset {
    /// The wall was set, forward or backward.
    Step(SignedDuration),
    /// The machine slept.
    Suspend(SignedDuration),
}

/// Compares the clocks at each wake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    wall: Timestamp,
    uptime: Duration,
    awake: Duration,
}

impl Watch {
    pub(crate) fn new<C: Clock>(clock: &C) -> Self {
        Self { wall: clock.now(), uptime: clock.uptime(), awake: clock.awake() }
    }

    /// What has happened since the last look.
    pub(crate) fn look<C: Clock>(&mut self, clock: &C) -> Vec<Upset> {
        let before = std::mem::replace(self, Self::new(clock));
        let signed = |duration: Duration| SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX);
        let up = signed(self.uptime.saturating_sub(before.uptime));
        let awake = signed(self.awake.saturating_sub(before.awake));
        let step = self.wall.duration_since(before.wall) - up;
        let slept = up - awake;
        let suspend = (slept > NOTABLE).then_some(Upset::Suspend(slept));
        suspend.into_iter().chain((step.abs() > NOTABLE).then_some(Upset::Step(step))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VirtualClock;

    #[tokio::test(start_paused = true)]
    async fn steps_and_suspends_are_told_apart() {
        let clock = VirtualClock::at("2026-01-01T10:00:00Z".parse().unwrap());
        let mut watch = Watch::new(&clock);
        tokio::time::advance(Duration::from_secs(3_600)).await;
        assert_eq!(watch.look(&clock), []);
        clock.step(SignedDuration::from_secs(-60));
        assert_eq!(watch.look(&clock), [Upset::Step(SignedDuration::from_secs(-60))]);
        clock.suspend(Duration::from_secs(90));
        assert_eq!(watch.look(&clock), [Upset::Suspend(SignedDuration::from_secs(90))]);
        clock.step(SignedDuration::from_millis(400));
        assert_eq!(watch.look(&clock), []);
    }

    #[tokio::test(start_paused = true)]
    async fn the_present_is_never_ahead_of_the_database() {
        let clock = Arc::new(VirtualClock::at("2026-01-01T10:00:00Z".parse().unwrap()));
        let time = Time::new(Arc::clone(&clock));
        let asked = clock.now();
        tokio::time::advance(Duration::from_millis(10)).await;
        let answered = clock.now();
        let ms = SignedDuration::from_millis;
        for (database, ahead) in
            [(asked + ms(4), ms(0)), (asked + ms(2_000), ms(1_990)), (asked - ms(2_000), ms(-2_010))]
        {
            time.heard(database, asked, answered);
            assert_eq!(time.now().duration_since(clock.now()), ahead, "{database}");
        }
        // A clock that is 200 ms ahead is not taken for the database's because the answer was slow.
        time.heard(answered - ms(200), answered - ms(300), answered);
        assert_eq!(time.ahead(), ms(-200));
    }
}
