//! Closing the gap between a file of schedules and the database.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Drift, ScheduleKey, Status};
use punctual_store::{BATCH_MAX, DocumentKind, NewDocument, ScheduleRow, Selector, Store, UseKind};
use serde_json::json;

use super::change::{Decide, MANY_MAX};
use super::create::{Arrival, counted_from};
use super::propose::{Proposal, Toggle, owner, pauser};
use super::shared::SharedChange;
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
        self.write_shared(&proposal.shared).await?;
        self.add(proposal, &work, told).await?;
        let mut done = work.added.len();
        let decide = Changing { app: self, work: &work };
        let changed = self.act_on(&work.changed_names(), decide, &|more| told(done + more)).await?;
        done += changed;
        let delete = async |_: &ScheduleRow| Ok(Some(Step::Delete));
        let removed = self.act_on(&work.removed, delete, &|more| told(done + more)).await?;
        done += removed;
        let toggled = self.toggle(proposal, &|more| told(done + more)).await?;
        self.decide_again(proposal, &work).await?;
        self.note_set(proposal).await?;
        let total = proposal.unchanged + proposal.changes.len();
        Ok(Applied {
            added: work.added.len(),
            changed,
            removed,
            toggled,
            shared: proposal.shared.len(),
            unchanged: total - work.added.len() - changed - removed,
        })
    }

    /// Changes the living schedules of some names, some hundred at a time, so that never more of them are held.
    async fn act_on(
        &self,
        names: &[&str],
        decide: impl Decide,
        told: &(dyn Fn(usize) + Sync),
    ) -> Result<usize, Failure> {
        let (mut done, mut changed) = (0, 0);
        for batch in names.chunks(MANY_MAX) {
            let mut rows = Vec::with_capacity(batch.len());
            for name in batch {
                // Read now: its version may be a new one by now.
                rows.push(self.living(Selector::Name((*name).to_owned())).await?);
            }
            let acted = self.act_batch(&rows, &decide).await?;
            changed += acted.into_iter().filter(|is_changed| *is_changed).count();
            done += batch.len();
            told(done);
        }
        Ok(changed)
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
                pace: self.pace,
            };
            self.create_batch(batch.iter().copied(), &arrival).await?;
            done += batch.len();
            told(done);
        }
        Ok(())
    }

    async fn toggle(&self, proposal: &Proposal, told: &(dyn Fn(usize) + Sync)) -> Result<usize, Failure> {
        let wanted: HashMap<&str, Toggle> =
            proposal.changes.iter().filter_map(|one| Some((one.name.as_str(), one.toggle?))).collect();
        let names: Vec<&str> = proposal.changes.iter().map(|one| one.name.as_str()).collect();
        let names: Vec<&str> = names.into_iter().filter(|name| wanted.contains_key(name)).collect();
        let leave = Status::PausedManual {
            by: pauser(&proposal.set),
            note: "`enabled: false` in the file".to_owned(),
        };
        self.act_on(&names, Toggling { wanted, leave }, told).await
    }

    /// Schedules of others that use a changed calendar or changed quiet hours are decided again.
    async fn decide_again(&self, proposal: &Proposal, work: &Work<'_>) -> Result<(), Failure> {
        let changed = |change: &&SharedChange| change.is_stored && holds(Rule::CalendarDecidesAgain);
        for change in proposal.shared.iter().filter(changed) {
            let kind = match change.kind {
                DocumentKind::Calendar => UseKind::Calendar,
                DocumentKind::QuietHours => UseKind::QuietHours,
                _ => continue,
            };
            let users = self.store.users_of(self.scope(), kind, change.name.clone()).await?;
            let users: HashSet<ScheduleKey> = users.into_iter().collect();
            let others = proposal.living.iter().filter(|row| users.contains(&row.key));
            let names: Vec<&str> = others.map(|row| row.name.as_str()).collect();
            let removed: HashSet<&str> = work.removed.iter().copied().collect();
            let is_other = |name: &&str| !work.changed.contains_key(name) && !removed.contains(name);
            let names: Vec<&str> = names.into_iter().filter(is_other).collect();
            let what = format!("the {} `{}`", kind.name().replace('_', " "), change.name);
            self.act_on(&names, Sharing { what }, &|_| {}).await?;
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

/// Schedules that get what the file declares.
struct Changing<'a> {
    app: &'a App,
    work: &'a Work<'a>,
}

impl Decide for Changing<'_> {
    async fn decide(&self, row: &ScheduleRow) -> Result<Option<Step>, Failure> {
        Ok(self.work.step(row, self.app.now().await?))
    }
}

/// Schedules that are paused or resumed.
struct Toggling<'a> {
    wanted: HashMap<&'a str, Toggle>,
    leave: Status,
}

impl Decide for Toggling<'_> {
    async fn decide(&self, row: &ScheduleRow) -> Result<Option<Step>, Failure> {
        Ok(match self.wanted.get(row.definition.name.as_str()) {
            Some(Toggle::Disable) => Some(Step::Leave(self.leave.clone())),
            Some(Toggle::Enable) => Some(Step::Resume),
            None => None,
        })
    }
}

/// Schedules that are decided again, for what they share has changed.
struct Sharing {
    what: String,
}

impl Decide for Sharing {
    async fn decide(&self, _: &ScheduleRow) -> Result<Option<Step>, Failure> {
        Ok(Some(Step::Share { what: self.what.clone() }))
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
    changed: HashMap<&'a str, Wanted<'a>>,
    removed: Vec<&'a str>,
}

/// A schedule as it shall be, and what the audit log says of it.
struct Wanted<'a> {
    schedule: &'a declare::Schedule,
    note: String,
}

impl<'a> Work<'a> {
    fn of(proposal: &'a Proposal, occasion: Occasion) -> Self {
        let declared: HashMap<&str, &declare::Schedule> =
            proposal.declared.schedules.iter().map(|one| (one.definition.name.as_str(), one)).collect();
        let mut work = Self { added: Vec::new(), changed: HashMap::new(), removed: Vec::new() };
        for change in &proposal.changes {
            let name = change.name.as_str();
            match (&change.drift, declared.get(name).copied()) {
                (Drift::Added, Some(wanted)) => work.added.push(wanted),
                (Drift::Changed(fields), Some(schedule)) => {
                    let fields: Vec<&str> = fields.iter().map(|one| one.field).collect();
                    let note = format!("the file changes {}", fields.join(", "));
                    work.changed.insert(name, Wanted { schedule, note });
                }
                (Drift::Removed, _) => work.removed.push(name),
                _ => {}
            }
        }
        // A delay after the start that has not passed yet begins with each start.
        for name in proposal.restarts.iter().filter(|_| occasion == Occasion::Start) {
            if let Some(schedule) = declared.get(name.as_str()).copied() {
                let note = "its delay begins with the service".to_owned();
                work.changed.insert(name, Wanted { schedule, note });
            }
        }
        work
    }

    /// The stored schedules that change, by name.
    fn changed_names(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = self.changed.keys().copied().collect();
        names.sort_unstable();
        names
    }

    fn step(&self, row: &ScheduleRow, now: Timestamp) -> Option<Step> {
        let wanted = self.changed.get(row.definition.name.as_str())?;
        let definition = Box::new(counted_from(wanted.schedule, now));
        Some(Step::Replace { definition, note: wanted.note.clone(), status: None })
    }
}
