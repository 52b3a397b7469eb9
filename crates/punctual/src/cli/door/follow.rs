//! Following the ledger of a server: entries that are new or have changed, found by asking again and again.
//!
//! Only what the server says is compared, never its clock with ours.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use punctual::ask::{Flag, One, Runs};
use punctual::{Failure, shape};
use punctual_plan::{Origin, RunStatus};

use super::Door;

/// Entries of one page.
const PAGE: u32 = 500;

/// Pages of one look.
const PAGES_MAX: usize = 20;

/// Entries that are remembered; those that have ended are forgotten beyond that.
const REMEMBERED_MAX: usize = 100_000;

/// Somebody who follows the ledger of a server.
pub(crate) struct Following<'a> {
    door: &'a Door,
    asked: Runs,
    status: Option<RunStatus>,
    known: HashMap<String, shape::Run>,
    /// Stretches that were told, by schedule and first tick.
    told: HashSet<(String, Timestamp)>,
    /// What there was at first, oldest first.
    pub(crate) first: shape::Runs,
}

impl Door {
    /// Follows a part of the ledger: what there is of it, and what comes.
    pub(crate) async fn follow(&self, asked: Runs) -> Result<Following<'_>, Failure> {
        let all = Runs { since: None, until: None, status: None, after: None, limit: PAGE, ..asked.clone() };
        let mut following = Following {
            door: self,
            status: asked.status,
            asked: all,
            known: HashMap::new(),
            told: HashSet::new(),
            first: shape::Runs::default(),
        };
        // What is there already and is not asked for is not new. It is looked at before the rest: whatever comes or changes from
        // here on is either among the first or told as news.
        following.look().await?;
        let mut pages = self.walk(Runs { aside: Flag::Yes, ..asked }).await?;
        let mut runs = Vec::new();
        while let Some(page) = pages.next().await? {
            runs.extend(page);
        }
        let mut first = shape::Runs { runs, ..shape::Runs::default() };
        first.add(pages.end());
        following.told.extend(first.ranges.iter().map(|range| (range.schedule_id.clone(), range.first)));
        following.known.extend(first.runs.iter().map(|run| (run.id.clone(), run.clone())));
        first.runs.reverse();
        first.ranges.reverse();
        following.first = first;
        Ok(following)
    }
}

impl Following<'_> {
    /// Waits for entries that are new or have changed; gives them oldest first.
    pub(crate) async fn next(&mut self) -> Result<shape::Runs, Failure> {
        loop {
            self.door.changed().await;
            let mut news = self.look().await?;
            let is_wanted =
                |run: &shape::Run| self.status.is_none_or(|status| run.status == RunStatus::name(status));
            news.runs.retain(is_wanted);
            if !news.runs.is_empty() || !news.ranges.is_empty() {
                return Ok(news);
            }
        }
    }

    /// What is there that was not known, or was known otherwise.
    async fn look(&mut self) -> Result<shape::Runs, Failure> {
        let mut found = self.newest(self.asked.clone()).await?;
        if self.asked.origin.is_none() {
            // They stand for ticks of the past, far behind the newest.
            let past = Runs { origin: Some(Origin::Backfill), ..self.asked.clone() };
            found.add(self.newest(past).await?);
        }
        self.add_open(&mut found).await?;
        let mut seen = HashSet::new();
        found.runs.retain(|run| seen.insert(run.id.clone()));
        found.runs.retain(|run| self.known.get(&run.id).is_none_or(|known| !is_same(known, run)));
        found.runs.sort_by(|one, other| {
            one.scheduled_for.cmp(&other.scheduled_for).then_with(|| one.id.cmp(&other.id))
        });
        self.known.extend(found.runs.iter().map(|run| (run.id.clone(), run.clone())));
        found.ranges.retain(|range| self.told.insert((range.schedule_id.clone(), range.first)));
        if self.known.len() > REMEMBERED_MAX {
            self.known.retain(|id, run| seen.contains(id) || !run.is_over());
        }
        Ok(found)
    }

    /// The newest entries, page by page until one is known.
    async fn newest(&self, mut asked: Runs) -> Result<shape::Runs, Failure> {
        let mut found = shape::Runs::default();
        for _ in 0..PAGES_MAX {
            let page = self.door.ask(&asked).await?;
            let is_known = page.runs.iter().any(|run| self.known.contains_key(&run.id));
            asked.after = page.next.clone();
            found.add(page);
            // Before anything is known, one page is enough to tell what is new from then on.
            if is_known || self.known.is_empty() || asked.after.is_none() {
                break;
            }
        }
        Ok(found)
    }

    /// Those that were not over and are not among the newest any more.
    async fn add_open(&self, found: &mut shape::Runs) -> Result<(), Failure> {
        let listed: HashSet<&str> = found.runs.iter().map(|run| run.id.as_str()).collect();
        let open = self.known.values().filter(|run| !run.is_over() && !listed.contains(run.id.as_str()));
        let mut later = Vec::new();
        for run in open {
            match self.door.ask(&One { run: run.id.clone(), aside: Flag::Yes }).await {
                Ok(answer) => later.push(answer.run.run),
                // One that vanished was ahead of its instant, and its schedule has changed.
                Err(failure) if failure.kind == punctual::Kind::NotFound => {}
                Err(failure) => return Err(failure),
            }
        }
        found.runs.extend(later);
        Ok(())
    }
}

/// Whether two entries of the same run say the same.
fn is_same(one: &shape::Run, other: &shape::Run) -> bool {
    one.status == other.status
        && one.reason_text == other.reason_text
        && one.attempt == other.attempt
        && one.fire_at == other.fire_at
        && one.started_at == other.started_at
        && one.run_id == other.run_id
}
