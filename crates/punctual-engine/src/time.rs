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

/// An answer that took longer than this may be old: the node stood still, or the line did. What was known before counts
/// for more, as long as the answer does not contradict it.
const SLOW: SignedDuration = NOTABLE;

/// How often the database is asked by a node that knows nothing yet, until an answer is quick.
const ASKS_MAX: usize = 3;

/// What is known wears off by one part of so many: no clock that is worth its name gains more on another one.
const WEAR: i64 = 1_000;

/// Nothing is known yet.
const NEVER: i64 = i64::MIN;

/// The present by the clock that decides. It goes by the node's clock that is never set, from what the database said
/// last: a wall that somebody sets, here, moves no tick.
#[derive(Debug)]
pub(crate) struct Time<C> {
    clock: Arc<C>,
    /// What the database's clock is ahead of the node's uptime, in microseconds.
    ahead_us: AtomicI64,
    /// By the node's uptime, when that was known.
    known_us: AtomicI64,
}

/// A question to the database's clock, by both clocks of the node.
#[derive(Clone, Copy, Debug)]
struct Question {
    wall: Timestamp,
    uptime_us: i64,
}

impl<C: Clock> Time<C> {
    pub(crate) fn new(clock: Arc<C>) -> Self {
        let (now, uptime_us) = (clock.now(), uptime_us(&*clock));
        let ahead_us = AtomicI64::new(now.as_microsecond().saturating_sub(uptime_us));
        Self { clock, ahead_us, known_us: AtomicI64::new(NEVER) }
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
        let believed = self.now();
        let since = self.uptime_us();
        for _ in 0..ASKS_MAX {
            let knew = self.known_us.load(Ordering::Relaxed) != NEVER;
            let asked = self.question();
            let database = store.now().await?;
            let answered = self.question();
            self.heard(database, asked, answered);
            if knew || took(asked, answered) <= SLOW {
                break;
            }
        }
        let passed = SignedDuration::from_micros(self.uptime_us().saturating_sub(since));
        Ok(self.now().duration_since(believed) - passed)
    }

    /// Takes over what the database's clock showed between two moments of the node's.
    fn heard(&self, database: Timestamp, asked: Question, answered: Question) {
        // A quick answer between question and reply is the same clock. Otherwise it was given at the latest when it
        // arrived, so this is never ahead of the database: nothing is admitted early.
        let is_quick = answered.wall.duration_since(asked.wall) <= SAME_WITHIN;
        let is_same = is_quick && asked.wall <= database && database <= answered.wall;
        if is_same || !holds(Rule::DatabaseClock) {
            return self.set(answered.wall.as_microsecond() - answered.uptime_us, answered);
        }
        let least = database.as_microsecond().saturating_sub(answered.uptime_us);
        let most = database.as_microsecond().saturating_sub(asked.uptime_us);
        let is_slow = took(asked, answered) > SLOW && holds(Rule::OldAnswersAreOld);
        let kept = self.worn(answered).filter(|_| is_slow);
        self.set(kept.filter(|kept| (least..=most).contains(kept)).unwrap_or(least), answered);
    }

    /// What was known before, as far as it can still be relied on.
    fn worn(&self, now: Question) -> Option<i64> {
        let known_us = self.known_us.load(Ordering::Relaxed);
        let wear = now.uptime_us.saturating_sub(known_us) / WEAR;
        (known_us != NEVER).then(|| self.ahead_us.load(Ordering::Relaxed).saturating_sub(wear))
    }

    /// The database's clock is so far ahead of the node's uptime.
    fn set(&self, ahead_us: i64, known: Question) {
        self.ahead_us.store(ahead_us, Ordering::Relaxed);
        self.known_us.store(known.uptime_us, Ordering::Relaxed);
    }

    fn question(&self) -> Question {
        Question { wall: self.clock.now(), uptime_us: self.uptime_us() }
    }

    fn uptime_us(&self) -> i64 {
        uptime_us(&*self.clock)
    }
}

fn uptime_us<C: Clock>(clock: &C) -> i64 {
    i64::try_from(clock.uptime().as_micros()).unwrap_or(i64::MAX)
}

/// How long an answer took.
fn took(asked: Question, answered: Question) -> SignedDuration {
    SignedDuration::from_micros(answered.uptime_us.saturating_sub(asked.uptime_us))
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
        let asked = time.question();
        tokio::time::advance(Duration::from_millis(10)).await;
        let answered = time.question();
        let ms = SignedDuration::from_millis;
        for (database, ahead) in [
            (asked.wall + ms(4), ms(0)),
            (asked.wall + ms(2_000), ms(1_990)),
            (asked.wall - ms(2_000), ms(-2_010)),
        ] {
            time.heard(database, asked, answered);
            assert_eq!(time.now().duration_since(clock.now()), ahead, "{database}");
        }
        // A clock that is 200 ms ahead is not taken for the database's because the answer was slow.
        tokio::time::advance(Duration::from_millis(300)).await;
        time.heard(clock.now() - ms(200), answered, time.question());
        assert_eq!(time.ahead(), ms(-200));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_was_long_on_its_way_does_not_set_the_present_back() {
        let clock = Arc::new(VirtualClock::at("2026-01-01T10:00:00Z".parse().unwrap()));
        let time = Time::new(Arc::clone(&clock));
        let secs = SignedDuration::from_secs;
        time.heard(clock.now() + secs(60), time.question(), time.question());
        assert_eq!(time.ahead(), secs(60));
        // The process was stopped between the answer and its arrival.
        let (asked, database) = (time.question(), clock.now() + secs(60));
        tokio::time::advance(Duration::from_secs(1_000)).await;
        time.heard(database, asked, time.question());
        assert_eq!(time.ahead(), secs(59), "it has worn off by a thousandth, no more");
        // The database's clock was set back meanwhile: what was known cannot be.
        let asked = time.question();
        tokio::time::advance(Duration::from_secs(100)).await;
        time.heard(clock.now() - secs(300), asked, time.question());
        assert_eq!(time.ahead(), secs(-300));
        // The first answer of all is all there is to go by.
        let time = Time::new(Arc::clone(&clock));
        let (asked, database) = (time.question(), clock.now());
        tokio::time::advance(Duration::from_secs(100)).await;
        time.heard(database, asked, time.question());
        assert_eq!(time.ahead(), secs(-100));
    }
}
