//! Long answers, page by page: from an open database as it is read, from a server by following its cursors.

use punctual::ask::{AuditWalk, Audits, Flag, List, Runs};
use punctual::{Failure, Pages, Walk, shape};

use super::Door;

/// Rows of one page that a server is asked for.
const PAGE: u32 = 1_000;

/// Schedules by name.
pub(crate) enum ListPages<'a> {
    /// Of an open database.
    Open(Pages<'a>),
    /// Of a server.
    Asked(ListAsked<'a>),
}

/// A listing that a server is asked for.
pub(crate) struct ListAsked<'a> {
    door: &'a Door,
    /// What is asked for next: its `limit` is how many more are wanted.
    asked: List,
    /// Whether the last page was given.
    is_over: bool,
}

impl ListPages<'_> {
    /// The next schedules; nothing at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<shape::Schedule>>, Failure> {
        match self {
            Self::Open(pages) => Ok(pages.next().await?.map(|rows| shape::Schedule::all(&rows))),
            Self::Asked(asked) => asked.next().await,
        }
    }

    /// Where whoever wants more begins, if there is more.
    pub(crate) fn rest(&self) -> Option<String> {
        match self {
            Self::Open(pages) => pages.rest(),
            Self::Asked(asked) => asked.asked.listing.after.clone().filter(|_| asked.is_over),
        }
    }
}

impl ListAsked<'_> {
    async fn next(&mut self) -> Result<Option<Vec<shape::Schedule>>, Failure> {
        if self.is_over {
            return Ok(None);
        }
        let left = self.asked.listing.limit;
        let mut some = self.asked.clone();
        some.listing.limit = Some(left.map_or(PAGE, |left| left.min(PAGE)));
        let page = self.door.ask(&some).await?;
        let listing = &mut self.asked.listing;
        listing.limit = left.map(|left| left.saturating_sub(length(&page.schedules)));
        listing.after = page.next;
        self.is_over = listing.after.is_none() || listing.limit == Some(0);
        Ok(Some(page.schedules))
    }
}

/// Entries of the ledger, newest first.
pub(crate) enum RunPages<'a> {
    /// Of an open database.
    Open(Walk<'a>),
    /// Of a server.
    Asked(RunsAsked<'a>),
}

/// A part of the ledger that a server is asked for.
pub(crate) struct RunsAsked<'a> {
    door: &'a Door,
    /// What is asked for next: its `limit` is how many more are wanted.
    asked: Runs,
    /// Whether the last page was given.
    is_over: bool,
    /// What came beside the entries.
    beside: shape::Runs,
}

impl RunPages<'_> {
    /// The next entries; nothing at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<shape::Run>>, Failure> {
        match self {
            Self::Open(walk) => {
                Ok(walk.next().await?.map(|rows| rows.iter().map(shape::Run::from).collect()))
            }
            Self::Asked(asked) => asked.next().await,
        }
    }

    /// What stands beside the entries: the stretches, and whether there is more before.
    pub(crate) fn end(self) -> shape::Runs {
        match self {
            Self::Open(walk) => (&walk.end()).into(),
            Self::Asked(asked) => asked.beside,
        }
    }
}

impl RunsAsked<'_> {
    async fn next(&mut self) -> Result<Option<Vec<shape::Run>>, Failure> {
        if self.is_over {
            return Ok(None);
        }
        let page = self.door.ask(&Runs { limit: self.asked.limit.min(PAGE), ..self.asked.clone() }).await?;
        self.asked.limit = self.asked.limit.saturating_sub(length(&page.runs));
        self.asked.after = page.next.clone();
        self.is_over = page.next.is_none() || self.asked.limit == 0;
        let runs = page.runs;
        self.beside.add(shape::Runs { runs: Vec::new(), ..page });
        Ok(Some(runs))
    }
}

/// Audits, schedule by schedule.
pub(crate) enum AuditPages<'a> {
    /// Of an open database.
    Open(AuditWalk<'a>),
    /// What a server has found.
    Asked {
        /// From when.
        from: jiff::Timestamp,
        /// Through when.
        to: jiff::Timestamp,
        /// What is left of it.
        audits: std::vec::IntoIter<shape::Audit>,
    },
}

impl AuditPages<'_> {
    /// The stretch that is audited.
    pub(crate) fn stretch(&self) -> std::ops::RangeInclusive<jiff::Timestamp> {
        match self {
            Self::Open(walk) => walk.from..=walk.to,
            Self::Asked { from, to, .. } => *from..=*to,
        }
    }

    /// What the next audit found; nothing at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<shape::Audit>, Failure> {
        match self {
            Self::Open(walk) => walk.next().await,
            Self::Asked { audits, .. } => Ok(audits.next()),
        }
    }
}

impl Door {
    /// The schedules that are asked for.
    pub(crate) fn list(&self, asked: List) -> ListPages<'_> {
        match self {
            Self::Open(app) => ListPages::Open(app.pages(&asked.listing)),
            _ => ListPages::Asked(ListAsked { door: self, asked, is_over: false }),
        }
    }

    /// The entries of the ledger that are asked for.
    pub(crate) async fn walk(&self, asked: Runs) -> Result<RunPages<'_>, Failure> {
        Ok(match self {
            Self::Open(app) => RunPages::Open(app.walk(&asked.asked(app).await?).await?),
            _ => {
                let beside = shape::Runs::default();
                RunPages::Asked(RunsAsked { door: self, asked, is_over: false, beside })
            }
        })
    }

    /// The same in one piece, without what the runs printed.
    pub(crate) async fn runs(&self, asked: Runs) -> Result<shape::Runs, Failure> {
        if let Self::Open(app) = self {
            let silent = punctual::RunsAsked { is_silent: true, ..asked.asked(app).await? };
            return Ok((&app.history(&silent).await?).into());
        }
        let mut pages = self.walk(Runs { aside: Flag::Yes, ..asked }).await?;
        let mut runs = Vec::new();
        while let Some(page) = pages.next().await? {
            runs.extend(page.into_iter().map(|run| shape::Run { output: None, ..run }));
        }
        let mut all = shape::Runs { runs, ..shape::Runs::default() };
        all.add(pages.end());
        Ok(all)
    }

    /// The audits that are asked for.
    pub(crate) async fn audits(&self, asked: &Audits) -> Result<AuditPages<'_>, Failure> {
        if let Self::Open(app) = self {
            return Ok(AuditPages::Open(asked.walk(app).await?));
        }
        let shape::Audits { from, to, audits, .. } = self.ask(asked).await?;
        Ok(AuditPages::Asked { from, to, audits: audits.into_iter() })
    }
}

fn length<T>(rows: &[T]) -> u32 {
    u32::try_from(rows.len()).unwrap_or(u32::MAX)
}
