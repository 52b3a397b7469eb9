//! Gathering: schedules that several callers make one by one at the same time become one transaction.
//!
//! Whoever finds a turn takes along everything of the same scope that waits for one. If that cannot be written together,
//! each is written by itself, so that nobody hears of another's failure.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::Postgres;
use super::patience::Turns;
use crate::{Error, ScheduleWrite, Scope, Write, Written};

/// Schedules of one transaction.
const TOGETHER_MAX: usize = 100;

/// What waits to be written.
#[derive(Default)]
pub(super) struct Gathering {
    waiting: Mutex<Vec<Waiting>>,
    turns: Turns,
}

struct Waiting {
    scope: Scope,
    write: ScheduleWrite,
    answer: oneshot::Sender<Answer>,
}

/// What became of a schedule, if it could be tried.
type Answer = Result<Result<Written, Error>, Error>;

impl Gathering {
    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what can be written with that which has waited longest.
    fn take(&self) -> Vec<Waiting> {
        let mut waiting = self.waiting();
        // Who has gone away before it was begun wants nothing written.
        waiting.retain(|one| !one.answer.is_closed());
        let Some(scope) = waiting.first().map(|one| one.scope.clone()) else { return Vec::new() };
        let mut taken = 0;
        let is_taken = |one: &mut Waiting| {
            let fits = one.scope == scope && taken < TOGETHER_MAX;
            taken += usize::from(fits);
            fits
        };
        waiting.extract_if(.., is_taken).collect()
    }
}

impl Postgres {
    /// Makes one schedule, together with those that others make meanwhile.
    pub(super) async fn write_gathered(&self, scope: Scope, write: ScheduleWrite) -> Answer {
        let (answer, mut answered) = oneshot::channel();
        self.gathering.waiting().push(Waiting { scope, write, answer });
        loop {
            let turn = tokio::select! {
                biased;
                answer = &mut answered => return answer.unwrap_or(Err(UNHEARD)),
                turn = self.gathering.turns.next() => turn?,
            };
            let some = self.gathering.take();
            // What is not there any more was taken along by another, who will answer.
            if some.is_empty() {
                drop(turn);
                return answered.await.unwrap_or(Err(UNHEARD));
            }
            self.write_some(some).await;
        }
    }

    async fn write_some(&self, some: Vec<Waiting>) {
        let Some(scope) = some.first().map(|one| one.scope.clone()) else { return };
        let (writes, answers): (Vec<_>, Vec<_>) = some.into_iter().map(|one| (one.write, one.answer)).unzip();
        let results: Vec<Answer> = match self.write_all(&scope, &writes).await {
            Ok(results) => results.into_iter().map(Ok).collect(),
            Err(error) if writes.len() == 1 || matches!(error, Error::Unanswered { .. }) => {
                writes.iter().map(|_| Err(error.clone())).collect()
            }
            // It is undone as a whole, and one of them may be to blame.
            Err(_) => self.write_each(&scope, &writes).await,
        };
        for (answer, result) in answers.into_iter().zip(results) {
            // Who has gone away wants no answer.
            let _ = answer.send(result);
        }
        crate::text::free(writes);
    }

    async fn write_each(&self, scope: &Scope, writes: &[ScheduleWrite]) -> Vec<Answer> {
        let mut results = Vec::with_capacity(writes.len());
        for write in writes {
            let written = self.write_all(scope, std::slice::from_ref(write)).await;
            results.push(written.map(|mut one| one.pop().unwrap_or(Err(Error::Closed))));
        }
        results
    }
}

/// The caller who had taken it along went away: whether it was written is not known.
const UNHEARD: Error = Error::Unanswered { doing: "writing schedules" };

/// The one schedule that is made, if that is all there is to be written.
pub(super) fn take_single(writes: &mut Vec<ScheduleWrite>) -> Option<ScheduleWrite> {
    let is_single = matches!(writes[..], [ScheduleWrite { write: Write::Create { .. }, .. }]);
    writes.pop_if(|_| is_single)
}
