//! Writes on their way to the writer: their definitions become text on another core while the rows before them are
//! written. Start with [`Pieces::of`].

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::vec::IntoIter;

use punctual_plan::Schedule;

use crate::text::Text;
use crate::{Error, ScheduleWrite, Write};

/// Writes that are prepared before any is written, and as many each time after that: a few milliseconds of work, so that
/// the writer begins early, and enough rows of one table after the other to stay in the processor's cache.
pub(super) const PIECE_MAX: usize = 500;

/// A write that is ready for the writer.
pub(super) struct Prepared {
    pub(super) write: ScheduleWrite,
    /// The text of the definition that it brings: worked out before the writer's turn, which is one thread for all.
    pub(super) text: Option<Text>,
}

impl Prepared {
    /// The definition that it brings.
    pub(super) fn definition(&self) -> Option<&Arc<Schedule>> {
        match &self.write.write {
            Write::Create { definition, .. } => Some(definition),
            Write::Change { definition, .. } => definition.as_ref(),
            Write::Trigger { .. } => None,
        }
    }
}

impl From<ScheduleWrite> for Prepared {
    fn from(write: ScheduleWrite) -> Self {
        let mut prepared = Self { write, text: None };
        prepared.text = prepared.definition().map(|definition| Text::of(definition));
        prepared
    }
}

/// The writes of one call in their order, piece by piece.
pub(super) struct Pieces {
    first: Option<Vec<Prepared>>,
    rest: Receiver<Vec<Prepared>>,
    /// Writes that are still to come.
    left: usize,
}

impl Pieces {
    /// Prepares the first piece here and the others on a thread of their own.
    pub(super) fn of(writes: Vec<ScheduleWrite>) -> Self {
        let left = writes.len();
        let mut writes = writes.into_iter();
        let first = Some(piece(&mut writes)).filter(|piece| !piece.is_empty());
        let (ready, rest) = channel();
        if writes.len() > 0 {
            std::thread::spawn(move || prepare(writes, &ready));
        }
        Self { first, rest, left }
    }

    /// The next piece, once it is ready; none after the last.
    pub(super) fn next(&mut self) -> Result<Option<Vec<Prepared>>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        let piece = match self.first.take() {
            Some(first) => first,
            // The other thread ends before its last piece only by a panic, which was printed where it happened.
            None => self.rest.recv().map_err(|_| Error::Closed)?,
        };
        self.left -= piece.len();
        Ok(Some(piece))
    }
}

fn piece(writes: &mut IntoIter<ScheduleWrite>) -> Vec<Prepared> {
    writes.take(PIECE_MAX).map(Prepared::from).collect()
}

fn prepare(mut writes: IntoIter<ScheduleWrite>, ready: &Sender<Vec<Prepared>>) {
    while writes.len() > 0 {
        if ready.send(piece(&mut writes)).is_err() {
            // The call has failed: nobody wants the others.
            return;
        }
    }
}
