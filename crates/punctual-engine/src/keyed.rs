//! Maps by numbers that the database gives out: they need no protection from those who choose keys, and there are very
//! many of them in a herd.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by keys of the database.
pub(crate) type ByKey<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// Mixes a few numbers by multiplication.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mix(u64);

/// An odd number without a pattern: the golden ratio's fraction.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Mix {
    fn add(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(29) ^ number).wrapping_mul(ODD);
    }
}

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.add(u64::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.add(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    fn write_i64(&mut self, number: i64) {
        self.add(number.cast_unsigned());
    }

    fn finish(&self) -> u64 {
        // The map takes its places from the low bits, and its marks from the high ones.
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn keys_in_a_row_are_spread_over_the_places_and_the_marks() {
        let hasher = BuildHasherDefault::<Mix>::default();
        let hashes: Vec<u64> = (0..4_096_i64).map(|key| hasher.hash_one((key, 1_u32))).collect();
        let places: HashSet<u64> = hashes.iter().map(|hash| hash % 4_096).collect();
        let marks: HashSet<u64> = hashes.iter().map(|hash| hash >> 57).collect();
        assert!(places.len() > 2_000 && marks.len() > 100, "{} and {}", places.len(), marks.len());
    }
}
