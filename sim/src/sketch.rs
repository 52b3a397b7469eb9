//! A sketch: a schedule in the simulator's own words, from which both the product's definition and the oracle's idea of
//! its ticks are made.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Action, BreakerRule, Chain, ChainOn, Overlap, Policy, Process, Queue, Schedule, ScheduleId, Target, When,
};
use punctual_time::{Anchor, Cron, DstRule, Interval, Once, Timing, Unit, Windows, Zone};

use crate::wall::{self, Changes, Days, Fold, Gap, Sets, Stretch, Wall};

/// A field of a cron spec, as it is written and as it is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// `*`
    Any,
    /// `*/n`
    Every(u32),
    /// Some values.
    Only(Vec<u32>),
}

impl Field {
    fn text(&self) -> String {
        match self {
            Self::Any => "*".to_owned(),
            Self::Every(step) => format!("*/{step}"),
            Self::Only(values) => values.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
        }
    }

    /// The bits of the values between two.
    fn bits(&self, least: u32, most: u32) -> u64 {
        let has = |value: &u32| match self {
            Self::Any => true,
            Self::Every(step) => (value - least).is_multiple_of(*step),
            Self::Only(values) => values.contains(value),
        };
        (least..=most).filter(has).fold(0, |bits, value| bits | 1 << value)
    }
}

/// A cron spec by its fields; without seconds it has five.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// Seconds, if it names them.
    pub second: Option<Field>,
    /// Minutes.
    pub minute: Field,
    /// Hours.
    pub hour: Field,
    /// Days of the month.
    pub day: Field,
    /// Months.
    pub month: Field,
    /// Days of the week.
    pub weekday: Field,
}

impl Fields {
    fn text(&self) -> String {
        let rest = [&self.minute, &self.hour, &self.day, &self.month, &self.weekday];
        self.second.iter().chain(rest).map(Field::text).collect::<Vec<_>>().join(" ")
    }

    fn sets(&self) -> Sets {
        let restricted = |field: &Field| *field != Field::Any;
        let small = |bits: u64| u32::try_from(bits).unwrap_or_default();
        Sets {
            seconds: self.second.as_ref().map_or(1, |field| field.bits(0, 59)),
            minutes: self.minute.bits(0, 59),
            hours: small(self.hour.bits(0, 23)),
            days: restricted(&self.day).then(|| small(self.day.bits(1, 31))),
            months: u16::try_from(self.month.bits(1, 12)).unwrap_or_default(),
            weekdays: restricted(&self.weekday)
                .then(|| u8::try_from(self.weekday.bits(0, 6)).unwrap_or_default()),
        }
    }
}

/// When a sketched schedule ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beat {
    /// By the clock on the wall.
    Cron(Box<Fields>),
    /// Every so many elapsed seconds from its making.
    Every(i64),
    /// Every so many calendar days from its making.
    Days(i64),
    /// So many seconds after the start or the end of the run before.
    Floating(i64, Anchor),
    /// Once.
    Once(Timestamp),
    /// After runs of another sketch, by its number.
    After(usize, ChainOn),
}

/// Where its runs go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A program.
    Program,
    /// Somebody who takes it and reports later.
    Executor,
    /// A queue with workers.
    Queue,
    /// The outbox.
    Outbox,
}

/// How its runs behave, in percent of its attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// How long an attempt takes at most, in milliseconds.
    pub longest_ms: i64,
    /// Those that fail.
    pub fails: u64,
    /// Those that cannot be launched.
    pub refuses: u64,
    /// Those that never answer.
    pub hangs: u64,
}

/// A schedule.
#[derive(Clone, Debug)]
pub struct Sketch {
    /// Its number in the story: part of its name, and its id.
    pub number: usize,
    /// When it ticks.
    pub beat: Beat,
    /// Where.
    pub zone: &'static str,
    /// What clock changes do, if not the usual.
    pub dst: DstRule,
    /// The part of the day in which it runs, in seconds.
    pub only_between: Option<(u32, u32)>,
    /// Weekdays on which it does not, as bits.
    pub not_on: u8,
    /// The last instant of it.
    pub end_at: Option<Timestamp>,
    /// How often it runs at all.
    pub max_runs: Option<u64>,
    /// What it wants to happen to its ticks.
    pub policy: Policy,
    /// Where its runs go.
    pub place: Place,
    /// How they behave.
    pub manner: Manner,
}

/// The queue that workers look at.
pub(crate) const QUEUE: &str = "work";

/// The id of a sketch.
pub(crate) fn id_of(number: usize) -> ScheduleId {
    ScheduleId(uuid::Uuid::from_u128(0x5EED_0000_0000_4000_8000_0000_0000_0000 + number as u128))
}

/// The name of a sketch.
pub(crate) fn name_of(number: usize) -> String {
    format!("s{number:02}")
}

impl Sketch {
    /// Whether its ticks hang on its runs, so that no walk knows them.
    pub(crate) fn is_floating(&self) -> bool {
        matches!(self.beat, Beat::Floating(..))
    }

    /// Whether it follows another.
    pub(crate) fn is_chained(&self) -> bool {
        matches!(self.beat, Beat::After(..))
    }

    /// Whether there is always another tick to come.
    pub(crate) fn is_endless(&self) -> bool {
        self.max_runs.is_none() && self.end_at.is_none() && !matches!(self.beat, Beat::Once(_))
    }

    /// Whether at most one of its runs is in flight.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.policy.overlap != Overlap::Allow
    }

    /// The product's definition, made at an instant.
    ///
    /// # Panics
    /// When the product refuses what the story says.
    pub(crate) fn schedule(&self, made: Timestamp) -> Schedule {
        let (id, name) = (id_of(self.number), name_of(self.number));
        let mut schedule = Schedule::new(id, &name, self.timing(made), self.action());
        if let Beat::After(upstream, on) = self.beat {
            schedule.when = When::Chain(Chain { zone: self.zone(), ..Chain::new(id_of(upstream), on) });
        }
        schedule.policy = Arc::new(self.policy.clone());
        let breaker = BreakerRule { threshold: 5, reset_after: SignedDuration::from_secs(120) };
        schedule.target = Arc::new(Target { name, action: self.action(), breaker });
        schedule
    }

    fn action(&self) -> Action {
        match self.place {
            Place::Program | Place::Executor => Action::Process(Process::new(["true"])),
            Place::Queue => Action::Queue(Queue {
                queue: QUEUE.to_owned(),
                worker_type: None,
                prompt: None,
                repo_url: None,
                branch: "main".to_owned(),
                context: punctual_plan::Object::new(),
                config: punctual_plan::Object::new(),
            }),
            Place::Outbox => Action::Message { message: punctual_plan::Object::new() },
        }
    }

    fn zone(&self) -> Zone {
        Zone::get(self.zone).expect("the story names zones that there are")
    }

    fn timing(&self, made: Timestamp) -> Timing {
        let zone = self.zone();
        let interval = |count: i64, unit| {
            Interval::new(u64::try_from(count).unwrap_or(1), unit).expect("the story has short intervals")
        };
        let mut timing = match &self.beat {
            Beat::Cron(fields) => {
                Timing::new(fields.text().parse::<Cron>().expect("the story writes valid specs"), zone)
            }
            Beat::Every(seconds) | Beat::Floating(seconds, _) => {
                Timing::new(interval(*seconds, Unit::Second), zone)
            }
            Beat::Days(days) => Timing::new(interval(*days, Unit::Day), zone),
            Beat::Once(at) => Timing::new(Once::at(*at), zone),
            Beat::After(..) => Timing::new(Once::at(made), zone),
        };
        if let Beat::Floating(_, anchor) = self.beat {
            timing.anchor = anchor;
        }
        timing.created_at = made;
        timing.dst = self.dst;
        timing.bounds.end_at = self.end_at;
        timing.bounds.max_runs = self.max_runs;
        timing.windows = self.windows();
        timing
    }

    fn windows(&self) -> Windows {
        let only_between = self.only_between.map(|(start, end)| {
            punctual_time::DayRange::new(start, end).expect("the story has parts of the day")
        });
        let mut windows = Windows { only_between, ..Windows::default() };
        for day in (0..7).filter(|day| self.not_on >> day & 1 == 1) {
            windows.not_on = windows.not_on.with(day);
        }
        windows
    }

    fn changes(&self) -> Changes {
        let is_elapsed = match &self.beat {
            Beat::Cron(fields) => fields.sets().hours == 0x00FF_FFFF,
            _ => false,
        };
        let gap = match self.dst.gap {
            None if is_elapsed => Gap::Skip,
            None | Some(punctual_time::Gap::Shift) => Gap::Shift,
            Some(punctual_time::Gap::Skip) => Gap::Skip,
        };
        let fold = match self.dst.fold {
            None if is_elapsed => Fold::Both,
            None | Some(punctual_time::Fold::First) => Fold::First,
            Some(punctual_time::Fold::Last) => Fold::Last,
            Some(punctual_time::Fold::Both) => Fold::Both,
        };
        Changes { gap, fold }
    }

    /// The ticks of a stretch, found by the oracle's own walk; none of one whose ticks hang on runs.
    pub(crate) fn ticks(&self, wall: &Wall, made: Timestamp, stretch: Stretch) -> Vec<i64> {
        let end = self.end_at.map_or(i64::MAX, Timestamp::as_second);
        let stretch = Stretch { through: stretch.through.min(end), ..stretch };
        // An instant between two seconds stands for the later one.
        let origin = made.as_second() + i64::from(made.subsec_nanosecond() > 0);
        match &self.beat {
            Beat::Cron(fields) => wall::ticks_of_sets(&fields.sets(), wall, self.changes(), stretch),
            Beat::Every(every) => {
                let behind = (stretch.after - origin).div_euclid(*every);
                let first = if stretch.after < origin { origin } else { origin + (behind + 1) * every };
                let ticks = std::iter::successors(Some(first), |tick| Some(tick + every));
                ticks.take_while(|tick| *tick <= stretch.through).collect()
            }
            Beat::Days(every) => {
                wall::ticks_of_days(Days { every: *every, origin }, wall, self.changes(), stretch)
            }
            Beat::Once(at) => {
                let at = at.as_second() + i64::from(at.subsec_nanosecond() > 0);
                Some(at).filter(|at| *at > stretch.after && *at <= stretch.through).into_iter().collect()
            }
            Beat::Floating(..) | Beat::After(..) => Vec::new(),
        }
    }

    /// The codes of the windows that keep a tick from running.
    pub(crate) fn suppressed(&self, wall: &Wall, tick: i64) -> Vec<&'static str> {
        let local = wall.local(tick);
        let of_day = u32::try_from(local.rem_euclid(86_400)).unwrap_or_default();
        let is_within = |(start, end): (u32, u32)| match start < end {
            true => of_day >= start && of_day < end,
            false => of_day >= start || of_day < end,
        };
        let is_outside = self.only_between.is_some_and(|range| !is_within(range));
        let is_off = self.not_on >> wall::weekday(local.div_euclid(86_400)) & 1 == 1;
        is_outside.then_some("outside_window").into_iter().chain(is_off.then_some("not_on")).collect()
    }
}
