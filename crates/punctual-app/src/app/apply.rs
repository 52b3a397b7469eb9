//! Closing the gap between a file of schedules and the database.

use std::collections::HashMap;

use jiff::Timestamp;
use punctual_plan::{Drift, Status};
use punctual_store::{BATCH_MAX, DocumentKind, NewDocument, ScheduleRow, ScheduleWrite, Store, UseKind};
use serde_json::json;

use super::create::{Arrival, counted_from, creation};
use super::propose::{Proposal, Toggle, owner, pauser};
use super::{App, Step};
use crate::declare;
use crate::{Failure, Kind};

/// When a file is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// Somebody asks for it: one-shots after a delay that are stored stay as they are.
    Request,
    /// The service starts: those that have not fired yet begin anew.
    Start,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Schedules that are new.
    pub added: usize,
    /// Schedules with a new version.
    pub changed: usize,
    /// Schedules that are gone.
    pub removed: usize,
    /// Schedules that were paused or resumed.
    pub toggled: usize,
    /// Shared things that were written.
    pub shared: usize,
    /// Schedules that are as they were.
    pub unchanged: usize,
}

impl App {
    /// Writes what a file asks for. `told` hears how many schedules are done.
    ///
    /// # Errors
    /// When a name is somebody else's, a new schedule could never run, or the database fails. Every schedule that was
    /// written by then stays; applying again goes on.
    pub async fn apply(
        &self,
        proposal: &Proposal,
        occasion: Occasion,
        told: &(dyn Fn(usize) + Sync),
    ) -> Result<Applied, Failure> {
        refuse_taken(proposal)?;
        let work = Work::of(proposal, occasion);
        for schedule in &work.added {
            self.check_new(schedule, proposal.now).await?;
        }
        self.write_shared(proposal).await?;
        self.add(proposal, &work, told).await?;
        let done = work.added.len();
        let told_more = |more: usize| told(done + more);
        let changed = self.act_many(
            work.rows(),
            async |row: &ScheduleRow| Ok(work.step(row, self.now().await?)),
            &told_more,
        );
        let changed = changed.await?.len();
        let told_more = |more: usize| told(done + changed + more);
        let removed = work.removed.clone();
        let removed =
            self.act_many(removed, async |_: &ScheduleRow| Ok(Some(Step::Delete)), &told_more).await?.len();
        let toggled = self.toggle(proposal, &told_more).await?;
        self.decide_again(proposal, &work).await?;
        self.note_set(proposal).await?;
        let touched = changed + removed;
        Ok(Applied {
            added: work.added.len(),
            changed,
            removed,
            toggled,
            shared: proposal.shared.len(),
            unchanged: proposal.changes.len() - work.added.len() - touched,
        })
    }

    async fn write_shared(&self, proposal: &Proposal) -> Result<(), Failure> {
        let now = self.now().await?;
        for change in &proposal.shared {
            let (kind, name, body) = (change.kind, change.name.clone(), change.body.clone());
            self.store
                .put_document(self.scope(), NewDocument { kind, name, body, replaces: None, now })
                .await?;
        }
        Ok(())
    }

    async fn add(
        &self,
        proposal: &Proposal,
        work: &Work<'_>,
        told: &(dyn Fn(usize) + Sync),
    ) -> Result<(), Failure> {
        let by = pauser(&proposal.set);
        let mut done = 0;
        for batch in work.added.chunks(BATCH_MAX) {
            let now = self.now().await?;
            let paused = self.status_of_new().await?;
            let arrival = Arrival {
                now,
                by: &by,
                paused: paused.as_ref(),
                declared_set: Some(&proposal.set),
                is_first: proposal.is_first,
            };
            let writes: Vec<ScheduleWrite> = batch.iter().map(|one| creation(one, &arrival)).collect();
            for written in self.store.write_schedules(self.scope(), writes).await? {
                written?;
            }
            done += batch.len();
            told(done);
        }
        Ok(())
    }

    async fn toggle(&self, proposal: &Proposal, told: &(dyn Fn(usize) + Sync)) -> Result<usize, Failure> {
        let wanted: HashMap<&str, Toggle> =
            proposal.changes.iter().filter_map(|one| Some((one.name.as_str(), one.toggle?))).collect();
        let mut rows = Vec::new();
        for name in wanted.keys() {
            // Its version may be a new one by now.
            rows.push(self.living(punctual_store::Selector::Name((*name).to_owned())).await?);
        }
        let leave = Status::PausedManual {
            by: pauser(&proposal.set),
            note: "`enabled: false` in the file".to_owned(),
        };
        let step = async |row: &ScheduleRow| {
            Ok(match wanted.get(row.definition.name.as_str()) {
                Some(Toggle::Disable) => Some(Step::Leave(leave.clone())),
                Some(Toggle::Enable) => Some(Step::Resume),
                None => None,
            })
        };
        Ok(self.act_many(rows, step, told).await?.len())
    }

    /// Schedules of others that use a changed calendar or changed quiet hours are decided again.
    async fn decide_again(&self, proposal: &Proposal, work: &Work<'_>) -> Result<(), Failure> {
        for change in proposal.shared.iter().filter(|change| change.is_stored) {
            let kind = match change.kind {
                DocumentKind::Calendar => UseKind::Calendar,
                DocumentKind::QuietHours => UseKind::QuietHours,
                _ => continue,
            };
            let users = self.store.users_of(self.scope(), kind, change.name.clone()).await?;
            let is_other = |row: &&ScheduleRow| {
                users.contains(&row.key) && !work.changed.contains_key(row.definition.name.as_str())
            };
            let mut rows = Vec::new();
            for row in proposal.rows.values().filter(is_other) {
                // Read again: what was read before the change means the calendar as it was.
                rows.push(self.living(punctual_store::Selector::Id(row.definition.id)).await?);
            }
            let what = format!("the {} `{}`", kind.name().replace('_', " "), change.name);
            let step = async |_: &ScheduleRow| Ok(Some(Step::Share { what: what.clone() }));
            self.act_many(rows, step, &|_| {}).await?;
        }
        Ok(())
    }

    /// Keeps when the set was last applied, for whoever asks where its schedules come from.
    async fn note_set(&self, proposal: &Proposal) -> Result<(), Failure> {
        let now = self.now().await?;
        let body = json!({"applied_at": now, "schedules": proposal.declared.schedules.len()}).to_string();
        let (kind, name) = (DocumentKind::DeclaredSet, proposal.set.clone());
        self.store.put_document(self.scope(), NewDocument { kind, name, body, replaces: None, now }).await?;
        Ok(())
    }
}

/// What somebody else made is never touched.
pub(super) fn refuse_taken(proposal: &Proposal) -> Result<(), Failure> {
    let taken = proposal.changes.iter().filter_map(|change| match &change.drift {
        Drift::Taken { by } => Some(format!("`{}`, made by {}", change.name, owner(by.as_deref()))),
        _ => None,
    });
    let taken: Vec<String> = taken.collect();
    if taken.is_empty() {
        return Ok(());
    }
    Err(Failure {
        kind: Kind::Conflict,
        message: format!("the file declares what is not its own: {}", taken.join("; ")),
        hint: Some(
            "rename it in the file, delete the stored one, or give the set's name with `--set-name`".into(),
        ),
    })
}

/// A proposal sorted by what is to be done.
struct Work<'a> {
    added: Vec<&'a declare::Schedule>,
    changed: HashMap<&'a str, &'a declare::Schedule>,
    removed: Vec<ScheduleRow>,
    stored: &'a HashMap<String, ScheduleRow>,
    notes: HashMap<&'a str, String>,
}

impl<'a> Work<'a> {
    fn of(proposal: &'a Proposal, occasion: Occasion) -> Self {
        let declared: HashMap<&str, &declare::Schedule> =
            proposal.declared.schedules.iter().map(|one| (one.definition.name.as_str(), one)).collect();
        let stored = &proposal.rows;
        let (added, removed, notes) = (Vec::new(), Vec::new(), HashMap::new());
        let mut work = Self { added, changed: HashMap::new(), removed, stored, notes };
        for change in &proposal.changes {
            let wanted = declared.get(change.name.as_str()).copied();
            match (&change.drift, wanted) {
                (Drift::Added, Some(wanted)) => work.added.push(wanted),
                (Drift::Changed(fields), Some(wanted)) => {
                    let fields: Vec<&str> = fields.iter().map(|one| one.field).collect();
                    work.notes.insert(&change.name, format!("the file changes {}", fields.join(", ")));
                    work.changed.insert(&change.name, wanted);
                }
                (Drift::Unchanged, Some(wanted)) if work.begins_anew(wanted, occasion) => {
                    work.notes.insert(&change.name, "its delay begins with the service".to_owned());
                    work.changed.insert(&change.name, wanted);
                }
                (Drift::Removed, _) => work.removed.extend(stored.get(&change.name).cloned()),
                _ => {}
            }
        }
        work
    }

    /// A delay after the start that has not passed yet begins with each start.
    fn begins_anew(&self, wanted: &declare::Schedule, occasion: Occasion) -> bool {
        let is_open = |row: &ScheduleRow| row.state.status.is_active() && row.launched_through.is_none();
        occasion == Occasion::Start
            && wanted.after_start.is_some()
            && self.stored.get(&wanted.definition.name).is_some_and(is_open)
    }

    /// The stored schedules that change, by name.
    fn rows(&self) -> Vec<ScheduleRow> {
        let mut names: Vec<&str> = self.changed.keys().copied().collect();
        names.sort_unstable();
        names.into_iter().filter_map(|name| self.stored.get(name).cloned()).collect()
    }

    fn step(&self, row: &ScheduleRow, now: Timestamp) -> Option<Step> {
        let name = row.definition.name.as_str();
        let wanted = self.changed.get(name)?;
        let note = self.notes.get(name).cloned().unwrap_or_default();
        let definition = Box::new(counted_from(wanted, now));
        Some(Step::Replace { definition, note, status: None })
    }
}
