//! Chance: where random numbers come from, so that a seed can decide them.

use std::sync::{Arc, Mutex, PoisonError};

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
enum Source {
    Host,
    Seeded(Mutex<u64>),
}

impl Chance {
    /// What the host offers.
    pub fn of_host() -> Self {
        Self(Arc::new(Source::Host))
    }

    /// A sequence that the seed decides.
    pub fn seeded(seed: u64) -> Self {
        Self(Arc::new(Source::Seeded(Mutex::new(seed))))
    }

    /// A new id.
    pub fn id(&self) -> Uuid {
        match &*self.0 {
            Source::Host => Uuid::new_v4(),
            Source::Seeded(state) => {
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                let (high, low) = (next(&mut state), next(&mut state));
                uuid::Builder::from_random_bytes((u128::from(high) << 64 | u128::from(low)).to_be_bytes())
                    .into_uuid()
            }
        }
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
