//! The crew: the tasks that launch runs, and those in which launched runs go on.

use std::future::poll_fn;
use std::sync::MutexGuard;

use tokio::task::JoinSet;

use crate::brief::Brief;

/// Tasks that end with the launcher, unless they were left to themselves before.
#[derive(Debug)]
pub(crate) struct Crew(Brief<State>);

#[derive(Debug)]
enum State {
    /// Somebody may wait for their end.
    Together(JoinSet<()>),
    /// Nobody does any more.
    Left,
    /// Whatever would begin now is given up.
    Gone,
}

impl Default for Crew {
    fn default() -> Self {
        Self(Brief::new(State::Together(JoinSet::new())))
    }
}

impl Crew {
    /// Begins a task; also from within one.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        match &mut *self.state() {
            State::Together(tasks) => {
                // What has ended is forgotten in passing.
                while tasks.try_join_next().is_some() {}
                tasks.spawn(task);
            }
            State::Left => drop(tokio::spawn(task)),
            State::Gone => drop(task),
        }
    }

    /// Resolves when every task has ended.
    pub(crate) async fn drain(&self) {
        let next = |context: &mut std::task::Context<'_>| match &mut *self.state() {
            State::Together(tasks) => tasks.poll_join_next(context).map(|ended| ended.is_some()),
            State::Left | State::Gone => std::task::Poll::Ready(false),
        };
        while poll_fn(next).await {}
    }

    /// Leaves them to themselves.
    pub(crate) fn leave(&self) {
        if let State::Together(mut tasks) = std::mem::replace(&mut *self.state(), State::Left) {
            tasks.detach_all();
        }
    }

    /// Ends all of them, unless they were left to themselves.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        if let State::Together(_) = *state {
            // Dropped after the lock is free: a task that is dropped may look in here.
            let ended = std::mem::replace(&mut *state, State::Gone);
            drop(state);
            drop(ended);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn tasks_are_waited_for_also_those_that_others_began() {
        let crew = Arc::new(Crew::default());
        let (sender, receiver) = oneshot::channel();
        let inner = Arc::clone(&crew);
        crew.spawn(async move {
            inner.spawn(async move { sender.send(7).expect("somebody waits for it") });
        });
        crew.drain().await;
        assert_eq!(receiver.await, Ok(7));
    }

    #[tokio::test]
    async fn tasks_end_with_the_crew_unless_they_are_left() {
        for (is_left, expected) in [(false, None), (true, Some(7))] {
            let crew = Crew::default();
            let ((go, gone), (sender, receiver)) = (oneshot::channel::<()>(), oneshot::channel());
            crew.spawn(async move {
                if gone.await.is_ok() {
                    sender.send(7).expect("somebody waits for it");
                }
            });
            if is_left {
                crew.leave();
            }
            crew.end();
            // One that has ended hears nothing.
            let _ = go.send(());
            assert_eq!(receiver.await.ok(), expected);
        }
    }
}
