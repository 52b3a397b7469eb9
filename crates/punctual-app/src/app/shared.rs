//! Calendars, quiet hours, templates and limits of a file: what of them is new, and writing them.

use punctual_store::{DocumentKind, NewDocument, Store, calendar_body, quiet_hours_body};
use serde_json::json;

use super::App;
use crate::declare::{Declared, Settings};
use crate::{Failure, Kind};

/// A shared thing that a file adds or changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedChange {
    /// What kind.
    pub kind: DocumentKind,
    /// Its name.
    pub name: String,
    /// Whether it is there already, and says something else.
    pub is_stored: bool,
    body: String,
}

impl App {
    /// What of the shared things of a file is not stored as it is there.
    pub(super) async fn shared_changes(&self, declared: &Declared) -> Result<Vec<SharedChange>, Failure> {
        let calendars = declared.calendars.iter();
        let calendars =
            calendars.map(|(name, one)| (DocumentKind::Calendar, name.clone(), calendar_body(one)));
        let quiet = declared.quiet_hours.iter();
        let quiet = quiet.map(|(name, one)| (DocumentKind::QuietHours, name.clone(), quiet_hours_body(one)));
        let templates = declared.templates.iter();
        let templates = templates.map(|(name, one)| (DocumentKind::Template, name.clone(), one.to_string()));
        let limits =
            limits_body(&declared.settings).map(|body| (DocumentKind::Limits, "org".to_owned(), body));
        let mut changes = Vec::new();
        for (kind, name, body) in calendars.chain(quiet).chain(templates).chain(limits) {
            let stored = self.store.document(self.scope(), kind, name.clone()).await?;
            if stored.as_ref().is_none_or(|stored| stored.body != body) {
                changes.push(SharedChange { kind, name, is_stored: stored.is_some(), body });
            }
        }
        Ok(changes)
    }

    /// Writes shared things; one that is said to be new must still be.
    pub(super) async fn write_shared(&self, changes: &[SharedChange]) -> Result<(), Failure> {
        let now = self.now().await?;
        for change in changes {
            let (kind, name, body) = (change.kind, change.name.clone(), change.body.clone());
            let replaces = (!change.is_stored).then_some(0);
            self.store.put_document(self.scope(), NewDocument { kind, name, body, replaces, now }).await?;
        }
        Ok(())
    }
}

/// Refuses to change what is stored: whoever only adds schedules does not mean that.
pub(super) fn refuse_changed(changes: &[SharedChange]) -> Result<(), Failure> {
    let Some(change) = changes.iter().find(|change| change.is_stored) else { return Ok(()) };
    let what = change.kind.table().replace('_', " ");
    Err(Failure {
        kind: Kind::Conflict,
        message: format!("`{}` of the {what} is stored and says something else", change.name),
        hint: Some("change it with `punctual apply`, or give it another name in the file".to_owned()),
    })
}

/// The limits of an org as the body of their document, if a file sets any.
fn limits_body(settings: &Settings) -> Option<String> {
    let min_interval_ms = i64::try_from(settings.min_interval.as_millis()).unwrap_or(i64::MAX);
    let is_set = settings.limits != punctual_plan::OrgLimits::default()
        || settings.schedules_max.is_some()
        || min_interval_ms != 1_000;
    is_set.then(|| {
        let limits = &settings.limits;
        json!({
            "runs_per_minute": limits.per_minute_max,
            "runs_in_flight": limits.in_flight_max,
            "over": punctual_plan::Named::name(limits.over),
            "schedules": settings.schedules_max,
            "min_interval_ms": min_interval_ms,
        })
        .to_string()
    })
}
