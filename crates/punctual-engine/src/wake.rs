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
    /// Whether it shall end within the millisecond: many wait for it.
    pub(crate) is_sharp: bool,
}

/// What may end a sleep before its time.
pub(crate) struct Signals<'a> {
    /// The wish that the engine stop.
    pub(crate) stop: &'a mut watch::Receiver<bool>,
    /// How the engine is to work.
    pub(crate) tuning: &'a mut watch::Receiver<Tuning>,
    /// The end of a run.
    pub(crate) settled: &'a Notify,
    /// The end of plans that were made beside the loop.
    pub(crate) planned: &'a Notify,
    /// A change by somebody else in this process.
    pub(crate) pulse: &'a Pulse,
}

/// The least time between two looks because of changes: many small ones in a row are one reason to look, and looking
/// costs what each of them does.
pub(crate) const CHANGES_EVERY: Duration = Duration::from_millis(5);

/// The last of a sharp sleep is the system's: longer than tokio's timers are late, and than a thread takes to begin.
const SHARP: Duration = Duration::from_millis(3);

/// Sleeps for as long as is asked for; if it is to be sharp, to a fraction of a millisecond.
async fn nap(Sleep { at_most, is_sharp, .. }: Sleep) {
    if !is_sharp {
        return tokio::time::sleep(at_most).await;
    }
    let until = Instant::now() + at_most;
    tokio::time::sleep(at_most.saturating_sub(SHARP)).await;
    let slept = tokio::task::spawn_blocking(move || {
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
    });
    // A runtime that ends does not wait for it, and nobody does here.
    let _ = slept.await;
}

/// Sleeps for `at_most`, or until a change or a stop. Changes are heard from `changes_from` on; none is lost.
pub(crate) async fn wait<S: Store>(store: &S, signals: Signals<'_>, sleep: Sleep) -> Wake {
    let changes_from = sleep.changes_from;
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
        () = signals.planned.notified() => Wake::Look,
        () = changed => Wake::Changed,
        () = nap(sleep) => Wake::Look,
    }
}
