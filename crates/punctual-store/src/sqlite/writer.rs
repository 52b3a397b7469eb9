//! The one thread that writes: it commits what has gathered while the last commit was under way.
//!
//! A job runs inside a savepoint, so one that fails takes nothing else with it, and is answered only
//! after the commit that holds it. While idle, the thread looks whether another process has written.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::{Notify, Semaphore, oneshot};

use crate::Error;

/// Jobs that may wait for the writer; a caller beyond them waits for its place.
const QUEUE_MAX: usize = 1_024;

/// Jobs in one commit.
const GROUP_MAX: usize = 256;

/// How soon a change made by another process is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// After writing for this long without a break, the writer lets other processes in.
const BUSY_MAX: Duration = Duration::from_millis(50);

/// The break it takes then.
const BREAK: Duration = Duration::from_millis(3);

/// Answers a job: with the error of the commit, or with the job's own result.
type Acknowledge = Box<dyn FnOnce(Option<&Error>) + Send>;

/// Work inside the transaction; without one it is refused and never runs.
type Job = Box<dyn FnOnce(Result<&Connection, &Error>) -> Acknowledge + Send>;

/// A handle on the writer thread; the thread ends when the handle is dropped.
pub(super) struct Writer {
    jobs: Option<Sender<Job>>,
    places: Arc<Semaphore>,
    changes: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread on its connection.
    pub(super) fn start(connection: Connection) -> Self {
        let (jobs, inbox) = channel();
        let changes = Arc::new(Notify::new());
        // Read here, not in the thread: whatever others write from now on is a change.
        let seen = data_version(&connection);
        let thread = std::thread::spawn({
            let changes = Arc::clone(&changes);
            move || Loop { connection, inbox, changes, seen }.run()
        });
        Self { jobs: Some(jobs), places: Arc::new(Semaphore::new(QUEUE_MAX)), changes, thread: Some(thread) }
    }

    /// Runs `work` in the next group commit and answers once it is on disk.
    pub(super) async fn run<T, W>(&self, work: W) -> Result<T, Error>
    where
        T: Send + 'static,
        W: FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    {
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| Error::Closed)?;
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |transaction| {
            let result = match transaction {
                Ok(connection) => in_savepoint(connection, work),
                Err(error) => Err(error.clone()),
            };
            Box::new(move |commit_error| {
                // The caller may have gone away; the work is done all the same.
                let _ = reply.send(commit_error.map_or(result, |error| Err(error.clone())));
                drop(place);
            })
        });
        self.jobs.as_ref().and_then(|jobs| jobs.send(job).ok()).ok_or(Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
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

/// Runs the work so that its failure undoes itself and nothing else.
fn in_savepoint<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Error>,
) -> Result<T, Error> {
    let step = |command: &str| connection.execute_batch(command).map_err(Error::doing("writing"));
    step("SAVEPOINT job")?;
    match work(connection) {
        Ok(value) => step("RELEASE job").map(|()| value),
        Err(error) => {
            step("ROLLBACK TO job")?;
            step("RELEASE job")?;
            Err(error)
        }
    }
}

struct Loop {
    connection: Connection,
    inbox: Receiver<Job>,
    changes: Arc<Notify>,
    seen: Option<i64>,
}

impl Loop {
    fn run(mut self) {
        let mut busy_since = Instant::now();
        loop {
            let job = self.inbox.try_recv().or_else(|_| {
                busy_since = Instant::now();
                self.inbox.recv_timeout(LOOK_EVERY)
            });
            match job {
                Ok(job) => self.commit_group(job),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.look();
            if busy_since.elapsed() > BUSY_MAX {
                std::thread::sleep(BREAK);
            }
        }
    }

    fn commit_group(&mut self, first: Job) {
        let begun =
            self.connection.execute_batch("BEGIN IMMEDIATE").map_err(Error::doing("starting to write"));
        if let Err(error) = begun {
            first(Err(&error))(None);
            return;
        }
        let mut answers = vec![first(Ok(&self.connection))];
        while let Some(job) = (answers.len() < GROUP_MAX).then(|| self.inbox.try_recv().ok()).flatten() {
            answers.push(job(Ok(&self.connection)));
        }
        let committed = self.commit();
        for answer in answers {
            answer(committed.as_ref().err());
        }
    }

    fn commit(&self) -> Result<(), Error> {
        let result = self.connection.execute_batch("COMMIT").map_err(Error::doing("committing"));
        if result.is_err() && !self.connection.is_autocommit() {
            // What could not be committed must not leak into the next group.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        result
    }

    fn look(&mut self) {
        let now = data_version(&self.connection);
        if now.is_some() && now != self.seen {
            self.changes.notify_one();
            self.seen = now;
        }
    }
}

/// A number that changes on this connection only through commits of others.
fn data_version(connection: &Connection) -> Option<i64> {
    // A failed look is repeated a moment later.
    connection.pragma_query_value(None, "data_version", |row| row.get(0)).ok()
}
