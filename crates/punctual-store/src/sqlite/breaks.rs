//! Breaks: the writer of a file leaves it to other processes now and then, for one that is never idle would keep them out.

use std::time::{Duration, Instant};

use punctual_plan::rule::{Rule, holds};

/// After writing for this long without a break, the writer lets other processes in.
const BUSY_MAX: Duration = Duration::from_millis(50);

/// The break it takes then.
const BREAK: Duration = Duration::from_millis(3);

/// When the writer had its last break.
pub(super) struct Breaks {
    busy_since: Instant,
}

impl Breaks {
    pub(super) fn new(now: Instant) -> Self {
        Self { busy_since: now }
    }

    /// Nothing is to be written: whoever wants to can.
    pub(super) fn idle(&mut self, now: Instant) {
        self.busy_since = now;
    }

    /// How long others may write before the writer goes on, if it has kept them out for long enough.
    pub(super) fn due(&mut self, now: Instant) -> Option<Duration> {
        if now.duration_since(self.busy_since) <= BUSY_MAX || !holds(Rule::RoomForOthers) {
            return None;
        }
        self.busy_since = now + BREAK;
        Some(BREAK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_that_is_never_idle_leaves_room_for_others() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut breaks = Breaks::new(start);
        assert_eq!((breaks.due(at(10)), breaks.due(at(50))), (None, None));
        assert_eq!(breaks.due(at(51)), Some(BREAK));
        assert_eq!((breaks.due(at(54)), breaks.due(at(104))), (None, None), "it has just had one");
        assert_eq!(breaks.due(at(105)), Some(BREAK));
        breaks.idle(at(150));
        assert_eq!((breaks.due(at(200)), breaks.due(at(201))), (None, Some(BREAK)));
    }
}
