//! Maintenance: an org or the whole installation is paused with a note, and what was paused so is enabled again.
//!
//! A note is kept for each org that is paused and one for the installation; while either is there, new schedules start
//! paused. Whoever ends it enables exactly those that were paused by it.

use std::collections::BTreeSet;

use jiff::Timestamp;
use punctual_plan::Status;
use punctual_store::{
    Cut, Document, DocumentKind, NewDocument, ScheduleFilter, ScheduleRow, Scope, Shelf, Store,
};
use serde_json::{Value, json};

use super::{App, Decide, Listing, Step};
use crate::{Failure, Kind};

/// What the note is called: each org has at most one.
const NOTE: &str = "org";

/// Notes of one org.
const NOTES: u32 = 1;

/// Schedules of one page.
const PAGE: u32 = 1_000;

/// What is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One org.
    Org,
    /// All of them.
    Installation,
}

/// A pause of an org or of the installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maintenance {
    /// What is paused.
    pub extent: Extent,
    /// Why.
    pub note: String,
    /// Who said so.
    pub by: String,
    /// Since when.
    pub since: Timestamp,
}

impl Maintenance {
    fn read(document: &Document, extent: Extent) -> Self {
        let body: Value = serde_json::from_str(&document.body).unwrap_or_default();
        let said = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
        Self { extent, note: said("note"), by: said("by"), since: document.updated_at }
    }

    /// What a schedule is while it counts.
    fn status(&self) -> Status {
        Status::Maintenance { by: self.by.clone(), note: self.note.clone() }
    }
}

impl App {
    /// The pauses that count for this org: its own and that of the installation.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn maintenance(&self) -> Result<Vec<Maintenance>, Failure> {
        let extents = [Extent::Installation, Extent::Org];
        let mut wanted = Vec::with_capacity(extents.len());
        for extent in extents {
            wanted.push(Shelf { scope: self.noted_in(extent).await?, kind: DocumentKind::Maintenance });
        }
        let noted = self.store.documents_of(wanted, NOTES).await?.into_iter().zip(extents);
        let read = |(documents, extent): (Vec<Document>, Extent)| {
            documents.first().map(|document| Maintenance::read(document, extent))
        };
        Ok(noted.filter_map(read).collect())
    }

    async fn maintenance_of(&self, extent: Extent) -> Result<Option<Maintenance>, Failure> {
        let scope = self.noted_in(extent).await?;
        let document = self.store.document(scope, DocumentKind::Maintenance, NOTE.to_owned()).await?;
        Ok(document.map(|document| Maintenance::read(&document, extent)))
    }

    /// Where the note of a pause is kept.
    async fn noted_in(&self, extent: Extent) -> Result<Scope, Failure> {
        match extent {
            Extent::Org => Ok(self.scope()),
            Extent::Installation => self.of_installation().await,
        }
    }

    /// Keeps the note of a pause: from now on new schedules start paused.
    ///
    /// # Errors
    /// When it is paused already.
    pub async fn note_maintenance(&self, extent: Extent, note: &str) -> Result<Maintenance, Failure> {
        let now = self.now().await?;
        if let Some(before) = self.maintenance_of(extent).await? {
            return Err(Failure {
                kind: Kind::Conflict,
                message: format!("it is in maintenance since {}: {}", before.since, before.note),
                hint: Some("end it first with `punctual system maintenance off`".to_owned()),
            });
        }
        let by = self.actor().to_owned();
        let body = json!({"note": note, "by": by}).to_string();
        let (kind, name) = (DocumentKind::Maintenance, NOTE.to_owned());
        let scope = self.noted_in(extent).await?;
        self.store.put_document(scope, NewDocument { kind, name, body, replaces: Some(0), now }).await?;
        Ok(Maintenance { extent, note: note.to_owned(), by, since: now })
    }

    /// Forgets the note of a pause; whether there was one.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn forget_maintenance(&self, extent: Extent) -> Result<bool, Failure> {
        let scope = self.noted_in(extent).await?;
        Ok(self.store.remove_document(scope, DocumentKind::Maintenance, NOTE.to_owned()).await?)
    }

    /// Pauses every active schedule of the org; gives back how many.
    ///
    /// # Errors
    /// When the database fails; those before are paused.
    pub async fn pause_all(&self, maintenance: &Maintenance) -> Result<usize, Failure> {
        let rows = self.list(&Listing::default()).await?;
        let acted = self.act_many(rows, Leaving(maintenance.status()), &|_| ()).await?;
        Ok(acted.iter().filter(|one| one.is_changed).count())
    }

    /// Enables every schedule of the org that was paused by maintenance, and no other; gives back how many. Nothing
    /// is enabled while another pause counts.
    ///
    /// # Errors
    /// When the database fails; those before are enabled.
    pub async fn resume_all(&self) -> Result<usize, Failure> {
        if !self.maintenance().await?.is_empty() {
            return Ok(0);
        }
        let rows = self.list(&Listing::default()).await?;
        let acted = self.act_many(rows, Returning, &|_| ()).await?;
        Ok(acted.iter().filter(|one| one.is_changed).count())
    }

    /// What a new schedule starts as while a pause counts.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn status_of_new(&self) -> Result<Option<Status>, Failure> {
        let pauses = self.maintenance().await?;
        Ok(pauses.first().map(Maintenance::status))
    }

    /// The orgs that have schedules.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn orgs(&self) -> Result<Vec<String>, Failure> {
        let mut orgs = BTreeSet::new();
        let mut cut = Cut::first(PAGE);
        loop {
            let page = self.store.schedules(Scope::Engine, ScheduleFilter::default(), cut).await?;
            orgs.extend(page.rows.iter().map(|row| row.definition.owner.org_id.clone()));
            let Some(after) = page.next else { return Ok(orgs.into_iter().collect()) };
            cut = Cut { after: Some(after), limit: PAGE };
        }
    }
}

/// Active schedules that are paused.
struct Leaving(Status);

impl Decide for Leaving {
    async fn decide(&self, row: &ScheduleRow) -> Result<Option<Step>, Failure> {
        let is_active = row.state.status.is_active() && row.deleted_at.is_none();
        Ok(is_active.then(|| Step::Leave(self.0.clone())))
    }
}

/// Schedules that maintenance has paused.
struct Returning;

impl Decide for Returning {
    async fn decide(&self, row: &ScheduleRow) -> Result<Option<Step>, Failure> {
        Ok(is_maintained(row).then_some(Step::Resume))
    }
}

/// Whether a schedule was paused by maintenance.
fn is_maintained(row: &ScheduleRow) -> bool {
    matches!(row.state.status, Status::Maintenance { .. }) && row.deleted_at.is_none()
}
