//! Batches: every write has an id, and one whose answer was lost is repeated under it.

use jiff::Timestamp;
use punctual_plan::Fence;
use punctual_plan::rule::{Rule, holds};
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
        mut batch: Batch,
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
            if !holds(Rule::SameIdAgain) {
                batch = self.batch(batch.fence, batch.now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_unanswered_commit_is_repeated_with_its_id() {
        let (sender, mut ids) = (Sender::new(Chance::seeded(7)), Vec::new());
        let sent = sender.send(Fence(1), Timestamp::UNIX_EPOCH, |batch| {
            ids.push(batch.id);
            let is_heard = ids.len() > 2;
            async move { is_heard.then_some(()).ok_or(Error::Unanswered { doing: "committing" }) }
        });
        sent.await.unwrap();
        assert_eq!(ids, [ids[0]; 3]);
    }
}
