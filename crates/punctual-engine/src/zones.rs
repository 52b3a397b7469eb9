//! Zones: a node that brings newer rules of the time zones goes over what was planned by older ones, once.
//!
//! The installation keeps by which tz database its schedules were gone over. Whoever has a newer one, and may plan, looks at
//! all of them page by page and plans those again whose ticks are not where its rules put them, from now on. Whoever
//! stops in the middle begins anew: what is in its place is left alone.

use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{OrgKey, Window};
use punctual_store::{
    Cut, Document, DocumentKind, Error, INSTALLATION, Joined, NewDocument, NewRules, ScheduleFilter,
    ScheduleRow, ScheduleWrite, Scope, Store, Table, Turn, Written,
};
use serde_json::{Value, json};
use tracing::{debug, info};

use crate::Clock;
use crate::lease::Lease;

/// Schedules of one step: reading so many delays nobody, and writing as many takes some milliseconds.
const PAGE: u32 = 100;

/// What the installation keeps the tz database under.
const NAME: &str = "punctual:tz";

/// A node's way through all schedules.
pub(crate) struct Zones {
    /// The version of its tz database.
    version: String,
    lease: Arc<Lease>,
    place: Place,
}

/// How far it has come.
enum Place {
    /// Nobody has asked yet by which tz database the schedules were gone over.
    Unknown,
    /// Everything up to this is gone over.
    At(Walk),
    /// There is nothing to do any more.
    Done,
}

/// A walk that has begun.
#[derive(Clone)]
struct Walk {
    org: OrgKey,
    rules: NewRules,
    /// The version of the note that its end replaces.
    replaces: i64,
    /// Where the next page begins.
    after: Option<String>,
    moved: usize,
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stride {
    /// There is more to look at, and nothing was written.
    Looked,
    /// There is more to look at, and something was written.
    Wrote,
    /// That was all.
    Done,
}

impl Zones {
    /// The way of a node that has joined; others have newer rules if it may not plan.
    pub(crate) fn new(version: String, lease: &Arc<Lease>, joined: &Joined) -> Self {
        let place = if joined.may_plan { Place::Unknown } else { Place::Done };
        Self { version, lease: Arc::clone(lease), place }
    }

    /// Whether the node is certain of its lease.
    pub(crate) fn is_certain(&self, clock: &impl Clock) -> bool {
        self.lease.certain(clock).is_some()
    }

    /// Goes one step further.
    pub(crate) async fn step<S: Store>(&mut self, store: &S, window: Window) -> Result<Stride, Error> {
        let walk = match &self.place {
            Place::Done => return Ok(Stride::Done),
            Place::Unknown => self.begin(store).await?,
            Place::At(walk) => Some(walk.clone()),
        };
        let Some(walk) = walk else {
            self.place = Place::Done;
            return Ok(Stride::Done);
        };
        self.place = Place::At(walk.clone());
        self.look(store, walk, window).await
    }

    /// Asks by which tz database the schedules were gone over; nothing if that is this one, or a newer one.
    async fn begin<S: Store>(&self, store: &S) -> Result<Option<Walk>, Error> {
        let org = store.org(Scope::Engine, INSTALLATION.to_owned()).await?;
        let noted = store.document(Scope::org(org), DocumentKind::DeclaredSet, NAME.to_owned()).await?;
        let before = noted.as_ref().and_then(version_of);
        if before.as_ref().is_some_and(|before| *before >= self.version) {
            return Ok(None);
        }
        // Where nobody ever had another one there is nothing to look for, however many schedules there are.
        let is_first = before.is_none() && store.read_table(Table::TzVersions, None, 2).await?.len() < 2;
        if is_first {
            return Ok(None);
        }
        let rules = NewRules { before, version: self.version.clone() };
        let replaces = noted.map_or(0, |document| document.version);
        Ok(Some(Walk { org, rules, replaces, after: None, moved: 0 }))
    }

    async fn look<S: Store>(&mut self, store: &S, mut walk: Walk, window: Window) -> Result<Stride, Error> {
        let filter = ScheduleFilter { status: Some("active".to_owned()), ..ScheduleFilter::default() };
        let cut = Cut { after: walk.after.clone(), limit: PAGE };
        let page = store.schedules(Scope::Engine, filter, cut).await?;
        let writes = moved_of(store, &page.rows, (window, &walk.rules)).await?;
        let answers = match writes.is_empty() {
            true => Some(Vec::new()),
            false => store.replan(self.lease.fence(), writes).await?,
        };
        let Some(written) = answers.map(|answers| Tally::of(&answers)) else {
            // A newer tz database has come meanwhile, and whoever brought it goes over everything.
            self.place = Place::Done;
            return Ok(Stride::Done);
        };
        walk.moved += written.done;
        debug!(schedules = page.rows.len(), moved = written.done, stale = written.stale, "gone over");
        // Those that somebody else changed meanwhile are looked at again, with their page.
        if written.stale == 0 {
            match page.next {
                Some(next) => walk.after = Some(next),
                None => return self.end(store, walk, window.now).await,
            }
        }
        self.place = Place::At(walk);
        Ok(if written.done + written.stale > 0 { Stride::Wrote } else { Stride::Looked })
    }

    /// Keeps that all of them are gone over.
    async fn end<S: Store>(&mut self, store: &S, walk: Walk, now: Timestamp) -> Result<Stride, Error> {
        let new = NewDocument {
            kind: DocumentKind::DeclaredSet,
            name: NAME.to_owned(),
            body: json!({"tz_version": walk.rules.version, "moved": walk.moved}).to_string(),
            replaces: Some(walk.replaces),
            now,
        };
        match store.put_document(Scope::org(walk.org), new).await {
            Ok(_) => {
                info!(version = walk.rules.version, moved = walk.moved, "schedules follow the tz database");
            }
            // Another node has come to its end as well.
            Err(Error::Conflict { .. }) => {}
            Err(problem) => return Err(problem),
        }
        self.place = Place::Done;
        Ok(Stride::Done)
    }
}

/// What became of the writes of a page.
#[derive(Clone, Copy, Default)]
struct Tally {
    done: usize,
    stale: usize,
}

impl Tally {
    /// One that was deleted meanwhile wants nothing more.
    fn of(answers: &[Result<Written, Error>]) -> Self {
        let count = |is_meant: fn(&Written) -> bool| {
            answers.iter().flatten().filter(|written| is_meant(written)).count()
        };
        let stale = count(|written| *written == Written::Stale);
        Self { done: count(|written| *written != Written::Stale), stale }
    }
}

/// What the rules change of some schedules.
async fn moved_of<S: Store>(
    store: &S,
    rows: &[ScheduleRow],
    (window, rules): (Window, &NewRules),
) -> Result<Vec<ScheduleWrite>, Error> {
    let mut writes = Vec::new();
    for row in rows.iter().filter(|row| row.hangs_on_zones(window.now) && !row.is_in_place(window.now)) {
        let open = store.open_rows(Scope::Engine, row.key).await?;
        writes.extend(Turn { row, open: &open, window }.replan(rules));
    }
    Ok(writes)
}

/// The tz database that a note names.
fn version_of(noted: &Document) -> Option<String> {
    let body: Value = serde_json::from_str(&noted.body).ok()?;
    body.get("tz_version")?.as_str().map(str::to_owned)
}
