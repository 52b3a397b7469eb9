//! Spelling never matters: equal sets are equal values, and a printed value reads as itself.

use proptest::prelude::*;
use punctual_time::{Cron, Dialect, Interval, Once, Zone};

use crate::{DAY, HOUR, MINUTE, MONTH, Range, WEEKDAY, config, instant, standard, zone};

/// A set of a field, in two spellings.
fn spelled_twice(range: Range) -> impl Strategy<Value = [String; 2]> {
    let values = proptest::collection::btree_set(range.min..=range.max, 1..12);
    (values, any::<bool>()).prop_map(move |(values, backwards)| {
        let plain: Vec<String> = values.iter().map(u32::to_string).collect();
        let mut other: Vec<String> = Vec::new();
        let mut rest: Vec<u32> = values.into_iter().collect();
        while let Some(&first) = rest.first() {
            let run = rest.iter().zip(first..).take_while(|&(&value, wanted)| value == wanted).count() as u32;
            other.push(match run {
                1 => format!("{first:02}"),
                2 => format!("{first}-{}/1", first + 1),
                _ => format!("{first}-{0},{first}-{0}/2", first + run - 1),
            });
            rest.drain(..run as usize);
        }
        if backwards {
            other.reverse();
        }
        [plain.join(","), other.join(",")]
    })
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn equal_sets_and_equal_stars_have_equal_ticks(
        minute in spelled_twice(MINUTE),
        hour in spelled_twice(HOUR),
        days in proptest::option::of(spelled_twice(DAY)),
        month in spelled_twice(MONTH),
        weekdays in proptest::option::of(spelled_twice(WEEKDAY)),
        (after, zone) in (instant(), zone()),
    ) {
        let star = || ["*".to_owned(), "*".to_owned()];
        let (days, weekdays) = (days.unwrap_or_else(star), weekdays.unwrap_or_else(star));
        let spell = |n: usize| format!("{} {} {} {} {}", minute[n], hour[n], days[n], month[n], weekdays[n]);
        let (one, other) = (Cron::parse(&spell(0), Dialect::Standard), Cron::parse(&spell(1), Dialect::Standard));
        prop_assert_eq!(&one.clone().map_err(|error| error.code()), &other.clone().map_err(|error| error.code()));
        if let (Ok(one), Ok(other)) = (one, other) {
            prop_assert_eq!(one.next(after, &zone), other.next(after, &zone));
            prop_assert_eq!(one.prev(after, &zone), other.prev(after, &zone));
        }
    }

    #[test]
    fn what_is_printed_reads_as_itself(text in standard()) {
        if let Ok(cron) = Cron::parse(&text, Dialect::Standard) {
            prop_assert_eq!(Cron::parse(&cron.to_string(), Dialect::Standard), Ok(cron), "{}", text);
        }
    }

    #[test]
    fn what_posix_prints_is_posix(
        minute in spelled_twice(MINUTE), hour in spelled_twice(HOUR), day in spelled_twice(DAY),
    ) {
        let cron = Cron::parse(&format!("{} {} {} * *", minute[0], hour[0], day[0]), Dialect::Posix);
        let cron = cron.unwrap();
        prop_assert_eq!(Cron::parse(&cron.to_string(), Dialect::Posix), Ok(cron));
    }

    #[test]
    fn what_quartz_prints_is_quartz(
        time in spelled_twice(HOUR),
        day in spelled_twice(DAY),
        weekday in (1..=7_u32, 1..=5_u32),
        year in proptest::option::of((1970..2100_u32, 1..=20_u32)),
    ) {
        let year = year.map_or(String::new(), |(from, step)| format!(" {from}/{step},2099"));
        for days in [format!("{} * ?", day[1]), format!("? * {}#{}", weekday.0, weekday.1), format!("? 1-6 {}L", weekday.0)] {
            let cron = Cron::parse(&format!("0/7 5 {} {days}{year}", time[1]), Dialect::Quartz).unwrap();
            prop_assert_eq!(Cron::parse(&cron.to_string(), Dialect::Quartz), Ok(cron), "{}", cron);
        }
    }

    #[test]
    fn any_text_is_answered_without_panic(text in "\\PC*", marks in "[-0-9*/,?LW#H()+@a-z \\t]{0,40}") {
        for text in [&text, &marks] {
            for dialect in [Dialect::Posix, Dialect::Standard, Dialect::Quartz] {
                if let Err(error) = Cron::parse(text, dialect) {
                    prop_assert!(text.get(error.span()).is_some() && !error.to_string().ends_with('.'));
                }
            }
            let _ = text.parse::<Interval>();
            let _ = Once::parse(text, &Zone::utc());
            let _ = text.parse::<punctual_time::DayRange>();
        }
    }

    #[test]
    fn a_fix_is_a_step_forward(marks in "[-0-9*/,?LWa-f]{1,6} [-0-9*/,?LW#]{1,6} [-0-9*/,?LW]{1,6} \\* [-0-9*/,?LW#]{1,6}") {
        for dialect in [Dialect::Posix, Dialect::Standard] {
            let mut text = marks.clone();
            for _ in 0..40 {
                match Cron::parse(&text, dialect) {
                    Err(error) if error.fix().is_some() => text.replace_range(error.span(), error.fix().unwrap()),
                    _ => break,
                }
            }
            let stuck = Cron::parse(&text, dialect).is_err_and(|error| error.fix().is_some());
            prop_assert!(!stuck, "{} ends as {}", marks, text);
        }
    }
}
