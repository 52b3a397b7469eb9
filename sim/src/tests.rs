//! What the oracle says of single steps, done by hand to a database in virtual time.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{CatchUp, Fence, Outcome, Reason, RunKey, RunState, RunStatus, admit};
use punctual_store::{
    AdmitCommit, Ask, AttemptToken, Batch, BatchId, Cut, Node, Report, RunFilter, RunRow, Scope, Settled,
    Store,
};

use crate::hub::Hub;
use crate::line::Line;
use crate::make::{Measure, story};
use crate::people::People;
use crate::sketch::{Beat, Place, Sketch};
use crate::story::{Keeping, Rhythm, Story};
use crate::tell::set_up;

const MINUTE: Duration = Duration::from_secs(60);

/// A database with one schedule that ticks every quarter of an hour, and nobody who serves.
struct Stage {
    hub: Arc<Hub>,
    people: People,
    line: Line,
    sketch: Sketch,
    batches: u128,
}

impl Stage {
    async fn open() -> Self {
        let mut sketch = story(0, Keeping::Memory, Measure::Usual).sketches[0].clone();
        (sketch.beat, sketch.zone, sketch.place) = (Beat::Every(900), "UTC", Place::Program);
        (sketch.only_between, sketch.not_on, sketch.end_at, sketch.max_runs) = (None, 0, None, None);
        sketch.policy =
            punctual_plan::Policy { catch_up: CatchUp::RunOnce, ..punctual_plan::Policy::default() };
        let begins: Timestamp = "2028-03-01T10:00:00Z".parse().expect("an instant");
        let story = Story {
            rhythm: Rhythm::far(),
            begins,
            sketches: vec![sketch.clone()],
            deeds: Vec::new(),
            ..story(0, Keeping::Memory, Measure::Usual)
        };
        let folder = tempfile::tempdir().expect("a folder");
        let hub = set_up(&story, folder.path()).await;
        let mut people = People::new(&hub, story.rhythm);
        people.create(&sketch);
        let line = Line { hub: Arc::clone(&hub), node: 0, edition: 0, look_every: MINUTE };
        Self { hub, people, line, sketch, batches: 0 }
    }

    /// Every clock is set, and the oracle knows.
    fn step(&self, by: SignedDuration) {
        let before = self.hub.now();
        self.hub.world.step(by);
        let moment = self.hub.moment();
        self.hub.state().oracle.step(moment, before);
    }

    async fn join(&self, id: &str) -> Fence {
        let node = Node {
            id: id.to_owned(),
            pid: 1,
            started_at: self.hub.now(),
            lease: SignedDuration::from_hours(9),
            tz_version: punctual_time::tz_version().to_owned(),
            version: String::new(),
        };
        self.line.join(node).await.expect("it joins").fence
    }

    fn batch(&mut self, fence: Fence) -> Batch {
        self.batches += 1;
        Batch { id: BatchId(uuid::Uuid::from_u128(self.batches)), fence, now: self.hub.now() }
    }

    /// Admits what is due; gives back the runs that were looked at.
    async fn admit(&mut self, fence: Fence) -> Vec<RunKey> {
        let mut due = self.line.due(Ask::all(self.hub.now())).await.expect("an answer");
        let rows: Vec<_> = due.rows.iter().map(|row| row.due.clone()).collect();
        let verdicts = admit(&rows, &mut due.world).into_iter().map(|admission| {
            let row = due.rows.iter().find(|row| row.due.run == admission.run);
            AdmitCommit { row: row.expect("a verdict is over a due row").clone(), admission }
        });
        let verdicts: Vec<AdmitCommit> = verdicts.collect();
        let batch = self.batch(fence);
        let runs = verdicts.iter().map(|verdict| verdict.admission.run).collect();
        self.line.admit(batch, verdicts).await.expect("an answer");
        runs
    }

    /// Reports under a batch that the first attempt of a run could not be launched.
    async fn refuse(&self, batch: Batch, run: RunKey) -> Settled {
        let outcome = Outcome::LaunchFailed { error: "no".to_owned() };
        let (token, at) = (AttemptToken::Node(batch.fence), batch.now);
        let report = Report { run, attempt: 1, token, outcome, started_at: None, at, output: None };
        self.line.settle(batch, vec![report]).await.expect("an answer").remove(0)
    }

    fn rows(&self) -> Vec<RunRow> {
        let listed = self.hub.store.runs(Scope::Engine, RunFilter::default(), Cut::first(100));
        self.hub.at_once(listed).expect("an answer").rows
    }

    fn broken(&self) -> Vec<String> {
        self.hub.state().oracle.broken().to_vec()
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_given_again_is_no_second_settlement() {
    let mut stage = Stage::open().await;
    tokio::time::advance(15 * MINUTE).await;
    let (first, second) = (stage.join("first").await, stage.join("second").await);
    let run = stage.admit(first).await[0];
    let batch = stage.batch(first);
    assert!(stage.refuse(batch, run).await.settlement.is_some());
    tokio::time::advance(MINUTE).await;
    assert_eq!(stage.admit(second).await, [run]);
    assert!(stage.refuse(batch, run).await.settlement.is_some(), "it is answered as it was");
    assert_eq!(stage.broken(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn what_was_decided_before_the_clock_was_set_back_may_end_ahead_of_it() {
    let mut stage = Stage::open().await;
    tokio::time::advance(20 * MINUTE).await;
    stage.people.pause(stage.sketch.number);
    tokio::time::advance(30 * MINUTE).await;
    stage.people.enable(stage.sketch.number);
    let caught_up = stage.rows().into_iter().find(|row| row.run.fire_at == stage.hub.now());
    let caught_up = caught_up.expect("one tick of the pause is to fire now").run;
    stage.step(SignedDuration::from_hours(-3));
    // So long that no node can still go by what the clock showed before.
    tokio::time::advance(150 * MINUTE).await;
    let sketch = stage.sketch.clone();
    stage.people.edit(&sketch);
    let rows = stage.rows();
    let after = rows.iter().find(|row| row.run.key == caught_up.key).expect("its tick has an entry");
    assert!(matches!(after.run.state, RunState::Skipped { .. }), "{:?}", after.run.state);
    assert_eq!(stage.broken(), [""; 0]);
    // A tick that nobody has decided is ahead.
    let mut ahead = after.clone();
    let tick = stage.hub.now() + SignedDuration::from_mins(60);
    (ahead.run.key, ahead.run.scheduled_for, ahead.run.fire_at) = (RunKey(i64::MAX), tick, tick);
    let reason = Reason::Superseded { by: "nothing".to_owned() };
    for state in [RunState::Scheduled { verdict: None }, RunState::Skipped { reason, at: stage.hub.now() }] {
        ahead.run.state = state;
        let moment = stage.hub.moment();
        stage.hub.state().oracle.observe(moment, ahead.run.key, Some(&ahead));
    }
    let broken = stage.broken();
    assert!(broken.len() == 1 && broken[0].contains("6: it ended ahead of its instant"), "{broken:?}");
}

#[tokio::test(start_paused = true)]
async fn a_tick_that_comes_while_its_schedule_is_being_disabled_belongs_to_the_time_after() {
    for is_disabled in [true, false] {
        let mut stage = Stage::open().await;
        let mut sketch = stage.sketch.clone();
        sketch.policy.max_consecutive_failures = is_disabled.then_some(1);
        sketch.policy.launch.attempts_max = 1;
        stage.people.edit(&sketch);
        tokio::time::advance(15 * MINUTE).await;
        let fence = stage.join("first").await;
        let run = stage.admit(fence).await[0];
        tokio::time::advance(14 * MINUTE).await;
        // It is on its way to the database while the next tick comes.
        let batch = stage.batch(fence);
        tokio::time::advance(2 * MINUTE).await;
        let settled = stage.refuse(batch, run).await;
        assert_eq!(settled.settlement.is_some_and(|end| end.disabled.is_some()), is_disabled);
        let is_armed = |row: &RunRow| row.run.state.status() == RunStatus::Scheduled;
        let armed = stage.rows().into_iter().filter(is_armed).min_by_key(|row| row.run.scheduled_for);
        assert_eq!(armed.is_none(), is_disabled, "{armed:?}");
        // A row that goes without that has no account.
        let moment = stage.hub.moment();
        if let Some(armed) = armed {
            stage.hub.state().oracle.observe(moment, armed.run.key, None);
        }
        stage.hub.state().oracle.judge_rest(moment);
        let broken = stage.broken();
        match is_disabled {
            true => assert_eq!(broken, [""; 0]),
            false => {
                assert!(broken.len() == 1 && broken[0].contains("vanished while scheduled"), "{broken:?}");
            }
        }
    }
}
