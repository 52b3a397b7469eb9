//! Shrinking: a failing story is told again without some of its acts and schedules while it still fails.

use std::time::{Duration, Instant};

use crate::story::Story;
use crate::tell::tell;

/// How long it is tried to find a shorter story: so long, or as long as it takes to tell it so often.
const PATIENCE: Duration = Duration::from_secs(60);
const TELLINGS: u32 = 100;

/// A shorter story that fails as well; what it says is wrong is on its second part.
pub fn shrink(story: &Story) -> Story {
    let begun = Instant::now();
    let mut least = without_the_rest(story);
    let until = Instant::now() + PATIENCE.max(begun.elapsed() / 2 * TELLINGS);
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

/// Leaves out what comes after it has failed.
fn without_the_rest(story: &Story) -> Story {
    let end = tell(story).totals.simulated;
    let mut shorter = story.clone();
    shorter.lasts = shorter.lasts.min(end);
    shorter.deeds.retain(|deed| deed.at <= end);
    if tell(&shorter).broken.is_empty() { story.clone() } else { shorter }
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
