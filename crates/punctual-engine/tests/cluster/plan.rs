//! Goal: the engine leaves the ledger that the pure simulation of the same day foretells.

use jiff::SignedDuration;
use punctual_engine::harness::{Cluster, Deed, line};
use punctual_plan::{
    Behaviour, CatchUp, Failing, How, Member, Outage, Overlap, RunStatus, Scenario, simulate,
};

use crate::stage::{SEED, at, cron, seconds, with};

/// Each run as a line with its schedule, and each stretch.
fn foretold(scenario: &Scenario) -> Vec<String> {
    let simulated = simulate(scenario);
    let mut lines = Vec::new();
    for account in &simulated.accounts {
        let name = &account.schedule().name;
        let past = account.runs.iter().filter(|run| run.state.status() != RunStatus::Scheduled);
        lines.extend(past.map(|run| format!("{name} {}", line(run))));
        lines.extend(account.ranges.iter().map(|record| {
            let range = &record.range;
            let code = range.end.reason().code();
            format!("{name} {}..{} {} {code}", range.first, range.last, range.count)
        }));
    }
    lines.sort();
    lines
}

/// The same day told by an engine that dies and comes back at the outages.
fn told(scenario: &Scenario) -> Vec<String> {
    Cluster::tell(SEED, scenario.from, async |mut cluster| {
        for member in &scenario.schedules {
            let name = &member.schedule.name;
            let behaviour = scenario.behaviours.get(name).unwrap_or(&scenario.behaviour).clone();
            cluster.targets.on(name, move |_, number| Deed::of(&behaviour, number));
            cluster.create(member.schedule.clone()).await;
        }
        cluster.start("a").await;
        for outage in &scenario.outages {
            cluster.until(outage.from).await;
            cluster.crash("a").await;
            cluster.until(outage.to).await;
            cluster.start("a").await;
        }
        cluster.until(scenario.to).await;
        let runs = cluster.runs().await;
        let past = runs.iter().filter(|row| row.run.state.status() != RunStatus::Scheduled);
        let mut lines: Vec<String> =
            past.map(|row| format!("{} {}", row.schedule_name, line(&row.run))).collect();
        lines.extend(cluster.ranges().await.iter().map(|row| {
            let (range, name) = (&row.range, &row.schedule_name);
            format!("{name} {}..{} {} {}", range.first, range.last, range.count, range.end.reason().code())
        }));
        lines.sort();
        lines
    })
}

fn day() -> Scenario {
    let members = vec![
        Member::new(cron("plain", "*/15 * * * *")),
        Member::new(with(cron("slow", "*/5 * * * *"), |policy| policy.overlap = Overlap::Queue)),
        Member::new(with(cron("skips", "*/5 * * * *"), |policy| policy.overlap = Overlap::Skip)),
        Member::new(with(cron("retries", "20 * * * *"), |policy| {
            policy.retry_after = Some(seconds(90));
            policy.max_consecutive_failures = None;
        })),
        Member::new(with(cron("all", "*/10 * * * *"), |policy| policy.catch_up = CatchUp::RunAll)),
        Member::new(with(cron("once", "*/10 * * * *"), |policy| policy.catch_up = CatchUp::RunOnce)),
    ];
    let mut scenario = Scenario::new(at("00:00:00"), at("23:59:30"), members);
    let takes = |seconds| Behaviour { run_time: SignedDuration::from_secs(seconds), ..Behaviour::default() };
    scenario.behaviours.insert("slow".to_owned(), takes(400));
    scenario.behaviours.insert("skips".to_owned(), takes(700));
    let failing = Behaviour { failing: Failing::Every(2), how: How::Exit, ..takes(10) };
    scenario.behaviours.insert("retries".to_owned(), failing);
    scenario
}

#[test]
fn a_day_without_trouble_is_as_foretold() {
    let scenario = day();
    let foretold = foretold(&scenario);
    assert!(foretold.len() > 800, "{}", foretold.len());
    assert_eq!(told(&scenario), foretold);
}

#[test]
fn a_day_with_outages_is_as_foretold() {
    let mut scenario = day();
    // Nothing is in flight when the node dies: what is in doubt then is told elsewhere.
    scenario.schedules.retain(|member| !["slow", "skips"].contains(&&*member.schedule.name));
    scenario.outages = vec![
        Outage { from: at("03:02:00"), to: at("05:47:30") },
        Outage { from: at("12:00:30"), to: at("12:00:50") },
        Outage { from: at("20:58:30"), to: at("21:01:10") },
    ];
    assert_eq!(told(&scenario), foretold(&scenario));
}
