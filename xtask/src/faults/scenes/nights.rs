//! Nights in which the clocks change: the real program lives through them by a wall clock that is set over the dead air.
//!
//! Every tick of these schedules is at a quarter of an hour. The wall is set to a moment before each quarter, goes on at its
//! own pace until a moment after it, and is set again. All ticks must have run, and only they, by a walk through the minutes
//! of each zone in Python.

use std::path::Path;
use std::time::Duration;

use super::super::Database;
use super::super::clock::Wall;
use super::super::load::Load;
use super::super::node::{Kit, Node};
use super::super::reader::Found;
use super::super::serve::now_us;
use super::stage::Seen;
use crate::failure::Failure;

/// A night.
struct Night {
    zone: &'static str,
    /// When its clocks change, in seconds since 1970.
    at: i64,
    /// A local time that is left out then, or comes twice: minute and hour.
    local: [u32; 2],
    /// What else may be asked of it.
    traits: &'static [&'static str],
}

const GAP: &[&str] = &["", "-gapskip"];
const FOLD: &[&str] = &["", "-foldlast", "-foldboth"];

/// Both nights of 2026 in each of five zones: the usual hour at two o'clock, an hour at midnight, and half an hour.
#[rustfmt::skip]
const NIGHTS: [Night; 10] = [
    Night { zone: "Europe/Berlin", at: 1_774_746_000, local: [30, 2], traits: GAP },
    Night { zone: "Europe/Berlin", at: 1_792_890_000, local: [30, 2], traits: FOLD },
    Night { zone: "America/New_York", at: 1_772_953_200, local: [30, 2], traits: GAP },
    Night { zone: "America/New_York", at: 1_793_512_800, local: [30, 1], traits: FOLD },
    Night { zone: "Australia/Lord_Howe", at: 1_791_041_400, local: [15, 2], traits: GAP },
    Night { zone: "Australia/Lord_Howe", at: 1_775_314_800, local: [45, 1], traits: FOLD },
    Night { zone: "America/Santiago", at: 1_788_667_200, local: [30, 0], traits: GAP },
    Night { zone: "America/Santiago", at: 1_775_358_000, local: [30, 23], traits: FOLD },
    Night { zone: "Asia/Beirut", at: 1_774_735_200, local: [30, 0], traits: GAP },
    Night { zone: "Asia/Beirut", at: 1_792_875_600, local: [30, 23], traits: FOLD },
];

/// The quarters of an hour around the change, in seconds.
const FROM: i64 = -3_600;
const TO: i64 = 5_400;
const STEP: usize = 900;

/// How long before each quarter the wall is set to, and how long after it the next setting comes, in milliseconds.
const BEFORE_MS: i64 = 2_500;
const AFTER_MS: i64 = 1_500;

/// How long the runs of the last quarter may take to end.
const CLOSED_MAX: Duration = Duration::from_secs(20);

/// Plays all nights side by side, each by a program of its own.
pub(super) fn play(program: &Path, folder: &Path) -> Result<Vec<Seen>, Failure> {
    let nights: Vec<Result<Seen, Failure>> = std::thread::scope(|scope| {
        let begun: Vec<_> = NIGHTS
            .iter()
            .enumerate()
            .map(|(number, night)| {
                let place = folder.join(number.to_string());
                scope.spawn(move || night.live(program, &place))
            })
            .collect();
        let lost = |_| Err(Failure::new("a night panicked", "see above"));
        begun.into_iter().map(|night| night.join().unwrap_or_else(lost)).collect()
    });
    nights.into_iter().collect()
}

impl Night {
    fn live(&self, program: &Path, place: &Path) -> Result<Seen, Failure> {
        std::fs::create_dir(place).map_err(|error| Failure::new(error.to_string(), "is there room?"))?;
        let wall = Wall::new(place)?;
        let file = place.join("ledger.db").display().to_string();
        let load = Load::new(&wall.on(&Kit::new(program.to_owned(), place, file)))?;
        set(&wall, (self.at + FROM) * 1_000 - BEFORE_MS * 2)?;
        let node = Node::start(&load.kit, "serve")?;
        load.make(self.schedules())?;
        for quarter in (self.at + FROM..=self.at + TO).step_by(STEP) {
            set(&wall, quarter * 1_000 - BEFORE_MS)?;
            let both = u64::try_from(BEFORE_MS + AFTER_MS).unwrap_or_default();
            std::thread::sleep(Duration::from_millis(both));
        }
        let found = load.reader.judge_when_closed(self.at + TO, CLOSED_MAX)?.sound(&self.name())?;
        self.all_ran(&found)?;
        node.leave()?;
        let done = format!("{}, {} ticks, all of them run", self.name(), found.ticks);
        Ok(Seen::new(Database::Sqlite, done, found))
    }

    fn name(&self) -> String {
        let what = if self.traits == GAP { "left out" } else { "twice" };
        let [minute, hour] = self.local;
        format!("{}, {hour:02}:{minute:02} {what}", self.zone)
    }

    /// Nothing was late enough to be missed: every tick ran.
    fn all_ran(&self, found: &Found) -> Result<(), Failure> {
        match found.ends.keys().all(|end| end == "success") {
            true => Ok(()),
            false => Err(Failure::new(format!("{}: {}", self.name(), found.ends()), "every tick runs here")),
        }
    }

    fn schedules(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let zone = self.zone.replace('/', ".");
        let [minute, hour] = self.local;
        let when = |cron: &str, more: &str| format!("cron: \"{cron}\", timezone: {}{more}", self.zone);
        let often = [
            (format!("z-{zone}-0-x"), when("0 * * * *", "")),
            (format!("z-{zone}-q15-x"), when("*/15 * * * *", "")),
        ];
        let local = self.traits.iter().map(move |word| {
            let more = match *word {
                "-gapskip" => ", dst: {gap: skip}",
                "-foldlast" => ", dst: {fold: last}",
                "-foldboth" => ", dst: {fold: both}",
                _ => "",
            };
            let cron = format!("{minute} {hour} * * *");
            let zone = self.zone;
            let when = format!("cron: \"{cron}\", timezone: {zone}{more}");
            (format!("z-{}-{minute}-{hour}{word}", zone.replace('/', ".")), when)
        });
        often.into_iter().chain(local)
    }
}

/// Sets the wall to an instant, in milliseconds since 1970.
fn set(wall: &Wall, to_ms: i64) -> Result<(), Failure> {
    let now_ms = i64::try_from(now_us() / 1_000).unwrap_or(i64::MAX);
    wall.set((to_ms - now_ms) as f64 / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_of_a_night_say_in_their_names_when_they_tick() {
        let all: Vec<(String, String)> = NIGHTS[5].schedules().collect();
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        let zone = "z-Australia.Lord_Howe";
        let expected = ["0-x", "q15-x", "45-1", "45-1-foldlast", "45-1-foldboth"];
        assert_eq!(names, expected.map(|rest| format!("{zone}-{rest}")));
        assert_eq!(all[3].1, "cron: \"45 1 * * *\", timezone: Australia/Lord_Howe, dst: {fold: last}");
    }
}
