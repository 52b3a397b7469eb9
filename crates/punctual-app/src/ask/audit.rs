//! Planned against recorded, the audit log, and its seals.

use jiff::Timestamp;
use punctual_store::{AuditFilter, ScheduleRow};
use punctual_time::Zone;

use super::{Call, Flag, Method, Question};
use crate::{App, Failure, Listing, Pages, moment, run_named, shape, zone_of};

/// The audit of one schedule, or of all.
#[derive(Clone, Debug, Default)]
pub struct Audits {
    /// The schedule, by name or id; all living ones, if none.
    pub schedule: Option<String>,
    /// From when; from its making without it.
    pub from: Option<String>,
    /// Up to when, included; up to now without it.
    pub to: Option<String>,
    /// Whether what tables need stands beside it.
    pub aside: Flag,
}

impl Audits {
    /// Walks through the audits that are asked for.
    ///
    /// # Errors
    /// When there is no such schedule, a time cannot be read, or the database fails.
    pub async fn walk<'a>(&self, app: &'a App) -> Result<AuditWalk<'a>, Failure> {
        let one = match &self.schedule {
            Some(schedule) => Some(app.find(schedule).await?),
            None => None,
        };
        let now = app.now().await?;
        let zone = one.as_ref().map_or_else(Zone::utc, zone_of);
        let to = self.to.as_ref().map_or(Ok(now), |text| moment(text, &zone, now))?;
        let from = match (&self.from, &one) {
            (Some(text), _) => moment(text, &zone, now)?,
            (None, Some(row)) => row.created_at.min(to),
            (None, None) => app.first_made().await?.unwrap_or(now).min(to),
        };
        if from > to {
            let message = format!("the audit ends at {to} and begins only at {from}");
            return Err(Failure::invalid(message, "let `--to` be later than `--from`"));
        }
        let pages = one.is_none().then(|| app.pages(&Listing::default()));
        let rows = Vec::from_iter(one).into_iter();
        Ok(AuditWalk { app, from, to, rows, pages })
    }
}

/// A walk through audits, for whoever need not hold all of them at once.
pub struct AuditWalk<'a> {
    app: &'a App,
    /// From when.
    pub from: Timestamp,
    /// Through when.
    pub to: Timestamp,
    /// What is audited next.
    rows: std::vec::IntoIter<ScheduleRow>,
    /// What is audited after that.
    pages: Option<Pages<'a>>,
}

impl AuditWalk<'_> {
    /// What the next audit found; nothing at the end.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn next(&mut self) -> Result<Option<shape::Audit>, Failure> {
        loop {
            if let Some(row) = self.rows.next() {
                return Ok(Some((&self.app.audit(row, self.from..=self.to).await?).into()));
            }
            let Some(pages) = &mut self.pages else { return Ok(None) };
            match pages.next().await? {
                Some(rows) => self.rows = rows.into_iter(),
                None => return Ok(None),
            }
        }
    }
}

impl Question for Audits {
    type Answer = shape::Audits;

    fn call(&self) -> Call {
        Call::new(Method::Get, "/audit")
            .with("schedule", self.schedule.as_ref())
            .with("from", self.from.as_ref())
            .with("to", self.to.as_ref())
            .when("aside", self.aside)
    }

    async fn answer(&self, app: &App) -> Result<shape::Audits, Failure> {
        let mut walk = self.walk(app).await?;
        let mut audits = Vec::new();
        while let Some(one) = walk.next().await? {
            audits.push(one);
        }
        let (from, to) = (walk.from, walk.to);
        let whole = audits.iter().all(|one| one.holes.is_empty());
        let found = shape::Audits { from, to, audits, whole };
        Ok(if self.aside == Flag::Yes { found } else { found.plain() })
    }
}

/// Events of the audit log.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Of this schedule, by name or id.
    pub schedule: Option<String>,
    /// Of this run.
    pub run: Option<String>,
    /// Whose kind begins so.
    pub kind: Option<String>,
    /// From here.
    pub since: Option<String>,
    /// Up to here.
    pub until: Option<String>,
    /// At most so many, the newest.
    pub limit: u32,
}

impl Question for Log {
    type Answer = shape::AuditLog;

    fn call(&self) -> Call {
        Call::new(Method::Get, "/audit/log")
            .with("schedule", self.schedule.as_ref())
            .with("run", self.run.as_ref())
            .with("kind", self.kind.as_ref())
            .with("since", self.since.as_ref())
            .with("until", self.until.as_ref())
            .with("limit", Some(self.limit))
    }

    async fn answer(&self, app: &App) -> Result<shape::AuditLog, Failure> {
        let now = app.now().await?;
        let (schedule, zone) = match &self.schedule {
            Some(text) => {
                let row = app.find(text).await?;
                (Some(row.definition.id), zone_of(&row))
            }
            None => (None, Zone::utc()),
        };
        let read = |text: &Option<String>| -> Result<Option<Timestamp>, Failure> {
            text.as_deref().map(|text| moment(text, &zone, now)).transpose()
        };
        let filter = AuditFilter {
            schedule,
            run: self.run.as_deref().map(run_named).transpose()?,
            kind: self.kind.clone(),
            since: read(&self.since)?,
            until: read(&self.until)?,
        };
        let events = app.audit_log(filter, self.limit).await?;
        Ok(shape::AuditLog { events: events.iter().map(shape::Event::from).collect() })
    }
}

/// Whether the audit log is as it was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verify;

impl Question for Verify {
    type Answer = shape::Chain;

    fn call(&self) -> Call {
        Call::new(Method::Get, "/audit/verify")
    }

    async fn answer(&self, app: &App) -> Result<shape::Chain, Failure> {
        Ok((&app.audit_verify().await?).into())
    }
}
