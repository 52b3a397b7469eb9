//! Launcher: the only step that acts on the world. It checks the lease and notes each launch before it happens.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, MutexGuard};
use std::task::Poll;
use std::time::Duration;

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Action, Fence, Outcome, Room, RunKey};
use punctual_store::fail_point::{FailPoint, pass};
use punctual_store::{AttemptToken, Launchable, Report, Started};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::ReusableBoxFuture;
use tracing::debug;

use crate::birth::Birth;
use crate::brief::Brief;
use crate::crew::Crew;
use crate::flights::{Flight, Flights};
use crate::hand::Hand;
use crate::journal::{Journal, Mark, Slip};
use crate::lanes::{Lanes, Placed, SLICE};
use crate::launch::{Finished, Launch, Launched, OnEnd, OnStart, Targets, Why};
use crate::lease::Lease;
use crate::settler::{Ended, News};
use crate::spans::Stretch;
use crate::time::Time;
use crate::wanted::{LaneKey, Wanted};
use crate::{Clock, Metrics, Settings};

/// Runs that are handed over together.
const TOGETHER: usize = 128;

/// Runs whose launch takes longer than this do not wait for each other.
const SLICE_TIME_MAX: Duration = Duration::from_millis(1);

/// Launches admitted runs, as many at once as there are places.
pub(crate) struct Launcher<C, T> {
    shared: Arc<Shared<C, T>>,
}

/// What every launch uses.
pub(crate) struct Shared<C, T> {
    pub(crate) time: Arc<Time<C>>,
    pub(crate) targets: Arc<T>,
    pub(crate) lease: Arc<Lease>,
    pub(crate) journal: Arc<Brief<Journal>>,
    pub(crate) flights: Arc<Flights>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) lanes: Brief<Lanes>,
    pub(crate) crew: Crew,
    pub(crate) news: mpsc::UnboundedSender<News>,
    pub(crate) settings: Settings,
}

impl<C: Clock, T: Targets> Launcher<C, T> {
    pub(crate) fn new(shared: Shared<C, T>) -> Self {
        Self { shared: Arc::new(shared) }
    }

    /// Hands over runs and returns at once. What waits in a queue is left to its workers.
    pub(crate) fn launch(&mut self, runs: Vec<Arc<Launchable>>, fence: Fence) -> Seen {
        let (mut runs, mut seen) = (runs.into_iter(), Seen::default());
        // The first begin while the others are still on their way.
        while runs.len() > 0 {
            let some = runs.by_ref().take(TOGETHER).inspect(|run| seen.look_at(run)).collect();
            self.shared.flights.announce(runs.len());
            self.launch_some(some, fence);
        }
        seen
    }

    fn launch_some(&mut self, mut runs: Vec<Arc<Launchable>>, fence: Fence) {
        runs.retain(|run| is_launched(&run.definition.target.action));
        self.shared.flights.insert_all(&runs, fence);
        let mut lanes = self.shared.lanes();
        let placed: Vec<Placed> = runs.into_iter().filter_map(|run| lanes.enter(run)).collect();
        self.shared.metrics.launches_waiting.set(lanes.waiting());
        drop(lanes);
        self.begin(placed);
    }

    /// Gets ready for so many launches, and for the targets to which they want to go.
    pub(crate) fn expect(&self, launches: usize, wanted: &Wanted) {
        self.shared.flights.expect(launches);
        self.shared.lanes().expect(wanted);
        if let Err(error) = self.shared.journal().expect(launches) {
            debug!(%error, "no room in the journal for what comes");
        }
    }

    /// Launches what waits although there are places: the lease was not certain for a while.
    pub(crate) fn resume(&mut self) {
        let mut lanes = self.shared.lanes();
        let mut placed = Vec::new();
        for lane in lanes.turns() {
            placed.extend(std::iter::from_fn(|| lanes.take(lane)));
        }
        drop(lanes);
        self.begin(placed);
    }

    fn begin(&mut self, placed: Vec<Placed>) {
        let mut placed = placed.into_iter();
        while placed.len() > 0 {
            let some = placed.by_ref().take(SLICE).collect();
            self.shared.lanes().begin();
            self.shared.spawn(Arc::clone(&self.shared).serve(some));
        }
    }

    /// Launches nothing more, and gives back what was admitted and not launched.
    pub(crate) fn close(&self) -> Vec<Arc<Launchable>> {
        self.shared.lanes().close()
    }

    /// Forgets what was admitted and not launched, and gives it back.
    pub(crate) fn hand_back(&self) -> Vec<Arc<Launchable>> {
        self.shared.lanes().clear()
    }

    /// How many attempts were launched and have not ended.
    pub(crate) fn in_flight(&self) -> usize {
        self.shared.flights.launched_count()
    }

    /// Resolves when every launched run has ended.
    pub(crate) async fn drain(&mut self) {
        self.shared.crew.drain().await;
    }

    /// Leaves what still runs to itself, and closes the way to the ledger: the next start finds it in doubt.
    pub(crate) fn abandon(&self) {
        self.shared.crew.leave();
        self.shared.tell(News::Close);
    }
}

impl<C, T> Drop for Launcher<C, T> {
    fn drop(&mut self) {
        self.shared.crew.end();
    }
}

/// Of what kinds there were some among runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Some wait in a queue for workers.
    pub(crate) queued: bool,
    /// Some have written a message.
    pub(crate) written: bool,
}

impl Seen {
    fn look_at(&mut self, run: &Launchable) {
        let action = &run.definition.target.action;
        self.queued |= matches!(action, Action::Queue(_));
        self.written |= matches!(action, Action::Message { .. });
    }
}

/// Whether a run that goes there is launched by the node; one that waits in a queue is left to its workers.
pub(crate) fn is_launched(action: &Action) -> bool {
    !matches!(action, Action::Queue(_))
}

/// What the admitter has to know of a launcher.
pub(crate) trait Doors {
    /// Whether runs that go there are this node's to launch.
    fn takes(&self, action: &Action) -> bool;

    /// Of targets to which so many rows want to go, those that do not take all of them.
    fn rooms(&self, wanted: &Wanted, now: Timestamp) -> HashMap<LaneKey, Room>;
}

impl<C: Clock, T: Targets> Doors for Launcher<C, T> {
    fn takes(&self, action: &Action) -> bool {
        self.shared.targets.takes(action)
    }

    fn rooms(&self, wanted: &Wanted, now: Timestamp) -> HashMap<LaneKey, Room> {
        self.shared.lanes().rooms(wanted, now)
    }
}

impl<C: Clock, T: Targets> Shared<C, T> {
    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock()
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.crew.spawn(self.settings.task(task));
    }

    /// Launches runs and then whatever has their places next.
    async fn serve(self: Arc<Self>, mut placed: Vec<Placed>) {
        while !placed.is_empty() {
            // Without a certain lease nothing is launched: the runs keep their turns until the next heartbeat.
            let Some(fence) = self.lease.certain(self.time.clock()) else {
                self.metrics.launches_held.add(placed.len() as u64);
                return self.lanes().put_back_all(placed);
            };
            let rest = placed.split_off(placed.len().min(SLICE));
            let over = self.run_slice(placed, fence).await;
            let places = self.close(over, fence);
            placed = {
                let mut lanes = self.lanes();
                let next = lanes.next_slice(&places, rest);
                self.metrics.launches_waiting.set(lanes.waiting());
                next
            };
            // A herd is launched by all threads, and leaves each of them to others now and then.
            tokio::task::yield_now().await;
        }
    }

    /// Launches runs one after the other. Gives back those that are over; the others go on by themselves.
    async fn run_slice(self: &Arc<Self>, placed: Vec<Placed>, fence: Fence) -> Vec<Over> {
        let flights = self.flights.launch(placed.iter().map(|one| &*one.run), fence, self.time.now());
        let wanted = placed.iter().zip(&flights).filter(|(_, flight)| flight.is_some());
        let mut slip = self.journal().launching(wanted.map(|(placed, _)| key_of(&placed.run)));
        let mut over = Vec::with_capacity(placed.len());
        let (begun, mut seat) = (Instant::now(), None::<Seat>);
        let hand = Hand::of(self);
        for (placed, flight) in placed.into_iter().zip(flights) {
            let Some(flight) = flight else {
                over.push(Over { placed, news: None });
                continue;
            };
            // Whoever would have to wait for slow ones has a task of its own, and is noted there.
            if begun.elapsed() >= SLICE_TIME_MAX {
                let going = Arc::clone(self).attempt_alone(Arc::clone(&placed.run), fence, flight);
                self.spawn(Arc::clone(self).go_on(placed, fence, going));
                continue;
            }
            let (from, birth) = (self.time.now(), Arc::new(Birth::default()));
            let (noted, run) = (noted(&mut slip, &placed.run, from), Arc::clone(&placed.run));
            let attempt = Attempt { run, fence, flight, from, noted, birth: Arc::clone(&birth) };
            let attempt = Self::attempt(hand.clone(), attempt);
            let mut going = match seat.take() {
                Some(mut seat) => {
                    seat.set(attempt);
                    seat
                }
                None => Seat::new(attempt),
            };
            // Most closures end at once; whatever does not goes on in a task of its own.
            let look = |context: &mut std::task::Context<'_>| Poll::Ready(going.poll(context));
            let mut looked = std::future::poll_fn(look).await;
            if looked.is_pending() && is_called(&placed.run.definition.target.action) {
                // One that is called apart has its turn before more are noted and begun.
                let until = begun + SLICE_TIME_MAX;
                looked = timeout_at(until, &mut going).await.map_or(Poll::Pending, Poll::Ready);
            }
            match looked {
                Poll::Ready(news) => {
                    news.iter().filter_map(News::end).for_each(|report| slip.end(report));
                    over.push(Over { placed, news });
                    seat = Some(going);
                }
                Poll::Pending => {
                    if let Some(at) = birth.goes_on() {
                        self.tell_start(&placed.run, fence, at);
                    }
                    self.spawn(Arc::clone(self).go_on(placed, fence, going));
                }
            }
        }
        self.journal().filed(slip, over.iter().filter_map(Over::end));
        over
    }

    /// Notes a run by itself, and launches it.
    async fn attempt_alone(
        self: Arc<Self>,
        run: Arc<Launchable>,
        fence: Fence,
        flight: Flight,
    ) -> Option<News> {
        let from = self.time.now();
        let noted = {
            let mut journal = self.journal();
            let mut slip = journal.launching(std::iter::once(key_of(&run)));
            let noted = noted(&mut slip, &run, from);
            journal.filed(slip, std::iter::empty());
            noted
        };
        let birth = Arc::new(Birth::default());
        birth.goes_on();
        Self::attempt(Hand::of(&self), Attempt { run, fence, flight, from, noted, birth }).await
    }

    /// Waits for the end of a run, and then launches whatever has its place next. Boxed, for that may be this again.
    fn go_on(
        self: Arc<Self>,
        placed: Placed,
        fence: Fence,
        going: impl Future<Output = Option<News>> + Send + 'static,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            let over = Over { placed, news: going.await };
            over.end().into_iter().for_each(|report| self.journal().ended(report));
            let places = self.close(vec![over], fence);
            let next: Vec<Placed> =
                places.iter().flat_map(|placed| self.lanes().last_slice(placed)).collect();
            self.serve(next).await;
        })
    }

    /// Says what became of runs; their places are to be given back.
    fn close(&self, over: Vec<Over>, fence: Fence) -> Vec<Placed> {
        let (places, news): (Vec<Placed>, Vec<Option<News>>) =
            over.into_iter().map(|one| (one.placed, one.news)).unzip();
        news.into_iter().flatten().for_each(|news| self.tell(news));
        self.flights.remove(places.iter().map(|placed| &*placed.run), fence);
        places
    }

    /// Launches a run; what there is to be said when it is over.
    async fn attempt(this: Hand<Self>, attempt: Attempt) -> Option<News> {
        let Attempt { run, fence, flight, from, noted, birth } = attempt;
        let cancel = flight.canceller.cancel_of();
        let launched = match noted {
            Ok(mark) => {
                let launch = Launch {
                    run: Arc::clone(&run),
                    fence,
                    started: Self::on_start(&this, Arc::clone(&run), fence, Arc::clone(&birth)),
                    ended: OnEnd::new(mark),
                    cancel: cancel.clone(),
                    output: flight.canceller.output_of(),
                };
                this.targets.launch(launch).await
            }
            // What cannot be noted is not launched: a restart could not tell whether it was.
            Err(error) => Finished::failed(format!("the launch journal cannot be written: {error}")).into(),
        };
        pass(FailPoint::LaunchEnded);
        let at = this.time.now();
        this.settings.spans.launched((&*run).into(), Stretch { from, to: at.max(from) }, launched.outcome());
        let finished = match launched {
            Launched::Ended(finished) => finished,
            Launched::Entrusted => return Some(News::Gone { run: run.run, attempt: run.attempt }),
        };
        let started_at = birth.at();
        let is_cancelled = matches!(finished.outcome, Outcome::Cancelled { .. });
        match cancel.why() {
            // Whoever takes the run over finds it in doubt; what this node says of it does not count.
            Some(Why::Fenced) => {
                debug!(run = %run.run, "stopped: the lease was lost");
                None
            }
            // The ledger has its end. Only a success that was quicker than the wish is worth a word.
            Some(_) if is_cancelled => Some(News::Gone { run: run.run, attempt: run.attempt }),
            _ => {
                let report = Report {
                    run: run.run,
                    attempt: run.attempt,
                    token: AttemptToken::Node(fence),
                    outcome: finished.outcome,
                    started_at,
                    at,
                    output: finished.output,
                };
                let (definition, scheduled_for) = (Arc::clone(&run.definition), run.scheduled_for);
                Some(News::Ended(Box::new(Ended { report, definition, scheduled_for, trace: run.trace })))
            }
        }
    }

    fn on_start(this: &Hand<Self>, run: Arc<Launchable>, fence: Fence, birth: Arc<Birth>) -> OnStart {
        let shared = this.clone();
        OnStart::new(move || {
            pass(FailPoint::LaunchStarted);
            let now = shared.time.now();
            shared.metrics.drift.observe(now.duration_since(run.fire_at));
            if birth.begins(now) {
                shared.tell_start(&run, fence, now);
            }
        })
    }

    fn tell_start(&self, run: &Launchable, fence: Fence, at: Timestamp) {
        let started = Started { run: run.run, attempt: run.attempt, at };
        self.tell(News::Started { started, fence });
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock()
    }

    fn tell(&self, news: News) {
        // The settler outlives the launcher; news that nobody takes is in the journal.
        let _ = self.news.send(news);
    }
}

/// Where an attempt is while it goes on; the next may have it when it is over.
type Seat = ReusableBoxFuture<'static, Option<News>>;

/// A run that is about to be launched.
struct Attempt {
    run: Arc<Launchable>,
    fence: Fence,
    flight: Flight,
    /// Since when it is launched.
    from: Timestamp,
    /// Where the journal has it, or why not.
    noted: Result<Mark, String>,
    birth: Arc<Birth>,
}

/// A run that is over, with what there is to be said of it.
struct Over {
    placed: Placed,
    news: Option<News>,
}

impl Over {
    /// How it ended, if there is anything to be said of it.
    fn end(&self) -> Option<&Report> {
        self.news.as_ref().and_then(News::end)
    }
}

/// Writes that a run is about to be launched; what is wrong, if that cannot be written.
fn noted(slip: &mut Slip, run: &Launchable, at: Timestamp) -> Result<Mark, String> {
    // A message is in the outbox since its admission: nobody asks the journal for it, and where that cannot be written it
    // would only be sent again.
    let is_message = matches!(run.definition.target.action, Action::Message { .. });
    if is_message || !holds(Rule::JournalBeforeLaunch) {
        return Ok(Mark::default());
    }
    pass(FailPoint::LaunchBeforeNote);
    let mark = slip.launch(key_of(run), at).map_err(|error| error.to_string())?;
    pass(FailPoint::LaunchAfterNote);
    Ok(mark)
}

/// Whether a run that goes there is a closure, most of which end at once.
fn is_called(action: &Action) -> bool {
    matches!(action, Action::Callback { .. })
}

fn key_of(run: &Launchable) -> (RunKey, u32) {
    (run.run, run.attempt)
}

#[cfg(test)]
mod tests {
    use punctual_plan::{Object, Origin, Schedule, ScheduleId, ScheduleKey};
    use punctual_time::{Cron, Timing, Zone};

    use super::*;

    #[test]
    fn where_the_journal_cannot_be_written_messages_alone_are_launched() {
        let check = |action: Action, expected: bool| {
            let timing = Timing::new("* * * * *".parse::<Cron>().unwrap(), Zone::utc());
            let definition = Schedule::new(ScheduleId(uuid::Uuid::from_u128(1)), "one", timing, action);
            let run = Launchable {
                run: RunKey(1),
                schedule: ScheduleKey(1),
                org: punctual_plan::OrgKey(1),
                definition: Arc::new(definition),
                origin: Origin::Tick,
                nonce: String::new(),
                scheduled_for: Timestamp::UNIX_EPOCH,
                fire_at: Timestamp::UNIX_EPOCH,
                attempt: 1,
                trace: None,
                token: None,
                answer_by: Timestamp::MAX,
            };
            assert_eq!(noted(&mut Slip::full(), &run, run.fire_at).is_ok(), expected);
        };
        check(Action::Message { message: Object::new() }, true);
        check(Action::Callback { task: "one".to_owned() }, false);
    }
}
