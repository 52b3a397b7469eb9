//! Identities: what the ledger calls its rows, and the key that every delivery carries.

use core::fmt;

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

use crate::Origin;
use crate::rule::{Rule, holds};

/// The number of a schedule inside one database; never shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScheduleKey(pub i64);

/// The number of an org inside one database; never shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OrgKey(pub i64);

/// A run's own id, shown as `run-42`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunKey(pub i64);

impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run-{}", self.0)
    }
}

/// A schedule's public id, given by the server and part of every idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScheduleId(pub Uuid);

impl ScheduleId {
    /// The id that stands for a name while no database has given one: always the same for the same org and name.
    ///
    /// It has the layout of RFC 9562 version 8, so it is never mistaken for an id that a server gave.
    ///
    /// ```
    /// use punctual_plan::ScheduleId;
    ///
    /// let id = ScheduleId::of_name("acme", "backup");
    /// assert_eq!(id.to_string(), "5350a721-3c61-85bb-9721-80b514b82b08");
    /// assert_eq!(id, ScheduleId::of_name("acme", "backup"));
    /// assert_ne!(id, ScheduleId::of_name("acm", "ebackup"));
    /// ```
    pub fn of_name(org_id: &str, name: &str) -> Self {
        // The length says where the org ends, so that no two pairs are one text.
        let hash = Sha256::digest(format!("{}:{org_id}{name}", org_id.len()));
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        Self(Builder::from_custom_bytes(bytes).into_uuid())
    }
}

impl fmt::Display for ScheduleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number a node raises when it takes over; a write with an older one changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fence(pub i64);

/// The key of a planned tick: hex SHA-256 of `{schedule_id}:{epoch_seconds}`.
///
/// It is a pure function of the tick, so a restart, another node and a second attempt all send the same.
///
/// ```
/// use punctual_plan::{ScheduleId, idempotency_key};
///
/// let id = ScheduleId("018f4e5e-0000-7000-8000-000000000001".parse()?);
/// let key = idempotency_key(id, "2026-01-01T00:00:00Z".parse()?);
/// assert_eq!(key.len(), 64);
/// assert_eq!(key, idempotency_key(id, "2026-01-01T00:00:00Z".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn idempotency_key(schedule: ScheduleId, scheduled_for: Timestamp) -> String {
    hex(&digest(schedule, scheduled_for))
}

/// The key of a run: that of its tick, or for other origins the hash of `{schedule_id}:{origin}:{nonce}`, which never
/// is that of a tick.
///
/// ```
/// use punctual_plan::{Origin, ScheduleId, idempotency_key, run_key};
///
/// let (id, at) = (ScheduleId(uuid::Uuid::nil()), "2026-01-01T00:00:00Z".parse()?);
/// assert_eq!(run_key(id, Origin::Tick, "", at), idempotency_key(id, at));
/// assert_ne!(run_key(id, Origin::Manual, "a", at), run_key(id, Origin::Manual, "b", at));
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn run_key(schedule: ScheduleId, origin: Origin, nonce: &str, scheduled_for: Timestamp) -> String {
    match origin {
        Origin::Tick => idempotency_key(schedule, scheduled_for),
        _ => hex(&Sha256::digest(format!("{schedule}:{origin}:{nonce}"))),
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for digit in bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]) {
        text.push(char::from(DIGITS[usize::from(digit)]));
    }
    text
}

/// The bytes of a tick's key.
pub(crate) fn digest(schedule: ScheduleId, scheduled_for: Timestamp) -> [u8; 32] {
    if !holds(Rule::KeyOfTheTick) {
        return Sha256::digest(schedule.to_string()).into();
    }
    Sha256::digest(format!("{schedule}:{}", scheduled_for.as_second())).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_the_hash_that_the_documents_name() {
        let id = ScheduleId(Uuid::nil());
        let key = idempotency_key(id, Timestamp::from_second(0).expect("the epoch is an instant"));
        // printf '00000000-0000-0000-0000-000000000000:0' | sha256sum
        assert_eq!(key, "bd601baa18fcbd995a17f8c93eb347505568f7e80304ac777d293f3cd022850b");
    }
}
