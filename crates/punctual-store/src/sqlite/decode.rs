//! From columns to the types of the domain. Whatever cannot be read is reported, never guessed.

use jiff::Timestamp;
use punctual_plan::{Breaker, Reason, RunKey, RunStatus, ScheduleId, Trace, Waiting};
use rusqlite::Row;
use rusqlite::types::{FromSql, ValueRef};

use super::connection::doing;
use crate::Error;
use crate::instant::{from_micros, from_seconds};
use crate::stored::{read_trace, read_wait};

/// Reads one column.
pub(super) fn column<T: FromSql>(row: &Row<'_>, index: usize) -> Result<T, Error> {
    row.get(index).map_err(doing("reading a row"))
}

/// Reads a text without copying it.
pub(super) fn text<'a>(row: &'a Row<'_>, index: usize) -> Result<&'a str, Error> {
    let value = row.get_ref(index).map_err(doing("reading a row"))?;
    value.as_str().map_err(|error| Error::corrupt(error.to_string()))
}

/// Whether a column holds nothing.
pub(super) fn is_null(row: &Row<'_>, index: usize) -> bool {
    matches!(row.get_ref(index), Ok(ValueRef::Null))
}

/// Reads a name of a closed list.
pub(super) fn named<T: std::str::FromStr<Err = punctual_plan::UnknownName>>(
    row: &Row<'_>,
    index: usize,
) -> Result<T, Error> {
    text(row, index)?.parse().map_err(|error| Error::corrupt(format!("{error}")))
}

/// Reads an instant.
pub(super) fn instant(row: &Row<'_>, index: usize) -> Result<Timestamp, Error> {
    from_micros(column(row, index)?)
}

/// Reads an instant that may be missing.
pub(super) fn maybe_instant(row: &Row<'_>, index: usize) -> Result<Option<Timestamp>, Error> {
    column::<Option<i64>>(row, index)?.map(from_micros).transpose()
}

/// Reads a tick.
pub(super) fn tick(row: &Row<'_>, index: usize) -> Result<Timestamp, Error> {
    from_seconds(column(row, index)?)
}

/// Reads a tick that may be missing.
pub(super) fn maybe_tick(row: &Row<'_>, index: usize) -> Result<Option<Timestamp>, Error> {
    column::<Option<i64>>(row, index)?.map(from_seconds).transpose()
}

/// Reads a schedule's public id.
pub(super) fn schedule_id(row: &Row<'_>, index: usize) -> Result<ScheduleId, Error> {
    let text = text(row, index)?;
    text.parse().map(ScheduleId).map_err(|_| Error::corrupt(format!("the schedule id `{text}`")))
}

/// Reads a status.
pub(super) fn status(row: &Row<'_>, index: usize) -> Result<RunStatus, Error> {
    named(row, index)
}

/// Reads a reason from its two columns.
pub(super) fn reason(row: &Row<'_>, index: usize) -> Result<Option<Reason>, Error> {
    if is_null(row, index) {
        return Ok(None);
    }
    let detail: Option<String> = column(row, index + 1)?;
    let reason = Reason::from_stored(text(row, index)?, detail.as_deref().unwrap_or_default());
    reason.map(Some).map_err(|error| Error::corrupt(error.to_string()))
}

/// Reads a wait from its four columns.
pub(super) fn waiting(row: &Row<'_>, index: usize) -> Result<Option<Waiting>, Error> {
    if is_null(row, index) {
        return Ok(None);
    }
    let wait = read_wait(text(row, index)?, text(row, index + 1)?)?;
    Ok(Some(Waiting { wait, since: instant(row, index + 2)?, deadline: instant(row, index + 3)? }))
}

/// Reads a trace that may be missing.
pub(super) fn trace(row: &Row<'_>, index: usize) -> Result<Option<Trace>, Error> {
    if is_null(row, index) { Ok(None) } else { Ok(read_trace(Some(text(row, index)?))) }
}

/// Reads a breaker from its four columns: state, failures, until, probe.
pub(super) fn breaker(row: &Row<'_>, index: usize) -> Result<Breaker, Error> {
    match text(row, index)? {
        "closed" => Ok(Breaker::Closed { failures: column(row, index + 1)? }),
        "open" => Ok(Breaker::Open { until: instant(row, index + 2)? }),
        "half_open" => Ok(Breaker::HalfOpen { probe: RunKey(column(row, index + 3)?) }),
        other => Err(Error::corrupt(format!("the breaker state `{other}`"))),
    }
}
