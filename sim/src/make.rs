//! Stories are made here: schedules of every kind and policy, bursts of faults, people who change things meanwhile.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{CatchUp, ChainOn, Delivery, Dependency, Jitter, JitterMode, Overlap, Policy};
use punctual_time::{Anchor, DstRule};

use crate::dice::Dice;
use crate::sketch::{Beat, Field, Fields, Manner, Place, Sketch, id_of};
use crate::story::{Act, Deed, Keeping, Rhythm, Story, Wish};

/// Schedules that a story has from its beginning, at least.
pub const SKETCHES_MIN: usize = 20;

/// Zones with every kind of clock change that there is, and none; then such whose rules change.
const ZONES: [&str; 10] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kolkata",
    "America/St_Johns",
    "Pacific/Chatham",
    "Sim/Still",
    "Sim/Weeks",
    "Sim/Offset",
];

/// Of them, those that a database on another thread can read, which does not know whose call it carries out.
const ZONES_FIXED: usize = 7;

/// Days around which clocks change somewhere, and one on which they do not.
const DAYS: [&str; 6] = [
    "2026-03-28T22:10:00Z",
    "2026-10-24T21:00:00Z",
    "2027-03-13T20:00:00Z",
    "2027-11-06T23:30:00Z",
    "2028-02-28T11:00:00Z",
    "2026-04-04T09:00:00Z",
];

/// How long a story is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Hours by the second or days by the minute, as the seed decides.
    Usual,
    /// So many days by the minute.
    Days(u32),
}

/// The story of a seed.
pub fn story(seed: u64, keeping: Keeping, measure: Measure) -> Story {
    let mut dice = Dice::new(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x51D5);
    let is_wide = match (measure, keeping) {
        (Measure::Days(_), _) => true,
        (Measure::Usual, Keeping::Memory | Keeping::Shared) => dice.happens(50),
        (Measure::Usual, Keeping::Sqlite) => true,
    };
    let lasts = match (measure, keeping, is_wide) {
        (Measure::Days(days), ..) => Duration::from_secs(u64::from(days) * 86_400),
        (_, Keeping::Sqlite, _) => Duration::from_secs(6 * 3_600),
        (_, _, true) => Duration::from_secs(2 * 86_400),
        (_, _, false) => Duration::from_secs(45 * 60),
    };
    let begins: Timestamp = dice.pick(&DAYS).parse().expect("a written instant");
    let begins = begins + SignedDuration::from_millis(dice.between(0, 7_200_000));
    let (rhythm, scale) = match (measure, is_wide) {
        (Measure::Days(_), _) => (Rhythm::far(), Scale::FAR),
        (Measure::Usual, true) => (Rhythm::wide(), Scale::WIDE),
        (Measure::Usual, false) => (Rhythm::close(), Scale::CLOSE),
    };
    let zones = if keeping == Keeping::Sqlite { &ZONES[..ZONES_FIXED] } else { &ZONES[..] };
    let mut maker = Maker { dice, scale, begins, lasts, zones };
    let count = SKETCHES_MIN + maker.dice.below(6) as usize;
    let sketches: Vec<Sketch> = (0..count).map(|number| maker.sketch(number)).collect();
    let nodes = 3 + maker.dice.below(2) as usize;
    let mut deeds = maker.deeds(count, nodes);
    deeds.sort_by_key(|deed| deed.at);
    Story { seed, keeping, rhythm, nodes, begins, lasts, sketches, deeds, follow: None }
}

/// What is long and what is short, in seconds.
struct Scale {
    /// Between two ticks of a busy schedule.
    busy: [i64; 4],
    /// Between two ticks of a quiet one.
    quiet: [i64; 4],
    /// The longest run that is not stuck.
    run: i64,
    timeout: [i64; 2],
    grace: [i64; 3],
    jitter: i64,
    retry: i64,
    /// The longest that a node is down or paused, a database away.
    outage: i64,
    /// From one burst of faults to the next, and how long it is.
    burst_every: i64,
    burst: i64,
    /// Between two things that people do.
    people: i64,
}

impl Scale {
    const CLOSE: Self = Self {
        busy: [7, 10, 15, 25],
        quiet: [60, 90, 120, 300],
        run: 12,
        timeout: [40, 90],
        grace: [3, 20, 60],
        jitter: 8,
        retry: 12,
        outage: 40,
        burst_every: 240,
        burst: 70,
        people: 45,
    };
    const WIDE: Self = Self {
        busy: [300, 420, 600, 900],
        quiet: [3_600, 5_400, 7_200, 14_400],
        run: 90,
        timeout: [600, 1_800],
        grace: [60, 600, 3_600],
        jitter: 400,
        retry: 400,
        outage: 2_400,
        burst_every: 9_000,
        burst: 2_400,
        people: 3_000,
    };
    /// As wide, for nodes that look so rarely that nothing shorter than three looks may be too late.
    const FAR: Self = Self { grace: [900, 1_800, 3_600], ..Self::WIDE };
}

struct Maker {
    dice: Dice,
    scale: Scale,
    begins: Timestamp,
    lasts: Duration,
    zones: &'static [&'static str],
}

impl Maker {
    fn is_wide(&self) -> bool {
        self.scale.people == Scale::WIDE.people
    }

    fn sketch(&mut self, number: usize) -> Sketch {
        let place = match self.dice.below(10) {
            0 | 1 => Place::Executor,
            2 => Place::Queue,
            3 => Place::Outbox,
            _ => Place::Program,
        };
        let manner = Manner {
            longest_ms: self.dice.between(1, self.scale.run * 1_000),
            fails: self.dice.pick(&[0, 0, 3, 10, 40]),
            refuses: self.dice.pick(&[0, 0, 5]),
            hangs: self.dice.pick(&[0, 0, 0, 3]),
        };
        let beat = self.beat(number);
        let is_plain = matches!(beat, Beat::Cron(_) | Beat::Every(_) | Beat::Days(_));
        let policy = self.policy(number);
        let is_windowed = is_plain && self.dice.happens(20);
        let only_between = [(8 * 3_600, 18 * 3_600), (22 * 3_600, 6 * 3_600), (0, 43_200)];
        Sketch {
            number,
            beat,
            zone: self.dice.pick(self.zones),
            dst: self.dst(),
            only_between: is_windowed.then(|| self.dice.pick(&only_between)),
            not_on: if is_plain && self.dice.happens(15) { 1 << self.dice.below(7) } else { 0 },
            end_at: None,
            max_runs: if is_plain && self.dice.happens(12) { Some(self.dice.below(30) + 1) } else { None },
            policy,
            place,
            manner,
        }
    }

    fn dst(&mut self) -> DstRule {
        let gaps = [None, None, Some(punctual_time::Gap::Skip), Some(punctual_time::Gap::Shift)];
        let folds = [
            None,
            None,
            Some(punctual_time::Fold::First),
            Some(punctual_time::Fold::Last),
            Some(punctual_time::Fold::Both),
        ];
        DstRule { gap: self.dice.pick(&gaps), fold: self.dice.pick(&folds) }
    }

    fn beat(&mut self, number: usize) -> Beat {
        let (busy, quiet) = (self.dice.pick(&self.scale.busy), self.dice.pick(&self.scale.quiet));
        // The first ones are busy, so that every story has ticks enough.
        match number {
            0..=4 => return Beat::Every(busy),
            5 | 6 => return Beat::Cron(Box::new(self.busy_fields())),
            7 => return Beat::Floating(busy, Anchor::LastStart),
            8 => return Beat::Floating(busy, Anchor::LastFinish),
            9 => return Beat::After(self.dice.below(5) as usize, self.dice.pick(ChainOn::ALL)),
            _ => {}
        }
        match self.dice.below(10) {
            0 => Beat::Every(quiet),
            1 => Beat::Days(self.dice.between(1, 2)),
            2 => {
                let after =
                    self.dice.between(1_000, i64::try_from(self.lasts.as_millis()).unwrap_or(i64::MAX));
                Beat::Once(self.begins + SignedDuration::from_millis(after))
            }
            3 => Beat::Floating(quiet, self.dice.pick(&[Anchor::LastStart, Anchor::LastFinish])),
            4 | 5 => Beat::Cron(Box::new(self.busy_fields())),
            _ => Beat::Cron(Box::new(self.daily_fields())),
        }
    }

    fn busy_fields(&mut self) -> Fields {
        let some = |dice: &mut Dice| {
            let mut values: Vec<u32> = (0..dice.between(1, 4)).map(|_| dice.below(60) as u32).collect();
            values.sort_unstable();
            values.dedup();
            Field::Only(values)
        };
        let any = Fields {
            second: None,
            minute: Field::Any,
            hour: Field::Any,
            day: Field::Any,
            month: Field::Any,
            weekday: Field::Any,
        };
        if self.is_wide() {
            let minute = if self.dice.happens(50) { Field::Every(15) } else { some(&mut self.dice) };
            return Fields { minute, ..any };
        }
        match self.dice.below(3) {
            0 => Fields { second: Some(Field::Every(self.dice.pick(&[10, 20, 30]))), ..any },
            1 => Fields { second: Some(some(&mut self.dice)), ..any },
            _ => any,
        }
    }

    /// A few times of some days; a short story lies around them.
    fn daily_fields(&mut self) -> Fields {
        let minutes: Vec<u32> =
            if self.is_wide() { vec![self.dice.below(60) as u32, 30] } else { (0..60).step_by(2).collect() };
        let hours: Vec<u32> =
            (0..24).filter(|_| self.dice.happens(if self.is_wide() { 20 } else { 60 })).collect();
        let hours = if hours.is_empty() { vec![2] } else { hours };
        let weekdays: Vec<u32> = (0..7).filter(|_| self.dice.happens(60)).collect();
        let days: Vec<u32> = (1..=31).filter(|_| self.dice.happens(50)).collect();
        let restrict = |dice: &mut Dice, values: Vec<u32>| match values.is_empty() || dice.happens(65) {
            true => Field::Any,
            false => Field::Only(values),
        };
        let mut minutes = minutes;
        minutes.sort_unstable();
        minutes.dedup();
        Fields {
            second: self.dice.happens(20).then(|| Field::Only(vec![0, 59])),
            minute: Field::Only(minutes),
            hour: Field::Only(hours),
            day: restrict(&mut self.dice, days),
            month: Field::Any,
            weekday: restrict(&mut self.dice, weekdays),
        }
    }

    fn policy(&mut self, number: usize) -> Policy {
        let seconds = SignedDuration::from_secs;
        let jitter = match self.dice.happens(25) {
            true => Jitter {
                max: SignedDuration::from_millis(self.dice.between(1, self.scale.jitter * 1_000)),
                mode: self.dice.pick(JitterMode::ALL),
            },
            false => Jitter::default(),
        };
        // Only on an earlier one, so that nobody waits for itself.
        let depends_on = (number >= 10 && self.dice.happens(12)).then(|| {
            let on = vec![id_of(self.dice.below(5) as usize)];
            Dependency { on, timeout: seconds(self.scale.outage) }
        });
        let deadline = seconds(self.dice.pick(&self.scale.grace));
        Policy {
            overlap: self.dice.pick(Overlap::ALL),
            lane: if number % 10 == 4 { Some("lane".to_owned()) } else { None },
            catch_up: self.dice.pick(CatchUp::ALL),
            max_catch_up: self.dice.pick(&[2, 10, 100]),
            grace: seconds(self.dice.pick(&self.scale.grace)),
            start_deadline: self.dice.happens(12).then_some(deadline),
            jitter,
            retry_after: self.dice.happens(40).then(|| seconds(self.dice.between(1, self.scale.retry))),
            run_timeout: seconds(self.dice.pick(&self.scale.timeout)),
            max_consecutive_failures: self.dice.pick(&[None, Some(4), Some(8)]),
            guard: if number % 10 == 6 { Some("guard".to_owned()) } else { None },
            depends_on,
            delivery: self.dice.pick(&[Delivery::AtLeastOnce, Delivery::AtLeastOnce, Delivery::AtMostOnce]),
            ..Policy::default()
        }
    }

    fn deeds(&mut self, schedules: usize, nodes: usize) -> Vec<Deed> {
        let mut deeds = Vec::new();
        let end = i64::try_from(self.lasts.as_millis()).unwrap_or(i64::MAX);
        let mut at = self.dice.between(0, self.scale.burst_every * 1_000);
        while at < end {
            for _ in 0..self.dice.between(6, 14) {
                let after = self.dice.between(0, self.scale.burst * 1_000);
                let act = self.fault(nodes);
                deeds.push(Deed { at: millis((at + after).min(end)), act });
            }
            at += self.dice.between(self.scale.burst_every * 500, self.scale.burst_every * 1_500);
        }
        let (mut at, mut made) = (0, schedules);
        loop {
            at += self.dice.between(1, self.scale.people * 2_000);
            if at >= end {
                break;
            }
            let act = self.wish(&mut made);
            deeds.push(Deed { at: millis(at), act });
        }
        if self.dice.happens(60) {
            deeds.push(Deed { at: millis(self.dice.between(0, end)), act: Act::ZoneRules });
        }
        deeds
    }

    fn long(&mut self) -> Duration {
        let longest = self.dice.pick(&[self.scale.outage / 8, self.scale.outage / 3, self.scale.outage]);
        millis(self.dice.between(1, longest * 1_000))
    }

    fn fault(&mut self, nodes: usize) -> Act {
        let node = self.dice.below(nodes as u64) as usize;
        let lasts = self.long();
        match self.dice.below(100) {
            0..=49 => Act::Crash { node, down: lasts / 4 },
            50..=54 => Act::Stop { node, down: lasts / 4 },
            55..=66 => Act::Pause { node, held: lasts },
            67..=68 => Act::LoseJournal { node, down: lasts / 4 },
            69..=73 => Act::StepNode { node, by: self.step() },
            74 => Act::StepAll { by: self.step() },
            75..=77 => Act::Drift { node, ppm: i32::try_from(self.dice.between(-500, 500)).unwrap_or(0) },
            78 => Act::Suspend { slept: lasts },
            79..=82 => Act::Away { gone: lasts / 2 },
            83..=87 => Act::Cut { node, gone: lasts },
            88..=93 => Act::Flaky { lasts, percent: self.dice.pick(&[5, 20, 50]) },
            94..=96 => {
                let longest = self.dice.pick(&[200, 2_000, self.scale.outage.unsigned_abs() * 100]);
                Act::Slow { lasts, longest: Duration::from_millis(longest) }
            }
            _ => Act::Trouble { lasts },
        }
    }

    fn step(&mut self) -> SignedDuration {
        let furthest = self.dice.pick(&[2, self.scale.outage, self.scale.outage * 5]);
        SignedDuration::from_millis(self.dice.between(-furthest * 1_000, furthest * 1_000))
    }

    /// What people do.
    fn wish(&mut self, made: &mut usize) -> Act {
        let schedule = self.dice.below(*made as u64) as usize;
        match self.dice.below(100) {
            0..=7 => {
                *made += 1;
                Act::Create(Box::new(self.sketch(*made - 1)))
            }
            8..=32 => {
                let mut sketch = self.sketch(schedule);
                // What has had more runs than the next version allows is another story.
                sketch.max_runs = None;
                Act::Edit(Box::new(sketch))
            }
            33..=47 => Act::PauseSchedule { schedule, held: self.long() },
            48..=59 => Act::Enable { schedule },
            60..=63 => Act::Delete { schedule },
            64..=75 => Act::Trigger { schedule, wish: Wish::Plain },
            76..=84 => Act::Trigger { schedule, wish: Wish::Forced },
            85..=90 => Act::Trigger { schedule, wish: Wish::Twice },
            _ => Act::Cancel { schedule },
        }
    }
}

fn millis(count: i64) -> Duration {
    Duration::from_millis(u64::try_from(count).unwrap_or_default())
}
