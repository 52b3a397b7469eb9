//! Schedules in a list: all of them, or a page at a time.

use jiff::Timestamp;
use punctual_store::{Cut, NameRow, ScheduleFilter, ScheduleRow, Store};

use super::App;
use crate::Failure;

/// Schedules of one page of a listing.
const PAGE: u32 = 1_000;

/// Names of one page.
const NAMES_PAGE: u32 = 10_000;

/// The declared set of single requests, which are no schedules to whoever lists them.
pub(crate) const REQUESTS: &str = "request";

/// Which schedules; everything that is set must hold.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Whose name, description or spec holds this.
    pub search: Option<String>,
    /// Those with this tag.
    pub tag: Option<String>,
    /// Those in this status.
    pub status: Option<String>,
    /// Deleted ones as well.
    pub with_deleted: bool,
    /// At most this many; all without it.
    pub limit: Option<u32>,
    /// Where a page before ended.
    pub after: Option<String>,
}

/// A walk through schedules, page by page, for whoever need not hold all of them at once.
pub struct Pages<'a> {
    app: &'a App,
    filter: ScheduleFilter,
    /// How many more are wanted.
    left: Option<u32>,
    /// Where the next page begins; nothing once the last one was given.
    next: Option<Cut>,
}

impl Pages<'_> {
    /// The next schedules by name; nothing at the end.
    ///
    /// # Errors
    /// When the database fails, or the page before is not one.
    pub async fn next(&mut self) -> Result<Option<Vec<ScheduleRow>>, Failure> {
        if self.left == Some(0) {
            return Ok(None);
        }
        let Some(cut) = self.next.take() else { return Ok(None) };
        let limit = self.left.map_or(PAGE, |left| left.min(PAGE));
        let found =
            self.app.store.schedules(self.app.scope(), self.filter.clone(), Cut { limit, ..cut }).await?;
        let is_shown = |row: &ScheduleRow| row.declared_set.as_deref() != Some(REQUESTS);
        let rows: Vec<ScheduleRow> = found.rows.into_iter().filter(is_shown).collect();
        self.left = self.left.map(|left| left - u32::try_from(rows.len()).unwrap_or(left));
        self.next = found.next.map(|after| Cut { after: Some(after), limit: PAGE });
        Ok(Some(rows))
    }

    /// Where whoever wants more begins, if there is more.
    pub fn rest(&self) -> Option<String> {
        self.next.as_ref().and_then(|cut| cut.after.as_deref()).map(printable)
    }
}

impl App {
    /// A walk through the schedules by name, as many as are asked for.
    pub fn pages(&self, listing: &Listing) -> Pages<'_> {
        let filter = ScheduleFilter {
            search: listing.search.clone(),
            tag: listing.tag.clone(),
            status: listing.status.clone(),
            with_deleted: listing.with_deleted,
            ..ScheduleFilter::default()
        };
        let next = Some(Cut { after: listing.after.as_deref().map(typed), limit: PAGE });
        Pages { app: self, filter, left: listing.limit, next }
    }

    /// All schedules that are asked for, by name.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list(&self, listing: &Listing) -> Result<Vec<ScheduleRow>, Failure> {
        let mut pages = self.pages(listing);
        let mut rows = Vec::new();
        while let Some(page) = pages.next().await? {
            rows.extend(page);
        }
        Ok(rows)
    }

    /// When the first of the living schedules was made.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn first_made(&self) -> Result<Option<Timestamp>, Failure> {
        let mut pages = self.pages(&Listing::default());
        let mut first = None;
        while let Some(rows) = pages.next().await? {
            first = rows.iter().map(|row| row.created_at).chain(first).min();
        }
        Ok(first)
    }

    /// What the schedules are called, living and deleted.
    pub(super) async fn names(&self) -> Result<Vec<NameRow>, Failure> {
        let mut names = Vec::new();
        let mut cut = Cut::first(NAMES_PAGE);
        loop {
            let page = self.store.names(self.scope(), cut).await?;
            let is_shown = |row: &NameRow| row.declared_set.as_deref() != Some(REQUESTS);
            names.extend(page.rows.into_iter().filter(is_shown));
            let Some(after) = page.next else { return Ok(names) };
            cut = Cut { after: Some(after), limit: NAMES_PAGE };
        }
    }
}

/// The store's separator, which nobody can type.
const UNIT: &str = "\u{1f}";

/// A cursor that can be printed and typed again.
pub(super) fn printable(cursor: &str) -> String {
    cursor.replace('%', "%25").replace(UNIT, "%1f")
}

/// The cursor that was printed.
pub(super) fn typed(cursor: &str) -> String {
    cursor.replace("%1f", UNIT).replace("%25", "%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_typed_as_it_was_printed() {
        for cursor in ["a\u{1f}7", "100%1f\u{1f}8", "%25\u{1f}%"] {
            assert_eq!(typed(&printable(cursor)), cursor);
        }
    }
}
