//! Goal: what is due runs once and ends in the ledger; what a crash left behind is taken up, never doubled.
//! Method: the real engine on a real file with real programs; state before a start is made through the store.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_engine::{Clock, Engine, HostTargets, Settings, SystemClock, Vault};
use punctual_plan::{
    Action, Cursor, Delivery, Overlap, Process, RunKey, RunStatus, Schedule, ScheduleId, Status, Subject,
    Window, admit, plan,
};
use punctual_store::{
    Access, AdmitCommit, Ask, Batch, BatchId, Commit, Cut, Node, RunFilter, RunRow, ScheduleWrite, Scope,
    Sqlite, Store, Write, Written,
};
use punctual_time::{Cron, Timing, Zone};
use tempfile::TempDir;
use tokio::sync::watch;

struct Stage {
    folder: TempDir,
    store: Arc<Sqlite>,
    /// Another process's view, which is told of every commit of the engine.
    eyes: Sqlite,
    /// What a run in doubt becomes.
    delivery: Delivery,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("ledger.db");
        let store = Arc::new(Sqlite::open(&path, Access::Serve).expect("a new ledger"));
        Self {
            eyes: Sqlite::open(&path, Access::Visit).expect("a second handle"),
            store,
            folder,
            delivery: Delivery::AtMostOnce,
        }
    }

    fn targets(&self) -> Arc<HostTargets<Sqlite>> {
        let vault = Vault::new(self.folder.path().join("punctual.key"));
        Arc::new(HostTargets::new(Arc::clone(&self.store), vault))
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("launches")
    }

    fn started(&self) -> PathBuf {
        self.folder.path().join("started")
    }

    /// A per-second schedule made at `now` whose program notes each start with its key.
    async fn create(&self, script: &str, now: Timestamp) -> ScheduleId {
        let note = format!("echo $PUNCTUAL_IDEMPOTENCY_KEY >> {}; {script}", self.started().display());
        let argv = ["sh", "-c", &note].map(str::to_owned).to_vec();
        self.create_argv(argv, now).await
    }

    async fn create_argv(&self, argv: Vec<String>, now: Timestamp) -> ScheduleId {
        let timing = Timing::new("* * * * * *".parse::<Cron>().expect("a valid spec"), Zone::utc());
        let id = ScheduleId(uuid::Uuid::from_u128(7));
        let mut definition = Schedule::new(id, "one", timing, Action::Process(Process::new(argv)));
        // What these tests are about: one attempt each, and none is repeated in doubt.
        let policy = Arc::make_mut(&mut definition.policy);
        policy.launch.attempts_max = 1;
        policy.delivery = self.delivery;
        if self.delivery == Delivery::AtLeastOnce {
            // A later tick would take the place of the retry that the test waits for.
            policy.overlap = Overlap::Queue;
        }
        let definition = Arc::new(definition);
        let subject = Subject::of(&definition, Cursor::starting(now)).expect("it has ticks");
        let plan = Some(plan(&subject, Window::at(now)));
        let write = Write::Create {
            definition: Arc::clone(&definition),
            status: Status::Active,
            plan,
            declared_set: None,
        };
        let org = self.store.org(Scope::Engine, "default".to_owned()).await.expect("an org");
        let write = ScheduleWrite { write, kind: "schedule.created", note: String::new(), now };
        let written = self.store.write_schedules(Scope::org(org), vec![write]).await.expect("a write");
        assert!(matches!(written[..], [Ok(Written::Schedule(_))]), "{written:?}");
        id
    }

    /// Admits one due run, as a process did that died right after.
    async fn admit_one(&self) -> RunKey {
        let now = SystemClock.now();
        let node = Node {
            id: "dead".to_owned(),
            pid: 1,
            started_at: now,
            lease: SignedDuration::from_secs(3),
            tz_version: punctual_time::tz_version().to_owned(),
            version: "0".to_owned(),
        };
        let fence = self.store.join(node).await.expect("a fence").fence;
        let mut due = self.store.due(Ask::all(now)).await.expect("due rows");
        let row = due.rows.remove(0);
        let run = row.due.run;
        let admission = admit(std::slice::from_ref(&row.due), &mut due.world).remove(0);
        let batch = Batch { id: BatchId(uuid::Uuid::from_u128(99)), fence, now };
        let done = self.store.admit(batch, vec![AdmitCommit { admission, row }]).await;
        assert_eq!(done.expect("an admission"), [Commit::Done]);
        self.store.leave(fence).await.expect("a dead node leaves");
        // Its journal speaks for its lease, and knows of no launch.
        fs::write(self.journal(), format!("F {}\n", fence.0)).expect("a journal");
        run
    }

    /// Serves until `done` holds of the ledger, then stops and gives the ledger back.
    async fn serve_until(&self, id: ScheduleId, done: impl Fn(&[RunRow]) -> bool) -> Vec<RunRow> {
        let settings = Settings::new(self.journal());
        let engine =
            Engine::start(Arc::clone(&self.store), Arc::new(SystemClock), self.targets(), settings).await;
        let (stop, stopped) = watch::channel(false);
        let serving = tokio::spawn(engine.expect("the engine starts").run(stopped));
        while !done(&self.ledger(id).await) {
            self.eyes.changed().await;
        }
        stop.send(true).expect("the engine runs");
        assert_eq!(serving.await.expect("the engine does not panic").left_in_flight, 0);
        self.ledger(id).await
    }

    /// The ledger up to now, oldest first.
    async fn ledger(&self, id: ScheduleId) -> Vec<RunRow> {
        let filter = RunFilter { schedule: Some(id), until: Some(SystemClock.now()), ..RunFilter::default() };
        let mut runs =
            self.eyes.runs(Scope::Engine, filter, Cut::first(1_000)).await.expect("the ledger").rows;
        runs.reverse();
        runs
    }

    fn starts(&self) -> Vec<String> {
        let text = fs::read_to_string(self.started()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn ended(runs: &[RunRow], count: usize) -> bool {
    runs.iter().filter(|run| matches!(run.run.state.status(), RunStatus::Success | RunStatus::Failed)).count()
        >= count
}

fn seconds_ago(seconds: i64) -> Timestamp {
    SystemClock.now() - SignedDuration::from_secs(seconds)
}

#[tokio::test]
async fn each_tick_runs_once_under_its_key_and_its_output_is_kept() {
    let stage = Stage::new();
    let id = stage.create("echo hello; cat", SystemClock.now()).await;
    let runs = stage.serve_until(id, |runs| ended(runs, 2)).await;
    let done: Vec<&RunRow> = runs.iter().filter(|run| run.run.state.status() == RunStatus::Success).collect();
    let keys: Vec<String> =
        done.iter().map(|run| punctual_plan::idempotency_key(id, run.run.scheduled_for)).collect();
    assert_eq!(stage.starts(), keys);
    let output = done[0].output.as_deref().expect("it printed something");
    assert!(output.starts_with("hello\n{\"schedule_id\":"), "{output}");
    assert!(output.contains(&format!("\"idempotency_key\":\"{}\"", keys[0])), "{output}");
    for run in done {
        assert!(run.started_at >= Some(run.run.fire_at), "never early: {run:?}");
    }
}

#[tokio::test]
async fn a_program_that_fails_is_recorded_with_how_it_failed() {
    for (argv, code) in [
        (["sh", "-c", "echo wrong >&2; exit 3"].as_slice(), "exit_code"),
        (&["sh", "-c", "kill -9 $$"], "signal"),
        (&["/no/such/program"], "launch_failed"),
    ] {
        let stage = Stage::new();
        let argv = argv.iter().map(|&word| word.to_owned()).collect();
        let id = stage.create_argv(argv, SystemClock.now()).await;
        let runs = stage.serve_until(id, |runs| ended(runs, 1)).await;
        let failed = runs.iter().find(|run| run.run.state.status() == RunStatus::Failed).expect("a failure");
        assert_eq!(failed.run.state.reason().map(punctual_plan::Reason::code), Some(code));
    }
}

#[tokio::test]
async fn a_tick_is_skipped_while_the_run_before_it_goes_on() {
    let stage = Stage::new();
    let gate = stage.folder.path().join("gate");
    let script = format!("while [ ! -e {} ]; do sleep 0.02; done", gate.display());
    let id = stage.create(&script, SystemClock.now()).await;
    let runs = stage
        .serve_until(id, |runs| {
            let is_skipped = runs.iter().any(|run| run.run.state.status() == RunStatus::Skipped);
            if is_skipped {
                fs::write(&gate, "").expect("the gate opens");
            }
            is_skipped && runs.iter().any(|run| run.run.state.status() == RunStatus::Success)
        })
        .await;
    let skipped = runs.iter().find(|run| run.run.state.status() == RunStatus::Skipped).expect("a skip");
    let first = runs.first().expect("a run").run.key;
    assert_eq!(skipped.run.state.reason(), Some(&punctual_plan::Reason::Overlap { run: first }));
}

#[tokio::test]
async fn a_run_that_was_admitted_and_never_launched_is_launched_at_the_next_start() {
    let stage = Stage::new();
    let id = stage.create("true", seconds_ago(2)).await;
    let run = stage.admit_one().await;
    let runs = stage.serve_until(id, |runs| ended(runs, 1)).await;
    let taken = runs.iter().find(|row| row.run.key == run).expect("the run");
    assert_eq!(taken.run.state.status(), RunStatus::Success);
    let key = punctual_plan::idempotency_key(id, taken.run.scheduled_for);
    assert_eq!(stage.starts().iter().filter(|started| **started == key).count(), 1);
}

#[tokio::test]
async fn a_run_that_the_journal_knows_is_in_doubt_and_not_started_again() {
    let stage = Stage::new();
    let id = stage.create("true", seconds_ago(2)).await;
    let run = stage.admit_one().await;
    fs::write(stage.journal(), format!("L {} 1\n", run.0)).expect("a journal");
    let runs = stage.serve_until(id, |runs| ended(runs, 2)).await;
    let taken = runs.iter().find(|row| row.run.key == run).expect("the run");
    assert_eq!(taken.run.state.status(), RunStatus::Failed);
    assert!(
        matches!(taken.run.state.reason(), Some(punctual_plan::Reason::OutcomeUnknown { .. })),
        "{taken:?}"
    );
    let key = punctual_plan::idempotency_key(id, taken.run.scheduled_for);
    assert!(!stage.starts().contains(&key));
}

#[tokio::test]
async fn a_run_whose_end_the_journal_knows_is_settled_with_it() {
    let stage = Stage::new();
    let id = stage.create("true", seconds_ago(2)).await;
    let run = stage.admit_one().await;
    let ended_at = SystemClock.now();
    let lines = format!("L {0} 1\nE {0} 1 {1} exited 4\n", run.0, ended_at.as_microsecond());
    fs::write(stage.journal(), lines).expect("a journal");
    let runs = stage.serve_until(id, |runs| ended(runs, 2)).await;
    let taken = runs.iter().find(|row| row.run.key == run).expect("the run");
    assert_eq!(taken.run.state.reason(), Some(&punctual_plan::Reason::ExitCode { code: 4 }));
    assert_eq!(taken.completed_at, Some(ended_at));
    let kept = fs::read_to_string(stage.journal()).expect("a journal");
    assert!(
        !kept.lines().any(|line| line == format!("L {} 1", run.0)),
        "a start begins a new journal: {kept}"
    );
}

#[tokio::test]
async fn a_schedule_that_another_process_adds_is_run_without_delay() {
    let stage = Stage::new();
    let settings = Settings::new(stage.journal());
    let engine =
        Engine::start(Arc::clone(&stage.store), Arc::new(SystemClock), stage.targets(), settings).await;
    let (stop, stopped) = watch::channel(false);
    let serving = tokio::spawn(engine.expect("the engine starts").run(stopped));
    let other = Stage {
        store: Arc::new(open(&stage)),
        eyes: open(&stage),
        folder: TempDir::new().expect("a folder"),
        delivery: Delivery::AtMostOnce,
    };
    let id = other.create("true", SystemClock.now()).await;
    while !ended(&other.ledger(id).await, 1) {
        other.eyes.changed().await;
    }
    stop.send(true).expect("the engine runs");
    serving.await.expect("the engine does not panic");
    assert!(!other.starts().is_empty());
}

fn open(stage: &Stage) -> Sqlite {
    Sqlite::open(stage.store.path(), Access::Visit).expect("another process's handle")
}

#[tokio::test]
async fn a_run_in_doubt_is_repeated_as_its_next_attempt_where_that_is_wanted() {
    let stage = Stage { delivery: Delivery::AtLeastOnce, ..Stage::new() };
    let id = stage.create("true", seconds_ago(2)).await;
    let run = stage.admit_one().await;
    fs::write(stage.journal(), format!("L {} 1\n", run.0)).expect("a journal");
    let is_done = |row: &RunRow| row.run.key == run && row.run.state.status() == RunStatus::Success;
    let runs = stage.serve_until(id, |runs| runs.iter().any(is_done)).await;
    let taken = runs.iter().find(|row| row.run.key == run).expect("the run");
    let attempts: Vec<u32> = taken.run.attempts.iter().map(|attempt| attempt.number).collect();
    assert_eq!(attempts.last(), Some(&2), "{taken:?}");
    let key = punctual_plan::idempotency_key(id, taken.run.scheduled_for);
    assert_eq!(stage.starts().iter().filter(|started| **started == key).count(), 1);
}
