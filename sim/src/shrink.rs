//! Shrinking: a failing story is told again without some of its acts and schedules while it still fails.

use std::time::{Duration, Instant};

use crate::story::Story;
use crate::tell::tell;

/// How long it is tried to find a shorter story.
const PATIENCE: Duration = Duration::from_secs(60);

/// A shorter story that fails as well; what it says is wrong is on its second part.
pub fn shrink(story: &Story) -> Story {
    let until = Instant::now() + PATIENCE;
    let mut least = story.clone();
    let fails = |story: &Story| !tell(story).broken.is_empty();
    let mut piece = (least.deeds.len() / 2).max(1);
    while Instant::now() < until {
        let (mut from, mut found) = (0, false);
        while from < least.deeds.len() && Instant::now() < until {
            let mut shorter = least.clone();
            let to = (from + piece).min(shorter.deeds.len());
            shorter.deeds.drain(from..to);
            if fails(&shorter) {
                (least, found) = (shorter, true);
            } else {
                from = to;
            }
        }
        if piece == 1 && !found {
            break;
        }
        piece = (piece / 2).max(1);
    }
    without_schedules(least, until)
}

/// Leaves out schedules that do not matter; the others keep their numbers.
fn without_schedules(mut least: Story, until: Instant) -> Story {
    let mut place = 0;
    while place < least.sketches.len() && Instant::now() < until {
        let mut shorter = least.clone();
        shorter.sketches.remove(place);
        if tell(&shorter).broken.is_empty() {
            place += 1;
        } else {
            least = shorter;
        }
    }
    least
}
