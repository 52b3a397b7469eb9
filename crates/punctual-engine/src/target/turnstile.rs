//! Turnstile: few pass at once, and of those who wait the one whose time is up first.
//!
//! A program that belongs to a tick of each second stands at the same instant as a thousand daily ones. It is the one
//! that has to be through before its next tick comes, so it goes first; nobody waits for ever, because the time of each
//! comes.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::oneshot;

/// Lets a number of holders in at once.
#[derive(Debug)]
pub(super) struct Turnstile {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    free: usize,
    /// Given out so far: of those whose time is up together the first to come is the first to go.
    number: u64,
    waiting: BTreeMap<(Timestamp, u64), oneshot::Sender<Pass>>,
}

/// The right to be inside; dropping it lets the next one in.
#[derive(Debug)]
pub(super) struct Pass {
    turnstile: &'static Turnstile,
}

impl Turnstile {
    /// One that lets so many in.
    pub(super) const fn new(free: usize) -> Self {
        Self { inner: Mutex::new(Inner { free, number: 0, waiting: BTreeMap::new() }) }
    }

    /// Waits until there is room, behind all whose time is up sooner.
    pub(super) async fn enter(&'static self, until: Timestamp) -> Pass {
        let turn = {
            let mut inner = self.locked();
            if inner.free > 0 {
                inner.free -= 1;
                return Pass { turnstile: self };
            }
            let (sender, turn) = oneshot::channel();
            inner.number += 1;
            let number = inner.number;
            inner.waiting.insert((until, number), sender);
            turn
        };
        turn.await.expect("whoever waits is dropped only with its pass")
    }

    fn leave(&'static self) {
        let next = {
            let mut inner = self.locked();
            let next = inner.waiting.pop_first();
            if next.is_none() {
                inner.free += 1;
            }
            next
        };
        if let Some((_, sender)) = next {
            // One that does not wait any more gives its pass back here, which lets the next one in.
            drop(sender.send(Pass { turnstile: self }));
        }
    }

    fn locked(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.turnstile.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[tokio::test]
    async fn whose_time_is_up_first_goes_first_whenever_it_came() {
        static DOOR: Turnstile = Turnstile::new(1);
        let inside = DOOR.enter(at(0)).await;
        let mut waiting: Vec<_> = [30, 10, 20, 10].map(|second| Box::pin(DOOR.enter(at(second)))).into();
        for one in &mut waiting {
            assert!(look(one).is_none(), "there is no room");
        }
        let mut order = Vec::new();
        drop(inside);
        while order.len() < 4 {
            let open: Vec<usize> = (0..4).filter(|one| !order.contains(one)).collect();
            let entered = open.into_iter().find_map(|one| look(&mut waiting[one]).map(|pass| (one, pass)));
            let (one, pass) = entered.expect("a pass was given on");
            order.push(one);
            drop(pass);
        }
        assert_eq!(order, [1, 3, 2, 0]);
    }

    #[tokio::test]
    async fn one_that_stops_waiting_keeps_nobody_out() {
        static DOOR: Turnstile = Turnstile::new(1);
        let inside = DOOR.enter(at(0)).await;
        let mut gone = Box::pin(DOOR.enter(at(1)));
        let mut other = Box::pin(DOOR.enter(at(2)));
        assert!(look(&mut gone).is_none() && look(&mut other).is_none());
        // It has its pass already and is dropped before it looks.
        drop(inside);
        drop(gone);
        let pass = look(&mut other).expect("the pass went on");
        let mut gone = Box::pin(DOOR.enter(at(1)));
        assert!(look(&mut gone).is_none());
        drop(gone);
        drop(pass);
        drop(DOOR.enter(at(3)).await);
        assert_eq!(DOOR.locked().free, 1);
    }

    /// Looks at a future once.
    fn look<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::Pin::new(future).poll(&mut context) {
            std::task::Poll::Ready(value) => Some(value),
            std::task::Poll::Pending => None,
        }
    }
}
