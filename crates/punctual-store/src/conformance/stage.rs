//! The stage: schedules and calls in a few words, with the real decisions of `punctual-plan` in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Change, Changed, Fence, OrgKey, Origin, Outcome, Pace, Plan, RunKey, Schedule, ScheduleKey, Status,
    Subject, When, Window, admit, plan, resume,
};
use uuid::Uuid;

use super::Backend;
pub use super::made::{Shape, at, cron, every, following, id_of, seconds};
use super::turn::{Fate, Turn};
use crate::{
    AdmitCommit, Ask, AttemptToken, AuditFilter, Batch, BatchId, Commit, Cut, DocumentKind, DueBatch, Error,
    NewDocument, Node, PlanCommit, Report, RunFilter, RunRow, ScheduleRow, ScheduleWrite, Scope, Selector,
    Settled, Store, Write, Written, timing,
};

/// A node with its org, on a store.
pub struct Stage<S> {
    /// The store.
    pub store: Arc<S>,
    /// The org that everything happens in.
    pub org: OrgKey,
    /// The node's fence.
    pub fence: Fence,
    batches: AtomicU64,
}

impl<S: Store> Stage<S> {
    /// A node on an empty store.
    pub async fn open<B: Backend<Store = S>>(backend: &B) -> Self {
        Self::on(backend.open().await, "one").await
    }

    /// Another node on the same data.
    pub async fn beside<B: Backend<Store = S>>(&self, backend: &B) -> Self {
        Self::on(backend.second(&self.store).await, "two").await
    }

    /// A node on any store.
    pub async fn on(store: S, id: &str) -> Self {
        let org = store.org(Scope::Engine, "acme".to_owned()).await.expect("an org is made");
        let fence = store.join(node(id, seconds(3_600))).await.expect("the node joins").fence;
        Self { store: Arc::new(store), org, fence, batches: AtomicU64::new(0) }
    }

    /// Its org, for the person `ada`.
    pub fn scope(&self) -> Scope {
        Scope::Org { org: self.org, user: Some("ada".to_owned()) }
    }

    /// The scope of an org of another name.
    pub async fn other(&self, id: &str) -> Scope {
        Scope::org(self.store.org(Scope::Engine, id.to_owned()).await.expect("an org is made"))
    }

    /// A batch with an id of its own.
    pub fn batch(&self, now: Timestamp) -> Batch {
        let count = self.batches.fetch_add(1, Ordering::SeqCst);
        let id = (u128::from(self.fence.0.unsigned_abs()) << 64) | u128::from(count + 1);
        Batch { id: BatchId(Uuid::from_u128(id)), fence: self.fence, now }
    }

    // ---- Schedules.

    /// What makes a schedule with its first window.
    pub fn creation(&self, schedule: Schedule, now: Timestamp) -> ScheduleWrite {
        let cursor = punctual_plan::Cursor::starting(now);
        let first = Subject::of(&schedule, cursor).map(|subject| plan(&subject, Window::at(now)));
        write(
            now,
            Write::Create {
                definition: Arc::new(schedule),
                status: Status::Active,
                plan: first,
                declared_set: None,
            },
        )
    }

    /// Writes one change of a schedule in a scope.
    pub async fn write_in(&self, scope: Scope, write: ScheduleWrite) -> Result<Written, Error> {
        let mut written = self.store.write_schedules(scope, vec![write]).await.expect("the store answers");
        assert_eq!(written.len(), 1, "one answer for one write");
        written.remove(0)
    }

    /// Writes one change of a schedule.
    pub async fn write(&self, write: ScheduleWrite) -> Written {
        self.write_in(self.scope(), write).await.expect("the write is accepted")
    }

    /// Makes a schedule.
    pub async fn create(&self, schedule: Schedule, now: Timestamp) -> ScheduleKey {
        match self.write(self.creation(schedule, now)).await {
            Written::Schedule(key) => key,
            other => panic!("a schedule was made, not {other:?}"),
        }
    }

    /// A schedule by name.
    pub async fn row(&self, name: &str) -> ScheduleRow {
        let found = self.store.schedule(self.scope(), Selector::Name(name.to_owned())).await;
        found.expect("the store answers").expect("there is such a schedule")
    }

    /// What a change does to a schedule, and the schedule as it is.
    async fn turned(&self, name: &str, what: &Change, now: Timestamp) -> (ScheduleRow, Changed) {
        let row = self.row(name).await;
        let open = self.store.open_rows(self.scope(), row.key).await.expect("the store answers");
        let turn = crate::Turn { row: &row, open: &open, window: Window::at(now) };
        let changed = turn.changed(what);
        (row, changed)
    }

    /// What gives a schedule a new version.
    pub async fn edit(&self, name: &str, mut to: Schedule, now: Timestamp) -> ScheduleWrite {
        let version = self.row(name).await.definition.version + 1;
        let (row, changed) = self.turned(name, &Change::Edit { version }, now).await;
        (to.version, to.id) = (version, row.definition.id);
        if let (When::Ticks(new), Some(old)) = (&mut to.when, row.definition.when.timing()) {
            new.created_at = old.created_at;
        }
        let window = Window::at(now);
        // A valid edit clears what made it invalid, and lets one that had come to its end go on.
        let is_back = matches!(row.state.status, Status::PausedInvalid { .. } | Status::Exhausted { .. });
        let next = timing(&to, &row.state).filter(|_| is_back || row.state.status.is_active());
        let outstanding = row.outstanding(&to);
        let plan = next.map(|timing| {
            let subject = Subject {
                id: to.id,
                timing: &timing,
                policy: &to.policy,
                cursor: changed.plan.cursor,
                late: &[],
                outstanding,
                slept: None,
            };
            plan(&subject, window)
        });
        let status = is_back.then_some(Status::Active);
        write(now, Turn { definition: Some(Arc::new(to)), status, plan, ..Turn::of(&row, changed) }.into())
    }

    /// What pauses a schedule.
    pub async fn pause(&self, name: &str, now: Timestamp) -> ScheduleWrite {
        let status = Status::PausedManual { by: "ada".to_owned(), note: "a note".to_owned() };
        self.leaving(name, status, now).await
    }

    /// What takes a schedule out of `active`.
    pub async fn leaving(&self, name: &str, status: Status, now: Timestamp) -> ScheduleWrite {
        let (row, changed) = self.turned(name, &Change::Leave(status.clone()), now).await;
        write(now, Turn { status: Some(status), ..Turn::of(&row, changed) }.into())
    }

    /// What deletes a schedule.
    pub async fn deletion(&self, name: &str, now: Timestamp) -> ScheduleWrite {
        let (row, changed) = self.turned(name, &Change::Delete, now).await;
        write(now, Turn { fate: Fate::Deleted, ..Turn::of(&row, changed) }.into())
    }

    /// What makes a paused schedule active again.
    pub async fn resumption(&self, name: &str, now: Timestamp) -> ScheduleWrite {
        let row = self.row(name).await;
        let cursor = row.state.cursor;
        let nothing = Plan {
            entries: Vec::new(),
            ranges: Vec::new(),
            closed: Vec::new(),
            refired: Vec::new(),
            cursor,
            next_tick: None,
            plan_at: None,
            is_hanging: false,
        };
        let changed = Changed { removed: Vec::new(), cancelled: Vec::new(), plan: nothing };
        let ticks = timing(&row.definition, &row.state);
        let next = ticks.map(|timing| {
            let subject = Subject {
                id: row.definition.id,
                timing: &timing,
                policy: &row.definition.policy,
                cursor,
                late: &[],
                outstanding: row.outstanding(&row.definition),
                slept: None,
            };
            resume(&subject, &row.state.status, Window::at(now))
        });
        write(now, Turn { status: Some(Status::Active), plan: next, ..Turn::of(&row, changed) }.into())
    }

    /// What asks for a run now, beside whatever is in flight.
    pub fn forced(&self, schedule: ScheduleKey, nonce: &str, now: Timestamp) -> ScheduleWrite {
        let mut wish = self.wish(schedule, nonce, now);
        if let Write::Trigger { is_forced, .. } = &mut wish.write {
            *is_forced = true;
        }
        wish
    }

    /// What asks for a run now.
    pub fn wish(&self, schedule: ScheduleKey, nonce: &str, now: Timestamp) -> ScheduleWrite {
        let second = Timestamp::from_second(now.as_second()).expect("a whole second is an instant");
        write(
            now,
            Write::Trigger {
                schedule,
                origin: Origin::Manual,
                nonce: nonce.to_owned(),
                scheduled_for: second,
                fire_at: now,
                is_forced: false,
                payload: None,
                trace: None,
            },
        )
    }

    /// Asks for a run now.
    pub async fn trigger(&self, schedule: ScheduleKey, nonce: &str, now: Timestamp) -> RunKey {
        match self.write(self.wish(schedule, nonce, now)).await {
            Written::Run(run) => run,
            other => panic!("a run was asked for, not {other:?}"),
        }
    }

    // ---- A tick's life.

    /// Plans what wants planning, without writing it.
    pub async fn plans(&self, now: Timestamp) -> Vec<PlanCommit> {
        let batch = self.store.plannable(Ask::all(now)).await.expect("the store answers");
        batch.ready.iter().map(|ready| planned(ready, now)).collect()
    }

    /// Writes plans.
    pub async fn commit(&self, plans: Vec<PlanCommit>, now: Timestamp) -> Vec<Commit> {
        self.store.commit_plans(self.batch(now), plans).await.expect("the store answers")
    }

    /// Plans what wants planning.
    pub async fn plan(&self, now: Timestamp) -> Vec<Commit> {
        let plans = self.plans(now).await;
        self.commit(plans, now).await
    }

    /// Lets several late ticks of a schedule be one decision, as a node does before it admits.
    pub async fn decide(&self, now: Timestamp) {
        let stretches = self.due(now).await.stretches().into_iter().collect();
        let batch = self.store.decidable(now, stretches).await.expect("the store answers");
        let plans = batch.ready.iter().map(|ready| planned(ready, now)).collect();
        self.commit(plans, now).await;
    }

    /// What is due.
    pub async fn due(&self, now: Timestamp) -> DueBatch {
        self.store.due(Ask::all(now)).await.expect("the store answers")
    }

    /// Judges what is due, without writing it.
    pub async fn judge(&self, now: Timestamp) -> Vec<AdmitCommit> {
        self.judge_at(now, Pace::default()).await
    }

    /// Judges what is due at another pace.
    pub async fn judge_at(&self, now: Timestamp, pace: Pace) -> Vec<AdmitCommit> {
        let mut batch = self.due(now).await;
        batch.world.pace = pace;
        let due: Vec<_> = batch.rows.iter().map(|row| row.due.clone()).collect();
        let admissions = admit(&due, &mut batch.world);
        let with_row = |admission: punctual_plan::Admission| {
            let row = batch.rows.iter().find(|row| row.due.run == admission.run);
            AdmitCommit { admission, row: row.expect("a verdict is over a due row").clone() }
        };
        admissions.into_iter().map(with_row).collect()
    }

    /// Carries verdicts out.
    pub async fn carry_out(&self, verdicts: Vec<AdmitCommit>, now: Timestamp) -> Vec<Commit> {
        self.store.admit(self.batch(now), verdicts).await.expect("the store answers")
    }

    /// Admits what is due; gives back the runs that were looked at.
    pub async fn admit(&self, now: Timestamp) -> Vec<RunKey> {
        let verdicts = self.judge(now).await;
        let runs = verdicts.iter().map(|verdict| verdict.admission.run).collect();
        let commits = self.carry_out(verdicts, now).await;
        assert!(commits.iter().all(|commit| *commit == Commit::Done), "{commits:?}");
        runs
    }

    /// How this node reports an attempt.
    pub async fn report(&self, run: RunKey, outcome: Outcome, now: Timestamp) -> Report {
        let attempt = match self.run(run).await.run.state {
            punctual_plan::RunState::Enqueued { attempt, .. }
            | punctual_plan::RunState::Running { attempt, .. } => attempt,
            punctual_plan::RunState::Retrying { attempt, .. } => attempt - 1,
            _ => 1,
        };
        let (token, at) = (AttemptToken::Node(self.fence), now);
        Report { run, attempt, token, outcome, started_at: Some(now), at, output: None }
    }

    /// Sends reports.
    pub async fn send(&self, reports: Vec<Report>, now: Timestamp) -> Vec<Settled> {
        self.store.settle(self.batch(now), reports).await.expect("the store answers")
    }

    /// Settles a run.
    pub async fn settle(&self, run: RunKey, outcome: Outcome, now: Timestamp) -> Settled {
        let report = self.report(run, outcome, now).await;
        self.send(vec![report], now).await.remove(0)
    }

    /// Admits what is due and lets it succeed.
    pub async fn run_due(&self, now: Timestamp) {
        for run in self.admit(now).await {
            if self.status(run).await == "enqueued" {
                self.settle(run, Outcome::Succeeded, now).await;
            }
        }
    }

    // ---- What is there afterwards.

    /// A run.
    pub async fn run(&self, run: RunKey) -> RunRow {
        let found = self.store.run(self.scope(), run).await.expect("the store answers");
        found.expect("there is such a run")
    }

    /// A run's state, with its reason if it has one.
    pub async fn status(&self, run: RunKey) -> String {
        said(&self.run(run).await)
    }

    /// Every entry of a schedule, oldest first.
    pub async fn runs(&self, name: &str) -> Vec<RunRow> {
        let schedule = Some(self.row(name).await.definition.id);
        let filter = RunFilter { schedule, ..RunFilter::default() };
        let listed = self.store.runs(self.scope(), filter, Cut::first(10_000)).await;
        let mut rows = listed.expect("the store answers").rows;
        rows.reverse();
        rows
    }

    /// The stretches of a schedule's ledger, oldest first.
    pub async fn stretches(&self, name: &str) -> Vec<String> {
        let schedule = Some(self.row(name).await.definition.id);
        let filter = RunFilter { schedule, ..RunFilter::default() };
        let listed = self.store.ranges(self.scope(), filter, Cut::first(10_000)).await;
        let rows = listed.expect("the store answers").rows;
        rows.iter().rev().map(|row| stretch(&row.range)).collect()
    }

    /// The ledger of a schedule in one line: instants and states.
    pub async fn ledger(&self, name: &str) -> String {
        let rows = self.runs(name).await;
        let line = |row: &RunRow| format!("{} {}", row.run.scheduled_for.strftime("%H:%M:%S"), said(row));
        rows.iter().map(line).collect::<Vec<_>>().join(" | ")
    }

    /// What the audit log says of a kind, oldest first.
    pub async fn events(&self, kind: &str) -> Vec<String> {
        let filter = AuditFilter { kind: Some(kind.to_owned()), ..AuditFilter::default() };
        let listed = self.store.audit(self.scope(), filter, Cut::first(10_000)).await;
        let rows = listed.expect("the store answers").rows;
        rows.into_iter().rev().map(|row| row.detail).collect()
    }

    /// The node's own runs that are in flight for too long.
    pub async fn limits(&self, body: &str) {
        let document = NewDocument {
            kind: DocumentKind::Limits,
            name: "org".to_owned(),
            body: body.to_owned(),
            replaces: None,
            now: at("09:00:00"),
        };
        self.store.put_document(self.scope(), document).await.expect("limits are written");
    }
}

/// The plan of a schedule.
fn planned(ready: &crate::Plannable, now: Timestamp) -> PlanCommit {
    PlanCommit {
        schedule: ready.schedule,
        org: ready.org,
        definition: Arc::clone(&ready.definition),
        from: ready.cursor,
        plan: plan(&ready.subject(None), Window::at(now)),
    }
}

/// A state with its reason.
pub fn said(row: &RunRow) -> String {
    let status = row.run.state.status();
    match row.run.state.reason() {
        Some(reason) => format!("{status}/{}", reason.code()),
        None => status.to_string(),
    }
}

/// A stretch of equal non-fires in one line.
pub fn stretch(range: &punctual_plan::Range) -> String {
    let end = (range.end.status(), range.end.reason().code());
    format!("{} to {}: {} {}/{}", range.first, range.last, range.count, end.0, end.1)
}

/// A node that is about to join.
pub fn node(id: &str, lease: SignedDuration) -> Node {
    Node {
        id: id.to_owned(),
        pid: 1,
        started_at: at("09:00:00"),
        lease,
        // Newer than any that a backend may bring along.
        tz_version: "2090a".to_owned(),
        version: "0.1.0".to_owned(),
    }
}

/// A write with its note.
pub fn write(now: Timestamp, write: Write) -> ScheduleWrite {
    ScheduleWrite { write, kind: "schedule.written", note: "a note".to_owned(), now }
}
