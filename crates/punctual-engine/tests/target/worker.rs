//! Workers: each run of a queue is done once, by whoever holds it, and nobody else can say how it ended.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_engine::{Clock, SystemClock, Worked, Worker, WorkerSettings};
use punctual_plan::{
    Action, Cursor, Fence, Outcome, Overlap, Queue, RunKey, RunStatus, Schedule, ScheduleId, Status, Subject,
    Window, admit, plan,
};
use punctual_store::{
    Access, AdmitCommit, Ask, AttemptToken, Batch, BatchId, Commit, Node, Report, RunRow, ScheduleWrite,
    Scope, Sqlite, Store, Write, Written,
};
use punctual_time::{Cron, Timing, Zone};
use tempfile::TempDir;
use tokio::sync::watch;

use super::stage::{fifo, hear};

struct Hall {
    folder: TempDir,
    store: Arc<Sqlite>,
    scope: Scope,
    fence: Fence,
}

impl Hall {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Sqlite::open(&folder.path().join("ledger.db"), Access::Serve).expect("a new ledger");
        let org = store.org(Scope::Engine, "default".to_owned()).await.expect("an org");
        let node = Node {
            id: "node".to_owned(),
            pid: 1,
            started_at: SystemClock.now(),
            lease: SignedDuration::from_secs(600),
            tz_version: punctual_time::tz_version().to_owned(),
            version: "0".to_owned(),
        };
        let fence = store.join(node).await.expect("a fence").fence;
        Self { folder, store: Arc::new(store), scope: Scope::org(org), fence }
    }

    /// Makes a schedule whose runs go to the queue `q`, and admits `count` of them.
    async fn enqueue(&self, count: usize, change: impl FnOnce(&mut Schedule)) -> Vec<RunKey> {
        let now = SystemClock.now();
        let began = now - SignedDuration::from_secs(i64::try_from(count).expect("few") + 1);
        let timing = Timing::new("* * * * * *".parse::<Cron>().expect("a valid spec"), Zone::utc());
        let context = serde_json::from_str(r#"{"team": "data"}"#).expect("an object");
        let queue = Queue {
            queue: "q".to_owned(),
            worker_type: Some("reviewer".to_owned()),
            prompt: Some("Review it".to_owned()),
            repo_url: None,
            branch: "main".to_owned(),
            context,
            config: punctual_plan::Object::new(),
        };
        let id = ScheduleId(uuid::Uuid::new_v4());
        let mut definition = Schedule::new(id, &id.to_string(), timing, Action::Queue(queue));
        let policy = Arc::make_mut(&mut definition.policy);
        policy.overlap = Overlap::Allow;
        policy.catch_up = punctual_plan::CatchUp::RunAll;
        change(&mut definition);
        let definition = Arc::new(definition);
        let subject = Subject::of(&definition, Cursor::starting(began)).expect("it has ticks");
        let plan = Some(plan(&subject, Window::at(began)));
        let write = Write::Create { definition, status: Status::Active, plan, declared_set: None };
        let write = ScheduleWrite { write, kind: "schedule.created", note: String::new(), now: began };
        let written = self.store.write_schedules(self.scope.clone(), vec![write]).await.expect("a write");
        assert!(matches!(written[..], [Ok(Written::Schedule(_))]), "{written:?}");
        self.admit(count, now).await
    }

    async fn admit(&self, count: usize, now: Timestamp) -> Vec<RunKey> {
        let mut due = self.store.due(Ask::all(now)).await.expect("due rows");
        due.rows.truncate(count);
        let batch = Batch { id: BatchId(uuid::Uuid::new_v4()), fence: self.fence, now };
        let rows: Vec<_> = due.rows.iter().map(|row| row.due.clone()).collect();
        let admissions = admit(&rows, &mut due.world);
        let commits: Vec<_> = admissions
            .into_iter()
            .zip(due.rows)
            .map(|(admission, row)| AdmitCommit { admission, row })
            .collect();
        let runs: Vec<RunKey> = commits.iter().map(|commit| commit.row.due.run).collect();
        let done = self.store.admit(batch, commits).await.expect("an admission");
        assert!(done.len() == count && done.iter().all(|commit| *commit == Commit::Done), "{done:?}");
        runs
    }

    fn worker(&self, script: &str, change: impl FnOnce(&mut WorkerSettings)) -> Worker<Sqlite> {
        let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
        let mut settings = WorkerSettings::new("q", argv);
        change(&mut settings);
        Worker::new(Arc::clone(&self.store), self.scope.clone(), settings)
    }

    async fn work_off(&self, script: &str) -> Worked {
        let (_stop, stopped) = watch::channel(false);
        self.worker(script, |_| ()).run_once(stopped).await.expect("the database answers")
    }

    async fn run(&self, run: RunKey) -> RunRow {
        self.store.run(self.scope.clone(), run).await.expect("the ledger").expect("the run")
    }

    async fn status(&self, run: RunKey) -> (RunStatus, Option<String>) {
        let row = self.run(run).await;
        let reason = row.run.state.reason().map(|reason| reason.code().to_owned());
        (row.run.state.status(), reason)
    }

    fn pipe(&self, name: &str) -> std::path::PathBuf {
        let path = self.folder.path().join(name);
        fifo(&path);
        path
    }
}

fn worked(succeeded: u64, failed: u64, lost: u64) -> Worked {
    Worked { succeeded, failed, lost }
}

#[tokio::test]
async fn a_worker_does_each_run_and_its_exit_code_decides() {
    let hall = Hall::new().await;
    let runs = hall.enqueue(3, |_| ()).await;
    assert_eq!(hall.work_off("echo done").await, worked(3, 0, 0));
    for run in runs {
        let row = hall.run(run).await;
        assert_eq!((row.run.state.status(), row.output.as_deref()), (RunStatus::Success, Some("done\n")));
        assert!(row.started_at.is_some() && row.completed_at.is_some());
    }
    let runs = hall.enqueue(1, |_| ()).await;
    assert_eq!(hall.work_off("exit 3").await, worked(0, 1, 0));
    assert_eq!(hall.status(runs[0]).await, (RunStatus::Failed, Some("exit_code".to_owned())));
    assert_eq!(hall.work_off("exit 3").await, worked(0, 0, 0), "nothing is left");
}

#[tokio::test]
async fn a_command_gets_what_its_worker_is_asked() {
    let hall = Hall::new().await;
    let runs = hall.enqueue(1, |_| ()).await;
    let script =
        "cat; echo; echo $PUNCTUAL_QUEUE $PUNCTUAL_PROMPT $PUNCTUAL_ATTEMPT; test -n \"$PUNCTUAL_TOKEN\"";
    assert_eq!(hall.work_off(script).await, worked(1, 0, 0));
    let output = hall.run(runs[0]).await.output.expect("it printed its run");
    let (json, variables) = output.split_once('\n').expect("two lines");
    assert_eq!(variables, "q Review it 1\n");
    let json: serde_json::Value = serde_json::from_str(json).expect("JSON");
    assert_eq!((&json["worker_type"], &json["branch"]), (&"reviewer".into(), &"main".into()));
    let context = &json["context"];
    assert_eq!((&context["team"], &context["manual_trigger"]), (&"data".into(), &false.into()));
    for name in ["schedule_id", "schedule_name", "triggered_at"] {
        assert!(context[name].is_string() && context[name] == json[name], "{name} in {context}");
    }
}

#[tokio::test]
async fn a_run_that_is_enqueued_later_is_taken_and_a_stop_lets_it_end() {
    let hall = Hall::new().await;
    let (began, gate) = (hall.pipe("began"), hall.pipe("gate"));
    let script = format!("echo began > {}; read line < {}; echo $line", began.display(), gate.display());
    let worker = hall.worker(&script, |_| ());
    let (stop, stopped) = watch::channel(false);
    let working = tokio::spawn(worker.run(stopped));
    let runs = hall.enqueue(1, |_| ()).await;
    assert_eq!(hear(&began).await, "began\n");
    stop.send(true).expect("the worker is there");
    tokio::task::spawn_blocking(move || std::fs::write(gate, "go\n"))
        .await
        .expect("a writer")
        .expect("a pipe");
    assert_eq!(working.await.expect("no panic"), worked(1, 0, 0));
    assert_eq!(hall.run(runs[0]).await.output.as_deref(), Some("go\n"));
}

#[tokio::test]
async fn as_many_runs_as_allowed_go_on_at_once() {
    let hall = Hall::new().await;
    let runs = hall.enqueue(4, |_| ()).await;
    let pipe = hall.pipe("pipe");
    // Whoever opens the pipe waits for the reader, who only comes when all four are there.
    let script = format!("echo $PUNCTUAL_RUN_ID >> {0}.started; echo here > {0}", pipe.display());
    let worker = hall.worker(&script, |settings| settings.concurrency = 4);
    let (_stop, stopped) = watch::channel(false);
    let working = tokio::spawn(worker.run_once(stopped));
    let started = format!("{}.started", pipe.display());
    let all_started = || std::fs::read_to_string(&started).is_ok_and(|text| text.lines().count() == 4);
    while !all_started() {
        tokio::task::yield_now().await;
    }
    let mut heard = String::new();
    while heard.lines().count() < 4 {
        heard += &hear(&pipe).await;
    }
    assert_eq!(working.await.expect("no panic").expect("the database answers"), worked(4, 0, 0));
    for run in runs {
        assert_eq!(hall.status(run).await.0, RunStatus::Success);
    }
}

#[tokio::test]
async fn a_cancelled_run_ends_its_command() {
    let hall = Hall::new().await;
    let pipe = hall.pipe("pipe");
    let runs = hall.enqueue(1, |_| ()).await;
    let script = format!("exec 3>{}; echo began >&3; exec sleep 1000", pipe.display());
    let worker = hall.worker(&script, |settings| settings.lease = Duration::from_millis(500));
    let (stop, stopped) = watch::channel(false);
    let working = tokio::spawn(worker.run(stopped));
    let begun = tokio::spawn(async move { hear(&pipe).await });
    while hall.status(runs[0]).await.0 != RunStatus::Running {
        tokio::task::yield_now().await;
    }
    let now = SystemClock.now();
    let report = Report {
        run: runs[0],
        attempt: 1,
        token: AttemptToken::Node(hall.fence),
        outcome: Outcome::Cancelled { by: "ada".to_owned() },
        started_at: None,
        at: now,
        output: None,
    };
    let batch = Batch { id: BatchId(uuid::Uuid::new_v4()), fence: hall.fence, now };
    let settled = hall.store.settle(batch, vec![report]).await.expect("the store answers");
    assert_eq!(settled[0].commit, Commit::Done);
    // The reader hears the end when the command, which holds the pipe, is gone.
    begun.await.expect("a reader");
    stop.send(true).expect("the worker is there");
    assert_eq!(working.await.expect("no panic"), worked(0, 0, 1));
    assert_eq!(hall.status(runs[0]).await, (RunStatus::Cancelled, Some("cancelled".to_owned())));
}

#[tokio::test]
async fn a_stop_that_waited_long_enough_gives_the_run_back() {
    let hall = Hall::new().await;
    let pipe = hall.pipe("pipe");
    let runs = hall.enqueue(1, |_| ()).await;
    let script = format!("echo part; exec 3>{}; echo began >&3; exec sleep 1000", pipe.display());
    let worker = hall.worker(&script, |settings| settings.drain_for = Duration::from_millis(10));
    let (stop, stopped) = watch::channel(false);
    let working = tokio::spawn(worker.run(stopped));
    while hall.status(runs[0]).await.0 != RunStatus::Running {
        tokio::task::yield_now().await;
    }
    stop.send(true).expect("the worker is there");
    hear(&pipe).await;
    assert_eq!(working.await.expect("no panic"), worked(0, 0, 1));
    // What was begun is tried again as the next attempt.
    assert_eq!(hall.status(runs[0]).await, (RunStatus::Retrying, Some("outcome_unknown".to_owned())));
    hall.admit_again(runs[0]).await;
    assert_eq!(hall.work_off("echo $PUNCTUAL_ATTEMPT").await, worked(1, 0, 0));
    assert_eq!(hall.run(runs[0]).await.output.as_deref(), Some("2\n"));
}

impl Hall {
    /// Admits the next attempt of a run, when its time has come.
    async fn admit_again(&self, run: RunKey) {
        let now = SystemClock.now() + SignedDuration::from_secs(60);
        let mut due = self.store.due(Ask::all(now)).await.expect("due rows");
        due.rows.retain(|row| row.due.run == run);
        let row = due.rows.remove(0);
        let admission = admit(std::slice::from_ref(&row.due), &mut due.world).remove(0);
        let batch = Batch { id: BatchId(uuid::Uuid::new_v4()), fence: self.fence, now };
        let done = self.store.admit(batch, vec![AdmitCommit { admission, row }]).await;
        assert_eq!(done.expect("an admission"), [Commit::Done]);
    }
}

#[tokio::test]
async fn a_run_that_nobody_takes_is_found_lost_after_its_time() {
    let hall = Hall::new().await;
    let limit = SignedDuration::from_secs(90);
    let runs = hall.enqueue(1, |schedule| Arc::make_mut(&mut schedule.policy).run_timeout = limit).await;
    let enqueued_at = hall.run(runs[0]).await.enqueued_at.expect("it is enqueued");
    let deadline = enqueued_at + limit + SignedDuration::from_secs(punctual_store::ANSWER_MARGIN_S);
    let before = hall.store.due(Ask::all(deadline - SignedDuration::from_millis(1))).await.expect("answers");
    assert!(before.expired.is_empty(), "{:?}", before.expired);
    let after = hall.store.due(Ask::all(deadline)).await.expect("answers");
    assert_eq!(after.expired.iter().map(|one| one.run).collect::<Vec<_>>(), runs);
}

#[tokio::test]
async fn the_run_of_a_worker_that_is_gone_is_found_lost_when_its_lease_ends() {
    let hall = Hall::new().await;
    let (began, gate) = (hall.pipe("began"), hall.pipe("gate"));
    let runs = hall.enqueue(1, |_| ()).await;
    let script = format!("echo began > {}; read line < {}", began.display(), gate.display());
    let worker = hall.worker(&script, |_| ());
    let (_stop, stopped) = watch::channel(false);
    let working = tokio::spawn(worker.run(stopped));
    assert_eq!(hear(&began).await, "began\n");
    // As a crash does: nobody renews the lease, nobody reports. The command itself goes on until the gate opens.
    working.abort();
    tokio::task::spawn_blocking(move || std::fs::write(gate, "go\n"))
        .await
        .expect("a writer")
        .expect("a pipe");
    let later = SystemClock.now() + SignedDuration::from_secs(16);
    let due = hall.store.due(Ask::all(later)).await.expect("answers");
    assert_eq!(due.expired.iter().map(|one| one.run).collect::<Vec<_>>(), runs);
}
