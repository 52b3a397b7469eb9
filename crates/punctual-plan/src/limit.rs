//! Every bound of the decisions, by name.

use jiff::SignedDuration;

/// How far ahead ticks become ledger rows, so that nothing is computed at their instant.
pub const LOOKAHEAD: SignedDuration = SignedDuration::from_secs(60);

/// The longest window that may be configured: more would arm rows that an edit throws away again.
pub const LOOKAHEAD_MAX: SignedDuration = SignedDuration::from_hours(1);

/// The longest sleep of the loop, and the distance between two batches of late ticks.
pub const TICK: SignedDuration = SignedDuration::from_secs(1);

/// A tick this late is still run, as long as no later tick of its schedule is due.
pub const GRACE: SignedDuration = SignedDuration::from_secs(60);

/// How many late ticks `run_all` and `spread` run, unless the schedule says otherwise.
pub const CATCH_UP_DEFAULT: u32 = 100;

/// More late ticks than this are never run, whatever the schedule says.
pub const CATCH_UP_MAX: u32 = 10_000;

/// Late ticks of one schedule that fire at one wake; further ones fire one `TICK` later each time.
pub const CATCH_UP_PER_TICK_MAX: u32 = 100;

/// Missed ticks of one stretch with an audit event of their own, unless the schedule says otherwise.
pub const MISSED_AUDIT_DEFAULT: u32 = 100;

/// Non-fires up to this number are written row by row; more of them are ranges.
pub const MISSED_ROWS_MAX: usize = 100;

/// One call of `plan` writes at most this many ranges; the rest of the stretch is left to the next call.
pub const PLAN_RANGES_MAX: usize = 1_000;

/// One call of `plan` arms at most this many ticks: a per-second schedule over the longest window.
pub const PLAN_ENTRIES_MAX: usize = 3_600;

/// A run that has not answered after this long is ended.
pub const RUN_TIMEOUT: SignedDuration = SignedDuration::from_hours(1);

/// Attempts to launch a run.
pub const LAUNCH_ATTEMPTS: u32 = 3;

/// The wait before the second attempt to launch a run; doubled before each further one.
pub const LAUNCH_DELAY: SignedDuration = SignedDuration::from_secs(1);

/// The longest wait between two attempts to launch a run, however often it was doubled.
pub const LAUNCH_DELAY_MAX: SignedDuration = SignedDuration::from_hours(1);

/// A schedule is disabled after this many failures in a row.
pub const CONSECUTIVE_FAILURES_DEFAULT: u32 = 5;

/// How long a tick waits for the schedules it depends on.
pub const DEPENDS_TIMEOUT: SignedDuration = SignedDuration::from_hours(1);

/// How long a run waits for its turn or for room under a limit, if nothing else bounds it.
pub const WAIT_MAX: SignedDuration = SignedDuration::from_hours(24);

/// Runs of one schedule that wait for their turn; a further one is skipped.
pub const QUEUE_MAX: u32 = 100;

/// Rows that find their target full are looked at again so far apart: ten thousand a second, however many they are.
pub const ROOM_STEP: SignedDuration = SignedDuration::from_micros(100);

/// Failures in a row that open a circuit breaker.
pub const BREAKER_THRESHOLD: u32 = 5;

/// How long an open circuit breaker lets nothing through.
pub const BREAKER_RESET_AFTER: SignedDuration = SignedDuration::from_mins(5);

/// Attempts of a run that fails, or is in doubt, again and again.
pub const RETRY_ATTEMPTS_MAX: u32 = 100;

/// One simulation keeps at most this many runs.
pub const SIMULATED_RUNS_MAX: usize = 1_000_000;

/// One audit walks at most this long a stretch: ten years, which of a per-second schedule take a few seconds.
pub const AUDIT_MAX: SignedDuration = SignedDuration::from_hours(10 * 366 * 24);

/// One audit names at most this many holes.
pub const AUDIT_HOLES_MAX: usize = 1_000;

/// One comparison of fires names at most this many added and this many removed ones; their counts stay exact.
pub const FIRES_LISTED_MAX: usize = 1_000;

/// One comparison of fires walks at most this many of them: a year of seconds, before and after.
pub const FIRES_WALKED_MAX: u64 = 64_000_000;

/// One answer to `why` tells at most this many attempts: the first and the latest ones.
pub const WHY_ATTEMPTS_MAX: usize = 10;

/// How long a program that was asked to end may take before it is killed, unless its target says otherwise.
pub const KILL_AFTER: SignedDuration = SignedDuration::from_secs(5);

/// How long a web request may take in all, unless its target says otherwise: what Standard Webhooks advises.
pub const WEBHOOK_TIMEOUT: SignedDuration = SignedDuration::from_secs(20);

/// How long the connection of a web request may take to be made, unless its target says otherwise.
pub const CONNECT_TIMEOUT: SignedDuration = SignedDuration::from_secs(5);

/// How many redirects a web request follows, unless its target says otherwise.
pub const REDIRECTS_DEFAULT: u32 = 3;

/// More redirects than this are never followed.
pub const REDIRECTS_MAX: u32 = 10;

/// How long a target that answers `Retry-After` can put off the next attempt.
pub const RETRY_AFTER_MAX: SignedDuration = SignedDuration::from_hours(24);
