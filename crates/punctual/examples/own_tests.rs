//! How a program tests its own tasks: start at an instant, let days pass in no time, stop, start again. In a program this
//! is a `#[tokio::test(start_paused = true)]`; here it is `main`.

#![allow(clippy::print_stdout, reason = "it says that it is done")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use punctual::scheduler::{Error, MemoryLedger, RunStatus, TestClock};
use punctual::{Scheduler, Task};

/// What is tested: a mailbox, and the task that empties it every two hours.
fn tasks(sent: &Arc<AtomicUsize>) -> [Task; 1] {
    let sent = Arc::clone(sent);
    [Task::new("mail", "0 0,2,4,6,8,10,12,14,16,18,20,22 * * *", Duration::from_secs(600), move |_| {
        let number = sent.fetch_add(1, Ordering::SeqCst) + 1;
        async move { if number == 2 { Err("the server is down".into()) } else { Ok(()) } }
    })]
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clock = TestClock::at("2026-03-03T09:30:00Z".parse()?);
    let (ledger, sent) = (MemoryLedger::new(), Arc::new(AtomicUsize::new(0)));
    let start = async || -> Result<Scheduler, Error> {
        Scheduler::builder().memory(&ledger).clock(&clock).timezone("UTC").initialize(tasks(&sent)).await
    };

    let scheduler = start().await?;
    clock.until("2026-03-03T12:05:00Z".parse()?).await;
    assert_eq!(sent.load(Ordering::SeqCst), 2, "10:00 went well, 12:00 did not");
    clock.until("2026-03-03T12:10:00Z".parse()?).await;
    assert_eq!(sent.load(Ordering::SeqCst), 3, "it was repeated after ten minutes");
    scheduler.stop().await;

    clock.advance(Duration::from_secs(12 * 3_600)).await;
    let scheduler = start().await?;
    clock.advance(Duration::from_secs(60)).await;
    assert_eq!(sent.load(Ordering::SeqCst), 4, "twelve hours without it are one run");

    clock.advance(Duration::from_secs(48 * 3_600)).await;
    let runs = scheduler.runs("mail").await?;
    assert!(runs[..24].iter().all(|row| row.run.state.status() == RunStatus::Success));
    scheduler.stop().await;
    println!("two days were tested, {} mails were sent", sent.load(Ordering::SeqCst));
    Ok(())
}
