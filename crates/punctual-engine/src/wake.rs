//! Wake: sleep until something may be due. A wake carries no data: it says "look", never "do X".

use std::time::Duration;

use jiff::Timestamp;
use punctual_store::Store;
use tokio::sync::{Notify, watch};

use crate::Clock;

/// The longest sleep: a clock that was set, or a machine that was suspended, is noticed within this time.
pub(crate) const TICK: Duration = Duration::from_millis(1_000);

/// Why the sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// Something may be due.
    Look,
    /// Another process changed the database, or a run ended: ticks may be nearer than the known ones.
    Changed,
    /// The engine was asked to stop.
    Stop,
}

/// What may end a sleep before its time.
pub(crate) struct Signals<'a> {
    /// The wish that the engine stop.
    pub(crate) stop: &'a mut watch::Receiver<bool>,
    /// The end of a run.
    pub(crate) settled: &'a Notify,
}

/// Sleeps until `next`, a change, a stop, or [`TICK`].
pub(crate) async fn wait<S: Store, C: Clock>(
    store: &S,
    clock: &C,
    signals: Signals<'_>,
    next: Option<Timestamp>,
) -> Wake {
    let until_next = next.map_or(TICK, |next| {
        Duration::try_from(next.duration_since(clock.now())).unwrap_or(Duration::ZERO).min(TICK)
    });
    tokio::select! {
        biased;
        // A dropped sender means that nobody is left to want the engine.
        _ = signals.stop.wait_for(|stopped| *stopped) => Wake::Stop,
        () = signals.settled.notified() => Wake::Changed,
        () = store.changed() => Wake::Changed,
        () = clock.sleep(until_next) => Wake::Look,
    }
}
