//! Wake: sleep until something may be due. A wake carries no data: it says "look", never "do X".

use std::time::Duration;

use jiff::Timestamp;
use punctual_store::Store;
use tokio::sync::watch;

use crate::Clock;

/// The longest sleep: a clock that was set, or a machine that was suspended, is noticed within this time.
pub(crate) const TICK: Duration = Duration::from_millis(1_000);

/// Why the sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// Something may be due.
    Look,
    /// Another process changed the database: its ticks may be nearer than the known ones.
    Changed,
    /// The engine was asked to stop.
    Stop,
}

/// Sleeps until `next`, a change, a stop, or [`TICK`].
pub(crate) async fn wait<S: Store, C: Clock>(
    store: &S,
    clock: &C,
    stop: &mut watch::Receiver<bool>,
    next: Option<Timestamp>,
) -> Wake {
    let until_next = next.map_or(TICK, |next| {
        Duration::try_from(next.duration_since(clock.now())).unwrap_or(Duration::ZERO).min(TICK)
    });
    tokio::select! {
        biased;
        // A dropped sender means that nobody is left to want the engine.
        _ = stop.wait_for(|stopped| *stopped) => Wake::Stop,
        () = store.changed() => Wake::Changed,
        () = clock.sleep(until_next) => Wake::Look,
    }
}
