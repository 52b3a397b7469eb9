//! When: text becomes a spec, a spec becomes instants, instants become words.
//!
//! This crate never reads a clock, a file or a random number.

mod civil;
mod cron;
mod dst;
mod error;
pub mod human;
mod walk;
mod zone;

pub use cron::{Cron, DayJoin, Dialect, Field, Nth, NthWeekday, Set};
pub use dst::{Clock, DstRule, Fold, Gap};
pub use error::Error;
pub use zone::{Zone, tz_version};
