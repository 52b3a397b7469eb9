//! Any text at all: never a panic, and what comes out is valid.

use crate::{context, parse};
use jiff::Timestamp;
use proptest::prelude::*;
use punctual_time::human::Context;
use punctual_time::{Calendar, Cron, Dialect, Zone, describe};

/// Words of the grammar and some that are not, to reach deep into it.
const WORDS: &[&str] = &[
    "every",
    "each",
    "other",
    "day",
    "days",
    "week",
    "month",
    "months",
    "quarter",
    "year",
    "minute",
    "minutes",
    "hour",
    "hours",
    "second",
    "seconds",
    "monday",
    "fri",
    "weekdays",
    "weekend",
    "weekday",
    "january",
    "dec",
    "on",
    "at",
    "in",
    "the",
    "of",
    "and",
    "or",
    ",",
    "-",
    ":",
    "(",
    ")",
    "@",
    "1st",
    "2nd",
    "15th",
    "31st",
    "99th",
    "first",
    "last",
    "third",
    "second to last",
    "nearest",
    "1",
    "2",
    "5",
    "9",
    "12",
    "24",
    "30",
    "45",
    "60",
    "99",
    "0",
    "900",
    "0900",
    "2027",
    "99999",
    "999999999",
    "9am",
    "5pm",
    "13pm",
    "9:30",
    "25:00",
    "17:00:30",
    "1.5",
    "9.30",
    "noon",
    "midnight",
    "quarter",
    "half",
    "past",
    "to",
    "before",
    "after",
    "between",
    "from",
    "until",
    "through",
    "starting",
    "ending",
    "except",
    "not",
    "but",
    "holidays",
    "tomorrow",
    "today",
    "next",
    "this",
    "now",
    "for",
    "twice",
    "once",
    "three",
    "times",
    "a",
    "an",
    "per",
    "daily",
    "hourly",
    "weekly",
    "bi",
    "fortnightly",
    "morning",
    "night",
    "EST",
    "CST",
    "UTC",
    "+2",
    "Europe/Berlin",
    "Mars/Base",
    "time",
    "new york",
    "2026-12-24",
    "2026-02-30",
    "01/02/2027",
    "24.12.2026",
    "end",
    "start",
    "middle",
    "beginning",
    "business hours",
    "during",
    "if it is",
    "when",
    "days before",
    "the end of",
    "q1",
    "5m",
    "1h30m",
    "blue",
    "moon",
    "é",
    "日",
    "*",
    "*/5",
    "?",
];

fn check(text: &str) {
    let Ok(parsed) = parse(text) else { return };
    let kinds = [&parsed.cron, &parsed.every, &parsed.at].iter().filter(|kind| kind.is_some()).count();
    assert_eq!(kinds, 1, "{text}: {parsed:?}");
    if let Some(cron) = &parsed.cron {
        let found = Cron::parse(cron, Dialect::Standard);
        assert!(found.is_ok(), "{text}: {found:?}");
        assert_eq!(found.unwrap().to_string(), *cron, "{text}");
    }
    if let Some(zone) = &parsed.timezone {
        assert!(Zone::get(zone).is_ok(), "{text}: {zone}");
    }
    let holidays = [Calendar::new("holidays", [])];
    let timing =
        parsed.timing(&context(), &holidays).unwrap_or_else(|error| panic!("{text}: {parsed:?}: {error}"));
    assert!(!describe::timing(&timing).is_empty(), "{text}");
    for sentence in &parsed.assumed {
        assert!(!sentence.is_empty() && !sentence.ends_with('.'), "{text}: {sentence}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,80}") {
        check(&text);
    }

    #[test]
    fn any_row_of_words_is_read_or_refused(words in prop::collection::vec(prop::sample::select(WORDS), 1..12)) {
        check(&words.join(" "));
        check(&format!("every {}", words.join(" ")));
        check(&words.concat());
    }

    #[test]
    fn any_moment_and_zone_will_do(
        words in prop::collection::vec(prop::sample::select(WORDS), 1..8),
        second in prop_oneof![
            Timestamp::MIN.as_second()..=Timestamp::MAX.as_second(),
            0..4_000_000_000i64,
            Just(Timestamp::MIN.as_second()),
            Just(Timestamp::MAX.as_second()),
        ],
        zone in prop::sample::select(&["UTC", "Pacific/Apia", "America/New_York", "Asia/Kathmandu"][..]),
    ) {
        let now = Timestamp::from_second(second).unwrap();
        let context = Context { now, zone: Zone::get(zone).unwrap() };
        for text in [words.join(" "), format!("every {}", words.join(" ")), format!("in {}", words.join(" "))] {
            let _ = punctual_time::human::parse(&text, &context);
        }
        let sentence = include_str!("human.txt").lines().nth(second.rem_euclid(900) as usize).unwrap_or("");
        let _ = punctual_time::human::parse(sentence.split(" => ").next().unwrap_or(""), &context);
    }

    #[test]
    fn an_error_points_into_the_text(words in prop::collection::vec(prop::sample::select(WORDS), 1..8)) {
        let text = words.join(" ");
        if let Err(error) = parse(&text) {
            let span = error.span();
            prop_assert!(span.start <= span.end && span.end <= text.len(), "{}: {:?}", text, span);
            prop_assert!(text.get(span).is_some(), "{}", text);
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
