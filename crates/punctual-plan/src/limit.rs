//! Every bound of the decisions, by name.

use jiff::SignedDuration;

/// How far ahead ticks become ledger rows, so that nothing is computed at their instant.
pub const LOOKAHEAD: SignedDuration = SignedDuration::from_secs(60);

/// The longest window that may be configured: more would arm rows that an edit throws away again.
pub const LOOKAHEAD_MAX: SignedDuration = SignedDuration::from_hours(1);

/// A tick this late is still run, as long as no later tick of its schedule is due.
pub const GRACE: SignedDuration = SignedDuration::from_secs(60);

/// A missed stretch up to this length is written row by row; a longer one is a single range.
pub const MISSED_ROWS_MAX: usize = 100;

/// One call of `plan` arms at most this many ticks: a per-second schedule over the longest window.
pub const PLAN_ENTRIES_MAX: usize = 3_600;

/// A run that has not answered after this long is ended.
pub const RUN_TIMEOUT: SignedDuration = SignedDuration::from_hours(1);
