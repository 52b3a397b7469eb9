//! Goal: every outcome becomes the run's end or its next attempt, with all that follows from it.
//! Method: an outcome in a situation, against what happens, as one line of text.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Alert, Breaker, BreakerRule, Chain, ChainOn, Counters, Delivery, Follower, InFlight, Next, Outcome,
    Policy, Reason, RunKey, ScheduleId, ScheduleKey, Settlement, Situation, settle,
};

fn at(text: &str) -> Timestamp {
    format!("2026-01-01T{text}Z").parse().expect("a time of day")
}

fn clock(time: Timestamp) -> String {
    time.strftime("%H:%M:%S").to_string()
}

fn run() -> InFlight {
    InFlight { run: RunKey(1), schedule: ScheduleKey(1) }
}

fn situation(policy: &Policy) -> Situation<'_> {
    Situation { target: "mail", ..Situation::first(policy, at("10:00:00")) }
}

fn failed() -> Outcome {
    Outcome::Exited { code: 3 }
}

fn line(end: &Settlement) -> String {
    let mut said = vec![match &end.next {
        Next::End { status, reason, .. } => {
            reason.as_ref().map_or(status.to_string(), |reason| format!("{status} {}", reason.code()))
        }
        Next::Retry { attempt, at, reason } => {
            format!("attempt {attempt} at {} after {}", clock(*at), reason.code())
        }
    }];
    said.extend(end.breaker.map(|breaker| match breaker {
        Breaker::Closed { failures } => format!("breaker closed with {failures}"),
        Breaker::Open { until } => format!("breaker open until {}", clock(until)),
        Breaker::HalfOpen { probe } => format!("breaker probed by {probe}"),
    }));
    said.extend(end.disabled.as_ref().map(|status| status.name().to_owned()));
    said.extend(end.chained.iter().map(|one| format!("chains {} at {}", one.schedule.0, clock(one.fire_at))));
    said.extend(end.alerts.iter().map(|alert| match alert {
        Alert::Failed(reason) => format!("alert failed {}", reason.code()),
        Alert::AutoDisabled { failures } => format!("alert disabled after {failures}"),
        Alert::BreakerOpened { target, .. } => format!("alert breaker of {target}"),
    }));
    said.join(" | ")
}

fn check(outcome: &Outcome, situation: &Situation<'_>, expected: &str) {
    assert_eq!(line(&settle(run(), outcome.clone(), situation)), expected, "{outcome:?}");
}

#[test]
fn every_outcome_has_its_end() {
    let policy = Policy { delivery: Delivery::AtMostOnce, ..Policy::default() };
    let third = Situation { attempt: 3, ..situation(&policy) };
    for (outcome, expected) in [
        (Outcome::Succeeded, "success"),
        (failed(), "failed exit_code | breaker closed with 1 | alert failed exit_code"),
        (Outcome::Signalled { signal: 9 }, "failed signal | breaker closed with 1 | alert failed signal"),
        (Outcome::TimedOut, "failed timeout | breaker closed with 1 | alert failed timeout"),
        (Outcome::Lost, "failed lost | breaker closed with 1 | alert failed lost"),
        (
            Outcome::Reported { error: "no".to_owned() },
            "failed reported | breaker closed with 1 | alert failed reported",
        ),
        (
            Outcome::LaunchFailed { error: "no".to_owned() },
            "failed launch_failed | breaker closed with 1 | alert failed launch_failed",
        ),
        (Outcome::Cancelled { by: "ada".to_owned() }, "cancelled cancelled"),
        (Outcome::InDoubt, "failed outcome_unknown | alert failed outcome_unknown"),
    ] {
        check(&outcome, &third, expected);
    }
}

#[test]
fn a_launch_is_tried_three_times_with_a_doubled_wait() {
    let policy = Policy::default();
    let tried = |attempt| {
        let outcome = Outcome::LaunchFailed { error: "busy".to_owned() };
        settle(run(), outcome, &Situation { attempt, ..situation(&policy) }).next
    };
    let wait = |next: Next| match next {
        Next::Retry { attempt, at, .. } => format!("{attempt} at {}", clock(at)),
        Next::End { status, .. } => status.to_string(),
    };
    assert_eq!([1, 2, 3].map(|attempt| wait(tried(attempt))), ["2 at 10:00:01", "3 at 10:00:02", "failed"]);
}

#[test]
fn a_failed_run_is_repeated_after_its_fixed_delay_and_counts_only_at_its_end() {
    let policy = Policy { retry_after: Some(SignedDuration::from_mins(5)), ..Policy::default() };
    let end = settle(run(), failed(), &situation(&policy));
    assert_eq!(line(&end), "attempt 2 at 10:05:00 after exit_code | breaker closed with 1");
    assert_eq!(end.counters, Counters::default());
}

#[test]
fn a_run_in_doubt_is_repeated_at_once_unless_it_must_not_be() {
    let policy = Policy::default();
    check(&Outcome::InDoubt, &situation(&policy), "attempt 2 at 10:00:00 after outcome_unknown");
    let policy = Policy { delivery: Delivery::AtMostOnce, ..policy };
    check(&Outcome::InDoubt, &situation(&policy), "failed outcome_unknown | alert failed outcome_unknown");
}

#[test]
fn the_fifth_failure_in_a_row_disables_the_schedule() {
    let policy = Policy::default();
    let after = |consecutive_failures| {
        let counters = Counters { consecutive_failures, ..Counters::default() };
        Situation {
            counters,
            rule: BreakerRule { threshold: 99, ..BreakerRule::default() },
            ..situation(&policy)
        }
    };
    check(&failed(), &after(3), "failed exit_code | breaker closed with 1 | alert failed exit_code");
    check(
        &failed(),
        &after(4),
        "failed exit_code | breaker closed with 1 | auto_disabled | alert disabled after 5 | alert failed exit_code",
    );
    let left = Situation { is_active: false, ..after(4) };
    check(&failed(), &left, "failed exit_code | breaker closed with 1 | alert failed exit_code");
    let end = settle(run(), Outcome::Succeeded, &after(4));
    assert_eq!((end.counters.consecutive_failures, end.counters.successes, end.disabled), (0, 1, None));
}

#[test]
fn a_breaker_opens_at_its_threshold_and_its_probe_decides() {
    let policy = Policy::default();
    let with = |breaker| Situation { breaker, ..situation(&policy) };
    let probed = Breaker::HalfOpen { probe: RunKey(1) };
    let others = Breaker::HalfOpen { probe: RunKey(2) };
    check(
        &failed(),
        &with(Breaker::Closed { failures: 4 }),
        "failed exit_code | breaker open until 10:05:00 | alert breaker of mail | alert failed exit_code",
    );
    check(
        &failed(),
        &with(probed),
        "failed exit_code | breaker open until 10:05:00 | alert breaker of mail | alert failed exit_code",
    );
    check(&failed(), &with(others), "failed exit_code | alert failed exit_code");
    check(&Outcome::Succeeded, &with(probed), "success | breaker closed with 0");
    check(
        &Outcome::Cancelled { by: "ada".to_owned() },
        &with(probed),
        "cancelled cancelled | breaker open until 10:00:00",
    );
}

#[test]
fn schedules_that_follow_run_after_the_end_they_wait_for() {
    let policy = Policy::default();
    let follower = |schedule, on, delay| Follower {
        schedule: ScheduleKey(schedule),
        chain: Chain {
            delay: SignedDuration::from_secs(delay),
            ..Chain::new(ScheduleId(uuid::Uuid::nil()), on)
        },
    };
    let followers = [
        follower(2, ChainOn::Success, 0),
        follower(3, ChainOn::Failure, 5),
        follower(4, ChainOn::Finish, 60),
    ];
    let situation = Situation { followers: &followers, ..situation(&policy) };
    check(&Outcome::Succeeded, &situation, "success | chains 2 at 10:00:00 | chains 4 at 10:01:00");
    check(
        &failed(),
        &situation,
        "failed exit_code | breaker closed with 1 | chains 3 at 10:00:05 | chains 4 at 10:01:00 | \
         alert failed exit_code",
    );
}

#[test]
fn a_chained_run_keeps_the_bounds_and_windows_of_its_schedule() {
    let policy = Policy::default();
    let chained = |change: fn(&mut Chain)| {
        let mut chain = Chain::new(ScheduleId(uuid::Uuid::nil()), ChainOn::Finish);
        change(&mut chain);
        let followers = [Follower { schedule: ScheduleKey(2), chain }];
        settle(run(), Outcome::Succeeded, &Situation { followers: &followers, ..situation(&policy) }).chained
    };
    assert_eq!(chained(|chain| chain.bounds.start_at = Some(at("10:00:01"))), []);
    assert_eq!(chained(|chain| chain.bounds.end_at = Some(at("09:59:59"))), []);
    assert_eq!(chained(|chain| chain.bounds.end_at = Some(at("10:00:00"))).len(), 1);
    let shut = chained(|chain| chain.windows.only_between = Some("11:00-12:00".parse().expect("a range")));
    assert_eq!(shut[0].verdict.as_ref().map(Reason::code), Some("outside_window"));
}

#[test]
fn an_answer_of_a_web_target_decides_whether_it_is_asked_again() {
    let policy = Policy { retry_after: Some(SignedDuration::from_secs(60)), ..Policy::default() };
    let once = Policy { delivery: Delivery::AtMostOnce, ..Policy::default() };
    let answered = |code, retry_at: Option<&str>| Outcome::Answered {
        code,
        retry_at: retry_at.map(|text| text.parse().expect("an instant")),
        url: "https://example.com/hook".to_owned(),
    };
    let unanswered = Outcome::Unanswered { error: "no answer within 20 s".to_owned() };
    let second = Situation { attempt: 2, ..situation(&policy) };
    let last = Situation { attempt: 3, ..situation(&policy) };
    let breaker = "breaker closed with 1";
    for (outcome, now, expected) in [
        (answered(500, None), situation(&policy), "attempt 2 at 10:00:01 after http_status"),
        (answered(503, None), second.clone(), "attempt 3 at 10:00:02 after http_status"),
        (answered(500, None), last.clone(), "failed http_status"),
        (
            answered(429, Some("2026-01-01T10:00:30Z")),
            second.clone(),
            "attempt 3 at 10:00:30 after http_status",
        ),
        (answered(503, Some("2026-01-01T09:00:00Z")), second, "attempt 3 at 10:00:02 after http_status"),
        (answered(404, None), situation(&policy), "attempt 2 at 10:01:00 after http_status"),
        (answered(404, None), situation(&once), "failed http_status"),
        (unanswered.clone(), situation(&policy), "attempt 2 at 10:00:01 after unanswered"),
        (unanswered, situation(&once), "failed unanswered"),
        (
            Outcome::AddressRefused {
                address: "10.0.0.1".parse().expect("an address"),
                url: "http://a".to_owned(),
            },
            situation(&policy),
            "failed address_refused",
        ),
    ] {
        let said = line(&settle(run(), outcome.clone(), &now));
        let said = said.split(" | alert").next().unwrap_or_default();
        assert_eq!(said, format!("{expected} | {breaker}"), "{outcome:?}");
    }
    let far = settle(run(), answered(429, Some("2026-03-01T00:00:00Z")), &situation(&policy));
    assert!(
        matches!(far.next, Next::Retry { at, .. } if at == "2026-01-02T10:00:00Z".parse().expect("an instant"))
    );
}

#[test]
fn a_target_that_is_gone_disables_its_schedule() {
    let policy = Policy { retry_after: Some(SignedDuration::from_secs(60)), ..Policy::default() };
    let gone = Outcome::Answered { code: 410, retry_at: None, url: "https://example.com".to_owned() };
    check(
        &gone,
        &situation(&policy),
        "failed gone | breaker closed with 1 | auto_disabled | alert disabled after 1 | alert failed gone",
    );
    let left = Situation { is_active: false, ..situation(&policy) };
    check(&gone, &left, "failed gone | breaker closed with 1 | alert failed gone");
}
