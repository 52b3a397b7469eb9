//! When: text becomes a spec, a spec becomes instants, instants become words.
//!
//! This crate never reads a clock, a file or a random number.

mod civil;
mod cron;
pub mod describe;
mod dst;
mod duration;
mod error;
mod every;
pub mod human;
mod once;
mod spec;
mod timing;
mod walk;
mod window;
mod windows;
mod zone;

pub use cron::{Cron, DayJoin, Dialect, Field, Nth, NthWeekday, Set};
pub use dst::{Clock, DstRule, Fold, Gap};
pub use error::Error;
pub use every::{Interval, Unit};
pub use once::Once;
pub use spec::Spec;
pub use timing::{Anchor, Bounds, Check, Explanation, Mark, Subject, Tick, Ticks, Timing};
pub use window::{Calendar, DayRange, Weekdays};
pub use windows::{QuietHours, Suppression, Windows};
pub use zone::{Zone, tz_version};
