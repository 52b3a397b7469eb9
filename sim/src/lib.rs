//! Whole clusters in virtual time under one seed, held to every promise.
//!
//! [`story`] makes a story of a seed: schedules of every kind and policy, and everything that will be done to them and to
//! the nodes. [`tell`] lets it happen to production planners, engines and stores on one thread, in no time, while an
//! oracle that shares no code with the planner looks at each row as it is written. A story that fails is [`shrink`]ed. A [`Log`] keeps what
//! very many of them came to.
//!
//! Invariants: the seed decides everything; nothing here replaces code of the product but its targets, its clocks and the
//! line to its database.

mod cluster;
mod dice;
mod hub;
mod line;
mod log;
mod make;
mod oracle;
mod panics;
mod people;
mod scene;
mod shrink;
mod sketch;
mod story;
mod target;
mod tell;
#[cfg(test)]
mod tests;
mod totals;
mod wall;

pub use log::{Build, Log, Sum};
pub use make::{Measure, SKETCHES_MIN, story};
pub use scene::{SCENES, Scene};
pub use shrink::shrink;
pub use story::{Act, Deed, KINDS, Keeping, Rhythm, Story, brief};
pub use tell::{Told, tell};
pub use totals::Totals;
