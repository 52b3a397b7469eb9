//! Schedules declared in YAML: a file or a folder becomes one checked value, or a list of what to correct.
//!
//! Start with [`read`]. `raw` has every key with its sentence, and is the source of the schema; `parse`
//! turns YAML into `node`s with places; `conform` compares the two; `reading` leads through the rest, of which each file builds one part of
//! [`Declared`].
//!
//! Never: a key is never read and ignored; a file never costs more than its budgets; nothing here decides what
//! happens to a tick.

mod builder;
mod conform;
mod declared;
mod duration;
mod executor;
mod export;
mod export_target;
mod forecast;
mod ground;
mod idle;
mod keys;
mod named;
pub(crate) mod nearest;
mod node;
mod order;
mod overlay;
mod packed;
mod parse;
mod patch;
mod policies;
mod problem;
mod process;
mod raw;
mod raw_target;
mod raw_word;
mod reading;
mod schedule;
mod schema;
mod source;
mod template;
mod unreadable;
mod webhook;
mod when;
mod word;

use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub(crate) use named::workflow_problem;
pub(crate) use nearest::hint as nearest_hint;

pub use declared::{Declared, Names, Schedule, Settings};
pub use duration::parse as duration;
pub use executor::executor;
pub use export::{export, length, limits};
pub use export_target::executor as executor_keys;
pub use forecast::{DAY, Forecast};
pub use ground::{Defaults, Ground};
pub use keys::read_keys;
pub use overlay::Overlay;
pub use patch::Patch;
pub use schema::schema;

use crate::Failure;
use problem::Source;

/// Reads a file, or the YAML files of a folder. Intervals without `start_at` are reckoned from `now`.
///
/// # Errors
/// When it cannot be read, or not be meant: with every place, what stands there, and what to write.
pub fn read(path: &Path, now: Timestamp) -> Result<Declared, Failure> {
    read_over(path, &Ground::alone(now), &[])
}

/// Reads a file or folder as if its schedules had the keys of some overlays.
///
/// # Errors
/// When it cannot be read, or not be meant, or an overlay is for a schedule that it does not declare.
pub fn read_over(path: &Path, ground: &Ground, overlays: &[Overlay]) -> Result<Declared, Failure> {
    let declared = reading::read(source::load(path)?, overlays, ground, &|_| {})?;
    overlays.iter().filter_map(Overlay::schedule).try_for_each(|name| declared.get(name).map(drop))?;
    Ok(declared)
}

/// The `settings` of a text, without a look at what comes behind them; none if it has none.
///
/// # Errors
/// What is wrong with what comes before.
pub(crate) fn settings_of(text: &str) -> Result<Option<serde_json::Value>, String> {
    parse::section(text, "settings").map_err(|error| error.without_snippet().to_string())
}

/// How many schedules of a file were read, of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Those that were read.
    pub done: usize,
    /// All of them.
    pub total: usize,
}

/// Who hears how far a reading is.
pub type Watch<'a> = &'a (dyn Fn(Progress) + Sync);

/// Reads a file or folder that may be large.
///
/// # Errors
/// When it cannot be read, or not be meant.
pub fn read_watched(path: &Path, ground: &Ground, watch: Watch<'_>) -> Result<Declared, Failure> {
    reading::read(source::load(path)?, &[], ground, watch)
}

/// A file of schedules that was read and is not yet understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ScheduleFile)]
pub struct Text {
    /// Its name, by which problems are told.
    pub name: String,
    /// What it says, as YAML.
    pub text: String,
}

/// Loads a file, or the YAML files of a folder, for whoever reads them elsewhere.
///
/// # Errors
/// When they cannot be read.
pub fn load(path: &Path) -> Result<Vec<Text>, Failure> {
    let text = |Source { name, text }| Text { name, text };
    Ok(source::load(path)?.into_iter().map(text).collect())
}

/// Reads files that were loaded.
///
/// # Errors
/// When they cannot be meant.
pub fn read_texts(texts: Vec<Text>, ground: &Ground, watch: Watch<'_>) -> Result<Declared, Failure> {
    let sources = texts.into_iter().map(|Text { name, text }| Source { name, text }).collect();
    reading::read(sources, &[], ground, watch)
}

/// Reads a text as if it were a file of the given name.
///
/// ```
/// let text = "schedules: [{name: backup, cron: 0 3 * * *, target: {type: process, argv: [backup]}}]";
/// let declared = punctual_app::declare::read_text("jobs.yaml", text, jiff::Timestamp::UNIX_EPOCH)?;
/// assert_eq!(declared.schedules[0].definition.name, "backup");
///
/// let text = "schedules:\n- name: backup\n  crom: 0 3 * * *";
/// let failure = punctual_app::declare::read_text("jobs.yaml", text, jiff::Timestamp::UNIX_EPOCH).unwrap_err();
/// assert_eq!(
///     failure.to_string(),
///     "error: jobs.yaml:3:3: `crom` is not a key here\n  3 |   crom: 0 3 * * *\nhint: did you mean `cron`?"
/// );
/// # Ok::<(), punctual_app::Failure>(())
/// ```
///
/// # Errors
/// When it cannot be meant.
pub fn read_text(name: &str, text: &str, now: Timestamp) -> Result<Declared, Failure> {
    read_text_over(name, text, &Ground::alone(now))
}

/// Reads a text as if it were a file of the given name, on some ground.
///
/// # Errors
/// When it cannot be meant.
pub(crate) fn read_text_over(name: &str, text: &str, ground: &Ground) -> Result<Declared, Failure> {
    let source = Source { name: name.to_owned(), text: text.to_owned() };
    reading::read(vec![source], &[], ground, &|_| {})
}
