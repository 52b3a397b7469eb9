//! Dice: numbers that a seed decides, the same on every machine.

use jiff::SignedDuration;

/// A generator of its own (splitmix64): a seed that fails today fails tomorrow.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound.
    pub(crate) fn below(&mut self, bound: i64) -> i64 {
        (self.roll() % bound.max(1).unsigned_abs()).cast_signed()
    }

    /// Whether something of so many percent happens.
    pub(crate) fn percent(&mut self, percent: i64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as i64) as usize]
    }

    /// Up to so many seconds.
    pub(crate) fn seconds(&mut self, bound: i64) -> SignedDuration {
        SignedDuration::from_secs(self.below(bound))
    }
}
