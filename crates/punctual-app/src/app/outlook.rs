//! What a step would change about the next ticks, without taking it.

use jiff::Timestamp;
use punctual_plan::{Schedule, Status};
use punctual_store::{ScheduleRow, timing};
use punctual_time::Tick;

use super::Step;

/// How many ticks are shown.
const TICKS: usize = 5;

/// The next ticks before and after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// Those that come if nothing is done; none if it is not active or follows another schedule.
    pub before: Vec<Timestamp>,
    /// Those that come if the step is taken.
    pub after: Vec<Timestamp>,
}

impl Outlook {
    /// What a step would change about the ticks of a schedule.
    pub fn of(row: &ScheduleRow, step: Option<&Step>, now: Timestamp) -> Self {
        let is_active = row.deleted_at.is_none() && row.state.status.is_active();
        let before = if is_active { upcoming(&row.definition, row, now) } else { Vec::new() };
        let Some(step) = step else { return Self { after: before.clone(), before } };
        let is_active = match step {
            Step::Delete => false,
            step => step.status(row).as_ref().map_or(is_active, Status::is_active),
        };
        let definition = step.definition(row);
        let next = definition.as_ref().unwrap_or(&row.definition);
        let after = if is_active { upcoming(next, row, now) } else { Vec::new() };
        Self { before, after }
    }
}

/// The next ticks of a schedule with what has become of it.
fn upcoming(definition: &Schedule, row: &ScheduleRow, now: Timestamp) -> Vec<Timestamp> {
    let Some(timing) = timing(definition, &row.state) else { return Vec::new() };
    let next = |after: &Timestamp| timing.next(*after);
    let left = timing
        .bounds
        .max_runs
        .map_or(TICKS, |max| usize::try_from(max.saturating_sub(timing.runs)).unwrap_or(TICKS).min(TICKS));
    std::iter::successors(next(&now), next).take(left).collect()
}

/// The next ticks of a definition with their marks, those that a window suppresses among them.
pub fn ticks(definition: &Schedule, now: Timestamp, count: usize) -> Vec<Tick> {
    let Some(timing) = definition.when.timing() else { return Vec::new() };
    // The first tick comes strictly after now.
    let from = Timestamp::from_second(now.as_second() + 1).unwrap_or(Timestamp::MAX);
    let most = timing.bounds.max_runs.map_or(count, |max| usize::try_from(max).unwrap_or(count).min(count));
    timing.ticks(from..).take(most).collect()
}
