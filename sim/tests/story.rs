//! Goal: a seed decides a story to its last word. Method: short ones are told twice, and have to come to the same.

use std::time::Duration;

use punctual_sim::{Keeping, Measure, SKETCHES_MIN, Story, story, tell};

/// The beginning of a seed's story.
fn beginning(seed: u64) -> Story {
    let mut story = story(seed, Keeping::Memory, Measure::Usual);
    story.lasts = story.lasts.min(story.rhythm.look_every * 6);
    story.deeds.retain(|deed| deed.at < story.lasts);
    story
}

#[test]
fn a_story_that_is_told_again_comes_to_the_same() {
    for seed in 0..3 {
        let (first, second) = (tell(&beginning(seed)), tell(&beginning(seed)));
        assert_eq!(first.broken, [""; 0], "seed {seed}");
        assert_eq!(first.totals.to_string(), second.totals.to_string(), "seed {seed}");
    }
}

#[test]
fn stories_have_nodes_and_schedules_enough() {
    for seed in 0..100 {
        let story = story(seed, Keeping::Memory, Measure::Days(30));
        assert!(story.nodes >= 3 && story.sketches.len() >= SKETCHES_MIN, "seed {seed}");
        assert_eq!(story.lasts, Duration::from_secs(30 * 86_400));
    }
}
