//! The script of a story while it is read: schedules, acts, outages.

use jiff::Timestamp;
use punctual_plan::{
    Act, Action, Behaviour, Chain, Edit, Member, Process, Request, Scenario, Schedule, ScheduleId, Status,
    When,
};
use punctual_time::{Cron, Interval, Once, Spec, Timing, Zone};

use crate::parse::{Trouble, duration, in_order, instant, limits, outage};
use crate::setting;

/// Everything read so far.
pub(crate) struct Script {
    scenario: Scenario,
    /// The act whose definition the next settings change; without one they are the last schedule's.
    edited: Option<usize>,
}

fn id(name: &str) -> ScheduleId {
    ScheduleId(uuid::Uuid::from_u128(name.bytes().map(u128::from).fold(7, |hash, byte| hash * 31 + byte)))
}

impl Script {
    pub(crate) fn new() -> Self {
        let scenario = Scenario::new(Timestamp::MIN, Timestamp::MAX, Vec::new());
        Self { scenario, edited: None }
    }

    /// Reads a line that stands for itself.
    pub(crate) fn read(&mut self, words: &[&str]) -> Result<(), Trouble> {
        let from = self.scenario.from;
        match words {
            ["from", at] => self.scenario.from = instant(at, None)?,
            ["to", at] => self.scenario.to = instant(at, Some(from))?,
            ["schedule", name, spec @ ..] => self.schedule(name, spec)?,
            ["outage", ends @ ..] => self.scenario.outages.push(outage(ends, from)?),
            ["limit", limit @ ..] => self.scenario.limits = Some(limits(limit)?),
            ["lookahead", length] => self.scenario.pace.lookahead = duration(length)?,
            ["catch_up_per_tick", count] => {
                self.scenario.pace.catch_up_per_tick_max = count.parse().map_err(|_| "no number")?;
            }
            ["at", at, name, act @ ..] => self.act(instant(at, Some(from))?, name, act)?,
            _ => return Err("nobody knows this word".to_owned()),
        }
        Ok(())
    }

    fn schedule(&mut self, name: &str, spec: &[&str]) -> Result<(), Trouble> {
        let mut schedule = Schedule::new(
            id(name),
            name,
            Timing::new("0 0 1 1 *".parse::<Cron>().map_err(|error| error.to_string())?, Zone::utc()),
            Action::Process(Process::new(["true"])),
        );
        self.respec(&mut schedule, spec)?;
        self.edited = None;
        self.scenario.behaviours.insert(name.to_owned(), Behaviour::default());
        self.scenario.schedules.push(Member::new(schedule));
        Ok(())
    }

    /// Gives a definition another "when"; bounds, windows and zone stay.
    fn respec(&self, schedule: &mut Schedule, spec: &[&str]) -> Result<(), Trouble> {
        if let ["on", upstream, on] = spec {
            let on = on.parse().map_err(|error| format!("{error}"))?;
            schedule.when = When::Chain(Chain::new(id(upstream), on));
            return Ok(());
        }
        let When::Ticks(timing) = &mut schedule.when else { return Err("a chain stays a chain".to_owned()) };
        let wrong = |error: punctual_time::Error| error.to_string();
        timing.spec = match spec {
            ["cron", fields @ ..] => Spec::from(fields.join(" ").parse::<Cron>().map_err(wrong)?),
            ["every", interval @ ..] => Spec::from(interval.join(" ").parse::<Interval>().map_err(wrong)?),
            ["at", at] => Spec::from(Once::at(instant(at, Some(self.scenario.from))?)),
            _ => return Err("no spec".to_owned()),
        };
        timing.created_at = self.scenario.from;
        Ok(())
    }

    /// The definition that is valid after the last act so far.
    fn valid(&self, name: &str) -> Result<Schedule, Trouble> {
        let wanted = id(name);
        let definition = |act: &Act| match act {
            Act::Replace(schedule) | Act::Share { schedule, .. } => Some(schedule.as_ref().clone()),
            _ => None,
        };
        let edits = self.scenario.edits.iter().rev().filter(|edit| edit.schedule == wanted);
        let edited = edits.filter_map(|edit| definition(&edit.act)).next();
        let made = self.scenario.schedules.iter().find(|member| member.schedule.id == wanted);
        edited.or(made.map(|member| member.schedule.clone())).ok_or(format!("there is no schedule `{name}`"))
    }

    fn act(&mut self, at: Timestamp, name: &str, words: &[&str]) -> Result<(), Trouble> {
        let pause = |by: &str| Status::PausedManual { by: by.to_owned(), note: String::new() };
        let number = self.scenario.edits.len();
        let request = |is_forced| {
            let nonce = if is_forced { format!("force-{number}") } else { format!("ask-{number}") };
            Act::Trigger(Request { nonce, is_forced })
        };
        let act = match words {
            ["edit", spec @ ..] => {
                let mut schedule = self.valid(name)?;
                if !spec.is_empty() {
                    self.respec(&mut schedule, spec)?;
                }
                Act::Replace(Box::new(schedule))
            }
            ["share", what @ ..] => {
                Act::Share { what: what.join(" "), schedule: Box::new(self.valid(name)?) }
            }
            ["pause", by] => Act::Leave(pause(by)),
            ["invalid", error @ ..] => Act::Leave(Status::PausedInvalid { error: error.join(" ") }),
            ["maintain", note @ ..] => Act::Maintain { note: note.join(" ") },
            ["resume"] => Act::Resume,
            ["delete"] => Act::Delete,
            ["remove_owner"] => Act::RemoveOwner,
            ["trigger"] => request(false),
            ["force"] => request(true),
            ["cancel", by] => Act::Cancel { by: (*by).to_owned() },
            _ => return Err("nobody can do this".to_owned()),
        };
        self.edited = Some(number);
        self.scenario.edits.push(Edit { at, schedule: id(name), act });
        Ok(())
    }

    /// Reads a line that belongs to the schedule, or to the new version, above it.
    pub(crate) fn set(&mut self, words: &[&str]) -> Result<(), Trouble> {
        let from = self.scenario.from;
        if let Some(place) = self.edited {
            let (Act::Replace(schedule) | Act::Share { schedule, .. }) = &mut self.scenario.edits[place].act
            else {
                return Err("this act has no settings".to_owned());
            };
            return setting::apply(schedule, words, from);
        }
        let member = self.scenario.schedules.last_mut().ok_or("a setting of nothing")?;
        let behaviour = self.scenario.behaviours.get_mut(&member.schedule.name).ok_or("no behaviour")?;
        match words {
            ["first_start"] => member.starts_at_once = true,
            ["paused", by] => {
                member.status = Status::PausedManual { by: (*by).to_owned(), note: String::new() }
            }
            ["runs", length] => behaviour.run_time = duration(length)?,
            ["fails", which @ ..] => setting::fail(behaviour, which)?,
            _ => return setting::apply(&mut member.schedule, words, from),
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Scenario, Trouble> {
        self.scenario.edits = in_order(self.scenario.edits);
        if self.scenario.from == Timestamp::MIN || self.scenario.to == Timestamp::MAX {
            return Err("a story has a beginning and an end".to_owned());
        }
        Ok(self.scenario)
    }
}

/// Depends on these schedules.
pub(crate) fn ids(names: &[&str]) -> Vec<ScheduleId> {
    names.iter().map(|name| id(name)).collect()
}
