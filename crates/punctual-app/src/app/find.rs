//! Which schedule or run a person means.

use punctual_plan::RunKey;
use punctual_store::{RunRow, ScheduleRow, Selector, Store};
use punctual_time::Zone;

use super::App;
use crate::{Failure, Kind};

/// The fewest letters of an id that stand for it.
const ID_LETTERS_MIN: usize = 4;

impl App {
    /// A schedule by name, by id, or by the first letters of its id.
    ///
    /// # Errors
    /// When there is none, with the name that was probably meant.
    pub async fn find(&self, text: &str) -> Result<ScheduleRow, Failure> {
        let by_name = Selector::Name(text.to_owned());
        if let Some(row) = self.store.schedule(self.scope.clone(), by_name).await? {
            return Ok(row);
        }
        let is_id =
            text.len() >= ID_LETTERS_MIN && text.chars().all(|one| one.is_ascii_hexdigit() || one == '-');
        if is_id {
            let by_id = Selector::IdPrefix(text.to_lowercase());
            if let Some(row) = self.store.schedule(self.scope.clone(), by_id).await? {
                return Ok(row);
            }
        }
        Err(self.not_found(&Selector::Name(text.to_owned())).await?)
    }

    /// One ledger entry with all its attempts.
    ///
    /// # Errors
    /// When there is none.
    pub async fn run(&self, run: RunKey) -> Result<RunRow, Failure> {
        self.store.run(self.scope.clone(), run).await?.ok_or_else(|| no_run(run))
    }
}

pub(super) fn no_run(run: RunKey) -> Failure {
    Failure {
        kind: Kind::NotFound,
        message: format!("there is no {run}"),
        hint: Some("`punctual runs` shows the latest ones; retention removes old ones".to_owned()),
    }
}

/// The zone that a schedule's local times are in.
pub fn zone_of(row: &ScheduleRow) -> Zone {
    Zone::get(row.definition.timezone()).unwrap_or_else(|_| Zone::utc())
}

/// Reads the id of a run: `run-12`, or its number.
///
/// # Errors
/// When it is neither.
///
/// ```
/// assert_eq!(punctual_app::run_named("run-12")?.0, 12);
/// # Ok::<(), punctual_app::Failure>(())
/// ```
pub fn run_named(text: &str) -> Result<RunKey, Failure> {
    let number =
        text.trim().strip_prefix("run-").unwrap_or(text.trim()).parse().ok().filter(|number| *number > 0);
    number.map(RunKey).ok_or_else(|| {
        Failure::invalid(
            format!("`{text}` is not the id of a run"),
            "write it as `run-12`; `punctual runs` shows them",
        )
    })
}
