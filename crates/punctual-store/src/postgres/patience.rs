//! Patience: one transaction at a time for what callers share, and a second one if the first takes long.
//!
//! Whoever comes while one is under way is in the next, so the more callers there are the more they share. But one that waits
//! for another's row, or for a slow disk, must not hold up everybody.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::Error;

/// A transaction that takes longer than this is not waited for: longer than most, shorter than anybody notices.
const PATIENCE: Duration = Duration::from_millis(10);

/// Turns of those who share.
pub(super) struct Turns {
    usual: Semaphore,
    /// For those who have waited long.
    spare: Semaphore,
}

impl Default for Turns {
    fn default() -> Self {
        Self { usual: Semaphore::new(1), spare: Semaphore::new(1) }
    }
}

impl Turns {
    /// Waits for a turn, which is over when it is dropped.
    pub(super) async fn next(&self) -> Result<SemaphorePermit<'_>, Error> {
        let late = async {
            tokio::time::sleep(PATIENCE).await;
            self.spare.acquire().await
        };
        let turn = tokio::select! {
            biased;
            turn = self.usual.acquire() => turn,
            turn = late => turn,
        };
        turn.map_err(|_| Error::Closed)
    }
}
