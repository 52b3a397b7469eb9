//! The loop: wake, plan ahead, admit at the instant, launch, settle.
//!
//! Start with [`Engine`] and the loop in `engine.rs`; each step of a tick has its own file.
//!
//! Invariants: the engine never launches what is not admitted in a committed transaction, never waits
//! for a run inside its loop, and keeps nothing in memory that the ledger and the launch journal cannot
//! give back after a crash.

mod admitter;
mod batch;
mod birth;
mod brief;
mod chance;
mod clock;
mod complaint;
mod crew;
mod duties;
mod engine;
mod flights;
mod hand;
#[cfg(feature = "harness")]
pub mod harness;
mod holding;
mod journal;
mod keyed;
mod lanes;
mod launch;
mod launcher;
mod lease;
mod membership;
mod metrics;
mod muster;
mod planner;
mod planning;
mod pulse;
mod recover;
mod settings;
mod settler;
mod spans;
mod start;
mod stop;
mod target;
mod tend;
mod time;
mod tuning;
mod turn;
mod wake;
mod wanted;
mod zones;

pub use chance::Chance;
pub use clock::{Clock, SystemClock, VirtualClock};
pub use engine::Engine;
#[doc(hidden)] // Nothing but a measurement of crashes needs what the journal is written on.
pub use journal::Slate;
pub use journal::{JournalPlace, MemoryJournal};
pub use launch::{Cancel, Canceller, Finished, Launch, Launched, LiveOutput, OnEnd, OnStart, Targets, Why};
pub use metrics::Metrics;
pub use pulse::{News, Pulse};
pub use settings::Settings;
pub use spans::Spans;
#[cfg(feature = "otel")]
pub use spans::{Sink, Span, SpanKind};
pub use start::StartError;
pub use stop::Stopped;
pub use target::{
    BadProxy, BadReach, BadRequest, CallbackError, Callbacks, Context, HostTargets, Label, PROGRAMS_MAX,
    Program, Proxy, Reach, SECRET_BYTES_MAX, STARTED_BY_KEY, TooFewFiles, Vault, VaultError, Worked, Worker,
    WorkerSettings, allow_open_files, check_header, check_text, check_url,
};
pub use tuning::{Tuner, Tuning};
