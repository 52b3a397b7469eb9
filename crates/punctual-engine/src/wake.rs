//! Wake: sleep until something may be due. A wake carries no data: it says "look", never "do X".

use std::time::Duration;

use punctual_store::Store;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::{Pulse, Tuning};

/// Why the sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// Something may be due.
    Look,
    /// A run ended: ticks may be nearer than the known ones.
    Settled,
    /// Somebody else changed the database.
    Changed,
    /// The engine is to work in another way.
    Tuned,
    /// The engine was asked to stop.
    Stop,
}

/// How long to sleep.
pub(crate) struct Sleep {
    /// Not longer than this.
    pub(crate) at_most: Duration,
    /// When a change may end it.
    pub(crate) changes_from: Instant,
}

/// What may end a sleep before its time.
pub(crate) struct Signals<'a> {
    /// The wish that the engine stop.
    pub(crate) stop: &'a mut watch::Receiver<bool>,
    /// How the engine is to work.
    pub(crate) tuning: &'a mut watch::Receiver<Tuning>,
    /// The end of a run.
    pub(crate) settled: &'a Notify,
    /// A change by somebody else in this process.
    pub(crate) pulse: &'a Pulse,
}

/// The least time between two looks because of changes: many small ones in a row are one reason to look, and looking
/// costs what each of them does.
pub(crate) const CHANGES_EVERY: Duration = Duration::from_millis(5);

/// Sleeps for `at_most`, or until a change or a stop. Changes are heard from `changes_from` on; none is lost.
pub(crate) async fn wait<S: Store>(store: &S, signals: Signals<'_>, sleep: Sleep) -> Wake {
    let Sleep { at_most, changes_from } = sleep;
    let changed = async {
        tokio::time::sleep_until(changes_from).await;
        tokio::select! {
            () = signals.pulse.changed() => {}
            () = store.changed() => {}
        }
    };
    tokio::select! {
        biased;
        // A dropped sender means that nobody is left to want the engine.
        _ = signals.stop.wait_for(|stopped| *stopped) => Wake::Stop,
        // The engine has the sender itself, so it never goes away.
        Ok(()) = signals.tuning.changed() => Wake::Tuned,
        () = signals.settled.notified() => Wake::Settled,
        () = changed => Wake::Changed,
        () = tokio::time::sleep(at_most) => Wake::Look,
    }
}
