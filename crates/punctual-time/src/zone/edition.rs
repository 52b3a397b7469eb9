//! Editions: zones that are made up and have other rules in the next edition of the tz database, so that a simulation can see
//! what new rules do. Only harness builds have them.
//!
//! Which edition is read by is a thing of the thread, for simulated nodes share one: whoever polls a node says which it has.

use std::cell::Cell;

use jiff::tz::TimeZone;

use super::table::Table;

/// The made-up zones, with their rules as POSIX writes them: those of the first edition and those of the next.
///
/// ```
/// use punctual_time::edition::{MOVING, within};
/// use punctual_time::{Cron, Timing, Zone};
///
/// let noon = Timing::new("0 12 * * *".parse::<Cron>()?, Zone::get(MOVING[2].name)?);
/// let next = || noon.next("2026-06-01T00:00:00Z".parse().unwrap()).unwrap().to_string();
/// assert_eq!(next(), "2026-06-01T06:30:00Z");
/// assert_eq!(within(1, next), "2026-06-01T06:15:00Z");
/// # Ok::<(), punctual_time::Error>(())
/// ```
pub const MOVING: [Moving; 3] = [
    // It does not change its clock any more.
    Moving { name: "Sim/Still", rules: ["CET-1CEST,M3.5.0,M10.5.0/3", "CET-1"] },
    // It changes its clock weeks later in spring, and earlier in autumn.
    Moving { name: "Sim/Weeks", rules: ["EST5EDT,M3.2.0,M11.1.0", "EST5EDT,M4.1.0,M10.5.0"] },
    // It is a quarter of an hour further east.
    Moving { name: "Sim/Offset", rules: ["<+0530>-5:30", "<+0545>-5:45"] },
];

/// A zone that is made up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moving {
    /// Its name.
    pub name: &'static str,
    /// Its rules, edition by edition.
    pub rules: [&'static str; 2],
}

std::thread_local! {
    static EDITION: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The edition that this thread reads zones by, if somebody has said so; else it is the first.
pub fn current() -> Option<usize> {
    EDITION.get()
}

/// Does something by an edition, the first being 0.
pub fn within<T>(edition: usize, work: impl FnOnce() -> T) -> T {
    /// Puts the edition back, whatever happens meanwhile.
    struct Back(Option<usize>);
    impl Drop for Back {
        fn drop(&mut self) {
            EDITION.set(self.0);
        }
    }
    let _back = Back(EDITION.replace(Some(edition)));
    work()
}

/// The tables of a made-up zone, if there is one of that name.
pub(super) fn made_up(name: &str) -> Option<Table> {
    let moving = MOVING.iter().find(|moving| moving.name.eq_ignore_ascii_case(name))?;
    let [first, next] = moving.rules.map(|rules| TimeZone::posix(rules).ok().map(Table::new));
    let mut table = first?;
    (table.made_up, table.next) = (Some(moving.name), next.map(Box::new));
    Some(table)
}
