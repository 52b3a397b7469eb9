//! Dice: every decision of a story comes from its seed.

/// A small generator (SplitMix64), the same on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Dice of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Dice for one thing among many of a story: the same, whatever else happens in it.
    pub(crate) fn of(seed: u64, thing: u64) -> Self {
        let mut dice = Self(seed ^ thing.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        dice.next();
        dice
    }

    /// Any number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one.
    pub(crate) fn below(&mut self, sides: u64) -> u64 {
        self.next() % sides.max(1)
    }

    /// A number between two, both included.
    pub(crate) fn between(&mut self, least: i64, most: i64) -> i64 {
        let sides = u64::try_from(most - least).unwrap_or_default() + 1;
        least + i64::try_from(self.below(sides)).unwrap_or_default()
    }

    /// Whether something happens that does so often, of a hundred times.
    pub(crate) fn happens(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub(crate) fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        let place = usize::try_from(self.below(of.len() as u64)).unwrap_or_default();
        of[place].clone()
    }
}
