//! From columns to the types of the domain. Whatever cannot be read is reported, never guessed.

use jiff::Timestamp;
use punctual_plan::{Action, Process, Reason, RunStatus, Schedule, ScheduleId};
use punctual_time::{Cron, Dialect, Timing, Zone};
use rusqlite::Row;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::instant::{from_micros, from_seconds};

/// The stored form of a target.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StoredTarget {
    Process { argv: Vec<String> },
}

/// Writes a target in its stored form.
pub(super) fn encode_target(target: &Action) -> Result<String, Error> {
    let stored = match target {
        Action::Process(process) => StoredTarget::Process { argv: process.argv.clone() },
        other => return Err(Error::corrupt(format!("a target that cannot be stored: {other:?}"))),
    };
    serde_json::to_string(&stored).map_err(|error| Error::corrupt(error.to_string()))
}

/// Reads a target from its stored form.
pub(super) fn target(text: &str) -> Result<Action, Error> {
    match serde_json::from_str(text) {
        Ok(StoredTarget::Process { argv }) => Ok(Action::Process(Process::new(argv))),
        Err(error) => Err(Error::corrupt(format!("the target `{text}`: {error}"))),
    }
}

/// A spec made definite, and the dialect it was written in.
pub(super) struct Parsed {
    pub(super) dialect: Dialect,
    pub(super) timing: Timing,
}

/// The columns of a spec, as text.
pub(super) struct Spec<'a> {
    pub(super) id: &'a str,
    pub(super) dialect: &'a str,
    pub(super) spec: &'a str,
    pub(super) timezone: &'a str,
    pub(super) created_at: Timestamp,
}

impl Spec<'_> {
    /// Parses what was parsed once before, when it was stored.
    pub(super) fn parse(&self) -> Result<Parsed, Error> {
        let unreadable =
            |error: &dyn std::fmt::Display| Error::corrupt(format!("schedule {}: {error}", self.id));
        let dialect: Dialect = self.dialect.parse().map_err(|error| unreadable(&error))?;
        let cron = Cron::parse_seeded(self.spec, dialect, self.id).map_err(|error| unreadable(&error))?;
        let zone = Zone::get(self.timezone).map_err(|error| unreadable(&error))?;
        let timing = Timing { created_at: self.created_at, ..Timing::new(cron, zone) };
        Ok(Parsed { dialect, timing })
    }
}

/// Reads a definition from its columns, the first of which is `id`.
pub(super) struct DefinitionColumns {
    pub(super) id: usize,
    pub(super) name: usize,
    pub(super) dialect: usize,
}

impl DefinitionColumns {
    /// `dialect`, `spec`, `timezone`, `target`, `version` and `created_at` stand side by side.
    pub(super) fn read(&self, row: &Row<'_>) -> Result<Schedule, Error> {
        let text = |index: usize| column::<String>(row, index);
        let id = text(self.id)?;
        let (dialect, spec, timezone) =
            (text(self.dialect)?, text(self.dialect + 1)?, text(self.dialect + 2)?);
        let created_at = instant(row, self.dialect + 5)?;
        let parsed =
            Spec { id: &id, dialect: &dialect, spec: &spec, timezone: &timezone, created_at }.parse()?;
        let action = target(&text(self.dialect + 3)?)?;
        // Policies are not stored yet: every schedule has the defaults.
        let schedule = Schedule::new(schedule_id(&id)?, &text(self.name)?, parsed.timing, action);
        Ok(Schedule { version: column(row, self.dialect + 4)?, spec, dialect: parsed.dialect, ..schedule })
    }
}

/// Reads one column.
pub(super) fn column<T: rusqlite::types::FromSql>(row: &Row<'_>, index: usize) -> Result<T, Error> {
    row.get(index).map_err(Error::doing("reading a row"))
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
pub(super) fn schedule_id(text: &str) -> Result<ScheduleId, Error> {
    text.parse().map(ScheduleId).map_err(|_| Error::corrupt(format!("the schedule id `{text}`")))
}

/// Reads a status.
pub(super) fn status(row: &Row<'_>, index: usize) -> Result<RunStatus, Error> {
    column::<String>(row, index)?.parse().map_err(|error| Error::corrupt(format!("{error}")))
}

/// Reads a reason from its two columns.
pub(super) fn reason(row: &Row<'_>, index: usize) -> Result<Option<Reason>, Error> {
    let Some(code) = column::<Option<String>>(row, index)? else { return Ok(None) };
    let detail: Option<String> = column(row, index + 1)?;
    let reason = Reason::from_stored(&code, detail.as_deref().unwrap_or_default());
    reason.map(Some).map_err(|error| Error::corrupt(error.to_string()))
}

/// Runs a query and reads every row.
pub(super) fn rows<T>(
    connection: &rusqlite::Connection,
    statement: &str,
    params: impl rusqlite::Params,
    read: impl Fn(&Row<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let mut statement = connection.prepare_cached(statement).map_err(Error::doing("reading"))?;
    let mut rows = statement.query(params).map_err(Error::doing("reading"))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(Error::doing("reading"))? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// Runs a statement that changes rows; gives back how many.
pub(super) fn change(
    connection: &rusqlite::Connection,
    statement: &str,
    params: impl rusqlite::Params,
) -> Result<usize, Error> {
    connection
        .prepare_cached(statement)
        .and_then(|mut statement| statement.execute(params))
        .map_err(Error::doing("writing"))
}
