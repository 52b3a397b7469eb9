//! A ledger without a file: for tests, and for programs that may forget.

use std::sync::Arc;

use punctual_engine::{JournalPlace, MemoryJournal};
use punctual_store::{AnyStore, Error, Memory, Store};
use tokio::sync::Mutex;

use super::clock::Wall;
use super::ledger::Ledger;

/// A ledger that lives as long as the value. Clones are the same ledger; what a scheduler left in it, the next one
/// takes up, as from a file.
///
/// ```
/// use std::time::Duration;
///
/// use punctual::scheduler::MemoryLedger;
/// use punctual::{Scheduler, Task};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), punctual::scheduler::Error> {
/// let ledger = MemoryLedger::new();
/// let task = Task::new("greet", "0 9 * * *", Duration::from_secs(60), |_| async { Ok(()) });
/// let scheduler = Scheduler::builder().memory(&ledger).timezone("UTC").initialize([task]).await?;
/// scheduler.stop().await;
///
/// let other = Task::new("greet", "0 10 * * *", Duration::from_secs(60), |_| async { Ok(()) });
/// assert!(Scheduler::builder().memory(&ledger).timezone("UTC").initialize([other]).await.is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryLedger {
    store: Memory,
    journal: MemoryJournal,
    served: Arc<Mutex<()>>,
}

impl MemoryLedger {
    /// An empty one.
    ///
    /// ```
    /// let ledger = punctual::scheduler::MemoryLedger::new();
    /// # let _ = ledger;
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens it for one scheduler; none while another one runs on it.
    pub(super) async fn open(&self, clock: Wall) -> Result<Option<Ledger>, Error> {
        let Ok(served) = Arc::clone(&self.served).try_lock_owned() else { return Ok(None) };
        let store = self.store.clone();
        // Whoever ran on it before is gone, whether it could say so or not.
        for node in store.nodes().await?.iter().filter(|node| node.left_at.is_none()) {
            store.leave(node.fence).await?;
        }
        Ok(Some(Ledger::new(AnyStore::Memory(store), clock, Some(served))))
    }

    pub(super) fn journal(&self) -> JournalPlace {
        JournalPlace::Memory(self.journal.clone())
    }
}
