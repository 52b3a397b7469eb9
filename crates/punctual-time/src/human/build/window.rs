//! Windows: into the hours of the cron where they fit, beside it as `only_between` where they do not.

use super::super::draft::{End, Window};
use super::super::trouble::Trouble;
use super::super::words::Unit;
use super::{Builder, steps};

/// What a window does to the fields.
pub(super) struct Folded {
    pub(super) hours: u64,
    /// Set where the window lies within one hour: the minutes are then counted from its start.
    pub(super) minutes: Option<u64>,
}

impl Builder {
    /// The hours that the windows leave, for a rate of less than an hour.
    pub(super) fn fold_windows(&mut self, unit: Unit, count: u32) -> Result<Option<Folded>, Trouble> {
        let windows = std::mem::take(&mut self.draft.windows);
        let mut folded = Folded { hours: 0, minutes: None };
        for window in &windows {
            let is_whole = window.from.is_multiple_of(60) && window.end == End::Open && window.to % 60 == 0
                || window.from.is_multiple_of(60) && window.to % 60 == 59;
            if is_whole {
                let last = if window.to % 60 == 59 { window.to / 60 } else { (window.to / 60 + 23) % 24 };
                folded.hours |= around(window.from / 60, last);
                continue;
            }
            if windows.len() > 1 {
                return Err(
                    self.two_schedules("several windows that are not whole hours are several schedules")
                );
            }
            let last = if window.end == End::Closed { window.to } else { (window.to + 1439) % 1440 };
            if unit == Unit::Minute && window.from / 60 == last / 60 && window.from <= last {
                let start = if self.draft.minutes.set == 0 { window.from } else { window.from / 60 * 60 };
                folded.minutes = Some(steps(start % 60, last % 60, count));
                folded.hours |= 1 << (last / 60);
                continue;
            }
            folded.hours |= around(window.from / 60, last / 60);
            self.keep_window(window);
        }
        Ok((!windows.is_empty()).then_some(folded))
    }

    /// Hours without those that are excluded whole; an excluded part of an hour becomes a window around it.
    pub(super) fn without_excluded(&mut self, mut hours: u64) -> Result<u64, Trouble> {
        for window in std::mem::take(&mut self.draft.not_windows) {
            let to = if window.end == End::Closed { window.to + 1 } else { window.to };
            if window.from.is_multiple_of(60) && to.is_multiple_of(60) {
                hours &= !around(window.from / 60, (to / 60 + 23) % 24);
            } else if self.parsed.only_between.is_none() {
                self.set_only_between(to, window.from);
            } else {
                return Err(
                    self.two_schedules("several windows that are not whole hours are several schedules")
                );
            }
        }
        if hours == 0 {
            return Err(self.contradiction("no hour is left"));
        }
        Ok(hours)
    }

    /// Whether a minute of the day was left out.
    pub(super) fn is_excluded(&self, minute: u32) -> bool {
        self.draft.not_windows.iter().any(|window| {
            let to = if window.end == End::Closed { window.to + 1 } else { window.to };
            if window.from < to {
                (window.from..to).contains(&minute)
            } else {
                minute >= window.from || minute < to
            }
        })
    }

    /// Keeps a window beside the spec.
    pub(super) fn keep_window(&mut self, window: &Window) {
        let to = if window.end == End::Closed { window.to + 1 } else { window.to };
        self.set_only_between(window.from, to);
    }

    pub(super) fn set_only_between(&mut self, from: u32, to: u32) {
        let (from, to) = (from % 1440, to % 1440);
        // The whole day needs no window.
        if from == to {
            return;
        }
        self.parsed.only_between =
            Some(format!("{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60 % 24, to % 60));
    }
}

/// The hours from one to another, over midnight if need be.
fn around(from: u32, to: u32) -> u64 {
    let from = from % 24;
    let count = (to % 24 + 24 - from) % 24;
    (0..=count).fold(0, |hours, n| hours | 1 << ((from + n) % 24))
}
