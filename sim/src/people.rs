//! People: they make schedules, change them and ask for runs, through the same code as every door.

use std::sync::Arc;

use jiff::Timestamp;
use punctual_app::{App, Identity, Step, Wanted};
use punctual_plan::{Cursor, RunKey, RunStatus, Schedule, ScheduleKey, Status, Subject, Window, plan};
use punctual_store::{
    Cancellation, Cut, RunFilter, ScheduleRow, ScheduleWrite, Scope, Selector, Store, Write, Written,
};

use crate::hub::Hub;
use crate::oracle::{FORCED, Standing};
use crate::sketch::{Sketch, id_of};
use crate::story::{Rhythm, Wish};

/// Whoever acts.
pub(crate) struct People {
    hub: Arc<Hub>,
    app: App,
    rhythm: Rhythm,
    wishes: u64,
}

impl People {
    /// People of the story's org.
    pub(crate) fn new(hub: &Arc<Hub>, rhythm: Rhythm) -> Self {
        let app = App::on(Arc::clone(&hub.store), Scope::org(hub.org), Identity::default())
            .planning_by(rhythm.pace);
        Self { hub: Arc::clone(hub), app, rhythm, wishes: 0 }
    }

    fn row(&self, number: usize) -> Option<ScheduleRow> {
        let found = self.hub.store.schedule(Scope::org(self.hub.org), Selector::Id(id_of(number)));
        self.hub.at_once(found).ok().flatten().filter(|row| row.deleted_at.is_none())
    }

    /// Makes a schedule, unless there is one of its number.
    pub(crate) fn create(&mut self, sketch: &Sketch) {
        let now = self.hub.now();
        let schedule = self.dressed(sketch, now);
        let plan = self.hub.by_rules(|| {
            let subject = Subject::of(&schedule, Cursor::starting(now));
            subject.map(|subject| plan(&subject, Window { now, pace: self.rhythm.pace }))
        });
        let definition = Arc::new(schedule);
        let write = Write::Create { definition, status: Status::Active, plan, declared_set: None };
        let write = ScheduleWrite { write, kind: "schedule.created", note: String::new(), now };
        let written = self.hub.at_once(self.hub.store.write_schedules(Scope::org(self.hub.org), vec![write]));
        match written.map(|mut written| written.pop()) {
            Ok(Some(Ok(Written::Schedule(key)))) => {
                self.hub.state().oracle.created(key, Arc::new(sketch.clone()), now);
            }
            Ok(Some(Err(_))) => {}
            other => self.hub.complain(format!("the schedule is not made: {other:?}")),
        }
        self.seen();
    }

    /// The product's definition of a sketch; one that it depends on, or follows, may be gone.
    fn dressed(&self, sketch: &Sketch, made: Timestamp) -> Schedule {
        let mut schedule = sketch.schedule(made);
        let is_there = |id: &punctual_plan::ScheduleId| {
            let found = self.hub.store.schedule(Scope::org(self.hub.org), Selector::Id(*id));
            self.hub.at_once(found).ok().flatten().is_some_and(|row| row.deleted_at.is_none())
        };
        let is_gone = |on: &[punctual_plan::ScheduleId]| on.iter().any(|id| !is_there(id));
        if sketch.policy.depends_on.as_ref().is_some_and(|dependency| is_gone(&dependency.on)) {
            Arc::make_mut(&mut schedule.policy).depends_on = None;
        }
        schedule
    }

    /// Carries a step out; gives back the schedule before it, if it was done.
    fn act(&mut self, number: usize, decide: impl Fn(&ScheduleRow) -> Option<Step>) -> Option<Done> {
        let before = self.row(number)?;
        let now = self.hub.now();
        let id = Selector::Id(id_of(number));
        let acted = self.hub.at_once(self.app.act(id, async |row: &ScheduleRow| Ok(decide(row))));
        match acted {
            Ok(acted) if acted.is_changed => {
                let at = now.max(before.state.cursor.decided_through);
                let mut state = self.hub.state();
                state.oracle.ruled(before.key, before.state.cursor.planned_through, at);
                state.oracle.decided(before.key, acted.row.state.cursor.decided_through);
                drop(state);
                Some(Done { key: before.key, at, row: acted.row })
            }
            Ok(_) => None,
            Err(failure) => {
                self.hub.complain(format!("a change is refused: {failure:?}"));
                None
            }
        }
    }

    /// Gives a schedule another definition.
    pub(crate) fn edit(&mut self, sketch: &Sketch) {
        let Some(before) = self.row(sketch.number) else { return };
        let schedule = self.dressed(sketch, before.created_at);
        let step = |_: &ScheduleRow| {
            Some(Step::Replace { definition: Box::new(schedule.clone()), note: String::new(), status: None })
        };
        if let Some(done) = self.act(sketch.number, step) {
            let mut state = self.hub.state();
            state.oracle.edited(done.key, Arc::new(sketch.clone()), done.at);
            if done.row.state.status.is_active() {
                state.oracle.stands(done.key, Standing::Active, done.at);
            }
        }
        self.seen();
    }

    /// Pauses a schedule that is active.
    pub(crate) fn pause(&mut self, number: usize) {
        let status = Status::PausedManual { by: "ada".to_owned(), note: String::new() };
        let step = |row: &ScheduleRow| row.state.status.is_active().then(|| Step::Leave(status.clone()));
        if let Some(done) = self.act(number, step) {
            self.hub.state().oracle.stands(done.key, Standing::Left, done.at);
        }
        self.seen();
    }

    /// Enables a schedule that was paused or disabled.
    pub(crate) fn enable(&mut self, number: usize) {
        let can = |row: &ScheduleRow| {
            matches!(row.state.status, Status::PausedManual { .. } | Status::AutoDisabled { .. })
        };
        if let Some(done) = self.act(number, |row| can(row).then_some(Step::Resume)) {
            self.hub.state().oracle.stands(done.key, Standing::Left, done.at);
            self.hub.state().oracle.stands(done.key, Standing::Active, done.at);
        }
        self.seen();
    }

    /// Deletes a schedule.
    pub(crate) fn delete(&mut self, number: usize) {
        if let Some(done) = self.act(number, |_| Some(Step::Delete)) {
            self.hub.state().oracle.stands(done.key, Standing::Deleted, done.at);
        }
        self.seen();
    }

    /// Asks for a run.
    pub(crate) fn trigger(&mut self, number: usize, wish: Wish) {
        let Some(row) = self.row(number) else { return };
        self.wishes += 1;
        let prefix = if wish == Wish::Forced { FORCED } else { "wish-" };
        let wanted = Wanted {
            request_key: Some(format!("{prefix}{}", self.wishes)),
            is_forced: wish == Wish::Forced,
            payload: None,
        };
        let first = self.hub.at_once(self.app.trigger(&row, &wanted));
        if wish == Wish::Twice {
            let second = self.hub.at_once(self.app.trigger(&row, &wanted));
            match (&first, &second) {
                (Ok(first), Ok(second)) if first.run == second.run => {}
                _ => self
                    .hub
                    .complain(format!("2: a repeated request made another run: {first:?}, {second:?}")),
            }
        }
        self.seen();
    }

    /// Cancels whatever is in flight of a schedule.
    pub(crate) fn cancel(&mut self, number: usize) {
        let scope = Scope::org(self.hub.org);
        let filter = RunFilter { schedule: Some(id_of(number)), ..RunFilter::default() };
        let listed = self.hub.at_once(self.hub.store.runs(scope.clone(), filter, Cut::first(1_000)));
        let in_flight = |status: RunStatus| status.is_in_flight() || status == RunStatus::Retrying;
        let rows = listed.map(|listed| listed.rows).unwrap_or_default();
        let runs: Vec<RunKey> =
            rows.iter().filter(|row| in_flight(row.run.state.status())).map(|row| row.run.key).collect();
        let cancellation = Cancellation { runs, by: "ada".to_owned(), now: self.hub.now() };
        if let Err(problem) = self.hub.at_once(self.hub.store.cancel_runs(scope, cancellation)) {
            self.hub.complain(format!("runs cannot be cancelled: {problem}"));
        }
        self.seen();
    }

    /// Lets the oracle see what was written, and the nodes hear of it, as often as hints arrive.
    fn seen(&self) {
        self.hub.look();
        let is_heard = self.hub.state().dice.happens(80);
        if is_heard {
            self.hub.changed.notify_waiters();
        }
    }
}

/// A change that was made.
struct Done {
    key: ScheduleKey,
    /// From when on it holds.
    at: Timestamp,
    /// The schedule afterwards.
    row: ScheduleRow,
}
