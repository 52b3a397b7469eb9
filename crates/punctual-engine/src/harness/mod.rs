//! A whole installation in virtual time: nodes, one store, scripted targets; hours pass in milliseconds.
//!
//! Everything runs on one thread with tokio's clock paused, so that a story and its seed decide what happens. Start
//! with [`Cluster::tell`]. Nothing in here replaces code of the engine: the nodes are engines, the store is a store.
//!
//! What a simulator has to know: each node has a clock of its own, and [`Cluster::world`] is both true time and the
//! database's; a crash drops the engine and with it all its tasks, while its [`crate::MemoryJournal`] stays; a pause
//! closes a [`Gate`] in front of every task of a node, and timers that end meanwhile are noticed afterwards. A launch is
//! noted when the target is reached, whatever becomes of it: [`Scripted::launched`] is what the world saw, the ledger is
//! what the installation says. Faults of single commits are `Memory::on_commit`, and a closure there may also set clocks
//! to let a commit take time. Only what wakes in a fixed order may be shared between nodes: `tokio::sync::watch` wakes
//! its receivers in an order that no seed decides.
//!
//! ```
//! use punctual_engine::harness::{Cluster, Deed};
//! use punctual_plan::{Action, Process, Schedule, ScheduleId};
//! use punctual_time::{Cron, Timing, Zone};
//!
//! let ledger = Cluster::tell(7, "2026-01-01T10:00:00Z".parse()?, async |mut cluster| {
//!     let timing = Timing::new("* * * * *".parse::<Cron>().expect("a spec"), Zone::utc());
//!     let id = ScheduleId(uuid::Uuid::from_u128(1));
//!     cluster.create(Schedule::new(id, "one", timing, Action::Process(Process::new(["true"])))).await;
//!     cluster.targets.always("one", Deed::succeeds(10));
//!     cluster.start("a").await;
//!     cluster.until("2026-01-01T10:02:30Z".parse().expect("a time")).await;
//!     cluster.ledger().await
//! });
//! assert_eq!(ledger, ["10:01:00 success", "10:02:00 success"]);
//! # Ok::<(), jiff::Error>(())
//! ```

mod cluster;
mod gate;
mod ledger;
mod scripted;

pub use cluster::{Cluster, NodeName};
pub use gate::Gate;
pub use ledger::line;
pub use scripted::{Deed, Launched, NodeTargets, Scripted};
