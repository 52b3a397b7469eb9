//! When: text becomes a spec, a spec becomes instants, instants become words.
//!
//! Cron that is right in every time zone, through every clock change, and says what it means.
//!
//! ```
//! use punctual_time::{Cron, Dialect, Zone};
//!
//! let cron = Cron::parse("30 2 * * *", Dialect::Standard)?;
//! let zone = Zone::get("America/New_York")?;
//!
//! // On 9 March 2025 there is no 02:30 in New York. The job runs at the first instant after the gap,
//! // and at 02:30 again the next day. Nothing is lost, doubled, or an hour late for ever.
//! let night = cron.next("2025-03-08T12:00:00-05:00".parse().unwrap(), &zone).unwrap();
//! assert_eq!(night.to_string(), "2025-03-09T07:00:00Z"); // 03:00 in New York
//! let night = cron.next(night, &zone).unwrap();
//! assert_eq!(night.to_string(), "2025-03-10T06:30:00Z"); // 02:30 in New York
//! # Ok::<(), punctual_time::Error>(())
//! ```
//!
//! # What is in it
//!
//! | to write | type | examples |
//! | --- | --- | --- |
//! | cron in three dialects | [`Cron`], [`Dialect`] | `*/15 9-17 * * MON-FRI`, `0 0 LW * *`, `0 9 * * 1#2`, `H H * * *`, `@daily` |
//! | intervals, anchored | [`Interval`], [`Anchor`] | `90s`, `2h`, `2 weeks`, `monthly` |
//! | one-shots | [`Once`] | `2026-12-24T18:00`, in `20m` |
//! | windows and bounds | [`Windows`], [`Bounds`] | `08:00-18:00`, not on `saturday` or `holidays`, at most 10 runs |
//! | plain English, in and out | [`human`], [`describe`] | `every weekday at 9am EST except holidays` |
//!
//! [`Spec`] is any of the first three in 64 bytes without heap. [`Timing`] adds zone, bounds and windows, and
//! answers [`next`](Timing::next), [`prev`](Timing::prev), [`ticks`](Timing::ticks),
//! [`preview`](Timing::preview), [`explain`](Timing::explain) and [`guard`](Timing::guard).
//!
//! ```
//! use punctual_time::{Cron, Zone, describe, human};
//!
//! let context = human::Context { now: "2026-11-15T12:00:00Z".parse().unwrap(), zone: Zone::utc() };
//! let parsed = human::parse("last weekday of the month at 17:00", &context)?;
//! assert_eq!(parsed.cron.as_deref(), Some("0 17 LW * *"));
//! assert_eq!(describe::cron(&"0 17 LW * *".parse::<Cron>()?), "At 17:00 on the last weekday of the month");
//! # Ok::<(), punctual_time::Error>(())
//! ```
//!
//! # Errors that help
//!
//! ```
//! # use punctual_time::{Cron, Dialect};
//! let error = Cron::parse("0 22-2 * * *", Dialect::Standard).unwrap_err();
//! assert_eq!(error.to_string(), "`22-2` goes backwards (hour field, column 3)");
//! assert_eq!(error.hint(), Some("write `22-23,0-2`"));
//!
//! // 30 February is an error on the day it is written, not a job that never runs.
//! assert_eq!(Cron::parse("0 0 30 2 *", Dialect::Standard).unwrap_err().code(), "never_fires");
//! ```
//!
//! # Clock changes
//!
//! | | the clock skips it | the clock repeats it |
//! | --- | --- | --- |
//! | *elapsed*: all 24 hours, or an interval of hours or less | nothing to make up | both passes |
//! | *wall-clock*: everything else | first instant after the gap | first pass, once |
//! | [`DstRule`] per schedule | [`shift`](Gap::Shift) or [`skip`](Gap::Skip) | [`first`](Fold::First), [`last`](Fold::Last) or [`both`](Fold::Both) |
//!
//! The sets decide, never the spelling: `*/15` and `0,15,30,45` are one value. Several skipped times are one
//! tick. A gap of more than three hours, such as Samoa's missing Friday, is a date that did not exist.
//!
//! Of thirteen schedulers that we ran on real zones, eight hang, go backwards or lose days. This crate is swept
//! over every zone and every transition from 1970 to 2037 with over three hundred expressions against an oracle
//! that walks UTC step by step.
//!
//! # Asking why
//!
//! ```
//! use punctual_time::{Cron, Timing, Zone};
//!
//! let timing = Timing::new("0 9 1,15 * MON".parse::<Cron>()?, Zone::utc());
//! let why = timing.explain("2026-12-15T09:00:00Z".parse().unwrap());
//! assert_eq!(
//!     why.to_string(),
//!     "2026-12-15T09:00:00 in UTC is a tick of `0 9 1,15 * 1`\n\
//!      yes  minute 0 is in `0`\n\
//!      yes  hour 9 is in `9`\n\
//!      yes  day-of-month 15 is in `1,15`\n\
//!      yes  month 12 is in `*`\n\
//!      no   day-of-week tuesday is not in `1`\n\
//!      yes  either of the two day fields is enough\n"
//! );
//! # Ok::<(), punctual_time::Error>(())
//! ```
//!
//! # Speed
//!
//! About 18 ns for `next` at the median of twenty expressions, in UTC and in New York alike, and 100 ns to parse.
//! In New York that is about twelve times faster than the faster of `croner` 4 and `cron` 0.17, in UTC eight
//! times; `cargo bench -p punctual-time` prints all three side by side.
//!
//! # Never
//!
//! - This crate never reads a clock, a file, the environment or a random number: time and seeds are arguments.
//! - It never panics, whatever the text; it never searches without a bound.
//! - [`Cron::next`] never returns an instant at or before the one given, and never the same tick twice.
//! - A tick is never early: local times are moved forwards or not at all.
//! - Two spellings of the same sets never differ in their ticks.
//! - The host's zone files are never used: the tz database is bundled, and [`tz_version`] names it.

mod civil;
mod cron;
pub mod describe;
mod dst;
mod duration;
mod error;
mod every;
pub mod human;
mod once;
#[cfg(feature = "rule-switches")]
pub mod rule;
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
pub use timing::{
    Anchor, Bounds, Check, Explanation, Mark, Stretches, Subject, Tick, TickStretch, Ticks, Timing,
};
pub use window::{Calendar, DayRange, Weekdays};
pub use windows::{QuietHours, Suppression, Windows};
#[cfg(feature = "editions")]
pub use zone::edition;
pub use zone::{Zone, tz_version};
