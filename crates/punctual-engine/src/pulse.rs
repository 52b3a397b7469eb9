//! Pulse: what others in the process may know of a running node, and how they wake it.

use std::sync::atomic::{AtomicBool, Ordering};

use punctual_plan::Fence;
use tokio::sync::{Notify, watch};

/// Whether a node is ready, and a way to wake it.
#[derive(Debug, Default)]
pub struct Pulse {
    is_leased: AtomicBool,
    has_planned: AtomicBool,
    changed: Notify,
    news: watch::Sender<()>,
}

/// Hears of work that came for others after it was made: runs in a queue, messages in the outbox.
#[derive(Debug)]
pub struct News(watch::Receiver<()>);

impl News {
    /// Resolves when there is something; at once, if there was since.
    pub async fn heard(mut self) {
        // A node that is gone says nothing more.
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Pulse {
    /// Why the node does not do its work now, if it does not.
    ///
    /// ```
    /// assert_eq!(punctual_engine::Pulse::default().unready(), Some("the node has no certain lease"));
    /// ```
    pub fn unready(&self) -> Option<&'static str> {
        if !self.is_leased.load(Ordering::Relaxed) {
            return Some("the node has no certain lease");
        }
        (!self.has_planned.load(Ordering::Relaxed)).then_some("the node has not planned yet")
    }

    /// Tells the node that its own process has changed the database: a store tells only of changes by others.
    pub fn wake(&self) {
        self.changed.notify_one();
    }

    /// What will have come for others from now on. It is made before one looks, so that nothing is missed between.
    pub fn news(&self) -> News {
        News(self.news.subscribe())
    }

    /// There is something for others to take.
    pub(crate) fn tell(&self) {
        self.news.send_replace(());
    }

    /// The node has looked at its lease.
    pub(crate) fn leased(&self, certain: Option<Fence>) {
        self.is_leased.store(certain.is_some(), Ordering::Relaxed);
    }

    pub(crate) fn planned(&self) {
        self.has_planned.store(true, Ordering::Relaxed);
    }

    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}
