//! Instants on their way into and out of the database.

use jiff::Timestamp;

use crate::Error;

/// Cuts an instant to the precision that the databases keep, so that it reads back equal.
pub fn to_microsecond(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}

/// Reads an instant of microseconds.
pub(crate) fn from_micros(value: i64) -> Result<Timestamp, Error> {
    Timestamp::from_microsecond(value).map_err(|_| Error::corrupt(format!("{value} is no instant")))
}

/// Reads a tick of whole seconds.
pub(crate) fn from_seconds(value: i64) -> Result<Timestamp, Error> {
    Timestamp::from_second(value).map_err(|_| Error::corrupt(format!("{value} is no instant")))
}
