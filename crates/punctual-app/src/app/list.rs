//! Schedules in a list: all of them, or a page at a time.

use punctual_store::{Cut, ScheduleFilter, ScheduleRow, Store};

use super::App;
use crate::Failure;

/// Schedules of one page of a listing.
const PAGE: u32 = 1_000;

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

/// Some schedules, and where the next ones begin.
#[derive(Clone, Debug)]
pub struct Page {
    /// The schedules by name.
    pub rows: Vec<ScheduleRow>,
    /// Where the next page begins, if there is one.
    pub next: Option<String>,
}

impl App {
    /// The schedules by name, as many as are asked for.
    ///
    /// # Errors
    /// When the database fails, or the page before is not one.
    pub async fn page(&self, listing: &Listing) -> Result<Page, Failure> {
        let filter = ScheduleFilter {
            search: listing.search.clone(),
            tag: listing.tag.clone(),
            status: listing.status.clone(),
            with_deleted: listing.with_deleted,
            ..ScheduleFilter::default()
        };
        let mut page = Page { rows: Vec::new(), next: listing.after.as_deref().map(typed) };
        loop {
            let left =
                listing.limit.map_or(PAGE, |limit| limit - u32::try_from(page.rows.len()).unwrap_or(limit));
            let cut = Cut { after: page.next.take(), limit: left.min(PAGE) };
            let found = self.store.schedules(self.scope(), filter.clone(), cut).await?;
            let is_shown = |row: &ScheduleRow| row.declared_set.as_deref() != Some(REQUESTS);
            page.rows.extend(found.rows.into_iter().filter(is_shown));
            page.next = found.next;
            let is_full = listing.limit.is_some_and(|limit| page.rows.len() >= limit as usize);
            if is_full || page.next.is_none() {
                page.next = page.next.as_deref().map(printable);
                return Ok(page);
            }
        }
    }

    /// All schedules that are asked for, by name.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list(&self, listing: &Listing) -> Result<Vec<ScheduleRow>, Failure> {
        Ok(self.page(listing).await?.rows)
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
