//! A lock that is held for microseconds. Whoever finds it taken looks again for a while before it sleeps: many a virtual
//! machine wakes a thread on the core of whoever wakes it, and there the two take turns while another core has nothing to do.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::available_parallelism;

/// How often a taken lock is looked at, and how long the breath is in between: some two hundred microseconds in all.
const LOOKS: u32 = 512;
const BREATH: u32 = 16;

/// A value that one thread at a time has in hand, briefly.
#[derive(Debug)]
pub(crate) struct Brief<T> {
    value: Mutex<T>,
    /// None where there is one core: whoever holds the lock needs it.
    looks: u32,
}

impl<T> Brief<T> {
    pub(crate) fn new(value: T) -> Self {
        let is_alone = available_parallelism().is_ok_and(|cores| cores.get() == 1);
        Self { value: Mutex::new(value), looks: if is_alone { 0 } else { LOOKS } }
    }

    /// Takes it in hand, also after a panic of whoever had it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        for _ in 0..self.looks {
            match self.value.try_lock() {
                Ok(guard) => return guard,
                Err(TryLockError::Poisoned(left)) => return left.into_inner(),
                Err(TryLockError::WouldBlock) => (0..BREATH).for_each(|_| std::hint::spin_loop()),
            }
        }
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Default> Default for Brief<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn each_has_it_in_turn_however_long_the_other_keeps_it() {
        let (value, (begun, is_begun)) = (Arc::new(Brief::new(0)), channel());
        let other = Arc::clone(&value);
        let mut held = value.lock();
        let adding = std::thread::spawn(move || {
            begun.send(()).expect("somebody waits for it");
            *other.lock() += 1;
        });
        is_begun.recv().expect("it begins");
        *held += 1;
        drop(held);
        adding.join().expect("it had its turn");
        assert_eq!(*value.lock(), 2);
    }

    #[test]
    fn a_panic_leaves_it_to_the_others() {
        let value = Arc::new(Brief::new(1));
        let other = Arc::clone(&value);
        let panicked = std::thread::spawn(move || {
            let _held = other.lock();
            panic!("on purpose");
        });
        assert!(panicked.join().is_err());
        assert_eq!(*value.lock(), 1);
    }
}
