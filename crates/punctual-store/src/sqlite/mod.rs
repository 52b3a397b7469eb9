//! The ledger in one SQLite file: one writer thread with group commit, one reader thread.
//!
//! Start with [`Sqlite::open`]; each step of a tick's life has its file, and its statements are the
//! `.sql` files of the same verbs.

mod admit;
mod audit;
mod checkpoint;
mod connection;
mod decode;
mod lock;
mod migrate;
mod node;
mod plan;
mod reader;
mod runs;
mod schedules;
mod settle;
mod writer;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use punctual_plan::{Admission, Fence, OrgKey, ScheduleId};

use crate::{
    Commit, DueBatch, Ended, Error, Launchable, NewSchedule, Node, Page, PlanCommit, PlannableBatch,
    RangeRow, RunRow, ScheduleRow, Selector, Started, Store,
};
use checkpoint::Checkpointer;
use lock::ServeLock;
use reader::Reader;
use writer::Writer;

/// The org that everything belongs to until orgs can be made.
pub(crate) const DEFAULT_ORG: OrgKey = OrgKey(1);

/// The statement in `sql/sqlite/NAME.sql`.
macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("../../sql/sqlite/", $name, ".sql"))
    };
}
pub(crate) use sql;

/// What a process wants of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Runs the schedules: one process at a time, enforced by a lock of the operating system.
    Serve,
    /// Reads and changes definitions, beside a process that serves or without one.
    Visit,
}

/// A ledger in one SQLite file.
pub struct Sqlite {
    path: PathBuf,
    // The order matters: threads end before the lock is given back.
    writer: Writer,
    reader: Reader,
    _checkpointer: Option<Checkpointer>,
    _lock: Option<ServeLock>,
}

impl Sqlite {
    /// Opens the file, creating it and its folder if they are missing, and brings its schema up to date.
    ///
    /// # Errors
    /// When another process serves the file, when it cannot be opened, or when a newer version wrote it.
    pub fn open(path: &Path, access: Access) -> Result<Self, Error> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            create_private(folder).map_err(|source| Error::open(folder, source))?;
        }
        let lock = match access {
            Access::Serve => Some(ServeLock::take(path)?),
            Access::Visit => None,
        };
        let mut connection = connection::writable(path, access)?;
        migrate::run(&mut connection)?;
        let checkpointer = match access {
            Access::Serve => Some(Checkpointer::start(path)?),
            Access::Visit => None,
        };
        Ok(Self {
            path: path.to_owned(),
            writer: Writer::start(connection),
            reader: Reader::start(connection::readable(path)?),
            _checkpointer: checkpointer,
            _lock: lock,
        })
    }

    /// Whether a process runs the schedules of this file now.
    pub fn is_served(&self) -> bool {
        lock::is_held(&self.path)
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Creates a folder that only its owner can look into: argument vectors and output are nobody else's.
fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

impl Store for Sqlite {
    async fn plannable(&self, now: Timestamp, horizon: Timestamp) -> Result<PlannableBatch, Error> {
        self.reader.run(move |db| plan::plannable(db, now, horizon)).await
    }

    async fn next_unplanned(&self) -> Result<Option<Timestamp>, Error> {
        self.reader.run(plan::next_unplanned).await
    }

    async fn commit_plans(&self, plans: Vec<PlanCommit>) -> Result<Vec<Commit>, Error> {
        self.writer.run(move |db| plan::commit(db, &plans)).await
    }

    async fn due(&self, now: Timestamp) -> Result<DueBatch, Error> {
        self.reader.run(move |db| admit::due(db, now)).await
    }

    async fn admit(
        &self,
        fence: Fence,
        now: Timestamp,
        admissions: Vec<Admission>,
    ) -> Result<Vec<Commit>, Error> {
        self.writer.run(move |db| admit::admit(db, fence, now, &admissions)).await
    }

    async fn mark_running(&self, fence: Fence, started: Vec<Started>) -> Result<(), Error> {
        self.writer.run(move |db| settle::mark_running(db, fence, &started)).await
    }

    async fn settle(&self, fence: Fence, ended: Vec<Ended>) -> Result<Vec<Commit>, Error> {
        self.writer.run(move |db| settle::settle(db, fence, &ended)).await
    }

    async fn take_over(&self, node: Node) -> Result<(Fence, Vec<Launchable>), Error> {
        self.writer.run(move |db| node::take_over(db, &node)).await
    }

    async fn changed(&self) {
        self.writer.changed().await;
    }

    async fn create(&self, schedule: NewSchedule) -> Result<(), Error> {
        self.writer.run(move |db| schedules::create(db, &schedule)).await
    }

    async fn delete(&self, id: ScheduleId, now: Timestamp) -> Result<(), Error> {
        self.writer.run(move |db| schedules::delete(db, id, now)).await
    }

    async fn schedules(&self) -> Result<Vec<ScheduleRow>, Error> {
        self.reader.run(schedules::list).await
    }

    async fn find(&self, selector: Selector) -> Result<Option<ScheduleRow>, Error> {
        self.reader.run(move |db| schedules::find(db, &selector)).await
    }

    async fn runs(&self, id: ScheduleId, page: Page) -> Result<Vec<RunRow>, Error> {
        self.reader.run(move |db| runs::runs(db, id, page)).await
    }

    async fn ranges(&self, id: ScheduleId, page: Page) -> Result<Vec<RangeRow>, Error> {
        self.reader.run(move |db| runs::ranges(db, id, page)).await
    }
}
