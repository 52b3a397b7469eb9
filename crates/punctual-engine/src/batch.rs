//! Batches: every write has an id, and one whose answer was lost is repeated under it.

use jiff::Timestamp;
use punctual_plan::Fence;
use punctual_store::{Batch, BatchId, Error};

use crate::Chance;

/// How often an unanswered commit is repeated before it is reported.
const REPEATS_MAX: usize = 3;

/// Sends the writes of a node.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    chance: Chance,
}

impl Sender {
    pub(crate) fn new(chance: Chance) -> Self {
        Self { chance }
    }

    /// Where its ids come from.
    pub(crate) fn chance(&self) -> &Chance {
        &self.chance
    }

    /// Sends a write; if its answer is lost it is sent again with the same id, which the database does once.
    pub(crate) async fn send<T, F>(
        &self,
        fence: Fence,
        now: Timestamp,
        write: impl FnMut(Batch) -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        self.repeat(self.batch(fence, now), write).await
    }

    /// A batch with an id of its own.
    pub(crate) fn batch(&self, fence: Fence, now: Timestamp) -> Batch {
        Batch { id: BatchId(self.chance.id()), fence, now }
    }

    /// Sends a batch until it is answered.
    pub(crate) async fn repeat<T, F>(
        &self,
        batch: Batch,
        mut write: impl FnMut(Batch) -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let mut repeats = 0;
        loop {
            match write(batch).await {
                Err(Error::Unanswered { .. }) if repeats < REPEATS_MAX => repeats += 1,
                other => return other,
            }
        }
    }
}
