//! Numbers that a seed decides.

use std::time::Duration;

/// Throws numbers.
pub(super) struct Dice(u64);

impl Dice {
    /// The same seed gives the same numbers.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// One of so many, from 0.
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides.max(1)
    }

    /// A time between two.
    pub(super) fn time(&mut self, least: Duration, most: Duration) -> Duration {
        let span = u64::try_from((most - least).as_micros()).unwrap_or(u64::MAX);
        least + Duration::from_micros(self.roll(span))
    }
}
