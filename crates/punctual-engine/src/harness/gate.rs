//! A gate in front of all that a node does: closed, the node stands still as a stopped process does.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Lets the tasks of a node through, or holds them; clones are the same gate.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    is_closed: bool,
    /// Which rules of the zones the node has.
    edition: usize,
    waiting: Vec<Waker>,
}

impl Gate {
    /// From now on nothing of the node goes on; timers that end meanwhile are noticed afterwards.
    pub fn close(&self) {
        self.state().is_closed = true;
    }

    /// From now on the node reads zones by this edition of the made-up ones, as its program would.
    pub fn read_zones_by(&self, edition: usize) {
        self.state().edition = edition;
    }

    /// Everything goes on.
    pub fn open(&self) {
        let waiting = {
            let mut state = self.state();
            state.is_closed = false;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// A task behind this gate.
    pub fn behind<F: Future + Send>(&self, task: F) -> impl Future<Output = F::Output> + Send + use<F> {
        Behind { gate: self.clone(), task: Box::pin(task) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Behind<F> {
    gate: Gate,
    task: Pin<Box<F>>,
}

impl<F: Future> Future for Behind<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let edition = {
            let mut state = self.gate.state();
            if state.is_closed {
                state.waiting.push(context.waker().clone());
                return Poll::Pending;
            }
            state.edition
        };
        punctual_time::edition::within(edition, || self.task.as_mut().poll(context))
    }
}
