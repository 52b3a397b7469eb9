//! Times as the schedule's zone shows them, with the UTC time where that differs.

use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use punctual_time::Zone;

use crate::Reason;

/// Writes times for the people of one zone.
pub(super) struct Show {
    zone: TimeZone,
    is_utc: bool,
}

impl Show {
    pub(super) fn new(zone: &Zone) -> Self {
        Self { zone: zone.to_jiff(), is_utc: zone.name() == "UTC" }
    }

    /// `2026-01-01T11:00:00+01:00 (2026-01-01T10:00:00Z)`, or only one of them where both say the same.
    pub(super) fn at(&self, at: Timestamp) -> String {
        if self.is_utc {
            return at.to_string();
        }
        let offset = self.zone.to_offset(at);
        let local = at.display_with_offset(offset);
        if offset.is_zero() { local.to_string() } else { format!("{local} ({at})") }
    }

    /// The sentence of a reason, its times as this zone shows them.
    pub(super) fn reason(&self, reason: &Reason) -> String {
        let mut sentence = reason.to_string();
        let mut shown: Vec<Timestamp> = Vec::new();
        for at in instants(reason) {
            if !shown.contains(&at) {
                sentence = sentence.replace(&at.to_string(), &self.at(at));
                shown.push(at);
            }
        }
        sentence
    }
}

/// The instants among the values of a reason.
pub(super) fn instants(reason: &Reason) -> impl Iterator<Item = Timestamp> {
    let values: Vec<Timestamp> = reason.detail().split(' ').filter_map(|value| value.parse().ok()).collect();
    values.into_iter()
}

/// `+05:30`.
pub(super) fn offset(offset: Offset) -> String {
    let (sign, seconds) = (if offset.is_negative() { '-' } else { '+' }, offset.seconds().unsigned_abs());
    format!("{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60)
}

/// `1 failure`, `2 failures`.
pub(super) fn failures(count: u32) -> String {
    format!("{count} failure{}", if count == 1 { "" } else { "s" })
}

/// `1m 30s`.
pub(super) fn span(duration: SignedDuration) -> String {
    format!("{duration:#}")
}
