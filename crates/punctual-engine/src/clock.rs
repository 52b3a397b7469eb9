//! The only place that asks what time it is.

use std::future::Future;
use std::time::Duration;

use jiff::Timestamp;
use punctual_store::to_microsecond;

/// A clock that the engine lives by.
pub trait Clock: Send + Sync + 'static {
    /// The present, in the precision that the ledger keeps.
    fn now(&self) -> Timestamp;

    /// Resolves after `duration`, never before.
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send;
}

/// The clock of the host.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        to_microsecond(Timestamp::now())
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
