//! A whole installation in virtual time: nodes, one store, scripted targets; hours pass in milliseconds.
//!
//! Everything runs on one thread with tokio's clock paused, so that a story and its seed decide what happens. Start
//! with [`Cluster::tell`]. Nothing in here replaces code of the engine: the nodes are engines, the store is a store.

mod cluster;
mod gate;
mod ledger;
mod scripted;

pub use cluster::{Cluster, NodeName};
pub use gate::Gate;
pub use ledger::line;
pub use scripted::{Deed, Launched, NodeTargets, Scripted};
