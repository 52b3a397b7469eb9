//! Sharing: small reads of one org that several callers ask for at the same time become one transaction, and what more
//! than one of them asks for is read once.
//!
//! Whoever finds a turn takes along everything of the same org that waits for one. What waits has not been sent yet, so no
//! answer is older than its question; what has been sent is joined by nobody. If it cannot be read together each reads
//! by itself, so that nobody hears of another's failure.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use punctual_plan::{OrgKey, ScheduleId};
use tokio::sync::{Semaphore, oneshot};

use super::connection::{Role, Tx, col};
use super::create::all;
use super::documents::read_document;
use super::{Postgres, sql};
use crate::{Cut, Document, DocumentKind, Error, ScheduleRow, Scope, Shelf};

/// Transactions at once: while one is answered the next is asked. The other connections are for others.
const TURNS: usize = 2;

/// Questions of one transaction.
const TOGETHER_MAX: usize = 100;

/// What waits to be read.
pub(super) struct Sharing {
    waiting: Mutex<Vec<Waiting>>,
    turns: Semaphore,
}

struct Waiting {
    org: OrgKey,
    question: Question,
}

/// What is asked, and whom to tell.
enum Question {
    Shelf { wanted: (DocumentKind, u32), answer: Asker<Vec<Document>> },
    Schedule { id: ScheduleId, answer: Asker<Option<ScheduleRow>> },
}

type Asker<T> = oneshot::Sender<Result<T, Error>>;

impl Question {
    fn is_closed(&self) -> bool {
        match self {
            Self::Shelf { answer, .. } => answer.is_closed(),
            Self::Schedule { answer, .. } => answer.is_closed(),
        }
    }

    fn fail(self, error: Error) {
        // Who has gone away wants no answer.
        let _ = match self {
            Self::Shelf { answer, .. } => answer.send(Err(error)).is_ok(),
            Self::Schedule { answer, .. } => answer.send(Err(error)).is_ok(),
        };
    }
}

impl Default for Sharing {
    fn default() -> Self {
        Self { waiting: Mutex::default(), turns: Semaphore::new(TURNS) }
    }
}

impl Sharing {
    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what can be read with that which has waited longest.
    fn take(&self) -> Option<(OrgKey, Vec<Question>)> {
        let mut waiting = self.waiting();
        waiting.retain(|one| !one.question.is_closed());
        let org = waiting.first()?.org;
        let mut taken = 0;
        let is_taken = |one: &mut Waiting| {
            let fits = one.org == org && taken < TOGETHER_MAX;
            taken += usize::from(fits);
            fits
        };
        Some((org, waiting.extract_if(.., is_taken).map(|one| one.question).collect()))
    }
}

/// Everything that was asked for, once.
struct Found {
    shelves: HashMap<(DocumentKind, u32), Vec<Document>>,
    schedules: HashMap<ScheduleId, ScheduleRow>,
}

impl Found {
    fn answer(&self, question: Question) {
        // Who has gone away wants no answer.
        let _ = match question {
            Question::Shelf { wanted, answer } => {
                answer.send(Ok(self.shelves.get(&wanted).cloned().unwrap_or_default())).is_ok()
            }
            Question::Schedule { id, answer } => answer.send(Ok(self.schedules.get(&id).cloned())).is_ok(),
        };
    }
}

impl Postgres {
    /// A schedule of an org by its id.
    pub(super) async fn share_schedule(
        &self,
        org: OrgKey,
        id: ScheduleId,
    ) -> Result<Option<ScheduleRow>, Error> {
        self.share(org, |answer| Question::Schedule { id, answer }).await
    }

    /// Shared things of some kinds, so many of each at most.
    pub(super) async fn share_shelves(
        &self,
        wanted: Vec<Shelf>,
        limit: u32,
    ) -> Result<Vec<Vec<Document>>, Error> {
        let read = |Shelf { scope, kind }: Shelf| async move {
            match scope {
                Scope::Org { org, .. } => {
                    self.share(org, |answer| Question::Shelf { wanted: (kind, limit), answer }).await
                }
                Scope::Engine => Ok(self.list_documents(&scope, kind, &Cut::first(limit)).await?.rows),
            }
        };
        all(wanted.into_iter().map(read).collect()).await
    }

    /// Asks something together with what others of the org ask meanwhile.
    async fn share<T>(&self, org: OrgKey, ask: impl Fn(Asker<T>) -> Question) -> Result<T, Error> {
        let (answer, mut answered) = oneshot::channel();
        self.sharing.waiting().push(Waiting { org, question: ask(answer) });
        let heard = loop {
            let turn = tokio::select! {
                biased;
                heard = &mut answered => break heard,
                turn = self.sharing.turns.acquire() => turn.map_err(|_| Error::Closed)?,
            };
            let Some((org, some)) = self.sharing.take() else {
                // What is not there any more was taken along by another, who will answer.
                drop(turn);
                break answered.await;
            };
            self.read_some(org, some).await;
        };
        match heard {
            Ok(answer) => answer,
            Err(_) => self.ask_alone(org, ask).await,
        }
    }

    /// Asks by itself what another who had taken it along could not find out, or went away over.
    async fn ask_alone<T>(&self, org: OrgKey, ask: impl Fn(Asker<T>) -> Question) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        self.read_some(org, vec![ask(answer)]).await;
        answered.await.unwrap_or(Err(Error::Closed))
    }

    async fn read_some(&self, org: OrgKey, some: Vec<Question>) {
        match self.read_together(org, &some).await {
            Ok(found) => some.into_iter().for_each(|question| found.answer(question)),
            Err(error) if some.len() == 1 => {
                some.into_iter().for_each(|question| question.fail(error.clone()));
            }
            // One of them may be to blame: unanswered, each asks by itself.
            Err(_) => drop(some),
        }
    }

    async fn read_together(&self, org: OrgKey, some: &[Question]) -> Result<Found, Error> {
        let (mut shelves, mut ids) = (Vec::new(), Vec::new());
        for question in some {
            match question {
                Question::Shelf { wanted, .. } => shelves.push(*wanted),
                Question::Schedule { id, .. } => ids.push(id.to_string()),
            }
        }
        shelves.sort_unstable_by_key(|(kind, limit)| (kind.table(), *limit));
        shelves.dedup();
        ids.sort_unstable();
        ids.dedup();
        let tx = self.connections.begin(Role::Keyed(org), "reading what an org has").await?;
        let shelves = shelves.into_iter().map(|wanted| read_shelf(&tx, wanted)).collect();
        let found = tokio::try_join!(all(shelves), self.read_by_ids(&tx, ids));
        let (shelves, schedules) = tx.over(found).await?;
        Ok(Found { shelves: shelves.into_iter().collect(), schedules })
    }

    async fn read_by_ids(
        &self,
        tx: &Tx,
        ids: Vec<String>,
    ) -> Result<HashMap<ScheduleId, ScheduleRow>, Error> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let rows = tx.rows(sql!("find_by_ids"), &[&ids]).await?;
        let mut found = HashMap::with_capacity(rows.len());
        for (row, schedule) in rows.iter().zip(self.read_schedules(tx, &rows).await?) {
            let id: &str = col(row, ID)?;
            let id = id.parse().map_err(|_| Error::corrupt(format!("`{id}` is no id")))?;
            found.insert(ScheduleId(id), schedule);
        }
        Ok(found)
    }
}

/// The place of the id in `schedule_rows`: what is left of an unreadable definition may not tell it.
const ID: usize = 30;

async fn read_shelf(
    tx: &Tx,
    (kind, limit): (DocumentKind, u32),
) -> Result<((DocumentKind, u32), Vec<Document>), Error> {
    let statement = sql!("list_documents").replace("{table}", kind.table());
    let rows = tx.rows(&statement, &[&None::<String>, &i64::from(limit)]).await?;
    let documents = rows.iter().map(|row| read_document(kind, row)).collect::<Result<_, _>>()?;
    Ok(((kind, limit), documents))
}
