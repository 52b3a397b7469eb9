//! A program with one task, which greets every minute until Ctrl-C. Start it twice: the second start goes on where the
//! first one stopped. Its ledger is a file in the user's data folder.

#![allow(clippy::print_stdout, reason = "it shows what happens")]

use std::time::Duration;

use punctual::{Scheduler, Task};
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let greet = Task::new("greet", "* * * * *", Duration::from_secs(30), |context| async move {
        println!("hello for {}", context.scheduled_for);
        Ok(())
    });
    let scheduler = Scheduler::initialize([greet]).await?;
    interrupt.recv().await;
    scheduler.stop().await;
    Ok(())
}
