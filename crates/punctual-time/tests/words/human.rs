//! English in: the corpus, a table of own sentences, and the examples that errors offer.

use crate::{parse, same_ticks};
use serde_json::Value;

/// One line for what a sentence means.
fn meaning(text: &str) -> String {
    let parsed = match parse(text) {
        Ok(parsed) => parsed,
        Err(error) => return format!("error {}", error.code()),
    };
    let mut parts = Vec::new();
    for (name, value) in [
        ("cron", &parsed.cron),
        ("every", &parsed.every),
        ("at", &parsed.at),
        ("start", &parsed.start_at),
        ("end", &parsed.end_at),
        ("between", &parsed.only_between),
        ("zone", &parsed.timezone),
    ] {
        parts.extend(value.as_ref().map(|value| format!("{name} {value}")));
    }
    if !parsed.not_on.is_empty() {
        parts.push(format!("not_on {}", parsed.not_on.join(",")));
    }
    parts.join("; ")
}

#[test]
fn every_row_of_the_corpus_holds() {
    let mut count = 0;
    for line in include_str!("../corpus/human.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = row["text"].as_str().unwrap();
        let found = parse(text);
        count += 1;
        if row["error"] == true {
            assert!(found.is_err(), "{text}: {found:?}");
            continue;
        }
        let found = found.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(found.every.as_deref(), row["every"].as_str(), "{text}");
        assert_eq!(found.timezone.as_deref(), row["tz"].as_str(), "{text}");
        if let Some(cron) = row["cron"].as_str() {
            let ours = found.cron.as_deref().unwrap_or("");
            assert!(same_ticks(ours, cron), "{text}: `{ours}`, not `{cron}`");
        }
    }
    assert_eq!(count, 81);
}

#[test]
fn every_sentence_of_the_table_means_what_it_says() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("human.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (text, expected) = line.split_once(" => ").unwrap();
        count += 1;
        for spelling in [text.to_owned(), text.to_uppercase(), format!("  {text}.")] {
            // A zone in capitals or a dot after a cron field is another matter.
            if spelling != text && (text.contains(['/', '@', '*']) || text.contains("_")) {
                continue;
            }
            let found = meaning(&spelling);
            if found != expected {
                wrong.push(format!("{spelling}\n  expected {expected}\n  found    {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 250, "{count}");
}

#[test]
fn each_assumption_is_one_sentence() {
    let check = |text: &str, expected: &[&str]| assert_eq!(parse(text).unwrap().assumed, expected, "{text}");
    check("every day at 09:00", &[]);
    check("every day at 9am", &[]);
    check("every day at 9", &["`9` is read as 09:00 on the 24-hour clock"]);
    check("every day", &["no time of day is given: midnight"]);
    check("every weekday at 9am EST", &["`EST` is read as America/New_York"]);
    check("every day at noon New York time", &["New York is read as America/New_York"]);
    check(
        "every 10 minutes during business hours",
        &["business hours are read as 09:00 to 17:00, Monday to Friday"],
    );
    check("weekly at 9am", &["no weekday is given: Sunday"]);
    check("every day at 9am until 1 june", &["the last day is included"]);
    check("every hour from 9am to 5pm", &["17:00 is included"]);
    check("on july 4th at 9am", &["a date without a year comes back every year"]);
    check("on the 1st and every monday at 9am", &["a day counts if either the date or the weekday fits"]);
}

#[test]
fn an_error_names_the_word_its_place_and_the_nearest_sentences() {
    let error = parse("every wekday at 9am").unwrap_err();
    assert_eq!(error.to_string(), "`wekday` is not understood here");
    assert_eq!(error.span(), 6..12);
    let hint = error.hint().unwrap();
    assert_eq!(
        hint,
        "did you mean `weekday`? otherwise try `every day at 9am`, `every weekday at 9am` or `every weekend at 10am`"
    );
    let error = parse("every day at 9am CST").unwrap_err();
    assert_eq!(error.hint(), Some("write `America/Chicago`, `Asia/Shanghai` or `America/Havana`"));
    let error = parse("  9 * 9 * * 0z0-tÞ").unwrap_err();
    assert_eq!("  9 * 9 * * 0z0-tÞ".get(error.span()), Some("0z0-tÞ"));
    let error = parse(&"every day ".repeat(60)).unwrap_err();
    assert_eq!(error.code(), "too_long");
}

/// What a person sees: the text, a line under the place, the message and the hint.
fn refusal(text: &str) -> String {
    let error = parse(text).unwrap_err();
    let span = error.span();
    let marks = format!("{}{}", " ".repeat(span.start), "^".repeat(span.len().max(1)));
    let hint = error.hint().map_or(String::new(), |hint| format!("hint: {hint}\n"));
    format!("{text}\n{marks}\nerror: {error} [{}]\n{hint}", error.code())
}

#[test]
fn every_refusal_points_at_its_place_and_says_what_to_write() {
    let expected = include_str!("refusals.txt");
    let texts = expected.split("\n\n").filter_map(|block| block.lines().next());
    let found: Vec<String> = texts.map(refusal).collect();
    assert_eq!(found.join("\n"), expected);
}

#[test]
fn every_sentence_that_a_hint_offers_is_understood() {
    let mut offered = 0;
    for text in [
        "",
        "evry day",
        "each blue moon at noon",
        "whenever it suits",
        "in a blue moon",
        "the last fryday",
        "at some point",
    ] {
        let error = parse(text).unwrap_err();
        let hint = error.hint().unwrap().to_owned();
        for sentence in hint.split("try ").nth(1).unwrap().split('`').skip(1).step_by(2) {
            assert!(parse(sentence).is_ok(), "{sentence}");
            offered += 1;
        }
    }
    assert!(offered >= 21);
}

#[test]
fn a_refused_expression_is_pointed_at_behind_any_blanks() {
    for text in ["\u{85}@", "\u{2003}@dayly", "\n 61 * * * *"] {
        let error = crate::parse(text).unwrap_err();
        assert!(text.get(error.span()).is_some_and(|token| !token.is_empty()), "{text:?}: {error}");
    }
}
