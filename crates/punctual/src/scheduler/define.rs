//! Tasks become definitions: everything about them that is stored, checked before anything is written.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use punctual_plan::{Action, Chain, Dependency, Owner, Policy, Schedule, ScheduleId, Target, When};
use punctual_time::{Cron, Dialect, Spec, Timing, Zone};

use super::task::{Task, Tells};
use super::{Error, task::signed};
use crate::{Failure, name};

/// What all tasks of a set have in common.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    /// The name of the set.
    pub(super) set: String,
    /// Whose it is.
    pub(super) org_id: String,
    /// The zone of tasks that name none, by its IANA name.
    pub(super) timezone: String,
    /// How often the scheduler looks.
    pub(super) poll_interval: Duration,
    /// The present.
    pub(super) now: Timestamp,
}

impl Terms {
    /// How the ledger calls the closure of a task: programs with sets of different names never share one.
    pub(super) fn callback(&self, task: &Task) -> String {
        format!("{}/{}", self.set, task.identifier)
    }
}

/// What is kept of a stored task of the same name: its id, and when it was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) id: ScheduleId,
    pub(super) created_at: Timestamp,
}

/// Checks the tasks of a set and makes their definitions, in their order.
pub(super) fn define(
    tasks: &[Task],
    terms: &Terms,
    known: &HashMap<String, Known>,
) -> Result<Vec<Schedule>, Error> {
    let mut ids = BTreeMap::new();
    for task in tasks {
        if let Some(problem) = name::problem(&task.identifier) {
            return Err(Failure::invalid(problem, name::HINT).into());
        }
        let id =
            known.get(&task.identifier).map_or_else(|| ScheduleId(uuid::Uuid::new_v4()), |known| known.id);
        if ids.insert(task.identifier.as_str(), id).is_some() {
            return Err(Error::Twice { task: task.identifier.clone() });
        }
    }
    refuse_circles(tasks)?;
    let one = |task: &Task| {
        let created_at = known.get(&task.identifier).map_or(terms.now, |known| known.created_at);
        Definer { task, terms, ids: &ids, created_at }.define()
    };
    tasks.iter().map(one).collect()
}

/// Makes the definition of one task.
struct Definer<'a> {
    task: &'a Task,
    terms: &'a Terms,
    ids: &'a BTreeMap<&'a str, ScheduleId>,
    created_at: Timestamp,
}

impl Definer<'_> {
    fn define(&self) -> Result<Schedule, Error> {
        let task = self.task;
        let action = Action::Callback { task: self.terms.callback(task) };
        let (when, spec) = self.when()?;
        Ok(Schedule {
            id: self.id_of(&task.identifier)?,
            name: task.identifier.clone(),
            owner: Owner { org_id: self.terms.org_id.clone(), user_id: None },
            description: None,
            tags: Vec::new(),
            version: 1,
            spec,
            dialect: match &task.when {
                Tells::Cron { dialect, .. } => *dialect,
                _ => Dialect::default(),
            },
            when,
            policy: Arc::new(self.policy()?),
            target: Arc::new(Target { name: task.identifier.clone(), action, breaker: task.breaker }),
            payload: task.payload.clone(),
        })
    }

    /// When it runs, and as text.
    fn when(&self) -> Result<(When, String), Error> {
        let zone = self.task.timezone.as_ref().unwrap_or(&self.terms.timezone);
        let zone =
            crate::zone_name(zone).map_err(Error::from).and_then(|name| self.read(Zone::get(&name)))?;
        let (spec, text) = match &self.task.when {
            Tells::Cron { text, dialect } => {
                let seed = self.id_of(&self.task.identifier)?.to_string();
                let cron = self.read(Cron::parse_seeded(text, *dialect, &seed))?;
                // How many spaces there are between the fields is no difference.
                (Spec::Cron(cron), text.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            Tells::Spec(spec) => (*spec, spec.to_string()),
            Tells::After { task, on, delay } => {
                let (bounds, windows) = (self.task.bounds, self.task.windows.clone());
                let upstream = self.id_of(task)?;
                let chain = Chain { upstream, on: *on, delay: *delay, zone, bounds, windows };
                return Ok((When::Chain(chain), String::new()));
            }
        };
        let timing = Timing {
            dst: self.task.dst,
            bounds: self.task.bounds,
            windows: self.task.windows.clone(),
            created_at: self.created_at,
            ..Timing::new(spec, zone)
        };
        self.guard(&timing, &text)?;
        Ok((When::Ticks(Box::new(timing)), text))
    }

    /// Refuses what would fire more often than the scheduler looks.
    fn guard(&self, timing: &Timing, spec: &str) -> Result<(), Error> {
        let poll_interval = self.terms.poll_interval;
        match timing.spec.smallest_gap().filter(|gap| *gap < signed(poll_interval)) {
            None => Ok(()),
            Some(gap) => Err(Error::TooOften {
                task: self.task.identifier.clone(),
                spec: spec.to_owned(),
                gap: Duration::try_from(gap).unwrap_or_default(),
                poll_interval,
            }),
        }
    }

    fn policy(&self) -> Result<Policy, Error> {
        let mut policy = self.task.policy.clone();
        if let Some(waits) = &self.task.waits {
            let on: Result<Vec<ScheduleId>, Error> =
                waits.tasks.iter().map(|task| self.id_of(task)).collect();
            policy.depends_on =
                Some(Dependency { on: on?, timeout: waits.timeout }).filter(|one| !one.on.is_empty());
        }
        Ok(policy)
    }

    fn id_of(&self, wanted: &str) -> Result<ScheduleId, Error> {
        let unknown = || Error::Unknown { task: self.task.identifier.clone(), wanted: wanted.to_owned() };
        self.ids.get(wanted).copied().ok_or_else(unknown)
    }

    fn read<T>(&self, read: Result<T, punctual_time::Error>) -> Result<T, Error> {
        read.map_err(|error| Error::Spec { task: self.task.identifier.clone(), error })
    }
}

/// Refuses tasks that wait for each other, in whatever way.
fn refuse_circles(tasks: &[Task]) -> Result<(), Error> {
    let waits_for = |task: &Task| -> Vec<String> {
        let after = match &task.when {
            Tells::After { task, .. } => Some(task.clone()),
            _ => None,
        };
        after.into_iter().chain(task.waits.iter().flat_map(|waits| waits.tasks.clone())).collect()
    };
    let mut open: BTreeMap<&str, Vec<String>> =
        tasks.iter().map(|task| (task.identifier.as_str(), waits_for(task))).collect();
    // Whoever waits for nobody is done, and nobody has to wait for them any more.
    loop {
        let names: Vec<String> = open.keys().map(|name| (*name).to_owned()).collect();
        let before = open.len();
        open.retain(|_, waits| waits.iter().any(|wanted| names.contains(wanted)));
        if open.len() == before {
            break;
        }
    }
    let Some(first) = open.keys().next() else { return Ok(()) };
    let mut circle = vec![(*first).to_owned()];
    while let Some(next) = circle
        .last()
        .and_then(|last| open.get(last.as_str()))
        .and_then(|waits| waits.iter().find(|wanted| open.contains_key(wanted.as_str())))
    {
        if let Some(place) = circle.iter().position(|name| name == next) {
            let next = next.clone();
            circle.drain(..place);
            circle.push(next);
            break;
        }
        circle.push(next.clone());
    }
    Err(Error::Circle { tasks: circle })
}
