//! Pace: how far ahead an installation plans, and how fast it makes up what was missed.

use jiff::SignedDuration;

use crate::limit::{CATCH_UP_PER_TICK_MAX, LOOKAHEAD, TICK};

/// The settings of an installation that decisions depend on.
///
/// ```
/// let pace = punctual_plan::Pace::default();
/// assert_eq!((pace.tick.as_millis(), pace.lookahead.as_secs(), pace.catch_up_per_tick_max), (1_000, 60, 100));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The longest sleep of the loop, and the distance between two batches of late ticks.
    pub tick: SignedDuration,
    /// How far ahead ticks become ledger rows.
    pub lookahead: SignedDuration,
    /// Late ticks of one schedule that fire at one wake; never 0.
    pub catch_up_per_tick_max: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self { tick: TICK, lookahead: LOOKAHEAD, catch_up_per_tick_max: CATCH_UP_PER_TICK_MAX }
    }
}

impl Pace {
    /// The delay of a late tick under `run_all`, by its place among those that fire.
    pub(crate) fn batch_delay(&self, place: usize) -> SignedDuration {
        let batch = place / (self.catch_up_per_tick_max.max(1) as usize);
        self.tick * i32::try_from(batch).unwrap_or(i32::MAX)
    }

    /// The delay of a late tick under `spread`, by its place among so many.
    pub(crate) fn spread_delay(&self, place: usize, count: usize) -> SignedDuration {
        let step = self.lookahead.as_micros() * place as i128 / count.max(1) as i128;
        SignedDuration::from_micros(step as i64)
    }
}
