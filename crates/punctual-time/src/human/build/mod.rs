//! The draft becomes a schedule. Here the phrases meet: which of cron, interval and one-shot it is, and whether
//! they can be true together.

mod days;
mod interval;
mod moment;
mod settle;
mod times;
mod window;

use super::Parsed;
use super::draft::{Draft, Group};
use super::trouble::{Code, Trouble};
use super::words::{UNITS, Unit};
use crate::{Cron, Dialect, Field, Zone};
use jiff::Zoned;
use std::ops::Range;

/// What the phrases together have to say.
pub(super) struct Builder {
    draft: Draft,
    now: Zoned,
    zone: Zone,
    whole: Range<usize>,
    /// False for `every year` alone, which stands for January.
    is_month_said: bool,
    parsed: Parsed,
}

/// Decides what the draft means.
pub(super) fn build(draft: Draft, now: Zoned, zone: &Zone, text: &str) -> Result<Parsed, Trouble> {
    let whole = 0..text.len();
    let is_month_said = draft.months != 0;
    let mut builder =
        Builder { draft, now, zone: zone.clone(), whole, is_month_said, parsed: Parsed::default() };
    if builder.says_nothing()
        && text.trim_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case("after"))
        && builder.draft.start.is_some()
    {
        builder.draft.once = builder.draft.start.take();
    }
    if builder.says_nothing() {
        let message = "the text does not say how often";
        return Err(Trouble::new(Code::NotUnderstood, builder.whole.clone(), message)
            .hint(super::example::hint(text, "")));
    }
    builder.check_groups()?;
    builder.settle()?;
    if let Some(once) = builder.draft.once.take() {
        builder.one_shot(&once)?;
    } else if builder.is_interval() {
        builder.interval()?;
    } else {
        builder.cron()?;
    }
    builder.bounds()?;
    builder.finish();
    Ok(builder.parsed)
}

impl Builder {
    /// Times and days that alternate more than once belong to different schedules.
    fn check_groups(&self) -> Result<(), Trouble> {
        let count = |group| self.draft.groups.iter().filter(|found| **found == group).count();
        let first = self.draft.times.first().map(super::draft::Time::second_of_day);
        let is_same = self.draft.times.iter().all(|time| Some(time.second_of_day()) == first);
        if count(Group::Time) > 1 && count(Group::Day) > 1 && !is_same {
            return Err(self.two_schedules("different times on different days are two schedules"));
        }
        Ok(())
    }

    fn two_schedules(&self, message: &str) -> Trouble {
        Trouble::new(Code::TwoSchedules, self.whole.clone(), message).hint("write one schedule for each")
    }

    fn ambiguous(&self, message: &str) -> Trouble {
        Trouble::new(Code::Ambiguous, self.whole.clone(), message)
    }

    fn contradiction(&self, message: impl Into<String>) -> Trouble {
        Trouble::new(Code::Contradiction, self.whole.clone(), message)
    }

    fn says_nothing(&self) -> bool {
        let draft = &self.draft;
        draft.rates.iter().all(Option::is_none)
            && draft.once.is_none()
            && draft.times_per.is_none()
            && draft.edge.is_none()
            && draft.part.is_none()
            && !(draft.start.is_some() && draft.end.as_ref().is_some_and(|end| end.time.is_some()))
            && draft.times.is_empty()
            && draft.days.is_empty()
            && draft.dates.is_empty()
            && draft.months == 0
            && draft.day_range.is_none()
            && [&draft.seconds, &draft.minutes, &draft.hours].iter().all(|m| m.set == 0 && m.range.is_none())
    }

    /// The shortest unit that a rate was given in.
    fn finest(&self) -> Option<(Unit, u32)> {
        const ORDER: [Unit; UNITS] = [
            Unit::Second,
            Unit::Minute,
            Unit::Hour,
            Unit::Day,
            Unit::Week,
            Unit::Month,
            Unit::Quarter,
            Unit::Year,
        ];
        ORDER.into_iter().find_map(|unit| self.draft.rate(unit).map(|rate| (unit, rate.count)))
    }

    fn cron(&mut self) -> Result<(), Trouble> {
        self.imply_january();
        let clock = self.clock()?;
        let days = self.days()?;
        let seconds =
            if clock.seconds == 1 { String::new() } else { format!("{} ", field(clock.seconds, 0..60)) };
        let text = format!(
            "{seconds}{} {} {} {} {}",
            field(clock.minutes, 0..60),
            field(clock.hours, 0..24),
            days.month_days,
            field(u64::from(days.months), 1..13),
            days.weekdays,
        );
        let cron =
            Cron::parse(&text, Dialect::Standard).map_err(|error| self.contradiction(error.to_string()))?;
        let weekdays = cron.set(Field::DayOfWeek).bits();
        let is_weekly = cron.is_star(Field::DayOfMonth) && cron.nth_weekdays().next().is_none();
        if is_weekly && weekdays & !u64::from(self.draft.not_weekdays) == 0 {
            return Err(self.contradiction("no weekday is left").hint("leave out fewer days"));
        }
        self.parsed.cron = Some(cron.to_string());
        Ok(())
    }

    /// What every kind of schedule has: zone, exclusions, assumptions.
    fn finish(&mut self) {
        let draft = &mut self.draft;
        if let Some(place) = draft.zone.take() {
            self.parsed.timezone = Some(place.name);
            draft.assumed.extend(place.note);
        }
        for day in 0..7 {
            if draft.not_weekdays >> day & 1 == 1 {
                self.parsed.not_on.push(super::words::WEEKDAYS[day].to_owned());
            }
        }
        if draft.is_not_holidays {
            self.parsed.not_on.push("holidays".to_owned());
        }
        self.parsed.assumed = std::mem::take(&mut draft.assumed);
    }
}

/// A cron field of these bits; [`Cron`] prints it nicely afterwards.
fn field(bits: u64, all: Range<u32>) -> String {
    if all.clone().all(|n| bits >> n & 1 == 1) {
        return "*".to_owned();
    }
    let values: Vec<String> = all.filter(|n| bits >> n & 1 == 1).map(|n| n.to_string()).collect();
    values.join(",")
}

/// Every `step`-th bit from `from` to `to`.
fn steps(from: u32, to: u32, step: u32) -> u64 {
    (from..=to.min(63)).step_by(step.max(1) as usize).fold(0, |bits, n| bits | 1 << n)
}
