//! Duties: what has to be done now and then beside the ticks, in bounded steps that never delay an admission.

use std::sync::Arc;
use std::time::Duration;

use punctual_plan::Window;
use punctual_store::fail_point::{FailPoint, pass};
use punctual_store::{Error, Retention, Scope, Store};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};
use tracing::{debug, warn};

use crate::flights::Flights;
use crate::time::Time;
use crate::zones::{Stride, Zones};
use crate::{Clock, Metrics, Pulse, Tuning};

/// How often messages get their place in the stream and events their seal.
const ORDER_EVERY: Duration = Duration::from_secs(1);

/// Events sealed in one transaction.
const SEAL_MAX: usize = 1_000;

/// How often retention looks for rows that are past it, and how long it leaves the database alone between two steps.
const RETAIN_EVERY: Duration = Duration::from_secs(60);
const RETAIN_PAUSE: Duration = Duration::from_millis(100);

/// Rows of one step of retention: a commit of so many delays nobody noticeably.
const RETAIN_MAX: usize = 500;

/// What was slept through comes before newer rules of the zones, but they wait no longer than this for it.
const ZONES_WAIT: Duration = Duration::from_secs(5);

/// How long the database is left alone between two steps through the schedules in which something was written.
const ZONES_PAUSE: Duration = Duration::from_millis(20);

/// How often it is counted which schedules should have been planned and are not.
const COUNT_EVERY: Duration = Duration::from_secs(10);

/// The duties of a node.
pub(crate) struct Duties<S, C> {
    pub(crate) store: Arc<S>,
    pub(crate) time: Arc<Time<C>>,
    pub(crate) flights: Arc<Flights>,
    pub(crate) tuning: watch::Receiver<Tuning>,
    /// How long nothing is looked for at least.
    pub(crate) idle: Duration,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) zones: Zones,
}

impl<S: Store, C: Clock> Duties<S, C> {
    /// Runs until the sender of `messages` is gone; a word through it says that a message wants its place.
    pub(crate) async fn run(mut self, mut messages: mpsc::Receiver<()>) {
        let begun = Instant::now();
        let (mut order_at, mut retain_at, mut count_at) = (begun, begun + RETAIN_PAUSE, begun + COUNT_EVERY);
        let mut zones_at = Some(begun);
        loop {
            tokio::select! {
                biased;
                message = messages.recv() => match message {
                    Some(()) => order_at = Instant::now(),
                    None => return,
                },
                // Rows that are past another retention need not wait for the next look.
                Ok(()) = self.tuning.changed() => retain_at = Instant::now(),
                () = sleep_until(order_at.min(retain_at).min(count_at).min(zones_at.unwrap_or(order_at))) => {}
            }
            // A herd that is being launched needs the cores first.
            self.flights.rush().await;
            let now = Instant::now();
            if order_at <= now {
                let is_more = self.told("order", self.order().await).unwrap_or_default();
                order_at = now + if is_more { RETAIN_PAUSE } else { ORDER_EVERY.max(self.idle) };
            }
            if retain_at <= now {
                let is_more = self.told("retain", self.retain().await).unwrap_or_default();
                retain_at = now + if is_more { RETAIN_PAUSE } else { RETAIN_EVERY.max(self.idle) };
            }
            if count_at <= now {
                self.told("count", self.count().await);
                count_at = now + COUNT_EVERY.max(self.idle);
            }
            if zones_at.is_some_and(|at| at <= now) {
                zones_at = self.go_over(begun).await.map(|pause| now + pause);
            }
        }
    }

    /// Messages and events in their order; whether more events wait for their seal.
    async fn order(&self) -> Result<bool, Error> {
        let placed = self.store.sequence_outbox().await?;
        pass(FailPoint::OutboxOrdered);
        self.metrics.outbox_sequenced.add(placed);
        if placed > 0 {
            self.pulse.tell();
        }
        let sealed = self.store.seal_audit(SEAL_MAX).await?;
        pass(FailPoint::AuditSealed);
        let unsealed: u64 = sealed.iter().map(|org| org.unsealed).sum();
        self.metrics.audit_unsealed.set(usize::try_from(unsealed).unwrap_or(usize::MAX));
        Ok(unsealed > 0)
    }

    /// One step; whether another one has more to do.
    async fn retain(&self) -> Result<bool, Error> {
        let retention = self.tuning.borrow().retention;
        let step = Retention { limit: retention.limit.min(RETAIN_MAX), ..retention };
        pass(FailPoint::RetainBefore);
        let retained = self.store.retain(step, self.time.now()).await?;
        pass(FailPoint::RetainAfter);
        if retained.runs + retained.events > 0 {
            debug!(runs = retained.runs, events = retained.events, "retention");
        }
        self.metrics.runs_retained.add(retained.runs);
        Ok(retained.is_more)
    }

    /// One step through what was planned by older rules of the zones; how long to wait for the next one, if there is one.
    async fn go_over(&mut self, begun: Instant) -> Option<Duration> {
        if self.pulse.unready().is_some() && begun.elapsed() < ZONES_WAIT {
            return Some(ZONES_PAUSE);
        }
        // As for plans: who is not certain of its lease may be wrong about the time.
        if !self.zones.is_certain(self.time.clock()) {
            return Some(ORDER_EVERY.max(self.idle));
        }
        let window = Window { now: self.time.now(), pace: self.tuning.borrow().pace };
        let stride = self.zones.step(&*self.store, window).await;
        match self.told("zones", stride) {
            None => Some(ORDER_EVERY),
            Some(Stride::Done) => None,
            Some(Stride::Looked) => Some(Duration::ZERO),
            Some(Stride::Wrote) => {
                // What comes sooner than it was known to wants to be waited for.
                self.pulse.wake();
                Some(ZONES_PAUSE)
            }
        }
    }

    async fn count(&self) -> Result<(), Error> {
        let unplanned = self.store.unplanned(Scope::Engine, self.time.now()).await?;
        self.metrics.schedules_unplanned.set(usize::try_from(unplanned).unwrap_or(usize::MAX));
        if unplanned > 0 {
            warn!(schedules = unplanned, "should have been planned and are not");
        }
        Ok(())
    }

    fn told<T>(&self, step: &'static str, result: Result<T, Error>) -> Option<T> {
        match result {
            Ok(done) => Some(done),
            Err(problem) => {
                self.metrics.store_errors.add(&[step]);
                warn!(%problem, step, "a duty failed, trying again later");
                None
            }
        }
    }
}
