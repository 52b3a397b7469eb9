//! The line from a node to the database: calls take time, fail, or are done and go unanswered, as the story says.
//!
//! After each commit the oracle sees the rows that it wrote, before anybody else does anything.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use punctual_plan::{Event, Fence, OrgKey, RunKey, ScheduleId, ScheduleKey, Verdict};
use punctual_store::*;

use crate::hub::{Call, Course, Fate, Hub};

/// A call to the database. What others than memory need is put aside: a call is moved often, and theirs are large.
macro_rules! stored {
    ($hub:expr, $name:ident($($argument:expr),*)) => {{
        let store: &AnyStore = &$hub.store;
        async move {
            match store {
                AnyStore::Memory(memory) => memory.$name($($argument),*).await,
                other => Box::pin(other.$name($($argument),*)).await,
            }
        }
    }};
}
pub(crate) use stored;

/// A node's way to the database.
#[derive(Clone)]
pub(crate) struct Line {
    /// What the story shares.
    pub(crate) hub: Arc<Hub>,
    /// Whose line it is.
    pub(crate) node: usize,
    /// Which rules of the zones the node has.
    pub(crate) edition: usize,
    /// After how long it looks for changes that it did not hear of.
    pub(crate) look_every: Duration,
}

impl Line {
    async fn read<T>(
        &self,
        doing: &'static str,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let Course { before, after, fate } = self.hub.course(self.node, Call::Read);
        pass(before).await;
        if fate == Fate::Fails || self.hub.is_away(self.node) {
            return Err(failed(doing));
        }
        let answer = self.hub.at_once(work);
        pass(after).await;
        answer
    }

    async fn write<T>(
        &self,
        doing: &'static str,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.write_and(doing, work, |_| {}).await
    }

    /// Commits, lets somebody hear the true answer, and lets the oracle look.
    async fn write_and<T>(
        &self,
        doing: &'static str,
        work: impl Future<Output = Result<T, Error>>,
        heard: impl FnOnce(&T),
    ) -> Result<T, Error> {
        let Course { before, after, fate } = self.hub.course(self.node, Call::Write);
        pass(before).await;
        if fate == Fate::Fails || self.hub.is_away(self.node) {
            return Err(failed(doing));
        }
        let answer = self.hub.at_once(work);
        if let Ok(answer) = &answer {
            heard(answer);
        }
        self.hub.look();
        pass(after).await;
        // A line that was cut meanwhile brings no answer.
        match fate == Fate::Unanswered || (!after.is_zero() && self.hub.is_away(self.node)) {
            true => Err(Error::Unanswered { doing }),
            false => answer,
        }
    }

    fn wrote(&self, fence: Fence, doing: &str) {
        let moment = self.hub.moment();
        self.hub.state().oracle.wrote(moment, fence, doing);
    }

    async fn admitted(&self, batch: Batch, admissions: Vec<AdmitCommit>) -> Result<Vec<Commit>, Error> {
        let judged = judged(&admissions);
        let work = stored!(self.hub, admit(batch, admissions));
        self.write_and("admitting", work, |commits| self.heard(batch, &judged, commits)).await
    }

    async fn admitted_ahead(&self, batch: Batch, ahead: Ahead) -> Result<Option<Vec<Commit>>, Error> {
        let judged = judged(&ahead.admissions);
        let work = stored!(self.hub, admit_ahead(batch, ahead));
        self.write_and("admitting ahead", work, |commits| {
            if let Some(commits) = commits {
                self.heard(batch, &judged, commits);
            }
        })
        .await
    }

    /// Lets the oracle know what an admission has done.
    fn heard(&self, batch: Batch, judged: &[(RunKey, Verdict)], commits: &[Commit]) {
        // A batch that is sent again is answered as it was, and does nothing.
        let is_new = self.hub.state().batches.insert(batch.id.0);
        let is_done = |commit: &Commit| is_new && *commit == Commit::Done;
        let started = judged.iter().zip(commits).filter(|(_, commit)| is_done(commit));
        self.hub.look();
        for ((run, verdict), _) in started {
            if *verdict == Verdict::Start {
                let moment = self.hub.moment();
                let mut state = self.hub.state();
                state.oracle.admitted(*run, batch.now);
                state.oracle.held(moment, *run, batch.fence);
            }
        }
    }

    async fn planned(&self, batch: Batch, plans: Vec<PlanCommit>) -> Result<Vec<Commit>, Error> {
        let made = plans.clone();
        self.write_and("planning", stored!(self.hub, commit_plans(batch, plans)), |commits| {
            let mut state = self.hub.state();
            // A batch that is sent again is answered as it was, and does nothing.
            let is_new = state.batches.insert(batch.id.0);
            let done = made.iter().zip(commits).filter(|(_, commit)| is_new && **commit == Commit::Done);
            done.for_each(|(plan, _)| state.oracle.planned(plan, self.edition));
        })
        .await
    }

    async fn replanned(
        &self,
        fence: Fence,
        writes: Vec<ScheduleWrite>,
    ) -> Result<Option<Vec<Result<Written, Error>>>, Error> {
        let made = writes.clone();
        self.write_and("planning again", stored!(self.hub, replan(fence, writes)), |answers| {
            self.wrote(fence, "a plan by newer rules");
            let moment = self.hub.moment();
            let mut state = self.hub.state();
            for (write, answer) in made.iter().zip(answers.iter().flatten()) {
                if matches!(answer, Ok(Written::Schedule(_))) {
                    state.totals.count("schedule moved by new rules");
                    state.oracle.replanned(moment, write, self.edition);
                }
            }
        })
        .await
    }

    async fn reported(&self, batch: Batch, reports: Vec<Report>) -> Result<Vec<Settled>, Error> {
        let said = reports.clone();
        self.write_and("settling", stored!(self.hub, settle(batch, reports)), |settled| {
            let (moment, written) = (self.hub.moment(), self.hub.look());
            let mut state = self.hub.state();
            // A batch that is sent again is answered as it was. Whoever holds its runs by now was not asked.
            let is_new = state.batches.insert(batch.id.0);
            let is_done = |run: &RunKey| written.as_ref().map_or(is_new, |written| written.contains(run));
            for (report, settled) in said.iter().zip(settled).filter(|(report, _)| is_done(&report.run)) {
                state.oracle.settled(moment, report, settled);
                if let Some(end) = settled.settlement.as_ref().filter(|end| end.disabled.is_some()) {
                    state.oracle.left_active(end.in_flight.schedule, batch.now);
                }
            }
        })
        .await
    }
}

/// The runs of verdicts, with what they say.
fn judged(admissions: &[AdmitCommit]) -> Vec<(RunKey, Verdict)> {
    admissions.iter().map(|one| (one.admission.run, one.admission.verdict.clone())).collect()
}

/// Lets virtual time pass, if there is any.
async fn pass(duration: Duration) {
    if !duration.is_zero() {
        tokio::time::sleep(duration).await;
    }
}

/// What a database says that is not there.
fn failed(doing: &'static str) -> Error {
    let source = Arc::new(std::io::Error::other("the line is down"));
    Error::Database { doing, source, is_transient: true }
}

/// Calls that only go through the line.
macro_rules! through {
    ($($kind:ident $name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)+) => {
        impl Store for Line {
            $(async fn $name(&self, $($argument: $type),*) -> Result<$answer, Error> {
                self.$kind(stringify!($name), stored!(self.hub, $name($($argument),*))).await
            })+

            async fn now(&self) -> Result<Timestamp, Error> {
                let hub = &self.hub;
                self.read("now", async { Ok(hub.now()) }).await
            }

            async fn changed(&self) {
                // Whoever hears nothing looks again after a while, as behind a pooler that swallows notifications.
                tokio::select! {
                    biased;
                    () = self.hub.changed.notified() => {}
                    () = tokio::time::sleep(self.look_every) => {}
                }
            }

            async fn admit(&self, batch: Batch, admissions: Vec<AdmitCommit>) -> Result<Vec<Commit>, Error> {
                self.admitted(batch, admissions).await
            }

            async fn commit_plans(&self, batch: Batch, plans: Vec<PlanCommit>) -> Result<Vec<Commit>, Error> {
                self.planned(batch, plans).await
            }

            async fn replan(&self, fence: Fence, writes: Vec<ScheduleWrite>) -> Result<Option<Vec<Result<Written, Error>>>, Error> {
                self.replanned(fence, writes).await
            }

            async fn moment(&self) -> Option<Moment> {
                self.hub.at_once(self.hub.store.moment())
            }

            async fn admit_ahead(&self, batch: Batch, ahead: Ahead) -> Result<Option<Vec<Commit>>, Error> {
                self.admitted_ahead(batch, ahead).await
            }

            async fn settle(&self, batch: Batch, reports: Vec<Report>) -> Result<Vec<Settled>, Error> {
                self.reported(batch, reports).await
            }

            async fn join(&self, node: Node) -> Result<Joined, Error> {
                let lease = node.lease;
                self.write_and("joining", stored!(self.hub, join(node)), |joined| {
                    let moment = self.hub.moment();
                    if joined.may_plan {
                        self.hub.state().oracle.brought(moment, self.edition);
                    }
                    let until = self.hub.now().saturating_add(lease).unwrap_or(Timestamp::MAX);
                    self.hub.state().oracle.leased(joined.fence, until);
                })
                .await
            }

            async fn heartbeat(&self, alive: Alive) -> Result<Heartbeat, Error> {
                let fence = alive.fence;
                self.write_and("renewing the lease", stored!(self.hub, heartbeat(alive)), |heartbeat| {
                    self.wrote(fence, "a heartbeat");
                    self.hub.state().oracle.leased(fence, heartbeat.lease_until);
                })
                .await
            }

            async fn leave(&self, fence: Fence) -> Result<(), Error> {
                self.write_and("leaving", stored!(self.hub, leave(fence)), |()| self.hub.state().oracle.left(fence)).await
            }

            async fn take_over(&self, fence: Fence, limit: usize) -> Result<Vec<Orphan>, Error> {
                self.write_and("taking over", stored!(self.hub, take_over(fence, limit)), |orphans| {
                    self.wrote(fence, "a take-over");
                    let moment = self.hub.moment();
                    let mut state = self.hub.state();
                    orphans.iter().for_each(|orphan| state.oracle.held(moment, orphan.launch.run, fence));
                })
                .await
            }

            /// A file's retention waits on clocks that stand still here.
            async fn retain(&self, retention: Retention, now: Timestamp) -> Result<Retained, Error> {
                match &*self.hub.store {
                    AnyStore::Memory(_) => self.write("retaining", stored!(self.hub, retain(retention, now))).await,
                    _ => Ok(Retained::default()),
                }
            }
        }
    };
}

through! {
    read plannable(ask: Ask) -> PlannableBatch;
    read decidable(now: Timestamp, schedules: Vec<ScheduleKey>) -> PlannableBatch;
    read due(ask: Ask) -> DueBatch;
    write mark_running(batch: Batch, started: Vec<Started>) -> Vec<Commit>;
    write hand_back(attempts: Vec<Attempt>) -> ();
    write sequence_outbox() -> u64;
    read outbox(scope: Scope, after: i64, limit: usize) -> Vec<OutboxRow>;
    write acknowledge_outbox(scope: Scope, through: i64) -> u64;
    write seal_audit(limit: usize) -> Vec<SealedThrough>;
    write pause_invalid(now: Timestamp, schedules: Vec<ScheduleKey>) -> usize;
    read ended(attempts: Vec<Attempt>) -> Vec<RunKey>;
    write note(at: Timestamp, event: Event) -> ();
    write note_output(fence: Fence, shown: Vec<Shown>) -> ();
    write lease(scope: Scope, worker: Worker) -> Vec<Leased>;
    write extend_lease(scope: Scope, held: Held) -> Commit;
    write entrust(fence: Fence, entrusted: Entrusted) -> Commit;
    write begin(scope: Scope, begun: Begun) -> Commit;
    write org(scope: Scope, org_id: String) -> OrgKey;
    write write_schedules(scope: Scope, writes: Vec<ScheduleWrite>) -> Vec<Result<Written, Error>>;
    read schedule(scope: Scope, selector: Selector) -> Option<ScheduleRow>;
    read open_rows(scope: Scope, schedule: ScheduleKey) -> Vec<OpenRow>;
    read schedules(scope: Scope, filter: ScheduleFilter, cut: Cut) -> Listed<ScheduleRow>;
    read versions(scope: Scope, schedule: ScheduleId) -> Vec<VersionRow>;
    read users_of(scope: Scope, kind: UseKind, name: String) -> Vec<ScheduleKey>;
    read runs(scope: Scope, filter: RunFilter, cut: Cut) -> Listed<RunRow>;
    read run(scope: Scope, run: RunKey) -> Option<RunRow>;
    read ranges(scope: Scope, filter: RunFilter, cut: Cut) -> Listed<RangeRow>;
    read audit(scope: Scope, filter: AuditFilter, cut: Cut) -> Listed<AuditRow>;
    read verify_audit(scope: Scope) -> Chain;
    write put_document(scope: Scope, document: NewDocument) -> Document;
    read document(scope: Scope, kind: DocumentKind, name: String) -> Option<Document>;
    read documents(scope: Scope, kind: DocumentKind, cut: Cut) -> Listed<Document>;
    write remove_document(scope: Scope, kind: DocumentKind, name: String) -> bool;
    write put_token(scope: Scope, token: Token) -> ();
    read token(hash: String) -> Option<(OrgKey, Token)>;
    read tokens(scope: Scope) -> Vec<Token>;
    write answer_once(scope: Scope, answer: Answer) -> Answered;
    read breakers(scope: Scope) -> Vec<BreakerRow>;
    read transitions(scope: Scope, target: String, limit: u32) -> Vec<TransitionRow>;
    write reset_breaker(scope: Scope, target: String, now: Timestamp) -> bool;
    read nodes() -> Vec<NodeRow>;
    read living(scope: Scope) -> u64;
    read unplanned(scope: Scope, now: Timestamp) -> u64;
    write cancel_runs(scope: Scope, cancellation: Cancellation) -> Vec<Commit>;
    read status() -> DatabaseStatus;
    read check() -> Vec<Finding>;
    read read_table(table: Table, after: Option<Vec<Cell>>, limit: usize) -> Vec<Vec<Cell>>;
    write write_table(table: Table, rows: Vec<Vec<Cell>>) -> ();
}
