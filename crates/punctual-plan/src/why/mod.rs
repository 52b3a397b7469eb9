//! Why: what became of a schedule at an instant, as a chain of links from the spec to the end state.
//!
//! [`why`] gets what a simulation or a database knows as an [`Inquiry`] and decides nothing: it retells what the other
//! functions decided, with the values. `facts` finds out what the matter is, `when`, `gate` and `after` make the links
//! in the order in which they were asked, `verdict` says it in one sentence, `show` writes times in the schedule's zone.

mod after;
mod facts;
mod gate;
mod inquiry;
mod link;
mod show;
mod verdict;
mod when;

use facts::Facts;
pub use inquiry::{Inquiry, Neighbour, Upset, local_instant, referred_runs};
pub use link::{Link, LinkEffect, Step, Why};

/// Explains what became of a schedule at an instant, or what will.
///
/// ```
/// use punctual_plan::{Action, Inquiry, Member, Process, Scenario, Schedule, ScheduleId, Step, simulate, why};
/// use punctual_time::{Cron, Timing, Zone};
///
/// let timing = Timing::new("0 * * * *".parse::<Cron>()?, Zone::utc());
/// let id = ScheduleId(uuid::Uuid::nil());
/// let schedule = Schedule::new(id, "hourly", timing, Action::Process(Process::new(["true"])));
/// let from = "2026-01-01T00:30:00Z".parse()?;
/// let scenario = Scenario::new(from, "2026-01-01T03:30:00Z".parse()?, vec![Member::new(schedule)]);
/// let simulated = simulate(&scenario);
/// let account = &simulated.accounts[0];
///
/// let ran = why(&Inquiry::of_simulated(&simulated, account, "2026-01-01T02:00:00Z".parse()?));
/// assert_eq!(ran.verdict, "it ran on time and ended well at 2026-01-01T02:00:00Z");
/// let none = why(&Inquiry::of_simulated(&simulated, account, "2026-01-01T02:10:00Z".parse()?));
/// assert_eq!(none.decided().step, Step::Spec);
/// assert!(none.verdict.contains("minute 10 is not in `0`"), "{none}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn why(inquiry: &Inquiry<'_>) -> Why {
    let facts = Facts::find(inquiry);
    let links = when::links(&facts).into_iter().chain(gate::links(&facts)).chain(after::links(&facts));
    Why {
        subject: facts.schedule().name.clone(),
        at: facts.at,
        local: facts.show.at(facts.at),
        verdict: verdict::sentence(&facts),
        links: links.collect(),
    }
}
