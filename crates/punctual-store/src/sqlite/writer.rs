//! The one thread that writes: it commits what has gathered while the last commit was under way.
//!
//! A job runs inside a savepoint, so one that fails takes nothing else with it, and is answered only
//! after the commit that holds it. What nobody waits for has its turn when nothing else is there.
//! While idle, the thread looks whether another process has written.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use punctual_plan::rule::{Rule, holds};
use tokio::sync::{Notify, Semaphore};

use super::breaks::Breaks;
use super::connection::{Db, doing};
use super::job::{Acknowledge, Job, Message, Place, Sheets, Stir, Weight, asked};
use super::patience::{IDLE_MAX, Patience};
use super::sheet;
use super::stirred::Stirred;
use crate::Error;
use crate::fail_point::{FailPoint, pass};

/// Jobs that may wait for the writer; a caller beyond them waits for its place.
const QUEUE_MAX: usize = 1_024;

/// Jobs in one commit.
const GROUP_MAX: usize = 256;

/// How soon a change made by another process is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What every transaction begins with.
pub(super) type Opening = fn(&Db) -> Result<(), Error>;

/// How many jobs wait that somebody waits for: what was put aside looks at it and ends early.
#[derive(Clone, Default)]
pub(super) struct Wanted(Arc<AtomicUsize>);

impl Wanted {
    pub(super) fn is_any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

/// A handle on the writer thread; the thread ends when the handle is dropped.
pub(super) struct Writer {
    jobs: Option<Sender<Message>>,
    places: Arc<Semaphore>,
    wanted: Wanted,
    changes: Arc<Notify>,
    commits: Arc<AtomicU64>,
    stirred: Stirred,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread on its connection.
    pub(super) fn start(db: Db, opening: Opening) -> Self {
        let (jobs, inbox) = channel();
        let (changes, commits) = (Arc::new(Notify::new()), Arc::new(AtomicU64::new(0)));
        let stirred = Stirred::default();
        let wanted = Wanted::default();
        // Read here, not in the thread: whatever others write from now on is a change.
        let seen = data_version(&db);
        let thread = std::thread::spawn({
            let (changes, commits, stirred) = (Arc::clone(&changes), Arc::clone(&commits), stirred.clone());
            let (wanted, aside, kept) = (wanted.clone(), VecDeque::new(), None);
            let patience = Patience::new();
            let turns =
                Loop { db, opening, inbox, aside, kept, wanted, changes, commits, stirred, seen, patience };
            move || turns.run()
        });
        let places = Arc::new(Semaphore::new(QUEUE_MAX));
        Self { jobs: Some(jobs), places, wanted, changes, commits, stirred, thread: Some(thread) }
    }

    /// What was written that verdicts over due rows may depend on. Work can ask it, for it is told before the next work
    /// begins.
    pub(super) fn stirred(&self) -> &Stirred {
        &self.stirred
    }

    /// Runs `work` in the next group commit and answers once it is on disk.
    pub(super) async fn run<T, W>(&self, work: W) -> Result<T, Error>
    where
        T: Send + 'static,
        W: FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    {
        self.run_now(work, Weight::Stirring, Sheets::Unfolded).await
    }

    /// The same for what deals with starts on sheets itself.
    pub(super) async fn run_beside_sheets<T, W>(&self, weight: Weight, work: W) -> Result<T, Error>
    where
        T: Send + 'static,
        W: FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    {
        self.run_now(work, weight, Sheets::AsTheyAre).await
    }

    /// The same for what no verdict over a due row depends on.
    pub(super) async fn run_quietly<T, W>(&self, work: W) -> Result<T, Error>
    where
        T: Send + 'static,
        W: FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    {
        self.run_now(work, Weight::Quiet, Sheets::Unfolded).await
    }

    /// The same for what has nothing to do with runs: neither does a verdict depend on it, nor does it on starts.
    pub(super) async fn run_apart<T, W>(&self, work: W) -> Result<T, Error>
    where
        T: Send + 'static,
        W: FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    {
        self.run_now(work, Weight::Quiet, Sheets::AsTheyAre).await
    }

    async fn run_now<T, W>(&self, work: W, weight: Weight, sheets: Sheets) -> Result<T, Error>
    where
        T: Send + 'static,
        W: FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    {
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| Error::Closed)?;
        let (work, answer) = asked(work, place);
        // Counted first: whoever is put aside meanwhile shall not begin.
        self.wanted.0.fetch_add(1, Ordering::Relaxed);
        self.send(Message::Now(Job { work, weight, sheets }))?;
        answer.await.map_err(|_| Error::Closed)?
    }

    /// Runs `work` when nothing else is to be written. It may look at [`Writer::wanted`] and leave something undone.
    pub(super) async fn run_aside<T, W>(&self, work: W) -> Result<T, Error>
    where
        T: Send + 'static,
        W: FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    {
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| Error::Closed)?;
        let (work, answer) = asked(work, place);
        self.send(Message::Aside(Job { work, weight: Weight::Quiet, sheets: Sheets::Unfolded }))?;
        answer.await.map_err(|_| Error::Closed)?
    }

    fn send(&self, message: Message) -> Result<(), Error> {
        self.jobs.as_ref().and_then(|jobs| jobs.send(message).ok()).ok_or(Error::Closed)
    }

    /// Tells whether somebody waits for the writer.
    pub(super) fn wanted(&self) -> Wanted {
        self.wanted.clone()
    }

    /// How many transactions were committed.
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Resolves when another process has written.
    pub(super) async fn changed(&self) {
        self.changes.notified().await;
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the writer has already been printed where it happened.
            let _ = thread.join();
        }
    }
}

struct Loop {
    db: Db,
    opening: Opening,
    inbox: Receiver<Message>,
    /// What nobody waits for, in its order.
    aside: VecDeque<Job>,
    /// One that could not be a part of the last group.
    kept: Option<Job>,
    wanted: Wanted,
    changes: Arc<Notify>,
    commits: Arc<AtomicU64>,
    stirred: Stirred,
    seen: Option<i64>,
    /// With what is on sheets.
    patience: Patience,
}

impl Loop {
    fn run(mut self) {
        let mut breaks = Breaks::new(Instant::now());
        loop {
            match self.wanted_job().or_else(|| self.aside.pop_front()) {
                Some(job) => self.commit_group(job),
                None => {
                    breaks.idle(Instant::now());
                    let look_in = if self.db.sheets.is_any() { IDLE_MAX } else { LOOK_EVERY };
                    match self.inbox.recv_timeout(look_in) {
                        Ok(message) => {
                            let job = self.opened(message).or_else(|| self.aside.pop_front());
                            job.into_iter().for_each(|job| self.commit_group(job));
                        }
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => return,
                    }
                }
            }
            self.unfold_in_time();
            self.look();
            if let Some(length) = breaks.due(Instant::now()) {
                std::thread::sleep(length);
            }
        }
    }

    /// A job that somebody waits for; others are put aside.
    fn opened(&mut self, message: Message) -> Option<Job> {
        match message {
            Message::Now(job) => {
                self.wanted.0.fetch_sub(1, Ordering::Relaxed);
                Some(job)
            }
            Message::Aside(job) => {
                self.aside.push_back(job);
                None
            }
        }
    }

    /// The next job that somebody waits for, if one is there.
    fn wanted_job(&mut self) -> Option<Job> {
        if let Some(kept) = self.kept.take() {
            return Some(kept);
        }
        loop {
            let message = self.inbox.try_recv().ok()?;
            if let Some(job) = self.opened(message) {
                return Some(job);
            }
        }
    }

    fn commit_group(&mut self, first: Job) {
        let sheets = first.sheets;
        if sheets == Sheets::Unfolded {
            self.unfold();
        }
        let begun = self.db.connection.execute_batch("BEGIN IMMEDIATE").map_err(doing("starting to write"));
        let open = |()| if sheets == Sheets::Unfolded { (self.opening)(&self.db) } else { Ok(()) };
        if let Err(error) = begun.and_then(open) {
            self.undo();
            (first.work)(Err(&error))(None);
            return;
        }
        // What others have written before this transaction counts before its work compares anything.
        self.look();
        let (first, stir) = self.done(first, Place::First);
        let (mut answers, mut stirs) = (vec![first], vec![stir]);
        // A fault of the disk may end the transaction under a job: what comes after it belongs into the next one.
        while answers.len() < GROUP_MAX && !self.db.connection.is_autocommit() {
            let Some(job) = self.wanted_job() else { break };
            // A sheet may be older than the group, or be written by it.
            let is_folded = sheets == Sheets::AsTheyAre || self.db.sheets.is_any();
            if job.sheets == Sheets::Unfolded && is_folded {
                self.kept = Some(job);
                break;
            }
            let (answer, stir) = self.done(job, Place::Later);
            answers.push(answer);
            stirs.push(stir);
        }
        let committed = self.commit();
        self.commits.fetch_add(u64::from(committed.is_ok()), Ordering::Relaxed);
        self.patience.written();
        if sheets == Sheets::AsTheyAre && !sheet::is_any(&self.db).unwrap_or(true) {
            self.db.sheets.clear();
        }
        // Once more: whoever read between the work and its commit has not seen it.
        stirs.iter().for_each(|stir| stir.tell(&self.stirred));
        for answer in answers {
            answer(committed.as_ref().err());
        }
    }

    /// Does a job; with its answer, what it has meant for others.
    fn done(&self, job: Job, place: Place) -> (Acknowledge, Stir) {
        let before = self.db.connection.total_changes();
        let answer = (job.work)(Ok((&self.db, place)));
        // One that changed nothing was as good as a look.
        let is_any = self.db.connection.total_changes() != before;
        let said = Stir::of(job.weight, &self.db);
        let stir = if is_any { said } else { Stir::Nothing };
        stir.tell(&self.stirred);
        (answer, stir)
    }

    /// Puts starts that were committed on sheets into their rows, each sheet in a transaction of its own. It is done
    /// before anything else is written, or when nothing is: what was started on them needs the cores first.
    fn unfold(&mut self) {
        while self.db.sheets.is_any() {
            let begun =
                self.db.connection.execute_batch("BEGIN IMMEDIATE").map_err(doing("starting to write"));
            let is_more = begun
                .and_then(|()| sheet::unfold(&self.db))
                .and_then(|is_more| self.commit().map(|()| is_more));
            // What cannot be unfolded now is tried by the next transaction, which fails if that does.
            if !is_more.unwrap_or(false) {
                self.undo();
                self.db.sheets.clear();
            }
        }
    }

    /// Unfolds what is on sheets for long enough.
    fn unfold_in_time(&mut self) {
        if self.patience.is_over(&self.db.sheets) {
            self.unfold();
        }
    }

    fn undo(&self) {
        if !self.db.connection.is_autocommit() {
            // If this fails the next transaction cannot begin, and says so.
            let _ = self.db.connection.execute_batch("ROLLBACK");
        }
    }

    fn commit(&self) -> Result<(), Error> {
        let connection = &self.db.connection;
        if connection.is_autocommit() {
            let source = std::io::Error::other("a fault of the disk or of memory undid the transaction");
            return Err(Error::Database { doing: "writing", source: Arc::new(source), is_transient: true });
        }
        pass(FailPoint::StoreBeforeCommit);
        let result = connection.execute_batch("COMMIT");
        pass(FailPoint::StoreAfterCommit);
        if result.is_err() && !connection.is_autocommit() {
            // What could not be committed must not leak into the next group.
            let _ = connection.execute_batch("ROLLBACK");
        }
        result.map_err(|error| match error.sqlite_error_code() {
            // The frames may be on disk or not; the batch's id tells when it is repeated.
            Some(rusqlite::ErrorCode::SystemIoFailure) => Error::Unanswered { doing: "committing" },
            _ => doing("committing")(error),
        })
    }

    fn look(&mut self) {
        let now = data_version(&self.db);
        if now.is_some() && now != self.seen && holds(Rule::OthersAreSeen) {
            self.changes.notify_one();
            self.stirred.stir();
            self.seen = now;
        }
    }
}

/// A number that changes on this connection only through commits of others.
fn data_version(db: &Db) -> Option<i64> {
    // It is asked fifty times a second. A failed look is repeated a moment later.
    let look = db.connection.prepare_cached("PRAGMA data_version");
    look.and_then(|mut look| look.query_row([], |row| row.get(0))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Definitions;
    use crate::sqlite::clock::Clock;
    use crate::sqlite::{Access, connection};

    fn writer(set_up: &str) -> (tempfile::TempDir, Writer) {
        let folder = tempfile::tempdir().unwrap();
        let connection = connection::writable(&folder.path().join("t.db"), Access::Visit).unwrap();
        connection.execute_batch("CREATE TABLE t (x)").unwrap();
        connection.execute_batch(set_up).unwrap();
        (
            folder,
            Writer::start(
                Db::new(connection, &Arc::new(Definitions::for_access(Access::Visit)), &Clock::default()),
                |_| Ok(()),
            ),
        )
    }

    async fn run(writer: &Writer, statement: &'static str) -> Result<(), Error> {
        writer.run(move |db| db.connection.execute_batch(statement).map_err(doing("testing"))).await
    }

    async fn count(writer: &Writer) -> i64 {
        writer.run(|db| Ok(db.value("SELECT count(*) FROM t", [])?.unwrap_or(-1))).await.unwrap()
    }

    #[tokio::test]
    async fn a_full_disk_fails_what_it_concerns_and_nothing_after_it() {
        let (_folder, writer) = writer("PRAGMA max_page_count = 10");
        run(&writer, "INSERT INTO t VALUES (1)").await.unwrap();
        let (full, small) = tokio::join!(
            run(&writer, "INSERT INTO t VALUES (2); INSERT INTO t VALUES (zeroblob(1000000))"),
            run(&writer, "INSERT INTO t VALUES (3)"),
        );
        let full = full.expect_err("there is no room");
        assert!(full.is_transient() && full.to_string().contains("full"), "{full}");
        let expected = if small.is_ok() { 2 } else { 1 };
        assert_eq!(count(&writer).await, expected, "what was answered is there, and nothing else");
        run(&writer, "PRAGMA max_page_count = 10000").await.unwrap();
        run(&writer, "INSERT INTO t VALUES (zeroblob(1000000))").await.expect("the fault has ended");
        assert_eq!(count(&writer).await, expected + 1);
    }

    #[tokio::test]
    async fn a_file_that_another_holds_is_an_error_that_passes() {
        let (folder, writer) = writer("PRAGMA busy_timeout = 20");
        let other = rusqlite::Connection::open(folder.path().join("t.db")).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let locked = run(&writer, "INSERT INTO t VALUES (1)").await.expect_err("it is locked");
        assert!(locked.is_transient() && locked.to_string().contains("locked"), "{locked}");
        other.execute_batch("ROLLBACK").unwrap();
        run(&writer, "INSERT INTO t VALUES (1)").await.expect("it is free again");
        assert_eq!(count(&writer).await, 1);
    }

    #[tokio::test]
    async fn a_file_that_cannot_be_written_is_an_error_that_may_pass() {
        let (_folder, writer) = writer("PRAGMA query_only = on");
        let refused = run(&writer, "INSERT INTO t VALUES (1)").await.expect_err("it may only read");
        assert!(refused.is_transient() && refused.to_string().contains("readonly"), "{refused}");
    }

    #[tokio::test]
    async fn what_can_wait_gives_way_to_what_cannot() {
        let (_folder, writer) = writer("");
        let (begun, go_on) = (Arc::new(Notify::new()), std::sync::mpsc::channel::<()>());
        let wanted = writer.wanted();
        let first = writer.run({
            let begun = Arc::clone(&begun);
            move |_| {
                begun.notify_one();
                // The writer is busy until both of the others stand in its queue.
                go_on.1.recv().map_err(|_| Error::Closed)
            }
        });
        let order = Arc::new(std::sync::Mutex::new(Vec::new()));
        let noting = |name: &'static str, order: &Arc<std::sync::Mutex<Vec<&'static str>>>| {
            let order = Arc::clone(order);
            move |_: &Db| {
                order.lock().unwrap().push(name);
                Ok(())
            }
        };
        let others = async {
            begun.notified().await;
            let (aside, now) = (writer.run_aside(noting("aside", &order)), writer.run(noting("now", &order)));
            let told = async {
                assert!(wanted.is_any(), "one of them is waited for");
                go_on.0.send(()).unwrap();
            };
            tokio::join!(aside, now, told)
        };
        let (first, (aside, now, ())) = tokio::join!(first, others);
        assert!(first.is_ok() && aside.is_ok() && now.is_ok());
        assert_eq!(*order.lock().unwrap(), ["now", "aside"]);
        assert!(!wanted.is_any());
    }

    #[tokio::test]
    async fn a_job_that_fails_takes_no_other_of_its_commit_with_it() {
        let (_folder, writer) = writer("");
        let (good, bad, also_good) = tokio::join!(
            run(&writer, "INSERT INTO t VALUES (1)"),
            run(&writer, "INSERT INTO t VALUES (2); INSERT INTO nowhere VALUES (1)"),
            run(&writer, "INSERT INTO t VALUES (3)"),
        );
        assert!(good.is_ok() && bad.is_err() && also_good.is_ok());
        assert_eq!(count(&writer).await, 2);
    }
}
