//! The database: its durability, its leases, its tz database, and what is overdue in it.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::RunStatus;
use punctual_store::{AnyStore, Cut, Guarantee, NodeRow, RunFilter, Store};
use punctual_time::tz_version;

use super::{Check, host};
use crate::Failure;
use crate::app::App;
use crate::app::system::is_alive;

/// Due rows are taken at their millisecond; after this long somebody should have.
const OVERDUE: SignedDuration = SignedDuration::from_secs(10);

/// Rows that are counted.
const ROWS_MAX: u32 = 1_000;

/// Dead nodes are worth a word for this long.
const STALE: SignedDuration = SignedDuration::from_hours(24);

impl App {
    /// The clock of a server against ours; a file has none.
    pub(super) async fn check_clock_offset(&self) -> Result<Option<Check>, Failure> {
        match self.store.as_ref() {
            AnyStore::Postgres(_) => Ok(Some(host::clock_offset(self.nodes().await?.offset))),
            _ => Ok(None),
        }
    }

    pub(super) async fn check_tz(&self) -> Result<Check, Failure> {
        const NAME: &str = "tz_database";
        let (bundled, seen) = (tz_version(), self.store.status().await?.tz_version);
        // Versions are a year and a letter: they sort as text.
        if *bundled < *seen {
            let text = format!("this program has tz database {bundled}, and a node here has had {seen}");
            return Ok(Check::fail(NAME, text, "install the newer punctual: this one does not plan here"));
        }
        match host::host_tz().filter(|host| **host > *bundled) {
            Some(host) => {
                let text = format!("this program has tz database {bundled}, this host already {host}");
                Ok(Check::warn(
                    NAME,
                    text,
                    "install a newer punctual if the rules of your zones have changed",
                ))
            }
            None => Ok(Check::ok(NAME, format!("tz database {bundled} is the newest that was seen"))),
        }
    }

    pub(super) async fn check_durability(&self) -> Result<Check, Failure> {
        Ok(durability(&self.store.guarantees().await?))
    }

    pub(super) async fn check_served(&self) -> Result<Check, Failure> {
        const NAME: &str = "server";
        Ok(match self.is_served().await? {
            true => Check::ok(NAME, "a process runs the schedules"),
            false => Check::warn(NAME, "nobody runs the schedules", "start `punctual serve`"),
        })
    }

    /// Nodes that are gone, and runs that nobody has taken up from them.
    pub(super) async fn check_leases(&self) -> Result<Check, Failure> {
        const NAME: &str = "leases";
        let nodes = self.nodes().await?;
        let is_stale = |node: &&NodeRow| node.left_at.is_none() && !is_alive(node, nodes.now);
        let stale: Vec<&NodeRow> = nodes.nodes.iter().filter(is_stale).collect();
        let mut left = 0;
        for status in [RunStatus::Enqueued, RunStatus::Running] {
            let filter = RunFilter { status: Some(status), ..RunFilter::default() };
            let rows = self.store.runs(self.scope.clone(), filter, Cut::first(ROWS_MAX)).await?.rows;
            let is_left = |id: &str| stale.iter().any(|node| node.id == id);
            left += rows.iter().filter(|row| row.node.as_deref().is_some_and(is_left)).count();
        }
        if left > 0 {
            let text = format!("{left} runs in flight belong to nodes whose lease is over");
            return Ok(Check::fail(NAME, text, "start `punctual serve`: it takes them up"));
        }
        let is_recent = |node: &&&NodeRow| nodes.now.duration_since(node.seen_at) < STALE;
        Ok(match stale.iter().filter(is_recent).count() {
            0 => Check::ok(NAME, "every node renews its lease, or has left"),
            count => Check::warn(
                NAME,
                format!("{count} nodes of the last day ended without leaving, and left nothing in flight"),
                "`punctual system nodes` shows them; look why they ended",
            ),
        })
    }

    /// Schedules that should have been planned, and due rows that nobody took.
    pub(super) async fn check_overdue(&self) -> Result<Check, Failure> {
        const NAME: &str = "overdue";
        let now = self.now().await?;
        let unplanned = self.store.unplanned(self.scope.clone(), now).await?;
        let before = now.saturating_sub(OVERDUE).unwrap_or(Timestamp::MIN);
        let filter =
            RunFilter { status: Some(RunStatus::Scheduled), until: Some(before), ..RunFilter::default() };
        let rows = self.store.runs(self.scope.clone(), filter, Cut::first(ROWS_MAX)).await?.rows;
        let due = rows.iter().filter(|row| row.run.fire_at <= before).count();
        if unplanned == 0 && due == 0 {
            return Ok(Check::ok(NAME, "every schedule is planned, and nothing that is due is left"));
        }
        let text = format!("{unplanned} schedules are not planned up to now, {due} due rows were not taken");
        Ok(Check::fail(NAME, text, "start `punctual serve`; if one runs, its log says what keeps it"))
    }
}

/// Whether commits survive.
fn durability(guarantees: &[Guarantee]) -> Check {
    const NAME: &str = "durability";
    let said = |one: &Guarantee| format!("{}={}", one.name, one.value);
    let all = guarantees.iter().map(said).collect::<Vec<_>>().join(", ");
    let broken: Vec<String> = guarantees.iter().filter(|one| !one.is_kept()).map(said).collect();
    match broken.is_empty() {
        true => Check::ok(NAME, format!("what is answered survives a power loss ({all})")),
        false => Check::fail(
            NAME,
            format!("what is answered may be lost with the power: {}", broken.join(", ")),
            "set them back: `fsync`, `full_page_writes` and `synchronous_commit` on, a local disk for a file",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Health;
    use super::*;

    #[test]
    fn a_database_that_may_lose_what_it_answered_is_found() {
        let set = |name: &str, value: &str| Guarantee { name: name.to_owned(), value: value.to_owned() };
        let check = durability(&[set("journal_mode", "wal"), set("synchronous", "normal")]);
        assert_eq!(check.health, Health::Fail);
        assert!(check.text.ends_with("synchronous=normal"), "{}", check.text);
        assert_eq!(durability(&[set("fsync", "on"), set("full_page_writes", "on")]).health, Health::Ok);
    }
}
