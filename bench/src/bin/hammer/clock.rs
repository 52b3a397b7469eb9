//! A virtual clock in whole seconds: it goes on when every task has done what there was to do.

use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use tokio::sync::watch;

/// The clock of all tasks.
pub(crate) struct Clock {
    second: watch::Sender<i64>,
    /// The last second in which each task ran out of work.
    idle: Vec<AtomicI64>,
}

impl Clock {
    pub(crate) fn new(from: i64, tasks: u16) -> Self {
        Self { second: watch::Sender::new(from), idle: (0..tasks).map(|_| AtomicI64::new(0)).collect() }
    }

    /// The present.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_second(*self.second.borrow()).expect("a second of this century is an instant")
    }

    /// A task has nothing left to do at `now`; waits for the next second.
    pub(crate) async fn rest(&self, task: u16, now: Timestamp) {
        let second = now.as_second();
        self.idle[usize::from(task)].store(second, Ordering::SeqCst);
        if self.idle.iter().all(|idle| idle.load(Ordering::SeqCst) >= second) {
            self.second.send_if_modified(|present| {
                let is_first = *present == second;
                *present += i64::from(is_first);
                is_first
            });
        }
        self.after(now).await;
    }

    /// Waits for a later second.
    pub(crate) async fn after(&self, now: Timestamp) {
        let mut seen = self.second.subscribe();
        // The clock lives as long as its tasks.
        let _ = seen.wait_for(|second| *second > now.as_second()).await;
    }
}
