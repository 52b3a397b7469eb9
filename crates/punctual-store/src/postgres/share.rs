//! Sharing: small reads that several callers ask for at the same time become one transaction, and what more than one of
//! them asks of an org is read once.
//!
//! Whoever finds a turn takes along everything that waits for one; the transaction goes from org to org, and has the rights
//! of one at a time. What waits has not been sent yet, so no answer is older than its question; what has been sent is
//! joined by nobody. If it cannot be read together each reads by itself, so that nobody hears of another's failure.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use punctual_plan::{OrgKey, ScheduleId};
use tokio::sync::oneshot;

use super::connection::{Role, Tx, col};
use super::create::all;
use super::documents::read_document;
use super::patience::Turns;
use super::{Postgres, sql};
use crate::{Cut, Document, DocumentKind, Error, ScheduleRow, Scope, Shelf};

/// Questions of one transaction.
const TOGETHER_MAX: usize = 100;

/// What waits to be read.
#[derive(Default)]
pub(super) struct Sharing {
    waiting: Mutex<Vec<Waiting>>,
    turns: Turns,
}

struct Waiting {
    org: OrgKey,
    question: Question,
}

/// What is asked, and whom to tell.
enum Question {
    Shelf { wanted: Place, answer: Asker<Vec<Document>> },
    Schedule { id: ScheduleId, answer: Asker<Option<ScheduleRow>> },
}

/// So many things of a kind at most.
type Place = (DocumentKind, u32);

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

impl Sharing {
    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what can be read with that which has waited longest.
    fn take(&self) -> Vec<Waiting> {
        let mut waiting = self.waiting();
        waiting.retain(|one| !one.question.is_closed());
        let most = waiting.len().min(TOGETHER_MAX);
        waiting.drain(..most).collect()
    }
}

/// What is asked of one org, each thing once.
#[derive(Default)]
struct Asked {
    shelves: HashSet<Place>,
    ids: BTreeSet<String>,
}

impl Asked {
    fn by_org(some: &[Waiting]) -> BTreeMap<OrgKey, Self> {
        let mut orgs: BTreeMap<OrgKey, Self> = BTreeMap::new();
        for Waiting { org, question } in some {
            let asked = orgs.entry(*org).or_default();
            match question {
                Question::Shelf { wanted, .. } => drop(asked.shelves.insert(*wanted)),
                Question::Schedule { id, .. } => drop(asked.ids.insert(id.to_string())),
            }
        }
        orgs
    }
}

/// What was found in one org.
struct Found {
    shelves: HashMap<Place, Vec<Document>>,
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
                turn = self.sharing.turns.next() => turn?,
            };
            let some = self.sharing.take();
            if some.is_empty() {
                // What is not there any more was taken along by another, who will answer.
                drop(turn);
                break answered.await;
            }
            self.read_some(some).await;
        };
        match heard {
            Ok(answer) => answer,
            Err(_) => self.ask_alone(org, ask).await,
        }
    }

    /// Asks by itself what another who had taken it along could not find out, or went away over.
    async fn ask_alone<T>(&self, org: OrgKey, ask: impl Fn(Asker<T>) -> Question) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        self.read_some(vec![Waiting { org, question: ask(answer) }]).await;
        answered.await.unwrap_or(Err(Error::Closed))
    }

    async fn read_some(&self, some: Vec<Waiting>) {
        match self.read_together(&some).await {
            Ok(found) => {
                for Waiting { org, question } in some {
                    if let Some(found) = found.get(&org) {
                        found.answer(question);
                    }
                }
            }
            Err(error) if some.len() == 1 => {
                some.into_iter().for_each(|one| one.question.fail(error.clone()));
            }
            // One of them may be to blame: unanswered, each asks by itself.
            Err(_) => drop(some),
        }
    }

    async fn read_together(&self, some: &[Waiting]) -> Result<HashMap<OrgKey, Found>, Error> {
        let mut found = HashMap::new();
        let mut orgs = Asked::by_org(some).into_iter();
        let Some((first, asked)) = orgs.next() else { return Ok(found) };
        let asked = &asked;
        let ask = |tx: Arc<Tx>| async move { self.read_asked(&tx, asked).await };
        let (tx, answer) =
            self.connections.begin_asking(Role::Keyed(first), "reading what orgs have", ask).await?;
        found.insert(first, answer);
        let others = async {
            for (org, asked) in orgs {
                // Everything of the org before is answered. What is looked at first is sent first, and if it fails the
                // server answers nothing of this transaction any more.
                let (_, answer) = tokio::try_join!(biased; tx.enter(org), self.read_asked(&tx, &asked))?;
                found.insert(org, answer);
            }
            Ok(())
        };
        let others = others.await;
        tx.over(others).await?;
        Ok(found)
    }

    async fn read_asked(&self, tx: &Tx, asked: &Asked) -> Result<Found, Error> {
        let shelves = asked.shelves.iter().map(|wanted| read_shelf(tx, *wanted)).collect();
        let ids = asked.ids.iter().cloned().collect();
        let (shelves, schedules) = tokio::try_join!(all(shelves), self.read_by_ids(tx, ids))?;
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

async fn read_shelf(tx: &Tx, (kind, limit): Place) -> Result<(Place, Vec<Document>), Error> {
    let statement = sql!("list_documents").replace("{table}", kind.table());
    let rows = tx.rows(&statement, &[&None::<String>, &i64::from(limit)]).await?;
    let documents = rows.iter().map(|row| read_document(kind, row)).collect::<Result<_, _>>()?;
    Ok(((kind, limit), documents))
}
