//! English out: golden sentences, and the way back through `human::parse`.

use crate::{context, parse, same};
use proptest::prelude::*;
use punctual_time::{Calendar, Cron, Dialect, Interval, Spec, Timing, Zone, describe};
use serde_json::Value;

/// What `parse(describe(x))` gives, if it has the ticks of `x`.
fn returns(cron: &Cron) -> Result<(), String> {
    let words = describe::cron(cron);
    let back = parse(&words).map_err(|error| format!("{cron}: {words}: {error}"))?;
    let text = back.cron.clone().ok_or(format!("{cron}: {words}: {back:?}"))?;
    let again = Cron::parse(&text, Dialect::Standard).unwrap();
    let is_limited = back.only_between.is_some() || !back.not_on.is_empty() || back.start_at.is_some();
    if is_limited || !same(cron, &again) {
        return Err(format!("{cron}: {words}: {again}"));
    }
    Ok(())
}

#[test]
fn every_expression_of_the_table_has_its_sentence() {
    let mut wrong = Vec::new();
    for line in include_str!("describe.txt").lines().filter(|line| !line.starts_with('#')) {
        let (cron, expected) = line.split_once(" => ").unwrap();
        let (dialect, text) = cron.split_once(' ').unwrap();
        let cron = Cron::parse(text, dialect.parse().unwrap()).unwrap();
        let found = describe::cron(&cron);
        if found != expected {
            wrong.push(format!("{text}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An expression of the corpus in the dialect of ours that it is written in.
fn corpus_cron(row: &Value) -> Option<Cron> {
    let text = row["expr"].as_str().unwrap();
    let fields = text.split_whitespace().count();
    let is_quartz = row["dialect"] == "quartz" && (fields == 7 || fields == 6 && text.contains('?'));
    Cron::parse(text, if is_quartz { Dialect::Quartz } else { Dialect::Standard }).ok()
}

#[test]
fn what_is_said_of_the_corpus_is_understood_again() {
    let rows: Vec<Value> = include_str!("../corpus/describe.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let crons: Vec<Cron> = rows.iter().filter_map(corpus_cron).collect();
    let failures: Vec<String> = crons.iter().filter_map(|cron| returns(cron).err()).collect();
    let good = crons.len() - failures.len();
    println!("{good} of {} expressions in our dialects ({} rows in all)", crons.len(), rows.len());
    assert!(crons.len() >= 140, "{}", crons.len());
    assert!(good * 100 >= crons.len() * 97, "{}", failures.join("\n"));
}

/// A field of the standard dialect.
fn field(low: u32, high: u32) -> impl Strategy<Value = String> {
    let value = low..=high;
    prop_oneof![
        4 => Just("*".to_owned()),
        4 => value.clone().prop_map(|n| n.to_string()),
        2 => prop::collection::vec(value.clone(), 2..5)
            .prop_map(|list| list.iter().map(u32::to_string).collect::<Vec<_>>().join(",")),
        2 => (value.clone(), value.clone()).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
        2 => (2..=high / 2 + 1).prop_map(|n| format!("*/{n}")),
        1 => (value.clone(), value, 1..=high).prop_map(|(a, b, n)| format!("{}-{}/{n}", a.min(b), a.max(b))),
    ]
}

fn month_day() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just("*".to_owned()),
        4 => field(1, 31),
        1 => (1..29u32, 0..29u32).prop_map(|(day, back)| format!("{day},L-{back}")),
        1 => (1..29u32).prop_map(|day| format!("{day}W")),
        1 => Just("LW".to_owned()),
        1 => Just("L,15W".to_owned()),
    ]
}

fn weekday() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just("*".to_owned()),
        4 => field(0, 6),
        1 => (0..7u32, 1..6u32, 0..7u32).prop_map(|(a, n, b)| format!("{a}#{n},{b}")),
        1 => (0..7u32, 0..7u32, 1..6u32).prop_map(|(a, b, n)| format!("{a}L,{b}#{n}")),
        1 => (0..7u32).prop_map(|day| format!("+{day}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_of_any_cron_is_understood_again(
        second in prop_oneof![2 => Just(String::new()), 1 => field(0, 59).prop_map(|text| text + " ")],
        minute in field(0, 59),
        hour in field(0, 23),
        days in (month_day(), prop_oneof![1 => Just("*".to_owned()), 1 => field(1, 12)], weekday()),
    ) {
        let (month_day, month, weekday) = days;
        // `+` needs a day of the month beside it.
        let weekday = if month_day == "*" { weekday.replace('+', "") } else { weekday };
        let text = format!("{second}{minute} {hour} {month_day} {month} {weekday}");
        if let Ok(cron) = Cron::parse(&text, Dialect::Standard) {
            prop_assert!(!describe::cron(&cron).is_empty());
            prop_assert_eq!(returns(&cron), Ok(()), "{}", text);
        }
    }

    #[test]
    fn any_interval_has_words_that_name_its_length(seconds in 1..10_000_000u64) {
        let interval: Interval = format!("{seconds}s").parse().unwrap();
        let words = describe::spec(&Spec::from(interval), &Zone::utc());
        prop_assert!(words.starts_with("Every "), "{}", words);
        let back = parse(&words).unwrap();
        if let Some(every) = back.every {
            prop_assert_eq!(every.parse::<Interval>().unwrap(), interval, "{}", words);
        }
    }
}

/// The sentences of the human table, and what they mean as values.
fn timings() -> Vec<(&'static str, Timing)> {
    let holidays = [Calendar::new("holidays", ["2026-12-25".parse().unwrap()])];
    include_str!("human.txt")
        .lines()
        .filter_map(|line| line.split_once(" => "))
        .filter_map(|(text, _)| Some((text, parse(text).ok()?.timing(&context(), &holidays).unwrap())))
        .collect()
}

#[test]
fn what_a_sentence_means_can_be_said_and_understood_again() {
    let holidays = [Calendar::new("holidays", ["2026-12-25".parse().unwrap()])];
    let timings = timings();
    let mut failures = Vec::new();
    for (text, timing) in &timings {
        let words = describe::timing(timing);
        let back = parse(&words).and_then(|parsed| parsed.timing(&context(), &holidays));
        let ticks = |timing: &Timing| {
            timing.preview(context().now, 40).iter().map(|tick| tick.at).collect::<Vec<_>>()
        };
        match back {
            Ok(back) if ticks(&back) == ticks(timing) && back.zone == timing.zone => {}
            Ok(back) => failures.push(format!("{text}: {words}: {}", back.spec)),
            Err(error) => failures.push(format!("{text}: {words}: {error}")),
        }
    }
    println!("{} of {} sentences", timings.len() - failures.len(), timings.len());
    assert!(timings.len() >= 400);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn limits_are_said_after_the_spec() {
    let check = |text: &str, expected: &str| {
        let holidays = [Calendar::new("holidays", [])];
        let timing = parse(text).unwrap().timing(&context(), &holidays).unwrap();
        assert_eq!(describe::timing(&timing), expected, "{text}");
    };
    check("every weekday at 9am EST", "Every weekday at 09:00, America/New_York time");
    check(
        "every day at 9am except weekends and holidays",
        "Every day at 09:00, except on weekends and holidays",
    );
    check(
        "every day at 9am except on sundays and mondays",
        "Every day at 09:00, except on Mondays and Sundays",
    );
    check("every 45 minutes between 9am and 5pm", "Every 45 minutes between 09:00 and 17:00");
    check("every 30 minutes between 9:30 and 17:30", "Every 30 minutes between 09:30 and 17:30");
    check("every day at 9:30 and 17:00", "Every day at 09:30 and 17:00");
    check("every day at 6am until 1 june", "Every day at 06:00, until 2027-06-01");
    check("every other friday at noon", "Every 2 weeks on Friday at 12:00, starting 2026-11-20");
    check("every 3 days at 9am", "Every 3 days at 09:00, starting 2026-11-16");
    check("every 5 months on the 15th at 9am", "Every 5 months on the 15th at 09:00, starting 2026-12-15");
    check("every 10 minutes until tomorrow at 5pm", "Every 10 minutes, until 2026-11-16 at 17:00");
    check("tomorrow at 8am", "Once on Monday 16 November 2026 at 08:00");
    let mut timing = Timing::new("1h".parse::<Interval>().unwrap(), Zone::utc());
    timing.anchor = punctual_time::Anchor::LastFinish;
    timing.bounds.max_runs = Some(3);
    assert_eq!(describe::timing(&timing), "Every hour after the last finish, at most 3 times");
}
