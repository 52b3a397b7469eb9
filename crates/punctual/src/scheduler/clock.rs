//! Clocks: the host's, and one that a program's own tests set.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_engine::{Clock, SystemClock, VirtualClock};
use tokio::sync::watch;

/// How long [`TestClock::advance`] goes beyond its aim: timers are a millisecond coarse.
const SETTLE: Duration = Duration::from_millis(5);

/// A clock for tests: in a paused tokio runtime whole days pass in no time, and everything that is due in them happens
/// in its order. Clones are the same clock; it goes on while no scheduler runs.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use std::time::Duration;
///
/// use punctual::scheduler::{MemoryLedger, TestClock};
/// use punctual::{Scheduler, Task};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = TestClock::at("2026-03-01T09:00:00Z".parse()?);
/// let (ledger, calls) = (MemoryLedger::new(), Arc::new(AtomicUsize::new(0)));
/// let task = || {
///     let calls = Arc::clone(&calls);
///     Task::new("report", "0 0,2,4,6,8,10,12,14,16,18,20,22 * * *", Duration::from_secs(60), move |_| {
///         calls.fetch_add(1, Ordering::SeqCst);
///         async { Ok(()) }
///     })
/// };
/// let start = async || Scheduler::builder().memory(&ledger).clock(&clock).timezone("UTC").initialize([task()]).await;
///
/// let scheduler = start().await?;
/// clock.advance(Duration::from_secs(2 * 3_600)).await;
/// assert_eq!(calls.load(Ordering::SeqCst), 1);
/// scheduler.stop().await;
///
/// clock.advance(Duration::from_secs(12 * 3_600)).await;
/// let scheduler = start().await?;
/// clock.advance(Duration::from_secs(60)).await;
/// assert_eq!(calls.load(Ordering::SeqCst), 2, "six ticks were missed, one run makes up for them");
/// scheduler.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct TestClock(Arc<Shown>);

#[derive(Debug)]
struct Shown {
    clock: VirtualClock,
    /// What the last [`TestClock::advance`] aimed at, so that going beyond it does not add up.
    aim: Mutex<Timestamp>,
    /// How often it was set: whoever sleeps by it wakes up then.
    steps: watch::Sender<u64>,
}

impl TestClock {
    /// A clock that shows `now`. It must be made inside a tokio runtime; in one that is not paused it goes as the
    /// host's does.
    ///
    /// ```
    /// use punctual::scheduler::TestClock;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let clock = TestClock::at("2026-03-01T09:00:00Z".parse()?);
    /// assert_eq!(clock.now().to_string(), "2026-03-01T09:00:00Z");
    /// # Ok(())
    /// # }
    /// ```
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(Shown {
            clock: VirtualClock::at(now),
            aim: Mutex::new(now),
            steps: watch::Sender::new(0),
        }))
    }

    /// What it shows.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let clock = punctual::scheduler::TestClock::at("2026-03-01T09:00:00Z".parse()?);
    /// tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    /// assert_eq!(clock.now().to_string(), "2026-03-01T09:01:00Z");
    /// # Ok(())
    /// # }
    /// ```
    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// Lets time pass, and waits until everything is done that became due meanwhile and does not wait itself. The clock
    /// then shows a few milliseconds more; they do not add up.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let clock = punctual::scheduler::TestClock::at("2026-03-01T09:00:00Z".parse()?);
    /// clock.advance(Duration::from_secs(24 * 3_600)).await;
    /// assert_eq!(clock.now().to_string(), "2026-03-02T09:00:00.005Z");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn advance(&self, by: Duration) {
        let aim = {
            let mut aim = self.0.aim.lock().unwrap_or_else(PoisonError::into_inner);
            *aim = aim.saturating_add(by).unwrap_or(Timestamp::MAX);
            *aim
        };
        self.pass_until(aim).await;
    }

    /// Lets time pass until it shows `at`; nothing if it shows a later time already.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let clock = punctual::scheduler::TestClock::at("2026-03-01T09:00:00Z".parse()?);
    /// clock.until("2026-03-29T02:30:00Z".parse()?).await;
    /// assert_eq!(clock.now().to_string(), "2026-03-29T02:30:00.005Z");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn until(&self, at: Timestamp) {
        *self.0.aim.lock().unwrap_or_else(PoisonError::into_inner) = at;
        self.pass_until(at).await;
    }

    /// Sets it forward or backward, as an administrator does: the time between does not pass.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let clock = punctual::scheduler::TestClock::at("2026-03-01T09:00:00Z".parse()?);
    /// clock.set("2026-03-01T08:00:00Z".parse()?);
    /// assert_eq!(clock.now().to_string(), "2026-03-01T08:00:00Z");
    /// # Ok(())
    /// # }
    /// ```
    pub fn set(&self, to: Timestamp) {
        self.0.clock.step(to.duration_since(self.now()));
        *self.0.aim.lock().unwrap_or_else(PoisonError::into_inner) = to;
        self.0.steps.send_modify(|steps| *steps += 1);
    }

    /// Waits until it was set again; gives back how often it was by then.
    pub(super) async fn stepped_since(&self, seen: u64) -> u64 {
        let mut steps = self.0.steps.subscribe();
        let now = steps.wait_for(|steps| *steps != seen).await.map(|steps| *steps);
        // The sender is this clock's own.
        now.unwrap_or(seen)
    }

    async fn pass_until(&self, at: Timestamp) {
        let left = |at: Timestamp| Duration::try_from(at.duration_since(self.now())).unwrap_or_default();
        let settled = at.saturating_add(SignedDuration::try_from(SETTLE).unwrap_or_default());
        let settled = settled.unwrap_or(Timestamp::MAX);
        while left(settled) > Duration::ZERO {
            tokio::time::sleep(left(settled)).await;
        }
    }
}

/// The clock that a scheduler lives by.
#[derive(Clone, Debug, Default)]
pub(super) enum Wall {
    #[default]
    Host,
    Test(TestClock),
}

impl Wall {
    /// How often it was set so far.
    pub(super) fn steps(&self) -> u64 {
        match self {
            Self::Host => 0,
            Self::Test(test) => *test.0.steps.borrow(),
        }
    }
}

impl Clock for Wall {
    fn now(&self) -> Timestamp {
        match self {
            Self::Host => SystemClock.now(),
            Self::Test(test) => test.now(),
        }
    }

    fn uptime(&self) -> Duration {
        match self {
            Self::Host => SystemClock.uptime(),
            Self::Test(test) => test.0.clock.uptime(),
        }
    }

    fn awake(&self) -> Duration {
        match self {
            Self::Host => SystemClock.awake(),
            Self::Test(test) => test.0.clock.awake(),
        }
    }
}
