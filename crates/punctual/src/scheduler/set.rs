//! The set of tasks: what is stored of it is compared with what is declared, and made so where that is allowed.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{
    Before, Change, Cursor, Declaration, Difference, Drift, FieldDrift, Open, Pace, Schedule, Status, Stored,
    Subject, Window, change, diff, plan, plan_first,
};
use punctual_store::{
    Cut, Document, DocumentKind, NewDocument, ScheduleFilter, ScheduleRow, ScheduleWrite, Scope, Selector,
    Store, Write, Written, timing, to_microsecond,
};

use super::Error;
use super::define::{Known, Terms, define};
use super::ledger::Ledger;
use super::task::Task;
use crate::Failure;

/// Tasks of one page of what is stored.
const PAGE: u32 = 1_000;

/// How often a set is compared anew because somebody else was faster.
const TRIES_MAX: usize = 20;

/// What is done about differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accepting {
    /// A set that was never stored, and nothing else.
    FirstStart,
    /// Whatever is declared.
    Everything,
}

/// A set on its way into the ledger.
pub(super) struct Set<'a> {
    pub(super) ledger: &'a Ledger,
    pub(super) scope: Scope,
    pub(super) terms: Terms,
    pub(super) pace: Pace,
}

/// What became of one attempt to store the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    Whole,
    /// Another process changed something between our reading and our writing.
    Stale,
}

impl Set<'_> {
    /// Compares the tasks with what is stored, and stores what is accepted.
    pub(super) async fn declare(&mut self, tasks: &[Task], accepting: Accepting) -> Result<(), Error> {
        for _ in 0..TRIES_MAX {
            self.terms.now = to_microsecond(self.ledger.now().await?);
            if self.attempt(tasks, accepting).await? == Made::Whole {
                return Ok(());
            }
        }
        Err(Failure::world("the stored tasks change all the time; nothing was started").into())
    }

    async fn attempt(&self, tasks: &[Task], accepting: Accepting) -> Result<Made, Error> {
        let name = self.terms.set.clone();
        let marked = self.ledger.document(self.scope.clone(), DocumentKind::DeclaredSet, name).await?;
        let stored = self.stored(tasks).await?;
        let own = |row: &&ScheduleRow| row.declared_set.as_ref() == Some(&self.terms.set);
        let known = stored.iter().filter(own).map(|row| {
            let (id, created_at) = (row.definition.id, made_at(row));
            (row.definition.name.clone(), Known { id, created_at })
        });
        let definitions = define(tasks, &self.terms, &known.collect())?;
        let differences = self.differences(&definitions, &stored);
        let is_first = marked.is_none();
        self.refuse(&differences, Allowed::of(accepting, marked.as_ref()))?;
        let changes = Changes { set: self, stored: &stored, definitions: &definitions, is_first };
        for one in &differences {
            if changes.make(one).await? == Made::Stale {
                return Ok(Made::Stale);
            }
        }
        if is_first || !differences.is_empty() {
            self.mark(&definitions).await?;
        }
        Ok(Made::Whole)
    }

    /// The living schedules of the set, and those of others that have the name of one of its tasks.
    async fn stored(&self, tasks: &[Task]) -> Result<Vec<ScheduleRow>, Error> {
        let filter =
            ScheduleFilter { declared_set: Some(self.terms.set.clone()), ..ScheduleFilter::default() };
        let mut cut = Cut::first(PAGE);
        let mut rows = Vec::new();
        loop {
            let page = self.ledger.schedules(self.scope.clone(), filter.clone(), cut).await?;
            rows.extend(page.rows);
            match page.next {
                Some(after) => cut = Cut { after: Some(after), limit: PAGE },
                None => break,
            }
        }
        let names: HashSet<String> = rows.iter().map(|row| row.definition.name.clone()).collect();
        for task in tasks.iter().filter(|task| !names.contains(&task.identifier)) {
            let selector = Selector::Name(task.identifier.clone());
            let found = self.ledger.schedule(self.scope.clone(), selector).await?;
            rows.extend(found.filter(|row| row.deleted_at.is_none()));
        }
        Ok(rows)
    }

    /// What differs, the state of each task included: one that somebody paused would not run.
    fn differences(&self, definitions: &[Schedule], stored: &[ScheduleRow]) -> Vec<Difference> {
        let declaration = Declaration { set: &self.terms.set, schedules: definitions };
        let rows: Vec<Stored<'_>> = stored
            .iter()
            .map(|row| Stored { set: row.declared_set.as_deref(), schedule: &row.definition })
            .collect();
        let mut differences = diff(&declaration, &rows);
        for one in &mut differences {
            let paused = stored.iter().find(|row| row.definition.name == one.name).and_then(paused);
            match (&mut one.drift, paused) {
                (drift @ Drift::Unchanged, Some(status)) => *drift = Drift::Changed(vec![status]),
                (Drift::Changed(fields), Some(status)) => fields.push(status),
                _ => {}
            }
        }
        differences.retain(|one| one.drift != Drift::Unchanged);
        differences
    }

    fn refuse(&self, differences: &[Difference], allowed: Allowed) -> Result<(), Error> {
        let is_refused = |one: &&Difference| match (&one.drift, allowed) {
            (Drift::Taken { .. }, _) => true,
            (Drift::Added, Allowed::Added) => false,
            (_, allowed) => allowed != Allowed::Everything,
        };
        let refused: Vec<Difference> = differences.iter().filter(is_refused).cloned().collect();
        if refused.is_empty() {
            return Ok(());
        }
        Err(Error::Drift { set: self.terms.set.clone(), differences: refused })
    }

    /// Notes that the set is stored, so that the next start is not the first one.
    async fn mark(&self, definitions: &[Schedule]) -> Result<(), Error> {
        let tasks: Vec<&str> = definitions.iter().map(|one| one.name.as_str()).collect();
        let document = NewDocument {
            kind: DocumentKind::DeclaredSet,
            name: self.terms.set.clone(),
            body: serde_json::json!({ "tasks": tasks }).to_string(),
            replaces: None,
            now: self.terms.now,
        };
        self.ledger.put_document(self.scope.clone(), document).await?;
        Ok(())
    }
}

/// Which differences are made so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowed {
    None,
    /// New tasks: the set was never stored, or its first start did not get to its end.
    Added,
    Everything,
}

impl Allowed {
    fn of(accepting: Accepting, marked: Option<&Document>) -> Self {
        match accepting {
            Accepting::Everything => Self::Everything,
            Accepting::FirstStart if marked.is_none() => Self::Added,
            Accepting::FirstStart => Self::None,
        }
    }
}

/// When a stored task was made, to the precision in which its definition says so.
fn made_at(row: &ScheduleRow) -> Timestamp {
    row.definition.when.timing().map_or(row.created_at, |timing| timing.created_at)
}

/// That a task is stored in a state in which it does not run, though none of its policies led there.
fn paused(row: &ScheduleRow) -> Option<FieldDrift> {
    let status = &row.state.status;
    let is_paused = matches!(
        status,
        Status::PausedManual { .. } | Status::Maintenance { .. } | Status::PausedInvalid { .. }
    );
    is_paused.then(|| FieldDrift {
        field: "status",
        stored: status.name().to_owned(),
        declared: Status::Active.name().to_owned(),
    })
}

/// The changes that make the stored set the declared one.
struct Changes<'a> {
    set: &'a Set<'a>,
    stored: &'a [ScheduleRow],
    definitions: &'a [Schedule],
    is_first: bool,
}

impl Changes<'_> {
    async fn make(&self, one: &Difference) -> Result<Made, Error> {
        let wanted = self.definitions.iter().find(|definition| definition.name == one.name);
        let row = self.stored.iter().find(|row| row.definition.name == one.name);
        match (&one.drift, wanted, row) {
            (Drift::Added, Some(wanted), _) => self.create(wanted).await,
            (Drift::Changed(_), Some(wanted), Some(row)) => self.edit(row, wanted).await,
            (Drift::Removed, _, Some(row)) => self.delete(row).await,
            _ => Ok(Made::Whole),
        }
    }

    fn window(&self) -> Window {
        Window { now: self.set.terms.now, pace: self.set.pace }
    }

    async fn create(&self, wanted: &Schedule) -> Result<Made, Error> {
        let now = self.set.terms.now;
        let subject = Subject::of(wanted, Cursor::starting(now));
        let first = if self.is_first { plan_first } else { plan };
        let write = Write::Create {
            definition: Arc::new(wanted.clone()),
            status: Status::Active,
            plan: subject.map(|subject| first(&subject, self.window())),
            declared_set: Some(self.set.terms.set.clone()),
        };
        let note = format!("declared in the set `{}` of a program", self.set.terms.set);
        self.write(ScheduleWrite { write, kind: "schedule.created", note, now }).await
    }

    /// Gives a task a new version; what ran under the old ones stays in the ledger.
    async fn edit(&self, row: &ScheduleRow, wanted: &Schedule) -> Result<Made, Error> {
        let version = row.definition.version + 1;
        let wanted = Schedule { version, ..wanted.clone() };
        let changed = self.changed(row, &Change::Edit { version }).await?;
        let next = timing(&wanted, &row.state).map(|timing| {
            let (id, policy, cursor) = (wanted.id, &*wanted.policy, changed.plan.cursor);
            let subject =
                Subject { id, timing: &timing, policy, cursor, late: &[], outstanding: 0, slept: None };
            plan(&subject, self.window())
        });
        let write = Write::Change {
            schedule: row.key,
            version: row.definition.version,
            from: row.state.cursor,
            definition: Some(Arc::new(wanted)),
            status: (!row.state.status.is_active()).then_some(Status::Active),
            is_deleted: false,
            changed,
            plan: next,
        };
        let note = format!("version {version} of the set `{}`", self.set.terms.set);
        self.write(ScheduleWrite { write, kind: "schedule.updated", note, now: self.set.terms.now }).await
    }

    async fn delete(&self, row: &ScheduleRow) -> Result<Made, Error> {
        let write = Write::Change {
            schedule: row.key,
            version: row.definition.version,
            from: row.state.cursor,
            definition: None,
            status: None,
            is_deleted: true,
            changed: self.changed(row, &Change::Delete).await?,
            plan: None,
        };
        let note = format!("not in the set `{}` any more", self.set.terms.set);
        self.write(ScheduleWrite { write, kind: "schedule.deleted", note, now: self.set.terms.now }).await
    }

    async fn changed(&self, row: &ScheduleRow, what: &Change) -> Result<punctual_plan::Changed, Error> {
        let now = self.set.terms.now;
        let open = self.set.ledger.open_rows(self.set.scope.clone(), row.key).await?;
        let open: Vec<Open> = open.iter().map(|row| row.open).collect();
        let timing = timing(&row.definition, &row.state).filter(|_| row.spent_at.is_none());
        let before = Before {
            timing: timing.as_ref(),
            cursor: row.state.cursor,
            open: &open,
            slept: row.state.status.reason(row.left_at.unwrap_or(now)),
            launched_through: row.launched_through,
        };
        Ok(change(&before, what, now))
    }

    async fn write(&self, write: ScheduleWrite) -> Result<Made, Error> {
        use punctual_store::Error as Refused;
        let mut written = self.set.ledger.write_schedules(self.set.scope.clone(), vec![write]).await?;
        match written.pop().unwrap_or(Err(Refused::Closed)) {
            // A second node of the same program may have made it at this moment.
            Ok(Written::Stale) | Err(Refused::NameTaken { .. }) => Ok(Made::Stale),
            Ok(_) => Ok(Made::Whole),
            Err(error) => Err(error.into()),
        }
    }
}
