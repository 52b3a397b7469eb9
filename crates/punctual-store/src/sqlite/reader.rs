//! Threads that read, each on a connection of its own, so that reading never waits for a commit.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::connection::{Db, doing};
use super::sheet::Sheets;
use crate::Error;

/// Fewer starts than this are soon in their rows.
const MANY_STARTS: u32 = 500;

type Job = Box<dyn FnOnce(&Db) + Send>;

/// A handle on reader threads; they end when the handle is dropped.
pub(super) struct Reader {
    jobs: Option<Sender<Job>>,
    sheets: Arc<Sheets>,
    threads: Vec<JoinHandle<()>>,
}

impl Reader {
    /// Starts a thread on each connection; whichever is free takes the next job.
    pub(super) fn start(sheets: &Arc<Sheets>, connections: impl IntoIterator<Item = Db>) -> Self {
        let (jobs, inbox) = channel::<Job>();
        let inbox = Arc::new(Mutex::new(inbox));
        let serve = |db: Db| {
            let inbox = Arc::clone(&inbox);
            std::thread::spawn(move || {
                // The lock is held while it waits, and not while it reads.
                while let Ok(job) = { inbox.lock().unwrap_or_else(PoisonError::into_inner).recv() } {
                    job(&db);
                }
            })
        };
        let threads = connections.into_iter().map(serve).collect();
        Self { jobs: Some(jobs), sheets: Arc::clone(sheets), threads }
    }

    /// Runs `work` in one read transaction: everything it reads is of one moment, and nothing is on a sheet at it that
    /// was answered before.
    pub(super) async fn run<T, W>(&self, work: W) -> Result<T, Error>
    where
        T: Send + 'static,
        W: FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    {
        self.sheets.gone().await;
        self.run_beside_sheets(work).await
    }

    /// What is known of starts on sheets.
    pub(super) fn sheets(&self) -> &Sheets {
        &self.sheets
    }

    /// Whether so many starts are on sheets that it is worth while not to wait for them.
    pub(super) fn is_beside_many_starts(&self) -> bool {
        self.sheets.starts() >= MANY_STARTS
    }

    /// The same, for what does not depend on starts that are on a sheet.
    pub(super) async fn run_beside_sheets<T, W>(&self, work: W) -> Result<T, Error>
    where
        T: Send + 'static,
        W: FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |db| {
            // The caller may have gone away; then nobody wants the answer.
            let _ = reply.send(in_transaction(db, work));
        });
        self.jobs.as_ref().and_then(|jobs| jobs.send(job).ok()).ok_or(Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }
}

/// Waits for work that takes long, on a thread of its own.
pub(super) async fn elsewhere<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (reply, answer) = oneshot::channel();
    std::thread::spawn(move || {
        // The caller may have gone away; the work is done all the same.
        let _ = reply.send(work());
    });
    answer.await.map_err(|_| Error::Closed)?
}

fn in_transaction<T>(db: &Db, work: impl FnOnce(&Db) -> Result<T, Error>) -> Result<T, Error> {
    db.connection.execute_batch("BEGIN").map_err(doing("starting to read"))?;
    let result = db.of_one_moment(|| work(db));
    db.connection.execute_batch("COMMIT").map_err(doing("reading"))?;
    result
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // A panic of the reader has already been printed where it happened.
            let _ = thread.join();
        }
    }
}
