//! Clocks: the only place that asks what time it is. Sleeping is tokio's, so that a paused runtime gives virtual time.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_store::to_microsecond;
use rustix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

/// A clock that the engine lives by.
pub trait Clock: Send + Sync + 'static {
    /// The present, in the precision that the ledger keeps. It may be set forward and backward.
    fn now(&self) -> Timestamp;

    /// Time since some fixed moment, also while the machine is suspended; it is never set.
    fn uptime(&self) -> Duration;

    /// Time since some fixed moment that stands still while the machine is suspended, as timers do.
    fn awake(&self) -> Duration;

    /// Whether it goes as the system does. Then a short sleep of the system may end one of tokio's, whose timers go by
    /// milliseconds.
    fn is_systems(&self) -> bool {
        false
    }
}

/// The clock of the host.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        to_microsecond(Timestamp::now())
    }

    fn uptime(&self) -> Duration {
        read(ClockId::Boottime)
    }

    fn awake(&self) -> Duration {
        read(ClockId::Monotonic)
    }

    fn is_systems(&self) -> bool {
        true
    }
}

fn read(clock: ClockId) -> Duration {
    let now = clock_gettime(clock);
    Duration::new(
        u64::try_from(now.tv_sec).unwrap_or_default(),
        u32::try_from(now.tv_nsec).unwrap_or_default(),
    )
}

/// A clock that goes as tokio's does and can be set: with a paused runtime, hours pass in no time.
///
/// ```
/// use punctual_engine::{Clock, VirtualClock};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
/// let clock = VirtualClock::at("2026-01-01T10:00:00Z".parse()?);
/// tokio::time::sleep(std::time::Duration::from_secs(3_600)).await;
/// assert_eq!(clock.now(), "2026-01-01T11:00:00Z".parse()?);
/// clock.step(jiff::SignedDuration::from_secs(-60));
/// assert_eq!(clock.now(), "2026-01-01T10:59:00Z".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct VirtualClock {
    began: Instant,
    face: Mutex<Face>,
}

/// What differs from the runtime's own time.
#[derive(Clone, Copy, Debug)]
struct Face {
    /// What the wall showed when `since` was.
    wall: Timestamp,
    /// From when on the wall goes by this face.
    since: Instant,
    /// Millionths that the wall goes too fast, or too slow.
    drift_ppm: i32,
    suspended: Duration,
}

impl VirtualClock {
    /// A clock that shows `wall` now. It must be made inside a tokio runtime.
    pub fn at(wall: Timestamp) -> Self {
        let (since, wall) = (Instant::now(), to_microsecond(wall));
        Self { began: since, face: Mutex::new(Face { wall, since, drift_ppm: 0, suspended: Duration::ZERO }) }
    }

    /// Sets the wall forward or backward, as an administrator or NTP does.
    pub fn step(&self, by: SignedDuration) {
        self.change(|face| face.wall = face.wall.saturating_add(by).unwrap_or(face.wall));
    }

    /// Lets the wall go too fast by so many millionths, or too slow.
    pub fn drift(&self, ppm: i32) {
        self.change(|face| face.drift_ppm = ppm);
    }

    /// Lets the machine have been suspended: the wall has gone on and timers have not.
    pub fn suspend(&self, duration: Duration) {
        self.change(|face| {
            face.suspended += duration;
            face.wall = face.wall.saturating_add(duration).unwrap_or(face.wall);
        });
    }

    fn change(&self, change: impl FnOnce(&mut Face)) {
        let mut face = self.face.lock().unwrap_or_else(PoisonError::into_inner);
        face.wall = face.now();
        face.since = Instant::now();
        change(&mut face);
        face.wall = to_microsecond(face.wall);
    }

    fn face(&self) -> Face {
        *self.face.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Face {
    fn now(&self) -> Timestamp {
        // Clocks are asked more often than anything else happens in a simulation, and most of them are right.
        let real = self.since.elapsed();
        let micros = i64::try_from(real.as_secs()).unwrap_or(i64::MAX).saturating_mul(1_000_000);
        let real = micros.saturating_add(i64::from(real.subsec_micros()));
        let gained = match self.drift_ppm {
            0 => 0,
            ppm => i64::try_from(i128::from(real) * i128::from(ppm) / 1_000_000).unwrap_or_default(),
        };
        let drifted = real.saturating_add(gained);
        let wall = self.wall.as_microsecond().saturating_add(drifted);
        Timestamp::from_microsecond(wall).unwrap_or(Timestamp::MAX)
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        self.face().now()
    }

    fn uptime(&self) -> Duration {
        self.began.elapsed() + self.face().suspended
    }

    fn awake(&self) -> Duration {
        self.began.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clocks_of_the_host_go_forward() {
        let (awake, uptime) = (SystemClock.awake(), SystemClock.uptime());
        assert!(uptime >= awake, "suspend is counted by one of them");
        assert!(SystemClock.uptime() >= uptime && SystemClock.awake() >= awake);
    }

    #[tokio::test(start_paused = true)]
    async fn a_virtual_clock_can_be_set_drift_and_sleep() {
        let start = "2026-01-01T10:00:00Z".parse().unwrap();
        let clock = VirtualClock::at(start);
        clock.drift(1_000);
        tokio::time::advance(Duration::from_secs(100)).await;
        assert_eq!(clock.now().duration_since(start), SignedDuration::from_millis(100_100));
        clock.drift(0);
        clock.suspend(Duration::from_secs(60));
        assert_eq!(clock.uptime() - clock.awake(), Duration::from_secs(60));
        assert_eq!(clock.now().duration_since(start), SignedDuration::from_millis(160_100));
    }
}
