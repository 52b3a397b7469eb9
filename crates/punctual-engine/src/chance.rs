//! Chance: where random numbers come from, so that a seed can decide them.

use std::sync::{Arc, Mutex, PoisonError};

use punctual_plan::Trace;
use uuid::Uuid;

/// A source of ids that nobody else has; clones share it.
///
/// ```
/// use punctual_engine::Chance;
///
/// assert_eq!(Chance::seeded(7).id(), Chance::seeded(7).id());
/// assert_ne!(Chance::seeded(7).id(), Chance::seeded(8).id());
/// assert_ne!(Chance::of_host().id(), Chance::of_host().id());
/// ```
#[derive(Clone, Debug)]
pub struct Chance(Arc<Source>);

#[derive(Debug)]
struct Source {
    /// Where ids come from, which nobody may guess.
    ids: Ids,
    /// Numbers that only have to differ, for which the host would be asked too often.
    numbers: Mutex<u64>,
}

#[derive(Debug)]
enum Ids {
    Host,
    Seeded,
}

impl Chance {
    /// What the host offers.
    pub fn of_host() -> Self {
        let (seed, _) = Uuid::new_v4().as_u64_pair();
        Self(Arc::new(Source { ids: Ids::Host, numbers: Mutex::new(seed) }))
    }

    /// A sequence that the seed decides.
    pub fn seeded(seed: u64) -> Self {
        Self(Arc::new(Source { ids: Ids::Seeded, numbers: Mutex::new(seed) }))
    }

    /// A new id.
    pub fn id(&self) -> Uuid {
        match self.0.ids {
            Ids::Host => Uuid::new_v4(),
            Ids::Seeded => {
                let (high, low) = (self.number(), self.number());
                uuid::Builder::from_random_bytes((u128::from(high) << 64 | u128::from(low)).to_be_bytes())
                    .into_uuid()
            }
        }
    }

    /// A new trace.
    ///
    /// ```
    /// use punctual_engine::Chance;
    ///
    /// assert_eq!(Chance::seeded(7).trace(), Chance::seeded(7).trace());
    /// assert_ne!(Chance::of_host().trace().id(), Chance::of_host().trace().id());
    /// ```
    pub fn trace(&self) -> Trace {
        let (high, low, parent) = (self.number(), self.number(), self.number());
        Trace::new(u128::from(high) << 64 | u128::from(low), parent)
    }

    fn number(&self) -> u64 {
        next(&mut self.0.numbers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// SplitMix64: small, and every seed gives another sequence.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
