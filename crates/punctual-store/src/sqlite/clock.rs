//! The clock of a file: the host's, or the one that a simulation goes by.

use std::fmt;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;

/// What a simulation's clock shows.
type Shows = Box<dyn Fn() -> Timestamp + Send + Sync>;

/// Tells the time; clones are the same clock.
#[derive(Clone, Default)]
pub(super) struct Clock(Arc<OnceLock<Shows>>);

impl Clock {
    /// Goes by another clock from now on; the first one stays.
    pub(super) fn go_by(&self, shows: impl Fn() -> Timestamp + Send + Sync + 'static) {
        // Whoever comes second finds the clock set, as said above.
        let _ = self.0.set(Box::new(shows));
    }

    /// The present, in the precision that the database keeps.
    pub(super) fn now(&self) -> Timestamp {
        self.0.get().map_or_else(host, |shows| crate::to_microsecond(shows()))
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").finish_non_exhaustive()
    }
}

/// The host's clock.
pub(super) fn host() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let micros = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX)
}
