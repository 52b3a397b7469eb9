//! The shape of the storage study that our goals were taken from: one insert and one update per fire, nothing else.
//!
//! It tells how this machine compares with the one of the study. Fires come out of a heap in the order of time, so that
//! schedules are hit in no order; each is set 1 minute to 24 hours ahead.

pub(crate) mod postgres;
pub(crate) mod sqlite;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What each row carries, as long as in the study.
const PAYLOAD_BYTES: usize = 199;

/// One fire: a row, and the schedule's next instant.
#[derive(Clone, Copy)]
pub(crate) struct Fire {
    pub(crate) id: i64,
    pub(crate) planned: i64,
    pub(crate) next: i64,
}

impl Fire {
    /// The unique key, in the order of time.
    pub(crate) fn key(&self) -> [u8; 16] {
        ((self.planned as u128) << 64 | self.id as u128).to_be_bytes()
    }
}

/// What is due next.
pub(crate) struct Fires {
    heap: BinaryHeap<Reverse<(i64, i64)>>,
    chance: u64,
}

impl Fires {
    pub(crate) fn new(heads: impl Iterator<Item = (i64, i64)>) -> Self {
        Self { heap: heads.map(|(id, next)| Reverse((next, id))).collect(), chance: 1 }
    }

    pub(crate) fn batch(&mut self, size: usize) -> Vec<Fire> {
        (0..size).filter_map(|_| self.one()).collect()
    }

    fn one(&mut self) -> Option<Fire> {
        let Reverse((planned, id)) = self.heap.pop()?;
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let ahead = 60 + i64::try_from((self.chance >> 33) % 86_340).unwrap_or_default();
        self.heap.push(Reverse((planned + ahead, id)));
        Some(Fire { id, planned, next: planned + ahead })
    }
}

pub(crate) fn payload() -> String {
    format!("{{\"note\":\"{}\"}}", "x".repeat(PAYLOAD_BYTES - 11))
}
