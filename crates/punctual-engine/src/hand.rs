//! What one thread has of something that all share. Its clones are counted among themselves: to count those of all threads in
//! one place would make each wait for the others, thousands of times in a herd.

use std::ops::Deref;
use std::sync::Arc;

/// A share; clones are the same one.
#[derive(Debug)]
pub(crate) struct Hand<T>(Arc<Share<T>>);

#[derive(Debug)]
struct Share<T>(Arc<T>);

impl<T> Hand<T> {
    /// A share of its own.
    pub(crate) fn of(all: &Arc<T>) -> Self {
        Self(Arc::new(Share(Arc::clone(all))))
    }
}

impl<T> Clone for Hand<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Hand<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.0
    }
}
