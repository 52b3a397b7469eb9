//! The node: a store that it joined, and every call with a note before and after it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Fence, OrgKey, RunKey};
use punctual_store::{
    AnyStore, Batch, BatchId, DocumentKind, Error, NewDocument, Node as NewNode, Scope, Store, Written,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::Failure;
use crate::clock::Clock;
use crate::fleet;
use crate::notes::{Notes, Submit};

/// A run that this node answers for.
#[derive(Clone, Copy)]
pub(crate) struct Flight {
    pub(crate) key: RunKey,
    pub(crate) attempt: u32,
    /// When its end is reported.
    pub(crate) ends_at: Timestamp,
}

/// Schedules that there are in the end, and how many each process adds to them.
const FLEET: u32 = 768;
const MORE: u32 = 8;

/// Runs that are taken over at once.
const TAKEN_MAX: usize = 1_000;

pub(crate) struct Node {
    pub(crate) store: AnyStore,
    pub(crate) clock: Clock,
    pub(crate) notes: Notes,
    pub(crate) fence: Fence,
    orgs: HashMap<String, OrgKey>,
    next_schedule: AtomicU32,
    last_schedule: u32,
    batches: AtomicU64,
}

impl Node {
    /// Joins, after everybody who is still there has left: they were all killed.
    pub(crate) async fn join(store: AnyStore, notes: Notes, clock: Clock) -> Result<Self, Failure> {
        for dead in store.nodes().await?.iter().filter(|node| node.left_at.is_none()) {
            store.leave(dead.fence).await?;
        }
        let node = NewNode {
            id: Uuid::from_u128(u128::from(std::process::id()) << 64 | u128::from(started())).to_string(),
            pid: std::process::id(),
            started_at: clock.now(),
            lease: SignedDuration::from_hours(1_000_000),
            tz_version: punctual_time::tz_version().to_owned(),
            version: "hammer".to_owned(),
        };
        let fence = store.join(node).await?.fence;
        let mut orgs = HashMap::new();
        for number in 0..fleet::ORGS {
            let name = fleet::org_of(number);
            orgs.insert(name.clone(), store.org(Scope::Engine, name).await?);
        }
        let made = u32::try_from(store.living(Scope::Engine).await?)?;
        let last_schedule = FLEET.max(made + MORE);
        let (next_schedule, batches) = (AtomicU32::new(made), AtomicU64::new(1));
        Ok(Self { store, clock, notes, fence, orgs, next_schedule, last_schedule, batches })
    }

    /// Gives the orgs with an even number their limits; those that have them keep them.
    pub(crate) async fn limit_orgs(&self) -> Result<(), Failure> {
        for number in (0..fleet::ORGS).step_by(2) {
            let scope = Scope::org(self.orgs[&fleet::org_of(number)]);
            let document = NewDocument {
                kind: DocumentKind::Limits,
                name: "org".to_owned(),
                body: fleet::limits_of(number),
                replaces: None,
                now: self.clock.now(),
            };
            self.store.put_document(scope, document).await?;
        }
        Ok(())
    }

    /// The runs in flight that dead processes left, now under our fence.
    pub(crate) async fn take_over(&self) -> Result<Vec<Flight>, Failure> {
        let mut taken = Vec::new();
        loop {
            let more = self.store.take_over(self.fence, TAKEN_MAX).await?;
            if more.is_empty() {
                return Ok(taken);
            }
            let ends_at = self.clock.now();
            let flights = more.iter().map(|orphan| &orphan.launch);
            taken.extend(flights.map(|run| Flight { key: run.run, attempt: run.attempt, ends_at }));
        }
    }

    /// An id that no batch had before: the fence is new with each process.
    pub(crate) fn batch(&self, now: Timestamp) -> Batch {
        let number = self.batches.fetch_add(1, Ordering::Relaxed);
        let id = u128::from(self.fence.0.unsigned_abs()) << 64 | u128::from(number);
        Batch { id: BatchId(Uuid::from_u128(id)), fence: self.fence, now }
    }

    /// Whether another process chose the id of a batch.
    pub(crate) fn is_again(&self, batch: Batch) -> bool {
        batch.id.0.as_u128() >> 64 != u128::from(self.fence.0.unsigned_abs())
    }

    /// Makes a call between its two notes. A failure that passes is noted and gives nothing.
    pub(crate) async fn call<T>(
        &self,
        call: Submit,
        work: impl Future<Output = Result<T, Error>>,
        told: impl FnOnce(&T) -> Value,
    ) -> Result<Option<T>, Failure> {
        let ticket = self.notes.submit(&call)?;
        match work.await {
            Ok(answer) => {
                let body = told(&answer);
                self.notes.acknowledge(ticket, self.commits(), &body)?;
                Ok(Some(answer))
            }
            Err(error) => {
                self.notes.fail(ticket, &error)?;
                if error.is_transient() { Ok(None) } else { Err(error.into()) }
            }
        }
    }

    /// Whether the store is a server.
    pub(crate) fn is_server(&self) -> bool {
        matches!(self.store, AnyStore::Postgres(_))
    }

    /// Transactions so far; a server's are one to a call and are not counted here.
    fn commits(&self) -> u64 {
        match &self.store {
            AnyStore::Sqlite(store) => store.commits(),
            _ => 0,
        }
    }

    /// Makes the next schedule, if one is left to be made.
    pub(crate) async fn create_next(&self, now: Timestamp) -> Result<bool, Failure> {
        let number = self.next_schedule.fetch_add(1, Ordering::Relaxed);
        if number >= self.last_schedule {
            return Ok(false);
        }
        self.create(number, now).await.map(|()| true)
    }

    /// Makes a schedule; one whose creation was never answered may be there already.
    pub(crate) async fn create(&self, number: u32, now: Timestamp) -> Result<(), Failure> {
        let write = fleet::creation(number, now)?;
        let body = json!({ "number": number });
        let call = Submit { kind: "create", batch: Uuid::nil(), now, body };
        let scope = Scope::org(self.orgs[&fleet::org_of(number)]);
        let told = |answers: &Vec<Result<Written, Error>>| match answers.first() {
            Some(Ok(_)) => json!({ "number": number, "at": now.as_second() }),
            _ => json!({ "number": number }),
        };
        let answers = self.call(call, self.store.write_schedules(scope, vec![write]), told).await?;
        match answers.and_then(|mut answers| answers.pop()) {
            Some(Err(error)) if !matches!(error, Error::NameTaken { .. }) => Err(error.into()),
            _ => Ok(()),
        }
    }
}

fn started() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or_default()
}
