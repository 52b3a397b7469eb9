//! Who waits for whom: names must exist, and nobody may wait for itself, however far around.

use std::collections::HashMap;

use punctual_plan::ScheduleId;

use super::nearest;
use super::problem::Problems;
use super::schedule::{Placed, Reference};

/// Schedules of a cycle that are named.
const NAMED_MAX: usize = 10;
/// Cycles that are looked for; whoever has more has one mistake in many places.
const CYCLES_MAX: usize = 20;

/// Refuses references to schedules that are neither declared nor stored, and cycles among the declared ones.
pub(super) fn check(schedules: &[Placed], stored: &HashMap<String, ScheduleId>, problems: &mut Problems) {
    let numbers: HashMap<&str, usize> =
        schedules.iter().enumerate().map(|(number, placed)| (placed.name(), number)).collect();
    let mut waits_for: Vec<Vec<usize>> = Vec::with_capacity(schedules.len());
    for placed in schedules {
        if problems.is_full() {
            return;
        }
        let mut found = Vec::new();
        for Reference { name, place } in &placed.waits_for {
            match numbers.get(name.as_str()) {
                Some(number) => found.push(*number),
                None if stored.contains_key(name) => {}
                None => {
                    let known = schedules.iter().map(Placed::name).chain(stored.keys().map(String::as_str));
                    let others = known.filter(|other| *other != placed.name());
                    let hint = nearest::hint(name, others, "there is no other schedule");
                    problems.add(*place, format!("there is no schedule `{name}`"), hint);
                }
            }
        }
        waits_for.push(found);
    }
    for cycle in cycles(&waits_for) {
        let mut names: Vec<&str> =
            cycle.iter().take(NAMED_MAX).map(|number| schedules[*number].name()).collect();
        if cycle.len() > NAMED_MAX {
            names.push("…");
        }
        let first = &schedules[cycle[0]];
        names.push(first.name());
        // It may wait for the same schedule in both ways; then `on` is pointed at.
        let to_next = first.waits_for.iter().rfind(|reference| reference.name == names[1]);
        let place = to_next.map_or(first.place, |reference| reference.place);
        let message = format!("schedules wait for each other: `{}`", names.join("` → `"));
        problems.add(place, message, "remove one of these from `depends_on` or `on`");
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Visit {
    Not,
    Open,
    Done,
}

/// One cycle for each way back into a path. The path is a list of our own: a long chain must not exhaust the stack.
fn cycles(waits_for: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut visits = vec![Visit::Not; waits_for.len()];
    let mut cycles = Vec::new();
    for start in 0..waits_for.len() {
        if visits[start] != Visit::Not {
            continue;
        }
        visits[start] = Visit::Open;
        let mut path = vec![(start, 0)];
        while let Some((number, next)) = path.last_mut() {
            let Some(&other) = waits_for[*number].get(*next) else {
                visits[*number] = Visit::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match visits[other] {
                Visit::Done => {}
                Visit::Not => {
                    visits[other] = Visit::Open;
                    path.push((other, 0));
                }
                Visit::Open => {
                    let from = path.iter().position(|(number, _)| *number == other).unwrap_or(0);
                    cycles.push(path[from..].iter().map(|(number, _)| *number).collect());
                    if cycles.len() == CYCLES_MAX {
                        return cycles;
                    }
                }
            }
        }
    }
    cycles
}
