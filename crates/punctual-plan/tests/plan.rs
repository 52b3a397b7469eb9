//! Goal: `plan` arms what is ahead and accounts for what was slept through.
//! Method: a schedule, its cursor and now, against the ledger it yields, as text.

use jiff::Timestamp;
use punctual_plan::{Cursor, EntryState, LOOKAHEAD, LateRow, Plan, RunKey, Subject, Window, plan};
use punctual_time::{Cron, Dialect, Zone};

fn at(text: &str) -> Timestamp {
    format!("2026-01-01T{text}Z").parse().expect("a time of day")
}

fn clock(time: Timestamp) -> String {
    time.strftime("%H:%M:%S").to_string()
}

struct Case<'a> {
    spec: &'a str,
    planned: &'a str,
    decided: &'a str,
    now: &'a str,
    late: &'a [&'a str],
}

fn plan_of(case: &Case<'_>) -> Plan {
    let cron = Cron::parse(case.spec, Dialect::Standard).expect("the case's spec is valid");
    let cursor = Cursor { planned_through: at(case.planned), decided_through: at(case.decided) };
    let rows: Vec<LateRow> = (1..)
        .zip(case.late)
        .map(|(run, tick)| LateRow { run: RunKey(run), scheduled_for: at(tick), fire_at: at(tick) })
        .collect();
    let subject = Subject { cron: &cron, zone: &Zone::utc(), cursor, late: &rows };
    plan(&subject, Window { now: at(case.now), lookahead: LOOKAHEAD })
}

fn ledger(plan: &Plan) -> String {
    let mut lines: Vec<String> = plan
        .entries
        .iter()
        .map(|entry| match &entry.state {
            EntryState::Scheduled => format!("{} fires {}", clock(entry.scheduled_for), clock(entry.fire_at)),
            EntryState::Missed(reason) => format!("{} missed {}", clock(entry.scheduled_for), reason.code()),
        })
        .collect();
    lines.extend(plan.ranges.iter().map(|range| {
        let (first, last) = (clock(range.first), clock(range.last));
        format!("{first}..{last} {} missed {}", range.count, range.reason.code())
    }));
    lines.extend(plan.closed.iter().map(|(run, reason)| format!("{run} missed {}", reason.code())));
    lines.push(format!("planned {}", clock(plan.cursor.planned_through)));
    lines.push(format!("next {}", plan.next_tick.map_or("never".to_owned(), clock)));
    lines.join(" | ")
}

fn check(case: &Case<'_>, expected: &str) {
    assert_eq!(ledger(&plan_of(case)), expected, "{}", case.spec);
}

#[test]
fn a_window_ahead_is_armed_and_the_cursor_stands_at_its_end() {
    check(
        &Case {
            spec: "*/30 * * * * *",
            planned: "10:00:00",
            decided: "10:00:00",
            now: "10:00:00",
            late: &[],
        },
        "10:00:30 fires 10:00:30 | 10:01:00 fires 10:01:00 | planned 10:01:00 | next 10:01:30",
    );
}

#[test]
fn a_tick_at_the_cursor_is_never_planned_again() {
    check(
        &Case { spec: "0 * * * *", planned: "10:00:00", decided: "10:00:00", now: "10:00:00", late: &[] },
        "planned 10:01:00 | next 11:00:00",
    );
}

#[test]
fn an_outage_within_the_grace_period_fires_the_last_tick_and_accounts_for_the_rest() {
    check(
        &Case {
            spec: "*/20 * * * * *",
            planned: "10:00:00",
            decided: "10:00:00",
            now: "10:01:05",
            late: &["09:59:40", "10:00:00"],
        },
        "10:00:20 missed overtaken | 10:00:40 missed overtaken | 10:01:00 fires 10:01:05 | \
         10:01:20 fires 10:01:20 | 10:01:40 fires 10:01:40 | 10:02:00 fires 10:02:00 | \
         run-1 missed outage | run-2 missed outage | planned 10:02:05 | next 10:02:20",
    );
}

#[test]
fn an_outage_beyond_the_grace_period_fires_nothing_of_it() {
    check(
        &Case { spec: "0 * * * *", planned: "10:30:00", decided: "10:30:00", now: "13:01:01", late: &[] },
        "11:00:00 missed outage | 12:00:00 missed outage | 13:00:00 missed outage | \
         planned 13:02:01 | next 14:00:00",
    );
}

#[test]
fn a_long_outage_is_one_range_per_reason_with_exact_counts() {
    check(
        &Case { spec: "* * * * * *", planned: "10:00:00", decided: "10:00:00", now: "11:00:00", late: &[] },
        &{
            let armed: Vec<String> = (1..=60)
                .map(|second| clock(at("11:00:00") + jiff::SignedDuration::from_secs(second)))
                .map(|tick| format!("{tick} fires {tick}"))
                .collect();
            format!(
                "11:00:00 fires 11:00:00 | {} | 10:00:01..10:58:59 3539 missed outage | \
                 10:59:00..10:59:59 60 missed overtaken | planned 11:01:00 | next 11:01:01",
                armed.join(" | ")
            )
        },
    );
}

#[test]
fn a_clock_that_goes_back_decides_nothing_again() {
    check(
        &Case {
            spec: "*/30 * * * * *",
            planned: "10:01:00",
            decided: "10:00:10",
            now: "09:00:00",
            late: &[],
        },
        "planned 10:01:10 | next 10:01:30",
    );
}

#[test]
fn planning_in_two_steps_gives_the_ledger_of_one() {
    let cron = Cron::parse("*/7 * * * * *", Dialect::Standard).expect("the spec is valid");
    let zone = Zone::utc();
    let step = |cursor, now| {
        plan(&Subject { cron: &cron, zone: &zone, cursor, late: &[] }, Window { now, lookahead: LOOKAHEAD })
    };
    let (start, end) = (at("10:00:00"), at("10:00:31"));
    let first = step(Cursor::starting(start), start);
    let second = step(first.cursor, end);
    let mut split = first.entries;
    split.extend(second.entries);
    let mut once = step(Cursor::starting(start), start).entries;
    once.extend(step(Cursor { planned_through: at("10:01:00"), decided_through: start }, end).entries);
    assert_eq!(split, once);
    assert!(split.windows(2).all(|pair| pair[0].scheduled_for < pair[1].scheduled_for));
}
