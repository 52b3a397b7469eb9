//! What is refused, with which words: every error names the token, the field, the column, and what to write.
#![allow(clippy::unwrap_used, reason = "a test may fail at once")]

use punctual_time::{Cron, Dialect};

/// The message, and the hint under it.
fn check(dialect: Dialect, expr: &str, expected: &str) {
    let error = Cron::parse(expr, dialect).expect_err(expr);
    let found = format!("{}: {error}\nhint: {}", error.code(), error.hint().unwrap_or("-"));
    assert_eq!(found, expected, "{expr}");
}

const POSIX: [(&str, &str); 17] = [
    (
        "0 0 * * 5-7",
        "not_posix: `5-7` is not POSIX cron (day-of-week field, column 9)\nhint: write `0,5,6`, or choose the dialect `standard`",
    ),
    (
        "*/15 * * * *",
        "not_posix: `*/15` is not POSIX cron (minute field, column 1)\nhint: write `0,15,30,45`, or choose the dialect `standard`",
    ),
    (
        "0-30/10 * * * *",
        "not_posix: `0-30/10` is not POSIX cron (minute field, column 1)\nhint: write `0,10,20,30`, or choose the dialect `standard`",
    ),
    (
        "0 22-2 * * *",
        "descending_range: `22-2` goes backwards (hour field, column 3)\nhint: write `22-23,0-2`",
    ),
    (
        "@hourly",
        "not_posix: `@hourly` is not POSIX cron (column 1)\nhint: write `0 * * * *`, or choose the dialect `standard`",
    ),
    (
        "0 0 * * mon",
        "not_posix: `mon` is not POSIX cron (day-of-week field, column 9)\nhint: write `1`, or choose the dialect `standard`",
    ),
    (
        "0 0 * * mon-fri",
        "not_posix: `mon-fri` is not POSIX cron (day-of-week field, column 9)\nhint: write `1-5`, or choose the dialect `standard`",
    ),
    (
        "0 0 * jan,mar 1",
        "not_posix: `jan` is not POSIX cron (month field, column 7)\nhint: write `1`, or choose the dialect `standard`",
    ),
    (
        "0 0 * * sunday",
        "not_posix: `sunday` is not POSIX cron (day-of-week field, column 9)\nhint: write `0`",
    ),
    (
        "0 0 * * 7",
        "out_of_range: `7` is not within `0`-`6` (day-of-week field, column 9)\nhint: Sunday is `0`",
    ),
    (
        "0 0 ? * 1",
        "not_posix: `?` is not POSIX cron (day-of-month field, column 5)\nhint: write `*`, or choose the dialect `standard`",
    ),
    (
        "0 0 L * *",
        "not_posix: `L` is not POSIX cron (day-of-month field, column 5)\nhint: choose the dialect `standard`",
    ),
    (
        "H * * * *",
        "not_posix: `H` is not POSIX cron (minute field, column 1)\nhint: choose the dialect `standard`",
    ),
    (
        "5/20 * * * *",
        "not_posix: `5/20` is not POSIX cron (minute field, column 1)\nhint: write `5,25,45`, or choose the dialect `standard`",
    ),
    (
        "*,5 * * * *",
        "not_posix: `*,5` is not POSIX cron (minute field, column 1)\nhint: write `*`, which is everything, or choose the dialect `standard`",
    ),
    (
        "0 0 30 2 *",
        "never_fires: `0 0 30 2 *` never fires: no such date exists (day-of-month field, column 5)\nhint: the month has at most `29` days",
    ),
    (
        "0 * * * * *",
        "wrong_field_count: `0 * * * * *` has 6 fields instead of five fields\nhint: drop the seconds, or choose the dialect `standard`",
    ),
];

#[test]
fn posix_refuses_what_it_lacks_and_says_what_to_write() {
    for (expr, expected) in POSIX {
        check(Dialect::Posix, expr, expected);
    }
}

const STANDARD: [(&str, &str); 19] = [
    (
        "5/15 * * * *",
        "step_without_range: `5/15` has a step without a range (minute field, column 1)\nhint: write `5-59/15`",
    ),
    (
        "0 0 * * fri-mon",
        "descending_range: `fri-mon` goes backwards (day-of-week field, column 9)\nhint: write `5-6,0-1`",
    ),
    (
        "0 22-4/3 * * *",
        "descending_range: `22-4/3` goes backwards (hour field, column 3)\nhint: write `22,1,4`",
    ),
    (
        "0 0 * * 7-2",
        "descending_range: `7-2` goes backwards (day-of-week field, column 9)\nhint: write `0-2`",
    ),
    (
        "0 0 * * fri-0",
        "descending_range: `fri-0` goes backwards (day-of-week field, column 9)\nhint: write `5-7`",
    ),
    (
        "*/90 * * * *",
        "bad_step: `*/90` has no usable step (minute field, column 1)\nhint: steps start anew in each larger unit, so at most `59` makes sense, or use an interval: `every: 90m`",
    ),
    (
        "*/0 * * * *",
        "bad_step: `*/0` has no usable step (minute field, column 1)\nhint: a step of `0` stands still; write `1` or more",
    ),
    (
        "? * * * *",
        "not_in_field: `?` does not belong here (minute field, column 1)\nhint: `?` stands alone in a day field; elsewhere write `*`",
    ),
    (
        "0 0 1-15W * *",
        "not_in_field: `1-15W` does not belong here (day-of-month field, column 5)\nhint: `W` belongs to a single day: `15W`",
    ),
    ("0 0 * * L5", "bad_value: `L5` is not understood (day-of-week field, column 9)\nhint: write `5L`"),
    (
        "0 0 * * monday",
        "unknown_name: `monday` is not a weekday (day-of-week field, column 9)\nhint: write `mon`",
    ),
    (
        "0 0 * * mo#9",
        "unknown_name: `mo` is not a weekday (day-of-week field, column 9)\nhint: write `*`, or numbers `0`-`7`, `sun`-`sat`, ranges, steps and lists of them",
    ),
    (
        "0 0 * * 1#6",
        "out_of_range: `1#6` names no weekday of a month (day-of-week field, column 9)\nhint: write `#1` to `#5`, or `#L` for the last: `1#2` is the second Monday",
    ),
    (
        "0 24 * * *",
        "out_of_range: `24` is not within `0`-`23` (hour field, column 3)\nhint: midnight is hour `0`",
    ),
    (
        "0 0 31 4,6 *",
        "never_fires: `0 0 31 4,6 *` never fires: no such date exists (day-of-month field, column 5)\nhint: the month has at most `30` days; `L` is its last day",
    ),
    (
        "@every 90m",
        "unknown_macro: `@every 90m` is not a macro (column 1)\nhint: that is an interval, not cron: `every: 90m`",
    ),
    (
        "CRON_TZ=Asia/Tokyo 0 5 * * *",
        "zone_in_expression: `CRON_TZ=Asia/Tokyo` is not a cron field (column 1)\nhint: give the zone on its own: timezone `Asia/Tokyo`",
    ),
    (
        "0 0 * * 1,,2",
        "empty_item: `1,,2` has nothing between two commas or at an end (day-of-week field, column 9)\nhint: remove the surplus comma",
    ),
    (
        " \u{663} * * * *",
        "bad_value: `\u{663}` is not understood (minute field, column 2)\nhint: write `*`, or numbers `0`-`59`, ranges, steps and lists of them",
    ),
];

#[test]
fn standard_refuses_what_is_ambiguous() {
    for (expr, expected) in STANDARD {
        check(Dialect::Standard, expr, expected);
    }
}

const QUARTZ: [(&str, &str); 5] = [
    (
        "0 0 12 * * *",
        "day_fields: Quartz wants `?` in one of day-of-month and day-of-week, and only one (column 8)\nhint: write `* * ?`",
    ),
    (
        "0 0 12 * * MON",
        "day_fields: Quartz wants `?` in one of day-of-month and day-of-week, and only one (column 8)\nhint: write `? * MON`",
    ),
    ("@weekly", "not_quartz: `@weekly` is not Quartz cron (column 1)\nhint: write `0 0 0 ? * 1`"),
    (
        "0 0 12 ? * 0",
        "out_of_range: `0` is not within `1`-`7` (day-of-week field, column 12)\nhint: in `quartz` Sunday is `1`",
    ),
    (
        "0 0 12 30 2 ? 2030",
        "never_fires: `0 0 12 30 2 ? 2030` never fires: no such date exists (day-of-month field, column 8)\nhint: the month has at most `29` days; `L` is its last day",
    ),
];

#[test]
fn quartz_wants_one_question_mark() {
    for (expr, expected) in QUARTZ {
        check(Dialect::Quartz, expr, expected);
    }
}

#[test]
fn an_expression_of_any_length_is_answered() {
    assert_eq!(Cron::parse("", Dialect::Standard).unwrap_err().code(), "empty_expression");
    assert_eq!(Cron::parse(" \t ", Dialect::Posix).unwrap_err().code(), "empty_expression");
    assert_eq!(Cron::parse(&"1,".repeat(1000), Dialect::Standard).unwrap_err().code(), "too_long");
    assert_eq!(Cron::parse("* * * * *\0", Dialect::Standard).unwrap_err().code(), "bad_value");
}

#[test]
fn a_span_lies_within_the_text_whatever_blanks_it_has() {
    for text in [" \r", "\u{b} * ", "@daily\r", " @every\u{c} 5m", "\n\n\n\n\n"] {
        for dialect in [Dialect::Posix, Dialect::Standard, Dialect::Quartz] {
            let error = Cron::parse(text, dialect).unwrap_err();
            assert!(text.get(error.span()).is_some(), "{text:?}: {error}");
        }
    }
}
