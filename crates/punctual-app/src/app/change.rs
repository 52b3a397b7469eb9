//! The one loop that changes a schedule: read the row, decide with `punctual-plan`, write, and again if a planner or
//! another person was faster. It decides exactly as the simulator does.

use std::sync::Arc;

use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Change, Changed, Plan, Schedule, Status, When, Window};
use punctual_store::{ScheduleRow, ScheduleWrite, Selector, Store, Turn, Write, Written};

use super::App;
use crate::Failure;

/// How often a change is decided again because somebody was faster.
const CHANGE_TRIES_MAX: usize = 20;

/// Schedules of one transaction when many are changed.
pub(super) const MANY_MAX: usize = 500;

/// What is done to a schedule.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// It gets a new version with this definition; its id, its anchor and its runs stay.
    Replace {
        /// The definition.
        definition: Box<Schedule>,
        /// What the audit log says of it.
        note: String,
        /// The status that goes with it, if another one is asked for.
        status: Option<Status>,
    },
    /// Something that it shares with others changed; its definition is the stored one with the change in it.
    Share {
        /// What changed.
        what: String,
    },
    /// It leaves `active`.
    Leave(Status),
    /// It becomes active again.
    Resume,
    /// It is deleted.
    Delete,
}

impl Step {
    /// What it does to the rows that were planned before; a resumption finds none.
    fn change(&self, row: &ScheduleRow) -> Option<Change> {
        match self {
            Self::Replace { .. } => Some(Change::Edit { version: row.definition.version + 1 }),
            Self::Share { what } => Some(Change::Shared { what: what.clone() }),
            Self::Leave(status) => Some(Change::Leave(status.clone())),
            Self::Delete => Some(Change::Delete),
            Self::Resume => None,
        }
    }

    /// The status that it leads to, if that is another one.
    pub(super) fn status(&self, row: &ScheduleRow) -> Option<Status> {
        match self {
            Self::Replace { status: Some(status), .. } => Some(status.clone()),
            // A valid edit clears what made it invalid; a pause stays.
            Self::Replace { .. } | Self::Share { .. } => {
                let is_cleared =
                    matches!(row.state.status, Status::PausedInvalid { .. } | Status::Exhausted { .. });
                is_cleared.then_some(Status::Active)
            }
            Self::Leave(status) => Some(status.clone()),
            Self::Resume => Some(Status::Active),
            Self::Delete => None,
        }
    }

    /// The definition that it leads to, if that is another one.
    pub(super) fn definition(&self, row: &ScheduleRow) -> Option<Schedule> {
        let new = match self {
            Self::Replace { definition, .. } => definition.as_ref(),
            Self::Share { .. } => row.definition.as_ref(),
            _ => return None,
        };
        let (id, version) = (row.definition.id, row.definition.version + 1);
        let mut new = Schedule { id, version, ..new.clone() };
        if let (When::Ticks(new), Some(old)) = (&mut new.when, row.definition.when.timing())
            && holds(Rule::AnchorStays)
        {
            new.created_at = old.created_at;
        }
        Some(new)
    }

    /// The kind of its audit event.
    fn kind(&self) -> &'static str {
        match self {
            Self::Replace { .. } => "schedule.updated",
            Self::Share { .. } => "schedule.changed",
            Self::Leave(Status::Maintenance { .. }) => "schedule.maintenance",
            Self::Leave(_) => "schedule.disabled",
            Self::Resume => "schedule.enabled",
            Self::Delete => "schedule.deleted",
        }
    }

    fn note(&self) -> String {
        match self {
            Self::Replace { note, .. } => note.clone(),
            Self::Share { what } => format!("decided again after a change of {what}"),
            Self::Leave(Status::PausedManual { by, note }) if note.is_empty() => format!("disabled by {by}"),
            Self::Leave(Status::PausedManual { by, note }) => format!("disabled by {by}: {note}"),
            Self::Leave(Status::Maintenance { by, note }) => format!("maintenance by {by}: {note}"),
            Self::Leave(status) => format!("left active: {}", status.name()),
            Self::Resume => "enabled".to_owned(),
            Self::Delete => "deleted".to_owned(),
        }
    }
}

/// Says what is to be done to a schedule. An async closure does; what a server asks for must be sent between its
/// threads, which a closure that borrows cannot promise.
pub trait Decide {
    /// The step from this row; nothing if there is nothing to do.
    fn decide(&self, row: &ScheduleRow) -> impl Future<Output = Result<Option<Step>, Failure>>;
}

impl<F: AsyncFn(&ScheduleRow) -> Result<Option<Step>, Failure>> Decide for F {
    fn decide(&self, row: &ScheduleRow) -> impl Future<Output = Result<Option<Step>, Failure>> {
        self(row)
    }
}

/// What a change came to.
#[derive(Clone, Debug)]
pub struct Acted {
    /// The schedule afterwards.
    pub row: ScheduleRow,
    /// Whether there was anything to do.
    pub is_changed: bool,
}

impl App {
    /// Changes a living schedule. `decide` sees each state of it that the change is tried on, and says what is to be
    /// done, if anything.
    ///
    /// # Errors
    /// When there is no such schedule, `decide` refuses, or it changes faster than it can be decided.
    pub async fn act(&self, selector: Selector, decide: impl Decide) -> Result<Acted, Failure> {
        self.act_by(selector, &decide).await
    }

    async fn act_by(&self, selector: Selector, decide: &impl Decide) -> Result<Acted, Failure> {
        let mut row = self.living(selector).await?;
        let id = Selector::Id(row.definition.id);
        for _ in 0..CHANGE_TRIES_MAX {
            let Some(step) = decide.decide(&row).await? else { return Ok(Acted { row, is_changed: false }) };
            let write = self.decided(&row, &step).await?;
            match self.write(write).await? {
                Written::Stale => row = self.living(id.clone()).await?,
                _ => return Ok(Acted { row: self.get(id).await?, is_changed: true }),
            }
        }
        Err(Failure::world(format!("`{}` changes all the time; nothing was written", row.definition.name)))
    }

    /// Changes many schedules, in transactions of some hundred. `told` hears how many are done.
    ///
    /// # Errors
    /// At the first schedule that cannot be changed; those before it are.
    pub async fn act_many(
        &self,
        rows: Vec<ScheduleRow>,
        decide: impl Decide,
        told: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Acted>, Failure> {
        let mut acted = Vec::with_capacity(rows.len());
        for batch in rows.chunks(MANY_MAX) {
            for (row, is_changed) in batch.iter().zip(self.act_batch(batch, &decide).await?) {
                let row = match is_changed {
                    true => self.get(Selector::Id(row.definition.id)).await?,
                    false => row.clone(),
                };
                acted.push(Acted { row, is_changed });
            }
            told(acted.len());
        }
        Ok(acted)
    }

    /// Changes schedules in one transaction; of each, whether there was anything to do.
    pub(super) async fn act_batch(
        &self,
        rows: &[ScheduleRow],
        decide: &impl Decide,
    ) -> Result<Vec<bool>, Failure> {
        let mut acted = vec![false; rows.len()];
        let (mut writes, mut places) = (Vec::new(), Vec::new());
        for (place, row) in rows.iter().enumerate() {
            if let Some(step) = decide.decide(row).await? {
                writes.push(self.decided(row, &step).await?);
                places.push(place);
            }
        }
        let written = self.store.write_schedules(self.scope(), writes).await?;
        for (place, written) in places.into_iter().zip(written) {
            acted[place] = match written? {
                Written::Stale => {
                    self.act_by(Selector::Id(rows[place].definition.id), decide).await?.is_changed
                }
                _ => true,
            };
        }
        Ok(acted)
    }

    /// Decides every schedule again that uses something which changed, such as a calendar.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn share(
        &self,
        kind: punctual_store::UseKind,
        name: &str,
        told: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Acted>, Failure> {
        let users = self.store.users_of(self.scope(), kind, name.to_owned()).await?;
        if users.is_empty() || !holds(Rule::CalendarDecidesAgain) {
            return Ok(Vec::new());
        }
        let rows = self.list(&super::Listing::default()).await?;
        let rows = rows.into_iter().filter(|row| users.contains(&row.key)).collect();
        let what = format!("the {} `{name}`", kind.name().replace('_', " "));
        self.act_many(rows, async |_: &ScheduleRow| Ok(Some(Step::Share { what: what.clone() })), told).await
    }

    /// What a step writes, decided on a row as it was read.
    async fn decided(&self, row: &ScheduleRow, step: &Step) -> Result<ScheduleWrite, Failure> {
        let now = self.now().await?;
        let open = self.store.open_rows(self.scope(), row.key).await?;
        let definition = step.definition(row).map(Arc::new);
        let turn = Turn { row, open: &open, window: Window { now, pace: self.pace } };
        let nothing =
            || Changed { removed: Vec::new(), cancelled: Vec::new(), plan: Plan::starting(row.state.cursor) };
        let changed = step.change(row).map_or_else(nothing, |what| turn.changed(&what));
        let status = step.status(row);
        let is_active = status.as_ref().map_or(row.state.status.is_active(), Status::is_active);
        let next = definition.as_deref().unwrap_or(&row.definition);
        let plan = match step {
            Step::Replace { .. } | Step::Share { .. } if is_active => turn.plan(next, changed.plan.cursor),
            Step::Resume => turn.resume(),
            _ => None,
        };
        let write = Write::Change {
            schedule: row.key,
            version: row.definition.version,
            from: row.state.cursor,
            definition,
            status,
            is_deleted: *step == Step::Delete,
            changed,
            plan,
        };
        Ok(ScheduleWrite { write, kind: step.kind(), note: step.note(), now })
    }
}
