//! The cases of other schedulers' test suites, and our own probes of clock changes.
//!
//! `next` and `matches` are hard conformance; `parse` tells, class by class, where we differ from whom and why.
#![allow(clippy::unwrap_used, reason = "a test may fail at once")]

mod matches;
mod next;
mod parse;

use jiff::Timestamp;
use punctual_time::{Cron, Dialect, Error};
use serde_json::Value;

fn rows(text: &'static str) -> impl Iterator<Item = Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

fn instant(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// An expression of another implementation in a dialect of ours.
struct Ours {
    expr: String,
    dialect: Dialect,
}

/// Puts a row's expression into our order of fields; nothing else is changed.
fn ours(row: &Value) -> Ours {
    let expr = text(row, "expr");
    let mut fields: Vec<&str> = expr.split([' ', '\t']).filter(|field| !field.is_empty()).collect();
    let seconds_first = row["options"]["second_at_beginning"] == "True";
    match (text(row, "dialect"), fields.len()) {
        ("posix", _) => Ours { expr: expr.into(), dialect: Dialect::Posix },
        ("croniter", 6 | 7) if !seconds_first => {
            let second = fields.remove(5);
            fields.insert(0, second);
            Ours { expr: fields.join(" "), dialect: Dialect::Standard }
        }
        ("quartz", count) if count != 5 => Ours { expr: expr.into(), dialect: Dialect::Quartz },
        _ => Ours { expr: expr.into(), dialect: Dialect::Standard },
    }
}

/// Parses what the hints make of a text, and counts how often they were followed.
fn parse_mended(ours: &Ours) -> (Result<Cron, Error>, usize) {
    let mut expr = ours.expr.clone();
    for mended in 0..16 {
        match Cron::parse(&expr, ours.dialect) {
            Err(error) if error.fix().is_some() => expr.replace_range(error.span(), error.fix().unwrap()),
            result => return (result, mended),
        }
    }
    panic!("the hints for `{}` lead nowhere", ours.expr);
}

/// Whether both day fields of a five- or six-field expression are restricted.
fn restricts_both_days(expr: &str) -> bool {
    let fields: Vec<&str> = expr.split([' ', '\t']).filter(|field| !field.is_empty()).collect();
    let is_open = |field: &str| field == "*" || field == "?";
    match fields.len() {
        5 => !is_open(fields[2]) && !is_open(fields[4]),
        6 | 7 => !is_open(fields[3]) && !is_open(fields[5]),
        _ => false,
    }
}

/// Writes the day-of-week with a `+`, which makes both day fields necessary.
fn joined_by_and(expr: &str) -> String {
    let mut fields: Vec<String> = expr.split_ascii_whitespace().map(str::to_owned).collect();
    let weekday = if fields.len() == 5 { 4 } else { 5 };
    fields[weekday].insert(0, '+');
    fields.join(" ")
}
