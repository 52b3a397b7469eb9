//! The thread that reads, on a connection of its own, so that reading never waits for a commit.

use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::Error;

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// A handle on the reader thread; the thread ends when the handle is dropped.
pub(super) struct Reader {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    /// Starts the thread on its connection.
    pub(super) fn start(connection: Connection) -> Self {
        let (jobs, inbox) = channel::<Job>();
        let thread = std::thread::spawn(move || {
            for job in inbox {
                job(&connection);
            }
        });
        Self { jobs: Some(jobs), thread: Some(thread) }
    }

    /// Runs `work` in one read transaction: everything it reads is of one moment.
    pub(super) async fn run<T, W>(&self, work: W) -> Result<T, Error>
    where
        T: Send + 'static,
        W: FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            // The caller may have gone away; then nobody wants the answer.
            let _ = reply.send(in_transaction(connection, work));
        });
        self.jobs.as_ref().and_then(|jobs| jobs.send(job).ok()).ok_or(Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }
}

fn in_transaction<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Error>,
) -> Result<T, Error> {
    connection.execute_batch("BEGIN").map_err(Error::doing("starting to read"))?;
    let result = work(connection);
    connection.execute_batch("COMMIT").map_err(Error::doing("reading"))?;
    result
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the reader has already been printed where it happened.
            let _ = thread.join();
        }
    }
}
