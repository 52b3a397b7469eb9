//! The day fields in words: `on weekdays`, `on the 1st and 15th of the month`, `on the last Friday of March`.

use super::list::{MONTHS, Progression, WEEKDAYS, and, ordinal, ordinal_word, progression, runs};
use crate::{Cron, DayJoin, Field, Nth, Set};

const ALL_DAYS: u32 = 31;
const WORKDAYS: u64 = 0b011_1110;
const WEEKEND: u64 = 0b100_0001;

/// What the day fields say, in the two places where it can stand.
pub(super) struct DayText {
    /// Before a list of times: `Every weekday`, if that is possible.
    pub(super) before: Option<String>,
    /// After a rule or a list of times: ` on weekdays`; empty for every day.
    pub(super) after: String,
    /// What must still follow the times when `before` is used: ` in March`.
    pub(super) months: String,
}

/// The day fields of a cron.
pub(super) fn days(cron: &Cron) -> DayText {
    let month_days = MonthDays::of(cron);
    let weekdays = Weekdays::of(cron);
    let months = cron.set(Field::Month);
    let is_both = cron.day_join() == DayJoin::Both;
    let months_in = in_months(months);
    let (month_days, weekdays) = match (month_days, weekdays) {
        (Some(days), Some(weekdays)) if days.is_every() || weekdays.is_every() => {
            // With "either", a field that has every day decides alone; with "both", it adds nothing.
            match is_both {
                true if days.is_every() => (None, Some(weekdays)),
                true => (Some(days), None),
                false => (None, None),
            }
        }
        other => other,
    };
    match (month_days.filter(|d| !d.is_every()), weekdays.filter(|w| !w.is_every())) {
        (None, None) => {
            DayText { before: Some("every day".to_owned()), after: months_in.clone(), months: months_in }
        }
        (None, Some(weekdays)) => weekdays.text(months),
        (Some(days), None) => days.text(months),
        (Some(days), Some(weekdays)) if is_both => {
            let after = format!(" on {} if it is {}{months_in}", days.list(), weekdays.either());
            DayText { before: None, after, months: String::new() }
        }
        (Some(days), Some(weekdays)) => {
            let after = format!(" on {}, and on {}{months_in}", days.list(), weekdays.each());
            DayText { before: None, after, months: String::new() }
        }
    }
}

/// ` in March`, or nothing for all months.
fn in_months(months: Set) -> String {
    match progression(months) {
        _ if months.len() == 12 => String::new(),
        Some(Progression { step: 1, .. }) => format!(" from {}", month_names(months)),
        _ => format!(" in {}", month_names(months)),
    }
}

fn month_names(months: Set) -> String {
    and(&runs(months, |month| MONTHS[month as usize - 1].to_owned()))
}

/// The most days a month has.
fn month_len(month: u32) -> u32 {
    match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The day-of-month field.
struct MonthDays {
    days: Set,
    nearest: Set,
    before_last: Set,
    nearest_before_last: Set,
}

impl MonthDays {
    fn of(cron: &Cron) -> Option<Self> {
        if cron.is_star(Field::DayOfMonth) {
            return None;
        }
        // Days that none of the months has are not worth a word: 2-31 in June is 2-30.
        let longest = cron.set(Field::Month).iter().map(month_len).max().unwrap_or(ALL_DAYS);
        let existing = |set: Set| Set::from_bits(set.bits() & ((2 << longest) - 1));
        let is_every = cron.set(Field::DayOfMonth).len() == ALL_DAYS;
        let found = MonthDays {
            days: if is_every { cron.set(Field::DayOfMonth) } else { existing(cron.set(Field::DayOfMonth)) },
            nearest: existing(cron.nearest_weekdays()),
            before_last: cron.days_before_last(),
            nearest_before_last: cron.nearest_before_last(),
        };
        (!found.days.is_empty() || !found.is_plain()).then_some(found)
    }

    fn is_every(&self) -> bool {
        self.days.len() == ALL_DAYS
    }

    fn is_plain(&self) -> bool {
        self.nearest.is_empty() && self.before_last.is_empty() && self.nearest_before_last.is_empty()
    }

    fn text(&self, months: Set) -> DayText {
        if self.is_plain()
            && let Some(Progression { from, to, step }) = progression(self.days)
            && step > 1
            && self.days.len() > 3
        {
            let (from, to) = (ordinal(from), ordinal(to));
            let after = format!(" every {step} days from the {from} through the {to}{}", step_months(months));
            return DayText { before: None, after, months: String::new() };
        }
        let before = match (self.is_plain(), self.days.len(), months.len()) {
            (true, 1, 1) => {
                let day = self.days.first().unwrap_or(1);
                Some(format!("every year on {day} {}", month_names(months)))
            }
            _ => None,
        };
        let after = format!(" on {}{}", self.list(), of_months(months));
        DayText { before, after, months: String::new() }
    }

    /// `the 1st, 15th and last day`.
    fn list(&self) -> String {
        let mut items = Vec::new();
        if !self.days.is_empty() {
            items.push(format!("the {}", and(&runs(self.days, ordinal))));
        }
        for back in self.before_last.iter() {
            items.push(match back {
                0 => "the last day".to_owned(),
                1 => "the second to last day".to_owned(),
                back => format!("the {} day before the last day", ordinal(back)),
            });
        }
        for day in self.nearest.iter() {
            items.push(match day {
                1 => "the first weekday".to_owned(),
                day => format!("the weekday nearest the {}", ordinal(day)),
            });
        }
        for back in self.nearest_before_last.iter() {
            items.push(match back {
                0 => "the last weekday".to_owned(),
                back => format!("the weekday nearest the {} to last day", ordinal(back + 1)),
            });
        }
        and(&items)
    }
}

/// ` of the month`, ` in March and June`: after a range of days `of` would belong to its end.
fn step_months(months: Set) -> String {
    if months.len() == 12 { " of the month".to_owned() } else { in_months(months) }
}

/// ` of the month`, ` of March and June`.
fn of_months(months: Set) -> String {
    if months.len() == 12 { " of the month".to_owned() } else { format!(" of {}", month_names(months)) }
}

/// The day-of-week field.
struct Weekdays {
    weekdays: Set,
    nth: Vec<(u32, Nth)>,
}

impl Weekdays {
    fn of(cron: &Cron) -> Option<Self> {
        (!cron.is_star(Field::DayOfWeek)).then(|| Weekdays {
            weekdays: cron.set(Field::DayOfWeek),
            nth: cron.nth_weekdays().map(|found| (found.weekday, found.nth)).collect(),
        })
    }

    fn is_every(&self) -> bool {
        self.weekdays.len() == 7
    }

    fn text(&self, months: Set) -> DayText {
        let months_in = in_months(months);
        if self.nth.is_empty() {
            let before = format!("every {}", self.singular());
            let after = format!(" on {}{months_in}", self.plural());
            return DayText { before: Some(before), after, months: months_in };
        }
        let nth = and(&self.nth_items());
        let after = if self.weekdays.is_empty() {
            format!(" on {nth}{}", of_months(months))
        } else {
            format!(" on {} and on every {}{months_in}", nth, self.singular())
        };
        DayText { before: None, after, months: String::new() }
    }

    /// `every Monday and the second Friday`, after a list of dates.
    fn each(&self) -> String {
        let mut items = Vec::new();
        if !self.nth.is_empty() {
            items.push(and(&self.nth_items()));
        }
        if !self.weekdays.is_empty() {
            items.push(format!("every {}", self.singular()));
        }
        items.join(" and on ")
    }

    /// `a Monday or Thursday`, `the second Friday`, after `if it is`.
    fn either(&self) -> String {
        let mut items = self.nth_items();
        if !self.weekdays.is_empty() {
            items.insert(0, format!("a {}", self.singular().replace(" and ", " or ")));
        }
        items.join(" or ")
    }

    fn nth_items(&self) -> Vec<String> {
        self.nth
            .iter()
            .map(|(weekday, nth)| {
                let word = match nth {
                    Nth::At(n) => ordinal_word(*n),
                    Nth::Last => "last",
                };
                format!("the {word} {}", WEEKDAYS[*weekday as usize])
            })
            .collect()
    }

    /// `weekday`, `Monday and Thursday`, `Monday through Thursday`.
    fn singular(&self) -> String {
        match self.weekdays.bits() {
            WORKDAYS => "weekday".to_owned(),
            WEEKEND => "weekend".to_owned(),
            _ => self.named(""),
        }
    }

    /// `weekdays`, `Mondays and Thursdays`.
    fn plural(&self) -> String {
        match self.weekdays.bits() {
            WORKDAYS => "weekdays".to_owned(),
            WEEKEND => "weekends".to_owned(),
            _ => self.named("s"),
        }
    }

    /// The names, Monday first.
    fn named(&self, suffix: &str) -> String {
        let monday_first = self.weekdays.iter().fold(0u64, |bits, day| bits | 1 << ((day + 6) % 7));
        let name = |day: u32| format!("{}{suffix}", WEEKDAYS[((day + 1) % 7) as usize]);
        and(&runs(Set::from_bits(monday_first), name))
    }
}
