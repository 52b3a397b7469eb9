//! What is accepted: exactly the POSIX rows, and for the others a table of where we differ from whom and why.

use std::collections::BTreeMap;
use std::fmt::Write;

use punctual_time::{Cron, Error};
use serde_json::Value;

use crate::{Ours, ours, rows, text};

#[test]
fn every_posix_row_holds() {
    let mut checked = 0;
    for row in rows(include_str!("parse.jsonl")).filter(|row| row["dialect"] == "posix") {
        let ours = ours(&row);
        let parsed = Cron::parse(&ours.expr, ours.dialect);
        assert_eq!(parsed.is_ok(), text(&row, "kind") == "valid", "{row}");
        checked += 1;
    }
    assert_eq!(checked, 32);
}

/// Why we refuse what others accept.
fn refused_because(error: &Error, row: &Value) -> &'static str {
    let expr = text(row, "expr").trim();
    match error.code() {
        "step_without_range" => "`x/n` without a range is ambiguous; the hint writes the range out",
        "descending_range" => "ranges that run backwards are ambiguous with steps; the hint splits them",
        "never_fires" => "a date that does not exist is refused at once instead of never firing",
        "wrong_field_count" if expr.split_ascii_whitespace().count() == 7 => "years are in `quartz` only",
        "wrong_field_count" if row["dialect"] == "croniter" => {
            "seconds last, then years: years are in `quartz` only"
        }
        "wrong_field_count" => "missing fields are not guessed",
        "unknown_macro" if expr.to_ascii_lowercase().starts_with("@every") => {
            "an interval is written as one, not as a macro"
        }
        "unknown_macro" => "a restart is not a time",
        "zone_in_expression" => "the zone is a field of its own",
        "unknown_name" => "names have three letters",
        "not_in_field" if expr.contains('?') => {
            "`?` belongs to the day fields, as the open specification has it"
        }
        "bad_step" => "a step beyond the field fires once and misleads",
        "bad_value" if expr.contains("W") || expr.contains('L') || expr.contains('l') => {
            "`L` and `W` come last: `5L`, `15W`"
        }
        "bad_value" => "sloppy spelling",
        "out_of_range" => "a bound beyond the field",
        "day_fields" => "Quartz itself wants exactly one `?`",
        code => panic!("no reason for `{code}`: {error}: {row}"),
    }
}

/// Why we accept what others refuse.
fn accepted_because(row: &Value) -> &'static str {
    let expr = text(row, "expr");
    let options = &row["options"];
    match text(row, "impl") {
        _ if options["mode"].is_string() => "a setting fixes the number of fields there; we take five or six",
        _ if options["strict"] == true => "a setting asks for strictness there",
        "cron-parser" if expr.contains('L') || expr.contains('#') => {
            "plain days and `L` or `#` mix freely in a list"
        }
        "cron-parser" => "a value may be written twice",
        "croniter" => "plain days and `#` mix freely in a list",
        "cronos" if expr.contains(['W', 'w']) => "`W` may stand in a list",
        "cronos" => "a leading zero is harmless",
        "robfig" => "six fields: its standard parser takes five only",
        "zslayton" => "five fields are enough",
        "saffron" => "`L-0` is `L`; Sunday may be 0",
        "cronstrue" => "`W` may stand in a list",
        _ => panic!("no reason for {row}"),
    }
}

/// How a row and we compare.
fn class(row: &Value) -> (&'static str, &'static str) {
    let ours = ours(row);
    let parsed = Cron::parse(&ours.expr, ours.dialect);
    match (text(row, "kind"), parsed) {
        ("valid", Ok(_)) => ("both accept", ""),
        ("invalid", Err(_)) => ("both refuse", ""),
        ("valid", Err(error)) => ("we refuse", refused_because(&error, row)),
        ("invalid", Ok(_)) => ("we accept", accepted_because(row)),
        (_, parsed) => equivalence(row, parsed),
    }
}

/// Two spellings that are said to mean the same.
fn equivalence(row: &Value, parsed: Result<Cron, Error>) -> (&'static str, &'static str) {
    let same = Ours { expr: text(row, "same_as").into(), dialect: ours(row).dialect };
    match (parsed, Cron::parse(&same.expr, same.dialect)) {
        (Err(error), _) | (_, Err(error)) => ("we refuse", refused_because(&error, row)),
        (Ok(one), Ok(other)) if one == other => ("equal for both", ""),
        _ => ("not equal for us", "only `*` leaves a day field open: `1-31` makes the other an alternative"),
    }
}

#[test]
fn the_table_of_differences_is_up_to_date() {
    let mut table: BTreeMap<(String, &str, &str), usize> = BTreeMap::new();
    let mut total = 0;
    for row in rows(include_str!("parse.jsonl")) {
        let named = if text(&row, "impl").is_empty() { "posix" } else { text(&row, "impl") };
        let (outcome, reason) = class(&row);
        *table.entry((named.to_owned(), outcome, reason)).or_default() += 1;
        total += 1;
    }
    let mut written = String::from(
        "# Where we differ from whom, and why\n\nGenerated from parse.jsonl by the test `the_table_of_differences_is_up_to_date`.\n\n\
         | implementation | outcome | rows | reason |\n| --- | --- | ---: | --- |\n",
    );
    for ((named, outcome, reason), count) in &table {
        writeln!(written, "| {named} | {outcome} | {count} | {reason} |").unwrap();
    }
    let sum: usize = table.values().sum();
    writeln!(written, "| all | | {sum} | |").unwrap();
    assert_eq!(sum, total);
    assert!(written == include_str!("differences.md"), "differences.md should be:\n{written}");
}
