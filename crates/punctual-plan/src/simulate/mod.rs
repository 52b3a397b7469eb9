//! Simulate: the ledger that schedules would leave behind, given outages, run times, failures and edits.
//!
//! It decides nothing itself: [`plan()`](crate::plan()), [`admit()`](crate::admit()), [`settle()`](crate::settle()) and
//! [`change()`](crate::change()) do, called when a node would call them. `scenario` is what goes in, `outcome` what comes
//! out; `book` keeps the rows as a database would, `admission` and `act` enter into it what was decided, `drive` moves
//! the clock.

mod account;
mod act;
mod admission;
mod book;
mod drive;
mod outcome;
mod scenario;

pub use outcome::{Account, Logged, RangeRecord, Simulated, Version};
pub use scenario::{Act, Behaviour, Edit, Failing, How, Member, Outage, Request, Scenario};

/// Lets the schedules of a scenario run through its time.
///
/// ```
/// use punctual_plan::{Action, Member, Process, Scenario, Schedule, ScheduleId, simulate};
/// use punctual_time::{Cron, Timing, Zone};
///
/// let timing = Timing::new("0 * * * *".parse::<Cron>()?, Zone::utc());
/// let id = ScheduleId(uuid::Uuid::nil());
/// let schedule = Schedule::new(id, "hourly", timing, Action::Process(Process::new(["true"])));
/// let from = "2026-01-01T00:30:00Z".parse()?;
/// let scenario = Scenario::new(from, "2026-01-01T03:30:00Z".parse()?, vec![Member::new(schedule)]);
/// let simulated = simulate(&scenario);
/// assert_eq!(simulated.accounts[0].runs.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn simulate(scenario: &Scenario) -> Simulated {
    drive::Drive::new(scenario).run()
}
