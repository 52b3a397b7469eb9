//! A cell: four coordinates, and the night in New York that they make.
//!
//! The schedule ticks every 20 minutes from 23:00 to 06:00 local time, each run takes 25 minutes, and no node runs from
//! 23:30 to 03:50. So runs always meet the tick after them, the outage has the clock change in it, and every window
//! suppresses ticks both at their instant and inside the outage.

use std::fmt;
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Action, CatchUp, Member, Outage, Overlap, Process, Scenario, Schedule, ScheduleId, simulate,
};
use punctual_time::{Calendar, Cron, QuietHours, Timing, Weekdays, Windows, Zone};

use crate::text::Clock;

const ZONE: &str = "America/New_York";

/// How many late ticks `run_all` and `spread` run, so that there is a rest.
pub(crate) const CATCH_UP_MAX: u32 = 3;

/// What keeps ticks from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    None,
    OnlyBetween,
    NotOn,
    QuietHours,
    Calendar,
}

impl Window {
    pub(crate) const ALL: [Self; 5] =
        [Self::None, Self::OnlyBetween, Self::NotOn, Self::QuietHours, Self::Calendar];

    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::OnlyBetween => "only_between",
            Self::NotOn => "not_on",
            Self::QuietHours => "quiet_hours",
            Self::Calendar => "calendar",
        }
    }

    /// The reason of the ticks that it suppresses.
    pub(crate) fn code(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::OnlyBetween => Some("outside_window"),
            window => Some(window.name()),
        }
    }
}

/// What the clock does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Night {
    Plain,
    Gap,
    Fold,
}

impl Night {
    pub(crate) const ALL: [Self; 3] = [Self::Plain, Self::Gap, Self::Fold];

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Gap => "gap",
            Self::Fold => "fold",
        }
    }

    /// The evening and the morning, as dates.
    pub(crate) fn dates(self) -> [jiff::civil::Date; 2] {
        let evening = match self {
            Self::Plain => jiff::civil::date(2026, 6, 9),
            Self::Gap => jiff::civil::date(2026, 3, 7),
            Self::Fold => jiff::civil::date(2026, 10, 31),
        };
        [evening, evening.tomorrow().expect("a day after it")]
    }
}

/// One cell of the matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) overlap: Overlap,
    pub(crate) catch_up: CatchUp,
    pub(crate) window: Window,
    pub(crate) night: Night,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (window, night) = (self.window.name(), self.night.name());
        write!(f, "{:<8} {:<9} {window:<13} {night}", self.overlap, self.catch_up)
    }
}

impl Cell {
    pub(crate) fn name(&self) -> String {
        format!("{} {} {} {}", self.overlap, self.catch_up, self.window.name(), self.night.name())
    }

    pub(crate) fn clock(&self) -> Clock {
        Clock { zone: zone(), format: "%H:%M:%S%:z" }
    }

    /// A local time of the evening or of the morning; none of them is skipped or repeated.
    pub(crate) fn at(&self, time: &str) -> Timestamp {
        let [evening, morning] = self.night.dates();
        let time: jiff::civil::Time = time.parse().expect("a time of day");
        let date = if time.hour() >= 12 { evening } else { morning };
        date.to_datetime(time).to_zoned(zone()).expect("a local time").timestamp()
    }

    pub(crate) fn outage(&self) -> Outage {
        Outage { from: self.at("23:30:00"), to: self.at("03:50:00") }
    }

    fn windows(&self) -> Windows {
        let mut windows = Windows::default();
        let [evening, _] = self.night.dates();
        match self.window {
            Window::None => {}
            Window::OnlyBetween => windows.only_between = Some("00:10-05:30".parse().expect("a range")),
            Window::NotOn => {
                let weekday = evening.weekday().to_sunday_zero_offset().unsigned_abs();
                windows.not_on = Weekdays::none().with(u32::from(weekday));
            }
            Window::QuietHours => windows.quiet_hours.push(QuietHours {
                name: "night".to_owned(),
                during: "22:30-00:30".parse().expect("a range"),
                on: Weekdays::none(),
                zone: None,
            }),
            Window::Calendar => windows.calendars.push(Calendar::new("holidays", [evening])),
        }
        windows
    }

    pub(crate) fn scenario(&self) -> Scenario {
        let spec = "*/20 0-5,23 * * *".parse::<Cron>().expect("a spec");
        let mut timing = Timing::new(spec, Zone::get(ZONE).expect("a zone"));
        timing.windows = self.windows();
        let id = ScheduleId(uuid::Uuid::from_u128(1));
        let mut schedule = Schedule::new(id, "poll", timing, Action::Process(Process::new(["true"])));
        let policy = Arc::make_mut(&mut schedule.policy);
        policy.overlap = self.overlap;
        policy.catch_up = self.catch_up;
        policy.max_catch_up = CATCH_UP_MAX;
        let (from, to) = (self.at("22:50:00"), self.at("07:30:00"));
        let mut scenario = Scenario::new(from, to, vec![Member::new(schedule)]);
        scenario.outages = vec![self.outage()];
        scenario.behaviour.run_time = SignedDuration::from_mins(25);
        scenario
    }
}

/// The zone as the oracle reads it, not as the planner does.
pub(crate) fn zone() -> TimeZone {
    TimeZone::get(ZONE).expect("a zone of the bundled database")
}

#[test]
fn a_cell_left_alone_by_its_node_still_runs() {
    let cell =
        Cell { overlap: Overlap::Allow, catch_up: CatchUp::Skip, window: Window::None, night: Night::Plain };
    let mut scenario = cell.scenario();
    scenario.outages.clear();
    assert_eq!(simulate(&scenario).accounts[0].runs.len(), 21);
}
