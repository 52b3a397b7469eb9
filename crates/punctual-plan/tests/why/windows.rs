//! Ticks that a window suppresses.

use jiff::civil::date;
use punctual_plan::Schedule;
use punctual_time::{Calendar, QuietHours, Weekdays, Windows};

use crate::stage::{Case, ask, paris, timing, utc, world};

fn within(mut schedule: Schedule, change: impl FnOnce(&mut Windows)) -> Schedule {
    change(&mut timing(&mut schedule).windows);
    schedule
}

fn quiet(name: &str, during: &str) -> QuietHours {
    let during = during.parse().expect("a part of the day");
    QuietHours { name: name.to_owned(), during, on: Weekdays::none(), zone: None }
}

pub(crate) fn cases() -> Vec<Case> {
    let between = |range: &str| {
        let range = range.parse().expect("a part of the day");
        move |windows: &mut Windows| windows.only_between = Some(range)
    };
    // The first of January 2026 is a Thursday; nine in the evening in London is ten in Paris.
    let day = |schedule: Schedule| world("08:30:00", "23:30:00", [schedule]);
    let hourly = || utc("poll", "0 * * * *", |_| {});
    let abroad = || paris("poll", "0 * * * *", |_| {});
    let not_on = |number: u32| move |windows: &mut Windows| windows.not_on = Weekdays::none().with(number);
    let calendar = |name: &'static str, day: i8| {
        move |windows: &mut Windows| windows.calendars = vec![Calendar::new(name, [date(2026, 1, day)])]
    };
    let hours = |name: &'static str, during: &'static str| {
        move |windows: &mut Windows| windows.quiet_hours = vec![quiet(name, during)]
    };
    vec![
        ask("before office hours", &day(within(hourly(), between("10:00-18:00"))), "poll", "09:00:00"),
        ask(
            "by day, for one of the night",
            &day(within(abroad(), between("22:00-06:00"))),
            "poll",
            "12:00:00",
        ),
        ask("not on thursday", &day(within(hourly(), not_on(4))), "poll", "10:00:00"),
        ask(
            "not on friday, which begins earlier in Paris",
            &day(within(abroad(), not_on(5))),
            "poll",
            "23:00:00",
        ),
        ask("a holiday", &day(within(hourly(), calendar("holidays", 1))), "poll", "10:00:00"),
        ask("a day of stocktaking", &day(within(abroad(), calendar("stocktaking", 2))), "poll", "23:00:00"),
        ask("quiet at noon", &day(within(hourly(), hours("siesta", "12:00-14:00"))), "poll", "13:00:00"),
        ask("quiet at night", &day(within(abroad(), hours("night", "22:00-06:00"))), "poll", "21:00:00"),
    ]
}
