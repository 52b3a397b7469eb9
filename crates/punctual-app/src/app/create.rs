//! New schedules: one from its keys, many from a file, each once even if it is asked for twice.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{Cursor, Pace, Schedule, ScheduleId, Status, Subject, When, Window, plan, plan_first};
use punctual_store::{
    Answer, Answered, BATCH_MAX, Error, ScheduleRow, ScheduleWrite, Selector, Store, Write, Written,
};
use punctual_time::Once;
use uuid::Uuid;

use super::App;
use super::shared::refuse_changed;
use crate::declare::{self, Declared, Text, Watch, read_texts};
use crate::{Failure, Kind};

/// A request with a key of its own, so that it can be repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The key.
    pub key: String,
    /// What is asked, as it was written: the same key with another question is refused.
    pub question: String,
}

/// A schedule that was made, now or by an earlier request with the same key.
#[derive(Clone, Debug)]
pub struct Created {
    /// The schedule.
    pub row: ScheduleRow,
    /// Whether this request made it.
    pub is_new: bool,
}

impl App {
    /// Makes a schedule; its first tick comes strictly after now. A second request with the same key gives the first
    /// one's schedule. An enabled one starts as `paused` says, which is [`App::status_of_new`].
    ///
    /// # Errors
    /// When its name is taken, or the key belongs to another request.
    pub async fn create(
        &self,
        drafted: &declare::Schedule,
        request: Option<&Request>,
        paused: Option<&Status>,
    ) -> Result<Created, Failure> {
        let mut definition = drafted.definition.clone();
        if let Some(request) = request {
            let asked = self.ask_once(request, definition.id).await?;
            if let Some(row) = self.store.schedule(self.scope(), Selector::Id(asked)).await? {
                return Ok(Created { row, is_new: false });
            }
            definition.id = asked;
        }
        // A name that is taken is refused by the write itself.
        let drafted = declare::Schedule { definition, ..drafted.clone() };
        let arrival = self.arrival(self.now().await?, paused);
        let row = self.insert_on(drafted, &arrival).await?;
        Ok(Created { row, is_new: true })
    }

    /// The id that a request's key stands for: that of the first request with it.
    async fn ask_once(&self, request: &Request, id: ScheduleId) -> Result<ScheduleId, Failure> {
        let question = format!("create {}", request.question);
        let asked = Request { question, ..request.clone() };
        match self.once(&asked, id.to_string()).await? {
            None => Ok(id),
            Some(id) => id.parse().map(ScheduleId).map_err(|_| Failure::world(format!("`{id}` is no id"))),
        }
    }

    /// Keeps what a request's key stands for; gives back what it stood for before, if it was used for the same.
    ///
    /// # Errors
    /// When the key was used for something else.
    pub async fn once(&self, request: &Request, answer: String) -> Result<Option<String>, Failure> {
        let Request { key, question } = request.clone();
        let kept = Answer { key, question, answer, now: self.now().await? };
        match self.store.answer_once(self.scope(), kept).await? {
            Answered::Kept => Ok(None),
            Answered::Before(answer) => Ok(Some(answer)),
            Answered::Differs => Err(Failure {
                kind: Kind::Conflict,
                message: format!("the request key `{}` was used for something else", request.key),
                hint: Some("use a key of its own for each request".to_owned()),
            }),
        }
    }

    /// Refuses a name that a living schedule has.
    ///
    /// # Errors
    /// When it is taken.
    pub async fn refuse_taken(&self, name: &str) -> Result<(), Failure> {
        let living = self.store.schedule(self.scope(), Selector::Name(name.to_owned())).await?;
        match living.filter(|row| row.deleted_at.is_none()) {
            None => Ok(()),
            Some(_) => Err(taken(name)),
        }
    }

    /// Writes a new schedule, under another id if somebody just took its own.
    pub(super) async fn insert(
        &self,
        drafted: &declare::Schedule,
        declared_set: Option<&str>,
    ) -> Result<ScheduleRow, Failure> {
        let now = self.now().await?;
        let paused = self.status_of_new().await?;
        let arrival = Arrival { declared_set, ..self.arrival(now, paused.as_ref()) };
        self.insert_on(drafted.clone(), &arrival).await
    }

    /// The same, where it is known how it arrives.
    async fn insert_on(
        &self,
        mut drafted: declare::Schedule,
        arrival: &Arrival<'_>,
    ) -> Result<ScheduleRow, Failure> {
        for _ in 0..2 {
            let id = drafted.definition.id;
            let write = creation(&drafted, arrival);
            match self.write(write.clone()).await {
                Ok(written) => {
                    let known = match written {
                        Written::Schedule(key) => ScheduleRow::made(key, &write),
                        _ => None,
                    };
                    return match known {
                        Some(row) => Ok(row),
                        None => self.get(Selector::Id(id)).await,
                    };
                }
                Err(failure) if failure.kind == Kind::Conflict && failure.message.contains("the id of") => {
                    drafted.definition.id = ScheduleId(Uuid::new_v4());
                }
                Err(failure) if failure.kind == Kind::Conflict => {
                    return Err(taken(&drafted.definition.name));
                }
                Err(failure) => return Err(failure),
            }
        }
        Err(Failure::world(format!("no id is free for `{}`", drafted.definition.name)))
    }

    /// Reads the schedules of a file as new ones of this org; writes nothing.
    ///
    /// # Errors
    /// When the file cannot be read or meant, or a name is taken.
    pub async fn draft_file(&self, file: &Path, watch: Watch<'_>) -> Result<Declared, Failure> {
        self.draft_texts(declare::load(file)?, watch).await
    }

    /// The same of files that were loaded.
    ///
    /// # Errors
    /// When they cannot be meant, or a name is taken.
    pub async fn draft_texts(&self, texts: Vec<Text>, watch: Watch<'_>) -> Result<Declared, Failure> {
        let now = self.now().await?;
        let mut ground = self.shared_ground(now).await?;
        let living = self.names().await?.into_iter().filter(|row| !row.is_deleted);
        ground.names.extend(living.map(|row| (row.name, row.id)));
        let declared = read_texts(texts, &ground, watch)?;
        self.refuse_other_org(&declared)?;
        for schedule in &declared.schedules {
            if ground.names.contains_key(&schedule.definition.name) {
                return Err(taken(&schedule.definition.name));
            }
            self.check_new(schedule, now).await?;
        }
        Ok(declared)
    }

    /// Makes the schedules of a file, and what they share if it is not there yet. `told` hears how many are made.
    ///
    /// # Errors
    /// When something of the same name is stored and is not the same. Every schedule that was made by then stays.
    pub async fn create_file(
        &self,
        declared: &Declared,
        told: &(dyn Fn(usize) + Sync),
    ) -> Result<(), Failure> {
        let changes = self.shared_changes(declared).await?;
        refuse_changed(&changes)?;
        self.write_shared(&changes).await?;
        let paused = self.status_of_new().await?;
        let mut done = 0;
        for batch in declared.schedules.chunks(BATCH_MAX) {
            let now = self.now().await?;
            self.create_batch(batch.iter(), &self.arrival(now, paused.as_ref())).await?;
            done += batch.len();
            told(done);
        }
        Ok(())
    }

    /// Makes schedules in one transaction.
    pub(super) async fn create_batch<'a>(
        &self,
        batch: impl Iterator<Item = &'a declare::Schedule>,
        arrival: &Arrival<'_>,
    ) -> Result<(), Failure> {
        let writes: Vec<ScheduleWrite> = batch.map(|one| creation(one, arrival)).collect();
        for written in self.store.write_schedules(self.scope(), writes).await? {
            written?;
        }
        Ok(())
    }

    /// Who makes schedules, when, and what they start as.
    fn arrival<'a>(&'a self, now: Timestamp, paused: Option<&'a Status>) -> Arrival<'a> {
        Arrival { now, by: self.actor(), paused, declared_set: None, is_first: false, pace: self.pace }
    }
}

/// That a name is taken, and what to do about it.
fn taken(name: &str) -> Failure {
    let hint = format!("change it with `punctual schedule update --name {name}`, or choose another `--name`");
    Failure { hint: Some(hint), ..Error::NameTaken { name: name.to_owned() }.into() }
}

/// How a new schedule comes into the database.
pub(super) struct Arrival<'a> {
    /// When.
    pub(super) now: Timestamp,
    /// Who pauses it, if it is disabled.
    pub(super) by: &'a str,
    /// What an enabled one starts as during maintenance.
    pub(super) paused: Option<&'a Status>,
    /// The set that declares it.
    pub(super) declared_set: Option<&'a str>,
    /// Whether a tick of the present minute, or second, fires at once.
    pub(super) is_first: bool,
    /// How far ahead it is planned.
    pub(super) pace: Pace,
}

/// What makes a schedule, with the first window of its ticks.
pub(super) fn creation(drafted: &declare::Schedule, arrival: &Arrival<'_>) -> ScheduleWrite {
    let &Arrival { now, by, paused, declared_set, is_first, pace } = arrival;
    let definition = Arc::new(counted_from(drafted, now));
    let status = match drafted.enabled {
        true => paused.cloned().unwrap_or_default(),
        false => Status::PausedManual { by: by.to_owned(), note: "created disabled".to_owned() },
    };
    let subject = Subject::of(&definition, Cursor::starting(now)).filter(|_| status.is_active());
    let first = if is_first { plan_first } else { plan };
    let plan = subject.map(|subject| first(&subject, Window { now, pace }));
    let note = format!("created with `{}`", definition.spec);
    let declared_set = declared_set.map(str::to_owned);
    let write = Write::Create { definition, status, plan, declared_set };
    ScheduleWrite { write, kind: "schedule.created", note, now }
}

/// The definition with its delay counted from the moment at which it is stored: reading a large file takes a while.
pub(super) fn counted_from(drafted: &declare::Schedule, now: Timestamp) -> Schedule {
    let mut definition = drafted.definition.clone();
    if let (Some(delay), When::Ticks(timing)) = (drafted.after_start, &mut definition.when) {
        timing.spec = Once::at(now.saturating_add(delay).unwrap_or(Timestamp::MAX)).into();
        timing.created_at = now;
    }
    definition
}
