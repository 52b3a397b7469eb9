//! Scenes: stories written by hand, each about one thing that the stories of seeds seldom come to.
//!
//! A seed decides when exactly what happens, and what becomes of each call.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{CatchUp, Overlap, Policy};
use punctual_time::DstRule;

use crate::dice::Dice;
use crate::sketch::{Beat, Manner, Place, Sketch};
use crate::story::{Act, Deed, Keeping, Rhythm, Story};

/// A story with a name, in as many editions as there are seeds.
pub struct Scene {
    /// What it is called.
    pub name: &'static str,
    story: fn(u64) -> Story,
}

/// Every scene.
pub static SCENES: &[Scene] = &[
    Scene { name: "set_back_while_held", story: set_back_while_held },
    Scene { name: "all_clocks_set_ahead", story: all_clocks_set_ahead },
];

impl Scene {
    /// Its story.
    pub fn of(&self, seed: u64) -> Story {
        (self.story)(seed)
    }
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// A program every so many seconds, which takes no time worth mentioning.
fn every(number: usize, count: i64) -> Sketch {
    Sketch {
        number,
        beat: Beat::Every(count),
        zone: "UTC",
        dst: DstRule::default(),
        only_between: None,
        not_on: 0,
        end_at: None,
        max_runs: None,
        policy: Policy { overlap: Overlap::Allow, catch_up: CatchUp::RunOnce, ..Policy::default() },
        place: Place::Program,
        manner: Manner { longest_ms: 50, fails: 0, refuses: 0, hangs: 0 },
    }
}

/// Nothing but schedules.
fn quiet(seed: u64, rhythm: Rhythm, sketches: Vec<Sketch>) -> Story {
    let begins: Timestamp = "2028-03-01T10:00:00Z".parse().expect("a written instant");
    Story {
        seed,
        keeping: Keeping::Memory,
        rhythm,
        nodes: 2,
        begins,
        lasts: Duration::ZERO,
        sketches,
        deeds: Vec::new(),
        follow: None,
    }
}

/// So many acts of a kind, one round after the other.
fn rounds(count: u32, every: Duration, acts: impl Fn(u32) -> Vec<Deed>) -> Vec<Deed> {
    let shifted = |round: u32| {
        acts(round).into_iter().map(move |deed| Deed { at: every * (round + 1) + deed.at, ..deed })
    };
    let mut deeds: Vec<Deed> = (0..count).flat_map(shifted).collect();
    deeds.sort_by_key(|deed| deed.at);
    deeds
}

/// A node stands still for longer than its lease, and its wall is set back meanwhile.
fn set_back_while_held(seed: u64) -> Story {
    let sketches = (0..10).map(|number| every(number, 2)).collect();
    let mut dice = Dice::new(seed);
    let offsets: Vec<u64> = (0..30).map(|_| dice.below(2_000)).collect();
    let deeds = rounds(30, seconds(20), |round| {
        let held_at = millis(1_000 + offsets[round as usize]);
        vec![
            Deed { at: Duration::ZERO, act: Act::Slow { lasts: seconds(8), longest: millis(800) } },
            Deed { at: held_at, act: Act::Pause { node: 0, held: seconds(6) } },
            Deed {
                at: held_at + seconds(2),
                act: Act::StepNode { node: 0, by: SignedDuration::from_secs(-30) },
            },
        ]
    });
    Story { deeds, lasts: seconds(640), ..quiet(seed, Rhythm::close(), sketches) }
}

/// Every clock is set ahead by more than a lease, the database's too, while answers are on their way.
fn all_clocks_set_ahead(seed: u64) -> Story {
    let rhythm = Rhythm { lease: SignedDuration::from_secs(30), ..Rhythm::close() };
    let sketches = (0..20).map(|number| every(number, 3)).collect();
    let deeds = rounds(30, seconds(60), |round| {
        let set_at = seconds(5) + millis(u64::from(round) * 130);
        vec![
            Deed { at: Duration::ZERO, act: Act::Slow { lasts: seconds(8), longest: seconds(20) } },
            Deed { at: set_at, act: Act::StepAll { by: SignedDuration::from_secs(60) } },
        ]
    });
    Story { deeds, lasts: seconds(1_900), ..quiet(seed, rhythm, sketches) }
}
