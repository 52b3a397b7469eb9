//! Tasks with policies of their own, through a working day with an outage, in virtual time. It prints the ledger.

#![allow(clippy::print_stdout, reason = "it shows what happens")]

use std::time::Duration;

use jiff::SignedDuration;
use punctual::scheduler::{
    BreakerRule, CatchUp, ChainOn, Delivery, Dialect, Interval, Jitter, JitterMode, MemoryLedger, Overlap,
    TestClock, Windows,
};
use punctual::{Scheduler, Task};

const MINUTE: Duration = Duration::from_secs(60);

fn tasks() -> Result<Vec<Task>, Box<dyn std::error::Error>> {
    let day = Windows { only_between: Some("08:00-18:00".parse()?), ..Windows::default() };
    let import = Task::new("import", "0 0,2,4,6,8,10,12,14,16,18,20,22 * * *", MINUTE, |_| async { Ok(()) })
        .windows(day)
        .policy(|policy| {
            policy.overlap = Overlap::Queue;
            policy.catch_up = CatchUp::RunAll;
            policy.max_catch_up = 2;
        });
    let report =
        Task::new("report", "", MINUTE, |_| async { Ok(()) }).after("import", ChainOn::Success, 5 * MINUTE);
    let invoices =
        Task::new("invoices", "30 12 * * *", MINUTE, |_| async { Ok(()) }).depends_on(["import"], MINUTE);
    let sync = Task::new("sync", "H/30 9-11 * * *", MINUTE, |_| async { Err("no route".into()) })
        .dialect(Dialect::Standard)
        .circuit_breaker(BreakerRule { threshold: 2, reset_after: SignedDuration::from_hours(1) })
        .policy(|policy| {
            policy.jitter = Jitter { max: SignedDuration::from_secs(30), mode: JitterMode::After };
            policy.guard = Some("crm".to_owned());
            policy.retry_after = None;
        });
    let ping = Task::new("ping", "", MINUTE, |_| async { Ok(()) }).spec("3h".parse::<Interval>()?).policy(
        |policy| {
            policy.delivery = Delivery::AtMostOnce;
            policy.start_deadline = Some(SignedDuration::from_mins(30));
            policy.run_timeout = SignedDuration::from_mins(5);
        },
    );
    Ok(vec![import, report, invoices, sync, ping])
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clock = TestClock::at("2026-03-03T07:30:00Z".parse()?);
    let ledger = MemoryLedger::new();
    let builder = || Scheduler::builder().memory(&ledger).clock(&clock).timezone("UTC");
    let scheduler = builder().initialize(tasks()?).await?;
    clock.until("2026-03-03T12:45:00Z".parse()?).await;
    scheduler.stop().await;
    clock.until("2026-03-03T16:45:00Z".parse()?).await;
    let scheduler = builder().initialize(tasks()?).await?;
    clock.until("2026-03-03T20:15:00Z".parse()?).await;
    for task in ["import", "report", "invoices", "sync", "ping"] {
        let mut runs = scheduler.runs(task).await?;
        runs.reverse();
        for row in runs {
            let reason = row.run.state.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
            println!("{task} {} {}{reason}", row.run.scheduled_for.strftime("%H:%M"), row.run.state.status());
        }
    }
    scheduler.stop().await;
    Ok(())
}
