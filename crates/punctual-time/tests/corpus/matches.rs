//! Whether an instant is a tick.

use punctual_time::{Cron, Dialect, Zone};
use serde_json::Value;

use crate::{instant, joined_by_and, ours, parse_mended, restricts_both_days, rows, text};

/// Quartz numbers the weekdays of these rows, but they have five fields: seconds and `?` are put in.
fn as_quartz(expr: &str) -> Option<String> {
    let mut fields: Vec<&str> = expr.split_ascii_whitespace().collect();
    match (fields.get(2), fields.get(4)) {
        (_, Some(&"*")) => fields[4] = "?",
        (Some(&"*"), _) => fields[2] = "?",
        _ => return None,
    }
    Some(format!("0 {}", fields.join(" ")))
}

fn cron(row: &Value) -> Option<Cron> {
    if row["impl"] == "saffron" {
        return Some(Cron::parse(&as_quartz(text(row, "expr"))?, Dialect::Quartz).unwrap());
    }
    let mut ours = ours(row);
    let fields = ours.expr.split_ascii_whitespace().count();
    let is_date = !ours.expr.starts_with('@') && fields == 1;
    if is_date || (fields == 7 && ours.dialect == Dialect::Standard) {
        return None;
    }
    if row["dom_dow"] == "and" && restricts_both_days(&ours.expr) {
        ours.expr = joined_by_and(&ours.expr);
    }
    Some(parse_mended(&ours).0.unwrap())
}

#[test]
fn every_row_in_our_dialects_matches_or_not_as_it_says() {
    let mut checked = 0;
    for row in rows(include_str!("match.jsonl")) {
        let Some(cron) = cron(&row) else { continue };
        let zone = Zone::get(text(&row, "tz")).unwrap();
        let found = cron.matches(instant(text(&row, "at")), &zone);
        assert_eq!(Value::from(found), row["expect"], "{row}");
        checked += 1;
    }
    assert_eq!(checked, 206);
}
